//! The program that runs the steps: where it is, which version it has, and its commands.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::environment::{
    CHECKPOINT_DISABLE, PATH, TF_CLI_ARGS, TF_DATA_DIR, TF_IN_AUTOMATION, TF_INPUT, TF_LOG, TF_LOG_CORE, TF_LOG_PATH,
    TF_LOG_PROVIDER, TF_REATTACH_PROVIDERS, TF_WORKSPACE,
};
use super::error::Error;
use super::output::Output;
use super::settings::Settings;

/// Programs of the path, the preferred one first.
const PROGRAMS: [&str; 3] = ["terrane", "terraform", "tofu"];

/// Variables of the developer that would change what commands do.
const REMOVED: [&str; 7] = [TF_CLI_ARGS, TF_DATA_DIR, TF_LOG, TF_LOG_CORE, TF_LOG_PATH, TF_LOG_PROVIDER, TF_WORKSPACE];

/// The version of the language that the program speaks. For Terrane, this is the version of Terraform that it is compatible with.
///
/// ```
/// use terrane_sdk_acceptance::Version;
/// let version: Version = "1.12.0-rc1".parse().unwrap();
/// assert_eq!((version.major, version.minor, version.patch), (1, 12, 0));
/// assert!(version > "1.11.4".parse().unwrap());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 1 in 1.11.4.
    pub major: u64,
    /// 11 in 1.11.4.
    pub minor: u64,
    /// 4 in 1.11.4.
    pub patch: u64,
}

/// The program that runs the steps.
///
/// ```
/// # use terrane_sdk_acceptance::{Host, Test, Version};
/// let lowest: Version = "1.12".parse().unwrap();
/// let knows_identities = move |host: &Host| host.is_terrane || host.version >= lowest;
/// let test = Test::new().skip_if(move |host| !knows_identities(host));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Host {
    /// The version of the language.
    pub version: Version,
    /// Whether it is Terrane, which has some features of later versions.
    pub is_terrane: bool,
}

/// Missing parts are 0. What follows a dash or a plus sign is ignored: pre-releases count as the release.
impl std::str::FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Version, InvalidVersion> {
        let numbers = text.split(['-', '+']).next().unwrap_or_default();
        let mut parts = numbers.split('.').map(|part| part.parse::<u64>().map_err(|_| InvalidVersion(text.to_owned())));
        let mut next = || parts.next().unwrap_or(Ok(0));
        Ok(Version { major: next()?, minor: next()?, patch: next()? })
    }
}

/// A text that is no version.
///
/// ```
/// # use terrane_sdk_acceptance::Version;
/// let error = "one".parse::<Version>().unwrap_err();
/// assert_eq!(error.to_string(), "\"one\" is no version");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidVersion(String);

impl fmt::Display for InvalidVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no version", self.0)
    }
}

impl std::error::Error for InvalidVersion {}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Host {
    /// Reads what `version -json` prints.
    fn parse(text: &str) -> Option<Host> {
        let json: serde_json::Value = serde_json::from_str(text).ok()?;
        let version = json["terraform_version"].as_str()?.parse().ok()?;
        Some(Host { version, is_terrane: json.get("terrane_version").is_some() })
    }
}

/// The program with the environment of a test.
pub(super) struct Program {
    path: PathBuf,
    host: Host,
    /// The value of TF_REATTACH_PROVIDERS.
    providers: String,
    settings: Settings,
}

impl Program {
    /// Finds the program and asks for its version.
    pub fn open(settings: &Settings, providers: String) -> Result<Program, Error> {
        let path = find(settings)?;
        let host = Host { version: Version { major: 0, minor: 0, patch: 0 }, is_terrane: false };
        let mut program = Program { path, host, providers, settings: settings.clone() };
        let output = program.run(&std::env::temp_dir(), &["version", "-json"])?.expect_code(&[0])?;
        program.host = Host::parse(&output.stdout).ok_or_else(|| {
            Error::of_command("expected the program's version as JSON, found something else", &output)
        })?;
        Ok(program)
    }

    pub fn host(&self) -> Host {
        self.host
    }

    /// Runs a command in a folder to its end. Fails only if it cannot be started.
    pub fn run(&self, folder: &Path, arguments: &[&str]) -> Result<Output, Error> {
        let mut command = Command::new(&self.path);
        command.args(arguments).current_dir(folder).stdin(Stdio::null());
        for name in REMOVED.into_iter().map(str::to_owned).chain(self.settings.command_arguments()) {
            command.env_remove(name);
        }
        for name in [CHECKPOINT_DISABLE, TF_IN_AUTOMATION] {
            command.env(name, "1");
        }
        command.env(TF_INPUT, "0").env(TF_REATTACH_PROVIDERS, &self.providers);
        if let Some(level) = self.settings.log_level() {
            command.env(TF_LOG, level);
        }
        if let Some(path) = self.settings.log_path() {
            command.env(TF_LOG_PATH, path);
        }
        let ended = command.output();
        let ended = ended.map_err(|error| Error::new(format!("cannot run {}: {error}", self.path.display())))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let name = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let output = Output {
            command: format!("{name} {}", arguments.join(" ")),
            code: ended.status.code(),
            stdout: text(ended.stdout),
            stderr: text(ended.stderr),
        };
        if self.settings.log_level().is_some() && self.settings.log_path().is_none() {
            let _ = std::io::stderr().write_all(output.stderr.as_bytes());
        }
        Ok(output)
    }
}

/// The program of TF_ACC_TERRAFORM_PATH, or the first one of the path.
fn find(settings: &Settings) -> Result<PathBuf, Error> {
    if let Some(path) = settings.program_path() {
        // Commands run in other folders.
        return std::path::absolute(&path).map_err(|error| Error::new(format!("{}: {error}", path.display())));
    }
    let folders = settings.search_path();
    let paths = |program: &str| {
        let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
        folders.iter().map(move |folder| folder.join(&file))
    };
    PROGRAMS.into_iter().flat_map(paths).find(|path| path.is_file()).ok_or_else(|| {
        let names = PROGRAMS.join(", ");
        Error::new(format!(
            "{PATH} has none of the programs {names}. Set TF_ACC_TERRAFORM_PATH to the path of a program."
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let version = |text: &str| text.parse::<Version>();
        assert!(version("1.9").unwrap() < version("1.11.4").unwrap());
        assert_eq!(version("1.12.0-beta1"), version("1.12"));
        assert_eq!(version("1.12.3+x").unwrap().to_string(), "1.12.3");
        assert!(version("v1").is_err() && version("").is_err());
    }

    #[test]
    fn versions_identify_the_host() {
        let terrane = Host::parse(r#"{"terraform_version":"1.11.4","terrane_version":"0.1.0"}"#).unwrap();
        let terraform = Host::parse(r#"{"terraform_version":"1.11.4"}"#).unwrap();
        assert!(terrane.is_terrane && !terraform.is_terrane);
        assert_eq!(terrane.version, terraform.version);
        assert!(Host::parse("Terraform v1.11.4").is_none());
    }

    #[test]
    fn wrapped_and_framed_lines_are_joined() {
        let stderr = "╷\n│ Error: Invalid\n│   value here\n│ \n│ It is\n│ long.\n╵\n".to_owned();
        let output = Output { command: String::new(), code: Some(1), stdout: "x  y\n".to_owned(), stderr };
        assert_eq!(output.flat_text(), "Error: Invalid value here It is long. x y");
    }
}
