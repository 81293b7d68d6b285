//! Conditions: which modes fail by them, and the addresses that their results are kept under.

use model::plan::Mode;
use model::state::{CheckResult, CheckStatus, State};

use super::world::*;

const CONDITIONS: &str = r#"
    resource "test_thing" "a" {
      name = "a"
      lifecycle {
        precondition {
          condition     = path.module == "x"
          error_message = "Before."
        }
        postcondition {
          condition     = self.name == "x"
          error_message = "After."
        }
      }
    }
    data "test_thing" "d" {
      name = "d"
      lifecycle {
        postcondition {
          condition     = self.name == "x"
          error_message = "Data."
        }
      }
    }
    output "o" {
      value = 1
      precondition {
        condition     = path.module == "x"
        error_message = "Output."
      }
    }"#;

/// Observed: a refresh reports what is there, also if conditions fail.
#[tokio::test]
async fn refreshing_only_warns_of_conditions() {
    let world = World::new();
    let (state, _) = apply(&world, "resource \"test_thing\" \"a\" {\n name = \"a\"\n}", &State::default()).await;
    let config = config(&[("main.tf", CONDITIONS)]);
    for (mode, expected) in [(Mode::RefreshOnly, "warning"), (Mode::Normal, "error")] {
        let (planned, found) = plan(&world, &config, &state, Options { mode, ..Options::default() }).await;
        assert_eq!(found.has_errors(), expected == "error", "{:?}", texts(&found));
        assert!(texts(&found).contains(&"Resource precondition failed: Before.".to_string()), "{:?}", texts(&found));
        let planned = planned.unwrap();
        assert_eq!(planned.errored, expected == "error");
        if mode == Mode::RefreshOnly {
            let messages: Vec<&str> = found.iter().map(|d| &*d.detail).collect();
            assert_eq!(messages, ["Output.", "Before.", "After.", "Data."]);
            assert!(planned.checks.iter().all(|check| check.status == CheckStatus::Fail), "{:?}", planned.checks);
        }
    }
}

const CHECKED_MODULE: &str = r#"
    variable "v" {
      default = "v"
      validation {
        condition     = var.v != ""
        error_message = "Empty."
      }
    }
    resource "test_thing" "a" {
      name = "a"
      lifecycle {
        postcondition {
          condition     = self.name == "a"
          error_message = "Other."
        }
      }
    }
    output "o" {
      value = var.v
      precondition {
        condition     = var.v != ""
        error_message = "Empty."
      }
    }
    check "c" {
      assert {
        condition     = var.v != ""
        error_message = "Empty."
      }
    }
    module "inner" {
      source = "../inner"
      count  = 1
    }"#;

const INNER_MODULE: &str = r#"
    variable "w" {
      default = 1
      validation {
        condition     = var.w > 0
        error_message = "Not positive."
      }
    }"#;

fn addresses_of(checks: &[CheckResult]) -> Vec<(&str, Vec<&str>)> {
    checks.iter().map(|c| (c.config_addr.as_str(), c.objects.iter().map(|o| o.0.as_str()).collect())).collect()
}

#[tokio::test]
async fn results_are_kept_by_the_address_of_the_block() {
    for (repetition, key) in [("", ""), ("count = 1", "[0]"), ("for_each = toset([\"k\"])", "[\"k\"]")] {
        let world = World::new();
        let text = format!("module \"m\" {{\n source = \"./m\"\n {repetition}\n}}");
        let files = [("main.tf", &*text), ("m/main.tf", CHECKED_MODULE), ("inner/main.tf", INNER_MODULE)];
        let (planned, found) = plan(&world, &config(&files), &State::default(), Options::default()).await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        let planned = planned.unwrap();
        let names = ["check.c", "inner.var.w", "output.o", "test_thing.a", "var.v"];
        let expected: Vec<(String, String)> = names
            .iter()
            .map(|name| match name.strip_prefix("inner.") {
                Some(name) => {
                    (format!("module.m.module.inner.{name}"), format!("module.m{key}.module.inner[0].{name}"))
                }
                None => (format!("module.m.{name}"), format!("module.m{key}.{name}")),
            })
            .collect();
        let mut expected: Vec<(&str, Vec<&str>)> =
            expected.iter().map(|(c, o)| (c.as_str(), vec![o.as_str()])).collect();
        expected.sort();
        assert_eq!(addresses_of(&planned.checks), expected, "{repetition}");
        let (state, found) = apply_plan(&world, &config(&files), planned).await;
        assert!(found.is_empty(), "{:?}", texts(&found));
        assert_eq!(addresses_of(&state.checks.unwrap()), expected, "{repetition}");
    }
}

