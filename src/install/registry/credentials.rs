//! Tokens of hosts: the one to show a host, from the settings or from the helper program that they name; and where a new one
//! goes, which is the same place.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base::program;
use base::secret::Secret;
use base::stop::Stop;
use model::service::credentials::{CredentialHelper, Known};
use model::service::{CredentialSettings, Host};

use super::credentials_file::{self, FileError};

/// Tokens of hosts. A helper is asked once per host and command.
pub struct Credentials {
    settings: CredentialSettings,
    places: Places,
    stop: Stop,
    asked: Mutex<HashMap<Host, Arc<tokio::sync::OnceCell<Result<Option<Secret>, CredentialsError>>>>>,
}

/// Where credentials are, beside the settings.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Folders with helper programs.
    pub helpers: Vec<PathBuf>,
    /// The file that this program writes. None: the home folder is unknown.
    pub file: Option<PathBuf>,
}

/// Where the token of a host is, or would go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a settings file that is its owner's business.
    OtherFile,
    /// In the file that this program writes; `stored`: it is there already.
    File { path: PathBuf, stored: bool },
    /// With the helper of this name, which may or may not know one.
    Helper(String),
    /// There is no place for it.
    Nowhere,
}

/// Why the token of a host is not available, or cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialsError {
    /// The user keeps the host's token in a settings file. The host, as people see it.
    OtherFile(String),
    File(FileError),
    /// The home folder is not known, so there is no file.
    NoFile,
    /// There is no program for the helper of this name.
    NoHelper(String),
    HelperNotStarted {
        program: PathBuf,
        why: String,
    },
    /// The program failed. `said`: what it wrote to its standard error, if it did.
    HelperFailed {
        program: PathBuf,
        said: Option<String>,
    },
    /// The program printed something else than an object.
    HelperOutput(PathBuf),
    Interrupted,
}

impl CredentialsError {
    /// Without white space at the end of what a helper said.
    fn trimmed(self) -> CredentialsError {
        match self {
            CredentialsError::HelperFailed { program, said } => {
                CredentialsError::HelperFailed { program, said: said.map(|said| said.trim_end().to_owned()) }
            }
            other => other,
        }
    }
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialsError::OtherFile(host) => write!(
                f,
                "cannot change credentials for {host}: existing manually-configured credentials in a CLI config file"
            ),
            CredentialsError::File(error) => error.fmt(f),
            CredentialsError::NoFile => {
                f.write_str("unable to determine credentials file path: the home folder is not known")
            }
            CredentialsError::NoHelper(name) => write!(f, "unable to find credentials helper {name:?}"),
            CredentialsError::HelperNotStarted { program, why } => {
                let program = program.display();
                write!(f, "failed to run {program}: fork/exec {program}: {why}")
            }
            CredentialsError::HelperFailed { program, said: None } => {
                write!(f, "error in {}, but it produced no error message", program.display())
            }
            CredentialsError::HelperFailed { program, said: Some(said) } => {
                let gap = if said.is_empty() { "" } else { " " };
                write!(f, "error in {}:{gap}{said}", program.display())
            }
            CredentialsError::HelperOutput(program) => {
                write!(f, "malformed output from {}: not a JSON object", program.display())
            }
            CredentialsError::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for CredentialsError {}

/// What a helper is asked to do.
enum HelperRequest<'a> {
    Get,
    Store(&'a Secret),
    Forget,
}

impl Credentials {
    pub fn new(settings: CredentialSettings, places: Places, stop: Stop) -> Credentials {
        Credentials { settings, places, stop, asked: Mutex::default() }
    }

    /// None if there is nothing to show; what is wrong with a helper is logged, since hosts may not want a token.
    pub async fn of(&self, host: &Host) -> Option<Secret> {
        self.demanded(host).await.unwrap_or_else(|why| {
            tracing::warn!("Failed to get credentials for {host}: {why} (ignoring)");
            None
        })
    }

    /// As [`Self::of`], but with an error if a helper fails.
    pub async fn demanded(&self, host: &Host) -> Result<Option<Secret>, CredentialsError> {
        let (helper, cell) = match (self.settings.of(host), &self.settings.helper) {
            (Known::Token(token), _) => return Ok(Some(token)),
            (Known::AskHelper, Some(helper)) => {
                let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                (helper, asked.entry(host.clone()).or_default().clone())
            }
            _ => return Ok(None),
        };
        cell.get_or_init(|| self.ask(helper, host)).await.clone()
    }

