//! The steps of a reference into an object, as far as its schema can tell.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::SourceFile;
use base::suggest;
use lang::eval::steps::apply_step;
use lang::syntax::ast::{IndexKey, TraversalStep};
use model::addr::{self, Subject};
use model::config::{Module, Resource};
use model::model_errors::did_you_mean;
use terrane_protocol::schema::{Block, NestedBlock, Nesting};
use terrane_value::Value;
use terrane_value::identifier::is_identifier;

use crate::blocks::deprecated;

/// Whether there may be no such value in a block; `own` is the resource that it declares, if it does.
pub fn may_be_unset(subject: &Subject, own: Option<&Resource>) -> bool {
    match subject {
        Subject::Each(_) => own.is_none_or(|own| own.for_each.is_none()),
        Subject::Count(_) => own.is_none_or(|own| own.count.is_none()),
        Subject::Path(name) => !["cwd", "module", "root"].contains(&&**name),
        Subject::Terraform(name) => !["workspace", "applying"].contains(&&**name),
        _ => false,
    }
}

pub fn has(block: &Block, name: &str) -> bool {
    block.attributes.contains_key(name) || block.blocks.contains_key(name)
}

/// Steps into an object of this shape, as far as types alone can tell: errors, and warnings of what is deprecated.
pub fn check_steps(block: &Block, steps: &[TraversalStep], file: &Arc<SourceFile>) -> Diagnostics {
    let Some((first, rest)) = steps.split_first() else { return Diagnostics::new() };
    let mistake = |summary: &str, detail: String, at: &TraversalStep| {
        Diagnostics::from(Diagnostic::error(summary, detail).at(at.span().in_file(file)))
    };
    let name = match first {
        TraversalStep::Attr { name, .. } => &name.name,
        TraversalStep::Index { key: IndexKey::String(key), .. } if is_identifier(key) => {
            let detail = format!(
                "Only attribute access is allowed here. Did you mean to access attribute {key:?} using the dot operator?"
            );
            return mistake("Invalid index operation", detail, first);
        }
        TraversalStep::Index { .. } => {
            let detail = "Only attribute access is allowed here, using the dot operator.".to_string();
            return mistake("Invalid index operation", detail, first);
        }
        TraversalStep::Splat { .. } => return Diagnostics::new(),
    };
    if let Some(attribute) = block.attributes.get(name) {
        let mut found = Diagnostics::new();
        if attribute.deprecated {
            found.push(deprecated::attribute(name, &attribute.deprecation_message, first.span().in_file(file)));
        }
        let mut value = Value::unknown(attribute.implied_type());
        for step in rest {
            match apply_step(&value, step) {
                Ok(next) => value = next,
                Err((summary, detail)) => {
                    found.extend(mistake(summary, detail, step));
                    break;
                }
            }
        }
        return found;
    }
    if let Some(nested) = block.blocks.get(name) {
        return check_block_steps(name, nested, rest, file);
    }
    let known = block.attributes.keys().chain(block.blocks.keys());
    let hint = did_you_mean(name, known);
    let detail = format!("This object has no argument, nested block, or exported attribute named {:?}.{hint}", &**name);
    mistake("Unsupported attribute", detail, first)
}

fn check_block_steps(kind: &str, nested: &NestedBlock, steps: &[TraversalStep], file: &Arc<SourceFile>) -> Diagnostics {
    let Some((first, rest)) = steps.split_first() else { return Diagnostics::new() };
    let (summary, detail) = match (nested.nesting, first) {
        (Nesting::Single | Nesting::Group, _) => return check_steps(&nested.block, steps, file),
        (Nesting::Map, _) | (Nesting::List, TraversalStep::Index { .. }) => {
            return check_steps(&nested.block, rest, file);
        }
        (_, TraversalStep::Splat { .. }) => return Diagnostics::new(),
        (Nesting::List, _) => (
            "Invalid operation",
            format!(
                "Block type {kind:?} is represented by a list of objects, so it must be indexed using a numeric key, like \
                 .{kind}[0]."
            ),
        ),
        (Nesting::Set, _) => (
            "Cannot index a set value",
            format!(
                "Block type {kind:?} is represented by a set of objects, and set elements do not have addressable keys. To \
                 find elements matching specific criteria, use a \"for\" expression with an \"if\" clause."
            ),
        ),
    };
    Diagnostic::error(summary, detail).at(first.span().in_file(file)).into()
}

/// The resource of the module that was probably meant, as a question.
pub fn close_resource(given: &addr::Resource, module: &Module) -> String {
    let alike = module.resources.keys().filter(|other| other.mode == given.mode);
    let mut names: Vec<String> = alike.map(ToString::to_string).collect();
    names.sort();
    suggest::address_question(&given.to_string(), names.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use lang::syntax::parser;
    use terrane_protocol::schema::Attribute;
    use terrane_value::Type;

    use super::*;

    fn schema() -> Block {
        let nested = |nesting| NestedBlock { block: Block::default(), nesting, min_items: 0, max_items: 0 };
        let mut block = Block::default();
        block.attributes.insert("name".into(), Attribute::new(Type::String));
        block.attributes.insert("tags".into(), Attribute::new(Type::map(Type::String)));
        let old = Attribute { deprecated: true, ..Attribute::new(Type::String) };
        block.attributes.insert("old".into(), old.clone());
        let mut disk = nested(Nesting::List);
        disk.block.attributes.insert("old".into(), old);
        block.blocks.insert("disk".into(), disk);
        block.blocks.insert("rule".into(), nested(Nesting::Set));
        block
    }

    #[test]
    fn steps_are_checked_against_types() {
        let check = |text: &str, summaries: &[&str]| {
            let file = SourceFile::new("x.tf", text);
            let (traversal, _) = parser::parse_traversal(file.clone());
            let found = check_steps(&schema(), &traversal.unwrap().steps, &file);
            let found: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
            assert_eq!(found, summaries, "{text}");
        };
        check("x.name", &[]);
        check("x.tags.a", &[]);
        check("x.nome", &["Unsupported attribute"]);
        check("x.name.first", &["Unsupported attribute"]);
        check("x[\"name\"]", &["Invalid index operation"]);
        check("x[0]", &["Invalid index operation"]);
        check("x.disk[0]", &[]);
        check("x.disk.size", &["Invalid operation"]);
        check("x.rule[0]", &["Cannot index a set value"]);
        check("x.old", &["Deprecated value used"]);
        check("x.old.first", &["Deprecated value used", "Unsupported attribute"]);
        check("x.disk[0].old", &["Deprecated value used"]);
    }
}
