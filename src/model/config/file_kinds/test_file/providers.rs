//! The providers of a test file against those of the root module: a name stands for one provider throughout a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;

use super::{TestFile, TestRun};
use crate::addr::Provider;
use crate::config::module::Module;
use crate::config::providers::provider_check::WRONG_PROVIDER;
use crate::config::providers::provider_ref::ProviderPassing;

/// A provider passed to a run: what its names stand for here and there.
struct Passed {
    given: Provider,
    wanted: Provider,
}

/// Reports providers that are not what the root module takes under that name.
pub fn check(file: &TestFile, root: &Module, diags: &mut Diagnostics) {
    let mut types: BTreeMap<Arc<str>, Provider> = BTreeMap::new();
    let passed: Vec<Vec<Passed>> = file.runs.iter().map(|run| resolve(file, run, root, &mut types)).collect();
    for (run, passed) in file.runs.iter().zip(passed).filter(|(run, _)| run.module.is_none()) {
        for (passing, passed) in run.providers.iter().zip(&passed).filter(|(_, p)| p.given != p.wanted) {
            let (given, wanted) = (&passing.in_parent, &passing.in_child.addr.local_name);
            let what = format!("local name {:?}", &*given.addr.local_name);
            let in_file = (&*given.addr.local_name, &passed.given);
            let error = mismatch(file, &what, in_file, (&**wanted, &passed.wanted), MANY_USES);
            diags.push(error.at(given.range.clone()));
        }
        if run.providers.is_empty() {
            check_by_name(file, root, &types, diags);
        }
    }
}

/// What the names of a run's providers stand for. The first use of one of the file's providers settles its type.
fn resolve(file: &TestFile, run: &TestRun, root: &Module, types: &mut BTreeMap<Arc<str>, Provider>) -> Vec<Passed> {
    let module = run.under_test.as_ref().map_or(root, |config| &config.root);
    let defined = |name: &str| file.providers.values().any(|p| &**p.name() == name);
    if run.providers.is_empty() {
        for (name, requirement) in &module.requirements {
            if defined(name) && !types.contains_key(name) {
                types.insert(name.clone(), requirement.source.clone());
            }
        }
        return Vec::new();
    }
    let one = |passing: &ProviderPassing| {
        let wanted = module.provider_for_local_name(&passing.in_child.addr.local_name);
        let name = &passing.in_parent.addr.local_name;
        let given = types.get(name).cloned().unwrap_or_else(|| wanted.clone());
        if defined(name) {
            types.entry(name.clone()).or_insert_with(|| wanted.clone());
        }
        Passed { given, wanted }
    };
    run.providers.iter().map(one).collect()
}

/// A run without `providers` takes all of the file's by name.
fn check_by_name(file: &TestFile, root: &Module, types: &BTreeMap<Arc<str>, Provider>, diags: &mut Diagnostics) {
    let mut required: BTreeMap<String, &Provider> = BTreeMap::new();
    for (name, requirement) in root.requirements.iter().filter(|(_, r)| r.explicit) {
        required.insert(name.to_string(), &requirement.source);
        required.extend(requirement.aliases.iter().map(|a| (a.to_string(), &requirement.source)));
    }
    let mut configured: BTreeMap<String, &Provider> = BTreeMap::new();
    for addr in root.providers.keys().filter(|addr| !required.contains_key(&addr.to_string())) {
        if let Some(requirement) = root.requirements.get(&addr.local_name) {
            configured.insert(addr.to_string(), &requirement.source);
        }
    }
    // The reference reports the blocks of the root module last, and in other words.
    let all = required.into_iter().map(|of| (of, MANY_USES)).chain(configured.into_iter().map(|of| (of, ONE_USE)));
    for ((key, wanted), reason) in all {
        let Some(provider) = file.providers.get(&key) else { continue };
        let given = types.get(provider.name()).cloned().unwrap_or_else(|| Provider::default_for(provider.name()));
        if given != *wanted {
            let range: &Range = provider.range();
            let error =
                mismatch(file, &format!("provider {key:?}"), (key.as_str(), &given), (key.as_str(), wanted), reason);
            diags.push(error.at(range.clone()));
        }
    }
}

const MANY_USES: &str = ", or other provider definitions with the same name, have";
const ONE_USE: &str = " has";

/// The error about a name, and the provider that it stands for, in the file and in the root module.
fn mismatch(
    file: &TestFile,
    what: &str,
    (name, given): (&str, &Provider),
    (in_root, wanted): (&str, &Provider),
    reason: &str,
) -> Diagnostic {
    let file = &file.name;
    let detail = format!(
        "The {what} in {file} represents provider \"{given}\", but {in_root:?} in the root module represents \
         \"{wanted}\".\n\nThis means the provider definition for {name:?} within {file}{reason} been referenced by multiple run \
         blocks and assigned to different provider types."
    );
    Diagnostic::error(WRONG_PROVIDER, detail)
}
