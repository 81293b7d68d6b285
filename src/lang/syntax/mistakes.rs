//! Summaries of mistakes that the language can report from several places: one text per kind of mistake.

/// An expression of a form that cannot stand here.
pub const INVALID_EXPRESSION: &str = "Invalid expression";
/// A call where functions mean nothing.
pub const NO_FUNCTIONS: &str = "Function calls not allowed";
/// A name where names mean nothing.
pub const NO_VARIABLES: &str = "Variables not allowed";
/// An argument that must be there.
pub const MISSING_ARGUMENT: &str = "Missing required argument";
/// A block that its surroundings do not know.
pub const UNSUPPORTED_BLOCK: &str = "Unsupported block type";
/// Text nested deeper than the parser follows.
pub const TOO_DEEP: &str = "Nesting too deep";
/// Text that goes on where an expression should end.
pub const EXTRA_AFTER_EXPRESSION: &str = "Extra characters after expression";
/// A file in another encoding.
pub const NOT_UTF8: &str = "Invalid character encoding";
