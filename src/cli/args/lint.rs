//! `-lint`, which only OpenTofu has: a flag of some commands that may stand anywhere in the arguments.

use clap::{Arg, ArgMatches, Command};
use model::lint::Selection;

use super::flags::list;
use crate::opentofu;

const LINT: &str = "lint";

/// The command with the flag, if the program has it.
pub fn with_flag(command: Command) -> Command {
    if opentofu::has_lint_flag() { command.arg(flag()) } else { command }
}

fn flag() -> Arg {
    list(
        LINT,
        "ids",
        "The lint rules and groups of rules to check the root module by, separated by commas: \"all\", or \"all,!core:unused-local\" for all but one. Experimental. May be repeated.",
    )
}

/// The arguments with the flag in front, where it is read.
pub fn in_front(args: &[String]) -> Vec<String> {
    if opentofu::has_lint_flag() { moved(args) } else { args.to_vec() }
}

fn moved(args: &[String]) -> Vec<String> {
    let is_lint = |arg: &&String| {
        let name = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-'));
        name.and_then(|name| name.split_once('=')).is_some_and(|(name, _)| name == LINT)
    };
    let (front, rest): (Vec<&String>, Vec<&String>) = args.iter().partition(is_lint);
    front.into_iter().chain(rest).cloned().collect()
}

/// What the linter checks: nothing, where the command has no such flag.
pub fn selection(given: &ArgMatches) -> Selection {
    let lists = given.try_get_many::<String>(LINT).ok().flatten();
    Selection::parse(lists.into_iter().flatten().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::flags;

    #[test]
    fn the_flag_is_read_wherever_it_stands() {
        let cases: &[(&[&str], &[&str])] = &[
            (&["-lint=all"], &["all"]),
            (&["--lint=all,!core:all"], &["all,!core:all"]),
            (&["-lint", "all"], &["all"]),
            (&["word", "-lint=all", "--lint=nope"], &["all", "nope"]),
            (&["word", "-other=-lint"], &[]),
            (&["-lint="], &[]),
            (&[], &[]),
        ];
        for (args, expected) in cases {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            let given = flags::parse(flags::command("t").arg(flag()), &moved(&args)).unwrap();
            assert_eq!(selection(&given), Selection::parse(expected.iter().copied()), "{args:?}");
        }
    }

    #[test]
    fn commands_without_the_flag_check_nothing() {
        let given = flags::parse(flags::command("t"), &[]).unwrap();
        assert_eq!(selection(&given), Selection::default());
    }
}
