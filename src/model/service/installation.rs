//! `provider_installation` of the CLI configuration: where packages of which providers come from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use base::diag::{Diagnostic, Diagnostics};

use super::arguments::{text, texts, truth};
use super::cli_file::{Item, LineColumn};
use super::pattern::{ProviderPattern, ProviderPatternError};
use super::repository_template::RepositoryTemplate;
use crate::addr::Provider;

/// The summary where a method is not what it should be.
pub const INVALID_METHOD: &str = "Invalid provider_installation method block";

/// The methods in the order in which they are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderInstallation {
    pub methods: Vec<Method>,
    /// Folders with executables that take the place of installed packages.
    pub dev_overrides: BTreeMap<Provider, PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    pub location: Location,
    /// Empty: every provider.
    pub include: Vec<ProviderPattern>,
    pub exclude: Vec<ProviderPattern>,
    /// What a network mirror says of the packages for other platforms may be locked.
    pub trust_all_hashes: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// The provider's own registry.
    Direct,
    FilesystemMirror(PathBuf),
    NetworkMirror(String),
    OciMirror(RepositoryTemplate),
    /// This program: nothing is installed.
    BuiltIn,
}

/// What a block means, and what is wrong with it.
#[derive(Debug, Default)]
pub struct DecodedInstallation {
    pub installation: ProviderInstallation,
    /// Errors in the block itself.
    pub problems: Diagnostics,
    /// Errors in the arguments of methods, which the installer reports.
    pub of_methods: Diagnostics,
}

impl Method {
    pub fn new(location: Location) -> Method {
        Method { location, include: Vec::new(), exclude: Vec::new(), trust_all_hashes: false }
    }

    /// True if this method may supply the provider.
    pub fn applies_to(&self, provider: &Provider) -> bool {
        let included = self.include.is_empty() || self.include.iter().any(|p| p.matches(provider));
        included && !self.exclude.iter().any(|p| p.matches(provider))
    }
}

impl ProviderInstallation {
    /// Whether the provider is taken from this program, if that has it.
    pub fn builds_in(&self, provider: &Provider) -> bool {
        let mut methods = self.methods.iter().filter(|method| method.location == Location::BuiltIn);
        methods.any(|method| method.applies_to(provider))
    }

    /// Reads a `provider_installation` block. `builtins`: the providers that a `builtin` method may name.
    pub fn decode(block: &Item, builtins: &BTreeSet<Provider>) -> DecodedInstallation {
        let mut decoded = DecodedInstallation::default();
        let Some(items) = block.value.as_items().filter(|_| !block.assigned) else {
            decoded.problems.push(invalid_block(block.at, "must not be introduced with an equals sign"));
            return decoded;
        };
        if !block.labels.is_empty() {
            decoded.problems.push(invalid_block(block.at, "must not have any labels"));
        }
        let mut reader = BlockReader { at: block.at, builtins, decoded };
        items.iter().for_each(|item| reader.method(item));
        reader.decoded
    }
}

fn invalid_block(at: LineColumn, why: &str) -> Diagnostic {
    let detail = format!("The provider_installation block at {at} {why}.");
    Diagnostic::error("Invalid provider_installation block", detail)
}

fn invalid(detail: impl Into<String>) -> Diagnostic {
    Diagnostic::error(INVALID_METHOD, detail)
}

struct BlockReader<'a> {
    /// Where the whole block is.
    at: LineColumn,
    builtins: &'a BTreeSet<Provider>,
    decoded: DecodedInstallation,
}

/// A method as it is written: patterns are looked at when everything else is known to be right.
struct WrittenMethod {
    location: Location,
    trust_all_hashes: bool,
    include: Vec<String>,
    exclude: Vec<String>,
}

