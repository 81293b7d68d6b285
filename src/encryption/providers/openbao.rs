//! Data keys of OpenBao's transit engine.

use std::sync::Arc;

use async_trait::async_trait;
use base::env;
use base::secret::Secret;
use bytes::Bytes;
use http::Request;
use lang::syntax::body::BodySchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{BuildError, KeyProvider, Kind, Need, ProvideError, Provided, base64_bytes, kept, stored};
use crate::key::{Key, Keys};
use crate::payload::from_base64;
use crate::services::{HttpClient, HttpSettings, Services};
use crate::settings::Settings;

const DEFAULT_ADDRESS: &str = "https://127.0.0.1:8200";

pub struct OpenBao;

#[async_trait]
impl Kind for OpenBao {
    fn name(&self) -> &'static str {
        "openbao"
    }

    fn schema(&self) -> BodySchema {
        ["address", "token", "key_length", "transit_engine_path", "associated_data"]
            .iter()
            .fold(BodySchema::new().required("key_name"), |schema, name| schema.attribute(name))
    }

    async fn build(
        &self,
        settings: &mut Settings,
        _: Option<Keys>,
        services: &Services,
    ) -> Result<Box<dyn KeyProvider>, BuildError> {
        let given = |text: String, variables: [&str; 2]| {
            let of_environment = || variables.iter().find_map(|name| services.environment.non_empty(name));
            if text.is_empty() { of_environment().unwrap_or_default().to_owned() } else { text }
        };
        let key_name = settings.text("key_name");
        if key_name.is_empty() {
            return Err(BuildError::setting("no key name found"));
        }
        let length = settings.number("key_length").filter(|length| *length != 0).unwrap_or(32);
        if ![16, 32, 64].contains(&length) {
            return Err(BuildError::Setting(format!(
                "invalid key provider configuration: data key length should one of 16, 32 or 64 bytes: got {length}"
            )));
        }
        let associated_data = settings.text("associated_data");
        from_base64(&associated_data)
            .map_err(|why| BuildError::Setting(format!("associated data is not valid base64: {why}")))?;
        let address = given(settings.text("address"), [env::BAO_ADDR, env::VAULT_ADDR]);
        let address = if address.is_empty() { DEFAULT_ADDRESS.to_owned() } else { address };
        let path = settings.text("transit_engine_path");
        let path = if path.is_empty() { "transit".to_owned() } else { path };
        let token = Secret::new(given(settings.text("token"), [env::BAO_TOKEN, env::VAULT_TOKEN]));
        let mut http = HttpSettings { retries: Some(2), ..HttpSettings::default() };
        let flag = given(String::new(), [env::BAO_SKIP_VERIFY, env::VAULT_SKIP_VERIFY]);
        http.skip_verification = matches!(flag.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True");
        let authority = given(String::new(), [env::BAO_CACERT, env::VAULT_CACERT]);
        if !authority.is_empty() {
            let read = tokio::fs::read_to_string(&authority).await;
            let failed = |e: std::io::Error| BuildError::File {
                purpose: "Error loading CA File",
                path: authority,
                why: e.to_string(),
            };
            http.authorities = Some(read.map_err(failed)?);
        }
        Ok(Box::new(OpenBaoProvider {
            client: services.http.client(&http)?,
            base: format!("{}/v1/{}", address.trim_end_matches('/'), path.trim_matches('/')),
            namespace: given(String::new(), [env::BAO_NAMESPACE, env::VAULT_NAMESPACE]),
            token,
            key_name,
            bits: length * 8,
            associated_data,
        }))
    }
}

