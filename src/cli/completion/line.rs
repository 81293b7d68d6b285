//! A command line that is being typed.

use crate::args::words;

/// The words of a line up to the cursor.
#[derive(Debug, PartialEq)]
pub struct Line {
    /// The finished words behind the program's name.
    pub before: Vec<String>,
    /// The word that is being typed; empty after a space.
    pub word: String,
    /// The quote that the word leaves open, and how much of the word is before it, in bytes.
    pub quote: Option<(char, usize)>,
}

impl Line {
    /// `point` is the place of the cursor in bytes; the end of the line if there is none.
    pub fn parse(text: &str, point: Option<usize>) -> Line {
        let upto = point.and_then(|point| text.get(..point)).unwrap_or(text);
        let mut typed = words::unfinished(upto);
        if !typed.words.is_empty() {
            typed.words.remove(0);
        }
        Line { before: typed.words, word: typed.last, quote: typed.quote }
    }

    /// `-flag=` of a word that gives a flag its value, and the value.
    pub fn flag_value(&self) -> Option<(&str, &str)> {
        self.word.strip_prefix('-')?;
        self.word.split_once('=')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_the_cursor() {
        type Case = (&'static str, Option<usize>, &'static [&'static str], &'static str, Option<(char, usize)>);
        let cases: [Case; 8] = [
            ("terrane pl", None, &[], "pl", None),
            ("terrane plan ", None, &["plan"], "", None),
            ("terrane plan -destroy", Some(9), &[], "p", None),
            ("terrane state rm 'a[\"b", None, &["state", "rm"], "a[\"b", Some(('\'', 0))),
            ("terrane plan -target=\"a[", None, &["plan"], "-target=a[", Some(('"', 8))),
            ("terrane plan 'x'y\"z\"\"w", None, &["plan"], "xyzw", Some(('"', 3))),
            ("terrane state rm a\\[\\\"b", None, &["state", "rm"], "a[\"b", None),
            ("terrane", None, &[], "terrane", None),
        ];
        for (text, point, before, word, quote) in cases {
            let line = Line::parse(text, point);
            let before = before.iter().map(ToString::to_string).collect();
            assert_eq!(line, Line { before, word: word.to_string(), quote }, "{text}");
        }
    }
}
