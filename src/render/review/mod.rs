//! What people review of a plan or a state, for all formats: what changes, the most dangerous first, why, and what depends on what.
//!
//! Owns what is shown of it and what is hidden: no sensitive, ephemeral or write-only value leaves this module, nor its length. The
//! formats are [`crate::html`] and [`crate::markdown`]; the rows of the table are those of [`crate::summary`].

pub mod dependencies;
pub mod effect;
pub mod plain;

use std::sync::Arc;

use base::dialect::Dialect;
use base::name::PROGRAM;
use dependencies::BlockGraph;
use effect::Effect;
use model::addr::{AbsResourceInstance, ConfigResource, Provider};
use model::config::Config;
use model::plan::{Action, Mode, OutputChange, Plan, ResourceChange};
use model::state::{CheckStatus, DeposedKey, Object, ObjectStatus, OutputValue, State};
use rustc_hash::FxHashMap;
use terrane_protocol::schema::Schema;
use terrane_value::{Marks, Path, Value};

use crate::objects::object_value;
use crate::schemas::{SchemaLookup, with_schema_marks};
use crate::source_place::SourcePlace;
use crate::summary::{Reason, Summary, SummaryRow};
use crate::text::diff::rows::{DiffRow, RowShape, rows};
use crate::text::diff::{block_diff, typed_diff, value_diff};

/// Everything that a page or a comment shows.
pub struct Review<'a> {
    pub title: String,
    /// The counts of a plan as its text has them; of a state, how many objects and outputs it has.
    pub headline: String,
    pub is_plan: bool,
    /// What its readers have to know first, in the words of this program.
    pub notes: Vec<String>,
    /// The conditions that failed. They follow the notes.
    pub failed_checks: Vec<FailedCheck>,
    /// By effect, the most dangerous first, then by address. Outputs follow the objects.
    pub entries: Vec<ReviewEntry<'a>>,
    pub graph: BlockGraph,
    schemas: &'a SchemaLookup<'a>,
    dialect: Dialect,
}

/// One object or output.
pub struct ReviewEntry<'a> {
    pub address: String,
    /// The module instance; empty for the root module.
    pub module: String,
    /// The type with the prefix of its mode; `output` for outputs.
    pub kind: String,
    pub effect: Effect,
    pub reasons: Vec<Reason>,
    /// More to know about it: where it was moved from, what it invokes.
    pub remarks: Vec<String>,
    /// Where its block begins.
    pub place: Option<SourcePlace>,
    /// Its block, as a position in the graph.
    pub block: Option<usize>,
    content: ReviewContent<'a>,
}

