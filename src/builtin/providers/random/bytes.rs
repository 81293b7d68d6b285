//! `random_id`, `random_bytes` and `random_uuid`: bytes from the system in several notations.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use gotext::hex::hex;
use num_bigint::BigUint;
use terrane_sdk::validators::at_least;
use terrane_sdk::{Context, Creation, Ephemeral, Error, Field, Import, Model, Opened, Resource, Schema, Values};

use super::source::system_bytes;
use super::{LONGEST, count_of, read_error, retry_error};
use crate::providers::rules::{Keepers, replace_if_values};
use crate::wording::base64_text;

/// Of `random_id`: its decimal notation takes time by the square of its length.
const LONGEST_ID: usize = 1 << 20;

fn length_of(bytes: &[u8]) -> i64 {
    i64::try_from(bytes.len()).unwrap_or(i64::MAX)
}

/// Random bytes meant as a unique identifier, in several notations.
#[derive(Model)]
pub struct IdModel {
    /// Any texts; a change of one replaces the resource, and so its random result.
    #[attribute(optional, modifiers(replace_if_values()))]
    keepers: Keepers,
    /// How many random bytes; at least 1.
    #[attribute(required, replace, validators(at_least(0)))]
    byte_length: i64,
    /// A text put before each notation, as it is.
    #[attribute(optional, replace)]
    prefix: Option<String>,
    /// In base64 with letters, digits, `_` and `-`, after the prefix.
    #[attribute(computed, keep)]
    b64_url: Field<String>,
    /// In standard base64, after the prefix.
    #[attribute(computed, keep)]
    b64_std: Field<String>,
    /// In hexadecimal digits, two for each byte, after the prefix.
    #[attribute(computed, keep)]
    hex: Field<String>,
    /// In decimal digits without padding, after the prefix.
    #[attribute(computed, keep)]
    dec: Field<String>,
    /// In base64 for URLs, without the prefix.
    #[attribute(computed, keep)]
    id: Field<String>,
}

impl IdModel {
    fn of(keepers: Keepers, prefix: Option<String>, bytes: &[u8]) -> IdModel {
        let id = URL_SAFE_NO_PAD.encode(bytes);
        let before = prefix.as_deref().unwrap_or_default();
        let with_prefix = |text: &str| Field::known(format!("{before}{text}"));
        IdModel {
            keepers,
            byte_length: length_of(bytes),
            b64_url: with_prefix(&id),
            b64_std: with_prefix(&STANDARD.encode(bytes)),
            hex: with_prefix(&hex(bytes)),
            dec: with_prefix(&BigUint::from_bytes_be(bytes).to_string()),
            id: Field::known(id),
            prefix,
        }
    }
}

pub struct Id;

impl Resource for Id {
    type Data = ();
    type Model = IdModel;

    fn schema(&self) -> Schema {
        Schema::of::<IdModel>().plain_text()
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<IdModel>) -> Result<IdModel, Error> {
        let planned = creation.planned.model()?;
        let bytes = system_bytes(count_of("byte_length", planned.byte_length, LONGEST_ID)?).map_err(read_error)?;
        Ok(IdModel { byte_length: planned.byte_length, ..IdModel::of(planned.keepers, planned.prefix, &bytes) })
    }

    /// `[PREFIX,]ID`
    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<IdModel, Error> {
        let id = import.id()?;
        let (prefix, id) = id.rsplit_once(',').unwrap_or(("", id));
        let bytes = URL_SAFE_NO_PAD.decode(id).map_err(|_| {
            retry_error(
                "Import Random ID Error",
                "While attempting to import a random id there was a decoding error.",
                &base64_text(id, true),
            )
        })?;
        let prefix = Some(prefix.to_owned()).filter(|prefix| !prefix.is_empty());
        Ok(IdModel::of(None, prefix, &bytes))
    }
}

/// Random bytes meant as a secret or a key.
#[derive(Model)]
pub struct BytesModel {
    /// Any texts; a change of one replaces the resource, and so its random result.
    #[attribute(optional, modifiers(replace_if_values()))]
    keepers: Keepers,
    /// How many bytes; at least 1.
    #[attribute(required, replace, validators(at_least(1)))]
    length: i64,
    /// The bytes in base64.
    #[attribute(computed, sensitive, keep)]
    base64: Field<String>,
    /// The bytes in hexadecimal digits.
    #[attribute(computed, sensitive, keep)]
    hex: Field<String>,
}

pub struct Bytes;

impl Resource for Bytes {
    type Data = ();
    type Model = BytesModel;

    fn schema(&self) -> Schema {
        Schema::of::<BytesModel>().plain_text()
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<BytesModel>) -> Result<BytesModel, Error> {
        let planned = creation.planned.model()?;
        let bytes = system_bytes(count_of("length", planned.length, LONGEST)?).map_err(read_error)?;
        Ok(BytesModel { base64: Field::known(STANDARD.encode(&bytes)), hex: Field::known(hex(&bytes)), ..planned })
    }

    /// The bytes in base64.
    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<BytesModel, Error> {
        let id = import.id()?;
        let bytes = STANDARD.decode(id).map_err(|_| {
            retry_error(
                "Import Random bytes Error",
                "There was an error during the parsing of the base64 string.",
                &base64_text(id, false),
            )
        })?;
        let (length, hex) = (length_of(&bytes), Field::known(hex(&bytes)));
        Ok(BytesModel { keepers: None, length, base64: Field::known(id), hex })
    }
}

/// Random bytes that are never stored.
#[derive(Model)]
pub struct EphemeralBytesModel {
    /// How many bytes; at least 1.
    #[attribute(required, validators(at_least(1)))]
    length: i64,
    /// The bytes in base64.
    #[attribute(computed, sensitive)]
    base64: Field<String>,
    /// The bytes in hexadecimal digits.
    #[attribute(computed, sensitive)]
    hex: Field<String>,
}

