//! A DynamoDB table with locks and checksums, over DynamoDB's JSON interface.

use std::time::Duration;

use bytes::Bytes;
use gotext::hex::hex;
use http::Request;
use net::aws::{ServiceError, unanswered};
use net::cloud;
use net::http::Client;
use reqsign_aws_v4::Credential;
use reqsign_core::Signer;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::objects::failure::Failure;

/// How often a request is sent that the table has no capacity for.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(500);

/// Temporary errors with a status of permanent ones.
const PASSING: [&str; 5] = [
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "Throttling",
    "TransactionInProgressException",
];

pub struct Table {
    pub client: Client,
    pub signer: Signer<Credential>,
    /// With its scheme.
    pub endpoint: String,
    pub name: String,
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "__type", default)]
    kind: String,
    #[serde(alias = "Message", default)]
    message: String,
}

impl Table {
    /// Writes an item with one attribute besides its id; with `new`, only where there is none. Gives how often it was sent.
    pub async fn put(&self, id: &str, attribute: &str, value: &str, new: bool) -> Result<u32, Failure> {
        let mut input = json!({
            "TableName": self.name,
            "Item": { "LockID": { "S": id }, attribute: { "S": value } },
        });
        if new {
            input["ConditionExpression"] = "attribute_not_exists(LockID)".into();
        }
        self.call("PutItem", &input).await.map(|(_, attempts)| attempts)
    }

    /// Writes an item with these attributes besides its id, those with a value.
    pub async fn put_all(&self, id: &str, attributes: &[(&str, Option<&str>)]) -> Result<(), Failure> {
        let mut item = json!({ "LockID": { "S": id } });
        for (name, value) in attributes {
            if let Some(value) = value {
                item[*name] = json!({ "S": value });
            }
        }
        self.call("PutItem", &json!({ "TableName": self.name, "Item": item })).await.map(|_| ())
    }

    /// An attribute of an item; None if there is none.
    pub async fn get(&self, id: &str, attribute: &str) -> Result<Option<String>, Failure> {
        let [value] = self.get_all(id, [attribute]).await?;
        Ok(value)
    }

    /// Attributes of an item, as far as there are any.
    pub async fn get_all<const N: usize>(&self, id: &str, names: [&str; N]) -> Result<[Option<String>; N], Failure> {
        let input = json!({
            "TableName": self.name,
            "Key": { "LockID": { "S": id } },
            "ProjectionExpression": format!("LockID, {}", names.join(", ")),
            "ConsistentRead": true,
        });
        let (output, _) = self.call("GetItem", &input).await?;
        Ok(names.map(|name| output["Item"][name]["S"].as_str().map(str::to_owned)))
    }

    pub async fn delete(&self, id: &str) -> Result<(), Failure> {
        let input = json!({ "TableName": self.name, "Key": { "LockID": { "S": id } } });
        self.call("DeleteItem", &input).await.map(|_| ())
    }

    async fn call(&self, name: &str, input: &Json) -> Result<(Json, u32), Failure> {
        let mut refused = 0;
        loop {
            match self.attempt(name, input).await {
                Ok((output, attempts)) => return Ok((output, refused + attempts)),
                Err(failure) if PASSING.contains(&failure.code.as_str()) && refused + 1 < ATTEMPTS => {
                    tokio::time::sleep(PAUSE * 2u32.pow(refused)).await;
                }
                Err(failure) => return Err(failure),
            }
            refused += 1;
        }
    }

    async fn attempt(&self, name: &str, input: &Json) -> Result<(Json, u32), Failure> {
        let operation = format!("DynamoDB: {name}");
        let failed = |why: &dyn std::fmt::Display| Failure::unanswered(unanswered(&operation, why));
        let body = Bytes::from(input.to_string());
        let request = Request::post(format!("{}/", self.endpoint.trim_end_matches('/')))
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", format!("DynamoDB_20120810.{name}"))
            .header("x-amz-content-sha256", hex(&Sha256::digest(&body)))
            .body(body)
            .map_err(|e| failed(&e))?;
        let (mut head, body) = request.into_parts();
        self.signer.sign(&mut head, None).await.map_err(|e| failed(&e))?;
        let answer = cloud::send(&self.client, Request::from_parts(head, body)).await.map_err(|e| failed(&e))?;
        if answer.status.is_success() {
            let output = serde_json::from_slice(&answer.body);
            return output.map(|output| (output, answer.attempts)).map_err(|e| failed(&e));
        }
        let error_body = serde_json::from_slice::<ErrorBody>(&answer.body).ok();
        let code = error_body
            .as_ref()
            .map(|body| body.kind.rsplit('#').next().unwrap_or_default())
            .filter(|code| !code.is_empty());
        let error = ServiceError {
            operation,
            status: answer.status.as_u16(),
            request_id: answer.header("x-amzn-requestid").unwrap_or_default().to_owned(),
            host_id: None,
            code: code.unwrap_or("UnknownError").to_owned(),
            message: error_body.as_ref().map_or("UnknownError", |body| &body.message).to_owned(),
        };
        Err(Failure { status: error.status, text: error.to_string(), code: error.code, attempts: answer.attempts })
    }
}
