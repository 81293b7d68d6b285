//! The arguments of a key provider or a method: found by schema, evaluated, converted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Attribute;
use lang::syntax::body::Content;
use model::model_errors::UNSUITABLE_VALUE;
use terrane_value::{Type, Value, convert};

use super::services::Services;

/// Arguments with their values, which are known and unmarked.
#[derive(Debug, Default)]
pub struct Settings {
    values: BTreeMap<String, (Value, Range)>,
    pub blocks: Vec<(String, Settings)>,
    /// What is wrong with values that were asked for.
    pub problems: Diagnostics,
}

impl Settings {
    /// The values of what a schema found. `evaluate` gives the value of an argument.
    pub fn of(
        content: &Content,
        evaluate: &mut dyn FnMut(&Attribute) -> (Value, Diagnostics),
    ) -> (Settings, Diagnostics) {
        let (mut settings, mut diags) = (Settings::default(), Diagnostics::new());
        for (name, attribute) in &content.attributes {
            let value = diags.take(evaluate(attribute));
            settings.values.insert(name.to_string(), (value.unmark_deep().0, attribute.expr.range()));
        }
        (settings, diags)
    }

    pub fn get(&self, name: &str) -> Option<&(Value, Range)> {
        self.values.get(name)
    }

    /// A value of a type; none where it is not given, or null, or not of that type, which is kept as a problem.
    fn typed(&mut self, name: &str, ty: &Type) -> Option<(Value, Range)> {
        let (value, place) = self.values.get(name)?.clone();
        match convert::convert(&value, ty) {
            Ok(value) if value.is_null() || !value.is_wholly_known() => None,
            Ok(value) => Some((value, place)),
            Err(error) => {
                self.problems.push(unsuitable(&error.to_string(), &place));
                None
            }
        }
    }

    /// Empty where it is not given.
    pub fn text(&mut self, name: &str) -> String {
        self.typed(name, &Type::String).and_then(|(value, _)| value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    pub fn flag(&mut self, name: &str) -> Option<bool> {
        self.typed(name, &Type::Bool).and_then(|(value, _)| value.as_bool())
    }

    pub fn number(&mut self, name: &str) -> Option<i64> {
        let (value, place) = self.typed(name, &Type::Number)?;
        let number = number_in(&value, i64::MIN, i64::MAX);
        if number.is_none() {
            self.problems.push(unsuitable("value must be a whole number", &place));
        }
        number
    }

    /// The entries of a map of texts.
    pub fn pairs(&mut self, name: &str) -> Vec<(String, String)> {
        let found = self.typed(name, &Type::map(Type::String));
        let entries = |(value, _): (Value, Range)| {
            let pair =
                |(key, value): (&std::sync::Arc<str>, &Value)| Some((key.to_string(), value.as_str()?.to_owned()));
            value.entries().iter().filter_map(pair).collect()
        };
        found.map(entries).unwrap_or_default()
    }

    pub fn texts(&mut self, name: &str) -> Vec<String> {
        let found = self.typed(name, &Type::list(Type::String));
        let texts = |(value, _): (Value, Range)| {
            value.elements().iter().filter_map(|v| v.as_str().map(str::to_owned)).collect()
        };
        found.map(texts).unwrap_or_default()
    }
}

/// Arguments, and the variables that stand in for those that are not given or empty.
pub struct SettingsOrVariables<'a> {
    pub settings: &'a mut Settings,
    pub services: &'a Services,
}

impl<'a> SettingsOrVariables<'a> {
    pub fn text(&mut self, name: &str, variables: &[&str]) -> Option<String> {
        let set = Some(self.settings.text(name)).filter(|text| !text.is_empty());
        set.or_else(|| self.variable(variables).map(str::to_owned))
    }

    /// The path of a file. That of a variable starts in the folder of the process, also for a command that works in another one.
    pub fn file(&mut self, name: &str, variables: &[&str]) -> Option<PathBuf> {
        let set = Some(self.settings.text(name)).filter(|text| !text.is_empty());
        set.map(|path| self.services.folder.join(path)).or_else(|| self.variable(variables).map(PathBuf::from))
    }

    /// Where the path starts that [`SettingsOrVariables::text`] finds.
    pub fn folder_of(&self, name: &str) -> &'a Path {
        let set = self.settings.get(name).and_then(|(value, _)| value.as_str()).filter(|text| !text.is_empty());
        if set.is_some() { &self.services.folder } else { Path::new("") }
    }

    fn variable(&self, variables: &[&str]) -> Option<&'a str> {
        variables.iter().find_map(|variable| self.services.environment.non_empty(variable))
    }
}

/// A whole number within bounds.
pub fn number_in(value: &Value, least: i64, most: i64) -> Option<i64> {
    value.as_number().and_then(|number| number.as_i64()).filter(|n| (least..=most).contains(n))
}

/// A value of another type than the one that is wanted.
pub fn unsuitable(why: &str, place: &Range) -> Diagnostic {
    Diagnostic::error(UNSUITABLE_VALUE, format!("Unsuitable value: {why}")).at(place.clone())
}

#[cfg(test)]
mod tests {
    use base::env::Environment;
    use base::source::SourceFile;
    use lang::syntax::body::Body;

    use super::*;

    #[test]
    fn files_of_settings_start_in_the_folder_of_the_command() {
        let place = Body::empty(&SourceFile::new("", "")).range();
        let values = [("set", "a/b"), ("full", "/c"), ("empty", "")];
        let values = values.map(|(name, text)| (name.to_owned(), (Value::string(text), place.clone())));
        let mut settings = Settings { values: values.into(), ..Settings::default() };
        let services = Services {
            environment: Environment::of([("X", "x")]),
            folder: PathBuf::from("/base"),
            ..Services::offline()
        };
        let mut given = SettingsOrVariables { settings: &mut settings, services: &services };
        for (name, expected) in [("set", "/base/a/b"), ("full", "/c"), ("empty", "x"), ("none", "x")] {
            assert_eq!(given.file(name, &["X"]).as_deref(), Some(Path::new(expected)), "{name}");
        }
        assert_eq!(given.folder_of("set"), Path::new("/base"));
        assert_eq!(given.folder_of("none"), Path::new(""));
    }
}
