//! What plans, progress and JSON documents of OpenTofu have in another form than Terraform's.
//!
//! Owns the rules of this area that depend on the dialect. Texts take the dialect of their `Style`, documents that of the
//! configuration that they show.

use base::dialect::Dialect;
use engine::event::EphemeralVerb;
use model::opentofu::tofu_at_least;
use model::plan::Action;

/// What the legend of a plan says of an action. Empty: nothing.
pub fn legend(action: Action, dialect: Dialect) -> &'static str {
    match action {
        Action::NoOp => "",
        Action::Create => "create",
        Action::Read => "read (data resources)",
        Action::Update => dialect.by_language("update in-place", "update in-place (current -> planned)"),
        Action::Delete => "destroy",
        Action::DeleteThenCreate => "destroy and then create replacement",
        Action::CreateThenDelete => "create replacement and then destroy",
        Action::CreateThenForget => {
            dialect.by_language("create replacement and then forget", "forget and then create replacement")
        }
        Action::Forget => dialect.by_language("", "forget"),
    }
}

/// The symbol of an object that is forgotten, with tags for the colours.
pub fn forget_symbol(dialect: Dialect) -> &'static str {
    dialect.by_language(" [red].[reset]", "  [red].[reset]")
}

/// The symbol of a replacement that forgets the old object.
pub fn replace_and_forget_symbol(dialect: Dialect) -> &'static str {
    dialect.by_language("[green]+[reset]/[red].[reset]", "[red].[reset]/[green]+[reset]")
}

/// What stands before that symbol.
pub fn replace_and_forget_indent(dialect: Dialect) -> &'static str {
    dialect.by_language("", "  ")
}

/// What stands before "must be replaced" where an object is tainted.
pub fn tainted_subject(dialect: Dialect) -> &'static str {
    dialect.by_language("", "it ")
}

/// Whether objects that are forgotten are counted, and drawn like those of a state, with sentences of their own.
pub fn details_forgotten_objects(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether an import that changes nothing also says by which ID.
pub fn names_id_of_unchanged_imports(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether lists of one length are compared index by index, unless one has all elements of the other. OpenTofu always looks for the
/// longest common subsequence.
pub fn pairs_lists_by_index(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

/// Whether texts that share a line are shown as one text that changes.
pub fn pairs_similar_texts(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether nested blocks that become unknown are shown as one block, without those that were there before, as since OpenTofu 1.13.
pub fn joins_unknown_blocks(dialect: Dialect) -> bool {
    tofu_at_least(dialect, 13)
}

/// Whether a plan without changes is one line, followed by a note if targets are set, as since OpenTofu 1.13. Otherwise a paragraph
/// says what was compared.
pub fn shortens_plans_without_changes(dialect: Dialect) -> bool {
    tofu_at_least(dialect, 13)
}

/// What an operation on an ephemeral object is called once it is done.
pub fn ephemeral_done(verb: EphemeralVerb, dialect: Dialect) -> &'static str {
    match verb {
        EphemeralVerb::Open => dialect.by_language("Opening", "Open"),
        EphemeralVerb::Renew => "Renewal",
        EphemeralVerb::Close => dialect.by_language("Closing", "Close"),
    }
}

/// What is said of an ephemeral object that is not opened yet.
pub fn ephemeral_deferred(dialect: Dialect) -> &'static str {
    dialect.by_language("Configuration unknown, deferring...", "Deferred due to unknown configuration")
}

/// Whether a type is shown as no value, where the signature of `convert` names it.
pub fn has_types_as_parameters(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether documents have the constants and deprecations of variables and outputs. Plans also have types of variables.
pub fn documents_declarations(dialect: Dialect) -> bool {
    dialect.is_opentofu()
}

/// Whether documents have the arguments that OpenTofu has in no document: `for_each` of provider blocks, `lifecycle.enabled`.
pub fn documents_shared_arguments(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

/// Whether the document of a plan says if it can be applied and is complete.
pub fn documents_applicability(dialect: Dialect) -> bool {
    !dialect.is_opentofu()
}

#[cfg(test)]
mod tests {
    use model::config::{Config, Module};
    use terrane_value::Value;

    use super::*;
    use crate::json::events::log;
    use crate::json::functions::signatures;
    use crate::text::diff::{draw, symbol, value_diff};
    use crate::text::style::Style;

    const ALL: [Dialect; 3] = [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu];

    #[test]
    fn symbols_of_forgotten_objects() {
        let symbols = |dialect| {
            let style = Style { dialect, ..Style::plain() };
            [symbol(Action::Forget, &style), symbol(Action::CreateThenForget, &style)]
        };
        let terraform = [" .", "+/."].map(str::to_owned);
        assert_eq!(ALL.map(symbols), [terraform.clone(), terraform, ["  .", "./+"].map(str::to_owned)]);
    }

    #[test]
    fn lists_are_compared_in_two_ways() {
        let list = |texts: [&str; 3]| Value::tuple(texts.iter().map(Value::string).collect());
        let shown = |dialect| {
            let style = Style { dialect, ..Style::plain() };
            let diff = value_diff(&list(["a", "b", "c"]), &list(["b", "c", "d"]), dialect);
            draw(&diff, 0, &style).contains(r#""a" -> "b""#)
        };
        assert_eq!(ALL.map(shown), [true, true, false]);
    }

    #[test]
    fn texts_of_opentofu_1_13_are_its_own() {
        assert_eq!(ALL.map(joins_unknown_blocks), [false, false, true]);
        assert_eq!(ALL.map(shortens_plans_without_changes), [false, false, true]);
    }

    #[test]
    fn streams_and_documents_name_the_language() {
        let module_of = |dialect| log("x").line(dialect, "T").contains("\"tofu.ui\"");
        assert_eq!(ALL.map(module_of), [false, false, true]);
        let has_type = |dialect| signatures(dialect).contains(r#"{"name":"type","type":"type"}"#);
        assert_eq!(ALL.map(has_type), [false, false, true]);
        let config = |dialect| Config { root: Module { dialect, ..Module::default() }.into() };
        assert_eq!(ALL.map(|dialect| documents_declarations(config(dialect).dialect())), [false, false, true]);
    }
}
