//! The words of a body: those that Terraform or OpenTofu has, and those that Terrane alone has, which a file must ask for.
//!
//! A word that Terraform adds later never changes the meaning of a file, unless the file asks for the words of Terrane.

use std::sync::LazyLock;

use base::diag::Diagnostics;
use base::name::TERRANE;
use base::source::Range;
use lang::syntax::ast::Block;
use lang::syntax::body::{Body, BodySchema, Content};

/// The advice about words that a file does not ask for.
pub static ADVICE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "Only {TERRANE} knows this word. A file that uses it needs the block: test {{ extensions = [\"terrane\"] }}"
    )
});

/// The schemas of a body.
pub struct Words {
    usual: BodySchema,
    own: BodySchema,
    all: BodySchema,
}

impl Words {
    /// `own`: what Terrane alone has.
    pub fn new(usual: BodySchema, own: BodySchema) -> Words {
        let mut all = usual.clone();
        all.attributes.extend(own.attributes.iter().cloned());
        all.blocks.extend(own.blocks.iter().cloned());
        Words { usual, own, all }
    }

    /// What a body holds. Without `extensions`, words of Terrane are errors like those that no program has.
    pub fn content(&self, body: &Body, extensions: bool) -> (Content, Diagnostics) {
        if extensions {
            return body.content(&self.all);
        }
        let (content, mut found) = body.content(&self.usual);
        let (own, ..) = body.partial_content(&self.own);
        let words = own.attributes.values().map(|attribute| attribute.name_range());
        let words: Vec<Range> = words.chain(own.blocks.iter().map(Block::kind_range)).collect();
        for problem in found.iter_mut() {
            if problem.subject.as_ref().is_some_and(|subject| words.contains(subject)) {
                *problem = problem.clone().with_tip(&*ADVICE);
            }
        }
        (content, found)
    }
}
