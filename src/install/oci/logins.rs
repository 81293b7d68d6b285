//! The login for a repository: the most specific one that the settings, files of other programs and credential helpers have.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use base::env::{self, Environment};
use base::files::named;
use base::secret::Secret;
use base::stop::Stop;
use base64::Engine;
use model::service::oci_credentials::{OciCredentials, OciLogin};
use model::service::oci_repository::{DOCKER_HUB, Repository, RepositoryPrefix};
use serde::Deserialize;

use super::{OciError, helper};

/// Where logins are looked for, in the order in which they count among equally specific ones.
#[derive(Default)]
pub struct Logins {
    settings: OciCredentials,
    files: Vec<PathBuf>,
    /// Missing or invalid files are errors: the settings name them.
    files_are_named: bool,
    /// Folders with helper programs.
    search_path: String,
}

/// How much of a repository's address a login is for: nothing, its registry, or so many segments of its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Specificity {
    Global,
    Registry,
    Segments(usize),
}

impl From<usize> for Specificity {
    fn from(segments: usize) -> Specificity {
        if segments == 0 { Specificity::Registry } else { Specificity::Segments(segments) }
    }
}

/// `config.json` of Docker, and files of the same format.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(default)]
    auths: HashMap<String, Option<Auth>>,
    /// Helpers of registries.
    #[serde(default)]
    cred_helpers: HashMap<String, String>,
    /// The helper for all others.
    #[serde(default)]
    creds_store: String,
}

#[derive(Deserialize)]
struct Auth {
    #[serde(default)]
    auth: Option<String>,
    #[serde(default)]
    identitytoken: Option<String>,
}

impl Logins {
    pub fn new(settings: OciCredentials, environment: &Environment) -> Logins {
        let defaults = &settings.defaults;
        let files = match &defaults.files {
            _ if !defaults.discover => Vec::new(),
            Some(files) => files.clone(),
            None => usual_files(environment),
        };
        Logins {
            files,
            files_are_named: defaults.files.is_some(),
            search_path: environment.get(env::PATH).unwrap_or_default().to_owned(),
            settings,
        }
    }

    /// The login for a repository; of equally specific ones the first. None: no place has one.
    pub async fn of(&self, repository: &Repository, stop: &Stop) -> Result<Option<OciLogin>, OciError> {
        let mut best: Option<(Specificity, OciLogin)> = None;
        for (specificity, login) in self.candidates(repository)? {
            if best.as_ref().is_none_or(|(known, _)| specificity > *known) {
                best = Some((specificity, login));
            }
        }
        match best {
            Some((_, OciLogin::Helper(name))) => {
                helper::ask(&name, &repository.registry, &self.search_path, stop).await
            }
            other => Ok(other.map(|(_, login)| login)),
        }
    }

    fn candidates(&self, repository: &Repository) -> Result<Vec<(Specificity, OciLogin)>, OciError> {
        let blocks = self.settings.blocks.iter();
        let mut all: Vec<(Specificity, OciLogin)> = blocks
            .filter_map(|(prefix, login)| Some((prefix.matched_segments(repository)?.into(), login.clone())))
            .collect();
        let global = self.settings.defaults.helper.iter();
        all.extend(global.map(|name| (Specificity::Global, OciLogin::Helper(name.clone()))));
        for file in &self.files {
            match read(file) {
                Ok(config) => all.extend(config.logins(repository)),
                Err(why) if self.files_are_named => {
                    return Err(OciError::Failed(format!(
                        "failed to read a file of docker_style_config_files in oci_default_credentials: {why}"
                    )));
                }
                // These files belong to other programs.
                Err(why) => tracing::debug!("oci: no credentials in {}: {why}", file.display()),
            }
        }
        Ok(all)
    }
}

impl Config {
    fn logins(&self, repository: &Repository) -> Vec<(Specificity, OciLogin)> {
        let segments = |kept: &str| RepositoryPrefix::parse(bare(kept)).ok()?.matched_segments(repository);
        let mut all: Vec<(Specificity, OciLogin)> = Vec::new();
        for (kept, auth) in &self.auths {
            if let (Some(segments), Some(login)) = (segments(kept), auth.as_ref().and_then(Auth::login)) {
                all.push((segments.into(), login));
            }
        }
        let own = self.cred_helpers.get(&repository.registry).filter(|name| is_helper_name(name));
        all.extend(own.map(|name| (Specificity::Registry, OciLogin::Helper(name.clone()))));
        if is_helper_name(&self.creds_store) {
            all.push((Specificity::Global, OciLogin::Helper(self.creds_store.clone())));
        }
        all
    }
}

