//! Warnings about deprecated names: references to outputs of modules, values for variables,
//! attributes of resources.
//!
//! They depend only on the text of the configuration, not on values.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::source::Range;
use lang::syntax::ast::{Expr, ExprKind, Expression, TraversalStep};
use lang::syntax::visit::each_child;
use model::config::{Deprecation, Output, Variable, module_source};
use model::version::at_least;

use crate::blocks::tree::Tree;
use crate::ids::{ModuleId, ROOT};
use crate::opentofu;

const VALUE_USED: &str = "Deprecated value used";

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
    let message = &variable.deprecated.as_ref()?.message;
    let warning = match opentofu::has_own_deprecations(tree.dialect()) {
        true => Diagnostic::warning(
            "Variable marked as deprecated by the module author",
            format!("Variable {:?} is marked as deprecated with the following message:\n{message}", &*variable.name),
        )
        .caused_by(format!("{}\n{message}", variable.name), &**message),
        false => Diagnostic::warning("Deprecated variable got a value", &**message),
    };
    Some(warning.of_kind(kind(tree, module)).at(at))
}

/// As [`variable`], for a variable of the root module: Terraform shows where it is deprecated. OpenTofu does not warn of values that test
/// files give. `of_test`: a test file gives the value.
pub fn root_variable(tree: &Tree, declared: &Variable, of_test: bool) -> Option<Diagnostic> {
    let Deprecation { message, range } = declared.deprecated.as_ref()?;
    Some(match opentofu::has_own_deprecations(tree.dialect()) {
        true if of_test => return None,
        true => {
            let name = &declared.name;
            let detail = format!("The root variable {name:?} is deprecated with the following message: {message}");
            Diagnostic::warning("Deprecated variable used from the root module", detail).at(declared.range.clone())
        }
        false => variable(tree, ROOT, declared, range.clone())?.within(declared.range.clone()),
    })
}

/// The error for a deprecated output of the root module, which nothing refers to.
pub fn root_output(tree: &Tree, output: &Output) -> Option<Diagnostic> {
    let is_allowed = opentofu::has_own_deprecations(tree.dialect());
    let deprecation = output.deprecated.as_ref().filter(|_| !is_allowed)?;
    let detail =
        "Root module outputs cannot be deprecated, as there is no higher-level module to inform of the deprecation.";
    Some(Diagnostic::error("Root module output deprecated", detail).at(deprecation.range.clone()))
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

/// An attribute of a provider's schema that a reference leads to. `message`: what the provider says, if anything.
pub fn attribute(name: &str, message: &str, at: Range) -> Diagnostic {
    if at_least(15) {
        let detail = match message {
            "" => {
                format!("Deprecated resource attribute {name:?} used. Refer to the provider documentation for details.")
            }
            message => message.to_owned(),
        };
        return Diagnostic::warning(VALUE_USED, detail).at(at);
    }
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
        let (key, output) = match steps {
            [TraversalStep::Attr { name, .. }, ..]
            | [TraversalStep::Splat { .. }, TraversalStep::Attr { name, .. }, ..] => (String::new(), &name.name),
            [key @ TraversalStep::Index { .. }, TraversalStep::Attr { name, .. }, ..] => (key.to_string(), &name.name),
            _ => return,
        };
        let index = self.tree.module(self.module).calls.get_index_of(call);
        let Some(child) = index.and_then(|index| self.tree.child(self.module, index as u32)) else { return };
        let Some(declared) = self.tree.module(child).outputs.get(output) else { return };
        let Some(Deprecation { message, .. }) = &declared.deprecated else { return };
        let range = self.expr.range_of(expr.span);
        self.warnings.push(match opentofu::has_own_deprecations(self.tree.dialect()) {
            true => derived(self.tree, child, "This value", &format!("module.{call}{key}.{output}"), message).at(range),
            false => value_used(self.tree, child, declared, message).at(range),
        });
    }
}

/// OpenTofu's warning about a value that is, or is made of, a deprecated output of a module: `module.a["k"].out`.
pub fn derived(tree: &Tree, module: ModuleId, value: &str, output: &str, message: &str) -> Diagnostic {
    let detail =
        format!("{value} is derived from {output}, which is deprecated with the following message:\n\n{message}");
    Diagnostic::warning("Value derived from a deprecated source", detail)
        .caused_by(output, message)
        .of_kind(kind(tree, module))
}

/// Terraform's warning about a deprecated output of a called module.
fn value_used(tree: &Tree, child: ModuleId, output: &Output, message: &str) -> Diagnostic {
    let origin = format!("{}.{}", tree.module(child).path, output.name);
    Diagnostic::warning(VALUE_USED, message).originating_from(origin).of_kind(kind(tree, child))
}

/// A warning for every deprecated output of a module that is the whole value of an output of the root module: as
/// Terraform, which looks into the values of these.
pub fn whole_module(tree: &Tree, value: &Expression) -> Diagnostics {
    let call = called(&value.node).filter(|_| !opentofu::has_own_deprecations(tree.dialect()));
    let index = call.and_then(|call| tree.module(ROOT).calls.get_index_of(&*call));
    let Some(child) = index.and_then(|index| tree.child(ROOT, index as u32)) else { return Diagnostics::new() };
    let deprecated = |output: &Output| {
        let message = &output.deprecated.as_ref()?.message;
        Some(value_used(tree, child, output, message).at(value.range()))
    };
    tree.module(child).outputs.values().filter_map(deprecated).collect()
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
