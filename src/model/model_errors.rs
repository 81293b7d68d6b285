//! Summaries of errors that the configuration and what belongs to it can report from several places: one text per kind of error.

use std::sync::Arc;

use base::diag::Diagnostic;
use base::source::Range;
use base::suggest;

/// An import that names a provider although its resource has a block.
pub const INVALID_IMPORT_PROVIDER: &str = "Invalid import provider argument";
/// Text that constrains no version.
pub const INVALID_VERSION_CONSTRAINT: &str = "Invalid version constraint";
/// A constant of the wrong type.
pub const UNSUITABLE_VALUE: &str = "Unsuitable value type";
/// A module folder that is not there.
pub const UNREADABLE_MODULE: &str = "Failed to read module directory";
/// A file that cannot be read.
pub const UNREADABLE_FILE: &str = "Failed to read file";
/// The dependency lock file cannot be written.
pub const UNWRITABLE_LOCK: &str = "Failed to update dependency lock file";
/// More than one configuration of a provider.
pub const DUPLICATE_PROVIDER: &str = "Duplicate provider block";
/// More than one backend.
pub const DUPLICATE_BACKEND: &str = "Duplicate backend configuration";
/// An element of `replace_triggered_by` that names no resource.
pub const INVALID_TRIGGER: &str = "Invalid replace_triggered_by expression";
/// A name that no provider can have in a module.
pub const INVALID_LOCAL_NAME: &str = "Invalid provider local name";
/// A variable without a value.
pub const MISSING_VALUE: &str = "No value for required variable";
/// An argument that a module's variable cannot take.
pub const UNSUITABLE_FOR_VARIABLE: &str = "Invalid value for input variable";

/// Two meta-arguments that say how many instances there are.
pub const COUNT_AND_FOR_EACH: &str = "Invalid combination of \"count\" and \"for_each\"";

/// Two meta-arguments that say how many instances there are. `end` is the end of the detail.
pub fn duplicate_count_and_for_each(end: &str) -> Diagnostic {
    let detail =
        format!("The \"count\" and \"for_each\" meta-arguments are mutually-exclusive, only one should be {end}");
    Diagnostic::error(COUNT_AND_FOR_EACH, detail)
}

/// ` Did you mean "x"?` or nothing.
pub fn did_you_mean<'n>(given: &str, known: impl IntoIterator<Item = &'n Arc<str>>) -> String {
    let mut known: Vec<&str> = known.into_iter().map(|k| &**k).collect();
    known.sort_unstable();
    suggest::name(given, known).map_or_else(String::new, |name| format!(" Did you mean {name:?}?"))
}

/// A variable that no block declares.
pub fn undeclared_variable<'n>(
    name: &str,
    declared: impl IntoIterator<Item = &'n Arc<str>>,
    range: &Range,
) -> Diagnostic {
    let mut hint = did_you_mean(name, declared);
    if hint.is_empty() {
        hint = format!(" This variable can be declared with a variable {name:?} {{}} block.");
    }
    let detail = format!("An input variable with the name {name:?} has not been declared.{hint}");
    Diagnostic::error("Reference to undeclared input variable", detail).at(range.clone())
}

/// A local value that no block declares.
pub fn undeclared_local<'n>(name: &str, declared: impl IntoIterator<Item = &'n Arc<str>>, range: &Range) -> Diagnostic {
    let hint = did_you_mean(name, declared);
    let detail = format!("A local value with the name {name:?} has not been declared.{hint}");
    Diagnostic::error("Reference to undeclared local value", detail).at(range.clone())
}

/// A name that means nothing where it stands. `known`: the names that mean something there.
pub fn unknown_name<'n>(name: &str, known: impl IntoIterator<Item = &'n str>, range: Range) -> Diagnostic {
    let hint = suggest::name(name, known).map_or_else(String::new, |known| format!(" Did you mean {known:?}?"));
    Diagnostic::error("Unknown variable", format!("There is no variable named {name:?}.{hint}")).at(range)
}

/// A failure is handled in an unknown way.
pub const INVALID_ON_FAILURE: &str = "Invalid \"on_failure\" keyword";
/// The configuration has an unknown backend type.
pub const INVALID_BACKEND_TYPE: &str = "Invalid backend type";
