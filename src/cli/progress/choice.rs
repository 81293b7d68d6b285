//! Whether a command has a status area, lines that keep it alive, or neither.
//!
//! Owns the conditions. Never draws.

use base::env::{self, Environment};
use base::term::Terminal;

use crate::args::view::ProgressMode;

/// What a command shows of its progress, apart from its output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProgressForm {
    /// The status area.
    Area,
    /// A line on standard error if there was no output for some time.
    KeepAlive,
    #[default]
    Nothing,
}

/// What decides it, apart from the environment.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    pub terminal: Terminal,
    /// `-progress`, or what the environment says in its place.
    pub mode: ProgressMode,
    /// Standard output is for programs.
    pub is_json: bool,
    /// `-no-color`
    pub no_color: bool,
}

/// The mode that the environment asks for. The error is the value, which is no mode.
pub fn default_mode(environment: &Environment) -> Result<ProgressMode, &str> {
    match environment.non_empty(env::TERRANE_PROGRESS) {
        None => Ok(ProgressMode::Auto),
        Some(name) => ProgressMode::named(name).ok_or(name),
    }
}

pub fn choose(circumstances: Circumstances, environment: &Environment) -> ProgressForm {
    let Circumstances { terminal, mode, is_json, no_color } = circumstances;
    let is_for_people = || !no_color && terminal.is_for_people(environment) && !has_log(&terminal, environment);
    match mode {
        _ if is_json => ProgressForm::Nothing,
        ProgressMode::None => ProgressForm::Nothing,
        ProgressMode::Plain => ProgressForm::KeepAlive,
        ProgressMode::Terminal if terminal.output => ProgressForm::Area,
        ProgressMode::Auto if is_for_people() => ProgressForm::Area,
        ProgressMode::Terminal | ProgressMode::Auto => ProgressForm::Nothing,
    }
}

/// Whether a log is written between the lines of the same terminal.
fn has_log(terminal: &Terminal, environment: &Environment) -> bool {
    let is_log = |variable| environment.non_empty(variable).is_some_and(|level| !level.eq_ignore_ascii_case("off"));
    let has_log = [env::TF_LOG, env::TF_LOG_CORE, env::TF_LOG_PROVIDER].into_iter().any(is_log)
        || environment.with_prefix(env::TF_LOG_PROVIDER_).next().is_some();
    has_log && environment.non_empty(env::TF_LOG_PATH).is_none() && terminal.error
}

/// Whether the terminal shows progress in its task bar or tab, by OSC 9;4.
pub fn has_task_bar(environment: &Environment) -> bool {
    let is = |variable, value| environment.get(variable) == Some(value);
    let is_new_vte =
        || environment.non_empty(env::VTE_VERSION).and_then(|text| text.parse::<u32>().ok()).is_some_and(|v| v >= 7900);
    let is_iterm =
        || is(env::TERM_PROGRAM, "iTerm.app") && environment.get(env::TERM_FEATURES).is_some_and(has_progress_feature);
    environment.non_empty(env::WT_SESSION).is_some()
        || is(env::ConEmuANSI, "ON")
        || is(env::TERM_PROGRAM, "WezTerm")
        || is(env::TERM_PROGRAM, "ghostty")
        || is_new_vte()
        || is_iterm()
}

