//! `validate`

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::base::diag::Diagnostics;
use crate::cli::Invocation;
use crate::cli::args::validate::parse;
use crate::cli::console::Console;
use crate::cli::view::human::Pending;
use crate::engine::ports::Observer;
use crate::ops::inspect::validate::ValidateRequest;
use crate::ops::interface::listen::SilentListener;
use crate::render::json::diagnostic::diagnostic_json;
use crate::render::json::go;
use crate::render::text::wrap::wrap;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::begin(invocation, parse(args), |args| &args.variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let request = ValidateRequest { path: args.path, test_dir: args.test_dir };
    // The JSON form is one document.
    let observer: Arc<dyn Observer> =
        if args.json { Arc::new(SilentListener) } else { Arc::new(Pending(invocation.console.clone())) };
    let work = crate::ops::inspect::validate::run(&setup, &request, &observer);
    let diagnostics = match super::run_with(invocation, &setup.stop, work) {
        Ok(diagnostics) => diagnostics,
        Err(code) => return code,
    };
    let failed = diagnostics.has_errors();
    if args.json {
        json_result(&invocation.console, &diagnostics)
    } else {
        result(&invocation.console, diagnostics)
    }
    u8::from(failed)
}

fn result(console: &Console, diagnostics: Diagnostics) {
    let (failed, silent) = (diagnostics.has_errors(), diagnostics.is_empty());
    console.diagnostics(diagnostics);
    if failed {
        return;
    }
    let but = if silent { "" } else { ", but there were some validation warnings as shown above" };
    let text = console.style.fill("[green][bold]Success![reset] The configuration is valid{}.\n", &[&but]);
    // As in the reference, the escape sequences count as text.
    console.line(&wrap(&text, console.style.width.saturating_sub(1)));
}

#[derive(Serialize)]
struct ResultJson<'a> {
    format_version: &'static str,
    valid: bool,
    error_count: usize,
    warning_count: usize,
    #[serde(serialize_with = "one_by_one")]
    diagnostics: &'a Diagnostics,
}

/// A document quotes its place in the configuration: tens of thousands of them are not made at once.
fn one_by_one<S: Serializer>(diagnostics: &&Diagnostics, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(diagnostics.iter().map(diagnostic_json))
}

fn json_result(console: &Console, diagnostics: &Diagnostics) {
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let result = ResultJson {
        format_version: "1.0",
        valid: errors == 0,
        error_count: errors,
        warning_count: diagnostics.len() - errors,
        diagnostics,
    };
    go::pretty_in_parts(&result, |part| console.print(part));
    console.print("\n");
}
