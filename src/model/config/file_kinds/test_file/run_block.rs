//! Reading `run` blocks.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Attribute, Block, Expression};
use lang::syntax::body::{Body, BodySchema, Content};

use super::expected::ExpectedFailure;
use super::mock_value::MockLanguage;
use super::run::{ExpectError, PlanOptions, Snapshot, TestCommand, TestRun};
use super::words::Words;
use super::{backend, options, overriding, repeated};
use crate::config::blocks::by_name::ByName;
use crate::config::blocks::module_call::{self, ModuleCall};
use crate::config::blocks::{condition, labels, references};
use crate::config::constants::{constant, version_constraint};
use crate::config::providers::provider_ref;

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let usual = ["command", "providers", "expect_failures", "state_key", "parallel", "skip_cleanup"];
    let usual = usual.into_iter().fold(BodySchema::new(), |schema, name| schema.attribute(name));
    let blocks =
        ["plan_options", "assert", "variables", "module", "override_resource", "override_data", "override_module"];
    let usual = blocks.into_iter().fold(usual, |schema, kind| schema.block(kind, &[])).block("backend", &["name"]);
    let own = ["for_each", "isolated", "assert_no_changes"];
    let own = own.into_iter().fold(BodySchema::new(), |schema, name| schema.attribute(name));
    Words::new(usual, own.block("expect_error", &[]).block("snapshot", &["name"]))
});

static MODULE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("source").attribute("version"));

static EXPECT_ERROR: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().attribute("summary").attribute("message").attribute("address"));

static SNAPSHOT: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().required("value"));

/// A block; what is wrong with it is reported. `extensions`: whether its file has the words of Terrane.
pub fn decode(block: &Block, extensions: bool, diags: &mut Diagnostics) -> TestRun {
    let content = diags.take(WORDS.content(&block.body, extensions));
    labels::check_label(block, 0, "Invalid run block name", diags);
    let mut run = TestRun {
        name: block.label(0).clone(),
        name_range: block.label_range(0),
        command: TestCommand::Apply,
        options: PlanOptions::default(),
        variables: ByName::new(),
        module: None,
        under_test: None,
        overrides: Default::default(),
        asserts: Vec::new(),
        providers: Vec::new(),
        expect_failures: Vec::new(),
        state_key: None,
        parallel: None,
        skip_cleanup: None,
        skip_cleanup_range: None,
        backend: None,
        for_each: content.attribute("for_each").map(|attribute| attribute.expr.clone()),
        instance: None,
        isolated: false,
        assert_no_changes: false,
        expect_error: Vec::new(),
        snapshots: Vec::new(),
        range: block.header_range(),
    };
    decode_blocks(&content.blocks, MockLanguage::of(extensions), &mut run, diags);
    decode_arguments(&content, extensions, &mut run, diags);
    backend::check(&run, diags);
    check_extensions(&content, &run, diags);
    run
}

fn decode_arguments(content: &Content, extensions: bool, run: &mut TestRun, diags: &mut Diagnostics) {
    if let Some(attribute) = content.attribute("command") {
        run.command = command(attribute, diags);
    }
    run.providers = content.attribute("providers").map(|a| provider_ref::decode_passings(a, diags)).unwrap_or_default();
    if let Some(attribute) = content.attribute("expect_failures") {
        let file = attribute.expr.file.clone();
        let failures = references::depends_on(attribute, diags).into_iter();
        let expected = |traversal| ExpectedFailure { traversal, file: file.clone(), extensions };
        run.expect_failures = failures.map(expected).collect();
    }
    run.state_key = content.attribute("state_key").and_then(|a| constant::string(a, diags));
    let mut flag = |name: &str| content.attribute(name).and_then(|a| constant::bool(a, diags));
    run.parallel = flag("parallel");
    run.skip_cleanup = flag("skip_cleanup");
    run.isolated = flag("isolated").unwrap_or(false);
    run.assert_no_changes = flag("assert_no_changes").unwrap_or(false);
    run.skip_cleanup_range = content.attribute("skip_cleanup").map(Attribute::name_range);
}

/// Reports arguments of Terrane that do not go together with others.
fn check_extensions(content: &Content, run: &TestRun, diags: &mut Diagnostics) {
    if let Some(attribute) = content.attribute("isolated").filter(|_| run.isolated) {
        let keeps_state = run.skip_cleanup == Some(true);
        let others = [
            ("argument \"state_key\"", run.state_key.is_some()),
            ("argument \"skip_cleanup\"", keeps_state),
            ("block \"backend\"", run.backend.is_some()),
        ];
        for (other, _) in others.into_iter().filter(|(_, is_given)| *is_given) {
            let detail = format!(
                "An isolated run has a separate state, which is destroyed when the run ends. It cannot have the {other}."
            );
            diags.push(Diagnostic::error("Invalid isolated run", detail).at(attribute.name_range()));
        }
    }
    let is_plan = run.command == TestCommand::Plan;
    if let Some(attribute) = content.attribute("assert_no_changes").filter(|_| run.assert_no_changes && is_plan) {
        let detail = "The argument \"assert_no_changes\" plans again after an apply. A run with \"command = plan\" cannot have it.";
        diags.push(Diagnostic::error("Invalid assert_no_changes argument", detail).at(attribute.name_range()));
    }
}