/// What the rows of an entry are made of.
enum ReviewContent<'a> {
    Change(&'a ResourceChange),
    Output(&'a OutputChange),
    Object { addr: AbsResourceInstance, provider: &'a Provider, object: &'a Object },
    StateOutput(&'a OutputValue),
    Invocation,
}

/// An object with conditions that failed. Its texts are those of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    pub address: String,
    /// The engine left out what is sensitive.
    pub messages: Vec<String>,
}

/// Failed checks that are named.
pub const MOST_CHECKS: usize = 20;
const NO_SCHEMA: &str = "(values left out: the schema of the provider is not available)";

impl<'a> Review<'a> {
    /// A plan. Without a configuration there are no places and no graph.
    pub fn of_plan(
        plan: &'a Plan,
        config: Option<&Config>,
        schemas: &'a SchemaLookup<'a>,
        dialect: Dialect,
    ) -> Review<'a> {
        let summary = Summary::of_plan(plan, config);
        let mut graph = config.map_or_else(BlockGraph::default, |config| BlockGraph::of_config(config, schemas));
        if config.is_some() {
            graph.add_missing(plan.changes.iter().map(|change| change.addr.config()), &plan.prior_state);
        }
        let places = graph.places();
        let remarks = invocation_remarks(&summary);
        let mut entries = Vec::new();
        for row in summary.rows {
            let effect = Effect::of(row.change);
            let mut entry = ReviewEntry::of_row(row, effect, &places);
            let invoked = remarks.get(entry.address.as_str()).into_iter().flatten().cloned();
            entry.remarks.extend(invoked);
            entries.push(entry);
        }
        entries.extend(summary.invocations.iter().filter(|row| row.invocation.is_request()).map(|row| ReviewEntry {
            effect: Effect::Invoke,
            remarks: vec![format!("invoked by {}", row.trigger)],
            ..ReviewEntry::new(row.address.clone(), row.module.clone(), row.kind.clone(), ReviewContent::Invocation)
        }));
        entries.extend(summary.outputs.into_iter().map(|output| ReviewEntry {
            effect: Effect::of_output(output),
            ..ReviewEntry::of_output(&output.name, ReviewContent::Output(output))
        }));
        entries.extend(summary.deferred.into_iter().map(|row| ReviewEntry::of_row(row, Effect::Deferred, &places)));
        entries.extend(summary.drift.into_iter().map(|row| ReviewEntry::of_row(row, Effect::Drift, &places)));
        entries.sort_by_key(|entry| entry.effect);
        let mut review = Review {
            title: plan_title(plan),
            headline: plan_headline(plan, &entries),
            is_plan: true,
            notes: plan_notes(plan, config.is_some()),
            failed_checks: failed_checks(plan),
            entries,
            graph,
            schemas,
            dialect,
        };
        review.note_missing_schemas();
        review
    }

    /// A state.
    pub fn of_state(state: &'a State, schemas: &'a SchemaLookup<'a>, dialect: Dialect) -> Review<'a> {
        let graph = BlockGraph::of_state(state);
        let places = graph.places();
        let mut entries = Vec::new();
        for (addr, resource) in &state.resources {
            let provider = &resource.provider.provider;
            for (key, instance) in &resource.instances {
                let addr = addr.instance(key.clone());
                let current = instance.current.iter().map(|object| (None, object));
                for (deposed, object) in current.chain(instance.deposed.iter().map(|(key, object)| (Some(key), object)))
                {
                    entries.push(ReviewEntry::of_object(&addr, provider, deposed, object, &places));
                }
            }
        }
        let objects = entries.len();
        entries.extend(
            state.outputs.iter().map(|(name, output)| ReviewEntry::of_output(name, ReviewContent::StateOutput(output))),
        );
        let mut review = Review {
            title: "State".to_owned(),
            headline: format!("{}, {}.", counted(objects, "object"), counted(state.outputs.len(), "output")),
            is_plan: false,
            notes: Vec::new(),
            failed_checks: Vec::new(),
            entries,
            graph,
            schemas,
            dialect,
        };
        review.note_missing_schemas();
        review
    }

    /// The values of an entry. What may hold a secret is hidden, also from terminals that reveal it.
    pub fn rows(&self, entry: &ReviewEntry<'_>) -> Vec<DiffRow> {
        let shows_unchanged = entry.effect.shows_unchanged();
        let diff = match &entry.content {
            ReviewContent::Change(change) => {
                let Some(schema) = self.schema(&change.addr, &change.provider.provider) else {
                    return left_out(NO_SCHEMA);
                };
                let marked = |value: &Value| with_copied_marks(&change.addr, with_schema_marks(value, &schema.block));
                let hide = |value: &Value| hidden(&marked(value));
                let before = hide(&change.change.before);
                // Nothing happens to an object that is forgotten.
                let after = if change.action == Action::Forget { before.clone() } else { hide(&change.change.after) };
                block_diff(&schema.block, &before, &after, &change.required_replace, None, self.dialect)
            }
            ReviewContent::Object { addr, provider, object } => {
                let Some(schema) = self.schema(addr, provider) else { return left_out(NO_SCHEMA) };
                let Ok(value) = object_value(addr, provider, object, Some(&*schema)) else {
                    return left_out(
                        "(values left out: the object does not have the form that its provider describes)",
                    );
                };
                let value = hidden(&with_copied_marks(addr, value));
                block_diff(&schema.block, &value, &value, &[], None, self.dialect)
            }
            ReviewContent::Output(output) if output.sensitive => return vec![sensitive_output(entry.effect)],
            ReviewContent::Output(output) => {
                value_diff(&hidden(&output.change.before), &hidden(&output.change.after), self.dialect)
            }
            ReviewContent::StateOutput(output) if output.sensitive => return vec![sensitive_output(entry.effect)],
            ReviewContent::StateOutput(output) => {
                let value = hidden(&output.value);
                typed_diff(value.ty(), &value, &value, self.dialect)
            }
            ReviewContent::Invocation => return Vec::new(),
        };
        rows(&diff, shows_unchanged, self.dialect)
    }

    fn schema(&self, addr: &AbsResourceInstance, provider: &Provider) -> Option<Arc<Schema>> {
        (self.schemas)(provider, addr.mode(), addr.kind())
    }

    fn note_missing_schemas(&mut self) {
        let is_missing = |entry: &&ReviewEntry<'_>| match &entry.content {
            ReviewContent::Change(change) => self.schema(&change.addr, &change.provider.provider).is_none(),
            ReviewContent::Object { addr, provider, .. } => self.schema(addr, provider).is_none(),
            ReviewContent::Output(_) | ReviewContent::StateOutput(_) | ReviewContent::Invocation => false,
        };
        let missing = self.entries.iter().filter(is_missing).count();
        if missing > 0 {
            let objects = counted(missing, "object");
            self.notes.push(format!(
                "The values of {objects} are left out, because the schemas of their providers are not available: they say what \
                 is sensitive."
            ));
        }
    }
}

