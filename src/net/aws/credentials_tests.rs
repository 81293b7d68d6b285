//! Every source of credentials, against services played by a table of answers.

use std::sync::{Arc, Mutex};

use base::secret::Secret;
use base::stop::Stop;
use bytes::Bytes;
use reqsign_core::HttpSend;

use super::*;
use crate::cloud;

/// Answers by the method and the address without its query; keeps what it was asked.
#[derive(Clone, Debug, Default)]
struct Services {
    answers: Vec<(&'static str, u16, String)>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl HttpSend for Services {
    async fn http_send(&self, request: http::Request<Bytes>) -> reqsign_core::Result<http::Response<Bytes>> {
        let uri = request.uri().to_string();
        let place = format!("{} {}", request.method(), uri.split('?').next().unwrap_or_default());
        let body = String::from_utf8_lossy(request.body()).into_owned();
        let signed = if request.headers().contains_key("authorization") { " signed" } else { "" };
        self.asked.lock().unwrap().push(format!("{place}{signed} {body}"));
        let found = self.answers.iter().find(|(at, ..)| *at == place);
        let (status, text) = found.map_or((404, ""), |(_, status, text)| (*status, text));
        Ok(http::Response::builder().status(status).body(Bytes::from(text.to_owned())).unwrap())
    }
}

struct Case {
    settings: AwsLogin,
    variables: Vec<(String, String)>,
    services: Services,
    home: tempfile::TempDir,
}

impl Case {
    fn new() -> Case {
        let home = tempfile::tempdir().unwrap();
        let variables =
            vec![("HOME".into(), home.path().display().to_string()), ("PATH".into(), "/usr/bin:/bin".into())];
        let settings = AwsLogin { region: "eu-west-1".into(), documentation: "DOC", ..AwsLogin::default() };
        Case { settings, variables, services: Services::default(), home }
    }

    fn variable(mut self, name: &str, value: impl Into<String>) -> Case {
        self.variables.push((name.into(), value.into()));
        self
    }

