//! `query`

use ops::run;
use ops::run::query::QueryRequest;
use render::text::listing;

use super::plan::audience;
use crate::Invocation;
use crate::args::query;
use crate::view::operation::{listener, query_view};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let args = match query::parse(args) {
        Ok(args) => args,
        Err(error) => return invocation.usage_error(error),
    };
    let view = query_view(&invocation.console, audience(invocation, args.json));
    let setup = match super::setup_without_flag(invocation, false) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let generate = args.generate_config_out.map(Into::into);
    let request = QueryRequest { variables: args.variables, generate, policies: args.policies };
    let listener = listener(&view);
    let work = run::query(&setup, &request, &listener);
    let (results, diagnostics) = match super::run_operation(invocation, &setup, &view, work) {
        Ok(done) => done,
        Err(code) => return code,
    };
    if let Some(text) = listing::without_results(&results, &invocation.console.style).filter(|_| !args.json) {
        invocation.console.print(&text);
    }
    let failed = diagnostics.has_errors();
    view.finish(diagnostics);
    u8::from(failed)
}
