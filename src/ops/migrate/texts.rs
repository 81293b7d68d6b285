//! What people are asked and told while states are copied. Migrations that only newer versions of the reference know, those of state
//! stores and of `state migrate`, have the texts of these versions.

use std::path::Path;

use base::name::PROGRAM;

use crate::interface::ask::Question;

/// A place of states in a message.
#[derive(Clone, Copy)]
pub struct NamedPlace<'a> {
    /// The type of the backend or state store.
    pub kind: &'a str,
    /// It is a state store of a provider.
    pub is_store: bool,
}

impl NamedPlace<'_> {
    fn word(self) -> &'static str {
        if self.is_store { "state store" } else { "backend" }
    }

    /// `"local" backend`
    fn text(self) -> String {
        format!("{:?} {}", self.kind, self.word())
    }
}

/// The texts about a migration between two places.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    pub from: NamedPlace<'a>,
    pub to: NamedPlace<'a>,
    pub is_newer: bool,
}

impl Texts<'_> {
    /// The error if the workspaces of a place cannot be listed.
    pub fn not_inspected(self, why: &str) -> String {
        let when = if self.is_newer { "migration" } else { "changing backends" };
        format!(
            "Error inspecting states in the {}:\n    {why}\n\nPrior to {when}, {PROGRAM} inspects the source and destination\nstates \
             to determine what kind of migration steps need to be taken, if any.\n{PROGRAM} failed to load the states. The data in both \
             the source and the\ndestination remain unmodified. Please resolve the above error and try again.",
            self.from.text()
        )
    }

    pub fn all(self) -> Question {
        let to = match self.is_newer {
            true => format!("{} {:?}", self.to.word(), self.to.kind),
            false => format!("{:?}", self.to.kind),
        };
        let how = match self.is_newer {
            true => format!(
                "support workspaces. During the migration, {PROGRAM} will copy\nall workspaces (with the same names). THIS WILL \
                 OVERWRITE any conflicting\nstates in the destination."
            ),
            false => format!(
                "support workspaces. When migrating between backends, {PROGRAM} will copy\nall workspaces (with the same names). THIS \
                 WILL OVERWRITE any conflicting\nstates in the destination."
            ),
        };
        let text = format!(
            "Both the existing {} and the newly configured {}\n{how}\n\n{PROGRAM} initialization doesn't currently migrate only select \
             workspaces.\nIf you want to migrate a select number of workspaces, you must manually\npull and push those states.\n\nIf \
             you answer \"yes\", {PROGRAM} will migrate all states. If you answer\n\"no\", {PROGRAM} will abort.",
            self.from.text(),
            self.to.text(),
        );
        Question { title: format!("Do you want to migrate all workspaces to {to}?"), text, ..Question::default() }
    }

    /// Why not all workspaces were copied.
    pub fn not_all(self, name: &str, why: &str) -> String {
        let (from, to) = (self.from.text(), self.to.text());
        format!(
            "Error migrating the workspace {name:?} from the previous {from}\nto the newly configured {to}:\n    {why}\n\n{PROGRAM} \
             copies workspaces in alphabetical order. Any workspaces\nalphabetically earlier than this one have been copied. Any \
             workspaces\nlater than this haven't been modified in the destination. No workspaces\nin the source state have been \
             modified.\n\nPlease resolve the error above and run the initialization command again.\nThis will attempt to copy (with \
             permission) all workspaces again."
        )
    }

    /// Whether to copy the workspace in use only.
    pub fn current_only(self, current: &str) -> Question {
        let (from, to) = (self.from.text(), self.to.text());
        let (from_word, to_word) = (self.from.word(), self.to.word());
        let destination = match self.is_newer {
            true => format!("{to_word} {:?}", self.to.kind),
            false => format!("state {:?}", self.to.kind),
        };
        let title = format!(
            "Destination {destination} doesn't support workspaces.\nDo you want to copy only your current workspace?"
        );
        let text = format!(
            "The existing {from} supports workspaces and you currently are\nusing more than one. The newly configured {to} doesn't \
             support\nworkspaces. If you continue, {PROGRAM} will copy your current workspace {current:?}\nto the default workspace in \
             the new {to_word}. Your existing workspaces in the\nsource {from_word} won't be modified. If you want to switch \
             workspaces, back them\nup, or cancel altogether, answer \"no\" and {PROGRAM} will abort."
        );
        Question { title, text, ..Question::default() }
    }

    /// The error if a state cannot be read.
    pub fn not_loaded(self, place: NamedPlace<'_>, why: &str) -> String {
        match self.is_newer {
            true => format!(
                "Error loading state:\n    {why}\n\n{PROGRAM} failed to load the default state from the {}.\nState migration cannot occur \
                 unless the state can be loaded.\nState migration has been aborted. The state in both the\nsource and the destination \
                 remain unmodified. Please resolve the\nabove error and try again.",
                place.text()
            ),
            false => not_loaded(place.kind, why),
        }
    }

    /// The error if a state cannot be written.
    pub fn not_copied(self, why: &str) -> String {
        format!(
            "Error copying state from the previous {} to the newly configured\n{}:\n    {why}\n\nThe state in the previous {} remains \
             intact and unmodified. Please resolve\nthe error above and try again.",
            self.from.text(),
            self.to.text(),
            self.from.word()
        )
    }

    /// Whether to copy a state to a place that has none.
    pub fn copy_to_empty(self) -> Question {
        let (from, to) = (self.from.text(), self.to.text());
        let (to_kind, to_word) = (self.to.kind, self.to.word());
        let text = format!(
            "Pre-existing state was found while migrating the previous {from} to the\nnewly configured {to}. No existing state was found \
             in the newly\nconfigured {to}. Do you want to copy this state to the new {to_kind:?}\n{to_word}? Enter \"yes\" to copy and \
             \"no\" to start with an empty state."
        );
        Question { title: self.copy(), text, ..Question::default() }
    }

    /// Whether to overwrite a state; both are in files to look at.
    pub fn overwrite(self, old: &Path, new: &Path) -> Question {
        let (from, to, word) = (self.from.text(), self.to.text(), self.to.word());
        let name = |place: NamedPlace<'_>| match self.is_newer {
            true => format!("{} {:?}", place.word(), place.kind),
            false => format!("type {:?}", place.kind),
        };
        let text = format!(
            "Pre-existing state was found while migrating the previous {from} to the\nnewly configured {to}. An existing non-empty state \
             already exists in\nthe new {word}. The two states have been saved to temporary files that will be\nremoved after responding \
             to this query.\n\nPrevious ({}): {}\nNew      ({}): {}\n\nDo you want to overwrite the state in the new {word} with the \
             previous state?\nEnter \"yes\" to copy and \"no\" to start with the existing state in the newly\nconfigured {to}.",
            name(self.from),
            old.display(),
            name(self.to),
            new.display(),
        );
        Question { title: self.copy(), text, ..Question::default() }
    }

    fn copy(self) -> String {
        format!("Do you want to copy existing state to the new {}?", self.to.word())
    }
}

