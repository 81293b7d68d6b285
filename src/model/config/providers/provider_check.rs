//! Which provider configurations each module has, expects and is given: everything that must fit between caller and
//! called before any provider starts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::Range;
use lang::syntax::body::BodySchema;

use super::for_each;
use super::provider_ref::ProviderPassing;
use crate::addr::provider::parse_part;
use crate::addr::{self, AbsProviderConfig, Provider};
use crate::config::blocks::module_call::ModuleCall;
use crate::config::module::{Config, Module};
use crate::model_errors::INVALID_LOCAL_NAME;

pub const WRONG_PROVIDER: &str = "Provider type mismatch";

const NOT_PASSED: &str = "Missing required provider configuration";

const REQUIRED_TWICE: &str = "Duplicate required provider";

const UNDEFINED_PROVIDER: &str = "Reference to undefined provider";

pub fn check(config: &Config, diags: &mut Diagnostics) {
    check_module(&config.root, None, None, diags);
}

/// A module with what its caller says of it.
struct Caller<'a> {
    module: &'a Module,
    call: &'a ModuleCall,
}

/// Children first, as their messages are about the cause.
fn check_module(module: &Module, caller: Option<&Caller>, fixed: Option<&Range>, diags: &mut Diagnostics) {
    for (name, child) in &module.children {
        let Some(call) = module.calls.get(name) else { continue };
        let repeated = repetition_range(call);
        check_module(child, Some(&Caller { module, call }), repeated.as_ref().or(fixed), diags);
    }
    let names = ConfigurationNames::of(module, caller);
    warn_of_twice_required(module, diags);
    check_implied_by_blocks(module, diags);
    check_implied_names(module, diags);
    check_passed_on(module, caller, &names, diags);
    check_instance_keys(module, diags);
    for_each::warn(module, diags);
    let Some(caller) = caller else { return };
    check_not_configured_in_repetition(module, caller, &names, fixed, diags);
    check_not_overridden(module, &names, diags);
    check_aliases_are_given(caller, &names, diags);
    check_given_are_usable(module, caller, &names, diags);
    warn_of_empty_blocks(module, &names, diags);
}

/// References choose an instance where the module's own `provider` block has `for_each`, and nowhere else.
fn check_instance_keys(module: &Module, diags: &mut Diagnostics) {
    let of_resources = module.resources.values().filter_map(|resource| resource.provider_ref.as_ref());
    // Those that lack a key are an error of the called module.
    let of_calls = module.calls.values().flat_map(|call| call.providers.iter().map(|passing| &passing.in_parent));
    for reference in of_resources.chain(of_calls.filter(|reference| reference.key.is_some())) {
        let Some(block) = module.providers.get(&reference.addr) else { continue };
        let provider = module.provider_for_local_name(&reference.addr.local_name);
        let addr = AbsProviderConfig::new(module.path.clone(), provider, reference.addr.alias.clone());
        match (&block.for_each, &reference.key) {
            (Some(_), None) => diags.push(missing_key(&addr, &reference.range)),
            (None, Some(key)) => diags.push(unexpected_key(&addr, &key.range())),
            _ => {}
        }
    }
}

/// The error of a reference that does not say which instance.
pub fn missing_key(addr: &AbsProviderConfig, at: &Range) -> Diagnostic {
    let detail = format!(
        "The provider configuration {addr} has \"for_each\" set, so that a reference to it must choose one of its instances, \
         as in \"{}.{}[each.key]\".",
        addr.provider.kind,
        addr.alias.as_deref().unwrap_or_default()
    );
    Diagnostic::error("Missing provider instance key", detail).at(at.clone())
}

/// The error of a reference that says which instance where there are none.
pub fn unexpected_key(addr: &AbsProviderConfig, at: &Range) -> Diagnostic {
    let detail = format!(
        "The provider configuration {addr} does not have \"for_each\" set, so that a reference to it must not include an \
         instance key."
    );
    Diagnostic::error("Unexpected provider instance key", detail).at(at.clone())
}

/// The local names ("aws", "aws.west") of provider configurations, sorted by where they come from.
struct ConfigurationNames<'a> {
    configured: BTreeSet<String>,
    empty: BTreeMap<String, &'a Range>,
    required: BTreeMap<&'a str, &'a Provider>,
    aliases: BTreeMap<String, &'a Provider>,
    given: BTreeMap<String, &'a ProviderPassing>,
}

