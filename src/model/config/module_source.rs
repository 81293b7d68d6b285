//! Where a module comes from, as its source address says: a folder beside its caller, a registry, or elsewhere.
//!
//! Owns the written forms and the normal form of each. Never sends requests.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::service::{Host, HostError};

/// The summary of an address that a version makes one of a registry, and that is none.
pub const INVALID_REGISTRY_SOURCE: &str = "Invalid registry module source address";
/// The summary of what cannot be an address.
pub const INVALID_SOURCE: &str = "Invalid module source address";
/// The summary of a folder that should hold a module and cannot be read.
pub const UNREADABLE_FOLDER: &str = "Unreadable module directory";

/// A source address in its normal form, which is what it prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// `./x` or `../x`, relative to the caller's folder.
    Local(String),
    /// `[host/]namespace/name/system` with an optional `//folder` behind.
    Registry(RegistrySource),
    /// Everything else: version control, archives, object stores, folders.
    Remote(RemoteSource),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrySource {
    pub host: Host,
    pub namespace: String,
    pub name: String,
    pub system: String,
    /// The folder inside the package; empty for the package's own.
    pub folder: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSource {
    /// `METHOD::URL`, or a URL whose scheme is the method. May hold secrets: show it through `base::secret::redacted`.
    pub package: String,
    /// The folder inside the package, which may be a pattern; empty for the package's own.
    pub folder: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceError {
    /// It would make sense with `./` before it.
    MaybeRelative,
    Invalid(String),
}

impl RegistrySource {
    /// Host, namespace, name and system.
    pub fn package(&self) -> String {
        format!("{}/{}", self.host.for_display(), self.path())
    }

    /// What the registry protocol calls it.
    pub fn path(&self) -> String {
        format!("{}/{}/{}", self.namespace, self.name, self.system)
    }
}

impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModuleSource::Local(path) => f.write_str(path),
            ModuleSource::Registry(source) => source.fmt(f),
            ModuleSource::Remote(source) => source.fmt(f),
        }
    }
}

impl fmt::Display for RegistrySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.package())?;
        if self.folder.is_empty() { Ok(()) } else { write!(f, "//{}", self.folder) }
    }
}

/// The folder goes before the query.
impl fmt::Display for RemoteSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.folder.as_str(), self.package.split_once('?')) {
            ("", _) => f.write_str(&self.package),
            (folder, Some((base, query))) => write!(f, "{base}//{folder}?{query}"),
            (folder, None) => write!(f, "{}//{folder}", self.package),
        }
    }
}

/// A source address without a version.
pub fn parse(source: &str) -> Result<ModuleSource, SourceError> {
    if is_local(source) {
        return Ok(ModuleSource::Local(normal_local(source)));
    }
    if source.is_empty() {
        return Err(SourceError::Invalid("invalid source address: ".to_owned()));
    }
    if let Ok(registry) = parse_registry(source) {
        return Ok(registry);
    }
    parse_remote(source).map(ModuleSource::Remote)
}

/// A source address that must name a registry.
pub fn parse_registry(source: &str) -> Result<ModuleSource, SourceError> {
    let invalid = |text: String| Err(SourceError::Invalid(text));
    if is_local(source) {
        return invalid(format!("can't use local directory {source:?} as a module registry address"));
    }
    let (address, folder) = split_folder(source);
    if leads_outside(&folder) {
        return invalid(format!("subdirectory path {folder:?} leads outside of the module package"));
    }
    let parts: Vec<&str> = address.split('/').collect();
    let (host, [namespace, name, system]) = match parts.as_slice() {
        [namespace, name, system] => (None, [*namespace, *name, *system]),
        [host, namespace, name, system] => (Some(*host), [*namespace, *name, *system]),
        _ => {
            return invalid(
                "a module registry source address must have either three or four slash-separated components".to_owned(),
            );
        }
    };
    let host = registry_host(host.unwrap_or(crate::addr::provider::default_host()))?;
    for (what, part) in [("namespace", namespace), ("module name", name)] {
        if !is_name(part) {
            return invalid(format!(
                "invalid {what} {part:?}: must be between one and 64 characters, including ASCII letters, digits, dashes, and \
                 underscores, where dashes and underscores may not be the prefix or suffix"
            ));
        }
    }
    if system.is_empty() || system.len() > 64 || !system.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
        return invalid(format!(
            "invalid target system {system:?}: must be between one and 64 ASCII letters or digits"
        ));
    }
    let [namespace, name, system] = [namespace, name, system].map(str::to_owned);
    Ok(ModuleSource::Registry(RegistrySource { host, namespace, name, system, folder }))
}

