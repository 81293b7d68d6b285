//! The `connection` block for SSH: its defaults and the checks that need no network.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use terrane_value::duration;

const DEFAULT_USER: &str = "root";
const DEFAULT_PORT: u16 = 22;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5 * 60);
const DEFAULT_UNIX_SCRIPT_PATH: &str = "/tmp/terraform_%RAND%.sh";
const DEFAULT_WINDOWS_SCRIPT_PATH: &str = "C:/windows/temp/terraform_%RAND%.cmd";

/// A text that is never shown, not even for debugging.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(redacted)")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    Unix,
    Windows,
}

impl Platform {
    pub fn name(self) -> &'static str {
        match self {
            Platform::Unix => "unix",
            Platform::Windows => "windows",
        }
    }
}

/// One SSH server and how to log in there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub host: String,
    pub port: u16,
    pub user: String,
    pub password: Option<Secret>,
    pub private_key: Option<Secret>,
    pub certificate: Option<String>,
    /// The server's key, or that of the authority which signed it; none accepts any, as the reference does.
    pub host_key: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshProxy {
    pub scheme: ProxyScheme,
    pub host: String,
    pub port: u16,
    pub user: Option<String>,
    pub password: Option<Secret>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyScheme {
    Http,
    Socks5,
}

/// Everything that a connection needs, defaults applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub target: Hop,
    pub bastion: Option<Hop>,
    pub proxy: Option<SshProxy>,
    /// The agent's socket, if an agent is wanted and there is one.
    pub agent: Option<PathBuf>,
    pub agent_identity: Option<String>,
    pub platform: Platform,
    pub script_path: String,
    pub timeout: Duration,
}

/// Why a `connection` block cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsError {
    NoHost,
    Platform,
    /// The scheme of a proxy that is not supported yet.
    HttpsProxy,
    ProxyScheme(String),
    /// An attribute is not a port.
    Port {
        name: String,
        text: String,
    },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::NoHost => f.write_str("host for provisioner cannot be empty"),
            SettingsError::Platform => f.write_str("target_platform for provisioner has to be either unix or windows"),
            SettingsError::HttpsProxy => {
                f.write_str("proxy_scheme \"https\" is not supported yet: use \"http\" or \"socks5\"")
            }
            SettingsError::ProxyScheme(scheme) => write!(f, "proxy: unknown scheme: {scheme}"),
            SettingsError::Port { name, text } => {
                write!(f, "{name} must be a whole number between 1 and 65535, not {text:?}")
            }
        }
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Reads a `connection` block; `get` answers an attribute's value as text, none for null or absent.
    pub fn read(
        get: &dyn Fn(&str) -> Option<String>,
        agent_socket: Option<PathBuf>,
    ) -> Result<Settings, SettingsError> {
        let get = |name: &str| get(name).filter(|text| !text.is_empty());
        let host = get("host").ok_or(SettingsError::NoHost)?;
        let platform = match get("target_platform").as_deref() {
            None | Some("unix") => Platform::Unix,
            Some("windows") => Platform::Windows,
            Some(_) => return Err(SettingsError::Platform),
        };
        let target = Hop {
            host,
            port: port(&get, "port")?.unwrap_or(DEFAULT_PORT),
            user: get("user").unwrap_or_else(|| DEFAULT_USER.to_owned()),
            password: get("password").map(Secret::new),
            private_key: get("private_key").map(Secret::new),
            certificate: get("certificate"),
            host_key: get("host_key"),
        };
        Ok(Settings {
            bastion: bastion(&get, &target)?,
            proxy: proxy(&get)?,
            agent: if get("agent").as_deref() == Some("false") { None } else { agent_socket },
            agent_identity: get("agent_identity"),
            platform,
            script_path: get("script_path").unwrap_or_else(|| default_script_path(platform).to_owned()),
            timeout: get("timeout").and_then(|text| duration::parse(&text).ok()).unwrap_or(DEFAULT_TIMEOUT),
            target,
        })
    }
}