impl<'a> ConfigurationNames<'a> {
    fn of(module: &'a Module, caller: Option<&Caller<'a>>) -> ConfigurationNames<'a> {
        let mut names = ConfigurationNames {
            configured: BTreeSet::new(),
            empty: BTreeMap::new(),
            required: BTreeMap::new(),
            aliases: BTreeMap::new(),
            given: BTreeMap::new(),
        };
        for (addr, block) in &module.providers {
            let (_, problems) = block.body.content(&BodySchema::new());
            if problems.has_errors() || block.version.is_some() || block.for_each.is_some() {
                names.configured.insert(addr.to_string());
            } else {
                names.empty.insert(addr.to_string(), &block.range);
            }
        }
        for (name, requirement) in module.requirements.iter().filter(|(_, r)| r.explicit) {
            names.required.insert(name, &requirement.source);
            let aliases = requirement.aliases.iter().map(|a| (a.to_string(), &requirement.source));
            names.aliases.extend(aliases);
        }
        if let Some(caller) = caller {
            names.given.extend(caller.call.providers.iter().map(|p| (p.in_child.addr.to_string(), p)));
        }
        names
    }
}

/// Where a call says that it repeats or waits: what modules with configurations of their own cannot do.
fn repetition_range(call: &ModuleCall) -> Option<Range> {
    let by_expression = call.repetition().expressions().next().map(|e| e.range());
    by_expression.or_else(|| {
        let first = call.depends_on.first()?;
        Some(crate::config::blocks::references::traversal_range(first, call.body.file()))
    })
}

fn module_text(path: &addr::Module) -> String {
    if path.is_root() { "the root module".to_owned() } else { path.to_string() }
}

fn warn_of_twice_required(module: &Module, diags: &mut Diagnostics) {
    let mut first: BTreeMap<&Provider, &Arc<str>> = BTreeMap::new();
    let mut explicit: Vec<_> = module.requirements.iter().filter(|(_, r)| r.explicit).collect();
    explicit.sort_by_key(|(_, r)| r.range.span);
    for (name, requirement) in explicit {
        let Some(previous) = first.insert(&requirement.source, name) else { continue };
        let detail = format!(
            "Provider {} with the local name {:?} was previously required as {:?}. A provider can only be required once \
             within required_providers.",
            requirement.source.for_display(),
            &**name,
            &**previous
        );
        diags.push(Diagnostic::warning(REQUIRED_TWICE, detail).at(requirement.range.clone()));
    }
}

/// Resources that name no provider: the name that their type implies must be usable and not known by another name.
fn check_implied_names(module: &Module, diags: &mut Diagnostics) {
    for resource in module.resources.values().filter(|r| r.provider_ref.is_none()) {
        let local_name = resource.addr.implied_provider();
        if let Err(problem) = parse_part(local_name) {
            let detail = format!("{local_name:?} is an invalid implied provider local name: {problem}");
            diags.push(Diagnostic::error(INVALID_LOCAL_NAME, detail).at(resource.range.clone()));
            continue;
        }
        if module.requirements.get(local_name).is_some_and(|r| r.explicit) {
            continue;
        }
        let implied = Provider::default_for(local_name);
        for (other, requirement) in module.requirements.iter().filter(|(_, r)| r.explicit && r.source == implied) {
            let detail = format!(
                "Provider {:?} was implicitly required via resource {:?}, but listed in required_providers as {:?}. \
                 Either the local name in required_providers must match the resource name, or the {:?} provider must be \
                 assigned within the resource block.",
                requirement.source.to_string(),
                resource.addr.to_string(),
                &**other,
                &**other
            );
            diags.push(Diagnostic::warning(REQUIRED_TWICE, detail).at(resource.range.clone()));
        }
    }
}

/// Provider blocks by a name of which `required_providers` says nothing, though it knows the provider by another one.
fn check_implied_by_blocks(module: &Module, diags: &mut Diagnostics) {
    for block in module.providers.values() {
        if module.requirements.get(&block.name).is_some_and(|r| r.explicit) {
            continue;
        }
        let implied = Provider::default_for(&block.name);
        for (other, requirement) in module.requirements.iter().filter(|(_, r)| r.explicit && r.source == implied) {
            let detail = format!(
                "Provider {} with the local name {:?} was implicitly required via a configuration block as {:?}. The provider \
                 configuration block name must match the name used in required_providers.",
                requirement.source.for_display(),
                &**other,
                &*block.name
            );
            diags.push(Diagnostic::warning(REQUIRED_TWICE, detail).at(requirement.range.clone()));
        }
    }
}

