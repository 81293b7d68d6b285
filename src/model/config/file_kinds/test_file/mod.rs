//! Test files (`*.tftest.hcl`, `*.tftest.json`): their declarations, and the errors that are found without running them.
//!
//! Owns the blocks of the test language and the match of a run's providers with the tested module. Never runs anything; the
//! configuration that a run tests instead of the root is linked by [`load::link`].

mod backend;
mod check;
mod expansion;
mod expected;
pub mod load;
mod mock;
mod mock_value;
mod options;
mod overriding;
mod portability;
mod providers;
mod references;
mod run;
mod run_block;
mod settings;
mod words;

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use indexmap::IndexMap;
use lang::syntax::ast::{Block, Expression};
use lang::syntax::body::{Body, BodySchema};

pub use self::backend::RunBackend;
pub use self::expected::{CheckableObject, CheckableTarget, ExpectedFailure};
pub use self::mock::{MockData, MockProvider, MockResource, OverrideDuring};
pub use self::mock_value::{MockLanguage, ObjectNames, evaluate_mock_value, references_self};
pub use self::overriding::{Override, OverrideKind, Overrides};
pub use self::references::{TestReferences, expressions_in};
pub use self::run::{ExpectError, PlanOptions, RunInstance, Snapshot, TestCommand, TestRun};
use self::words::Words;
use crate::config::blocks::by_name::{ByName, Named};
use crate::config::blocks::locals::{self, Local};
use crate::config::blocks::variable::{self, Variable};
use crate::config::providers::provider_block::{self, ProviderBlock};
use crate::model_errors::DUPLICATE_PROVIDER;
use crate::version::at_least;

/// The folder of test files beside those in the root.
pub const DEFAULT_DIR: &str = "tests";

/// One test file.
#[derive(Clone, Debug, Default)]
pub struct TestFile {
    /// Its path relative to the root module.
    pub name: String,
    /// Values for all runs.
    pub variables: ByName<Expression>,
    /// What `variable` blocks declare for the file alone.
    pub definitions: ByName<Variable>,
    /// Extension: what `local.NAME` means in the expressions of the file.
    pub locals: ByName<Expression>,
    /// Whether runs may go on side by side unless they say otherwise.
    pub parallel: bool,
    /// Whether runs keep their states unless they say otherwise.
    pub skip_cleanup: Option<bool>,
    /// Extension: whether the file may be executed beside others, even if its runs change real objects.
    pub parallel_files: bool,
    /// Whether the file has the words that Terrane alone knows.
    pub extensions: bool,
    /// In order of execution.
    pub runs: Vec<TestRun>,
    /// The names of runs with `for_each` of which `runs` has one per element.
    pub repeated: Vec<Arc<str>>,
    /// By name as in a reference: `aws` or `aws.west`.
    pub providers: IndexMap<String, TestProvider>,
    pub overrides: Overrides,
    /// Where the file's `variables` block stands.
    variables_range: Option<Range>,
    /// The name of the file's `skip_cleanup` argument.
    skip_cleanup_range: Option<Range>,
    /// Its `extensions` argument.
    extensions_range: Option<Range>,
}

/// A provider configuration of a test file: a real one or a mock.
#[derive(Clone, Debug)]
pub enum TestProvider {
    Real(ProviderBlock),
    Mock(MockProvider),
}

impl TestProvider {
    pub fn name(&self) -> &Arc<str> {
        match self {
            TestProvider::Real(block) => &block.name,
            TestProvider::Mock(mock) => &mock.name,
        }
    }

    pub fn real(&self) -> Option<&ProviderBlock> {
        match self {
            TestProvider::Real(block) => Some(block),
            TestProvider::Mock(_) => None,
        }
    }

    pub fn for_each(&self) -> Option<&Expression> {
        match self {
            TestProvider::Real(block) => block.for_each.as_ref(),
            TestProvider::Mock(mock) => mock.for_each.as_ref(),
        }
    }

    /// The kind of its block.
    fn block(&self) -> &'static str {
        match self {
            TestProvider::Real(_) => "provider",
            TestProvider::Mock(_) => "mock_provider",
        }
    }

    fn key(&self) -> String {
        let alias = match self {
            TestProvider::Real(block) => &block.alias,
            TestProvider::Mock(mock) => &mock.alias,
        };
        alias.as_ref().map_or_else(|| self.name().to_string(), |alias| format!("{}.{alias}", self.name()))
    }

    fn name_range(&self) -> &Range {
        match self {
            TestProvider::Real(block) => &block.name_range,
            TestProvider::Mock(mock) => &mock.name_range,
        }
    }

    fn range(&self) -> &Range {
        match self {
            TestProvider::Real(block) => &block.range,
            TestProvider::Mock(mock) => &mock.range,
        }
    }
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let usual = BodySchema::new()
        .block("run", &["name"])
        .block("variable", &["name"])
        .block("provider", &["name"])
        .block("mock_provider", &["name"])
        .block("variables", &[])
        .block("override_resource", &[])
        .block("override_data", &[])
        .block("override_module", &[]);
    Words::new(usual, BodySchema::new().block("locals", &[]))
});

