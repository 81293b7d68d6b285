//! `providers` and `providers schema`

use std::fmt::Write;

use crate::cli::Invocation;
use crate::cli::args::providers::parse;
use crate::model::addr::Provider;
use crate::ops::providers::{self, Needs};
use crate::render::text::tree::{self, Branch};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (_, setup) = match super::begin(invocation, parse(args), |variables| variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let (needs, warnings) = match super::run_with(invocation, &setup.stop, providers::tree(&setup)) {
        Ok(Ok(found)) => found,
        Ok(Err(diagnostics)) => return super::finish_spaced(&invocation.console, diagnostics),
        Err(code) => return code,
    };
    let mut text = "\nProviders required by configuration:\n.\n".to_string();
    text += &tree::draw(&branches(&needs.root));
    text.push('\n');
    if !needs.state.is_empty() {
        text.push_str("Providers required by state:\n\n");
        for provider in &needs.state {
            let _ = write!(text, "    provider[{provider}]\n\n");
        }
    }
    invocation.console.print(&text);
    super::finish_spaced(&invocation.console, warnings)
}

fn branches(needs: &Needs) -> Vec<Branch> {
    let provider = |(provider, constraints): &(Provider, String)| {
        let constraints = if constraints.is_empty() { String::new() } else { format!(" {constraints}") };
        Branch { label: format!("provider[{provider}]{constraints}"), branches: Vec::new() }
    };
    let child = |child: &Needs| Branch { label: child.name.clone(), branches: branches(child) };
    needs.providers.iter().map(provider).chain(needs.children.iter().map(child)).collect()
}
