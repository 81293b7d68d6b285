//! Summaries of errors that the verbs can report from several places: one text per kind of error.

use base::diag::{Diagnostic, Kind};
use base::name::{COMMAND, PROGRAM, TERRANE};

/// A value that gives no keys of instances.
pub const INVALID_FOR_EACH: &str = "Invalid for_each argument";
/// An address that an import cannot have.
pub const INVALID_IMPORT_TARGET: &str = "Invalid import 'to' expression";
/// An id that cannot be one.
pub const INVALID_IMPORT_ID: &str = "Invalid import id argument";
/// An ephemeral value where it would be kept.
pub const EPHEMERAL_VALUE: &str = "Ephemeral value not allowed";
/// An object in the state that cannot be read.
pub const INVALID_OBJECT: &str = "Invalid stored object";
/// An object that its schema does not allow.
pub const INVALID_PROVIDER_OBJECT: &str = "Provider produced invalid object";
/// A plan that configuration and schema do not allow.
pub const INVALID_PROVIDER_PLAN: &str = "Provider produced invalid plan";
/// An import whose identity cannot be used.
pub const INVALID_IMPORT_IDENTITY: &str = "Invalid import identity argument";
/// A plan that has nothing that an apply could do.
pub const NOT_APPLYABLE: &str = "Cannot apply non-applyable plan";
/// A provider configuration that does not run.
pub const NOT_CONFIGURED: &str = "Provider not configured";
/// A reference to a resource that no block declares.
pub const UNDECLARED_RESOURCE: &str = "Reference to undeclared resource";

/// A deferral that the request did not allow. `addr`: of the resource instance.
pub fn unexpected_deferral(addr: &dyn std::fmt::Display) -> Diagnostic {
    let detail = format!(
        "The provider signaled a deferred action for \"{addr}\", but in this context deferrals are disabled. This is a bug \
         in the provider, please file an issue with the provider developers."
    );
    Diagnostic::error(format!("Provider deferred changes when {PROGRAM} did not allow deferrals"), detail)
}

/// A reference to a declared name without a value. `kind`: "resource", "variable" or "local value".
pub fn uninitialized_reference(kind: &str, detail: String) -> Diagnostic {
    Diagnostic::error(format!("Reference to uninitialized {kind}"), detail)
}

/// `-invoke` with an action that does not exist.
pub fn missing_request(target: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error(format!("invoke target {target} not found"), "")
}

/// Actions that an interrupt kept from running, where nothing will invoke them later. `names`: their addresses.
pub fn actions_not_invoked(names: &[String]) -> Diagnostic {
    let list: String = names.iter().map(|name| format!("\n  - {name}")).collect();
    let detail = format!(
        "{PROGRAM} was interrupted before it could invoke these actions:{list}\n\nThe change that triggers them is done, so the next \
         plan does not include them. Use \"{COMMAND} apply -invoke=ADDRESS\" to invoke them."
    );
    Diagnostic::error("Actions not invoked", detail)
}

/// A function that reads files gave another result than before. `arguments`: as messages show them.
pub fn changed_file(function: &str, arguments: &str) -> Diagnostic {
    let detail = format!(
        "The function {function:?} returned another result for {arguments} than before, because the file changed after the plan \
         was made or since an earlier call. {PROGRAM} uses the new result.\n\nIf a resource of this configuration writes the \
         file, obtain the value from an attribute of that resource instead."
    );
    Diagnostic::warning("Result of a file function changed", detail)
}

/// A value that is not what was approved, because a file changed. `what`: whose value; `breach`: where and how it differs.
pub fn differs_from_plan(what: &str, breach: &str) -> Diagnostic {
    let detail = format!(
        "{what} differs from the approved plan: {breach}.\n\nA file that a function reads changed after the plan was made. Make \
         a new plan."
    );
    Diagnostic::error("Value differs from the plan", detail)
}

/// What waits for itself, by the names of its members.
pub fn cycle(names: &[String]) -> Diagnostic {
    Diagnostic::error(format!("Cycle: {}", names.join(", ")), "")
}

/// The run was asked to stop.
pub fn halted() -> Diagnostic {
    Diagnostic::error("execution halted", "").of_kind(Kind::Interrupted)
}

pub fn is_halted(diagnostic: &Diagnostic) -> bool {
    diagnostic.kind == Kind::Interrupted
}

/// A step that panicked, with the text of the panic.
pub fn panicked(address: &str, text: &str) -> Diagnostic {
    let detail = format!(
        "While working on {address}, {PROGRAM} encountered an internal error: {text}\n\nThis is a bug in {TERRANE}; please report \
         it. The operation is incomplete."
    );
    Diagnostic::error(format!("{PROGRAM} crashed"), detail).about(address.to_string())
}

/// A provider that would have been configured before what its block refers to was evaluated.
pub fn configured_too_early(provider: &str, missing: &str) -> Diagnostic {
    let detail = format!(
        "The configuration of {provider} refers to {missing}, which has not been evaluated yet. {PROGRAM} did not configure the \
         provider, because it could then manage objects of another account or server.\n\nThis is a bug in {TERRANE}; please report it."
    );
    Diagnostic::error("Provider configuration is not evaluated", detail)
}

/// Steps that did not finish although no error was reported: the first of them, and how many more there are.
pub fn unfinished(names: &[String], more: usize) -> Diagnostic {
    let list: String = names.iter().map(|name| format!("\n  - {name}")).collect();
    let more = if more > 0 { format!("\n  - and {more} more") } else { String::new() };
    let detail = format!(
        "The following steps did not finish, and no error explains why:{list}{more}\n\nThis is a bug in {TERRANE}; please \
         report it."
    );
    Diagnostic::error("Operation is incomplete", detail)
}
