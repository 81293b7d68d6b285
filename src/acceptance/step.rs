//! Steps that apply, plan, refresh or destroy a configuration.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;

use super::conditions::{ExpectedError, Skips};
use super::directory::{Configuration, Source};
use super::error::CheckResult;
use super::plan::Plan;
use super::program::Host;
use super::state::State;

pub(super) type PlanCheck = Box<dyn FnMut(&Plan) -> CheckResult + Send>;
pub(super) type StateCheck = Box<dyn FnMut(&State) -> CheckResult + Send>;

/// What a step does with its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Apply,
    PlanOnly,
    Destroy,
    Refresh,
}

/// One step of a [`Test`](super::Test): a configuration, what is done with it, and checks.
///
/// A step that applies runs these commands; an unexpected result of any of them fails the test:
///
/// 1. `init`, and `taint` for the addresses of [`Step::taint`].
/// 2. `plan`, with the checks of [`Step::check_plan`].
/// 3. `apply` of this plan, with the checks of [`Step::check`].
/// 4. `plan -refresh=false`, which must be empty: the provider returned what it planned.
/// 5. `plan`, which must be empty: the provider reads what it stored.
///
/// ```
/// use terrane_sdk_acceptance::{Action, Step, plan, state};
/// let step = Step::new(r#"resource "todo_note" "milk" { title = var.title }"#)
///     .variable("title", "Buy milk")
///     .check_plan(plan::action("todo_note.milk", Action::Create))
///     .check(state::value("todo_note.milk", "title", "Buy milk"));
/// ```
pub struct Step {
    pub(super) mode: Mode,
    /// None: that of the step before.
    pub(super) configuration: Option<Configuration>,
    pub(super) prepare: Option<Box<dyn FnOnce() + Send>>,
    pub(super) tainted: Vec<String>,
    pub(super) plan_arguments: Vec<String>,
    pub(super) plan_checks: Vec<PlanCheck>,
    pub(super) checks: Vec<StateCheck>,
    pub(super) plan_checks_after_apply: Vec<PlanCheck>,
    pub(super) plan_checks_after_refresh: Vec<PlanCheck>,
    pub(super) expects_changes: bool,
    pub(super) expected_error: Option<ExpectedError>,
    pub(super) skips: Skips,
}

impl Step {
    /// Applies a configuration in native syntax, or in JSON if it begins with a brace. The test adds a `required_providers`
    /// block unless the configuration has one.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::new(r#"resource "todo_note" "milk" { title = "Buy milk" }"#);
    /// ```
    pub fn new(configuration: impl Into<String>) -> Step {
        Step::with_mode(Mode::Apply, Some(Source::Text(configuration.into())))
    }

    /// Applies the configuration of a folder, which is copied to the working directory.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::folder("tests/acceptance/two_notes");
    /// ```
    pub fn folder(path: impl Into<PathBuf>) -> Step {
        Step::with_mode(Mode::Apply, Some(Source::Folder(path.into())))
    }

    /// Applies the configuration of the step before once more.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::again().taint("todo_note.milk");
    /// ```
    pub fn again() -> Step {
        Step::with_mode(Mode::Apply, None)
    }

    /// Only updates the state by what the provider reads. Then a plan of the configuration of the step before must be empty.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, state};
    /// let step = Step::refresh().check(state::exists("todo_note.milk"));
    /// ```
    pub fn refresh() -> Step {
        Step::with_mode(Mode::Refresh, None)
    }

    /// Destroys the objects of the configuration of the step before. Every test does this at its end, without such a step.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, state};
    /// let step = Step::destroy().check(state::absent("todo_note.milk"));
    /// ```
    pub fn destroy() -> Step {
        Step::with_mode(Mode::Destroy, None)
    }

    fn with_mode(mode: Mode, source: Option<Source>) -> Step {
        Step {
            mode,
            configuration: source.map(Configuration::new),
            prepare: None,
            tainted: Vec::new(),
            plan_arguments: Vec::new(),
            plan_checks: Vec::new(),
            checks: Vec::new(),
            plan_checks_after_apply: Vec::new(),
            plan_checks_after_refresh: Vec::new(),
            expects_changes: false,
            expected_error: None,
            skips: Skips::default(),
        }
    }

    /// Only plans. The plan must be empty unless [`Step::expect_changes`] is set.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, plan};
    /// let step = Step::again().plan_only().check_plan(plan::empty());
    /// ```
    #[must_use]
    pub fn plan_only(mut self) -> Step {
        self.mode = Mode::PlanOnly;
        self
    }

