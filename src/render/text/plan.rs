//! A plan for people: what was found changed, what will be done, how many of each.
//!
//! Pure: schemas come in through a look-up, width and colour through the style.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::Arc;

use base::dialect::Dialect;
use base::name::{COMMAND, PROGRAM};
use model::addr::AbsResourceInstance;
use model::plan::{Action, ActionReason, Mode, OutputChange, Plan, ResourceChange};
use rustc_hash::FxHashMap;
use terrane_protocol::schema::Schema;
use terrane_value::{Marks, Path, Value};

use super::diff::{self, Diff, Drawing, padded, valid_name};
use super::style::Style;
use super::{deferred, invocations};
use crate::plan_filter::{Hidden, PlanFilter, is_planned};
use crate::schemas::{ActionLookup, SchemaLookup, with_schema_marks};
use crate::{opentofu, reasons};

/// What the text of a plan depends on beside the plan.
pub struct PlanText<'a> {
    pub plan: &'a Plan,
    pub schemas: &'a SchemaLookup<'a>,
    pub actions: &'a ActionLookup<'a>,
    pub style: &'a Style,
    /// Leaves out advice to run commands.
    pub in_automation: bool,
    /// Which changes are shown. What is counted does not depend on it.
    pub filter: &'a PlanFilter,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    Proposed,
    Drift,
}

/// The whole text, from the blank line before the first heading.
pub fn plan_text(text: &PlanText<'_>) -> String {
    let mut out = String::new();
    let (plan, filter) = (text.plan, text.filter);
    let mut hidden = Hidden::default();
    let changes: Vec<&ResourceChange> = plan.changes.iter().filter(|c| is_planned(c)).collect();
    let has_outputs = plan.outputs.iter().any(|output| changes_output(output, text.style));
    let has_changes = !changes.is_empty() || !plan.invocations.is_empty();
    let has_drift = write_drift(&mut out, text, !has_changes && !has_outputs, &mut hidden);
    if !has_changes && !has_outputs {
        write_no_changes(&mut out, text, has_drift);
        out.push_str(&deferred::list(plan, text.style));
        out.push_str(&hidden_note(hidden));
        return out;
    }
    if !out.is_empty() {
        out.push_str(&rule(text.style));
    }
    out.push_str(&deferred::list(plan, text.style));
    let counts = counts_of(&changes);
    if !counts.is_empty() && !filter.diff_only {
        write_legend(&mut out, &counts, text.style);
    }
    if has_changes {
        write_changes(&mut out, text, &changes, &mut hidden);
        out.push_str(&invocations::requested(plan, filter, text.actions, text.style));
        hidden.changes += invocations::hidden_requests(plan, filter);
    }
    if has_outputs {
        write_outputs(&mut out, text, counts.is_empty(), &mut hidden);
    }
    out.push_str(&hidden_note(hidden));
    out
}

/// How many changes have each action; objects that stay as they are do not count.
fn counts_of(changes: &[&ResourceChange]) -> BTreeMap<Action, usize> {
    let mut counts: BTreeMap<Action, usize> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.action != Action::NoOp) {
        *counts.entry(change.action).or_default() += 1;
    }
    counts
}

/// `is_alone`: no object changes.
fn write_outputs(out: &mut String, text: &PlanText<'_>, is_alone: bool, hidden: &mut Hidden) {
    let (plan, filter) = (text.plan, text.filter);
    let (shown, others): (Vec<OutputChange>, Vec<OutputChange>) = match filter.is_empty() {
        true => (plan.outputs.clone(), Vec::new()),
        false => plan.outputs.iter().cloned().partition(|output| filter.shows_output(output)),
    };
    hidden.outputs += others.iter().filter(|output| changes_output(output, text.style)).count();
    let lines = output_lines(&shown, text.style);
    if !lines.is_empty() {
        let _ = write!(out, "\nChanges to Outputs:\n{lines}");
    }
    let is_refused = plan.scope.mode == Mode::RefreshOnly && !plan.applyable;
    if is_alone && !is_refused {
        let note = format!(
            "You can apply this plan to save these new output values to the {PROGRAM} state, without changing \
                        any real infrastructure."
        );
        let _ = writeln!(out, "\n{}", text.style.wrapped(&note));
    }
}

