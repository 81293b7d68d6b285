//! Where a module comes from, as its source address says: a folder beside its caller, a registry, or elsewhere.

use std::path::{Component, Path, PathBuf};

/// A source address, sorted by how it is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// `./x` or `../x`, relative to the caller's folder.
    Local(String),
    /// `namespace/name/system` with an optional host before and `//subfolder` behind.
    Registry(String),
    /// Everything else: version control, archives, object stores.
    Remote(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// It would make sense with `./` before it.
    MaybeRelative,
    Invalid(String),
}

/// A source address without a version.
pub fn parse(source: &str) -> Result<ModuleSource, SourceError> {
    if is_local(source) {
        return Ok(ModuleSource::Local(source.to_owned()));
    }
    if source.is_empty() {
        return Err(SourceError::Invalid("invalid source address: ".to_owned()));
    }
    let registry = parse_registry(source);
    if registry.is_ok() || source.split_once("//").is_some_and(|(_, folder)| leads_outside(folder)) {
        return registry;
    }
    if looks_remote(source) { Ok(ModuleSource::Remote(source.to_owned())) } else { Err(SourceError::MaybeRelative) }
}

/// The address of the package, without the folder inside it.
pub fn without_folder(source: &str) -> &str {
    let scheme = source.find("://").map_or(0, |at| at + 3);
    source[scheme..].find("//").map_or(source, |at| &source[..scheme + at])
}

/// A source address that must name a registry.
pub fn parse_registry(source: &str) -> Result<ModuleSource, SourceError> {
    let invalid = |text: &str| Err(SourceError::Invalid(text.to_owned()));
    if is_local(source) {
        return invalid(&format!("can't use local directory {source:?} as a module registry address"));
    }
    let address = match source.split_once("//") {
        Some((_, folder)) if leads_outside(folder) => {
            return invalid(&format!("subdirectory path {folder:?} leads outside of the module package"));
        }
        Some((address, _)) => address,
        None => source,
    };
    let parts: Vec<&str> = address.split('/').collect();
    let (host, rest) = match parts.as_slice() {
        [_, _, _] => (None, parts.as_slice()),
        [host, rest @ ..] if parts.len() == 4 => (Some(*host), rest),
        _ => {
            return invalid(
                "a module registry source address must have either three or four slash-separated components",
            );
        }
    };
    if let Some(host) = host
        && (!host.contains('.') && !host.contains(':') && host != "localhost")
    {
        return invalid("invalid module registry hostname: must contain at least one dot");
    }
    if host.is_some_and(|h| ["github.com", "bitbucket.org", "gitlab.com"].contains(&h)) {
        let host = host.unwrap_or_default();
        return invalid(&format!(
            "can't use {host:?} as a module registry host, because it's reserved for installing directly from version control repositories"
        ));
    }
    let name_ok = |s: &str| {
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !s.is_empty() && s.len() <= 64 && s.chars().all(inner) && !s.starts_with(['-', '_']) && !s.ends_with(['-', '_'])
    };
    let rules = "must be between one and 64 characters, including ASCII letters, digits, dashes, and underscores, where dashes and underscores may not be the prefix or suffix";
    for (what, part) in [("namespace", rest[0]), ("module name", rest[1])] {
        if !name_ok(part) {
            return invalid(&format!("invalid {what} {part:?}: {rules}"));
        }
    }
    let system = rest[2];
    if system.is_empty() || system.len() > 64 || !system.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()) {
        return invalid(&format!(
            "invalid target system {system:?}: must be between one and 64 ASCII letters or digits"
        ));
    }
    Ok(ModuleSource::Registry(source.to_owned()))
}

fn leads_outside(folder: &str) -> bool {
    let mut depth = 0;
    Path::new(folder).components().any(|c| {
        match c {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
        depth < 0
    })
}

fn is_local(source: &str) -> bool {
    ["./", "../", ".\\", "..\\"].iter().any(|p| source.starts_with(p)) || source == "." || source == ".."
}

fn looks_remote(source: &str) -> bool {
    let has_scheme = source.contains("://") || source.contains("::");
    let hosted = ["github.com/", "bitbucket.org/", "gitlab.com/", "git@"].iter().any(|p| source.starts_with(p));
    let scp_like = source.split_once('@').is_some_and(|(user, rest)| !user.contains('/') && rest.contains(':'));
    let object_store = source.contains(".amazonaws.com/") || source.contains("www.googleapis.com/");
    has_scheme || hosted || scp_like || object_store || source.starts_with('/')
}

/// The folder of a local module, with `.` and `..` resolved as far as that goes by text alone.
pub fn join_local(caller: &Path, source: &str) -> PathBuf {
    let mut joined = PathBuf::new();
    for component in caller.join(source).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match joined.components().next_back() {
                Some(Component::Normal(_)) => {
                    joined.pop();
                }
                _ => joined.push(".."),
            },
            other => joined.push(other),
        }
    }
    if joined.as_os_str().is_empty() { PathBuf::from(".") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources() {
        assert_eq!(parse("./a"), Ok(ModuleSource::Local("./a".into())));
        assert!(matches!(parse("hashicorp/consul/aws"), Ok(ModuleSource::Registry(_))));
        assert!(matches!(parse("git::https://example.com/x.git?ref=v1"), Ok(ModuleSource::Remote(_))));
        assert_eq!(parse("modules/a"), Err(SourceError::MaybeRelative));
        assert_eq!(join_local(Path::new("a/b"), "../c"), PathBuf::from("a/c"));
        assert_eq!(join_local(Path::new("."), "../../c"), PathBuf::from("../../c"));
    }
}
