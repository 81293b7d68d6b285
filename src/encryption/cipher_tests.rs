//! Ciphers of whole configurations. Files and texts were seen on OpenTofu 1.12.6.

use std::path::Path;

use base::dialect::Dialect;
use model::config::{NoInputs, StaticContext, no_module, parse_encryption};

use super::*;
use crate::{Encryption, Services};

const STATE: &[u8] =
    br#"{"version":4,"terraform_version":"1.11.4","serial":3,"lineage":"l","outputs":{},"resources":[]}"#;

async fn encryption(text: &str) -> Result<Encryption, String> {
    let (config, diags) = parse_encryption(Dialect::default(), "e", text);
    let early = StaticContext::root(no_module(Dialect::default(), Path::new(".")).static_names(), Arc::new(NoInputs));
    let services = Services::offline();
    let shown = |diags: &Diagnostics| {
        let errors = diags.iter().filter(|d| d.is_error()).map(|d| format!("{}: {}", d.summary, d.detail));
        errors.collect::<Vec<_>>().join("\n")
    };
    let Some(config) = config else { return Err(shown(&diags)) };
    let (made, diags) = Encryption::new(Arc::new(config), early, services).await;
    made.ok_or_else(|| shown(&diags))
}

/// Literal keys: made of one byte.
fn method(name: &str, byte: u8) -> String {
    let key = vec![byte.to_string(); 16].join(",");
    format!("method \"aes_gcm\" \"{name}\" {{\n keys = {{ encryption_key = [{key}], decryption_key = [{key}] }}\n}}\n")
}

async fn state_cipher(text: &str) -> Arc<Cipher> {
    encryption(text).await.unwrap().state.unwrap()
}

const PLAIN: &str = "method \"unencrypted\" \"p\" {}\n";

fn state(chain: &[&str]) -> String {
    let (open, close) = (chain.join("\n fallback {\n method = "), " }\n".repeat(chain.len() - 1));
    format!("state {{\n method = {open}\n{close}\n}}\n")
}

#[tokio::test]
async fn opens_what_opentofu_wrote() {
    let text = r#"
        key_provider "pbkdf2" "k" {
          passphrase    = "correct horse ${"battery"} staple"
          iterations    = 200000
          hash_function = "sha256"
        }
        method "aes_gcm" "m" { keys = key_provider.pbkdf2.k }
        state { method = method.aes_gcm.m }
    "#;
    let cipher = state_cipher(text).await;
    let sealed = include_bytes!("fixtures/opentofu.tfstate").to_vec();
    let opened = cipher.open(sealed.clone()).await.unwrap();
    assert!(!opened.outdated);
    let text = String::from_utf8(opened.plain.clone()).unwrap();
    assert!(text.contains("\"lineage\"") && text.contains('é'), "{text}");
    // What we write of it has the same layout.
    let ours = String::from_utf8(cipher.seal(&opened.plain, Layout::Indented).await.unwrap()).unwrap();
    let theirs = String::from_utf8(sealed).unwrap();
    let lines =
        |text: &str| text.lines().map(|line| line.split(": ").next().unwrap_or("").to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&ours), lines(&theirs));
    assert_eq!(ours.lines().nth(2), theirs.lines().nth(2));
    assert_eq!(cipher.open(ours.into_bytes()).await.unwrap().plain, opened.plain);
}

#[tokio::test]
async fn fallbacks_read_and_the_first_method_writes() {
    let both = method("new", 1) + &method("old", 2) + PLAIN;
    let old = state_cipher(&(both.clone() + &state(&["method.aes_gcm.old"]))).await;
    let new = state_cipher(&(both.clone() + &state(&["method.aes_gcm.new", "method.aes_gcm.old"]))).await;
    let plain = state_cipher(&(both.clone() + &state(&["method.unencrypted.p", "method.aes_gcm.new"]))).await;
    let migrating = state_cipher(&(both + &state(&["method.aes_gcm.new", "method.unencrypted.p"]))).await;
    let sealed = old.seal(STATE, Layout::Compact).await.unwrap();
    assert_eq!(new.open(sealed.clone()).await.unwrap(), Opened { plain: STATE.to_vec(), outdated: true });
    let again = new.seal(STATE, Layout::Compact).await.unwrap();
    assert!(!new.open(again.clone()).await.unwrap().outdated && old.open(again.clone()).await.is_err());
    assert_eq!(plain.open(again).await.unwrap(), Opened { plain: STATE.to_vec(), outdated: true });
    assert_eq!(plain.seal(STATE, Layout::Indented).await.unwrap(), STATE);
    assert!(
        migrating.open(STATE.to_vec()).await.unwrap().outdated && !plain.open(STATE.to_vec()).await.unwrap().outdated
    );
    let why = old.open(STATE.to_vec()).await.unwrap_err().to_string();
    assert!(
        why.starts_with("The state is not encrypted: The configuration expects that the state is encrypted."),
        "{why}"
    );
}

