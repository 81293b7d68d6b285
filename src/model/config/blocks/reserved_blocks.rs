//! Nested blocks of the language in bodies that otherwise belong to a schema: reserved kinds, and the escaping block `_`.

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use lang::syntax::ast::Block;
use lang::syntax::body::{Body, Content};

/// Reports reserved blocks. Comes back with the body and what its escaping block `_` adds to it: arguments that have the
/// names of meta-arguments and are none.
pub fn check(content: &Content, body: Body, context: &str, escaped: &str, diags: &mut Diagnostics) -> Body {
    let mut escaping: Option<&Block> = None;
    for block in &content.blocks {
        match (block.kind.as_str(), escaping) {
            ("_", Some(first)) => diags.push(
                Diagnostic::error(
                    "Duplicate escaping block",
                    format!(
                        "The special block type \"_\" can be used to force particular arguments to be interpreted as \
                         {escaped} rather than as meta-arguments, but each {context} block can have only one such \
                         block. The first escaping block was at {}.",
                        first.header_range()
                    ),
                )
                .at(block.header_range()),
            ),
            ("_", None) => escaping = Some(block),
            ("lifecycle" | "connection" | "provisioner", _) if context == "resource" || context == "data" => {}
            ("connection", _) if context == "provisioner" => {}
            ("lifecycle", _) if context == "module" => {}
            _ => diags.push(reserved_block(block, context)),
        }
    }
    match escaping {
        Some(block) => Body::joined(body, block.body.clone()),
        None => body,
    }
}

/// "The block type name ... is reserved": `context` names the kind of block that it stands in.
fn reserved_block(block: &Block, context: &str) -> Diagnostic {
    Diagnostic::error(
        format!("Reserved block type name in {context} block"),
        format!("The block type name {:?} is reserved for use by {PROGRAM} in a future version.", &*block.kind.name),
    )
    .at(block.kind_range())
}
