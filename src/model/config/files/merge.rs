//! Files to a module: everything that the files declare in one place, with duplicates reported.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use indexmap::IndexMap;
use indexmap::map::Entry;
use lang::syntax::body::Body;
use terrane_protocol::schema::ResourceMode;

use super::module_file::ModuleFile;
use super::overrides;
use crate::addr::provider::parse_part;
use crate::config::blocks::action::Action;
use crate::config::blocks::block::{ProviderBlock, Resource};
use crate::config::blocks::state_store;
use crate::config::blocks::terraform::TerraformBlock;
use crate::config::module::{Backend, EarlyRequirement, Module, ProviderRequirement};
use crate::model_errors::DUPLICATE_BACKEND;
use crate::{addr, symbols};

/// Puts the files of a module together. `module` comes with its path and folder and nothing else; `overriding` holds
/// the `terraform` blocks of each override file.
pub fn merge(
    files: Vec<ModuleFile>,
    overriding: Vec<Vec<TerraformBlock>>,
    mut module: Module,
    diags: &mut Diagnostics,
) -> Module {
    merge_requirements(&files, &mut module, diags);
    for (entries, _) in overriding.iter().flatten().flat_map(|block| &block.requirements) {
        module.requirements.extend(entries.clone());
    }
    let mut metas = Metas::new();
    let (mut cloud, mut store) = (None, None);
    merge_encryption(&files, &mut module, diags);
    if !files.iter().any(|file| file.has_symbol_libraries) {
        diags.extend(files.iter().flat_map(|file| &file.symbols).cloned().map(symbols::not_enabled));
    }
    for file in files {
        for block in file.terraform {
            add_terraform(block, &mut module, &mut metas, (&mut cloud, &mut store), diags);
        }
        for provider in file.providers {
            add_provider(provider, &mut module, diags);
        }
        for variable in file.variables {
            let key = variable.name.clone();
            add(&mut module.variables, key, variable, |v| &v.range, &VARIABLE, diags);
        }
        for local in file.locals {
            let key = local.name.clone();
            add(&mut module.locals, key, local, |l| &l.range, &LOCAL, diags);
        }
        for output in file.outputs {
            let key = output.name.clone();
            add(&mut module.outputs, key, output, |o| &o.range, &OUTPUT, diags);
        }
        for call in file.calls {
            let key = call.name.clone();
            add(&mut module.calls, key, call, |c| &c.range, &CALL, diags);
        }
        for resource in file.resources {
            let in_check = file.checks.iter().any(|check| check.data.as_ref() == Some(&resource.addr));
            add_resource(resource, in_check, &mut module, diags);
        }
        for action in file.actions {
            add_action(action, &mut module, diags);
        }
        for check in file.checks {
            let key = check.name.clone();
            add(&mut module.checks, key, check, |c| &c.range, &CHECK, diags);
        }
        module.compatible_with.extend(file.compatible_with);
        module.moved.extend(file.moved);
        module.removed.extend(file.removed);
        module.imports.extend(file.imports);
    }
    for file in overriding {
        override_terraform(file, &mut module, (&mut cloud, &mut store), diags);
    }
    settle_places(&mut module, cloud, store, diags);
    imply_by_imports(&mut module);
    module.provider_metas = metas.into_iter().map(|(name, (body, _))| (name, body)).collect();
    module
}

/// Decides on the block that says where states are.
fn settle_places(module: &mut Module, cloud: Option<Backend>, store: Option<Backend>, diags: &mut Diagnostics) {
    let range = |block: &Option<Backend>| block.as_ref().map(|block| block.range.clone());
    let (backend_range, cloud_range) = (range(&module.backend), range(&cloud));
    if let Some(store) = &store {
        diags.extend(state_store::conflict(&store.range, backend_range.as_ref(), cloud_range.as_ref()));
    } else if let (Some(backend), Some(cloud)) = (&module.backend, &cloud) {
        let (hosted, kept) = (&cloud.range, &backend.range);
        let detail = format!(
            "A module may declare either one 'cloud' block OR one 'backend' block configuring a state backend. The 'cloud' \
             block is configured at {hosted}; a backend is configured at {kept}. Remove the backend block to configure HCP \
             Terraform or Terraform Enteprise."
        );
        diags.push(Diagnostic::error("Both a backend and cloud configuration are present", detail).at(kept.clone()));
    }
    // `init` turns to the `cloud` block first.
    let backend = module.backend.take().filter(|_| store.is_none() || cloud.is_none());
    let chosen = backend.or(cloud);
    (module.backend, module.conflicting_store) = match chosen {
        Some(chosen) => (Some(chosen), store),
        None => (store, None),
    };
    state_store::resolve(module, diags);
}

