//! `random_id`, `random_bytes` and `random_uuid`: bytes from the system in several notations.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use num_bigint::BigUint;

use super::source::system_bytes;
use super::{LONGEST, count_of, keepers, retry_error};
use crate::base::hex::hex;
use crate::builtin::sdk::{Attr, Resource, Rule, Shape, at_least, b64, object_with, text_of};
use crate::builtin::wording::base64_text;
use crate::lang::value::{Type, Value};
use crate::model::provider::{ProviderDiagnostic, ProviderDiagnostics};

fn computed(name: &'static str, description: &str) -> Attr {
    Attr::string(name, description).computed().rule(Rule::Keep)
}

/// Of `random_id`: its decimal notation takes time by the square of its length.
const LONGEST_ID: usize = 1 << 20;

fn random(length: usize) -> Result<Vec<u8>, ProviderDiagnostic> {
    system_bytes(length).map_err(|error| {
        retry_error(
            "Random Read Error",
            "While attempting to generate a random value for this resource, a read error was generated.",
            &error,
        )
    })
}

fn length_of(bytes: &[u8]) -> Value {
    Value::int(i64::try_from(bytes.len()).unwrap_or(i64::MAX))
}

pub struct Id(Shape);

impl Id {
    pub fn new() -> Id {
        Id(Shape::new(
            0,
            "Random bytes meant as a unique identifier, in several notations.",
            vec![
                keepers(),
                Attr::int("byte_length", "How many random bytes; at least 1.").required().rule(Rule::Replace),
                Attr::string("prefix", "A text put before each notation, as it is.").optional().rule(Rule::Replace),
                computed("b64_url", "In base64 with letters, digits, `_` and `-`, after the prefix."),
                computed("b64_std", "In standard base64, after the prefix."),
                computed("hex", "In hexadecimal digits, two for each byte, after the prefix."),
                computed("dec", "In decimal digits without padding, after the prefix."),
                computed("id", "In base64 for URLs, without the prefix."),
            ],
        ))
    }

    fn filled(&self, planned: &Value, bytes: &[u8]) -> Value {
        let id = URL_SAFE_NO_PAD.encode(bytes);
        let prefix = text_of(planned, "prefix").unwrap_or_default();
        let with_prefix = |text: &str| Value::string(format!("{prefix}{text}"));
        object_with(
            planned,
            [
                ("b64_url", with_prefix(&id)),
                ("b64_std", with_prefix(&b64(bytes))),
                ("hex", with_prefix(&hex(bytes))),
                ("dec", with_prefix(&BigUint::from_bytes_be(bytes).to_string())),
                ("id", Value::string(&id)),
            ],
        )
    }
}

impl Resource for Id {
    fn shape(&self) -> &Shape {
        &self.0
    }

    fn validate(&self, config: &Value, found: &mut ProviderDiagnostics) {
        at_least(config, "byte_length", 1, found);
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        Ok(self.filled(planned, &random(count_of(planned, "byte_length", LONGEST_ID)?)?))
    }

    /// `[PREFIX,]ID`
    fn import(&self, id: &str) -> Result<Value, ProviderDiagnostic> {
        let (prefix, id) = id.rsplit_once(',').unwrap_or(("", id));
        let bytes = URL_SAFE_NO_PAD.decode(id).map_err(|_| {
            retry_error(
                "Import Random ID Error",
                "While attempting to import a random id there was a decoding error.",
                &base64_text(id, true),
            )
        })?;
        let prefix = if prefix.is_empty() { Value::null(Type::String) } else { Value::string(prefix) };
        let start = self.0.object([("byte_length", length_of(&bytes)), ("prefix", prefix)]);
        Ok(self.filled(&start, &bytes))
    }
}

pub struct Bytes(Shape);

impl Bytes {
    pub fn new() -> Bytes {
        Bytes(Shape::new(
            0,
            "Random bytes meant as a secret or a key.",
            vec![
                keepers(),
                Attr::int("length", "How many bytes; at least 1.").required().rule(Rule::Replace),
                computed("base64", "The bytes in base64.").sensitive(),
                computed("hex", "The bytes in hexadecimal digits.").sensitive(),
            ],
        ))
    }
}

impl Resource for Bytes {
    fn shape(&self) -> &Shape {
        &self.0
    }

