//! A policy: what it is about, when it counts, and its conditions.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::name::TERRANE;
use base::source::Range;
use lang::syntax::ast::{Attribute, Block, Expression};
use lang::syntax::body::BodySchema;

use super::INVALID_POLICY;
use super::file::add_locals;
use crate::addr::pattern::is_like;
use crate::config::blocks::labels;
use crate::config::constants::constant;

/// A `resource_policy`, `provider_policy` or `module_policy` block.
#[derive(Clone, Debug)]
pub struct Policy {
    pub kind: PolicyKind,
    /// The type of resources, the name of providers, or the source of modules: `*` stands for any characters.
    pub pattern: Arc<str>,
    pub name: Arc<str>,
    /// Of a resource policy: the changes that it is about.
    pub operations: Vec<PolicyOperation>,
    pub filter: Option<Expression>,
    pub level: Option<Expression>,
    pub locals: BTreeMap<Arc<str>, Expression>,
    pub enforces: Vec<Enforce>,
    /// The block's header.
    pub range: Range,
    /// Written in the block, and not the default.
    operations_range: Option<Range>,
}

/// An `enforce` block.
#[derive(Clone, Debug)]
pub struct Enforce {
    pub condition: Expression,
    pub error_message: Option<Expression>,
    pub info_message: Option<Expression>,
}

/// What a policy is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyKind {
    Resource,
    Provider,
    Module,
}

impl PolicyKind {
    /// The word of the block.
    pub fn block_name(self) -> &'static str {
        match self {
            PolicyKind::Resource => "resource_policy",
            PolicyKind::Provider => "provider_policy",
            PolicyKind::Module => "module_policy",
        }
    }
}

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyOperation {
    Create,
    Update,
    Delete,
    NoOp,
}

impl PolicyOperation {
    pub const ALL: [PolicyOperation; 4] =
        [PolicyOperation::Create, PolicyOperation::Update, PolicyOperation::Delete, PolicyOperation::NoOp];

    pub fn name(self) -> &'static str {
        match self {
            PolicyOperation::Create => "create",
            PolicyOperation::Update => "update",
            PolicyOperation::Delete => "delete",
            PolicyOperation::NoOp => "no-op",
        }
    }

    pub fn named(name: &str) -> Option<PolicyOperation> {
        PolicyOperation::ALL.into_iter().find(|operation| operation.name() == name)
    }

    /// Why a text is no operation.
    pub fn unknown(name: &str, range: Range) -> Diagnostic {
        let names = PolicyOperation::ALL.map(|operation| format!("{:?}", operation.name())).join(", ");
        let detail = format!("{name:?} is not an operation. The operations are {names}.");
        Diagnostic::error("Unknown policy operation", detail).at(range)
    }
}

/// What follows from a false condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyLevel {
    /// A warning.
    Advisory,
    Mandatory,
    /// As mandatory: only HCP Terraform has permissions to override it.
    MandatoryOverridable,
}

impl PolicyLevel {
    pub const ALL: [PolicyLevel; 3] =
        [PolicyLevel::Advisory, PolicyLevel::Mandatory, PolicyLevel::MandatoryOverridable];

    pub fn name(self) -> &'static str {
        match self {
            PolicyLevel::Advisory => "advisory",
            PolicyLevel::Mandatory => "mandatory",
            PolicyLevel::MandatoryOverridable => "mandatory_overridable",
        }
    }

    pub fn named(name: &str) -> Option<PolicyLevel> {
        PolicyLevel::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Why a text is no level.
    pub fn unknown(name: &str, range: Range) -> Diagnostic {
        let names = PolicyLevel::ALL.map(|level| format!("{:?}", level.name())).join(", ");
        let detail = format!("{name:?} is not an enforcement level. The levels are {names}.");
        Diagnostic::error("Unknown enforcement level", detail).at(range)
    }
}