/// How much the filter hides, set apart; empty if it hides nothing.
pub(super) fn hidden_note(hidden: Hidden) -> String {
    if hidden.is_empty() { String::new() } else { format!("\n{}", hidden.note()) }
}

fn schema_of(change: &ResourceChange, text: &PlanText<'_>) -> Option<Arc<Schema>> {
    (text.schemas)(&change.provider.provider, change.addr.mode(), change.addr.kind())
}

/// The difference of one change, with what the schema calls sensitive hidden. `relevant`: the paths to look at; `None`: all.
fn change_diff(change: &ResourceChange, schema: Option<&Schema>, relevant: Option<&[&Path]>, dialect: Dialect) -> Diff {
    let (before, mut after) = (&change.change.before, &change.change.after);
    if change.action == Action::Forget {
        // Nothing happens to the object.
        after = before;
    }
    match schema {
        Some(schema) => {
            let hide = |value: &Value| with_schema_marks(value, &schema.block);
            diff::block_diff(&schema.block, &hide(before), &hide(after), &change.required_replace, relevant, dialect)
        }
        None => diff::value_diff(before, after, dialect),
    }
}

fn rule(style: &Style) -> String {
    style.fill("[dark_gray]\n{}", &[&"─".repeat(style.width.saturating_sub(1))]) + "\n"
}

fn write_legend(out: &mut String, counts: &BTreeMap<Action, usize>, style: &Style) {
    let text = format!(
        "{PROGRAM} used the selected providers to generate the following execution plan. Resource actions are \
                indicated with the following symbols:"
    );
    let _ = writeln!(out, "\n{}", style.wrapped(&text));
    let order = [
        Action::Create,
        Action::Update,
        Action::Delete,
        Action::DeleteThenCreate,
        Action::CreateThenDelete,
        Action::Read,
        Action::CreateThenForget,
        Action::Forget,
    ];
    for action in order {
        let words = opentofu::legend(action, style.dialect);
        if counts.contains_key(&action) && !words.is_empty() {
            let _ =
                writeln!(out, "{}", style.fill(&format!("{} {words}", diff::symbol_tags(action, style.dialect)), &[]));
        }
    }
}

fn write_changes(out: &mut String, text: &PlanText<'_>, changes: &[&ResourceChange], hidden: &mut Hidden) {
    let heading = if text.plan.errored {
        "planned the following actions, but then encountered a problem:"
    } else {
        "will perform the following actions:"
    };
    if !text.filter.diff_only {
        let _ = writeln!(out, "\n{PROGRAM} {heading}");
    }
    let invocations = invocations::by_resource(text.plan);
    for change in changes {
        let invokes = change.deposed.is_none() && invocations.contains_key(&change.addr);
        if !text.filter.shows(change, invokes) {
            hidden.changes += 1;
            continue;
        }
        // One after the other: a difference takes more memory than its text.
        let diff = change_diff(change, schema_of(change, text).as_deref(), None, text.style.dialect);
        write_change(out, change, &diff, Cause::Proposed, text.style);
        let actions = invocations::of_change(&invocations, change, text.actions, text.style);
        if !actions.is_empty() {
            // They follow the end of the change on its line.
            out.pop();
            let _ = writeln!(out, "{actions}");
        }
    }
    out.push_str(&totals(text.plan, changes, text.style));
}

/// The line that counts the changes of a plan; on a terminal also how many of them are replacements.
fn totals(plan: &Plan, changes: &[&ResourceChange], style: &Style) -> String {
    let counts = counts_of(changes);
    let count = |action| counts.get(&action).copied().unwrap_or(0);
    let replaced = count(Action::DeleteThenCreate) + count(Action::CreateThenDelete);
    let add = count(Action::Create) + count(Action::CreateThenForget) + replaced;
    let destroy = count(Action::Delete) + replaced;
    let imported = changes.iter().filter(|change| change.importing.is_some()).count();
    let import = if imported > 0 { format!("{imported} to import, ") } else { String::new() };
    let change = count(Action::Update);
    let forget = count(Action::Forget) + count(Action::CreateThenForget);
    let is_counted = forget > 0 && opentofu::details_forgotten_objects(style.dialect);
    let forget = if is_counted { format!(", {forget} to forget") } else { String::new() };
    let counted: [&dyn Display; 6] = [&import, &add, &change, &destroy, &forget, &invocations::count(plan)];
    let line = "\n[bold]Plan:[reset] {}{} to add, {} to change, {} to destroy{}.{}\n";
    let mut out = style.fill(line, &counted);
    if style.extras {
        out.push_str(&replacements(replaced, count(Action::CreateThenForget)));
    }
    out
}