impl BlockReader<'_> {
    fn method(&mut self, item: &Item) {
        let at = self.at;
        let Some(body) = item.value.as_items().filter(|_| !item.assigned) else {
            let detail = format!("The items inside the provider_installation block at {at} must all be blocks.");
            return self.decoded.problems.push(invalid(detail));
        };
        if !item.labels.is_empty() {
            let detail = format!("The blocks inside the provider_installation block at {at} may not have any labels.");
            return self.decoded.problems.push(invalid(detail));
        }
        if item.key == "dev_overrides" {
            return self.dev_overrides(item, body);
        }
        match self.written(item, body) {
            Ok(written) => {
                if let Some(method) = self.checked(written) {
                    self.decoded.installation.methods.push(method);
                }
            }
            Err(problems) => self.decoded.problems.extend(problems),
        }
    }

    fn written(&self, item: &Item, body: &[Item]) -> Result<WrittenMethod, Diagnostics> {
        let (kind, at) = (item.key.as_str(), self.at);
        let failed =
            |why: &dyn fmt::Display| Diagnostics::from(invalid(format!("Invalid {kind} block at {at}: {why}.")));
        let required = |name: &str| match text(body, name).map_err(|why| failed(&why))? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(failed(&format!("{name:?} argument is required"))),
        };
        let listed = |name: &str| texts(body, name).map_err(|why| failed(&why));
        let (include, exclude) = (listed("include")?, listed("exclude")?);
        let location = match kind {
            "direct" => Location::Direct,
            "filesystem_mirror" => Location::FilesystemMirror(required("path")?.into()),
            "network_mirror" => Location::NetworkMirror(required("url")?),
            "oci_mirror" => {
                let given = required("repository_template")?;
                let include: Result<Vec<_>, _> = include.iter().map(|text| ProviderPattern::parse(text)).collect();
                Location::OciMirror(RepositoryTemplate::parse(&given, include.as_deref().ok(), item.at)?)
            }
            "builtin" => {
                if let Some(why) = self.unknown_builtin(&include) {
                    return Err(failed(&why));
                }
                Location::BuiltIn
            }
            other => {
                return Err(invalid(format!("Unknown provider installation method {other:?} at {}.", item.at)).into());
            }
        };
        let is_mirror = matches!(location, Location::NetworkMirror(_));
        let trust_all_hashes = is_mirror && truth(body, "trust_all_hashes").map_err(|why| failed(&why))?;
        Ok(WrittenMethod { location, trust_all_hashes, include, exclude })
    }

    /// The error of a provider that is named in full and is not there.
    fn unknown_builtin(&self, include: &[String]) -> Option<String> {
        for pattern in include.iter().filter_map(|text| ProviderPattern::parse(text).ok()) {
            let all = [&pattern.host, &pattern.namespace, &pattern.kind];
            if all.contains(&&"*".to_owned()) || self.builtins.iter().any(|provider| pattern.matches(provider)) {
                continue;
            }
            let shown = Provider::new(&pattern.host, &pattern.namespace, &pattern.kind).for_display();
            let known: Vec<String> = self.builtins.iter().map(Provider::for_display).collect();
            return Some(format!("no provider {shown} is built in; those that are: {}", known.join(", ")));
        }
        None
    }

    fn checked(&mut self, written: WrittenMethod) -> Option<Method> {
        let method = || -> Result<Method, Diagnostic> {
            Ok(Method {
                include: patterns(&written.include, "inclusion")?,
                exclude: patterns(&written.exclude, "exclusion")?,
                trust_all_hashes: written.trust_all_hashes,
                location: match written.location {
                    Location::NetworkMirror(url) => Location::NetworkMirror(mirror_url(url)?),
                    other => other,
                },
            })
        }();
        method.map_err(|problem| self.decoded.of_methods.push(problem)).ok()
    }

    fn dev_overrides(&mut self, item: &Item, body: &[Item]) {
        let problems = &mut self.decoded.problems;
        if !self.decoded.installation.methods.is_empty() {
            return problems.push(invalid(format!(
                "The dev_overrides block at {} must appear before all other installation methods, because development \
                 overrides always have the highest priority.",
                item.at
            )));
        }
        for entry in body {
            let path = match text(body, &entry.key) {
                Ok(path) => path.unwrap_or_default(),
                Err(why) => {
                    return problems.push(invalid(format!("Invalid dev_overrides block at {}: {why}.", self.at)));
                }
            };
            match Provider::parse_source(&entry.key) {
                Ok(provider) => {
                    self.decoded.installation.dev_overrides.insert(provider, path.into());
                }
                Err(problem) => problems.push(Diagnostic::error(
                    "Invalid provider installation dev overrides",
                    format!(
                        "The entry {:?} in {} is not a valid provider source string.\n\n{}: {}",
                        entry.key, self.at, problem.summary, problem.detail
                    ),
                )),
            }
        }
    }
}

