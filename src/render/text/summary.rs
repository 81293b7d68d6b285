//! The short form of a plan for people: a table by action, module and type, the most dangerous first.
//!
//! Owns the layout. Contains addresses, reasons and places, but no values.

use std::collections::BTreeMap;
use std::fmt::Write;

use base::name::PROGRAM;
use model::addr::ModuleInstance;
use model::plan::{Action, Plan};

use super::deferred;
use super::diff::{padded, symbol};
use super::plan::{PlanText, all_totals, hidden_note, no_changes};
use super::style::Style;
use super::visible::visible;
use super::wrap::wrap;
use crate::plan_filter::ActionWord;
use crate::summary::{Reason, Summary, SummaryRow};

/// How many names a line of the table lists at most, where nothing is destroyed.
const MOST_NAMES: usize = 20;

/// The columns before the lines below a line of the table.
const INDENT: usize = 9;

/// The whole text, from the blank line before the heading. `summary` is that of the plan, filtered or not.
pub fn summary_text(text: &PlanText<'_>, summary: &Summary<'_>) -> String {
    let style = text.style;
    let mut out = String::new();
    if !summary.drift.is_empty() {
        write_drift(&mut out, &summary.drift, style);
    }
    if let Some(nothing) = no_changes(text) {
        return out + &nothing + &deferred::list(text.plan, style) + &hidden_note(summary.hidden);
    }
    out.push_str(&deferred::list(text.plan, style));
    let lines = lines_of(summary, style);
    if !lines.is_empty() {
        let heading = heading(text.plan);
        out.push_str(&style.fill("\n[bold]{}[reset]\n\n", &[&heading]));
        write_lines(&mut out, &lines, style);
    }
    write_outputs(&mut out, summary, style);
    out.push_str(&all_totals(text.plan, style));
    out.push_str(&hidden_note(summary.hidden));
    out
}

fn heading(plan: &Plan) -> String {
    match plan.errored {
        true => format!("{PROGRAM} planned these actions, but then encountered a problem:"),
        false => format!("Summary of the actions that {PROGRAM} will perform:"),
    }
}

/// A line of the table, and what stands below it.
struct TableLine {
    symbol: String,
    action: ActionWord,
    count: usize,
    module: String,
    kind: String,
    /// Each on one line.
    objects: Vec<String>,
    /// In one paragraph.
    names: Vec<String>,
}

/// What the objects of a line have in common: the action, the module, the type, and the form of a replacement.
type LineKey<'s> = (ActionWord, &'s ModuleInstance, &'s str, u8);

/// Forms of replacements have symbols of their own.
fn form(action: Action) -> u8 {
    match action {
        Action::CreateThenDelete => 1,
        Action::CreateThenForget => 2,
        _ => 0,
    }
}

/// The lines in their order: by action, module and type.
fn lines_of(summary: &Summary<'_>, style: &Style) -> Vec<TableLine> {
    let mut groups: BTreeMap<LineKey<'_>, Vec<&SummaryRow<'_>>> = BTreeMap::new();
    for row in &summary.rows {
        let form = form(row.change.action);
        groups.entry((row.action, &row.change.addr.module, row.kind.as_str(), form)).or_default().push(row);
    }
    let line = |((action, _, kind, _), rows): (LineKey<'_>, Vec<&SummaryRow<'_>>)| {
        let is_dangerous = matches!(action, ActionWord::Delete | ActionWord::Replace | ActionWord::Forget);
        let first = rows.first();
        TableLine {
            symbol: first.map_or_else(String::new, |row| symbol(row.change.action, style)),
            action,
            count: rows.len(),
            module: first.map_or_else(String::new, |row| row.module.clone()),
            kind: kind.to_owned(),
            objects: if is_dangerous { rows.iter().map(|row| object(row)).collect() } else { Vec::new() },
            names: if is_dangerous { Vec::new() } else { rows.iter().map(|row| name(row)).collect() },
        }
    };
    groups.into_iter().map(line).chain(invocation_lines(summary, style)).collect()
}

