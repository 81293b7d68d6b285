//! `tls_private_key` and `tls_public_key`.

use terrane_sdk::validators::{exactly_one_of, one_of};
use terrane_sdk::{
    Attribute, Context, Creation, DataSource, Ephemeral, Error, Object, Opened, Resource, Schema, Stored, Value,
    Values, replace,
};

use super::fetch::proxy::Proxy;
use super::keys::parse::{Owner, parse_for_public, parse_for_resource};
use super::keys::{Algorithm, Curve, KeyKind, PrivateKey};

const ALGORITHMS: [&str; 3] = ["RSA", "ECDSA", "ED25519"];
const CURVES: [&str; 4] = ["P224", "P256", "P384", "P521"];
const DEFAULT_BITS: i64 = 2048;

/// The attributes of the public half of a key.
fn public_attributes() -> Vec<Attribute> {
    let text = |name: &str, text: &str| Attribute::string(name).computed().description(text);
    vec![
        text("public_key_pem", "The public key in PEM."),
        text("public_key_openssh", "The public key as OpenSSH writes it; empty for P224."),
        text("public_key_fingerprint_md5", "The MD5 fingerprint of the public key."),
        text("public_key_fingerprint_sha256", "The SHA-256 fingerprint of the public key."),
    ]
}

fn public_values(key: &PrivateKey) -> Vec<(&'static str, Value)> {
    let texts = key.public().texts();
    vec![
        ("public_key_pem", Value::string(texts.pem)),
        ("public_key_openssh", Value::string(texts.openssh)),
        ("public_key_fingerprint_md5", Value::string(texts.fingerprint_md5)),
        ("public_key_fingerprint_sha256", Value::string(texts.fingerprint_sha256)),
    ]
}

/// The attributes of a private key. `input`: what resources have more, and their defaults.
fn private_attributes(input: impl Fn(Attribute, Option<Value>) -> Attribute) -> Vec<Attribute> {
    let secret = |name: &str, text: &str| Attribute::string(name).computed().sensitive().description(text);
    let algorithm = Attribute::string("algorithm").required().description("The kind of key: RSA, ECDSA or ED25519.");
    let bits = Attribute::int("rsa_bits").optional().computed().description("The size of an RSA key in bits.");
    let curve = Attribute::string("ecdsa_curve").optional().computed().description("The curve of an ECDSA key.");
    let mut attributes = vec![
        input(algorithm.validator(one_of(ALGORITHMS)), None),
        input(bits, Some(Value::int(DEFAULT_BITS))),
        input(curve.validator(one_of(CURVES)), Some(Value::string(Curve::P224.name()))),
        secret("private_key_pem", "The private key in PEM."),
        secret("private_key_openssh", "The private key as OpenSSH writes it; empty for P224."),
        secret("private_key_pem_pkcs8", "The private key in PEM, as PKCS #8."),
    ];
    attributes.extend(public_attributes());
    attributes
}

fn private_values(key: &PrivateKey) -> Result<Vec<(&'static str, Value)>, Error> {
    let texts = key.texts();
    let mut values = public_values(key);
    values.push(("private_key_pem", Value::string(texts.pem)));
    values.push(("private_key_openssh", Value::string(key.openssh_text()?)));
    values.push(("private_key_pem_pkcs8", Value::string(texts.pkcs8)));
    Ok(values)
}

/// Generates a key; large RSA keys take seconds, in which other calls go on.
async fn generate(object: &Object) -> Result<PrivateKey, Error> {
    let bits = object.int("rsa_bits").unwrap_or(DEFAULT_BITS);
    let curve = object.text("ecdsa_curve").and_then(Curve::from_name).unwrap_or(Curve::P224);
    let kind = match object.text("algorithm").and_then(Algorithm::from_name) {
        Some(Algorithm::Rsa) => KeyKind::Rsa { bits },
        Some(Algorithm::Ecdsa) => KeyKind::Ecdsa(curve),
        Some(Algorithm::Ed25519) => KeyKind::Ed25519,
        None => return Err(Error::new("Invalid Attribute Value Match", "The algorithm is not known.")),
    };
    let generated = tokio::task::spawn_blocking(move || PrivateKey::generate(kind)).await;
    Ok(generated.map_err(|error| Error::new("Unable to generate Key from configuration", error.to_string()))??)
}

/// `tls_private_key`.
pub struct PrivateKeyResource;

impl Resource for PrivateKeyResource {
    type Data = Proxy;
    type Model = Object;

    fn schema(&self) -> Schema {
        let mut attributes = private_attributes(|attribute, default| {
            let attribute = attribute.modifier(replace());
            match default {
                Some(default) => attribute.default(default),
                None => attribute,
            }
        });
        attributes.push(Attribute::string("id").computed().description("A checksum of the public key."));
        Schema::new(attributes).version(1).description("A private key that is kept in the state.")
    }

    async fn create(&self, _: &mut Context<Proxy>, creation: &mut Creation<Object>) -> Result<Object, Error> {
        let planned = creation.planned.model()?;
        let key = generate(&planned).await?;
        Ok(planned.with(private_values(&key)?).with([("id", Value::string(key.public().id()))]))
    }

