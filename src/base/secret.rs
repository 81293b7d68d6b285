//! Secrets, and addresses that may hold some: what is shown of them never gives them away.
//!
//! Never knows the source of a secret or its use. While a log is written, it keeps the texts of all secrets: no line may have one.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use terrane_logging::Masks;

/// A text that only [`Secret::reveal`] shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    pub fn new(text: impl Into<Arc<str>>) -> Secret {
        let text = text.into();
        if IS_KEEPING.load(Ordering::Relaxed) {
            keep(&text);
        }
        Secret(text)
    }

    /// The text itself, for requests that contain it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SENSITIVE)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SENSITIVE)
    }
}

static IS_KEEPING: AtomicBool = AtomicBool::new(false);
static KEPT: RwLock<Masks> = RwLock::new(Masks::new());

/// From now on, [`masked`] knows every new secret.
pub fn keep_for_masking() {
    IS_KEEPING.store(true, Ordering::Relaxed);
}

fn keep(text: &str) {
    KEPT.write().unwrap_or_else(|e| e.into_inner()).add_lines(text);
}

/// A text of the log without the secrets that are known.
pub fn masked(text: &str) -> Cow<'_, str> {
    terrane_logging::masked([&*KEPT.read().unwrap_or_else(|e| e.into_inner())], text, SENSITIVE)
}

const SENSITIVE: &str = "(sensitive)";
/// What stands in place of a secret.
const HIDDEN: &str = "redacted";

/// Parameters whose values let others in: keys, tokens and signatures of addresses that were signed beforehand.
fn is_secret_parameter(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let parts = [
        "token",
        "secret",
        "password",
        "passwd",
        "signature",
        "credential",
        "sshkey",
        "apikey",
        "api_key",
        "accesskey",
    ];
    parts.iter().any(|part| name.contains(part))
        || ["sig", "key", "auth", "access_key", "googleaccessid"].contains(&name.as_str())
}

/// An address as it may be shown: without its password, without a token in the user's place, without what signs it.
/// Works on any text that has a URL in it, and leaves the rest alone.
pub fn redacted(address: &str) -> String {
    let (base, query) = match address.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (address, None),
    };
    let mut shown = redacted_user(base);
    if let Some(query) = query {
        shown.push('?');
        for (i, parameter) in query.split('&').enumerate() {
            shown.push_str(if i > 0 { "&" } else { "" });
            match parameter.split_once('=') {
                Some((name, value)) if !value.is_empty() && is_secret_parameter(name) => {
                    shown.push_str(&format!("{name}={HIDDEN}"));
                }
                _ => shown.push_str(parameter),
            }
        }
    }
    shown
}

fn redacted_user(base: &str) -> String {
    let Some(start) = base.find("://").map(|at| at + 3) else { return base.to_owned() };
    let end = base[start..].find(['/', '#']).map_or(base.len(), |at| start + at);
    let Some(at) = base[start..end].rfind('@').map(|at| start + at) else { return base.to_owned() };
    let user = &base[start..at];
    let shown = match user.split_once(':') {
        Some((name, _)) => format!("{name}:{HIDDEN}"),
        // Over HTTP a user alone is a token; over SSH it is the account.
        None if base[..start].ends_with("http://") || base[..start].ends_with("https://") => HIDDEN.to_owned(),
        None => user.to_owned(),
    };
    format!("{}{shown}{}", &base[..start], &base[at..])
}

/// What an address is known by where others may read it: as [`redacted`], with the secrets left out altogether.
pub fn without_secrets(address: &str) -> String {
    let (base, query) = match address.split_once('?') {
        Some((base, query)) => (base, query),
        None => (address, ""),
    };
    let mut shown = redacted_user(base).replace(&format!(":{HIDDEN}@"), "@").replace(&format!("//{HIDDEN}@"), "//");
    let is_open = |p: &&str| !p.is_empty() && !is_secret_parameter(p.split('=').next().unwrap_or_default());
    let open: Vec<&str> = query.split('&').filter(is_open).collect();
    if !open.is_empty() {
        shown.push('?');
        shown.push_str(&open.join("&"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_redacted() {
        let cases = [
            ("https://user:pw@h/a?ref=x", "https://user:redacted@h/a?ref=x", "https://user@h/a?ref=x"),
            ("git::https://tok3n@h/a", "git::https://redacted@h/a", "git::https://h/a"),
            (
                "git::ssh://git@h/a?sshkey=AAA&ref=v1",
                "git::ssh://git@h/a?sshkey=redacted&ref=v1",
                "git::ssh://git@h/a?ref=v1",
            ),
            ("https://h/a.zip?X-Amz-Signature=1", "https://h/a.zip?X-Amz-Signature=redacted", "https://h/a.zip"),
            ("file:///a@b", "file:///a@b", "file:///a@b"),
            ("./x", "./x", "./x"),
        ];
        for (address, shown, known) in cases {
            assert_eq!((redacted(address).as_str(), without_secrets(address).as_str()), (shown, known));
        }
        assert_eq!(format!("{:?} {}", Secret::new("x"), Secret::new("x")), "(sensitive) (sensitive)");
    }
}