fn default_script_path(platform: Platform) -> &'static str {
    match platform {
        Platform::Unix => DEFAULT_UNIX_SCRIPT_PATH,
        Platform::Windows => DEFAULT_WINDOWS_SCRIPT_PATH,
    }
}

/// The bastion takes what it is not told from the target.
fn bastion(get: &dyn Fn(&str) -> Option<String>, target: &Hop) -> Result<Option<Hop>, SettingsError> {
    let Some(host) = get("bastion_host") else { return Ok(None) };
    Ok(Some(Hop {
        host,
        port: port(get, "bastion_port")?.unwrap_or(target.port),
        user: get("bastion_user").unwrap_or_else(|| target.user.clone()),
        password: get("bastion_password").map(Secret::new).or_else(|| target.password.clone()),
        private_key: get("bastion_private_key").map(Secret::new).or_else(|| target.private_key.clone()),
        certificate: get("bastion_certificate").or_else(|| target.certificate.clone()),
        host_key: get("bastion_host_key"),
    }))
}

fn proxy(get: &dyn Fn(&str) -> Option<String>) -> Result<Option<SshProxy>, SettingsError> {
    let Some(host) = get("proxy_host") else { return Ok(None) };
    let scheme = match get("proxy_scheme").as_deref() {
        None | Some("http") => ProxyScheme::Http,
        Some("socks5") => ProxyScheme::Socks5,
        Some("https") => return Err(SettingsError::HttpsProxy),
        Some(other) => return Err(SettingsError::ProxyScheme(other.to_owned())),
    };
    Ok(Some(SshProxy {
        scheme,
        host,
        port: port(get, "proxy_port")?.unwrap_or(80),
        user: get("proxy_user_name"),
        password: get("proxy_user_password").map(Secret::new),
    }))
}

/// A port as written: absent and 0 mean the default.
fn port(get: &dyn Fn(&str) -> Option<String>, name: &str) -> Result<Option<u16>, SettingsError> {
    match get(name) {
        None => Ok(None),
        Some(text) => match text.parse::<u16>() {
            Ok(0) => Ok(None),
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(SettingsError::Port { name: name.to_owned(), text }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let get = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::read(&get, Some(PathBuf::from("/agent")))
    }

    #[test]
    fn defaults() {
        let settings = read(&[("host", "h")]).unwrap();
        assert_eq!((settings.target.user.as_str(), settings.target.port), ("root", 22));
        assert_eq!(settings.script_path, "/tmp/terraform_%RAND%.sh");
        assert_eq!(settings.timeout, Duration::from_secs(300));
        assert!(settings.agent.is_some() && settings.bastion.is_none() && settings.proxy.is_none());
        let windows = read(&[("host", "h"), ("target_platform", "windows"), ("agent", "false")]).unwrap();
        assert_eq!(windows.script_path, "C:/windows/temp/terraform_%RAND%.cmd");
        assert_eq!(windows.agent, None);
    }

    #[test]
    fn bastion_inherits() {
        let settings = read(&[
            ("host", "h"),
            ("port", "2222"),
            ("user", "u"),
            ("password", "p"),
            ("bastion_host", "b"),
            ("bastion_user", "bu"),
        ])
        .unwrap();
        let bastion = settings.bastion.unwrap();
        assert_eq!((bastion.port, bastion.user.as_str()), (2222, "bu"));
        assert_eq!(bastion.password, Some(Secret::new("p")));
        assert!(!format!("{bastion:?}").contains("\"p\""));
    }

    #[test]
    fn refuses() {
        for (pairs, expected) in [
            (&[("user", "u")][..], "host for provisioner cannot be empty"),
            (
                &[("host", "h"), ("target_platform", "vms")],
                "target_platform for provisioner has to be either unix or windows",
            ),
            (&[("host", "h"), ("port", "70000")], "port must be a whole number between 1 and 65535, not \"70000\""),
            (&[("host", "h"), ("proxy_host", "p"), ("proxy_scheme", "ftp")], "proxy: unknown scheme: ftp"),
        ] {
            assert_eq!(read(pairs).unwrap_err().to_string(), expected);
        }
    }
}
