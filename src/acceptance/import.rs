//! Steps that import an object which an earlier step created.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::conditions::{ExpectedError, Skips};
use super::directory::{Configuration, Source};
use super::error::{CheckResult, Error};
use super::plan::{Action, action, empty};
use super::program::Host;
use super::session::Session;
use super::state::{State, missing};
use super::step::StateCheck;
use super::verify::Verification;

/// The file for the import block.
const IMPORT_FILE: &str = "acceptance_import.tf";

/// How the object is named.
enum Kind {
    /// The command `import`.
    Command,
    /// An `import` block with an id.
    Block,
    /// An `import` block with an identity.
    Identity,
}

type IdFunction = Box<dyn FnOnce(&State) -> Result<String, String> + Send>;

/// A step of a [`Test`](super::Test) that imports an object which an earlier step created.
///
/// The import runs in a copy of the working directory, from whose state the object was removed, with the configuration that was
/// applied last. The import by a block must need no change of the object.
///
/// ```
/// use terrane_sdk_acceptance::{Import, Step, Test};
/// let test = Test::new()
///     .step(Step::new(r#"resource "todo_note" "milk" { title = "Buy milk" }"#))
///     .import(Import::command("todo_note.milk").verify())
///     .import(Import::block("todo_note.milk").verify());
/// ```
pub struct Import {
    address: String,
    kind: Kind,
    id: Option<IdFunction>,
    identity: Option<Map<String, Json>>,
    configuration: Option<Configuration>,
    verification: Option<Verification>,
    checks: Vec<StateCheck>,
    keeps_state: bool,
    expected_error: Option<ExpectedError>,
    pub(super) skips: Skips,
}

impl Import {
    /// Imports by the command `import`. The id is the attribute `id` of the object in the state, unless [`Import::id`] sets another.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.milk").verify();
    /// ```
    pub fn command(address: impl Into<String>) -> Import {
        Import::with_kind(address.into(), Kind::Command)
    }

    /// Imports by an `import` block with an id, as [`Import::command`]. Needs Terraform 1.5.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::block("todo_note.milk").verify();
    /// ```
    pub fn block(address: impl Into<String>) -> Import {
        Import::with_kind(address.into(), Kind::Block)
    }

    /// Imports by an `import` block with the identity of the object in the state, unless [`Import::identity`] sets another.
    /// Needs Terraform 1.12.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::identity_block("todo_note.milk").verify().skip_below("1.12");
    /// ```
    pub fn identity_block(address: impl Into<String>) -> Import {
        Import::with_kind(address.into(), Kind::Identity)
    }

    fn with_kind(address: String, kind: Kind) -> Import {
        Import {
            address,
            kind,
            id: None,
            identity: None,
            configuration: None,
            verification: None,
            checks: Vec::new(),
            keeps_state: false,
            expected_error: None,
            skips: Skips::default(),
        }
    }

    /// Sets the id.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.milk").id("99").expect_error("Note not found");
    /// ```
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Import {
        let id = id.into();
        self.id_of(move |_| Ok(id))
    }

    /// Makes the id of the state of the step before: for ids that have several parts.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Import, State};
    /// let step = Import::command("todo_note.milk").id_of(|state: &State| {
    ///     let id = state.text("todo_note.milk", "id").ok_or("no id")?;
    ///     Ok(format!("inbox/{id}"))
    /// });
    /// ```
    #[must_use]
    pub fn id_of(mut self, id: impl FnOnce(&State) -> Result<String, String> + Send + 'static) -> Import {
        self.id = Some(Box::new(id));
        self
    }

    /// Sets an attribute of the identity. The others are not set then.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::identity_block("todo_note.milk").identity("id", "1");
    /// ```
    #[must_use]
    pub fn identity(mut self, name: impl Into<String>, value: impl Into<Json>) -> Import {
        self.identity.get_or_insert_default().insert(name.into(), value.into());
        self
    }

    /// Imports with this configuration instead of the one that was applied last.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.copy").configuration("resource \"todo_note\" \"copy\" { title = \"x\" }").id("1");
    /// ```
    #[must_use]
    pub fn configuration(mut self, text: impl Into<String>) -> Import {
        self.configuration = Some(Configuration::new(Source::Text(text.into())));
        self
    }