/// The lines of the actions that are invoked.
fn invocation_lines(summary: &Summary<'_>, style: &Style) -> Vec<TableLine> {
    let mut groups: BTreeMap<(&ModuleInstance, &str), Vec<String>> = BTreeMap::new();
    for row in &summary.invocations {
        let addr = &row.invocation.addr;
        let name = format!("{}{} (for {})", addr.action.action.name, addr.action.key, row.trigger);
        groups.entry((&addr.module, row.kind.as_str())).or_default().push(name);
    }
    let line = |((module, kind), names): ((&ModuleInstance, &str), Vec<String>)| TableLine {
        symbol: symbol(Action::NoOp, style),
        action: ActionWord::Invoke,
        count: names.len(),
        module: module.to_string(),
        kind: kind.to_owned(),
        objects: Vec::new(),
        names,
    };
    groups.into_iter().map(line).collect()
}

fn write_lines(out: &mut String, lines: &[TableLine], style: &Style) {
    const HEADS: [&str; 3] = ["ACTION", "COUNT", "MODULE"];
    let module = |line: &TableLine| if line.module.is_empty() { "(root)".to_owned() } else { line.module.clone() };
    let widest = |texts: &mut dyn Iterator<Item = usize>, head: &str| texts.max().unwrap_or(0).max(head.len());
    let action_width = widest(&mut lines.iter().map(|line| line.action.name().len()), HEADS[0]);
    let count_width = widest(&mut lines.iter().map(|line| line.count.to_string().len()), HEADS[1]);
    let module_width = widest(&mut lines.iter().map(|line| module(line).chars().count()), HEADS[2]);
    let [action, count, of] = HEADS;
    let head = format!(
        "     {}  {count:>count_width$}  {}  TYPE",
        padded(action.to_owned(), action_width),
        padded(of.to_owned(), module_width)
    );
    let _ = writeln!(out, "{}", style.dark_gray(head));
    for line in lines {
        let action = padded(line.action.name().to_owned(), action_width);
        let cells = format!("{:>count_width$}  {}  {}", line.count, padded(module(line), module_width), line.kind);
        let _ = writeln!(out, "{}  {}  {}", line.symbol, style.bold(action), visible(&cells));
        for object in &line.objects {
            let _ = writeln!(out, "{}", indented(object, style));
        }
        if !line.names.is_empty() {
            let _ = writeln!(out, "{}", indented(&listed(&line.names), style));
        }
    }
}

/// The names with commas between them, and how many there are beyond the most that are listed.
fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Lines below a line of the table, none wider than the place that they go to, unless a word is.
fn indented(text: &str, style: &Style) -> String {
    let pad = " ".repeat(INDENT);
    let mut out = String::new();
    for (i, line) in text.lines().enumerate() {
        // What is said of an object stands further in than its address.
        let inner = if i > 0 { "  " } else { "" };
        let width = style.width.saturating_sub(INDENT + inner.len() + 1).max(20);
        for piece in wrap(&visible(line), width).lines() {
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = write!(out, "{gap}{pad}{inner}{piece}");
        }
    }
    out
}

/// An object that is destroyed, replaced or forgotten: its address and its block's place, and below them each reason.
fn object(row: &SummaryRow<'_>) -> String {
    let mut out = row.address.clone();
    if let Some(place) = &row.place {
        let _ = write!(out, "  ({place})");
    }
    if row.change.importing.is_some() {
        out.push_str("\nimported first");
    }
    if row.change.previous_addr != row.change.addr {
        let _ = write!(out, "\nmoved from {}", row.change.previous_addr);
    }
    for Reason { text, place } in &row.reasons {
        let _ = match place {
            Some(place) => write!(out, "\nbecause {text}, {place}"),
            None => write!(out, "\nbecause {text}"),
        };
    }
    out
}

/// An object of which nothing is destroyed, within its module and type.
fn name(row: &SummaryRow<'_>) -> String {
    let addr = &row.change.addr;
    let mut out = format!("{}{}", addr.resource.resource.name, addr.key());
    if row.change.importing.is_some() && row.action != ActionWord::Import {
        out.push_str(" (imported)");
    }
    if row.change.previous_addr != row.change.addr {
        let _ = write!(out, " (moved from {})", row.change.previous_addr);
    }
    out
}

