//! What the user's settings say about credentials for OCI registries: those of `oci_credentials` blocks, and where
//! `oci_default_credentials` lets others come from. The blocks are OpenTofu's.

use std::fmt;
use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use base::secret::Secret;

use super::arguments::{ArgumentError, text, texts, truth};
use super::cli_file::{Item, LineColumn};
use super::oci_repository::{RepositoryError, RepositoryPrefix};

/// The credentials of all settings files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OciCredentials {
    /// In the order in which they were read; each prefix once.
    pub blocks: Vec<(RepositoryPrefix, OciLogin)>,
    pub defaults: OciDefaults,
    has_defaults: bool,
}

/// How a registry is logged in to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OciLogin {
    Password {
        username: String,
        password: Secret,
    },
    /// `access` is used until the registry refuses it, then the token that it gives for `refresh`.
    Tokens {
        access: Option<Secret>,
        refresh: Secret,
    },
    /// The program `docker-credential-NAME` knows.
    Helper(String),
}

/// Where credentials come from that no block has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OciDefaults {
    /// The files of other programs count.
    pub discover: bool,
    /// These files instead of those in the usual places.
    pub files: Option<Vec<PathBuf>>,
    /// The program to ask about registries that nothing more specific is known of.
    pub helper: Option<String>,
}

impl Default for OciDefaults {
    fn default() -> OciDefaults {
        OciDefaults { discover: true, files: None, helper: None }
    }
}

fn invalid(detail: String) -> Diagnostic {
    Diagnostic::error("Invalid oci_credentials block", detail)
}

fn invalid_defaults(at: LineColumn, why: &BlockError) -> Diagnostic {
    let detail = format!("The oci_default_credentials block at {at} {why}.");
    Diagnostic::error("Invalid oci_default_credentials block", detail)
}

impl OciCredentials {
    /// Takes an `oci_credentials` block.
    pub fn read_block(&mut self, item: &Item, diagnostics: &mut Diagnostics) {
        let in_json = item.at == LineColumn::default();
        let blocks = if in_json || !item.labels.is_empty() { item.labelled() } else { vec![item.clone()] };
        for block in blocks {
            match decode(&block) {
                Ok((prefix, _)) if self.blocks.iter().any(|(known, _)| *known == prefix) => {
                    diagnostics.error(format!("Duplicate oci_credentials block for \"{prefix}\""), "");
                }
                Ok(block) => self.blocks.push(block),
                Err(why) => diagnostics.push(invalid(format!("The oci_credentials block at {} {why}.", block.at))),
            }
        }
    }

    /// Takes an `oci_default_credentials` block of a file in `folder`; of several the first counts.
    pub fn read_defaults(&mut self, item: &Item, folder: &Path, diagnostics: &mut Diagnostics) {
        match decode_defaults(item, folder) {
            Err(why) => diagnostics.push(invalid_defaults(item.at, &why)),
            Ok(_) if self.has_defaults => {
                let detail = format!(
                    "The block at {} is not used. Move its arguments to the first block and remove it.",
                    item.at
                );
                diagnostics.error("No more than one oci_default_credentials block may be specified", detail);
            }
            Ok(defaults) => {
                self.defaults = defaults;
                self.has_defaults = true;
            }
        }
    }
}

/// What is wrong with a block. The message completes "The block at 1:1 ..."; it never holds a value of an argument but the name of a
/// helper.
#[derive(Clone, Debug, PartialEq, Eq)]
enum BlockError {
    NoLabel,
    Label(RepositoryError),
    /// The block for defaults has labels.
    Labels,
    EqualsSign,
    NoObject,
    Argument(ArgumentError),
    NoLogin,
    SeveralLogins,
    /// Only one of two arguments is set.
    Half([&'static str; 2]),
    HelperOfPath,
    HelperName(String),
    UnusedFiles,
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BlockError::NoLabel => {
                "must have one label, the address of a registry or the beginning of the address of a repository, such as \
                 \"registry.example.com/team\""
            }
            BlockError::Label(error) => return write!(f, "has an invalid label: {error}"),
            BlockError::Labels => "must not have any labels",
            BlockError::EqualsSign => "must not be introduced with an equals sign",
            BlockError::NoObject => "must be an object",
            BlockError::Argument(error) => return write!(f, "is invalid: {error}"),
            BlockError::NoLogin => {
                "must set username and password, access_token and refresh_token, or docker_credentials_helper"
            }
            BlockError::SeveralLogins => {
                "must set only one of: username and password, access_token and refresh_token, or \
                 docker_credentials_helper"
            }
            BlockError::Half([first, second]) => return write!(f, "must set {first} and {second} together"),
            BlockError::HelperOfPath => {
                "sets docker_credentials_helper for the path of a repository; such programs know only whole registries, so \
                 remove the path from the label"
            }
            BlockError::HelperName(name) => {
                return write!(
                    f,
                    "has the invalid docker_credentials_helper {name:?}; it must be the NAME of a program \
                     docker-credential-NAME, without a path"
                );
            }
            BlockError::UnusedFiles => {
                "sets docker_style_config_files, which has no effect with discover_ambient_credentials = false; remove one \
                 of them"
            }
        })
    }
}

