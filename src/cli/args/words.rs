//! Splitting text into words as a shell does, without expansions.

/// The words, or what is wrong with the quoting.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    if let Some(last) = scan(text, &mut words)? {
        words.push(last);
    }
    Ok(words)
}

/// The words of a line that is being typed, and the one at its end, which is empty behind a space. Its quotes may be open.
pub fn unfinished(text: &str) -> (Vec<String>, String) {
    // What could close the last word; a lone backslash at the end counts for nothing.
    let text = text.strip_suffix('\\').unwrap_or(text);
    for end in ["", "\"", "'"] {
        let mut words = Vec::new();
        if let Ok(last) = scan(&format!("{text}{end}"), &mut words) {
            return (words, last.unwrap_or_default());
        }
    }
    (Vec::new(), text.to_string())
}

/// Adds the words that end before the end of the text; gives the one that ends with it.
fn scan(text: &str, words: &mut Vec<String>) -> Result<Option<String>, String> {
    let mut word = String::new();
    let mut got = false;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => {
                if got {
                    words.push(std::mem::take(&mut word));
                    got = false;
                }
            }
            '\\' => {
                word.push(chars.next().ok_or("invalid command line string")?);
                got = true;
            }
            '\'' => {
                got = true;
                quoted(&mut chars, &mut word, '\'')?;
            }
            '"' => {
                got = true;
                quoted(&mut chars, &mut word, '"')?;
            }
            c => {
                word.push(c);
                got = true;
            }
        }
    }
    Ok(got.then_some(word))
}

fn quoted(chars: &mut std::str::Chars<'_>, word: &mut String, quote: char) -> Result<(), String> {
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
    Err("invalid command line string".to_string())
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