    fn file(self, name: &str, text: &str) -> Case {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn answer(mut self, at: &'static str, status: u16, text: impl Into<String>) -> Case {
        self.services.answers.push((at, status, text.into()));
        self
    }

    async fn run(&self) -> Result<String, String> {
        let environment = Environment::of(self.variables.clone());
        let context = cloud::context(&environment, &Stop::new(), self.services.clone());
        let found = find(&self.settings, &environment, &context).await;
        found
            .map(|keys| {
                format!("{} {} {}", keys.access_key_id, keys.secret_access_key, keys.session_token.unwrap_or_default())
            })
            .map_err(|problem| problem.to_string())
    }

    async fn check(&self, expected: &str) {
        assert_eq!(self.run().await.as_deref(), Ok(expected));
    }

    fn asked(&self) -> Vec<String> {
        self.services.asked.lock().unwrap().clone()
    }
}

const STS: &str = "POST https://sts.eu-west-1.amazonaws.com/";

fn role_answer(action: &str, id: &str) -> String {
    format!(
        "<{action}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{action}Result><Credentials><AccessKeyId>{id}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></{action}Result></{action}Response>"
    )
}

#[tokio::test]
async fn explicit_keys_go_first() {
    let mut case = Case::new().variable("AWS_ACCESS_KEY_ID", "E").variable("AWS_SECRET_ACCESS_KEY", "e");
    case.check("E e ").await;
    case.settings.access_key = Some("A".into());
    case.settings.secret_key = Some(Secret::new("a"));
    case.check("A a ").await;
}

#[tokio::test]
async fn profiles_of_files() {
    let mut case = Case::new()
        .file(".aws/credentials", "[default]\naws_access_key_id=D\naws_secret_access_key=d\n")
        .file("more", "[p]\naws_access_key_id=P\naws_secret_access_key=p\naws_session_token=t\n");
    case.check("D d ").await;
    case.settings.credentials_files = vec![case.home.path().join("more")];
    case.settings.profile = Some("p".into());
    case.check("P p t").await;
    case.settings.profile = Some("q".into());
    assert_eq!(
        case.run().await.unwrap_err(),
        "No valid credential sources found: Please see DOC\nfor more information about providing credentials.\n\nError: failed to get shared config profile, q"
    );
}

#[tokio::test]
async fn chained_roles_are_assumed_in_turn() {
    let case = Case::new()
        .file(".aws/credentials", "[base]\naws_access_key_id=B\naws_secret_access_key=b\n")
        .file(
            ".aws/config",
            "[profile two]\nrole_arn=arn:2\nsource_profile=one\nrole_session_name=n\n[profile one]\nrole_arn=arn:1\nexternal_id=x\nsource_profile=base\n",
        )
        .variable("AWS_PROFILE", "two")
        .answer(STS, 200, role_answer("AssumeRole", "R"));
    let mut case = case;
    case.settings.role = Some(Role {
        arn: "arn:3".into(),
        session_name: Some("s".into()),
        source_identity: Some("who".into()),
        tags: vec![("k".into(), "v".into())],
        transitive_tag_keys: vec!["k".into()],
        policy_arns: vec!["arn:p".into()],
        duration: Some(Duration::from_secs(900)),
        ..Role::default()
    });
    case.check("R s t").await;
    let asked = case.asked();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!(asked[0].contains("RoleArn=arn%3A1&") && asked[0].contains("ExternalId=x"), "{asked:?}");
    assert!(asked[1].contains("RoleArn=arn%3A2&RoleSessionName=n&DurationSeconds=3600"), "{asked:?}");
    assert_eq!(
        asked[2],
        format!(
            "{STS} signed Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3A3&RoleSessionName=s&DurationSeconds=900&PolicyArns.member.1.arn=arn%3Ap&SourceIdentity=who&Tags.member.1.Key=k&Tags.member.1.Value=v&TransitiveTagKeys.member.1=k"
        )
    );
}

#[tokio::test]
async fn refused_roles_say_why() {
    let error = "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>no</Message></Error><RequestId>r1</RequestId></ErrorResponse>";
    let mut case = Case::new().variable("AWS_ACCESS_KEY_ID", "E").variable("AWS_SECRET_ACCESS_KEY", "e").answer(
        "POST http://127.0.0.1:9/",
        403,
        error,
    );
    case.settings.sts_endpoint = Some("http://127.0.0.1:9".into());
    case.settings.role = Some(Role { arn: "arn:3".into(), ..Role::default() });
    let why = case.run().await.unwrap_err();
    assert!(why.starts_with("Cannot assume IAM Role: IAM Role (arn:3) cannot be assumed.\n"), "{why}");
    let end = "\n\nError: operation error STS: AssumeRole, https response error StatusCode: 403, RequestID: r1, api error AccessDenied: no";
    assert!(why.ends_with(end), "{why}");
}

#[tokio::test]
async fn web_identity() {
    let case = Case::new()
        .file("token", "jwt\n")
        .variable("AWS_ROLE_ARN", "arn:w")
        .variable("AWS_ROLE_SESSION_NAME", "n")
        .answer(STS, 200, role_answer("AssumeRoleWithWebIdentity", "W"));
    let path = case.home.path().join("token").display().to_string();
    let mut case = case.variable("AWS_WEB_IDENTITY_TOKEN_FILE", path);
    case.check("W s t").await;
    let expected = format!(
        "{STS} Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aw&RoleSessionName=n&WebIdentityToken=jwt"
    );
    assert_eq!(case.asked(), [expected]);
    case.settings.web_identity = Some(WebIdentity {
        role: Role { arn: "arn:x".into(), ..Role::default() },
        token_file: Some(case.home.path().join("none")),
        token: None,
    });
    assert!(case.run().await.unwrap_err().starts_with("Cannot assume IAM Role with web identity: IAM Role (arn:x)"));
}

#[tokio::test]
async fn programs() {
    let keys = r#"{"Version":1,"AccessKeyId":"C","SecretAccessKey":"c","Expiration":"2099-01-01T00:00:00Z"}"#;
    let case = Case::new().file("keys.json", keys).file("bad.json", "{\"Version\":1,\"SecretAccessKey\":\"s3cret\"}");
    let at = |name: &str| case.home.path().join(name).display().to_string();
    let config = format!(
        "[default]\ncredential_process = cat '{}'\n[profile bad]\ncredential_process = cat {}\n[profile none]\ncredential_process = no-such-program\n",
        at("keys.json"),
        at("bad.json")
    );
    let mut case = case.file(".aws/config", &config);
    case.check("C c ").await;
    for (profile, expected) in [
        ("bad", "missing AccessKeyId in process output"),
        ("none", "error in credential_process: exec: \"no-such-program\": executable file not found in $PATH"),
    ] {
        case.settings.profile = Some(profile.into());
        let why = case.run().await.unwrap_err();
        assert!(why.ends_with(expected) && !why.contains("s3cret"), "{why}");
    }
}

#[tokio::test]
async fn sso_sessions() {
    let keys = r#"{"roleCredentials":{"accessKeyId":"O","secretAccessKey":"o","sessionToken":"t","expiration":4070908800000}}"#;
    let config = "[default]\nsso_session=corp\nsso_account_id=1\nsso_role_name=r\n[sso-session corp]\nsso_region=us-east-1\nsso_start_url=https://x\n";
    // The file's name is the SHA-1 of the session's.
    let cached = format!(".aws/sso/cache/{}.json", reqsign_core::hash::hex_sha1(b"corp"));
    let case = Case::new()
        .file(".aws/config", config)
        .file(&cached, r#"{"accessToken":"a","expiresAt":"2099-01-01T00:00:00Z"}"#)
        .answer("GET https://portal.sso.us-east-1.amazonaws.com/federation/credentials", 200, keys);
    case.check("O o t").await;
    let expired = case.file(&cached, r#"{"accessToken":"a","expiresAt":"2000-01-01T00:00:00Z"}"#);
    assert!(expired.run().await.unwrap_err().contains("aws sso login"));
}

#[tokio::test]
async fn containers() {
    let keys = r#"{"AccessKeyId":"K","SecretAccessKey":"k","Token":"t","Expiration":"2099-01-01T00:00:00Z"}"#;
    let case = Case::new().variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/x").answer(
        "GET http://169.254.170.2/x",
        200,
        keys,
    );
    case.check("K k t").await;
    let case = Case::new()
        .variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.170.23/v1/credentials")
        .variable("AWS_CONTAINER_AUTHORIZATION_TOKEN", "token")
        .answer("GET http://169.254.170.23/v1/credentials", 200, keys);
    case.check("K k t").await;
    assert_eq!(case.asked(), ["GET http://169.254.170.23/v1/credentials signed "]);
    let far = Case::new().variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://evil.example/");
    assert!(far.run().await.unwrap_err().contains("only loopback/ecs/eks hosts are allowed"));
    assert!(far.asked().is_empty());
}

#[tokio::test]
async fn machines() {
    let keys =
        r#"{"Code":"Success","AccessKeyId":"M","SecretAccessKey":"m","Token":"t","Expiration":"2099-01-01T00:00:00Z"}"#;
    let mut case = Case::new()
        .answer("PUT http://169.254.169.254/latest/api/token", 200, "session")
        .answer("GET http://169.254.169.254/latest/meta-data/iam/security-credentials/", 200, "role")
        .answer("GET http://169.254.169.254/latest/meta-data/iam/security-credentials/role", 200, keys);
    case.check("M m t").await;
    case.settings.metadata.disabled = Some(true);
    assert!(case.run().await.unwrap_err().contains("access disabled to EC2 IMDS via client option"));
}
