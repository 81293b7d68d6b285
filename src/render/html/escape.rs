//! Texts in HTML.

use crate::review::plain::one_line;

/// The text on one line, for the content of elements and for attributes in double quotes.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_means_something_in_html() {
        assert_eq!(escaped("<a href='x'>\"&\n\u{202e}"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;\\n\\u202e");
    }
}
