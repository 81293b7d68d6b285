//! JSON as text, laid out the way Go's encoder does it: two spaces, `<`, `>` and `&` escaped.
//!
//! Works on text only, so that values which nobody decoded pass through unchanged. Expects valid JSON.

const INDENT: &[u8] = b"  ";

/// Appends valid JSON laid out over lines. `depth` is the nesting of the line that it starts on.
pub fn indent(raw: &str, depth: usize, out: &mut Vec<u8>) {
    let bytes = raw.as_bytes();
    let mut depth = depth;
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b' ' | b'\n' | b'\t' | b'\r' => i += 1,
            b'"' => i = copy_string(bytes, i, out),
            open @ (b'{' | b'[') => {
                out.push(open);
                let next = skip_space(bytes, i + 1);
                if matches!(bytes.get(next), Some(b'}' | b']')) {
                    out.push(bytes[next]);
                    i = next + 1;
                } else {
                    depth += 1;
                    new_line(depth, out);
                    i = next;
                }
            }
            close @ (b'}' | b']') => {
                depth = depth.saturating_sub(1);
                new_line(depth, out);
                out.push(close);
                i += 1;
            }
            b',' => {
                out.push(b',');
                new_line(depth, out);
                i += 1;
            }
            b':' => {
                out.extend_from_slice(b": ");
                i += 1;
            }
            other => {
                out.push(other);
                i += 1;
            }
        }
    }
}

/// Starts a line at a nesting depth.
pub fn new_line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    for _ in 0..depth {
        out.extend_from_slice(INDENT);
    }
}

/// The same JSON without the space between tokens; text in strings and the digits of numbers stay as they are.
pub fn compact(raw: &str) -> String {
    let bytes = raw.as_bytes();
    let mut out = String::with_capacity(raw.len());
    let (mut start, mut i) = (0, 0);
    while i < bytes.len() {
        match bytes[i] {
            b' ' | b'\n' | b'\t' | b'\r' => {
                out.push_str(&raw[start..i]);
                i = skip_space(bytes, i);
                start = i;
            }
            b'"' => i = string_end(bytes, i),
            _ => i += 1,
        }
    }
    out.push_str(&raw[start..]);
    out
}

/// Appends a text as a JSON string, quotes and escapes included.
pub fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut start = 0;
    for (i, b) in bytes.iter().enumerate() {
        if *b >= 0x20 && *b != b'"' && *b != b'\\' {
            continue;
        }
        escape_html(&bytes[start..i], out);
        start = i + 1;
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            control => out.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
        }
    }
    escape_html(&bytes[start..], out);
    out.push(b'"');
}

fn skip_space(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|b| matches!(b, b' ' | b'\n' | b'\t' | b'\r')).count()
}

/// The index after the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut i = start + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

fn copy_string(bytes: &[u8], start: usize, out: &mut Vec<u8>) -> usize {
    let end = string_end(bytes, start);
    escape_html(&bytes[start..end], out);
    end
}

/// Copies text, writing `<`, `>`, `&` and the two Unicode line separators as escapes.
fn escape_html(bytes: &[u8], out: &mut Vec<u8>) {
    let mut start = 0;
    let mut i = 0;
    while i < bytes.len() {
        let (escape, length): (&[u8], usize) = match bytes[i] {
            b'<' => (b"\\u003c", 1),
            b'>' => (b"\\u003e", 1),
            b'&' => (b"\\u0026", 1),
            0xe2 if bytes[i..].starts_with(b"\xe2\x80\xa8") => (b"\\u2028", 3),
            0xe2 if bytes[i..].starts_with(b"\xe2\x80\xa9") => (b"\\u2029", 3),
            _ => {
                i += 1;
                continue;
            }
        };
        out.extend_from_slice(&bytes[start..i]);
        out.extend_from_slice(escape);
        i += length;
        start = i;
    }
    out.extend_from_slice(&bytes[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lays_out_as_go_does() {
        let cases = [
            ("{}", "{}"),
            ("[ ]", "[]"),
            (
                r#"{"a":[1,{"b":"<x>"}],"c":{}}"#,
                "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"\\u003cx\\u003e\"\n    }\n  ],\n  \"c\": {}\n}",
            ),
            ("\"a\\\"{\u{2028}\"", "\"a\\\"{\\u2028\""),
        ];
        for (raw, expected) in cases {
            let mut out = Vec::new();
            indent(raw, 0, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn compacting_keeps_strings_and_digits() {
        assert_eq!(compact("{ \"a b\" : [ 1.50 ,\n 2 ] }"), "{\"a b\":[1.50,2]}");
        assert_eq!(compact("\"\\\\\" "), "\"\\\\\"");
    }

    #[test]
    fn strings_escape_what_go_escapes() {
        let mut out = Vec::new();
        string("<a>\"\n\u{1}\u{7f}&é\u{2029}", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\"\\u003ca\\u003e\\\"\\n\\u0001\u{7f}\\u0026é\\u2029\"");
    }
}
