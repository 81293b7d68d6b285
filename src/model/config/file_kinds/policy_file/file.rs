//! A file of policies: its settings, its inputs, its local values, its policies.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::name::TERRANE;
use base::source::{Range, SourceFile};
use lang::syntax::ast::{Attribute, Block, Expression};
use lang::syntax::body::BodySchema;
use lang::syntax::parse_file;

use super::INVALID_POLICY;
use super::input::{self, PolicyInput};
use super::policy::{self, Policy, PolicyKind};
use crate::addr;
use crate::config::blocks::locals;
use crate::config::constants::{constant, version_constraint};
use crate::deps::Constraints;
use crate::schema::decode::duplicate_block;

/// What a file says. Each file is evaluated alone.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    pub source: Arc<SourceFile>,
    /// Of Terraform.
    pub required_version: Option<(String, Range)>,
    pub required_providers: BTreeMap<Arc<str>, PolicyProvider>,
    /// The level of policies that have none.
    pub level: Option<Expression>,
    pub inputs: BTreeMap<Arc<str>, PolicyInput>,
    pub locals: BTreeMap<Arc<str>, Expression>,
    pub policies: Vec<Policy>,
}

/// A provider whose schemas the policies are written for.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyProvider {
    pub source: addr::Provider,
    pub version: Option<Constraints>,
    pub range: Range,
}

static FILE: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("policy", &[])
        .block("input", &["name"])
        .block("locals", &[])
        .block("resource_policy", &["type", "name"])
        .block("provider_policy", &["provider", "name"])
        .block("module_policy", &["source", "name"])
});

static SETTINGS: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .attribute("enforcement_level")
        .attribute("entitlement")
        .block("required_providers", &[])
        .block("terraform_config", &[])
        .block("plugins", &[])
        .block("entitlement", &[])
});

static TERRAFORM: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("required_version"));

impl PolicyFile {
    /// Reads a file. What is wrong with it is reported.
    pub fn parse(source: Arc<SourceFile>) -> (PolicyFile, Diagnostics) {
        let (body, mut diags) = parse_file(source.clone());
        let mut file = PolicyFile {
            source,
            required_version: None,
            required_providers: BTreeMap::new(),
            level: None,
            inputs: BTreeMap::new(),
            locals: BTreeMap::new(),
            policies: Vec::new(),
        };
        if diags.has_errors() {
            return (file, diags);
        }
        let content = diags.take(body.content(&FILE));
        for second in content.blocks_of("policy").skip(1) {
            diags.push(repeated(second));
        }
        for block in &content.blocks {
            match block.kind.as_str() {
                "policy" => file.settings(block, &mut diags),
                "input" => input::decode(block, &mut file.inputs, &mut diags),
                "locals" => add_locals(block, &mut file.locals, &mut diags),
                "provider_policy" => file.add(policy::decode(block, PolicyKind::Provider, &mut diags), &mut diags),
                "module_policy" => file.add(policy::decode(block, PolicyKind::Module, &mut diags), &mut diags),
                // The schema lets nothing else through.
                _ => file.add(policy::decode(block, PolicyKind::Resource, &mut diags), &mut diags),
            }
        }
        for policy in &file.policies {
            diags.extend(policy.incomplete_coverage(&file.locals));
        }
        (file, diags)
    }

    /// The name that people know it by.
    pub fn path(&self) -> &str {
        self.source.name()
    }

    fn add(&mut self, policy: Policy, diags: &mut Diagnostics) {
        let is_same = |other: &&Policy| other.address() == policy.address();
        if let Some(first) = self.policies.iter().find(is_same) {
            let detail = format!("The file already has a policy {}, at {}.", policy.address(), first.range);
            diags.push(Diagnostic::error("Duplicate policy", detail).at(policy.range.clone()));
        }
        self.policies.push(policy);
    }

