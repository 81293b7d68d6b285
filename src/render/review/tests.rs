//! A plan with secrets in every place that can hold one, also for the tests of the formats.

use std::sync::Arc;

use model::addr::parse::parse_abs_instance;
use model::addr::{AbsProviderConfig, Provider};
use model::plan::{ActionReason, Change, IdentityChange};
use model::state::CheckResult;
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting, ResourceMode};
use terrane_value::{Path, Type};

use super::*;

/// What must be in no output; a text of another length must give the same output.
pub(crate) const SECRET: &str = "hunter2-hunter2-hunter2";

/// A type with a sensitive, a write-only and a plain attribute, and nested blocks.
pub(crate) fn schema() -> Arc<Schema> {
    let plain = || Attribute { optional: true, ..Attribute::new(Type::String) };
    let mut nested = Block::default();
    nested.attributes.insert("key".into(), plain());
    nested.attributes.insert("password".into(), Attribute { sensitive: true, ..plain() });
    let mut block = Block::default();
    block.attributes.insert("id".into(), Attribute { computed: true, ..plain() });
    block.attributes.insert("name".into(), plain());
    block.attributes.insert("secret".into(), Attribute { sensitive: true, ..plain() });
    block.attributes.insert("once".into(), Attribute { write_only: true, ..plain() });
    block.attributes.insert("text".into(), plain());
    let disks = NestedBlock { block: nested, nesting: Nesting::List, min_items: 0, max_items: 0 };
    block.blocks.insert("disk".into(), disks);
    Arc::new(Schema::new(0, block))
}

pub(crate) fn schemas() -> impl Fn(&Provider, ResourceMode, &str) -> Option<Arc<Schema>> {
    let schema = schema();
    move |_, _, kind| (kind == "t").then(|| schema.clone())
}

/// An object; `secret` is in its sensitive, marked and ephemeral places.
pub(crate) fn value(name: &str, text: &str, secret: &str) -> Value {
    let element = schema().block.blocks["disk"].block.implied_type();
    let disk = Value::object([("key", Value::string("k")), ("password", Value::string(secret))]);
    Value::object([
        ("id", Value::string("i-1")),
        ("name", Value::string(name)),
        ("secret", Value::string(secret)),
        ("once", Value::null(Type::String)),
        ("text", Value::string(text)),
        ("disk", Value::list(element, vec![disk])),
    ])
}

pub(crate) fn change(addr: &str, action: Action, before: Value, after: Value) -> ResourceChange {
    let addr = parse_abs_instance(addr).unwrap();
    ResourceChange {
        previous_addr: addr.clone(),
        addr,
        deposed: None,
        provider: AbsProviderConfig::root(Provider::builtin("t")),
        action,
        reason: ActionReason::None,
        change: Change { before, after },
        required_replace: Vec::new(),
        private: Arc::default(),
        importing: None,
        identity: IdentityChange::default(),
        generated_config: None,
    }
}

pub(crate) fn output(name: &str, value: Value, sensitive: bool) -> OutputChange {
    let change = Change { before: Value::null_dynamic(), after: value };
    OutputChange { name: name.into(), action: Action::Create, change, sensitive }
}

/// Changes of all kinds, with secrets of this text.
pub(crate) fn plan(secret: &str) -> Plan {
    let null = || Value::null(schema().implied_type().clone());
    let replaced = ResourceChange {
        reason: ActionReason::ReplaceBecauseCannotUpdate,
        required_replace: vec![Path::new().attr("name")],
        ..change(
            "module.m[\"a|b\"].t.replaced",
            Action::DeleteThenCreate,
            value("a", "x", secret),
            value("b", "x", "new"),
        )
    };
    let marked = Value::object([("key", Value::string(secret).mark(Marks::SENSITIVE))]);
    let ephemeral = Value::tuple(vec![Value::string(secret).mark(Marks::EPHEMERAL), Value::string("seen")]);
    Plan {
        changes: vec![
            replaced,
            change("other.unknown", Action::Update, Value::string(secret), Value::string("x")),
            change("t.created[\"@team #12 `<b>`\"]", Action::Create, null(), value("n", "1\n2\n```\n3", secret)),
            change("t.gone", Action::Delete, value("n", "x", secret), null()),
            change("t.updated", Action::Update, value("a", "{\"k\":1}", secret), value("b", "{\"k\":2}", secret)),
        ],
        outputs: vec![
            output("hidden", Value::string(secret), true),
            output("marked", marked, false),
            output("passing", ephemeral, false),
        ],
        applyable: true,
        complete: true,
        ..Plan::default()
    }
}

