//! Which attributes of objects the values of mocks and overrides are derived from: a value is as secret as what it is made of.
//!
//! A provider gets values without marks, so what it makes of them has none either. Real providers have schemas that say what is
//! sensitive; the expressions of a test file say what they use.

use std::collections::BTreeSet;
use std::sync::Arc;

use lang::syntax::ast::{Expression, TraversalStep};
use terrane_protocol::schema::Block;
use terrane_value::{Marks, Path, PathStep};

/// The attributes of `self` that the values of a run's mocks and overrides use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DerivedFrom {
    attributes: BTreeSet<Arc<str>>,
    /// Some use the object as a whole.
    whole: bool,
}

impl DerivedFrom {
    /// Adds what an expression uses.
    pub fn add(&mut self, expr: &Expression) {
        for traversal in expr.variables().into_iter().filter(|traversal| traversal.root_name() == "self") {
            match traversal.steps.first() {
                Some(TraversalStep::Attr { name, .. }) => _ = self.attributes.insert(name.name.clone()),
                _ => self.whole = true,
            }
        }
    }

    /// The sensitive paths of an object, given those of its configuration: if values may be derived from one of them, computed
    /// attributes are sensitive too.
    pub fn sensitive_paths(&self, mut configured: Vec<(Path, Marks)>, schema: &Block) -> Vec<(Path, Marks)> {
        let is_used = |(path, marks): &(Path, Marks)| {
            let is_named = match path.steps().first() {
                Some(PathStep::Attr(name)) => self.attributes.contains(name),
                _ => !self.attributes.is_empty(),
            };
            marks.contains(Marks::SENSITIVE) && (self.whole || is_named)
        };
        if configured.iter().any(is_used) {
            let computed = schema.attributes.iter().filter(|(_, attribute)| attribute.computed);
            configured.extend(computed.map(|(name, _)| (Path::new().attr(name.clone()), Marks::SENSITIVE)));
        }
        configured
    }
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;
    use lang::syntax::parser;
    use terrane_protocol::schema::Attribute;
    use terrane_value::Type;

    use super::*;

    #[test]
    fn values_are_as_sensitive_as_what_they_are_made_of() {
        let attribute = |computed| Attribute { computed, ..Attribute::new(Type::String) };
        let attributes = [("arn", attribute(true)), ("id", attribute(true)), ("name", attribute(false))];
        let attributes = attributes.map(|(name, attribute)| (Arc::from(name), attribute)).into();
        let schema = Block { attributes, ..Block::default() };
        let cases = [
            ("\"arn:${self.name}\"", "name", "name arn id"),
            ("\"arn:${self.name}\"", "password", "password"),
            ("{ a = upper(self.password) }", "password", "password arn id"),
            ("keys(self)", "password", "password arn id"),
            ("self[\"name\"]", "password", "password arn id"),
            ("each.key", "name", "name"),
            ("self.name", "", ""),
        ];
        for (text, sensitive, expected) in cases {
            let (expr, problems) = parser::parse_expression(SourceFile::new("a.tftest.hcl", text));
            assert!(problems.is_empty(), "{text}: {problems:?}");
            let mut derived = DerivedFrom::default();
            derived.add(&expr);
            let configured = Some(sensitive).filter(|name| !name.is_empty());
            let configured = configured.map(|name| (Path::new().attr(name), Marks::SENSITIVE)).into_iter().collect();
            let paths = derived.sensitive_paths(configured, &schema);
            let names = paths.iter().map(|(path, _)| path.to_string().trim_start_matches('.').to_owned());
            assert_eq!(names.collect::<Vec<_>>().join(" "), expected, "{text}");
        }
        let plain = vec![(Path::new().attr("name"), Marks::EPHEMERAL)];
        let whole = DerivedFrom { whole: true, ..DerivedFrom::default() };
        assert_eq!(whole.sensitive_paths(plain.clone(), &schema), plain);
    }
}
