//! `removed` blocks: an object is no longer managed, and destroyed or left alone.

use std::sync::LazyLock;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::name;
use crate::base::source::Range;
use crate::lang::syntax::ast::{Block, TraversalStep};
use crate::lang::syntax::body::{Body, BodySchema, Content};
use crate::model::addr::{Module, Resource, ResourceMode};

use super::block::{ProvisionerBlock, ProvisionerWhen};
use super::moved::endpoint;
use super::{constant, names, provisioner};

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new().required("from").block("lifecycle", &[]).block("connection", &[]).block("provisioner", &["type"])
});
static LIFECYCLE: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("destroy"));

/// `removed {}`.
#[derive(Clone, Debug)]
pub struct Removed {
    /// Relative to the module of the block; the module itself where `resource` is none.
    pub module: Module,
    pub resource: Option<Resource>,
    /// What the block says of it: false to forget it.
    pub destroy: Option<bool>,
    pub provisioners: Vec<ProvisionerBlock>,
    pub connection: Option<Body>,
    pub range: Range,
}

impl Removed {
    /// False: forgotten, not destroyed. Without `lifecycle`, Terraform destroys and OpenTofu forgets.
    pub fn destroys(&self) -> bool {
        self.destroy.unwrap_or(!name::is_careful())
    }
}

pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<Removed> {
    let content = diags.take(block.body.content(&SCHEMA));
    let from = content.attribute("from")?;
    let mut removed = Removed {
        module: Module::root(),
        resource: None,
        destroy: None,
        provisioners: Vec::new(),
        connection: None,
        range: block.header_range(),
    };
    let mut sound = true;
    if let Some(step) = first_key(from) {
        let range = from.expr.range_of(step.span());
        let (summary, detail) = if is_module_key(from, step) {
            (
                "Module instance keys not allowed",
                "Module address must be a module (e.g. \"module.foo\"), not a module instance (e.g. \"module.foo[1]\").",
            )
        } else {
            (
                "Resource instance keys not allowed",
                "Resource address must be a resource (e.g. \"test_instance.foo\"), not a resource instance (e.g. \
                 \"test_instance.foo[1]\").",
            )
        };
        diags.push(Diagnostic::error(summary, detail).at(range));
        sound = false;
    } else if let Some(end) = endpoint(from, diags) {
        removed.module = end.module.module();
        removed.resource = end.resource.map(|(resource, _)| resource);
        if removed.resource.as_ref().is_some_and(|r| r.mode == ResourceMode::Data) {
            let detail = "Data sources are never destroyed, so they are not valid targets of removed blocks. To remove \
                          the data source from state, remove the data source block from configuration.";
            let range = from.expr.as_traversal().map(|t| names::traversal_range(t, &from.expr.file));
            diags.push(Diagnostic::error("Data source address not allowed", detail).at_opt(range));
            sound = false;
        }
    } else {
        sound = false;
    }
    for lifecycle in content.blocks_of("lifecycle") {
        let content = diags.take(lifecycle.body.content(&LIFECYCLE));
        if let Some(attribute) = content.attribute("destroy")
            && let Some(written) = constant::bool(attribute, diags)
        {
            removed.destroy = Some(written);
        }
    }
    if name::is_opentofu() && removed.resource.as_ref().is_none_or(|resource| resource.mode != ResourceMode::Data) {
        diags.extend(warning(removed.destroy, &content).map(|warning| warning.at(block.header_range())));
    }
    removed.connection = content.blocks_of("connection").next().map(|b| b.body.clone());
    let managed = removed.resource.as_ref().is_some_and(|r| r.mode == ResourceMode::Managed);
    for block in content.blocks_of("provisioner") {
        let Some(decoded) = provisioner::decode(block, diags) else { continue };
        if !sound && name::is_opentofu() {
            continue;
        }
        let problem = if !managed {
            "Provisioners are valid only when a removed block targets a managed resource."
        } else if decoded.when != ProvisionerWhen::Destroy {
            "Only destroy-time provisioners are valid in \"removed\" blocks. To declare a destroy-time provisioner, \
             use:\n    when = destroy"
        } else {
            removed.provisioners.push(decoded);
            continue;
        };
        diags.push(Diagnostic::error("Invalid provisioner block", problem).at(block.header_range()));
    }
    sound.then_some(removed)
}

/// What OpenTofu warns about. `destroy`: as written.
fn warning(destroy: Option<bool>, content: &Content) -> Option<Diagnostic> {
    let (summary, detail) = match destroy {
        None => (
            "Missing lifecycle from the removed block",
            "It is recommended for each 'removed' block configured to have also the 'lifecycle' block defined. By not specifying if \
             the resource should be destroyed or not, could lead to unwanted behavior.",
        ),
        Some(false) if content.blocks_of("provisioner").next().is_some() => (
            "Removed block provisioners will not be executed",
            "The 'removed' block has marked the resource to be forgotten and not destroyed. Therefore, the provisioners configured \
             for it will not be executed.",
        ),
        Some(_) => return None,
    };
    Some(Diagnostic::warning(summary, detail))
}

fn first_key(from: &crate::lang::syntax::ast::Attribute) -> Option<&TraversalStep> {
    from.expr.as_traversal()?.steps.iter().find(|step| matches!(step, TraversalStep::Index { .. }))
}

/// True if the key stands behind a module's name rather than a resource's.
fn is_module_key(from: &crate::lang::syntax::ast::Attribute, key: &TraversalStep) -> bool {
    let Some(traversal) = from.expr.as_traversal() else { return false };
    let before = traversal.steps.iter().take_while(|step| *step != key).count();
    match before {
        1 => traversal.root_name() == "module",
        n => traversal.attr(n.wrapping_sub(2)) == Some("module"),
    }
}