    /// Sets an input variable. Only for steps with a configuration of their own.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::new("variable \"sizes\" {}").variable("sizes", vec![1, 2]);
    /// ```
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<Json>) -> Step {
        if let Some(configuration) = &mut self.configuration {
            configuration.variables.insert(name.into(), value.into());
        }
        self
    }

    /// Adds a file to the working directory: a template, or a module. Only for steps with a configuration of their own.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::new("module \"a\" { source = \"./a\" }").file("a/main.tf", "locals {}");
    /// ```
    #[must_use]
    pub fn file(mut self, path: impl Into<String>, text: impl Into<String>) -> Step {
        if let Some(configuration) = &mut self.configuration {
            configuration.files.push((path.into(), text.into()));
        }
        self
    }

    /// Called before the step: to change an object behind the back of the program, for example.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::refresh().prepare(|| { /* delete the note in the service */ }).expect_changes();
    /// ```
    #[must_use]
    pub fn prepare(mut self, prepare: impl FnOnce() + Send + 'static) -> Step {
        self.prepare = Some(Box::new(prepare));
        self
    }

    /// Taints a resource instance before the plan, which then replaces it.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::again().taint("todo_note.milk");
    /// ```
    #[must_use]
    pub fn taint(mut self, address: impl Into<String>) -> Step {
        self.tainted.push(address.into());
        self
    }

    /// Adds an argument to all `plan` commands of the step.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::again().plan_argument("-replace=todo_note.milk").plan_only().expect_changes();
    /// ```
    #[must_use]
    pub fn plan_argument(mut self, argument: impl Into<String>) -> Step {
        self.plan_arguments.push(argument.into());
        self
    }

    /// Checks the plan before it is applied. See [`plan`](super::plan).
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, plan};
    /// let step = Step::new("").check_plan(plan::unknown("todo_note.milk", "id"));
    /// ```
    #[must_use]
    pub fn check_plan(mut self, check: impl FnMut(&Plan) -> CheckResult + Send + 'static) -> Step {
        self.plan_checks.push(Box::new(check));
        self
    }

    /// Checks the plan that is made after apply without a refresh.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, plan};
    /// let step = Step::new("").check_plan_after_apply(plan::empty());
    /// ```
    #[must_use]
    pub fn check_plan_after_apply(mut self, check: impl FnMut(&Plan) -> CheckResult + Send + 'static) -> Step {
        self.plan_checks_after_apply.push(Box::new(check));
        self
    }

    /// Checks the last plan of the step, which is made with a refresh.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Action, Step, plan};
    /// let step = Step::refresh().expect_changes().check_plan_after_refresh(plan::action("todo_note.milk", Action::Create));
    /// ```
    #[must_use]
    pub fn check_plan_after_refresh(mut self, check: impl FnMut(&Plan) -> CheckResult + Send + 'static) -> Step {
        self.plan_checks_after_refresh.push(Box::new(check));
        self
    }

    /// Checks the state: values of attributes and outputs. See [`state`](super::state).
    ///
    /// ```
    /// # use terrane_sdk_acceptance::{Step, state};
    /// let step = Step::new("").check(state::output("slug", "buy-milk"));
    /// ```
    #[must_use]
    pub fn check(mut self, check: impl FnMut(&State) -> CheckResult + Send + 'static) -> Step {
        self.checks.push(Box::new(check));
        self
    }

    /// The last plan of the step must have changes. That after apply without a refresh may have some.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::new("resource \"todo_note\" \"x\" { title = timestamp() }").expect_changes();
    /// ```
    #[must_use]
    pub fn expect_changes(mut self) -> Step {
        self.expects_changes = true;
        self
    }

    /// A command of the step must fail with this text. Line breaks and frames of the program's messages do not matter.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::new("resource \"todo_note\" \"x\" {}").expect_error("The argument \"title\" is required");
    /// ```
    #[must_use]
    pub fn expect_error(mut self, text: &str) -> Step {
        self.expected_error = Some(ExpectedError::with_text(text));
        self
    }

    /// As [`Step::expect_error`], with a function of the program's output in one line: `is_match` of a regular expression,
    /// for example. `description` is for the message.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::new("").expect_error_matching("two errors", |text| text.matches("Error: ").count() == 2);
    /// ```
    #[must_use]
    pub fn expect_error_matching(
        mut self,
        description: impl Into<String>,
        holds: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Step {
        self.expected_error = Some(ExpectedError { description: description.into(), holds: Arc::new(holds) });
        self
    }

    /// Skips the step if the version of the program is lower.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::again().skip_below("1.12");
    /// ```
    #[must_use]
    pub fn skip_below(mut self, version: &str) -> Step {
        self.skips.add_below(version);
        self
    }

    /// Skips the step if the version of the program is higher.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::again().skip_above("1.11.4");
    /// ```
    #[must_use]
    pub fn skip_above(mut self, version: &str) -> Step {
        self.skips.add_above(version);
        self
    }

    /// Skips the step if the function returns true.
    ///
    /// ```
    /// # use terrane_sdk_acceptance::Step;
    /// let step = Step::again().skip_if(|host| host.is_terrane);
    /// ```
    #[must_use]
    pub fn skip_if(mut self, skip: impl FnMut(&Host) -> bool + Send + 'static) -> Step {
        self.skips.add_if(skip);
        self
    }
}
