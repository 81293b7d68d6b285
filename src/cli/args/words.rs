//! Splitting `TF_CLI_ARGS` into words as a shell does, without expansions.

/// The words, or what is wrong with the quoting.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
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
    if got {
        words.push(word);
    }
    Ok(words)
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
