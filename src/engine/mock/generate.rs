//! Made-up values of attributes and types.
//!
//! A [`Maker`] stands for a place in a mocked object: the same seed and the same place always give the same value, so that an object
//! that is planned twice is the same both times.

use std::sync::Arc;

use terrane_protocol::schema::{Attribute, AttributeShape, Nesting, ObjectShape};
use terrane_value::set::hash_key;
use terrane_value::{Path, PathStep, Type, Value};

/// Fills a slice with random bytes.
pub type Random = Arc<dyn Fn(&mut [u8]) + Send + Sync>;

const CHARACTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const TEXT_LENGTH: usize = 8;

/// Makes up the values at one place of a mocked object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maker(u64);

impl Maker {
    /// For a whole object.
    pub fn new(random: &dyn Fn(&mut [u8])) -> Maker {
        let mut seed = [0; 8];
        random(&mut seed);
        Maker::of_seed(u64::from_le_bytes(seed))
    }

    /// For a whole object, again.
    pub fn of_seed(seed: u64) -> Maker {
        Maker(seed)
    }

    /// What [`Maker::of_seed`] takes.
    pub fn seed(self) -> u64 {
        self.0
    }

    /// For an attribute of an object, or for an element of a map.
    #[must_use]
    pub fn at(self, name: &str) -> Maker {
        // FNV-1a.
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Maker(mixed(name.bytes().fold(self.0 ^ 0xcbf2_9ce4_8422_2325, step)))
    }

    /// For an element of a list.
    #[must_use]
    pub fn at_index(self, index: usize) -> Maker {
        Maker(mixed(self.0.wrapping_add(index as u64).wrapping_add(1)))
    }

    /// For the place that a path within the object leads to.
    #[must_use]
    pub fn at_path(self, path: &Path) -> Maker {
        path.steps().iter().fold(self, |maker, step| match step {
            PathStep::Attr(name) => maker.at(name),
            PathStep::Index(key) => match (key.as_str(), key.as_number().and_then(|index| index.as_usize())) {
                (Some(name), _) => maker.at(name),
                (None, Some(index)) => maker.at_index(index),
                // An element of a set.
                (None, None) => maker.at(&hash_key(key)),
            },
        })
    }

    /// Made-up values: text, 0, false, no elements; objects have all their attributes. Null where no value is sure to be valid.
    pub fn attribute(self, attribute: &Attribute) -> Value {
        if attribute.write_only {
            return Value::null(attribute.implied_type());
        }
        match &attribute.shape {
            AttributeShape::Nested(shape) => self.nested(shape),
            AttributeShape::Plain(ty) => self.value(ty),
        }
    }

    fn nested(self, shape: &ObjectShape) -> Value {
        match shape.nesting {
            Nesting::Single | Nesting::Group => {
                let made = |(name, inner): (&Arc<str>, &Attribute)| (name.clone(), self.at(name).attribute(inner));
                Value::object(shape.attributes.iter().map(made))
            }
            Nesting::List => Value::list(shape.element_type(), Vec::new()),
            Nesting::Set => Value::set(shape.element_type(), Vec::new()),
            Nesting::Map => no_entries(shape.element_type()),
        }
    }

    /// As [`Maker::attribute`], of a type.
    pub fn value(self, ty: &Type) -> Value {
        match ty {
            Type::String => Value::string(self.text()),
            Type::Number => Value::int(0),
            Type::Bool => Value::bool(false),
            Type::List(element) => Value::list((**element).clone(), Vec::new()),
            Type::Set(element) => Value::set((**element).clone(), Vec::new()),
            Type::Map(element) => no_entries((**element).clone()),
            Type::Tuple(elements) => {
                let made = |(index, element)| self.at_index(index).value(element);
                Value::tuple(elements.iter().enumerate().map(made).collect())
            }
            Type::Object(object) => {
                let made = |(name, inner): (&Arc<str>, &Type)| (name.clone(), self.at(name).value(inner));
                Value::object(object.attributes.iter().map(made))
            }
            // The error about a null says more than one about a wrong type.
            Type::Dynamic => Value::null_dynamic(),
        }
    }

