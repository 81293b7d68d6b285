//! Keys of Alibaba Cloud: from settings, a profile or the role of a machine, and those of a role that they may assume.

use std::fmt;
use std::time::Duration;

use base::env;
use base::secret::Secret;
use net::cloud::{Impatient, home, home_expanded};
use reqsign_aliyun_oss::{
    AssumeRoleGrant, AssumeRoleGranter, Credential, EcsRamRoleCredentialProvider, StaticCredentialProvider,
};
use reqsign_core::{Context, Error, Granter, ProvideCredential, Result};
use serde_json::Value as Json;
use terrane_value::Value;

use crate::contract::settings::Settings;

/// How long the keys of a role are valid, in seconds.
const DURATION: u64 = 3600;
/// Timeout of the metadata service, which is on the same machine.
const PATIENCE: Duration = Duration::from_secs(5);
const NO_KEYS: &str = "there are no credentials: access_key and secret_key are not set, nor is a profile or a role";
const SESSION_NAME: &str = "terraform";

/// Where keys come from.
#[derive(Clone, Debug)]
pub struct Access {
    access_key: String,
    secret_key: Secret,
    token: Option<Secret>,
    /// The role of the machine; used without an access key.
    machine_role: Option<String>,
    role: Option<Role>,
    sts_endpoint: Option<String>,
    pub region: String,
}

#[derive(Clone)]
struct Role {
    arn: String,
    session: String,
    policy: Option<String>,
    seconds: u64,
}

impl fmt::Debug for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.arn)
    }
}

impl Access {
    /// Reads settings, the environment and, if one is selected, a profile. A profile that cannot be read counts as empty.
    pub fn read(settings: &Settings<'_>) -> Access {
        let profile = Profile::read(settings);
        let text = |name: &str, variables: &[&str], key: &str| {
            settings.text(name, variables).map(str::to_owned).or_else(|| profile.text(key))
        };
        let access_key = text("access_key", &[env::ALICLOUD_ACCESS_KEY, env::ALICLOUD_ACCESS_KEY_ID], "access_key_id");
        let secret_key =
            text("secret_key", &[env::ALICLOUD_SECRET_KEY, env::ALICLOUD_ACCESS_KEY_SECRET], "access_key_secret");
        Access {
            access_key: access_key.unwrap_or_default(),
            secret_key: Secret::new(secret_key.unwrap_or_default()),
            token: text("security_token", &[env::ALICLOUD_SECURITY_TOKEN], "sts_token").map(Secret::new),
            machine_role: text("ecs_role_name", &[env::ALICLOUD_ECS_ROLE_NAME], "ram_role_name"),
            role: role(settings, &profile),
            sts_endpoint: settings.text("sts_endpoint", &[env::ALICLOUD_STS_ENDPOINT]).map(str::to_owned),
            region: text("region", &[env::ALICLOUD_REGION, env::ALICLOUD_DEFAULT_REGION], "region_id")
                .unwrap_or_default(),
        }
    }

    /// The keys that are there before a role is assumed.
    async fn own(&self, context: &Context) -> Result<Option<Credential>> {
        if let Some(role) = self.machine_role.as_ref().filter(|_| self.access_key.is_empty()) {
            let context = context.clone().with_http_send(Impatient(context.clone(), PATIENCE));
            return EcsRamRoleCredentialProvider::new().with_role_name(role).provide_credential(&context).await;
        }
        if self.access_key.is_empty() || self.secret_key.is_empty() {
            return Err(Error::credential_invalid(NO_KEYS));
        }
        let keys = StaticCredentialProvider::new(&self.access_key, self.secret_key.reveal());
        let keys = match &self.token {
            Some(token) => keys.with_security_token(token.reveal()),
            None => keys,
        };
        keys.provide_credential(context).await
    }
}

