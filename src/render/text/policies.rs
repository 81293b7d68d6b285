//! What policies say of an object while a run goes on, for people.
//!
//! Violations and errors of policies are diagnostics, which are shown as all others.

use model::plan::{PolicyInfo, PolicyReport};

use super::style::Style;
use super::visible::visible;

/// The messages of policies for an object, each with its place; none if there are none.
pub fn infos(report: &PolicyReport, style: &Style) -> Option<String> {
    let infos = report.outcomes.iter().flat_map(|outcome| &outcome.infos);
    let text: String = infos.map(|info| one(&report.target, info, style)).collect();
    (!text.is_empty()).then_some(text)
}

fn one(target: &str, info: &PolicyInfo, style: &Style) -> String {
    let heading = style.fill("[reset][bold]{}: Policy info:[reset] {}", &[&target, &visible(&info.message)]);
    format!("{heading}\n  on {} line {}\n", info.range.filename(), info.range.start().line)
}

#[cfg(test)]
mod tests {
    use base::source::{SourceFile, Span};
    use model::config::policy_file::PolicyLevel;
    use model::plan::{PolicyOutcome, PolicyVerdict};

    use super::*;

    #[test]
    fn each_message_has_its_place() {
        let range = Span::new(2, 3).in_file(&SourceFile::new("a.policy.hcl", "\n\nx\n"));
        let info = |message: &str| PolicyInfo {
            message: message.to_owned(),
            range: range.clone(),
            enforce: 0,
            verdict: PolicyVerdict::Allow,
        };
        let outcome = |infos| PolicyOutcome {
            policy: "resource_policy.t.p".to_owned(),
            range: range.clone(),
            level: PolicyLevel::Mandatory,
            verdict: PolicyVerdict::Allow,
            infos,
            findings: Vec::new(),
        };
        let report = |outcomes| PolicyReport { target: "t.a".to_owned(), place: None, outcomes };
        let said = infos(&report(vec![outcome(vec![info("one"), info("two")]), outcome(Vec::new())]), &Style::plain());
        let expected =
            "t.a: Policy info: one\n  on a.policy.hcl line 3\nt.a: Policy info: two\n  on a.policy.hcl line 3\n";
        assert_eq!(said.as_deref(), Some(expected));
        assert_eq!(infos(&report(vec![outcome(Vec::new())]), &Style::plain()), None);
    }
}