fn decode_blocks(blocks: &[Block], language: MockLanguage, run: &mut TestRun, diags: &mut Diagnostics) {
    let (mut options, mut given, mut module): (Option<Range>, Option<Range>, Option<Range>) = (None, None, None);
    for block in blocks {
        let mut found = Diagnostics::new();
        let once = match block.kind.as_str() {
            "plan_options" => &mut options,
            "variables" => &mut given,
            "module" => &mut module,
            _ => {
                decode_repeatable(block, language, run, diags);
                continue;
            }
        };
        if let Some(first) = once {
            diags.push(repeated(block, "run block", first));
            continue;
        }
        match block.kind.as_str() {
            "plan_options" => run.options = options::decode(block, &mut found),
            "variables" => run.variables = variables(block, &mut found),
            _ => run.module = decode_module(&run.name, block, &mut found),
        }
        // One with errors does not count as the one that there may be; variables always do.
        if !found.has_errors() || block.kind.as_str() == "variables" {
            *once = Some(block.header_range());
        }
        diags.extend(found);
    }
}

/// A block of which a run may have several.
fn decode_repeatable(block: &Block, language: MockLanguage, run: &mut TestRun, diags: &mut Diagnostics) {
    match block.kind.as_str() {
        "assert" => {
            let mut found = Diagnostics::new();
            let assert = condition::decode(block, &mut found);
            run.asserts.extend(assert.filter(|_| !found.has_errors()));
            diags.extend(found);
        }
        "backend" => backend::add(block, run, diags),
        "expect_error" => {
            let content = diags.take(block.body.content(&EXPECT_ERROR));
            let pattern = |name: &str| content.attribute(name).map(|attribute| attribute.expr.clone());
            let (summary, message, address) = (pattern("summary"), pattern("message"), pattern("address"));
            run.expect_error.push(ExpectError { summary, message, address, range: block.header_range() });
        }
        "snapshot" => add_snapshot(block, run, diags),
        // The schema lets nothing else through.
        _ => overriding::add(block, language, &mut run.overrides, diags),
    }
}

fn add_snapshot(block: &Block, run: &mut TestRun, diags: &mut Diagnostics) {
    labels::check_label(block, 0, "Invalid snapshot block name", diags);
    let content = diags.take(block.body.content(&SNAPSHOT));
    let Some(value) = content.attribute("value") else { return };
    let (name, name_range, range) = (block.label(0).clone(), block.label_range(0), block.header_range());
    if let Some(first) = run.snapshots.iter().find(|snapshot| snapshot.name == name) {
        let detail = format!("This run block already has a snapshot named {name} defined at {}.", first.range);
        diags.push(Diagnostic::error("Duplicate \"snapshot\" block names", detail).at(name_range));
        return;
    }
    run.snapshots.push(Snapshot { name, name_range, value: value.expr.clone(), range });
}

fn variables(block: &Block, diags: &mut Diagnostics) -> ByName<Expression> {
    let attributes = diags.take(block.body.just_attributes());
    attributes.into_iter().map(|(name, attribute)| (name, attribute.expr)).collect()
}

fn command(attribute: &Attribute, diags: &mut Diagnostics) -> TestCommand {
    match attribute.expr.as_keyword() {
        Some("plan") => TestCommand::Plan,
        Some("apply") => TestCommand::Apply,
        _ => {
            let detail =
                "The \"command\" argument requires one of the following keywords without quotes: apply or plan.";
            diags.push(Diagnostic::error("Invalid \"command\" keyword", detail).at(attribute.expr.range()));
            TestCommand::Apply
        }
    }
}

/// The module that a run tests, as a call without arguments: it becomes a separate root.
fn decode_module(run: &Arc<str>, block: &Block, diags: &mut Diagnostics) -> Option<ModuleCall> {
    let content = diags.take(block.body.content(&MODULE));
    let version = content.attribute("version");
    let has_version = version.is_some();
    let version = version.and_then(|a| version_constraint::decode(a, diags));
    let Some(attribute) = content.attribute("source") else {
        let detail = "You must specify a source attribute when executing alternate modules during test executions.";
        let error = Diagnostic::error("Missing \"source\" attribute for module block", detail);
        diags.push(error.at(block.header_range()));
        return None;
    };
    let text = constant::string(attribute, diags)?;
    let mut found = Diagnostics::new();
    let source = module_call::check_source(text, attribute, has_version, &mut found);
    diags.extend(found.into_vec().into_iter().map(|problem| problem.at(attribute.range())));
    Some(ModuleCall {
        name: run.clone(),
        source: source?,
        source_range: attribute.range(),
        version,
        unevaluated: None,
        count: None,
        for_each: None,
        enabled: None,
        depends_on: Vec::new(),
        providers: Vec::new(),
        ignore_nested_deprecations: false,
        body: Body::empty(block.file()),
        range: block.header_range(),
    })
}
