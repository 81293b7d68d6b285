//! What plans record for the coverage of tests.

use std::sync::Arc;

use model::config::Config;
use model::plan::PlanScope;
use model::state::State;

use super::world::*;
use crate::coverage::{Coverage, points_of};
use crate::ports::Ports;
use crate::{GivenVariables, PlanInput, ValidateInput};

const ROOT: &str = r#"
    variable "on" {
      default = false
      validation {
        condition     = var.on == false
        error_message = "On."
      }
    }
    resource "test_thing" "a" {
      name = var.on ? "x" : "y"
      dynamic "part" {
        for_each = var.on ? [] : ["v"]
        content {
          v = part.value
        }
      }
    }
    resource "test_thing" "none" {
      count = var.on ? 1 : 0
    }
    module "m" {
      source   = "./m"
      for_each = toset(["a", "b"])
      on       = each.key == "a"
    }
    output "o" {
      value = module.m["a"].o
    }
    check "c" {
      assert {
        condition     = var.on
        error_message = "Off."
      }
    }"#;

const CHILD: &str = r#"
    variable "on" {}
    output "o" {
      value = var.on ? 1 : 2
    }"#;

/// A line for each point: kind, block, reached sides.
fn reached(config: &Config, coverage: &Coverage) -> Vec<String> {
    let points = config.modules().into_iter().flat_map(|module| points_of(module));
    points.map(|point| format!("{:?} {} {:?}", point.kind, point.name, coverage.reached(&point))).collect()
}

#[tokio::test]
async fn plans_record_what_they_evaluate() {
    let world = World::new();
    let config = config(&[("main.tf", ROOT), ("m/main.tf", CHILD)]);
    let coverage = Arc::new(Coverage::default());
    let ports = Ports { coverage: Some(coverage.clone()), ..world.ports() };
    let facts = world.known.facts(&config);
    let found = crate::validate(ValidateInput { facts: facts.clone(), parallelism: PARALLELISM }, &ports).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    let before = reached(&config, &coverage);
    assert!(before.iter().all(|line| line.ends_with(" [false, false]")), "{before:?}");
    let scope = PlanScope { parallelism: PARALLELISM, ..PlanScope::default() };
    let input = PlanInput { facts, state: State::default(), variables: GivenVariables::new(), scope };
    let (_, found) = crate::plan(input, &ports).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    let expected = [
        "Condition var.on [true, false]",
        "Output output.o [true, false]",
        "Resource test_thing.a [true, false]",
        "Conditional test_thing.a [false, true]",
        "Repetition test_thing.a [true, false]",
        "Conditional test_thing.a [false, true]",
        "Resource test_thing.none [false, false]",
        "Repetition test_thing.none [false, true]",
        "Conditional test_thing.none [false, true]",
        "Assertion check.c [false, true]",
        "Output output.o [true, false]",
        "Conditional output.o [true, true]",
    ];
    assert_eq!(reached(&config, &coverage), expected);
}

/// What override files replace is not counted, nor is what always gives the same.
#[test]
fn points_are_those_of_the_merged_module() {
    const BASE: &str = "resource \"test_thing\" \"a\" {\n name = path.module == \"\" ? 1 : 2\n count = 2\n}\n";
    const OVER: &str = "resource \"test_thing\" \"a\" {\n name = \"n\"\n input = [path.root == \"\" ? 1 : 2]\n}\n";
    const JSON: &str = r#"{"locals": {"j": "${path.root == \"\" ? 1 : 2}"}}"#;
    let config = config(&[("main.tf", BASE), ("main_override.tf", OVER), ("j.tf.json", JSON)]);
    let point = |file: &str, name: &str, line: usize| (file.to_string(), name.to_string(), line);
    let mut points: Vec<(String, String, usize)> = points_of(&config.root)
        .into_iter()
        .map(|found| point(found.range.filename(), &found.name, found.range.start().line))
        .collect();
    points.sort();
    let expected = [
        point("j.tf.json", "local.j", 1),
        point("main.tf", "test_thing.a", 1),
        point("main_override.tf", "test_thing.a", 3),
    ];
    assert_eq!(points, expected);
}
