//! Flags that decide how output is shown. They are taken out of the arguments before the others are read, because errors of the others
//! are shown by them too.

use base::diag::{Diagnostics, Grouping, Kind};
use clap::{Arg, Command};

use super::flags::{switch, text};

const NO_COLOR: &str = "no-color";
const COMPACT_WARNINGS: &str = "compact-warnings";
const CONSOLIDATE_WARNINGS: &str = "consolidate-warnings";
const CONSOLIDATE_ERRORS: &str = "consolidate-errors";
const DEPRECATION: &str = "deprecation";
const CONCISE: &str = "concise";
const JSON_INTO: &str = "json-into";
const SHOW_SENSITIVE: &str = "show-sensitive";

/// Which warnings about deprecated variables and outputs of modules are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deprecations {
    #[default]
    All,
    /// Those of modules in folders of the project.
    Local,
    None,
}

/// How output is shown, wherever in the arguments it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewOptions {
    pub no_color: bool,
    pub compact_warnings: bool,
    pub grouping: Grouping,
    pub deprecations: Deprecations,
    /// No lines of progress.
    pub concise: bool,
    /// Sensitive values are shown.
    pub show_sensitive: bool,
}

impl ViewOptions {
    /// Takes the flags that all commands have out of the arguments.
    pub fn take(&mut self, args: &mut Vec<String>) {
        self.take_those(args, |name| !matches!(name, CONCISE | SHOW_SENSITIVE));
    }

    /// As `take`, with the flags that only some commands have, among them this one.
    pub fn take_of(&mut self, command: &Command, args: &mut Vec<String>) {
        self.take_those(args, |name| command.get_arguments().any(|arg| arg.get_long() == Some(name)));
    }

    fn take_those(&mut self, args: &mut Vec<String>, is_known: impl Fn(&str) -> bool) {
        args.retain(|arg| {
            let name = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'));
            let Some((name, value)) = name.map(|name| name.split_once('=').unwrap_or((name, ""))) else { return true };
            // What is no value of the flag stays, and is reported with the other flags.
            !(is_known(name) && self.set(name, value))
        });
    }

    /// False if there is no such flag, or if it has no such value.
    fn set(&mut self, name: &str, value: &str) -> bool {
        if name == DEPRECATION {
            let Some(level) = value.strip_prefix("module:") else { return false };
            self.deprecations = match level {
                "none" => Deprecations::None,
                "local" => Deprecations::Local,
                _ => Deprecations::All,
            };
            return true;
        }
        let on = match value {
            "" | "true" => true,
            "false" => false,
            _ => return false,
        };
        let option = match name {
            NO_COLOR => &mut self.no_color,
            COMPACT_WARNINGS => &mut self.compact_warnings,
            CONSOLIDATE_WARNINGS => &mut self.grouping.warnings,
            CONSOLIDATE_ERRORS => &mut self.grouping.errors,
            CONCISE => &mut self.concise,
            SHOW_SENSITIVE => &mut self.show_sensitive,
            _ => return false,
        };
        *option = on;
        true
    }

    /// The diagnostics without those that the user does not want to see.
    pub fn wanted(&self, diagnostics: Diagnostics) -> Diagnostics {
        if self.deprecations == Deprecations::All {
            return diagnostics;
        }
        let is_hidden = |kind| match kind {
            Kind::ModuleDeprecation => true,
            Kind::LocalModuleDeprecation => self.deprecations == Deprecations::None,
            _ => false,
        };
        diagnostics.into_iter().filter(|diagnostic| !is_hidden(diagnostic.kind)).collect()
    }
}

/// The flags of all commands, for the help pages.
pub fn view_flags() -> [Arg; 5] {
    [
        switch(COMPACT_WARNINGS, false, "Show only the summaries of warnings, unless there are also errors."),
        switch(CONSOLIDATE_WARNINGS, true, "Show each warning, also those with the same summary."),
        switch(CONSOLIDATE_ERRORS, false, "Show errors with the same summary once, with the number of the others."),
        text(
            DEPRECATION,
            "module:level",
            "Which warnings about deprecated variables and outputs of modules to show: \"module:all\", \"module:local\" for those of modules in folders of the project, or \"module:none\".",
        )
        .value_parser(["module:all", "module:local", "module:none"]),
        switch(NO_COLOR, false, "Write no colours."),
    ]
}

