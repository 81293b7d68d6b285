//! Work and memory grow with the number of instances, not with its square: every verb, everything that is shown, and
//! blocks of every shape, at a number and at ten times as many.

mod life;
mod measure;
mod provider;
mod shapes;

use std::time::Duration;

use model::plan::{Mode, Refresh};

use self::life::{Costs, Life};
use self::shapes::Shape;

/// The most that ten times as many instances may cost.
const MOST: f64 = 11.0;

/// As [`MOST`], for time, which other work of the machine influences: a square is far above.
const MOST_TIME: f64 = 30.0;

/// What ten times as many instances may hold where there are few: buffers grow by doubling.
const MOST_HELD_BY_FEW: f64 = 20.0;

/// So many instances show how memory grows.
const MANY: usize = 1_000;

/// Times below are not compared.
const SHORTEST: Duration = Duration::from_millis(300);

/// Every verb of a configuration with so many instances.
fn costs(shape: Shape, n: usize) -> Costs {
    let mut life = Life::new(&shape.files(n));
    life.validate();
    let plan = life.plan("plan of nothing", Mode::Normal, Refresh::All);
    life.apply("apply", plan);
    life.show();
    life.plan("no-op plan", Mode::Normal, Refresh::All);
    life.plan("no-op plan without refresh", Mode::Normal, Refresh::Never);
    life.plan("no-op plan with a minimal refresh", Mode::Normal, Refresh::Changed);
    life.drift(true);
    life.plan("refresh-only plan of drift", Mode::RefreshOnly, Refresh::All);
    life.plan("plan of drift", Mode::Normal, Refresh::All);
    life.drift(false);
    life.edit(&shape.edited(n));
    let plan = life.plan("plan of changes", Mode::Normal, Refresh::All);
    life.apply("apply of changes", plan);
    let plan = life.plan("plan of a destroy", Mode::Destroy, Refresh::All);
    life.apply("destroy", plan);
    life.costs
}

/// Compares the costs at a number of instances with those at ten times as many.
fn compare(shape: Shape, n: usize) {
    let (few, many) = (costs(shape, n), costs(shape, 10 * n));
    let mut wrong = Vec::new();
    let some = |costs: &Costs| costs.iter().filter(|(_, cost)| cost.allocations > 0).copied().collect::<Costs>();
    for ((name, few), (_, many)) in some(&few).iter().zip(some(&many)) {
        let counted = many.allocations as f64 / few.allocations as f64;
        let held = many.peak as f64 / few.peak as f64;
        let timed = many.computed.as_secs_f64() / few.computed.as_secs_f64();
        let is_slow = many.computed > SHORTEST && timed > MOST_TIME;
        println!("{shape:?} {n} {name}: {counted:.1}x, {held:.1}x, {timed:.1}x: {few}; {many}");
        let most_held = if n < MANY { MOST_HELD_BY_FEW } else { MOST };
        if counted > MOST || held > most_held || is_slow {
            wrong.push(format!(
                "{name}: {counted:.1} times the allocations, {held:.1} times the memory, {timed:.1} times the time"
            ));
        }
    }
    assert!(wrong.is_empty(), "{shape:?}, {n} instances and ten times as many:\n{}", wrong.join("\n"));
}

#[test]
fn count_grows_with_its_instances() {
    compare(Shape::Count, 50);
}

#[test]
fn for_each_grows_with_its_instances() {
    compare(Shape::ForEach, 50);
}

#[test]
fn blocks_grow_with_their_number() {
    compare(Shape::Blocks, 50);
}

#[test]
fn modules_grow_with_their_instances() {
    compare(Shape::Modules, 20);
}

#[test]
fn users_of_single_instances_grow_with_their_number() {
    compare(Shape::Keys, 30);
}

#[test]
fn replacements_by_triggers_grow_with_their_number() {
    compare(Shape::Triggers, 30);
}

#[test]
fn nested_sets_grow_with_their_elements() {
    compare(Shape::Parts, 100);
}

#[test]
fn removed_blocks_grow_with_their_number() {
    compare(Shape::Removed, 30);
}

/// The sizes that take minutes in a build without optimisation.
#[test]
#[ignore = "takes minutes"]
fn large_configurations_grow_with_their_size() {
    for shape in Shape::ALL {
        compare(shape, 1000);
    }
}
