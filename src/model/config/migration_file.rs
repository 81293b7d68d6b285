//! `*.tfmigrate.hcl`: where states come from that are to be copied to the backend of the configuration.

use std::path::Path;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::Files;
use crate::base::source::Range;
use crate::lang::syntax::ast::Block;
use crate::lang::syntax::body::BodySchema;

use super::module::ProviderRequirement;
use super::{Backend, StoreProvider, file_set, requirements, state_store};

const SUFFIX: &str = ".tfmigrate.hcl";
const FROM: &str = "from";
const PROVIDER: &str = "state_store_provider";

/// The blocks of all files, with the labelled block within `from`.
#[derive(Default)]
struct Blocks {
    from: Option<Range>,
    /// The backend or the state store.
    place: Option<Backend>,
    /// The entry of the block about the provider of a state store.
    requirement: Option<ProviderRequirement>,
    provider: Option<Range>,
}

/// The backend or the state store that the files of a folder name in their `from` block. None with an error.
pub fn migration_source(dir: &Path, files: &dyn Files) -> (Option<Backend>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut blocks = Blocks::default();
    let mut names: Vec<String> = files.list(dir).unwrap_or_default().into_iter().map(|entry| entry.name).collect();
    names.retain(|name| name.ends_with(SUFFIX));
    names.sort();
    for name in names {
        let path = if dir == Path::new(".") { Path::new(&name).to_path_buf() } else { dir.join(&name) };
        let Some(body) = file_set::load(&path, files, &mut diagnostics) else { continue };
        let schema = BodySchema::new().block(FROM, &[]).block(PROVIDER, &[]);
        let (content, problems) = body.content(&schema);
        diagnostics.extend(problems);
        content.blocks_of(FROM).for_each(|block| from(block, &mut blocks, &mut diagnostics));
        content.blocks_of(PROVIDER).for_each(|block| provider(block, &mut blocks, &mut diagnostics));
    }
    if !diagnostics.has_errors() {
        diagnostics.extend(combination(&blocks));
    }
    let Blocks { place, requirement, .. } = blocks;
    let mut place = place.filter(|_| !diagnostics.has_errors());
    if let Some(store) = place.as_mut().and_then(|place| place.store.as_mut()) {
        store.requirement = requirement;
    }
    (place, diagnostics)
}

fn from(block: &Block, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    if blocks.from.is_some() {
        diagnostics.push(duplicate(FROM, block));
        return;
    }
    blocks.from = Some(block.header_range());
    let schema = BodySchema::new().block("backend", &["type"]).block("state_store", &["type"]);
    let (content, problems) = block.body.content(&schema);
    diagnostics.extend(problems);
    for inner in &content.blocks {
        if blocks.place.is_some() {
            let detail = "A \"from\" block has one \"backend\" or one \"state_store\" block.";
            diagnostics.push(Diagnostic::error("Several sources in \"from\" block", detail).at(inner.header_range()));
            return;
        }
        match inner.kind.as_str() {
            "backend" => {
                blocks.place = Some(Backend {
                    kind: inner.label(0).clone(),
                    is_cloud_block: false,
                    store: None,
                    kind_range: inner.label_range(0),
                    body: inner.body.clone(),
                    range: inner.header_range(),
                });
            }
            _ => blocks.place = state_store::decode(inner, diagnostics),
        }
    }
}

fn provider(block: &Block, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    if blocks.provider.is_some() {
        diagnostics.push(duplicate(PROVIDER, block));
        return;
    }
    blocks.provider = Some(block.header_range());
    let mut found = requirements::decode(block, diagnostics).unwrap_or_default();
    let count = block.body.attributes().len();
    if count == 1 {
        blocks.requirement = found.pop_first().map(|(_, requirement)| requirement);
    } else {
        let detail =
            format!("The \"{PROVIDER}\" block is only expected to include a single provider, but {count} were found.");
        let summary = format!("Unexpected number of providers described in \"{PROVIDER}\" configuration block.");
        diagnostics.push(Diagnostic::error(summary, detail).at(block.header_range()));
    }
}