    /// Where the host's token is kept. Variables of the environment do not count: they pass.
    pub fn location(&self, host: &Host) -> Location {
        let file = self.places.file.as_ref();
        let stored = file.is_some_and(|path| credentials_file::hosts(path).contains(host));
        match (self.settings.blocks.contains_key(host), stored, self.helper(), file) {
            (true, false, ..) => Location::OtherFile,
            (true, true, _, Some(path)) => Location::File { path: path.clone(), stored: true },
            (false, _, Some((helper, _)), _) => Location::Helper(helper.name.clone()),
            // A file that the settings do not count still gets what is new.
            (_, _, None, Some(path)) => Location::File { path: path.clone(), stored: false },
            (_, _, _, None) => Location::Nowhere,
        }
    }

    /// Keeps a token for a host.
    pub async fn store(&self, host: &Host, token: &Secret) -> Result<(), CredentialsError> {
        self.change(host, Some(token)).await
    }

    /// Removes what is kept for a host.
    pub async fn forget(&self, host: &Host) -> Result<(), CredentialsError> {
        self.change(host, None).await
    }

    async fn change(&self, host: &Host, token: Option<&Secret>) -> Result<(), CredentialsError> {
        match self.location(host) {
            Location::OtherFile => Err(CredentialsError::OtherFile(host.for_display())),
            Location::File { path, .. } => credentials_file::change(&path, host, token).map_err(CredentialsError::File),
            Location::Helper(_) => match self.helper() {
                Some((helper, program)) => {
                    let request = token.map_or(HelperRequest::Forget, HelperRequest::Store);
                    self.run(helper, &program, host, &request).await.map(drop)
                }
                None => Err(self.no_helper()),
            },
            Location::Nowhere => Err(CredentialsError::NoFile),
        }
    }

    async fn ask(&self, helper: &CredentialHelper, host: &Host) -> Result<Option<Secret>, CredentialsError> {
        let Some((_, program)) = self.helper() else {
            tracing::error!("{}; ignoring", self.no_helper());
            return Ok(None);
        };
        let output = self.run(helper, &program, host, &HelperRequest::Get).await;
        let output = output.map_err(CredentialsError::trimmed)?;
        let answer: serde_json::Value =
            serde_json::from_str(&output).map_err(|_| CredentialsError::HelperOutput(program.clone()))?;
        Ok(answer.get("token").and_then(|token| token.as_str()).map(Secret::new))
    }

    fn no_helper(&self) -> CredentialsError {
        let name = self.settings.helper.as_ref().map_or("", |helper| helper.name.as_str());
        CredentialsError::NoHelper(name.to_owned())
    }

    /// The helper of the settings with its program, if there is one: `terraform-credentials-NAME`, perhaps with a version,
    /// of which the newest counts.
    fn helper(&self) -> Option<(&CredentialHelper, PathBuf)> {
        let helper = self.settings.helper.as_ref()?;
        let name = format!("terraform-credentials-{}", helper.name);
        let program = self.places.helpers.iter().find_map(|folder| newest(folder, &name))?;
        Some((helper, program))
    }

