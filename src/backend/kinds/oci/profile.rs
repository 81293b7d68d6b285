//! Profiles of the OCI configuration file, `~/.oci/config`.

use std::path::{Path, PathBuf};

use base::env;

use super::settings::{home_folder, text_or_variable};
use crate::contract::StoreError;
use crate::contract::settings::Settings;

const DEFAULT_PROFILE: &str = "DEFAULT";

/// A profile: the settings of one section.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Profile {
    pub user: String,
    pub tenancy: String,
    pub fingerprint: String,
    pub region: String,
    pub key_file: String,
    pub password: String,
    pub token_file: String,
}

impl Profile {
    /// The profile that the settings name, or `DEFAULT`, which need not be there.
    pub fn of(settings: &Settings<'_>) -> Result<Profile, StoreError> {
        let home =
            home_folder(settings).ok_or("the home folder is not known, so there is no OCI configuration file")?;
        let usual = home.join(".oci").join("config");
        if let Some(name) = text_or_variable(settings, "config_file_profile") {
            let text = std::fs::read_to_string(&usual).map_err(|e| format!("open {}: {e}", usual.display()))?;
            return parse(&text, name, &usual);
        }
        let named = settings.environment.non_empty(env::OCI_CONFIG_FILE).map(PathBuf::from);
        let path = named.unwrap_or(usual);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(parse(&text, DEFAULT_PROFILE, &path).unwrap_or_default()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Profile::default()),
            Err(e) => Err(format!("can not read config file: {} due to: {e}", path.display()).into()),
        }
    }

    /// `TENANCY/USER/FINGERPRINT`, if all of them are there.
    pub fn key_id(&self) -> Option<String> {
        let parts = [&self.tenancy, &self.user, &self.fingerprint];
        parts.iter().all(|part| !part.is_empty()).then(|| parts.map(String::as_str).join("/"))
    }
}

fn parse(text: &str, name: &str, path: &Path) -> Result<Profile, StoreError> {
    let heading =
        |line: &str| line.strip_prefix('[').and_then(|rest| rest.rsplit_once(']')).map(|(name, _)| name.to_owned());
    let mut lines = text.lines().skip_while(|line| heading(line).as_deref() != Some(name));
    if lines.next().is_none() {
        return Err(format!("configuration file did not contain profile: {name} ({})", path.display()).into());
    }
    let mut profile = Profile::default();
    for line in lines.take_while(|line| heading(line).is_none()) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let field = match key.trim().to_ascii_lowercase().as_str() {
            "user" => &mut profile.user,
            "tenancy" => &mut profile.tenancy,
            "fingerprint" => &mut profile.fingerprint,
            "region" => &mut profile.region,
            "key_file" => &mut profile.key_file,
            "pass_phrase" | "passphrase" => &mut profile.password,
            "security_token_file" => &mut profile.token_file,
            _ => continue,
        };
        *field = value.trim().to_owned();
    }
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_up_to_the_next_heading() {
        let text = "[DEFAULT]\nuser = u\ntenancy=t\n# comment\nfingerprint=a:b\nregion=r\n\n[other]\nUSER=v\nsecurity_token_file=/t\n";
        let read = |name: &str| parse(text, name, Path::new("/c"));
        let default = read("DEFAULT").unwrap();
        assert_eq!(default.key_id().unwrap(), "t/u/a:b");
        assert_eq!(default.token_file, "");
        let other = read("other").unwrap();
        assert_eq!((other.user.as_str(), other.token_file.as_str(), other.key_id()), ("v", "/t", None));
        assert_eq!(read("x").err().unwrap().text, "configuration file did not contain profile: x (/c)");
    }
}
