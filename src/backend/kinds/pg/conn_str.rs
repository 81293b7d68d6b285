//! Connection strings: the two forms that `libpq` takes, the environment's settings below them, the password file.
//!
//! Owns what each setting means until a connection is opened. Where the reference's library differs from `libpq`, it
//! decides: TLS is required unless `sslmode` says otherwise. Errors never show any part of a connection string.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::env::{self, Environment};
use base::identity;
use url::form_urlencoded;

use crate::contract::StoreError;

/// The settings by their names in connection strings.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Parameters(BTreeMap<String, String>);

/// The value of `sslrootcert` that means the authorities of the system.
pub const SYSTEM_ROOTS: &str = "system";

const VARIABLES: &[(&str, &str)] = &[
    (env::PGHOST, "host"),
    (env::PGHOSTADDR, "hostaddr"),
    (env::PGPORT, "port"),
    (env::PGDATABASE, "dbname"),
    (env::PGUSER, "user"),
    (env::PGPASSWORD, "password"),
    (env::PGPASSFILE, "passfile"),
    (env::PGOPTIONS, "options"),
    (env::PGAPPNAME, "application_name"),
    (env::PGSSLMODE, "sslmode"),
    (env::PGSSLNEGOTIATION, "sslnegotiation"),
    (env::PGSSLCERT, "sslcert"),
    (env::PGSSLKEY, "sslkey"),
    (env::PGSSLROOTCERT, "sslrootcert"),
    (env::PGSSLMINPROTOCOLVERSION, "ssl_min_protocol_version"),
    (env::PGCHANNELBINDING, "channel_binding"),
    (env::PGTARGETSESSIONATTRS, "target_session_attrs"),
    (env::PGLOADBALANCEHOSTS, "load_balance_hosts"),
    (env::PGCONNECT_TIMEOUT, "connect_timeout"),
    (env::PGCLIENTENCODING, "client_encoding"),
    (env::PGDATESTYLE, "datestyle"),
    (env::PGTZ, "timezone"),
    (env::PGGEQO, "geqo"),
];

/// Settings that must not be ignored, because they affect the trust or the target of a connection.
const UNSUPPORTED_VARIABLES: &[&str] = &[
    env::PGSERVICE,
    env::PGSERVICEFILE,
    env::PGREALM,
    env::PGREQUIRESSL,
    env::PGSSLCRL,
    env::PGREQUIREPEER,
    env::PGKRBSRVNAME,
    env::PGGSSLIB,
];

impl Parameters {
    /// Reads a connection string; the environment gives what it does not set. The password file is not read yet. `folder`: where
    /// relative paths in the text start; empty: in the folder of the process, as those of the environment.
    pub fn read(text: &str, folder: &Path, environment: &Environment) -> Result<Parameters, StoreError> {
        if let Some(name) = UNSUPPORTED_VARIABLES.iter().find(|name| environment.get(name).is_some()) {
            return Err(format!("setting {name} not supported").into());
        }
        let from_environment = VARIABLES.iter().filter_map(|(name, key)| Some((*key, environment.non_empty(name)?)));
        let mut all = Parameters(from_environment.map(|(key, value)| (key.to_owned(), value.to_owned())).collect());
        let own = match text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://")) {
            Some(rest) => url(rest),
            None => pairs(text)?,
        };
        let mut own: BTreeMap<_, _> = own.into_iter().collect();
        find_files(&mut own, folder);
        all.0.extend(own);
        all.fill();
        all.check()?;
        Ok(all)
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All that are set, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| (key.as_str(), value.as_str()))
    }

    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// True if the server is reached by a socket of this machine.
    pub fn is_local_socket(&self) -> bool {
        self.get("host").is_some_and(|host| host.starts_with(['/', '@'])) && self.get("hostaddr").is_none()
    }

    /// Where the server is, for messages.
    pub fn server(&self) -> String {
        let hosts = self.get("hostaddr").or(self.get("host")).unwrap_or_default().split(',');
        let ports: Vec<&str> = self.get("port").unwrap_or_default().split(',').collect();
        let port = |at: usize| ports.get(at).or(ports.first()).filter(|p| !p.is_empty()).copied().unwrap_or("5432");
        let name = |(at, host): (usize, &str)| match host {
            host if host.starts_with('/') => format!("unix {host}/.s.PGSQL.{}", port(at)),
            host if host.contains(':') => format!("tcp [{host}]:{}", port(at)),
            host => format!("tcp {host}:{}", port(at)),
        };
        hosts.enumerate().map(name).collect::<Vec<_>>().join(", ")
    }

    fn fill(&mut self) {
        let defaults = [("host", "localhost".to_owned()), ("port", "5432".to_owned()), ("user", identity::user_name())];
        for (key, value) in defaults {
            let is_needed = key != "host" || self.get("hostaddr").is_none();
            if is_needed && self.get(key).is_none() {
                self.set(key, value);
            }
        }
        if let (None, Some(fallback)) = (self.get("application_name"), self.get("fallback_application_name")) {
            self.set("application_name", fallback.to_owned());
        }
        // A local socket needs no TLS, nor does the server offer it there.
        if self.is_local_socket() {
            self.set("sslmode", "disable");
        }
    }

    fn check(&self) -> Result<(), StoreError> {
        let letters = |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
        let encoding = self.get("client_encoding").map(|name| letters(name).to_ascii_lowercase());
        if encoding.is_some_and(|name| !["utf8", "unicode", "auto"].contains(&name.as_str())) {
            return Err("client_encoding must be absent or 'UTF8'".into());
        }
        Ok(())
    }

    /// Looks the password up in the password file, if none is set. As elsewhere, a file that others may read, or that is
    /// not there, counts as empty.
    pub fn look_up_password(&mut self, environment: &Environment) {
        if self.0.contains_key("password") {
            return;
        }
        let path = match self.get("passfile") {
            Some(path) => Some(PathBuf::from(path)),
            None => environment.home_dir().map(|home| home.join(".pgpass")),
        };
        let Some(path) = path.filter(|path| is_private(path)) else { return };
        let Ok(content) = std::fs::read_to_string(path) else { return };
        if let Some(password) = self.password_in(&content) {
            self.set("password", password);
        }
    }

    fn password_in(&self, content: &str) -> Option<String> {
        let user = self.get("user").unwrap_or_default();
        let host = self.get("host").or(self.get("hostaddr")).unwrap_or_default();
        let wanted = [host, self.get("port").unwrap_or_default(), self.get("dbname").unwrap_or(user), user];
        let lines = content.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(fields).filter(|fields| fields.len() == 5).find_map(|mut fields| {
            let is_local = fields[0] == "localhost" && self.is_local_socket();
            let fits = |(at, value): (usize, &&str)| fields[at] == "*" || fields[at] == *value || (at == 0 && is_local);
            wanted.iter().enumerate().all(fits).then(|| fields.pop())?
        })
    }
}

