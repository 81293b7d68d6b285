//! `ignore_changes`: what the configuration says is taken for what the object has.

use lang::syntax::ast::{IndexKey, Traversal, TraversalStep};
use model::config::IgnoreChanges;
use terrane_value::{Path, PathStep, Value};

use crate::change::ignore::{ignore_all, ignore_paths};
use crate::step::resource::Instance;

/// The configuration as if what is to be ignored were as before.
pub fn ignoring(instance: &Instance<'_>, before: &Value, config: &Value) -> Value {
    match ignored(instance, before) {
        Some(IgnoreChanges::All) => ignore_all(&instance.schema.block, before),
        Some(IgnoreChanges::Paths(paths)) => ignoring_paths(before, config, paths),
        None => config.clone(),
    }
}

/// The answer of a provider with what is to be ignored as before.
pub fn put_back(instance: &Instance<'_>, before: &Value, answer: Value) -> Value {
    match ignored(instance, before) {
        Some(IgnoreChanges::All) => before.clone(),
        Some(IgnoreChanges::Paths(paths)) => ignoring_paths(before, &answer, paths),
        None => answer,
    }
}

/// What the block ignores of an object that exists.
fn ignored<'r>(instance: &Instance<'r>, before: &Value) -> Option<&'r IgnoreChanges> {
    instance.config.filter(|_| !before.is_null()).map(|block| &block.lifecycle.ignore_changes)
}

fn ignoring_paths(before: &Value, value: &Value, paths: &[Traversal]) -> Value {
    if paths.is_empty() {
        return value.clone();
    }
    let paths: Vec<Path> = paths.iter().map(path_of).collect();
    ignore_paths(before, value, &paths)
}

/// A traversal relative to the object as a path; its root is an attribute.
pub fn path_of(traversal: &Traversal) -> Path {
    let root = PathStep::Attr(traversal.root.name.clone());
    let steps = traversal.steps.iter().filter_map(|step| match step {
        TraversalStep::Attr { name, .. } => Some(PathStep::Attr(name.name.clone())),
        TraversalStep::Index { key: IndexKey::Number(n), .. } => n.parse().ok().map(|n| PathStep::Index(Value::int(n))),
        TraversalStep::Index { key: IndexKey::String(s), .. } => Some(PathStep::Index(Value::shared_string(s.clone()))),
        TraversalStep::Splat { .. } => None,
    });
    Path([root].into_iter().chain(steps).collect())
}
