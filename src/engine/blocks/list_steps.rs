//! The steps of a reference to a list: `data[INDEX].identity` and `data[INDEX].state`.

use base::diag::Diagnostic;
use base::source::Range;
use lang::syntax::ast::TraversalStep;

/// The steps after `state`, which the schema of the managed resource type decides on; the error of other steps than a list
/// has. None: there is nothing more to check.
pub fn after_list<'s>(steps: &'s [TraversalStep], range: &Range) -> Result<Option<&'s [TraversalStep]>, Diagnostic> {
    let invalid = |detail: &str| Diagnostic::error("Invalid list resource traversal", detail).at(range.clone());
    let name = |step: &TraversalStep| match step {
        TraversalStep::Attr { name, .. } => Some(name.name.clone()),
        TraversalStep::Index { .. } | TraversalStep::Splat { .. } => None,
    };
    let Some((data, steps)) = steps.split_first() else { return Ok(None) };
    if name(data).as_deref() != Some("data") {
        return Err(invalid("The first step in the traversal for a list resource must be an attribute \"data\"."));
    }
    let Some((index, steps)) = steps.split_first() else { return Ok(None) };
    match index {
        TraversalStep::Index { .. } => {}
        TraversalStep::Splat { .. } => return Ok(None),
        TraversalStep::Attr { .. } => {
            return Err(invalid("The second step in the traversal for a list resource must be an index."));
        }
    }
    let Some((part, steps)) = steps.split_first() else { return Ok(None) };
    match name(part).as_deref() {
        Some("state") => Ok(Some(steps)),
        // Its schema is known when the provider runs.
        Some("identity") => Ok(None),
        _ => Err(invalid(
            "The third step in the traversal for a list resource must be an attribute \"state\" or \"identity\".",
        )),
    }
}
