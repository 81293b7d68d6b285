//! Programs that give credentials: those of cloud vendors, for example.
//!
//! Owns the conversation with such a program. What it prints is a secret and never shown.

use std::process::Stdio;

use base::env::Environment;
use base::files::reason;
use base::secret::Secret;
use base::{limits, program};
use serde::Deserialize;
use serde_json::json;

use super::kubeconfig::{Access, Exec};
use crate::contract::StoreError;

/// Asked for through the environment of the program.
const INFO: &str = "KUBERNETES_EXEC_INFO";

/// What a program gave.
pub struct ExecCredentials {
    pub token: Option<Secret>,
    /// Certificate and key.
    pub identity: Option<(String, Secret)>,
    pub expires: Option<jiff::Timestamp>,
}

#[derive(Deserialize)]
struct Credential {
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<String>,
}

/// Runs the program and reads what it gives.
pub async fn run(exec: &Exec, access: &Access, environment: &Environment) -> Result<ExecCredentials, StoreError> {
    let mut spec = json!({ "interactive": false });
    if exec.provide_cluster_info {
        spec["cluster"] = json!({
            "server": access.server,
            "insecure-skip-tls-verify": access.insecure,
            "certificate-authority-data": access.authorities.as_ref().map(encoded),
        });
    }
    let info = json!({ "kind": "ExecCredential", "apiVersion": exec.api_version, "spec": spec });
    let mut command = tokio::process::Command::new(&exec.command);
    command.args(&exec.args).env_clear().envs(environment.iter()).env(INFO, info.to_string());
    command.envs(exec.env.iter().map(|variable| (&variable.name, &variable.value)));
    if !access.folder.as_os_str().is_empty() {
        command.current_dir(&access.folder);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| not_started(exec, &error))?;
    let output = program::output_within(child, limits::answer()).await;
    let output = output.map_err(|error| not_started(exec, &error))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr.lines().last().unwrap_or_default();
        let code =
            output.status.code().map_or_else(|| "by a signal".to_owned(), |code| format!("with exit code {code}"));
        return Err(format!("getting credentials: exec: executable {} failed {code}: {last}", exec.command).into());
    }
    read(&output.stdout).map_err(|why| StoreError::new(format!("getting credentials: {why}")))
}

/// A program that is not installed has a hint.
fn not_started(exec: &Exec, error: &std::io::Error) -> String {
    let failed = "getting credentials: exec:";
    if error.kind() != std::io::ErrorKind::NotFound || exec.command.contains('/') {
        return format!("{failed} fork/exec {}: {}", exec.command, reason(error));
    }
    let hint = exec.install_hint.as_deref().filter(|hint| !hint.is_empty());
    let hint = hint.map(|hint| format!("\n\n{hint}")).unwrap_or_default();
    format!(
        "{failed} executable {} not found\n\nIt looks like you are trying to use a client-go credential plugin that is not \
         installed.\n\nTo learn more about this feature, consult the documentation available at:\n      \
         https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins{hint}",
        exec.command
    )
}

fn encoded(text: &String) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn read(output: &[u8]) -> Result<ExecCredentials, StoreError> {
    // The library's errors may show values.
    let credential: Credential =
        serde_json::from_slice(output).map_err(|_| "decoding stdout: not an ExecCredential")?;
    let status = credential.status.ok_or("exec plugin didn't return a status field")?;
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let token = filled(status.token).map(Secret::new);
    let identity = match (filled(status.client_certificate_data), filled(status.client_key_data)) {
        (Some(certificate), Some(key)) => Some((certificate, Secret::new(key))),
        (None, None) => None,
        _ => return Err("exec plugin returned only certificate or key, not both".into()),
    };
    if token.is_none() && identity.is_none() {
        return Err("exec plugin didn't return a token or cert/key pair".into());
    }
    let expires = filled(status.expiration_timestamp).and_then(|text| text.parse().ok());
    Ok(ExecCredentials { token, identity, expires })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read() {
        let given = |status: &str| read(format!("{{\"kind\":\"ExecCredential\",\"status\":{status}}}").as_bytes());
        let token = given(r#"{"token":"t","expirationTimestamp":"2030-01-01T00:00:00Z"}"#).unwrap();
        assert!(token.token.unwrap().reveal() == "t" && token.expires.is_some() && token.identity.is_none());
        let pair = given(r#"{"clientCertificateData":"c","clientKeyData":"k"}"#).unwrap();
        assert_eq!(pair.identity.unwrap().0, "c");
        assert_eq!(
            given(r#"{"clientKeyData":"k"}"#).err().unwrap().text,
            "exec plugin returned only certificate or key, not both"
        );
        assert_eq!(given("{}").err().unwrap().text, "exec plugin didn't return a token or cert/key pair");
        assert_eq!(read(b"s3cret").err().unwrap().text, "decoding stdout: not an ExecCredential");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn programs_get_the_environment_and_their_own_variables() {
        let script = r#"printf '{"status":{"token":"%s-%s"}}' "$OWN" "$GIVEN"; echo "$KUBERNETES_EXEC_INFO" >&2"#;
        let exec = |script: &str| Exec {
            api_version: "client.authentication.k8s.io/v1".into(),
            command: "sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![super::super::kubeconfig::ExecVariable { name: "OWN".into(), value: "a".into() }],
            ..Exec::default()
        };
        let path = std::env::var("PATH").unwrap();
        let environment = Environment::of([("GIVEN", "b"), ("PATH", &path)]);
        let given = run(&exec(script), &Access::default(), &environment).await.unwrap();
        assert_eq!(given.token.unwrap().reveal(), "a-b");
        let failed =
            run(&exec("echo s3cret; echo why >&2; exit 3"), &Access::default(), &environment).await.err().unwrap().text;
        assert_eq!(failed, "getting credentials: exec: executable sh failed with exit code 3: why");
        let missing = |command: &str| Exec {
            command: command.into(),
            install_hint: Some("Install x.".into()),
            ..Exec::default()
        };
        let failed = run(&missing("/nowhere/x"), &Access::default(), &environment).await.err().unwrap().text;
        assert_eq!(failed, "getting credentials: exec: fork/exec /nowhere/x: no such file or directory");
        let failed = run(&missing("no-such-plugin"), &Access::default(), &environment).await.err().unwrap().text;
        assert!(failed.starts_with("getting credentials: exec: executable no-such-plugin not found\n\nIt looks like "));
        assert!(failed.ends_with("#client-go-credential-plugins\n\nInstall x."), "{failed}");
    }
}
