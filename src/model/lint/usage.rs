//! Rules about variables and local values that nothing in their module refers to.
//!
//! A reference counts wherever it stands, also in blocks that are read before there is a plan, such as `encryption`. Only in a
//! `backend` block it is gone once the block has its values: as in OpenTofu, such a variable is reported.

use std::sync::Arc;

use lang::syntax::ast::{Body, Expression, Traversal, TraversalStep};
use rustc_hash::FxHashSet;

use super::Finding;
use crate::config::{
    Action, Condition, Encryption, Import, Local, Module, ModuleCall, PreventDestroy, ProviderBlock, ProviderRef,
    ProvisionerBlock, Repetition, Resource, Variable,
};

/// Variables without a reference, or with references only from their own validation and that of such variables.
pub fn find_unused_variables(module: &Module) -> Vec<Finding> {
    let mut used = References::default();
    used.add_module(module);
    let mut left: Vec<_> = module.variables.values().collect();
    loop {
        let (now_used, unused): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|variable| used.variables.contains(&variable.name));
        left = unused;
        if now_used.is_empty() {
            break;
        }
        now_used.iter().for_each(|variable| used.add_conditions(&variable.validations));
    }
    let finding = |variable: &Variable| Finding {
        detail: format!("Found no usage of the variable {:?}.", &*variable.name),
        at: variable.range.clone(),
        within: None,
    };
    left.into_iter().map(finding).collect()
}

/// Local values without a reference.
pub fn find_unused_locals(module: &Module) -> Vec<Finding> {
    let mut used = References::default();
    used.add_module(module);
    module.variables.values().for_each(|variable| used.add_conditions(&variable.validations));
    let unused = module.locals.values().filter(|local| !used.locals.contains(&local.name));
    let finding = |local: &Local| Finding {
        detail: format!("Found no usage of the local {:?}.", &*local.name),
        at: local.range.clone(),
        within: None,
    };
    unused.map(finding).collect()
}

/// The names that parts of a module refer to.
#[derive(Default)]
struct References {
    variables: FxHashSet<Arc<str>>,
    locals: FxHashSet<Arc<str>>,
}

impl References {
    /// Everything but the validation of variables.
    fn add_module(&mut self, module: &Module) {
        module.locals.values().for_each(|local| self.add_expression(&local.expr));
        for output in module.outputs.values() {
            self.add_expression(&output.value);
            self.add_conditions(&output.preconditions);
            self.add_traversals(&output.depends_on);
        }
        module.resources.values().for_each(|resource| self.add_resource(resource));
        module.actions.values().for_each(|action| self.add_action(action));
        module.calls.values().for_each(|call| self.add_call(call));
        module.providers.values().for_each(|provider| self.add_provider(provider));
        module.checks.values().for_each(|check| self.add_conditions(&check.asserts));
        module.imports.iter().for_each(|import| self.add_import(import));
        self.add_settings(module);
    }

    /// What is read before the blocks that are planned.
    fn add_settings(&mut self, module: &Module) {
        if let Some(encryption) = &module.encryption {
            self.add_encryption(encryption);
        }
        for requirement in module.requirements.values() {
            self.add_expressions(requirement.unevaluated.source.iter().chain(&requirement.unevaluated.version));
        }
        self.add_bodies(module.provider_metas.values());
    }

    fn add_encryption(&mut self, encryption: &Encryption) {
        self.add_bodies(encryption.key_providers.iter().map(|provider| &provider.body));
        self.add_bodies(encryption.methods.iter().map(|method| &method.body));
    }

    fn add_resource(&mut self, resource: &Resource) {
        self.add_repetition(resource.repetition());
        self.add_provider_key(resource.provider_ref.as_ref());
        self.add_traversals(&resource.depends_on);
        let lifecycle = &resource.lifecycle;
        if let PreventDestroy::If(condition) = &lifecycle.prevent_destroy {
            self.add_expression(condition);
        }
        self.add_expressions(&lifecycle.replace_triggered_by);
        self.add_conditions(&lifecycle.preconditions);
        self.add_conditions(&lifecycle.postconditions);
        for trigger in &lifecycle.action_triggers {
            self.add_expressions(&trigger.condition);
            self.add_expressions(trigger.actions.iter().map(|call| &call.expr));
        }
        self.add_provisioners(&resource.provisioners, resource.connection.as_ref());
        self.add_expressions(resource.list.limit.iter().chain(&resource.list.include_resource));
        self.add_body(&resource.body);
    }