/// Default configurations that this module passes to its children must exist.
fn check_passed_on(module: &Module, caller: Option<&Caller>, names: &ConfigurationNames, diags: &mut Diagnostics) {
    let here = module_text(&module.path);
    let parent = caller.map_or_else(|| module_text(&module.path), |c| module_text(&c.module.path));
    for passed in module.calls.values().flat_map(|c| &c.providers).filter(|p| p.in_parent.addr.alias.is_none()) {
        let name = &*passed.in_parent.addr.local_name;
        let configured = names.configured.contains(name);
        let assumed = Provider::registered_for(name).for_display();
        if !configured && !names.required.contains_key(name) {
            let detail = format!(
                "There is no explicit declaration for local provider name {name:?} in {here}, so {PROGRAM} is assuming you \
                 mean to pass a configuration for provider {assumed:?}.\n\nTo clarify your intent and silence this \
                 warning, add to {parent} a required_providers entry named {name:?} with source = {assumed:?}, or a \
                 different source address if appropriate."
            );
            diags.push(Diagnostic::warning(UNDEFINED_PROVIDER, detail).at(passed.in_parent.range.clone()));
            continue;
        }
        if let Some(caller) = caller
            && !configured
            && !names.given.contains_key(name)
        {
            let detail = format!(
                "The configuration for {here} expects to inherit a configuration for provider {assumed} with local name \
                 {name:?}, but {parent} doesn't pass a configuration under that name.\n\nTo satisfy this requirement, \
                 add an entry for {name:?} to the \"providers\" argument in the module {:?} block.",
                &*caller.call.name
            );
            diags.push(Diagnostic::warning(NOT_PASSED, detail).at(caller.call.range.clone()));
        }
    }
}

fn check_not_configured_in_repetition(
    module: &Module,
    caller: &Caller,
    names: &ConfigurationNames,
    repeated: Option<&Range>,
    diags: &mut Diagnostics,
) {
    let Some(range) = repeated.filter(|_| !names.configured.is_empty()) else { return };
    let detail = format!(
        "The module at {} is a legacy module which contains its own local provider configurations, and so calls to it may \
         not use the count, for_each, or depends_on arguments.\n\nIf you also control the module {:?}, consider updating \
         this module to instead expect provider configurations to be passed by its caller.",
        module.path, caller.call.source
    );
    diags.push(
        Diagnostic::error("Module is incompatible with count, for_each, and depends_on", detail).at(range.clone()),
    );
}

fn check_not_overridden(module: &Module, names: &ConfigurationNames, diags: &mut Diagnostics) {
    let both = names.configured.iter().filter_map(|name| Some((name, names.given.get(name)?)));
    for (name, passed) in both {
        let detail = format!(
            "The configuration of {} has its own local configuration for {name}, and so it cannot accept an overridden \
             configuration provided by {}.",
            module.path,
            module_text(&module.path.parent().unwrap_or_default())
        );
        diags.push(
            Diagnostic::error("Cannot override provider configuration", detail).at(passed.in_child.range.clone()),
        );
    }
}

fn check_aliases_are_given(caller: &Caller, names: &ConfigurationNames, diags: &mut Diagnostics) {
    for (name, provider) in &names.aliases {
        if names.configured.contains(name) || names.given.contains_key(name) {
            continue;
        }
        let detail = format!(
            "The child module requires an additional configuration for provider {}, with the local name {name:?}.\n\n\
             Refer to the module's documentation to understand the intended purpose of this additional provider \
             configuration, and then add an entry for {name} in the \"providers\" meta-argument in the module block to \
             choose which provider configuration the module should use for that purpose.",
            provider.for_display()
        );
        diags.push(Diagnostic::error(NOT_PASSED, detail).at(caller.call.range.clone()));
    }
}

fn check_given_are_usable(module: &Module, caller: &Caller, names: &ConfigurationNames, diags: &mut Diagnostics) {
    for (name, passed) in &names.given {
        let child = &passed.in_child;
        let stated = names.aliases.get(name).or_else(|| names.required.get(name.as_str())).copied();
        let provider = stated.cloned().unwrap_or_else(|| assumed(module, &child.addr.local_name));
        if stated.is_none() && !names.empty.contains_key(name) {
            let shown = provider.for_display();
            let diagnostic = if provider.is_default() {
                Diagnostic::warning(
                    UNDEFINED_PROVIDER,
                    format!(
                        "There is no explicit declaration for local provider name {name:?} in {}, so {PROGRAM} is assuming \
                         you mean to pass a configuration for {shown:?}.\n\nIf you also control the child module, add a \
                         required_providers entry named {name:?} with the source address {shown:?}.",
                        module.path
                    ),
                )
            } else {
                Diagnostic::error(
                    UNDEFINED_PROVIDER,
                    format!(
                        "The child module does not declare any provider requirement with the local name {name:?}.\n\nIf \
                         you also control the child module, you can add a required_providers entry named {name:?} with \
                         the source address {shown:?} to accept this provider configuration."
                    ),
                )
            };
            diags.push(diagnostic.at(child.range.clone()));
        }
        check_same_type(module, caller, passed, &provider, diags);
        let given = caller.module.providers.get(&passed.in_parent.addr);
        if passed.in_parent.key.is_none() && given.is_some_and(|block| block.for_each.is_some()) {
            let detail = "A reference to a provider configuration which uses for_each requires an instance key. Passing a collection \
                          of provider instances into a child module is not allowed.";
            let error = Diagnostic::error("Invalid module provider configuration", detail);
            diags.push(error.at(passed.in_parent.range.clone()));
        }
    }
}

