//! Connections to the server: opening them, asking over them, knowing when they end.
//!
//! Owns which connections are idle and how failures are worded. Never knows what a state is.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use base::env::Environment;
use base::files::reason;
use tokio::sync::watch;
use tokio_postgres::config::{ChannelBinding, LoadBalanceHosts, SslMode, SslNegotiation, TargetSessionAttrs};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Error, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::conn_str::Parameters;
use super::tls;
use crate::contract::StoreError;

/// How long connecting may take, unless a setting says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection may bring nothing until the system asks whether its other end is still there, and how often.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);

/// Settings that say how to connect; all others are the server's.
const OF_THE_CLIENT: &[&str] = &[
    "application_name",
    "binary_parameters",
    "channel_binding",
    "client_encoding",
    "connect_timeout",
    "dbname",
    "disable_prepared_binary_result",
    "fallback_application_name",
    "gssencmode",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "load_balance_hosts",
    "options",
    "passfile",
    "password",
    "port",
    "ssl_min_protocol_version",
    "sslcert",
    "sslcompression",
    "sslinline",
    "sslkey",
    "sslmode",
    "sslnegotiation",
    "sslrootcert",
    "sslsni",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Settings that must not be ignored, because they affect the trust of a connection.
const UNSUPPORTED: &[&str] =
    &["krbsrvname", "krbspn", "require_auth", "requirepeer", "service", "sslcrl", "sslcrldir", "sslpassword"];

/// Everything that opening a connection takes.
pub struct Connector {
    config: Config,
    tls: MakeRustlsConnect,
    timeout: Option<Duration>,
    /// For messages.
    server: String,
}

impl Connector {
    pub fn new(mut parameters: Parameters, environment: &Environment) -> Result<Connector, StoreError> {
        parameters.look_up_password(environment);
        if let Some(key) = UNSUPPORTED.iter().find(|key| parameters.get(key).is_some()) {
            return Err(format!("setting {key} not supported").into());
        }
        let (mode, tls) = tls::configure(&parameters, environment)?;
        let timeout = match number::<u64>(&parameters, "connect_timeout")? {
            Some(0) => None,
            Some(seconds) => Some(Duration::from_secs(seconds)),
            None => Some(CONNECT_TIMEOUT),
        };
        let config = configuration(&parameters, mode)?;
        Ok(Connector { config, tls: MakeRustlsConnect::new(tls), timeout, server: parameters.server() })
    }

    /// The name that the server lists connections under.
    pub fn application_name(&self) -> &str {
        self.config.get_application_name().unwrap_or_default()
    }

    /// Names the database.
    pub fn place(&self) -> String {
        format!("{} {}", self.server, self.config.get_dbname().or(self.config.get_user()).unwrap_or_default())
    }

    pub async fn connect(&self) -> Result<Session, StoreError> {
        let connecting = self.config.connect(self.tls.clone());
        let result = match self.timeout {
            Some(limit) => tokio::time::timeout(limit, connecting).await,
            None => Ok(connecting.await),
        };
        let (client, connection) = match result {
            Ok(Ok(pair)) => pair,
            Ok(Err(error)) => return Err(StoreError::new(self.not_connected(&error))),
            Err(_) => return Err(StoreError::new(format!("dial {}: i/o timeout", self.server))),
        };
        tracing::debug!("backend/pg: connected to {}", self.server);
        let (notify, ended) = watch::channel(None);
        tokio::spawn(async move {
            let why = match connection.await {
                Ok(()) => "the connection to the server was closed".to_owned(),
                Err(error) => text(&error),
            };
            tracing::debug!("backend/pg: connection ended: {why}");
            notify.send_replace(Some(why));
        });
        Ok(Session { client, ended })
    }

    fn not_connected(&self, error: &Error) -> String {
        if error.as_db_error().is_some() {
            return text(error);
        }
        let whole = format!("{error}: {}", innermost(error));
        match whole {
            whole if whole.contains("server does not support TLS") => "pq: SSL is not enabled on the server".into(),
            whole if whole.starts_with("error connecting to server") => {
                format!("dial {}: connect: {}", self.server, innermost(error))
            }
            whole => format!("connection to {} failed: {whole}", self.server),
        }
    }
}

/// The library's settings. What is none of them is a setting of the server.
fn configuration(parameters: &Parameters, mode: SslMode) -> Result<Config, StoreError> {
    let mut config = Config::new();
    config.ssl_mode(mode);
    for host in list(parameters, "host") {
        config.host(host);
    }
    for address in list(parameters, "hostaddr") {
        config.hostaddr(address.parse::<IpAddr>().map_err(|_| "invalid hostaddr: not an IP address")?);
    }
    for port in list(parameters, "port") {
        let port = if port.is_empty() { "5432" } else { port };
        config.port(port.parse().map_err(|_| format!("invalid port {port:?}"))?);
    }
    config.user(parameters.get("user").unwrap_or_default());
    if let Some(password) = parameters.get("password") {
        config.password(password);
    }
    if let Some(name) = parameters.get("dbname") {
        config.dbname(name);
    }
    if let Some(name) = parameters.get("application_name") {
        config.application_name(name);
    }
    let options = server_options(parameters);
    if !options.is_empty() {
        config.options(options);
    }
    keep_alive(parameters, &mut config)?;
    choices(parameters, &mut config)?;
    Ok(config)
}

fn keep_alive(parameters: &Parameters, config: &mut Config) -> Result<(), StoreError> {
    let seconds = |name| Ok::<_, String>(number::<u64>(parameters, name)?.map(Duration::from_secs));
    let (idle, interval, count) = KEEPALIVE;
    config.keepalives(number::<u32>(parameters, "keepalives")? != Some(0));
    config.keepalives_idle(seconds("keepalives_idle")?.unwrap_or(idle));
    config.keepalives_interval(seconds("keepalives_interval")?.unwrap_or(interval));
    config.keepalives_retries(number(parameters, "keepalives_count")?.unwrap_or(count));
    // Data that the other end does not acknowledge: as patient as with a silent connection.
    let limit = number::<u64>(parameters, "tcp_user_timeout")?.map(Duration::from_millis);
    config.tcp_user_timeout(limit.unwrap_or(idle + interval * count));
    Ok(())
}

fn choices(parameters: &Parameters, config: &mut Config) -> Result<(), StoreError> {
    let refused = |name: &str, value: &str| Err(format!("invalid {name} value: {value:?}").into());
    match parameters.get("channel_binding").unwrap_or("prefer") {
        "disable" => config.channel_binding(ChannelBinding::Disable),
        "prefer" => config.channel_binding(ChannelBinding::Prefer),
        "require" => config.channel_binding(ChannelBinding::Require),
        other => return refused("channel_binding", other),
    };
    match parameters.get("target_session_attrs").unwrap_or("any") {
        "any" => config.target_session_attrs(TargetSessionAttrs::Any),
        "read-write" | "primary" => config.target_session_attrs(TargetSessionAttrs::ReadWrite),
        "read-only" => config.target_session_attrs(TargetSessionAttrs::ReadOnly),
        other => return refused("target_session_attrs", other),
    };
    match parameters.get("load_balance_hosts").unwrap_or("disable") {
        "disable" => config.load_balance_hosts(LoadBalanceHosts::Disable),
        "random" => config.load_balance_hosts(LoadBalanceHosts::Random),
        other => return refused("load_balance_hosts", other),
    };
    match parameters.get("sslnegotiation").unwrap_or("postgres") {
        "postgres" => config.ssl_negotiation(SslNegotiation::Postgres),
        "direct" => config.ssl_negotiation(SslNegotiation::Direct),
        other => return refused("sslnegotiation", other),
    };
    match parameters.get("gssencmode").unwrap_or("disable") {
        "require" => refused("gssencmode", "require"),
        _ => Ok(()),
    }
}

/// The options of the server's process, with its settings as further ones.
fn server_options(parameters: &Parameters) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace(' ', "\\ ");
    let settings = parameters.iter().filter(|(key, _)| !OF_THE_CLIENT.contains(key));
    let settings = settings.map(|(key, value)| format!("-c {key}={}", escaped(value)));
    parameters.get("options").map(str::to_owned).into_iter().chain(settings).collect::<Vec<_>>().join(" ")
}

