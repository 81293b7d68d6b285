//! Logins from the file that many programs share, `~/.netrc`.

use std::path::PathBuf;

use base::env::{self, Environment};
use base::secret::Secret;

/// Name and password for a host, if the user's file has them. A file that cannot be read has none.
pub fn login(environment: &Environment, host: &str) -> Option<(String, Secret)> {
    let name = if cfg!(windows) { "_netrc" } else { ".netrc" };
    let path = match environment.non_empty(env::NETRC) {
        Some(path) => PathBuf::from(path),
        None => environment.home_dir()?.join(name),
    };
    find(&std::fs::read_to_string(path).ok()?, host)
}

fn find(text: &str, host: &str) -> Option<(String, Secret)> {
    // A macro goes on to the next empty line.
    let mut words = Vec::new();
    let mut in_macro = false;
    for line in text.lines() {
        in_macro = (in_macro || line.split_whitespace().any(|word| word == "macdef")) && !line.trim().is_empty();
        if !in_macro {
            words.extend(line.split_whitespace().take_while(|word| !word.starts_with('#')));
        }
    }
    let (mut here, mut login, mut password) = (false, None, None);
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word {
            "machine" | "default" => {
                if here && password.is_some() {
                    break;
                }
                here = word == "default" || words.next() == Some(host);
                (login, password) = (None, None);
            }
            "login" if here => login = words.next(),
            "password" if here => password = words.next(),
            _ => {}
        }
    }
    let password = password.filter(|_| here)?;
    Some((login.unwrap_or_default().to_owned(), Secret::new(password)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins() {
        let text = "machine a.example login me password pw # c\nmacdef init\nmachine x password no\n\n\
                    machine b.example\n  login you\n  password word\ndefault login anon password any\n";
        let found = |host: &str| find(text, host).map(|(name, password)| format!("{name}:{}", password.reveal()));
        assert_eq!(found("a.example").unwrap(), "me:pw");
        assert_eq!(found("b.example").unwrap(), "you:word");
        assert_eq!(found("x").unwrap(), "anon:any");
        assert_eq!(find("machine a login b", "a"), None);
    }
}