impl From<ArgumentError> for BlockError {
    fn from(error: ArgumentError) -> BlockError {
        BlockError::Argument(error)
    }
}

fn decode(block: &Item) -> Result<(RepositoryPrefix, OciLogin), BlockError> {
    let [label] = block.labels.as_slice() else { return Err(BlockError::NoLabel) };
    let prefix = RepositoryPrefix::parse(label).map_err(BlockError::Label)?;
    let body = block_body(block)?;
    let secret = |name: &str| text(body, name).map(|value| value.map(Secret::new));
    let password = (text(body, "username")?, secret("password")?);
    let tokens = (secret("access_token")?, secret("refresh_token")?);
    let helper = text(body, "docker_credentials_helper")?;
    let login = match (password, tokens, helper) {
        ((None, None), (None, None), None) => return Err(BlockError::NoLogin),
        ((Some(username), Some(password)), (None, None), None) => OciLogin::Password { username, password },
        ((_, _), (None, None), None) => return Err(BlockError::Half(["username", "password"])),
        ((None, None), (Some(access), Some(refresh)), None) => OciLogin::Tokens { access: Some(access), refresh },
        ((None, None), (_, _), None) => return Err(BlockError::Half(["access_token", "refresh_token"])),
        ((None, None), (None, None), Some(_)) if !prefix.path.is_empty() => return Err(BlockError::HelperOfPath),
        ((None, None), (None, None), Some(helper)) => OciLogin::Helper(checked_helper(helper)?),
        _ => return Err(BlockError::SeveralLogins),
    };
    Ok((prefix, login))
}

fn decode_defaults(item: &Item, folder: &Path) -> Result<OciDefaults, BlockError> {
    if !item.labels.is_empty() {
        return Err(BlockError::Labels);
    }
    let body = block_body(item)?;
    let is_set = |name: &str| body.iter().any(|argument| argument.key == name);
    let discover = !is_set("discover_ambient_credentials") || truth(body, "discover_ambient_credentials")?;
    let files = texts(body, "docker_style_config_files")?;
    let files = is_set("docker_style_config_files").then(|| files.iter().map(|file| folder.join(file)).collect());
    if !discover && files.is_some() {
        return Err(BlockError::UnusedFiles);
    }
    let helper = text(body, "docker_credentials_helper")?.map(checked_helper).transpose()?;
    Ok(OciDefaults { discover, files, helper })
}

fn block_body(block: &Item) -> Result<&[Item], BlockError> {
    if block.assigned && block.at != LineColumn::default() {
        return Err(BlockError::EqualsSign);
    }
    block.value.as_items().ok_or(BlockError::NoObject)
}

