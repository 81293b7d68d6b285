//! The flags that decide how much of a plan is shown: `-summary`, `-only`, `-match` and `-diff-only`.

use base::diag::Diagnostics;
use clap::{Arg, ArgMatches};
use render::plan_filter::{ActionWord, AddressMatch, PlanFilter};

use super::common::first_detail;
use super::flags::{Given, list, optional, switch};

/// How much of a plan is shown, and in which form. The default is the text of the reference.
#[derive(Clone, Debug, Default)]
pub struct PlanView {
    pub summary_form: Option<SummaryForm>,
    pub filter: PlanFilter,
    /// The plan is to be approved: its summary lists all changes, and the filter chooses the differences below it.
    pub for_approval: bool,
}

/// The form of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryForm {
    /// For people.
    Table,
    /// For programs: one line.
    Json,
}

impl PlanView {
    /// True for the text of the reference.
    pub fn is_default(&self) -> bool {
        self.summary_form.is_none() && self.filter.is_empty()
    }
}

const SUMMARY: &str = "summary";
const ONLY: &str = "only";
const MATCH: &str = "match";
const DIFF_ONLY: &str = "diff-only";

/// The summary where the flags do not fit others.
pub const INCOMPATIBLE: &str = "Incompatible output options";

/// The flags of commands whose summary may be JSON.
pub fn plan_view_flags() -> [Arg; 4] {
    let summary = optional(
        SUMMARY,
        "json",
        "Show a table of the changes by action, module and type in place of their differences. With the value \"json\": one line of JSON.",
    );
    flags(summary.value_parser(["true", "false", "json"]))
}

/// The flags of commands that ask for approval.
pub fn approved_plan_view_flags() -> [Arg; 4] {
    flags(switch(
        SUMMARY,
        false,
        "Show a table of the changes by action, module and type in place of their differences. With -only, -match or -diff-only, these differences follow it.",
    ))
}

fn flags(summary: Arg) -> [Arg; 4] {
    [
        summary,
        list(
            ONLY,
            "action,...",
            "Show only changes with these actions: create, update, delete (also replacements that destroy), replace, forget, read, import, move, invoke. The plan stays the same. May be repeated.",
        ),
        list(
            MATCH,
            "address",
            "Show only changes in this module, resource or instance. The address may have \"*\" in it. The plan stays the same. May be repeated.",
        ),
        switch(
            DIFF_ONLY,
            false,
            "Show only the differences: no lines of progress, no changes made outside, no legend, and no reads of data sources.",
        ),
    ]
}

/// What the flags say. What is wrong with them goes to the other errors.
pub fn plan_view(given: &ArgMatches, diagnostics: &mut Diagnostics) -> PlanView {
    let summary = match given.text(SUMMARY).as_deref() {
        None | Some("false") => None,
        Some("json") => Some(SummaryForm::Json),
        Some(_) => Some(SummaryForm::Table),
    };
    PlanView { summary_form: summary, filter: filter(given, diagnostics), for_approval: false }
}

/// As [`plan_view`], for [`approved_plan_view_flags`]; `asks`: the plan is shown for approval.
pub fn approved_plan_view(given: &ArgMatches, asks: bool, diagnostics: &mut Diagnostics) -> PlanView {
    let summary = given.on(SUMMARY).then_some(SummaryForm::Table);
    let view = PlanView { summary_form: summary, filter: filter(given, diagnostics), for_approval: asks };
    if asks && summary.is_none() && !view.filter.is_empty() {
        diagnostics.error(
            INCOMPATIBLE,
            "The options -only, -match and -diff-only hide changes, and a plan must be seen before it is approved. Add -summary, \
             which lists all changes before the chosen differences, or use these options with the plan command.",
        );
    }
    view
}

/// Reports that the flags are used where the output is that of `-json`.
pub fn refuse_with_json(view: &PlanView, diagnostics: &mut Diagnostics) {
    if !view.is_default() {
        diagnostics.error(
            INCOMPATIBLE,
            "The options -summary, -only, -match and -diff-only are for people to read less, so they are not valid together with \
             -json. Remove -json, or use -summary=json where the command has it.",
        );
    }
}

fn filter(given: &ArgMatches, diagnostics: &mut Diagnostics) -> PlanFilter {
    let mut filter = PlanFilter { diff_only: given.on(DIFF_ONLY), ..PlanFilter::default() };
    for text in given.texts(ONLY).iter().flat_map(|texts| texts.split(',')) {
        match ActionWord::parse(text.trim()) {
            Some(word) => filter.only.push(word),
            None => {
                let names = ActionWord::ALL.map(ActionWord::name).join(", ");
                diagnostics.error(
                    format!("Invalid action {text:?}"),
                    format!("The -only option takes one or more of these words, with commas between them: {names}."),
                );
            }
        }
    }
    for text in given.texts(MATCH) {
        match model::addr::command_line::target(&text) {
            Ok(target) => filter.matching.push(AddressMatch::Target(target)),
            Err(found) => diagnostics.error(format!("Invalid match {text:?}"), first_detail(found)),
        }
    }
    filter
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::flags;

    fn given(all: [Arg; 4], words: &[&str]) -> ArgMatches {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        flags::parse(flags::command("t").args(all), &words).unwrap()
    }

    #[test]
    fn flags_choose_a_form_and_a_filter() {
        let cases: &[(&[&str], Option<SummaryForm>, usize, usize)] = &[
            (&[], None, 0, 0),
            (&["-summary"], Some(SummaryForm::Table), 0, 0),
            (&["-summary=false"], None, 0, 0),
            (&["-summary=json", "-only=delete,replace", "-only", "read"], Some(SummaryForm::Json), 3, 0),
            (&["-match=module.m", "-match=aws_*.*"], None, 0, 2),
        ];
        for (words, summary, only, matching) in cases {
            let mut diagnostics = Diagnostics::new();
            let view = plan_view(&given(plan_view_flags(), words), &mut diagnostics);
            assert!(diagnostics.is_empty(), "{words:?}");
            assert_eq!(
                (view.summary_form, view.filter.only.len(), view.filter.matching.len()),
                (*summary, *only, *matching)
            );
            assert_eq!(view.is_default(), summary.is_none() && only + matching == 0, "{words:?}");
        }
    }

    #[test]
    fn wrong_values_are_errors() {
        for (word, summary) in [("-only=destroy", "Invalid action \"destroy\""), ("-match=a", "Invalid match \"a\"")] {
            let mut diagnostics = Diagnostics::new();
            plan_view(&given(plan_view_flags(), &[word]), &mut diagnostics);
            assert_eq!(diagnostics.into_vec().remove(0).summary, summary);
        }
    }

    #[test]
    fn plans_for_approval_are_shown_whole() {
        let cases: &[(&[&str], bool, bool)] = &[
            (&[], true, false),
            (&["-summary"], true, false),
            (&["-only=read"], true, true),
            (&["-diff-only"], true, true),
            (&["-match=a.b"], false, false),
            (&["-match=a.b", "-summary"], true, false),
        ];
        for (words, asks, is_error) in cases {
            let mut diagnostics = Diagnostics::new();
            approved_plan_view(&given(approved_plan_view_flags(), words), *asks, &mut diagnostics);
            assert_eq!(diagnostics.has_errors(), *is_error, "{words:?}");
        }
    }
}
