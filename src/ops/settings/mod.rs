//! The settings of the program: the CLI configuration file and the variables that overrule it.
//!
//! Owns what the file may say and how its mistakes are worded. Never knows how providers are installed.

mod hcl1;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::env::{self, Environment};
use crate::model::addr;
use hcl1::{Item, Value};

/// What the CLI configuration says, with the environment's word above it.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub plugin_cache_dir: Option<PathBuf>,
    /// Packages of the cache may be used although the lock file has no checksum for them.
    pub plugin_cache_may_break_lock_file: bool,
    /// None: the implied methods.
    pub installation: Option<Vec<Method>>,
    /// Folders that hold a provider under development.
    pub dev_overrides: BTreeMap<addr::Provider, PathBuf>,
    /// Where the user's own files live: plugins, credentials.
    pub config_dir: Option<PathBuf>,
}

/// One way to get providers, with the patterns of those that it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    pub place: Place,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Direct,
    FilesystemMirror(PathBuf),
    NetworkMirror(String),
}

/// Reads the settings. Mistakes do not stop a command: what was understood counts.
pub fn load(environment: &Environment) -> (Settings, Diagnostics) {
    let mut settings = Settings { config_dir: config_dir(environment), ..Settings::default() };
    let mut diagnostics = Diagnostics::new();
    for path in files(environment, &settings, &mut diagnostics) {
        match std::fs::read_to_string(&path) {
            Ok(text) => read(&path, &text, environment, &mut settings, &mut diagnostics),
            Err(e) => diagnostics.error("Unable to read CLI configuration file", crate::base::files::named(e, "open", &path).to_string()),
        }
    }
    if let Some(dir) = environment.non_empty(env::TF_PLUGIN_CACHE_DIR) {
        settings.plugin_cache_dir = Some(dir.into());
    }
    if let Some(text) = environment.non_empty(env::TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE) {
        settings.plugin_cache_may_break_lock_file = text != "0";
    }
    if let Some(dir) = &settings.plugin_cache_dir
        && let Err(e) = std::fs::metadata(dir)
    {
        let why = match e.kind() {
            std::io::ErrorKind::NotFound => "no such file or directory".to_string(),
            _ => e.to_string(),
        };
        let shown = dir.display();
        diagnostics.error(format!("The specified plugin cache dir {shown} cannot be opened: stat {shown}: {why}"), "");
        settings.plugin_cache_dir = None;
    }
    (settings, diagnostics)
}

/// `~/.terraform.d`
fn config_dir(environment: &Environment) -> Option<PathBuf> {
    home(environment).map(|home| home.join(".terraform.d"))
}

fn home(environment: &Environment) -> Option<PathBuf> {
    let name = if cfg!(windows) { env::APPDATA } else { env::HOME };
    environment.non_empty(name).map(PathBuf::from)
}

fn files(environment: &Environment, settings: &Settings, diagnostics: &mut Diagnostics) -> Vec<PathBuf> {
    let named = environment.non_empty(env::TF_CLI_CONFIG_FILE).or(environment.non_empty(env::TERRAFORM_CONFIG));
    if let Some(path) = named {
        let path = PathBuf::from(path);
        if path.exists() {
            return vec![path];
        }
        diagnostics.warning(
            "Unable to open CLI configuration file",
            format!("The CLI configuration file at {:?} does not exist.", path.display().to_string()),
        );
        return Vec::new();
    }
    let mut found = Vec::new();
    let name = if cfg!(windows) { "terraform.rc" } else { ".terraformrc" };
    found.extend(home(environment).map(|home| home.join(name)).filter(|path| path.is_file()));
    let entries = settings.config_dir.as_ref().and_then(|dir| std::fs::read_dir(dir).ok());
    let mut more: Vec<PathBuf> = entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    more.retain(|path| path.extension().is_some_and(|e| e == "tfrc") && path.is_file());
    more.sort();
    found.extend(more);
    found
}

fn read(path: &Path, text: &str, environment: &Environment, settings: &mut Settings, diagnostics: &mut Diagnostics) {
    let items = match hcl1::parse(text) {
        Ok(items) => items,
        Err(why) => {
            diagnostics.error(format!("Error parsing {}: {why}", path.display()), "");
            return;
        }
    };
    let mut blocks = 0;
    for item in &items {
        match (item.keys[0].as_str(), &item.value) {
            ("plugin_cache_dir", value) => {
                settings.plugin_cache_dir = value.text().filter(|t| !t.is_empty()).map(|t| expand(&t, environment).into());
            }
            ("plugin_cache_may_break_dependency_lock_file", value) => {
                settings.plugin_cache_may_break_lock_file = value.text().is_some_and(|t| t == "true");
            }
            ("provider_installation", Value::Object(body)) => {
                blocks += 1;
                installation(body, settings, diagnostics);
            }
            _ => {}
        }
    }
    if blocks > 1 {
        diagnostics.error("No more than one provider_installation block may be specified", "");
    }
}

/// `$NAME` and `${NAME}` replaced by what the environment holds.
fn expand(text: &str, environment: &Environment) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, end) = match after.strip_prefix('{').and_then(|inner| Some((inner, inner.find('}')?))) {
            Some((inner, end)) => (&inner[..end], end + 2),
            None => {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                (&after[..end], end)
            }
        };
        out.push_str(environment.get(name).unwrap_or_default());
        rest = &after[end..];
    }
    out + rest
}

const BAD_METHOD: &str = "Invalid provider_installation method block";

