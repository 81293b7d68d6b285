//! What policies say of the objects of a plan.

use base::diag::Diagnostic;
use base::source::Range;

use crate::config::policy_file::PolicyLevel;

/// The result of a policy, in the order of severity: of several, the last one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyVerdict {
    Allow,
    /// It depends on values that are known after apply.
    Unknown,
    /// It cannot be evaluated.
    Error,
    Deny,
}

impl PolicyVerdict {
    /// The value of "result" in JSON.
    pub fn json_name(self) -> &'static str {
        match self {
            PolicyVerdict::Allow => "AllowResult",
            PolicyVerdict::Unknown => "UnknownResult",
            PolicyVerdict::Error => "PolicyErrorResult",
            PolicyVerdict::Deny => "DenyResult",
        }
    }

    /// The value of "result" in the JSON of a query.
    pub fn query_name(self) -> &'static str {
        match self {
            PolicyVerdict::Allow => "pass",
            PolicyVerdict::Unknown => "unknown",
            PolicyVerdict::Error => "error",
            PolicyVerdict::Deny => "fail",
        }
    }
}

/// The policies that are about one object, provider configuration or module instance.
#[derive(Clone, Debug)]
pub struct PolicyReport {
    /// The address.
    pub target: String,
    /// Its block, if it has one.
    pub place: Option<Range>,
    pub outcomes: Vec<PolicyOutcome>,
}

/// The result of one policy.
#[derive(Clone, Debug)]
pub struct PolicyOutcome {
    /// The address within the file: `resource_policy.aws_instance.small`.
    pub policy: String,
    /// The header of the policy.
    pub range: Range,
    pub level: PolicyLevel,
    pub verdict: PolicyVerdict,
    pub infos: Vec<PolicyInfo>,
    pub findings: Vec<PolicyFinding>,
}

impl PolicyOutcome {
    /// The name of the file and the address, by which a plan refers to the policy.
    pub fn id(&self) -> String {
        policy_id(self.range.filename(), &self.policy)
    }

    /// True if it keeps a plan from being applied.
    pub fn denies(&self) -> bool {
        self.findings.iter().any(|finding| finding.diagnostic.is_error())
    }
}

/// The name of a file and the address of a policy in it.
pub fn policy_id(file: &str, policy: &str) -> String {
    format!("{policy} ({file})")
}

/// The message of an `enforce` block, whether or not its condition holds.
#[derive(Clone, Debug)]
pub struct PolicyInfo {
    pub message: String,
    /// The condition.
    pub range: Range,
    /// The position of the block among those of the policy.
    pub enforce: usize,
    pub verdict: PolicyVerdict,
}

/// An error or a warning, with its place in the policy.
#[derive(Clone, Debug)]
pub struct PolicyFinding {
    pub diagnostic: Diagnostic,
    /// The position of the `enforce` block among those of the policy; none: it is about the whole policy.
    pub enforce: Option<usize>,
    pub verdict: PolicyVerdict,
}

/// A policy that a plan could not decide on: an apply evaluates it again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UndecidedPolicy {
    /// The address of the object.
    pub target: String,
    /// As [`policy_id`] has it.
    pub policy: String,
}
