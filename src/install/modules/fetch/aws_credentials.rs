//! Which AWS credentials open an object in S3: those of the address, or those that the AWS tools would use.
//!
//! Owns what addresses say about credentials, and when a request may go out without any. Never knows how sources are asked: that is
//! `net::aws`.

use std::fmt::Display;

use base::env::{self, Environment};
use net::aws::sources::Source;
use net::aws::{AwsLogin, credentials};
use reqsign_aws_v4::Credential;
use reqsign_core::Context;

use super::FetchError;
use super::address::Address;

/// Takes what the address says of credentials out of it, and finds those to sign with; none: the request goes out unsigned.
/// `at_home`: the store is Amazon's own, so that the machine may be as well.
pub async fn find(
    address: &mut Address,
    at_home: bool,
    environment: &Environment,
    context: &Context,
) -> Result<Option<Credential>, FetchError> {
    let [id, secret, token] =
        ["aws_access_key_id", "aws_access_key_secret", "aws_access_token"].map(|name| address.take(name));
    let profile = address.take("aws_profile");
    if id.is_some() || secret.is_some() || token.is_some() {
        let (Some(access_key_id), Some(secret_access_key)) = (id, secret) else {
            let why = "aws_access_key_id and aws_access_key_secret must be given together";
            return Err(FetchError::new(why));
        };
        return Ok(Some(Credential { access_key_id, secret_access_key, session_token: token, expires_in: None }));
    }
    let failed = |why: &dyn Display| {
        FetchError::new(match &profile {
            Some(profile) => format!("no keys for the AWS profile {profile:?}: {why}"),
            None => format!("requesting AWS credentials: {why}"),
        })
    };
    let settings = settings(profile.clone(), environment);
    let source = credentials::source(&settings, environment).await.map_err(|why| failed(&why))?;
    let may_be_machine = at_home || environment.non_empty(env::AWS_EC2_METADATA_SERVICE_ENDPOINT).is_some();
    if matches!(source, Source::Machine) && !may_be_machine {
        return match profile {
            Some(_) => Err(failed(&"it has none")),
            None => Ok(None),
        };
    }
    match credentials::request(&source, &settings, environment, context).await {
        Ok(keys) => Ok(Some(keys)),
        // Without an answer, the object may still be public.
        Err(_) if matches!(source, Source::Machine) && profile.is_none() => Ok(None),
        Err(why) => Err(failed(&why)),
    }
}

fn settings(profile: Option<String>, environment: &Environment) -> AwsLogin {
    let set = |name: &str| environment.non_empty(name).map(str::to_owned);
    let region = set(env::AWS_REGION).or_else(|| set(env::AWS_DEFAULT_REGION));
    AwsLogin {
        profile,
        region: region.unwrap_or_else(|| "us-east-1".to_owned()),
        sts_endpoint: set(env::AWS_ENDPOINT_URL_STS),
        ..AwsLogin::default()
    }
}
