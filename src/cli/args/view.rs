//! Flags that decide how output is shown. They are taken out of the arguments before the others are read, because errors of the others
//! are shown by them too.

use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics, Grouping, Kind};
use clap::{Arg, Command};

use super::flags::{WITHOUT_VALUE, optional, switch, text};

/// The summary where the forms of output that are asked for exclude each other.
pub const INVALID_OUTPUT_FORMAT: &str = "Invalid output format";

const NO_COLOR: &str = "no-color";
const COMPACT_WARNINGS: &str = "compact-warnings";
const CONSOLIDATE_WARNINGS: &str = "consolidate-warnings";
const CONSOLIDATE_ERRORS: &str = "consolidate-errors";
const DEPRECATION: &str = "deprecation";
const CONCISE: &str = "concise";
const JSON_INTO: &str = "json-into";
const SHOW_SENSITIVE: &str = "show-sensitive";
const PROGRESS: &str = "progress";
const TIMINGS: &str = "timings";

/// Which warnings about deprecated variables and outputs of modules are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deprecations {
    #[default]
    All,
    /// Those of modules in folders of the project.
    Local,
    None,
}

/// What shows the progress of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgressMode {
    /// A status area on a terminal that people read.
    #[default]
    Auto,
    /// A status area on every terminal.
    Terminal,
    /// A line now and then while nothing else is written.
    Plain,
    None,
}

impl ProgressMode {
    /// The mode of that name; none if there is none.
    pub fn named(name: &str) -> Option<ProgressMode> {
        Some(match name {
            "auto" => ProgressMode::Auto,
            "tty" => ProgressMode::Terminal,
            "plain" => ProgressMode::Plain,
            "none" => ProgressMode::None,
            _ => return None,
        })
    }
}

/// Where the times of the steps go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimingsOutput {
    /// The slowest ones, to standard output.
    Table,
    /// All of them, as a page.
    Html(PathBuf),
    /// All of them, as a trace for viewers of such.
    Trace(PathBuf),
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

/// The mode of `-progress`, taken out of the arguments; none: it was not given. What is no mode stays, and is reported with the other
/// flags.
pub fn take_progress(command: &Command, args: &mut Vec<String>) -> Option<ProgressMode> {
    if !has_progress(command) {
        return None;
    }
    let mut mode = None;
    let mut at = 0;
    while at < args.len() {
        let (is_it, value) = match flag_of(&args[at]) {
            Some((PROGRESS, Some(value))) => (true, ProgressMode::named(value).map(|mode| (mode, 1))),
            Some((PROGRESS, None)) => {
                let value = args.get(at + 1).and_then(|value| ProgressMode::named(value));
                (true, value.map(|mode| (mode, 2)))
            }
            _ => (false, None),
        };
        match (is_it, value) {
            (true, Some((found, words))) => {
                mode = Some(found);
                args.drain(at..at + words);
            }
            _ => at += 1,
        }
    }
    mode
}

/// Whether a command shows its progress.
pub fn has_progress(command: &Command) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(PROGRESS))
}

/// Where the times of the steps go, taken out of the arguments; none: they are not wanted.
pub fn take_timings(command: &Command, args: &mut Vec<String>) -> Result<Option<TimingsOutput>, Diagnostic> {
    if !command.get_arguments().any(|arg| arg.get_long() == Some(TIMINGS)) {
        return Ok(None);
    }
    let mut given = None;
    args.retain(|arg| match flag_of(arg) {
        Some((TIMINGS, value)) => {
            given = Some(value.unwrap_or(WITHOUT_VALUE).to_owned());
            false
        }
        _ => true,
    });
    let Some(given) = given.filter(|given| given != "false") else { return Ok(None) };
    let output = match Path::new(&given).extension().and_then(|ending| ending.to_str()) {
        _ if given == WITHOUT_VALUE => TimingsOutput::Table,
        Some("html") => TimingsOutput::Html(given.into()),
        Some("json") => TimingsOutput::Trace(given.into()),
        _ => {
            let detail = format!(
                "The file {given:?} of -timings has an unknown type: its name must end in \".html\", for a page, or in \".json\", for a \
                 trace. Without a file, the slowest steps are shown at the end."
            );
            return Err(Diagnostic::error("Invalid value of -timings", detail));
        }
    };
    if output == TimingsOutput::Table && writes_json(args) {
        let detail = "The -timings option without a file adds a table to the output, which is JSON with -json and with -summary=json. Use \
                      -timings=FILE.json or -timings=FILE.html.";
        return Err(Diagnostic::error(INVALID_OUTPUT_FORMAT, detail));
    }
    Ok(Some(output))
}

