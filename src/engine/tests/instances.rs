//! Instances that a run leaves out: targets, refresh-only plans, orphans, and references to what is not there.

use model::plan::{Mode, Plan};
use model::state::{CheckStatus, State};

use super::world::*;

fn output(plan: &Plan, name: &str) -> String {
    let found = plan.outputs.iter().find(|o| &*o.name == name).unwrap();
    terrane_value::json::to_simple_json(&found.change.after).unwrap_or_else(|_| "unknown".into())
}

#[tokio::test]
async fn collections_hold_the_instances_that_exist() {
    let world = World::new();
    let text = r#"
        resource "test_thing" "c" {
          count = 3
          name  = "c${count.index}"
        }
        resource "test_thing" "f" {
          for_each = toset(["a", "b"])
          name     = each.key
        }
        output "c" { value = test_thing.c[*].name }
        output "f" { value = keys(test_thing.f) }
        output "try" { value = try(test_thing.f["b"].name, "none") }"#;
    let config = config(&[("main.tf", text)]);
    let refresh_only = || Options { mode: Mode::RefreshOnly, ..Options::default() };
    let (planned, found) = plan(&world, &config, &State::default(), refresh_only()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let planned = planned.unwrap();
    assert_eq!(["c", "f", "try"].map(|name| output(&planned, name)), ["[]", "[]", "\"none\""]);

    let options = Options { targets: targets(&["test_thing.c[1]", "test_thing.f[\"a\"]"]), ..Options::default() };
    let (planned, _) = plan(&world, &config, &State::default(), options).await;
    let (state, _) = apply_plan(&world, &config, planned.unwrap()).await;
    assert_eq!(addresses(&state), ["test_thing.c[1]", "test_thing.f[\"a\"]"]);
    let (planned, found) = plan(&world, &config, &state, refresh_only()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let planned = planned.unwrap();
    assert_eq!(["f", "try"].map(|name| output(&planned, name)), ["[\"a\"]", "\"none\""]);
}

#[tokio::test]
async fn refresh_only_rejects_keys_of_absent_instances() {
    let world = World::new();
    let text = r#"
        resource "test_thing" "f" {
          for_each = toset(["a"])
          name     = each.key
        }
        output "f" { value = test_thing.f["a"].name }"#;
    let options = Options { mode: Mode::RefreshOnly, ..Options::default() };
    let (_, found) = plan(&world, &config(&[("main.tf", text)]), &State::default(), options).await;
    assert_eq!(found.iter().map(|d| &*d.summary).collect::<Vec<_>>(), ["Invalid index"]);
}

#[tokio::test]
async fn destroying_does_not_need_absent_instances() {
    let world = World::new();
    let with = |keys: &str| {
        format!(
            r#"resource "test_thing" "f" {{
              for_each = toset([{keys}])
              name     = each.key
            }}
            output "f" {{ value = test_thing.f["a"].name }}"#
        )
    };
    let (state, _) = apply(&world, &with("\"a\""), &State::default()).await;
    let more = with("\"a\", \"b\"").replace("f[\"a\"]", "f[\"b\"]");
    let options = Options { mode: Mode::Destroy, ..Options::default() };
    let (planned, found) = plan(&world, &config(&[("main.tf", &more)]), &state, options).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    assert_eq!(actions(&planned.unwrap()), ["Delete test_thing.f[\"a\"]"]);
}

const MODULES: [(&str, &str); 2] = [
    (
        "main.tf",
        r#"module "m" {
          source   = "./m"
          for_each = toset(["x", "y"])
        }
        resource "test_thing" "all" { input = module.m["y"].id }"#,
    ),
    (
        "m/main.tf",
        r#"resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" { input = test_thing.a.id }
        output "id" { value = test_thing.b.id }"#,
    ),
];

