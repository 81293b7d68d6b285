//! The `s3` backend: states in a bucket of Amazon S3 or of a store with the same interface, locked by objects beside them or by items
//! of a DynamoDB table.
//!
//! Owns the settings, the two services' interfaces and the layout in the store. Never knows the content of states, and of credentials only
//! that requests are signed.

mod check;
mod client;
mod locks;
mod schema;
mod settings;
mod store;
mod table;
mod values;

use std::sync::Arc;

use async_trait::async_trait;
use client::Objects;
use net::aws::credentials::{self, Provided};
use net::aws::{Problem, regions, sts};
use net::cloud;
use net::http::Client;
use settings::{All, BucketSettings};
use store::{Location, S3Backend};
use table::Table;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use crate::contract::Context;
use crate::kinds::{Kind, Opened};

/// The kind of this backend.
pub struct S3;

#[async_trait]
impl Kind for S3 {
    fn name(&self) -> &'static str {
        "s3"
    }

    fn schema(&self) -> Block {
        schema::schema()
    }

    fn check(&self, config: &Value, context: &Context) -> Vec<ProviderDiagnostic> {
        check::check(config, &context.environment)
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let all = settings::read(config, &context.environment, &context.folder)?;
        let failed = |problem: Problem| vec![ProviderDiagnostic::error(problem.summary, problem.detail)];
        let client = Client::build(all.web.clone()).map_err(|why| failed(Problem::new(why, "")))?;
        let surroundings = cloud::client_context(&context.environment, &client);
        let found = credentials::find(&all.credentials, &context.environment, &surroundings).await.map_err(failed)?;
        let account = account(&all, &surroundings, &found).await.map_err(failed)?;
        verify(&all.store, &account).map_err(failed)?;
        let provided = Provided::new(&all.credentials, &context.environment, found);
        let signer =
            reqsign_core::Signer::new(surroundings, provided, credentials::request_signer("s3", &all.store.region));
        let table = all.store.table.clone().map(|name| Table {
            client: client.clone(),
            signer: credentials::for_service(&signer, "dynamodb", &all.store.region),
            endpoint: all.store.table_endpoint.clone().unwrap_or_else(|| {
                format!("https://{}", regions::host("dynamodb", &all.store.region, all.store.variant))
            }),
            name,
        });
        let place = Location { objects: Objects::new(client, signer, all.store), table };
        Ok(Opened::States(Arc::new(S3Backend { place: Arc::new(place), context: context.clone() })))
    }
}

/// The account of the credentials. Empty if it is not needed.
async fn account(
    all: &All,
    context: &reqsign_core::Context,
    keys: &reqsign_aws_v4::Credential,
) -> Result<String, Problem> {
    let settings = &all.store;
    let restricted = !settings.allowed_accounts.is_empty() || !settings.forbidden_accounts.is_empty();
    if settings.skip_validation && (settings.skip_account || !restricted) {
        return Ok(String::new());
    }
    match sts::caller_identity(&all.credentials, context, keys).await {
        Ok(identity) => Ok(identity.account),
        Err(why) if settings.skip_validation => Err(Problem::new(
            format!(
                "Retrieving AWS account details: AWS account ID not previously found and failed retrieving via all available methods.\n\nErrors: {why}"
            ),
            "",
        )),
        Err(why) => Err(Problem::new(
            format!("validating provider credentials: retrieving caller identity from STS: {why}"),
            "",
        )),
    }
}

fn verify(settings: &BucketSettings, account: &str) -> Result<(), Problem> {
    let is_in = |accounts: &[String]| accounts.iter().any(|id| id == account);
    let refused = is_in(&settings.forbidden_accounts)
        || (!settings.allowed_accounts.is_empty() && !is_in(&settings.allowed_accounts));
    match refused {
        true => Err(Problem::new("Invalid account ID", format!("AWS account ID not allowed: {account}"))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests;
