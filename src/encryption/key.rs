//! Key material: what key providers give to methods.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use terrane_value::{Type, Value};

use super::settings::{number_in, unsuitable};

/// The bytes of a key, which nothing shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Arc<[u8]>);

impl Key {
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Key {
        Key(bytes.into())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(sensitive)")
    }
}

/// Keys that this command derived, by a name that does not give them away: what is read more than once is derived once.
#[derive(Clone, Default)]
pub struct DerivedKeys(Arc<Mutex<HashMap<Vec<u8>, Key>>>);

impl DerivedKeys {
    pub(super) fn get(&self, name: &[u8]) -> Option<Key> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(super) fn insert(&self, name: Vec<u8>, key: Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, key);
    }
}

/// The key to encrypt with, and the one that what is being read was encrypted with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    pub encryption: Option<Key>,
    pub decryption: Option<Key>,
}

const ENCRYPTION_KEY: &str = "encryption_key";
const DECRYPTION_KEY: &str = "decryption_key";

impl Keys {
    /// As expressions see them: an object of lists of numbers.
    pub fn to_value(&self) -> Value {
        let bytes = |key: &Option<Key>| match key {
            Some(key) if !key.bytes().is_empty() => {
                Value::list(Type::Number, key.bytes().iter().map(|byte| Value::int(i64::from(*byte))).collect())
            }
            _ => Value::null(Type::list(Type::Number)),
        };
        Value::object([(ENCRYPTION_KEY, bytes(&self.encryption)), (DECRYPTION_KEY, bytes(&self.decryption))])
    }

    /// The keys that a value stands for. `place` is where the value comes from.
    pub fn of_value(value: &Value, place: &Range) -> Result<Keys, Diagnostics> {
        let ty = value.ty();
        let is_collection = ty.is_object() || ty.is_map();
        if !is_collection || value.is_null() || !value.is_known() {
            let detail = format!("Expected a key_provider compatible value, found {} instead", ty.friendly_name());
            return Err(Diagnostic::error("Expected key_provider value", detail).at(place.clone()).into());
        }
        let Some(encryption) = value.get(ENCRYPTION_KEY) else {
            let detail = "An encryption_key value is required in the key_provider compatible object at this location";
            return Err(Diagnostic::error("Missing encryption_key value", detail).at(place.clone()).into());
        };
        let encryption = bytes_of(encryption, place);
        let decryption = value.get(DECRYPTION_KEY).map_or(Ok(None), |value| bytes_of(value, place));
        match (encryption, decryption) {
            (Ok(encryption), Ok(decryption)) => Ok(Keys { encryption, decryption }),
            (encryption, decryption) => Err([encryption.err(), decryption.err()].into_iter().flatten().collect()),
        }
    }
}

/// A list of bytes; none where it is null or empty.
pub fn bytes_of(value: &Value, place: &Range) -> Result<Option<Key>, Diagnostic> {
    let numbers = terrane_value::convert::convert(value, &Type::list(Type::Number))
        .map_err(|_| unsuitable(&format!("list of number required, but have {}", value.ty().friendly_name()), place))?;
    if numbers.is_null() {
        return Ok(None);
    }
    let byte = |value: &Value| number_in(value, 0, 255).and_then(|n| u8::try_from(n).ok());
    let bytes: Option<Vec<u8>> = numbers.elements().iter().map(byte).collect();
    let bytes = bytes.ok_or_else(|| unsuitable("value must be a whole number, between 0 and 255 inclusive", place))?;
    Ok((!bytes.is_empty()).then(|| Key::new(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_keys_are_the_same() {
        for decryption in [None, Some(Key::new([0, 255]))] {
            let keys = Keys { encryption: Some(Key::new([1, 2, 3])), decryption };
            assert_eq!(Keys::of_value(&keys.to_value(), &Range::nowhere()), Ok(keys));
        }
    }

    #[test]
    fn keys_are_never_shown() {
        let keys = Keys { encryption: Some(Key::new(*b"secret")), decryption: None };
        assert!(!format!("{keys:?}").contains("115"));
    }

    #[test]
    fn other_values_are_explained() {
        let list = |n| Value::list(Type::Number, vec![Value::int(n)]);
        let cases = [
            (Value::string("x"), "Expected key_provider value"),
            (Value::object([("decryption_key", list(1))]), "Missing encryption_key value"),
            (Value::object([("encryption_key", list(256))]), "Unsuitable value type"),
            (Value::object([("encryption_key", Value::string("x"))]), "Unsuitable value type"),
        ];
        for (value, summary) in cases {
            let problems = Keys::of_value(&value, &Range::nowhere()).unwrap_err();
            assert_eq!(problems.iter().map(|d| &*d.summary).collect::<Vec<_>>(), [summary]);
        }
    }
}