/// The error for a duplicate: the summary, with `NAME` as a placeholder, and the detail before and after name and location.
struct Duplicate {
    summary: &'static str,
    what: &'static str,
    verb: &'static str,
    rule: &'static str,
}

static VARIABLE: Duplicate = Duplicate {
    summary: "Duplicate variable declaration",
    what: "A variable",
    verb: "declared",
    rule: "Variable names must be unique within a module.",
};
static LOCAL: Duplicate = Duplicate {
    summary: "Duplicate local value definition",
    what: "A local value",
    verb: "defined",
    rule: "Local value names must be unique within a module.",
};
static OUTPUT: Duplicate = Duplicate {
    summary: "Duplicate output definition",
    what: "An output",
    verb: "defined",
    rule: "Output names must be unique within a module.",
};
static CALL: Duplicate = Duplicate {
    summary: "Duplicate module call",
    what: "A module call",
    verb: "defined",
    rule: "Module calls must have unique names within a module.",
};

static CHECK: Duplicate = Duplicate {
    summary: "Duplicate check NAME configuration",
    what: "A check block",
    verb: "declared",
    rule: "Check blocks must be unique within each module.",
};

fn add<K: Hash + Eq + AsRef<str>, T>(
    map: &mut IndexMap<K, T>,
    key: K,
    item: T,
    range: impl Fn(&T) -> &Range,
    duplicate: &Duplicate,
    diags: &mut Diagnostics,
) {
    match map.entry(key) {
        Entry::Vacant(place) => {
            place.insert(item);
        }
        // The last one wins, as it would in an override.
        Entry::Occupied(mut place) => {
            let detail = format!(
                "{} named {:?} was already {} at {}. {}",
                duplicate.what,
                place.key().as_ref(),
                duplicate.verb,
                range(place.get()),
                duplicate.rule
            );
            let summary = duplicate.summary.replace("NAME", &format!("{:?}", place.key().as_ref()));
            diags.push(Diagnostic::error(summary, detail).at(range(&item).clone()));
            place.insert(item);
        }
    }
}

/// Requirements come first: resources find their provider by them.
fn merge_requirements(files: &[ModuleFile], module: &mut Module, diags: &mut Diagnostics) {
    let mut first: Option<&Range> = None;
    let blocks = files.iter().flat_map(|f| &f.terraform).flat_map(|t| &t.requirements);
    for (entries, range) in blocks {
        if let Some(first) = first {
            let detail = format!(
                "A module may have only one required providers configuration. The required providers were previously \
                 configured at {first}."
            );
            diags.push(Diagnostic::error("Duplicate required providers configuration", detail).at(range.clone()));
            continue;
        }
        first = Some(range);
        module.requirements = entries.clone();
    }
}

const DUPLICATE_ENCRYPTION: &str = "Duplicate encryption configuration";

/// There is one `encryption` block at most; those with errors of their own do not count.
fn merge_encryption(files: &[ModuleFile], module: &mut Module, diags: &mut Diagnostics) {
    let mut first: Option<&Range> = None;
    for (encryption, range) in files.iter().flat_map(|f| &f.terraform).flat_map(|t| &t.encryptions) {
        if let Some(first) = first {
            let detail = format!(
                "A module may have only one encryption configuration. Encryption was previously configured at {first}."
            );
            diags.push(Diagnostic::error(DUPLICATE_ENCRYPTION, detail).at(range.clone()));
            continue;
        }
        first = Some(range);
        module.encryption = Some(Arc::new(encryption.clone()));
    }
}

type Metas = BTreeMap<Arc<str>, (Body, Range)>;

