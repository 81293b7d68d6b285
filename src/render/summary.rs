//! The summary of a plan: one row for each change, with its action, its reasons and where they stand in the configuration.
//!
//! Owns what summaries of all forms have in common. Contains names and places, but no values, so that nothing in it is secret.

use std::collections::BTreeMap;

use model::addr::AbsResourceInstance;
use model::config::Config;
use model::plan::{Action, ActionInvocation, Mode, OutputChange, Plan, ResourceChange};
use rustc_hash::FxHashSet;

use crate::plan_filter::{ActionWord, Hidden, PlanFilter, is_planned};
use crate::reasons;
use crate::source_place::{self, SourcePlace};

/// The changes of a plan.
#[derive(Clone, Debug, Default)]
pub struct Summary<'p> {
    /// By address, as in the plan.
    pub rows: Vec<SummaryRow<'p>>,
    /// Changes made outside of the program that the plan shows.
    pub drift: Vec<SummaryRow<'p>>,
    /// What a later plan decides.
    pub deferred: Vec<SummaryRow<'p>>,
    /// The actions to invoke.
    pub invocations: Vec<InvocationRow<'p>>,
    /// The outputs that change.
    pub outputs: Vec<&'p OutputChange>,
    /// Nothing but the changes made outside is planned: they are written to the state.
    pub refresh_only: bool,
    /// What was filtered out.
    pub hidden: Hidden,
}

/// A change of one object.
#[derive(Clone, Debug)]
pub struct SummaryRow<'p> {
    pub change: &'p ResourceChange,
    /// The module instance; empty for the root module.
    pub module: String,
    /// The type with the prefix of its mode: `data.aws_ami`.
    pub kind: String,
    /// With the key of a deposed object.
    pub address: String,
    pub action: ActionWord,
    pub reasons: Vec<Reason>,
    /// Where its block begins.
    pub place: Option<SourcePlace>,
    /// How many actions it invokes.
    pub invokes: usize,
}

/// Why something is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// A clause that follows "because".
    pub text: String,
    pub place: Option<SourcePlace>,
}

/// An action that is invoked.
#[derive(Clone, Debug)]
pub struct InvocationRow<'p> {
    pub invocation: &'p ActionInvocation,
    /// The module instance; empty for the root module.
    pub module: String,
    /// `action.aws_lambda_invoke`
    pub kind: String,
    pub address: String,
    /// What makes it run.
    pub trigger: String,
}

impl<'p> Summary<'p> {
    /// The whole plan. Without a configuration there are no places.
    pub fn of_plan(plan: &'p Plan, config: Option<&Config>) -> Summary<'p> {
        let mut invoked: BTreeMap<&AbsResourceInstance, usize> = BTreeMap::new();
        for trigger in plan.invocations.iter().filter_map(|invocation| invocation.lifecycle()) {
            *invoked.entry(&trigger.resource).or_default() += 1;
        }
        let planned = plan.changes.iter().filter(|change| is_planned(change));
        let rows = planned.map(|change| {
            let invokes = invoked.get(&change.addr).copied().filter(|_| change.deposed.is_none()).unwrap_or(0);
            SummaryRow { invokes, ..row(change, reasons_of(change, config), config) }
        });
        let deferred = plan.deferred.iter().map(|deferred| {
            let reason = Reason { text: reasons::deferred(deferred.reason).to_owned(), place: None };
            row(&deferred.change, vec![reason], config)
        });
        Summary {
            rows: rows.collect(),
            drift: drift(plan).map(|change| row(change, Vec::new(), config)).collect(),
            deferred: deferred.collect(),
            invocations: plan.invocations.iter().map(|invocation| invocation_row(invocation)).collect(),
            outputs: plan.outputs.iter().filter(|output| is_changed(output)).collect(),
            refresh_only: plan.scope.mode == Mode::RefreshOnly,
            hidden: Hidden::default(),
        }
    }

    /// The part that a filter shows. What a change invokes is hidden with it.
    #[must_use]
    pub fn filtered(self, filter: &PlanFilter) -> Summary<'p> {
        if filter.is_empty() {
            return self;
        }
        let mut hidden = self.hidden;
        let mut keep = |row: &SummaryRow<'p>, is_hidden: bool| {
            let is_shown = !is_hidden && filter.shows(row.change, row.invokes > 0);
            hidden.changes += usize::from(!is_shown);
            is_shown
        };
        let rows: Vec<_> = self.rows.into_iter().filter(|row| keep(row, false)).collect();
        // Of a plan that only refreshes, these are the differences.
        let hides_drift = filter.diff_only && !self.refresh_only;
        let drift: Vec<_> = self.drift.into_iter().filter(|row| keep(row, hides_drift)).collect();
        let shown: FxHashSet<&AbsResourceInstance> = rows.iter().map(|row| &row.change.addr).collect();
        let mut invocations = self.invocations;
        invocations.retain(|row| match row.invocation.lifecycle() {
            Some(trigger) => shown.contains(&trigger.resource),
            None => {
                let is_shown = filter.shows_request(row.invocation);
                hidden.changes += usize::from(!is_shown);
                is_shown
            }
        });
        let mut outputs = self.outputs;
        outputs.retain(|output| {
            let is_shown = filter.shows_output(output);
            hidden.outputs += usize::from(!is_shown);
            is_shown
        });
        Summary { rows, drift, invocations, outputs, hidden, deferred: self.deferred, refresh_only: self.refresh_only }
    }

    /// How many changes have each action. A change that is also an import or a move counts as both; what is not there is left out.
    pub fn counts(&self) -> BTreeMap<ActionWord, usize> {
        let mut counts = BTreeMap::new();
        let mut count = |word: ActionWord, number: usize| {
            if number > 0 {
                *counts.entry(word).or_default() += number;
            }
        };
        for row in &self.rows {
            count(row.action, 1);
            let is_import = row.change.importing.is_some() && row.action != ActionWord::Import;
            count(ActionWord::Import, usize::from(is_import));
            let is_move = row.change.previous_addr != row.change.addr && row.action != ActionWord::Move;
            count(ActionWord::Move, usize::from(is_move));
        }
        count(ActionWord::Invoke, self.invocations.len());
        counts
    }
}

