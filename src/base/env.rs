//! Every environment variable that the program reads, declared once, with what it does.
//!
//! Owns access to the environment: commands take one [`Environment`] at the start and hand it down, tests make their
//! own. Never interprets values.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::dialect::Dialect;

/// A variable that the program reads.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// The name; one that ends in an underscore is a prefix.
    pub name: &'static str,
    pub doc: &'static str,
}

macro_rules! variables {
    ($($(#[doc = $doc:literal])+ $name:ident $(= $text:literal)?;)+) => {
        $($(#[doc = $doc])+ #[allow(non_upper_case_globals)] pub const $name: &str = variables!(@name $name $($text)?);)+

        /// Those of this file.
        pub const ALL: &[Variable] = &[$(Variable { name: $name, doc: concat!($($doc, "\n"),+) }),+];
    };
    (@name $name:ident) => { stringify!($name) };
    (@name $name:ident $text:literal) => { $text };
}

mod services;
mod telemetry;

pub use services::*;
pub use telemetry::*;

variables! {
    /// The name to go by in texts: `terrane`, `terraform` or `tofu`, above the name that the program was started by.
    TERRANE_NAME;
    /// The release of Terraform, or as `tofu` of OpenTofu, that the run is compatible with, above the configuration: a version,
    /// or a constraint, whose newest release is taken. Without it: a version in a file `.terraform-version` (as `tofu`
    /// `.opentofu-version`) in the working directory or above it, or else the newest release that meets `required_version`.
    TERRANE_COMPATIBLE_VERSION;
    /// Log level of everything: TRACE, DEBUG, INFO, WARN, ERROR, OFF; or JSON for TRACE as lines of JSON.
    TF_LOG;
    /// Log level of the program itself, above TF_LOG.
    TF_LOG_CORE;
    /// Log level of all plugins, above TF_LOG.
    TF_LOG_PROVIDER;
    /// Log level of one plugin (name in capitals, `-` as `_`), above TF_LOG_PROVIDER.
    TF_LOG_PROVIDER_ = "TF_LOG_PROVIDER_";
    /// A file to append the log to, instead of standard error. Does not switch logging on.
    TF_LOG_PATH;
    /// Value of the input variable that the rest of the name says.
    TF_VAR_ = "TF_VAR_";
    /// Whether to ask for missing input: `0` or `false` means no.
    TF_INPUT;
    /// The workspace to use, above the one selected.
    TF_WORKSPACE;
    /// Rules of `-deny` for `plan`, `apply` and `destroy`, with blanks between them, in addition to the flag's.
    TERRANE_DENY;
    /// Value of the input that the rest of the name says, in the files of `-policies` and in those that `policy test` tests.
    TFPOLICY_INPUT_ = "TFPOLICY_INPUT_";
    /// The host of HCP Terraform or Terraform Enterprise, where the `cloud` block does not say it (app.terraform.io).
    TF_CLOUD_HOSTNAME;
    /// The organization, where the `cloud` block does not say it.
    TF_CLOUD_ORGANIZATION;
    /// The project, where the `cloud` block does not say it.
    TF_CLOUD_PROJECT;
    /// If it is set, operations run here, also those of workspaces whose runs are remote.
    TF_FORCE_LOCAL_BACKEND;
    /// The run of HCP Terraform that this process carries out; states are stored as its results.
    TFE_RUN_ID;
    /// What is encrypted and how: the inside of an `encryption` block, in native syntax or JSON, laid over the configuration's.
    TF_ENCRYPTION;
    /// Where to keep what belongs to a working directory, instead of `.terraform`.
    TF_DATA_DIR;
    /// Any value: leave out advice, suggestions, summaries and the status area; commands without `-input`, such as `output`, ask for
    /// nothing.
    TF_IN_AUTOMATION;
    /// The CLI configuration file to read instead of `~/.terraformrc`.
    TF_CLI_CONFIG_FILE;
    /// The older name of TF_CLI_CONFIG_FILE.
    TERRAFORM_CONFIG;
    /// Set by services of continuous integration. Any value but `0` and `false`: a terminal gets the same output as a pipe, and `test` records
    /// no snapshots.
    CI;
    /// The file that `test -report=github` adds its summary to. Set by GitHub Actions.
    GITHUB_STEP_SUMMARY;
    /// The folder of the repository, for the paths in annotations of `test -report=github`. Set by GitHub Actions.
    GITHUB_WORKSPACE;
    /// Arguments to insert after the command's name, in every command.
    TF_CLI_ARGS;
    /// Arguments to insert in the command that the rest of the name says.
    TF_CLI_ARGS_ = "TF_CLI_ARGS_";
    /// The folder of the plugin cache, which all working directories share.
    TF_PLUGIN_CACHE_DIR;
    /// Accept packages from the plugin cache that the lock file has no checksum for.
    TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE;
    /// JSON that says how to reach plugin processes which run already.
    TF_REATTACH_PROVIDERS;
    /// Any value: talk to plugins without TLS.
    TF_DISABLE_PLUGIN_TLS;
    /// Token of the host that the rest of the name says: `_` for a dot, `__` for a dash.
    TF_TOKEN_ = "TF_TOKEN_";
    /// How often failed registry requests are retried (1).
    TF_REGISTRY_DISCOVERY_RETRY;
    /// How long a registry may take to answer, in seconds (10); a download may pause three times as long.
    TF_REGISTRY_CLIENT_TIMEOUT;
    /// More to say in the `User-Agent` of requests.
    TF_APPEND_USER_AGENT;
    /// The signer that installed providers must have: `signed` (any key that the registry lists), `partner`, `official`.
    TERRANE_REQUIRE_SIGNATURES;
    /// Any value but `0` and `false`: keys that sign providers count only until they expire.
    TERRANE_REFUSE_EXPIRED_KEYS;
    /// OpenTofu's name for TERRANE_REFUSE_EXPIRED_KEYS: `true`.
    OPENTOFU_ENFORCE_GPG_EXPIRATION;
    /// Checksums of modules: `off` neither checks nor records any, `verify` records none.
    TERRANE_MODULE_CHECKSUMS;
    /// How large a module's package may be when unpacked, in MiB (2048).
    TERRANE_MODULE_SIZE_LIMIT;
    /// How large a state may be that is read from a store, in MiB (4096).
    TERRANE_STATE_SIZE_LIMIT;
    /// How large answers of credential and metadata services and of helper programs may be, in MiB (16).
    TERRANE_ANSWER_SIZE_LIMIT;
    /// How many iterations the key of an encrypted state or plan may be derived with (1000000000).
    TERRANE_PBKDF2_LIMIT;
    /// How large a provider's package may be when unpacked, in MiB (4096).
    TERRANE_PROVIDER_SIZE_LIMIT;
    /// The password of the key that signs releases of providers, for `provider package`.
    TERRANE_SIGNING_PASSWORD;
    /// The file with the OpenPGP public keys, in armor, that may sign the index of versions, for `version -check`.
    TERRANE_RELEASE_KEY;
    /// The file with logins of hosts that modules are downloaded from, instead of `~/.netrc`.
    NETRC;
    /// The program and options that git uses for SSH; a source's `sshkey` is added to it.
    GIT_SSH_COMMAND;
    /// The proxy for requests over HTTP.
    HTTP_PROXY;
    /// The same as HTTP_PROXY, which is above it.
    http_proxy;
    /// The proxy for requests over HTTPS.
    HTTPS_PROXY;
    /// The same as HTTPS_PROXY, which is above it.
    https_proxy;
    /// The proxy for requests without a more specific proxy.
    ALL_PROXY;
    /// The same as ALL_PROXY, which is above it.
    all_proxy;
    /// Hosts, domains and networks that no proxy leads to, separated by commas.
    NO_PROXY;
    /// The same as NO_PROXY, which is above it.
    no_proxy;
    /// Accepted and ignored: nothing here phones home.
    CHECKPOINT_DISABLE;
    /// Any value: apply never reuses a provider process that plan has configured.
    TERRANE_NO_PROVIDER_REUSE;
    /// `off`: provider schemas are neither taken from the cache nor kept in it.
    TERRANE_SCHEMA_CACHE;
    /// How many snapshots of each workspace's state are kept for `state history`, and how many versions of the store it
    /// lists (20). `0`: none.
    TERRANE_STATE_HISTORY;
    /// How long a plugin may take to start, in seconds (60).
    TERRANE_PLUGIN_START_TIMEOUT;
    /// How long a provider may take to send its schemas, in seconds (no limit).
    TERRANE_PLUGIN_SCHEMA_TIMEOUT;
    /// How long a provider may take to be configured, in seconds (no limit).
    TERRANE_PLUGIN_CONFIGURE_TIMEOUT;
    /// What shows the progress of commands that have the flag `-progress`, which is above it: `auto`, `tty`, `plain` or `none`.
    TERRANE_PROGRESS;
    /// `off`: how long operations take is not kept, and there are no estimates.
    TERRANE_ESTIMATES;
    /// The kind of the terminal; `dumb`: it gets the same output as a pipe, without a status area.
    TERM;
    /// The name of the terminal program: some show the progress of commands in the task bar.
    TERM_PROGRAM;
    /// What the terminal program can do, as iTerm2 sets it.
    TERM_FEATURES;
    /// Set by Windows Terminal, which shows the progress of commands in the task bar.
    WT_SESSION;
    /// `ON` in ConEmu, which shows the progress of commands in the task bar.
    ConEmuANSI;
    /// The version of the library of GNOME's terminals: since 7900, these show the progress of commands.
    VTE_VERSION;
    /// Any value: no colours (<https://no-color.org>), above all that asks for them, and no status area.
    NO_COLOR;
    /// Any value but `0`: called as `terrane`, colours also where the output is no terminal. As `terraform` and `tofu` it has them anyway.
    FORCE_COLOR;
    /// The same as FORCE_COLOR.
    CLICOLOR_FORCE;
    /// The user's home folder.
    HOME;
    /// The user's settings folder on Windows.
    APPDATA;
    /// The folder of the user's data on Windows.
    LOCALAPPDATA;
    /// The user's home folder on Windows.
    USERPROFILE;
    /// Where users keep data.
    XDG_DATA_HOME;
    /// Where programs keep what they have seen, instead of `~/.local/state`: how long operations take.
    XDG_STATE_HOME;
    /// Where systems keep data for everybody, separated by colons.
    XDG_DATA_DIRS;
    /// Where users keep what belongs to a session: passwords for OCI registries in `containers/auth.json`.
    XDG_RUNTIME_DIR;
    /// Where programs keep their settings, instead of `~/.config`: for `-install-autocomplete`, and passwords for OCI registries in
    /// `containers/auth.json`.
    XDG_CONFIG_HOME;
    /// A command line, set by a shell that wants to complete it.
    COMP_LINE;
    /// The place of the cursor in COMP_LINE, in bytes.
    COMP_POINT;
    /// The shell that wants candidates, where they take another form than for bash: `zsh`, `fish` or `powershell`.
    COMP_SHELL;
    /// The folder whose `config.json` has passwords for OCI registries, instead of `~/.docker`.
    DOCKER_CONFIG;
    /// Folders with programs.
    PATH;
    /// The endings of the names of programs on Windows.
    PATHEXT;
    /// Any value: Windows does not search programs in the working directory.
    NoDefaultCurrentDirectoryInExePath;
    /// The working directory under the name that the shell has for it, with its symbolic links.
    PWD;
    /// The user's name on Windows.
    USERNAME;
    /// Where the SSH agent listens.
    SSH_AUTH_SOCK;
    /// The plugin handshake's proof that a host started this process.
    TF_PLUGIN_MAGIC_COOKIE;
    /// Lowest port for a plugin to listen on, where there are no Unix sockets.
    PLUGIN_MIN_PORT;
    /// Highest port for a plugin to listen on.
    PLUGIN_MAX_PORT;
    /// Protocol versions that the host of a plugin speaks.
    PLUGIN_PROTOCOL_VERSIONS;
    /// Where a plugin makes its socket.
    PLUGIN_UNIX_SOCKET_DIR;
    /// The group that may use a plugin's socket.
    PLUGIN_UNIX_SOCKET_GROUP;
    /// The certificate that the host of a plugin presents.
    PLUGIN_CLIENT_CERT;
    /// The number of the process that started a built-in plugin: only it may connect.
    TERRANE_PLUGIN_PEER;
    /// Set for the built-in provider "terraform" if the configuration has a block `store` of `terraform_data`.
    TERRANE_DATA_STORES;
    /// Whether the host of a plugin multiplexes its connections.
    PLUGIN_MULTIPLEX_GRPC;
    /// Any value: acceptance tests of providers in Rust run. Otherwise they are skipped.
    TF_ACC;
    /// The program that acceptance tests run, instead of `terrane`, `terraform` or `tofu` on PATH.
    TF_ACC_TERRAFORM_PATH;
    /// Where acceptance tests make their working directories, instead of the system's folder for temporary files.
    TF_ACC_TEMP_DIR;
    /// Any value: acceptance tests keep their working directories and report their paths.
    TF_ACC_PERSIST_WORKING_DIR;
    /// Log level of the program and the providers in acceptance tests.
    TF_ACC_LOG;
    /// The file for the program's log in acceptance tests, instead of standard error.
    TF_ACC_LOG_PATH;
    /// The host of providers whose address in an acceptance test has none, instead of the default of the program.
    TF_ACC_PROVIDER_HOST;
    /// The namespace of providers whose address in an acceptance test has none (hashicorp).
    TF_ACC_PROVIDER_NAMESPACE;
}

/// All of them, for the documentation.
pub fn all() -> impl Iterator<Item = &'static Variable> {
    ALL.iter().chain(services::ALL).chain(telemetry::ALL)
}

/// The variables of one command, the process's own or a test's, and its dialect: [`Dialect::Terrane`] unless it is said.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: Arc<BTreeMap<String, String>>,
    dialect: Dialect,
}

impl Environment {
    /// The process's environment as it is now; what is not UTF-8 has its odd bytes replaced.
    pub fn process() -> Environment {
        let pairs = std::env::vars_os();
        Environment::of(pairs.map(|(k, v)| (k.to_string_lossy().into_owned(), v.to_string_lossy().into_owned())))
    }

    pub fn of(pairs: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Environment {
        let variables = pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        Environment { variables: Arc::new(variables), dialect: Dialect::default() }
    }

    /// The same variables for a command of another dialect.
    pub fn speaking(self, dialect: Dialect) -> Environment {
        Environment { dialect, ..self }
    }

    /// The dialect of the command that has these variables.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The value as set, which may be empty. On Windows the case of names does not count: it has `Path`.
    pub fn get(&self, name: &str) -> Option<&str> {
        let same = |(other, _): &(&String, &String)| cfg!(windows) && other.eq_ignore_ascii_case(name);
        let found = self.variables.get(name).or_else(|| self.variables.iter().find(same).map(|(_, value)| value));
        found.map(String::as_str)
    }

    /// The value unless it is empty or not set.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Whether `CI` is set, as services of continuous integration do.
    pub fn is_ci(&self) -> bool {
        self.non_empty(CI).is_some_and(|value| !matches!(&*value.to_ascii_lowercase(), "0" | "false"))
    }

    /// The user's home folder: `HOME`, which shells on Windows may set too, or there `USERPROFILE`.
    pub fn home_dir(&self) -> Option<PathBuf> {
        let of_windows = || self.non_empty(USERPROFILE).filter(|_| cfg!(windows));
        self.non_empty(HOME).or_else(of_windows).map(PathBuf::from)
    }

    /// Variables whose name begins so, as (rest of the name, value), sorted.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let from = self.variables.range(prefix.to_string()..);
        from.map_while(move |(name, value)| Some((name.strip_prefix(prefix)?, value.as_str())))
    }

    /// All of them, sorted: what a child process gets.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
}

/// The working directory: under its name in `PWD`, if that leads there, as `path.cwd` and messages show it.
pub fn working_dir() -> io::Result<PathBuf> {
    working_dir_named(std::env::var_os(PWD).map(PathBuf::from))
}

fn working_dir_named(name: Option<PathBuf>) -> io::Result<PathBuf> {
    match name.filter(|name| name.is_absolute() && is_same_folder(name, Path::new("."))) {
        Some(name) => Ok(name),
        None => std::env::current_dir(),
    }
}

#[cfg(unix)]
fn is_same_folder(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    identity(a).is_some_and(|found| Some(found) == identity(b))
}

#[cfg(not(unix))]
fn is_same_folder(_: &Path, _: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_give_the_rest_of_the_name() {
        let env = Environment::of([("TF_VAR_b", "2"), ("TF_VAR_a", "1"), ("TF_VAS", "x"), ("TF_LOG", "")]);
        let found: Vec<_> = env.with_prefix(TF_VAR_).collect();
        assert_eq!(found, [("a", "1"), ("b", "2")]);
        assert_eq!((env.get(TF_LOG), env.non_empty(TF_LOG)), (Some(""), None));
    }

    #[test]
    fn ci_is_an_environment_variable() {
        for (value, expected) in
            [("", false), ("0", false), ("False", false), ("true", true), ("1", true), ("ci", true)]
        {
            assert_eq!(Environment::of([("CI", value)]).is_ci(), expected, "{value}");
        }
    }

    #[test]
    fn home_is_the_profile_on_windows_without_home() {
        let home = |pairs: &[(&str, &str)]| Environment::of(pairs.iter().copied()).home_dir();
        assert_eq!(home(&[("HOME", "/h"), ("USERPROFILE", "/u")]), Some("/h".into()));
        assert_eq!(home(&[("HOME", ""), ("USERPROFILE", "/u")]), cfg!(windows).then(|| "/u".into()));
    }

    #[test]
    #[cfg(unix)]
    fn working_dir_has_the_name_that_leads_there() {
        let (here, folder) = (std::env::current_dir().unwrap(), tempfile::tempdir().unwrap());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&here, &link).unwrap();
        let cases = [
            (None, &here),
            (Some(link.clone()), &link),
            (Some(folder.path().to_owned()), &here),
            (Some(folder.path().join("missing")), &here),
            (Some(PathBuf::from(".")), &here),
        ];
        for (name, expected) in cases {
            assert_eq!(working_dir_named(name.clone()).unwrap(), *expected, "{name:?}");
        }
    }

    #[test]
    fn every_variable_is_declared_once() {
        let names: std::collections::BTreeSet<_> = all().map(|v| v.name).collect();
        assert_eq!(names.len(), all().count());
        assert!(all().all(|v| v.doc.trim().ends_with(['.', ')'])));
    }
}