/// The file that gets what `-json` would write; none, or an empty name: there is no such file.
pub fn take_json_into(command: &Command, args: &mut Vec<String>) -> Option<String> {
    let is_known = command.get_arguments().any(|arg| arg.get_long() == Some(JSON_INTO));
    let mut path = None;
    args.retain(|arg| {
        let name = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'));
        let value = name.and_then(|name| name.strip_prefix(JSON_INTO)?.strip_prefix('=')).filter(|_| is_known);
        path = value.map(str::to_owned).or_else(|| path.take());
        value.is_none()
    });
    path.filter(|path| !path.is_empty())
}

pub fn json_into_flag() -> Arg {
    text(JSON_INTO, "path", "Write what -json would write to this file, beside the output for people.")
}

pub fn concise_flag() -> Arg {
    switch(CONCISE, false, "Show no lines of progress.")
}

pub fn show_sensitive_flag() -> Arg {
    switch(SHOW_SENSITIVE, false, "Show sensitive values.")
}

#[cfg(test)]
mod tests {
    use base::diag::Diagnostic;

    use super::*;
    use crate::args::flags;

    fn taken(words: &[&str]) -> (ViewOptions, Vec<String>) {
        let mut args: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let mut options = ViewOptions::default();
        options.take(&mut args);
        let command = flags::command("t").args(view_flags()).arg(concise_flag());
        options.take_of(&command, &mut args);
        (options, args)
    }

    #[test]
    fn options_are_found_anywhere() {
        let words = ["a", "-no-color", "-compact-warnings", "b", "--consolidate-errors", "-consolidate-warnings=false"];
        let (options, args) = taken(&words);
        assert_eq!((options.no_color, options.compact_warnings), (true, true));
        assert_eq!(options.grouping, Grouping { warnings: false, errors: true });
        assert_eq!(args, ["a", "b"]);
    }

    #[test]
    fn flags_of_other_commands_and_wrong_values_stay() {
        let words =
            ["-concise", "-show-sensitive", "-deprecation=other:x", "-deprecation", "-consolidate-errors=x", "-x"];
        let (options, args) = taken(&words);
        assert!(options.concise && !options.show_sensitive);
        assert_eq!(args, words[1..]);
    }

    #[test]
    fn the_file_for_programs_is_taken_where_there_is_the_flag() {
        let cases =
            [("-json-into=a", Some("a")), ("--json-into=a=b", Some("a=b")), ("-json-into=", None), ("-x", None)];
        for (word, expected) in cases {
            let mut args = vec!["p".to_string(), word.to_string()];
            let command = flags::command("t").arg(json_into_flag());
            assert_eq!(take_json_into(&command, &mut args).as_deref(), expected, "{word}");
            assert_eq!(args.len(), if word == "-x" { 2 } else { 1 }, "{word}");
        }
        let mut args = vec!["-json-into=a".to_string()];
        assert_eq!(take_json_into(&flags::command("t"), &mut args), None);
        assert_eq!(args, ["-json-into=a"]);
    }

    #[test]
    fn deprecations_are_hidden_by_where_the_module_is() {
        let warning = |kind| Diagnostic::warning("w", "").of_kind(kind);
        let kinds = [Kind::Other, Kind::ModuleDeprecation, Kind::LocalModuleDeprecation];
        for (level, left) in [("all", 3), ("local", 2), ("none", 1), ("bogus", 3)] {
            let (options, _) = taken(&[&format!("-deprecation=module:{level}")]);
            assert_eq!(options.wanted(kinds.into_iter().map(warning).collect()).len(), left, "{level}");
        }
    }
}
