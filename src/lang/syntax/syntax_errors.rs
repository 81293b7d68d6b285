//! Summaries of errors that the language can report from several places: one text per kind of error.

use base::diag::Diagnostic;
use base::source::Range;

/// An expression of a form that cannot stand here.
pub const INVALID_EXPRESSION: &str = "Invalid expression";
/// A call where functions mean nothing.
pub const NO_FUNCTIONS: &str = "Function calls not allowed";
/// A name where names mean nothing.
const NO_VARIABLES: &str = "Variables not allowed";
/// An argument that must be there.
const MISSING_ARGUMENT: &str = "Missing required argument";
/// An argument that is there twice.
pub const DUPLICATE_ARGUMENT: &str = "Duplicate argument";
/// A block that its surroundings do not know.
pub const UNSUPPORTED_BLOCK: &str = "Unsupported block type";
/// Text nested deeper than the parser follows.
pub const TOO_DEEP: &str = "Nesting too deep";
/// Text that goes on where an expression should end.
pub const EXTRA_AFTER_EXPRESSION: &str = "Extra characters after expression";
/// A file in another encoding.
pub const NOT_UTF8: &str = "Invalid character encoding";

pub const FUNCTIONS_MEAN_NOTHING: &str = "Functions may not be called here.";

/// An argument that several bodies together should have, and that none has: there is no place to point to.
pub fn argument_not_set(name: &str) -> Diagnostic {
    Diagnostic::error(MISSING_ARGUMENT, format!("The argument {name:?} is required, but was not set."))
}

/// A call where functions mean nothing.
pub fn no_functions(call: Range) -> Diagnostic {
    Diagnostic::error(NO_FUNCTIONS, FUNCTIONS_MEAN_NOTHING).at(call)
}

/// A name where names mean nothing.
pub fn no_variables() -> Diagnostic {
    Diagnostic::error(NO_VARIABLES, "Variables may not be used here.")
}

/// An expression where only a reference may stand.
pub fn not_a_reference(expression: Range) -> Diagnostic {
    Diagnostic::error(
        INVALID_EXPRESSION,
        "A single static variable reference is required: only attribute access and indexing with constant keys. No \
         calculations, function calls, template expressions, etc are allowed here.",
    )
    .at(expression)
}

/// An expression where only a list that is written out may stand.
pub fn not_a_list(expression: Range) -> Diagnostic {
    Diagnostic::error(INVALID_EXPRESSION, "A static list expression is required.").at(expression)
}

/// A body without an argument that it must have.
pub fn missing_argument(name: &str, body: Range) -> Diagnostic {
    let detail = format!("The argument {name:?} is required, but no definition was found.");
    Diagnostic::error(MISSING_ARGUMENT, detail).at(body)
}
