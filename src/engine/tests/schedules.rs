//! Random schedules: for any order of the steps and any interrupt point, nothing is lost and an unfinished
//! walk is never taken for a finished one.
//!
//! A schedule is a seed: it decides on the scenario, on how many steps may run at once, on the order in which calls go on,
//! and on the point where the run is interrupted, if it is. `TERRANE_TEST_SCHEDULES=FIRST..END` runs other seeds than the
//! fixed ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::diag::Diagnostics;
use base::stop::Stage;
use model::config::Config;
use model::plan::{Mode, Plan};
use model::state::{Instance, Object, State};

use super::schedule::{Interrupt, Random, Schedule};
use super::world::*;
use crate::{ApplyInput, GivenVariables};

/// The seeds of every run of the tests.
const SEEDS: std::ops::Range<u64> = 0..600;

/// A configuration before and after an edit.
struct Scenario {
    before: &'static [(&'static str, &'static str)],
    after: &'static [(&'static str, &'static str)],
}

const SCENARIOS: &[Scenario] = &[
    // Everything is created, read and updated.
    Scenario {
        before: &[("main.tf", r#"resource "test_thing" "a" { name = "a" }"#)],
        after: &[(
            "main.tf",
            r#"
            resource "test_thing" "a" { name = "a-new" }
            data "test_thing" "d" { name = test_thing.a.name }
            resource "test_thing" "b" {
              count = 3
              name  = "b${count.index}"
              input = data.test_thing.d.output
              provisioner "note" { text = self.name }
            }
            resource "test_thing" "c" {
              for_each = toset(["x", "y"])
              name     = "c${each.key}"
              input    = test_thing.b[0].output
            }
            output "all" { value = [test_thing.b[*].output, test_thing.c["x"].output, data.test_thing.d.output] }"#,
        )],
    },
    // Replacements in both orders, with users, and an instance less.
    Scenario {
        before: &[(
            "main.tf",
            r#"
            resource "test_thing" "first" {
              name  = "first"
              force = "1"
              lifecycle { create_before_destroy = true }
            }
            resource "test_thing" "user" {
              count = 3
              name  = "user${count.index}"
              input = test_thing.first.output
            }
            resource "test_thing" "last" {
              name  = "last"
              force = "1"
              input = test_thing.user[0].output
            }
            resource "test_thing" "gone" {
              name       = "gone"
              depends_on = [test_thing.last]
            }
            output "o" { value = test_thing.last.output }"#,
        )],
        after: &[(
            "main.tf",
            r#"
            resource "test_thing" "first" {
              name  = "first2"
              force = "2"
              lifecycle { create_before_destroy = true }
            }
            resource "test_thing" "user" {
              count = 2
              name  = "user${count.index}"
              input = test_thing.first.output
            }
            resource "test_thing" "last" {
              name  = "last2"
              force = "2"
              input = test_thing.user[0].output
            }
            output "o" { value = test_thing.last.output }
            output "p" { value = test_thing.user[*].input }"#,
        )],
    },
    // Modules whose outputs become known at different times.
    Scenario {
        before: &[("main.tf", "")],
        after: &[
            (
                "main.tf",
                r#"
                module "m" {
                  source   = "./m"
                  for_each = toset(["x", "y", "z"])
                  key      = each.key
                }
                resource "test_thing" "r" {
                  for_each = module.m
                  name     = each.value.fixed
                  input    = each.value.id
                }
                output "ids" { value = { for k, m in module.m : k => "${m.fixed} ${m.id}" } }"#,
            ),
            (
                "m/main.tf",
                r#"
                variable "key" {}
                resource "test_thing" "a" { name = "a${var.key}" }
                resource "test_thing" "b" {
                  name  = "b${var.key}"
                  input = test_thing.a.output
                }
                output "fixed" { value = "fixed-${var.key}" }
                output "id" { value = test_thing.b.output }"#,
            ),
        ],
    },
    // Actions before and after every kind of change.
    Scenario {
        before: &[(
            "main.tf",
            r#"
            resource "test_thing" "a" {
              count = 2
              name  = "a${count.index}"
            }
            resource "test_thing" "r" {
              name  = "r"
              force = "1"
            }"#,
        )],
        after: &[(
            "main.tf",
            r#"
            resource "test_thing" "a" {
              count = 1
              name  = "new${count.index}"
              lifecycle {
                action_trigger {
                  events  = [before_update, after_update, before_destroy, after_destroy]
                  actions = [action.test_act.x[0], action.test_act.x[1]]
                }
              }
            }
            resource "test_thing" "r" {
              name  = "r2"
              force = "2"
              lifecycle {
                action_trigger {
                  events  = [before_create, after_create, before_destroy, after_destroy]
                  actions = [action.test_act.x[1]]
                }
              }
            }
            resource "test_thing" "n" {
              name  = "n"
              input = test_thing.r.output
              lifecycle {
                action_trigger {
                  events     = [after_create]
                  actions    = [action.test_act.x[0]]
                  on_failure = taint
                }
              }
            }
            action "test_act" "x" {
              count = 2
              config { text = "${count.index} ${caller.name}" }
            }"#,
        )],
    },
    // The last objects of providers, which are configured from values and from an object that changes.
    Scenario {
        before: &[(
            "main.tf",
            r#"
            variable "region" { default = "v" }
            locals { region = "${var.region}-l" }
            provider "test" { region = local.region }
            provider "test" {
              alias  = "by"
              region = test_thing.base.output
            }
            resource "test_thing" "base" { name = "base" }
            resource "test_thing" "last" {
              name  = "last"
              input = test_thing.base.output
            }
            resource "test_thing" "by" {
              count    = 2
              provider = test.by
              name     = "by${count.index}"
              input    = test_thing.last.output
            }"#,
        )],
        after: &[(
            "main.tf",
            r#"
            variable "region" { default = "v" }
            locals { region = "${var.region}-l" }
            provider "test" { region = local.region }
            provider "test" {
              alias  = "by"
              region = test_thing.base.input
            }
            resource "test_thing" "base" {
              name  = "base"
              input = "known"
            }"#,
        )],
    },
    // Everything goes.
    Scenario {
        before: &[(
            "main.tf",
            r#"
            resource "test_thing" "a" {
              count = 2
              name  = "a${count.index}"
              provisioner "note" {
                when = destroy
                text = "bye"
              }
            }
            resource "test_thing" "b" {
              name  = "b"
              input = test_thing.a[*].output
            }
            output "o" { value = test_thing.b.output }"#,
        )],
        after: &[("main.tf", "")],
    },
];

/// What a scenario comes to without interruptions.
struct Expected {
    after: Arc<Config>,
    /// The state that the edit starts from, and the objects outside.
    start: State,
    objects: BTreeMap<String, String>,
    changes: Vec<String>,
    end: String,
}

/// A state as text, without what differs between runs: ids and keys of deposed objects.
fn shown(state: &State) -> String {
    let object = |object: &Object| format!("{:?} {:?}", object.status, object.attributes);
    let instance = |instance: &Instance| {
        let deposed: Vec<String> = instance.deposed.values().map(object).collect();
        format!("{:?} {deposed:?}", instance.current.as_ref().map(object))
    };
    let instances = state.instances().map(|(addr, _, i)| format!("{addr} {}\n", instance(i)));
    let outputs = state.outputs.iter().map(|(name, output)| format!("{name} = {:?}\n", output.value));
    without_ids(&instances.chain(outputs).collect::<String>())
}

fn without_ids(text: &str) -> String {
    let mut pieces = text.split("id-");
    let first = pieces.next().unwrap_or_default().to_string();
    pieces.fold(first, |text, piece| text + "id-" + piece.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// The ids of all objects that a state has.
fn ids(state: &State) -> BTreeSet<String> {
    let objects =
        state.instances().flat_map(|(_, _, i)| i.current.iter().chain(i.deposed.values()).collect::<Vec<_>>());
    let texts: Vec<String> = objects.map(|object| format!("{:?}", object.attributes)).collect();
    // `input` may hold another object's output, never its id.
    let id = |text: &String| {
        let (_, rest) = text.split_once("id-")?;
        Some(format!("id-{}", rest.chars().take_while(char::is_ascii_digit).collect::<String>()))
    };
    texts.iter().filter_map(id).collect()
}

async fn expected(scenario: &Scenario) -> Expected {
    let (before, after) = (config(scenario.before), config(scenario.after));
    let world = World::new();
    let (start, found) = apply_as(&world, &before, &State::default(), Mode::Normal).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    let objects = world.objects.lock().unwrap().clone();
    let (planned, _) = plan(&world, &after, &start, Options::default()).await;
    let changes = actions(planned.as_ref().unwrap());
    let (end, found) = apply_plan(&world, &after, planned.unwrap()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    Expected { after, start, objects, changes, end: shown(&end) }
}

fn is_halted(found: &Diagnostics) -> bool {
    found.iter().any(|d| d.is_error() && d.summary == "execution halted")
}

/// Checks a plan made by a schedule; returns it if it may be applied.
fn check_plan(
    expected: &Expected,
    world: &World,
    planned: Option<Plan>,
    found: &Diagnostics,
) -> Result<Option<Plan>, String> {
    if world.schedule.stop.is_stopping() {
        let marked = planned.as_ref().is_none_or(|plan| plan.errored && !plan.applyable && !plan.complete);
        return match is_halted(found) && marked {
            true => Ok(None),
            false => Err(format!("an interrupted plan looks complete: {:?}", texts(found))),
        };
    }
    let plan = planned.filter(|_| !found.has_errors()).ok_or_else(|| format!("no plan: {:?}", texts(found)))?;
    match actions(&plan) == expected.changes {
        true => Ok(Some(plan)),
        false => Err(format!("another plan: {:?}", actions(&plan))),
    }
}

/// All values that providers are configured with are known in these scenarios.
fn check_configured(world: &World) -> Result<(), String> {
    let log = world.log.lock().unwrap();
    match log.iter().find(|line| line.starts_with("configure ") && line.ends_with("unknown")) {
        Some(line) => Err(line.clone()),
        None => Ok(()),
    }
}

/// Applies, until the end or until the run is killed. None: it was killed.
async fn apply_or_abandon(world: &Arc<World>, config: &Arc<Config>, plan: Plan) -> Option<(State, Diagnostics)> {
    let parallelism = world.schedule.parallelism;
    let facts = world.known.facts(config);
    let input = ApplyInput { facts, plan: Arc::new(plan), variables: GivenVariables::new(), parallelism };
    let (ports, prior) = (world.ports(), input.plan.prior_state.clone());
    tokio::select! {
        (outcome, found) = crate::apply(input, &ports) => Some((outcome.state.unwrap_or(prior), found)),
        () = world.schedule.stop.killed() => None,
    }
}

/// Compares the objects outside with the state: the names of those that only one of them knows.
fn difference(world: &World, state: &State) -> BTreeSet<String> {
    let (outside, inside) = (world.objects.lock().unwrap().clone(), ids(state));
    let only_outside = outside.iter().filter(|(id, _)| !inside.contains(*id)).map(|(_, name)| name.clone());
    let only_inside = inside.iter().filter(|id| !outside.contains_key(*id)).cloned();
    only_outside.chain(only_inside).collect()
}

/// Checks what an apply left; returns the state to go on from.
fn check_apply(expected: &Expected, world: &World, outcome: Option<(State, Diagnostics)>) -> Result<State, String> {
    let record = world.record.lock().unwrap().clone();
    let Some((state, found)) = outcome else {
        let lost = difference(world, &record.state);
        return match lost.len() <= record.open.len() {
            true => Ok(record.state),
            false => Err(format!("lost: {lost:?}, open: {:?}", record.open)),
        };
    };
    if !record.open.is_empty() {
        return Err(format!("never finished: {:?}", record.open));
    }
    if shown(&record.state) != shown(&state) {
        return Err(format!("recorded:\n{}but the state is:\n{}", shown(&record.state), shown(&state)));
    }
    let lost = difference(world, &state);
    if !lost.is_empty() {
        return Err(format!("lost: {lost:?}"));
    }
    match (world.schedule.stop.is_stopping(), found.has_errors()) {
        (true, _) if !is_halted(&found) => Err(format!("interrupted without an error: {:?}", texts(&found))),
        (true, _) => Ok(state),
        (false, true) => Err(format!("errors: {:?}", texts(&found))),
        (false, false) if shown(&state) != expected.end => Err(format!("another state:\n{}", shown(&state))),
        (false, false) => Ok(state),
    }
}

/// Runs the schedule of a seed.
async fn run(expected: &[Expected], seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let expected = &expected[random.below(expected.len() as u64) as usize];
    let parallelism = [1, 2, 3, 10][random.below(4) as usize];
    let stage = [Stage::Running, Stage::Stopping, Stage::Stopping, Stage::Killed][random.below(4) as usize];
    let interrupt = (stage != Stage::Running).then(|| Interrupt { after: random.below(70), stage });
    let world = World::scheduled(Schedule::seeded(random.0, parallelism, interrupt));
    *world.objects.lock().unwrap() = expected.objects.clone();
    world.skip_ids(1000);

    let (planned, found) = tokio::select! {
        planned = plan(&world, &expected.after, &expected.start, Options::default()) => planned,
        // Nothing was changed yet.
        () = world.schedule.stop.killed() => return Ok(()),
    };
    check_configured(&world)?;
    let Some(planned) = check_plan(expected, &world, planned, &found)? else { return Ok(()) };
    let outcome = apply_or_abandon(&world, &expected.after, planned).await;
    let killed = outcome.is_none();
    check_configured(&world)?;
    let state = check_apply(expected, &world, outcome)?;

    // The next run, undisturbed, comes to the same end.
    let next = World::new();
    *next.objects.lock().unwrap() = world.objects.lock().unwrap().clone();
    *next.gone.lock().unwrap() =
        ids(&state).difference(&next.objects.lock().unwrap().keys().cloned().collect()).cloned().collect();
    next.skip_ids(100_000);
    let (end, found) = apply_as(&next, &expected.after, &state, Mode::Normal).await;
    if found.has_errors() || shown(&end) != expected.end {
        return Err(format!(
            "the next run ends with {:?} and\n{}instead of\n{}",
            texts(&found),
            shown(&end),
            expected.end
        ));
    }
    let orphans = difference(&next, &end);
    if !killed && !orphans.is_empty() {
        return Err(format!("the next run loses {orphans:?}"));
    }
    let (again, _) = plan(&next, &expected.after, &end, Options::default()).await;
    match again.map(|plan| actions(&plan)) {
        Some(actions) if actions.is_empty() => Ok(()),
        other => Err(format!("not converged: {other:?}")),
    }
}

fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("TERRANE_TEST_SCHEDULES").ok();
    let range = given.as_deref().and_then(|text| text.split_once(".."));
    range.map_or(SEEDS, |(first, end)| first.parse().unwrap()..end.parse().unwrap())
}

#[tokio::test]
async fn any_order_and_any_interrupt_lose_nothing() {
    let mut all = Vec::new();
    for scenario in SCENARIOS {
        all.push(expected(scenario).await);
    }
    let mut failures = Vec::new();
    for seed in seeds() {
        let ran = tokio::time::timeout(std::time::Duration::from_secs(20), run(&all, seed)).await;
        let ran = ran.unwrap_or_else(|_| Err("hangs".to_string()));
        failures.extend(ran.err().map(|why| format!("seed {seed}: {why}")));
        if failures.len() == 5 {
            break;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
