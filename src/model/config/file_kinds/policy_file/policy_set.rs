//! The policies of a run: files, with the values of their inputs.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::SourceFile;
use terrane_value::Value;

use super::{PolicyFile, PolicyInput, PolicyKind, UnfitValue};
use crate::addr;
use crate::deps::{Constraints, Version};

/// The release of Terraform whose policies these are. `required_version` is compared with it: there were none before 1.16.
const POLICY_RELEASE: (u64, u64, u64) = (1, 17, 0);

/// Texts that are given for inputs, by their names. Those that no file declares are ignored.
pub type GivenInputs = BTreeMap<Arc<str>, String>;

/// All policies of a run.
#[derive(Clone, Debug, Default)]
pub struct PolicySet {
    pub files: Vec<SetFile>,
    pub given: GivenInputs,
    /// The version of each selected provider, for `meta.version`.
    pub provider_versions: BTreeMap<addr::Provider, String>,
}

/// A file with the values of its inputs.
#[derive(Clone, Debug)]
pub struct SetFile {
    pub file: Arc<PolicyFile>,
    pub inputs: BTreeMap<Arc<str>, Value>,
    /// Given when a saved plan is applied, and not when it was made: all of its policies are evaluated during the apply.
    pub is_late: bool,
}

impl PolicySet {
    /// Reads the files: a name and a text each. What is wrong with them is reported.
    pub fn parse(sources: impl IntoIterator<Item = Arc<SourceFile>>, given: GivenInputs) -> (PolicySet, Diagnostics) {
        let mut diags = Diagnostics::new();
        let mut set = PolicySet { given, ..PolicySet::default() };
        for source in sources {
            let file = diags.take(PolicyFile::parse(source));
            diags.extend(unsupported_version(&file));
            let inputs = diags
                .take(input_values(&file.inputs, |input| set.given.get(&input.name).map(|text| input.of_text(text))));
            set.files.push(SetFile { file: Arc::new(file), inputs, is_late: false });
        }
        (set, diags)
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// True if a policy is about that type of resources, that provider, or modules of that source.
    pub fn is_about(&self, kind: PolicyKind, target: &str) -> bool {
        let mut policies = self.files.iter().flat_map(|file| &file.file.policies);
        policies.any(|policy| policy.kind == kind && policy.matches(target))
    }

    /// Adds files that the set does not have, to be evaluated during an apply.
    pub fn add_late(&mut self, others: PolicySet) {
        for other in others.files {
            let is_same =
                |own: &SetFile| own.file.source.text() == other.file.source.text() && own.inputs == other.inputs;
            if !self.files.iter().any(is_same) {
                self.files.push(SetFile { is_late: true, ..other });
            }
        }
        if self.provider_versions.is_empty() {
            self.provider_versions = others.provider_versions;
        }
    }
}

/// The value of each input: the given one, or the one without. An input that must have a value and has none is an error.
pub fn input_values(
    inputs: &BTreeMap<Arc<str>, PolicyInput>,
    given: impl Fn(&PolicyInput) -> Option<Result<Value, UnfitValue>>,
) -> (BTreeMap<Arc<str>, Value>, Diagnostics) {
    let mut diags = Diagnostics::new();
    let mut values = BTreeMap::new();
    for (name, input) in inputs {
        let value = match given(input) {
            Some(Ok(value)) => Some(value),
            Some(Err(why)) => {
                let detail = format!("The value that is given for the input {:?} is not valid: {why}.", &**name);
                diags.push(Diagnostic::error("Invalid value for policy input", detail).at(input.range.clone()));
                None
            }
            None => {
                let value = input.without_value();
                if value.is_none() {
                    diags.push(missing_input(input));
                }
                value
            }
        };
        values.insert(name.clone(), value.unwrap_or_else(|| Value::unknown(input.ty.without_optional_deep())));
    }
    (values, diags)
}

fn missing_input(input: &PolicyInput) -> Diagnostic {
    let name = &*input.name;
    let detail = format!(
        "The input {name:?} has no default, is not nullable, and no value is given. Set the environment variable \
         TFPOLICY_INPUT_{name}, or add a default."
    );
    Diagnostic::error("No value for policy input", detail).at(input.range.clone())
}

fn unsupported_version(file: &PolicyFile) -> Option<Diagnostic> {
    let (text, range) = file.required_version.as_ref()?;
    let (major, minor, patch) = POLICY_RELEASE;
    if Constraints::parse(text).is_ok_and(|constraints| constraints.allows(&Version::new(major, minor, patch))) {
        return None;
    }
    let detail = format!(
        "The policies of this file are for other releases: {text:?} does not allow {major}.{minor}.{patch}, whose policies are \
         evaluated here."
    );
    Some(Diagnostic::error("Unsupported version for policies", detail).at(range.clone()))
}
