//! The file of `-generate-config-out`: configuration for imports without a block.

use std::fmt::Write;
use std::path::Path;

use crate::base::atomic;
use crate::base::diag::Diagnostic;
use crate::base::name::PROGRAM;
use crate::lang::value::text::go_quoted;
use crate::model::plan::Plan;

pub fn exists() -> Diagnostic {
    Diagnostic::error(
        "Target generated file already exists",
        format!(
            "{PROGRAM} can only write generated config into a new file. Either choose a different target location or move all \
         existing configuration out of the target file, delete it and try again."
        ),
    )
}

/// Writes what the plan's changes carry, with a warning; no file if there is nothing.
pub fn write(path: &Path, plan: &Plan) -> Option<Diagnostic> {
    let text = text(plan)?;
    Some(match atomic::write(path, text.as_bytes()) {
        Ok(()) => Diagnostic::warning(
            "Config generation is experimental",
            "Generating configuration during import is currently experimental, and the generated configuration format may \
             change in future versions.",
        ),
        Err(error) => {
            let detail = format!("{PROGRAM} encountered an error while writing generated config: {error}.");
            Diagnostic::error("Failed to save generated config", detail)
        }
    })
}

fn text(plan: &Plan) -> Option<String> {
    let mut text = String::new();
    for change in &plan.changes {
        let Some(config) = &change.generated_config else { continue };
        if text.is_empty() {
            let _ = write!(
                text,
                "# __generated__ by {PROGRAM}\n# Please review these resources and move them into your main configuration \
                 files.\n"
            );
        }
        let from = change.importing.as_ref().and_then(|i| i.id.as_ref());
        let from = from.map_or_else(String::new, |id| format!(" from {}", go_quoted(id)));
        let _ = write!(text, "\n# __generated__ by {PROGRAM}{from}\n{config}\n");
    }
    (!text.is_empty()).then_some(text)
}