/// Observed: instances of one module do not depend on each other; what is outside depends on all of them.
#[tokio::test]
async fn targeted_destroy_takes_dependents_by_instance() {
    let world = World::new();
    let config = config(&MODULES);
    let (state, _) = apply_as(&world, &config, &State::default(), Mode::Normal).await;
    let options =
        Options { mode: Mode::Destroy, targets: targets(&["module.m[\"x\"].test_thing.a"]), ..Options::default() };
    let (planned, _) = plan(&world, &config, &state, options).await;
    let planned = planned.unwrap();
    assert_eq!(
        actions(&planned),
        ["Delete test_thing.all", "Delete module.m[\"x\"].test_thing.a", "Delete module.m[\"x\"].test_thing.b"]
    );
    let (state, found) = apply_plan(&world, &config, planned).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!(addresses(&state), ["module.m[\"y\"].test_thing.a", "module.m[\"y\"].test_thing.b"]);
}

#[tokio::test]
async fn targeted_orphan_is_destroyed() {
    let world = World::new();
    let (state, _) = apply(&world, "resource \"test_thing\" \"a\" {\n name = \"a\"\n}", &State::default()).await;
    let nothing = config(&[("main.tf", "")]);
    let options = Options { targets: targets(&["test_thing.a"]), ..Options::default() };
    let (planned, _) = plan(&world, &nothing, &state, options).await;
    let (state, found) = apply_plan(&world, &nothing, planned.unwrap()).await;
    assert!(!found.has_errors() && state.is_empty(), "{:?}", texts(&found));
}

#[tokio::test]
async fn targets_leave_checks_of_other_instances_unknown() {
    let world = World::new();
    let text = r#"resource "test_thing" "c" {
      count = 2
      lifecycle {
        precondition {
          condition     = path.module != ""
          error_message = "none"
        }
      }
    }"#;
    let options = Options { targets: targets(&["test_thing.c[0]"]), ..Options::default() };
    let (planned, _) = plan(&world, &config(&[("main.tf", text)]), &State::default(), options).await;
    let checks = planned.unwrap().checks;
    let objects: Vec<_> = checks[0].objects.iter().map(|(addr, status, _)| (addr.as_str(), *status)).collect();
    assert_eq!(objects, [("test_thing.c[0]", CheckStatus::Pass), ("test_thing.c[1]", CheckStatus::Unknown)]);
    assert_eq!(checks[0].status, CheckStatus::Unknown);
}

/// Recorded: a reference to one output needs that output's value, not the variables of its module.
#[tokio::test]
async fn checks_that_targets_leave_out_are_unknown_in_modules_without_instances() {
    let world = World::new();
    let root = r#"
    module "m" {
      source = "./m"
      count  = 0
    }
    resource "test_thing" "a" {
      name = try(module.m[0].o, "none")
    }"#;
    let child = r#"
    variable "v" {
      default = "x"
      validation {
        condition     = var.v != ""
        error_message = "none"
      }
    }
    output "o" {
      value = "o"
    }"#;
    let config = config(&[("main.tf", root), ("m/main.tf", child)]);
    for (wanted, expected) in [(&["test_thing.a"][..], CheckStatus::Unknown), (&[], CheckStatus::Pass)] {
        let options = Options { targets: targets(wanted), ..Options::default() };
        let (planned, _) = plan(&world, &config, &State::default(), options).await;
        assert_eq!(planned.unwrap().checks[0].status, expected, "{wanted:?}");
    }
}

