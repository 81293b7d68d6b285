//! Which source of credentials counts, found out from profiles and the environment without asking any of them.
//!
//! The order is that of the AWS SDK for Go, version 2, which the reference uses.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use base::env::{self, Environment};
use reqsign_aws_v4::Credential;

use super::Role;
use super::profiles::{Profiles, Section};

/// Where credentials come from.
#[derive(Clone, Debug)]
pub enum Source {
    Keys(Credential),
    /// A file with a token of an identity provider, for a role.
    WebIdentity {
        token_file: String,
        role: Role,
    },
    Sso(Sso),
    /// A command line whose output has keys.
    Process(String),
    Container,
    Machine,
    /// A role that the credentials of another source are exchanged for.
    Role(Box<Source>, Role),
}

/// IAM Identity Center.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sso {
    pub account: String,
    pub role: String,
    pub region: String,
    /// The session's name, or the start page's address where there is no session: what the cached token's file is named by.
    pub cache_key: String,
}

/// Why the environment and the profiles name no source, in the words of the SDK.
#[derive(Debug, PartialEq, Eq)]
pub enum SourceError {
    /// A file with a token needs a role.
    NoRole,
    NoProfile(String),
    /// A role's source profile has no credentials.
    RoleSource {
        arn: String,
        profile: String,
    },
    NotInContainer,
    UnknownSource,
    Mfa,
    NoSession(String),
    /// A setting of single sign-on that is missing.
    Sso(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::NoRole => f.write_str("role ARN is not set"),
            SourceError::NoProfile(name) => write!(f, "failed to get shared config profile, {name}"),
            SourceError::RoleSource { arn, profile } => {
                write!(f, "failed to load assume role {arn}, of profile {profile}, <nil>")
            }
            SourceError::NotInContainer => f.write_str(
                "EcsContainer was specified as the credential_source, but neither 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI' or AWS_CONTAINER_CREDENTIALS_FULL_URI' was set",
            ),
            SourceError::UnknownSource => {
                f.write_str("credential_source values must be EcsContainer, Ec2InstanceMetadata, or Environment")
            }
            SourceError::Mfa => {
                f.write_str("assume role with MFA enabled, but AssumeRoleTokenProvider session option not set.")
            }
            SourceError::NoSession(name) => write!(f, "failed to find SSO session section, {name}"),
            SourceError::Sso(name) => {
                write!(f, "profile is configured to use SSO but is missing required configuration: {name}")
            }
        }
    }
}

/// Decides by the environment and a profile. `explicit` is a profile that the caller names, which goes before keys of the
/// environment.
pub fn decide(profiles: &Profiles, explicit: Option<&str>, environment: &Environment) -> Result<Source, SourceError> {
    if explicit.is_none() {
        if let Some(keys) = environment_keys(environment) {
            return Ok(Source::Keys(keys));
        }
        if let Some(file) = environment.non_empty(env::AWS_WEB_IDENTITY_TOKEN_FILE) {
            let arn = environment.non_empty(env::AWS_ROLE_ARN).ok_or(SourceError::NoRole)?.to_owned();
            let session_name = environment.non_empty(env::AWS_ROLE_SESSION_NAME).map(str::to_owned);
            return Ok(Source::WebIdentity {
                token_file: file.into(),
                role: Role { arn, session_name, ..Role::default() },
            });
        }
    }
    let of_environment =
        || environment.non_empty(env::AWS_PROFILE).or_else(|| environment.non_empty(env::AWS_DEFAULT_PROFILE));
    match explicit.or_else(of_environment) {
        Some(name) => of_profile(profiles, name, environment, &mut BTreeSet::new()),
        None if profiles.profile("default").is_none() => Ok(of_surroundings(environment)),
        None => of_profile(profiles, "default", environment, &mut BTreeSet::new()),
    }
}

fn environment_keys(environment: &Environment) -> Option<Credential> {
    let first = |names: [&str; 2]| names.iter().find_map(|name| environment.non_empty(name)).map(str::to_owned);
    Some(Credential {
        access_key_id: first([env::AWS_ACCESS_KEY_ID, env::AWS_ACCESS_KEY])?,
        secret_access_key: first([env::AWS_SECRET_ACCESS_KEY, env::AWS_SECRET_KEY])?,
        session_token: environment.non_empty(env::AWS_SESSION_TOKEN).map(str::to_owned),
        expires_in: None,
    })
}

