//! `policy test`: evaluates policies for mocked objects, and compares the results with what the tests expect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile};
use engine::policy::{Judge, MockedObject, MockedObjects, evaluate_mocks, evaluate_test_inputs};
use engine::ports::Host;
use model::config::policy_file::{
    GivenInputs, POLICY_ENDING, POLICY_TEST_ENDING, PolicyFile, PolicyInput, PolicyMockKind, PolicySet, PolicyTestFile,
    SetFile, UnfitValue, input_values,
};
use model::config::values_file;
use model::plan::{PolicyOutcome, PolicyReport, PolicyVerdict};
use terrane_value::Value;

use super::{files, load};
use crate::setup::Setup;
use crate::setup::host::Machine;

/// What is tested, and with which values of inputs.
#[derive(Clone, Debug)]
pub struct PolicyTestRequest {
    pub policies: PathBuf,
    /// None: where the policies are.
    pub tests: Option<PathBuf>,
    /// `name=value`
    pub inputs: Vec<String>,
    pub input_files: Vec<PathBuf>,
}

/// The results of a test file.
#[derive(Debug)]
pub struct TestedFile {
    pub name: String,
    pub objects: Vec<TestedObject>,
    /// What is wrong with the file.
    pub diagnostics: Diagnostics,
}

/// The result of one mocked object.
#[derive(Debug)]
pub struct TestedObject {
    pub address: String,
    pub status: PolicyTestStatus,
    pub diagnostics: Diagnostics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyTestStatus {
    Passed,
    Failed,
    Skipped,
}

impl TestedFile {
    pub fn failed(&self) -> bool {
        self.diagnostics.has_errors() || self.objects.iter().any(|object| object.status == PolicyTestStatus::Failed)
    }
}

/// Values for inputs from outside the tests: texts of flags, then of the environment, then of files.
struct Given {
    flags: GivenInputs,
    environment: GivenInputs,
    files: BTreeMap<Arc<str>, Value>,
}

/// What a test file is evaluated with.
struct Tested<'a> {
    setup: &'a Setup,
    host: Machine,
    given: Given,
    /// The policies of the command.
    policies: Vec<Arc<PolicyFile>>,
}

/// Runs the tests, and tells the results of each file.
pub fn run(setup: &Setup, request: &PolicyTestRequest, mut tell: impl FnMut(TestedFile)) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let given = diagnostics.take(given(setup, request));
    let sources = diagnostics.take(files::read(&setup.root, std::slice::from_ref(&request.policies), POLICY_ENDING));
    let policies = diagnostics.take(parsed(sources));
    let tests = request.tests.as_ref().unwrap_or(&request.policies);
    let tests = diagnostics.take(files::read(&setup.root, std::slice::from_ref(tests), POLICY_TEST_ENDING));
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let tested = Tested { setup, host: Machine::new(setup), given, policies };
    for test in tests {
        tell(tested.file(test));
    }
    diagnostics
}

fn given(setup: &Setup, request: &PolicyTestRequest) -> (Given, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut given = Given { flags: GivenInputs::new(), environment: load::given_inputs(setup), files: BTreeMap::new() };
    for text in &request.inputs {
        match text.split_once('=') {
            Some((name, value)) => drop(given.flags.insert(name.trim().into(), value.to_owned())),
            None => diagnostics.error("Invalid value of -input", format!("{text:?} is not of the form name=value.")),
        }
    }
    for path in &request.input_files {
        match files::source(&setup.root, path) {
            Ok(source) => {
                let values = diagnostics.take(values_file::parse_file(source));
                given.files.extend(values.into_iter().map(|(name, given)| (name, given.value)));
            }
            Err(problem) => diagnostics.push(problem),
        }
    }
    (given, diagnostics)
}

fn parsed(sources: Vec<Arc<SourceFile>>) -> (Vec<Arc<PolicyFile>>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let files = sources.into_iter().map(|source| Arc::new(diagnostics.take(PolicyFile::parse(source)))).collect();
    (files, diagnostics)
}

impl Given {
    /// The value for an input; none if there is none.
    fn value(&self, input: &PolicyInput) -> Option<Result<Value, UnfitValue>> {
        let text = self.flags.get(&input.name).or_else(|| self.environment.get(&input.name));
        match text {
            Some(text) => Some(input.of_text(text)),
            None => self.files.get(&input.name).map(|value| input.fit(value)),
        }
    }
}

