//! Queries: the lists of query files, and what keeps them from their results.

use std::path::Path;
use std::sync::Arc;

use base::files::Memory;
use base::stop::Stage;
use model::config::policy_file::PolicySet;
use model::config::{Config, ModuleRequest, NoInputs, RootFiles, load_with};
use model::plan::ListResults;
use model::state::State;

use super::lister::Lister;
use super::schedule::{Interrupt, Schedule};
use super::world::texts;
use crate::{Facts, GivenVariables, QueryInput, ValidateInput};

pub(super) fn config(main: &str, query: &str) -> Arc<Config> {
    let files = Memory::of([("main.tf", main), ("q.tfquery.hcl", query)]);
    let resolver = |_: &ModuleRequest<'_>| unreachable!("no module is called");
    let (config, found) = load_with(RootFiles::WithQueries, Path::new(""), &files, &resolver, Arc::new(NoInputs));
    assert!(!found.has_errors(), "{:?}", texts(&found));
    Arc::new(config.expect("has no errors"))
}

/// Validates and queries.
async fn query(lister: &Arc<Lister>, config: Arc<Config>, generate: bool) -> (Vec<Arc<ListResults>>, Vec<String>) {
    query_with(lister, config, generate, Arc::default()).await
}

/// The same, with policies.
pub(super) async fn query_with(
    lister: &Arc<Lister>,
    config: Arc<Config>,
    generate: bool,
    policies: Arc<PolicySet>,
) -> (Vec<Arc<ListResults>>, Vec<String>) {
    let ports = lister.ports();
    let facts = Facts::of(config);
    let mut found = crate::validate(ValidateInput { facts: facts.clone(), parallelism: 2 }, &ports).await;
    if found.has_errors() {
        return (Vec::new(), texts(&found));
    }
    let (variables, state) = (GivenVariables::new(), State::default());
    let input = QueryInput { facts, state, variables, generate_config: generate, policies, parallelism: 2 };
    let results = found.take(crate::query(input, &ports).await);
    (results, texts(&found))
}

fn lister() -> Arc<Lister> {
    Lister::new(Schedule::default(), false)
}

/// Each result as `address: identity name state`.
fn shown(results: &[Arc<ListResults>]) -> Vec<String> {
    let one = |list: &Arc<ListResults>| {
        let addr = list.addr.to_string();
        let objects = list.objects.iter().map(move |object| {
            let name = object.identity.get("name").and_then(|name| name.as_str()).unwrap_or("?").to_string();
            let state = if object.state.is_some() { " with object" } else { "" };
            format!("{addr}: {name} {}{state}", object.display_name)
        });
        objects.collect::<Vec<_>>()
    };
    results.iter().flat_map(one).collect()
}

#[tokio::test]
async fn lists_give_their_results_in_the_order_of_their_blocks() {
    let text = r#"
        list "test_thing" "b" {
          provider = test
          for_each = { y = 1, x = 1 }
          limit    = each_limit
          config {
            prefix = "${each.key}${local.p}"
            total  = 5
          }
        }
        list "test_thing" "a" {
          provider         = test
          include_resource = true
        }
        locals {
          p = "-"
        }"#;
    let lister = lister();
    let (results, found) = query(&lister, config("", &text.replace("each_limit", "1 + 1")), false).await;
    assert_eq!(found, Vec::<String>::new());
    let expected = [
        "list.test_thing.b[\"x\"]: x-0 X-0",
        "list.test_thing.b[\"x\"]: x-1 X-1",
        "list.test_thing.b[\"y\"]: y-0 Y-0",
        "list.test_thing.b[\"y\"]: y-1 Y-1",
        "list.test_thing.a: 0 0 with object",
        "list.test_thing.a: 1 1 with object",
    ];
    assert_eq!(shown(&results), expected);
    assert_eq!(results[0].identity_version, 3);
    assert_eq!(lister.events.lock().expect("is free").len(), 6);
}

