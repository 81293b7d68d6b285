//! Running a step: its commands and checks in their order.

use super::conditions::ExpectedError;
use super::error::Error;
use super::session::Session;
use super::step::{Mode, PlanCheck, Step};

/// Runs a step. An error that the step expects is a success.
pub(super) fn run_step(session: &mut Session<'_>, mut step: Step) -> Result<(), Error> {
    if let Some(prepare) = step.prepare.take() {
        prepare();
    }
    let result = run_commands(session, &mut step);
    ExpectedError::judge(step.expected_error.as_ref(), result)
}

fn run_commands(session: &mut Session<'_>, step: &mut Step) -> Result<(), Error> {
    match step.configuration.take() {
        Some(configuration) => session.configure(&configuration)?,
        None if session.current.is_some() => {}
        None => return Err(Error::new("the first step needs a configuration")),
    }
    for address in &step.tainted {
        session.run(&["taint", address], &[0])?;
    }
    match step.mode {
        Mode::Apply | Mode::Destroy => {
            session.plan(kind(step.mode), &step.plan_arguments)?;
            check_plan(session, &mut step.plan_checks)?;
            session.apply_plan()?;
        }
        Mode::PlanOnly => return check_last_plan(session, step),
        Mode::Refresh => {
            session.run(&["apply", "-refresh-only", "-no-color", "-input=false", "-auto-approve"], &[0])?;
        }
    }
    let state = session.read_state()?;
    for check in &mut step.checks {
        let result = check(&state);
        session.check(result)?;
    }
    if step.mode != Mode::Refresh {
        check_consistency(session, step)?;
    }
    check_last_plan(session, step)
}

/// The flag that makes the plan one to destroy.
fn kind(mode: Mode) -> &'static [&'static str] {
    if mode == Mode::Destroy { &["-destroy"] } else { &[] }
}

/// A plan without a refresh is empty: what apply stored is what the configuration says.
fn check_consistency(session: &mut Session<'_>, step: &mut Step) -> Result<(), Error> {
    let options = [kind(step.mode), &["-refresh=false"]].concat();
    let has_changes = session.plan(&options, &step.plan_arguments)?;
    check_plan(session, &mut step.plan_checks_after_apply)?;
    if has_changes && !step.expects_changes {
        return Err(session.failure("expected an empty plan after apply, without a refresh, found changes"));
    }
    Ok(())
}

/// A plan with a refresh is empty, or has changes if the step expects them.
fn check_last_plan(session: &mut Session<'_>, step: &mut Step) -> Result<(), Error> {
    let has_changes = session.plan(kind(step.mode), &step.plan_arguments)?;
    if step.mode == Mode::PlanOnly {
        check_plan(session, &mut step.plan_checks)?;
    }
    check_plan(session, &mut step.plan_checks_after_refresh)?;
    match (has_changes, step.expects_changes) {
        (true, false) if step.mode == Mode::PlanOnly => Err(session.failure("expected an empty plan, found changes")),
        (true, false) => Err(session.failure("expected an empty plan after the refresh, found changes")),
        (false, true) => Err(session.failure("expected a plan with changes, found an empty one")),
        (true, true) | (false, false) => Ok(()),
    }
}

fn check_plan(session: &mut Session<'_>, checks: &mut [PlanCheck]) -> Result<(), Error> {
    if checks.is_empty() {
        return Ok(());
    }
    let plan = session.read_plan()?;
    for check in checks {
        let result = check(&plan);
        session.check(result)?;
    }
    Ok(())
}