impl<'a> ReviewEntry<'a> {
    fn new(address: String, module: String, kind: String, content: ReviewContent<'a>) -> ReviewEntry<'a> {
        ReviewEntry {
            address,
            module,
            kind,
            effect: Effect::Unchanged,
            reasons: Vec::new(),
            remarks: Vec::new(),
            place: None,
            block: None,
            content,
        }
    }

    fn of_row(row: SummaryRow<'a>, effect: Effect, places: &FxHashMap<ConfigResource, usize>) -> ReviewEntry<'a> {
        let change = row.change;
        let mut remarks = Vec::new();
        if change.previous_addr != change.addr {
            remarks.push(format!("moved from {}", change.previous_addr));
        }
        if let Some(importing) = &change.importing {
            remarks.push(match &importing.id {
                Some(id) => format!("imported with the ID {id:?}"),
                None => "imported first".to_owned(),
            });
            if change.action.is_replace() && change.action.destroys() {
                remarks.push("Warning: this destroys the imported object".to_owned());
            }
        }
        ReviewEntry {
            effect,
            reasons: row.reasons,
            remarks,
            place: row.place,
            block: places.get(&change.addr.config()).copied(),
            ..ReviewEntry::new(row.address, row.module, row.kind, ReviewContent::Change(change))
        }
    }

    fn of_output(name: &str, content: ReviewContent<'a>) -> ReviewEntry<'a> {
        ReviewEntry::new(format!("output.{name}"), String::new(), "output".to_owned(), content)
    }

    fn of_object(
        addr: &AbsResourceInstance,
        provider: &'a Provider,
        deposed: Option<&DeposedKey>,
        object: &'a Object,
        places: &FxHashMap<ConfigResource, usize>,
    ) -> ReviewEntry<'a> {
        let address = deposed.map_or_else(|| addr.to_string(), |key| format!("{addr} (deposed object {key})"));
        let kind = format!("{}{}", addr.mode().prefix(), addr.kind());
        let is_tainted = deposed.is_none() && object.status == ObjectStatus::Tainted;
        let content = ReviewContent::Object { addr: addr.clone(), provider, object };
        ReviewEntry {
            remarks: is_tainted.then(|| "tainted: the next apply replaces it".to_owned()).into_iter().collect(),
            block: places.get(&addr.config()).copied(),
            ..ReviewEntry::new(address, addr.module.to_string(), kind, content)
        }
    }
}

/// What changes of objects invoke, by the addresses of the objects.
fn invocation_remarks(summary: &Summary<'_>) -> FxHashMap<String, Vec<String>> {
    let mut remarks: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for row in &summary.invocations {
        if let Some(trigger) = row.invocation.lifecycle() {
            let when = if trigger.event.is_before() { "before" } else { "after" };
            let remark = format!("invokes {} {when} this change", row.address);
            remarks.entry(trigger.resource.to_string()).or_default().push(remark);
        }
    }
    remarks
}

/// The value of a `terraform_data` with a sensitive output if its input is: the output is a copy, which the schema cannot mark.
fn with_copied_marks(addr: &AbsResourceInstance, value: Value) -> Value {
    let is_sensitive = |input: &Value| input.deep_marks().contains(Marks::SENSITIVE);
    if addr.kind() == "terraform_data" && value.get("input").is_some_and(is_sensitive) {
        return value.mark_at_paths(&[(Path::new().attr("output"), Marks::SENSITIVE)]);
    }
    value
}

/// The value with what is ephemeral hidden as what is sensitive is.
fn hidden(value: &Value) -> Value {
    if !value.deep_marks().contains(Marks::EPHEMERAL) {
        return value.clone();
    }
    let marked = value.transform::<()>(&mut |_, part| {
        let is_ephemeral = part.marks().contains(Marks::EPHEMERAL);
        Ok(part.mark(Marks::SENSITIVE.when(is_ephemeral)))
    });
    // The transformation cannot fail.
    marked.unwrap_or_else(|()| value.clone().mark(Marks::SENSITIVE))
}

/// The only row of a sensitive output. It is the same for all values.
fn sensitive_output(effect: Effect) -> DiffRow {
    let text = || Some("(sensitive value)".to_owned());
    let (action, before, after) = match effect {
        Effect::Create => (Action::Create, None, text()),
        Effect::Delete => (Action::Delete, text(), None),
        Effect::Unchanged => (Action::NoOp, text(), text()),
        _ => (Action::Update, text(), text()),
    };
    let shape = RowShape::Value;
    DiffRow { depth: 0, action, shape, name: String::new(), before, after, forces_replacement: false }
}

fn left_out(why: &str) -> Vec<DiffRow> {
    vec![DiffRow {
        depth: 0,
        action: Action::NoOp,
        shape: RowShape::Note,
        name: why.to_owned(),
        before: None,
        after: None,
        forces_replacement: false,
    }]
}

fn plan_title(plan: &Plan) -> String {
    match plan.scope.mode {
        Mode::Normal => "Plan",
        Mode::Destroy => "Plan to destroy",
        Mode::RefreshOnly => "Refresh-only plan",
    }
    .to_owned()
}

/// The counts as the text of the plan has them, with replacements counted apart.
fn plan_headline(plan: &Plan, entries: &[ReviewEntry<'_>]) -> String {
    let count = |effects: &[Effect]| {
        entries.iter().filter(|entry| effects.contains(&entry.effect) && entry.is_object()).count()
    };
    let replaced = count(&[Effect::Replace, Effect::CreateFirst]);
    let kept = count(&[Effect::ReplaceAndForget]);
    let imported = plan.changes.iter().filter(|change| change.importing.is_some()).count();
    let import = if imported > 0 { format!("{imported} to import, ") } else { String::new() };
    let (add, change) = (count(&[Effect::Create]) + replaced + kept, count(&[Effect::Update]));
    let (destroy, forget) = (count(&[Effect::Delete]) + replaced, count(&[Effect::Forget]) + kept);
    let forget = if forget > 0 { format!(", {forget} to forget") } else { String::new() };
    let mut text = format!("Plan: {import}{add} to add, {change} to change, {destroy} to destroy{forget}.");
    if replaced + kept > 0 {
        text.push_str(&format!(" {} to replace (each adds one object and removes one).", replaced + kept));
    }
    if !plan.invocations.is_empty() {
        text.push_str(&format!(" Actions: {} to invoke.", plan.invocations.len()));
    }
    text
}

impl ReviewEntry<'_> {
    fn is_object(&self) -> bool {
        matches!(self.content, ReviewContent::Change(_) | ReviewContent::Object { .. })
    }

    pub fn is_output(&self) -> bool {
        matches!(self.content, ReviewContent::Output(_) | ReviewContent::StateOutput(_))
    }
}

fn plan_notes(plan: &Plan, has_config: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if plan.errored {
        notes.push(format!(
            "Planning failed: {PROGRAM} encountered an error while generating this plan. It cannot be applied."
        ));
    }
    if !plan.scope.is_whole() {
        notes.push(
            "Targets or exclusions limit this plan: it does not contain all changes of the configuration.".to_owned(),
        );
    }
    if plan.has_deferrals() {
        notes.push("This plan leaves changes to a later plan.".to_owned());
    }
    if !has_config {
        notes.push(
            "The configuration is not available: places in the configuration and the dependency graph are left out."
                .to_owned(),
        );
    }
    notes
}

/// Each object with conditions that failed.
fn failed_checks(plan: &Plan) -> Vec<FailedCheck> {
    let objects = plan.checks.iter().flat_map(|check| &check.objects);
    let failed = objects.filter(|(_, status, _)| matches!(status, CheckStatus::Fail | CheckStatus::Error));
    failed.map(|(address, _, messages)| FailedCheck { address: address.clone(), messages: messages.clone() }).collect()
}

impl FailedCheck {
    /// The sentence that names the object, then the messages. `shown` makes texts of others fit the format.
    pub fn text(&self, shown: fn(&str) -> String) -> String {
        let mut out = format!("A condition of {} failed.", shown(&self.address));
        for message in &self.messages {
            out.push(' ');
            out.push_str(&shown(message));
        }
        out
    }
}

/// What is said of checks for whose names there is no room.
pub fn more_conditions(count: usize) -> String {
    match count {
        1 => "1 more condition failed.".to_owned(),
        _ => format!("{count} more conditions failed."),
    }
}

/// `1 object`, `2 objects`
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
pub(crate) mod tests;
