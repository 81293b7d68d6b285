//! Repositories of git, by the git program: what users have set up for it (credentials, proxies, keys) counts here too.

use std::io::Write;
use std::path::{Path, PathBuf};

use base::{env, program};
use base64::Engine;
use tokio::process::Command;

use super::address::Address;
use super::{FetchError, Fetcher};

/// Clones a repository, checks out `ref` and what its submodules say.
pub async fn fetch(fetcher: &Fetcher, mut address: Address, target: &Path) -> Result<(), FetchError> {
    let search_path = fetcher.environment.get(env::PATH).unwrap_or_default();
    let Some(program) = program::find("git", search_path) else {
        return Err(FetchError::new("git must be available and on the PATH"));
    };
    let (reference, key) = (address.take("ref"), address.take("sshkey"));
    let depth = address.take("depth").and_then(|text| text.parse::<u32>().ok()).filter(|depth| *depth > 0);
    check_port(&address)?;
    if let Some(reference) = reference.as_ref().filter(|r| r.starts_with('-')) {
        return Err(FetchError::new(format!("invalid ref: {reference:?}")));
    }
    let key = key.map(|key| key_file(&key)).transpose()?;
    let git = Git { fetcher, program, key: key.as_ref().map(|file| file.path().to_owned()) };

    let mut clone = vec!["clone".to_owned()];
    if let Some(depth) = depth {
        clone.extend(["--depth".to_owned(), depth.to_string()]);
        if let Some(reference) = &reference {
            clone.extend(["--branch".to_owned(), reference.clone()]);
        }
    }
    clone.extend(["--".to_owned(), address.to_string(), target.display().to_string()]);
    let cloned = git.run(&clone, None, &address).await;
    cloned.map_err(|error| match (&error, &reference) {
        (FetchError::Failed(why), Some(reference)) if depth.is_some() && is_commit(reference) => {
            FetchError::Failed(format!("{why} (note that setting 'depth' requires 'ref' to be a branch or tag name)"))
        }
        _ => error,
    })?;
    if let Some(reference) = reference.filter(|_| depth.is_none()) {
        git.run(&["checkout".to_owned(), reference], Some(target), &address).await?;
    }
    if target.join(".gitmodules").is_file() {
        let mut update: Vec<String> = ["submodule", "update", "--init", "--recursive"].map(str::to_owned).into();
        update.extend(depth.iter().flat_map(|depth| ["--depth".to_owned(), depth.to_string()]));
        git.run(&update, Some(target), &address).await?;
    }
    Ok(())
}

/// `ssh://host:path` is a frequent error.
fn check_port(address: &Address) -> Result<(), FetchError> {
    let authority = address.url.split_once("://").map_or("", |(_, rest)| rest).split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    match host.rsplit_once(':') {
        Some((_, port)) if !host.ends_with(']') && !port.is_empty() && port.parse::<u16>().is_err() => {
            Err(FetchError::new(format!(
                "invalid port number {port:?}; if using the \"scp-like\" git address scheme where a colon introduces the path \
                 instead, remove the ssh:// portion and use just the git:: prefix"
            )))
        }
        _ => Ok(()),
    }
}

/// Digits of a commit, or a name that looks like it.
fn is_commit(reference: &str) -> bool {
    (7..=40).contains(&reference.len()) && reference.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The key of a source address, for as long as it is needed, in a file that only the user may read.
fn key_file(encoded: &str) -> Result<tempfile::NamedTempFile, FetchError> {
    let key = base64::engine::general_purpose::STANDARD
        .decode(encoded.replace(' ', "+"))
        .map_err(|_| FetchError::new("the sshkey parameter is not valid base64"))?;
    let mut file = tempfile::Builder::new().prefix("terrane-key-").tempfile()?;
    file.write_all(&key)?;
    file.flush()?;
    Ok(file)
}

struct Git<'a> {
    fetcher: &'a Fetcher,
    program: PathBuf,
    key: Option<PathBuf>,
}

impl Git<'_> {
    async fn run(&self, arguments: &[String], folder: Option<&Path>, address: &Address) -> Result<(), FetchError> {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
        if let Some(key) = &self.key {
            let ssh = self.fetcher.environment.non_empty(env::GIT_SSH_COMMAND).unwrap_or("ssh");
            command.env("GIT_SSH_COMMAND", format!("{ssh} -i '{}'", key.display()));
        }
        finish(&self.program, command, self.fetcher, address).await
    }
}

/// Runs a program of version control; the error contains its output.
pub async fn finish(program: &Path, command: Command, fetcher: &Fetcher, address: &Address) -> Result<(), FetchError> {
    let shown = program.display();
    let ran = program::run(command, true, fetcher.http.stop()).await;
    match ran.map_err(|e| FetchError::new(format!("error running {shown}: {e}")))? {
        None => Err(FetchError::Interrupted),
        // An interrupt at the terminal ends the program before we hear of it.
        Some(ran) if !ran.status.success() && fetcher.http.stop().is_stopping() => Err(FetchError::Interrupted),
        Some(ran) if ran.status.success() => Ok(()),
        Some(ran) => {
            let code = ran.status.code().unwrap_or(-1);
            // Programs repeat the address as they were given it.
            let (open, safe) = (address.to_string(), base::secret::redacted(&address.to_string()));
            let said = ran.output.replace(&open, &safe);
            Err(FetchError::new(format!("{shown} exited with {code}: {said}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_keys() {
        let check = |text: &str| check_port(&Address::parse(text).unwrap()).is_ok();
        assert!(check("git::ssh://git@h:22/a") && check("git::https://h/a") && check("git::ssh://[::1]/a"));
        assert!(!check("git::ssh://git@h:user/a"));
        let file = key_file("a2V5").unwrap();
        assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "key");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert!(key_file("?").is_err());
    }
}
