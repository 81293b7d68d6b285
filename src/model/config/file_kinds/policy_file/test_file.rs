//! Test files of policies: mocked objects, and whether the policies must allow them.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile};
use lang::syntax::ast::{Block, Expression};
use lang::syntax::body::BodySchema;
use lang::syntax::parse_file;

use super::INVALID_POLICY;
use super::file::{add_locals, no_plugins, repeated, required_version};
use crate::config::blocks::labels;
use crate::config::constants::constant;

/// What a test file says.
#[derive(Clone, Debug)]
pub struct PolicyTestFile {
    pub source: Arc<SourceFile>,
    pub required_version: Option<(String, Range)>,
    /// Files and folders with the tested policies, relative to this file. None: those of the command.
    pub targets: Option<Vec<(String, Range)>>,
    pub inputs: BTreeMap<Arc<str>, Expression>,
    pub locals: BTreeMap<Arc<str>, Expression>,
    pub mocks: Vec<PolicyMock>,
}

/// A mocked object.
#[derive(Clone, Debug)]
pub struct PolicyMock {
    pub kind: PolicyMockKind,
    /// The type, the name of the provider, or the source of the module.
    pub target: Arc<str>,
    pub name: Arc<str>,
    pub attrs: Option<Expression>,
    pub prior_attrs: Option<Expression>,
    pub meta: Option<Expression>,
    pub inputs: BTreeMap<Arc<str>, Expression>,
    /// A policy must deny it.
    pub expects_failure: bool,
    /// Only for others to find.
    pub is_skipped: bool,
    /// The block's header.
    pub range: Range,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyMockKind {
    Resource,
    Data,
    Provider,
    Module,
}

impl PolicyMockKind {
    /// The word of the block.
    pub fn block_name(self) -> &'static str {
        match self {
            PolicyMockKind::Resource => "resource",
            PolicyMockKind::Data => "data",
            PolicyMockKind::Provider => "provider",
            PolicyMockKind::Module => "module",
        }
    }
}

impl PolicyMock {
    /// The name within its file: `resource.aws_instance.small`.
    pub fn address(&self) -> String {
        format!("{}.{}.{}", self.kind.block_name(), self.target, self.name)
    }
}

static FILE: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("policytest", &[])
        .block("inputs", &[])
        .block("locals", &[])
        .block("resource", &["type", "name"])
        .block("data", &["type", "name"])
        .block("provider", &["provider", "name"])
        .block("module", &["source", "name"])
});

static SETTINGS: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().attribute("targets").block("terraform_config", &[]).block("plugins", &[]));

static RESOURCE: LazyLock<BodySchema> = LazyLock::new(|| schema().attribute("prior_attrs").attribute("skip"));
static JUDGED: LazyLock<BodySchema> = LazyLock::new(schema);
// Examples of the documentation have "skip" in data blocks, where it changes nothing.
static DATA: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("attrs").attribute("skip"));

fn schema() -> BodySchema {
    BodySchema::new().attribute("attrs").attribute("meta").attribute("expect_failure").block("inputs", &[])
}

impl PolicyTestFile {
    /// Reads a file. What is wrong with it is reported.
    pub fn parse(source: Arc<SourceFile>) -> (PolicyTestFile, Diagnostics) {
        let (body, mut diags) = parse_file(source.clone());
        let mut file = PolicyTestFile {
            source,
            required_version: None,
            targets: None,
            inputs: BTreeMap::new(),
            locals: BTreeMap::new(),
            mocks: Vec::new(),
        };
        if diags.has_errors() {
            return (file, diags);
        }
        let content = diags.take(body.content(&FILE));
        for kind in ["policytest", "inputs"] {
            for second in content.blocks_of(kind).skip(1) {
                diags.push(repeated(second));
            }
        }
        for block in &content.blocks {
            match block.kind.as_str() {
                "policytest" => file.settings(block, &mut diags),
                "inputs" => file.inputs.extend(inputs(block, &mut diags)),
                "locals" => add_locals(block, &mut file.locals, &mut diags),
                "resource" => file.add(block, PolicyMockKind::Resource, &mut diags),
                "data" => file.add(block, PolicyMockKind::Data, &mut diags),
                "provider" => file.add(block, PolicyMockKind::Provider, &mut diags),
                // The schema lets nothing else through.
                _ => file.add(block, PolicyMockKind::Module, &mut diags),
            }
        }
        (file, diags)
    }

    fn settings(&mut self, block: &Block, diags: &mut Diagnostics) {
        let content = diags.take(block.body.content(&SETTINGS));
        if let Some(attribute) = content.attribute("targets") {
            match attribute.expr.as_static_list() {
                Some(elements) => {
                    let text = |element: Expression, diags: &mut Diagnostics| {
                        constant::string_of(&element, diags).map(|text| (text, element.range()))
                    };
                    self.targets = Some(elements.into_iter().filter_map(|element| text(element, diags)).collect());
                }
                None => {
                    let detail = "The targets of a test are a list of paths.";
                    diags.push(Diagnostic::error(INVALID_POLICY, detail).at(attribute.expr.range()));
                }
            }
        }
        for nested in &content.blocks {
            match nested.kind.as_str() {
                "terraform_config" => self.required_version = required_version(nested, diags),
                _ => diags.push(no_plugins(nested)),
            }
        }
    }

    fn add(&mut self, block: &Block, kind: PolicyMockKind, diags: &mut Diagnostics) {
        let schema = match kind {
            PolicyMockKind::Resource => &RESOURCE,
            PolicyMockKind::Data => &DATA,
            PolicyMockKind::Provider | PolicyMockKind::Module => &JUDGED,
        };
        let content = diags.take(block.body.content(schema));
        labels::check_label(block, 1, "Invalid name of a policy test", diags);
        let expression = |name: &str| content.attribute(name).map(|attribute| attribute.expr.clone());
        let mut flag = |name: &str| content.attribute(name).and_then(|a| constant::bool(a, diags)).unwrap_or(false);
        let (expects_failure, is_skipped) = (flag("expect_failure"), flag("skip"));
        for second in content.blocks.iter().skip(1) {
            diags.push(repeated(second));
        }
        let mock = PolicyMock {
            kind,
            target: block.label(0).clone(),
            name: block.label(1).clone(),
            attrs: expression("attrs"),
            prior_attrs: expression("prior_attrs"),
            meta: expression("meta"),
            inputs: content.blocks.iter().flat_map(|nested| inputs(nested, diags)).collect(),
            expects_failure,
            is_skipped,
            range: block.header_range(),
        };
        if let Some(first) = self.mocks.iter().find(|other| other.address() == mock.address()) {
            let detail = format!(
                "The file already has {}, at {}. Use different names: references mean the first one, and results cannot be told apart.",
                mock.address(),
                first.range
            );
            diags.push(Diagnostic::warning("Duplicate policy test", detail).at(mock.range.clone()));
        }
        self.mocks.push(mock);
    }
}

fn inputs(block: &Block, diags: &mut Diagnostics) -> Vec<(Arc<str>, Expression)> {
    let attributes = diags.take(block.body.just_attributes());
    attributes.into_iter().map(|(name, attribute)| (name, attribute.expr)).collect()
}
