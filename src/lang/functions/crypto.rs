//! Hashes, passwords and identifiers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gotext::hex::hex;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};
use terrane_value::{Type, Value};

use super::builtin::{Allow as _, Builtin, Outcome, fail, int, number, quoted, string, text};
use super::filesystem::read_argument;
use super::rsa;
use super::signature::{CallContext, FunctionError};

pub(super) fn table() -> Vec<Builtin> {
    let s = Type::String;
    let of_text = |name: &'static str, body: super::builtin::FunctionBody, doc: &'static str| {
        Builtin::new(name, vec![string("str")], Type::String, body).doc(doc)
    };
    let of_file = |name: &'static str, body: super::builtin::FunctionBody, doc: &'static str| {
        Builtin::new(name, vec![string("path").unknown().marked()], Type::String, body).of_files().doc(doc)
    };
    vec![
        of_text("md5", |a, _| Ok(Value::string(hex(&Md5::digest(text(a, 0))))), "The MD5 hash of a text."),
        of_text("sha1", |a, _| Ok(Value::string(hex(&Sha1::digest(text(a, 0))))), "The SHA-1 hash of a text."),
        of_text("sha256", |a, _| Ok(Value::string(hex(&Sha256::digest(text(a, 0))))), "The SHA-256 hash of a text."),
        of_text("sha512", |a, _| Ok(Value::string(hex(&Sha512::digest(text(a, 0))))), "The SHA-512 hash of a text."),
        of_text(
            "base64sha256",
            |a, _| Ok(Value::string(STANDARD.encode(Sha256::digest(text(a, 0))))),
            "The SHA-256 hash of a text in base64.",
        ),
        of_text(
            "base64sha512",
            |a, _| Ok(Value::string(STANDARD.encode(Sha512::digest(text(a, 0))))),
            "The SHA-512 hash of a text in base64.",
        ),
        of_file("filemd5", |a, c| of_content(a, c, |b| hex(&Md5::digest(b))), "The MD5 hash of a file."),
        of_file("filesha1", |a, c| of_content(a, c, |b| hex(&Sha1::digest(b))), "The SHA-1 hash of a file."),
        of_file("filesha256", |a, c| of_content(a, c, |b| hex(&Sha256::digest(b))), "The SHA-256 hash of a file."),
        of_file("filesha512", |a, c| of_content(a, c, |b| hex(&Sha512::digest(b))), "The SHA-512 hash of a file."),
        of_file(
            "filebase64sha256",
            |a, c| of_content(a, c, |b| STANDARD.encode(Sha256::digest(b))),
            "The SHA-256 hash of a file in base64.",
        ),
        of_file(
            "filebase64sha512",
            |a, c| of_content(a, c, |b| STANDARD.encode(Sha512::digest(b))),
            "The SHA-512 hash of a file in base64.",
        ),
        Builtin::new("bcrypt", vec![string("str")], s.clone(), bcrypt)
            .variadic(number("cost").about("How much work a hash takes, as a power of two; 10 if it is left out."))
            .doc("The bcrypt hash of a password."),
        Builtin::new("uuid", vec![], s.clone(), uuid).doc("A new random identifier."),
        Builtin::new("uuidv5", vec![string("namespace"), string("name")], s.clone(), uuid_v5)
            .doc("An identifier derived from a name."),
        Builtin::new("rsadecrypt", vec![string("ciphertext"), string("privatekey")], s, rsa::decrypt)
            .doc("The text that was encrypted for a private key."),
    ]
}

fn of_content(a: &[Value], context: &CallContext<'_>, f: fn(&[u8]) -> String) -> Outcome {
    if !a[0].is_known() {
        return Ok(Value::unknown(Type::String).mark(a[0].marks()));
    }
    let content = read_argument(&a[0], context).map_err(|e| FunctionError::new(e.open_message()))?;
    Ok(Value::string(f(&content)).mark(a[0].marks()))
}

/// Results that differ from call to call stay unknown until apply.
fn impure<'c>(context: &CallContext<'c>) -> Option<&'c dyn super::Machine> {
    context.scope.machine().filter(|machine| !machine.pure_only())
}

fn bcrypt(a: &[Value], context: &CallContext<'_>) -> Outcome {
    const DEFAULT_COST: i64 = 10;
    let Some(machine) = impure(context) else { return Ok(Value::unknown_not_null(Type::String)) };
    if a.len() > 2 {
        return fail("bcrypt() takes no more than two arguments");
    }
    let cost = if a.len() == 2 { int(a, 1)? } else { DEFAULT_COST };
    let cost = if cost < 4 { DEFAULT_COST } else { cost };
    if cost > 31 {
        return fail(format!(
            "error occured generating password crypto/bcrypt: cost {cost} is outside allowed range (4,31)"
        ));
    }
    if text(a, 0).len() > 72 {
        return fail("error occured generating password bcrypt: password length exceeds 72 bytes");
    }
    let mut salt = [0u8; 16];
    machine.random(&mut salt);
    match bcrypt::hash_with_salt(text(a, 0), cost as u32, salt) {
        Ok(parts) => Ok(Value::string(parts.format_for_version(bcrypt::Version::TwoA))),
        Err(e) => fail(format!("error occured generating password {e}")),
    }
}

fn uuid(_: &[Value], context: &CallContext<'_>) -> Outcome {
    let Some(machine) = impure(context) else { return Ok(Value::unknown_not_null(Type::String)) };
    let mut bytes = [0u8; 16];
    machine.random(&mut bytes);
    Ok(Value::string(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()))
}

/// In one of the forms that the reference's library takes; what stands around the digits is not looked at.
fn parse_uuid(text: &str) -> Result<uuid::Uuid, String> {
    let invalid = || "invalid UUID format".to_owned();
    let plain = match text.len() {
        36 | 32 => Some(text),
        38 => text.get(1..37),
        45 => {
            let prefix = text.get(..9).unwrap_or_default();
            if !prefix.eq_ignore_ascii_case("urn:uuid:") {
                return Err(format!("invalid urn prefix: {}", quoted(prefix)));
            }
            text.get(9..)
        }
        other => return Err(format!("invalid UUID length: {other}")),
    };
    let plain = plain.filter(|p| p.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())).ok_or_else(invalid)?;
    uuid::Uuid::try_parse(plain).map_err(|_| invalid())
}

fn uuid_v5(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let name = text(a, 0);
    let namespace = match name {
        "dns" => uuid::Uuid::NAMESPACE_DNS,
        "url" => uuid::Uuid::NAMESPACE_URL,
        "oid" => uuid::Uuid::NAMESPACE_OID,
        "x500" => uuid::Uuid::NAMESPACE_X500,
        _ => match parse_uuid(name) {
            Ok(namespace) => namespace,
            Err(why) => return fail(format!("uuidv5() doesn't support namespace {name} ({why})")),
        },
    };
    Ok(Value::string(uuid::Uuid::new_v5(&namespace, text(a, 1).as_bytes()).to_string()))
}
