//! The types of fields: Rust values to and from values of the language.

use std::collections::BTreeMap;

use terrane_protocol::schema::Nesting;
use terrane_value::{Number, Path, PathStep, Type, Value};

use super::Field;
use super::attribute::NumberKind;
use super::error::Error;
use super::schema::Shape;

/// A value that does not fit a field.
///
/// ```
/// use terrane_sdk::{Error, FieldType, Path, Value};
/// let list = Value::tuple(vec![Value::string("a"), Value::int(1)]);
/// let mismatch = Vec::<String>::from_value(&list).unwrap_err();
/// assert_eq!(mismatch.path, Path::new().index_int(1));
/// assert!(Error::from(mismatch).to_string().ends_with("number is not String"));
/// ```
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// From the object on.
    pub path: Path,
    /// What does not fit, without the path.
    pub reason: String,
}

impl Mismatch {
    pub(super) fn new(reason: impl Into<String>) -> Mismatch {
        Mismatch { path: Path::new(), reason: reason.into() }
    }

    /// The same, seen from the value around it.
    pub(super) fn within(mut self, step: PathStep) -> Mismatch {
        self.path.0.insert(0, step);
        self
    }
}

impl From<Mismatch> for Error {
    fn from(mismatch: Mismatch) -> Error {
        let detail = format!(
            "An unexpected error was encountered trying to convert a value of the provider protocol. This is always an \
             error in the provider. Please report the following to the provider developer:\n\n{}",
            mismatch.reason
        );
        Error::new("Value Conversion Error", detail).at(mismatch.path)
    }
}

/// The type of a field of a model.
///
/// Implemented for text, numbers, flags, lists, sets and maps of them, other models, [`Value`] (an attribute of any
/// type), and `Option` and [`Field`] of each.
///
/// ```
/// use std::collections::BTreeMap;
/// use terrane_sdk::{FieldType, Type, Value};
/// let ports: BTreeMap<String, i64> = [("http".to_owned(), 80)].into();
/// let value = ports.clone().into_value();
/// assert_eq!(value, Value::map(Type::Number, [("http", Value::int(80))]));
/// assert_eq!(BTreeMap::from_value(&value).unwrap(), ports);
/// ```
pub trait FieldType: Sized + Send + Sync + 'static {
    /// Without `Option` and `Field`.
    type Known: FieldType;

    /// The attribute's type.
    ///
    /// ```
    /// # use terrane_sdk::{FieldType, Set, Type};
    /// assert_eq!(Set::<String>::shape().ty(), Type::set(Type::String));
    /// assert_eq!(Option::<bool>::shape().ty(), Type::Bool);
    /// ```
    fn shape() -> Shape;

    /// What a number may be.
    ///
    /// ```
    /// # use terrane_sdk::{FieldType, NumberKind};
    /// assert_eq!(i32::number(), NumberKind::Int32);
    /// ```
    fn number() -> NumberKind {
        NumberKind::Any
    }

    /// Reads a value of the language. Fails if it is of another type, or null or unknown where the Rust type has no such value.
    ///
    /// ```
    /// # use terrane_sdk::{FieldType, Type, Value};
    /// assert_eq!(bool::from_value(&Value::bool(true)).unwrap(), true);
    /// assert!(bool::from_value(&Value::null(Type::Bool)).is_err());
    /// assert_eq!(Option::<bool>::from_value(&Value::null(Type::Bool)).unwrap(), None);
    /// ```
    fn from_value(value: &Value) -> Result<Self, Mismatch>;
    /// The value of the language.
    ///
    /// ```
    /// # use terrane_sdk::{Field, FieldType, Type, Value};
    /// assert_eq!(3_i64.into_value(), Value::int(3));
    /// assert_eq!(Field::<i64>::Unknown.into_value(), Value::unknown(Type::Number));
    /// ```
    fn into_value(self) -> Value;

    /// The same as a [`Field`], which can hold any value.
    ///
    /// ```
    /// # use terrane_sdk::{Field, FieldType};
    /// assert_eq!(Some(3_i64).into_field(), Field::Known(3));
    /// assert_eq!(None::<i64>.into_field(), Field::Null);
    /// ```
    fn into_field(self) -> Field<Self::Known>;
    /// Fails for null or unknown values that the type does not have.
    ///
    /// ```
    /// # use terrane_sdk::{Field, FieldType};
    /// assert_eq!(Option::<i64>::from_field(Field::Null).unwrap(), None);
    /// assert!(i64::from_field(Field::Unknown).is_err());
    /// ```
    fn from_field(field: Field<Self::Known>) -> Result<Self, Mismatch>;
}

