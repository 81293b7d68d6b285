//! Whose keys open an object in S3: those of the address, of the environment, of a profile, of a role.
//!
//! Owns the order in which they are looked for, and what users have written down. What only a login can give (single
//! sign-on, roles of profiles) comes by a profile's `credential_process`.

use std::path::PathBuf;

use serde::Deserialize;
use tokio::process::Command;

use crate::base::aws_signature::Keys;
use crate::base::env;
use crate::base::program;
use crate::base::secret::Secret;

use super::address::Address;
use super::{FetchError, Fetcher, aws_roles};

/// Takes what the address says of keys out of it, and finds those to sign with; none: the request goes out unsigned.
/// `at_home`: the store is Amazon's own, so that the machine may be as well.
pub async fn find(fetcher: &Fetcher, address: &mut Address, at_home: bool) -> Result<Option<Keys>, FetchError> {
    let [id, secret, token] =
        ["aws_access_key_id", "aws_access_key_secret", "aws_access_token"].map(|n| address.take(n));
    let profile = address.take("aws_profile");
    let environment = &fetcher.environment;
    if id.is_some() || secret.is_some() || token.is_some() {
        let (Some(id), Some(secret)) = (id, secret) else {
            let why = "aws_access_key_id and aws_access_key_secret must be given together";
            return Err(FetchError::new(why));
        };
        return Ok(Some(Keys { id, secret: Secret::new(secret), token: token.map(Secret::new) }));
    }
    if let Some(profile) = profile {
        let found = of_profile(fetcher, &profile).await?;
        return found.map(Some).ok_or_else(|| FetchError::new(format!("no keys for the AWS profile {profile:?}")));
    }
    let set = |name: &str| environment.non_empty(name).map(str::to_owned);
    if let (Some(id), Some(secret)) = (set(env::AWS_ACCESS_KEY_ID), set(env::AWS_SECRET_ACCESS_KEY)) {
        let token = set(env::AWS_SESSION_TOKEN).map(Secret::new);
        return Ok(Some(Keys { id, secret: Secret::new(secret), token }));
    }
    if let Some(keys) = aws_roles::of_token(fetcher).await? {
        return Ok(Some(keys));
    }
    if let Some(profile) = set(env::AWS_PROFILE) {
        let found = of_profile(fetcher, &profile).await?;
        return found.map(Some).ok_or_else(|| FetchError::new(format!("no keys for the AWS profile {profile:?}")));
    }
    if let Some(keys) = of_profile(fetcher, "default").await? {
        return Ok(Some(keys));
    }
    match aws_roles::of_container(fetcher).await? {
        None if at_home || set(env::AWS_EC2_METADATA_SERVICE_ENDPOINT).is_some() => {
            aws_roles::of_machine(fetcher).await
        }
        keys => Ok(keys),
    }
}

/// Keys as programs and containers say them.
#[derive(Deserialize)]
struct Said {
    #[serde(rename = "AccessKeyId")]
    id: String,
    #[serde(rename = "SecretAccessKey")]
    secret: String,
    #[serde(rename = "SessionToken", alias = "Token")]
    token: Option<String>,
}

/// The error never repeats the text: it may hold half a key.
pub fn said(text: &str, by: &str) -> Result<Keys, FetchError> {
    let said: Said =
        serde_json::from_str(text).map_err(|_| FetchError::new(format!("{by} gave no keys that can be read")))?;
    let token = said.token.filter(|token| !token.is_empty()).map(Secret::new);
    Ok(Keys { id: said.id, secret: Secret::new(said.secret), token })
}

async fn of_profile(fetcher: &Fetcher, profile: &str) -> Result<Option<Keys>, FetchError> {
    let environment = &fetcher.environment;
    let place = |name: &str, below_home: &str| {
        let home = || environment.non_empty(env::HOME).map(|home| PathBuf::from(home).join(below_home));
        environment.non_empty(name).map(PathBuf::from).or_else(home)
    };
    let read = |path: Option<PathBuf>| path.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let credentials = read(place(env::AWS_SHARED_CREDENTIALS_FILE, ".aws/credentials"));
    let config = read(place(env::AWS_CONFIG_FILE, ".aws/config"));
    for settings in [section(&credentials, profile), section(&config, profile)] {
        let setting = |name: &str| settings.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        if let (Some(id), Some(secret)) = (setting("aws_access_key_id"), setting("aws_secret_access_key")) {
            let token = setting("aws_session_token").map(Secret::new);
            return Ok(Some(Keys { id, secret: Secret::new(secret), token }));
        }
        if let Some(command) = setting("credential_process") {
            return of_program(fetcher, &command).await.map(Some);
        }
    }
    Ok(None)
}

/// The settings of a profile; a section is `[name]` or `[profile name]`.
fn section(text: &str, profile: &str) -> Vec<(String, String)> {
    let mut here = false;
    let mut settings = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            here = name.trim() == profile || name.trim().strip_prefix("profile ").map(str::trim) == Some(profile);
        } else if here
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((name, value)) = trimmed.split_once('=').filter(|(_, value)| !value.trim().is_empty())
        {
            settings.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    settings
}

async fn of_program(fetcher: &Fetcher, line: &str) -> Result<Keys, FetchError> {
    let words = words(line);
    let Some((name, arguments)) = words.split_first() else {
        return Err(FetchError::new("credential_process names no program"));
    };
    let path = fetcher.environment.get(env::PATH).unwrap_or_default();
    let found = if name.contains(['/', '\\']) { Some(PathBuf::from(name)) } else { program::find(name, path) };
    let by = format!("credential_process {name:?}");
    let failed = |why: String| FetchError::new(format!("{by}: {why}"));
    let program = found.ok_or_else(|| failed("there is no such program on the PATH".to_owned()))?;
    let mut command = Command::new(program);
    command.args(arguments);
    let ran = program::run(command, false, fetcher.http.stop()).await.map_err(|e| failed(e.to_string()))?;
    match ran {
        None => Err(FetchError::Interrupted),
        Some(ran) if !ran.status.success() => Err(failed(ran.errors.trim().to_owned())),
        Some(ran) => said(&ran.output, &by),
    }
}

/// Words of a command line; quotes hold spaces together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles() {
        let text =
            "[default]\naws_access_key_id = A\n# c\naws_secret_access_key=B=\n[profile x]\ns3 =\n  a = b\nRegion = r\n";
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(section(text, "default"), [pair("aws_access_key_id", "A"), pair("aws_secret_access_key", "B=")]);
        assert_eq!(section(text, "x"), [pair("region", "r")]);
        assert_eq!(section(text, "y"), []);
        assert_eq!(words("/a/b 'c d' \"\" e\"f g\"h"), ["/a/b", "c d", "", "ef gh"]);
        let keys = said(r#"{"Version":1,"AccessKeyId":"a","SecretAccessKey":"s","Token":"t"}"#, "x").unwrap();
        assert_eq!((keys.id.as_str(), keys.secret.reveal(), keys.token.unwrap().reveal()), ("a", "s", "t"));
        assert!(!said("{\"SecretAccessKey\":\"s3cret\"}", "x").unwrap_err().to_string().contains("s3cret"));
    }
}
