//! What a change does, and why.

use base::dialect::Dialect;

use crate::opentofu;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    NoOp,
    Create,
    Read,
    Update,
    Delete,
    DeleteThenCreate,
    CreateThenDelete,
    Forget,
    /// A replacement whose old object is left alone.
    CreateThenForget,
}

impl Action {
    pub fn is_replace(self) -> bool {
        matches!(self, Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget)
    }

    /// A replacement during which both objects exist.
    pub fn creates_first(self) -> bool {
        matches!(self, Action::CreateThenDelete | Action::CreateThenForget)
    }

    /// An object that refers to it in `replace_triggered_by` is replaced.
    pub fn triggers(self, dialect: Dialect) -> bool {
        self == Action::Update || self.is_replace() || self == Action::Create && opentofu::creations_trigger(dialect)
    }

    /// An object ends with it.
    pub fn destroys(self) -> bool {
        matches!(self, Action::Delete | Action::DeleteThenCreate | Action::CreateThenDelete)
    }

    /// An object is left alone from then on.
    pub fn forgets(self) -> bool {
        matches!(self, Action::Forget | Action::CreateThenForget)
    }

    /// The words of the "actions" list in JSON.
    pub fn json_names(self, dialect: Dialect) -> &'static [&'static str] {
        match self {
            Action::NoOp => &["no-op"],
            Action::Create => &["create"],
            Action::Read => &["read"],
            Action::Update => &["update"],
            Action::Delete => &["delete"],
            Action::DeleteThenCreate => &["delete", "create"],
            Action::CreateThenDelete => &["create", "delete"],
            Action::Forget => &["forget"],
            Action::CreateThenForget if opentofu::forgets_first(dialect) => &["forget", "create"],
            Action::CreateThenForget => &["create", "forget"],
        }
    }
}

/// Why an action was chosen where the objects alone do not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ActionReason {
    #[default]
    None,
    ReplaceBecauseCannotUpdate,
    ReplaceBecauseTainted,
    ReplaceByRequest,
    ReplaceByTriggers,
    DeleteBecauseNoResourceConfig,
    DeleteBecauseWrongRepetition,
    DeleteBecauseCountIndex,
    DeleteBecauseEachKey,
    DeleteBecauseNoModule,
    DeleteBecauseNoMoveTarget,
    DeleteBecauseNotEnabled,
    /// `destroy = false` in the block.
    ForgetBecauseOfConfig,
    /// As before, in a block that is gone.
    ForgetBecauseOfState,
    ReadBecauseConfigUnknown,
    ReadBecauseDependencyPending,
    ReadBecauseCheckNested,
}

impl ActionReason {
    /// The value of "action_reason" in JSON; none for `None`.
    pub fn json_name(self) -> Option<&'static str> {
        Some(match self {
            ActionReason::None => return None,
            ActionReason::ReplaceBecauseCannotUpdate => "replace_because_cannot_update",
            ActionReason::ReplaceBecauseTainted => "replace_because_tainted",
            ActionReason::ReplaceByRequest => "replace_by_request",
            ActionReason::ReplaceByTriggers => "replace_by_triggers",
            ActionReason::DeleteBecauseNoResourceConfig => "delete_because_no_resource_config",
            ActionReason::DeleteBecauseWrongRepetition => "delete_because_wrong_repetition",
            ActionReason::DeleteBecauseCountIndex => "delete_because_count_index",
            ActionReason::DeleteBecauseEachKey => "delete_because_each_key",
            ActionReason::DeleteBecauseNoModule => "delete_because_no_module",
            ActionReason::DeleteBecauseNoMoveTarget => "delete_because_no_move_target",
            ActionReason::DeleteBecauseNotEnabled => "delete_because_enabled_false",
            ActionReason::ForgetBecauseOfConfig => "forgot_because_lifecycle_destroy_in_config",
            ActionReason::ForgetBecauseOfState => "forgot_because_lifecycle_destroy_in_state",
            ActionReason::ReadBecauseConfigUnknown => "read_because_config_unknown",
            ActionReason::ReadBecauseDependencyPending => "read_because_dependency_pending",
            ActionReason::ReadBecauseCheckNested => "read_because_check_nested",
        })
    }
}