static POLICY: LazyLock<BodySchema> = LazyLock::new(schema);
static RESOURCE_POLICY: LazyLock<BodySchema> = LazyLock::new(|| schema().attribute("operations"));
static ENFORCE: LazyLock<BodySchema> =
    LazyLock::new(|| BodySchema::new().required("condition").attribute("error_message").attribute("info_message"));

fn schema() -> BodySchema {
    let schema = BodySchema::new().attribute("enforcement_level").attribute("filter");
    schema.block("locals", &[]).block("enforce", &[]).block("connected", &["type"])
}

/// A block; what is wrong with it is reported.
pub(super) fn decode(block: &Block, kind: PolicyKind, diags: &mut Diagnostics) -> Policy {
    let schema = if kind == PolicyKind::Resource { &RESOURCE_POLICY } else { &POLICY };
    let (content, found) = block.body.content(schema);
    let is_readable = !found.has_errors();
    diags.extend(found);
    labels::check_label(block, 1, "Invalid policy name", diags);
    let expression = |name: &str| content.attribute(name).map(|attribute| attribute.expr.clone());
    let level = expression("enforcement_level");
    if let Some(level) = &level {
        check_level(level, diags);
    }
    let mut policy = Policy {
        kind,
        pattern: block.label(0).clone(),
        name: block.label(1).clone(),
        operations: Vec::new(),
        filter: expression("filter"),
        level,
        locals: BTreeMap::new(),
        enforces: Vec::new(),
        range: block.header_range(),
        operations_range: None,
    };
    for nested in &content.blocks {
        match nested.kind.as_str() {
            "locals" => add_locals(nested, &mut policy.locals, diags),
            "connected" => diags.push(no_connected(nested)),
            _ => policy.enforces.extend(enforce(nested, diags)),
        }
    }
    // Without one, a policy would allow everything.
    if is_readable && !content.blocks.iter().any(|nested| ["enforce", "connected"].contains(&nested.kind.as_str())) {
        let detail = "A policy must have at least one \"enforce\" block, with a condition that says what it allows.";
        diags.push(Diagnostic::error(INVALID_POLICY, detail).at(policy.range.clone()));
    }
    if kind == PolicyKind::Resource {
        operations(&mut policy, content.attribute("operations"), diags);
    }
    policy
}

fn no_connected(block: &Block) -> Diagnostic {
    let detail = format!(
        "{TERRANE} does not evaluate \"connected\" blocks. Look the other objects up with core::getresources, and compare them in the \
         conditions of \"enforce\" blocks."
    );
    Diagnostic::error("Connected policies are not supported", detail).at(block.header_range())
}

/// Reports a level that is known to be none. Others are known when the inputs are.
pub(super) fn check_level(level: &Expression, diags: &mut Diagnostics) {
    if let Some(text) = level.as_literal_string()
        && PolicyLevel::named(&text).is_none()
    {
        diags.push(PolicyLevel::unknown(&text, level.range()));
    }
}

fn enforce(block: &Block, diags: &mut Diagnostics) -> Option<Enforce> {
    let content = diags.take(block.body.content(&ENFORCE));
    let expression = |name: &str| content.attribute(name).map(|attribute| attribute.expr.clone());
    Some(Enforce {
        condition: expression("condition")?,
        error_message: expression("error_message"),
        info_message: expression("info_message"),
    })
}