    fn text(self) -> String {
        let mut rest = mixed(self.0);
        let base = CHARACTERS.len() as u64;
        let mut character = || {
            let index = (rest % base) as usize;
            rest /= base;
            char::from(CHARACTERS[index])
        };
        (0..TEXT_LENGTH).map(|_| character()).collect()
    }
}

/// A map of a type, without elements.
pub fn no_entries(element: Type) -> Value {
    Value::map(element, std::iter::empty::<(Arc<str>, Value)>())
}

/// Spreads the bits of a number (the last step of SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn is_text(value: &Value) -> bool {
        let text = value.as_str().unwrap();
        text.len() == TEXT_LENGTH && text.bytes().all(|byte| CHARACTERS.contains(&byte))
    }

    #[test]
    fn types_have_made_up_values() {
        let object = || Type::object([("n", Type::Number), ("l", Type::list(Type::String))]);
        let cases = [
            (Type::Number, Value::int(0)),
            (Type::Bool, Value::bool(false)),
            (Type::list(Type::String), Value::list(Type::String, Vec::new())),
            (Type::set(object()), Value::set(object(), Vec::new())),
            (Type::map(Type::Bool), no_entries(Type::Bool)),
            (Type::empty_object(), Value::empty_object()),
            (object(), Value::object([("n", Value::int(0)), ("l", Value::list(Type::String, Vec::new()))])),
            // The reference has none for tuples.
            (Type::tuple([Type::Number, Type::Bool]), Value::tuple(vec![Value::int(0), Value::bool(false)])),
            (Type::Dynamic, Value::null_dynamic()),
        ];
        for (ty, expected) in cases {
            assert_eq!(Maker::of_seed(7).value(&ty), expected, "{ty:?}");
        }
        assert!(is_text(&Maker::of_seed(7).value(&Type::String)));
    }

    #[test]
    fn nested_attributes_have_made_up_values() {
        let attribute = |nesting| {
            let secret = Attribute { optional: true, write_only: true, ..Attribute::new(Type::String) };
            let inner = [("n", Attribute::new(Type::Number)), ("s", Attribute::new(Type::String)), ("w", secret)];
            let attributes = inner.map(|(name, inner)| (Arc::from(name), inner)).into();
            let shape = AttributeShape::Nested(ObjectShape { attributes, nesting });
            Attribute { shape, ..Attribute::new(Type::Dynamic) }
        };
        let element = Type::object([("n", Type::Number), ("s", Type::String), ("w", Type::String)]);
        let empty = [
            (Nesting::List, Value::list(element.clone(), Vec::new())),
            (Nesting::Set, Value::set(element.clone(), Vec::new())),
            (Nesting::Map, no_entries(element)),
        ];
        for (nesting, expected) in empty {
            assert_eq!(Maker::of_seed(7).attribute(&attribute(nesting)), expected);
        }
        let single = Maker::of_seed(7).attribute(&attribute(Nesting::Single));
        assert_eq!((single.get("n"), single.get("w")), (Some(&Value::int(0)), Some(&Value::null(Type::String))));
        assert!(is_text(single.get("s").unwrap()));
    }

    #[test]
    fn texts_follow_the_seed_and_the_place() {
        let text = |maker: Maker| maker.value(&Type::String).as_arc_str().unwrap();
        let one = Maker::of_seed(1);
        assert_eq!(text(one.at("a").at_index(3)), text(Maker::of_seed(1).at("a").at_index(3)));
        assert_eq!(one.at_path(&Path::new().attr("a").index_int(3).index_str("k")), one.at("a").at_index(3).at("k"));
        let mut makers: Vec<Maker> = (0..500).map(Maker::of_seed).collect();
        makers.extend((0..500).map(|index| one.at_index(index)));
        makers.extend((0..500).map(|index| one.at(&index.to_string())));
        let texts: BTreeSet<Arc<str>> = makers.iter().map(|maker| text(*maker)).collect();
        assert!(texts.len() >= makers.len() - 1, "{}", texts.len());
    }

    #[test]
    fn seeds_are_random() {
        let random = |byte: u8| move |bytes: &mut [u8]| bytes.fill(byte);
        assert_eq!(Maker::new(&random(0)).seed(), 0);
        assert_eq!(Maker::new(&random(255)).seed(), u64::MAX);
    }
}
