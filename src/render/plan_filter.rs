//! Which changes of a plan are shown: `-only`, `-match` and `-diff-only`.
//!
//! Owns the words for actions on the command line. Never changes a plan or what is counted of it.

use model::addr::{AbsResourceInstance, Target};
use model::plan::{Action, ActionInvocation, OutputChange, ResourceChange};
use terrane_protocol::schema::ResourceMode;

/// What happens to an object, as `-only` and summaries name it. The order is that of danger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActionWord {
    Delete,
    Replace,
    Forget,
    Update,
    Create,
    Read,
    Import,
    Move,
    Invoke,
}

impl ActionWord {
    pub const ALL: [ActionWord; 9] = [
        ActionWord::Delete,
        ActionWord::Replace,
        ActionWord::Forget,
        ActionWord::Update,
        ActionWord::Create,
        ActionWord::Read,
        ActionWord::Import,
        ActionWord::Move,
        ActionWord::Invoke,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ActionWord::Delete => "delete",
            ActionWord::Replace => "replace",
            ActionWord::Forget => "forget",
            ActionWord::Update => "update",
            ActionWord::Create => "create",
            ActionWord::Read => "read",
            ActionWord::Import => "import",
            ActionWord::Move => "move",
            ActionWord::Invoke => "invoke",
        }
    }

    /// None: there is no such word.
    pub fn parse(text: &str) -> Option<ActionWord> {
        ActionWord::ALL.into_iter().find(|word| word.name() == text)
    }

    /// The word for a change that is shown. An import or a move that also changes the object has the word of that change.
    pub fn of(change: &ResourceChange) -> ActionWord {
        match change.action {
            Action::Create => ActionWord::Create,
            Action::Read => ActionWord::Read,
            Action::Update => ActionWord::Update,
            Action::Delete => ActionWord::Delete,
            Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget => ActionWord::Replace,
            Action::Forget => ActionWord::Forget,
            Action::NoOp if change.importing.is_some() => ActionWord::Import,
            Action::NoOp => ActionWord::Move,
        }
    }

    /// The word for a changed output.
    pub fn of_output(output: &OutputChange) -> ActionWord {
        match output.action {
            Action::Create => ActionWord::Create,
            Action::Delete => ActionWord::Delete,
            _ => ActionWord::Update,
        }
    }

    /// True if `-only` with this word shows the change. Replacements that destroy an object are deletions too, as for `-deny`.
    fn names(self, change: &ResourceChange) -> bool {
        match self {
            ActionWord::Delete => change.action.destroys(),
            ActionWord::Replace => change.action.is_replace(),
            ActionWord::Forget => change.action.forgets(),
            ActionWord::Import => change.importing.is_some(),
            ActionWord::Move => change.previous_addr != change.addr,
            ActionWord::Invoke => false,
            ActionWord::Update | ActionWord::Create | ActionWord::Read => ActionWord::of(change) == self,
        }
    }
}

/// A set of addresses.
#[derive(Clone, Debug)]
pub enum AddressMatch {
    /// A module, a resource, an instance or a pattern.
    Target(Target),
    /// Every address with this text in it, which is in lower case.
    Text(String),
}

impl AddressMatch {
    pub fn contains(&self, addr: &AbsResourceInstance) -> bool {
        match self {
            AddressMatch::Target(target) => target.contains(addr),
            AddressMatch::Text(text) => addr.to_string().to_lowercase().contains(text),
        }
    }
}

/// Which changes are shown. The default shows all.
#[derive(Clone, Debug, Default)]
pub struct PlanFilter {
    /// Empty: any.
    pub only: Vec<ActionWord>,
    /// Empty: any.
    pub matching: Vec<AddressMatch>,
    /// Nothing but differences: no changes outside of the program, no legend and no reads.
    pub diff_only: bool,
}

impl PlanFilter {
    /// True if everything is shown.
    pub fn is_empty(&self) -> bool {
        self.only.is_empty() && self.matching.is_empty() && !self.diff_only
    }

    /// Whether a change is shown; `invokes`: it invokes actions.
    pub fn shows(&self, change: &ResourceChange, invokes: bool) -> bool {
        let is_named = |word: &ActionWord| word.names(change) || (invokes && *word == ActionWord::Invoke);
        (!self.diff_only || change.action != Action::Read)
            && (self.only.is_empty() || self.only.iter().any(is_named))
            && (self.contains(&change.addr) || self.contains(&change.previous_addr))
    }

    /// Whether a changed output is shown. Outputs have no addresses, so that `-match` hides them.
    pub fn shows_output(&self, output: &OutputChange) -> bool {
        self.matching.is_empty() && (self.only.is_empty() || self.only.contains(&ActionWord::of_output(output)))
    }

    /// Whether an action is shown that no change invokes. It has the address of its caller.
    pub fn shows_request(&self, invocation: &ActionInvocation) -> bool {
        let is_matched = self.matching.is_empty() || invocation.caller().is_some_and(|caller| self.contains(caller));
        is_matched && (self.only.is_empty() || self.only.contains(&ActionWord::Invoke))
    }

    /// True if no pattern excludes the address.
    pub fn contains(&self, addr: &AbsResourceInstance) -> bool {
        self.matching.is_empty() || self.matching.iter().any(|one| one.contains(addr))
    }
}

