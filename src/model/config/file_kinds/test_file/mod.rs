//! Test files (`*.tftest.hcl`, `*.tftest.json`): their declarations, and the errors that are found without running them.
//!
//! Owns the blocks of the test language and the match of a run's providers with the tested module. Never runs anything; the
//! configuration that a run tests instead of the root is linked by [`load::link`].

mod check;
pub mod load;
mod mock;
mod options;
mod overriding;
mod providers;
mod run;

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use indexmap::IndexMap;
use lang::syntax::ast::{Attribute, Block, Expression, Traversal};
use lang::syntax::body::{Body, BodySchema};
use terrane_value::Value;

use crate::addr::Target;
use crate::config::blocks::by_name::ByName;
use crate::config::blocks::condition::Condition;
use crate::config::blocks::module_call::ModuleCall;
use crate::config::blocks::variable::{self, Variable};
use crate::config::constants::constant;
use crate::config::module::Config;
use crate::config::providers::provider_block::{self, ProviderBlock};
use crate::config::providers::provider_ref::ProviderPassing;
use crate::model_errors::DUPLICATE_PROVIDER;

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
    /// Whether runs may go on side by side unless they say otherwise.
    pub parallel: bool,
    /// In order of execution.
    pub runs: Vec<TestRun>,
    /// By name as in a reference: `aws` or `aws.west`.
    pub providers: IndexMap<String, TestProvider>,
    pub overrides: Overrides,
    /// Where the file's `variables` block stands.
    variables_range: Option<Range>,
    /// Where its `test` block stands.
    test_range: Option<Range>,
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

/// When made-up values stand in for computed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideDuring {
    Plan,
    Apply,
}

/// `mock_provider "name" {}`.
#[derive(Clone, Debug)]
pub struct MockProvider {
    pub name: Arc<str>,
    pub name_range: Range,
    pub alias: Option<Arc<str>>,
    /// A folder of `.tfmock.hcl` files, whose content `data` holds too once it is linked.
    pub source: Option<String>,
    pub data: MockData,
    pub during: Option<OverrideDuring>,
    pub range: Range,
}

/// What a mock makes up.
#[derive(Clone, Debug, Default)]
pub struct MockData {
    /// By type.
    pub resources: ByName<MockResource>,
    pub data_sources: ByName<MockResource>,
    pub overrides: Overrides,
}

/// `mock_resource "type" {}` and `mock_data "type" {}`.
#[derive(Clone, Debug)]
pub struct MockResource {
    /// Values for attributes that the configuration leaves to the provider; any value.
    pub defaults: Option<Value>,
    pub during: Option<OverrideDuring>,
    /// The block's header.
    pub range: Range,
    pub type_range: Range,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideKind {
    Resource,
    Data,
    Module,
}

/// `override_resource {}`, `override_data {}`, `override_module {}`.
#[derive(Clone, Debug)]
pub struct Override {
    pub kind: OverrideKind,
    pub target: Target,
    /// An object: `values`, or `outputs` of a module.
    pub values: Value,
    pub during: Option<OverrideDuring>,
    pub target_range: Range,
    pub range: Range,
    /// False: it comes from a folder of mock data, for many configurations.
    pub inline: bool,
}

/// Overrides by what they override, as text.
pub type Overrides = IndexMap<String, Override>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestCommand {
    Plan,
    Apply,
}

/// `run "name" {}`.
#[derive(Clone, Debug)]
pub struct TestRun {
    pub name: Arc<str>,
    pub command: TestCommand,
    pub options: PlanOptions,
    pub variables: ByName<Expression>,
    /// What is tested instead of the root module.
    pub module: Option<ModuleCall>,
    /// That module as a separate root, if it could be loaded.
    pub under_test: Option<Config>,
    pub overrides: Overrides,
    pub asserts: Vec<Condition>,
    /// Which of the file's providers it uses; empty: all, by name.
    pub providers: Vec<ProviderPassing>,
    pub expect_failures: Vec<(Traversal, Arc<base::source::SourceFile>)>,
    /// Runs with the same key share a state.
    pub state_key: Option<String>,
    /// Whether it may go on beside others that do not need it; none: as the file says.
    pub parallel: Option<bool>,
    pub range: Range,
}

/// `plan_options {}`.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    pub refresh_only: bool,
    pub refresh: bool,
    pub replace: Vec<Traversal>,
    pub target: Vec<Traversal>,
}

