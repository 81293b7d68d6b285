//! The policies of a plan, as its file has them: the texts, so that applying the plan needs no other files.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::source::SourceFile;
use serde::{Deserialize, Serialize};

use super::error::PlanFileError;
use crate::addr::Provider;
use crate::config::policy_file::PolicySet;
use crate::plan::{Plan, UndecidedPolicy};

#[derive(Default, Serialize, Deserialize)]
pub(super) struct PoliciesText {
    /// Name and text.
    files: Vec<(String, String)>,
    /// Values that are given for inputs.
    inputs: BTreeMap<String, String>,
    /// Versions of providers by their addresses.
    versions: BTreeMap<String, String>,
    /// Address of the object, and policy.
    undecided: Vec<(String, String)>,
}

/// None if the plan has no policies.
pub(super) fn text_of(plan: &Plan) -> Option<PoliciesText> {
    let set = &plan.scope.policies;
    if set.is_empty() {
        return None;
    }
    let file = |source: &SourceFile| (source.name().to_owned(), source.text().to_owned());
    let is_declared = |name: &Arc<str>| set.files.iter().any(|it| it.file.inputs.contains_key(name));
    let given = set.given.iter().filter(|(name, _)| is_declared(name));
    Some(PoliciesText {
        files: set.files.iter().map(|file_of_set| file(&file_of_set.file.source)).collect(),
        inputs: given.map(|(name, text)| (name.to_string(), text.clone())).collect(),
        versions: set.provider_versions.iter().map(|(name, version)| (name.to_string(), version.clone())).collect(),
        undecided: plan.undecided_policies.iter().map(|open| (open.target.clone(), open.policy.clone())).collect(),
    })
}

/// Puts the policies in the plan.
pub(super) fn read(text: Option<PoliciesText>, plan: &mut Plan) -> Result<(), PlanFileError> {
    let Some(text) = text else { return Ok(()) };
    let sources: Vec<Arc<SourceFile>> =
        text.files.into_iter().map(|(name, content)| SourceFile::new(name, content)).collect();
    let given = text.inputs.into_iter().map(|(name, value)| (Arc::from(name), value)).collect();
    let (mut set, found) = PolicySet::parse(sources, given);
    if let Some(error) = found.into_iter().find(|problem| problem.is_error()) {
        return Err(PlanFileError::from(error));
    }
    for (name, version) in text.versions {
        set.provider_versions.insert(Provider::parse_source(&name).map_err(PlanFileError::from)?, version);
    }
    plan.scope.policies = Arc::new(set);
    plan.undecided_policies =
        text.undecided.into_iter().map(|(target, policy)| UndecidedPolicy { target, policy }).collect();
    Ok(())
}
