//! The shape of a block: attributes and nested blocks, and the type that they imply.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use terrane_value::{Type, Value};

use crate::schema::ResourceMode;

/// A block's shape with the version of the state that is written for it.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    pub version: i64,
    pub block: Block,
    implied: OnceLock<Type>,
}

impl Schema {
    pub fn new(version: i64, block: Block) -> Schema {
        Schema { version, block, implied: OnceLock::new() }
    }

    /// The object type of a whole decoded block; computed once.
    pub fn implied_type(&self) -> &Type {
        self.implied.get_or_init(|| self.block.implied_type())
    }

    /// The version that states, plans and configurations show for objects of this schema: only managed ones are ever
    /// upgraded; what is read anew each time is of version 0, whatever the provider says.
    pub fn version_in(&self, mode: ResourceMode) -> i64 {
        if mode == ResourceMode::Managed { self.version } else { 0 }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    pub attributes: BTreeMap<Arc<str>, Attribute>,
    pub blocks: BTreeMap<Arc<str>, NestedBlock>,
    pub description: String,
    /// True if the description is Markdown, false for plain text.
    pub markdown: bool,
    pub deprecated: bool,
    /// Empty if the provider gives none.
    pub deprecation_message: String,
    /// The provider may set the blocks of a nested block type that has none in the configuration (protocol 6.11).
    pub computed: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub shape: AttributeShape,
    pub description: String,
    pub markdown: bool,
    pub required: bool,
    pub optional: bool,
    pub computed: bool,
    pub sensitive: bool,
    pub deprecated: bool,
    /// Empty if the provider gives none.
    pub deprecation_message: String,
    /// Given to the provider, never kept in plan or state.
    pub write_only: bool,
}

/// An attribute's type: plain, or an object with nested attributes (protocol 6).
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeShape {
    Plain(Type),
    Nested(ObjectShape),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ObjectShape {
    pub attributes: BTreeMap<Arc<str>, Attribute>,
    /// Single, List, Set or Map.
    pub nesting: Nesting,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Nesting {
    /// At most one; null if absent.
    Single,
    /// At most one; an object of nulls if absent.
    Group,
    List,
    Set,
    Map,
}

#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    pub block: Block,
    pub nesting: Nesting,
    pub min_items: u64,
    /// 0: no limit.
    pub max_items: u64,
}

impl Attribute {
    /// An attribute of a plain type with no flags set.
    pub fn new(ty: Type) -> Attribute {
        Attribute {
            shape: AttributeShape::Plain(ty),
            description: String::new(),
            markdown: false,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            deprecated: false,
            deprecation_message: String::new(),
            write_only: false,
        }
    }

    pub fn nested(&self) -> Option<&ObjectShape> {
        match &self.shape {
            AttributeShape::Nested(shape) => Some(shape),
            AttributeShape::Plain(_) => None,
        }
    }

    pub fn implied_type(&self) -> Type {
        match &self.shape {
            AttributeShape::Plain(ty) => ty.clone(),
            AttributeShape::Nested(shape) => shape.implied_type(),
        }
    }

    /// The type that a configured value is converted to: the implied type, with those inner attributes optional that
    /// need not be written. They become null.
    pub fn config_type(&self) -> Type {
        match &self.shape {
            AttributeShape::Plain(ty) => ty.clone(),
            AttributeShape::Nested(shape) => shape.config_type(),
        }
    }
}

impl ObjectShape {
    /// The type of one object.
    pub fn element_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.implied_type())))
    }

    /// The type of the attribute: the object wrapped as its nesting says.
    pub fn implied_type(&self) -> Type {
        self.nesting.wrap(self.element_type())
    }

    /// As `implied_type`, with optional and computed attributes optional at every depth.
    fn config_type(&self) -> Type {
        let types = self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.config_type()));
        let optional = self.attributes.iter().filter(|(_, a)| a.optional || a.computed).map(|(name, _)| name.clone());
        self.nesting.wrap(Type::object_with_optional(types, optional))
    }
}

impl Block {
    /// The object type of a decoded block. A list or map of blocks whose type holds dynamic parts is a dynamic
    /// value itself, for its elements may differ.
    pub fn implied_type(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.implied_type()));
        let blocks = self.blocks.iter().map(|(name, nested)| (name.clone(), nested.implied_type()));
        Type::object(attributes.chain(blocks))
    }

    /// The object that an empty configuration block decodes to, without a check for required arguments.
    pub fn empty_value(&self) -> Value {
        let attributes = self.attributes.iter().map(|(name, a)| (name.clone(), Value::null(a.implied_type())));
        let blocks = self.blocks.iter().map(|(name, nested)| (name.clone(), nested.empty_value()));
        Value::object(attributes.chain(blocks))
    }

    /// True if any attribute at any depth is sensitive: only then is there anything to mark.
    pub fn has_sensitive(&self) -> bool {
        fn any(attributes: &BTreeMap<Arc<str>, Attribute>) -> bool {
            attributes.values().any(|a| a.sensitive || a.nested().is_some_and(|n| any(&n.attributes)))
        }
        any(&self.attributes) || self.blocks.values().any(|nested| nested.block.has_sensitive())
    }
}

impl Block {
    /// The same shape with nothing required and blocks in any number.
    pub fn none_required(&self) -> Block {
        let mut block = self.clone();
        for attribute in block.attributes.values_mut().filter(|attribute| attribute.required) {
            (attribute.required, attribute.optional) = (false, true);
        }
        for nested in block.blocks.values_mut() {
            nested.block = nested.block.none_required();
            (nested.min_items, nested.max_items) = (0, 0);
        }
        block
    }

    /// True if any attribute at any depth is write-only.
    pub fn has_write_only(&self) -> bool {
        fn any(attributes: &BTreeMap<Arc<str>, Attribute>) -> bool {
            attributes.values().any(|a| a.write_only || a.nested().is_some_and(|n| any(&n.attributes)))
        }
        any(&self.attributes) || self.blocks.values().any(|nested| nested.block.has_write_only())
    }
}

impl NestedBlock {
    pub fn implied_type(&self) -> Type {
        let element = self.block.implied_type();
        match self.nesting {
            Nesting::List | Nesting::Map if element.has_dynamic() => Type::Dynamic,
            nesting => nesting.wrap(element),
        }
    }
}

impl Block {
    /// True if a nested block type at any depth is computed.
    pub fn has_computed_blocks(&self) -> bool {
        self.blocks.values().any(|nested| nested.block.computed || nested.block.has_computed_blocks())
    }
}

impl NestedBlock {
    /// What stands for no blocks.
    pub fn empty_value(&self) -> Value {
        match self.nesting {
            Nesting::Single => Value::null(self.block.implied_type()),
            Nesting::Group => self.block.empty_value(),
            Nesting::Set => Value::set(self.block.implied_type(), Vec::new()),
            Nesting::List | Nesting::Map => {
                let element = self.block.implied_type();
                match (self.nesting, element.has_dynamic()) {
                    (Nesting::List, true) => Value::empty_tuple(),
                    (Nesting::List, false) => Value::list(element, Vec::new()),
                    (_, true) => Value::empty_object(),
                    (_, false) => Value::map(element, std::iter::empty::<(Arc<str>, Value)>()),
                }
            }
        }
    }
}

impl Nesting {
    fn wrap(self, element: Type) -> Type {
        match self {
            Nesting::Single | Nesting::Group => element,
            Nesting::List => Type::list(element),
            Nesting::Set => Type::set(element),
            Nesting::Map => Type::map(element),
        }
    }
}