#[tokio::test]
async fn damage_is_explained() {
    let cipher = state_cipher(&(method("m", 1) + &state(&["method.aes_gcm.m"]))).await;
    let sealed = String::from_utf8(cipher.seal(STATE, Layout::Compact).await.unwrap()).unwrap();
    let failed = "Decryption failed: No method of the encryption configuration can decrypt the state:\n  - method.aes_gcm.m: decryption failed: ";
    let cases = [
        (
            String::new(),
            "invalid data format for decryption: unexpected end of JSON input, unexpected end of JSON input".to_owned(),
        ),
        ("{}".into(), "unable to determine data structure during decryption: Given payload is not a state file".into()),
        (sealed.replace("v0", "v9"), "invalid encrypted payload version: v9 != v0".into()),
        (sealed.replace("\"serial\":3", "\"serial\":4"), "invalid state metadata, serial field mismatch 4 vs 3".into()),
        (
            sealed.replace("\"lineage\":\"l\"", "\"lineage\":\"x\""),
            "invalid state metadata, linage field mismatch x vs l".into(),
        ),
        (sealed.replace("encrypted_data", "data"), format!("{failed}cannot decrypt empty data")),
        (
            sealed[..sealed.find("encrypted_data").unwrap()].to_owned()
                + "encrypted_data\":\"AAAA\",\"encryption_version\":\"v0\"}",
            format!("{failed}cannot decrypt data because it is too small (likely data corruption)"),
        ),
        (
            sealed[..sealed.find("encrypted_data").unwrap()].to_owned()
                + "encrypted_data\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"encryption_version\":\"v0\"}",
            format!("{failed}cipher: message authentication failed"),
        ),
    ];
    for (content, expected) in cases {
        let why = cipher.open(content.clone().into_bytes()).await.unwrap_err().to_string();
        assert!(why.starts_with(&expected), "{content}: {why}");
    }
    // What may be missing outside.
    let bare = sealed.replace("\"serial\":3,\"lineage\":\"l\",", "");
    assert_eq!(cipher.open(bare.into_bytes()).await.unwrap().plain, STATE);
}

#[tokio::test]
async fn plans_are_zip_archives_inside() {
    let text = method("m", 1) + "plan {\n method = method.aes_gcm.m\n}\n";
    let plan = encryption(&text).await.unwrap().plan.unwrap();
    let sealed = plan.seal(b"PK plan", Layout::Compact).await.unwrap();
    assert!(sealed.starts_with(b"{\"meta\":{},\"encrypted_data\":"));
    assert_eq!(plan.open(sealed).await.unwrap().plain, b"PK plan");
    let why = plan.open(b"hello".to_vec()).await.unwrap_err().to_string();
    assert_eq!(
        why,
        "invalid data format for decryption: invalid character 'h' looking for beginning of value, Invalid plan file he"
    );
}

