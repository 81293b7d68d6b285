//! Programs that know passwords for registries, as Docker runs them: `docker-credential-NAME get` reads the address of a registry and
//! prints a user and a secret.

use base::program;
use base::secret::Secret;
use base::stop::Stop;
use model::service::oci_credentials::OciLogin;
use model::service::oci_repository::DOCKER_HUB;
use serde::Deserialize;

use super::OciError;

/// What a program prints about a registry that it does not know.
const UNKNOWN: &str = "credentials not found in native keychain";

/// What Docker calls Docker Hub where it keeps credentials.
const DOCKER_HUB_KEY: &str = "https://index.docker.io/v1/";

/// The user that stands for a token in place of a password.
const TOKEN_USER: &str = "<token>";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct HelperAnswer {
    #[serde(default)]
    username: String,
    #[serde(default)]
    secret: String,
}

/// Asks the program `docker-credential-NAME` on the search path. None: it knows nothing of the registry.
pub async fn ask(name: &str, registry: &str, search_path: &str, stop: &Stop) -> Result<Option<OciLogin>, OciError> {
    let file = format!("docker-credential-{name}");
    let failed = |why: String| {
        OciError::Failed(format!("failed to get credentials for {registry} from the credential helper {name:?}: {why}"))
    };
    let Some(program) = program::find(&file, search_path) else {
        return Err(failed(format!("there is no program {file} on the PATH")));
    };
    tracing::debug!("oci: asking {file} about {registry}");
    let mut command = tokio::process::Command::new(&program);
    command.arg("get");
    let address = if registry == DOCKER_HUB { DOCKER_HUB_KEY.to_owned() } else { format!("https://{registry}") };
    let ran = program::run_fed(command, Some(address.as_bytes()), false, stop).await;
    let Some(ran) = ran.map_err(|e| failed(format!("{}: {}", program.display(), base::files::reason(&e))))? else {
        return Err(OciError::Interrupted);
    };
    if !ran.status.success() {
        // Errors are printed on standard output.
        let why = if ran.output.trim().is_empty() { ran.errors.trim() } else { ran.output.trim() };
        return match why {
            UNKNOWN => Ok(None),
            "" => Err(failed(format!("{file} failed without a message"))),
            why => Err(failed(why.to_owned())),
        };
    }
    let output: HelperAnswer =
        serde_json::from_str(&ran.output).map_err(|_| failed(format!("{file} did not print JSON")))?;
    Ok(match (output.username.as_str(), output.secret.is_empty()) {
        (_, true) => None,
        (TOKEN_USER, _) => Some(OciLogin::Tokens { access: None, refresh: Secret::new(output.secret) }),
        _ => Some(OciLogin::Password { username: output.username, password: Secret::new(output.secret) }),
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const HELPER: &str = "#!/bin/sh\nread address || :\ncase $1:$address in\n\
        get:https://a.example) echo '{\"ServerURL\": \"x\", \"Username\": \"u\", \"Secret\": \"s3cret\"}';;\n\
        get:https://token.example) echo '{\"Username\": \"<token>\", \"Secret\": \"s3cret\"}';;\n\
        get:https://index.docker.io/v1/) echo '{\"Username\": \"hub\", \"Secret\": \"s3cret\"}';;\n\
        get:https://none.example) echo 'credentials not found in native keychain'; exit 1;;\n\
        get:https://broken.example) echo 's3cret, but no JSON';;\n\
        *) echo 'the keychain is locked'; exit 1;;\nesac\n";

    #[tokio::test]
    async fn programs_know_users_and_tokens() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("docker-credential-test");
        std::fs::write(&program, HELPER).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let search_path = format!("{}:/usr/bin:/bin", dir.path().display());
        let secret = || Secret::new("s3cret");
        let password = OciLogin::Password { username: "u".to_owned(), password: secret() };
        for (name, registry, expected) in [
            ("test", "a.example", Ok(Some(password))),
            ("test", "token.example", Ok(Some(OciLogin::Tokens { access: None, refresh: secret() }))),
            ("test", "docker.io", Ok(Some(OciLogin::Password { username: "hub".to_owned(), password: secret() }))),
            ("test", "none.example", Ok(None)),
            ("test", "broken.example", Err("docker-credential-test did not print JSON")),
            ("test", "locked.example", Err("credential helper \"test\": the keychain is locked")),
            ("none", "a.example", Err("there is no program docker-credential-none on the PATH")),
        ] {
            let answer = ask(name, registry, &search_path, &Stop::new()).await;
            match (answer, expected) {
                (Ok(answer), Ok(expected)) => assert_eq!(answer, expected, "{registry}"),
                (Err(OciError::Failed(why)), Err(expected)) => {
                    assert!(why.contains(expected) && !why.contains("s3cret"), "{registry}: {why}");
                }
                (answer, expected) => panic!("{registry}: {answer:?} instead of {expected:?}"),
            }
        }
    }
}