fn row<'p>(change: &'p ResourceChange, reasons: Vec<Reason>, config: Option<&Config>) -> SummaryRow<'p> {
    let addr = &change.addr;
    let address = match &change.deposed {
        Some(key) => format!("{addr} (deposed object {key})"),
        None => addr.to_string(),
    };
    SummaryRow {
        change,
        module: addr.module.to_string(),
        kind: format!("{}{}", addr.mode().prefix(), addr.kind()),
        address,
        action: ActionWord::of(change),
        reasons,
        place: config.and_then(|config| source_place::of_change(config, change)),
        invokes: 0,
    }
}

fn invocation_row(invocation: &ActionInvocation) -> InvocationRow<'_> {
    InvocationRow {
        invocation,
        module: invocation.addr.module.to_string(),
        kind: format!("action.{}", invocation.addr.action.action.kind),
        address: invocation.addr.to_string(),
        trigger: invocation.trigger.to_string(),
    }
}

/// Why a change is made, as far as the plan says it.
fn reasons_of(change: &ResourceChange, config: Option<&Config>) -> Vec<Reason> {
    let resource = config.and_then(|config| source_place::block(config, &change.addr));
    let of_argument = || resource.and_then(|resource| source_place::of_reason(resource, change.reason));
    let one = |text: Option<String>| text.map(|text| Reason { text, place: of_argument() });
    let mut found: Vec<Reason> = match change.action {
        Action::Delete => one(reasons::destroyed(change)).into_iter().collect(),
        Action::Forget => one(reasons::forgotten(change.reason).map(str::to_owned)).into_iter().collect(),
        Action::Read => one(reasons::read(change.reason).map(str::to_owned)).into_iter().collect(),
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget => {
            let given = one(reasons::replaced(change.reason).map(str::to_owned));
            given.into_iter().chain(forcing_attributes(change, resource)).collect()
        }
        Action::NoOp | Action::Create | Action::Update => Vec::new(),
    };
    if change.deposed.is_some() {
        found.push(Reason { text: reasons::DEPOSED.to_owned(), place: None });
    }
    found
}

/// The attributes that force a replacement, each once.
fn forcing_attributes(change: &ResourceChange, resource: Option<&model::config::Resource>) -> Vec<Reason> {
    let mut found: Vec<Reason> = Vec::new();
    for path in &change.required_replace {
        let name = reasons::attribute_names(path);
        if name.is_empty() {
            continue;
        }
        let is_known = path.apply(&change.change.after).is_none_or(|after| after.is_wholly_known());
        let text = if is_known { format!("{name} changes") } else { format!("{name} may change") };
        let place = resource.and_then(|resource| source_place::of_attribute(resource, path));
        if found.iter().all(|before| before.text != text) {
            found.push(Reason { text, place });
        }
    }
    found
}

/// The changes made outside that concern the plan: all if it only refreshes, otherwise those of objects that it refers to.
fn drift(plan: &Plan) -> impl Iterator<Item = &ResourceChange> {
    let relevant: FxHashSet<&AbsResourceInstance> = plan.relevant_attributes.iter().map(|(addr, _)| addr).collect();
    plan.drift.iter().filter(move |change| match plan.scope.mode {
        Mode::RefreshOnly => change.action != Action::NoOp || change.addr != change.previous_addr,
        Mode::Normal | Mode::Destroy => change.action != Action::NoOp && relevant.contains(&change.addr),
    })
}

