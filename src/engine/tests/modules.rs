//! Outputs of modules: those that become known at different times do not disturb each other.

use base::source::SourceFile;
use lang::syntax::parse_expression;
use model::addr::ModuleInstance;
use model::plan::{Mode, Plan};
use model::state::State;
use terrane_value::{Marks, Value};

use super::world::*;
use crate::{EvaluateInput, Facts, GivenVariables};

/// `name` is known at once, `id` only after `test_thing.early`, which refers to `name`.
const MODULE: &str = r#"
    variable "after" {}
    resource "test_thing" "r" {
      name  = "r"
      input = var.after
    }
    output "name" { value = "fixed" }
    output "id"   { value = test_thing.r.id }
    output "from" { value = test_thing.r.input }"#;

fn caller(repetition: &str, early: &str, late: &str) -> String {
    format!(
        r#"locals {{
          key   = "x"
          index = 0
        }}
        module "m" {{
          source = "./m"
          after  = test_thing.early.id
          {repetition}
        }}
        resource "test_thing" "early" {{
          name  = "early"
          input = {early}
        }}
        resource "test_thing" "late" {{
          name  = "late"
          input = {late}
        }}
        output "late" {{ value = {late} }}"#
    )
}

/// How the caller repeats the module, an early reference, and late references that all have the same value.
const CALLS: [(&str, &str, &[&str]); 3] = [
    ("", "module.m.name", &["module.m.id", "module.m[\"id\"]", "{ for k, v in module.m : k => v }.id"]),
    (
        "count = 2",
        "module.m[1].name",
        &[
            "module.m[0].id",
            "module.m[\"0\"].id",
            "module.m[local.index].id",
            "element(module.m[*].id, 0)",
            "module.m[0][\"id\"]",
        ],
    ),
    (
        "for_each = toset([\"x\", \"y\"])",
        "module.m[\"y\"].name",
        &["module.m[\"x\"].id", "module.m[local.key].id", "values(module.m)[0].id", "[for m in module.m : m.id][0]"],
    ),
];

#[tokio::test]
async fn an_early_reference_to_one_output_does_not_freeze_the_others() {
    for (repetition, early, lates) in CALLS {
        for late in lates {
            let world = World::new();
            let text = caller(repetition, early, late);
            let config = config(&[("main.tf", &text), ("m/main.tf", MODULE)]);
            let (state, found) = apply_as(&world, &config, &State::default(), Mode::Normal).await;
            assert!(found.is_empty(), "{late}: {:?}", texts(&found));
            let id = state.outputs["late"].value.as_str().unwrap_or("none");
            assert!(id.starts_with("id-") && id != "id-1", "{late}: {id}");
            let (again, found) = plan(&world, &config, &state, Options::default()).await;
            assert!(found.is_empty(), "{late}: {:?}", texts(&found));
            assert_eq!(actions(&again.unwrap()), [] as [&str; 0], "{late}");
            let (state, found) = apply_as(&world, &config, &state, Mode::Destroy).await;
            assert!(found.is_empty() && state.resources.is_empty(), "{late}: {:?}", texts(&found));
        }
    }
}

fn output<'p>(plan: &'p Plan, name: &str) -> &'p Value {
    &plan.outputs.iter().find(|o| &*o.name == name).unwrap().change.after
}

#[tokio::test]
async fn known_values_are_known_in_plans() {
    let world = World::new();
    let text = format!(
        "{}\noutput \"whole\" {{ value = module.m }}\noutput \"from\" {{ value = module.m.from }}",
        caller("", "module.m.name", "module.m.id")
    );
    let files = [("main.tf", text.as_str()), ("m/main.tf", MODULE)];
    let (found, _) = plan(&world, &config(&files), &State::default(), Options::default()).await;
    let found = found.unwrap();
    assert_eq!(*output(&found, "late"), Value::unknown(terrane_value::Type::String));
    let whole = output(&found, "whole");
    assert_eq!(whole.get("name"), Some(&Value::string("fixed")));
    assert_eq!(whole.get("id"), Some(output(&found, "late")));
    assert_eq!(whole.get("from"), Some(output(&found, "from")));
}

#[tokio::test]
async fn sensitive_outputs_are_noticed_after_an_early_reference() {
    let world = World::new();
    let module = format!("{MODULE}\noutput \"secret\" {{\n value = var.after\n sensitive = true\n}}");
    let text = caller("", "module.m.name", "module.m.secret");
    let files = [("main.tf", text.as_str()), ("m/main.tf", module.as_str())];
    let (_, found) = plan(&world, &config(&files), &State::default(), Options::default()).await;
    let found: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
    assert_eq!(found, ["Output refers to sensitive values"]);
}

/// A module may configure the provider of its resources, as long as no output that is read depends on them.
#[tokio::test]
async fn provider_configurations_wait_for_one_output() {
    let world = World::new();
    let text = "module \"m\" {\n source = \"./m\"\n after = 1\n}\nprovider \"test\" {\n region = module.m.name\n}";
    let config = config(&[("main.tf", text), ("m/main.tf", MODULE)]);
    let (state, found) = apply_as(&world, &config, &State::default(), Mode::Normal).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(world.took(), ["configure fixed", "create r"]);
    let (state, found) = apply_as(&world, &config, &state, Mode::Destroy).await;
    assert!(found.is_empty() && state.resources.is_empty(), "{:?}", texts(&found));
    assert_eq!(world.took(), ["configure fixed", "destroy r"]);
}

