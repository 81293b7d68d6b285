//! What happens to an object, in words and signs that do not need colour.

use model::plan::{Action, OutputChange, ResourceChange};

/// What happens to an object or an output. The order is that of danger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    Delete,
    /// Destroyed first, then created.
    Replace,
    CreateFirst,
    ReplaceAndForget,
    Forget,
    Update,
    /// An action that was asked for.
    Invoke,
    Create,
    Read,
    Import,
    Move,
    Deferred,
    /// Changed outside of the program.
    Drift,
    /// A part of a state, or a block without a change.
    Unchanged,
}

impl Effect {
    pub const ALL: [Effect; 14] = [
        Effect::Delete,
        Effect::Replace,
        Effect::CreateFirst,
        Effect::ReplaceAndForget,
        Effect::Forget,
        Effect::Update,
        Effect::Invoke,
        Effect::Create,
        Effect::Read,
        Effect::Import,
        Effect::Move,
        Effect::Deferred,
        Effect::Drift,
        Effect::Unchanged,
    ];

    /// The effect of a planned change that is shown.
    pub fn of(change: &ResourceChange) -> Effect {
        match change.action {
            Action::Delete => Effect::Delete,
            Action::DeleteThenCreate => Effect::Replace,
            Action::CreateThenDelete => Effect::CreateFirst,
            Action::CreateThenForget => Effect::ReplaceAndForget,
            Action::Forget => Effect::Forget,
            Action::Update => Effect::Update,
            Action::Create => Effect::Create,
            Action::Read => Effect::Read,
            Action::NoOp if change.importing.is_some() => Effect::Import,
            Action::NoOp if change.previous_addr != change.addr => Effect::Move,
            Action::NoOp => Effect::Unchanged,
        }
    }

    pub fn of_output(output: &OutputChange) -> Effect {
        match output.action {
            Action::Create => Effect::Create,
            Action::Delete => Effect::Delete,
            _ => Effect::Update,
        }
    }

    /// As people read it.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Delete => "destroy",
            Effect::Replace => "replace",
            Effect::CreateFirst => "replace, create first",
            Effect::ReplaceAndForget => "replace, forget the old",
            Effect::Forget => "forget",
            Effect::Update => "update",
            Effect::Invoke => "invoke",
            Effect::Create => "create",
            Effect::Read => "read",
            Effect::Import => "import",
            Effect::Move => "move",
            Effect::Deferred => "deferred",
            Effect::Drift => "changed outside",
            Effect::Unchanged => "unchanged",
        }
    }

    /// As in the text of a plan, where that has a sign.
    pub fn sign(self) -> &'static str {
        match self {
            Effect::Delete => "-",
            Effect::Replace => "-/+",
            Effect::CreateFirst => "+/-",
            Effect::ReplaceAndForget => "+/.",
            Effect::Forget => ".",
            Effect::Update => "~",
            Effect::Invoke => ">",
            Effect::Create => "+",
            Effect::Read => "<=",
            Effect::Import => "<-",
            Effect::Move => "->",
            Effect::Deferred => "?",
            Effect::Drift => "!",
            Effect::Unchanged => "=",
        }
    }

    /// The name of the class that pages colour it by.
    pub fn class(self) -> &'static str {
        match self {
            Effect::Delete => "delete",
            Effect::Replace | Effect::CreateFirst | Effect::ReplaceAndForget => "replace",
            Effect::Forget => "forget",
            Effect::Update | Effect::Invoke => "update",
            Effect::Create => "create",
            Effect::Read => "read",
            Effect::Import | Effect::Move | Effect::Deferred | Effect::Unchanged => "other",
            Effect::Drift => "drift",
        }
    }

    /// What does not change shows everything that it has.
    pub fn shows_unchanged(self) -> bool {
        matches!(self, Effect::Forget | Effect::Import | Effect::Unchanged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_listed_in_order_of_danger_with_different_words_and_signs() {
        assert!(Effect::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        let distinct = |of: fn(Effect) -> &'static str| {
            Effect::ALL.into_iter().map(of).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!([distinct(Effect::word), distinct(Effect::sign)], [Effect::ALL.len(); 2]);
    }
}
