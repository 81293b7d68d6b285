//! Errors in JSON in the words of Go, where the reference shows those.

/// What is wrong with a text that is no JSON, as Go words it.
pub fn syntax_error(content: &[u8], error: &serde_json::Error) -> String {
    let start = content.iter().position(|b| !b.is_ascii_whitespace());
    let Some(start) = start.filter(|_| !error.is_eof()) else { return "unexpected end of JSON input".into() };
    // Go counts bytes here: each byte of a longer character is quoted separately.
    let quoted = |byte: u8| format!("{:?}", char::from(byte));
    let begins = matches!(content[start], b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n');
    if !begins {
        return format!("invalid character {} looking for beginning of value", quoted(content[start]));
    }
    let line_start: usize =
        content.split_inclusive(|b| *b == b'\n').take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    match content.get(line_start + error.column().saturating_sub(1)) {
        Some(byte) if error.to_string().starts_with("trailing characters") => {
            format!("invalid character {} after top-level value", quoted(*byte))
        }
        Some(byte) => format!("invalid character {}", quoted(*byte)),
        None => "unexpected end of JSON input".into(),
    }
}