/// The error if a state of a backend cannot be read.
pub fn not_loaded(kind: &str, why: &str) -> String {
    format!(
        "Error loading state:\n    {why}\n\n{PROGRAM} failed to load the default state from the {kind:?} backend.\nState migration \
         cannot occur unless the state can be loaded. Backend\nmodification and state migration has been aborted. The state in both \
         the\nsource and the destination remain unmodified. Please resolve the\nabove error and try again."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_state_stores_and_backends() {
        let backend = NamedPlace { kind: "local", is_store: false };
        let store = NamedPlace { kind: "files_store", is_store: true };
        let old = Texts { from: backend, to: NamedPlace { kind: "s3", ..backend }, is_newer: false };
        let newer = Texts { from: backend, to: store, is_newer: true };
        let titles = |texts: Texts<'_>| [texts.all().title, texts.copy_to_empty().title, texts.current_only("a").title];
        assert_eq!(titles(old)[0], "Do you want to migrate all workspaces to \"s3\"?");
        assert_eq!(titles(old)[1], "Do you want to copy existing state to the new backend?");
        assert!(titles(old)[2].starts_with("Destination state \"s3\" doesn't"), "{:?}", titles(old));
        assert_eq!(titles(newer)[0], "Do you want to migrate all workspaces to state store \"files_store\"?");
        assert_eq!(titles(newer)[1], "Do you want to copy existing state to the new state store?");
        assert!(titles(newer)[2].starts_with("Destination state store \"files_store\" doesn't"), "{:?}", titles(newer));
        let asked = newer.overwrite(Path::new("1"), Path::new("2")).text;
        assert!(
            asked.contains("Previous (backend \"local\"): 1\nNew      (state store \"files_store\"): 2"),
            "{asked}"
        );
        assert!(old.overwrite(Path::new("1"), Path::new("2")).text.contains("Previous (type \"local\"): 1"));
        assert!(newer.not_copied("full").contains("remains intact"));
        assert!(
            newer.not_loaded(store, "no").contains("from the \"files_store\" state store.\nState migration cannot")
        );
    }
}