/// How many replacements the counts of a plan contain; `kept`: those that do not destroy the old object.
fn replacements(replaced: usize, kept: usize) -> String {
    let mut out = String::new();
    if replaced > 0 {
        let _ = writeln!(out, "{replaced} to replace, each counted as 1 to add and 1 to destroy.");
    }
    if kept > 0 {
        let _ = writeln!(out, "{kept} to replace without destroying the old object, each counted as 1 to add.");
    }
    out
}

/// As [`totals`] for all changes of a plan, with the number of replacements; empty if nothing is planned.
pub(super) fn all_totals(plan: &Plan, style: &Style) -> String {
    let changes: Vec<&ResourceChange> = plan.changes.iter().filter(|c| is_planned(c)).collect();
    match changes.is_empty() && plan.invocations.is_empty() {
        true => String::new(),
        false => totals(plan, &changes, &Style { extras: true, ..*style }),
    }
}

/// What is said of a plan without changes; none if something changes.
pub(super) fn no_changes(text: &PlanText<'_>) -> Option<String> {
    let plan = text.plan;
    let is_changed = plan.changes.iter().any(is_planned)
        || !plan.invocations.is_empty()
        || plan.outputs.iter().any(|output| changes_output(output, text.style));
    let unchanged = || {
        let (mut out, mut drift) = (String::new(), String::new());
        let has_drift = write_drift(&mut drift, text, true, &mut Hidden::default());
        write_no_changes(&mut out, text, has_drift);
        out
    };
    (!is_changed).then(unchanged)
}

fn write_change(out: &mut String, change: &ResourceChange, diff: &Diff, cause: Cause, style: &Style) {
    let resource = &change.addr.resource.resource;
    let header = format!("{} {:?} {:?}", resource.mode.keyword(), &*resource.kind, &*resource.name);
    // What is imported is new to its reader, changed or not.
    let mut drawing = Drawing { show_unchanged: change.importing.is_some(), ..Drawing::new(style) };
    if change.action == Action::Forget && opentofu::details_forgotten_objects(style.dialect) {
        // As in a state.
        drawing = Drawing { hide_symbols: true, show_unchanged: true, hide_null_suffix: true, ..drawing };
    }
    let symbol = diff::symbol(change.action, style);
    let indent = match change.action {
        Action::CreateThenForget => opentofu::replace_and_forget_indent(style.dialect),
        _ => "",
    };
    let _ = write!(out, "\n{}{indent}{symbol} {header} ", comment(change, cause, style));
    diff::write_with(out, diff, 0, &drawing);
    out.push('\n');
}

