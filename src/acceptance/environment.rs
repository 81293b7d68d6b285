//! The environment of a test: what it asks for, and what is removed for the program.

use std::collections::BTreeMap;

pub const CHECKPOINT_DISABLE: &str = "CHECKPOINT_DISABLE";
pub const PATH: &str = "PATH";
pub const TF_ACC: &str = "TF_ACC";
pub const TF_ACC_LOG: &str = "TF_ACC_LOG";
pub const TF_ACC_LOG_PATH: &str = "TF_ACC_LOG_PATH";
pub const TF_ACC_PERSIST_WORKING_DIR: &str = "TF_ACC_PERSIST_WORKING_DIR";
pub const TF_ACC_PROVIDER_HOST: &str = "TF_ACC_PROVIDER_HOST";
pub const TF_ACC_PROVIDER_NAMESPACE: &str = "TF_ACC_PROVIDER_NAMESPACE";
pub const TF_ACC_TEMP_DIR: &str = "TF_ACC_TEMP_DIR";
pub const TF_ACC_TERRAFORM_PATH: &str = "TF_ACC_TERRAFORM_PATH";
pub const TF_CLI_ARGS: &str = "TF_CLI_ARGS";
pub const TF_CLI_ARGS_: &str = "TF_CLI_ARGS_";
pub const TF_DATA_DIR: &str = "TF_DATA_DIR";
pub const TF_IN_AUTOMATION: &str = "TF_IN_AUTOMATION";
pub const TF_INPUT: &str = "TF_INPUT";
pub const TF_LOG: &str = "TF_LOG";
pub const TF_LOG_CORE: &str = "TF_LOG_CORE";
pub const TF_LOG_PATH: &str = "TF_LOG_PATH";
pub const TF_LOG_PROVIDER: &str = "TF_LOG_PROVIDER";
pub const TF_REATTACH_PROVIDERS: &str = "TF_REATTACH_PROVIDERS";
pub const TF_WORKSPACE: &str = "TF_WORKSPACE";

/// Variables and their values.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The environment of this process; bytes that are not UTF-8 are replaced.
    pub fn process() -> Environment {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        Environment(std::env::vars_os().map(|(name, value)| (text(name), text(value))).collect())
    }

    #[cfg(test)]
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Environment {
        Environment(pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value unless it is empty or not set.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// The rests of the names that begin so.
    pub fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.keys().filter_map(move |name| name.strip_prefix(prefix))
    }
}