fn role(settings: &Settings<'_>, profile: &Profile) -> Option<Role> {
    let number = |value: Option<&Value>| {
        value.and_then(Value::as_number).map(|number| number.as_f64() as u64).filter(|seconds| *seconds > 0)
    };
    let owned = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    let (mut arn, mut session) = (profile.text("ram_role_arn"), profile.text("ram_session_name"));
    let (mut policy, mut seconds) = (None, profile.seconds("expired_seconds"));
    let config = settings.config;
    let block = config.get("assume_role").and_then(|blocks| blocks.elements().first());
    if let Some(set) = settings.text("assume_role_role_arn", &[env::ALICLOUD_ASSUME_ROLE_ARN]) {
        arn = Some(set.to_owned());
        let name = settings.text("assume_role_session_name", &[env::ALICLOUD_ASSUME_ROLE_SESSION_NAME]);
        session = owned(name).or(session);
        policy = owned(settings.text("assume_role_policy", &[]));
        seconds = number(config.get("assume_role_session_expiration")).or(seconds);
    } else if let Some(block) = block {
        let text = |name: &str| owned(block.get(name).and_then(Value::as_str));
        arn = text("role_arn").or(arn);
        session = text("session_name").or(session);
        policy = text("policy");
        seconds = number(block.get("session_expiration"));
    }
    let variable = settings.environment.non_empty(env::ALICLOUD_ASSUME_ROLE_SESSION_EXPIRATION);
    let variable = variable.and_then(|text| text.parse().ok()).filter(|seconds| *seconds > 0);
    Some(Role {
        arn: arn?,
        session: session.unwrap_or_else(|| SESSION_NAME.to_owned()),
        policy,
        seconds: seconds.or(variable).unwrap_or(DURATION),
    })
}

impl ProvideCredential for Access {
    type Credential = Credential;

    async fn provide_credential(&self, context: &Context) -> Result<Option<Credential>> {
        let Some(role) = &self.role else { return self.own(context).await };
        let Some(own) = self.own(context).await? else { return Ok(None) };
        let mut grant = AssumeRoleGrant::new(&role.arn).with_role_session_name(&role.session);
        if let Some(policy) = &role.policy {
            grant = grant.with_policy(policy);
        }
        let mut granter = AssumeRoleGranter::new(grant);
        if let Some(endpoint) = &self.sts_endpoint {
            granter = granter.with_sts_endpoint(endpoint);
        }
        let granter = Granter::new(context.clone(), Own(own), granter);
        granter.grant(Some(Duration::from_secs(role.seconds))).await.map(Some)
    }
}

/// Keys that are there already.
#[derive(Debug)]
struct Own(Credential);

impl ProvideCredential for Own {
    type Credential = Credential;

    async fn provide_credential(&self, _: &Context) -> Result<Option<Credential>> {
        Ok(Some(self.0.clone()))
    }
}

/// An entry of the file that Alibaba Cloud's command line writes. Its mode says which of its values count.
#[derive(Default)]
struct Profile(Json);

impl Profile {
    fn read(settings: &Settings<'_>) -> Profile {
        Profile::find(settings).unwrap_or_default()
    }

    fn find(settings: &Settings<'_>) -> Option<Profile> {
        let name = settings.text("profile", &[env::ALICLOUD_PROFILE])?;
        let path = match settings.text("shared_credentials_file", &[env::ALICLOUD_SHARED_CREDENTIALS_FILE]) {
            Some(path) => settings.folder_of("shared_credentials_file").join(home_expanded(path, settings.environment)),
            None => home(settings.environment)?.join(".aliyun/config.json"),
        };
        let file: Json = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        let profiles = file["profiles"].as_array()?;
        profiles.iter().rfind(|profile| profile["name"] == name).map(|profile| Profile(profile.clone()))
    }

    fn text(&self, key: &str) -> Option<String> {
        let mode = self.0["mode"].as_str()?;
        let counts = match key {
            "access_key_id" | "access_key_secret" => mode != "EcsRamRole",
            "ram_role_name" => mode == "EcsRamRole",
            "sts_token" => mode == "StsToken",
            "ram_role_arn" | "ram_session_name" => mode == "RamRoleArn",
            _ => true,
        };
        self.0[key].as_str().filter(|text| counts && !text.is_empty()).map(str::to_owned)
    }

