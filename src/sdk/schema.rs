//! Schemas as authors write them: attributes and blocks with what plan and validation do with them.

use std::sync::Arc;

use super::modifier::PlanModifier;
use super::validator::Validator;
use crate::lang::value::{Type, Value};
use crate::model::schema as wire;

pub use crate::model::schema::Nesting;

/// The schema of a resource, a data source or a provider configuration.
#[derive(Clone, Default)]
pub struct Schema {
    /// Of the stored objects; a resource upgrades older ones.
    pub version: i64,
    /// The attributes and blocks.
    pub block: Block,
    /// The author does all checks of the configuration.
    pub(crate) unchecked: bool,
}

/// Attributes and nested blocks.
#[derive(Clone, Default)]
pub struct Block {
    /// The attributes, in any order.
    pub attributes: Vec<Attribute>,
    /// The blocks within it.
    pub blocks: Vec<NestedBlock>,
    /// For users.
    pub description: String,
    /// The description is Markdown.
    pub markdown: bool,
    /// The warning for those who use it.
    pub deprecation: Option<String>,
}

/// A block within a block.
#[derive(Clone)]
pub struct NestedBlock {
    /// The name by which users write it.
    pub name: String,
    /// Whether there is one such block, or a list or set of them.
    pub nesting: Nesting,
    /// Its attributes and blocks.
    pub block: Block,
    /// The smallest number of blocks.
    pub min_items: u64,
    /// 0: no limit.
    pub max_items: u64,
    /// Run in this order.
    pub modifiers: Vec<Arc<dyn PlanModifier>>,
    /// Run in this order.
    pub validators: Vec<Arc<dyn Validator>>,
}

/// The type of an attribute: plain, or objects with attributes of their own (protocol 6 only).
#[derive(Clone)]
pub enum Shape {
    /// A value of the type.
    Plain(Type),
    /// An object with the attributes of the block, or a list, set or map of such objects.
    Nested(Nesting, Block),
}

/// What a number may be.
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

/// One attribute.
///
/// ```
/// use terrane::sdk::{Attribute, Value, replace};
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

impl Schema {
    /// A schema of version 0.
    ///
    /// ```
    /// use terrane::sdk::{Attribute, Schema};
    /// let schema = Schema::new([Attribute::string("title").required()]);
    /// assert_eq!(schema.version, 0);
    /// ```
    pub fn new(attributes: impl IntoIterator<Item = Attribute>) -> Schema {
        Schema { version: 0, block: Block::new(attributes), unchecked: false }
    }

    /// A schema of version 0 with the attributes and blocks of a model.
    pub fn of<M: super::Model>() -> Schema {
        Schema { version: 0, block: M::block(), unchecked: false }
    }

    /// Leaves all checks of the configuration to the author.
    #[cfg(feature = "cli")]
    pub(crate) fn without_checks(mut self) -> Schema {
        self.unchecked = true;
        self
    }

    /// Sets the version of stored objects.
    pub fn version(mut self, version: i64) -> Schema {
        self.version = version;
        self
    }

    /// Sets the description for users.
    pub fn description(mut self, text: impl Into<String>) -> Schema {
        self.block.description = text.into();
        self
    }

    /// The descriptions are plain text; those of `#[derive(Model)]` are Markdown otherwise.
    pub fn plain_text(mut self) -> Schema {
        self.block.set_plain_text();
        self
    }

    /// Warns those who use it.
    pub fn deprecated(mut self, message: impl Into<String>) -> Schema {
        self.block.deprecation = Some(message.into());
        self
    }

    /// Adds a block.
    pub fn block(mut self, block: NestedBlock) -> Schema {
        self.block.blocks.push(block);
        self
    }

    pub(super) fn to_model(&self) -> wire::Schema {
        wire::Schema::new(self.version, self.block.to_model())
    }
}

impl Block {
    /// Attributes without blocks.
    pub fn new(attributes: impl IntoIterator<Item = Attribute>) -> Block {
        Block { attributes: attributes.into_iter().collect(), ..Block::default() }
    }

    /// The object type of a value of this block.
    pub fn ty(&self) -> Type {
        self.to_model().implied_type()
    }

    pub(super) fn to_model(&self) -> wire::Block {
        wire::Block {
            attributes: self.attributes.iter().map(|a| (Arc::from(&*a.name), a.to_model())).collect(),
            blocks: self.blocks.iter().map(|b| (Arc::from(&*b.name), b.to_model())).collect(),
            description: self.description.clone(),
            markdown: self.markdown,
            deprecated: self.deprecation.is_some(),
            deprecation_message: self.deprecation.clone().unwrap_or_default(),
        }
    }

    fn set_plain_text(&mut self) {
        self.markdown = false;
        for attribute in &mut self.attributes {
            attribute.markdown = false;
            if let Shape::Nested(_, block) = &mut attribute.shape {
                block.set_plain_text();
            }
        }
        for nested in &mut self.blocks {
            nested.block.set_plain_text();
        }
    }
}

