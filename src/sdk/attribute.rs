//! Attributes of schemas: their type, their flags, and what plan and validation do with them.

use std::sync::Arc;

use terrane_protocol::schema as wire;
use terrane_value::{Type, Value};

use super::modifier::PlanModifier;
use super::schema::Shape;
use super::validator::Validator;

/// One attribute.
///
/// ```
/// use terrane_sdk::{Attribute, Value, replace};
/// let size = Attribute::int("size").description("Gigabytes.").default(Value::int(10)).modifier(replace());
/// assert!(size.optional && size.computed);
/// ```
#[derive(Clone)]
pub struct Attribute {
    /// The name by which users write it.
    pub name: String,
    /// The type.
    pub shape: Shape,
    /// Checked in configurations.
    pub number: NumberKind,
    /// For users.
    pub description: String,
    /// The description is Markdown.
    pub markdown: bool,
    /// Must be configured.
    pub required: bool,
    /// May be configured.
    pub optional: bool,
    /// The provider sets it if it is not configured.
    pub computed: bool,
    /// Hosts do not show it.
    pub sensitive: bool,
    /// Given to the provider, never stored.
    pub write_only: bool,
    /// The warning for those who set it.
    pub deprecation: Option<String>,
    /// The planned value if none is configured.
    pub default: Option<Value>,
    /// Run in this order.
    pub modifiers: Vec<Arc<dyn PlanModifier>>,
    /// Run in this order.
    pub validators: Vec<Arc<dyn Validator>>,
}

/// What a number may be.
///
/// ```
/// # use terrane_sdk::{Attribute, NumberKind, Type};
/// let share = Attribute { number: NumberKind::Float64, ..Attribute::plain("share", Type::Number) };
/// assert_eq!(Attribute::int("size").number, NumberKind::Int64);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NumberKind {
    /// Any number.
    #[default]
    Any,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// A floating-point number of 32 bits.
    Float32,
    /// A floating-point number of 64 bits.
    Float64,
}

/// Flags and details, one call each.
impl Attribute {
    /// An attribute without flags: it needs `required`, `optional` or `computed`.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Shape, Type};
    /// let weights = Attribute::new("weights", Shape::Plain(Type::list(Type::Number))).optional();
    /// ```
    pub fn new(name: impl Into<String>, shape: Shape) -> Attribute {
        Attribute {
            name: name.into(),
            shape,
            number: NumberKind::Any,
            description: String::new(),
            markdown: false,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            write_only: false,
            deprecation: None,
            default: None,
            modifiers: Vec::new(),
            validators: Vec::new(),
        }
    }

    /// An attribute of a type of the language.
    ///
    /// ```
    /// use terrane_sdk::{Attribute, Type};
    /// let limits = Attribute::plain("limits", Type::map(Type::Number)).optional();
    /// assert_eq!(limits.ty(), Type::map(Type::Number));
    /// ```
    pub fn plain(name: impl Into<String>, ty: Type) -> Attribute {
        Attribute::new(name, Shape::Plain(ty))
    }

    /// A text.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Type};
    /// assert_eq!(Attribute::string("title").ty(), Type::String);
    /// ```
    pub fn string(name: impl Into<String>) -> Attribute {
        Attribute::plain(name, Type::String)
    }

    /// A flag.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Type};
    /// assert_eq!(Attribute::bool("done").ty(), Type::Bool);
    /// ```
    pub fn bool(name: impl Into<String>) -> Attribute {
        Attribute::plain(name, Type::Bool)
    }

    /// A whole number of 64 bits.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Type};
    /// assert_eq!(Attribute::int("size").ty(), Type::Number);
    /// ```
    pub fn int(name: impl Into<String>) -> Attribute {
        Attribute { number: NumberKind::Int64, ..Attribute::plain(name, Type::Number) }
    }

    /// A list of texts.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Type};
    /// assert_eq!(Attribute::string_list("names").ty(), Type::list(Type::String));
    /// ```
    pub fn string_list(name: impl Into<String>) -> Attribute {
        Attribute::plain(name, Type::list(Type::String))
    }

    /// A map of texts.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Type};
    /// assert_eq!(Attribute::string_map("labels").ty(), Type::map(Type::String));
    /// ```
    pub fn string_map(name: impl Into<String>) -> Attribute {
        Attribute::plain(name, Type::map(Type::String))
    }

