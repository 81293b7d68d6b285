//! What plans record for the coverage of tests.

use std::sync::Arc;

use model::config::Config;
use model::plan::PlanScope;
use model::state::State;

use super::world::*;
use crate::coverage::{Coverage, CoveragePoint, PointKind, points_of};
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

/// Conditions of all forms, in all places where expressions stand. `var.on` is false.
const PLACES: &str = r#"
    variable "on" {
      default = false
    }
    locals {
      argument  = upper(var.on ? "a" : "b")
      clause    = [for x in ["a", "b"] : x == "a" ? 1 : 2 if x != "c"]
      directive = "a%{ if var.on }b%{ else }c%{ endif }"
      heredoc   = <<-EOT
        %{ if !var.on }d%{ endif }
        %{ for x in ["e"] }${x == "e" ? "f" : "g"}%{ endfor }
        EOT
      keys      = { for k, v in { a = 1, b = 3 } : (v > 0 ? k : "h") => v... if v > 1 ? true : false }
      nested    = "i${"j${"%{ if var.on }k%{ endif }"}"}"
      nothing   = [for x in [] : x if (var.on ? x : true)]
      unknown   = [for x in [test_thing.a.id] : x if x == "l"]
    }
    resource "test_thing" "a" {
      dynamic "part" {
        for_each = [for v in ["m", "n"] : v if v == "m"]
        content {
          v = var.on ? "o" : part.value
        }
      }
    }
    resource "test_thing" "b" {
      dynamic "part" {
        for_each = [for v in ["p"] : v if var.on]
        content {
          v = "%{ if var.on }q%{ endif }"
        }
      }
    }"#;

/// Some of them in JSON.
const PLACES_IN_JSON: &str = r#"{
  "locals": {
    "json": {"r": ["${[for x in [\"s\"] : x if var.on]}", "%{ if var.on }t%{ endif }"]}
  },
  "resource": {
    "test_thing": {
      "c": {"dynamic": {"part": {"for_each": ["u"], "content": {"v": "${var.on ? 1 : part.value}"}}}}
    }
  }
}"#;

/// A line for each point: kind, block, reached sides.
fn reached(config: &Config, coverage: &Coverage) -> Vec<String> {
    let points = config.modules().into_iter().flat_map(|module| points_of(module));
    points.map(|point| format!("{:?} {} {:?}", point.kind, point.name, coverage.reached(&point))).collect()
}

/// Validates and plans. The validation covers nothing.
async fn planned(config: &Arc<Config>) -> Arc<Coverage> {
    let world = World::new();
    let coverage = Arc::new(Coverage::default());
    let ports = Ports { coverage: Some(coverage.clone()), ..world.ports() };
    let facts = world.known.facts(config);
    let found = crate::validate(ValidateInput { facts: facts.clone(), parallelism: PARALLELISM }, &ports).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    let before = reached(config, &coverage);
    assert!(before.iter().all(|line| line.ends_with(" [false, false]")), "{before:?}");
    let scope = PlanScope { parallelism: PARALLELISM, ..PlanScope::default() };
    let input = PlanInput { facts, state: State::default(), variables: GivenVariables::new(), scope };
    let (_, found) = crate::plan(input, &ports).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    coverage
}

#[tokio::test]
async fn plans_record_what_they_evaluate() {
    let config = config(&[("main.tf", ROOT), ("m/main.tf", CHILD)]);
    let coverage = planned(&config).await;
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

/// In templates, heredocs, collections, arguments of functions and generated blocks, in both syntaxes. What is unknown, and what is
/// evaluated for no element, reaches no side.
#[tokio::test]
async fn all_conditions_are_found_once_and_recorded() {
    let config = config(&[("main.tf", PLACES), ("more.tf.json", PLACES_IN_JSON)]);
    let coverage = planned(&config).await;
    let points = points_of(&config.root).into_iter().filter(|point| point.kind == PointKind::Conditional);
    let line = |point: CoveragePoint| format!("{}: {} {:?}", point.name, point.range.text(), coverage.reached(&point));
    let mut lines: Vec<String> = points.map(line).collect();
    lines.sort();
    let mut expected = [
        "local.argument: var.on ? \"a\" : \"b\" [false, true]",
        "local.clause: x == \"a\" ? 1 : 2 [true, true]",
        "local.clause: x != \"c\"] [true, false]",
        "local.directive: %{ if var.on }b%{ else }c%{ endif } [false, true]",
        "local.heredoc: %{ if !var.on }d%{ endif } [true, false]",
        "local.heredoc: x == \"e\" ? \"f\" : \"g\" [true, false]",
        "local.keys: v > 0 ? k : \"h\" [true, false]",
        "local.keys: v > 1 ? true : false [true, true]",
        "local.keys: v > 1 ? true : false } [true, true]",
        "local.nested: %{ if var.on }k%{ endif } [false, true]",
        "local.nothing: (var.on ? x : true)] [false, false]",
        "local.nothing: var.on ? x : true [false, false]",
        "local.unknown: x == \"l\"] [false, false]",
        "test_thing.a: v == \"m\"] [true, true]",
        "test_thing.a: var.on ? \"o\" : part.value [false, true]",
        "test_thing.b: var.on] [false, true]",
        "test_thing.b: %{ if var.on }q%{ endif } [false, false]",
        "local.json: var.on] [false, true]",
        "local.json: %{ if var.on }t%{ endif } [false, true]",
        "test_thing.c: var.on ? 1 : part.value [false, true]",
    ];
    expected.sort_unstable();
    assert_eq!(lines, expected);
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