#[tokio::test]
async fn configurations_that_cannot_be_used() {
    let m = method("m", 1);
    let keys =
        |keys: &str| format!("method \"aes_gcm\" \"m\" {{\n keys = {keys}\n}}\n{}", state(&["method.aes_gcm.m"]));
    let provider = "key_provider \"pbkdf2\" \"k\" {\n passphrase = \"correct horse battery staple\"\n}\n";
    let cases = [
        (
            m.clone() + &state(&["method.aes_gcm.x"]),
            "Reference to undeclared encryption method: There is no method \"aes_gcm\" \"x\" block declared in the encryption block.",
        ),
        (
            m.clone() + &state(&["method.aes_gcm.m.n"]),
            "Invalid encryption method identifier: Expected method of form method.<type>.<name>",
        ),
        (
            "method \"rot13\" \"m\" {}\n".to_owned() + &state(&["method.rot13.m"]),
            "Error fetching encryption method \"rot13\": encryption method with ID rot13 not found",
        ),
        (
            format!("{PLAIN}state {{\n method = method.unencrypted.p\n enforced = true\n}}\n"),
            "Unencrypted method is forbidden: Unable to use unencrypted method since the enforced flag is set.",
        ),
        (
            keys("key_provider.pbkdf2.x"),
            "Reference to undeclared key provider: There is no key_provider \"pbkdf2\" \"x\" block declared in the encryption block.",
        ),
        (keys("\"x\""), "Expected key_provider value: Expected a key_provider compatible value, found string instead"),
        (keys("var.x"), "Undefined variable: Undefined variable var.x"),
        (
            keys("each.key"),
            "Dynamic value in static context: Unable to use each.key in static context, which is required by encryption.method.aes_gcm.m",
        ),
        (
            format!("{provider}{}", keys("{ encryption_key = key_provider.pbkdf2.k.encryption_key }")),
            "Dynamic value in static context: Unable to use key_provider.pbkdf2 in static context, which is required by encryption.method.aes_gcm.m",
        ),
        (
            keys("{ encryption_key = [1, 2] }"),
            "Invalid method configuration: invalid method configuration: AES-GCM requires the key length to be one of: 16, 24, 32, received 2 bytes in the encryption key",
        ),
        (
            format!("key_provider \"nonsense\" \"k\" {{}}\n{}", keys("key_provider.nonsense.k")),
            "Error fetching key_provider \"nonsense\": key provider with ID nonsense not found",
        ),
        (
            format!(
                "key_provider \"pbkdf2\" \"a\" {{\n chain = key_provider.pbkdf2.a\n}}\n{}",
                keys("key_provider.pbkdf2.a")
            ),
            "Expected key_provider value: Expected a key_provider compatible value, found dynamic instead",
        ),
        (
            format!("key_provider \"pbkdf2\" \"k\" {{\n passphrase = \"short\"\n}}\n{}", keys("key_provider.pbkdf2.k")),
            "Unable to build encryption key data: key_provider.pbkdf2.k failed with error: passphrase is too short (minimum 16 characters)",
        ),
        // Of two targets with the same method: once.
        (
            format!(
                "key_provider \"pbkdf2\" \"k\" {{\n passphrase = \"short\"\n}}\n{}plan {{\n method = method.aes_gcm.m\n}}\n",
                keys("key_provider.pbkdf2.k")
            ),
            "Unable to build encryption key data: key_provider.pbkdf2.k failed with error: passphrase is too short (minimum 16 characters)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(encryption(&text).await.unwrap_err(), expected, "{text}");
    }
    // JSON says the same, and refers in strings.
    let json = r#"{"key_provider":{"pbkdf2":{"k":{"passphrase":"short"}}},
        "method":{"aes_gcm":{"m":{"keys":"key_provider.pbkdf2.k"}}},"state":{"method":"method.aes_gcm.m"}}"#;
    assert!(encryption(json).await.unwrap_err().contains("passphrase is too short"));
}

#[tokio::test]
async fn data_sources_have_ciphers_by_name() {
    let text = method("a", 1)
        + &method("b", 2)
        + "remote_state_data_sources {\n default {\n method = method.aes_gcm.a\n }\n remote_state_data_source \"m[1].foo\" {\n method = method.aes_gcm.b\n }\n}\n";
    let encryption = encryption(&text).await.unwrap();
    let (named, other) = (encryption.remote("m[1].foo").unwrap(), encryption.remote("foo").unwrap());
    let sealed = named.seal(STATE, Layout::Compact).await.unwrap();
    assert!(named.open(sealed.clone()).await.is_ok() && encryption.state.is_none());
    let why = other.open(sealed).await.unwrap_err().to_string();
    assert!(why.contains("can decrypt the state of remote.default:\n  - method.aes_gcm.a: "), "{why}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]
    #[test]
    fn no_damage_opens_or_panics(at: usize, byte: u8, cut: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let cipher = state_cipher(&(method("m", 1) + &state(&["method.aes_gcm.m"]))).await;
            let mut sealed = cipher.seal(STATE, Layout::Compact).await.unwrap();
            let at = at % sealed.len();
            sealed[at] = byte;
            if cut {
                sealed.truncate(at);
            }
            // Only what means the same opens.
            if let Ok(opened) = cipher.open(sealed).await {
                assert_eq!(opened.plain, STATE);
            }
        });
    }
}
