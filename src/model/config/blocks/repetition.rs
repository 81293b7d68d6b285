//! `count`, `for_each` and `enabled`: how often a block is there.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::Expression;
use lang::syntax::body::{BodySchema, Content};

use crate::model_errors::duplicate_count_and_for_each;

static LIFECYCLE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("enabled"));

/// How often a block is there: at most one of the three is set; none: once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repetition<'b> {
    pub count: Option<&'b Expression>,
    pub for_each: Option<&'b Expression>,
    /// Once or not at all, without an instance key.
    pub enabled: Option<&'b Expression>,
}

impl<'b> Repetition<'b> {
    /// True if its instances have keys.
    pub fn has_keys(&self) -> bool {
        self.count.is_some() || self.for_each.is_some()
    }

    pub fn expressions(&self) -> impl Iterator<Item = &'b Expression> {
        [self.count, self.for_each, self.enabled].into_iter().flatten()
    }
}

/// `count` and `for_each`; only one of them and of the argument `enabled` in the block `lifecycle` may be set. `instances` is what
/// there would be too many of.
pub fn decode(content: &Content, instances: &str, diags: &mut Diagnostics) -> (Option<Expression>, Option<Expression>) {
    let (count, for_each) = (content.attribute("count"), content.attribute("for_each"));
    let enabled =
        content.blocks_of("lifecycle").find_map(|block| block.body.content(&LIFECYCLE).0.attribute("enabled").cloned());
    match (count, for_each, &enabled) {
        (Some(_), Some(for_each), None) => diags.push(
            duplicate_count_and_for_each("used to be explicit about the number of resources to be created.")
                .at(for_each.name_range()),
        ),
        (None, None, _) | (_, _, None) => {}
        (_, _, Some(enabled)) => {
            let names = match (count, for_each) {
                (Some(_), Some(_)) => "\"count\", \"enabled\", and \"for_each\"",
                (Some(_), None) => "\"count\" and \"enabled\"",
                _ => "\"enabled\" and \"for_each\"",
            };
            let ranges = [count, for_each].into_iter().flatten().map(|attribute| attribute.name_range());
            let range = ranges.fold(enabled.name_range(), |range, other| range.to(&other));
            diags.push(
                Diagnostic::error(
                    format!("Invalid combination of {names}"),
                    format!("The {names} meta-arguments are mutually-exclusive. Only one {instances} to be created.",),
                )
                .at(range),
            );
        }
    }
    (count.map(|a| a.expr.clone()), for_each.map(|a| a.expr.clone()))
}