/// What a name stands for where configurations are passed: unless `required_providers` has it, a provider of the default
/// registry, even by the name of the built-in one.
fn assumed(module: &Module, name: &str) -> Provider {
    let stated = module.requirements.get(name).filter(|requirement| requirement.explicit);
    stated.map_or_else(|| Provider::registered_for(name), |requirement| requirement.source.clone())
}

fn check_same_type(
    module: &Module,
    caller: &Caller,
    passed: &ProviderPassing,
    wanted: &Provider,
    diags: &mut Diagnostics,
) {
    let (child, parent) = (&passed.in_child.addr, &passed.in_parent.addr);
    let given = assumed(caller.module, &parent.local_name);
    if given == *wanted {
        return;
    }
    let (child_text, parent_text) = (module_text(&module.path), module_text(&caller.module.path));
    let (wanted_text, given_text) = (wanted.for_display(), given.for_display());
    let renamed = module.requirements.iter().find(|(_, r)| r.explicit && r.source == given);
    let diagnostic = match renamed {
        Some((name, _)) => Diagnostic::error(
            WRONG_PROVIDER,
            format!(
                "The assigned configuration is for provider {given_text:?}, but local name \"{child}\" in {parent_text} \
                 represents {wanted_text:?}.\n\nTo pass this configuration to the child module, use the local name {:?} \
                 instead.",
                &**name
            ),
        )
        .at(passed.in_child.range.clone()),
        None => Diagnostic::error(
            WRONG_PROVIDER,
            format!(
                "The local name \"{parent}\" in {parent_text} represents provider {given_text:?}, but \"{child}\" in \
                 {child_text} represents {wanted_text:?}.\n\nEach provider has its own distinct configuration schema and \
                 provider types, so this module's \"{child}\" can be assigned only a configuration for {wanted_text}, \
                 which is not required by {child_text}."
            ),
        )
        .at(passed.in_parent.range.clone()),
    };
    diags.push(diagnostic);
}

/// The old way to say that a module expects a configuration; one warning per provider, with the new way.
fn warn_of_empty_blocks(module: &Module, names: &ConfigurationNames, diags: &mut Diagnostics) {
    let mut by_provider: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
    for name in names.empty.keys() {
        by_provider.entry(name.split('.').next().unwrap_or(name)).or_default().push(name);
    }
    let mut by_provider: Vec<_> = by_provider.into_iter().collect();
    by_provider.sort_by_key(|(_, configs)| {
        configs.first().and_then(|c| names.empty.get(*c)).map(|r| (r.filename(), r.span.start))
    });
    for (local_name, configs) in by_provider {
        let required = module.requirements.get(local_name).filter(|required| required.explicit);
        let provider = match required {
            Some(required) => required.source.for_display(),
            None => format!("hashicorp/{local_name}"),
        };
        let mut example = format!("    {local_name} = {{\n      source = {provider:?}\n");
        if configs.iter().any(|c| c.contains('.')) {
            example.push_str("      configuration_aliases = [\n");
            configs.iter().for_each(|c| example.push_str(&format!("        {c},\n")));
            example.push_str("      ]\n");
        }
        example.push_str("    }");
        let earlier = module.dialect.language().program();
        let detail = format!(
            "Earlier versions of {earlier} used empty provider blocks (\"proxy provider configurations\") for child \
             modules to declare their need to be passed a provider configuration by their callers. That approach was \
             ambiguous and is now deprecated.\n\nIf you control this module, you can migrate to the new declaration syntax \
             by removing all of the empty provider {local_name:?} blocks and then adding or updating an entry like the \
             following to the required_providers block of {}:\n{example}",
            module.path
        );
        let Some(range) = configs.first().and_then(|c| names.empty.get(*c)) else { continue };
        diags.push(Diagnostic::warning("Redundant empty provider block", detail).at((*range).clone()));
    }
}