/// The lines above a change: which object, what happens to it and why.
fn comment(change: &ResourceChange, cause: Cause, style: &Style) -> String {
    let action = change.action;
    let mut addr = change.addr.to_string();
    if let Some(key) = &change.deposed {
        addr = format!("{addr} (deposed object {key})");
    }
    let (bold, red, reset) = (style.code("[bold]"), style.code("[red]"), style.code("[reset]"));
    let name = format!("{bold}  # {addr}{reset}");
    let replaced = format!("{bold}{red}replaced{reset}");
    let moved = change.previous_addr != change.addr;
    let (mut said_moved, mut said_imported) = (false, false);
    let mut out = match (action, change.reason) {
        (Action::Create, _) => format!("{name} will be created"),
        (Action::Read, reason) => format!("{name} will be read during apply{}", read_reason(reason)),
        (Action::Update, _) if cause == Cause::Drift => format!("{name} has changed"),
        (Action::Update, _) => format!("{name} will be updated in-place"),
        (Action::Delete, _) if cause == Cause::Drift => format!("{name} has been deleted"),
        (Action::Delete, _) => {
            format!("{name} will be {bold}{red}destroyed{reset}{}", delete_reason(change))
        }
        (Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget, reason) => {
            let text = match reason {
                ActionReason::ReplaceBecauseTainted => {
                    let subject = opentofu::tainted_subject(style.dialect);
                    format!("{name} is tainted, so {subject}must be {replaced}")
                }
                ActionReason::ReplaceByRequest => format!("{name} will be {replaced}, as requested"),
                ActionReason::ReplaceByTriggers => {
                    format!("{name} will be {replaced} due to changes in replace_triggered_by")
                }
                _ => format!("{name} must be {replaced}"),
            };
            if action.forgets() { text + &kept_predecessor(style) } else { text }
        }
        (Action::Forget, _) => {
            let (mut text, indent) = match opentofu::details_forgotten_objects(style.dialect) {
                true => (forgotten(&name, change.reason, style), "  "),
                false => (
                    format!(
                        "{bold} # {addr}{reset} will no longer be managed by {PROGRAM}, but {bold}{red}will not be \
                         destroyed{reset}\n # (destroy = false is set in the configuration)"
                    ),
                    " ",
                ),
            };
            if change.deposed.is_some() {
                let left = "(left over from a partially-failed replacement of this instance)";
                let _ = write!(text, "\n{indent}# {left}");
            }
            text
        }
        (Action::NoOp, _) if moved => {
            said_moved = true;
            format!("{bold}  # {}{reset} has moved to {bold}{addr}{reset}", change.previous_addr)
        }
        (Action::NoOp, _) => {
            said_imported = !opentofu::names_id_of_unchanged_imports(style.dialect);
            let generated = if change.generated_config.is_some() { "(config will be generated)" } else { "" };
            let lead = if generated.is_empty() { String::new() } else { format!("\n  #{reset} ") };
            format!("{name} will be imported{lead}{generated}")
        }
    };
    out.push('\n');
    if moved && !said_moved {
        let _ = writeln!(out, "  # {reset}(moved from {})", change.previous_addr);
    }
    if let Some(importing) = change.importing.as_ref().filter(|_| !said_imported) {
        let _ = match &importing.id {
            Some(id) => writeln!(out, "  # {reset}(imported from \"{id}\")"),
            None => writeln!(out, "  # {reset}(will be imported first)"),
        };
    }
    if change.importing.is_some() && action.is_replace() && action.destroys() {
        let yellow = style.code("[yellow]");
        let _ = writeln!(out, "  # {reset}{yellow}Warning: this will destroy the imported resource{reset}");
    }
    out + reset
}

/// What becomes of the old object of a replacement that destroys nothing.
fn kept_predecessor(style: &Style) -> String {
    match opentofu::details_forgotten_objects(style.dialect) {
        false => format!("\n  # (the old object will no longer be managed by {PROGRAM}, but will not be destroyed)"),
        true => style.fill(
            " - [yellow]older instance will [bold]not[reset][yellow] be destroyed [reset]([bold]lifecycle.destroy = false[reset])",
            &[],
        ),
    }
}

/// OpenTofu's words for an object that is left alone. `name`: the beginning of the line.
fn forgotten(name: &str, reason: ActionReason, style: &Style) -> String {
    let since = match reason {
        ActionReason::ForgetBecauseOfConfig => "is set in the configuration",
        ActionReason::ForgetBecauseOfState => "was configured before this resource was removed from the configuration",
        _ => "",
    };
    let since = match since {
        "" => String::new(),
        since => style.fill(" \n (because [bold]lifecycle.destroy = false[reset] {})", &[&since]),
    };
    let removed = " will be removed from the {} state [bold][red]but will not be destroyed[reset]";
    format!("{name}{}{since}", style.fill(removed, &[&PROGRAM]))
}

fn read_reason(reason: ActionReason) -> &'static str {
    match reason {
        ActionReason::ReadBecauseConfigUnknown => "\n  # (config refers to values not yet known)",
        ActionReason::ReadBecauseDependencyPending => "\n  # (depends on a resource or a module with changes pending)",
        ActionReason::ReadBecauseCheckNested => "\n  # (config will be reloaded to verify a check block)",
        _ => "",
    }
}

