//! `removed` blocks: an object is no longer managed, and destroyed or left alone.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Attribute, Block, TraversalStep};
use lang::syntax::body::{Body, BodySchema, Content};
use terrane_protocol::schema::ResourceMode;

use super::moved::endpoint;
use super::provisioner::{self, ProvisionerBlock, ProvisionerWhen};
use super::references;
use crate::addr::{Module, Resource};
use crate::config::constants::constant;
use crate::opentofu;

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
    /// False: forgotten, not destroyed. Without `lifecycle`, it depends on the dialect.
    pub fn destroys(&self) -> bool {
        self.destroy.unwrap_or_else(|| !opentofu::forgets_removed_objects(self.range.dialect()))
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
    let target = target(from, diags);
    let sound = target.is_some();
    (removed.module, removed.resource) = target.unwrap_or_else(|| (Module::root(), None));
    for lifecycle in content.blocks_of("lifecycle") {
        let content = diags.take(lifecycle.body.content(&LIFECYCLE));
        if let Some(attribute) = content.attribute("destroy")
            && let Some(written) = constant::bool(attribute, diags)
        {
            removed.destroy = Some(written);
        }
    }
    let explains = opentofu::explains_removed_blocks(block.file().dialect());
    if explains && sound {
        diags.extend(warning(removed.destroy, &content).map(|warning| warning.at(block.header_range())));
    }
    removed.connection = content.blocks_of("connection").next().map(|b| b.body.clone());
    let managed = removed.resource.as_ref().is_some_and(|r| r.mode == ResourceMode::Managed);
    for block in content.blocks_of("provisioner") {
        let Some(decoded) = provisioner::decode(block, diags) else { continue };
        if !sound && explains {
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

/// What the argument names, relative to the module of the block.
fn target(from: &Attribute, diags: &mut Diagnostics) -> Option<(Module, Option<Resource>)> {
    let explains = opentofu::explains_removed_blocks(from.expr.file.dialect());
    let key = if explains { opentofu_instance(from) } else { instance(from) };
    if let Some(error) = key {
        diags.push(error);
        return None;
    }
    let end = endpoint(from, diags)?;
    let resource = end.resource.map(|(resource, _)| resource);
    if let Some(error) = resource.as_ref().and_then(|resource| never_destroyed(resource.mode, explains)) {
        let range = from.expr.as_traversal().map(|t| references::traversal_range(t, &from.expr.file));
        diags.push(error.at_opt(range));
        return None;
    }
    Some((end.module.module(), resource))
}

/// The error about an address with the key of an instance.
fn instance(from: &Attribute) -> Option<Diagnostic> {
    let step = first_key(from)?;
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
    Some(Diagnostic::error(summary, detail).at(from.expr.range_of(step.span())))
}

/// OpenTofu's error about such an address: anything that follows the name of a resource counts as a key.
fn opentofu_instance(from: &Attribute) -> Option<Diagnostic> {
    let traversal = from.expr.as_traversal()?;
    let steps = &traversal.steps;
    // `at` counts the names before: step 0 follows the root.
    let name = |at: usize| if at == 0 { Some(traversal.root_name()) } else { traversal.attr(at - 1) };
    let mut at = 0;
    while name(at) == Some("module") && name(at + 1).is_some() {
        if let Some(key @ TraversalStep::Index { .. }) = steps.get(at + 1) {
            let detail = "Module address cannot be a module instance (e.g. \"module.a[0]\"), it must be a module instead (e.g. \
                          \"module.a\").";
            let error = Diagnostic::error("Module instance address with keys is not allowed", detail);
            return Some(error.at(from.expr.range_of(key.span())));
        }
        at += 2;
    }
    at += usize::from(matches!(name(at), Some("data" | "ephemeral" | "resource")));
    let (Some(_), Some(_), Some(key)) = (name(at), name(at + 1), steps.get(at + 1)) else { return None };
    if steps.len() > at + 2 {
        return None;
    }
    let detail = "Resource address cannot be a resource instance (e.g. \"null_resource.a[0]\"), it must be a resource instead (e.g. \
                  \"null_resource.a\").";
    let error = Diagnostic::error("Resource instance address with keys is not allowed", detail);
    Some(error.at(from.expr.range_of(key.span())))
}

/// The error about an object that is never destroyed. `explains`: as OpenTofu has it.
fn never_destroyed(mode: ResourceMode, explains: bool) -> Option<Diagnostic> {
    let (summary, detail) = match mode {
        ResourceMode::Data if explains => (
            "Data source address is not allowed",
            "Data sources cannot be destroyed, and therefore, 'removed' blocks are not allowed to target them. To remove data sources \
             from the state, you should remove the data source block from the configuration.",
        ),
        ResourceMode::Ephemeral if explains => (
            "Ephemeral resource address is not allowed",
            "Ephemeral resources cannot be destroyed, and therefore, 'removed' blocks are not allowed to target them. To remove \
             ephemeral resources from the state, you should remove the ephemeral resource block from the configuration.",
        ),
        ResourceMode::Data => (
            "Data source address not allowed",
            "Data sources are never destroyed, so they are not valid targets of removed blocks. To remove the data source from state, \
             remove the data source block from configuration.",
        ),
        ResourceMode::Managed | ResourceMode::Ephemeral | ResourceMode::List => return None,
    };
    Some(Diagnostic::error(summary, detail))
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

fn first_key(from: &Attribute) -> Option<&TraversalStep> {
    from.expr.as_traversal()?.steps.iter().find(|step| matches!(step, TraversalStep::Index { .. }))
}

/// True if the key stands behind a module's name rather than a resource's.
fn is_module_key(from: &Attribute, key: &TraversalStep) -> bool {
    let Some(traversal) = from.expr.as_traversal() else { return false };
    let before = traversal.steps.iter().take_while(|step| *step != key).count();
    match before {
        1 => traversal.root_name() == "module",
        n => traversal.attr(n.wrapping_sub(2)) == Some("module"),
    }
}
