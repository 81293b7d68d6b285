//! `state_store` blocks: a place for states that a provider implements.

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Block;
use lang::syntax::body::BodySchema;

use super::backend::{Backend, StoreProvider};
use super::labels;
use crate::config::providers::requirements::RequiredProviders;
use crate::model_errors::DUPLICATE_PROVIDER;

/// None with an error.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<Backend> {
    let (content, body, problems) = block.body.partial_content(&BodySchema::new().block("provider", &["type"]));
    diags.extend(problems);
    let mut providers = content.blocks_of("provider");
    let Some(provider) = providers.next() else {
        let detail = "A 'provider' block is required in 'state_store' blocks";
        diags.push(Diagnostic::error("Missing provider block", detail).at(block.body.missing_item_range()));
        return None;
    };
    if let Some(second) = providers.next() {
        let detail = "Only one 'provider' block should be present in a 'state_store' block";
        diags.push(Diagnostic::error(DUPLICATE_PROVIDER, detail).at(second.header_range()));
        return None;
    }
    let (content, settings, problems) = provider.body.partial_content(&BodySchema::new().attribute("alias"));
    diags.extend(problems);
    if let Some(alias) = content.attribute("alias") {
        let detail = "Aliases are disallowed in the 'provider' block in the 'state_store' block";
        diags.push(Diagnostic::error("Unexpected provider alias", detail).at(alias.range()));
        return None;
    }
    let name = provider.label(0).clone();
    if let Some(problem) = labels::check_provider_name(&name, &provider.header_range()) {
        diags.push(problem);
        return None;
    }
    let provider = StoreProvider { name, body: settings, range: provider.header_range(), requirement: None };
    Some(Backend {
        kind: block.label(0).clone(),
        is_cloud_block: false,
        store: Some(provider),
        kind_range: block.label_range(0),
        body,
        range: block.header_range(),
    })
}

/// Looks up the provider of a state store among the requirements of its module. The built-in provider needs no entry.
pub fn resolve(backend: &mut Backend, requirements: &RequiredProviders, diags: &mut Diagnostics) {
    let Some(provider) = &mut backend.store else { return };
    // What the use of a provider implies is no entry.
    provider.requirement = requirements.get(&provider.name).filter(|requirement| requirement.explicit).cloned();
    if !provider.is_resolved() {
        diags.push(not_required(provider, &backend.range));
    }
}

fn not_required(provider: &StoreProvider, place: &Range) -> Diagnostic {
    let detail = format!(
        "The provider used for state storage must have a matching entry in required_providers. Please add an entry for provider {}",
        provider.name
    );
    Diagnostic::error("Missing entry in required_providers", detail).at(place.clone())
}

/// The error for a second block in the same module.
pub fn duplicate(previous: &Range, second: &Range) -> Diagnostic {
    let detail = format!(
        "A module may have only one 'state_store' configuration block. The state store was previously configured at {previous}."
    );
    Diagnostic::error("Duplicate 'state_store' configuration block", detail).at(second.clone())
}

/// The error for a module that says in several ways where its states are.
pub fn conflict(store: &Range, backend: Option<&Range>, cloud: Option<&Range>) -> Option<Diagnostic> {
    let (summary, detail) = match (cloud, backend) {
        (Some(cloud), Some(backend)) => (
            "Only one of 'cloud', 'state_store', or 'backend' configuration blocks are allowed",
            format!(
                "A module may only declare one 'cloud', 'state_store' OR 'backend' block when configuring state storage. The 'cloud' \
                 block is configured at {cloud}; a 'state_store' is configured at {store}; a 'backend' is configured at {backend}. \
                 Remove two of these blocks."
            ),
        ),
        (Some(cloud), None) => (
            "Conflicting 'cloud' and 'state_store' configuration blocks are present",
            format!(
                "A module may declare either one 'cloud' block OR one 'state_store' block for configuring state storage. A 'cloud' \
                 block is configured at {cloud}; a 'state_store' is configured at {store}. Remove the 'state_store' block to \
                 configure HCP Terraform or Terraform Enterprise."
            ),
        ),
        (None, Some(backend)) => (
            "Conflicting 'state_store' and 'backend' configuration blocks are present",
            format!(
                "A module may declare either one 'state_store' block OR one 'backend' block when configuring state storage. A \
                 'state_store' block is configured at {store}; a 'backend' is configured at {backend}. Remove one of these blocks."
            ),
        ),
        (None, None) => return None,
    };
    Some(Diagnostic::error(summary, detail).at(backend.unwrap_or(store).clone()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::files::Memory;
    use lang::syntax::body::Body;

    use super::*;
    use crate::addr;
    use crate::config::load_module;

    fn load(text: &str) -> (Option<Backend>, Vec<String>) {
        let files = Memory::of([("main.tf", text)]);
        let (module, problems) = load_module(Path::new("."), addr::Module::root(), &files);
        let summaries = problems.into_vec().into_iter().map(|problem| problem.summary.to_string()).collect();
        (module.and_then(|module| module.backend), summaries)
    }

    const REQUIRED: &str = "required_providers {\n p = {\n source = \"a/p\"\n version = \"1.0.0\"\n }\n }\n";

    #[test]
    fn a_state_store_has_one_provider_that_is_required() {
        let block = "state_store \"p_s\" {\n provider \"p\" {\n x = 1\n }\n dir = \"d\"\n }\n";
        let (backend, problems) = load(&format!("terraform {{\n{REQUIRED}{block}}}\n"));
        assert!(problems.is_empty(), "{problems:?}");
        let backend = backend.unwrap();
        let store = backend.store.unwrap();
        assert_eq!((&*backend.kind, store.source().to_string().as_str()), ("p_s", "registry.terraform.io/a/p"));
        let names = |body: &Body| body.attributes().iter().map(|a| a.name.name.to_string()).collect::<Vec<_>>();
        assert_eq!((names(&backend.body), names(&store.body)), (vec!["dir".to_owned()], vec!["x".to_owned()]));
        assert!(backend.body.blocks().is_empty(), "the provider's block is none of the store's settings");
        let cases = [
            (format!("{REQUIRED}state_store \"s\" {{\n }}\n"), "Missing provider block"),
            (
                format!("{REQUIRED}state_store \"s\" {{\n provider \"p\" {{\n }}\n provider \"q\" {{\n }}\n }}\n"),
                "Duplicate provider block",
            ),
            (
                format!("{REQUIRED}state_store \"s\" {{\n provider \"p\" {{\n alias = \"x\"\n }}\n }}\n"),
                "Unexpected provider alias",
            ),
            (block.to_owned(), "Missing entry in required_providers"),
            (format!("{REQUIRED}{block}{block}"), "Duplicate 'state_store' configuration block"),
            (
                format!("{REQUIRED}{block}backend \"local\" {{\n }}\n"),
                "Conflicting 'state_store' and 'backend' configuration blocks are present",
            ),
            (
                format!("{REQUIRED}{block}cloud {{\n }}\n"),
                "Conflicting 'cloud' and 'state_store' configuration blocks are present",
            ),
            (
                format!("{REQUIRED}{block}backend \"local\" {{\n }}\ncloud {{\n }}\n"),
                "Only one of 'cloud', 'state_store', or 'backend' configuration blocks are allowed",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(load(&format!("terraform {{\n{text}}}\n")).1, [expected], "{text}");
        }
        let (backend, problems) = load("terraform {\nstate_store \"s\" {\n provider \"terraform\" {\n }\n }\n }\n");
        assert!(problems.is_empty(), "{problems:?}");
        assert!(backend.unwrap().store.unwrap().source().is_builtin());
    }
}
