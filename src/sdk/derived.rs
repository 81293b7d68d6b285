//! What the code that `#[derive(Model)]` writes calls. Not part of the interface of the library.

pub use terrane_protocol::schema::Nesting;
pub use terrane_value::{Type, Value};

pub use super::attribute::{Attribute, NumberKind};
pub use super::convert::{FieldType, Mismatch};
pub use super::field::Field;
pub use super::model::{Key, Model};
pub use super::schema::{Block, NestedBlock, Shape};

/// Types that can be null: fields of attributes that are not required.
#[diagnostic::on_unimplemented(
    message = "an attribute that is not required may be null",
    label = "use `Option` or `Field`"
)]
pub trait HoldsNull {}

/// Types that can be unknown: fields of computed attributes.
#[diagnostic::on_unimplemented(message = "a computed attribute may be unknown in plans", label = "use `Field`")]
pub trait HoldsUnknown {}

impl<T> HoldsNull for Option<T> {}
impl<T> HoldsNull for Field<T> {}
impl HoldsNull for Value {}
impl<T> HoldsUnknown for Field<T> {}
impl HoldsUnknown for Value {}

pub const fn holds_null<T: HoldsNull>() {}
pub const fn holds_unknown<T: HoldsUnknown>() {}

/// The attribute of a field.
pub fn attribute<T: FieldType>(name: &str, description: &str) -> Attribute {
    let attribute = Attribute { number: T::number(), ..Attribute::new(name, T::shape()) };
    let attribute = attribute.description(description);
    if description.is_empty() { attribute } else { attribute.markdown() }
}

/// The nested block of a field whose type is a model, or a list, set or map of one.
pub fn nested_block<T: FieldType>(name: &str, description: &str) -> NestedBlock {
    let (nesting, mut block) = match T::shape() {
        Shape::Nested(nesting, block) => (nesting, block),
        // The compiler cannot see it; `validate_implementation` reports a block without attributes.
        Shape::Plain(_) => (Nesting::Single, Block::default()),
    };
    if !description.is_empty() {
        block.description = description.to_owned();
        block.markdown = true;
    }
    NestedBlock::new(name, nesting, block)
}

/// The attributes and blocks of a model, with its description.
pub fn block(
    attributes: Vec<Attribute>,
    blocks: Vec<NestedBlock>,
    description: &str,
    deprecation: Option<&str>,
) -> Block {
    Block {
        attributes,
        blocks,
        description: description.to_owned(),
        markdown: !description.is_empty(),
        deprecation: deprecation.map(str::to_owned),
    }
}

/// The default of a field.
pub fn default_value<T: FieldType>(value: impl Into<T::Known>) -> Value {
    value.into().into_value()
}

/// Reads a field of an object.
pub fn field<T: FieldType>(object: &Value, name: &str) -> Result<T, Mismatch> {
    let absent = || Value::null(T::shape().ty());
    let value = object.get(name).cloned().unwrap_or_else(absent);
    T::from_value(&value).map_err(|mismatch| mismatch.within_attribute(name))
}

/// The shape of a field whose type is a model.
pub fn shape<M: Model>() -> Shape {
    Shape::Nested(Nesting::Single, M::block())
}

/// Reads a model that is a field of another.
pub fn known<M: Model>(value: &Value) -> Result<M, Mismatch> {
    M::from_value(super::convert::require_known(value)?)
}

/// The known value of a field of a model type.
pub fn only_known<M>(field: Field<M>) -> Result<M, Mismatch> {
    super::convert::known_only(field)
}
