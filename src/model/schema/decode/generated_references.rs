//! The names that a body uses, with its `dynamic` blocks expanded: which of them are mistaken, and what that hides.
//!
//! Names in the content of a `dynamic` block count only where it generates a block; those that it generates from always do.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::SourceFile;
use lang::eval::dynamic::{ExpandedBlock, Iterators, Place};
use lang::eval::scope::Scope;
use lang::syntax::ast::{Expression, Traversal};
use lang::syntax::body::Body;
use terrane_protocol::schema::Block;
use terrane_value::Value;

use super::body_variables;
use crate::schema::as_blocks::written_as_blocks;

/// What is wrong with the references of generated blocks, whatever the values are; each thing once.
#[cold]
pub fn mistakes_in_generated(body: &Body, schema: &Block, scope: &dyn Scope) -> Diagnostics {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut visit = |traversal: &Traversal, file: &Arc<SourceFile>, is_generated: bool| {
        if is_generated {
            add_new(scope.check_generated(traversal, file), &mut found);
        }
    };
    visit_expanded(body, schema, scope, &Iterators::default(), &mut visit);
    found.into()
}

/// What is wrong with the names that `dynamic` blocks in the content of others generate from, each thing once.
#[cold]
pub fn mistakes_in_nested_generators(body: &Body, schema: &Block, scope: &dyn Scope) -> Diagnostics {
    let mut names: Vec<Diagnostic> = Vec::new();
    let generators = body_variables(body, schema).into_iter().filter(|found| found.place == Place::NestedGenerator);
    generators.for_each(|found| add_mistakes(scope, &found.traversal, &found.expr.file, &mut names));
    names.into()
}

/// A decoded body with errors: mistaken names of its arguments hide all other errors, those of generators none.
#[cold]
pub fn names_first(
    body: &Body,
    schema: &Block,
    scope: &dyn Scope,
    (value, errors): (Value, Diagnostics),
) -> (Value, Diagnostics) {
    let mut names: Vec<Diagnostic> = Vec::new();
    let generates = |place: Place| matches!(place, Place::Generator | Place::NestedGenerator);
    let generators = body_variables(body, schema).into_iter().filter(|found| generates(found.place));
    generators.for_each(|found| add_mistakes(scope, &found.traversal, &found.expr.file, &mut names));
    let of_generators = names.len();
    visit_expanded(body, schema, scope, &Iterators::default(), &mut |traversal, file, _| {
        add_mistakes(scope, traversal, file, &mut names);
    });
    if names.len() > of_generators {
        return (Value::unknown(schema.implied_type()), names.into());
    }
    let others = errors.into_iter().filter(|error| !names.contains(error)).collect::<Vec<_>>();
    (value, names.into_iter().chain(others).collect())
}

/// What the scope says about a name, each thing once.
fn add_mistakes(scope: &dyn Scope, traversal: &Traversal, file: &Arc<SourceFile>, found: &mut Vec<Diagnostic>) {
    add_new(scope.resolve(traversal, file).diagnostics.into_iter().filter(Diagnostic::is_error), found);
}

fn add_new(mistakes: impl IntoIterator<Item = Diagnostic>, found: &mut Vec<Diagnostic>) {
    for mistake in mistakes {
        if !found.contains(&mistake) {
            found.push(mistake);
        }
    }
}

/// Visits the traversals of the arguments of a body, without those that iterators bind; true: within a generated block.
fn visit_expanded(
    body: &Body,
    schema: &Block,
    scope: &dyn Scope,
    iterators: &Iterators,
    visit: &mut dyn FnMut(&Traversal, &Arc<SourceFile>, bool),
) {
    let as_blocks = written_as_blocks(body, schema);
    // Errors are reported where the body is decoded.
    let (content, _) = super::expand(body, schema, &as_blocks, scope, iterators);
    for attribute in content.attributes.values() {
        let expr: &Expression = &attribute.expr;
        let free = expr.variables().into_iter().filter(|t| !iterators.contains_key(&t.root.name));
        free.for_each(|traversal| visit(traversal, &expr.file, !iterators.is_empty()));
    }
    for ExpandedBlock { block, iterators, .. } in &content.blocks {
        let kind = &block.kind.name;
        if let Some(nested) = as_blocks.get(kind).or_else(|| schema.blocks.get(kind)) {
            visit_expanded(&block.body, &nested.block, scope, iterators, visit);
        }
    }
}