impl Auth {
    fn login(&self) -> Option<OciLogin> {
        if let Some(token) = self.identitytoken.as_ref().filter(|token| !token.is_empty()) {
            return Some(OciLogin::Tokens { access: None, refresh: Secret::new(token.as_str()) });
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(self.auth.as_deref()?).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (name, password) = text.split_once(':')?;
        (!name.is_empty()).then(|| OciLogin::Password { username: name.to_owned(), password: Secret::new(password) })
    }
}

/// A name that cannot lead to another folder.
fn is_helper_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\\'])
}

/// `https://registry.example/v1/` is an old way to write `registry.example`, and `index.docker.io` that of Docker Hub.
fn bare(kept: &str) -> &str {
    let without = kept.strip_prefix("https://").or_else(|| kept.strip_prefix("http://"));
    let address = match without {
        Some(address) => address.split('/').next().unwrap_or(address),
        None => kept.trim_end_matches('/'),
    };
    if address == "index.docker.io" { DOCKER_HUB } else { address }
}

/// The error names the file and shows nothing of its content.
fn read(file: &Path) -> Result<Config, String> {
    let text = std::fs::read(file).map_err(|e| named(e, "open", file).to_string())?;
    serde_json::from_slice(&text).map_err(|e| {
        format!("{} is not a JSON file of credentials (line {}, column {})", file.display(), e.line(), e.column())
    })
}

