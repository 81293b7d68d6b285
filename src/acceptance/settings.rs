//! The environment variables of acceptance tests.

use std::io::Write as _;
use std::path::PathBuf;

use super::environment::{
    Environment, PATH, TF_ACC, TF_ACC_LOG, TF_ACC_LOG_PATH, TF_ACC_PERSIST_WORKING_DIR, TF_ACC_PROVIDER_HOST,
    TF_ACC_PROVIDER_NAMESPACE, TF_ACC_TEMP_DIR, TF_ACC_TERRAFORM_PATH, TF_CLI_ARGS_, TF_LOG,
};

/// The variables of one test.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    environment: Environment,
}

impl Settings {
    pub fn of_process() -> Settings {
        Settings { environment: Environment::process() }
    }

    #[cfg(test)]
    pub fn of(pairs: &[(&str, &str)]) -> Settings {
        Settings { environment: Environment::of(pairs.iter().copied()) }
    }

    /// Whether acceptance tests run.
    pub fn is_enabled(&self) -> bool {
        self.environment.non_empty(TF_ACC).is_some()
    }

    pub fn program_path(&self) -> Option<PathBuf> {
        self.environment.non_empty(TF_ACC_TERRAFORM_PATH).map(PathBuf::from)
    }

    /// The folders with programs.
    pub fn search_path(&self) -> Vec<PathBuf> {
        self.environment.get(PATH).map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
    }

    /// The folder for working directories.
    pub fn temporary_folder(&self) -> PathBuf {
        self.environment.non_empty(TF_ACC_TEMP_DIR).map_or_else(std::env::temp_dir, PathBuf::from)
    }

    /// Whether working directories are kept.
    pub fn keeps_folders(&self) -> bool {
        self.environment.non_empty(TF_ACC_PERSIST_WORKING_DIR).is_some()
    }

    pub fn log_level(&self) -> Option<&str> {
        self.environment.non_empty(TF_ACC_LOG)
    }

    pub fn log_path(&self) -> Option<&str> {
        self.environment.non_empty(TF_ACC_LOG_PATH)
    }

    /// The host of providers whose address has none; none for the default of each program.
    pub fn provider_host(&self) -> Option<&str> {
        self.environment.non_empty(TF_ACC_PROVIDER_HOST)
    }

    /// The namespace of providers whose address has none.
    pub fn provider_namespace(&self) -> &str {
        self.environment.non_empty(TF_ACC_PROVIDER_NAMESPACE).unwrap_or("hashicorp")
    }

    /// The variables with arguments for single commands.
    pub fn command_arguments(&self) -> impl Iterator<Item = String> {
        self.environment.with_prefix(TF_CLI_ARGS_).map(|command| format!("{TF_CLI_ARGS_}{command}"))
    }

    /// Starts the log of the providers, which run in this process.
    pub fn start_log(&self, address: &str) {
        if let Some(level) = self.log_level() {
            let level = level.to_owned();
            terrane_sdk::__host::start_log(move |name| (name == TF_LOG).then(|| level.clone()), address);
        }
    }

    /// Writes a line for the developer. Unlike what tests print, it is also shown if they pass.
    pub fn report(&self, line: &str) {
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_variables_count_as_not_set() {
        let settings = Settings::of(&[("TF_ACC", ""), ("TF_ACC_PROVIDER_HOST", ""), ("TF_ACC_TERRAFORM_PATH", "/x")]);
        assert!(!settings.is_enabled() && !settings.keeps_folders());
        assert_eq!((settings.provider_host(), settings.provider_namespace()), (None, "hashicorp"));
        assert_eq!(settings.program_path(), Some("/x".into()));
        assert!(Settings::of(&[("TF_ACC", "1")]).is_enabled());
    }
}