/// What planning makes of an element of `replace_triggered_by`: the actions, or the error.
#[tokio::test]
async fn triggers_name_objects_with_changes() {
    let cases = [
        ("test_thing.one", "DeleteThenCreate"),
        ("test_thing.one.name", "DeleteThenCreate"),
        ("test_thing.one.force", "NoOp"),
        ("test_thing.one.nope", "Unsupported attribute"),
        ("test_thing.many", "DeleteThenCreate"),
        ("test_thing.many[0]", "DeleteThenCreate"),
        ("test_thing.many[1].name", "DeleteThenCreate"),
        ("test_thing.many[2]", "NoOp"),
        ("test_thing.many.name", "no change found for test_thing.many in the root module"),
        ("test_thing.none", "NoOp"),
        ("test_thing.one[0]", "no change found for test_thing.one[0] in the root module"),
        ("test_thing.gone", "Reference to undeclared resource"),
    ];
    for (trigger, expected) in cases {
        let world = World::new();
        let with = |value: &str, trigger: &str| {
            format!(
                r#"resource "test_thing" "one" {{ name = "{value}" }}
                resource "test_thing" "many" {{
                  count = 2
                  name  = "{value}"
                }}
                resource "test_thing" "none" {{ count = 0 }}
                resource "test_thing" "t" {{
                  name = "t"
                  lifecycle {{ replace_triggered_by = [{trigger}] }}
                }}"#
            )
        };
        let (state, _) = apply(&world, &with("a", "test_thing.one"), &State::default()).await;
        let changed = config(&[("main.tf", &with("b", trigger))]);
        let (planned, found) = plan(&world, &changed, &state, Options::default()).await;
        let summary = found.iter().next().map(|d| d.summary.to_string());
        let of_t = planned.into_iter().flat_map(|p| p.changes).find(|c| c.addr.to_string() == "test_thing.t");
        let answer = summary.or_else(|| of_t.map(|c| format!("{:?}", c.action))).unwrap_or_default();
        assert_eq!(answer, expected, "{trigger}");
    }
}

/// Whether `moved` blocks are valid is judged by the instances that there are.
#[tokio::test]
async fn moves_are_checked_against_instances() {
    let block = "resource \"test_thing\" \"b\" {\n for_each = toset([\"x\", \"y\"])\n}\n";
    let cases: &[(&[(&str, &str)], &[&str])] = &[
        (&[("a", "b[\"x\"]")], &[]),
        (&[("b[\"z\"]", "b[\"x\"]")], &[]),
        (&[("b[\"y\"]", "b[\"x\"]")], &["Moved object still exists"]),
        (&[("b", "a")], &["Moved object still exists"]),
        (&[("a", "a")], &["Redundant move statement"]),
        (&[("a", "b[\"x\"]"), ("a", "b[\"y\"]")], &["Ambiguous move statements"]),
        (&[("a", "b[\"x\"]"), ("c", "b[\"x\"]")], &["Ambiguous move statements"]),
        // A resource and its instance without a key are different destinations.
        (&[("a", "c"), ("c[\"x\"]", "c")], &[]),
        (&[("a", "c"), ("c", "a")], &["Cyclic dependency in move statements"]),
        // A cycle is not reported beside other errors.
        (&[("b[\"x\"]", "b[\"z\"]"), ("b[\"z\"]", "b[\"x\"]")], &["Moved object still exists"]),
    ];
    for (moves, expected) in cases {
        let world = World::new();
        let statement =
            |(from, to): &(&str, &str)| format!("moved {{\n from = test_thing.{from}\n to = test_thing.{to}\n}}\n");
        let text = block.to_owned() + &moves.iter().map(statement).collect::<String>();
        let (planned, found) =
            plan(&world, &config(&[("main.tf", &text)]), &State::default(), Options::default()).await;
        assert_eq!(found.iter().map(|d| &*d.summary).collect::<Vec<_>>(), *expected, "{moves:?}");
        assert_eq!(planned.is_some(), expected.is_empty());
    }
}

/// A module and a resource in it move together; neither statement has to come first.
#[tokio::test]
async fn modules_move_with_what_moves_in_them() {
    let world = World::new();
    let child = |name: &str| format!("resource \"test_thing\" \"{name}\" {{\n name = \"a\"\n}}\n");
    let before = config(&[("main.tf", "module \"m\" {\n source = \"./m\"\n}"), ("m/main.tf", &child("a"))]);
    let (state, _) = apply_as(&world, &before, &State::default(), Mode::Normal).await;
    let root = "module \"m\" {\n source = \"./m\"\n count = 1\n}\nmoved {\n from = module.m\n to = module.m[0]\n}";
    let inner = child("b") + "moved {\n from = test_thing.a\n to = test_thing.b\n}";
    let after = config(&[("main.tf", root), ("m/main.tf", &inner)]);
    let (planned, found) = plan(&world, &after, &state, Options::default()).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let planned = planned.unwrap();
    assert_eq!(actions(&planned), Vec::<String>::new());
    assert_eq!(addresses(&planned.prior_state), ["module.m[0].test_thing.b"]);
}