fn registry_host(given: &str) -> Result<Host, SourceError> {
    let host = Host::parse(given).map_err(|e| {
        SourceError::Invalid(match e {
            HostError::Invalid => format!("invalid module registry hostname {given:?}"),
            HostError::Punycode => format!(
                "invalid module registry hostname {given:?}; internationalized domain names must be given as direct unicode \
                 characters, not in punycode"
            ),
        })
    })?;
    if !host.as_str().contains('.') {
        return Err(SourceError::Invalid("invalid module registry hostname: must contain at least one dot".to_owned()));
    }
    if ["github.com", "bitbucket.org"].contains(&host.as_str()) {
        return Err(SourceError::Invalid(format!(
            "can't use {:?} as a module registry host, because it's reserved for installing directly from version control repositories",
            host.as_str()
        )));
    }
    Ok(host)
}

fn is_name(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    !text.is_empty()
        && text.len() <= 64
        && text.bytes().all(inner)
        && !text.starts_with(['-', '_'])
        && !text.ends_with(['-', '_'])
}

/// A source address that must say itself where its package is.
pub fn parse_remote(source: &str) -> Result<RemoteSource, SourceError> {
    let (address, mut folder) = split_folder(source);
    let outside = |folder: &str| format!("subdirectory path {folder:?} leads outside of the module package");
    if leads_outside(&folder) {
        return Err(SourceError::Invalid(outside(&folder)));
    }
    let (package, more) = split_folder(&normal_package(&address)?);
    if !more.is_empty() {
        folder = if folder.is_empty() { more } else { clean(&format!("{more}/{folder}")) };
        if leads_outside(&folder) {
            return Err(SourceError::Invalid(outside(&folder)));
        }
    }
    Ok(RemoteSource { package, folder })
}

/// The address of the package, without the folder inside it, and that folder in its shortest form.
pub fn split_folder(source: &str) -> (String, String) {
    // An address may have another one in its query.
    let (address, query) = match source.find('?') {
        Some(at) => source.split_at(at),
        None => (source, ""),
    };
    let scheme = address.find("://").map_or(0, |at| at + 3);
    let Some(at) = address[scheme..].find("//").map(|at| at + scheme) else {
        return (source.to_owned(), String::new());
    };
    let folder = &address[at + 2..];
    (format!("{}{query}", &address[..at]), if folder.is_empty() { String::new() } else { clean(folder) })
}

/// The method that an address names before `::`, and the rest.
pub fn split_method(address: &str) -> (Option<&str>, &str) {
    match address.split_once("::") {
        Some((method, rest))
            if !method.is_empty() && !rest.is_empty() && method.bytes().all(|b| b.is_ascii_alphanumeric()) =>
        {
            (Some(method), rest)
        }
        _ => (None, address),
    }
}

/// A package address with the shorthands written out.
fn normal_package(address: &str) -> Result<String, SourceError> {
    let (method, rest) = split_method(address);
    if has_scheme(rest) {
        return Ok(address.to_owned());
    }
    let long = match forge(rest)?.or_else(|| scp(rest)) {
        Some(found) => found,
        None => match object_store(rest)? {
            Some(found) => found,
            None if rest.starts_with('/') => format!("file://{rest}"),
            None => return Err(SourceError::MaybeRelative),
        },
    };
    Ok(match method {
        Some(method) => format!("{method}::{}", split_method(&long).1),
        None => long,
    })
}

fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// `github.com/user/repo[/folder...]` and its like.
fn forge(address: &str) -> Result<Option<String>, SourceError> {
    let (path, query) = match address.split_once('?') {
        Some((path, query)) => (path, format!("?{query}")),
        None => (address, String::new()),
    };
    let dot_git = |path: &str| if path.ends_with(".git") { "" } else { ".git" };
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["github.com", user, repository, folder @ ..] => {
            let git = dot_git(repository);
            let folder = if folder.is_empty() { String::new() } else { format!("//{}", folder.join("/")) };
            Ok(Some(format!("git::https://github.com/{user}/{repository}{git}{folder}{query}")))
        }
        ["github.com", _] => Err(SourceError::Invalid("GitHub URLs should be github.com/username/repo".to_owned())),
        ["bitbucket.org", _, ..] | ["gitlab.com", _, _] => {
            Ok(Some(format!("git::https://{path}{}{query}", dot_git(path))))
        }
        _ => Ok(None),
    }
}

/// `git@host:path`, the form that git shares with scp.
fn scp(address: &str) -> Option<String> {
    let (host, path) = address.strip_prefix("git@")?.split_once(':')?;
    if host.is_empty() || host.contains('@') || path.is_empty() {
        return None;
    }
    let path = path.strip_prefix('/').unwrap_or(path);
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, format!("?{}", sorted_query(query))),
        None => (path, String::new()),
    };
    Some(format!("git::ssh://git@{host}/{path}{query}"))
}

/// Parameters sorted by name.
fn sorted_query(query: &str) -> String {
    let mut parameters: Vec<&str> = query.split('&').filter(|p| !p.is_empty()).collect();
    parameters.sort_by_key(|p| p.split('=').next().unwrap_or_default());
    parameters.join("&")
}

/// Hosts of object stores without a scheme before them.
fn object_store(address: &str) -> Result<Option<String>, SourceError> {
    let parts: Vec<&str> = address.split('/').collect();
    if address.contains("googleapis.com/") {
        let [_, _, version, bucket, object @ ..] = parts.as_slice() else {
            return Err(SourceError::Invalid("URL is not a valid GCS URL".to_owned()));
        };
        if object.is_empty() {
            return Err(SourceError::Invalid("URL is not a valid GCS URL".to_owned()));
        }
        let object = object.join("/");
        return Ok(Some(format!("gcs::https://www.googleapis.com/storage/{version}/{bucket}/{object}")));
    }
    if !address.contains(".amazonaws.com/") {
        return Ok(None);
    }
    let rest = parts[1..].join("/");
    let host: Vec<&str> = parts[0].split('.').collect();
    match host.as_slice() {
        [region, _, _] => Ok(Some(format!("s3::https://{region}.amazonaws.com/{rest}"))),
        [bucket, region, _, _] => Ok(Some(format!("s3::https://{region}.amazonaws.com/{bucket}/{rest}"))),
        [bucket, "s3", region, _, _] => Ok(Some(format!("s3::https://s3.{region}.amazonaws.com/{bucket}/{rest}"))),
        _ => Err(SourceError::Invalid("URL is not a valid S3 URL".to_owned())),
    }
}

