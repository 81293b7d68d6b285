//! `run` blocks.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Attribute, Block};
use lang::syntax::body::{Body, BodySchema};

use super::{PlanOptions, TestCommand, TestRun, options, overriding, repeated, variables};
use crate::config::blocks::module_call::{self, ModuleCall};
use crate::config::blocks::{condition, labels, references};
use crate::config::constants::{constant, version_constraint};
use crate::config::providers::provider_ref;

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .attribute("command")
        .attribute("providers")
        .attribute("expect_failures")
        .attribute("state_key")
        .attribute("parallel")
        .block("plan_options", &[])
        .block("assert", &[])
        .block("variables", &[])
        .block("module", &[])
        .block("override_resource", &[])
        .block("override_data", &[])
        .block("override_module", &[])
});

static MODULE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("source").attribute("version"));

/// None if it is of no use, which is reported.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<TestRun> {
    let mut found = Diagnostics::new();
    let run = decode_all(block, &mut found);
    let sound = !found.has_errors();
    diags.extend(found);
    Some(run).filter(|_| sound)
}

fn decode_all(block: &Block, diags: &mut Diagnostics) -> TestRun {
    let content = diags.take(block.body.content(&SCHEMA));
    labels::check_label(block, 0, "Invalid run block name", diags);
    let mut run = TestRun {
        name: block.label(0).clone(),
        command: TestCommand::Apply,
        options: PlanOptions::default(),
        variables: Default::default(),
        module: None,
        under_test: None,
        overrides: Default::default(),
        asserts: Vec::new(),
        providers: Vec::new(),
        expect_failures: Vec::new(),
        state_key: None,
        parallel: None,
        range: block.header_range(),
    };
    decode_blocks(&content.blocks, &mut run, diags);
    if let Some(attribute) = content.attribute("command") {
        run.command = command(attribute, diags);
    }
    run.providers = content.attribute("providers").map(|a| provider_ref::decode_passings(a, diags)).unwrap_or_default();
    if let Some(attribute) = content.attribute("expect_failures") {
        let file = attribute.expr.file.clone();
        let failures = references::depends_on(attribute, diags).into_iter();
        run.expect_failures = failures.map(|traversal| (traversal, file.clone())).collect();
    }
    run.state_key = content.attribute("state_key").and_then(|a| constant::string(a, diags));
    run.parallel = content.attribute("parallel").and_then(|a| constant::bool(a, diags));
    run
}

fn decode_blocks(blocks: &[Block], run: &mut TestRun, diags: &mut Diagnostics) {
    let (mut options, mut given, mut module): (Option<Range>, Option<Range>, Option<Range>) = (None, None, None);
    for block in blocks {
        let mut found = Diagnostics::new();
        let once = match block.kind.as_str() {
            "plan_options" => &mut options,
            "variables" => &mut given,
            "module" => &mut module,
            "assert" => {
                let assert = condition::decode(block, &mut found);
                run.asserts.extend(assert.filter(|_| !found.has_errors()));
                diags.extend(found);
                continue;
            }
            _ => {
                overriding::add(block, &mut run.overrides, diags);
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