/// Features are names of a capital letter, perhaps with small ones, and a number: `T3CwLrMSc7UUw9Ts3BFGsSyHNoSxFP`.
fn has_progress_feature(features: &str) -> bool {
    let mut chars = features.chars().peekable();
    while let Some(c) = chars.next() {
        if c == 'P' && chars.peek().is_none_or(|next| !next.is_ascii_lowercase()) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: Terminal = Terminal { input: true, output: true, error: true, width: None, error_width: None };

    fn chosen(mode: ProgressMode, terminal: Terminal, is_json: bool, variables: &[(&str, &str)]) -> ProgressForm {
        let circumstances = Circumstances { terminal, mode, is_json, no_color: false };
        choose(circumstances, &Environment::of(variables.iter().copied()))
    }

    #[test]
    fn automatic_areas_are_for_people_at_terminals() {
        let cases: &[(&[(&str, &str)], ProgressForm)] = &[
            (&[], ProgressForm::Area),
            (&[("TERM", "xterm")], ProgressForm::Area),
            (&[("TERM", "dumb")], ProgressForm::Nothing),
            (&[("NO_COLOR", "1")], ProgressForm::Nothing),
            (&[("NO_COLOR", "")], ProgressForm::Area),
            (&[("TF_IN_AUTOMATION", "1")], ProgressForm::Nothing),
            (&[("CI", "true")], ProgressForm::Nothing),
            (&[("CI", "False")], ProgressForm::Area),
            (&[("TF_LOG", "debug")], ProgressForm::Nothing),
            (&[("TF_LOG", "OFF")], ProgressForm::Area),
            (&[("TF_LOG_PROVIDER_AWS", "trace")], ProgressForm::Nothing),
            (&[("TF_LOG", "debug"), ("TF_LOG_PATH", "log")], ProgressForm::Area),
        ];
        for (variables, expected) in cases {
            assert_eq!(chosen(ProgressMode::Auto, TERMINAL, false, variables), *expected, "{variables:?}");
        }
        let circumstances =
            Circumstances { terminal: TERMINAL, mode: ProgressMode::Auto, is_json: false, no_color: true };
        assert_eq!(choose(circumstances, &Environment::default()), ProgressForm::Nothing);
        let log_in_file = Terminal { error: false, ..TERMINAL };
        assert_eq!(chosen(ProgressMode::Auto, log_in_file, false, &[("TF_LOG", "debug")]), ProgressForm::Area);
    }

    #[test]
    fn modes_and_streams() {
        let pipe = Terminal { output: false, ..TERMINAL };
        let ci: &[(&str, &str)] = &[("CI", "true"), ("NO_COLOR", "1")];
        let cases = [
            (ProgressMode::Auto, pipe, false, ProgressForm::Nothing),
            (ProgressMode::Terminal, TERMINAL, false, ProgressForm::Area),
            (ProgressMode::Terminal, pipe, false, ProgressForm::Nothing),
            (ProgressMode::Terminal, TERMINAL, true, ProgressForm::Nothing),
            (ProgressMode::Plain, pipe, false, ProgressForm::KeepAlive),
            (ProgressMode::Plain, TERMINAL, false, ProgressForm::KeepAlive),
            (ProgressMode::Plain, pipe, true, ProgressForm::Nothing),
            (ProgressMode::None, TERMINAL, false, ProgressForm::Nothing),
        ];
        for (mode, terminal, is_json, expected) in cases {
            assert_eq!(chosen(mode, terminal, is_json, ci), expected, "{mode:?} {terminal:?} {is_json}");
        }
    }

    #[test]
    fn the_environment_sets_the_default() {
        let of = |value: &str| default_mode(&Environment::of([("TERRANE_PROGRESS", value)])).map_err(str::to_owned);
        assert_eq!(of("plain"), Ok(ProgressMode::Plain));
        assert_eq!(of(""), Ok(ProgressMode::Auto));
        assert_eq!(of("fast"), Err("fast".to_owned()));
    }

    #[test]
    fn terminals_with_task_bars() {
        let cases: &[(&[(&str, &str)], bool)] = &[
            (&[], false),
            (&[("TERM_PROGRAM", "tmux")], false),
            (&[("TERM_PROGRAM", "ghostty")], true),
            (&[("TERM_PROGRAM", "WezTerm")], true),
            (&[("WT_SESSION", "x")], true),
            (&[("ConEmuANSI", "ON")], true),
            (&[("VTE_VERSION", "7800")], false),
            (&[("VTE_VERSION", "8002")], true),
            (&[("TERM_PROGRAM", "iTerm.app"), ("TERM_FEATURES", "T3CwLrMSc7UUw9Ts3BFGsSyHNoSxF")], false),
            (&[("TERM_PROGRAM", "iTerm.app"), ("TERM_FEATURES", "T3CwLrMSc7UUw9Ts3BFGsSyHNoSxFP")], true),
        ];
        for (variables, expected) in cases {
            assert_eq!(has_task_bar(&Environment::of(variables.iter().copied())), *expected, "{variables:?}");
        }
    }
}