/// Data sources that the plan read are not read again, and with targets or in a destroy, modules are not expanded.
#[tokio::test]
async fn unchecked_conditions_are_unknown() {
    const MODULE: &str = r#"
        data "test_thing" "d" {
          name = "d"
          lifecycle {
            postcondition {
              condition     = self.name == "d"
              error_message = "Data."
            }
          }
        }
        resource "test_thing" "z" {
          count = 0
          lifecycle {
            precondition {
              condition     = path.module != ""
              error_message = "None."
            }
          }
        }"#;
    let root = r#"
        module "m" {
          source = "./m"
          count  = 1
        }
        output "o" {
          value = 1
          precondition {
            condition     = path.module != ""
            error_message = "Output."
          }
        }"#;
    let world = World::new();
    let config = config(&[("main.tf", root), ("m/main.tf", MODULE)]);
    let shown = |checks: &[CheckResult]| -> Vec<String> {
        checks.iter().map(|c| format!("{} {:?} {}", c.config_addr, c.status, c.objects.len())).collect()
    };
    let (planned, _) = plan(&world, &config, &State::default(), Options::default()).await;
    let planned = planned.unwrap();
    let expected = ["module.m.data.test_thing.d Pass 1", "module.m.test_thing.z Pass 0", "output.o Pass 1"];
    assert_eq!(shown(&planned.checks), expected);
    let (state, found) = apply_plan(&world, &config, planned).await;
    assert!(found.is_empty(), "{:?}", texts(&found));
    let expected = ["module.m.data.test_thing.d Unknown 1", "module.m.test_thing.z Pass 0", "output.o Pass 1"];
    assert_eq!(shown(state.checks.as_ref().unwrap()), expected);

    let options = Options { mode: Mode::Destroy, ..Options::default() };
    let (planned, _) = plan(&world, &config, &state, options).await;
    let expected = ["module.m.data.test_thing.d Unknown 0", "module.m.test_thing.z Unknown 0", "output.o Unknown 1"];
    assert_eq!(shown(&planned.unwrap().checks), expected);
    let (state, _) = apply_as(&world, &config, &state, Mode::Destroy).await;
    assert_eq!(shown(state.checks.as_ref().unwrap()), expected);
}

/// Observed: the rules of a variable are checked in every module instance, also after a failure in another one.
#[tokio::test]
async fn rules_of_variables_are_checked_in_all_module_instances() {
    let root = "module \"m\" {\n source = \"./m\"\n for_each = toset([\"a\", \"b\"])\n w = 0\n}";
    let world = World::new();
    let config = config(&[("main.tf", root), ("m/main.tf", INNER_MODULE)]);
    let (planned, found) = plan(&world, &config, &State::default(), Options::default()).await;
    assert_eq!(found.iter().map(|d| &*d.summary).collect::<Vec<_>>(), ["Invalid value for variable"; 2]);
    let statuses: Vec<CheckStatus> = planned.unwrap().checks[0].objects.iter().map(|o| o.1).collect();
    assert_eq!(statuses, [CheckStatus::Fail; 2]);
}

/// As in Terraform 1.12 and later: the output is ephemeral, also if its value is not.
#[tokio::test]
async fn ephemeral_outputs_accept_all_values() {
    let variable = "variable \"e\" {\n default = \"e\"\n ephemeral = true\n}";
    let inner = format!("{variable}\noutput \"o\" {{\n value = var.e\n ephemeral = true\n}}");
    for value in ["var.e", "[var.e]", "\"x\"", "module.i.o"] {
        let root = "module \"m\" { source = \"./m\" }";
        let call = "module \"i\" { source = \"../i\" }";
        let outer = format!("{variable}\n{call}\noutput \"o\" {{\n value = {value}\n ephemeral = true\n}}");
        let world = World::new();
        let config = config(&[("main.tf", root), ("m/main.tf", &outer), ("i/main.tf", &inner)]);
        let found = validate(&world, &config).await;
        assert!(!found.has_errors(), "{value}: {found:?}");
        let (_, found) = plan(&world, &config, &State::default(), Options::default()).await;
        assert!(!found.has_errors(), "{value}: {found:?}");
    }
}

#[tokio::test]
async fn outputs_that_are_sensitive_and_ephemeral_have_one_error() {
    let text = "variable \"e\" {\n default = \"e\"\n ephemeral = true\n sensitive = true\n}\noutput \"o\" {\n value = var.e\n}";
    let (_, found) = plan(&World::new(), &config(&[("main.tf", text)]), &State::default(), Options::default()).await;
    assert_eq!(found.iter().map(|d| &*d.summary).collect::<Vec<_>>(), ["Output refers to sensitive values"]);
}

