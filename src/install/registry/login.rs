//! Getting a token from a host: by the code that came of a login, for a password, or by asking whose token it is.

use std::fmt;

use base::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::ACCEPT;
use model::service::oauth::OAuthClient;
use net::http::{Answer, Client, Failure, FailureKind, Request};
use rand::TryRngCore;
use rand::rngs::OsRng;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use url::Url;

/// Number of characters that are shown of an unexpected response.
const SHOWN: usize = 1000;

/// Why there is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginError {
    Interrupted,
    /// The host does not know the token.
    Unauthorized,
    /// For people, without a full stop.
    Failed(String),
}

/// The system gives no random numbers: why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRandomNumbers(String);

impl fmt::Display for NoRandomNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoRandomNumbers {}

/// One attempt to log in: the PKCE secret, which proves that the token and the code are requested by the same client.
pub struct Attempt {
    /// Comes back with the code.
    pub state: String,
    verifier: Secret,
}

impl Attempt {
    pub fn new() -> Result<Attempt, NoRandomNumbers> {
        Ok(Attempt { state: random()?, verifier: Secret::new(random()?) })
    }

    /// The login page; the browser is redirected to `callback`.
    pub fn page(&self, client: &OAuthClient, authorization: &Url, callback: &str) -> Url {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.reveal().as_bytes()));
        let scopes = client.scopes.join(" ");
        let mut fields = vec![
            ("client_id", client.id.as_str()),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("redirect_uri", callback),
            ("response_type", "code"),
        ];
        if !scopes.is_empty() {
            fields.push(("scope", &scopes));
        }
        fields.push(("state", &self.state));
        let mut page = authorization.clone();
        page.query_pairs_mut().extend_pairs(fields);
        page
    }

    /// The token for a code.
    pub async fn exchange(
        &self,
        http: &Client,
        client: &OAuthClient,
        token: &Url,
        callback: &str,
        code: &Secret,
    ) -> Result<Secret, LoginError> {
        let fields = [
            ("client_id", client.id.as_str()),
            ("code", code.reveal()),
            ("code_verifier", self.verifier.reveal()),
            ("grant_type", "authorization_code"),
            ("redirect_uri", callback),
        ];
        ask(http, token, &fields).await
    }
}