fn delete_reason(change: &ResourceChange) -> String {
    let mut text = reasons::destroyed(change).map_or_else(String::new, |why| format!("\n  # (because {why})"));
    if change.deposed.is_some() {
        text.push_str("\n  # (left over from a partially-failed replacement of this instance)");
    }
    text
}

/// The changed outputs, one entry each; empty if none changes.
pub fn output_lines(outputs: &[OutputChange], style: &Style) -> String {
    let width = outputs.iter().map(|o| valid_name(&o.name).chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for output in outputs.iter().filter(|output| !is_unchanged(output)) {
        let diff = output_diff(output, style);
        if diff.action == Action::NoOp {
            continue;
        }
        let text = diff::draw(&diff, 0, style);
        let symbol = diff::symbol(diff.action, style);
        let _ = writeln!(out, "{symbol} {} = {text}", padded(valid_name(&output.name), width));
    }
    out
}

/// True only for outputs without a difference, found without a comparison of their parts.
fn is_unchanged(output: &OutputChange) -> bool {
    let (before, after) = (&output.change.before, &output.change.after);
    output.action == Action::NoOp && after.is_wholly_known() && before == after
}

/// True if the output has a line.
fn changes_output(output: &OutputChange, style: &Style) -> bool {
    !is_unchanged(output) && output_diff(output, style).action != Action::NoOp
}

fn output_diff(output: &OutputChange, style: &Style) -> Diff {
    let hide = |value: &Value| {
        let present = !value.is_null() || output.action == Action::NoOp;
        if !output.sensitive || !present {
            return value.clone();
        }
        // An empty string would count as null, which would reveal it.
        let text = value.as_str().filter(|_| !style.reveal).map(|text| Value::string(format!("={text}")));
        text.unwrap_or_else(|| value.clone()).mark(Marks::SENSITIVE)
    };
    let (before, after) = (hide(&output.change.before), hide(&output.change.after));
    diff::value_diff(&before, &after, style.dialect)
}

/// Changes made outside. Returns whether there are any.
fn write_drift(out: &mut String, text: &PlanText<'_>, nothing_planned: bool, hidden: &mut Hidden) -> bool {
    let refresh_only = text.plan.scope.mode == Mode::RefreshOnly;
    if nothing_planned && !refresh_only {
        return false;
    }
    let (mut drift, mut has_drift) = (String::new(), false);
    let mut relevant: FxHashMap<&AbsResourceInstance, Vec<&Path>> = FxHashMap::default();
    for (addr, path) in &text.plan.relevant_attributes {
        relevant.entry(addr).or_default().push(path);
    }
    for change in &text.plan.drift {
        let paths = relevant.get(&change.addr).map_or(&[][..], Vec::as_slice);
        let Some(diff) = shown_drift(change, paths, text) else { continue };
        has_drift = true;
        // Of a plan that only refreshes, these are the differences.
        let is_shown = text.filter.shows(change, false) && (refresh_only || !text.filter.diff_only);
        match is_shown {
            true => write_change(&mut drift, change, &diff, Cause::Drift, text.style),
            false => hidden.changes += 1,
        }
    }
    if drift.is_empty() {
        return has_drift;
    }
    let style = text.style;
    let intro = format!(
        "{PROGRAM} detected the following changes made outside of {PROGRAM} since the last \"{COMMAND} apply\" which may \
                 have affected this plan:"
    );
    let note = "\n[bold][cyan]Note:[reset][bold] Objects have changed outside of {}\n";
    let _ = writeln!(out, "{}\n{}", style.fill(note, &[&PROGRAM]), style.wrapped(&intro));
    out.push_str(&drift);
    let close = if refresh_only {
        format!(
            "This is a refresh-only plan, so {PROGRAM} will not take any actions to undo these. If you were expecting these \
         changes then you can apply this plan to record the updated values in the {PROGRAM} state without changing any \
         remote objects."
        )
    } else {
        "Unless you have made equivalent changes to your configuration, or ignored the relevant attributes using \
         ignore_changes, the following plan may include actions to undo or respond to these changes."
            .to_string()
    };
    let _ = writeln!(out, "\n\n{}", style.wrapped(&close));
    true
}

/// The part of a drift that what is planned refers to (`paths`); all of it if nothing but the refresh is planned.
fn shown_drift(change: &ResourceChange, paths: &[&Path], text: &PlanText<'_>) -> Option<Diff> {
    let refresh_only = text.plan.scope.mode == Mode::RefreshOnly;
    if paths.is_empty() && !refresh_only {
        return None;
    }
    let diff =
        change_diff(change, schema_of(change, text).as_deref(), (!refresh_only).then_some(paths), text.style.dialect);
    let is_shown = match refresh_only {
        true => change.action != Action::NoOp || change.addr != change.previous_addr,
        false => diff.action != Action::NoOp,
    };
    is_shown.then_some(diff)
}

fn write_no_changes(out: &mut String, text: &PlanText<'_>, has_drift: bool) {
    let style = text.style;
    if text.plan.errored {
        if has_drift {
            out.push_str(&rule(style));
        }
        let failed = "\n[reset][bold][red]Planning failed.[reset][bold] {} encountered an error while generating this \
                      plan.[reset]\n\n";
        out.push_str(&style.fill(failed, &[&PROGRAM]));
        return;
    }
    if let Some(heading) = deferred::nothing_yet(text.plan, style) {
        out.push_str(&heading);
        return;
    }
    let (title, body) = match text.plan.scope.mode {
        Mode::RefreshOnly if has_drift => return,
        Mode::RefreshOnly => (
            "Your infrastructure still matches the configuration.",
            format!(
                "{PROGRAM} has checked that the real remote objects still match the result of your most recent changes, and \
             found no differences."
            ),
        ),
        Mode::Destroy => (
            "No objects need to be destroyed.",
            format!(
                "Either you have not created any objects yet or the existing objects were already deleted outside of {PROGRAM}."
            ),
        ),
        Mode::Normal if has_drift => {
            let advice =
                if text.in_automation { ".".to_string() } else { format!(":\n  {COMMAND} apply -refresh-only") };
            (
                "Your infrastructure matches the configuration.",
                format!(
                    "Your configuration already matches the changes detected above. If you'd like to update the {PROGRAM} \
                     state to match, create and apply a refresh-only plan{advice}"
                ),
            )
        }
        Mode::Normal if opentofu::shortens_plans_without_changes(style.dialect) => return write_up_to_date(out, text),
        Mode::Normal => (
            "Your infrastructure matches the configuration.",
            format!(
                "{PROGRAM} has compared your real infrastructure against your configuration and found no differences, so no \
             changes are needed."
            ),
        ),
    };
    if has_drift {
        out.push_str(&rule(style));
    }
    let heading = style.fill("\n[reset][bold][green]No changes.[reset][bold] {}[reset]\n\n", &[&title]);
    let _ = writeln!(out, "{heading}{}", style.wrapped(&body));
}

/// A plan without changes in one line, unless -target may have hidden some.
fn write_up_to_date(out: &mut String, text: &PlanText<'_>) {
    let heading =
        "\n[reset][bold][green]No changes.[reset][bold] Your infrastructure matches the configuration.[reset]\n";
    out.push_str(&text.style.fill(heading, &[]));
    if !text.plan.scope.targets.is_empty() {
        let note = format!(
            "Note: You used the -target option, so {PROGRAM} only checked resources matching those targets and may have skipped others. \
             If you expected changes to appear, verify that the addresses passed to -target are correct."
        );
        let _ = writeln!(out, "\n{}", text.style.wrapped(&note));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_one_column_narrower_than_the_text() {
        assert_eq!(rule(&Style::plain()), format!("\n{}\n", "─".repeat(77)));
    }

    #[test]
    fn sensitive_outputs_do_not_show_whether_they_are_empty() {
        let empty = || Value::string("");
        let cases = [
            (Value::null_dynamic(), empty(), Action::Create, "  + x = (sensitive value)\n"),
            (Value::string("a"), empty(), Action::Update, "  ~ x = (sensitive value)\n"),
            (empty(), Value::string("a"), Action::Update, "  ~ x = (sensitive value)\n"),
            (empty(), empty(), Action::NoOp, ""),
        ];
        for (before, after, action, expected) in cases {
            let change = model::plan::Change { before, after };
            let output = OutputChange { name: "x".into(), action, change, sensitive: true };
            assert_eq!(output_lines(&[output], &Style::plain()), expected);
        }
    }
}
