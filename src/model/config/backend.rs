//! The `backend "local"` block; other kinds are not supported yet.

use std::sync::LazyLock;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::name::PROGRAM;
use crate::lang::eval::incorrect_type;
use crate::lang::syntax::body::BodySchema;
use crate::lang::value::{Type, convert};
use crate::model::mistakes::INVALID_BACKEND_TYPE;

use super::constant;
use super::module::Backend;

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().attribute("path").attribute("workspace_dir"));

/// What the local backend's block may set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalBackend {
    pub path: Option<String>,
    pub workspace_dir: Option<String>,
}

/// The settings of a `backend "local"` block; another kind is an error.
pub fn decode_local(backend: &Backend) -> (LocalBackend, Diagnostics) {
    if &*backend.kind != "local" {
        return (LocalBackend::default(), unusable(backend).into());
    }
    let mut diags = Diagnostics::new();
    let content = diags.take(backend.body.content(&SCHEMA));
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
        if text.is_empty() && name == "path" {
            let detail = "The \"path\" attribute value must not be empty.".to_owned();
            diags.push(Diagnostic::error("Invalid local state file path", detail).at(attribute.expr.range()));
        }
        Some(text)
    };
    let settings = LocalBackend { path: text("path", &mut diags), workspace_dir: text("workspace_dir", &mut diags) };
    (settings, diags)
}

/// Kinds that the reference has and this version does not.
const LATER: [&str; 11] =
    ["azurerm", "consul", "cos", "gcs", "http", "inmem", "kubernetes", "oss", "pg", "remote", "s3"];

/// Why a backend that is not the local one cannot be used.
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