    fn add_provisioners(&mut self, provisioners: &[ProvisionerBlock], connection: Option<&Body>) {
        self.add_bodies(connection);
        for provisioner in provisioners {
            self.add_bodies(&provisioner.connection);
            self.add_body(&provisioner.body);
        }
    }

    fn add_action(&mut self, action: &Action) {
        self.add_repetition(action.repetition());
        self.add_provider_key(action.provider_ref.as_ref());
        self.add_bodies(&action.config);
    }

    fn add_call(&mut self, call: &ModuleCall) {
        self.add_repetition(call.repetition());
        self.add_traversals(&call.depends_on);
        call.providers.iter().for_each(|passing| self.add_provider_key(Some(&passing.in_parent)));
        if let Some(unevaluated) = &call.unevaluated {
            self.add_expressions(
                [Some(&unevaluated.source), unevaluated.version.as_ref()].into_iter().flatten().map(|a| &a.expr),
            );
        }
        self.add_body(&call.body);
    }

    fn add_provider(&mut self, provider: &ProviderBlock) {
        self.add_expressions(provider.for_each.iter().chain(&provider.version));
        self.add_body(&provider.body);
    }

    fn add_import(&mut self, import: &Import) {
        self.add_expressions([&import.to, import.by.expression()].into_iter().chain(&import.for_each));
        self.add_provider_key(import.provider_ref.as_ref());
    }

    fn add_provider_key(&mut self, provider: Option<&ProviderRef>) {
        self.add_expressions(provider.and_then(|provider| provider.key.as_ref()));
    }

    fn add_repetition(&mut self, repetition: Repetition<'_>) {
        self.add_expressions(repetition.expressions());
    }

    fn add_conditions(&mut self, conditions: &[Condition]) {
        for Condition { condition, error_message, .. } in conditions {
            self.add_expressions([condition, error_message]);
        }
    }

