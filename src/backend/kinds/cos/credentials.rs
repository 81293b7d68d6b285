//! Keys of Tencent Cloud: from settings, a profile or the role of a machine, and those of a role that they may assume.

use std::time::Duration;

use base::env;
use jiff::Timestamp;
use net::cloud::{home, home_expanded};
use net::percent::encoded;
use reqsign_core::Context;
use reqsign_tencent_cos::Credential;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use terrane_value::Value;
use tokio::sync::Mutex;

use super::api::{Api, Repeat};
use crate::contract::StoreError;
use crate::contract::settings::Settings;

const ROLE_SECONDS: u64 = 7200;
const METADATA: &str = "http://metadata.tencentyun.com/latest/meta-data/cam/security-credentials/";
/// Timeout of the metadata service, which is on the same machine.
const PATIENCE: Duration = Duration::from_secs(2);
/// Keys are renewed so long before they expire, in seconds.
const MARGIN: i64 = 300;

/// Where keys come from.
pub struct Access {
    own: Credential,
    /// The role of the machine, above the settings.
    machine_role: Option<String>,
    role: Option<Role>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Role {
    arn: String,
    session: String,
    seconds: u64,
    policy: Option<String>,
    external_id: Option<String>,
}

/// Keys that are renewed before they expire.
pub struct Keys {
    access: Access,
    api: Api,
    context: Context,
    found: Mutex<Option<(Credential, Option<Timestamp>)>>,
}

impl Access {
    /// Reads settings, the environment and, without keys in either, a profile. A profile that cannot be read counts as empty.
    pub fn read(settings: &Settings<'_>) -> Result<Access, StoreError> {
        let text = |name: &str, variable: &str| settings.text(name, &[variable]).unwrap_or_default().to_owned();
        let mut own = Credential {
            secret_id: text("secret_id", env::TENCENTCLOUD_SECRET_ID),
            secret_key: text("secret_key", env::TENCENTCLOUD_SECRET_KEY),
            security_token: Some(text("security_token", env::TENCENTCLOUD_SECURITY_TOKEN)).filter(|t| !t.is_empty()),
            expires_in: None,
        };
        let is_set = !own.secret_id.is_empty() || !own.secret_key.is_empty() || own.security_token.is_some();
        let profile = if is_set { Json::Null } else { profile(settings).unwrap_or_default() };
        let of_profile = |name: &str| profile[name].as_str().unwrap_or_default().trim().to_owned();
        if !is_set {
            own.secret_id = of_profile("secretId");
            own.secret_key = of_profile("secretKey");
            own.security_token = Some(of_profile("token")).filter(|token| !token.is_empty());
        }
        let role = role(settings, of_profile("role-arn"), of_profile("role-session-name"))?;
        let machine_role = settings.text("cam_role_name", &[env::TENCENTCLOUD_CAM_ROLE_NAME]).map(str::to_owned);
        Ok(Access { own, machine_role, role })
    }
}

/// The file that Tencent Cloud's command line writes.
fn profile(settings: &Settings<'_>) -> Option<Json> {
    let name = settings.text("profile", &[env::TENCENTCLOUD_PROFILE]).unwrap_or("default");
    let folder = match settings.text("shared_credentials_dir", &[env::TENCENTCLOUD_SHARED_CREDENTIALS_DIR]) {
        Some(path) => settings.folder_of("shared_credentials_dir").join(home_expanded(path, settings.environment)),
        None => home(settings.environment)?.join(".tccli"),
    };
    serde_json::from_slice(&std::fs::read(folder.join(format!("{name}.credential"))).ok()?).ok()
}

/// The role of the block, else of the environment, else of the profile.
fn role(settings: &Settings<'_>, mut arn: String, mut session: String) -> Result<Option<Role>, StoreError> {
    let variable = |name: &str| settings.environment.non_empty(name).unwrap_or_default().to_owned();
    let (mut seconds, mut policy, mut external_id) = (ROLE_SECONDS, None, None);
    let given = (variable(env::TENCENTCLOUD_ASSUME_ROLE_ARN), variable(env::TENCENTCLOUD_ASSUME_ROLE_SESSION_NAME));
    let duration = variable(env::TENCENTCLOUD_ASSUME_ROLE_SESSION_DURATION);
    let of_variable = || match duration.as_str() {
        "" => Ok(ROLE_SECONDS),
        text => text.parse::<u64>().map_err(|_| format!("strconv.Atoi: parsing {text:?}: invalid syntax")),
    };
    let id = Some(variable(env::TENCENTCLOUD_ASSUME_ROLE_EXTERNAL_ID)).filter(|id| !id.is_empty());
    if !given.0.is_empty() && !given.1.is_empty() {
        (arn, session) = given.clone();
        seconds = of_variable()?;
        external_id = id.clone();
    }
    if let Some(block) = settings.config.get("assume_role").and_then(|blocks| blocks.elements().first()) {
        let text = |name: &str| block.get(name).and_then(Value::as_str).map(str::to_owned);
        arn = text("role_arn").unwrap_or(given.0);
        session = text("session_name").unwrap_or(given.1);
        seconds = match block.get("session_duration").and_then(Value::as_number) {
            Some(number) => number.as_f64() as u64,
            None => of_variable()?,
        };
        policy = text("policy").filter(|policy| !policy.is_empty());
        external_id = text("external_id").or(id).filter(|id| !id.is_empty());
    }
    let is_set = !arn.is_empty() && !session.is_empty();
    Ok(is_set.then_some(Role { arn, session, seconds, policy, external_id }))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct MachineKeys {
    tmp_secret_id: String,
    tmp_secret_key: String,
    token: String,
    #[serde(default)]
    expired_time: i64,
}

impl Keys {
    pub fn new(access: Access, api: Api, context: Context) -> Keys {
        Keys { access, api, context, found: Mutex::default() }
    }

    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The keys, requested if they are not there or expire soon.
    pub async fn get(&self) -> Result<Credential, StoreError> {
        let mut found = self.found.lock().await;
        if let Some((keys, expiry)) = &*found
            && expiry.is_none_or(|expiry| expiry.as_second() > Timestamp::now().as_second() + MARGIN)
        {
            return Ok(keys.clone());
        }
        let (keys, expiry) = self.find().await?;
        *found = Some((keys.clone(), expiry));
        Ok(keys)
    }

    async fn find(&self) -> Result<(Credential, Option<Timestamp>), StoreError> {
        let (own, expiry) = match &self.access.machine_role {
            Some(role) => self.of_machine(role).await?,
            None => (self.access.own.clone(), None),
        };
        if own.secret_id.is_empty() || own.secret_key.is_empty() {
            return Err(
                "there are no credentials: secret_id and secret_key are not set, nor is there a profile or a role"
                    .into(),
            );
        }
        match &self.access.role {
            Some(role) => self.of_role(role, &own).await,
            None => Ok((own, expiry)),
        }
    }

    async fn of_machine(&self, role: &str) -> Result<(Credential, Option<Timestamp>), StoreError> {
        let request = http::Request::get(format!("{METADATA}{role}")).body(bytes::Bytes::new());
        let request = request.map_err(|e| e.to_string())?;
        let late = |_| format!("no keys of the role {role:?} within {} s", PATIENCE.as_secs());
        let answer = tokio::time::timeout(PATIENCE, self.context.http_send(request)).await.map_err(late)?;
        let answer = answer.map_err(|e| e.to_string())?;
        let keys: MachineKeys = serde_json::from_slice(answer.body())
            .map_err(|_| format!("there are no keys of the role {role:?}: status {}", answer.status().as_u16()))?;
        let expiry = Timestamp::from_second(keys.expired_time).ok().filter(|_| keys.expired_time > 0);
        let found = Credential {
            secret_id: keys.tmp_secret_id,
            secret_key: keys.tmp_secret_key,
            security_token: Some(keys.token),
            expires_in: None,
        };
        Ok((found, expiry))
    }

    async fn of_role(&self, role: &Role, own: &Credential) -> Result<(Credential, Option<Timestamp>), StoreError> {
        let mut input =
            json!({ "RoleArn": role.arn, "RoleSessionName": role.session, "DurationSeconds": role.seconds });
        if let Some(policy) = &role.policy {
            input["Policy"] = encoded(policy, false).into();
        }
        if let Some(id) = &role.external_id {
            input["ExternalId"] = id.as_str().into();
        }
        let answer = self.api.call(("sts", "AssumeRole"), &input, own, Repeat::Allowed).await;
        let answer = answer.map_err(|why| why.to_string())?;
        let keys = &answer["Credentials"];
        let text = |name: &str| keys[name].as_str().unwrap_or_default().to_owned();
        let expiry = answer["ExpiredTime"].as_i64().and_then(|seconds| Timestamp::from_second(seconds).ok());
        let found = Credential {
            secret_id: text("TmpSecretId"),
            secret_key: text("TmpSecretKey"),
            security_token: Some(text("Token")),
            expires_in: None,
        };
        Ok((found, expiry))
    }
}
