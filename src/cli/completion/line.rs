//! A command line that is being typed.

use crate::cli::args::words;

/// The words of a line up to the cursor.
#[derive(Debug, PartialEq)]
pub struct Line {
    /// The finished words behind the program's name.
    pub before: Vec<String>,
    /// The word that is being typed; empty after a space.
    pub word: String,
}

impl Line {
    /// `point` is the place of the cursor in bytes; the end of the line if there is none.
    pub fn parse(text: &str, point: Option<usize>) -> Line {
        let upto = point.and_then(|point| text.get(..point)).unwrap_or(text);
        let (mut words, word) = words::unfinished(upto);
        if !words.is_empty() {
            words.remove(0);
        }
        Line { before: words, word }
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
        let cases: [(&str, Option<usize>, &[&str], &str); 6] = [
            ("terrane pl", None, &[], "pl"),
            ("terrane plan ", None, &["plan"], ""),
            ("terrane plan -destroy", Some(9), &[], "p"),
            ("terrane state rm 'a[\"b", None, &["state", "rm"], "a[\"b"),
            ("terrane state rm a\\[\\\"b", None, &["state", "rm"], "a[\"b"),
            ("terrane", None, &[], "terrane"),
        ];
        for (text, point, before, word) in cases {
            let line = Line::parse(text, point);
            assert_eq!((line.before, line.word.as_str()), (before.iter().map(ToString::to_string).collect(), word));
        }
    }
}