/// The known value, for types that have neither null nor unknown.
pub(super) fn known_only<T>(field: Field<T>) -> Result<T, Mismatch> {
    match field {
        Field::Known(value) => Ok(value),
        Field::Null => Err(Mismatch::new("the value is null, which the field cannot hold")),
        Field::Unknown => Err(Mismatch::new("the value is unknown, which the field cannot hold")),
    }
}

/// Fails if the value is null or unknown.
pub(super) fn require_known(value: &Value) -> Result<&Value, Mismatch> {
    if value.is_null() {
        known_only::<&Value>(Field::Null)
    } else if value.is_known() {
        Ok(value)
    } else {
        known_only(Field::Unknown)
    }
}

impl<T: FieldType<Known = T>> FieldType for Field<T> {
    type Known = T;

    fn shape() -> Shape {
        T::shape()
    }

    fn number() -> NumberKind {
        T::number()
    }

    fn from_value(value: &Value) -> Result<Field<T>, Mismatch> {
        match value {
            value if value.is_null() => Ok(Field::Null),
            value if !value.is_known() => Ok(Field::Unknown),
            value => T::from_value(value).map(Field::Known),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Field::Null => Value::null(T::shape().ty()),
            Field::Unknown => Value::unknown(T::shape().ty()),
            Field::Known(value) => value.into_value(),
        }
    }

    fn into_field(self) -> Field<T> {
        self
    }

    fn from_field(field: Field<T>) -> Result<Field<T>, Mismatch> {
        Ok(field)
    }
}

impl<T: FieldType<Known = T>> FieldType for Option<T> {
    type Known = T;

    fn shape() -> Shape {
        T::shape()
    }

    fn number() -> NumberKind {
        T::number()
    }

    fn from_value(value: &Value) -> Result<Option<T>, Mismatch> {
        Option::from_field(Field::from_value(value)?)
    }

    fn into_value(self) -> Value {
        Field::from(self).into_value()
    }

    fn into_field(self) -> Field<T> {
        self.into()
    }

    fn from_field(field: Field<T>) -> Result<Option<T>, Mismatch> {
        match field {
            Field::Null => Ok(None),
            known => known_only(known).map(Some),
        }
    }
}

/// The parts of `FieldType` that are the same for all types without null and unknown.
macro_rules! always_known {
    () => {
        type Known = Self;

        fn into_field(self) -> Field<Self> {
            Field::Known(self)
        }

        fn from_field(field: Field<Self>) -> Result<Self, Mismatch> {
            known_only(field)
        }
    };
}

macro_rules! plain {
    ($type:ty, $shape:expr, $number:expr, $from:expr, $into:expr) => {
        impl FieldType for $type {
            always_known!();

            fn shape() -> Shape {
                Shape::Plain($shape)
            }

            fn number() -> NumberKind {
                $number
            }

            fn from_value(value: &Value) -> Result<Self, Mismatch> {
                let value = require_known(value)?;
                let wrong = || Mismatch::new(format!("{} is not {}", value.ty().friendly_name(), stringify!($type)));
                #[allow(clippy::redundant_closure_call)]
                ($from)(value).ok_or_else(wrong)
            }

            fn into_value(self) -> Value {
                #[allow(clippy::redundant_closure_call)]
                ($into)(self)
            }
        }
    };
}

plain!(String, Type::String, NumberKind::Any, |v: &Value| v.as_str().map(str::to_owned), Value::string);
plain!(bool, Type::Bool, NumberKind::Any, Value::as_bool, Value::bool);
plain!(i64, Type::Number, NumberKind::Int64, Value::as_i64, Value::int);
plain!(i32, Type::Number, NumberKind::Int32, |v: &Value| v.as_i64().and_then(|n| i32::try_from(n).ok()), |n| {
    Value::int(i64::from(n))
});
plain!(f64, Type::Number, NumberKind::Float64, |v: &Value| v.as_number().map(Number::as_f64), number_value);
plain!(Number, Type::Number, NumberKind::Any, |v: &Value| v.as_number().cloned(), Value::number);

fn number_value(number: f64) -> Value {
    Number::parse(&number.to_string()).map_or_else(|| Value::null(Type::Number), Value::number)
}

/// An attribute of any type, which may also be null or unknown.
impl FieldType for Value {
    type Known = Value;

    fn shape() -> Shape {
        Shape::Plain(Type::Dynamic)
    }

    fn from_value(value: &Value) -> Result<Value, Mismatch> {
        Ok(value.clone())
    }

    fn into_value(self) -> Value {
        self
    }

    fn into_field(self) -> Field<Value> {
        Field::Known(self)
    }

