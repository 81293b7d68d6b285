//! `provisioner` blocks, and what destroy-time ones may refer to.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use base::source::Range;
use lang::syntax::ast::{Block, Traversal};
use lang::syntax::body::{Body, BodySchema, Content};

use super::{references, reserved_blocks};
use crate::model_errors::INVALID_ON_FAILURE;

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

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .attribute("when")
        .attribute("on_failure")
        .block("_", &[])
        .block("connection", &[])
        .block("lifecycle", &[])
});

/// None for kinds that no longer exist.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<ProvisionerBlock> {
    let (content, rest, problems) = block.body.partial_content(&SCHEMA);
    diags.extend(problems);
    let kind = block.label(0).clone();
    if ["chef", "habitat", "puppet", "salt-masterless"].contains(&&*kind) {
        diags.push(
            Diagnostic::error(
                format!("The {:?} provisioner has been removed", &*kind),
                format!(
                    "The {:?} provisioner was deprecated in Terraform 0.13.4 has been removed from {PROGRAM}. Visit \
                     https://learn.hashicorp.com/collections/terraform/provision for alternatives to using provisioners \
                     that are a better fit for the {PROGRAM} workflow.",
                    &*kind
                ),
            )
            .at(block.label_range(0)),
        );
        return None;
    }
    let when = decode_when(&content, diags);
    if when == ProvisionerWhen::Destroy {
        check_only_self(&rest, diags);
    }
    let on_failure = decode_on_failure(&content, diags);
    let mut connection: Option<&Block> = None;
    for inner in content.blocks_of("connection") {
        if let Some(first) = connection {
            let detail = format!("This provisioner already has a connection block at {}.", first.header_range());
            diags.push(Diagnostic::error("Duplicate connection block", detail).at(inner.header_range()));
            continue;
        }
        connection = Some(inner);
        if when == ProvisionerWhen::Destroy {
            check_only_self(&inner.body, diags);
        }
    }
    let body = reserved_blocks::check(&content, rest, "provisioner", "provisioner-typpe-specific", diags);
    Some(ProvisionerBlock {
        kind,
        when,
        on_failure,
        connection: connection.map(|b| b.body.clone()),
        body,
        range: block.header_range(),
        type_range: block.label_range(0),
    })
}

fn decode_when(content: &Content, diags: &mut Diagnostics) -> ProvisionerWhen {
    let Some(attribute) = content.attribute("when") else { return ProvisionerWhen::Create };
    let expr = references::unquote(&attribute.expr, true, diags);
    match expr.as_keyword() {
        Some("create") => ProvisionerWhen::Create,
        Some("destroy") => ProvisionerWhen::Destroy,
        _ => {
            diags.push(
                Diagnostic::error(
                    "Invalid \"when\" keyword",
                    "The \"when\" argument requires one of the following keywords: create or destroy.",
                )
                .at(expr.range()),
            );
            ProvisionerWhen::Create
        }
    }
}

fn decode_on_failure(content: &Content, diags: &mut Diagnostics) -> OnFailure {
    let Some(attribute) = content.attribute("on_failure") else { return OnFailure::Fail };
    let expr = references::unquote(&attribute.expr, true, diags);
    match expr.as_keyword() {
        Some("fail") => OnFailure::Fail,
        Some("continue") => OnFailure::Continue,
        _ => {
            diags.push(
                Diagnostic::error(
                    INVALID_ON_FAILURE,
                    "The \"on_failure\" argument requires one of the following keywords: continue or fail.",
                )
                .at(attribute.expr.range()),
            );
            OnFailure::Fail
        }
    }
}

/// Reports references to anything but the object that is being destroyed.
pub fn check_only_self(body: &Body, diags: &mut Diagnostics) {
    let (attributes, _) = body.just_attributes();
    for attribute in attributes.values() {
        for traversal in attribute.expr.variables() {
            if !about_self(traversal) {
                diags.push(
                    Diagnostic::error(
                        "Invalid reference from destroy provisioner",
                        "Destroy-time provisioners and their connection configurations may only reference attributes \
                         of the related resource, via 'self', 'count.index', or 'each.key'.\n\nReferences to other \
                         resources during the destroy phase can cause dependency cycles and interact poorly with \
                         create_before_destroy.",
                    )
                    .at(attribute.expr.range()),
                );
            }
        }
    }
}

fn about_self(traversal: &Traversal) -> bool {
    match traversal.root_name() {
        "self" | "path" | "terraform" => true,
        "count" => traversal.attr(0) == Some("index"),
        "each" => traversal.attr(0) == Some("key"),
        _ => false,
    }
}