/// Evaluates expressions by a state, as the console does.
async fn evaluate(files: &[(&str, &str)], state: &State, expressions: &[&str]) -> Vec<Value> {
    let input = EvaluateInput {
        facts: Facts::of(config(files)),
        state: state.clone(),
        variables: GivenVariables::new(),
        module: ModuleInstance::root(),
        parallelism: 10,
    };
    let (evaluation, _) = crate::evaluate(input, &World::new().ports()).await;
    let evaluation = evaluation.unwrap();
    let value = |text: &&str| {
        let (expression, problems) = parse_expression(SourceFile::new("console", *text));
        assert!(problems.is_empty(), "{text}");
        evaluation.evaluate(&expression).0
    };
    expressions.iter().map(value).collect()
}

#[tokio::test]
async fn the_console_knows_every_output() {
    let world = World::new();
    for (repetition, early, lates) in CALLS {
        let text = caller(repetition, early, lates[0]);
        let files = [("main.tf", text.as_str()), ("m/main.tf", MODULE)];
        let (state, found) = apply_as(&world, &config(&files), &State::default(), Mode::Normal).await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        let expected = state.outputs["late"].value.clone();
        for value in evaluate(&files, &state, lates).await {
            assert_eq!(value, expected, "{repetition}");
        }
    }
}

/// A failed output has no value; the others have values, individually and together.
#[tokio::test]
async fn a_failing_output_leaves_the_others_alone() {
    let module = r#"
        output "name"   { value = "fixed" }
        output "wrong"  { value = tonumber("x") }
        output "refused" {
          value = "v"
          precondition {
            condition     = path.module == ""
            error_message = "Refused."
          }
        }
        output "secret" {
          value     = "s"
          sensitive = true
        }"#;
    let files = [("main.tf", "module \"m\" {\n source = \"./m\"\n}"), ("m/main.tf", module)];
    let asked = ["module.m.name", "module.m.wrong", "module.m.refused", "module.m.secret", "module.m"];
    let found = evaluate(&files, &State::default(), &asked).await;
    let secret = Value::string("s").mark(Marks::SENSITIVE);
    assert_eq!(found[..4], [Value::string("fixed"), Value::dynamic(), Value::dynamic(), secret]);
    let parts = ["name", "wrong", "refused", "secret"].into_iter().zip(found[..4].iter().cloned());
    assert_eq!(found[4], Value::object(parts));
}

/// What changes refer to themselves comes before what that depends on.
#[tokio::test]
async fn relevant_attributes_are_listed_by_distance() {
    let world = World::new();
    let text = r#"
        resource "test_thing" "near" {
          name = "near"
        }
        resource "test_thing" "far" {
          name = "far"
        }
        locals {
          far = test_thing.far.output
        }
        resource "test_thing" "top" {
          name = "${test_thing.near.output}${local.far}"
        }"#;
    let config = config(&[("main.tf", text)]);
    let (planned, _) = plan(&world, &config, &State::default(), Options::default()).await;
    let relevant = planned.unwrap().relevant_attributes;
    let shown: Vec<String> = relevant.iter().map(|(addr, path)| format!("{addr}{path}")).collect();
    assert_eq!(shown, ["test_thing.near.output", "test_thing.far.output"]);
}

/// Every plan counts the outputs of called modules that have a value as created, so what they come from is relevant.
#[tokio::test]
async fn plans_name_what_module_outputs_come_from() {
    let module = r#"
        variable "in" { default = "x" }
        resource "test_thing" "r" {
          name  = "r"
          input = var.in
        }
        output "id"   { value = test_thing.r.id }
        output "null" { value = true ? null : test_thing.r.name }"#;
    let text = r#"
        module "one" {
          source   = "./m"
          for_each = toset(["a"])
        }
        module "two" {
          source = "./m"
          in     = module.one["a"].id
        }"#;
    let configuration = config(&[("main.tf", text), ("m/main.tf", module)]);
    let (planned, found) = plan(&World::new(), &configuration, &State::default(), Options::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let relevant = planned.unwrap().relevant_attributes;
    let mut relevant: Vec<String> = relevant.iter().map(|(addr, path)| format!("{addr}{path}")).collect();
    relevant.sort();
    assert_eq!(relevant, ["module.one[\"a\"].test_thing.r.id", "module.two.test_thing.r.id"]);
}

/// A plan that fails is shown if it got as far as an output of any module.
#[tokio::test]
async fn a_failed_plan_has_begun_with_the_first_output() {
    let main = "variable \"list\" {\n default = []\n}\nmodule \"m\" {\n source = \"./m\"\n list = var.list\n}";
    let failing = "variable \"list\" {}\noutput \"failing\" {\n value = element(var.list, 1)\n}\n";
    let good = "output \"good\" {\n value = 1\n}";
    let ephemeral =
        "variable \"e\" {\n ephemeral = true\n default = 1\n}\noutput \"e\" {\n value = var.e\n ephemeral = true\n}";
    for (module, has_begun) in
        [(failing.to_owned(), false), (format!("{failing}{good}"), true), (format!("{failing}{ephemeral}"), false)]
    {
        let world = World::new();
        let configuration = config(&[("main.tf", main), ("m/main.tf", &module)]);
        let (planned, found) = plan(&world, &configuration, &State::default(), Options::default()).await;
        assert!(texts(&found)[0].starts_with("Error in function call"), "{:?}", texts(&found));
        assert_eq!(planned.unwrap().has_begun(), has_begun, "{module}");
    }
}
