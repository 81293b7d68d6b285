//! What policies say of the objects that a query found, for people.

use std::collections::BTreeSet;
use std::fmt::Write;

use base::diag::Diagnostic;
use model::plan::{ListPolicies, ObjectPolicies, PolicyOutcome, PolicyVerdict};
use terrane_protocol::provider::identity_text;
use terrane_value::Value;

use super::style::Style;
use super::visible::visible;

/// How many policies there were, then a part for each list with a line for each object. Violations and errors stand below their
/// object. Ends with an empty line.
pub fn text(lists: &[ListPolicies], style: &Style) -> String {
    let outcomes = lists.iter().flat_map(|list| &list.objects).flat_map(|object| &object.report.outcomes);
    let policies: BTreeSet<String> = outcomes.map(PolicyOutcome::id).collect();
    let mut out = format!("{}\n", style.wrapped(&format!("Evaluated {} policies.", policies.len())));
    for list in lists {
        let _ = writeln!(out, "\nPolicy results for {} ({})", list.list, word(list.verdict()));
        list.objects.iter().for_each(|object| add_object(&mut out, object));
    }
    out.push('\n');
    out
}

fn add_object(out: &mut String, object: &ObjectPolicies) {
    let _ = writeln!(out, "  {}: {}", visible(&identity(&object.identity)), word(object.verdict()));
    for outcome in &object.report.outcomes {
        for finding in &outcome.findings {
            let (policy, said, level) = (&outcome.policy, reason(&finding.diagnostic), outcome.level.name());
            let _ = writeln!(out, "    - {policy}: {} ({level})", visible(&said));
        }
        for info in &outcome.infos {
            let said = in_one_line(&info.message);
            let _ = writeln!(out, "    - {}: Policy info: {}", outcome.policy, visible(&said));
        }
    }
}

fn word(verdict: PolicyVerdict) -> String {
    verdict.query_name().to_uppercase()
}

/// The attributes that are strings, as the reference shows them; all of them if none is.
fn identity(identity: &Value) -> String {
    let attributes = identity.entries();
    let strings = attributes.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
    let strings: Vec<String> = strings.collect();
    if strings.is_empty() { identity_text(identity) } else { strings.join(", ") }
}

/// The first paragraph of a finding: the message of its policy, if it has one.
fn reason(diagnostic: &Diagnostic) -> String {
    let first = diagnostic.detail.split("\n\n").next().unwrap_or_default();
    in_one_line(if first.is_empty() { &diagnostic.summary } else { first })
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use base::source::{SourceFile, Span};
    use model::addr::{InstanceKey, ModuleInstance, Resource};
    use model::config::policy_file::PolicyLevel;
    use model::plan::{PolicyFinding, PolicyInfo, PolicyReport};
    use terrane_protocol::schema::ResourceMode;

    use super::*;

    #[test]
    fn each_list_has_its_objects() {
        let range = Span::new(0, 1).in_file(&SourceFile::new("a.policy.hcl", "x"));
        let outcome = |name: &str, verdict: PolicyVerdict, detail: &str| {
            let diagnostic = Diagnostic::error("Policy violation", detail);
            let finding = PolicyFinding { diagnostic, enforce: Some(0), verdict };
            let info = PolicyInfo { message: "said\nso".to_owned(), range: range.clone(), enforce: 0, verdict };
            PolicyOutcome {
                policy: format!("resource_policy.t.{name}"),
                range: range.clone(),
                level: PolicyLevel::Mandatory,
                verdict,
                infos: if name == "b" { vec![info] } else { Vec::new() },
                findings: if detail.is_empty() { Vec::new() } else { vec![finding] },
            }
        };
        let object = |identity: Value, outcomes: Vec<PolicyOutcome>| {
            let report = PolicyReport { target: "t.a_0".to_owned(), place: None, outcomes };
            ObjectPolicies { identity, report }
        };
        let list = Resource { mode: ResourceMode::List, kind: "t".into(), name: "a".into() };
        let list = list.absolute(ModuleInstance::root()).instance(InstanceKey::None);
        let (account, id) = (("account", Value::string("1\u{1b}")), ("id", Value::string("i-1")));
        let objects = vec![
            object(Value::object([account, id, ("n", Value::int(7))]), vec![outcome("a", PolicyVerdict::Allow, "")]),
            object(
                Value::object([("n", Value::int(8))]),
                vec![
                    outcome("a", PolicyVerdict::Deny, "It is\nlarge.\n\nThe policy denies it."),
                    outcome("b", PolicyVerdict::Allow, ""),
                ],
            ),
        ];
        let lists = [ListPolicies { list, objects }];
        let expected = "Evaluated 2 policies.\n\n\
                        Policy results for list.t.a (FAIL)\n  account=1\\x1b, id=i-1: PASS\n  n=8: FAIL\n    \
                        - resource_policy.t.a: It is large. (mandatory)\n    - resource_policy.t.b: Policy info: said so\n\n";
        assert_eq!(text(&lists, &Style::plain()), expected);
    }
}