    /// Compares all attributes of the imported object with those of the object with the same address in the state of the step
    /// before. `timeouts` are not compared.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.milk").verify();
    /// ```
    #[must_use]
    pub fn verify(mut self) -> Import {
        self.verification.get_or_insert_default();
        self
    }

    /// As [`Import::verify`], with the object of the same type that has the same value of an attribute: for imports to another address.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.copy").id("1").verify_by("id");
    /// ```
    #[must_use]
    pub fn verify_by(mut self, attribute: impl Into<String>) -> Import {
        self.verification.get_or_insert_default().pair_by = Some(attribute.into());
        self
    }

    /// Ignores differences of attributes whose flat names, such as `reminder.0.at`, have one of the prefixes.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.milk").verify().ignore(["secret_version"]);
    /// ```
    #[must_use]
    pub fn ignore(mut self, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Import {
        self.verification.get_or_insert_default().ignored.extend(prefixes.into_iter().map(Into::into));
        self
    }

    /// Checks the state after the import. The import is applied if it is one by a block. See [`state`](super::state).
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Import, state};
    /// let step = Import::command("todo_note.milk").check(state::value("todo_note.milk", "title", "Buy milk"));
    /// ```
    #[must_use]
    pub fn check(mut self, check: impl FnMut(&State) -> CheckResult + Send + 'static) -> Import {
        self.checks.push(Box::new(check));
        self
    }

    /// Imports in the working directory itself, so that later steps start with the imported object.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.milk").keep_state();
    /// ```
    #[must_use]
    pub fn keep_state(mut self) -> Import {
        self.keeps_state = true;
        self
    }

    /// The import must fail with this text. See [`Step::expect_error`](super::Step::expect_error).
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.milk").id("99").expect_error("Note not found");
    /// ```
    #[must_use]
    pub fn expect_error(mut self, text: &str) -> Import {
        self.expected_error = Some(ExpectedError::with_text(text));
        self
    }

