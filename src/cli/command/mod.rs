//! One file per command: passes arguments to an operation, and its result to a view.
//!
//! Owns no rule of any operation: arguments are in `args`, operations in `ops`, output in `view`.

pub mod apply;
pub mod completion;
pub mod console;
pub mod explain;
pub mod fmt;
pub mod force_unlock;
pub mod get;
pub mod graph;
pub mod import;
pub mod init;
pub mod link;
pub mod login;
pub mod metadata;
pub mod modules;
pub mod output;
pub mod plan;
pub mod policy;
pub mod provider;
pub mod providers;
pub mod providers_lock;
pub mod query;
pub mod refresh;
pub mod show;
pub mod state;
pub mod state_edits;
pub mod state_history;
pub mod state_migrate;
pub mod taint;
pub mod test;
pub mod validate;
pub mod version;
pub mod workspace;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::diag::{Diagnostic, Diagnostics};
use base::env;
use base::files::named;
use base::name::PROGRAM;
use base::stop::{self, Stage, Stop};
use model::plan::DenyRule;
use ops::configuration::target_files;
use ops::hcp::RemoteOutcome;
use ops::interface::ask::Ask;
use ops::interface::options::VariableArgument;
use ops::run::session::CANCELED;
use ops::setup::{Setup, settings};
use tokio::runtime::Runtime;

use super::Invocation;
use super::args::common::{INVALID_DENY_RULE, OperationArgs};
use super::args::plan_view::PlanView;
use super::args::{ArgsError, Parsed};
use super::console::Console;
use super::live::Live;
use super::prompt::Prompt;
use super::view::interrupt::announce_interrupt;
use super::view::operation::{OperationView, view};

/// The threads of an operation, which mostly waits for plugins.
const THREADS: usize = 2;

/// How long an operation may take to save what it has after a second interrupt.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a file that an argument names cannot be read, if it cannot.
fn missing(path: &Path) -> Option<String> {
    std::fs::metadata(path).err().map(|e| named(e, "stat", path).to_string())
}

/// Runs an operation to its end, handles interrupts, and returns its result.
///
/// The first interrupt lets it end what runs, the second abandons that.
fn run_with<T>(invocation: &Invocation, setup: &Setup, work: impl Future<Output = T>) -> Result<T, u8> {
    let console = invocation.console.clone();
    run_reporting(invocation, setup, move |stage| announce_interrupt(&console, stage), work)
}

/// The arguments of an operation on infrastructure, complete. Errors are shown here.
fn operation_args<T>(
    invocation: &Invocation,
    parsed: Result<T, ArgsError>,
    operation: impl Fn(&mut T) -> &mut OperationArgs,
) -> Result<T, u8> {
    let mut args = parsed.map_err(|error| invocation.usage_error(error))?;
    let OperationArgs { request, json, .. } = operation(&mut args);
    let diagnostics = target_files::read(&mut request.plan);
    if diagnostics.has_errors() {
        return Err(invocation.usage_error(ArgsError::all(diagnostics, *json)));
    }
    Ok(args)
}

/// Adds the rules of TERRANE_DENY to those of the arguments. Errors are shown here.
fn add_denied(invocation: &Invocation, args: &mut OperationArgs) -> Result<(), u8> {
    let text = invocation.environment.non_empty(env::TERRANE_DENY).unwrap_or_default();
    match DenyRule::parse_all(text) {
        Ok(rules) => {
            args.request.plan.deny.extend(rules);
            Ok(())
        }
        Err(why) => {
            let error = Diagnostic::error(INVALID_DENY_RULE, format!("TERRANE_DENY: {why}"));
            Err(invocation.usage_error(ArgsError::all(error.into(), args.json)))
        }
    }
}

/// The setup of an operation on infrastructure, and the view that follows it. Errors are shown here.
fn operation_setup(
    invocation: &Invocation,
    args: &OperationArgs,
    shown: &PlanView,
) -> Result<(Setup, Arc<dyn OperationView>), u8> {
    let view = view(&invocation.console, plan::audience(invocation, args.json), shown.clone());
    Ok((setup(invocation, args.input)?, view))
}

/// Shows the diagnostics of an operation that ran on a service. Returns the exit code.
fn remote_end(view: &dyn OperationView, outcome: RemoteOutcome) -> u8 {
    let failed = outcome.failed || outcome.diagnostics.has_errors();
    view.finish(outcome.diagnostics);
    u8::from(failed)
}

/// As `run_with`, for an operation that a view follows: it says what an interrupt does.
fn run_operation<T>(
    invocation: &Invocation,
    setup: &Setup,
    view: &Arc<dyn OperationView>,
    work: impl Future<Output = T>,
) -> Result<T, u8> {
    let view = view.clone();
    run_reporting(invocation, setup, move |stage| view.interrupted(stage), work)
}

fn run_reporting<T>(
    invocation: &Invocation,
    setup: &Setup,
    report: impl Fn(Stage) + Send + Sync + 'static,
    work: impl Future<Output = T>,
) -> Result<T, u8> {
    run_on_threads(THREADS, invocation, setup, report, work)
}

/// As [`run_reporting`], on so many threads.
fn run_on_threads<T>(
    threads: usize,
    invocation: &Invocation,
    setup: &Setup,
    report: impl Fn(Stage) + Send + Sync + 'static,
    work: impl Future<Output = T>,
) -> Result<T, u8> {
    let runtime = start_runtime(threads, invocation)?;
    let stop = &setup.stop;
    let done = runtime.block_on(async {
        if let Err(e) = stop::listen(stop.clone(), report) {
            tracing::warn!("interrupts cannot be handled: {e}");
        }
        let live = Live::start(&invocation.console, &setup.activities, stop);
        let done = tokio::select! {
            done = work => Some(done),
            () = hangs(stop) => None,
        };
        setup.stores.end().await;
        live.finish();
        done
    });
    // A read from standard input may still wait; it must not hold us.
    runtime.shutdown_background();
    let note = "What still ran did not end in time. The next command takes up what this run has recorded.";
    done.ok_or_else(|| finish(&invocation.console, Diagnostic::error(CANCELED, "").with_tip(note).into()))
}