fn of_surroundings(environment: &Environment) -> Source {
    let names = [env::AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, env::AWS_CONTAINER_CREDENTIALS_FULL_URI];
    if names.iter().any(|name| environment.non_empty(name).is_some()) { Source::Container } else { Source::Machine }
}

fn profile_keys(section: &Section) -> Option<Credential> {
    let get = |name: &str| section.get(name).filter(|value| !value.is_empty()).cloned();
    Some(Credential {
        access_key_id: get("aws_access_key_id")?,
        secret_access_key: get("aws_secret_access_key")?,
        session_token: get("aws_session_token"),
        expires_in: None,
    })
}

fn of_profile(
    profiles: &Profiles,
    name: &str,
    environment: &Environment,
    seen: &mut BTreeSet<String>,
) -> Result<Source, SourceError> {
    let section = profiles.profile(name).ok_or_else(|| SourceError::NoProfile(name.to_owned()))?;
    let get = |name: &str| section.get(name).filter(|value| !value.is_empty());
    let keys = profile_keys(section);
    let first_time = seen.insert(name.to_owned());
    // A profile that is the source of another, or of itself, gives its own keys before its role counts.
    if let Some(keys) = &keys
        && (seen.len() > 1 || !first_time)
    {
        return Ok(Source::Keys(keys.clone()));
    }
    if !first_time {
        return own_credentials(profiles, section, environment);
    }
    let Some(role) = role(section)? else { return own_credentials(profiles, section, environment) };
    if let Some(source) = get("source_profile") {
        if source == name && keys.is_none() {
            return Err(missing_source(&role.arn, source));
        }
        let found = of_profile(profiles, source, environment, seen).map_err(|_| missing_source(&role.arn, source))?;
        return match found {
            // A profile without credentials is not a source.
            Source::Container | Source::Machine => Err(missing_source(&role.arn, source)),
            found => Ok(Source::Role(Box::new(found), role)),
        };
    }
    if let Some(file) = get("web_identity_token_file") {
        return Ok(Source::WebIdentity { token_file: file.clone(), role });
    }
    let source = own_credentials(profiles, section, environment)?;
    Ok(Source::Role(Box::new(source), role))
}

fn missing_source(arn: &str, profile: &str) -> SourceError {
    SourceError::RoleSource { arn: arn.to_owned(), profile: profile.to_owned() }
}

/// What a profile has besides a role.
fn own_credentials(profiles: &Profiles, section: &Section, environment: &Environment) -> Result<Source, SourceError> {
    let get = |name: &str| section.get(name).filter(|value| !value.is_empty());
    if let Some(keys) = profile_keys(section) {
        return Ok(Source::Keys(keys));
    }
    if let Some(source) = get("credential_source") {
        return match source.as_str() {
            "Ec2InstanceMetadata" => Ok(Source::Machine),
            "Environment" => Ok(Source::Keys(environment_keys(environment).unwrap_or_default())),
            "EcsContainer" if matches!(of_surroundings(environment), Source::Container) => Ok(Source::Container),
            "EcsContainer" => Err(SourceError::NotInContainer),
            _ => Err(SourceError::UnknownSource),
        };
    }
    if let Some(sso) = sso(profiles, section)? {
        return Ok(Source::Sso(sso));
    }
    Ok(match get("credential_process") {
        Some(command) => Source::Process(command.clone()),
        None => of_surroundings(environment),
    })
}

fn role(section: &Section) -> Result<Option<Role>, SourceError> {
    let get = |name: &str| section.get(name).filter(|value| !value.is_empty()).cloned();
    let Some(arn) = get("role_arn") else { return Ok(None) };
    if get("mfa_serial").is_some() {
        return Err(SourceError::Mfa);
    }
    let seconds = get("duration_seconds").and_then(|text| text.parse().ok());
    Ok(Some(Role {
        arn,
        session_name: get("role_session_name"),
        external_id: get("external_id"),
        duration: seconds.map(Duration::from_secs),
        ..Role::default()
    }))
}

