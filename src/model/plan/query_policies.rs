//! What policies say of the objects that a query finds.

use terrane_value::Value;

use super::{PolicyReport, PolicyVerdict};
use crate::addr::AbsResourceInstance;

/// The results of policies for the objects that an instance of a `list` block found.
#[derive(Clone, Debug)]
pub struct ListPolicies {
    pub list: AbsResourceInstance,
    /// In the order of the list; not empty.
    pub objects: Vec<ObjectPolicies>,
}

/// The results of policies for one of these objects.
#[derive(Clone, Debug)]
pub struct ObjectPolicies {
    /// An object of the type that the schema of the identity implies.
    pub identity: Value,
    /// Without outcomes, no policy is about the object.
    pub report: PolicyReport,
}

impl ListPolicies {
    /// The result for all objects.
    pub fn verdict(&self) -> PolicyVerdict {
        joint(self.objects.iter().map(ObjectPolicies::verdict))
    }
}

impl ObjectPolicies {
    /// The result of all policies.
    pub fn verdict(&self) -> PolicyVerdict {
        joint(self.report.outcomes.iter().map(|outcome| outcome.verdict))
    }
}

/// Several results as one, as Terraform 1.17 has it: an error counts more than a violation, and this more than an unknown result.
fn joint(verdicts: impl Iterator<Item = PolicyVerdict>) -> PolicyVerdict {
    let rank = |verdict: &PolicyVerdict| match verdict {
        PolicyVerdict::Allow => 0,
        PolicyVerdict::Unknown => 1,
        PolicyVerdict::Deny => 2,
        PolicyVerdict::Error => 3,
    };
    verdicts.max_by_key(rank).unwrap_or(PolicyVerdict::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_results_are_one() {
        use PolicyVerdict::{Allow, Deny, Error, Unknown};
        let cases = [
            (vec![], Allow),
            (vec![Allow, Allow], Allow),
            (vec![Unknown, Allow], Unknown),
            (vec![Deny, Unknown], Deny),
            (vec![Error, Deny, Allow], Error),
        ];
        for (verdicts, expected) in cases {
            assert_eq!(joint(verdicts.iter().copied()), expected, "{verdicts:?}");
        }
    }
}