/// Runs what has nothing to save and needs neither settings nor a working directory: an interrupt ends the process.
fn run_alone<T>(invocation: &Invocation, work: impl Future<Output = T>) -> Result<T, u8> {
    let runtime = start_runtime(1, invocation)?;
    let done = runtime.block_on(work);
    // A name that is still being looked up must not hold us.
    runtime.shutdown_background();
    Ok(done)
}

/// An error is shown here.
fn start_runtime(threads: usize, invocation: &Invocation) -> Result<Runtime, u8> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    runtime.map_err(|e| {
        let detail = format!("The asynchronous runtime could not be started: {e}.");
        finish(&invocation.console, Diagnostic::error("Failed to start", detail).into())
    })
}

/// Ends when abandoned work still runs after a grace period.
async fn hangs(stop: &Stop) {
    stop.killed().await;
    tokio::time::sleep(KILL_TIMEOUT).await;
}

/// Reads the settings and the working directory; `input`: questions may be asked. Errors are shown here.
fn setup(invocation: &Invocation, input: bool) -> Result<Setup, u8> {
    let (setup, prompt) = setup_and_prompt(invocation, input)?;
    if may_ask(invocation, input) {
        setup.encryption.ask_with(prompt);
    }
    Ok(setup)
}

/// As [`setup`], for a command without the flag `-input`: on a terminal, it asks for the variables that encryption keys need.
fn setup_without_flag(invocation: &Invocation, input: bool) -> Result<Setup, u8> {
    let (setup, prompt) = setup_and_prompt(invocation, input)?;
    let terminal = &invocation.console.terminal;
    if terminal.input && terminal.output && !plan::in_automation(invocation) && may_ask(invocation, true) {
        setup.encryption.ask_with(prompt);
    }
    Ok(setup)
}

fn setup_and_prompt(invocation: &Invocation, input: bool) -> Result<(Setup, Arc<dyn Ask>), u8> {
    let stop = Stop::new();
    let (settings, problems) = settings::load(&invocation.environment);
    report_settings(&invocation.console, problems, "CLI", invocation.environment.dialect().program());
    let of_installer = settings.installer_problems.clone();
    report_settings(
        &invocation.console,
        of_installer,
        "provider_installation",
        &format!("{PROGRAM}'s provider installer"),
    );
    let prompt: Arc<dyn Ask> = Arc::new(Prompt { console: invocation.console.clone(), stop: stop.clone() });
    let ask = may_ask(invocation, input).then(|| prompt.clone());
    let setup = Setup::new(&invocation.environment, settings, invocation.original_dir.clone(), stop, ask);
    let setup = setup.map_err(|diagnostics| {
        invocation.console.diagnostics(diagnostics);
        1
    })?;
    let console = invocation.console.clone();
    setup.encryption.notify_with(Arc::new(move |notice| console.diagnostics_aside(notice.into())));
    Ok((setup, prompt))
}

/// The arguments and the setup of a command without prompts, with the values given for variables. Errors are shown here.
fn arguments_and_setup<T>(
    invocation: &Invocation,
    args: Result<T, ArgsError>,
    variables: impl Fn(&T) -> &[VariableArgument],
) -> Result<(T, Setup), u8> {
    let args = args.map_err(|error| invocation.usage_error(error))?;
    let setup = setup_without_flag(invocation, false)?.with_variables(variables(&args));
    Ok((args, setup))
}

/// As [`arguments_and_setup`]; `asks` says whether questions may be asked.
fn parsed_and_setup<T>(
    invocation: &Invocation,
    parsed: Parsed<T>,
    asks: impl Fn(&T) -> bool,
) -> Result<(T, Setup), u8> {
    let (args, variables) = parsed.map_err(|error| invocation.usage_error(error))?;
    let setup = setup_without_flag(invocation, asks(&args))?.with_variables(&variables);
    Ok((args, setup))
}

fn may_ask(invocation: &Invocation, input: bool) -> bool {
    let refused =
        matches!(invocation.environment.get(env::TF_INPUT), Some("0" | "f" | "F" | "false" | "FALSE" | "False"));
    input && !refused
}

/// Errors in the settings do not stop a command, but its results may not be what was meant.
/// `what` is where they are, `who` may do something else.
fn report_settings(console: &Console, problems: Diagnostics, what: &str, who: &str) {
    if problems.is_empty() {
        return;
    }
    let errors = problems.has_errors();
    console.print_error(&format!("There are some problems with the {what} configuration:\n"));
    // As in the reference these have no colours: they may be about the settings that colours depend on.
    for text in render::text::diagnostic::render_framed(problems) {
        console.print_error(&format!("{text}\n"));
    }
    if errors {
        console.print_error(&format!("As a result of the above problems, {who} may not behave as intended.\n\n\n"));
    }
}

/// As `finish`, for the commands that the reference never gave a view.
fn finish_spaced(console: &Console, diagnostics: Diagnostics) -> u8 {
    let failed = diagnostics.has_errors();
    console.spaced_diagnostics(diagnostics);
    u8::from(failed)
}

/// Shows what is left to say and gives the exit code.
fn finish(console: &Console, diagnostics: Diagnostics) -> u8 {
    let failed = diagnostics.has_errors();
    console.diagnostics(diagnostics);
    u8::from(failed)
}
