//! Overrides of tests whose values depend on the object that they are for.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::SourceFile;
use lang::syntax::parse_file;
use model::config::test_file::{self, TestFile, TestProvider};
use model::plan::PlanScope;
use model::state::State;

use super::world::*;
use crate::mock::{OverrideLayer, Overrides, TestDoubles};
use crate::ports::Ports;
use crate::testing::DeclaredDoubles;
use crate::{GivenVariables, PlanInput};

fn test_file(text: &str) -> TestFile {
    let text = format!("test {{\n  extensions = [\"terrane\"]\n}}\n{text}");
    let (body, problems) = parse_file(SourceFile::new("a.tftest.hcl", text));
    assert!(problems.is_empty(), "{problems:?}");
    let mut problems = Diagnostics::new();
    let file = test_file::decode("a.tftest.hcl", &body, &mut problems);
    assert!(problems.is_empty(), "{problems:?}");
    file
}

const ROOT: &str = r#"
    variable "secret" {
      default   = "MARKER"
      sensitive = true
    }
    resource "test_thing" "a" {
      for_each = toset(["k"])
      name     = "n"
      input    = var.secret
    }"#;

/// The planned id of `test_thing.a["k"]`, and whether it is sensitive.
async fn planned_id(values: &str) -> (Option<String>, bool) {
    let world = World::new();
    let file = test_file(&format!(
        "override_resource {{\n  target = test_thing.a\n  override_during = plan\n  values = {values}\n}}\n"
    ));
    let mut declared = DeclaredDoubles::new(world.ports().host);
    let overrides = file.overrides.values().map(|one| (one.target.clone(), declared.overriding(one, None))).collect();
    assert!(declared.diagnostics.is_empty(), "{:?}", texts(&declared.diagnostics));
    let doubles = TestDoubles {
        overrides: Overrides::new(vec![OverrideLayer { provider: None, overrides }]),
        derived: declared.derived.clone(),
        ..TestDoubles::default()
    };
    let ports = Ports { doubles: Arc::new(doubles), ..world.ports() };
    let config = config(&[("main.tf", ROOT)]);
    let scope = PlanScope { parallelism: PARALLELISM, ..PlanScope::default() };
    let facts = world.known.facts(&config);
    let input = PlanInput { facts, state: State::default(), variables: GivenVariables::new(), scope };
    let (plan, found) = crate::plan(input, &ports).await;
    assert!(!found.has_errors(), "{values}: {:?}", texts(&found));
    let plan = plan.unwrap();
    let id = plan.changes[0].change.after.get("id").unwrap();
    (id.as_str().map(String::from), id.is_sensitive())
}

#[tokio::test]
async fn values_follow_the_object_and_are_as_sensitive_as_it_is() {
    let cases = [
        ("{ id = \"plain\" }", "plain", false),
        ("{ id = \"id of ${self.name}\" }", "id of n", false),
        ("{ id = \"${self.name}-${each.key}\" }", "n-k", false),
        ("{ id = \"id of ${self.input}\" }", "id of MARKER", true),
    ];
    for (values, id, is_sensitive) in cases {
        assert_eq!(planned_id(values).await, (Some(id.to_owned()), is_sensitive), "{values}");
    }
}

#[test]
fn names_that_an_object_does_not_have_are_errors_where_they_stand() {
    let world = World::new();
    let file = test_file(
        "mock_provider \"test\" {\n  mock_resource \"test_thing\" {\n    defaults = { id = each.key }\n  }\n\
         mock_resource \"test_other\" {\n    defaults = { id = self.name }\n  }\n}\n\
         override_module {\n  target  = module.m\n  outputs = { o = self.x }\n}\n",
    );
    let mut declared = DeclaredDoubles::new(world.ports().host);
    for provider in file.providers.values() {
        let TestProvider::Mock(mock) = provider else { panic!("{provider:?}") };
        let types: Vec<_> = mock.data.resources.values().map(|block| declared.mocked_type(block)).collect();
        assert_eq!(types.iter().filter(|of_type| of_type.of_object.is_some()).count(), 1);
    }
    for one in file.overrides.values() {
        assert!(declared.overriding(one, None).of_object.is_none());
    }
    let place = |problem: &Diagnostic| Some(problem.subject.as_ref()?.to_string());
    let places: Vec<String> = declared.diagnostics.iter().filter_map(place).collect();
    assert_eq!(places, ["a.tftest.hcl:6,16-33", "a.tftest.hcl:14,13-27"]);
    let summaries: Vec<&str> = declared.diagnostics.iter().map(|d| &*d.summary).collect();
    assert_eq!(summaries, ["Name not available in a mock"; 2]);
}
