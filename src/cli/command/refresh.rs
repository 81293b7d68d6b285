//! `refresh`

use ops::hcp;
use ops::run::operation::OperationRequest;

use crate::Invocation;
use crate::args::refresh::parse;
use crate::view::operation::{listener, view};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let mut args = match parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    if let Err(error) = super::read_target_files(&mut args.plan, args.json) {
        return invocation.usage_error(error);
    }
    let view = view(&invocation.console, super::plan::audience(invocation, args.json));
    let setup = match super::setup(invocation, args.input) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let request = OperationRequest { plan: args.plan, state: args.state, variables: args.variables };
    let listener = listener(&view);
    let work = async {
        match hcp::refresh(&setup, &request, &listener).await {
            Some(outcome) => Err(outcome),
            None => Ok(ops::run::apply::refresh(&setup, &request, listener.clone()).await),
        }
    };
    let (applied, diagnostics) = match super::run_operation(invocation, &setup, &view, work) {
        Ok(Ok(done)) => done,
        Ok(Err(outcome)) => return super::remote_end(&*view, outcome),
        Err(code) => return code,
    };
    let failed = diagnostics.has_errors();
    view.finish(diagnostics);
    if let (false, Some(state)) = (failed, &applied.state) {
        view.outputs(state);
    }
    u8::from(failed)
}
