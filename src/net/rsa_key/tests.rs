//! Keys that OpenSSL 3 made, in every form.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;

const FIXTURES: &str = "../../tests/fixtures/keys";

fn text(name: &str) -> String {
    std::fs::read_to_string(format!("{FIXTURES}/{name}.pem")).unwrap()
}

/// All of them are forms of one key.
#[test]
fn keys_are_read_in_every_form() {
    let message = b"message";
    let expected = RsaKey::from_pem(&text("pkcs8"), "").unwrap().sign(message).unwrap();
    assert_eq!(STANDARD.encode(&expected)[..43], *"RiGZrXz9TER5umUNChPz6TOjLFmGtQl9ATFS1NAYygH");
    for (name, password) in [("pkcs1", ""), ("pkcs1-aes256", "pw"), ("pkcs1-aes128", "pw"), ("pkcs8-aes256", "pw")] {
        let labelled = format!("A label\n{}OCI_API_KEY\n", text(name));
        assert_eq!(RsaKey::from_pem(&labelled, password).unwrap().sign(message).unwrap(), expected, "{name}");
    }
}

#[test]
fn errors_say_what_is_wrong_with_a_key() {
    let cases = [
        ("pkcs1-aes256", "x", "the private key was not decrypted: the password is wrong"),
        (
            "pkcs8-aes256",
            "x",
            "the private key was not decrypted: the password is wrong, or the method is not supported",
        ),
        ("pkcs1-aes256", "", "the private key is encrypted, and there is no password for it"),
        ("pkcs8-aes256", "", "the private key is encrypted, and there is no password for it"),
        (
            "pkcs1-des3",
            "pw",
            "the private key is encrypted with \"DES-EDE3-CBC,F63774F9D95119F0\", which is not supported: convert it to PKCS #8 with AES",
        ),
    ];
    for (name, password, expected) in cases {
        assert_eq!(RsaKey::from_pem(&text(name), password).unwrap_err().to_string(), expected, "{name} {password:?}");
    }
    for (text, expected) in [
        ("", "no private key was found"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "the private key is not valid"),
        ("-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----", "keys of the form \"EC PRIVATE KEY\""),
    ] {
        let found = RsaKey::from_pem(text, "").unwrap_err().to_string();
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn generated_keys_are_shown_to_others_as_public_keys() {
    let key = RsaKey::generate().unwrap();
    let public = aws_lc_rs::signature::UnparsedPublicKey::new(
        &aws_lc_rs::signature::RSA_PKCS1_2048_8192_SHA256,
        key.public_der().unwrap(),
    );
    public.verify(b"message", &key.sign(b"message").unwrap()).unwrap();
    assert_eq!(format!("{key:?}"), "RsaKey");
}
