//! Option groups that several commands share.

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use clap::{Arg, ArgMatches};
use model::addr::{AbsActionInstance, AbsResourceInstance, Target};
use model::plan::{DenyRule, Mode, PlanScope, Refresh};
use ops::interface::options::{PlanOptions, StateOptions, VariableArgument};
use ops::interface::requests::OperationRequest;

use super::flags::{Given, duration, list, number, switch, text};
use super::{ArgsError, lint};

/// The summaries where planning options exclude each other.
const INCOMPATIBLE_MODES: &str = "Incompatible plan mode options";
const INCOMPATIBLE_REFRESH: &str = "Incompatible refresh options";

/// The summary of a rule that denies nothing, because it cannot be read.
pub const INVALID_DENY_RULE: &str = "Invalid deny rule";

/// The summary where there are more words than the command takes.
pub const TOO_MANY: &str = "Too many command line arguments";

pub use super::view::{concise_flag, json_into_flag, progress_flag, show_sensitive_flag, timings_flag, view_flags};

pub fn lock_flags() -> [Arg; 2] {
    [
        switch("lock", true, "Do not lock the state. Dangerous if others may run commands on the same state."),
        duration("lock-timeout", "0s", "How long to wait for a lock that is held elsewhere, such as 30s or 5m."),
    ]
}

pub fn state_flags() -> [Arg; 5] {
    let [lock, lock_timeout] = lock_flags();
    [
        lock,
        lock_timeout,
        text("state", "path", "For the local backend only: the state file to use."),
        text(
            "state-out",
            "path",
            "For the local backend only: the file to write the new state to. Default: the file that was read.",
        ),
        text(
            "backup",
            "path",
            "For the local backend only: the file to keep the previous state in, or \"-\" for none.",
        ),
    ]
}

pub fn state_options(given: &ArgMatches) -> StateOptions {
    StateOptions {
        lock: given.on("lock"),
        lock_timeout: given.duration("lock-timeout"),
        state: given.text("state").filter(|path| !path.is_empty()).map(Into::into),
        state_out: given.text("state-out").filter(|path| !path.is_empty()).map(Into::into),
        backup: given.text("backup").filter(|path| !path.is_empty()),
        ignore_remote_version: false,
    }
}

pub fn parallelism_flag() -> Arg {
    number("parallelism", "10", "How many operations may run at the same time.")
}

pub fn parallelism(given: &ArgMatches) -> usize {
    usize::try_from(given.number("parallelism")).unwrap_or(0).max(1)
}

/// Flags that decide what a plan is about.
pub fn operation_flags() -> [Arg; 13] {
    [
        switch("destroy", false, "Plan to destroy all managed objects of the configuration and of the state."),
        switch(
            "refresh-only",
            false,
            "Plan only to update the state and the outputs to what exists. No object is changed.",
        ),
        switch(
            "refresh",
            true,
            "Do not ask providers what has changed outside of this program. Faster, but the plan may rest on an outdated state.",
        ),
        switch("minimal-refresh", false, "Ask providers only for what has changed in objects with a planned change."),
        list(
            "invoke",
            "address",
            "Invoke only this action, or all its instances if the address has no key. With -target, only for these objects where the action's configuration refers to its caller.",
        ),
        list("replace", "address", "Replace this resource instance, whether or not it has changes. May be repeated."),
        list(
            "target",
            "address",
            "Plan only for this module, resource or instance, and for what it depends on. The address may have \"*\" in it, which stands for any characters. May be repeated. For exceptional use.",
        ),
        list(
            "target-file",
            "path",
            "A file with addresses as for -target, one in a line; \"#\" begins a comment. May be repeated.",
        ),
        list(
            "exclude",
            "address",
            "Plan without this module, resource or instance, and without all that depends on it. The address may have \"*\" in it. May be repeated. For exceptional use, and not together with -target.",
        ),
        list("exclude-file", "path", "A file with addresses as for -exclude. May be repeated."),
        list(
            "deny",
            "action:address",
            "Fail if the plan has a change that this allows none of, such as \"delete:aws_db_instance.*\". The actions are create, update, delete (replacements and deposed objects too), replace, forget, read and invoke; the address is as for -target. May be repeated.",
        ),
        list(
            "policies",
            "path",
            "Evaluate the policies of this file (*.policy.hcl), or of those in this folder and below it. A violation of a mandatory policy fails the plan. May be repeated.",
        ),
        switch(
            "allow-deferral",
            false,
            "Plan what is known, and leave the rest to a later plan: instances whose number is unknown, what a provider defers, and all that depends on them.",
        ),
    ]
}