fn write_drift(out: &mut String, rows: &[SummaryRow<'_>], style: &Style) {
    let heading = format!("Objects that have changed outside of {PROGRAM}:");
    out.push_str(&style.fill("\n[bold]{}[reset]\n\n", &[&heading]));
    for row in rows {
        let moved = match row.change.previous_addr != row.change.addr {
            true => format!(" (moved from {})", row.change.previous_addr),
            false => String::new(),
        };
        let _ = writeln!(out, "{}  {}{moved}", symbol(row.change.action, style), row.address);
    }
}

fn write_outputs(out: &mut String, summary: &Summary<'_>, style: &Style) {
    if summary.outputs.is_empty() {
        return;
    }
    out.push_str(&style.fill("\n[bold]Outputs:[reset]\n\n", &[]));
    let mut groups: BTreeMap<ActionWord, Vec<String>> = BTreeMap::new();
    for output in &summary.outputs {
        groups.entry(ActionWord::of_output(output)).or_default().push(output.name.to_string());
    }
    for (action, names) in groups {
        let sign = match action {
            ActionWord::Create => Action::Create,
            ActionWord::Delete => Action::Delete,
            _ => Action::Update,
        };
        let width = ActionWord::Replace.name().len();
        let action = padded(action.name().to_owned(), width);
        let _ = writeln!(out, "{}  {}  {:>5}", symbol(sign, style), style.bold(action), names.len());
        let _ = writeln!(out, "{}", indented(&listed(&names), style));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_filter::PlanFilter;
    use crate::plan_filter::tests::change;
    use crate::source_place::tests::config;
    use crate::summary::tests::{CONFIG, plan};

    fn shown(plan: &Plan, filter: &PlanFilter, style: &Style) -> String {
        let config = config(CONFIG);
        let text =
            PlanText { plan, schemas: &|_, _, _| None, actions: &|_, _| None, style, in_automation: false, filter };
        summary_text(&text, &Summary::of_plan(plan, Some(&config)).filtered(filter))
    }

    #[test]
    fn destroyed_objects_come_first_with_reasons_and_places() {
        let expected = "
Summary of the actions that Terrane will perform:

     ACTION   COUNT  MODULE       TYPE
  -  delete       1  (root)       t
         t.n[1]  (main.tf:5)
           because index [1] is out of range for count, main.tf:6
-/+  replace      1  (root)       t
         t.a  (main.tf:1)
           because ami changes, main.tf:2
           because id may change
  +  create       1  module.m[0]  t
         b
  +  create       1  module.m[1]  t
         b

Outputs:

  +  create       1
         o

Plan: 3 to add, 0 to change, 2 to destroy.
1 to replace, each counted as 1 to add and 1 to destroy.
";
        let found = shown(&plan(), &PlanFilter::default(), &Style::plain());
        assert_eq!(found, expected);
        assert!(!found.contains("secret-value"));
    }

    #[test]
    fn replacements_have_the_symbol_of_their_order() {
        let changes = vec![change("t.a", Action::CreateThenDelete), change("t.b", Action::DeleteThenCreate)];
        let plan = Plan { changes, applyable: true, ..Plan::default() };
        let found = shown(&plan, &PlanFilter::default(), &Style::plain());
        let lines: Vec<&str> =
            found.lines().map(str::trim).filter(|line| line.contains("t.") || line.contains("replace  ")).collect();
        let [before, b, after, a] = lines[..] else { panic!("{found}") };
        assert!(before.starts_with("-/+  replace") && b.starts_with("t.b"), "{found}");
        assert!(after.starts_with("+/-  replace") && a.starts_with("t.a"), "{found}");
    }

    #[test]
    fn filters_say_what_they_hide() {
        let filter = PlanFilter { only: vec![ActionWord::Update], ..PlanFilter::default() };
        let expected = "
Plan: 3 to add, 0 to change, 2 to destroy.
1 to replace, each counted as 1 to add and 1 to destroy.

4 changes and 1 output change are hidden by the filters.
";
        assert_eq!(shown(&plan(), &filter, &Style::plain()), expected);
    }

    #[test]
    fn long_lists_are_cut_and_wrapped() {
        let changes = (0..30).map(|i| change(&format!("t.b[{i}]"), Action::Create)).collect();
        let plan = Plan { changes, applyable: true, ..Plan::default() };
        let found = shown(&plan, &PlanFilter::default(), &Style { width: 40, ..Style::plain() });
        let words: Vec<&str> = found.split_whitespace().collect();
        assert!(words.join(" ").contains("b[18], b[19] and 10 more Plan:"), "{found}");
        let names = found.lines().filter(|line| line.starts_with("         "));
        assert!(names.clone().count() > 2 && names.clone().all(|line| line.len() < 40), "{found}");
    }

    #[test]
    fn plans_without_changes_say_so() {
        let found = shown(&Plan::default(), &PlanFilter::default(), &Style::plain());
        assert!(found.contains("No changes. Your infrastructure matches the configuration."), "{found}");
    }
}