struct OpenBaoProvider {
    client: Arc<dyn HttpClient>,
    /// Of the transit engine.
    base: String,
    namespace: String,
    token: Secret,
    key_name: String,
    bits: i64,
    /// In base64: authenticated with the keys; stored beside them, as OpenTofu 1.13 does.
    associated_data: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct OpenBaoMetadata {
    #[serde(with = "base64_bytes")]
    ciphertext: Vec<u8>,
    #[serde(skip_serializing_if = "String::is_empty")]
    associated_data: String,
}

#[derive(Deserialize)]
struct Errors {
    #[serde(default)]
    errors: Vec<String>,
}

impl OpenBaoProvider {
    async fn call(&self, action: &str, what: &str, question: &Json) -> Result<Json, String> {
        let url = format!("{}/{action}/{}", self.base, in_path(&self.key_name));
        let failed = |why: String| format!("error sending {what} request to OpenBao: {why}");
        let mut request =
            Request::put(&url).header("x-vault-request", "true").header("content-type", "application/json");
        if !self.token.is_empty() {
            request = request.header("x-vault-token", self.token.reveal());
        }
        if !self.namespace.is_empty() {
            request = request.header("x-vault-namespace", &self.namespace);
        }
        let request = request.body(Bytes::from(question.to_string())).map_err(|e| failed(e.to_string()))?;
        let answer = self.client.send(request).await.map_err(|why| failed(why.to_string()))?;
        if (200..300).contains(&answer.status) {
            return serde_json::from_slice(&answer.body).map_err(|e| failed(e.to_string()));
        }
        let errors = serde_json::from_slice::<Errors>(&answer.body);
        let said = match errors {
            Ok(found) => {
                let list: Vec<String> = found.errors.iter().map(|error| format!("* {error}")).collect();
                format!("Errors:\n\n{}", list.join("\n"))
            }
            Err(_) => format!("Raw Message:\n\n{}", String::from_utf8_lossy(&answer.body)),
        };
        Err(failed(format!("Error making API request.\n\nURL: PUT {url}\nCode: {}. {said}", answer.status)))
    }
}

/// A name in a path, escaped twice, as OpenTofu does: OpenBao sees names with `%20` for a space.
fn in_path(name: &str) -> String {
    let escape = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-_.~$&+:=@".contains(&byte) => char::from(byte).to_string(),
        byte => format!("%25{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}

/// A request with associated data; empty ones are left out.
fn associated(mut question: Json, data: &str) -> Json {
    if !data.is_empty() {
        question["associated_data"] = json!(data);
    }
    question
}

fn field<'a>(answer: &'a Json, name: &str) -> Result<&'a str, String> {
    answer["data"][name]
        .as_str()
        .ok_or_else(|| format!("failed to deserialize '{name}' (incompatible OpenBao version)"))
}

fn key_of(answer: &Json) -> Result<Vec<u8>, String> {
    from_base64(field(answer, "plaintext")?).map_err(|why| why.to_string())
}

#[async_trait]
impl KeyProvider for OpenBaoProvider {
    async fn provide(&self, metadata: Option<&[u8]>, need: Need) -> Result<Provided, ProvideError> {
        let old: OpenBaoMetadata = stored(metadata)?;
        let hint = "(check if the configuration valid and OpenBao server accessible)";
        let mut provided = Provided { keys: Keys::default(), metadata: Vec::new() };
        if need == Need::Both {
            let failed =
                |why: String| ProvideError::Service(format!("failed to generate OpenBao data key {hint}: {why}"));
            let question = associated(json!({ "bits": self.bits }), &self.associated_data);
            let answer = self.call("datakey/plaintext", "datakey", &question).await.map_err(failed)?;
            let ciphertext = field(&answer, "ciphertext").map_err(failed)?.as_bytes().to_vec();
            let plain = key_of(&answer).map_err(failed)?;
            provided.keys.encryption = Some(Key::new(plain));
            let stored = OpenBaoMetadata { ciphertext, associated_data: self.associated_data.clone() };
            provided.metadata = kept(&stored)?;
        }
        if !old.ciphertext.is_empty() {
            let failed = |why: String| ProvideError::Service(format!("failed to decrypt ciphertext {hint}: {why}"));
            let question = json!({ "ciphertext": String::from_utf8_lossy(&old.ciphertext) });
            let question = associated(question, &old.associated_data);
            let answer = self.call("decrypt", "decryption", &question).await.map_err(failed)?;
            let plain = key_of(&answer).map_err(failed)?;
            provided.keys.decryption = Some(Key::new(plain));
        }
        Ok(provided)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn associated_data_stay_out_of_requests_without_them() {
        assert_eq!(associated(json!({ "bits": 256 }), ""), json!({ "bits": 256 }));
        assert_eq!(associated(json!({ "bits": 256 }), "YQ=="), json!({ "bits": 256, "associated_data": "YQ==" }));
    }

    #[test]
    fn names_are_escaped_as_opentofu_escapes_them() {
        assert_eq!(in_path("k1"), "k1");
        assert_eq!(in_path("k 2/@é"), "k%25202%252F@%25C3%25A9");
    }
}
