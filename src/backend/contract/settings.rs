//! A backend's settings with what the environment gives for those that are not set.

use std::path::{Path, PathBuf};

use base::env::Environment;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_value::Value;

use super::context::Context;

/// Settings of a backend's schema. Values of the environment appear only here, so that they are recorded nowhere.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    pub config: &'a Value,
    pub environment: &'a Environment,
    /// Where relative paths of settings start. Empty: in the folder of the process.
    pub folder: &'a Path,
}

impl<'a> Settings<'a> {
    pub fn of(config: &'a Value, context: &'a Context) -> Settings<'a> {
        Settings { config, environment: &context.environment, folder: &context.folder }
    }

    /// A text: the setting, or the first variable that is not empty. None if all of them are empty or not set.
    pub fn text(&self, name: &str, variables: &[&str]) -> Option<&'a str> {
        let set = self.config.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        set.or_else(|| variables.iter().find_map(|variable| self.environment.non_empty(variable)))
    }

    /// The path of a file or folder, found as [`Settings::text`] finds it.
    pub fn path(&self, name: &str, variables: &[&str]) -> Option<PathBuf> {
        self.text(name, variables).map(|path| self.folder_of(name).join(path))
    }

    /// Where the relative path that [`Settings::text`] finds starts. Variables are those of the process: their paths start in its
    /// folder, also for a command that works in another one.
    pub fn folder_of(&self, name: &str) -> &'a Path {
        match self.text(name, &[]) {
            Some(_) => self.folder,
            None => Path::new(""),
        }
    }

    /// A boolean; variables have any of the forms that Go's `strconv.ParseBool` takes. None if it is not set.
    pub fn flag(&self, name: &str, variables: &[&str]) -> Result<Option<bool>, ProviderDiagnostic> {
        if let Some(set) = self.config.get(name).and_then(Value::as_bool) {
            return Ok(Some(set));
        }
        let given = variables.iter().find_map(|variable| self.environment.non_empty(variable));
        given.map(|text| boolean(name, text)).transpose()
    }
}

/// A boolean in any of the forms that variables take.
pub fn boolean(name: &str, text: &str) -> Result<bool, ProviderDiagnostic> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(failure(format!("invalid value for {name:?}: strconv.ParseBool: parsing {text:?}: invalid syntax"))),
    }
}

/// A failure of a backend that is about no setting in particular: the reference shows such errors without a detail.
pub fn failure(text: impl Into<String>) -> ProviderDiagnostic {
    ProviderDiagnostic::error(text, "")
}

#[cfg(test)]
mod tests {
    use terrane_value::Type;

    use super::*;

    #[test]
    fn the_environment_fills_in_what_is_not_set() {
        let config = Value::object([
            ("a", Value::string("set")),
            ("b", Value::string("")),
            ("c", Value::null(Type::String)),
            ("d", Value::bool(false)),
            ("e", Value::null(Type::Bool)),
        ]);
        let environment = Environment::of([("X", ""), ("Y", "y"), ("T", "T"), ("BAD", "yes")]);
        let settings = Settings { config: &config, environment: &environment, folder: Path::new("") };
        assert_eq!(settings.text("a", &["Y"]), Some("set"));
        assert_eq!(settings.text("b", &["X", "Y"]), Some("y"));
        assert_eq!(settings.text("c", &["X"]), None);
        assert_eq!(settings.flag("d", &["T"]).unwrap(), Some(false));
        assert_eq!(settings.flag("e", &["X", "T"]).unwrap(), Some(true));
        assert_eq!(settings.flag("e", &["X"]).unwrap(), None);
        assert_eq!(
            settings.flag("e", &["BAD"]).unwrap_err().summary,
            "invalid value for \"e\": strconv.ParseBool: parsing \"yes\": invalid syntax"
        );
    }

    #[test]
    fn paths_of_settings_start_in_the_folder_of_the_command() {
        let config = Value::object([("set", Value::string("a/b")), ("full", Value::string("/c"))]);
        let environment = Environment::of([("X", "x")]);
        let path = |folder, name| Settings { config: &config, environment: &environment, folder }.path(name, &["X"]);
        for (folder, name, expected) in
            [("/base", "set", "/base/a/b"), ("/base", "full", "/c"), ("/base", "none", "x"), ("", "set", "a/b")]
        {
            assert_eq!(path(Path::new(folder), name).unwrap(), Path::new(expected), "{folder} {name}");
        }
    }
}