fn plan_options(given: &ArgMatches) -> Result<PlanOptions, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut options = selection(given, &mut diagnostics);
    let scope = &mut options.scope;
    scope.refresh = match (given.on("refresh"), given.on("minimal-refresh")) {
        (_, true) => Refresh::Changed,
        (true, false) => Refresh::All,
        (false, false) => Refresh::Never,
    };
    scope.parallelism = parallelism(given);
    scope.deferral_allowed = given.on("allow-deferral");
    for text in given.texts("replace") {
        match instance(&text) {
            Ok(addr) => scope.force_replace.push(addr),
            Err(why) => diagnostics.error(format!("Invalid force-replace address {text:?}"), why),
        }
    }
    scope.requested_actions = requested_actions(given, &mut diagnostics);
    for text in given.texts("deny") {
        match DenyRule::parse(&text) {
            Ok(rule) => options.deny.push(rule),
            Err(why) => diagnostics.error(INVALID_DENY_RULE, why.to_string()),
        }
    }
    options.policies = given.texts("policies").into_iter().map(Into::into).collect();
    match (given.on("destroy"), given.on("refresh-only")) {
        (true, true) => {
            diagnostics.error(INCOMPATIBLE_MODES, "The -destroy and -refresh-only options are mutually-exclusive.")
        }
        (true, false) => scope.mode = Mode::Destroy,
        (false, true) => {
            scope.mode = Mode::RefreshOnly;
            if !given.on("refresh") {
                diagnostics.error(
                    INCOMPATIBLE_REFRESH,
                    format!("It doesn't make sense to use -refresh-only at the same time as -refresh=false, because {PROGRAM} would have nothing to do."),
                );
            }
        }
        (false, false) if !scope.requested_actions.is_empty() => scope.mode = Mode::RefreshOnly,
        (false, false) => {}
    }
    if scope.refresh == Refresh::Changed {
        check_minimal_refresh(given, scope.mode, &mut diagnostics);
    }
    // A plan to destroy evaluates little of the configuration: as in OpenTofu, it is not checked.
    if scope.mode != Mode::Destroy {
        options.lint = lint::selection(given);
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(options) }
}

/// The actions of `-invoke`: one at most.
fn requested_actions(given: &ArgMatches, diagnostics: &mut Diagnostics) -> Vec<AbsActionInstance> {
    let texts = given.texts("invoke");
    if texts.len() > 1 {
        diagnostics.error("Invalid arguments", "Only one action can be invoked at a time.");
    }
    if !texts.is_empty() && given.on("destroy") {
        diagnostics.error(INCOMPATIBLE_MODES, "The -destroy and -invoke options are mutually-exclusive.");
    }
    let mut actions = Vec::new();
    for text in texts {
        match model::addr::command_line::action(&text).map_err(first_detail) {
            Ok(action) => actions.push(action),
            Err(why) => diagnostics.error(format!("Invalid target {text:?}"), why),
        }
    }
    actions
}

fn check_minimal_refresh(given: &ArgMatches, mode: Mode, diagnostics: &mut Diagnostics) {
    if mode == Mode::RefreshOnly {
        diagnostics.error(
            INCOMPATIBLE_MODES,
            "The -minimal-refresh option can only be used in normal or destroy planning modes, but the current mode is \
             refresh-only.",
        );
    }
    if !given.on("refresh") {
        diagnostics.error(
            INCOMPATIBLE_REFRESH,
            format!(
                "The -minimal-refresh and -refresh=false options are mutually-exclusive, because -minimal-refresh only affects \
                 whether {PROGRAM} refreshes."
            ),
        );
    }
}

/// What the plan is limited to.
fn selection(given: &ArgMatches, diagnostics: &mut Diagnostics) -> PlanOptions {
    let has = |flags: [&str; 2]| flags.iter().any(|flag| !given.texts(flag).is_empty());
    if has(["target", "target-file"]) && has(["exclude", "exclude-file"]) {
        diagnostics.error(
            "Invalid combination of arguments",
            "The target and exclude planning options are mutually-exclusive. Each plan must use either only the target options or \
             only the exclude options.",
        );
        return PlanOptions::default();
    }
    let mut of = |flag: &str| -> Vec<Target> {
        let mut targets = Vec::new();
        for text in given.texts(flag) {
            match target(&text) {
                Ok(target) => targets.push(target),
                Err(why) => diagnostics.error(format!("Invalid {flag} {text:?}"), why),
            }
        }
        targets
    };
    let (targets, excludes) = (of("target"), of("exclude"));
    let files = |flag: &str| given.texts(flag).into_iter().map(Into::into).collect();
    PlanOptions {
        scope: PlanScope { targets, excludes, ..PlanScope::default() },
        target_files: files("target-file"),
        exclude_files: files("exclude-file"),
        ..PlanOptions::default()
    }
}

/// As `plan_options`; where there are errors, which go to the others, those of nothing given.
fn sound_plan_options(given: &ArgMatches, diagnostics: &mut Diagnostics) -> PlanOptions {
    plan_options(given).unwrap_or_else(|found| {
        diagnostics.extend(found);
        PlanOptions::default()
    })
}