/// True for outputs whose value changes, or is not known yet.
fn is_changed(output: &OutputChange) -> bool {
    output.action != Action::NoOp || !output.change.after.is_wholly_known()
}

#[cfg(test)]
pub(crate) mod tests {
    use model::plan::ActionReason;
    use terrane_value::{Path, Type, Value};

    use super::*;
    use crate::plan_filter::tests::change;
    use crate::source_place::tests::config;

    pub(crate) const CONFIG: &str =
        "resource \"t\" \"a\" {\n  ami = \"x\"\n}\n\nresource \"t\" \"n\" {\n  count = 1\n}\n";

    /// A plan with a change of many kinds, also for other tests.
    pub(crate) fn plan() -> Plan {
        let after = Value::object([("ami", Value::string("secret-value")), ("id", Value::unknown(Type::String))]);
        let replaced = ResourceChange {
            required_replace: vec![Path::new().attr("ami"), Path::new().attr("id"), Path::new()],
            change: model::plan::Change { before: Value::null_dynamic(), after },
            ..change("t.a", Action::DeleteThenCreate)
        };
        let gone = ResourceChange { reason: ActionReason::DeleteBecauseCountIndex, ..change("t.n[1]", Action::Delete) };
        let output = OutputChange {
            name: "o".into(),
            action: Action::Create,
            change: model::plan::Change { before: Value::null_dynamic(), after: Value::string("secret-value") },
            sensitive: true,
        };
        Plan {
            changes: vec![
                replaced,
                gone,
                change("t.same", Action::NoOp),
                change("data.t.dropped", Action::Delete),
                change("module.m[0].t.b", Action::Create),
                change("module.m[1].t.b", Action::Create),
            ],
            outputs: vec![output],
            applyable: true,
            ..Plan::default()
        }
    }

    fn lines(summary: &Summary<'_>) -> Vec<String> {
        let reason = |reason: &Reason| match &reason.place {
            Some(place) => format!(" [{}, {place}]", reason.text),
            None => format!(" [{}]", reason.text),
        };
        let line = |row: &SummaryRow<'_>| {
            let reasons: String = row.reasons.iter().map(reason).collect();
            let line = row.place.as_ref().map_or(0, |place| place.line);
            format!("{} {}:{line}{reasons}", row.action.name(), row.address)
        };
        summary.rows.iter().map(line).collect()
    }

    #[test]
    fn rows_have_reasons_and_places() {
        let (plan, config) = (plan(), config(CONFIG));
        let summary = Summary::of_plan(&plan, Some(&config));
        let expected = [
            "replace t.a:1 [ami changes, main.tf:2] [id may change]",
            "delete t.n[1]:5 [index [1] is out of range for count, main.tf:6]",
            "create module.m[0].t.b:0",
            "create module.m[1].t.b:0",
        ];
        assert_eq!(lines(&summary), expected);
        assert_eq!((summary.rows[2].module.as_str(), summary.rows[2].kind.as_str()), ("module.m[0]", "t"));
        let without = Summary::of_plan(&plan, None);
        assert_eq!(lines(&without)[1], "delete t.n[1]:0 [index [1] is out of range for count]");
    }

    #[test]
    fn filters_count_what_they_hide() {
        let plan = plan();
        let filter = PlanFilter { only: vec![ActionWord::Delete], ..PlanFilter::default() };
        let summary = Summary::of_plan(&plan, None).filtered(&filter);
        assert_eq!(summary.rows.len(), 2);
        assert_eq!(summary.hidden, Hidden { changes: 2, outputs: 1 });
        let counts: Vec<_> = summary.counts().into_iter().map(|(word, count)| (word.name(), count)).collect();
        assert_eq!(counts, [("delete", 1), ("replace", 1)]);
    }

    #[test]
    fn drift_is_shown_if_the_plan_depends_on_it() {
        let mut plan =
            Plan { drift: vec![change("t.a", Action::Update), change("t.b", Action::Delete)], ..Plan::default() };
        plan.relevant_attributes.push((plan.drift[0].addr.clone(), Path::new().attr("ami")));
        assert_eq!(Summary::of_plan(&plan, None).drift.len(), 1);
        let filter = PlanFilter { diff_only: true, ..PlanFilter::default() };
        let filtered = Summary::of_plan(&plan, None).filtered(&filter);
        assert_eq!((filtered.drift.len(), filtered.hidden.changes), (0, 1));
        plan.scope.mode = Mode::RefreshOnly;
        assert_eq!(Summary::of_plan(&plan, None).filtered(&filter).drift.len(), 2);
    }
}