#[tokio::test]
async fn lists_refer_to_each_other_and_to_the_configuration() {
    let list = |name: &str, body: &str| format!("list \"test_thing\" \"{name}\" {{\n provider = test\n {body}\n}}\n");
    let main = "variable \"p\" {\n default = \"v\"\n sensitive = true\n}\nresource \"test_thing\" \"r\" {}\n";
    let cases = [
        (list("b", "config {\n prefix = var.p\n total = 1\n }"), vec!["list.test_thing.b: v0 V0"], vec![]),
        (
            list("a", "limit = 1")
                + &list("b", "limit = 1\n config {\n prefix = list.test_thing.a.data[0].identity.name\n }"),
            vec!["list.test_thing.a: 0 0", "list.test_thing.b: 00 00"],
            vec![],
        ),
        (
            list("a", "count = 2\n limit = 1")
                + &list(
                    "b",
                    "limit = length(list.test_thing.a[1].data)\n config {\n prefix = list.test_thing.a[0].data[0].display_name\n }",
                ),
            vec![],
            vec![
                "Invalid list resource traversal: The third step in the traversal for a list resource must be an attribute \
                  \"state\" or \"identity\".",
            ],
        ),
        (
            list("a", "config {\n prefix = list.test_thing.a.data[0].state.name\n }"),
            vec![],
            vec!["Self-referential block: Configuration for list.test_thing.a may not refer to itself."],
        ),
        (
            list("a", "config {\n prefix = list.test_thing.c.data[0].state.name\n }"),
            vec![],
            vec![
                "Reference to undeclared resource: A list resource \"test_thing\" \"c\" has not been declared in the root module.",
            ],
        ),
        (
            list("a", "") + &list("b", "config {\n prefix = list.test_thing.a.data[0].state.colour\n }"),
            vec![],
            vec![
                "Unsupported attribute: This object has no argument, nested block, or exported attribute named \"colour\".",
            ],
        ),
        (
            list("a", "") + &list("b", "config {\n prefix = list.test_thing.a.results\n }"),
            vec![],
            vec![
                "Invalid list resource traversal: The first step in the traversal for a list resource must be an attribute \
                  \"data\".",
            ],
        ),
        (
            list("a", "") + &list("b", "config {\n prefix = list.test_thing.a.data.x\n }"),
            vec![],
            vec![
                "Invalid list resource traversal: The second step in the traversal for a list resource must be an index.",
            ],
        ),
    ];
    for (text, results, errors) in cases {
        let (found, problems) = query(&lister(), config(main, &text), false).await;
        assert_eq!(
            (shown(&found), problems),
            (results.into_iter().map(String::from).collect(), errors.into_iter().map(String::from).collect()),
            "{text}"
        );
    }
}

#[tokio::test]
async fn errors_of_lists() {
    let list = |body: &str| format!("list \"test_thing\" \"a\" {{\n provider = test\n {body}\n}}\n");
    let cases = [
        (
            list("limit = null"),
            "Invalid \"limit\" argument: The given \"limit\" argument value is null. A number is required.",
        ),
        (
            list("limit = -1"),
            "Invalid limit argument: The given \"limit\" argument value is unsuitable: must be greater than or equal to zero.",
        ),
        (
            list("limit = 1.5"),
            "Invalid \"limit\" argument: The given \"limit\" argument value is unsuitable: value must be a whole number, between -9223372036854775808 and 9223372036854775807.",
        ),
        (list("include_resource = \"x\""), "Incorrect value type: Invalid expression value: a bool is required."),
        (list("config {\n fail = \"validate\"\n }"), "invalid list: "),
        (list("config {\n fail = \"list\"\n }"), "list failed: "),
        (
            list("config {\n fail = \"version\"\n total = 1\n }"),
            "Provider produced invalid identity: The provider listed an object of list.test_thing.a with an invalid identity: it has \
             the schema version 9, not 3.\n\nThis is a bug in the provider, which should be reported in the provider's own issue tracker.",
        ),
        (
            list("").replace("\"test_thing\"", "\"test_other\""),
            "Invalid list resource: The provider hashicorp/test does not support list resource \"test_other\".",
        ),
        (
            list("").replace("\"test_thing\"", "\"test_bare\""),
            "Identity schema not found for resource type test_bare; this is a bug in the provider - please report it there: ",
        ),
        (list("config {\n colour = 1\n }"), "Unsupported argument: An argument named \"colour\" is not expected here."),
        (String::new(), "No resources to query: The configuration does not contain any resources that can be queried."),
    ];
    for (text, error) in cases {
        let (results, found) = query(&lister(), config("", &text), false).await;
        assert_eq!((results.len(), found), (0, vec![error.to_string()]), "{text}");
    }
}