pub struct EphemeralBytes;

impl Ephemeral for EphemeralBytes {
    type Data = ();
    type Model = EphemeralBytesModel;

    fn schema(&self) -> Schema {
        Schema::of::<EphemeralBytesModel>().plain_text()
    }

    async fn open(
        &self,
        _: &mut Context<()>,
        config: Values<EphemeralBytesModel>,
    ) -> Result<Opened<EphemeralBytesModel>, Error> {
        let length = config.model()?.length;
        let bytes = system_bytes(count_of("length", length, LONGEST)?).map_err(read_error)?;
        let (base64, hex) = (Field::known(STANDARD.encode(&bytes)), Field::known(hex(&bytes)));
        Ok(Opened::new(EphemeralBytesModel { length, base64, hex }))
    }
}

/// A random text in the form of a UUID.
#[derive(Model)]
pub struct UuidModel {
    /// Any texts; a change of one replaces the resource, and so its random result.
    #[attribute(optional, modifiers(replace_if_values()))]
    keepers: Keepers,
    /// The UUID.
    #[attribute(computed, keep)]
    result: Field<String>,
    /// The UUID.
    #[attribute(computed, keep)]
    id: Field<String>,
}

impl UuidModel {
    fn of(keepers: Keepers, text: &str) -> UuidModel {
        UuidModel { keepers, result: Field::known(text), id: Field::known(text) }
    }
}

/// `random_uuid`, `random_uuid4` and `random_uuid7`.
pub enum Uuid {
    /// All bits random, as the real provider has it: not a version 4 UUID.
    Random,
    Version4,
    /// Begins with the time.
    Version7,
}

impl Uuid {
    fn generate(&self) -> Result<String, Error> {
        match self {
            Uuid::Random => Ok(uuid_text(&system_bytes(16).map_err(read_error)?)),
            Uuid::Version4 => Ok(uuid::Uuid::new_v4().hyphenated().to_string()),
            Uuid::Version7 => Ok(uuid::Uuid::now_v7().hyphenated().to_string()),
        }
    }
}

impl Resource for Uuid {
    type Data = ();
    type Model = UuidModel;

    fn schema(&self) -> Schema {
        Schema::of::<UuidModel>().plain_text()
    }

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<UuidModel>) -> Result<UuidModel, Error> {
        Ok(UuidModel::of(creation.planned.model()?.keepers, &self.generate()?))
    }

    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<UuidModel, Error> {
        let id = import.id()?;
        let failed = |error: &str| {
            retry_error("Import Random UUID Error", "There was an error during the parsing of the UUID.", error)
        };
        if id.len() != 36 {
            return Err(failed("uuid string is wrong length"));
        }
        let parsed = uuid::Uuid::try_parse(id).map_err(|_| failed("uuid is improperly formatted"))?;
        Ok(UuidModel::of(None, &parsed.hyphenated().to_string()))
    }
}

fn uuid_text(bytes: &[u8]) -> String {
    let digits = hex(bytes);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use terrane_sdk::Value;

    use super::super::Random;
    use crate::providers::tester::{Tester, text};

    async fn resource(kind: &'static str) -> Tester {
        Tester::resource(Random, kind).await
    }

    #[tokio::test]
    async fn id_notations() {
        let imported = resource("random_id").await.import("web-,p-9hUg").await.unwrap();
        assert_eq!(imported.get("byte_length"), Some(&Value::int(4)));
        for (name, expected) in [
            ("id", "p-9hUg"),
            ("b64_url", "web-p-9hUg"),
            ("b64_std", "web-p+9hUg=="),
            ("hex", "web-a7ef6152"),
            ("dec", "web-2817483090"),
        ] {
            assert_eq!(text(&imported, name), expected);
        }
        let error = resource("random_id").await.import("!").await.unwrap_err();
        assert!(error.detail.ends_with("Original Error: illegal base64 data at input byte 0"));
    }

    #[tokio::test]
    async fn created_bytes_have_their_length() {
        let bytes = resource("random_bytes").await;
        let created = bytes.create(bytes.object([("length", Value::int(5))])).await.unwrap();
        assert_eq!(text(&created, "hex").len(), 10);
        assert_eq!(bytes.import(text(&created, "base64")).await.unwrap().get("hex"), created.get("hex"));
    }

    #[tokio::test]
    async fn uuids() {
        let uuid = resource("random_uuid").await;
        let created = uuid.create(uuid.object([])).await.unwrap();
        assert_eq!(uuid.import(text(&created, "id")).await.unwrap().get("result"), created.get("result"));
        assert!(uuid.import("x").await.unwrap_err().detail.ends_with("uuid string is wrong length"));
    }

    /// As the real provider since 3.6.0: a configuration without keepers changes nothing after an import.
    #[tokio::test]
    async fn imports_set_no_keepers() {
        for (kind, id) in [
            ("random_id", "p-9hUg"),
            ("random_bytes", "p+9hUg=="),
            ("random_uuid", "6b0d9d7c-4b1c-4b4c-9d1c-7b8b1d0c9b1f"),
            ("random_integer", "1,1,3"),
        ] {
            let imported = resource(kind).await.import(id).await.unwrap();
            assert!(imported.get("keepers").unwrap().is_null(), "{kind}");
        }
    }

    #[tokio::test]
    async fn lengths_are_checked() {
        let bytes = resource("random_bytes").await;
        let found = bytes.validate(bytes.object([("length", Value::int(0))])).await;
        assert_eq!(found[0].detail, "Attribute length value must be at least 1, got: 0");
    }
}
