//! The points of a module: found in its text, without an evaluation.

use std::collections::HashSet;
use std::sync::Arc;

use base::source::{Range, SourceFile, Span};
use lang::syntax::ast::{Expr, ExprKind, Expression};
use lang::syntax::body::{Body, BodySchema, Content};
use lang::syntax::visit::each_child;
use model::config::{Action, Condition, Module, ModuleCall, PreventDestroy, Repetition, Resource};
use terrane_protocol::schema::ResourceMode;

use super::{CoveragePoint, PointKind};

/// What there is to cover in a module, without the modules that it calls, in the order of the blocks. Lists of queries are left out:
/// tests do not run them.
pub fn points_of(module: &Module) -> Vec<CoveragePoint> {
    let mut collector = Collector::default();
    for variable in module.variables.values() {
        collector.conditions(PointKind::Condition, &format!("var.{}", variable.name), &variable.validations);
    }
    for local in module.locals.values() {
        collector.expression(&format!("local.{}", local.name), &local.expr);
    }
    for output in module.outputs.values() {
        let name = format!("output.{}", output.name);
        collector.add(PointKind::Output, &name, output.range.clone());
        collector.conditions(PointKind::Condition, &name, &output.preconditions);
        collector.expression(&name, &output.value);
    }
    module.calls.values().for_each(|call| collector.call(call));
    for resource in module.resources.values().filter(|resource| resource.addr.mode != ResourceMode::List) {
        collector.resource(resource);
    }
    module.actions.values().for_each(|action| collector.action(action));
    for check in module.checks.values() {
        collector.conditions(PointKind::Assertion, &format!("check.{}", check.name), &check.asserts);
    }
    for (addr, block) in &module.providers {
        collector.body(&format!("provider.{addr}"), &block.body);
    }
    collector.points
}

#[derive(Default)]
struct Collector {
    points: Vec<CoveragePoint>,
    known: HashSet<(PointKind, String, Span)>,
}

impl Collector {
    fn add(&mut self, kind: PointKind, name: &str, range: Range) {
        if self.known.insert((kind, range.filename().to_owned(), range.span)) {
            self.points.push(CoveragePoint { kind, name: name.to_owned(), range });
        }
    }

    fn call(&mut self, call: &ModuleCall) {
        let name = format!("module.{}", call.name);
        self.repetition(&name, call.repetition());
        self.body(&name, &call.body);
    }

    fn resource(&mut self, resource: &Resource) {
        let (name, lifecycle) = (resource.addr.to_string(), &resource.lifecycle);
        self.add(PointKind::Resource, &name, resource.range.clone());
        self.repetition(&name, resource.repetition());
        self.conditions(PointKind::Condition, &name, &lifecycle.preconditions);
        self.conditions(PointKind::Condition, &name, &lifecycle.postconditions);
        if let PreventDestroy::If(condition) = &lifecycle.prevent_destroy {
            self.expression(&name, condition);
        }
        let conditions = lifecycle.action_triggers.iter().filter_map(|trigger| trigger.condition.as_ref());
        conditions.for_each(|condition| self.expression(&name, condition));
        self.body(&name, &resource.body);
        let provisioners = resource.provisioners.iter();
        let of_provisioners = provisioners.flat_map(|block| block.connection.iter().chain([&block.body]));
        resource.connection.iter().chain(of_provisioners).for_each(|body| self.body(&name, body));
    }

    fn action(&mut self, action: &Action) {
        let name = action.addr.to_string();
        self.repetition(&name, action.repetition());
        if let Some(config) = &action.config {
            self.body(&name, config);
        }
    }

    fn conditions(&mut self, kind: PointKind, name: &str, conditions: &[Condition]) {
        for rule in conditions {
            self.add(kind, name, rule.condition.range());
            self.expression(name, &rule.condition);
            self.expression(name, &rule.error_message);
        }
    }

    fn repetition(&mut self, name: &str, of: Repetition<'_>) {
        for by in of.expressions() {
            self.repeat(name, by);
            self.expression(name, by);
        }
    }

    /// What refers to nothing always gives the same: it has no second side.
    fn repeat(&mut self, name: &str, by: &Expression) {
        if !by.variables().is_empty() {
            self.add(PointKind::Repetition, name, by.range());
        }
    }

    fn expression(&mut self, name: &str, expr: &Expression) {
        self.conditionals(name, &expr.file, &expr.node);
    }

    fn conditionals(&mut self, name: &str, file: &Arc<SourceFile>, expr: &Expr) {
        let found = match &expr.kind {
            ExprKind::Conditional { .. } => Some(expr.span),
            ExprKind::For(inner) => inner.clause_span(),
            _ => None,
        };
        if let Some(span) = found {
            self.add(PointKind::Conditional, name, span.in_file(file));
        }
        each_child(&expr.kind, &mut |child| self.conditionals(name, file, child));
    }

    /// The expressions of a body and of the blocks within it. In JSON, `dynamic` blocks within nested blocks are not found: only a
    /// schema tells what is a block.
    fn body(&mut self, name: &str, body: &Body) {
        if body.is_json() {
            body.just_attributes().0.values().for_each(|attribute| self.expression(name, &attribute.expr));
            return self.generators(name, body);
        }
        let content = content_of(body);
        content.attributes.values().for_each(|attribute| self.expression(name, &attribute.expr));
        for block in &content.blocks {
            if &*block.kind.name == "dynamic" {
                self.generator(name, &block.body);
            }
            self.body(name, &block.body);
        }
    }

    /// The `dynamic` blocks of a body in JSON, and those in what they generate.
    fn generators(&mut self, name: &str, body: &Body) {
        let schema = BodySchema::new().block("dynamic", &["type"]);
        for block in body.partial_content(&schema).0.blocks {
            self.generator(name, &block.body);
            let schema = BodySchema::new().block("content", &[]);
            let contents = block.body.partial_content(&schema).0.blocks;
            contents.iter().for_each(|content| self.generators(name, &content.body));
        }
    }

    fn generator(&mut self, name: &str, dynamic: &Body) {
        let content = dynamic.partial_content(&BodySchema::new().attribute("for_each")).0;
        if let Some(attribute) = content.attribute("for_each") {
            self.repeat(name, &attribute.expr);
        }
    }
}

/// All arguments and blocks of a body in native syntax: of those that an override file replaces, the new ones.
fn content_of(body: &Body) -> Content {
    let mut schema = BodySchema::new();
    for attribute in body.attributes() {
        schema = schema.attribute(attribute.name.as_str());
    }
    for block in body.blocks() {
        if !schema.blocks.iter().any(|known| known.kind == block.kind.name) {
            schema = schema.block(block.kind.as_str(), &vec![""; block.labels.len()]);
        }
    }
    body.partial_content(&schema).0
}