/// Observed: a name that means nothing is reported for the reference, and again for the expression, unless `can` or `try` is
/// around it.
#[tokio::test]
async fn undeclared_names_in_conditions_are_reported_twice_outside_of_can() {
    let undeclared = "Reference to undeclared resource";
    for (condition, expected) in [
        ("test_thing.none.name", vec!["Unknown variable", undeclared]),
        ("can(test_thing.none.name)", vec![undeclared]),
        ("try(test_thing.none.name, true)", vec![undeclared]),
    ] {
        let text = format!(
            "output \"o\" {{\n value = 1\n precondition {{\n condition = {condition}\n error_message = \"no\"\n }}\n}}"
        );
        let found = validate(&World::new(), &config(&[("main.tf", &text)])).await;
        let mut found: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
        found.sort_by_key(|summary| *summary == undeclared);
        assert_eq!(found, expected, "{condition}");
    }
}

/// Observed: of a plan that failed, resources are listed by instance as far as they were expanded, check blocks as far as
/// their modules were.
#[tokio::test]
async fn conditions_that_an_error_left_out_are_listed_by_instance() {
    const MODULE: &str = r#"
        variable "v" {}
        check "c" {
          assert {
            condition     = var.v != ""
            error_message = "Empty."
          }
        }"#;
    let root = r#"
        variable "none" {
          default = []
        }
        resource "test_thing" "a" {
          count = 2
          name  = var.none[count.index]
          lifecycle {
            postcondition {
              condition     = self.name == "a"
              error_message = "Other."
            }
          }
        }
        module "m" {
          source = "./m"
          count  = 2
          v      = test_thing.a[0].id
        }"#;
    let config = config(&[("main.tf", root), ("m/main.tf", MODULE)]);
    let (planned, found) = plan(&World::new(), &config, &State::default(), Options::default()).await;
    assert!(found.has_errors());
    let planned = planned.unwrap();
    assert!(planned.checks.iter().all(|check| check.status == CheckStatus::Unknown), "{:?}", planned.checks);
    let expected = [
        ("module.m.check.c", vec!["module.m[0].check.c", "module.m[1].check.c"]),
        ("test_thing.a", vec!["test_thing.a[0]", "test_thing.a[1]"]),
    ];
    assert_eq!(addresses_of(&planned.checks), expected);
}

/// Observed: what a failed plan did not get to is listed, unknown, as soon as its instances are known.
#[tokio::test]
async fn failed_plans_list_what_was_not_checked() {
    let world = World::new();
    let root = r#"
    locals { none = [] }
    module "m" {
      source   = "./m"
      for_each = toset(["x", "y"])
      value    = local.none[0]
    }
    resource "test_thing" "bad" {
      name = local.none[0]
      lifecycle {
        precondition {
          condition     = length(local.none) == 0
          error_message = "pre"
        }
        postcondition {
          condition     = self.name != ""
          error_message = "post"
        }
      }
    }
    check "c" {
      assert {
        condition     = test_thing.bad.name == ""
        error_message = "c"
      }
    }"#;
    let inner = r#"
    variable "value" {}
    check "d" {
      assert {
        condition     = var.value == ""
        error_message = "d"
      }
    }"#;
    let config = config(&[("main.tf", root), ("m/main.tf", inner)]);
    let (planned, found) = plan(&world, &config, &State::default(), Options::default()).await;
    assert!(found.has_errors());
    let checks = planned.unwrap().checks;
    let shown = |c: &CheckResult| {
        let objects: Vec<String> = c.objects.iter().map(|(addr, status, _)| format!("{addr} {status:?}")).collect();
        format!("{} {:?}: {}", c.config_addr, c.status, objects.join(", "))
    };
    let expected = [
        "check.c Unknown: check.c Unknown",
        "module.m.check.d Unknown: module.m[\"x\"].check.d Unknown, module.m[\"y\"].check.d Unknown",
        "test_thing.bad Unknown: test_thing.bad Unknown",
    ];
    assert_eq!(checks.iter().map(shown).collect::<Vec<_>>(), expected);
}

/// Observed: whether a provisioner failed is another question than whether the object is as it should be.
#[tokio::test]
async fn postconditions_are_checked_after_failed_provisioners() {
    let world = World::new();
    world.fail(&["note"]);
    let text = r#"resource "test_thing" "a" {
      name = "a"
      provisioner "note" { text = "note" }
      lifecycle {
        postcondition {
          condition     = self.output == "out-a"
          error_message = "Other."
        }
      }
    }"#;
    let (state, found) = apply(&world, text, &State::default()).await;
    assert_eq!(texts(&found), ["note failed: note"]);
    assert_eq!(state.checks.unwrap()[0].status, CheckStatus::Pass);
}
