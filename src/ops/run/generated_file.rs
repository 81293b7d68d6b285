//! The file of `-generate-config-out`: configuration for imports without a block, and for the results of a query.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::base::atomic;
use crate::base::diag::Diagnostic;
use crate::base::files::reason;
use crate::base::name::PROGRAM;
use crate::lang::value::text::go_quoted;
use crate::model::plan::{ListResults, Plan};

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

/// Writes the blocks for the results of a query; no file if there are none.
pub fn write_imports(path: &Path, lists: &[Arc<ListResults>]) -> Option<Diagnostic> {
    let mut text = String::new();
    for list in lists {
        let generated: Vec<_> = list.objects.iter().filter_map(|object| object.generated.as_ref()).collect();
        if generated.is_empty() {
            continue;
        }
        begin(&mut text);
        let _ = write!(text, "\n# __generated__ by {PROGRAM}\n");
        for blocks in generated {
            let _ = write!(text, "{}\n\n{}\n\n", blocks.resource, blocks.import);
        }
        text.push('\n');
    }
    if text.is_empty() {
        return None;
    }
    let error = atomic::write(path, text.as_bytes()).err()?;
    let path = path.display();
    let detail = match error.kind() {
        ErrorKind::PermissionDenied => format!(
            "{PROGRAM} did not have permission to create the generated file ({path}) in the target directory. Please modify \
             permissions over the target directory, and try again."
        ),
        kind => format!(
            "{PROGRAM} could not create the generated file ({path}) in the target directory: open {path}: {}. Depending on the \
             error message, this may be a bug in {PROGRAM} itself. If so, please report it!",
            if kind == ErrorKind::NotFound { "no such file or directory".to_string() } else { reason(&error) }
        ),
    };
    Some(Diagnostic::error("Failed to create target generated file", detail))
}

/// What a file begins with.
fn begin(text: &mut String) {
    if text.is_empty() {
        let _ = write!(
            text,
            "# __generated__ by {PROGRAM}\n# Please review these resources and move them into your main configuration files.\n"
        );
    }
}

fn text(plan: &Plan) -> Option<String> {
    let mut text = String::new();
    for change in &plan.changes {
        let Some(config) = &change.generated_config else { continue };
        begin(&mut text);
        let from = change.importing.as_ref().and_then(|i| i.id.as_ref());
        let from = from.map_or_else(String::new, |id| format!(" from {}", go_quoted(id)));
        let _ = write!(text, "\n# __generated__ by {PROGRAM}{from}\n{config}\n");
    }
    (!text.is_empty()).then_some(text)
}
