//! `moved` blocks: an object has a new address.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::{Attribute, Block};
use lang::syntax::body::BodySchema;

use super::references::static_traversal;
use crate::addr::parse::parse_target_traversal;
use crate::addr::{InstanceKey, ModuleInstance, Resource, Target};

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().required("from").required("to"));

/// `moved {}`.
#[derive(Clone, Debug)]
pub struct Moved {
    pub from: MoveEndpoint,
    pub to: MoveEndpoint,
    pub range: Range,
}

/// One end of a move, relative to the module that the block stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveEndpoint {
    /// For a module endpoint, its last step is the module that moves; without a key there: all instances of the call.
    pub module: ModuleInstance,
    /// The resource that moves; without a key: all its instances.
    pub resource: Option<(Resource, InstanceKey)>,
    pub range: Range,
}

impl std::fmt::Display for MoveEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.resource {
            Some((resource, key)) => resource.absolute(self.module.clone()).instance(key.clone()).fmt(f),
            None => self.module.fmt(f),
        }
    }
}

pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<Moved> {
    let content = diags.take(block.body.content(&SCHEMA));
    let mut end = |name: &str| content.attribute(name).and_then(|a| endpoint(a, diags));
    let (from, to) = (end("from"), end("to"));
    let (from, to) = (from?, to?);
    let range = block.header_range();
    if from.resource.is_some() != to.resource.is_some() {
        let detail = "The \"from\" and \"to\" addresses must either both refer to resources or both refer to modules.";
        diags.push(Diagnostic::error("Invalid \"moved\" addresses", detail).at(range));
        return None;
    }
    Some(Moved { from, to, range })
}

/// The address that an argument names, relative to its module.
pub fn endpoint(attribute: &Attribute, diags: &mut Diagnostics) -> Option<MoveEndpoint> {
    let expr = &attribute.expr;
    let traversal = static_traversal(expr, diags)?;
    let range = expr.range();
    match parse_target_traversal(&traversal, &expr.file) {
        Ok(Target::Module(module)) => Some(MoveEndpoint { module, resource: None, range }),
        Ok(Target::Resource(addr)) => {
            Some(MoveEndpoint { module: addr.module, resource: Some((addr.resource, InstanceKey::None)), range })
        }
        Ok(Target::Instance(addr)) => {
            let resource = Some((addr.resource.resource, addr.resource.key));
            Some(MoveEndpoint { module: addr.module, resource, range })
        }
        // Files have no patterns.
        Ok(Target::Pattern(_)) => None,
        Err(error) => {
            diags.push(error);
            None
        }
    }
}

/// The error of a `moved` block in an override file.
pub const NOT_OVERRIDABLE: (&str, &str) = (
    "Cannot override 'moved' blocks",
    "Records of moved objects can appear only in normal files, not in override files.",
);
