//! The settings of the program: the CLI configuration file, and environment variables with priority over it.
//!
//! Owns the settings of the file and their errors. Never knows how providers are installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::diag::Diagnostics;
use base::env::{self, Environment};
use install::authenticate::demand::Demand;
use model::addr;
use model::deps::Version;
use model::service::{CredentialSettings, HostServices, OciCredentials, ProviderInstallation, cli_file};

use super::built_in::public_built_ins;

/// The CLI configuration; environment variables have priority.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub plugin_cache_dir: Option<PathBuf>,
    /// Packages of the cache may be used although the lock file has no checksum for them.
    pub plugin_cache_may_break_lock_file: bool,
    /// None: the implied methods.
    pub installation: Option<ProviderInstallation>,
    /// Errors in installation methods; invalid methods are left out.
    pub installer_problems: Diagnostics,
    /// The folder for the user's plugins and credentials.
    pub config_dir: Option<PathBuf>,
    pub credentials: CredentialSettings,
    pub oci_credentials: OciCredentials,
    /// The required signers of packages.
    pub signatures: Demand,
    /// Expired keys of registries are refused.
    pub refuse_expired_keys: bool,
    /// Services of hosts from `host` blocks, which replace discovery.
    pub hosts: Vec<HostServices>,
}

impl Settings {
    /// Folders that hold a provider under development.
    pub fn dev_overrides(&self) -> BTreeMap<addr::Provider, PathBuf> {
        self.installation.as_ref().map(|installation| installation.dev_overrides.clone()).unwrap_or_default()
    }

    /// The providers that this program serves under their public addresses, with the versions that they behave like.
    pub fn built_in(&self) -> BTreeMap<addr::Provider, Version> {
        let mut served = public_built_ins();
        served.retain(|provider, _| self.installation.as_ref().is_some_and(|methods| methods.builds_in(provider)));
        served
    }
}