#[tokio::test]
async fn a_failed_list_does_not_keep_others_from_their_results() {
    let text = "list \"test_thing\" \"a\" {\n provider = test\n config {\n fail = \"list\"\n }\n}\n\
                list \"test_thing\" \"b\" {\n provider = test\n limit = 1\n config {\n fail = \"warn\"\n }\n}\n\
                list \"test_thing\" \"c\" {\n provider = test\n config {\n prefix = list.test_thing.a.data[0].state.name\n }\n}\n";
    let (results, found) = query(&lister(), config("", text), false).await;
    assert_eq!(shown(&results), ["list.test_thing.b: 0 0"]);
    assert_eq!(found, ["list failed: ", "listed with care: 0"]);
}

#[tokio::test]
async fn blocks_are_generated_for_the_results() {
    let text =
        "list \"test_thing\" \"a\" {\n provider = test\n count = 1\n limit = 1\n config {\n prefix = \"n\"\n }\n}\n";
    let import =
        "import {\n  to       = test_thing.a_0_0\n  provider = test\n  identity = {\n    name = \"n0\"\n  }\n}";
    let cases = [
        (false, "resource \"test_thing\" \"a_0_0\" {\n  provider = test\n  name     = \"n0\"\n  size     = 0\n}"),
        (
            true,
            "resource \"test_thing\" \"a_0_0\" {\n  provider = test\n  name     = \"by provider: n0\"\n  size     = null\n}",
        ),
    ];
    for (by_provider, resource) in cases {
        let lister = Lister::new(Schedule::default(), by_provider);
        let (results, found) = query(&lister, config("", text), true).await;
        assert_eq!(found, Vec::<String>::new());
        let generated = results[0].objects[0].generated.clone().expect("is generated");
        assert_eq!((generated.resource.as_str(), generated.import.as_str()), (resource, import));
    }
}

#[tokio::test]
async fn an_interrupted_or_panicking_list_is_an_error() {
    let text =
        |config: &str| format!("list \"test_thing\" \"a\" {{\n provider = test\n config {{\n {config}\n }}\n}}\n");
    for after in 0..3 {
        let interrupt = Some(Interrupt { after, stage: Stage::Stopping });
        let lister = Lister::new(Schedule::seeded(1, 1, interrupt), false);
        // Without the interrupt it would never end.
        let (results, found) =
            query(&lister, config("", &text("total = 100").replace("config", "limit = 1000000\n config")), false).await;
        assert_eq!(found, ["execution halted: "], "{after}");
        // A part of a list is not reported as a complete one.
        let events = lister.events.lock().expect("no test panics with the lock").clone();
        assert!(results.is_empty() && !events.iter().any(|event| event.starts_with("end ")), "{after}: {events:?}");
    }
    let (results, found) = query(&lister(), config("", &text("fail = \"panic\"")), false).await;
    assert_eq!(results.len(), 0);
    let error = "Terrane crashed: While working on list.test_thing.a, Terrane encountered an internal error: the list is broken\n\n\
                 This is a bug in Terrane; please report it. The operation is incomplete.";
    assert_eq!(found, [error]);
}
