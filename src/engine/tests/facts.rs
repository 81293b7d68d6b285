//! Static facts are built once for all verbs of a command.

use std::sync::Arc;

use model::plan::Mode;
use model::state::State;

use super::world::*;
use crate::Facts;
use crate::blocks::schemas::Schemas;
use crate::facts::ConfigGraph;
use crate::run::{Run, Verb};
use crate::verbs::prepare::{RunRequest, prepare};

const PAIR: &str = "resource \"test_thing\" \"a\" {\n name = \"a\"\n}\n\
                    resource \"test_thing\" \"b\" {\n name = test_thing.a.id\n \
                    provisioner \"note\" {\n text = \"made\"\n }\n}\n\
                    output \"o\" {\n value = test_thing.b.id\n}";

/// The graph that a verb built and the next one starts from.
///
/// # Panics
///
/// If the next verb would build another.
async fn next_graph(world: &Arc<World>, facts: &Facts, state: Option<&State>) -> Arc<ConfigGraph> {
    let (schemas, found) = Schemas::load(facts.config(), state, &world.ports()).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    facts.graph(&schemas, || panic!("built again"))
}

async fn prepared(world: &Arc<World>, facts: &Arc<Facts>, verb: Verb) -> Arc<Run> {
    let run = prepare(RunRequest::new(verb, facts, State::default(), PARALLELISM), &world.ports()).await;
    run.unwrap_or_else(|found| panic!("{:?}", texts(&found)))
}

/// Whether two runs have the same tree and share what the references of all blocks come to.
fn share_facts(a: &Arc<Run>, b: &Arc<Run>, blocks: usize) -> bool {
    let (ours, theirs) = (&a.schedule.needs, &b.schedule.needs);
    let shared = (0..blocks).filter(|node| Arc::ptr_eq(&ours[*node], &theirs[*node])).count();
    assert!(shared == 0 || shared == blocks, "{shared} of {blocks}");
    Arc::ptr_eq(&a.blocks.tree, &b.blocks.tree) && shared == blocks
}

#[tokio::test]
async fn one_apply_builds_the_static_facts_once() {
    let (world, config) = (World::new(), config(&[("main.tf", PAIR)]));
    let facts = world.known.facts(&config);
    assert!(!validate(&world, &config).await.has_errors());
    let built = next_graph(&world, &facts, None).await;
    // Plan, and apply; then the plan ahead of a destroy, its plan, the check of its order, and the apply.
    let (state, found) = apply_as(&world, &config, &State::default(), Mode::Normal).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    let (gone, found) = apply_as(&world, &config, &state, Mode::Destroy).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    assert_eq!((addresses(&state).len(), addresses(&gone).len()), (2, 0));
    assert!(Arc::ptr_eq(&built, &next_graph(&world, &facts, Some(&state)).await));
    assert!(Arc::ptr_eq(&facts, &world.known.facts(&config)));
}

#[tokio::test]
async fn each_verb_starts_from_the_same_tree_and_references() {
    let world = World::new();
    let facts = Facts::of(config(&[("main.tf", PAIR)]));
    let validated = prepared(&world, &facts, Verb::Validate).await;
    let blocks = next_graph(&world, &facts, None).await.needs.len();
    assert!(blocks > 3, "{blocks}");
    for verb in [Verb::Plan { refresh_only: false, pre_destroy: false }, Verb::Apply { refresh_only: false }] {
        assert!(share_facts(&validated, &prepared(&world, &facts, verb).await, blocks), "{verb:?}");
    }
}

#[tokio::test]
async fn other_schemas_and_other_configurations_have_their_own_facts() {
    let world = World::new();
    let facts = Facts::of(config(&[("main.tf", PAIR)]));
    let first = prepared(&world, &facts, Verb::Validate).await;
    let blocks = next_graph(&world, &facts, None).await.needs.len();
    world.known.change_schemas();
    let second = prepared(&world, &facts, Verb::Validate).await;
    assert!(!share_facts(&first, &second, blocks));
    assert!(share_facts(&second, &prepared(&world, &facts, Verb::Validate).await, blocks));
    let changed = Facts::of(config(&[("main.tf", &PAIR.replace("test_thing.a.id", "\"b\""))]));
    let third = prepared(&world, &changed, Verb::Validate).await;
    assert!(!share_facts(&second, &third, blocks));
    let references = |run: &Run| run.schedule.needs.iter().map(|needs| needs.on.len()).sum::<usize>();
    assert_eq!((references(&second), references(&third)), (2, 1));
}