fn add_terraform(
    block: TerraformBlock,
    module: &mut Module,
    metas: &mut Metas,
    (cloud, store): (&mut Option<Backend>, &mut Option<Backend>),
    diags: &mut Diagnostics,
) {
    module.required_versions.extend(block.required_version);
    for found in block.backends {
        if let Some(previous) = &module.backend {
            let detail = format!(
                "A module may have only one backend configuration. The backend was previously configured at {}.",
                previous.range
            );
            diags.push(Diagnostic::error(DUPLICATE_BACKEND, detail).at(found.range.clone()));
            continue;
        }
        module.backend = Some(found);
    }
    for found in block.clouds {
        match cloud {
            Some(previous) => diags.push(duplicate_cloud(previous, &found)),
            None => *cloud = Some(found),
        }
    }
    for found in block.stores {
        match store {
            Some(previous) => diags.push(state_store::duplicate(&previous.range, &found.range)),
            None => *store = Some(found),
        }
    }
    for (name, body, range) in block.provider_metas {
        if let Some((_, previous)) = metas.get(&name) {
            let detail = format!(
                "A provider_meta block for provider {:?} was already declared at {previous}. Providers may only have one \
                 provider_meta block per module.",
                &*name
            );
            diags.push(Diagnostic::error("Duplicate provider_meta block", detail).at(range));
            continue;
        }
        metas.insert(name, (body, range));
    }
}

fn duplicate_cloud(previous: &Backend, found: &Backend) -> Diagnostic {
    let detail = format!(
        "A module may have only one 'cloud' block configuring HCP Terraform or Terraform Enterprise. The 'cloud' block was \
         previously configured at {}.",
        previous.range
    );
    Diagnostic::error("Duplicate HCP Terraform configurations", detail).at(found.range.clone())
}

/// What the `terraform` blocks of an override file say replaces what was said before. Their `provider_meta` blocks have no effect.
fn override_terraform(
    file: Vec<TerraformBlock>,
    module: &mut Module,
    (cloud, store): (&mut Option<Backend>, &mut Option<Backend>),
    diags: &mut Diagnostics,
) {
    let mut versions = Vec::new();
    let mut backends = Vec::new();
    let mut new_cloud: Option<Backend> = None;
    let mut new_store: Option<Backend> = None;
    let mut encryption: Option<Range> = None;
    for block in file {
        versions.extend(block.required_version);
        for (found, range) in block.encryptions {
            if let Some(first) = encryption.replace(range.clone()) {
                let detail = format!(
                    "Each override file may have only one encryption configuration. Encryption was previously configured at {first}."
                );
                diags.push(Diagnostic::error(DUPLICATE_ENCRYPTION, detail).at(range));
                continue;
            }
            let merged = match module.encryption.take() {
                Some(base) => base.as_ref().clone().merged(found),
                None => found,
            };
            module.encryption = Some(Arc::new(merged));
        }
        for found in block.clouds {
            match &new_cloud {
                Some(first) => diags.push(duplicate_cloud(first, &found)),
                None => new_cloud = Some(found),
            }
        }
        for found in block.stores {
            match &new_store {
                Some(first) => diags.push(state_store::duplicate(&first.range, &found.range)),
                None => new_store = Some(found),
            }
        }
        backends.extend(block.backends);
    }
    if !versions.is_empty() {
        module.required_versions = versions;
    }
    if let [first, second, ..] = &backends[..] {
        diags.push(overrides::duplicate_backend(&first.range, &second.range));
        backends.clear();
    }
    // One place for states takes the place of another.
    let backend = backends.pop();
    if backend.is_some() || new_cloud.is_some() || new_store.is_some() {
        module.backend = backend.filter(|_| new_cloud.is_none());
        *cloud = new_cloud;
        *store = new_store;
    }
}

fn add_provider(block: ProviderBlock, module: &mut Module, diags: &mut Diagnostics) {
    let key = addr::LocalProviderConfig { local_name: block.name.clone(), alias: block.alias.clone() };
    if let Some(existing) = module.providers.get(&key) {
        let name = &*block.name;
        let detail = match &block.alias {
            None => format!(
                "A default (non-aliased) provider configuration for {name:?} was already given at {}. If multiple \
                 configurations are required, set the \"alias\" argument for alternative configurations.",
                existing.range
            ),
            Some(alias) => format!(
                "A provider configuration for {name:?} with alias {:?} was already given at {}. Each configuration for \
                 the same provider must have a distinct alias.",
                &**alias, existing.range
            ),
        };
        diags.push(Diagnostic::error("Duplicate provider configuration", detail).at(block.range.clone()));
        return;
    }
    imply(module, &block.name, &block.range);
    module.providers.insert(key, block);
}

