//! The values for early evaluation, when a configuration is loaded: root variables and paths.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base::diag::Diagnostics;
use base::files::Files;
use base::moment::Moment;
use engine::ports::Host;
use lang::functions;
use model::config::{ByName, StaticInputs, Variable};
use terrane_value::Value;

use super::variables::{self, Collected};
use crate::setup::Setup;
use crate::setup::host::Machine;

/// The values that people give now.
pub struct GivenValues {
    setup: Setup,
    surroundings: Surroundings,
    /// Read when first asked for: most configurations never ask.
    collected: Mutex<Option<Collected>>,
}

impl GivenValues {
    pub fn of(setup: &Setup) -> Arc<dyn StaticInputs> {
        let surroundings = Surroundings(Machine::new(setup));
        Arc::new(GivenValues { setup: setup.clone(), surroundings, collected: Mutex::default() })
    }
}

impl StaticInputs for GivenValues {
    fn variable(&self, variable: &Variable) -> (Option<Value>, Diagnostics) {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        let mut diagnostics = Diagnostics::new();
        if collected.is_none() {
            // Warnings are the business of those who need all values.
            let (found, problems) = variables::collect(&self.setup, &self.setup.variables);
            diagnostics = problems.into_iter().filter(|d| d.is_error()).collect();
            *collected = Some(found);
        }
        let given = collected.as_ref().and_then(|found| variables::value_of(found, variable, &mut diagnostics));
        let value = given.or_else(|| variables::answer(variable, &self.setup, &mut diagnostics));
        (value, diagnostics)
    }

    fn undeclared(&self, declared: &ByName<Variable>) -> Diagnostics {
        variables::undeclared_arguments(&self.setup, declared)
    }

    fn workspace(&self) -> String {
        self.surroundings.0.workspace()
    }

    fn working_dir(&self) -> String {
        self.surroundings.0.original_working_dir()
    }

    fn machine(&self) -> Option<&dyn functions::Machine> {
        Some(&self.surroundings)
    }
}

/// The values that a saved plan was made with.
pub struct PlannedValues {
    variables: BTreeMap<Arc<str>, Value>,
    surroundings: Surroundings,
}

impl PlannedValues {
    pub fn of(setup: &Setup, variables: &BTreeMap<Arc<str>, Value>) -> Arc<dyn StaticInputs> {
        Arc::new(PlannedValues { variables: variables.clone(), surroundings: Surroundings(Machine::new(setup)) })
    }
}

impl StaticInputs for PlannedValues {
    fn variable(&self, variable: &Variable) -> (Option<Value>, Diagnostics) {
        (self.variables.get(&variable.name).cloned(), Diagnostics::new())
    }

    fn workspace(&self) -> String {
        self.surroundings.0.workspace()
    }

    fn working_dir(&self) -> String {
        self.surroundings.0.original_working_dir()
    }

    fn machine(&self) -> Option<&dyn functions::Machine> {
        Some(&self.surroundings)
    }
}

/// The machine as functions see it whose results must be the same each time the configuration is loaded.
struct Surroundings(Machine);

impl functions::Machine for Surroundings {
    fn files(&self) -> &dyn Files {
        self.0.files()
    }

    fn base_dir(&self) -> &Path {
        Path::new(".")
    }

    fn working_dir(&self) -> PathBuf {
        Host::working_dir(&self.0)
    }

    fn pure_only(&self) -> bool {
        true
    }

    fn now(&self) -> Moment {
        self.0.now()
    }

    fn plan_time(&self) -> Option<Moment> {
        None
    }

    fn random(&self, bytes: &mut [u8]) {
        self.0.random(bytes);
    }
}