    /// As [`Step::expect_error_matching`](super::Step::expect_error_matching).
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.milk").id("").expect_error_matching("any", |text| !text.is_empty());
    /// ```
    #[must_use]
    pub fn expect_error_matching(
        mut self,
        description: impl Into<String>,
        holds: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Import {
        self.expected_error = Some(ExpectedError { description: description.into(), holds: Arc::new(holds) });
        self
    }

    /// Skips the step if the version of the program is lower.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::identity_block("todo_note.milk").skip_below("1.12");
    /// ```
    #[must_use]
    pub fn skip_below(mut self, version: &str) -> Import {
        self.skips.add_below(version);
        self
    }

    /// Skips the step if the function returns true.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Import;
    /// let step = Import::command("todo_note.milk").skip_if(|host| host.is_terrane);
    /// ```
    #[must_use]
    pub fn skip_if(mut self, skip: impl FnMut(&Host) -> bool + Send + 'static) -> Import {
        self.skips.add_if(skip);
        self
    }

    /// Runs the step.
    pub(super) fn run(mut self, session: &mut Session<'_>) -> Result<(), Error> {
        let expected = self.expected_error.take();
        let result = if self.keeps_state {
            self.run_in(session)
        } else {
            let mut copy = Session::create(session.shared)?;
            copy.directory.copy_state(&session.directory)?;
            copy.applied.clone_from(&session.applied);
            copy.current.clone_from(&session.current);
            self.run_in(&mut copy)
        };
        ExpectedError::judge(expected.as_ref(), result)
    }

    fn run_in(&mut self, session: &mut Session<'_>) -> Result<(), Error> {
        // The last step may have an invalid configuration, whose error it expected.
        let configuration = self.configuration.take().or_else(|| session.applied.clone());
        let configuration = configuration.or_else(|| session.current.clone());
        let Some(configuration) = configuration else {
            return Err(Error::new("an import in the first step needs a configuration"));
        };
        session.configure(&configuration)?;
        let earlier = session.read_state()?;
        let target = self.target(&earlier).map_err(Error::new)?;
        if earlier.attributes(&self.address).is_some() {
            session.run(&["state", "rm", &self.address], &[0])?;
        }
        let imported = match self.kind {
            Kind::Command => {
                let id = target.as_str().unwrap_or_default();
                session.run(&["import", "-no-color", "-input=false", &self.address, id], &[0])?;
                session.applied.clone_from(&session.current);
                None
            }
            Kind::Block | Kind::Identity => Some(self.plan_block(session, &target)?),
        };
        let state = session.read_state()?;
        let imported = imported.as_ref().or_else(|| state.attributes(&self.address));
        if let Some(verification) = &self.verification {
            let result = match imported {
                Some(imported) => verification.check(&self.address, imported, &earlier),
                None => Err(missing(&self.address, state.addresses())),
            };
            session.check(result)?;
        }
        for check in &mut self.checks {
            let result = check(&state);
            session.check(result)?;
        }
        Ok(())
    }

    /// The id as a text, or the identity as an object.
    fn target(&mut self, earlier: &State) -> Result<Json, String> {
        let address = &self.address;
        if let Kind::Identity = self.kind {
            let identity = self.identity.take().map(Json::Object).or_else(|| earlier.identity(address).cloned());
            return identity.ok_or_else(|| format!("{address}: expected an identity in the state, found none: set it"));
        }
        let id = match self.id.take() {
            Some(id) => id(earlier)?,
            None => match earlier.text(address, "id") {
                Some(id) => id.to_owned(),
                None => {
                    return Err(format!(
                        "{address}: expected an attribute \"id\" in the state, found none: set the id"
                    ));
                }
            },
        };
        Ok(Json::String(id))
    }

    /// Plans the import by a block. Applies it if checks or later steps need the state. Returns the imported object.
    fn plan_block(&self, session: &mut Session<'_>, target: &Json) -> Result<Json, Error> {
        session.write(IMPORT_FILE, &import_block(&self.address, target))?;
        session.plan(&[], &[])?;
        let plan = session.read_plan()?;
        session.check(action(self.address.as_str(), Action::NoOp)(&plan))?;
        let change = plan.change(&self.address).unwrap_or(&Json::Null);
        if change.get("importing").is_none_or(Json::is_null) {
            return Err(session.failure(format!("{}: expected an import, found none in the plan", self.address)));
        }
        if !self.keeps_state {
            // What a copy of the state creates would not be destroyed.
            session.check(empty()(&plan))?;
        }
        if self.keeps_state || !self.checks.is_empty() {
            session.apply_plan()?;
        }
        Ok(change["before"].clone())
    }
}

/// The text of an `import` block. JSON is a part of the language, except for templates in texts.
fn import_block(address: &str, target: &Json) -> String {
    let name = if target.is_string() { "id" } else { "identity" };
    let value = target.to_string().replace("${", "$${").replace("%{", "%%{");
    format!("import {{\n  to = {address}\n  {name} = {value}\n}}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn import_blocks_have_no_templates() {
        let block = import_block("a.b[\"c\"]", &json!("x\"${y}\n"));
        assert_eq!(block, "import {\n  to = a.b[\"c\"]\n  id = \"x\\\"$${y}\\n\"\n}\n");
        assert!(import_block("a.b", &json!({ "id": 1 })).contains("  identity = {\"id\":1}\n"));
    }

    #[test]
    fn ids_come_from_the_state_unless_they_are_set() {
        let resource = json!({ "address": "a.b", "values": { "id": "1" }, "identity": { "key": "k" } });
        let state = json!({ "values": { "root_module": { "resources": [resource] } } });
        let state = State::parse(&state.to_string()).unwrap();
        let cases = [
            (Import::command("a.b"), Ok(json!("1"))),
            (Import::block("a.b").id("2"), Ok(json!("2"))),
            (Import::identity_block("a.b"), Ok(json!({ "key": "k" }))),
            (Import::identity_block("a.b").identity("key", 1), Ok(json!({ "key": 1 }))),
            (
                Import::command("a.c"),
                Err("a.c: expected an attribute \"id\" in the state, found none: set the id".into()),
            ),
        ];
        for (mut import, expected) in cases {
            assert_eq!(import.target(&state), expected);
        }
    }
}