/// Names the files of a connection string from a folder.
fn find_files(parameters: &mut BTreeMap<String, String>, folder: &Path) {
    let is_inline = parameters.get("sslinline").is_some_and(|value| value == "true");
    let certificates = if is_inline { &[][..] } else { &["sslcert", "sslkey", "sslrootcert"][..] };
    for key in certificates.iter().chain(&["passfile"]) {
        let file = parameters.get_mut(*key).filter(|file| !file.is_empty());
        if let Some(file) = file.filter(|file| *key != "sslrootcert" || *file != SYSTEM_ROOTS) {
            *file = folder.join(&*file).to_string_lossy().into_owned();
        }
    }
}

#[cfg(unix)]
pub fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o077 == 0)
}

#[cfg(not(unix))]
pub fn is_private(path: &Path) -> bool {
    path.is_file()
}

/// The fields of a line of a password file; a backslash makes the next character an ordinary one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let (letter, is_plain) = match letter {
            '\\' => (letters.next().unwrap_or('\\'), true),
            letter => (letter, false),
        };
        match fields.last_mut() {
            Some(last) if is_plain || letter != ':' => last.push(letter),
            _ => fields.push(String::new()),
        }
    }
    fields
}

/// `key = value 'quoted \' value'`
fn pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let at = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (key, after) = rest.split_at(at);
        let Some(after) = after.trim_start().strip_prefix('=') else {
            return Err("missing \"=\" in the connection string; a URL begins with postgres://".into());
        };
        let (value, after) = value(after.trim_start())?;
        found.push((key.to_owned(), value));
        rest = after.trim_start();
    }
    Ok(found)
}

/// A value at the beginning of a text, and what follows it.
fn value(text: &str) -> Result<(String, &str), String> {
    let quoted = text.strip_prefix('\'');
    let text = quoted.unwrap_or(text);
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.push(letters.next().ok_or("missing character after backslash")?.1),
            '\'' if quoted.is_some() => return Ok((value, &text[at + 1..])),
            letter if quoted.is_none() && letter.is_whitespace() => return Ok((value, &text[at..])),
            letter => value.push(letter),
        }
    }
    match quoted {
        Some(_) => Err("unterminated quoted string literal in connection string".into()),
        None => Ok((value, "")),
    }
}

/// What follows the scheme of `postgres://user:password@host:port,host:port/database?key=value`.
fn url(rest: &str) -> Vec<(String, String)> {
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for host in hosts.split(',') {
        let (name, port) = host_and_port(host);
        names.push(decoded(name));
        ports.push(port);
    }
    let mut found = vec![
        ("user".to_owned(), decoded(user)),
        ("password".to_owned(), decoded(password)),
        ("host".to_owned(), names.join(",")),
        ("dbname".to_owned(), decoded(database)),
    ];
    if ports.iter().any(|port| !port.is_empty()) {
        found.push(("port".to_owned(), ports.join(",")));
    }
    let query = query.split_once('#').map_or(query, |(query, _)| query);
    found.extend(form_urlencoded::parse(query.as_bytes()).into_owned());
    found.retain(|(_, value)| !value.is_empty());
    found
}

fn host_and_port(text: &str) -> (&str, &str) {
    if let Some((address, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, rest.strip_prefix(':').unwrap_or_default());
    }
    text.rsplit_once(':').unwrap_or((text, ""))
}

/// Without the escapes of a part of a URL that is not its query.
fn decoded(text: &str) -> String {
    let single = text.replace('+', "%2B").replace('&', "%26").replace('=', "%3D");
    form_urlencoded::parse(single.as_bytes()).next().map(|(text, _)| text.into_owned()).unwrap_or_default()
}

#[cfg(test)]
#[path = "conn_str_tests.rs"]
mod tests;