    fn add_bodies<'a>(&mut self, bodies: impl IntoIterator<Item = &'a Body>) {
        bodies.into_iter().for_each(|body| self.add_body(body));
    }

    /// All arguments of a body and of the blocks in it, without looking at schemas.
    fn add_body(&mut self, body: &Body) {
        body.with_expressions(&mut |_, attribute| {
            self.add_expression(&attribute.expr);
            None
        });
    }

    fn add_expressions<'a>(&mut self, exprs: impl IntoIterator<Item = &'a Expression>) {
        exprs.into_iter().for_each(|expr| self.add_expression(expr));
    }

    fn add_expression(&mut self, expr: &Expression) {
        self.add_traversals(expr.variables());
    }

    fn add_traversals<'a>(&mut self, traversals: impl IntoIterator<Item = &'a Traversal>) {
        for traversal in traversals {
            let Some(TraversalStep::Attr { name, .. }) = traversal.steps.first() else { continue };
            match traversal.root_name() {
                "var" => self.variables.insert(name.name.clone()),
                "local" => self.locals.insert(name.name.clone()),
                _ => false,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{details, details_of};

    /// Blocks that use `NAME`.
    const USES: &[&str] = &[
        "output \"o\" {\n value = [for k in [1] : \"${NAME}-${k}\"]\n}",
        "output \"o\" {\n value = 1\n precondition {\n  condition = NAME == 1\n  error_message = \"\"\n }\n}",
        "output \"o\" {\n value = 1\n precondition {\n  condition = t.b.x\n  error_message = NAME\n }\n}",
        "output \"o\" {\n value = 1\n depends_on = [NAME]\n}",
        "locals {\n dead = NAME.a[\"b\"]\n}",
        "resource \"t\" \"a\" {\n x = { y = NAME }\n}",
        "resource \"t\" \"a\" {\n nested {\n  inner {\n   x = NAME\n  }\n }\n}",
        "resource \"t\" \"a\" {\n dynamic \"nested\" {\n  for_each = NAME\n  content {}\n }\n}",
        "resource \"t\" \"a\" {\n dynamic \"nested\" {\n  for_each = []\n  content {\n   x = NAME\n  }\n }\n}",
        "resource \"t\" \"a\" {\n count = NAME\n}",
        "resource \"t\" \"a\" {\n for_each = NAME\n}",
        "resource \"t\" \"a\" {\n depends_on = [NAME]\n}",
        "resource \"t\" \"a\" {\n lifecycle {\n  precondition {\n   condition = NAME\n   error_message = \"\"\n  }\n }\n}",
        "resource \"t\" \"a\" {\n lifecycle {\n  postcondition {\n   condition = t.b.x\n   error_message = NAME\n  }\n }\n}",
        "resource \"t\" \"a\" {\n connection {\n  host = NAME\n }\n}",
        "resource \"t\" \"a\" {\n provisioner \"local-exec\" {\n  command = NAME\n }\n}",
        "resource \"t\" \"a\" {\n provisioner \"file\" {\n  connection {\n   host = NAME\n  }\n }\n}",
        "data \"t\" \"a\" {\n x = NAME\n}",
        "ephemeral \"t\" \"a\" {\n x = NAME\n}",
        "action \"t\" \"a\" {\n config {\n  x = NAME\n }\n}",
        "module \"m\" {\n source = \"./m\"\n x = NAME\n}",
        "module \"m\" {\n source = \"./m\"\n count = NAME\n}",
        "module \"m\" {\n source = \"./m\"\n depends_on = [NAME]\n}",
        "module \"m\" {\n source = NAME\n}",
        "provider \"t\" {\n x = NAME\n}",
        "check \"c\" {\n assert {\n  condition = NAME\n  error_message = \"\"\n }\n}",
        "check \"c\" {\n data \"t\" \"a\" {\n  x = NAME\n }\n assert {\n  condition = data.t.a.x\n  error_message = \"\"\n }\n}",
        "import {\n for_each = NAME\n to = t.a[each.key]\n id = each.key\n}",
        "import {\n to = t.a[NAME]\n id = 1\n}",
        "import {\n to = t.a\n id = NAME\n}",
        "terraform {\n provider_meta \"t\" {\n  x = NAME\n }\n}",
        "terraform {\n encryption {\n  key_provider \"pbkdf2\" \"k\" {\n   passphrase = NAME\n  }\n }\n}",
    ];

    /// Blocks that do not.
    const OTHERS: &[&str] = &[
        "",
        "output \"o\" {\n value = \"NAME\"\n}",
        "output \"o\" {\n value = NAME_2\n}",
        "output \"o\" {\n value = t.NAME\n}",
        "output \"o\" {\n value = [for var in [{ u = 1 }] : [for local in [var] : [var.u, local.u]]]\n}",
        "resource \"t\" \"u\" {}",
        "moved {\n from = t.u\n to = t.v\n}",
    ];

    fn is_used(name: &str, uses: &str) -> bool {
        let (id, declaration) = match name {
            "var.u" => ("core:unused-variable", "variable \"u\" {\n default = 1\n}\n"),
            _ => ("core:unused-local", "locals {\n u = 1\n}\n"),
        };
        let text = declaration.to_owned() + &uses.replace("NAME", name);
        let all = details(id, &text);
        !all.iter().any(|detail| detail.ends_with(" \"u\"."))
    }

    #[test]
    fn every_kind_of_reference_is_a_usage() {
        for name in ["var.u", "local.u"] {
            let missed: Vec<_> = USES.iter().filter(|uses| !is_used(name, uses)).collect();
            let taken: Vec<_> = OTHERS.iter().filter(|other| is_used(name, other)).collect();
            assert!(missed.is_empty() && taken.is_empty(), "{name} {missed:?} {taken:?}");
        }
    }

    #[test]
    fn validation_uses_only_what_its_variable_is_used_for() {
        let rule = |of: &str, refers_to: &str| {
            format!(
                "variable {of:?} {{\n default = 1\n validation {{\n  condition = {refers_to} == var.{of}\n  error_message = \"\"\n \
                 }}\n}}\n"
            )
        };
        let unused = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("Found no usage of the variable {name:?}.")).collect()
        };
        let chain = rule("a", "var.b") + &rule("b", "var.c") + &rule("c", "local.l") + "locals {\n l = 1\n}\n";
        assert_eq!(details("core:unused-variable", &chain), unused(&["a", "b", "c"]));
        assert_eq!(details("core:unused-local", &chain), Vec::<String>::new());
        for (used, expected) in [("a", unused(&[])), ("b", unused(&["a"])), ("c", unused(&["a", "b"]))] {
            let text = format!("{chain}output \"o\" {{\n value = var.{used}\n}}\n");
            assert_eq!(details("core:unused-variable", &text), expected, "{used}");
        }
    }

    #[test]
    fn references_in_json_are_usages() {
        let main = "variable \"u\" {\n default = 1\n}\nvariable \"v\" {\n default = 1\n}\nlocals {\n l = 1\n}\n";
        let json = r#"{"resource": {"t": {"a": {"x": {"y": ["${var.u}"]}, "depends_on": ["local.l"]}}}}"#;
        let files = [("main.tf", main), ("more.tf.json", json)];
        assert_eq!(details_of("core:unused-variable", &files), ["Found no usage of the variable \"v\"."]);
        assert_eq!(details_of("core:unused-local", &files), Vec::<String>::new());
    }
}