/// 256 random bits as letters and digits.
fn random() -> Result<String, NoRandomNumbers> {
    let mut bytes = [0; 32];
    OsRng.try_fill_bytes(&mut bytes).map_err(|e| NoRandomNumbers(e.to_string()))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The token for a user's password.
pub async fn by_password(
    http: &Client,
    client: &OAuthClient,
    token: &Url,
    user: &str,
    password: &Secret,
) -> Result<Secret, LoginError> {
    let scopes = client.scopes.join(" ");
    let mut fields = vec![
        ("client_id", client.id.as_str()),
        ("grant_type", "password"),
        ("password", password.reveal()),
        ("username", user),
    ];
    if !scopes.is_empty() {
        fields.push(("scope", &scopes));
    }
    ask(http, token, &fields).await
}

async fn ask(http: &Client, url: &Url, fields: &[(&str, &str)]) -> Result<Secret, LoginError> {
    let request = Request::form(url.clone(), fields).header(ACCEPT, "application/json");
    let answer = http.send(&request).await.map_err(failed)?;
    token(&answer).map_err(LoginError::Failed)
}

fn failed(failure: Failure) -> LoginError {
    match failure.kind {
        FailureKind::Stopped => LoginError::Interrupted,
        _ => LoginError::Failed(failure.to_string()),
    }
}

/// The token in an answer, which is JSON or a form. Some hosts say an error with a status of success.
fn token(answer: &Answer) -> Result<Secret, String> {
    let kind = answer.header("content-type").unwrap_or_default();
    let media = kind.split(';').next().unwrap_or_default().trim();
    let field: Box<dyn Fn(&str) -> Option<String>> = match media {
        "application/x-www-form-urlencoded" | "text/plain" => Box::new(|name| {
            let mut fields = url::form_urlencoded::parse(&answer.body);
            fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
        }),
        _ => match serde_json::from_slice::<Json>(&answer.body) {
            Ok(document) => Box::new(move |name| Some(document.get(name)?.as_str()?.to_owned())),
            Err(_) if !answer.status.is_success() => Box::new(|_| None),
            Err(e) => return Err(format!("oauth2: cannot parse json: {e}")),
        },
    };
    let field = |name: &str| field(name).filter(|text| !text.is_empty());
    if let Some(error) = field("error") {
        let more = [field("error_description"), field("error_uri")];
        let more: String = more.iter().flatten().map(|text| format!(" {text:?}")).collect();
        return Err(format!("oauth2: {error:?}{more}"));
    }
    if !answer.status.is_success() {
        let text: String = answer.text().chars().take(SHOWN).collect();
        return Err(format!("oauth2: cannot fetch token: {}\nResponse: {text}", answer.status));
    }
    match field("access_token") {
        Some(token) => Ok(Secret::new(token)),
        None => Err("oauth2: server response missing access_token".to_owned()),
    }
}

/// The name of the user that a token belongs to; `service` is the address of the host's API.
pub async fn user_of(http: &Client, service: &Url, token: &Secret) -> Result<String, LoginError> {
    let url = service.join("account/details").map_err(|e| LoginError::Failed(e.to_string()))?;
    let request = Request::get(url).header(ACCEPT, "application/vnd.api+json").token(Some(token));
    let answer = http.send(&request).await.map_err(failed)?;
    let document = serde_json::from_slice::<Json>(&answer.body);
    match answer.status.as_u16() {
        200..300 => {}
        401 => return Err(LoginError::Unauthorized),
        404 => return Err(LoginError::Failed("resource not found".to_owned())),
        _ => return Err(LoginError::Failed(api_errors(document.ok()).unwrap_or_else(|| answer.status.to_string()))),
    }
    let document = document.map_err(|e| LoginError::Failed(e.to_string()))?;
    let data = document.get("data").filter(|data| data.get("type").and_then(Json::as_str) == Some("users"));
    let data = data.ok_or_else(|| LoginError::Failed("the answer does not describe a user".to_owned()))?;
    let name = data.get("attributes").and_then(|attributes| attributes.get("username")).and_then(Json::as_str);
    Ok(name.unwrap_or_default().to_owned())
}

/// What an API says is wrong.
fn api_errors(document: Option<Json>) -> Option<String> {
    let said = |error: &Json| {
        let text = |name: &str| error.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
        let (title, detail) = (text("title"), text("detail"));
        if detail.is_empty() { title } else { format!("{title}\n\n{detail}") }
    };
    let errors: Vec<String> = document?.get("errors")?.as_array()?.iter().map(said).collect();
    (!errors.is_empty()).then(|| errors.join("\n"))
}

/// What a host has to say to those who just logged in; nothing if anything goes wrong.
pub async fn message(http: &Client, service: &Url, token: &Secret) -> Option<String> {
    let request = Request::get(service.clone()).token(Some(token)).once();
    let answer = http.send(&request).await.ok()?;
    let document: Json = serde_json::from_slice(&answer.body).ok()?;
    let has_errors = document.get("errors").is_some_and(|errors| !errors.is_null());
    let message = document.get("msg")?.as_str().filter(|text| !text.is_empty() && !has_errors)?;
    Some(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, kind: &'static str, body: &str) -> Answer {
        let mut headers = reqwest::header::HeaderMap::new();
        headers.insert("content-type", reqwest::header::HeaderValue::from_static(kind));
        let status = reqwest::StatusCode::from_u16(status).unwrap();
        Answer { status, headers, url: Url::parse("https://h/").unwrap(), body: body.into(), attempts: 1 }
    }

    #[test]
    fn answers() {
        let (json, form) = ("application/json; charset=utf-8", "application/x-www-form-urlencoded");
        let missing = "oauth2: server response missing access_token";
        let cases = [
            (200, json, r#"{"access_token": "t", "token_type": "bearer"}"#, Ok("t")),
            (200, form, "access_token=a%20b&token_type=bearer", Ok("a b")),
            (200, json, "{}", Err(missing)),
            (200, json, "zz", Err("oauth2: cannot parse json: expected value at line 1 column 1")),
            (200, json, r#"{"error": "bad", "access_token": "t"}"#, Err("oauth2: \"bad\"")),
            (
                400,
                json,
                r#"{"error": "invalid_grant", "error_description": "no way", "error_uri": "https://e/"}"#,
                Err("oauth2: \"invalid_grant\" \"no way\" \"https://e/\""),
            ),
            (401, "text/plain", "nope", Err("oauth2: cannot fetch token: 401 Unauthorized\nResponse: nope")),
            (302, json, "", Err("oauth2: cannot fetch token: 302 Found\nResponse: ")),
        ];
        for (status, kind, body, expected) in cases {
            let got = token(&answer(status, kind, body));
            assert_eq!(got.as_ref().map(Secret::reveal).map_err(String::as_str), expected, "{body}");
        }
    }

    #[test]
    fn pages_keep_what_their_address_has() {
        let attempt = Attempt { state: "s".into(), verifier: Secret::new("v") };
        let client = serde_json::from_str(
            r#"{"login.v1": {"client": "c", "authz": "/a?x=1", "token": "/t", "scopes": ["a b", "c"]}}"#,
        );
        let host = model::service::Host::parse("h.example").unwrap();
        let base = Url::parse("https://h.example/").unwrap();
        let services = model::service::HostServices::new(host, base.clone(), Some(client.unwrap()));
        let client = services.oauth_client("login.v1").unwrap();
        let page = attempt.page(&client, &base.join("/a?x=1").unwrap(), "http://localhost:2000/login");
        let expected = "https://h.example/a?x=1&client_id=c&code_challenge=TJRIXgwhrmxBzh3-e2v6zupato5AokdvUCCOUm9QYIA\
            &code_challenge_method=S256&redirect_uri=http%3A%2F%2Flocalhost%3A2000%2Flogin&response_type=code&scope=a+b+c&state=s";
        assert_eq!(page.as_str(), expected);
        let (a, b) = (Attempt::new().unwrap(), Attempt::new().unwrap());
        assert!(a.state != b.state && a.verifier != b.verifier && a.verifier.reveal().len() == 43);
    }

    #[test]
    fn api_errors_are_reported() {
        let cases = [
            (r#"{"errors": [{"title": "a", "detail": "b"}, {"title": "c"}]}"#, Some("a\n\nb\nc")),
            (r#"{"errors": []}"#, None),
            ("{}", None),
        ];
        for (text, expected) in cases {
            assert_eq!(api_errors(serde_json::from_str(text).ok()).as_deref(), expected);
        }
    }
}