    fn settings(&mut self, block: &Block, diags: &mut Diagnostics) {
        let content = diags.take(block.body.content(&SETTINGS));
        self.level = content.attribute("enforcement_level").map(|level| level.expr.clone());
        if let Some(level) = &self.level {
            policy::check_level(level, diags);
        }
        if let Some(attribute) = content.attribute("entitlement") {
            diags.push(no_entitlement(attribute.name_range()));
        }
        for nested in &content.blocks {
            match nested.kind.as_str() {
                "required_providers" => self.required_providers.extend(required_providers(nested, diags)),
                "terraform_config" => self.required_version = required_version(nested, diags),
                "plugins" => diags.push(no_plugins(nested)),
                _ => diags.push(no_entitlement(nested.header_range())),
            }
        }
    }
}

/// The error of a second block of a kind.
pub(super) fn repeated(block: &Block) -> Diagnostic {
    let detail = format!("Only one {:?} block is allowed here.", block.kind.as_str());
    Diagnostic::error(duplicate_block(block.kind.as_str()), detail).at(block.header_range())
}

/// The error of `plugins`: programs that give policies more functions.
pub(super) fn no_plugins(block: &Block) -> Diagnostic {
    let detail = format!(
        "{TERRANE} evaluates policies itself and does not run policy plugins. Remove the block, and replace the calls of \
         \"plugin::\" functions by expressions."
    );
    Diagnostic::error("Policy plugins are not supported", detail).at(block.header_range())
}

fn no_entitlement(range: Range) -> Diagnostic {
    let detail = format!("{TERRANE} evaluates policies without an entitlement of HCP Terraform. Remove this setting.");
    Diagnostic::error("Policy entitlements are not supported", detail).at(range)
}

/// The version of Terraform that a `terraform_config` block asks for.
pub(super) fn required_version(block: &Block, diags: &mut Diagnostics) -> Option<(String, Range)> {
    let content = diags.take(block.body.content(&TERRAFORM));
    version_constraint::decode(content.attribute("required_version")?, diags)
}

/// Adds the local values of a block to others.
pub(super) fn add_locals(block: &Block, all: &mut BTreeMap<Arc<str>, Expression>, diags: &mut Diagnostics) {
    for local in locals::decode(block, diags) {
        if let Some(first) = all.get(&local.name) {
            let detail = format!("The local value {:?} is already defined at {}.", &*local.name, first.range());
            diags.push(Diagnostic::error("Duplicate local value of a policy", detail).at(local.range));
            continue;
        }
        all.insert(local.name, local.expr);
    }
}

fn required_providers(block: &Block, diags: &mut Diagnostics) -> Vec<(Arc<str>, PolicyProvider)> {
    let attributes = diags.take(block.body.just_attributes());
    attributes.into_iter().filter_map(|(name, attribute)| Some((name, required_provider(&attribute, diags)?))).collect()
}

fn required_provider(attribute: &Attribute, diags: &mut Diagnostics) -> Option<PolicyProvider> {
    let invalid = |detail: String| Diagnostic::error(INVALID_POLICY, detail).at(attribute.expr.range());
    let Some(items) = attribute.expr.as_static_map() else {
        diags.push(invalid("A provider requirement is an object with \"source\" and \"version\".".to_owned()));
        return None;
    };
    let (mut source, mut version) = (None, None);
    for (key, value) in items {
        let text = constant::string_of(&value, diags);
        match (key.as_keyword(), text) {
            (_, None) => {}
            (Some("source"), Some(text)) => match addr::Provider::parse_source(&text) {
                Ok(provider) => source = Some(provider),
                Err(error) => diags.push(error.at(value.range())),
            },
            (Some("version"), Some(text)) => match Constraints::parse_for_provider(&text) {
                Ok(constraints) => version = Some(constraints),
                Err(_) => diags.push(invalid(format!("{text:?} is not a version constraint."))),
            },
            (Some(other), Some(_)) => {
                diags.push(invalid(format!("{other:?} is no setting of a provider requirement.")))
            }
            (None, Some(_)) => diags.push(invalid("A key of a provider requirement is a name.".to_owned())),
        }
    }
    let Some(source) = source else {
        if !diags.has_errors() {
            diags.push(invalid("A provider requirement needs \"source\", such as \"hashicorp/aws\".".to_owned()));
        }
        return None;
    };
    Some(PolicyProvider { source, version, range: attribute.range() })
}
