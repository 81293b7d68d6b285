//! Warnings about deprecated names: references to outputs of modules, values for variables,
//! attributes of resources.
//!
//! They depend only on the text of the configuration, not on values.

use std::sync::Arc;

use crate::base::diag::{Diagnostic, Diagnostics, Kind};
use crate::base::source::Range;
use crate::lang::syntax::ast::{Expr, ExprKind, Expression, TraversalStep};
use crate::lang::syntax::visit::each_child;
use crate::model::config::{Variable, module_source};

use crate::engine::blocks::tree::{ModuleId, Tree};

/// True if deprecations are not reported: inside a call with `ignore_nested_deprecations`.
pub fn is_quiet(tree: &Tree, module: ModuleId) -> bool {
    let mut at = module;
    while let Some((parent, call)) = tree.parent(at) {
        if tree.call(parent, call).ignore_nested_deprecations {
            return true;
        }
        at = parent;
    }
    false
}

/// A warning for every deprecated output that an expression of a module refers to.
pub fn outputs(tree: &Tree, module: ModuleId, expr: &Expression, warnings: &mut Diagnostics) {
    Finder { tree, module, expr, warnings }.walk(&expr.node);
}

/// A variable of a module that its caller, or for the root module the user, sets.
pub fn variable(tree: &Tree, module: ModuleId, variable: &Variable, at: Range) -> Option<Diagnostic> {
    let message = variable.deprecated.as_ref()?;
    let detail = format!(
        "The variable {:?} is marked as deprecated by the author of its module, with this message:\n\n{message}",
        &*variable.name
    );
    Some(Diagnostic::warning("Deprecated variable is set", detail).of_kind(kind(tree, module)).at(at))
}

/// The kind of the warnings about what a module declares.
fn kind(tree: &Tree, module: ModuleId) -> Kind {
    let mut at = module;
    while let Some((parent, call)) = tree.parent(at) {
        if !module_source::is_local(&tree.call(parent, call).source) {
            return Kind::ModuleDeprecation;
        }
        at = parent;
    }
    Kind::LocalModuleDeprecation
}

/// An attribute of a provider's schema that a reference leads to.
pub fn attribute(name: &str, at: Range) -> Diagnostic {
    let detail = format!("The attribute {name:?} is deprecated. Refer to the provider documentation for details.");
    Diagnostic::warning("Deprecated attribute", detail).at(at)
}

struct Finder<'f> {
    tree: &'f Tree,
    module: ModuleId,
    expr: &'f Expression,
    warnings: &'f mut Diagnostics,
}

impl Finder<'_> {
    fn walk(&mut self, expr: &Arc<Expr>) {
        match &expr.kind {
            ExprKind::Variable(traversal) if traversal.root_name() == "module" => {
                if let Some((TraversalStep::Attr { name, .. }, steps)) = traversal.steps.split_first() {
                    self.check(&name.name, steps, expr);
                }
            }
            ExprKind::RelativeTraversal { source, steps } => {
                if let Some(call) = called(source) {
                    self.check(&call, steps, expr);
                }
            }
            ExprKind::Splat { source, each, .. } => {
                if let (Some(call), ExprKind::RelativeTraversal { steps, .. }) = (called(source), &each.kind) {
                    self.check(&call, steps, expr);
                }
            }
            _ => {}
        }
        each_child(&expr.kind, &mut |child| self.walk(child));
    }

    /// `steps` lead from the call to one of its outputs, with a key between them or without.
    fn check(&mut self, call: &str, steps: &[TraversalStep], expr: &Expr) {
        let output = match steps {
            [TraversalStep::Attr { name, .. }, ..]
            | [TraversalStep::Index { .. } | TraversalStep::Splat { .. }, TraversalStep::Attr { name, .. }, ..] => {
                &name.name
            }
            _ => return,
        };
        let index = self.tree.module(self.module).calls.get_index_of(call);
        let Some(child) = index.and_then(|index| self.tree.child(self.module, index as u32)) else { return };
        let declared = self.tree.module(child).outputs.get(output);
        let Some(message) = declared.and_then(|output| output.deprecated.as_ref()) else { return };
        let detail = format!(
            "This value comes from module.{call}.{output}, which is marked as deprecated with this message:\n\n{message}"
        );
        let warning = Diagnostic::warning("Deprecated output value is used", detail).of_kind(kind(self.tree, child));
        self.warnings.push(warning.at(self.expr.range_of(expr.span)));
    }
}

/// The module call that an expression names as a whole, or one instance of.
fn called(expr: &Expr) -> Option<Arc<str>> {
    match &expr.kind {
        ExprKind::Variable(traversal) if traversal.root_name() == "module" => match traversal.steps.as_slice() {
            [TraversalStep::Attr { name, .. }] => Some(name.name.clone()),
            _ => None,
        },
        ExprKind::Index { collection, .. } => called(collection),
        ExprKind::Parens(inner) => called(inner),
        _ => None,
    }
}
