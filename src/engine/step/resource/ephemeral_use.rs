//! Checks that ephemeral values are not used where plan or state would store them.

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::Body;
use model::schema::place::attribute_range;
use terrane_protocol::schema::Block;
use terrane_value::{Marks, Path, PathStep, Value};

/// Errors for ephemeral parts of a resource's configuration that are not write-only.
pub fn check(config: &Value, schema: &Block, body: Option<&Body>, address: &str) -> Diagnostics {
    if !config.deep_marks().contains(Marks::EPHEMERAL) {
        return Diagnostics::new();
    }
    let (_, marks) = config.unmark_deep_with_paths();
    let wrong = marks.iter().filter(|(path, marks)| marks.contains(Marks::EPHEMERAL) && !is_write_only(schema, path));
    let error = |path: &Path| {
        let name = path.to_string();
        let detail = format!(
            "Ephemeral values are not valid for \"{}\", because it is not a write-only attribute and must be persisted to \
             state.",
            name.trim_start_matches('.')
        );
        let place = body.map(|body| attribute_range(body, path).unwrap_or_else(|| body.missing_item_range()));
        Diagnostic::error("Invalid use of ephemeral value", detail).at_opt(place).about(address)
    };
    let mut named: Vec<Path> = Vec::new();
    for path in wrong.map(|(path, _)| up_to_attribute(schema, path)) {
        if !named.contains(&path) {
            named.push(path);
        }
    }
    named.iter().map(error).collect()
}

/// The path as far as the schema has names: what is inside a value goes by the name of its attribute.
fn up_to_attribute(schema: &Block, path: &Path) -> Path {
    let mut block = schema;
    for (i, step) in path.steps().iter().enumerate() {
        let PathStep::Attr(name) = step else { continue };
        match block.blocks.get(name) {
            Some(nested) => block = &nested.block,
            None => return Path(path.steps()[..=i].to_vec()),
        }
    }
    path.clone()
}

/// True if the path leads to, or into, a write-only attribute.
fn is_write_only(schema: &Block, path: &Path) -> bool {
    let mut block = schema;
    for step in path.steps() {
        let PathStep::Attr(name) = step else { continue };
        if let Some(attribute) = block.attributes.get(name) {
            return attribute.write_only;
        }
        match block.blocks.get(name) {
            Some(nested) => block = &nested.block,
            None => return false,
        }
    }
    false
}