fn patterns(texts: &[String], what: &str) -> Result<Vec<ProviderPattern>, Diagnostic> {
    let patterns: Result<_, ProviderPatternError> = texts.iter().map(|text| ProviderPattern::parse(text)).collect();
    patterns.map_err(|problem| {
        let detail = format!("CLI config specifies invalid provider {what} patterns: {problem}.");
        Diagnostic::error(format!("Invalid provider source {what} patterns"), detail)
    })
}

/// As it was given, if it is one.
fn mirror_url(given: String) -> Result<String, Diagnostic> {
    // Names and passwords are not shown.
    let shown = given.rsplit_once('@').map_or(given.as_str(), |(_, rest)| rest);
    let invalid = |why: &str| {
        Diagnostic::error(
            "Invalid URL for provider installation source",
            format!("Cannot use {shown:?} as a URL for a network provider mirror: {why}."),
        )
    };
    match given.split_once("://") {
        Some(("https", rest)) if !rest.is_empty() => {}
        _ => return Err(invalid("the mirror must be at an https: URL")),
    }
    url::Url::parse(&given).map_err(|e| invalid(&e.to_string()))?;
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::cli_file;

    fn decode(text: &str) -> DecodedInstallation {
        let items = cli_file::parse(text).unwrap();
        let builtins = ["null", "random"].map(Provider::default_for).into();
        ProviderInstallation::decode(&items[0], &builtins)
    }

    #[test]
    fn methods_in_order() {
        let decoded = decode(
            "provider_installation {\n  dev_overrides { \"hashicorp/null\" = \"/dev\" }\n  filesystem_mirror { path = \"/m\" include = \
             [\"example.com/*/*\"] }\n  builtin { include = [\"hashicorp/random\", \"hashicorp/*\"] }\n  network_mirror { url = \
             \"https://m.example/x\" trust_all_hashes = true }\n  direct { exclude = [\"example.com/*/*\"] }\n}",
        );
        assert!(decoded.problems.is_empty() && decoded.of_methods.is_empty(), "{decoded:?}");
        let provider = Provider::new("example.com", "acme", "foo");
        let installation = decoded.installation;
        let applies: Vec<bool> = installation.methods.iter().map(|m| m.applies_to(&provider)).collect();
        assert_eq!(applies, [true, false, true, false]);
        assert_eq!(installation.dev_overrides.len(), 1);
        assert_eq!(installation.methods[2].location, Location::NetworkMirror("https://m.example/x".into()));
        let trusted: Vec<bool> = installation.methods.iter().map(|m| m.trust_all_hashes).collect();
        assert_eq!(trusted, [false, false, true, false]);
        let builds_in = |kind| installation.builds_in(&Provider::default_for(kind));
        assert!(builds_in("random") && builds_in("local") && !installation.builds_in(&provider));
    }

    #[test]
    fn json_has_the_same_blocks() {
        let decoded = decode(
            r#"{"provider_installation": {"dev_overrides": {"a/b": "/x"}, "filesystem_mirror": [{"path": "/1"}],
                "network_mirror": [{"url": "https://m.example/"}], "filesystem_mirror": [{"path": "/2"}], "direct": {}}}"#,
        );
        assert!(decoded.problems.is_empty() && decoded.of_methods.is_empty(), "{decoded:?}");
        let locations: Vec<Location> = decoded.installation.methods.into_iter().map(|m| m.location).collect();
        let folder = |path: &str| Location::FilesystemMirror(path.into());
        let url = Location::NetworkMirror("https://m.example/".into());
        assert_eq!(locations, [folder("/1"), url, folder("/2"), Location::Direct]);
    }

    /// Texts observed on the reference 1.11.4.
    #[test]
    fn errors_name_the_block() {
        let cases = [
            ("{ foo {} }", "Unknown provider installation method \"foo\" at 1:25."),
            ("{ filesystem_mirror {} }", "Invalid filesystem_mirror block at 1:1: \"path\" argument is required."),
            ("{ network_mirror { url = \"\" } }", "Invalid network_mirror block at 1:1: \"url\" argument is required."),
            (
                "{ direct { include = \"a/b\" } }",
                "Invalid direct block at 1:1: At 1:44: unknown slice type: *ast.LiteralType.",
            ),
            (
                "{ filesystem_mirror { path = [\"a\"] } }",
                "Invalid filesystem_mirror block at 1:1: At 1:52: root.path: unknown type for string *ast.ListType.",
            ),
            (
                "{ direct {}\n dev_overrides { \"a/b\" = \"/x\" } }",
                "The dev_overrides block at 2:2 must appear before all other installation methods, because development \
                 overrides always have the highest priority.",
            ),
            (
                "{ dev_overrides { foo { x = 1 } } }",
                "Invalid dev_overrides block at 1:1: At 1:45: root.foo: unknown type for string *ast.ObjectType.",
            ),
            ("{ x = 1 }", "The items inside the provider_installation block at 1:1 must all be blocks."),
            (
                "{ direct \"x\" {} }",
                "The blocks inside the provider_installation block at 1:1 may not have any labels.",
            ),
            ("\"x\" { direct {} }", "The provider_installation block at 1:1 must not have any labels."),
            ("= { direct = {} }", "The provider_installation block at 1:1 must not be introduced with an equals sign."),
            (
                "{ builtin { include = [\"hashicorp/aws\"] } }",
                "Invalid builtin block at 1:1: no provider hashicorp/aws is built in; those that are: hashicorp/null, \
                 hashicorp/random.",
            ),
        ];
        for (text, expected) in cases {
            let problems: Vec<String> =
                decode(&format!("provider_installation {text}")).problems.into_iter().map(|d| d.detail).collect();
            assert_eq!(problems, [expected], "{text}");
        }
        for fine in ["{}", "{ direct { x = 1 } }", "{ direct {}\n direct {} }", "{ filesystem_mirror { path = 5 } }"] {
            let decoded = decode(&format!("provider_installation {fine}"));
            assert!(decoded.problems.is_empty(), "{fine}: {decoded:?}");
        }
    }

    #[test]
    fn the_installer_speaks_of_patterns_and_addresses() {
        let cases = [
            (
                "direct { include = [\"*/x/y\"] }",
                "CLI config specifies invalid provider inclusion patterns: invalid provider matching pattern \"*/x/y\": hostname \
                 can be a wildcard only if both namespace and provider type are also wildcards.",
            ),
            (
                "direct { exclude = [\"a\", \"b\"] }",
                "CLI config specifies invalid provider exclusion patterns: invalid provider matching pattern \"a\": must have \
                 either two or three slash-separated segments.",
            ),
            (
                "network_mirror { url = \"http://a.example/\" }",
                "Cannot use \"http://a.example/\" as a URL for a network provider mirror: the mirror must be at an https: URL.",
            ),
        ];
        for (text, expected) in cases {
            let decoded = decode(&format!("provider_installation {{ {text} }}"));
            let found: Vec<String> = decoded.of_methods.into_iter().map(|d| d.detail).collect();
            assert_eq!((found, decoded.installation.methods.len()), (vec![expected.to_owned()], 0), "{text}");
        }
    }
}
