//! `providers` and `providers schema`

use std::fmt::Write;

use crate::cli::Invocation;
use crate::cli::args::providers::parse;
use crate::ops::providers::{self, Needs};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let variables = match parse(args) {
        Ok(variables) => variables,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, false) {
        Ok(setup) => setup.with_variables(&variables),
        Err(code) => return code,
    };
    let (tree, warnings) = match super::run_with(invocation, &setup.stop, providers::tree(&setup)) {
        Ok(Ok(found)) => found,
        Ok(Err(diagnostics)) => return super::finish(&invocation.console, diagnostics),
        Err(code) => return code,
    };
    let mut text = "\nProviders required by configuration:\n.\n".to_string();
    branches(&mut text, &tree.root, "");
    text.push('\n');
    if !tree.state.is_empty() {
        text.push_str("Providers required by state:\n\n");
        for provider in &tree.state {
            let _ = write!(text, "    provider[{provider}]\n\n");
        }
    }
    invocation.console.print(&text);
    super::finish(&invocation.console, warnings)
}

fn branches(out: &mut String, needs: &Needs, lead: &str) {
    let count = needs.providers.len() + needs.children.len();
    let mut drawn = 0;
    let mut branch = |out: &mut String, text: &str| {
        drawn += 1;
        let (knot, rest) = if drawn == count { ("└── ", "    ") } else { ("├── ", "│   ") };
        let _ = writeln!(out, "{lead}{knot}{text}");
        format!("{lead}{rest}")
    };
    for (provider, constraints) in &needs.providers {
        let constraints = if constraints.is_empty() { String::new() } else { format!(" {constraints}") };
        branch(out, &format!("provider[{provider}]{constraints}"));
    }
    for child in &needs.children {
        let lead = branch(out, &child.name);
        branches(out, child, &lead);
    }
}
