//! Addresses in OCI registries: repositories, and the prefixes of addresses that credentials are for.

use std::fmt;

use url::Url;

/// The registry of Docker Hub in addresses of repositories.
pub const DOCKER_HUB: &str = "docker.io";

/// A registry's host, perhaps with a port, and the name of a repository there: `team/providers/null`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Repository {
    pub registry: String,
    pub name: String,
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.name)
    }
}

/// The part of an address that is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepositoryError {
    Registry(String),
    Name(String),
}

impl fmt::Display for RepositoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepositoryError::Registry(text) => write!(f, "{text:?} is not a registry host with an optional port"),
            RepositoryError::Name(text) => write!(
                f,
                "{text:?} is not a repository name: its segments are lower-case letters and digits, separated by \".\", \"_\", \
                 \"__\" or dashes"
            ),
        }
    }
}

impl std::error::Error for RepositoryError {}

impl Repository {
    pub fn new(registry: &str, name: &str) -> Result<Repository, RepositoryError> {
        check_registry(registry)?;
        check_name(name)?;
        Ok(Repository { registry: registry.to_owned(), name: name.to_owned() })
    }

    /// The host of the registry's API, which Docker Hub has under another name.
    pub fn host(&self) -> &str {
        if self.registry == DOCKER_HUB { "registry-1.docker.io" } else { &self.registry }
    }
}

/// All repositories of a registry, or those whose name begins with these segments: `example.com/team`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryPrefix {
    pub registry: String,
    /// Empty: the whole registry.
    pub path: String,
}

impl fmt::Display for RepositoryPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.registry)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, "/{}", self.path) }
    }
}

impl RepositoryPrefix {
    /// Reads a prefix as people write it.
    pub fn parse(text: &str) -> Result<RepositoryPrefix, RepositoryError> {
        let (registry, path) = match text.split_once('/') {
            Some((registry, path)) => (registry, Some(path)),
            None => (text, None),
        };
        check_registry(registry)?;
        path.map_or(Ok(()), check_name)?;
        Ok(RepositoryPrefix { registry: registry.to_owned(), path: path.unwrap_or_default().to_owned() })
    }

    /// The number of segments of the repository's name that the prefix fixes. None: the repository is not below it.
    pub fn matched_segments(&self, repository: &Repository) -> Option<usize> {
        if self.registry != repository.registry {
            return None;
        }
        if self.path.is_empty() {
            return Some(0);
        }
        let rest = repository.name.strip_prefix(&*self.path)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| self.path.split('/').count())
    }
}

fn check_registry(registry: &str) -> Result<(), RepositoryError> {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    let url = Url::parse(&format!("https://{registry}/")).ok();
    match url.filter(|_| registry.chars().all(usual)).is_some_and(|url| url.host_str().is_some()) {
        true => Ok(()),
        false => Err(RepositoryError::Registry(registry.to_owned())),
    }
}

fn check_name(name: &str) -> Result<(), RepositoryError> {
    match is_repository_name(name) {
        true => Ok(()),
        false => Err(RepositoryError::Name(name.to_owned())),
    }
}

/// Lower-case words with `.`, `_`, `__` or dashes between them, in segments.
pub fn is_repository_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 255
        && name.split('/').all(|segment| {
            segment.starts_with(letter)
                && segment.ends_with(letter)
                && segment.chars().all(|c| letter(c) || matches!(c, '.' | '_' | '-'))
                && !["..", "._", "_.", "-.", ".-", "_-", "-_", "___"].iter().any(|bad| segment.contains(bad))
        })
}

/// A tag has letters, digits, `_`, `.` and dashes, and begins with neither a dot nor a dash.
pub fn is_tag(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.len() <= 128 && text.starts_with(word) && text.chars().all(|c| word(c) || c == '.' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_parts_are_named() {
        for (registry, name, expected) in [
            ("example.com", "a/b-c__d", None),
            ("localhost:5000", "a", None),
            ("[::1]:5000", "a", None),
            ("", "a", Some("\"\" is not a registry host")),
            ("user@example.com", "a", Some("is not a registry host")),
            ("example.com:port", "a", Some("is not a registry host")),
            ("example.com", "", Some("\"\" is not a repository name")),
            ("example.com", "A", Some("\"A\" is not a repository name")),
            ("example.com", "a/../b", Some("is not a repository name")),
            ("example.com", "a?b", Some("is not a repository name")),
        ] {
            let found = Repository::new(registry, name).err().map(|error| error.to_string());
            match expected {
                None => assert_eq!(found, None, "{registry}/{name}"),
                Some(part) => assert!(found.as_ref().is_some_and(|e| e.contains(part)), "{registry}/{name}: {found:?}"),
            }
        }
        for (tag, valid) in [("latest", true), ("1.0.0_x-y", true), ("", false), (".x", false), ("a:b", false)] {
            assert_eq!(is_tag(tag), valid, "{tag}");
        }
    }

    #[test]
    fn docker_hub_has_another_host() {
        for (registry, host) in [("docker.io", "registry-1.docker.io"), ("a.example:5000", "a.example:5000")] {
            assert_eq!(Repository::new(registry, "x/y").unwrap().host(), host);
        }
    }

    #[test]
    fn prefixes_match_whole_segments() {
        let repository = Repository::new("example.com", "team/modules/vpc").unwrap();
        for (prefix, expected) in [
            ("example.com", Some(0)),
            ("example.com/team", Some(1)),
            ("example.com/team/modules/vpc", Some(3)),
            ("example.com/team/modules/vpc/x", None),
            ("example.com/tea", None),
            ("example.com:443", None),
            ("example.org", None),
        ] {
            let found = RepositoryPrefix::parse(prefix).unwrap();
            assert_eq!(
                (found.matched_segments(&repository), found.to_string()),
                (expected, prefix.to_owned()),
                "{prefix}"
            );
        }
        for bad in ["", "/x", "https://example.com", "example.com/", "example.com/x:tag", "example.com/X"] {
            assert!(RepositoryPrefix::parse(bad).is_err(), "{bad}");
        }
    }
}