fn list<'a>(parameters: &'a Parameters, name: &str) -> Vec<&'a str> {
    parameters.get(name).map(|text| text.split(',').collect()).unwrap_or_default()
}

fn number<T: std::str::FromStr>(parameters: &Parameters, name: &str) -> Result<Option<T>, StoreError> {
    let parse =
        |text: &str| text.parse().map_err(|_| StoreError::new(format!("invalid value for parameter {name}: {text:?}")));
    parameters.get(name).map(parse).transpose()
}

/// A connection.
pub struct Session {
    client: Client,
    ended: watch::Receiver<Option<String>>,
}

pub type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

impl Session {
    /// Runs one statement, in one round trip.
    pub async fn query(&self, statement: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, Error> {
        self.client.query_typed(statement, parameters).await
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed() || self.ended.borrow().is_some()
    }

    /// Completes when the connection has ended, with the reason.
    pub async fn closed(&self) -> String {
        let mut ended = self.ended.clone();
        let why = ended.wait_for(Option::is_some).await.map(|why| why.clone());
        why.ok().flatten().unwrap_or_else(|| "the connection to the server was closed".to_owned())
    }

    /// An error of a query as a text. One that only says that the connection is closed gives way to why it was.
    pub async fn explain(&self, error: &Error) -> String {
        if (error.is_closed() || error.as_db_error().is_none())
            && let Ok(why) = tokio::time::timeout(Duration::from_secs(1), self.closed()).await
        {
            return why;
        }
        text(error)
    }
}

/// Idle connections, and how to get more.
pub struct Pool {
    pub connector: Connector,
    idle: Mutex<Vec<Session>>,
}

impl Pool {
    pub fn new(connector: Connector) -> Pool {
        Pool { connector, idle: Mutex::default() }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// An idle connection that is still open, if there is one.
    fn reuse(&self) -> Option<Session> {
        let mut idle = self.idle();
        idle.retain(|session| !session.is_closed());
        idle.pop()
    }

    pub fn put(&self, session: Session) {
        if !session.is_closed() {
            self.idle().push(session);
        }
    }

    /// Runs a statement that may run twice. If an idle connection turns out to have ended, a new one is opened.
    pub async fn query(&self, statement: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, StoreError> {
        let (session, rows) = self.query_over(statement, parameters).await?;
        self.put(session);
        Ok(rows)
    }

    /// As `query`; the caller keeps the connection.
    pub async fn query_over(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<(Session, Vec<Row>), StoreError> {
        if let Some(session) = self.reuse() {
            match session.query(statement, parameters).await {
                Ok(rows) => return Ok((session, rows)),
                Err(error) if error.as_db_error().is_some() && !session.is_closed() => {
                    self.put(session);
                    return Err(StoreError::new(text(&error)));
                }
                Err(_) => {}
            }
        }
        let session = self.connector.connect().await?;
        match session.query(statement, parameters).await {
            Ok(rows) => Ok((session, rows)),
            Err(error) => Err(StoreError::new(session.explain(&error).await)),
        }
    }
}

/// An error as the reference's library words it: what the server says, or why it could not be asked.
pub fn text(error: &Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("pq: {}", error.message()),
        None if std::error::Error::source(error).is_some() => format!("{error}: {}", innermost(error)),
        None => error.to_string(),
    }
}

fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.downcast_ref::<std::io::Error>().map_or_else(|| last.to_string(), reason)
}