/// A slashed path without `.`, doubled slashes, and `..` wherever something precedes it.
pub fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if path.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (path.starts_with('/'), joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

pub fn leads_outside(clean: &str) -> bool {
    clean == ".." || clean.starts_with("../")
}

/// True for the source of a module in a folder of the same package.
pub fn is_local(source: &str) -> bool {
    ["./", "../", ".\\", "..\\"].iter().any(|p| source.starts_with(p)) || source == "." || source == ".."
}

fn normal_local(source: &str) -> String {
    let clean = clean(&source.replace('\\', "/"));
    if clean.starts_with("../") { clean } else { format!("./{clean}") }
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

    /// What the reference shows of them when it begins to download.
    #[test]
    fn normal_forms() {
        let cases = [
            ("./a", "./a"),
            ("./loc/../loc//", "./loc"),
            ("../", "./.."),
            ("..\\x", "../x"),
            ("hashicorp/consul/aws", "registry.terraform.io/hashicorp/consul/aws"),
            ("a/b/c//sub/../x", "registry.terraform.io/a/b/c//x"),
            ("EXAMPLE.com:0443/a/b/c", "example.com/a/b/c"),
            ("gitlab.com/a/b/c", "gitlab.com/a/b/c"),
            ("github.com/a/b", "git::https://github.com/a/b.git"),
            ("github.com/a/b//sub?ref=v1", "git::https://github.com/a/b.git//sub?ref=v1"),
            ("github.com/a/b/x//y?ref=v1", "git::https://github.com/a/b.git//x/y?ref=v1"),
            ("github.com/a/b.git//sub", "git::https://github.com/a/b.git//sub"),
            ("bitbucket.org/a/b", "git::https://bitbucket.org/a/b.git"),
            ("gitlab.com/a/b//sub", "git::https://gitlab.com/a/b.git//sub"),
            ("git@github.com:a/b.git//sub?ref=x", "git::ssh://git@github.com/a/b.git//sub?ref=x"),
            (
                "git::git@example.com:a/b.git//m/n?ref=x&depth=1",
                "git::ssh://git@example.com/a/b.git//m/n?depth=1&ref=x",
            ),
            (
                "git::https://x.com/a/b.git//sub/dir?ref=v1&depth=1",
                "git::https://x.com/a/b.git//sub/dir?ref=v1&depth=1",
            ),
            ("https://x.com/a.zip//sub", "https://x.com/a.zip//sub"),
            ("https://x.com/a?u=http://y//z", "https://x.com/a?u=http://y//z"),
            ("bucket.s3.amazonaws.com/foo/bar.zip", "s3::https://s3.amazonaws.com/bucket/foo/bar.zip"),
            ("s3.amazonaws.com/bucket/foo", "s3::https://s3.amazonaws.com/bucket/foo"),
            ("b.s3.eu-west-1.amazonaws.com/k", "s3::https://s3.eu-west-1.amazonaws.com/b/k"),
            ("www.googleapis.com/storage/v1/bucket/foo", "gcs::https://www.googleapis.com/storage/v1/bucket/foo"),
            ("/abs/x//sub", "file:///abs/x//sub"),
            ("foo::https://x", "foo::https://x"),
            ("C:\\foo", "C:\\foo"),
        ];
        for (written, normal) in cases {
            assert_eq!(parse(written).map(|s| s.to_string()), Ok(normal.to_owned()), "{written}");
        }
    }

    #[test]
    fn what_is_no_source() {
        let relative =
            ["modules/a", "127.0.0.1:1/a/b.git", "git::127.0.0.1:1/a", "user@h.example:p", "localhost/a/b/c"];
        for text in relative.into_iter().chain(["a/b/c//sub?x", "xn--80akhbyknj4f.com/a/b/c"]) {
            assert_eq!(parse(text), Err(SourceError::MaybeRelative), "{text}");
        }
        for text in ["github.com/a", "git::https://x.com/x.git//../y", "a/b/c//x/../../y", "https://x.com/a//.."] {
            assert!(matches!(parse(text), Err(SourceError::Invalid(_))), "{text}");
        }
        for text in ["localhost:8443/a/b/c", "github.com/a/b/c", "a/b", "a/b/C", "-a/b/c", "a//b/c", "./x"] {
            assert!(parse_registry(text).is_err(), "{text}");
        }
        assert_eq!(join_local(Path::new("a/b"), "../c"), PathBuf::from("a/c"));
        assert_eq!(join_local(Path::new("."), "../../c"), PathBuf::from("../../c"));
    }
}
