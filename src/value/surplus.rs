//! Attributes in the JSON text of an object that its type does not have: those that a provider has removed.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Type;
use super::document::Document;

/// The text without attributes that the type does not have, at any depth; none if there are none, or if the text is no
/// JSON. Parts of a dynamic type stay as they are.
pub fn without_surplus(text: &str, ty: &Type) -> Option<String> {
    // Almost no text has any: looking costs less than parsing and writing.
    let mut reader = serde_json::Deserializer::from_str(text);
    if !Probe(ty).deserialize(&mut reader).ok()? {
        return None;
    }
    let mut json = Document::parse(text.as_bytes()).ok()?;
    strip(&mut json, ty).then(|| json.to_string())
}

/// True if something was removed.
fn strip(json: &mut Document, ty: &Type) -> bool {
    match (json, ty) {
        (Document::Array(elements), Type::List(t) | Type::Set(t)) => {
            elements.iter_mut().map(|e| strip(e, t)).filter(|removed| *removed).count() > 0
        }
        (Document::Object(entries), Type::Map(t)) => {
            entries.iter_mut().map(|(_, v)| strip(v, t)).filter(|removed| *removed).count() > 0
        }
        (Document::Object(entries), Type::Object(object)) => {
            let before = entries.len();
            let mut found = false;
            entries.retain_mut(|(name, v)| {
                let ty = object.attributes.get(&**name);
                found |= ty.is_some_and(|ty| strip(v, ty));
                ty.is_some()
            });
            found || entries.len() != before
        }
        _ => false,
    }
}

/// True if there may be something to remove. Builds nothing. A number where the type has an object looks like one with
/// an additional attribute.
struct Probe<'t>(&'t Type);

impl<'de> DeserializeSeed<'de> for Probe<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        match self.0 {
            Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Object(_) => deserializer.deserialize_any(self),
            _ => IgnoredAny::deserialize(deserializer).map(|_| false),
        }
    }
}

impl<'de> Visitor<'de> for Probe<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut found = false;
        while let Some(name) = map.next_key::<String>()? {
            let inner = match self.0 {
                Type::Map(t) => Some(&**t),
                Type::Object(object) => {
                    let inner = object.attributes.get(&*name);
                    found |= inner.is_none();
                    inner
                }
                _ => None,
            };
            match inner {
                Some(ty) => found |= map.next_value_seed(Probe(ty))?,
                None => {
                    let _: IgnoredAny = map.next_value()?;
                }
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
        let mut found = false;
        let element = match self.0 {
            Type::List(t) | Type::Set(t) => &**t,
            _ => &Type::Dynamic,
        };
        while let Some(surplus) = seq.next_element_seed(Probe(element))? {
            found |= surplus;
        }
        Ok(found)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_only_what_the_type_does_not_have() {
        let inner = || Type::object([("k", Type::String)]);
        let ty = Type::object([
            ("a", Type::Number),
            ("d", Type::Dynamic),
            ("l", Type::list(inner())),
            ("m", Type::map(inner())),
            ("s", Type::map(Type::String)),
        ]);
        let cases = [
            (
                r#"{"a":1.50,"d":{"type":"string","value":"x"},"l":[{"k":"v"}],"m":{"x":{"k":null}},"s":{"any":"y"}}"#,
                None,
            ),
            (r#"{"a":1.50,"gone":{"x":[1]}}"#, Some(r#"{"a":1.50}"#)),
            (r#"{"l":[{"k":"v","z":1},null],"m":{"x":{"z":true}}}"#, Some(r#"{"l":[{"k":"v"},null],"m":{"x":{}}}"#)),
            (r#"{"d":{"z":{"y":1}},"s":null}"#, None),
            // What is of another kind is left to the reader.
            (r#"{"a":"text","l":{"k":1},"m":["x"],"s":12345678901234567890123}"#, None),
            (r#"{"a":"#, None),
            (r#"{"l":[1.5]}"#, None),
            ("null", None),
        ];
        for (text, expected) in cases {
            assert_eq!(without_surplus(text, &ty).as_deref(), expected, "{text}");
        }
    }
}