    /// Version 0 had no PKCS #8, and OpenSSH's notation from version 3.2 on; that of P224 is empty.
    async fn upgrade(&self, _: &mut Context<Proxy>, stored: Stored) -> Result<Object, Error> {
        let object = Object(stored.object()?);
        let key = parse_for_resource(object.text("private_key_pem").unwrap_or_default(), Owner::OldState)?;
        let is_p224 = matches!(&key, PrivateKey::Ecdsa(key) if key.curve() == Curve::P224);
        let stored = object.value("private_key_openssh");
        let is_missing = stored.as_str().is_none_or(str::is_empty);
        let openssh = if is_p224 || !is_missing { stored } else { Value::string(key.openssh_text()?) };
        let pkcs8 = Value::string(key.texts().pkcs8);
        Ok(object.with(public_values(&key)).with([
            ("private_key_openssh", openssh),
            ("private_key_pem_pkcs8", pkcs8),
            ("id", Value::string(key.public().id())),
        ]))
    }
}

/// The ephemeral `tls_private_key`.
pub struct EphemeralKey;

impl Ephemeral for EphemeralKey {
    type Data = Proxy;
    type Model = Object;

    fn schema(&self) -> Schema {
        Schema::new(private_attributes(|attribute, _| attribute)).description("A private key that is never stored.")
    }

    async fn open(&self, _: &mut Context<Proxy>, config: Values<Object>) -> Result<Opened<Object>, Error> {
        let config = config.model()?;
        let key = generate(&config).await?;
        let bits = config.int("rsa_bits").unwrap_or(DEFAULT_BITS);
        let curve = config.text("ecdsa_curve").unwrap_or(Curve::P224.name());
        let settings = [("rsa_bits", Value::int(bits)), ("ecdsa_curve", Value::string(curve))];
        Ok(Opened::new(config.with(private_values(&key)?).with(settings)))
    }
}

/// The attributes of `tls_public_key`, as a data source and as an ephemeral resource.
fn public_schema() -> Schema {
    let input = |name: &str, text: &str| Attribute::string(name).optional().sensitive().description(text);
    let mut attributes = public_attributes();
    attributes.extend([
        input("private_key_pem", "The private key in PEM.")
            .validator(exactly_one_of(&["private_key_pem", "private_key_openssh"])),
        input("private_key_openssh", "The private key as OpenSSH writes it.")
            .validator(exactly_one_of(&["private_key_pem", "private_key_openssh"])),
        Attribute::string("algorithm").computed().description("The kind of key: RSA, ECDSA or ED25519."),
        Attribute::string("id").computed().description("A checksum of the public key."),
    ]);
    Schema::new(attributes).description("The public key of a private key.")
}

fn public_key(config: &Object) -> Result<Object, Error> {
    let key = parse_for_public(config.text("private_key_pem"), config.text("private_key_openssh"))?;
    Ok(config
        .with(public_values(&key))
        .with([("algorithm", Value::string(key.algorithm().name())), ("id", Value::string(key.public().id()))]))
}

/// The data source `tls_public_key`.
pub struct PublicKeyData;

impl DataSource for PublicKeyData {
    type Data = Proxy;
    type Model = Object;

    fn schema(&self) -> Schema {
        public_schema()
    }

    async fn read(&self, _: &mut Context<Proxy>, config: Values<Object>) -> Result<Object, Error> {
        public_key(&config.model()?)
    }
}

/// The ephemeral `tls_public_key`.
pub struct EphemeralPublicKey;

impl Ephemeral for EphemeralPublicKey {
    type Data = Proxy;
    type Model = Object;

    fn schema(&self) -> Schema {
        public_schema()
    }

    async fn open(&self, _: &mut Context<Proxy>, config: Values<Object>) -> Result<Opened<Object>, Error> {
        Ok(Opened::new(public_key(&config.model()?)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tester::Tester;
    use crate::providers::tls::golden::{cases, text};
    use crate::providers::tls::provider::Tls;

    #[tokio::test]
    async fn upgrades_fill_in_notations_that_are_missing() {
        let resource = Tester::resource(Tls, "tls_private_key").await;
        let keys = cases("keys.json");
        let pem = |name: &str| text(keys.iter().find(|key| text(key, "name") == name).unwrap(), "pem").to_owned();
        for (name, stored, expected) in [
            ("p224", Some(""), Some("")),
            ("p224", None, None),
            ("p256", Some("kept"), Some("kept")),
            ("p256", Some(""), Some("-----BEGIN OPENSSH PRIVATE KEY-----")),
        ] {
            let json = serde_json::json!({ "private_key_pem": pem(name), "private_key_openssh": stored });
            let upgraded = resource.upgrade(0, &json.to_string()).await.unwrap();
            let found = upgraded.get("private_key_openssh").and_then(Value::as_str);
            assert_eq!(found.map(|text| text.lines().next().unwrap_or_default()), expected, "{name} {stored:?}");
            assert!(text_starts(&upgraded, "private_key_pem_pkcs8", "-----BEGIN PRIVATE KEY-----"));
        }
    }

    fn text_starts(object: &Value, name: &str, start: &str) -> bool {
        object.get(name).and_then(Value::as_str).is_some_and(|text| text.starts_with(start))
    }
}