/// The arguments that plan, apply, destroy and refresh have in common.
#[derive(Debug)]
pub struct OperationArgs {
    pub request: OperationRequest,
    pub input: bool,
    pub json: bool,
}

/// What is wrong with the arguments goes to what was wrong before.
pub fn operation_args(given: &ArgMatches, diagnostics: &mut Diagnostics) -> OperationArgs {
    let json = given.on("json");
    let request = OperationRequest {
        plan: sound_plan_options(given, diagnostics),
        state: state_options(given),
        variables: variable_arguments(given),
    };
    OperationArgs { request, input: given.on("input") && !json, json }
}

/// An address of `-target`, or what is wrong with it.
fn target(text: &str) -> Result<Target, String> {
    model::addr::command_line::target(text).map_err(first_detail)
}

/// An address of `-replace`, or what is wrong with it.
fn instance(text: &str) -> Result<AbsResourceInstance, String> {
    let addr = model::addr::command_line::resource_instance(text).map_err(first_detail)?;
    match addr.mode() {
        terrane_protocol::schema::ResourceMode::Managed => Ok(addr),
        _ => Err("Only managed resources can be used with the -replace=... option.".to_string()),
    }
}

/// The detail of the first error.
pub fn first_detail(diagnostics: Diagnostics) -> String {
    diagnostics.into_iter().next().map_or_else(String::new, |d: Diagnostic| d.detail)
}

pub fn variable_flags() -> [Arg; 2] {
    [
        list("var", "name=value", "The value of an input variable of the root module. May be repeated."),
        list(
            "var-file",
            "path",
            "A file with values of input variables, in addition to terraform.tfvars and *.auto.tfvars. May be repeated.",
        ),
    ]
}

/// `-var` and `-var-file` in the order in which they were given.
pub fn variable_arguments(given: &ArgMatches) -> Vec<VariableArgument> {
    let indexed = |name: &str, make: fn(String) -> VariableArgument| -> Vec<(usize, VariableArgument)> {
        let places = given.indices_of(name).into_iter().flatten();
        places.zip(given.texts(name)).map(|(place, text)| (place, make(text))).collect()
    };
    let mut all = indexed("var", VariableArgument::Value);
    all.extend(indexed("var-file", VariableArgument::File));
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, argument)| argument).collect()
}

pub fn input_flag() -> Arg {
    switch("input", true, "Do not ask for values that are missing.")
}

pub fn ignore_remote_version_flag() -> Arg {
    switch("ignore-remote-version", false, "Continue although the workspace of HCP Terraform is for another version.")
        .hide(true)
}

pub fn json_flag() -> Arg {
    switch("json", false, "Write JSON, for programs.")
}

/// The flags of commands that write for people, for programs, or for both.
pub fn json_flags() -> [Arg; 2] {
    [json_flag(), json_into_flag()]
}

pub fn test_directory_flag() -> Arg {
    text("test-directory", "path", "The folder with the test files.").default_value("tests")
}

/// The heading of the flags that decide what a plan is about.
pub const PLAN_OPTIONS: &str = "Plan customization options";

/// Flags under the heading that the help pages of `plan` and `apply` begin with.
pub fn customizing(flags: impl IntoIterator<Item = Arg>) -> impl Iterator<Item = Arg> {
    flags.into_iter().map(|flag| flag.help_heading(PLAN_OPTIONS))
}

/// What is said where there are more words than the one that may be there.
pub const AT_MOST_ONE: &str = "Expected at most one positional argument.";

/// The only positional argument, if any; more are too many. Told together with what was wrong before.
pub fn first_of_at_most_one(given: &ArgMatches, mut before: Diagnostics) -> Result<Option<String>, ArgsError> {
    let words = given.positional();
    if words.len() > 1 {
        before.error(TOO_MANY, AT_MOST_ONE);
    }
    if before.has_errors() { Err(ArgsError::all(before, false)) } else { Ok(words.into_iter().next()) }
}

#[cfg(test)]
mod tests {
    use model::plan::DEFAULT_PARALLELISM;

    use super::*;
    use crate::args::flags;

    #[test]
    fn the_default_of_parallelism_is_that_of_plans() {
        let given = flags::parse(flags::command("t").args([parallelism_flag()]), &[]).unwrap();
        assert_eq!(parallelism(&given), DEFAULT_PARALLELISM);
    }

    #[test]
    fn variables_keep_their_order() {
        let command = flags::command("t").args(variable_flags());
        let args = ["-var-file=a", "-var", "x=1", "-var-file", "b", "-var=y=2"].map(String::from);
        let given = flags::parse(command, &args).unwrap();
        let file = |name: &str| VariableArgument::File(name.to_string());
        let value = |text: &str| VariableArgument::Value(text.to_string());
        assert_eq!(variable_arguments(&given), [file("a"), value("x=1"), file("b"), value("y=2")]);
    }
}