    fn from_field(field: Field<Value>) -> Result<Value, Mismatch> {
        known_only(field)
    }
}

/// The shape of a collection of `element`s.
fn collection(element: Shape, nesting: Nesting) -> Shape {
    match element {
        Shape::Nested(Nesting::Single, block) => Shape::Nested(nesting, block),
        element => Shape::Plain(match nesting {
            Nesting::Set => Type::set(element.ty()),
            Nesting::Map => Type::map(element.ty()),
            Nesting::List | Nesting::Single | Nesting::Group => Type::list(element.ty()),
        }),
    }
}

/// The elements of a known list or set, each with the step that leads to it.
fn elements<T: FieldType>(value: &Value, is_set: bool) -> Result<Vec<T>, Mismatch> {
    let read = |(index, element): (usize, &Value)| {
        let step = if is_set { element.clone() } else { Value::int(i64::try_from(index).unwrap_or(i64::MAX)) };
        T::from_value(element).map_err(|mismatch| mismatch.within(PathStep::Index(step)))
    };
    require_known(value)?.elements().iter().enumerate().map(read).collect()
}

impl<T: FieldType> FieldType for Vec<T> {
    always_known!();

    fn shape() -> Shape {
        collection(T::shape(), Nesting::List)
    }

    fn from_value(value: &Value) -> Result<Vec<T>, Mismatch> {
        elements(value, false)
    }

    fn into_value(self) -> Value {
        Value::list(T::shape().ty(), self.into_iter().map(T::into_value).collect())
    }
}

/// A set: elements in the order of the language, no two of them equal.
///
/// ```
/// use terrane_sdk::Set;
/// let tags: Set<String> = ["a".to_owned(), "b".to_owned()].into_iter().collect();
/// assert_eq!(tags.0.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set<T>(pub Vec<T>);

impl<T> Default for Set<T> {
    fn default() -> Set<T> {
        Set(Vec::new())
    }
}

impl<T> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Set<T> {
        Set(elements.into_iter().collect())
    }
}

impl<T: FieldType> FieldType for Set<T> {
    always_known!();

    fn shape() -> Shape {
        collection(T::shape(), Nesting::Set)
    }

    fn from_value(value: &Value) -> Result<Set<T>, Mismatch> {
        elements(value, true).map(Set)
    }

    fn into_value(self) -> Value {
        Value::set(T::shape().ty(), self.0.into_iter().map(T::into_value).collect())
    }
}

impl<T: FieldType> FieldType for BTreeMap<String, T> {
    always_known!();

    fn shape() -> Shape {
        collection(T::shape(), Nesting::Map)
    }

    fn from_value(value: &Value) -> Result<BTreeMap<String, T>, Mismatch> {
        let read = |(key, element): (&std::sync::Arc<str>, &Value)| {
            let element = T::from_value(element);
            let element = element.map_err(|mismatch| mismatch.within(PathStep::Index(Value::string(key))))?;
            Ok((key.to_string(), element))
        };
        require_known(value)?.entries().iter().map(read).collect()
    }

    fn into_value(self) -> Value {
        Value::map(T::shape().ty(), self.into_iter().map(|(key, element)| (key, element.into_value())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_hold_null_and_unknown_only_where_their_type_does() {
        let null = Value::null(Type::String);
        let unknown = Value::unknown(Type::String);
        assert_eq!(Field::<String>::from_value(&null).unwrap(), Field::Null);
        assert_eq!(Field::<String>::from_value(&unknown).unwrap(), Field::Unknown);
        assert_eq!(Option::<String>::from_value(&null).unwrap(), None);
        assert!(Option::<String>::from_value(&unknown).is_err());
        assert!(String::from_value(&null).is_err());
    }

    #[test]
    fn mismatches_name_the_element() {
        let list = Value::list(Type::String, vec![Value::string("a"), Value::null(Type::String)]);
        let mismatch = Vec::<String>::from_value(&list).unwrap_err();
        assert_eq!(mismatch.path, Path::new().index_int(1));
        assert!(Vec::<Field<String>>::from_value(&list).is_ok());
    }

    #[test]
    fn collections_come_back_as_they_were() {
        let map: BTreeMap<String, Vec<i64>> = [("a".to_owned(), vec![1, 2])].into();
        let value = map.clone().into_value();
        assert_eq!(value.ty(), &Type::map(Type::list(Type::Number)));
        assert_eq!(BTreeMap::<String, Vec<i64>>::from_value(&value).unwrap(), map);
        assert!(i64::from_value(&number_value(1.5)).is_err());
        assert_eq!(f64::from_value(&number_value(1.5)).unwrap(), 1.5);
    }
}
