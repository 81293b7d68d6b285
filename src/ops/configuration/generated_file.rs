//! The file of `-generate-config-out`: configuration for imports without a block, and for the results of a query.

use std::fmt::Write;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::files::reason;
use base::name::PROGRAM;
use base::source::{Range, SourceFile, Span};
use model::plan::{ListResults, Plan};
use terrane_value::text::go_quoted;

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
        Err(error) => not_created(path, &error),
    })
}

/// Gives diagnostics about generated blocks their places in the file that these are written to.
pub fn located(mut diagnostics: Diagnostics, path: &Path, plan: &Plan) -> Diagnostics {
    let Some(text) = text(plan) else { return diagnostics };
    let file = SourceFile::new(path.display().to_string(), text);
    let blocks: Vec<&str> = plan.changes.iter().filter_map(|change| change.generated_config.as_deref()).collect();
    let moved = |range: Range| {
        let block = blocks.iter().find(|block| **block == range.file.text());
        let Some(start) = block.and_then(|block| file.text().find(block)) else { return range };
        let span = range.span;
        Span::new(start + span.start as usize, start + span.end as usize).in_file(&file)
    };
    for diagnostic in diagnostics.iter_mut() {
        diagnostic.subject = diagnostic.subject.take().map(moved);
        diagnostic.context = diagnostic.context.take().map(moved);
    }
    diagnostics
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
    Some(not_created(path, &error))
}

fn not_created(path: &Path, error: &io::Error) -> Diagnostic {
    let path = path.display();
    let detail = match error.kind() {
        ErrorKind::PermissionDenied => format!(
            "{PROGRAM} did not have permission to create the generated file ({path}) in the target directory. Please modify \
             permissions over the target directory, and try again."
        ),
        kind => format!(
            "{PROGRAM} could not create the generated file ({path}) in the target directory: open {path}: {}. Depending on the \
             error message, this may be a bug in {PROGRAM} itself. If so, please report it!",
            if kind == ErrorKind::NotFound { "no such file or directory".to_string() } else { reason(error) }
        ),
    };
    Diagnostic::error("Failed to create target generated file", detail)
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

#[cfg(test)]
mod tests {
    use model::addr::{AbsProviderConfig, InstanceKey, ModuleInstance, Provider, Resource};
    use model::plan::{Action, ActionReason, Change, ResourceChange};
    use terrane_value::Value;

    use super::*;

    #[test]
    fn diagnostics_name_lines_of_the_written_file() {
        let block = |name: &str| format!("resource \"t\" \"{name}\" {{\n  a = 1\n}}");
        let change = |name: &str| ResourceChange {
            addr: Resource::managed("t", name).absolute(ModuleInstance::root()).instance(InstanceKey::None),
            previous_addr: Resource::managed("t", name).absolute(ModuleInstance::root()).instance(InstanceKey::None),
            deposed: None,
            provider: AbsProviderConfig::root(Provider::default_for("t")),
            action: Action::NoOp,
            reason: ActionReason::None,
            change: Change { before: Value::null_dynamic(), after: Value::null_dynamic() },
            required_replace: Vec::new(),
            private: Arc::default(),
            importing: None,
            identity: Default::default(),
            generated_config: Some(block(name)),
        };
        let plan = Plan { changes: vec![change("x"), change("y")], ..Plan::default() };
        let at = |file: &str, text: &str| {
            Span::new(text.find("a =").unwrap(), text.len()).in_file(&SourceFile::new(file, text))
        };
        let found: Diagnostics = [at("generated", &block("y")), at("main.tf", "a = 2")]
            .into_iter()
            .map(|range| Diagnostic::error("Refused", "").at(range))
            .collect();
        let places: Vec<String> = located(found, Path::new("out/g.tf"), &plan)
            .iter()
            .filter_map(|found| found.subject.as_ref())
            .map(|range| format!("{}:{}", range.filename(), range.start().line))
            .collect();
        assert_eq!(places, ["out/g.tf:11", "main.tf:1"]);
        assert!(text(&plan).unwrap().lines().nth(10).unwrap().contains("a = 1"));
    }
}
