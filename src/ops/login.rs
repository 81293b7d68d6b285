//! `login` and `logout`: obtaining a token of a host interactively and storing it with the credentials, or removing it.

use std::path::PathBuf;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use base::secret::Secret;
use base::{browser, env};
use install::registry::callback::{Callback, CallbackAnswer};
use install::registry::credentials::Location;
use install::registry::discovery::{DiscoveryError, Hosts};
use install::registry::login::{self, Attempt, LoginError};
use model::service::oauth::{Grant, OAuthClient, OAuthProblem};
use model::service::{Host, HostServices};
use url::Url;

use crate::interface::ask::{Ask, NoAnswer, Question};
use crate::setup::Setup;
use crate::setup::network::Network;

/// The host that is meant where none is named.
pub const DEFAULT_HOST: &str = "app.terraform.io";

fn no_login() -> String {
    format!("Host does not support {PROGRAM} login")
}
fn no_tokens() -> String {
    format!("Host does not support {PROGRAM} tokens API")
}
const NO_SERVER: &str = "Can't start temporary login server";
const NO_TOKEN: &str = "Failed to obtain auth token";

/// How a host gives a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// OAuth with a browser on this machine.
    Code,
    /// OAuth with a user's name and password.
    Password,
    /// The user copies it from a page of the host.
    Page,
}

/// What happens, for those who show it. Never holds a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginEvent {
    /// A token is going to be asked for.
    Wanted {
        host: String,
        source: Source,
        place: TokenStorage,
    },
    /// The page where the user creates a token; `opened`: it is shown in a browser.
    TokensPage {
        host: String,
        url: String,
        opened: bool,
    },
    /// A token is to be typed, and where it goes.
    TokenWanted {
        place: TokenStorage,
    },
    /// A password is to be typed.
    PasswordWanted,
    /// The page where the user authorizes the program.
    LoginPage {
        host: String,
        url: String,
        opened: bool,
    },
    /// The token works, and belongs to this user.
    User(String),
    /// The token is kept. Warnings come before.
    Done {
        warnings: Diagnostics,
        welcome: Welcome,
    },
    /// What is kept for a host is going to be removed.
    Removing {
        host: String,
        place: TokenStorage,
    },
    Removed {
        host: String,
    },
    NothingStored {
        host: String,
    },
}

/// Where tokens are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenStorage {
    File(PathBuf),
    /// The name of a credentials helper.
    Helper(String),
    Nowhere,
}

/// What is said to those who logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Welcome {
    /// The host's own words, with marks for styles.
    Message(String),
    /// To the host that is meant by default.
    Default,
    Enterprise(String),
    Other(String),
}

pub type TellLogin<'a> = &'a mut (dyn FnMut(LoginEvent) + Send);

/// How a host gives tokens.
enum Way {
    OAuth(OAuthClient),
    /// By its API, from this address.
    Page(Url),
}

/// Who logs in where.
struct Login<'a> {
    setup: &'a Setup,
    hosts: Arc<Hosts>,
    ask: &'a dyn Ask,
    host: Host,
    shown: String,
    place: TokenStorage,
}