fn duplicate(kind: &str, block: &Block) -> Diagnostic {
    let detail = format!("Only one {kind:?} block is allowed in a directory's {SUFFIX} files.");
    Diagnostic::error(format!("Duplicate {kind:?} configuration block"), detail).at(block.header_range())
}

fn other_provider(store: &StoreProvider, place: &Range) -> Diagnostic {
    let detail = format!(
        "The state store uses the provider {:?}, which must be the one that the \"{PROVIDER}\" block describes.",
        &*store.name
    );
    Diagnostic::error(format!("Unknown provider in \"{PROVIDER}\" block"), detail).at(place.clone())
}

/// What does not go together, or is missing.
fn combination(blocks: &Blocks) -> Option<Diagnostic> {
    let store = blocks.place.as_ref().and_then(|place| place.store.as_ref());
    match (&blocks.place, store, &blocks.provider) {
        (Some(_), None, Some(_)) => Some(Diagnostic::error(
            format!("Invalid combination of \"backend\" and \"{PROVIDER}\""),
            format!(
                "The \"{PROVIDER}\" block can only be used in combination with a \"state_store\" block. Either remove the unused \
                 \"{PROVIDER}\" block, or update your \"from\" block to contain a \"state_store\" block instead."
            ),
        )),
        (Some(_), None, None) => None,
        (_, Some(_), None) => Some(Diagnostic::error(
            format!("Missing \"{PROVIDER}\" block for state store migration"),
            format!(
                "The configuration includes a \"state_store\" block but is missing the required \"{PROVIDER}\" block. Add a \
                 \"{PROVIDER}\" block to specify the provider to use when migrating state out of that state store."
            ),
        )),
        (_, Some(store), Some(range)) => match &blocks.requirement {
            Some(requirement) if requirement.local_name == store.name => None,
            _ => Some(other_provider(store, range)),
        },
        (None, None, _) => Some(Diagnostic::error(
            "Unknown migration source",
            format!(
                "No configuration was provided for where to migrate the state from. Ensure that a file with the extension {SUFFIX} \
                 is present and has a \"from\" block with a \"backend\" or a \"state_store\" block in it."
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::files::Memory;

    fn read(text: &str) -> Result<String, String> {
        let files = Memory::of([("m.tfmigrate.hcl", text)]);
        let (backend, problems) = migration_source(Path::new("."), &files);
        match backend {
            Some(backend) => Ok(backend.kind.to_string()),
            None => Err(problems.into_vec().remove(0).summary),
        }
    }

    #[test]
    fn a_source_is_one_backend() {
        let from = "from {\n  backend \"local\" {\n    path = \"x\"\n  }\n}\n";
        let store = "from {\n  state_store \"s\" {\n    provider \"p\" {}\n  }\n}\n";
        let provider = "state_store_provider {\n  p = {\n    source = \"a/p\"\n  }\n}\n";
        assert_eq!(read(from), Ok("local".into()));
        assert_eq!(read(&format!("{store}{provider}")), Ok("s".into()));
        let cases = [
            (String::new(), "Unknown migration source"),
            (from.repeat(2), "Duplicate \"from\" configuration block"),
            (format!("{from}{provider}"), "Invalid combination of \"backend\" and \"state_store_provider\""),
            (store.to_owned(), "Missing \"state_store_provider\" block for state store migration"),
            (
                format!("{store}{}", provider.replace("  p =", "  q =")),
                "Unknown provider in \"state_store_provider\" block",
            ),
            (
                format!("{store}state_store_provider {{}}\n"),
                "Unexpected number of providers described in \"state_store_provider\" configuration block.",
            ),
            ("from {\n  backend \"a\" {}\n  backend \"b\" {}\n}\n".into(), "Several sources in \"from\" block"),
            ("x = 1\n".into(), "Unsupported argument"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(&text), Err(expected.to_owned()), "{text}");
        }
    }
}