    fn validate(&self, config: &Value, found: &mut ProviderDiagnostics) {
        at_least(config, "length", 1, found);
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        let bytes = random(count_of(planned, "length", LONGEST)?)?;
        Ok(object_with(planned, [("base64", Value::string(b64(&bytes))), ("hex", Value::string(hex(&bytes)))]))
    }

    /// The bytes in base64.
    fn import(&self, id: &str) -> Result<Value, ProviderDiagnostic> {
        let bytes = STANDARD.decode(id).map_err(|_| {
            retry_error(
                "Import Random bytes Error",
                "There was an error during the parsing of the base64 string.",
                &base64_text(id, false),
            )
        })?;
        Ok(self.0.object([
            ("length", length_of(&bytes)),
            ("base64", Value::string(id)),
            ("hex", Value::string(hex(&bytes))),
        ]))
    }
}

pub struct Uuid(Shape);

impl Uuid {
    pub fn new() -> Uuid {
        Uuid(Shape::new(
            0,
            "A random text in the form of a UUID.",
            vec![keepers(), computed("result", "The UUID."), computed("id", "The UUID.")],
        ))
    }
}

impl Resource for Uuid {
    fn shape(&self) -> &Shape {
        &self.0
    }

    fn create(&self, planned: &Value) -> Result<Value, ProviderDiagnostic> {
        // All bits random, as the real provider has it: not a version 4 UUID.
        let text = uuid_text(&random(16)?);
        Ok(object_with(planned, [("result", Value::string(&text)), ("id", Value::string(&text))]))
    }

    fn import(&self, id: &str) -> Result<Value, ProviderDiagnostic> {
        let failed = |error: &str| {
            retry_error("Import Random UUID Error", "There was an error during the parsing of the UUID.", error)
        };
        if id.len() != 36 {
            return Err(failed("uuid string is wrong length"));
        }
        let parsed = uuid::Uuid::try_parse(id).map_err(|_| failed("uuid is improperly formatted"))?;
        let text = Value::string(parsed.hyphenated().to_string());
        Ok(self.0.object([("result", text.clone()), ("id", text)]))
    }
}

fn uuid_text(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::sdk::int_of;

    fn text<'v>(value: &'v Value, name: &str) -> &'v str {
        text_of(value, name).unwrap()
    }

    #[test]
    fn id_notations() {
        let imported = Id::new().import("web-,p-9hUg").unwrap();
        assert_eq!(int_of(&imported, "byte_length"), Some(4));
        for (name, expected) in [
            ("id", "p-9hUg"),
            ("b64_url", "web-p-9hUg"),
            ("b64_std", "web-p+9hUg=="),
            ("hex", "web-a7ef6152"),
            ("dec", "web-2817483090"),
        ] {
            assert_eq!(text(&imported, name), expected);
        }
        let error = Id::new().import("!").unwrap_err();
        assert!(error.detail.ends_with("Original Error: illegal base64 data at input byte 0"));
    }

    #[test]
    fn created_bytes_have_their_length() {
        let bytes = Bytes::new();
        let created = bytes.create(&bytes.0.object([("length", Value::int(5))])).unwrap();
        assert_eq!(text(&created, "hex").len(), 10);
        assert_eq!(bytes.import(text(&created, "base64")).unwrap().get("hex"), created.get("hex"));
    }

    #[test]
    fn uuids() {
        let uuid = Uuid::new();
        let created = uuid.create(&uuid.0.object([])).unwrap();
        assert_eq!(uuid.import(text(&created, "id")).unwrap().get("result"), created.get("result"));
        assert!(uuid.import("x").unwrap_err().detail.ends_with("uuid string is wrong length"));
    }

    /// As the real provider since 3.6.0: a configuration without keepers changes nothing after an import.
    #[test]
    fn imports_set_no_keepers() {
        let id = Id::new().import("p-9hUg").unwrap();
        let bytes = Bytes::new().import("p+9hUg==").unwrap();
        let uuid = Uuid::new().import("6b0d9d7c-4b1c-4b4c-9d1c-7b8b1d0c9b1f").unwrap();
        assert!([id, bytes, uuid].iter().all(|imported| imported.get("keepers").unwrap().is_null()));
    }

    #[test]
    fn lengths_are_checked() {
        let mut found = Vec::new();
        Bytes::new().validate(&Bytes::new().0.object([("length", Value::int(0))]), &mut found);
        assert_eq!(found[0].detail, "Attribute length value must be at least 1, got: 0");
    }
}