/// How much a filter hides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Changes of objects, made and planned, and requested actions.
    pub changes: usize,
    pub outputs: usize,
}

impl Hidden {
    pub fn is_empty(self) -> bool {
        self == Hidden::default()
    }

    /// The last line of what is shown; empty if nothing is hidden.
    pub fn note(self) -> String {
        let counted = |count: usize, one: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {one}s")),
        };
        let parts: Vec<String> =
            [counted(self.changes, "change"), counted(self.outputs, "output change")].into_iter().flatten().collect();
        match (parts.is_empty(), self.changes + self.outputs) {
            (true, _) => String::new(),
            (false, 1) => format!("{} is hidden by the filters.\n", parts.join(" and ")),
            (false, _) => format!("{} are hidden by the filters.\n", parts.join(" and ")),
        }
    }
}

/// True for changes that people are shown. Data sources that leave the state are not, and neither are objects that stay as they are,
/// unless they are moved or imported.
pub fn is_planned(change: &ResourceChange) -> bool {
    match change.action {
        Action::NoOp => change.previous_addr != change.addr || change.importing.is_some(),
        Action::Delete => change.addr.mode() == ResourceMode::Managed,
        _ => true,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use model::addr::command_line::target;
    use model::addr::parse::parse_abs_instance;
    use model::addr::{AbsProviderConfig, Provider};
    use model::plan::{ActionReason, Change, Importing};
    use terrane_value::Value;

    use super::*;

    /// A change without anything else, also for other tests.
    pub(crate) fn change(addr: &str, action: Action) -> ResourceChange {
        let addr = parse_abs_instance(addr).unwrap();
        ResourceChange {
            previous_addr: addr.clone(),
            addr,
            deposed: None,
            provider: AbsProviderConfig::root(Provider::default_for("test")),
            action,
            reason: ActionReason::None,
            change: Change { before: Value::null_dynamic(), after: Value::null_dynamic() },
            required_replace: Vec::new(),
            private: Arc::default(),
            importing: None,
            identity: Default::default(),
            generated_config: None,
        }
    }

    fn sample() -> Vec<ResourceChange> {
        let mut imported = change("t.imported", Action::Update);
        imported.importing = Some(Importing { id: Some("i".into()), identity: None });
        let mut moved = change("t.moved", Action::NoOp);
        moved.previous_addr = parse_abs_instance("module.old.t.x").unwrap();
        vec![
            change("t.deleted", Action::Delete),
            change("module.m[0].t.replaced", Action::CreateThenDelete),
            change("t.kept", Action::CreateThenForget),
            change("module.m[1].t.created[\"a*\"]", Action::Create),
            change("data.t.read", Action::Read),
            imported,
            moved,
        ]
    }

    fn shown(filter: &PlanFilter) -> String {
        let names = |change: &ResourceChange| change.addr.resource.resource.name.to_string();
        sample().iter().filter(|change| filter.shows(change, false)).map(names).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_choose_changes() {
        let cases = [
            ("", "deleted replaced kept created read imported moved"),
            ("delete", "deleted replaced"),
            ("replace", "replaced kept"),
            ("forget", "kept"),
            ("create,read", "created read"),
            ("update", "imported"),
            ("import", "imported"),
            ("move", "moved"),
            ("invoke", ""),
        ];
        for (words, expected) in cases {
            let only = words.split(',').filter_map(ActionWord::parse).collect();
            assert_eq!(shown(&PlanFilter { only, ..PlanFilter::default() }), expected, "{words}");
        }
        assert_eq!(
            shown(&PlanFilter { diff_only: true, ..PlanFilter::default() }),
            "deleted replaced kept created imported moved"
        );
        assert!(PlanFilter { only: vec![ActionWord::Invoke], ..PlanFilter::default() }.shows(&sample()[0], true));
    }

    #[test]
    fn patterns_choose_changes() {
        let cases = [
            ("module.m", "replaced created"),
            ("module.m[1]", "created"),
            ("t.deleted", "deleted"),
            ("data.*.*", "read"),
            ("**", "deleted replaced kept created read imported moved"),
            ("module.old", "moved"),
        ];
        for (text, expected) in cases {
            let matching = vec![AddressMatch::Target(target(text).unwrap())];
            assert_eq!(shown(&PlanFilter { matching, ..PlanFilter::default() }), expected, "{text}");
        }
        let matching = vec![AddressMatch::Text("[\"a*".into()), AddressMatch::Text("deleted".into())];
        assert_eq!(shown(&PlanFilter { matching, ..PlanFilter::default() }), "deleted created");
    }

    #[test]
    fn notes_count_what_is_hidden() {
        let cases = [
            (0, 0, ""),
            (1, 0, "1 change is hidden by the filters.\n"),
            (2, 1, "2 changes and 1 output change are hidden by the filters.\n"),
            (0, 1, "1 output change is hidden by the filters.\n"),
            (0, 2, "2 output changes are hidden by the filters.\n"),
        ];
        for (changes, outputs, expected) in cases {
            assert_eq!(Hidden { changes, outputs }.note(), expected);
        }
    }
}