/// Reads the settings. Errors do not stop a command: what was understood counts.
pub fn load(environment: &Environment) -> (Settings, Diagnostics) {
    let mut settings = Settings { config_dir: config_dir(environment), ..Settings::default() };
    let mut diagnostics = Diagnostics::new();
    for path in files(environment, &settings, &mut diagnostics) {
        tracing::debug!("reading CLI configuration file {}", path.display());
        match std::fs::read_to_string(&path) {
            Ok(text) => read(&path, &text, environment, &mut settings, &mut diagnostics),
            Err(e) => diagnostics
                .error("Unable to read CLI configuration file", base::files::named(e, "open", &path).to_string()),
        }
    }
    settings.credentials.read_environment(environment.with_prefix(env::TF_TOKEN_));
    if let Some(dir) = environment.non_empty(env::TF_PLUGIN_CACHE_DIR) {
        settings.plugin_cache_dir = Some(dir.into());
    }
    if let Some(text) = environment.non_empty(env::TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE) {
        settings.plugin_cache_may_break_lock_file = text != "0";
    }
    signature_rules(environment, &mut settings, &mut diagnostics);
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

/// An invalid value means the strictest setting.
fn signature_rules(environment: &Environment, settings: &mut Settings, diagnostics: &mut Diagnostics) {
    if let Some(text) = environment.non_empty(env::TERRANE_REQUIRE_SIGNATURES) {
        settings.signatures = Demand::parse(text).unwrap_or_else(|why| {
            let name = env::TERRANE_REQUIRE_SIGNATURES;
            diagnostics.error("Invalid demand for signatures", format!("The environment variable {name}: {why}."));
            Demand::Official
        });
    }
    let refuse = environment.non_empty(env::TERRANE_REFUSE_EXPIRED_KEYS).is_some_and(|text| !is_no(text));
    settings.refuse_expired_keys = refuse || environment.get(env::OPENTOFU_ENFORCE_GPG_EXPIRATION) == Some("true");
}

fn is_no(text: &str) -> bool {
    matches!(text, "0" | "false")
}

/// `~/.terraform.d`; on Windows `terraform.d` in the user's settings folder.
fn config_dir(environment: &Environment) -> Option<PathBuf> {
    let name = if cfg!(windows) { "terraform.d" } else { ".terraform.d" };
    home(environment).map(|home| home.join(name))
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
    let is_settings = |name: &str| name.ends_with(".tfrc") || name.ends_with(".tfrc.json");
    more.retain(|path| path.file_name().is_some_and(|name| is_settings(&name.to_string_lossy())) && path.is_file());
    more.sort();
    found.extend(more);
    found
}

fn read(path: &Path, text: &str, environment: &Environment, settings: &mut Settings, diagnostics: &mut Diagnostics) {
    let items = match cli_file::parse(text) {
        Ok(items) => items,
        Err(why) => {
            diagnostics.error(format!("Error parsing {}: {why}", path.display()), "");
            return;
        }
    };
    let mut blocks = 0;
    for item in &items {
        match item.key.as_str() {
            "plugin_cache_dir" => {
                let dir = item.value.as_str().filter(|dir| !dir.is_empty());
                settings.plugin_cache_dir = dir.map(|dir| expand(dir, environment).into());
            }
            "plugin_cache_may_break_dependency_lock_file" => {
                settings.plugin_cache_may_break_lock_file = item.value.as_bool().unwrap_or_default();
            }
            "provider_installation" => {
                blocks += 1;
                let builtins = public_built_ins().into_keys().collect();
                let decoded = ProviderInstallation::decode(item, &builtins);
                diagnostics.extend(decoded.problems);
                // Of several blocks the first counts.
                if settings.installation.is_none() {
                    settings.installation = Some(decoded.installation);
                    settings.installer_problems = decoded.of_methods;
                }
            }
            "credentials" => settings.credentials.read_block(item, diagnostics),
            "credentials_helper" => settings.credentials.read_helper(item, diagnostics),
            "oci_credentials" => settings.oci_credentials.read_block(item, diagnostics),
            "oci_default_credentials" => {
                let folder = path.parent().unwrap_or(Path::new(""));
                settings.oci_credentials.read_defaults(item, folder, diagnostics);
            }
            "host" => {
                for block in item.labelled() {
                    match HostServices::from_block(&block) {
                        Ok(services) => settings.hosts.push(services),
                        Err(why) => diagnostics.error(why.to_string(), ""),
                    }
                }
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

/// A provider's source address as users write it.
pub fn provider(text: &str) -> Option<addr::Provider> {
    let parts: Vec<&str> = text.split('/').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return None;
    }
    let lower = |text: &str| text.to_ascii_lowercase();
    match parts.as_slice() {
        [kind] => Some(addr::Provider::default_for(&lower(kind))),
        [namespace, kind] => Some(addr::Provider::new(addr::provider::default_host(), &lower(namespace), &lower(kind))),
        [host, namespace, kind] => Some(addr::Provider::new(&lower(host), &lower(namespace), &lower(kind))),
        _ => None,
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
    fn settings_are_read() {
        let text = "plugin_cache_dir = \"$CACHE/${CACHE}/x\"\n# c\nprovider_installation {\n  dev_overrides {\n    \
                    \"a/b\" = \"/dev\"\n  }\n  direct {}\n}\n";
        let (found, errors) = settings(text);
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(found.plugin_cache_dir, Some("/c//c/x".into()));
        assert_eq!(found.dev_overrides().len(), 1);
    }

    /// Each example of the page is valid, and together they use every setting.
    #[test]
    fn examples_of_the_cli_configuration_page_are_valid() {
        let page = include_str!("../../../docs/cli-configuration.md");
        let mut all = Vec::new();
        for block in page.split("\n```").skip(1).step_by(2) {
            let (_, text) = block.split_once('\n').unwrap();
            let (found, errors) = settings(text);
            assert_eq!(errors, Vec::<String>::new(), "in this example:\n{text}");
            assert!(found.installer_problems.is_empty(), "{:?}", found.installer_problems);
            all.push(found);
        }
        let [plain, installation, json] = all.as_slice() else { panic!("{} examples", all.len()) };
        for found in [plain, json] {
            assert!(found.plugin_cache_dir.is_some() && found.hosts.len() == 1);
            assert!(found.credentials.blocks.len() == 1 && found.credentials.helper.is_some());
            assert!(!found.oci_credentials.blocks.is_empty());
        }
        assert_eq!(plain.oci_credentials.blocks.len(), 3);
        assert!(plain.oci_credentials.defaults.helper.is_some() && plain.oci_credentials.defaults.files.is_some());
        assert_eq!(json.installation.as_ref().unwrap().methods.len(), 2);
        assert_eq!(installation.installation.as_ref().unwrap().methods.len(), 5);
        assert_eq!(installation.dev_overrides().len(), 1);
    }

    #[test]
    fn demands_on_signatures_err_on_the_strict_side() {
        for (name, value, expected) in [
            ("TERRANE_REQUIRE_SIGNATURES", "", (Demand::None, false, 0)),
            ("TERRANE_REQUIRE_SIGNATURES", "partner", (Demand::Partner, false, 0)),
            ("TERRANE_REQUIRE_SIGNATURES", "yes", (Demand::Official, false, 1)),
            ("TERRANE_REFUSE_EXPIRED_KEYS", "1", (Demand::None, true, 0)),
            ("TERRANE_REFUSE_EXPIRED_KEYS", "false", (Demand::None, false, 0)),
            ("OPENTOFU_ENFORCE_GPG_EXPIRATION", "true", (Demand::None, true, 0)),
            ("OPENTOFU_ENFORCE_GPG_EXPIRATION", "1", (Demand::None, false, 0)),
        ] {
            let (mut settings, mut diagnostics) = (Settings::default(), Diagnostics::new());
            signature_rules(&Environment::of([(name, value)]), &mut settings, &mut diagnostics);
            let found = (settings.signatures, settings.refuse_expired_keys, diagnostics.into_iter().count());
            assert_eq!(found, expected, "{name}={value}");
        }
    }

    #[test]
    fn credentials_are_read_from_both_forms() {
        let text = "credentials \"a.example\" {\n  token = \"x\"\n}\ncredentials_helper \"h\" {}\n\
                    host \"b.example\" {\n  services = { \"modules.v1\" = \"https://m.example/\" }\n}\n";
        let (found, errors) = settings(text);
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!((found.credentials.blocks.len(), found.hosts.len()), (1, 1));
        let (found, errors) =
            settings(r#"{"credentials": {"a.example": {"token": "x"}, "b.example": {"token": "y"}}}"#);
        assert_eq!(errors, Vec::<String>::new());
        assert_eq!(found.credentials.blocks.len(), 2);
    }

    #[test]
    fn credentials_are_read_from_all_places() {
        use model::service::Host;
        use model::service::credentials::Known;
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".terraform.d");
        std::fs::create_dir(&folder).unwrap();
        let block = |host: &str| format!("credentials {host:?} {{ token = \"block\" }}\n");
        let rc = block("env.example") + &block("Block.example") + "credentials_helper \"h\" {}\n";
        std::fs::write(home.path().join(".terraformrc"), rc).unwrap();
        let kept = r#"{"credentials": {"file.example": {"token": "file"}, "env-two.example": {"token": "file"}}}"#;
        std::fs::write(folder.join("credentials.tfrc.json"), kept).unwrap();
        let environment = Environment::of([
            ("HOME", home.path().to_str().unwrap()),
            ("TF_TOKEN_env_example", "env"),
            ("TF_TOKEN_env__two_example", "env"),
            ("TF_TOKEN_env-three_example", "env"),
            ("TF_TOKEN_xn____caf__dma_fr", "env"),
        ]);
        let (settings, problems) = load(&environment);
        assert!(problems.is_empty(), "{problems:?}");
        let cases = [
            ("env.example", Some("env")),
            ("env-two.example", Some("env")),
            ("env-three.example", Some("env")),
            ("caf\u{e9}.fr", Some("env")),
            ("block.example", Some("block")),
            ("file.example", Some("file")),
            ("helper.example", None),
        ];
        for (host, token) in cases {
            let known = settings.credentials.of(&Host::parse(host).unwrap());
            let expected = token.map_or(Known::AskHelper, |token| Known::Token(base::secret::Secret::new(token)));
            assert_eq!(known, expected, "{host}");
        }
    }
}