/// Gets a token from a host and keeps it. None: the host that is meant by default.
pub async fn login(setup: &Setup, given: Option<&str>, ask: &dyn Ask, tell: TellLogin<'_>) -> Diagnostics {
    let host = match host(given) {
        Ok(host) => host,
        Err(problem) => return problem.into(),
    };
    let hosts = Network::new(setup).hosts;
    let shown = host.for_display();
    let services = match hosts.services(&host).await {
        Ok(services) => services,
        Err(DiscoveryError::Interrupted) => return Diagnostic::error(INTERRUPTED, "").into(),
        Err(DiscoveryError::Failed(why)) => {
            return Diagnostic::error(format!("Service discovery failed for {shown}"), format!("{why}.")).into();
        }
    };
    let location = hosts.credentials.location(&host);
    let (way, mut diagnostics) = way(&services, &shown);
    if location == Location::OtherFile {
        diagnostics.push(manual(
            &shown,
            &format!("The \"{COMMAND} login\" command cannot log in because credentials for this host are already configured in a CLI \
             configuration file.\n\nTo log in, first revoke the existing credentials and remove that block from the CLI \
             configuration."),
        ));
    }
    let Some(way) = way.filter(|_| !diagnostics.has_errors()) else { return diagnostics };
    let login = Login { setup, hosts, ask, host, shown, place: place(location) };
    let got = match &way {
        Way::OAuth(client) => login.by_oauth(client, tell).await,
        Way::Page(service) => login.by_page(service, tell).await,
    };
    let token = match got {
        Ok(token) => token,
        Err(problems) => {
            diagnostics.extend(problems);
            return diagnostics;
        }
    };
    if let Err(why) = login.hosts.credentials.store(&login.host, &token).await {
        let detail = format!("The given host returned an API token, but {PROGRAM} failed to save it: {why}.");
        diagnostics.push(Diagnostic::error("Failed to save API token", detail));
        return diagnostics;
    }
    let welcome = login.welcome(&services, &way, &token).await;
    tell(LoginEvent::Done { warnings: diagnostics, welcome });
    Diagnostics::new()
}

/// Removes what is kept for a host.
pub async fn logout(setup: &Setup, given: Option<&str>, tell: TellLogin<'_>) -> Diagnostics {
    let host = match host(given) {
        Ok(host) => host,
        Err(problem) => return problem.into(),
    };
    let credentials = &Network::new(setup).hosts.credentials;
    let shown = host.for_display();
    let location = credentials.location(&host);
    match &location {
        Location::OtherFile => {
            return manual(
                &shown,
                &format!("The \"{COMMAND} logout\" command cannot log out because credentials for this host are manually configured in a CLI \
                 configuration file.\n\nTo log out, revoke the existing credentials and remove that block from the CLI \
                 configuration."),
            )
            .into();
        }
        Location::File { stored: false, .. } | Location::Nowhere => {
            tell(LoginEvent::NothingStored { host: shown });
            return Diagnostics::new();
        }
        Location::File { .. } | Location::Helper(_) => {}
    }
    tell(LoginEvent::Removing { host: shown.clone(), place: place(location) });
    if let Err(why) = credentials.forget(&host).await {
        let detail = format!("Unable to remove stored API token: {why}");
        return Diagnostic::error("Failed to remove API token", detail).into();
    }
    tell(LoginEvent::Removed { host: shown });
    Diagnostics::new()
}

fn host(given: Option<&str>) -> Result<Host, Diagnostic> {
    let given = given.unwrap_or(DEFAULT_HOST);
    Host::parse(given).map_err(|_| {
        let why = Host::problem(given);
        Diagnostic::error("Invalid hostname", format!("The given hostname {given:?} is not valid: {why}."))
    })
}

fn place(location: Location) -> TokenStorage {
    match location {
        Location::File { path, .. } => TokenStorage::File(path),
        Location::Helper(name) => TokenStorage::Helper(name),
        Location::OtherFile | Location::Nowhere => TokenStorage::Nowhere,
    }
}

fn manual(host: &str, detail: &str) -> Diagnostic {
    Diagnostic::error(format!("Credentials for {host} are manually configured"), detail)
}

/// How the host gives tokens; without a way the diagnostics say why.
fn way(services: &HostServices, host: &str) -> (Option<Way>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let newer = format!(
        "The given hostname {host:?} allows creating {PROGRAM} authorization tokens, but requires a newer version of {PROGRAM} CLI to do so."
    );
    let cannot = |why: String| format!("The given hostname {host:?} cannot support \"{COMMAND} login\": {why}.");
    match services.oauth_client("login.v1") {
        Ok(client) => return (Some(Way::OAuth(client)), diagnostics),
        Err(OAuthProblem::NotOffered) => {}
        Err(OAuthProblem::OtherVersion) => diagnostics.warning(no_login(), newer.clone()),
        Err(OAuthProblem::Invalid(why)) => diagnostics.warning(no_login(), cannot(why.to_string())),
    }
    const API: &str = "tfe.v2";
    match services.url(API) {
        Ok(url) => return (Some(Way::Page(url)), diagnostics),
        Err(_) if !services.offers_some(API) => {
            let detail =
                format!("The given hostname {host:?} does not support creating {PROGRAM} authorization tokens.");
            diagnostics.error(no_tokens(), detail);
        }
        Err(_) if !services.offers(API) => diagnostics.error(no_tokens(), newer),
        Err(why) => diagnostics.error(no_tokens(), cannot(why.to_string())),
    }
    (None, diagnostics)
}

