//! Attributes as one line each, and the schema made of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lang::value::{Type, Value};
use crate::model::schema::{Attribute, Block, Schema};

/// What an attribute's plan does beyond defaults and unknowns; in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An unknown keeps its prior value.
    Keep,
    /// A change replaces the object.
    Replace,
    /// As `Replace`, for maps, but elements that are null count as absent where the state has none.
    ReplaceIfValues,
    /// As `Replace`, except for a change from the empty text to null.
    ReplaceUnlessEmptyToNull,
}

/// One attribute.
#[derive(Clone, Debug)]
pub struct Attr {
    pub name: &'static str,
    pub(super) attribute: Attribute,
    /// A number that must be whole.
    pub(super) whole: bool,
    pub(super) default: Option<Value>,
    pub(super) rules: Vec<Rule>,
    pub(super) deprecation: Option<&'static str>,
}

impl Attr {
    pub fn new(name: &'static str, ty: Type, description: &str) -> Attr {
        let mut attribute = Attribute::new(ty);
        attribute.description = description.to_owned();
        Attr { name, attribute, whole: false, default: None, rules: Vec::new(), deprecation: None }
    }

    pub fn string(name: &'static str, description: &str) -> Attr {
        Attr::new(name, Type::String, description)
    }

    pub fn bool(name: &'static str, description: &str) -> Attr {
        Attr::new(name, Type::Bool, description)
    }

    /// A whole number.
    pub fn int(name: &'static str, description: &str) -> Attr {
        Attr { whole: true, ..Attr::new(name, Type::Number, description) }
    }

    pub fn string_map(name: &'static str, description: &str) -> Attr {
        Attr::new(name, Type::map(Type::String), description)
    }

    pub fn required(mut self) -> Attr {
        self.attribute.required = true;
        self
    }

    pub fn optional(mut self) -> Attr {
        self.attribute.optional = true;
        self
    }

    pub fn computed(mut self) -> Attr {
        self.attribute.computed = true;
        self
    }

    pub fn sensitive(mut self) -> Attr {
        self.attribute.sensitive = true;
        self
    }

    pub fn markdown(mut self) -> Attr {
        self.attribute.markdown = true;
        self
    }

    pub fn deprecated(mut self, message: &'static str) -> Attr {
        self.attribute.deprecated = true;
        self.deprecation = Some(message);
        self
    }

    /// Optional and computed, with this value when it is not configured.
    pub fn default(mut self, value: Value) -> Attr {
        self.default = Some(value);
        self.optional().computed()
    }

    pub fn rule(mut self, rule: Rule) -> Attr {
        self.rules.push(rule);
        self
    }
}

/// The attributes of a resource, data source or other type, with their schema.
#[derive(Clone, Debug)]
pub struct Shape {
    pub attributes: Vec<Attr>,
    pub schema: Arc<Schema>,
    pub(super) deprecation: Option<&'static str>,
    /// Whether required and read-only attributes are checked here, beside what the language checks.
    pub(super) checked: bool,
}

impl Shape {
    /// Attributes come out in order of their names, as schemas have them.
    pub fn new(version: i64, description: &str, mut attributes: Vec<Attr>) -> Shape {
        attributes.sort_by_key(|attr| attr.name);
        let block = Block {
            attributes: attributes.iter().map(|attr| (Arc::from(attr.name), attr.attribute.clone())).collect(),
            blocks: BTreeMap::new(),
            description: description.to_owned(),
            markdown: false,
            deprecated: false,
            deprecation_message: String::new(),
        };
        Shape { attributes, schema: Arc::new(Schema::new(version, block)), deprecation: None, checked: true }
    }

    /// A shape without a description, whose resource does all checks itself.
    pub fn unchecked(version: i64, attributes: Vec<Attr>) -> Shape {
        Shape { checked: false, ..Shape::new(version, "", attributes) }
    }

    pub fn deprecated(mut self, message: &'static str) -> Shape {
        let mut block = self.schema.block.clone();
        block.deprecated = true;
        self.schema = Arc::new(Schema::new(self.schema.version, block));
        self.deprecation = Some(message);
        self
    }

    pub fn ty(&self) -> &Type {
        self.schema.implied_type()
    }

    /// An object of this shape from some of its attributes; the others are null.
    pub fn object<const N: usize>(&self, values: [(&'static str, Value); N]) -> Value {
        let mut all: BTreeMap<Arc<str>, Value> = self
            .attributes
            .iter()
            .map(|attr| (Arc::from(attr.name), Value::null(attr.attribute.implied_type())))
            .collect();
        all.extend(values.map(|(name, value)| (Arc::from(name), value)));
        Value::object(all)
    }
}