    /// `PROGRAM ARGUMENTS... get HOST` prints an object with the token, and an empty one means none; `store` reads such an
    /// object; `forget` says nothing. Gives what was printed.
    async fn run(
        &self,
        helper: &CredentialHelper,
        program: &Path,
        host: &Host,
        request: &HelperRequest<'_>,
    ) -> Result<String, CredentialsError> {
        let (verb, input) = match request {
            HelperRequest::Get => ("get", None),
            HelperRequest::Store(token) => ("store", Some(serde_json::json!({ "token": token.reveal() }).to_string())),
            HelperRequest::Forget => ("forget", None),
        };
        let mut command = tokio::process::Command::new(program);
        command.args(&helper.arguments).arg(verb).arg(host.as_str());
        let ran = program::run_fed(command, input.as_ref().map(|text| text.as_bytes()), false, &self.stop).await;
        let ran = ran.map_err(|e| CredentialsError::HelperNotStarted {
            program: program.to_owned(),
            why: base::files::reason(&e),
        })?;
        let Some(ran) = ran else { return Err(CredentialsError::Interrupted) };
        match ran.status.success() {
            true => Ok(ran.output),
            false => {
                let said = Some(ran.errors).filter(|said| !said.is_empty());
                Err(CredentialsError::HelperFailed { program: program.to_owned(), said })
            }
        }
    }
}

fn newest(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
    let versions = entries.filter_map(|path| {
        let file = path.file_name()?.to_str()?;
        let file = if cfg!(windows) { file.strip_suffix(".exe").unwrap_or(file) } else { file };
        let rest = file.strip_prefix(name)?;
        let version = if rest.is_empty() { "0.0.0" } else { rest.strip_prefix("_v")? };
        Some((model::deps::Version::parse(version).ok()?, path))
    });
    versions.max_by(|a, b| a.0.cmp(&b.0)).map(|(_, path)| path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Prints its arguments, and stores its input beside itself.
    const HELPER: &str = "#!/bin/sh\nd=$(dirname \"$0\")\ncase $2 in\nget) cat \"$d/$3\" 2>/dev/null || echo '{}';;\nstore) cat > \"$d/$3\";;\n\
                          forget) rm \"$d/$3\" || { echo no such >&2; exit 3; };;\nesac\n";

    fn credentials(dir: &Path, with_helper: bool) -> Credentials {
        let mut settings = CredentialSettings::default();
        settings.blocks.insert(Host::parse("other.example").unwrap(), Some(Secret::new("o")));
        settings.blocks.insert(Host::parse("stored.example").unwrap(), Some(Secret::new("s")));
        if with_helper {
            settings.helper = Some(CredentialHelper { name: "h".into(), arguments: vec!["--x".into()] });
        }
        let places = Places { helpers: vec![dir.to_path_buf()], file: Some(dir.join("below/c.json")) };
        Credentials::new(settings, places, Stop::new())
    }

    fn helper(dir: &Path, name: &str, text: &str) {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[tokio::test]
    async fn tokens_stay_where_they_are_and_new_ones_go_to_the_helper() {
        let dir = tempfile::tempdir().unwrap();
        let host = |name: &str| Host::parse(name).unwrap();
        std::fs::create_dir(dir.path().join("below")).unwrap();
        std::fs::write(dir.path().join("below/c.json"), r#"{"credentials": {"STORED.example": {"token": "s"}}}"#)
            .unwrap();
        let file = |stored| Location::File { path: dir.path().join("below/c.json"), stored };
        // A helper that is not there is none.
        let found = credentials(dir.path(), true);
        assert_eq!(found.location(&host("new.example")), file(false));
        helper(dir.path(), "terraform-credentials-h", "#!/bin/sh\nexit 1\n");
        helper(dir.path(), "terraform-credentials-h_v1.10.0", HELPER);
        helper(dir.path(), "terraform-credentials-h_v1.9.0", "#!/bin/sh\nexit 1\n");
        let expected = [
            ("other.example", Location::OtherFile),
            ("stored.example", file(true)),
            ("new.example", Location::Helper("h".into())),
        ];
        for (name, location) in expected {
            assert_eq!(found.location(&host(name)), location, "{name}");
        }
        found.store(&host("new.example"), &Secret::new("a\"b")).await.unwrap();
        let kept = std::fs::read_to_string(dir.path().join("new.example")).unwrap();
        assert_eq!(kept, r#"{"token":"a\"b"}"#);
        assert_eq!(found.of(&host("new.example")).await, Some(Secret::new("a\"b")));
        found.forget(&host("new.example")).await.unwrap();
        let why = found.forget(&host("new.example")).await.unwrap_err().to_string();
        assert!(why.starts_with("error in ") && why.contains("no such"), "{why}");
        found.forget(&host("stored.example")).await.unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("below/c.json")).unwrap(), "{\n  \"credentials\": {}\n}");
        assert!(
            found
                .store(&host("other.example"), &Secret::new("x"))
                .await
                .unwrap_err()
                .to_string()
                .contains("manually-configured")
        );
    }

    #[tokio::test]
    async fn helpers_that_fail_are_worded() {
        let dir = tempfile::tempdir().unwrap();
        let host = Host::parse("h.example").unwrap();
        let path = dir.path().join("terraform-credentials-h");
        let found = credentials(dir.path(), true);
        helper(dir.path(), "terraform-credentials-h", "#!/bin/sh\nexit 2\n");
        let why = found.forget(&host).await.unwrap_err().to_string();
        assert_eq!(why, format!("error in {}, but it produced no error message", path.display()));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let why = found.store(&host, &Secret::new("t")).await.unwrap_err().to_string();
        assert_eq!(why, format!("failed to run {0}: fork/exec {0}: permission denied", path.display()));
        assert_eq!(found.of(&host).await, None);
    }
}