    fn seconds(&self, key: &str) -> Option<u64> {
        self.0[key].as_u64().filter(|seconds| *seconds > 0 && self.0["mode"] == "RamRoleArn")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use base::env::Environment;
    use base::stop::Stop;
    use bytes::Bytes;
    use net::cloud;
    use reqsign_core::HttpSend;

    use super::*;

    /// The metadata service and the token service; keeps what it was asked.
    #[derive(Clone, Debug, Default)]
    struct Services(Arc<Mutex<Vec<String>>>);

    impl HttpSend for Services {
        async fn http_send(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>> {
            let uri = request.uri().to_string();
            self.0.lock().unwrap().push(uri.clone());
            let keys = |id: &str| {
                format!(
                    r#""AccessKeyId":"{id}","AccessKeySecret":"s","SecurityToken":"t","Expiration":"2099-01-01T00:00:00Z""#
                )
            };
            let text = match uri {
                uri if uri.ends_with("/security-credentials/machine") => {
                    format!(r#"{{"Code":"Success",{}}}"#, keys("M"))
                }
                uri if uri.contains("Action=AssumeRole") => format!(r#"{{"Credentials":{{{}}}}}"#, keys("R")),
                _ => String::new(),
            };
            let status = if text.is_empty() { 404 } else { 200 };
            Ok(http::Response::builder().status(status).body(Bytes::from(text)).unwrap())
        }
    }

    /// Access key, secret and token of what is found, and what was asked for it.
    async fn found(settings: &[(&str, &str)], variables: &[(&str, &str)]) -> (String, Vec<String>) {
        let config = Value::object(settings.iter().map(|(name, text)| (*name, Value::string(*text))));
        let environment = Environment::of(variables.iter().copied());
        let access = Access::read(&Settings { config: &config, environment: &environment, folder: Path::new("") });
        let services = Services::default();
        let context = cloud::context(&environment, &Stop::new(), services.clone());
        let keys = access.provide_credential(&context).await.unwrap().unwrap();
        let token = keys.security_token.unwrap_or_default();
        let asked = services.0.lock().unwrap().clone();
        (format!("{} {} {token} {}", keys.access_key_id, keys.access_key_secret, access.region), asked)
    }

    #[tokio::test]
    async fn settings_are_above_variables_and_profiles() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".aliyun")).unwrap();
        let profiles = r#"{"profiles":[
            {"name":"ak","mode":"AK","access_key_id":"P","access_key_secret":"p","sts_token":"no","region_id":"cn-x"},
            {"name":"sts","mode":"StsToken","access_key_id":"Q","access_key_secret":"q","sts_token":"yes"},
            {"name":"ecs","mode":"EcsRamRole","access_key_id":"no","ram_role_name":"machine"},
            {"name":"ram","mode":"RamRoleArn","access_key_id":"P","access_key_secret":"p","ram_role_arn":"acs:r","expired_seconds":900}]}"#;
        std::fs::write(folder.path().join(".aliyun/config.json"), profiles).unwrap();
        let home = ("HOME", folder.path().to_str().unwrap());
        let keys = [("access_key", "A"), ("secret_key", "a")];
        assert_eq!(found(&keys, &[("ALICLOUD_ACCESS_KEY", "V")]).await.0, "A a  ");
        let variables =
            [("ALICLOUD_ACCESS_KEY_ID", "V"), ("ALICLOUD_ACCESS_KEY_SECRET", "v"), ("ALICLOUD_REGION", "r")];
        assert_eq!(found(&[], &variables).await.0, "V v  r");
        assert_eq!(found(&[("profile", "ak")], &[home]).await.0, "P p  cn-x");
        assert_eq!(found(&[("region", "r")], &[home, ("ALICLOUD_PROFILE", "sts")]).await.0, "Q q yes r");
        let file = format!("{}/.aliyun/config.json", home.1);
        let (keys, asked) = found(&[("profile", "ecs"), ("shared_credentials_file", &file)], &[]).await;
        assert_eq!((keys.as_str(), asked.len()), ("M s t ", 2));
        let (keys, asked) = found(&[("profile", "ram")], &[home]).await;
        assert_eq!((keys.as_str(), asked.len()), ("R s t ", 1));
        assert!(asked[0].contains("RoleArn=acs%3Ar&RoleSessionName=terraform&"), "{asked:?}");
        assert!(asked[0].contains("DurationSeconds=900&"), "{asked:?}");
    }

    #[tokio::test]
    async fn roles_are_assumed_with_the_keys_that_are_there() {
        let settings = [("ecs_role_name", "machine"), ("assume_role_role_arn", "acs:a"), ("sts_endpoint", "sts.test")];
        let variables =
            [("ALICLOUD_ASSUME_ROLE_SESSION_NAME", "me"), ("ALICLOUD_ASSUME_ROLE_SESSION_EXPIRATION", "1000")];
        let (keys, asked) = found(&settings, &variables).await;
        assert_eq!(keys, "R s t ");
        let last = asked.last().unwrap();
        assert!(last.starts_with("https://sts.test/?AccessKeyId=M&Action=AssumeRole&DurationSeconds=1000&"), "{last}");
        assert!(last.contains("RoleSessionName=me&SecurityToken=t&"), "{last}");
    }
}
