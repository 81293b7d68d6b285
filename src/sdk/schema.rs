//! Schemas as authors write them: blocks of attributes, with what plan and validation do with them.

use std::sync::Arc;

use terrane_protocol::schema as wire;
/// How often users write a nested block or object: once, or as a list, set or map of them.
///
/// ```
/// use terrane_sdk::{Attribute, Block, NestedBlock, Nesting};
/// let rule = Block::new([Attribute::int("port").required()]);
/// let rules = NestedBlock::new("rule", Nesting::List, rule);
/// assert_eq!(rules.nesting, Nesting::List);
/// ```
#[doc(inline)]
pub use terrane_protocol::schema::Nesting;
use terrane_value::Type;

use super::attribute::Attribute;
use super::modifier::PlanModifier;
use super::validator::Validator;

/// The schema of a resource, a data source or a provider configuration.
///
/// ```
/// # use terrane_sdk::{Attribute, Schema};
/// let schema = Schema::new([Attribute::string("title").required()]).version(1).description("A note.");
/// assert_eq!((schema.version, &*schema.block.description), (1, "A note."));
/// ```
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
///
/// ```
/// # use terrane_sdk::{Attribute, Block};
/// let block = Block { deprecation: Some("Use tags.".to_owned()), ..Block::new([Attribute::string("label").required()]) };
/// assert_eq!(block.attributes[0].name, "label");
/// ```
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
///
/// ```
/// # use terrane_sdk::{Attribute, Block, NestedBlock, Nesting};
/// let reminder = Block::new([Attribute::string("at").required()]);
/// let reminder = NestedBlock { max_items: 1, ..NestedBlock::new("reminder", Nesting::List, reminder) };
/// ```
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
///
/// ```
/// # use terrane_sdk::{Attribute, Block, Nesting, Shape};
/// let rule = Block::new([Attribute::int("port").required()]);
/// let rules = Attribute::new("rules", Shape::Nested(Nesting::List, rule)).optional();
/// assert!(rules.ty().is_list());
/// ```
#[derive(Clone)]
pub enum Shape {
    /// A value of the type.
    Plain(Type),
    /// An object with the attributes of the block, or a list, set or map of such objects.
    Nested(Nesting, Block),
}

impl Schema {
    /// A schema of version 0.
    ///
    /// ```
    /// use terrane_sdk::{Attribute, Schema};
    /// let schema = Schema::new([Attribute::string("title").required()]);
    /// assert_eq!(schema.version, 0);
    /// ```
    pub fn new(attributes: impl IntoIterator<Item = Attribute>) -> Schema {
        Schema { version: 0, block: Block::new(attributes), unchecked: false }
    }

    /// A schema of version 0 with the attributes and blocks of a model.
    ///
    /// ```
    /// # use terrane_sdk::{Model, Schema};
    /// # #[derive(Model)] struct Note { #[attribute(required)] title: String }
    /// assert_eq!(Schema::of::<Note>().block.attributes[0].name, "title");
    /// ```
    pub fn of<M: super::Model>() -> Schema {
        Schema { version: 0, block: M::block(), unchecked: false }
    }

    /// Leaves all checks of the configuration to the author.
    #[doc(hidden)]
    pub fn without_checks(mut self) -> Schema {
        self.unchecked = true;
        self
    }

    /// Sets the version of stored objects.
    ///
    /// ```
    /// # use terrane_sdk::Schema;
    /// assert_eq!(Schema::new([]).version(2).version, 2);
    /// ```
    pub fn version(mut self, version: i64) -> Schema {
        self.version = version;
        self
    }

    /// Sets the description for users.
    ///
    /// ```
    /// # use terrane_sdk::Schema;
    /// assert_eq!(Schema::new([]).description("A note.").block.description, "A note.");
    /// ```
    pub fn description(mut self, text: impl Into<String>) -> Schema {
        self.block.description = text.into();
        self
    }

    /// The descriptions are plain text; those of `#[derive(Model)]` are Markdown otherwise.
    ///
    /// ```
    /// # use terrane_sdk::{Model, Schema};
    /// /// A note.
    /// #[derive(Model)]
    /// struct Note {
    ///     #[attribute(required)]
    ///     title: String,
    /// }
    /// assert!(Schema::of::<Note>().block.markdown);
    /// assert!(!Schema::of::<Note>().plain_text().block.markdown);
    /// ```
    pub fn plain_text(mut self) -> Schema {
        self.block.set_plain_text();
        self
    }

    /// Warns those who use it.
    ///
    /// ```
    /// # use terrane_sdk::Schema;
    /// let schema = Schema::new([]).deprecated("Use todo_note.");
    /// assert_eq!(schema.block.deprecation.as_deref(), Some("Use todo_note."));
    /// ```
    pub fn deprecated(mut self, message: impl Into<String>) -> Schema {
        self.block.deprecation = Some(message.into());
        self
    }

    /// Adds a block.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Block, NestedBlock, Nesting, Schema};
    /// let reminder = Block::new([Attribute::string("at").required()]);
    /// let schema = Schema::new([]).block(NestedBlock::new("reminder", Nesting::Set, reminder));
    /// assert_eq!(schema.block.blocks[0].name, "reminder");
    /// ```
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
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Block};
    /// let block = Block::new([Attribute::string("at").required(), Attribute::string("channel").optional()]);
    /// assert_eq!((block.attributes.len(), block.blocks.len()), (2, 0));
    /// ```
    pub fn new(attributes: impl IntoIterator<Item = Attribute>) -> Block {
        Block { attributes: attributes.into_iter().collect(), ..Block::default() }
    }

    /// The object type of a value of this block.
    ///
    /// ```
    /// # use terrane_sdk::{Attribute, Block, Type};
    /// let block = Block::new([Attribute::int("port").required()]);
    /// assert_eq!(block.ty(), Type::object([("port", Type::Number)]));
    /// ```
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
            computed: false,
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
    /// use terrane_sdk::{Attribute, Block, NestedBlock, Nesting, Schema};
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
    ///
    /// ```
    /// # use terrane_sdk::{Block, NestedBlock, Nesting, validators::size_at_most};
    /// let disks = NestedBlock::new("disk", Nesting::List, Block::default()).validator(size_at_most(4));
    /// ```
    pub fn validator(mut self, validator: impl Validator) -> NestedBlock {
        self.validators.push(Arc::new(validator));
        self
    }

    /// Adds a plan modifier of the block as a whole.
    ///
    /// ```
    /// # use terrane_sdk::{Block, NestedBlock, Nesting, replace};
    /// let disks = NestedBlock::new("disk", Nesting::Set, Block::default()).modifier(replace());
    /// ```
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
    ///
    /// ```
    /// # use terrane_sdk::{Block, Nesting, Shape, Type};
    /// assert_eq!(Shape::Plain(Type::Bool).ty(), Type::Bool);
    /// assert_eq!(Shape::Nested(Nesting::Map, Block::default()).ty(), Type::map(Type::empty_object()));
    /// ```
    pub fn ty(&self) -> Type {
        match self {
            Shape::Plain(ty) => ty.clone(),
            Shape::Nested(..) => self.to_model().implied_type(),
        }
    }

    pub(super) fn to_model(&self) -> wire::Attribute {
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