/// One file, without the mock data and the modules that it names.
pub fn decode(name: &str, body: &Body, diags: &mut Diagnostics) -> TestFile {
    let mut file = TestFile { name: name.to_owned(), ..TestFile::default() };
    let (settings, rest) = settings::decode(body, diags);
    let Some(settings) = settings else { return file };
    file.parallel = settings.parallel;
    file.parallel_files = settings.parallel_files;
    (file.skip_cleanup, file.skip_cleanup_range) = settings.skip_cleanup.unzip();
    file.extensions = settings.extensions.is_some();
    file.extensions_range = settings.extensions;
    let language = file.mock_language();
    let (mut run_names, mut states) = (IndexMap::new(), backend::SharedStates::default());
    for block in &diags.take(WORDS.content(&rest, file.extensions)).blocks {
        match block.kind.as_str() {
            "run" => {
                let mut found = Diagnostics::new();
                let run = run_block::decode(block, file.extensions, &mut found);
                let is_sound = !found.has_errors();
                found.extend(check_name(&run, &mut run_names));
                states.add(&run, &file.runs, &mut found);
                file.runs.extend(is_sound.then_some(run));
                diags.extend(found);
            }
            "variables" => file.add_variables(block, diags),
            "variable" => file.add_definition(block, diags),
            "locals" => file.add_locals(block, diags),
            "provider" => {
                let block = provider_block::decode_in_test(block, diags);
                file.add_provider(block.map(TestProvider::Real), diags);
            }
            "mock_provider" => {
                let mock = mock::decode(block, language, diags);
                file.add_provider(mock.map(TestProvider::Mock), diags);
            }
            // The schema lets nothing else through.
            _ => overriding::add(block, language, &mut file.overrides, diags),
        }
    }
    file
}

/// Reports a second run of the same name.
fn check_name(run: &TestRun, names: &mut IndexMap<Arc<str>, Range>) -> Option<Diagnostic> {
    let Some(first) = names.get(&run.name) else {
        names.insert(run.name.clone(), run.range.clone());
        return None;
    };
    let detail = format!("This test file already has a run named {} block defined at {first}.", run.name);
    let place = if at_least(14) { &run.name_range } else { &run.range };
    Some(Diagnostic::error("Duplicate \"run\" block names", detail).at(place.clone()))
}

impl TestFile {
    /// What the expressions of its mocks and overrides may use.
    pub fn mock_language(&self) -> MockLanguage {
        MockLanguage::of(self.extensions)
    }

    /// Whether a run may be executed beside others that do not need it.
    pub fn is_parallel(&self, run: &TestRun) -> bool {
        run.parallel.unwrap_or(self.parallel)
    }

    /// Whether what a run leaves in its state is kept. A backend implies it; isolated runs are always destroyed.
    pub fn skips_cleanup(&self, run: &TestRun) -> bool {
        let is_asked_for = run.skip_cleanup.or(self.skip_cleanup).unwrap_or(false);
        !run.isolated && (run.backend.is_some() || is_asked_for)
    }

    fn add_variables(&mut self, block: &Block, diags: &mut Diagnostics) {
        if let Some(first) = &self.variables_range {
            diags.push(repeated(block, "test file", first));
            return;
        }
        self.variables_range = Some(block.header_range());
        for (name, attribute) in diags.take(block.body.just_attributes()) {
            if let Some(definition) = self.definitions.get(&name) {
                diags.push(duplicate_variable(&name, &attribute.range()).at(definition.range.clone()));
            }
            self.variables.insert(name, attribute.expr);
        }
    }

    /// `variable "name" {}`, from Terraform 1.13: a variable of the file, typed as those of modules are.
    fn add_definition(&mut self, block: &Block, diags: &mut Diagnostics) {
        let mut found = Diagnostics::new();
        let definition = variable::decode(block, &mut found);
        let is_sound = !found.has_errors();
        diags.extend(found);
        if !is_sound {
            return;
        }
        let name = definition.name.clone();
        if let Some(first) = self.definitions.get(&name) {
            diags.push(duplicate_variable(&name, &first.range).at(definition.range));
            return;
        }
        if let Some(value) = self.variables.get(&name) {
            diags.push(duplicate_variable(&name, &value.range()).at(definition.range.clone()));
        }
        self.definitions.insert(name, definition);
    }

    fn add_locals(&mut self, block: &Block, diags: &mut Diagnostics) {
        for local in locals::decode(block, diags) {
            if let Some(first) = self.locals.get(&local.name) {
                let detail = format!(
                    "A local value named {:?} was already defined at {}. Local value names must be unique within a test file.",
                    &*local.name,
                    first.range()
                );
                diags.push(Diagnostic::error(Local::DUPLICATE.summary, detail).at(local.range));
                continue;
            }
            self.locals.insert(local.name, local.expr);
        }
    }

    fn add_provider(&mut self, provider: Option<TestProvider>, diags: &mut Diagnostics) {
        let Some(provider) = provider else { return };
        let key = provider.key();
        match self.providers.get(&key) {
            Some(first) => {
                let detail = format!("A provider for {key} is already defined at {}.", first.name_range());
                diags.push(Diagnostic::error(DUPLICATE_PROVIDER, detail).at(provider.range().clone()));
            }
            None => {
                self.providers.insert(key, provider);
            }
        }
    }
}

/// A block that may stand once only.
fn repeated(block: &Block, context: &str, first: &Range) -> Diagnostic {
    let kind = block.kind.as_str();
    let detail = format!("This {context} already has a {kind} block defined at {first}.");
    Diagnostic::error(format!("Multiple {kind:?} blocks"), detail).at(block.header_range())
}

/// A variable that the file both declares and sets, or declares twice.
fn duplicate_variable(name: &str, first: &Range) -> Diagnostic {
    let detail = format!("This test file already has a variable named {name} defined at {first}.");
    Diagnostic::error("Duplicate \"variable\" block names", detail)
}

#[cfg(test)]
mod tests;