#[tokio::test]
async fn plans_keep_removed_outputs_in_the_prior_state() {
    let world = World::new();
    let (state, _) = apply(&world, "output \"a\" {\n value = \"a\"\n}", &State::default()).await;
    for mode in [Mode::Normal, Mode::RefreshOnly] {
        let nothing = config(&[("main.tf", "")]);
        let (planned, _) = plan(&world, &nothing, &state, Options { mode, ..Options::default() }).await;
        let planned = planned.unwrap();
        assert!(planned.prior_state.outputs.contains_key("a"), "{mode:?}");
        let (state, found) = apply_plan(&world, &nothing, planned).await;
        // A refresh-only plan removes no outputs.
        assert_eq!((state.outputs.is_empty(), found.has_errors()), (mode == Mode::Normal, mode != Mode::Normal));
    }
}

#[tokio::test]
async fn failed_plans_still_warn_of_targets() {
    let world = World::new();
    let text = "resource \"test_thing\" \"a\" {\n name = var.nope\n}";
    let options = Options { targets: targets(&["test_thing.a"]), ..Options::default() };
    let (_, found) = plan(&world, &config(&[("main.tf", text)]), &State::default(), options).await;
    let summaries: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
    assert_eq!(summaries, ["Resource targeting is in effect", "Reference to undeclared input variable"]);
}

/// Observed: what a plan leaves in the state is in the collection, whether or not the configuration still has it.
#[tokio::test]
async fn collections_hold_instances_that_are_left_alone() {
    let with = |count: usize, keys: &str| {
        format!(
            r#"resource "test_thing" "c" {{
              count = {count}
              name  = "c${{count.index}}"
            }}
            resource "test_thing" "f" {{
              for_each = toset([{keys}])
              name     = each.key
            }}
            resource "test_thing" "other" {{ name = "other" }}
            output "c" {{ value = test_thing.c[*].name }}
            output "f" {{ value = keys(test_thing.f) }}"#
        )
    };
    let world = World::new();
    let (state, _) = apply(&world, &with(3, "\"a\", \"b\""), &State::default()).await;
    let config = config(&[("main.tf", &with(1, "\"b\""))]);
    let all = ["[\"c0\",\"c1\",\"c2\"]", "[\"a\",\"b\"]"];
    let targeted = &["test_thing.c[0]", "test_thing.f[\"b\"]"];
    for (options, expected) in [
        (Options::default(), ["[\"c0\"]", "[\"b\"]"]),
        (Options { mode: Mode::RefreshOnly, ..Options::default() }, all),
        (Options { targets: targets(targeted), ..Options::default() }, all),
    ] {
        let (planned, found) = plan(&world, &config, &state, options).await;
        assert!(!found.has_errors(), "{:?}", texts(&found));
        let planned = planned.unwrap();
        assert_eq!(
            ["c", "f"].map(|name| output(&planned, name)),
            expected,
            "{:?} {:?}",
            planned.scope.mode,
            planned.scope.targets
        );
        let (state, found) = apply_plan(&world, &config, planned).await;
        assert!(!found.has_errors(), "{:?}", texts(&found));
        let stored = |name: &str| terrane_value::json::to_simple_json(&state.outputs[name].value).unwrap();
        assert_eq!(["c", "f"].map(stored), expected);
    }
}

