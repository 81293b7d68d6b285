//! The approval of a plan at a terminal, where the plan can be read again before the answer.
//!
//! Owns the keys. Only "yes" approves: that is decided by the operation, which gets every other answer as it was typed.

use async_trait::async_trait;
use model::addr::pattern::is_pattern;
use model::addr::{Pattern, Target};
use ops::interface::ask::{Ask, NoAnswer, Question};
use ops::interface::planning::Planned;
use render::plan_filter::{AddressMatch, PlanFilter, is_planned};
use render::text::visible::visible;

use crate::args::plan_view::{PlanView, SummaryForm};
use crate::prompt::Prompt;
use crate::view::shown;

/// Named above the line that says which answer approves.
const KEYS: &str = "Enter 'd' for details, 's' for a summary or '/PATTERN' to search addresses.";

/// Asks for the approval of plans.
pub struct ApprovalPrompt {
    pub prompt: Prompt,
    pub in_automation: bool,
    /// Questions may be asked.
    pub has_keys: bool,
}

#[async_trait]
impl Ask for ApprovalPrompt {
    async fn ask(&self, question: &Question) -> Result<String, NoAnswer> {
        self.prompt.ask(question).await
    }

    async fn ask_to_approve(&self, question: &Question, planned: &Planned) -> Result<String, NoAnswer> {
        let console = &self.prompt.console;
        if !(self.has_keys && console.terminal.input && console.style.extras) {
            return self.prompt.ask(question).await;
        }
        let question = with_keys(question);
        loop {
            let answer = self.prompt.ask(&question).await?;
            match PlanKey::of(&answer) {
                Some(key) => console.print(&self.text(key, planned)),
                None => return Ok(answer),
            }
        }
    }
}

impl ApprovalPrompt {
    fn text(&self, key: PlanKey<'_>, planned: &Planned) -> String {
        let style = &self.prompt.console.style;
        let view = match key {
            PlanKey::Details => PlanView::default(),
            PlanKey::Summary => PlanView { summary_form: Some(SummaryForm::Table), ..PlanView::default() },
            PlanKey::Search(pattern) => {
                let filter = PlanFilter { matching: vec![address_match(pattern)], ..PlanFilter::default() };
                if !has_match(&filter, planned) {
                    return format!("\nNo change has an address that matches {}.\n", visible(pattern));
                }
                PlanView { filter, ..PlanView::default() }
            }
        };
        shown::plan(planned, style, self.in_automation, &view)
    }
}

/// An answer that shows the plan again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlanKey<'a> {
    Details,
    Summary,
    Search(&'a str),
}

impl PlanKey<'_> {
    /// None: the answer is one of the question.
    fn of(answer: &str) -> Option<PlanKey<'_>> {
        match answer {
            "d" => Some(PlanKey::Details),
            "s" => Some(PlanKey::Summary),
            _ => answer.strip_prefix('/').map(str::trim).filter(|pattern| !pattern.is_empty()).map(PlanKey::Search),
        }
    }
}

/// The question with the keys above its last line.
fn with_keys(question: &Question) -> Question {
    let text = match question.text.rsplit_once('\n') {
        Some((before, last)) => format!("{before}\n{KEYS}\n{last}"),
        None => format!("{KEYS}\n{}", question.text),
    };
    Question { text, ..question.clone() }
}

/// What is searched for: a pattern of addresses, or a part of an address.
fn address_match(text: &str) -> AddressMatch {
    match Pattern::parse(text) {
        Ok(pattern) if is_pattern(text) => AddressMatch::Target(Target::Pattern(pattern)),
        _ => AddressMatch::Text(text.to_lowercase()),
    }
}

fn has_match(filter: &PlanFilter, planned: &Planned) -> bool {
    let plan = &planned.plan;
    let changes = plan.changes.iter().filter(|change| is_planned(change));
    changes.chain(&plan.drift).any(|change| filter.shows(change, false))
        || plan.invocations.iter().any(|invocation| invocation.is_request() && filter.shows_request(invocation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_answers_are_answers() {
        let cases = [
            ("d", Some(PlanKey::Details)),
            ("s", Some(PlanKey::Summary)),
            ("/ aws_*.* ", Some(PlanKey::Search("aws_*.*"))),
            ("yes", None),
            ("no", None),
            ("", None),
            ("/", None),
            ("D", None),
            (" d", None),
            ("details", None),
        ];
        for (answer, expected) in cases {
            assert_eq!(PlanKey::of(answer), expected, "{answer:?}");
        }
    }

    #[test]
    fn keys_stand_above_the_last_line() {
        let question = |text: &str| Question { text: text.into(), ..Question::default() };
        let cases = [
            (
                "Does it.\nOnly 'yes' will be accepted to approve.",
                "Does it.\nKEYS\nOnly 'yes' will be accepted to approve.",
            ),
            ("Only 'yes'.", "KEYS\nOnly 'yes'."),
        ];
        for (text, expected) in cases {
            assert_eq!(with_keys(&question(text)).text, expected.replace("KEYS", KEYS));
        }
    }

    #[test]
    fn searches_are_patterns_or_parts_of_addresses() {
        assert!(matches!(address_match("module.*"), AddressMatch::Target(Target::Pattern(_))));
        assert!(matches!(address_match("Web[\"*"), AddressMatch::Text(text) if text == "web[\"*"));
        assert!(matches!(address_match("module.m"), AddressMatch::Text(_)));
    }
}
