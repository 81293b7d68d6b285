//! Summaries of mistakes that the configuration and what belongs to it can report from several places: one text per kind of mistake.

/// Text that constrains no version.
pub const INVALID_VERSION_CONSTRAINT: &str = "Invalid version constraint";
/// A constant of the wrong type.
pub const UNSUITABLE_VALUE: &str = "Unsuitable value type";
/// A module folder that is not there.
pub const UNREADABLE_MODULE: &str = "Failed to read module directory";
/// A file that cannot be read.
pub const UNREADABLE_FILE: &str = "Failed to read file";
/// More than one backend.
pub const DUPLICATE_BACKEND: &str = "Duplicate backend configuration";
/// An element of `replace_triggered_by` that names no resource.
pub const INVALID_TRIGGER: &str = "Invalid replace_triggered_by expression";
/// A name that no provider can have in a module.
pub const INVALID_LOCAL_NAME: &str = "Invalid provider local name";
/// A variable without a value.
pub const MISSING_VALUE: &str = "No value for required variable";
