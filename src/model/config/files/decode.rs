//! The blocks of one file, and what they declare.

use std::sync::LazyLock;

use base::diag::Diagnostics;
use lang::syntax::ast::Block;
use lang::syntax::body::{Body, BodySchema};

use super::module_file::ModuleFile;
use crate::config::blocks::kinds;

static TERRAFORM: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().block("terraform", &[]));
static FILE: LazyLock<BodySchema> = LazyLock::new(kinds::schema);

/// The blocks of a file that may stand there.
pub fn blocks(body: &Body, diags: &mut Diagnostics) -> Vec<Block> {
    if body.is_json() {
        // Looked for ahead of all else: required versions, then experiments. What is wrong with them is said each time.
        for _ in 0..2 {
            diags.extend(body.partial_content(&TERRAFORM).2);
        }
    }
    diags.take(body.content(&FILE)).blocks
}

/// What the blocks of a file declare.
pub fn decode(blocks: &[Block], diags: &mut Diagnostics) -> ModuleFile {
    let mut file = ModuleFile::default();
    for block in blocks {
        // The schema lets nothing else through.
        if let Some(kind) = kinds::of(block) {
            (kind.decode)(block, &mut file, diags);
        }
    }
    file
}
