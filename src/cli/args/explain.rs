//! `explain`

use base::name::COMMAND;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use ops::inspect::explain::ExplainRequest;

use super::common::*;
use super::flags::{self, Given, switch, text};
use super::{ArgsError, gather};

#[derive(Debug)]
pub struct Explain {
    pub request: ExplainRequest,
    pub input: bool,
    pub json: bool,
}

pub fn command() -> Command {
    flags::command("explain")
        .about("Show why a plan changes a resource instance")
        .override_usage("[options] ADDRESS")
        .long_about(format!(
            "Shows why a plan creates, replaces, updates, destroys, reads or defers a resource instance: the chain of causes, with \
             the lines of the configuration, and what it waits for. Everything comes from the plan and the configuration; values \
             are not shown.\n\n\
             Without -plan, makes a new plan, with the options of \"{COMMAND} plan\". Changes nothing."
        ))
        .args(customizing(operation_flags().into_iter().chain(variable_flags())))
        .args([
            text("plan", "path", "Explain this saved plan instead of a new one."),
            switch("dependents", false, "Show also what a change of the instance would reach."),
            parallelism_flag(),
            input_flag(),
            json_flag(),
            progress_flag(),
        ])
        .args(state_flags())
        .args(view_flags())
        // An explanation writes no state, and what denies a plan changes none of its causes.
        .mut_arg("state-out", |flag| flag.hide(true))
        .mut_arg("backup", |flag| flag.hide(true))
        .mut_arg("deny", |flag| flag.hide(true))
        .mut_arg("policies", |flag| flag.hide(true))
}

pub fn parse(args: &[String]) -> Result<Explain, ArgsError> {
    let (given, mut diagnostics) = gather(command(), args);
    let words = given.positional();
    if words.len() != 1 {
        diagnostics.error(
            "Invalid number of arguments",
            "The explain command expects one argument: the address of a resource instance.",
        );
    }
    let plan = given.text("plan").filter(|path| !path.is_empty());
    if plan.is_some()
        && let Some(flag) = planning_flag(&given)
    {
        let detail = format!(
            "The option -{flag} decides what a new plan is about. It cannot be used with a saved plan (-plan=FILE)."
        );
        diagnostics.error("Planning options with a saved plan", detail);
    }
    let operation = operation_args(&given, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(match operation.json {
            true => ArgsError::Document(diagnostics),
            false => ArgsError::all(diagnostics, false),
        });
    }
    let request = ExplainRequest {
        address: words.into_iter().next().unwrap_or_default(),
        plan: plan.map(Into::into),
        operation: operation.request,
        dependents: given.on("dependents"),
    };
    Ok(Explain { request, input: operation.input, json: operation.json })
}

/// A flag that was typed and that only means something for a new plan.
fn planning_flag(given: &ArgMatches) -> Option<String> {
    let mut names = operation_flags().into_iter().map(|flag| flag.get_id().as_str().to_string());
    names.find(|name| given.value_source(name) == Some(ValueSource::CommandLine))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Explain, ArgsError> {
        parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn one_address_and_either_a_plan_or_what_it_is_about() {
        let cases: [(&[&str], bool); 7] = [
            (&["a.b"], true),
            (&["-plan=p", "-dependents", "a.b"], true),
            (&["-target=a.b", "-refresh=false", "-var=x=1", "a.b"], true),
            (&[], false),
            (&["a.b", "c.d"], false),
            (&["-plan=p", "-destroy", "a.b"], false),
            (&["-plan=p", "-target=a.b", "a.b"], false),
        ];
        for (args, expected) in cases {
            assert_eq!(parsed(args).is_ok(), expected, "{args:?}");
        }
        assert!(matches!(parsed(&["-json"]), Err(ArgsError::Document(_))));
        let found = parsed(&["-plan=p", "-dependents", "a.b"]).unwrap();
        assert!(found.request.dependents && found.request.plan.is_some() && !found.json);
    }
}
