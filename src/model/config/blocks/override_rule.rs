//! How a block of an override file changes the block of the same name. Each kind states its rule beside its decoder.

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::Block;
use lang::syntax::body::Body;

use super::override_bodies::{have_same_labels, with_escaped_arguments};

/// The rule of one kind of block.
pub struct OverrideRule {
    /// Whether the second block overrides the first. Both are of the kind.
    pub is_base: fn(&Block, &Block) -> bool,
    /// The body of both: the base's and the override's.
    pub merge_bodies: fn(Body, Body) -> Body,
    /// The body of the override without what it must not say, which is reported.
    pub allowed: fn(&Body, &mut Diagnostics) -> Body,
    /// Whether the override may have `depends_on`.
    pub allows_depends_on: bool,
    /// An argument that every block needs: it may stand in the base alone.
    pub required: Option<&'static str>,
    /// Checks the merged block against what the override says.
    pub check_merged: fn(&Block, &Block, &mut Diagnostics),
    /// What an override without a base does to the other files. False: it is an error.
    pub without_base: fn(&mut [Vec<Block>], &Block) -> bool,
    /// The error of an override without a base.
    pub missing_base: fn(&Block) -> Diagnostic,
}

impl OverrideRule {
    /// The arguments of the override replace those of the same name, its nested blocks all of their kind.
    pub const fn new(missing_base: fn(&Block) -> Diagnostic) -> OverrideRule {
        OverrideRule {
            is_base: have_same_labels,
            merge_bodies: Body::merged,
            allowed: |body, _| body.clone(),
            allows_depends_on: false,
            required: None,
            check_merged: |_, _, _| {},
            without_base: |_, _| false,
            missing_base,
        }
    }

    /// The body of a block with an override on top.
    pub fn merged(&self, base: &Body, over: &Body) -> Body {
        let (base, over) = with_escaped_arguments(base, over);
        (self.merge_bodies)(base, over)
    }
}

/// The summary for resources and actions.
pub const MISSING_RESOURCE: &str = "Missing resource to override";

/// The error of an override without a base: `subject` names what is missing, `base` what can be overridden.
pub fn missing_base(over: &Block, summary: &'static str, subject: &str, base: &str) -> Diagnostic {
    let detail =
        format!("There is no {subject}. An override file can only override {base} in a primary configuration file.");
    Diagnostic::error(summary, detail).at(over.header_range())
}
