//! Assertions of tests, judged by the values of a plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostics, Kind};
use base::source::SourceFile;
use lang::syntax::parser;
use model::config::{Condition, Config};
use model::plan::PlanScope;
use model::state::State;
use terrane_value::Value;

use super::world::*;
use crate::mock::{TestDoubles, TestNames};
use crate::ports::Ports;
use crate::{ApplyInput, Evaluation, GivenVariables, PlanInput, ValidateInput, Verdict};

const ROOT: &str = r#"
    variable "secret" {
      default   = "MARKER"
      sensitive = true
    }
    resource "test_thing" "a" {
      name = "n"
    }
    output "id" {
      value = test_thing.a.id
    }
    output "list" {
      value = [1, 2]
    }
    output "secret" {
      value     = var.secret
      sensitive = true
    }"#;

fn assertion(condition: &str) -> Condition {
    let parsed = |text: &str| {
        let (expr, problems) = parser::parse_expression(SourceFile::new("a.tftest.hcl", text));
        assert!(problems.is_empty(), "{text}: {problems:?}");
        expr
    };
    let condition = parsed(condition);
    Condition { range: condition.range(), error_message: parsed("\"Wrong.\""), condition }
}

/// Validates and plans. The evaluation, unless there are errors.
async fn evaluation(world: &Arc<World>, config: &Arc<Config>, ports: &Ports) -> (Option<Evaluation>, Diagnostics) {
    let facts = world.known.facts(config);
    let found = crate::validate(ValidateInput { facts: facts.clone(), parallelism: PARALLELISM }, ports).await;
    if found.has_errors() {
        return (None, found);
    }
    let scope = PlanScope { parallelism: PARALLELISM, ..PlanScope::default() };
    let input = PlanInput { facts, state: State::default(), variables: GivenVariables::new(), scope };
    let (planned, found) = crate::plan_and_evaluate(input, ports).await;
    let mut outputs = planned.iter().flat_map(|(plan, _)| &plan.outputs);
    assert!(outputs.all(|output| output.change.after.as_str() != Some("EPHEMERAL MARKER")));
    (planned.map(|(_, evaluation)| evaluation).filter(|_| !found.has_errors()), found)
}

#[tokio::test]
async fn false_assertions_show_their_operands_and_no_secrets() {
    let world = World::new();
    let (evaluation, found) = evaluation(&world, &config(&[("main.tf", ROOT)]), &world.ports()).await;
    let evaluation = evaluation.unwrap_or_else(|| panic!("{:?}", texts(&found)));
    let change = |address: &str| Value::object([("address", Value::string(address))]);
    let resources = Value::tuple(vec![change("test_thing.a"), change("test_thing.b")]);
    let plan = Value::object([("resources", resources), ("outputs", Value::empty_object())]);
    let names = TestNames { plan: Some(plan), ..TestNames::default() };
    let types = "LHS and RHS values are of different types";
    let cases = [
        ("output.list == [1, 2]", Verdict::Pass, None),
        ("output.list == [1, 3]", Verdict::Fail, Some(("[\n  1,\n  2\n]", "[\n  1,\n  3\n]", ""))),
        ("output.list == tolist([1, 2])", Verdict::Fail, Some(("[\n  1,\n  2\n]", "[\n  1,\n  2\n]", types))),
        ("output.secret == \"x\"", Verdict::Fail, Some(("\"(sensitive value)\"", "\"x\"", ""))),
        ("test_thing.a.name == \"m\"", Verdict::Fail, Some(("\"n\"", "\"m\"", ""))),
        ("test_thing.a.name == null", Verdict::Fail, Some(("\"n\"", "null", types))),
        ("(test_thing.a.name == \"m\")", Verdict::Fail, None),
        ("!can(output.list[0])", Verdict::Fail, None),
        ("test_thing.a.id == \"x\"", Verdict::Error, None),
        ("length(plan.resources) == 2", Verdict::Pass, None),
        ("plan.resources[1].address == \"x\"", Verdict::Fail, Some(("\"test_thing.b\"", "\"x\"", ""))),
        ("alltrue([for r in plan.resources : r.address != \"x\"])", Verdict::Pass, None),
        ("plan.other == 1", Verdict::Error, None),
        ("resource.plan.resources == 1", Verdict::Error, None),
    ];
    for (text, expected, operands) in cases {
        for verbose in [false, true] {
            let (verdict, found) = evaluation.judge(&assertion(text), &names, verbose);
            assert_eq!(verdict, expected, "{text}: {:?}", texts(&found));
            assert!(!format!("{found:?}").contains("MARKER"), "{text}: {found:?}");
            let failures: Vec<_> = found.iter().filter(|found| found.kind == Kind::FailedAssertion).collect();
            assert_eq!(failures.len(), usize::from(expected == Verdict::Fail), "{text}");
            let operands_of = failures.iter().find_map(|failure| failure.test_assertion.as_deref());
            let shown = operands_of.map(|found| (&*found.lhs, &*found.rhs, &*found.warning));
            assert_eq!(shown, operands, "{text}");
            assert!(operands_of.is_none_or(|found| found.show_verbose == verbose), "{text}");
        }
    }
    let (_, found) = evaluation.judge(&assertion("output.secret == \"x\""), &names, true);
    let values: Vec<String> =
        found.iter().flat_map(|found| &found.values).map(|v| format!("{} {}", v.traversal, v.statement)).collect();
    assert_eq!(values, ["output.secret is \"(sensitive value)\""]);
}