impl NestedBlock {
    /// A block of any number of items, or one for [`Nesting::Single`].
    ///
    /// ```
    /// use terrane::sdk::{Attribute, Block, NestedBlock, Nesting, Schema};
    /// let rule = Block::new([Attribute::int("port").required()]);
    /// let schema = Schema::new([]).block(NestedBlock::new("rule", Nesting::List, rule));
    /// assert_eq!(schema.block.blocks[0].max_items, 0);
    /// ```
    pub fn new(name: impl Into<String>, nesting: Nesting, block: Block) -> NestedBlock {
        NestedBlock {
            name: name.into(),
            nesting,
            block,
            min_items: 0,
            max_items: 0,
            modifiers: Vec::new(),
            validators: Vec::new(),
        }
    }

    /// Adds a validator of the block as a whole.
    pub fn validator(mut self, validator: impl Validator) -> NestedBlock {
        self.validators.push(Arc::new(validator));
        self
    }

    /// Adds a plan modifier of the block as a whole.
    pub fn modifier(mut self, modifier: impl PlanModifier) -> NestedBlock {
        self.modifiers.push(Arc::new(modifier));
        self
    }

    fn to_model(&self) -> wire::NestedBlock {
        wire::NestedBlock {
            block: self.block.to_model(),
            nesting: self.nesting,
            min_items: self.min_items,
            max_items: self.max_items,
        }
    }
}

impl Shape {
    /// The type of a value.
    pub fn ty(&self) -> Type {
        match self {
            Shape::Plain(ty) => ty.clone(),
            Shape::Nested(..) => self.to_model().implied_type(),
        }
    }

    fn to_model(&self) -> wire::Attribute {
        let shape = match self {
            Shape::Plain(ty) => wire::AttributeShape::Plain(ty.clone()),
            Shape::Nested(nesting, block) => {
                let attributes = block.to_model().attributes;
                wire::AttributeShape::Nested(wire::ObjectShape { attributes, nesting: *nesting })
            }
        };
        wire::Attribute { shape, ..wire::Attribute::new(Type::Dynamic) }
    }
}

/// Flags and details, one call each.
impl Attribute {
    /// An attribute without flags: it needs `required`, `optional` or `computed`.
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
    /// use terrane::sdk::{Attribute, Type};
    /// let limits = Attribute::plain("limits", Type::map(Type::Number)).optional();
    /// assert_eq!(limits.ty(), Type::map(Type::Number));
    /// ```
    pub fn plain(name: impl Into<String>, ty: Type) -> Attribute {
        Attribute::new(name, Shape::Plain(ty))
    }

    /// A text.
    pub fn string(name: impl Into<String>) -> Attribute {
        Attribute::plain(name, Type::String)
    }

    /// A flag.
    pub fn bool(name: impl Into<String>) -> Attribute {
        Attribute::plain(name, Type::Bool)
    }

    /// A whole number of 64 bits.
    pub fn int(name: impl Into<String>) -> Attribute {
        Attribute { number: NumberKind::Int64, ..Attribute::plain(name, Type::Number) }
    }

    /// A list of texts.
    pub fn string_list(name: impl Into<String>) -> Attribute {
        Attribute::plain(name, Type::list(Type::String))
    }

    /// A map of texts.
    pub fn string_map(name: impl Into<String>) -> Attribute {
        Attribute::plain(name, Type::map(Type::String))
    }

    /// Sets the description for users.
    pub fn description(mut self, text: impl Into<String>) -> Attribute {
        self.description = text.into();
        self
    }

    /// The description is Markdown.
    pub fn markdown(mut self) -> Attribute {
        self.markdown = true;
        self
    }

    /// Must be configured.
    pub fn required(mut self) -> Attribute {
        self.required = true;
        self
    }

    /// May be configured.
    pub fn optional(mut self) -> Attribute {
        self.optional = true;
        self
    }

    /// The provider sets it if it is not configured.
    pub fn computed(mut self) -> Attribute {
        self.computed = true;
        self
    }

    /// Hosts do not show it.
    pub fn sensitive(mut self) -> Attribute {
        self.sensitive = true;
        self
    }

    /// Given to the provider in the configuration, never stored. Only in resources.
    pub fn write_only(mut self) -> Attribute {
        self.write_only = true;
        self
    }

    /// Optional and computed, with this planned value if none is configured.
    pub fn default(mut self, value: Value) -> Attribute {
        self.default = Some(value);
        self.optional().computed()
    }

    /// Warns those who set it.
    pub fn deprecated(mut self, message: impl Into<String>) -> Attribute {
        self.deprecation = Some(message.into());
        self
    }

    /// Adds a plan modifier. They run in the order in which they are added.
    pub fn modifier(mut self, modifier: impl PlanModifier) -> Attribute {
        self.modifiers.push(Arc::new(modifier));
        self
    }

    /// Adds a validator.
    pub fn validator(mut self, validator: impl Validator) -> Attribute {
        self.validators.push(Arc::new(validator));
        self
    }

    /// The type of a value.
    pub fn ty(&self) -> Type {
        self.shape.ty()
    }

    fn to_model(&self) -> wire::Attribute {
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
