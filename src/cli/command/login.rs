//! `login` and `logout`

use base::diag::Diagnostic;
use base::name::COMMAND;
use ops::login;

use crate::Invocation;
use crate::args::login::{parse, parse_logout};
use crate::prompt::Prompt;
use crate::view::lines::Lines;
use crate::view::login::show;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse(args, invocation.environment.dialect()) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let console = &invocation.console;
    let lines = Lines::new(console, args.json);
    if !args.input {
        let problem = Diagnostic::error(
            "Login is an interactive command",
            format!(
                "The \"{COMMAND} login\" command uses interactive prompts to obtain and record credentials, so it can't be run with input \
             disabled.\n\nTo configure credentials in a non-interactive context, write existing credentials directly to a CLI \
             configuration file."
            ),
        );
        return lines.finish(problem.into());
    }
    let setup = match super::setup(invocation, false) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let prompt = Prompt { console: console.clone(), stop: setup.stop.clone() };
    let work = async { login::login(&setup, args.host.as_deref(), &prompt, &mut |event| show(&lines, &event)).await };
    // An interrupt ends the login at once: nothing is left half done.
    match super::run_reporting(invocation, &setup, |_| {}, work) {
        Ok(diagnostics) => lines.finish(diagnostics),
        Err(code) => code,
    }
}

pub fn run_logout(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match parse_logout(args, invocation.environment.dialect()) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, false) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let lines = Lines::new(&invocation.console, args.json);
    let work = async { login::logout(&setup, args.host.as_deref(), &mut |event| show(&lines, &event)).await };
    match super::run_reporting(invocation, &setup, |_| {}, work) {
        Ok(diagnostics) => lines.finish(diagnostics),
        Err(code) => code,
    }
}