    /// Sets the description for users.
    ///
    /// ```
    /// # use terrane_sdk::Attribute;
    /// assert_eq!(Attribute::int("size").description("Gigabytes.").description, "Gigabytes.");
    /// ```
    pub fn description(mut self, text: impl Into<String>) -> Attribute {
        self.description = text.into();
        self
    }

    /// The description is Markdown.
    ///
    /// ```
    /// # use terrane_sdk::Attribute;
    /// assert!(Attribute::string("kind").description("`mail` or `phone`.").markdown().markdown);
    /// ```
    pub fn markdown(mut self) -> Attribute {
        self.markdown = true;
        self
    }

    /// Must be configured.
    ///
    /// ```
    /// # use terrane_sdk::Attribute;
    /// assert!(Attribute::string("title").required().required);
    /// ```
    pub fn required(mut self) -> Attribute {
        self.required = true;
        self
    }

    /// May be configured.
    ///
    /// ```
    /// # use terrane_sdk::Attribute;
    /// assert!(Attribute::string("body").optional().optional);
    /// ```
    pub fn optional(mut self) -> Attribute {
        self.optional = true;
        self
    }

    /// The provider sets it if it is not configured.
    ///
    /// ```
    /// # use terrane_sdk::Attribute;
    /// let id = Attribute::string("id").computed();
    /// assert!(id.computed && !id.optional);
    /// ```
    pub fn computed(mut self) -> Attribute {
        self.computed = true;
        self
    }

    /// Hosts do not show it.
    ///
    /// ```
    /// # use terrane_sdk::Attribute;
    /// assert!(Attribute::string("token").computed().sensitive().sensitive);
    /// ```
    pub fn sensitive(mut self) -> Attribute {
        self.sensitive = true;
        self
    }

    /// Given to the provider in the configuration, never stored. Only in resources.
    ///
    /// ```
    /// # use terrane_sdk::Attribute;
    /// assert!(Attribute::string("password").optional().write_only().write_only);
    /// ```
    pub fn write_only(mut self) -> Attribute {
        self.write_only = true;
        self
    }

    /// Optional and computed, with this planned value if none is configured.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Value};
    /// let done = Attribute::bool("done").default(Value::bool(false));
    /// assert!(done.optional && done.computed);
    /// ```
    pub fn default(mut self, value: Value) -> Attribute {
        self.default = Some(value);
        self.optional().computed()
    }

    /// Warns those who set it.
    ///
    /// ```
    /// # use terrane_sdk::Attribute;
    /// let label = Attribute::string("label").optional().deprecated("Use tags.");
    /// assert_eq!(label.deprecation.as_deref(), Some("Use tags."));
    /// ```
    pub fn deprecated(mut self, message: impl Into<String>) -> Attribute {
        self.deprecation = Some(message.into());
        self
    }

    /// Adds a plan modifier. They run in the order in which they are added.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, keep, replace};
    /// let name = Attribute::string("name").optional().computed().modifier(keep()).modifier(replace());
    /// assert_eq!(name.modifiers.len(), 2);
    /// ```
    pub fn modifier(mut self, modifier: impl PlanModifier) -> Attribute {
        self.modifiers.push(Arc::new(modifier));
        self
    }

    /// Adds a validator.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, validators::length_at_least};
    /// let title = Attribute::string("title").required().validator(length_at_least(1));
    /// assert_eq!(title.validators.len(), 1);
    /// ```
    pub fn validator(mut self, validator: impl Validator) -> Attribute {
        self.validators.push(Arc::new(validator));
        self
    }

    /// The type of a value.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Type};
    /// assert_eq!(Attribute::string_list("names").ty(), Type::list(Type::String));
    /// ```
    pub fn ty(&self) -> Type {
        self.shape.ty()
    }

    pub(super) fn to_model(&self) -> wire::Attribute {
        wire::Attribute {
            description: self.description.clone(),
            markdown: self.markdown,
            required: self.required,
            optional: self.optional,
            computed: self.computed,
            sensitive: self.sensitive,
            deprecated: self.deprecation.is_some(),
            deprecation_message: self.deprecation.clone().unwrap_or_default(),
            write_only: self.write_only,
            ..self.shape.to_model()
        }
    }
}
