//! Blocks by name, each of which stands once in a module.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use indexmap::IndexMap;
use indexmap::map::Entry;

/// Blocks and locals by name, in the order of the files.
pub type ByName<T> = IndexMap<Arc<str>, T>;

/// A block whose name is unique in its module.
pub trait Named {
    const DUPLICATE: Duplicate;

    fn name(&self) -> &Arc<str>;

    fn range(&self) -> &Range;
}

/// The error for a duplicate: the summary, with `NAME` as a placeholder, and the detail before and after name and location.
pub struct Duplicate {
    pub summary: &'static str,
    pub what: &'static str,
    pub verb: &'static str,
    pub rule: &'static str,
}

/// Adds a block; a second one of the same name is reported.
pub fn add<T: Named>(map: &mut ByName<T>, item: T, diags: &mut Diagnostics) {
    match map.entry(item.name().clone()) {
        Entry::Vacant(place) => {
            place.insert(item);
        }
        // The last one wins, as it would in an override.
        Entry::Occupied(mut place) => {
            let Duplicate { summary, what, verb, rule } = T::DUPLICATE;
            let name = &**item.name();
            let detail = format!("{what} named {name:?} was already {verb} at {}. {rule}", place.get().range());
            let summary = summary.replace("NAME", &format!("{name:?}"));
            diags.push(Diagnostic::error(summary, detail).at(item.range().clone()));
            place.insert(item);
        }
    }
}
