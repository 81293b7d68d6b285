//! The settings of `backend` blocks of the kinds that are supported.

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::name::PROGRAM;
use crate::lang::eval::incorrect_type;
use crate::lang::syntax::body::BodySchema;
use crate::lang::value::{Type, convert};
use crate::model::mistakes::INVALID_BACKEND_TYPE;

use super::constant;
use super::module::Backend;

/// The supported kinds with their settings, which are all strings.
const KINDS: [(&str, &[&str]); 2] = [("inmem", &["lock_id"]), ("local", &["path", "workspace_dir"])];

/// The settings of a `backend` block by name, None where one is not set; a kind that is not supported is an error.
pub fn decode(backend: &Backend) -> (Vec<(&'static str, Option<String>)>, Diagnostics) {
    let Some((kind, names)) = KINDS.iter().find(|(kind, _)| *kind == &*backend.kind) else {
        return (Vec::new(), unusable(backend).into());
    };
    let mut diags = Diagnostics::new();
    let schema = names.iter().fold(BodySchema::new(), |schema, name| schema.attribute(name));
    let content = diags.take(backend.body.content(&schema));
    let text = |name: &str, diags: &mut Diagnostics| {
        let attribute = content.attribute(name)?;
        let value = diags.take(constant::value(&attribute.expr));
        if value.is_null() {
            return None;
        }
        let text = match convert::convert(&value, &Type::String) {
            Ok(text) => text.as_str()?.to_owned(),
            Err(error) => {
                diags.push(incorrect_type(&attribute.expr, name, &error));
                return None;
            }
        };
        if text.is_empty() && (*kind, name) == ("local", "path") {
            let detail = "The \"path\" attribute value must not be empty.".to_owned();
            diags.push(Diagnostic::error("Invalid local state file path", detail).at(attribute.expr.range()));
        }
        Some(text)
    };
    let settings = names.iter().map(|name| (*name, text(name, &mut diags))).collect();
    (settings, diags)
}

/// Kinds that the reference has and this version does not.
const LATER: [&str; 10] = ["azurerm", "consul", "cos", "gcs", "http", "kubernetes", "oss", "pg", "remote", "s3"];

/// Why a backend of another kind cannot be used.
fn unusable(backend: &Backend) -> Diagnostic {
    let kind = &*backend.kind;
    let diagnostic = if kind == "cloud" {
        Diagnostic::error(
            "HCP Terraform is not supported",
            format!(
                "The \"cloud\" block keeps state and runs operations in HCP Terraform or Terraform Enterprise, which {PROGRAM} cannot \
             do. Replace the block by a \"backend\" block."
            ),
        )
    } else if LATER.contains(&kind) {
        Diagnostic::error(
            "Backend is not supported yet",
            format!("This version of {PROGRAM} keeps state in local files only; the backend {kind:?} comes later."),
        )
    } else {
        Diagnostic::error(INVALID_BACKEND_TYPE, format!("There is no backend type named {kind:?}."))
    };
    diagnostic.at(backend.kind_range.clone())
}
