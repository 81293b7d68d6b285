//! The blocks of a module, decoded as far as their own syntax goes.

use std::sync::Arc;

use base::source::Range;
use indexmap::IndexMap;
use lang::eval::type_expression::Defaults;
use lang::syntax::ast::{Attribute, Expression, Traversal};
use lang::syntax::body::Body;
use terrane_value::{Marks, Type, Value};

use super::action::ActionTrigger;
use crate::addr;
use crate::config::file_kinds::query_file::ListArguments;

/// `variable "name" {}`.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: Arc<str>,
    pub description: Option<String>,
    /// `Dynamic` where the block gives no type.
    pub ty: Type,
    /// The type constraint as written, if one is.
    pub type_expression: Option<Expression>,
    /// Defaults of optional attributes within the type.
    pub type_defaults: Option<Arc<Defaults>>,
    /// Converted to the type; none: the variable is required.
    pub default: Option<Value>,
    pub nullable: bool,
    pub sensitive: bool,
    pub ephemeral: bool,
    /// Its value must be known before anything is planned.
    pub is_const: bool,
    /// For callers that set it.
    pub deprecated: Option<Deprecation>,
    pub validations: Vec<Condition>,
    /// The block's header.
    pub range: Range,
}

/// The `deprecated` argument of a variable or an output.
#[derive(Clone, Debug)]
pub struct Deprecation {
    /// May be empty.
    pub message: Arc<str>,
    /// The whole argument.
    pub range: Range,
}

/// `validation`, `precondition`, `postcondition` or `assert`: a condition and what to say when it is false.
#[derive(Clone, Debug)]
pub struct Condition {
    pub condition: Expression,
    pub error_message: Expression,
    pub range: Range,
}

/// One attribute of a `locals` block.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Arc<str>,
    pub expr: Expression,
    pub range: Range,
}

/// `output "name" {}`.
#[derive(Clone, Debug)]
pub struct Output {
    pub name: Arc<str>,
    pub description: Option<String>,
    /// What the value is converted to, with defaults of optional attributes; none: it stays as it is.
    pub ty: Option<(Type, Option<Arc<Defaults>>)>,
    pub value: Expression,
    pub sensitive: bool,
    pub ephemeral: bool,
    /// For callers that refer to it.
    pub deprecated: Option<Deprecation>,
    pub depends_on: Vec<Traversal>,
    pub preconditions: Vec<Condition>,
    pub range: Range,
}

/// `provider "name" {}`.
#[derive(Clone, Debug)]
pub struct ProviderBlock {
    pub name: Arc<str>,
    pub name_range: Range,
    pub alias: Option<Arc<str>>,
    /// One configuration per element, told apart by its key.
    pub for_each: Option<Expression>,
    /// The elements, sorted by key; none: one configuration without a key.
    pub instances: Option<Arc<[(Arc<str>, Value)]>>,
    /// The deprecated `version` argument.
    pub version: Option<Expression>,
    /// What is left for the provider's schema.
    pub body: Body,
    pub range: Range,
}

/// A reference to a provider configuration as written: `aws` or `aws.west`.
#[derive(Clone, Debug)]
pub struct ProviderRef {
    pub addr: addr::LocalProviderConfig,
    /// Which instance, of a configuration with `for_each`.
    pub key: Option<Expression>,
    pub range: Range,
}

/// One entry of a module call's `providers`.
#[derive(Clone, Debug)]
pub struct ProviderPassing {
    pub in_child: ProviderRef,
    pub in_parent: ProviderRef,
}

/// `module "name" {}`.
#[derive(Clone, Debug)]
pub struct ModuleCall {
    pub name: Arc<str>,
    /// The source as written, and where.
    pub source: String,
    pub source_range: Range,
    pub version: Option<(String, Range)>,
    /// Source and version before they are evaluated; then neither means anything yet.
    pub early: Option<EarlyArguments>,
    pub count: Option<Expression>,
    pub for_each: Option<Expression>,
    /// `lifecycle { enabled = ... }`
    pub enabled: Option<Expression>,
    pub depends_on: Vec<Traversal>,
    pub providers: Vec<ProviderPassing>,
    /// What is deprecated inside is not this caller's concern.
    pub ignore_nested_deprecations: bool,
    /// What is left: the child's input variables.
    pub body: Body,
    pub range: Range,
}

/// Arguments of a module call that are expressions and decide what is installed.
#[derive(Clone, Debug)]
pub struct EarlyArguments {
    pub source: Attribute,
    pub version: Option<Attribute>,
}

