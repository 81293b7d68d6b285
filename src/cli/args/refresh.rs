//! `refresh`

use base::name::COMMAND;
use clap::Command;
use model::plan::Refresh;

use super::common::*;
use super::flags::{self, Given, list};
use super::{ArgsError, gather, lint};

/// Flags that forbid changes of a plan. Without an error, they would forbid what the next plan changes, and nothing would be refreshed.
const FORBIDDING_FLAGS: [&str; 2] = ["deny", "policies"];

pub fn command() -> Command {
    let command = flags::command("refresh")
        .about("Update the state to match remote systems")
        .long_about(format!(
            "Updates the state to what exists. No object is changed. \"{COMMAND} apply -refresh-only\" does the same, but shows \
             the changes first and asks for approval."
        ))
        .args([
            parallelism_flag(),
            list(
                "target",
                "address",
                "Update only this module, resource or instance, and what it depends on. May be repeated.",
            ),
            list("target-file", "path", "A file with addresses as for -target, one in a line. May be repeated."),
            list(
                "exclude",
                "address",
                "Update all but this module, resource or instance, and what depends on it. May be repeated.",
            ),
            list("exclude-file", "path", "A file with addresses as for -exclude. May be repeated."),
            input_flag(),
            json_flag(),
            json_into_flag(),
        ])
        .args(variable_flags())
        .args(state_flags())
        .args([concise_flag(), progress_flag(), show_sensitive_flag(), timings_flag()])
        .args(view_flags());
    lint::with_flag(command)
}

pub fn parse(args: &[String]) -> Result<OperationArgs, ArgsError> {
    let (given, mut diagnostics) = gather(command().args(hidden_operation_flags()), &lint::in_front(args));
    if !given.positional().is_empty() {
        diagnostics.error(TOO_MANY, AT_MOST_ONE);
    }
    for flag in FORBIDDING_FLAGS.iter().filter(|flag| !given.texts(flag).is_empty()) {
        let detail = format!(
            "A refresh changes no objects, so there is nothing that -{flag} could forbid. Use it with \"{COMMAND} plan\" or \
             \"{COMMAND} apply\"."
        );
        diagnostics.error("Option not supported by refresh", detail);
    }
    let mut args = operation_args(&given, &mut diagnostics);
    args.request.plan.scope.refresh = Refresh::All;
    if diagnostics.has_errors() { Err(ArgsError::all(diagnostics, args.json)) } else { Ok(args) }
}

/// The operation flags that make no sense here but are read together with the others.
fn hidden_operation_flags() -> impl Iterator<Item = clap::Arg> {
    let known: Vec<_> = command().get_arguments().map(|flag| flag.get_id().clone()).collect();
    operation_flags().into_iter().filter(move |flag| !known.contains(flag.get_id())).map(|flag| flag.hide(true))
}

#[cfg(test)]
mod tests {
    use base::diag::Diagnostics;

    use super::*;

    #[test]
    fn flags_that_forbid_changes_are_refused() {
        let cases: [(&[&str], &[&str]); 5] = [
            (&[], &[]),
            (&["-target=a.b"], &[]),
            (&["-deny=delete:**"], &["-deny"]),
            (&["-policies=p"], &["-policies"]),
            (&["-deny=delete:**", "-deny=forget:**", "-policies=p"], &["-deny", "-policies"]),
        ];
        for (args, expected) in cases {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            let found = match parse(&args) {
                Ok(_) => Diagnostics::new(),
                Err(ArgsError::Diagnostics { diagnostics, hint: true }) => diagnostics,
                Err(other) => panic!("{args:?}: {other:?}"),
            };
            let named: Vec<bool> =
                found.iter().zip(expected).map(|(d, flag)| d.detail.contains(&format!(" {flag} "))).collect();
            assert_eq!(named, vec![true; expected.len()], "{args:?}: {found:?}");
        }
    }
}
