//! The shared configuration of the AWS tools: `~/.aws/config`, `~/.aws/credentials` and files like them.
//!
//! Owns their syntax and how sections of several files are joined. Never knows what a setting means.

use std::collections::BTreeMap;

/// Settings by name, in lower case.
pub type Section = BTreeMap<String, String>;

/// Every profile and every SSO session of the files that were read.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    profiles: BTreeMap<String, Section>,
    sessions: BTreeMap<String, Section>,
}

impl Profiles {
    /// Adds a configuration file: sections `default`, `profile NAME` and `sso-session NAME`.
    pub fn add_config(&mut self, text: &str) {
        for (header, section) in sections(text) {
            let (kind, name) = header.split_once([' ', '\t']).map_or(("", header.as_str()), |(k, n)| (k, n.trim()));
            let into = match (kind, name) {
                ("profile", name) => self.profiles.entry(unquoted(name)),
                ("sso-session", name) => self.sessions.entry(unquoted(name)),
                ("", "default") => self.profiles.entry("default".to_owned()),
                _ => continue,
            };
            into.or_default().extend(section);
        }
    }

    /// Adds a credentials file, whose sections are names of profiles. Its settings replace those of configuration files.
    pub fn add_credentials(&mut self, text: &str) {
        for (header, section) in sections(text) {
            self.profiles.entry(header).or_default().extend(section);
        }
    }

    pub fn profile(&self, name: &str) -> Option<&Section> {
        self.profiles.get(name)
    }

    pub fn session(&self, name: &str) -> Option<&Section> {
        self.sessions.get(name)
    }
}

fn unquoted(name: &str) -> String {
    let quoted = |quote: char| name.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(name).to_owned()
}

/// Settings of nested blocks (indented lines) are left out: none of them is about credentials.
fn sections(text: &str) -> Vec<(String, Section)> {
    let mut sections: Vec<(String, Section)> = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(header) = trimmed.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            sections.push((header.trim().to_owned(), Section::new()));
        } else if let Some((_, section)) = sections.last_mut()
            && !line.starts_with([' ', '\t', '#', ';'])
            && let Some((name, value)) = trimmed.split_once('=')
        {
            let value = value.split(" #").next().unwrap_or_default().split(" ;").next().unwrap_or_default().trim();
            section.insert(name.trim().to_ascii_lowercase(), value.to_owned());
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_joined() {
        let mut profiles = Profiles::default();
        profiles.add_config(
            "[default]\nregion = r\ns3 =\n  a = b\n[profile x]\nRegion=x # comment\nrole_arn = a\n[y]\nregion = no\n[sso-session s]\nsso_region = q\n",
        );
        profiles.add_credentials(
            "# c\n[x]\naws_access_key_id = A\naws_secret_access_key=B=\nregion = z\n[profile q]\na=b\n",
        );
        let of = |name: &str, setting: &str| profiles.profile(name).and_then(|section| section.get(setting)).cloned();
        assert_eq!(of("default", "region").as_deref(), Some("r"));
        assert_eq!(of("default", "a"), None);
        assert_eq!(of("x", "region").as_deref(), Some("z"));
        assert_eq!(of("x", "role_arn").as_deref(), Some("a"));
        assert_eq!(of("x", "aws_secret_access_key").as_deref(), Some("B="));
        assert!(profiles.profile("y").is_none());
        assert_eq!(profiles.session("s").unwrap()["sso_region"], "q");
    }
}