impl ModuleCall {
    pub fn repetition(&self) -> Repetition<'_> {
        Repetition { count: self.count.as_ref(), for_each: self.for_each.as_ref(), enabled: self.enabled.as_ref() }
    }
}

/// How often a block is there: at most one of the three is set; none: once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repetition<'b> {
    pub count: Option<&'b Expression>,
    pub for_each: Option<&'b Expression>,
    /// Once or not at all, without an instance key.
    pub enabled: Option<&'b Expression>,
}

impl<'b> Repetition<'b> {
    /// True if its instances have keys.
    pub fn has_keys(&self) -> bool {
        self.count.is_some() || self.for_each.is_some()
    }

    pub fn expressions(&self) -> impl Iterator<Item = &'b Expression> {
        [self.count, self.for_each, self.enabled].into_iter().flatten()
    }
}

/// `resource`, `data`, `ephemeral` or `list "type" "name" {}`.
#[derive(Clone, Debug)]
pub struct Resource {
    pub addr: addr::Resource,
    pub count: Option<Expression>,
    pub for_each: Option<Expression>,
    /// As written in the block; none: by the type's name.
    pub provider_ref: Option<ProviderRef>,
    /// The provider that serves it, from the module's requirements.
    pub provider: addr::Provider,
    pub depends_on: Vec<Traversal>,
    pub lifecycle: Lifecycle,
    pub provisioners: Vec<ProvisionerBlock>,
    /// The connection that all provisioners of the block share.
    pub connection: Option<Body>,
    /// Of a `list` block.
    pub list: ListArguments,
    /// What is left for the provider's schema.
    pub body: Body,
    /// The block's header.
    pub range: Range,
    /// Where the type label stands.
    pub type_range: Range,
}

impl Resource {
    pub fn repetition(&self) -> Repetition<'_> {
        Repetition {
            count: self.count.as_ref(),
            for_each: self.for_each.as_ref(),
            enabled: self.lifecycle.enabled.as_ref(),
        }
    }

    /// The local provider configuration that it uses, as its module names it.
    pub fn local_provider_config(&self) -> addr::LocalProviderConfig {
        match &self.provider_ref {
            Some(reference) => reference.addr.clone(),
            None => addr::LocalProviderConfig { local_name: self.addr.implied_provider().into(), alias: None },
        }
    }
}

/// `lifecycle {}`.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// None: not set, so that a dependent's wish is not overruled.
    pub create_before_destroy: Option<bool>,
    pub prevent_destroy: PreventDestroy,
    /// `destroy = false`: the object is left alone where it would be destroyed.
    pub keep: bool,
    /// A `destroy` that is no constant bool: an error of plan for OpenTofu.
    pub invalid_destroy: Option<Range>,
    pub enabled: Option<Expression>,
    pub ignore_changes: IgnoreChanges,
    pub replace_triggered_by: Vec<Expression>,
    pub preconditions: Vec<Condition>,
    pub postconditions: Vec<Condition>,
    pub action_triggers: Vec<ActionTrigger>,
}

#[derive(Clone, Debug, Default)]
pub enum PreventDestroy {
    #[default]
    No,
    Yes,
    /// An expression in the scope of the module.
    If(Expression),
}

#[derive(Clone, Debug)]
pub enum IgnoreChanges {
    All,
    /// Traversals relative to the resource: their root is the attribute's name.
    Paths(Vec<Traversal>),
}

impl Default for IgnoreChanges {
    fn default() -> IgnoreChanges {
        IgnoreChanges::Paths(Vec::new())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProvisionerWhen {
    Create,
    Destroy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    Fail,
    Continue,
}

/// `provisioner "type" {}`.
#[derive(Clone, Debug)]
pub struct ProvisionerBlock {
    pub kind: Arc<str>,
    pub when: ProvisionerWhen,
    pub on_failure: OnFailure,
    pub connection: Option<Body>,
    /// What is left for the provisioner's schema.
    pub body: Body,
    pub range: Range,
    pub type_range: Range,
}

/// Blocks and locals by name, in the order of the files.
pub type ByName<T> = IndexMap<Arc<str>, T>;

impl Variable {
    /// Of every value of the variable.
    pub fn marks(&self) -> Marks {
        Marks::SENSITIVE.when(self.sensitive) | Marks::EPHEMERAL.when(self.ephemeral)
    }
}

impl Output {
    /// The marks that the block adds to the output's value.
    pub fn marks(&self) -> Marks {
        Marks::SENSITIVE.when(self.sensitive) | Marks::EPHEMERAL.when(self.ephemeral)
    }
}