/// Fills in the operations that a resource policy is about, and checks them.
fn operations(policy: &mut Policy, written: Option<&Attribute>, diags: &mut Diagnostics) {
    use PolicyOperation::{Create, Delete, NoOp, Update};
    let reads_prior = policy.refers_to("prior_attrs");
    let names = written.map(|attribute| listed(attribute, diags));
    let invalid = |detail: &str| {
        let range = written.map_or_else(|| policy.range.clone(), |attribute| attribute.expr.range());
        Diagnostic::error(INVALID_POLICY, detail).at(range)
    };
    let listed = names.clone().unwrap_or_default();
    let has = |operation| listed.contains(&operation);
    if reads_prior && listed.is_empty() {
        let detail = "A policy that refers to \"prior_attrs\" must set \"operations\" to \"update\", \"delete\" or both: other operations \
                      have no earlier object.";
        diags.push(invalid(detail));
    } else if reads_prior && (has(Create) || has(NoOp)) {
        let detail = "A policy that refers to \"prior_attrs\" cannot be about \"create\" or \"no-op\": these operations have no earlier \
                      object.";
        diags.push(invalid(detail));
    }
    if has(Delete) && has(NoOp) {
        diags.push(invalid(
            "An object is either deleted or unchanged: write two policies for \"delete\" and \"no-op\".",
        ));
    }
    if has(Delete) && has(Create) {
        let detail = "A replacement is a deletion and a creation, which are evaluated one after the other: write two policies for \
                      \"delete\" and \"create\".";
        diags.push(invalid(detail));
    }
    policy.operations_range = written.filter(|_| !listed.is_empty()).map(|attribute| attribute.expr.range());
    policy.operations = match names {
        None => vec![Create, Update, NoOp],
        Some(none) if none.is_empty() => PolicyOperation::ALL.to_vec(),
        Some(listed) => listed,
    };
}

fn listed(attribute: &Attribute, diags: &mut Diagnostics) -> Vec<PolicyOperation> {
    let Some(elements) = attribute.expr.as_static_list() else {
        let detail = "The operations of a policy are a list of strings, such as [\"create\", \"update\"].";
        diags.push(Diagnostic::error(INVALID_POLICY, detail).at(attribute.expr.range()));
        return Vec::new();
    };
    let mut found = Vec::new();
    for element in elements {
        let Some(name) = constant::string_of(&element, diags) else { continue };
        match PolicyOperation::named(&name) {
            Some(operation) => found.push(operation),
            None => diags.push(PolicyOperation::unknown(&name, element.range())),
        }
    }
    found
}

impl Policy {
    /// The name within its file: `resource_policy.aws_instance.small`.
    pub fn address(&self) -> String {
        format!("{}.{}.{}", self.kind.block_name(), self.pattern, self.name)
    }

    /// True if it is about that type of resources, that provider, or modules of that source.
    pub fn matches(&self, target: &str) -> bool {
        is_like(&self.pattern, target)
    }

    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let enforces = self.enforces.iter().flat_map(|enforce| {
            [Some(&enforce.condition), enforce.error_message.as_ref(), enforce.info_message.as_ref()]
                .into_iter()
                .flatten()
        });
        self.filter.iter().chain(self.locals.values()).chain(enforces)
    }

    fn refers_to(&self, root: &str) -> bool {
        self.expressions().any(|expr| expr.variables().iter().any(|traversal| traversal.root_name() == root))
    }

    /// The warning about a policy that looks at other objects, but not when nothing changes. `shared`: the local values of its file.
    pub(super) fn incomplete_coverage(&self, shared: &BTreeMap<Arc<str>, Expression>) -> Option<Diagnostic> {
        let range = self.operations_range.clone()?;
        let is_complete =
            [PolicyOperation::NoOp, PolicyOperation::Delete].iter().any(|it| self.operations.contains(it));
        if is_complete || self.refers_to("prior_attrs") {
            return None;
        }
        let used =
            self.expressions().flat_map(Expression::variables).filter(|traversal| traversal.root_name() == "local");
        let of_file = used.filter_map(|traversal| shared.get(traversal.attr(0)?));
        let calls = |expr: &Expression| {
            expr.functions().iter().any(|call| call.name.strip_prefix("core::").unwrap_or(&call.name) == "getresources")
        };
        if !self.expressions().chain(of_file).any(calls) {
            return None;
        }
        let detail = format!(
            "The policy {} calls core::getresources, but its operations do not have \"no-op\": it is not evaluated for objects that a run \
             does not change.",
            self.address()
        );
        Some(Diagnostic::warning("Policy is not evaluated for unchanged objects", detail).at(range))
    }
}
