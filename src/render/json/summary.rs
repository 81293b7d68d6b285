//! The summary of a plan or a state as a document for programs: format 1.0.
//!
//! Names, reasons and places; no values. Members may be added without a new major version; readers ignore what they do not know.

use base::dialect::Dialect;
use model::plan::{OutputChange, Plan};
use model::version::compatible_version;
use serde_json::{Map, Value as Json, json};

use super::shape::set;
use crate::plan_filter::ActionWord;
use crate::source_place::SourcePlace;
use crate::state_summary::StateSummary;
use crate::summary::{InvocationRow, Reason, Summary, SummaryRow};

const FORMAT: &str = "1.0";

/// The document of a plan. `whole` is the summary without a filter, whose counts it has.
pub fn plan_summary(plan: &Plan, whole: &Summary<'_>, shown: &Summary<'_>, dialect: Dialect) -> Json {
    let rows = |rows: &[SummaryRow<'_>]| -> Vec<Json> { rows.iter().map(|row| row_json(row, dialect)).collect() };
    let mut out = Map::new();
    set(&mut out, "format_version", FORMAT);
    set(&mut out, "terraform_version", compatible_version());
    set(&mut out, "subject", "plan");
    set(&mut out, "changes", counts_json(whole));
    set(&mut out, "output_changes", output_counts(whole));
    set(&mut out, "resources", rows(&shown.rows));
    set(&mut out, "outputs", outputs_json(shown));
    set(&mut out, "actions", shown.invocations.iter().map(invocation_json).collect::<Vec<Json>>());
    set(&mut out, "drift", rows(&shown.drift));
    set(&mut out, "deferred", rows(&shown.deferred));
    set(&mut out, "hidden", json!({ "changes": shown.hidden.changes, "outputs": shown.hidden.outputs }));
    set(&mut out, "applyable", plan.applyable);
    set(&mut out, "complete", plan.complete);
    set(&mut out, "errored", plan.errored);
    Json::Object(out)
}

/// The document of a state.
pub fn state_summary(summary: &StateSummary) -> Json {
    let groups = summary.groups.iter().map(|group| {
        let mut out = Map::new();
        set(&mut out, "module", group.module.as_str());
        set(&mut out, "type", group.kind.as_str());
        set(&mut out, "addresses", group.addresses.clone());
        Json::Object(out)
    });
    let mut out = Map::new();
    set(&mut out, "format_version", FORMAT);
    set(&mut out, "terraform_version", compatible_version());
    set(&mut out, "subject", "state");
    set(&mut out, "objects", summary.objects);
    set(&mut out, "groups", groups.collect::<Vec<Json>>());
    set(&mut out, "tainted", summary.tainted.clone());
    set(&mut out, "deposed", summary.deposed.clone());
    set(&mut out, "outputs", summary.outputs.clone());
    set(&mut out, "hidden", json!({ "objects": summary.hidden }));
    Json::Object(out)
}

/// How many changes have each action; zeros included.
fn counts_json(summary: &Summary<'_>) -> Json {
    let counts = summary.counts();
    let mut out = Map::new();
    for word in ActionWord::ALL {
        set(&mut out, word.name(), counts.get(&word).copied().unwrap_or(0));
    }
    Json::Object(out)
}

fn output_counts(summary: &Summary<'_>) -> Json {
    let mut out = Map::new();
    for word in [ActionWord::Create, ActionWord::Update, ActionWord::Delete] {
        let count = summary.outputs.iter().filter(|output| ActionWord::of_output(output) == word).count();
        set(&mut out, word.name(), count);
    }
    Json::Object(out)
}

fn outputs_json(summary: &Summary<'_>) -> Vec<Json> {
    let one = |output: &&OutputChange| json!({ "name": output.name.to_string(), "action": ActionWord::of_output(output).name() });
    summary.outputs.iter().map(one).collect()
}

fn row_json(row: &SummaryRow<'_>, dialect: Dialect) -> Json {
    let change = row.change;
    let mut out = Map::new();
    set(&mut out, "address", change.addr.to_string());
    if change.previous_addr != change.addr {
        set(&mut out, "previous_address", change.previous_addr.to_string());
    }
    if let Some(key) = &change.deposed {
        set(&mut out, "deposed", key.to_string());
    }
    set(&mut out, "module", row.module.as_str());
    set(&mut out, "type", row.kind.as_str());
    set(&mut out, "action", row.action.name());
    set(&mut out, "actions", change.action.json_names(dialect).to_vec());
    if let Some(reason) = change.reason.json_name() {
        set(&mut out, "action_reason", reason);
    }
    set(&mut out, "reasons", row.reasons.iter().map(reason_json).collect::<Vec<Json>>());
    if change.importing.is_some() {
        set(&mut out, "importing", true);
    }
    if row.invokes > 0 {
        set(&mut out, "invokes", row.invokes);
    }
    put_place(&mut out, row.place.as_ref());
    Json::Object(out)
}

fn reason_json(reason: &Reason) -> Json {
    let mut out = Map::new();
    set(&mut out, "text", reason.text.as_str());
    put_place(&mut out, reason.place.as_ref());
    Json::Object(out)
}

fn invocation_json(row: &InvocationRow<'_>) -> Json {
    let mut out = Map::new();
    set(&mut out, "address", row.address.as_str());
    set(&mut out, "module", row.module.as_str());
    set(&mut out, "type", row.kind.as_str());
    set(&mut out, "trigger", row.trigger.as_str());
    Json::Object(out)
}

fn put_place(out: &mut Map<String, Json>, place: Option<&SourcePlace>) {
    if let Some(place) = place {
        set(out, "file", place.file.as_str());
        set(out, "line", place.line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan_filter::PlanFilter;
    use crate::source_place::tests::config;
    use crate::summary::tests::{CONFIG, plan};

    #[test]
    fn documents_have_counts_of_the_whole_and_rows_of_the_part() {
        let (plan, config) = (plan(), config(CONFIG));
        let whole = Summary::of_plan(&plan, Some(&config));
        let filter = PlanFilter { only: vec![ActionWord::Replace], ..PlanFilter::default() };
        let shown = Summary::of_plan(&plan, Some(&config)).filtered(&filter);
        let found = plan_summary(&plan, &whole, &shown, Dialect::Terrane);
        let rows = json!([{
            "address": "t.a", "module": "", "type": "t", "action": "replace", "actions": ["delete", "create"],
            "reasons": [{ "text": "ami changes", "file": "main.tf", "line": 2 }, { "text": "id may change" }],
            "file": "main.tf", "line": 1,
        }]);
        assert_eq!(found["resources"], rows);
        assert_eq!(found["hidden"], json!({ "changes": 3, "outputs": 1 }));
        assert_eq!(found["changes"]["create"], 2);
        assert_eq!(found["changes"]["import"], 0);
        assert!(!found.to_string().contains("secret-value"));
    }
}