/// A name that can be part of the name of a program.
fn checked_helper(name: String) -> Result<String, BlockError> {
    match name.is_empty() || name.contains(['/', '\\']) {
        true => Err(BlockError::HelperName(name)),
        false => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::cli_file;

    fn read(text: &str) -> (OciCredentials, Vec<String>) {
        let (mut credentials, mut diagnostics) = (OciCredentials::default(), Diagnostics::new());
        for item in cli_file::parse(text).unwrap() {
            match item.key.as_str() {
                "oci_credentials" => credentials.read_block(&item, &mut diagnostics),
                _ => credentials.read_defaults(&item, Path::new("/settings"), &mut diagnostics),
            }
        }
        (credentials, diagnostics.into_iter().map(|d| format!("{} {}", d.summary, d.detail)).collect())
    }

    fn password(username: &str, password: &str) -> OciLogin {
        OciLogin::Password { username: username.to_owned(), password: Secret::new(password) }
    }

    #[test]
    fn blocks_have_one_kind_of_login() {
        let native = "oci_credentials \"a.example\" {\n  username = \"u\"\n  password = \"p\"\n}\n\
                      oci_credentials \"a.example/team\" {\n  access_token = \"a\"\n  refresh_token = \"r\"\n}\n\
                      oci_credentials \"b.example:5000\" { docker_credentials_helper = \"pass\" }\n";
        let json = r#"{"oci_credentials": {"a.example": {"username": "u", "password": "p"},
            "a.example/team": {"access_token": "a", "refresh_token": "r"},
            "b.example:5000": {"docker_credentials_helper": "pass"}}}"#;
        let tokens = OciLogin::Tokens { access: Some(Secret::new("a")), refresh: Secret::new("r") };
        let expected = [
            ("a.example", password("u", "p")),
            ("a.example/team", tokens),
            ("b.example:5000", OciLogin::Helper("pass".to_owned())),
        ]
        .map(|(prefix, login)| (RepositoryPrefix::parse(prefix).unwrap(), login));
        for text in [native, json] {
            let (found, errors) = read(text);
            assert_eq!((errors, &found.blocks[..]), (Vec::new(), &expected[..]), "{text}");
            assert!(!format!("{found:?}").contains("\"p\""));
        }
    }

    #[test]
    fn errors_say_what_is_missing_and_show_no_secret() {
        for (block, expected) in [
            ("oci_credentials { username = \"u\" }", "must have one label"),
            ("oci_credentials \"a\" \"b\" {}", "must have one label"),
            ("oci_credentials \"a.example\" {}", "must set username and password, access_token"),
            ("oci_credentials \"a.example\" { username = \"u\" }", "must set username and password together"),
            ("oci_credentials \"a.example\" { password = \"s3cret\" }", "must set username and password together"),
            (
                "oci_credentials \"a.example\" { refresh_token = \"s3cret\" }",
                "must set access_token and refresh_token together",
            ),
            (
                "oci_credentials \"a.example\" { username = \"u\" password = \"s3cret\" refresh_token = \"s3cret\" }",
                "must set only one of",
            ),
            ("oci_credentials \"a.example\" { password = [\"s3cret\"] username = \"u\" }", "unknown type for string"),
            ("oci_credentials \"a.example/x\" { docker_credentials_helper = \"h\" }", "for the path of a repository"),
            (
                "oci_credentials \"a.example\" { docker_credentials_helper = \"a/b\" }",
                "docker_credentials_helper \"a/b\"",
            ),
            ("oci_credentials \"a.example\" { docker_credentials_helper = \"\" }", "docker_credentials_helper \"\""),
            ("oci_credentials \"https://a.example\" {}", "has an invalid label"),
            ("oci_credentials \"a.example\" = { username = \"u\" }", "must not be introduced with an equals sign"),
            (
                "oci_credentials \"a.example\" { username = \"u\" password = \"s3cret\" }\n\
                 oci_credentials \"a.example\" { username = \"v\" password = \"s3cret\" }",
                "Duplicate oci_credentials block for \"a.example\"",
            ),
            ("oci_default_credentials \"x\" {}", "must not have any labels"),
            ("oci_default_credentials = {}", "must not be introduced with an equals sign"),
            ("oci_default_credentials { docker_credentials_helper = \"\" }", "docker_credentials_helper \"\""),
            ("oci_default_credentials { discover_ambient_credentials = \"maybe\" }", "a boolean is required"),
            (
                "oci_default_credentials { discover_ambient_credentials = false docker_style_config_files = [] }",
                "has no effect with discover_ambient_credentials = false",
            ),
            (
                "oci_default_credentials {}\noci_default_credentials {}",
                "No more than one oci_default_credentials block may be specified",
            ),
        ] {
            let (_, errors) = read(block);
            assert_eq!(errors.len(), 1, "{block}: {errors:?}");
            assert!(errors[0].contains(expected) && !errors[0].contains("s3cret"), "{block}: {errors:?}");
        }
    }

    #[test]
    fn defaults_replace_the_search_for_files() {
        let defaults = |text: &str| {
            let (found, errors) = read(text);
            assert_eq!(errors, Vec::<String>::new(), "{text}");
            found.defaults
        };
        assert_eq!(defaults(""), OciDefaults::default());
        assert_eq!(defaults("oci_default_credentials {}"), OciDefaults::default());
        let none = defaults("oci_default_credentials { discover_ambient_credentials = false }");
        assert_eq!(none, OciDefaults { discover: false, ..OciDefaults::default() });
        let native = "oci_default_credentials {\n  docker_style_config_files = [\"auth.json\", \"/abs.json\"]\n  \
                      docker_credentials_helper = \"pass\"\n}\n";
        let json = r#"{"oci_default_credentials": {"docker_style_config_files": ["auth.json", "/abs.json"],
            "docker_credentials_helper": "pass"}}"#;
        let files = Some(["/settings/auth.json", "/abs.json"].map(PathBuf::from).to_vec());
        for text in [native, json] {
            let expected = OciDefaults { discover: true, files: files.clone(), helper: Some("pass".to_owned()) };
            assert_eq!(defaults(text), expected, "{text}");
        }
        assert_eq!(defaults("oci_default_credentials { docker_style_config_files = [] }").files, Some(Vec::new()));
    }
}