impl Default for PlanOptions {
    fn default() -> PlanOptions {
        PlanOptions { refresh_only: false, refresh: true, replace: Vec::new(), target: Vec::new() }
    }
}

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("test", &[])
        .block("run", &["name"])
        .block("variable", &["name"])
        .block("provider", &["name"])
        .block("mock_provider", &["name"])
        .block("variables", &[])
        .block("override_resource", &[])
        .block("override_data", &[])
        .block("override_module", &[])
});

static SETTINGS: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("parallel"));

/// One file, without the mock data and the modules that it names.
pub fn decode(name: &str, body: &Body, diags: &mut Diagnostics) -> TestFile {
    let mut file = TestFile { name: name.to_owned(), ..TestFile::default() };
    let mut first_runs: IndexMap<Arc<str>, Range> = IndexMap::new();
    for block in &diags.take(body.content(&SCHEMA)).blocks {
        match block.kind.as_str() {
            "run" => {
                file.runs.extend(run::decode(block, diags));
                let (name, range) = (block.label(0), block.header_range());
                if let Some(first) = first_runs.get(name) {
                    let detail = format!("This test file already has a run named {name} block defined at {first}.");
                    diags.push(Diagnostic::error("Duplicate \"run\" block names", detail).at(range));
                } else {
                    first_runs.insert(name.clone(), range);
                }
            }
            "test" => file.read_settings(block, diags),
            "variables" => {
                if let Some(first) = &file.variables_range {
                    diags.push(repeated(block, "test file", first));
                    continue;
                }
                file.variables_range = Some(block.header_range());
                file.variables = variables(block, diags);
            }
            "variable" => file.add_definition(block, diags),
            "provider" => {
                let block = provider_block::decode_in_test(block, diags);
                file.add_provider(block.map(TestProvider::Real), diags);
            }
            "mock_provider" => {
                let mock = mock::decode(block, diags);
                file.add_provider(mock.map(TestProvider::Mock), diags);
            }
            // The schema lets nothing else through.
            _ => overriding::add(block, &mut file.overrides, diags),
        }
    }
    file
}

impl TestFile {
    /// `test { parallel = true }`, from Terraform 1.12.
    fn read_settings(&mut self, block: &Block, diags: &mut Diagnostics) {
        if let Some(first) = &self.test_range {
            diags.push(repeated(block, "test file", first));
            return;
        }
        self.test_range = Some(block.header_range());
        let content = diags.take(block.body.content(&SETTINGS));
        self.parallel = content.attribute("parallel").and_then(|a| constant::bool(a, diags)).unwrap_or(false);
    }

    /// `variable "name" {}`, from Terraform 1.13: a variable of the file, typed as those of modules are.
    fn add_definition(&mut self, block: &Block, diags: &mut Diagnostics) {
        let definition = variable::decode(block, diags);
        match self.definitions.get(&definition.name) {
            Some(first) => {
                let detail = format!(
                    "This test file already has a variable named {} defined at {}.",
                    definition.name, first.range
                );
                diags.push(Diagnostic::error("Duplicate variable names", detail).at(block.header_range()));
            }
            None => {
                self.definitions.insert(definition.name.clone(), definition);
            }
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

/// A block for something that another one is for already.
fn duplicate(block: &Block, detail: String) -> Diagnostic {
    Diagnostic::error(format!("Duplicate {} block", block.kind.as_str()), detail)
}

fn variables(block: &Block, diags: &mut Diagnostics) -> ByName<Expression> {
    let attributes = diags.take(block.body.just_attributes());
    attributes.into_iter().map(|(name, attribute)| (name, attribute.expr)).collect()
}

/// `override_during = plan`.
fn override_during(attribute: Option<&Attribute>, diags: &mut Diagnostics) -> Option<OverrideDuring> {
    let attribute = attribute?;
    match attribute.expr.as_keyword() {
        Some("plan") => Some(OverrideDuring::Plan),
        Some("apply") => Some(OverrideDuring::Apply),
        _ => {
            let detail = "The override_during attribute must be a value of plan or apply.";
            diags.push(Diagnostic::error("Invalid override_during value", detail).at(attribute.range()));
            None
        }
    }
}
