//! Splitting text into words as a shell does, without expansions.

use std::fmt;

/// A quote or an escape is not closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotingError;

impl fmt::Display for QuotingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid command line string")
    }
}

/// Splits a text.
pub fn split(text: &str) -> Result<Vec<String>, QuotingError> {
    let mut words = Vec::new();
    if let Some(last) = scan(text, &mut words)? {
        words.push(last.text);
    }
    Ok(words)
}

/// A line that is being typed.
#[derive(Debug, Default, PartialEq)]
pub struct Unfinished {
    pub words: Vec<String>,
    /// The word at its end; empty behind a space.
    pub last: String,
    /// The quote that the last word leaves open, and how much of the word is before it, in bytes.
    pub quote: Option<(char, usize)>,
}

/// Splits a line that is being typed.
pub fn unfinished(text: &str) -> Unfinished {
    // What could close the last word; a lone backslash at the end counts for nothing.
    let text = text.strip_suffix('\\').unwrap_or(text);
    for end in [None, Some('"'), Some('\'')] {
        let mut words = Vec::new();
        if let Ok(last) = scan(&text.chars().chain(end).collect::<String>(), &mut words) {
            let last = last.unwrap_or_default();
            return Unfinished { words, last: last.text, quote: end.map(|quote| (quote, last.quote)) };
        }
    }
    Unfinished { last: text.to_string(), ..Unfinished::default() }
}

#[derive(Default)]
struct Word {
    text: String,
    /// Where the last quote in it begins, in bytes of the text without quotes.
    quote: usize,
}

/// Adds the words that end before the end of the text; gives the one that ends with it.
fn scan(text: &str, words: &mut Vec<String>) -> Result<Option<Word>, QuotingError> {
    let mut word: Option<Word> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take().map(|word| word.text)),
            '\\' => {
                word.get_or_insert_default().text.push(chars.next().ok_or(QuotingError)?);
            }
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                word.quote = word.text.len();
                quoted(&mut chars, &mut word.text, quote)?;
            }
            c => word.get_or_insert_default().text.push(c),
        }
    }
    Ok(word)
}

fn quoted(chars: &mut std::str::Chars<'_>, word: &mut String, quote: char) -> Result<(), QuotingError> {
    while let Some(c) = chars.next() {
        if c == quote {
            return Ok(());
        }
        match c {
            '\\' if quote == '"' => match chars.next() {
                Some(next @ ('"' | '\\' | '$' | '`')) => word.push(next),
                Some(next) => {
                    word.push('\\');
                    word.push(next);
                }
                None => break,
            },
            c => word.push(c),
        }
    }
    Err(QuotingError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes() {
        let cases: [(&str, &[&str]); 4] = [
            ("-a  -b=c", &["-a", "-b=c"]),
            ("-var 'x=a b' -var \"y=\\\"q\\\"\"", &["-var", "x=a b", "-var", "y=\"q\""]),
            ("a\\ b ''", &["a b", ""]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(split(text).unwrap(), expected);
        }
        assert!(split("'x").is_err());
    }
}