/// Observed: only what differs in the state counts.
#[tokio::test]
async fn refresh_only_plans_apply_where_the_state_changes() {
    let world = World::new();
    let before = "resource \"test_thing\" \"a\" {\n name = \"a\"\n}\noutput \"o\" {\n value = 1\n}";
    let (state, _) = apply(&world, before, &State::default()).await;
    let unknown =
        format!("{before}\noutput \"p\" {{\n value = test_thing.b.id\n}}\nresource \"test_thing\" \"b\" {{}}");
    let other = before.replace("value = 1", "value = 2");
    for (text, gone, expected) in
        [(before, "", false), (before, "id-1", true), (&unknown, "", false), (&other, "", true)]
    {
        *world.gone.lock().unwrap() = vec![gone.to_string()];
        let options = Options { mode: Mode::RefreshOnly, ..Options::default() };
        let (planned, found) = plan(&world, &config(&[("main.tf", text)]), &state, options).await;
        assert!(!found.has_errors(), "{:?}", texts(&found));
        assert_eq!(planned.unwrap().applyable, expected, "{text} {gone}");
    }
}

/// Observed, 1.11.4.
#[tokio::test]
async fn replacement_requests_without_a_key_are_warned_of() {
    let with = |count: usize| format!("resource \"test_thing\" \"a\" {{\n count = {count}\n name = \"a\"\n}}");
    let single = "resource \"test_thing\" \"a\" {\n name = \"a\"\n}".to_string();
    for (text, expected) in [
        (single, None),
        (with(0), Some("doesn't have any instances.")),
        (with(1), Some("following option instead:\n  -replace=\"test_thing.a[0]\"")),
        (with(2), Some("options instead:\n  -replace=\"test_thing.a[0]\"\n  -replace=\"test_thing.a[1]\"")),
    ] {
        let world = World::new();
        let replace = vec![model::addr::parse::parse_abs_instance("test_thing.a").unwrap()];
        let options = Options { replace, ..Options::default() };
        let (_, found) = plan(&world, &config(&[("main.tf", &text)]), &State::default(), options).await;
        assert_eq!(found.iter().count(), usize::from(expected.is_some()), "{:?}", texts(&found));
        assert!(texts(&found).concat().ends_with(expected.unwrap_or_default()), "{:?}", texts(&found));
    }
}

/// Observed: excluded resources do not force `create_before_destroy` on others.
#[tokio::test]
async fn replacements_follow_what_targets_keep() {
    let with = |force: &str| {
        format!(
            r#"resource "test_thing" "a" {{
              name  = "a"
              force = {force:?}
            }}
            resource "test_thing" "b" {{
              input = test_thing.a.id
              lifecycle {{ create_before_destroy = true }}
            }}"#
        )
    };
    let world = World::new();
    let (state, _) = apply(&world, &with("1"), &State::default()).await;
    for (of, expected) in [(vec![], "CreateThenDelete"), (targets(&["test_thing.a"]), "DeleteThenCreate")] {
        let options = Options { targets: of, ..Options::default() };
        let (planned, _) = plan(&world, &config(&[("main.tf", &with("2"))]), &state, options).await;
        assert_eq!(actions(&planned.unwrap())[0], format!("{expected} test_thing.a"));
    }
}

/// Observed: they go whole.
#[tokio::test]
async fn targets_do_not_protect_objects_of_module_instances_that_are_gone() {
    let child = "resource \"test_thing\" \"a\" {\n for_each = toset([\"x\", \"y\"])\n name = each.key\n}";
    let with = |more: &str| {
        config(&[("main.tf", &format!("module \"m\" {{\n source = \"./m\"\n{more}\n}}")), ("m/main.tf", child)])
    };
    let world = World::new();
    let (state, _) = apply_as(&world, &with(""), &State::default(), Mode::Normal).await;
    let options = Options { targets: targets(&["module.m.test_thing.a[\"x\"]"]), ..Options::default() };
    let (planned, _) = plan(&world, &with("for_each = toset([\"k\"])"), &state, options).await;
    let expected = ["Delete module.m.test_thing.a[\"x\"]", "Delete module.m.test_thing.a[\"y\"]"];
    assert_eq!(actions(&planned.unwrap()), expected);
}