/// The files in which programs for containers keep credentials.
fn usual_files(environment: &Environment) -> Vec<PathBuf> {
    let dir = |name: &str| environment.non_empty(name).map(PathBuf::from);
    let home = if cfg!(windows) { dir(env::USERPROFILE) } else { dir(env::HOME) };
    let in_home = |name: &str| Some(home.as_ref()?.join(name));
    let of_session =
        if cfg!(any(windows, target_os = "macos")) { in_home(".config") } else { dir(env::XDG_RUNTIME_DIR) };
    let of_user = dir(env::XDG_CONFIG_HOME).or_else(|| in_home(".config"));
    let docker = dir(env::DOCKER_CONFIG).or_else(|| in_home(".docker"));
    let containers = of_session.into_iter().chain(of_user).map(|dir| dir.join("containers/auth.json"));
    let mut files: Vec<PathBuf> =
        containers.chain(docker.map(|dir| dir.join("config.json"))).chain(in_home(".dockercfg")).collect();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use base::diag::Diagnostics;
    use model::service::cli_file;

    use super::*;

    fn pair(text: &str) -> String {
        base64::engine::general_purpose::STANDARD.encode(text)
    }

    fn logins(settings: &str, files: Vec<PathBuf>) -> Logins {
        let (mut found, mut diagnostics) = (OciCredentials::default(), Diagnostics::new());
        for item in cli_file::parse(settings).unwrap() {
            match item.key.as_str() {
                "oci_credentials" => found.read_block(&item, &mut diagnostics),
                _ => found.read_defaults(&item, Path::new("/"), &mut diagnostics),
            }
        }
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let logins = Logins::new(found, &Environment::of([("HOME", "/nowhere")]));
        if files.is_empty() { logins } else { Logins { files, ..logins } }
    }

    /// The user or the helper that counts for a repository.
    fn user(logins: &Logins, address: &str) -> Option<String> {
        let (registry, name) = address.split_once('/').unwrap();
        let repository = Repository::new(registry, name).unwrap();
        let candidates = logins.candidates(&repository).unwrap();
        // As in `of`: the last of the largest from behind is the first.
        let best = candidates.into_iter().rev().max_by_key(|(specificity, _)| *specificity);
        best.map(|(_, login)| match login {
            OciLogin::Password { username, .. } => username,
            OciLogin::Tokens { refresh, .. } => refresh.reveal().to_owned(),
            OciLogin::Helper(name) => format!("helper {name}"),
        })
    }

    #[test]
    fn the_most_specific_login_counts() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("auth.json"), dir.path().join("config.json"));
        let text = serde_json::json!({
            "auths": {
                "a.example": {"auth": pair("host:1")},
                "a.example/team": {"auth": pair("team:2")},
                "https://b.example/v1/": {"auth": pair("old:3")},
                "https://index.docker.io/v1/": {"auth": pair("hub:6")},
                "c.example": {},
                "d.example": null,
                "e.example": {"auth": pair("x:"), "identitytoken": "identity"},
            },
            "credHelpers": {"f.example": "own", "g.example": "../evil"},
        });
        std::fs::write(&first, text.to_string()).unwrap();
        let text = serde_json::json!({
            "auths": {"a.example/team/deep": {"auth": pair("deep:4")}, "a.example/team": {"auth": pair("late:5")}},
            "credsStore": "store",
        });
        std::fs::write(&second, text.to_string()).unwrap();
        let files = vec![dir.path().join("none.json"), first, second];
        let block =
            |prefix: &str| format!("oci_credentials \"{prefix}\" {{ username = \"block\" password = \"p\" }}\n");
        let settings = block("a.example") + &block("h.example/x");
        let found = logins(&settings, files.clone());
        for (address, expected) in [
            ("a.example/x/y", "block"),
            ("a.example/team/y", "team"),
            ("a.example/team/deep/z", "deep"),
            ("a.example/teams/y", "block"),
            ("b.example/y", "old"),
            ("docker.io/x/y", "hub"),
            ("c.example/y", "helper store"),
            ("d.example/y", "helper store"),
            ("e.example/y", "identity"),
            ("f.example/y", "helper own"),
            ("g.example/y", "helper store"),
            ("h.example/x/y", "block"),
            ("h.example/y", "helper store"),
        ] {
            assert_eq!(user(&found, address).as_deref(), Some(expected), "{address}");
        }
        let found = logins("oci_default_credentials { docker_credentials_helper = \"mine\" }", files);
        assert_eq!(user(&found, "z.example/y").as_deref(), Some("helper mine"), "settings count before files");
        assert_eq!(user(&found, "b.example/y").as_deref(), Some("old"));
    }

    #[test]
    fn settings_choose_the_files() {
        let files = |settings: &str, variables: &[(&str, &str)]| -> Vec<String> {
            let (found, environment) = (logins(settings, Vec::new()).settings, Environment::of(variables.to_vec()));
            Logins::new(found, &environment).files.iter().map(|file| file.display().to_string()).collect()
        };
        let home = [("HOME", "/h"), ("USERPROFILE", "/h")];
        if cfg!(target_os = "linux") {
            assert_eq!(
                files("", &[("XDG_RUNTIME_DIR", "/run"), home[0]]),
                [
                    "/run/containers/auth.json",
                    "/h/.config/containers/auth.json",
                    "/h/.docker/config.json",
                    "/h/.dockercfg"
                ]
            );
            assert_eq!(
                files("", &[("XDG_CONFIG_HOME", "/c"), ("DOCKER_CONFIG", "/d")]),
                ["/c/containers/auth.json", "/d/config.json"]
            );
        }
        let named = "oci_default_credentials { docker_style_config_files = [\"/x.json\"] }";
        assert_eq!(files(named, &home), ["/x.json"]);
        assert_eq!(files("oci_default_credentials { docker_style_config_files = [] }", &home), [""; 0]);
        assert_eq!(files("oci_default_credentials { discover_ambient_credentials = false }", &home), [""; 0]);
    }

    #[test]
    fn only_named_files_must_be_valid() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("auth.json");
        std::fs::write(&file, "{\"auths\": {\"a.example\": {\"auth\": \"s3cret\"").unwrap();
        let repository = Repository::new("a.example", "x").unwrap();
        let mut found = logins("", vec![file.clone()]);
        assert!(found.candidates(&repository).unwrap().is_empty());
        found.files_are_named = true;
        let Err(OciError::Failed(why)) = found.candidates(&repository) else { panic!("no error") };
        assert!(why.contains("auth.json is not a JSON file of credentials") && !why.contains("s3cret"), "{why}");
        found.files = vec![dir.path().join("none.json")];
        let Err(OciError::Failed(why)) = found.candidates(&repository) else { panic!("no error") };
        assert!(why.contains("none.json"), "{why}");
    }
}
