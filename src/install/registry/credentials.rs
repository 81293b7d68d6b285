//! The token to show a host: from the settings, or from the helper program that they name.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::secret::Secret;
use crate::base::stop::Stop;
use crate::install::program;
use crate::model::service::credentials::{CredentialHelper, Known};
use crate::model::service::{CredentialSettings, Host};

/// Tokens of hosts. A helper is asked once per host and command.
pub struct Credentials {
    settings: CredentialSettings,
    /// Where helper programs are.
    folders: Vec<PathBuf>,
    stop: Stop,
    asked: Mutex<HashMap<Host, Arc<tokio::sync::OnceCell<Result<Option<Secret>, String>>>>>,
}

impl Credentials {
    pub fn new(settings: CredentialSettings, folders: Vec<PathBuf>, stop: Stop) -> Credentials {
        Credentials { settings, folders, stop, asked: Mutex::default() }
    }

    /// None if there is nothing to show; what is wrong with a helper is logged, since hosts may not want a token.
    pub async fn of(&self, host: &Host) -> Option<Secret> {
        self.demanded(host).await.unwrap_or_else(|why| {
            crate::log!(Warn, "Failed to get credentials for {host}: {why} (ignoring)");
            None
        })
    }

    /// The same; the error, for people, says what is wrong with a helper.
    pub async fn demanded(&self, host: &Host) -> Result<Option<Secret>, String> {
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

    /// `terraform-credentials-NAME ARGUMENTS... get HOST` prints an object with the token; an empty one means none.
    async fn ask(&self, helper: &CredentialHelper, host: &Host) -> Result<Option<Secret>, String> {
        let name = format!("terraform-credentials-{}", helper.name);
        let program = self.folders.iter().find_map(|folder| {
            let path = folder.join(&name);
            path.is_file().then_some(path)
        });
        let Some(program) = program else { return Err(format!("unable to find credentials helper {:?}", helper.name)) };
        let mut command = tokio::process::Command::new(&program);
        command.args(&helper.arguments).arg("get").arg(host.as_str());
        let ran = program::run(command, false, &self.stop).await.map_err(|e| format!("{}: {e}", program.display()))?;
        let Some(ran) = ran else { return Err("interrupted".to_owned()) };
        if !ran.status.success() {
            return Err(format!("error in {}: {}", program.display(), ran.errors.trim()));
        }
        let answer: serde_json::Value = serde_json::from_str(&ran.output)
            .map_err(|_| format!("malformed output from {}: not a JSON object", program.display()))?;
        Ok(answer.get("token").and_then(|token| token.as_str()).map(Secret::new))
    }
}
