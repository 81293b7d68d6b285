//! Policies of `init`: for the providers and the modules that are about to be installed.
//!
//! Nothing of a configuration is evaluated then, so only `meta` has values: what depends on `attrs` is unknown.

use std::sync::Arc;

use base::diag::{Diagnostic, Kind};
use base::name::COMMAND;
use base::source::Range;
use lang::functions::FunctionError;
use model::addr::{AbsProviderConfig, Module, Provider};
use model::config::policy_file::{PolicyKind, PolicyLevel, PolicySet};
use model::deps::Version;
use model::plan::{PolicyFinding, PolicyOutcome, PolicyReport, PolicyVerdict};
use terrane_value::Value;

use super::PolicyData;
use super::judge::{Judge, UNKNOWN_RESULT};
use super::target::{PolicyTarget, TargetMeta};
use crate::ports::Host;
use crate::run::policy_objects::ObjectList;

/// There is no plan and no provider yet.
struct NothingKnown;

impl PolicyData for NothingKnown {
    fn resources(&self, _kind: &str) -> Option<Arc<ObjectList>> {
        None
    }

    fn data_source(&self, _kind: &str, _config: &Value) -> Result<Value, FunctionError> {
        Ok(Value::dynamic())
    }
}

/// A provider whose version is selected. `name`: the local name in the root module; `place`: its configuration there.
pub fn selected_provider(provider: &Provider, name: &str, version: &Version, place: Option<Range>) -> PolicyTarget {
    let addr = AbsProviderConfig::root(provider.clone());
    PolicyTarget {
        address: addr.to_string(),
        kind: PolicyKind::Provider,
        name: provider.kind.clone(),
        operation: None,
        attrs: Value::dynamic(),
        prior_attrs: None,
        meta: TargetMeta::of_provider(&addr, name, Some(&version.to_string())),
        place,
    }
}

/// A called module whose source is resolved. `source`: as it is written; `place`: the call.
pub fn called_module(path: &Module, source: &str, version: Option<&Version>, place: Range) -> PolicyTarget {
    let (address, version) = (path.to_string(), version.map(ToString::to_string));
    PolicyTarget {
        kind: PolicyKind::Module,
        name: source.into(),
        operation: None,
        attrs: Value::dynamic(),
        prior_attrs: None,
        meta: TargetMeta::of_module(&address, source, version.as_deref()),
        place: Some(place),
        address,
    }
}

/// Evaluates policies for such a target. A mandatory policy whose result is unknown has a warning. None if no policy is about it.
pub fn before_install(policies: &PolicySet, host: &dyn Host, target: &PolicyTarget) -> Option<PolicyReport> {
    let mut report = Judge::new(policies, &NothingKnown, host).report(target, |_, _| true)?;
    for outcome in &mut report.outcomes {
        if outcome.verdict == PolicyVerdict::Unknown && outcome.level != PolicyLevel::Advisory {
            let diagnostic = undecided(outcome, &target.address);
            outcome.findings.push(PolicyFinding { diagnostic, enforce: None, verdict: PolicyVerdict::Unknown });
        }
    }
    Some(report)
}

/// The warning about a policy whose result is not known before a plan.
fn undecided(outcome: &PolicyOutcome, target: &str) -> Diagnostic {
    let detail = format!(
        "The {} policy {} depends on values of {target} that are not known during init. \"{COMMAND} plan\" with the same policies \
         evaluates it.",
        outcome.level.name(),
        outcome.policy
    );
    let warning = Diagnostic::warning(UNKNOWN_RESULT, detail);
    warning.at(outcome.range.clone()).about(target.to_owned()).of_kind(Kind::Policy)
}

#[cfg(test)]
mod tests {
    use base::source::{SourceFile, Span};
    use model::config::policy_file::GivenInputs;

    use super::*;
    use crate::tests::world::World;

    fn provider() -> PolicyTarget {
        let provider = Provider::new("registry.terraform.io", "hashicorp", "aws");
        selected_provider(&provider, "cloud", &Version::new(5, 1, 0), None)
    }

    fn module() -> PolicyTarget {
        let place = Span::new(0, 6).in_file(&SourceFile::new("main.tf", "module \"a\" {}"));
        called_module(&Module::root().child("a").child("b"), "org/net/aws", Some(&Version::new(1, 2, 3)), place)
    }

    /// The verdict with the summaries of the findings.
    fn result(target: &PolicyTarget, text: &str) -> String {
        let (set, found) = PolicySet::parse([SourceFile::new("p.policy.hcl", text)], GivenInputs::new());
        assert!(!found.has_errors(), "{text}: {found:?}");
        let Some(report) = before_install(&set, &*World::new().ports().host, target) else { return "none".to_owned() };
        let outcome = &report.outcomes[0];
        let summaries: Vec<String> =
            outcome.findings.iter().map(|finding| finding.diagnostic.summary.to_string()).collect();
        format!("{} {}", outcome.verdict.query_name(), summaries.join(", ")).trim_end().to_owned()
    }

    #[track_caller]
    fn check(target: &PolicyTarget, label: &str, cases: &[(&str, &str, &str)]) {
        for (more, condition, expected) in cases {
            let text = format!("{label} \"n\" {{\n{more}\n  enforce {{\n    condition = {condition}\n  }}\n}}\n");
            assert_eq!(result(target, &text), *expected, "{text}");
        }
    }

    #[test]
    fn only_meta_is_known() {
        let advisory = "  enforcement_level = \"advisory\"";
        let cases = [
            ("", "core::semverconstraint(meta.version, \"~> 5.0\")", "pass"),
            ("", "core::semverconstraint(meta.version, \">= 6.0\")", "fail Policy violation"),
            (advisory, "meta.namespace != \"hashicorp\"", "fail Policy violation"),
            ("", "meta.name == \"cloud\" && meta.type == \"aws\" && meta.alias == null", "pass"),
            ("", "meta.address == \"provider[\\\"registry.terraform.io/hashicorp/aws\\\"]\"", "pass"),
            ("", "attrs.region == \"eu\"", "unknown Policy result is unknown"),
            (advisory, "attrs.region == \"eu\"", "unknown"),
            ("  filter = meta.type == \"aws\"", "false", "fail Policy violation"),
            ("  filter = meta.type == \"other\"", "false", "none"),
            ("  filter = attrs.region == \"eu\"", "false", "unknown Policy result is unknown"),
            ("", "length(core::getresources(\"aws_x\", null)) == 0", "unknown Policy result is unknown"),
            ("", "core::getdatasource(\"aws_ami\", {}).id == \"\"", "unknown Policy result is unknown"),
            ("", "meta.none", "error Unsupported attribute"),
        ];
        check(&provider(), "provider_policy \"aws\"", &cases);
        check(&provider(), "provider_policy \"google\"", &[("", "false", "none")]);
    }

    #[test]
    fn modules_have_their_source_and_version() {
        let cases = [
            ("", "meta.address == \"module.a.module.b\" && meta.version == \"1.2.3\"", "pass"),
            ("", "core::startswith(meta.source, \"other/\")", "fail Policy violation"),
            ("", "attrs.cidr != \"\"", "unknown Policy result is unknown"),
        ];
        check(&module(), "module_policy \"org/*\"", &cases);
        check(&module(), "module_policy \"./net\"", &[("", "false", "none")]);
    }
}
