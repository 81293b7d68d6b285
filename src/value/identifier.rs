//! What may name something in the language without quotes.

/// Whether an identifier may begin with the character.
pub fn is_start(c: char) -> bool {
    c == '_' || unicode_ident::is_xid_start(c)
}

/// Whether an identifier may go on with the character.
pub fn is_continue(c: char) -> bool {
    c == '-' || unicode_ident::is_xid_continue(c)
}

/// Whether a text is an identifier as a whole.
pub fn is_identifier(text: &str) -> bool {
    text.chars().next().is_some_and(is_start) && text.chars().all(is_continue)
}

#[cfg(test)]
mod tests {
    use super::is_identifier;

    #[test]
    fn letters_of_all_languages_count() {
        for (text, expected) in [
            ("a", true),
            ("_", true),
            ("a-b_1", true),
            ("ä", true),
            ("名前", true),
            ("", false),
            ("1a", false),
            ("-a", false),
            ("a b", false),
            ("a.b", false),
            // Alphabetic, but part of no identifier.
            ("ⓐ", false),
        ] {
            assert_eq!(is_identifier(text), expected, "{text:?}");
        }
    }
}