fn installation(body: &[Item], settings: &mut Settings, diagnostics: &mut Diagnostics) {
    let mut methods = Vec::new();
    for item in body {
        let (kind, place) = (item.keys[0].as_str(), item.position);
        let Value::Object(inside) = &item.value else {
            diagnostics.error(BAD_METHOD, format!("The items inside the provider_installation block at {place} must all be blocks."));
            continue;
        };
        let location = match kind {
            "direct" => Place::Direct,
            "filesystem_mirror" => match text_of(inside, "path") {
                Some(path) => Place::FilesystemMirror(path.into()),
                None => {
                    diagnostics.error(BAD_METHOD, format!("Invalid filesystem_mirror block at {place}: \"path\" argument is required."));
                    continue;
                }
            },
            "network_mirror" => match text_of(inside, "url") {
                Some(url) => Place::NetworkMirror(url),
                None => {
                    diagnostics.error(BAD_METHOD, format!("Invalid network_mirror block at {place}: \"url\" argument is required."));
                    continue;
                }
            },
            "dev_overrides" => {
                if !methods.is_empty() {
                    diagnostics.error(BAD_METHOD, format!(
                        "The dev_overrides block at {place} must appear before all other installation methods, because development overrides always have the highest priority.",
                    ));
                    continue;
                }
                overrides(inside, place, settings, diagnostics);
                continue;
            }
            other => {
                diagnostics.error(BAD_METHOD, format!("Unknown provider installation method {other:?} at {place}."));
                continue;
            }
        };
        methods.push(Method { place: location, include: list_of(inside, "include"), exclude: list_of(inside, "exclude") });
    }
    settings.installation = Some(methods);
}

fn overrides(items: &[Item], place: hcl1::Position, settings: &mut Settings, diagnostics: &mut Diagnostics) {
    for item in items {
        let key = &item.keys[0];
        match (provider(key), item.value.text()) {
            (Some(addr), Some(path)) => {
                let path = std::path::absolute(&path).unwrap_or_else(|_| path.into());
                settings.dev_overrides.insert(addr, path);
            }
            (None, _) => diagnostics.push(Diagnostic::error(
                "Invalid provider installation dev overrides",
                format!(
                    "The entry {key:?} in {place} is not a valid provider source string.\n\nInvalid provider source string: \
                     The \"source\" attribute must be in the format \"[hostname/][namespace/]name\"",
                ),
            )),
            (Some(_), None) => diagnostics.error(
                "Invalid provider installation dev overrides",
                format!("The entry {key:?} in {place} must be the path of a folder."),
            ),
        }
    }
}

/// A provider's source address as users write it.
pub fn provider(text: &str) -> Option<addr::Provider> {
    let parts: Vec<&str> = text.split('/').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return None;
    }
    let lower = |text: &str| text.to_ascii_lowercase();
    match parts.as_slice() {
        [kind] => Some(addr::Provider::default_for(&lower(kind))),
        [namespace, kind] => {
            Some(addr::Provider::new(addr::provider::DEFAULT_HOST, &lower(namespace), &lower(kind)))
        }
        [host, namespace, kind] => Some(addr::Provider::new(&lower(host), &lower(namespace), &lower(kind))),
        _ => None,
    }
}

fn text_of(items: &[Item], name: &str) -> Option<String> {
    items.iter().find(|item| item.keys[0] == name).and_then(|item| item.value.text()).filter(|text| !text.is_empty())
}

fn list_of(items: &[Item], name: &str) -> Vec<String> {
    match items.iter().find(|item| item.keys[0] == name).map(|item| &item.value) {
        Some(Value::List(list)) => list.iter().filter_map(Value::text).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> (Settings, Vec<String>) {
        let (mut settings, mut diagnostics) = (Settings::default(), Diagnostics::new());
        let environment = Environment::of([("CACHE", "/c")]);
        read(Path::new("x.tfrc"), text, &environment, &mut settings, &mut diagnostics);
        (settings, diagnostics.into_iter().map(|d| format!("{}: {}", d.summary, d.detail)).collect())
    }

    #[test]
    fn installation_methods() {
        let (found, errors) = settings(
            "plugin_cache_dir = \"$CACHE/${CACHE}/x\"\n# c\nprovider_installation {\n  dev_overrides {\n    \"a/b\" = \"/dev\"\n  }\n  \
             filesystem_mirror {\n    path = \"/m\"\n    include = [\"*/*/*\", \"x/y\"]\n  }\n  direct { exclude = [\"x/y\"] }\n}\n",
        );
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(found.plugin_cache_dir, Some("/c//c/x".into()));
        assert_eq!(found.dev_overrides.keys().next().map(ToString::to_string).as_deref(), Some("registry.terraform.io/a/b"));
        let methods = found.installation.unwrap();
        assert_eq!(methods[0].place, Place::FilesystemMirror("/m".into()));
        assert_eq!(methods[0].include, ["*/*/*", "x/y"]);
        assert_eq!(methods[1], Method { place: Place::Direct, include: vec![], exclude: vec!["x/y".into()] });
    }

    #[test]
    fn mistakes_are_worded_as_the_reference_does() {
        let cases = [
            (
                "provider_installation { foo {} }",
                "Invalid provider_installation method block: Unknown provider installation method \"foo\" at 1:25.",
            ),
            ("x { ", "Error parsing x.tfrc: At 1:4: object expected closing RBRACE got: EOF: "),
            (
                "provider_installation { direct { } dev_overrides { \"x/y\" = \"/tmp\" } }",
                "Invalid provider_installation method block: The dev_overrides block at 1:36 must appear before all other installation methods, because development overrides always have the highest priority.",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(settings(text).1, [expected], "{text}");
        }
    }
}