/// Whether standard output is for programs.
pub fn writes_json(args: &[String]) -> bool {
    let is_off = |value: &str| matches!(value, "0" | "f" | "F" | "false" | "FALSE" | "False");
    args.iter().any(|arg| match flag_of(arg) {
        Some(("json", value)) => !value.is_some_and(is_off),
        Some(("summary", value)) => value == Some("json"),
        _ => false,
    })
}

/// The name and the value of a flag that is one word.
fn flag_of(arg: &str) -> Option<(&str, Option<&str>)> {
    let name = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'))?;
    Some(name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value))))
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

pub fn progress_flag() -> Arg {
    text(
        PROGRESS,
        "mode",
        "How to show what runs. auto: a status area below the output, on a terminal, unless NO_COLOR, TF_IN_AUTOMATION or CI is set or TERM is \"dumb\"; tty: on every terminal; plain: no area, but a line on standard error if there was no output for 30 seconds; none: neither. Not with -json. TERRANE_PROGRESS sets another default.",
    )
    .default_value("auto")
    .value_parser(["auto", "tty", "plain", "none"])
}

pub fn timings_flag() -> Arg {
    optional(
        TIMINGS,
        "file",
        "Show the ten slowest steps at the end. With a file: write the times of all steps to it, as a page (FILE.html) or as a trace for Perfetto and Chrome (FILE.json).",
    )
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

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.to_string()).collect()
    }

    #[test]
    fn the_mode_of_progress_is_taken_in_both_forms() {
        let command = flags::command("t").arg(progress_flag());
        let cases: &[(&[&str], Option<ProgressMode>, &[&str])] = &[
            (&["a", "-progress=plain", "b"], Some(ProgressMode::Plain), &["a", "b"]),
            (&["--progress", "tty", "-x"], Some(ProgressMode::Terminal), &["-x"]),
            (&["-progress=none", "-progress=auto"], Some(ProgressMode::Auto), &[]),
            (&["-progress=fast"], None, &["-progress=fast"]),
            (&["-progress"], None, &["-progress"]),
            (&["-x"], None, &["-x"]),
        ];
        for (given, expected, left) in cases {
            let mut args = words(given);
            assert_eq!(take_progress(&command, &mut args), *expected, "{given:?}");
            assert_eq!(args, words(left), "{given:?}");
        }
        let mut args = words(&["-progress=plain"]);
        assert_eq!(take_progress(&flags::command("t"), &mut args), None);
        assert_eq!(args, ["-progress=plain"]);
    }

    #[test]
    fn timings_go_to_a_table_or_to_a_file() {
        let command = flags::command("t").arg(timings_flag());
        let cases: &[(&[&str], Result<Option<TimingsOutput>, &str>)] = &[
            (&["-x"], Ok(None)),
            (&["-timings"], Ok(Some(TimingsOutput::Table))),
            (&["-timings=false"], Ok(None)),
            (&["-timings=a.html", "-json"], Ok(Some(TimingsOutput::Html("a.html".into())))),
            (&["-timings", "--timings=d/a.json"], Ok(Some(TimingsOutput::Trace("d/a.json".into())))),
            (&["-timings=a.txt"], Err("Invalid value of -timings")),
            (&["-timings", "-json"], Err("Invalid output format")),
        ];
        for (given, expected) in cases {
            let found = take_timings(&command, &mut words(given)).map_err(|problem| problem.summary);
            assert_eq!(found, expected.clone().map_err(str::to_owned), "{given:?}");
        }
    }

    #[test]
    fn output_for_programs_is_recognised() {
        let cases: &[(&[&str], bool)] = &[
            (&["-json"], true),
            (&["x", "--json=true"], true),
            (&["-json=false"], false),
            (&["-json-into=a"], false),
            (&["-summary=json"], true),
            (&["-summary"], false),
            (&["json"], false),
        ];
        for (given, expected) in cases {
            assert_eq!(writes_json(&words(given)), *expected, "{given:?}");
        }
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
