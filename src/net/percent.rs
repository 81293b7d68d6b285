//! Percent-encoding as the large clouds sign it.

/// Text as paths and parameters must have it: everything but unreserved characters as `%XX`, slashes too unless `keep_slash`.
pub fn encoded(text: &str, keep_slash: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b if b.is_ascii_alphanumeric() || b"-_.~".contains(&b) => out.push(b as char),
            b'/' if keep_slash => out.push('/'),
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!((encoded("a b/c+~", true), encoded("a/b", false)), ("a%20b/c%2B~".into(), "a%2Fb".into()));
    }
}