const INTERRUPTED: &str = "interrupted";

fn words(no: NoAnswer) -> String {
    match no {
        NoAnswer::Interrupted => INTERRUPTED.to_owned(),
        NoAnswer::Failed(why) => why,
    }
}

fn plain(summary: impl Into<String>) -> Diagnostics {
    Diagnostic::error(summary, "").into()
}

/// A failure to get a token, with what to say before the reason and behind it.
fn no_token(error: LoginError, summary: &str, said: &str) -> Diagnostics {
    match error {
        LoginError::Interrupted => plain(INTERRUPTED),
        LoginError::Unauthorized => Diagnostic::error(summary, format!("{said}: unauthorized.")).into(),
        LoginError::Failed(why) => Diagnostic::error(summary, format!("{said}: {why}.")).into(),
    }
}

impl Login<'_> {
    async fn by_oauth(&self, client: &OAuthClient, tell: TellLogin<'_>) -> Result<Secret, Diagnostics> {
        // Only the default host may be shown a password.
        match client.grant(self.host.as_str() == DEFAULT_HOST) {
            Some(Grant::Code { authorization, token }) => self.by_code(client, authorization, token, tell).await,
            Some(Grant::Password { token }) => self.by_password(client, token, tell).await,
            None => {
                let detail = format!(
                    "The given hostname {:?} does not allow any OAuth grant types that are supported by this version of {PROGRAM}.",
                    self.shown
                );
                Err(Diagnostic::error(no_login(), detail).into())
            }
        }
    }

    async fn consent(&self, source: Source, tell: TellLogin<'_>) -> Result<(), Diagnostics> {
        tell(LoginEvent::Wanted { host: self.shown.clone(), source, place: self.place.clone() });
        let question = Question {
            title: "Do you want to proceed?".into(),
            text: "Only 'yes' will be accepted to confirm.".into(),
            ..Question::default()
        };
        let mut problems = match self.ask.ask(&question).await {
            Ok(answer) if answer.to_lowercase() == "yes" => return Ok(()),
            Ok(_) => Diagnostics::new(),
            Err(no) => plain(words(no)),
        };
        problems.error("Login cancelled", "");
        Err(problems)
    }

    async fn open(&self, url: &Url) -> bool {
        browser::open(url, self.setup.environment.get(env::PATH).unwrap_or_default()).await
    }

    async fn by_code(
        &self,
        client: &OAuthClient,
        authorization: &Url,
        token: &Url,
        tell: TellLogin<'_>,
    ) -> Result<Secret, Diagnostics> {
        self.consent(Source::Code, tell).await?;
        let attempt = Attempt::new().map_err(|why| {
            let detail = format!("Cannot generate random request identifier for login request: {why}.");
            Diagnostics::from(Diagnostic::error("Can't generate login request state", detail))
        })?;
        let callback = Callback::listen(client.ports).await.map_err(|_| self.no_server(client))?;
        let address = callback.url.clone();
        let page = attempt.page(client, authorization, &address);
        let waiting = callback.wait(&attempt.state);
        tokio::pin!(waiting);
        // The answer may come while the browser's program still runs.
        let mut early = None;
        let opened = tokio::select! {
            opened = self.open(&page) => opened,
            said = &mut waiting => {
                early = Some(said);
                true
            }
        };
        tell(LoginEvent::LoginPage { host: self.shown.clone(), url: page.into(), opened });
        let said = match early {
            Some(said) => said,
            None => tokio::select! {
                said = &mut waiting => said,
                () = self.setup.stop.stopping() => return Err(plain(INTERRUPTED)),
            },
        };
        let refused = |why: String| {
            Diagnostics::from(Diagnostic::error(
                NO_TOKEN,
                format!("The remote server did not assign an auth token: {why}."),
            ))
        };
        match said.map_err(|_| self.no_server(client))? {
            CallbackAnswer::Refused(why) => Err(refused(why)),
            CallbackAnswer::Code(code) => {
                let got = attempt.exchange(&self.hosts.http, client, token, &address, &code).await;
                got.map_err(|e| no_token(e, NO_TOKEN, "The remote server did not assign an auth token"))
            }
        }
    }

    fn no_server(&self, client: &OAuthClient) -> Diagnostics {
        let (low, high) = client.ports;
        let detail = format!(
            "The login process uses OAuth, which requires starting a temporary HTTP server on localhost. However, no TCP port numbers \
             between {low} and {high} are available to create such a server."
        );
        Diagnostic::error(NO_SERVER, detail).into()
    }

    async fn by_password(&self, client: &OAuthClient, token: &Url, tell: TellLogin<'_>) -> Result<Secret, Diagnostics> {
        self.consent(Source::Password, tell).await?;
        tell(LoginEvent::PasswordWanted);
        let question = |what: &str, secret| Question {
            title: format!("{what} for {}:", self.shown),
            secret,
            ..Question::default()
        };
        let user = self.ask.ask(&question("Username", false)).await;
        let user = user.map_err(|no| plain(format!("Failed to request username: {}", words(no))))?;
        let password = self.ask.ask(&question("Password", true)).await.map(Secret::new);
        let password = password.map_err(|no| plain(format!("Failed to request password: {}", words(no))))?;
        let got = login::by_password(&self.hosts.http, client, token, &user, &password).await;
        got.map_err(|e| no_token(e, "Failed to retrieve API token", "The remote host did not issue an API token"))
    }

    async fn by_page(&self, service: &Url, tell: TellLogin<'_>) -> Result<Secret, Diagnostics> {
        self.consent(Source::Page, tell).await?;
        let page = tokens_page(service).map_err(plain)?;
        let opened = self.open(&page).await;
        tell(LoginEvent::TokensPage { host: self.shown.clone(), url: page.into(), opened });
        tell(LoginEvent::TokenWanted { place: self.place.clone() });
        let question = Question { title: format!("Token for {}:", self.shown), secret: true, ..Question::default() };
        let token = self.ask.ask(&question).await;
        let token = token.map_err(|no| plain(format!("Failed to retrieve token: {}", words(no))))?;
        let token = Secret::new(token.trim());
        if token.is_empty() {
            return Err(plain("Failed to create API client: missing API token"));
        }
        match login::user_of(&self.hosts.http, service, &token).await {
            Ok(user) => tell(LoginEvent::User(user)),
            Err(LoginError::Interrupted) => return Err(plain(INTERRUPTED)),
            Err(LoginError::Unauthorized) => return Err(plain("Token is invalid: unauthorized")),
            Err(LoginError::Failed(why)) => {
                return Err(plain(format!("Failed to retrieve user account details: {why}")));
            }
        }
        Ok(token)
    }

    async fn welcome(&self, services: &HostServices, way: &Way, token: &Secret) -> Welcome {
        if self.host.as_str() == DEFAULT_HOST {
            let message = match services.url("motd.v1") {
                Ok(url) => login::message(&self.hosts.http, &url, token).await,
                Err(_) => None,
            };
            return message.map_or(Welcome::Default, Welcome::Message);
        }
        match way {
            Way::Page(_) => Welcome::Enterprise(self.shown.clone()),
            Way::OAuth(_) => Welcome::Other(self.shown.clone()),
        }
    }
}

/// The page of a host where people make tokens.
fn tokens_page(service: &Url) -> Result<Url, String> {
    let host = service.host_str().unwrap_or_default();
    let port = service.port().map_or(String::new(), |port| format!(":{port}"));
    let page = format!("https://{host}{port}/app/settings/tokens?source=terraform-login");
    Url::parse(&page).map_err(|e| format!("Failed to retrieve token: {e}"))
}
