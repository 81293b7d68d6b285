//! `providers` and `providers schema`

use std::fmt::Write;

use base::diag::Diagnostics;
use base::name::COMMAND;
use model::addr::Provider;
use ops::inspect::provider_schemas;
use ops::inspect::providers::{self, ModuleProviders};
use ops::plugins::schemas;
use render::json;
use render::text::tree::{self, Branch};

use crate::Invocation;
use crate::args::ArgsError;
use crate::args::providers::{parse, parse_schema};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::arguments_and_setup(invocation, parse(args), |args| &args.variables) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let (needs, warnings) = match super::run_with(invocation, &setup, providers::tree(&setup, &args.test_dir)) {
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

fn branches(needs: &ModuleProviders) -> Vec<Branch> {
    let provider = |(provider, constraints): &(Provider, String)| {
        let constraints = if constraints.is_empty() { String::new() } else { format!(" {constraints}") };
        Branch { label: format!("provider[{provider}]{constraints}"), branches: Vec::new() }
    };
    let child = |child: &ModuleProviders| Branch { label: child.name.clone(), branches: branches(child) };
    needs.providers.iter().map(provider).chain(needs.children.iter().map(child)).collect()
}

pub fn run_schema(invocation: &Invocation, args: &[String]) -> u8 {
    let console = &invocation.console;
    let variables = match parse_schema(args) {
        Ok(Some(variables)) => variables,
        Ok(None) => {
            console.red_error_line(&format!("The `{COMMAND} providers schema` command requires the `-json` flag.\n"));
            return invocation.usage_error(ArgsError::Text { text: String::new(), usage: true });
        }
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup_without_flag(invocation, false) {
        Ok(setup) => setup.with_variables(&variables),
        Err(code) => return code,
    };
    let schemas = match super::run_with(invocation, &setup, provider_schemas::all(&setup, &variables)) {
        Ok(Ok(schemas)) => schemas,
        Ok(Err(diagnostics)) => return super::finish_spaced(console, diagnostics),
        Err(code) => return code,
    };
    let provider_schemas::Described { schemas, identities } = schemas;
    match json::provider_schemas::write(&schemas, &identities, &mut |piece| console.print(piece)) {
        Ok(()) => {
            console.print("\n");
            0
        }
        Err((provider, why)) => {
            super::finish_spaced(console, Diagnostics::from(schemas::unreadable(&provider, &why.to_string())))
        }
    }
}