/// The type of an unknown output is known, as since Terraform 1.14.1.
#[tokio::test]
async fn unknown_outputs_have_a_type() {
    let world = World::new();
    let (evaluation, found) = evaluation(&world, &config(&[("main.tf", ROOT)]), &world.ports()).await;
    let evaluation = evaluation.unwrap_or_else(|| panic!("{:?}", texts(&found)));
    let runs = BTreeMap::from([(Arc::from("earlier"), Some(evaluation.outputs()))]);
    let names = TestNames { runs, ..TestNames::default() };
    for name in ["output.id", "run.earlier.id"] {
        let (verdict, found) = evaluation.judge(&assertion(&format!("{name} == \"x\"")), &names, false);
        let values: Vec<String> =
            found.iter().flat_map(|found| &found.values).map(|v| format!("{} {}", v.traversal, v.statement)).collect();
        assert_eq!((verdict, values), (Verdict::Error, vec![format!("{name} is a string")]));
    }
}

const PARTS: &str = r#"
    variable "used" {
      default = "x"
    }
    variable "unused" {
      default = "y"
    }
    locals {
      unused = var.unused
    }
    resource "test_thing" "a" {
      name = var.used
    }
    resource "test_thing" "b" {
      count = 1
      name  = local.unused
    }"#;

/// Neither the plan nor the apply evaluates what the targets leave out, as observed with Terraform 1.17.
#[tokio::test]
async fn names_that_targets_leave_out_are_errors() {
    let (world, config) = (World::new(), config(&[("main.tf", PARTS)]));
    let (facts, variables) = (world.known.facts(&config), GivenVariables::new());
    let scope = PlanScope { targets: targets(&["test_thing.a"]), parallelism: PARALLELISM, ..PlanScope::default() };
    let input = PlanInput { facts: facts.clone(), state: State::default(), variables: variables.clone(), scope };
    let (planned, found) = crate::plan_and_evaluate(input, &world.ports()).await;
    let (plan, of_plan) = planned.unwrap_or_else(|| panic!("{:?}", texts(&found)));
    let input = ApplyInput { facts, plan: Arc::new(plan), variables, parallelism: PARALLELISM };
    let (_, of_apply, found) = crate::apply_and_evaluate(input, &world.ports()).await;
    let of_apply = of_apply.unwrap_or_else(|| panic!("{:?}", texts(&found)));
    let cases = [
        ("test_thing.a.name == var.used", None),
        ("test_thing.b[0].name == \"y\"", Some("Reference to uninitialized resource")),
        ("can(test_thing.b)", Some("Reference to uninitialized resource")),
        ("local.unused == \"y\"", Some("Reference to uninitialized local value")),
        ("var.unused == \"y\"", Some("Reference to uninitialized variable")),
    ];
    for evaluation in [of_plan, of_apply] {
        for (text, error) in cases {
            let (verdict, found) = evaluation.judge(&assertion(text), &TestNames::default(), false);
            let summaries: Vec<&str> = found.iter().map(|found| &*found.summary).collect();
            let expected = if error.is_some() { Verdict::Error } else { Verdict::Pass };
            assert_eq!((verdict, summaries), (expected, error.into_iter().collect()), "{text}");
        }
    }
}

/// In files without extensions, `plan` is no name of the test.
#[tokio::test]
async fn plans_are_resources_without_extensions() {
    let world = World::new();
    let (evaluation, _) = evaluation(&world, &config(&[("main.tf", ROOT)]), &world.ports()).await;
    let (verdict, found) = evaluation.unwrap().judge(&assertion("plan.resources == 1"), &TestNames::default(), false);
    let summary = found.iter().next().map(|found| &*found.summary);
    assert_eq!((verdict, summary), (Verdict::Error, Some("Reference to undeclared resource")));
}

#[tokio::test]
async fn only_tests_allow_ephemeral_outputs_of_the_root_module() {
    let text = r#"
        variable "e" {
          default   = "EPHEMERAL MARKER"
          ephemeral = true
        }
        output "o" {
          value     = var.e
          ephemeral = true
        }"#;
    let (world, config) = (World::new(), config(&[("main.tf", text)]));
    let (refused, found) = evaluation(&world, &config, &world.ports()).await;
    assert!(refused.is_none());
    assert_eq!(texts(&found).len(), 1);
    let doubles = TestDoubles { allows_ephemeral_outputs: true, ..TestDoubles::default() };
    let ports = Ports { doubles: Arc::new(doubles), ..world.ports() };
    let (evaluation, found) = evaluation(&world, &config, &ports).await;
    let evaluation = evaluation.unwrap_or_else(|| panic!("{:?}", texts(&found)));
    let (verdict, found) = evaluation.judge(&assertion("output.o == \"x\""), &TestNames::default(), true);
    assert_eq!(verdict, Verdict::Fail);
    assert!(!format!("{found:?}").contains("MARKER"), "{found:?}");
}