fn sso(profiles: &Profiles, section: &Section) -> Result<Option<Sso>, SourceError> {
    let names = ["sso_session", "sso_account_id", "sso_region", "sso_role_name", "sso_start_url"];
    if names.iter().all(|name| !section.contains_key(*name)) {
        return Ok(None);
    }
    let (session, from) = match section.get("sso_session") {
        Some(name) => {
            let found = profiles.session(name);
            (Some(name), found.ok_or_else(|| SourceError::NoSession(name.clone()))?)
        }
        None => (None, section),
    };
    let need =
        |section: &Section, name: &str| section.get(name).cloned().ok_or_else(|| SourceError::Sso(name.to_owned()));
    Ok(Some(Sso {
        account: need(section, "sso_account_id")?,
        role: need(section, "sso_role_name")?,
        region: need(from, "sso_region")?,
        cache_key: match session {
            Some(name) => name.clone(),
            None => need(from, "sso_start_url")?,
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "
[default]
credential_process = /bin/keys 'a b'
[profile chain]
role_arn = arn:2
source_profile = middle
duration_seconds = 900
[profile middle]
role_arn = arn:1
external_id = e
source_profile = base
[profile self]
role_arn = arn:s
source_profile = self
aws_access_key_id = S
aws_secret_access_key = s
[profile loop]
role_arn = arn:l
source_profile = loop
[profile web]
role_arn = arn:w
web_identity_token_file = /t
[profile machine]
role_arn = arn:m
credential_source = Ec2InstanceMetadata
[profile sso]
sso_session = corp
sso_account_id = 1
sso_role_name = r
[sso-session corp]
sso_region = eu-west-1
sso_start_url = https://x
[profile old-sso]
sso_start_url = https://x
sso_region = us-east-1
sso_account_id = 2
sso_role_name = q
[profile mfa]
role_arn = arn:a
mfa_serial = x
source_profile = base
[profile nothing]
region = x
";

    fn check(explicit: Option<&str>, variables: &[(&str, &str)], expected: &str) {
        let mut profiles = Profiles::default();
        profiles.add_config(CONFIG);
        profiles.add_credentials("[base]\naws_access_key_id = B\naws_secret_access_key = b\n");
        let environment = Environment::of(variables.iter().copied());
        let found = match decide(&profiles, explicit, &environment) {
            Ok(source) => describe(&source),
            Err(why) => why.to_string(),
        };
        assert_eq!(found, expected, "{explicit:?} {variables:?}");
    }

    fn describe(source: &Source) -> String {
        match source {
            Source::Keys(keys) => format!("keys {}", keys.access_key_id),
            Source::WebIdentity { token_file, role } => format!("web {token_file} {}", role.arn),
            Source::Sso(sso) => format!("sso {} {} {} {}", sso.account, sso.role, sso.region, sso.cache_key),
            Source::Process(command) => format!("process {command}"),
            Source::Container => "container".into(),
            Source::Machine => "machine".into(),
            Source::Role(source, role) => format!("{} > {}", describe(source), role.arn),
        }
    }

    #[test]
    fn sources_are_taken_in_order() {
        let keys = [("AWS_ACCESS_KEY_ID", "E"), ("AWS_SECRET_ACCESS_KEY", "e")];
        check(None, &[], "process /bin/keys 'a b'");
        check(None, &keys, "keys E");
        check(Some("base"), &keys, "keys B");
        check(None, &[("AWS_PROFILE", "base")], "keys B");
        check(None, &[("AWS_WEB_IDENTITY_TOKEN_FILE", "/f"), ("AWS_ROLE_ARN", "arn:e")], "web /f arn:e");
        check(Some("chain"), &[], "keys B > arn:1 > arn:2");
        check(Some("self"), &[], "keys S > arn:s");
        check(Some("web"), &[], "web /t arn:w");
        check(Some("machine"), &[], "machine > arn:m");
        check(Some("sso"), &[], "sso 1 r eu-west-1 corp");
        check(Some("old-sso"), &[], "sso 2 q us-east-1 https://x");
        check(Some("nothing"), &[], "machine");
        check(Some("nothing"), &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1/")], "container");
        check(Some("loop"), &[], "failed to load assume role arn:l, of profile loop, <nil>");
        check(Some("none"), &[], "failed to get shared config profile, none");
        check(Some("mfa"), &[], "assume role with MFA enabled, but AssumeRoleTokenProvider session option not set.");
    }
}
