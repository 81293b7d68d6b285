//! What the expressions of a test file refer to: runs, variables and local values.

use std::collections::BTreeSet;
use std::sync::Arc;

use lang::syntax::ast::Expression;
use lang::syntax::body::Body;

use super::{TestFile, TestProvider, TestRun};
use crate::addr::Subject;
use crate::addr::parse::parse_test_reference;
use crate::config::providers::provider_block::ProviderBlock;

/// The names that expressions refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestReferences {
    pub runs: BTreeSet<Arc<str>>,
    pub variables: BTreeSet<Arc<str>>,
    pub locals: BTreeSet<Arc<str>>,
}

impl TestReferences {
    pub fn of<'e>(expressions: impl IntoIterator<Item = &'e Expression>) -> TestReferences {
        let mut references = TestReferences::default();
        expressions.into_iter().for_each(|expr| references.add(expr));
        references
    }

    /// Adds the names in an expression. What is no reference is left to evaluation.
    pub fn add(&mut self, expr: &Expression) {
        for traversal in expr.variables() {
            match parse_test_reference(traversal, &expr.file).map(|reference| reference.subject) {
                Ok(Subject::Run(name)) => self.runs.insert(name),
                Ok(Subject::Variable(name)) => self.variables.insert(name),
                Ok(Subject::Local(name)) => self.locals.insert(name),
                _ => continue,
            };
        }
    }

    fn is_superset_of(&self, other: &TestReferences) -> bool {
        self.runs.is_superset(&other.runs)
            && self.variables.is_superset(&other.variables)
            && self.locals.is_superset(&other.locals)
    }

    fn extend(&mut self, other: TestReferences) {
        self.runs.extend(other.runs);
        self.variables.extend(other.variables);
        self.locals.extend(other.locals);
    }
}

/// The expressions of a body and of the blocks within it.
pub fn expressions_in(body: &Body) -> Vec<Expression> {
    if body.is_json() {
        return body.just_attributes().0.into_values().map(|attribute| attribute.expr).collect();
    }
    let mut found: Vec<Expression> = body.attributes().into_iter().map(|attribute| attribute.expr.clone()).collect();
    found.extend(body.blocks().into_iter().flat_map(|block| expressions_in(&block.body)));
    found
}

impl TestRun {
    /// The names that the run refers to, and that the given provider blocks do.
    pub fn references(&self, providers: &[&ProviderBlock]) -> TestReferences {
        let asserts = self.asserts.iter().flat_map(|assert| [&assert.condition, &assert.error_message]);
        let errors = self.expect_error.iter().flat_map(|error| [&error.summary, &error.message, &error.address]);
        let own = self.variables.values().chain(&self.for_each).chain(asserts);
        let own = own.chain(errors.flatten()).chain(self.snapshots.iter().map(|snapshot| &snapshot.value));
        let mut references = TestReferences::of(own);
        for block in providers {
            references.extend(TestReferences::of(&expressions_in(&block.body)));
        }
        references
    }

    /// The runs among [`TestRun::references`].
    pub fn referenced_runs(&self, providers: &[&ProviderBlock]) -> BTreeSet<Arc<str>> {
        self.references(providers).runs
    }

    /// The variables among [`TestRun::references`].
    pub fn referenced_variables(&self, providers: &[&ProviderBlock]) -> BTreeSet<Arc<str>> {
        self.references(providers).variables
    }
}

impl TestFile {
    /// The provider configurations of the file that a run may use: those that it names, or all.
    pub fn providers_of(&self, run: &TestRun) -> Vec<&TestProvider> {
        if run.providers.is_empty() {
            return self.providers.values().collect();
        }
        let named = run.providers.iter().map(|passing| passing.in_parent.addr.to_string());
        named.filter_map(|name| self.providers.get(&name)).collect()
    }

    /// The names that a run refers to, also through the provider blocks, local values and variables of the file.
    pub fn references_of(&self, run: &TestRun) -> TestReferences {
        let providers: Vec<&ProviderBlock> =
            self.providers_of(run).into_iter().filter_map(TestProvider::real).collect();
        self.completed(run.references(&providers))
    }

    /// The variables of the file whose values refer to themselves, directly or through other values of the file.
    pub fn cyclic_variables(&self) -> BTreeSet<Arc<str>> {
        let is_cyclic = |(name, expr): &(&Arc<str>, &Expression)| {
            self.completed(TestReferences::of([*expr])).variables.contains(*name)
        };
        self.variables.iter().filter(is_cyclic).map(|(name, _)| name.clone()).collect()
    }

    /// With what the local values and variables among the names refer to.
    pub fn completed(&self, mut references: TestReferences) -> TestReferences {
        loop {
            let locals = references.locals.iter().filter_map(|name| self.locals.get(name));
            let variables = references.variables.iter().filter_map(|name| self.variables.get(name));
            let more = TestReferences::of(locals.chain(variables));
            if references.is_superset_of(&more) {
                return references;
            }
            references.extend(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;
    use lang::syntax::parse_file;

    use super::*;

    #[test]
    fn references_lead_through_the_file() {
        let text = "test {\n extensions = [\"terrane\"]\n}\n\
            locals {\n l = run.setup.id\n m = local.m\n}\n\
            variables {\n a = var.b\n b = run.first.x\n c = run.unused.x\n}\n\
            provider \"p\" {\n region = var.region\n nested {\n x = run.deep.y\n }\n}\n\
            provider \"q\" {\n region = run.other_provider.x\n}\n\
            run \"x\" {\n for_each = local.m\n providers = { p = p }\n variables {\n v = var.a\n w = local.l\n }\n\
            assert {\n condition = output.o == run.other.z\n error_message = \"m\"\n }\n\
            snapshot \"s\" {\n value = [for run in var.list : run.x]\n }\n}\n";
        let (body, _) = parse_file(SourceFile::new("a.tftest.hcl", text));
        let mut diags = base::diag::Diagnostics::new();
        let file = super::super::decode("a.tftest.hcl", &body, &mut diags);
        assert!(diags.is_empty(), "{diags:?}");
        let shown = |names: &BTreeSet<Arc<str>>| names.iter().map(|name| &**name).collect::<Vec<_>>().join(" ");
        let (run, all) = (&file.runs[0], file.references_of(&file.runs[0]));
        assert_eq!(shown(&all.runs), "deep first other setup");
        assert_eq!(shown(&all.variables), "a b list region");
        assert_eq!(shown(&all.locals), "l m");
        assert_eq!(shown(&run.referenced_runs(&[])), "other");
        assert_eq!(shown(&run.referenced_variables(&[])), "a list");
    }

    #[test]
    fn cyclic_variables_are_found_whether_used_or_not() {
        let text = "variables {\n a = var.b\n b = var.a\n c = var.a\n d = var.d\n e = 1\n}\nrun \"x\" {}\n";
        let (body, _) = parse_file(SourceFile::new("a.tftest.hcl", text));
        let file = super::super::decode("a.tftest.hcl", &body, &mut base::diag::Diagnostics::new());
        let names: Vec<String> = file.cyclic_variables().iter().map(|name| name.to_string()).collect();
        assert_eq!(names.join(" "), "a b d");
    }
}
