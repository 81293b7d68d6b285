//! The blocks of one file, and what they declare.

use std::collections::HashMap;
use std::sync::LazyLock;

use base::diag::Diagnostics;
use base::dialect::Dialect;
use lang::syntax::ast::Block;
use lang::syntax::body::{Body, BodySchema};

use super::module_file::ModuleFile;
use crate::config::blocks::kinds;
use crate::opentofu::EITHER;

static TERRAFORM: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().block("terraform", &[]));
/// The schema of a file in each language, as its release has it when the first file is read.
static FILE: LazyLock<HashMap<Dialect, BodySchema>> =
    LazyLock::new(|| HashMap::from(EITHER.map(|language| (language, kinds::schema(language)))));

/// The blocks of a file that may stand there.
pub fn blocks(body: &Body, diags: &mut Diagnostics) -> Vec<Block> {
    if body.is_json() {
        // Looked for ahead of all else: required versions, then experiments. What is wrong with them is said each time.
        for _ in 0..2 {
            diags.extend(body.partial_content(&TERRAFORM).2);
        }
    }
    let schema = &FILE[&body.file().dialect().language()];
    diags.take(body.content(schema)).blocks
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