impl Tested<'_> {
    fn file(&self, source: Arc<SourceFile>) -> TestedFile {
        let name = source.name().to_owned();
        let mut diagnostics = Diagnostics::new();
        let test = diagnostics.take(PolicyTestFile::parse(source));
        let policies = match &test.targets {
            None => self.policies.clone(),
            Some(targets) => diagnostics.take(self.targets(Path::new(&name), targets)),
        };
        let own = diagnostics.take(evaluate_test_inputs(&test, &self.host));
        let mut objects = Vec::new();
        if !diagnostics.has_errors() {
            let mocks = evaluate_mocks(&test, &self.inputs_of_mocks(&policies, &own), &self.host);
            let data = MockedObjects(&mocks);
            let is_tested =
                |object: &&MockedObject| object.mock.kind != PolicyMockKind::Data && !object.mock.is_skipped;
            let judged = mocks.iter().filter(is_tested).map(|object| self.object(object, &policies, &own, &data));
            objects.extend(judged);
        }
        TestedFile { name, objects, diagnostics }
    }

    /// The policies that a test file names, relative to its folder.
    fn targets(&self, test: &Path, targets: &[(String, Range)]) -> (Vec<Arc<PolicyFile>>, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let folder = test.parent().unwrap_or(Path::new(""));
        let mut paths = Vec::new();
        for (target, range) in targets {
            let path = folder.join(target);
            match files::find(&self.setup.root, &path, POLICY_ENDING) {
                Ok(_) => paths.push(path),
                Err(problem) => diagnostics.push(problem.at(range.clone())),
            }
        }
        let sources = diagnostics.take(files::read(&self.setup.root, &paths, POLICY_ENDING));
        let policies = diagnostics.take(parsed(sources));
        (policies, diagnostics)
    }

    /// What `input` means in the mocks of a file: what the file sets, and the values that the policies have otherwise.
    fn inputs_of_mocks(
        &self,
        policies: &[Arc<PolicyFile>],
        own: &BTreeMap<Arc<str>, Value>,
    ) -> BTreeMap<Arc<str>, Value> {
        let mut values = BTreeMap::new();
        for file in policies {
            // An input without a value is reported where it is used.
            let (of_file, _) = input_values(&file.inputs, |input| self.given.value(input));
            values.extend(of_file);
        }
        values.extend(own.clone());
        values
    }

    fn object(
        &self,
        object: &MockedObject,
        policies: &[Arc<PolicyFile>],
        own: &BTreeMap<Arc<str>, Value>,
        data: &MockedObjects<'_>,
    ) -> TestedObject {
        let mut diagnostics = object.diagnostics.clone();
        let mut set = PolicySet::default();
        for file in policies {
            let value = |input: &PolicyInput| match object.inputs.get(&input.name).or_else(|| own.get(&input.name)) {
                Some(value) => Some(input.fit(value)),
                None => self.given.value(input),
            };
            let inputs = diagnostics.take(input_values(&file.inputs, value));
            set.files.push(SetFile { file: file.clone(), inputs, is_late: false });
        }
        let status = match diagnostics.has_errors() {
            true => PolicyTestStatus::Failed,
            false => self.judge(object, &set, data, &mut diagnostics),
        };
        TestedObject { address: object.mock.address(), status, diagnostics }
    }

    fn judge(
        &self,
        object: &MockedObject,
        set: &PolicySet,
        data: &MockedObjects<'_>,
        diagnostics: &mut Diagnostics,
    ) -> PolicyTestStatus {
        let expects_failure = object.mock.expects_failure;
        let Some(target) = object.target() else {
            diagnostics.push(empty(object));
            return if expects_failure { PolicyTestStatus::Failed } else { PolicyTestStatus::Skipped };
        };
        let host: &dyn Host = &self.host;
        let report = Judge::new(set, data, host).report(&target, |_, _| true);
        let verdict = |wanted: PolicyVerdict| {
            report.iter().flat_map(|report| &report.outcomes).any(|outcome| has(outcome, wanted))
        };
        let (failed, denied) = (verdict(PolicyVerdict::Error), verdict(PolicyVerdict::Deny));
        // A violation that is expected is not shown.
        let is_shown = |found: PolicyVerdict| !(expects_failure && found == PolicyVerdict::Deny);
        diagnostics.extend(findings(report.as_ref(), is_shown));
        if expects_failure && !denied && !failed {
            diagnostics.push(not_denied(object));
        }
        let is_denying = report.as_ref().is_some_and(engine::policy::denied);
        match (failed, expects_failure) {
            (true, _) => PolicyTestStatus::Failed,
            (false, true) if denied => PolicyTestStatus::Passed,
            (false, true) => PolicyTestStatus::Failed,
            (false, false) if is_denying => PolicyTestStatus::Failed,
            (false, false) => PolicyTestStatus::Passed,
        }
    }
}

/// True if a policy found something of this severity.
fn has(outcome: &PolicyOutcome, wanted: PolicyVerdict) -> bool {
    outcome.findings.iter().any(|finding| finding.verdict == wanted)
}

fn findings(report: Option<&PolicyReport>, is_shown: impl Fn(PolicyVerdict) -> bool) -> Diagnostics {
    let outcomes = report.into_iter().flat_map(|report| &report.outcomes);
    let found = outcomes.flat_map(|outcome| &outcome.findings).filter(|finding| is_shown(finding.verdict));
    found.map(|finding| finding.diagnostic.clone()).collect()
}

fn empty(object: &MockedObject) -> Diagnostic {
    let detail = format!(
        "{} has neither \"attrs\" nor \"prior_attrs\", so there is no object to evaluate policies for. Write its attributes, or \
         \"skip = true\" if only others refer to it.",
        object.mock.address()
    );
    Diagnostic::warning("Policy test without an object", detail).at(object.mock.range.clone())
}

fn not_denied(object: &MockedObject) -> Diagnostic {
    let detail = format!("{} has \"expect_failure = true\", but no policy denies it.", object.mock.address());
    Diagnostic::error("Expected a policy violation", detail).at(object.mock.range.clone())
}
