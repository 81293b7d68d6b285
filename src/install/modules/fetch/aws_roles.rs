//! Temporary keys: of the role of a container, of a machine, or for a web identity token.
//!
//! Owns the three services that give them. Never knows which other keys there may be.

use std::time::Duration;

use url::Url;

use crate::base::aws_signature::{Keys, encoded};
use crate::base::env;
use crate::base::http::{Answer, Request};
use crate::base::secret::Secret;

use super::aws_keys::said;
use super::{FetchError, Fetcher};

/// Where containers ask by a path alone.
const CONTAINER_HOST: &str = "http://169.254.170.2";
/// The address of the metadata service; elsewhere it does not exist.
const MACHINE_HOST: &str = "http://169.254.169.254";
/// Timeout of metadata services, which are on the same machine.
const PATIENCE: Duration = Duration::from_secs(1);

/// Exchanges the token of an identity provider that AWS trusts.
pub async fn of_token(fetcher: &Fetcher) -> Result<Option<Keys>, FetchError> {
    let set = |name: &str| fetcher.environment.non_empty(name);
    let (Some(file), Some(role)) = (set(env::AWS_WEB_IDENTITY_TOKEN_FILE), set(env::AWS_ROLE_ARN)) else {
        return Ok(None);
    };
    let bad = |why: String| FetchError::new(format!("asking for the AWS keys of {role}: {why}"));
    let token = std::fs::read_to_string(file).map_err(|e| bad(format!("{file}: {e}")))?;
    let host = match (set(env::AWS_ENDPOINT_URL_STS), set(env::AWS_REGION).or_else(|| set(env::AWS_DEFAULT_REGION))) {
        (Some(url), _) => url.trim_end_matches('/').to_owned(),
        (None, Some(region)) => format!("https://sts.{region}.amazonaws.com"),
        (None, None) => "https://sts.amazonaws.com".to_owned(),
    };
    let session = set(env::AWS_ROLE_SESSION_NAME).unwrap_or("terrane");
    let url = Url::parse(&format!("{host}/")).map_err(|_| bad(format!("{host:?} is no address")))?;
    // In the body: proxies and servers log the query of a URL.
    let request = Request::new(url).form(&[
        ("Action", "AssumeRoleWithWebIdentity"),
        ("Version", "2011-06-15"),
        ("RoleArn", role),
        ("RoleSessionName", session),
        ("WebIdentityToken", token.trim()),
    ]);
    let answer = fetcher.http.post(&request).await?;
    let text = answer.text();
    if answer.status.as_u16() != 200 {
        let why = between(&text, "Message").unwrap_or_else(|| answer.status.to_string());
        return Err(bad(why));
    }
    let part = |name: &str| between(&text, name);
    let (Some(id), Some(secret)) = (part("AccessKeyId"), part("SecretAccessKey")) else {
        return Err(bad("the answer has no keys".to_owned()));
    };
    Ok(Some(Keys { id, secret: Secret::new(secret), token: part("SessionToken").map(Secret::new) }))
}

/// The text of the first element of a name.
fn between(xml: &str, name: &str) -> Option<String> {
    let (_, after) = xml.split_once(&format!("<{name}>"))?;
    after.split_once(&format!("</{name}>")).map(|(text, _)| text.trim().to_owned())
}

/// Of the container that we run in.
pub async fn of_container(fetcher: &Fetcher) -> Result<Option<Keys>, FetchError> {
    let environment = &fetcher.environment;
    let relative = environment.non_empty(env::AWS_CONTAINER_CREDENTIALS_RELATIVE_URI);
    let url = relative.map(|path| format!("{CONTAINER_HOST}{path}"));
    let full = environment.non_empty(env::AWS_CONTAINER_CREDENTIALS_FULL_URI).map(str::to_owned);
    let Some(url) = url.or(full) else { return Ok(None) };
    let bad = |why: String| FetchError::new(format!("asking for this container's AWS keys: {why}"));
    let file = environment.non_empty(env::AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE);
    let token = match file {
        Some(file) => Some(std::fs::read_to_string(file).map_err(|e| bad(e.to_string()))?.trim().to_owned()),
        None => environment.non_empty(env::AWS_CONTAINER_AUTHORIZATION_TOKEN).map(str::to_owned),
    };
    let url = Url::parse(&url).map_err(|e| bad(e.to_string()))?;
    let shown = token.map(|token| ("authorization", Secret::new(token)));
    let answer = fetcher.http.get(&Request::new(url).signed(shown.into_iter().collect())).await?;
    if answer.status.as_u16() != 200 {
        return Err(bad(format!("bad response code: {}", answer.status.as_u16())));
    }
    said(&answer.text(), "this container's host").map(Some)
}

/// The keys of this machine, if it is an EC2 instance; None if there is no metadata service.
pub async fn of_machine(fetcher: &Fetcher) -> Result<Option<Keys>, FetchError> {
    let set = |name: &str| fetcher.environment.non_empty(name);
    if set(env::AWS_EC2_METADATA_DISABLED).is_some_and(|text| text.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let host = set(env::AWS_EC2_METADATA_SERVICE_ENDPOINT).unwrap_or(MACHINE_HOST).trim_end_matches('/');
    let Ok(base) = Url::parse(&format!("{host}/latest/")) else { return Ok(None) };
    let lifetime = ("x-aws-ec2-metadata-token-ttl-seconds", "300");
    let Some(token) =
        asked(fetcher, base.join("api/token").map(|url| Request::put(url).header(lifetime.0, lifetime.1))).await
    else {
        return Ok(None);
    };
    let token = Secret::new(token.text());
    let roles = "meta-data/iam/security-credentials/";
    let with_token = |path: &str| {
        let url = base.join(path);
        url.map(|url| Request::new(url).signed(vec![("x-aws-ec2-metadata-token", token.clone())]))
    };
    let Some(role) = asked(fetcher, with_token(roles)).await else { return Ok(None) };
    let role = role.text();
    let Some(role) = role.lines().next().filter(|role| !role.is_empty()) else { return Ok(None) };
    match asked(fetcher, with_token(&format!("{roles}{}", encoded(role, false)))).await {
        Some(answer) => said(&answer.text(), "this machine's host").map(Some),
        None => Ok(None),
    }
}

/// An answer of status 200 that comes at once.
async fn asked(fetcher: &Fetcher, request: Result<Request, url::ParseError>) -> Option<Answer> {
    let request = request.ok()?.once();
    let answer = tokio::time::timeout(PATIENCE, fetcher.http.get(&request)).await.ok()?.ok()?;
    (answer.status.as_u16() == 200).then_some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements() {
        assert_eq!(between("<a><b> x </b><b>y</b></a>", "b").as_deref(), Some("x"));
        assert_eq!(between("<b>x", "b"), None);
    }
}