/// A plan of OpenTofu with `-exclude` lacks the changes of what is excluded and of what depends on it.
#[tokio::test]
async fn apply_leaves_out_what_depends_on_excluded_resources() {
    let world = World::new();
    let config = config(&[(
        "main.tf",
        "resource \"test_thing\" \"a\" { name = \"a\" }\nresource \"test_thing\" \"b\" { name = test_thing.a.name }\n\
         resource \"test_thing\" \"c\" { name = test_thing.b.name }\noutput \"a\" { value = test_thing.a.name }\n\
         output \"c\" { value = test_thing.c.name }\noutput \"n\" { value = 1 }",
    )]);
    let (planned, _) = plan(&world, &config, &State::default(), Options::default()).await;
    let mut planned = planned.unwrap();
    planned.scope.excludes = targets(&["test_thing.b"]);
    planned.changes.retain(|change| change.addr.to_string() == "test_thing.a");
    planned.outputs.retain(|output| &*output.name == "a");
    planned.prior_state.outputs.clear();
    let (state, found) = apply_plan(&world, &config, planned).await;
    assert_eq!(texts(&found).len(), 1, "{:?}", texts(&found));
    assert!(texts(&found)[0].contains("Applied changes may be incomplete"), "{:?}", texts(&found));
    assert_eq!(addresses(&state), ["test_thing.a"]);
    assert_eq!(state.outputs.keys().map(|name| name.to_string()).collect::<Vec<_>>(), ["a"]);
}

/// Root outputs are updated if all that they come from is kept, objects without a block included.
#[tokio::test]
async fn targets_keep_the_outputs_of_what_they_keep() {
    let with = |orphan: &str| {
        let main = "resource \"test_thing\" \"a\" { name = \"a\" }\nresource \"test_thing\" \"b\" { name = \"b\" }\n\
                    module \"m\" { source = \"./m\" }\n\
                    output \"a\" { value = test_thing.a.name }\noutput \"ab\" { value = \"${test_thing.a.name}${test_thing.b.name}\" }\n\
                    output \"m\" {\n value = test_thing.a.name\n depends_on = [module.m]\n}\noutput \"none\" { value = 1 }";
        config(&[("main.tf", main), ("m/main.tf", orphan)])
    };
    let world = World::new();
    let orphan = "resource \"test_thing\" \"o\" { name = \"o\" }";
    let (state, _) = apply_as(&world, &with(orphan), &State::default(), Mode::Normal).await;
    for (of, state, expected) in [
        ("test_thing.a", State::default(), vec!["a", "m"]),
        ("test_thing.a", state.clone(), vec!["a"]),
        ("module.m.test_thing.o", state, vec![]),
    ] {
        let options = Options { targets: targets(&[of]), ..Options::default() };
        let (planned, _) = plan(&world, &with(""), &state, options).await;
        let outputs: Vec<String> = planned.unwrap().outputs.iter().map(|o| o.name.to_string()).collect();
        assert_eq!(outputs, expected, "{of}");
    }
}

/// What has no block any more depends on what the state says.
#[tokio::test]
async fn excludes_spare_what_depends_on_them_in_the_state() {
    let world = World::new();
    let whole = "resource \"test_thing\" \"a\" {\n name = \"a\"\n}\n\
                 resource \"test_thing\" \"b\" {\n name = test_thing.a.name\n}\n\
                 resource \"test_thing\" \"c\" {\n name = \"c\"\n}\n";
    let (state, _) = apply(&world, whole, &State::default()).await;
    let rest = config(&[("main.tf", "resource \"test_thing\" \"a\" {\n name = \"a\"\n}\n")]);
    let excludes = targets(&["test_thing.a"]);
    let (plan, _) = plan(&world, &rest, &state, Options { excludes, ..Options::default() }).await;
    assert_eq!(actions(&plan.unwrap()), ["Delete test_thing.c"]);
}