fn add_resource(mut resource: Resource, in_check: bool, module: &mut Module, diags: &mut Diagnostics) {
    if let Some(existing) = module.resources.get(&resource.addr) {
        let (kind, word) = match resource.addr.mode {
            ResourceMode::Managed => ("resource", "resource"),
            ResourceMode::Data => ("data", "data resource"),
            ResourceMode::Ephemeral => ("ephemeral", "ephemeral resource"),
            ResourceMode::List => ("list", "list"),
        };
        let names = if resource.addr.mode == ResourceMode::List { "List" } else { "Resource" };
        let detail = format!(
            "A {} {word} named {:?} was already declared at {}. {names} names must be unique per type in each module{}.",
            resource.addr.kind,
            &*resource.addr.name,
            existing.range,
            if in_check { ", including within check blocks" } else { "" }
        );
        let summary = format!("Duplicate {kind} {:?} configuration", &*resource.addr.kind);
        diags.push(Diagnostic::error(summary, detail).at(resource.range.clone()));
        return;
    }
    let local_name = resource.local_provider_config().local_name;
    if parse_part(&local_name).is_ok() {
        resource.provider = module.provider_for_local_name(&local_name);
        imply(module, &local_name, &resource.range);
    }
    module.resources.insert(resource.addr.clone(), resource);
}

fn add_action(mut action: Action, module: &mut Module, diags: &mut Diagnostics) {
    if let Some(existing) = module.actions.get(&action.addr) {
        let detail = format!(
            "An action named {:?} was already declared at {}. Resource names must be unique per type in each module.",
            &*action.addr.name, existing.range
        );
        let summary = format!("Duplicate action {:?} configuration", &*action.addr.kind);
        diags.push(Diagnostic::error(summary, detail).at(action.range.clone()));
        return;
    }
    let local_name = action.local_provider_config().local_name;
    if parse_part(&local_name).is_ok() {
        action.provider = module.provider_for_local_name(&local_name);
        imply(module, &local_name, &action.range);
    }
    module.actions.insert(action.addr.clone(), action);
}

/// Gives resources and actions the providers that their local names stand for.
pub fn assign_providers(module: &mut Module) {
    let sources: BTreeMap<Arc<str>, addr::Provider> =
        module.requirements.iter().map(|(name, of)| (name.clone(), of.source.clone())).collect();
    for resource in module.resources.values_mut() {
        if let Some(source) = sources.get(&resource.local_provider_config().local_name) {
            resource.provider = source.clone();
        }
    }
    for action in module.actions.values_mut() {
        if let Some(source) = sources.get(&action.local_provider_config().local_name) {
            action.provider = source.clone();
        }
    }
}

/// An import without a block gets one written, for a provider that nothing else may name.
fn imply_by_imports(module: &mut Module) {
    if !module.path.is_root() {
        return;
    }
    for import in module.imports.clone() {
        let resource = &import.resource.resource;
        if !import.resource.module.is_root() || module.resources.contains_key(resource) {
            continue;
        }
        let written = import.provider_ref.as_ref().map(|p| p.addr.local_name.clone());
        imply(module, &written.unwrap_or_else(|| resource.implied_provider().into()), &import.range);
    }
}

/// The use of a local name is a requirement, if nothing states one.
fn imply(module: &mut Module, local_name: &Arc<str>, range: &Range) {
    if module.requirements.contains_key(local_name) {
        return;
    }
    let requirement = ProviderRequirement {
        local_name: local_name.clone(),
        source: addr::Provider::default_for(local_name),
        versions: Vec::new(),
        early: EarlyRequirement::default(),
        aliases: Vec::new(),
        explicit: false,
        range: range.clone(),
    };
    module.requirements.insert(local_name.clone(), requirement);
}