fn all_rows(plan: &Plan) -> Vec<(String, Vec<DiffRow>)> {
    let schemas = schemas();
    let review = Review::of_plan(plan, None, &schemas, Dialect::default());
    review.entries.iter().map(|entry| (entry.address.clone(), review.rows(entry))).collect()
}

#[test]
fn secrets_and_their_lengths_are_not_in_the_rows() {
    let rows = all_rows(&plan(SECRET));
    assert!(!format!("{rows:?}").contains("hunter2"));
    assert!(format!("{rows:?}").contains("seen"));
    assert_eq!(rows, all_rows(&plan("x")));
}

#[test]
fn entries_begin_with_the_most_dangerous() {
    let (schemas, plan) = (schemas(), plan(SECRET));
    let review = Review::of_plan(&plan, None, &schemas, Dialect::default());
    let shown: Vec<String> =
        review.entries.iter().map(|entry| format!("{} {}", entry.effect.sign(), entry.address)).collect();
    let expected = [
        "- t.gone",
        "-/+ module.m[\"a|b\"].t.replaced",
        "~ other.unknown",
        "~ t.updated",
        "+ t.created[\"@team #12 `<b>`\"]",
        "+ output.hidden",
        "+ output.marked",
        "+ output.passing",
    ];
    assert_eq!(shown, expected);
    assert_eq!(
        review.headline,
        "Plan: 2 to add, 2 to change, 2 to destroy. 1 to replace (each adds one object and removes one)."
    );
    assert_eq!(review.notes.len(), 2, "{:?}", review.notes);
}

#[test]
fn failed_checks_have_names_and_messages() {
    let objects = |address: &str, status| vec![(address.to_owned(), status, vec!["Too old.".to_owned()])];
    let check = |address: &str, status| CheckResult {
        kind: "check".into(),
        config_addr: address.to_owned(),
        status,
        objects: objects(address, status),
    };
    let checks = vec![check("check.age", CheckStatus::Fail), check("check.size", CheckStatus::Pass)];
    let plan = Plan { checks, complete: true, ..Plan::default() };
    let texts: Vec<String> = failed_checks(&plan).iter().map(|check| check.text(str::to_owned)).collect();
    assert_eq!(texts, ["A condition of check.age failed. Too old."]);
    assert_eq!(plan_notes(&plan, true), [""; 0]);
}

#[test]
fn values_without_a_schema_are_left_out() {
    let rows = all_rows(&plan(SECRET));
    let (_, unknown) = rows.iter().find(|(address, _)| address == "other.unknown").unwrap();
    assert_eq!(*unknown, left_out(NO_SCHEMA));
}

#[test]
fn copies_of_secrets_are_hidden() {
    let is_hidden = |addr: &str, marks: Marks| {
        let object = Value::object([("input", Value::string("x").mark(marks)), ("output", Value::string("x"))]);
        let object = with_copied_marks(&parse_abs_instance(addr).unwrap(), object);
        object.get("output").unwrap().deep_marks().contains(Marks::SENSITIVE)
    };
    assert!(is_hidden("terraform_data.a", Marks::SENSITIVE));
    assert!(!is_hidden("terraform_data.a", Marks::NONE) && !is_hidden("t.a", Marks::SENSITIVE));
}
