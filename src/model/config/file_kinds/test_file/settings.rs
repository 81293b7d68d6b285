//! The `test` block of a file: what holds for all of its runs.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Attribute, Block};
use lang::syntax::body::{Body, BodySchema};

use super::words::Words;
use crate::config::blocks::references::static_list;
use crate::config::constants::constant;
use crate::version::at_least;

static BLOCK: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().block("test", &[]));

static EXTENSIONS: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("extensions"));

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let usual = BodySchema::new().attribute("parallel").attribute("skip_cleanup").attribute("extensions");
    Words::new(usual, BodySchema::new().attribute("parallel_files"))
});

/// The only name that `extensions` may hold.
const OWN: &str = "terrane";

/// `test {}`.
#[derive(Default)]
pub struct FileSettings {
    pub parallel: bool,
    pub skip_cleanup: Option<(bool, Range)>,
    pub parallel_files: bool,
    /// Where the file asks for the words of Terrane, if it does.
    pub extensions: Option<Range>,
}

/// The settings of a file, and what else it holds. None with errors: as in the reference, nothing else is read then.
pub fn decode(body: &Body, diags: &mut Diagnostics) -> (Option<FileSettings>, Body) {
    let (content, rest, mut found) = body.partial_content(&BLOCK);
    if content.blocks.is_empty() && !at_least(12) {
        // The block is as unknown as any other.
        return (Some(FileSettings::default()), body.clone());
    }
    let mut settings = FileSettings::default();
    if let Some((first, others)) = content.blocks.split_first() {
        for other in others {
            let place = first.header_range();
            let detail = format!("This test file already has a \"test\" block defined at {place}.");
            found.push(Diagnostic::error("Multiple \"test\" blocks", detail).at(other.header_range()));
        }
        if others.is_empty() {
            settings = decode_block(first, &mut found);
        }
    }
    let is_sound = !found.has_errors();
    diags.extend(found);
    (is_sound.then_some(settings), rest)
}

fn decode_block(block: &Block, diags: &mut Diagnostics) -> FileSettings {
    // Which other words there are depends on this one.
    let (first, ..) = block.body.partial_content(&EXTENSIONS);
    let extensions = first.attribute("extensions").filter(|attribute| has_extensions(attribute, diags));
    let content = diags.take(WORDS.content(&block.body, extensions.is_some()));
    let mut flag = |name: &str| {
        let attribute = content.attribute(name)?;
        Some((constant::bool(attribute, diags)?, attribute.name_range()))
    };
    FileSettings {
        parallel: flag("parallel").is_some_and(|(value, _)| value),
        skip_cleanup: flag("skip_cleanup"),
        parallel_files: flag("parallel_files").is_some_and(|(value, _)| value),
        extensions: extensions.map(Attribute::range),
    }
}

/// Whether the list asks for the words of Terrane.
fn has_extensions(attribute: &Attribute, diags: &mut Diagnostics) -> bool {
    let mut has_own = false;
    for item in static_list(&attribute.expr, diags) {
        match item.as_literal_string() {
            Some(name) if &*name == OWN => has_own = true,
            _ => {
                let detail = format!("The only extension of the test language is {OWN:?}.");
                diags.push(Diagnostic::error("Unknown test extension", detail).at(item.range()));
            }
        }
    }
    has_own
}
