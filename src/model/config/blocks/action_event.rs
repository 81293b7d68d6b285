//! When an action of a resource is invoked, and what becomes of the resource if it fails.

/// A moment in the life of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionEvent {
    BeforeCreate,
    AfterCreate,
    BeforeUpdate,
    AfterUpdate,
    BeforeDestroy,
    AfterDestroy,
}

impl ActionEvent {
    pub const ALL: [ActionEvent; 6] = [
        ActionEvent::BeforeCreate,
        ActionEvent::AfterCreate,
        ActionEvent::BeforeUpdate,
        ActionEvent::AfterUpdate,
        ActionEvent::BeforeDestroy,
        ActionEvent::AfterDestroy,
    ];

    /// The word in the configuration.
    pub fn keyword(self) -> &'static str {
        match self {
            ActionEvent::BeforeCreate => "before_create",
            ActionEvent::AfterCreate => "after_create",
            ActionEvent::BeforeUpdate => "before_update",
            ActionEvent::AfterUpdate => "after_update",
            ActionEvent::BeforeDestroy => "before_destroy",
            ActionEvent::AfterDestroy => "after_destroy",
        }
    }

    pub fn of_keyword(word: &str) -> Option<ActionEvent> {
        ActionEvent::ALL.into_iter().find(|event| event.keyword() == word)
    }

    /// The name in JSON documents.
    pub fn json_name(self) -> &'static str {
        match self {
            ActionEvent::BeforeCreate => "BeforeCreate",
            ActionEvent::AfterCreate => "AfterCreate",
            ActionEvent::BeforeUpdate => "BeforeUpdate",
            ActionEvent::AfterUpdate => "AfterUpdate",
            ActionEvent::BeforeDestroy => "BeforeDestroy",
            ActionEvent::AfterDestroy => "AfterDestroy",
        }
    }

    pub fn of_json_name(name: &str) -> Option<ActionEvent> {
        ActionEvent::ALL.into_iter().find(|event| event.json_name() == name)
    }

    /// True if the action comes ahead of the change.
    pub fn is_before(self) -> bool {
        match self {
            ActionEvent::BeforeCreate | ActionEvent::BeforeUpdate | ActionEvent::BeforeDestroy => true,
            ActionEvent::AfterCreate | ActionEvent::AfterUpdate | ActionEvent::AfterDestroy => false,
        }
    }

    /// True if the object ends with the change.
    pub fn is_destroy(self) -> bool {
        matches!(self, ActionEvent::BeforeDestroy | ActionEvent::AfterDestroy)
    }
}

/// `on_failure` of a trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnActionFailure {
    /// An error: what depends on the resource does not run.
    #[default]
    Halt,
    /// As `Halt`; an object that was just created is also tainted.
    Taint,
    /// A warning.
    Continue,
}

impl OnActionFailure {
    pub fn of_keyword(word: &str) -> Option<OnActionFailure> {
        Some(match word {
            "halt" => OnActionFailure::Halt,
            "taint" => OnActionFailure::Taint,
            "continue" => OnActionFailure::Continue,
            _ => return None,
        })
    }

    /// The name in JSON documents.
    pub fn json_name(self) -> &'static str {
        match self {
            OnActionFailure::Halt => "ActionOnFailureHalt",
            OnActionFailure::Taint => "ActionOnFailureTaint",
            OnActionFailure::Continue => "ActionOnFailureContinue",
        }
    }
}
