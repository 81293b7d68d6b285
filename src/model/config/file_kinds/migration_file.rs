//! `*.tfmigrate.hcl`: where states come from that are to be copied to the backend of the configuration.

use std::path::Path;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::ConfigFiles;
use base::source::Range;
use lang::syntax::ast::{Block, Expression};
use lang::syntax::body::{Body, BodySchema};

use crate::config::blocks::backend::Backend;
use crate::config::blocks::{labels, state_store};
use crate::config::constants::constant;
use crate::config::files::file_set;
use crate::config::providers::requirements::{self, ProviderRequirement, UnevaluatedRequirement};
use crate::deps::Version;

const SUFFIX: &str = ".tfmigrate.hcl";
const FROM: &str = "from";
const PROVIDER: &str = "state_store_provider";

/// What the files of a folder say together, or what one of them says.
#[derive(Default)]
struct MigrationSource {
    /// The last `from` block.
    from: Option<Range>,
    backend: Option<Backend>,
    store: Option<Backend>,
    /// The provider of the store.
    provider: Option<ProviderRequirement>,
}

/// The backend or the state store that the files of a folder name in their `from` block. None with an error.
pub fn migration_source(dir: &Path, files: &dyn ConfigFiles) -> (Option<Backend>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let mut names: Vec<String> = files.list(dir).unwrap_or_default().into_iter().map(|entry| entry.name).collect();
    names.retain(|name| name.ends_with(SUFFIX));
    names.sort();
    if names.is_empty() {
        let detail = format!(
            "No instructions were found in the configuration files. Please ensure that a file with a {SUFFIX} extension is present and \
             contains valid state migration instructions."
        );
        return (None, Diagnostic::error("No state migration instructions found", detail).into());
    }
    let mut sources = Vec::new();
    for name in names {
        let path = if dir == Path::new(".") { Path::new(&name).to_path_buf() } else { dir.join(&name) };
        let Some(body) = file_set::load(&path, files, &mut diagnostics) else { continue };
        sources.push(read_file(&body, &mut diagnostics));
    }
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let source = joined(sources, &mut diagnostics);
    if !diagnostics.has_errors() {
        diagnostics.extend(combination(&source));
    }
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let MigrationSource { backend, store, provider, .. } = source;
    let mut place = store.or(backend);
    if let Some(store) = place.as_mut().and_then(|place| place.store.as_mut()) {
        store.requirement = provider;
    }
    (place, diagnostics)
}

fn read_file(body: &Body, diagnostics: &mut Diagnostics) -> MigrationSource {
    let mut file = MigrationSource::default();
    let (content, problems) = body.content(&BodySchema::new().block(FROM, &[]).block(PROVIDER, &[]));
    diagnostics.extend(problems);
    for block in &content.blocks {
        if block.kind.as_str() == PROVIDER {
            let found = provider(block, diagnostics);
            match file.provider {
                Some(_) => diagnostics.push(duplicate(PROVIDER, block.header_range())),
                None => file.provider = found,
            }
        } else if file.backend.is_some() || file.store.is_some() {
            diagnostics.push(duplicate(FROM, block.header_range()));
        } else {
            from(block, &mut file, diagnostics);
        }
    }
    if let (Some(_), Some(_), Some(from)) = (&file.backend, &file.store, &file.from) {
        let detail = format!(
            "The \"backend\" and \"state_store\" blocks are mutually-exclusive inside a \"from\" block. Only one should be used in a \
             directory's {SUFFIX} files."
        );
        diagnostics.push(Diagnostic::error(BOTH, detail).at(from.clone()));
    }
    if file.backend.is_some() && file.provider.is_some() {
        diagnostics.push(needless_provider("update your \"from\" block to contain a \"state_store\" block instead"));
    }
    file
}

fn from(block: &Block, file: &mut MigrationSource, diagnostics: &mut Diagnostics) {
    let schema = BodySchema::new().block("backend", &["type"]).block("state_store", &["type"]);
    let (content, mut found) = block.body.content(&schema);
    let (mut backend, mut store) = (None, None);
    for inner in &content.blocks {
        let is_backend = inner.kind.as_str() == "backend";
        let decoded = match is_backend {
            true => Some(Backend {
                kind: inner.label(0).clone(),
                is_cloud_block: false,
                store: None,
                kind_range: inner.label_range(0),
                body: inner.body.clone(),
                range: inner.header_range(),
            }),
            false => state_store::decode(inner, &mut found),
        };
        let place = if is_backend { &mut backend } else { &mut store };
        match place {
            Some(_) => found.push(duplicate_place(inner)),
            None => *place = decoded,
        }
    }
    if !found.has_errors() {
        *file = MigrationSource { from: Some(block.header_range()), backend, store, provider: file.provider.take() };
    }
    diagnostics.extend(found);
}

/// The entry of the block about the provider of a state store, which names one version.
fn provider(block: &Block, diagnostics: &mut Diagnostics) -> Option<ProviderRequirement> {
    let attributes = diagnostics.take(block.body.just_attributes());
    let count = attributes.len();
    let (Some((name, attribute)), 1) = (attributes.into_iter().next(), count) else {
        let detail =
            format!("The \"{PROVIDER}\" block is only expected to include a single provider, but {count} were found.");
        let summary = format!("Unexpected number of providers described in \"{PROVIDER}\" configuration block.");
        diagnostics.push(Diagnostic::error(summary, detail).at(block.header_range()));
        return None;
    };
    if let Some(problem) = labels::check_provider_name(&name, &attribute.expr.range()) {
        diagnostics.push(problem);
        return None;
    }
    let Some(pairs) = attribute.expr.as_static_map() else {
        let detail = format!("The provider described inside {PROVIDER} must be an object");
        let summary = format!("Invalid \"{PROVIDER}\" object");
        diagnostics.push(Diagnostic::error(summary, detail).at(attribute.expr.range()));
        return None;
    };
    let (mut source, mut versions) = (None, Vec::new());
    for (key, value) in pairs {
        let key_text = key.as_keyword().map(Arc::from).or_else(|| key.as_literal_string());
        match key_text.as_deref() {
            Some("version") => versions.push((exact_version(&value, diagnostics)?, value.range())),
            Some("source") => source = Some(requirements::provider_source(&value, INVALID_SOURCE, diagnostics)?),
            _ => {
                let detail = format!("{PROVIDER} objects can only contain \"version\" and \"source\" attributes.");
                let summary = format!("Invalid {PROVIDER} object");
                diagnostics.push(Diagnostic::error(summary, detail).at(key.range()));
                return None;
            }
        }
    }
    let Some(source) = source else {
        // The reference takes it for a provider without a name.
        diagnostics.push(inconsistent("", &name));
        return None;
    };
    let range = attribute.range();
    Some(ProviderRequirement {
        local_name: name,
        source,
        versions,
        unevaluated: UnevaluatedRequirement::default(),
        aliases: Vec::new(),
        explicit: true,
        range,
    })
}

const INVALID_SOURCE: &str = "Invalid source in \"state_store_provider\" configuration block";

/// One version, in the form of a constraint.
fn exact_version(value: &Expression, diagnostics: &mut Diagnostics) -> Option<String> {
    let (constant, problems) = constant::value(value);
    let text = constant.as_str().filter(|_| !problems.has_errors()).unwrap_or_default();
    if let Ok(version) = Version::parse(text) {
        return Some(version.to_string());
    }
    let detail = format!(
        "Version must be a string, specifying a single version, but got: {text}. Please ensure the version string is valid and \
         specifies a single version in format \"1.0.0\""
    );
    let summary = format!("Invalid provider version in \"{PROVIDER}\" configuration block");
    diagnostics.push(Diagnostic::error(summary, detail).at(value.range()));
    None
}

/// What all files say together; each of them was checked.
fn joined(files: Vec<MigrationSource>, diagnostics: &mut Diagnostics) -> MigrationSource {
    let mut all = MigrationSource::default();
    for file in files {
        let from = file.from.clone();
        match (&all.provider, file.provider) {
            (Some(first), Some(second)) => {
                let detail = format!(
                    "A \"{PROVIDER}\" block was already declared at {}. Only one of these blocks can be included in a module's state \
                     migration files.",
                    first.range
                );
                let summary = format!("Duplicate \"{PROVIDER}\" configuration block");
                diagnostics.push(Diagnostic::error(summary, detail).at(second.range));
            }
            (None, Some(first)) => all.provider = Some(first),
            (_, None) => {}
        }
        for (place, found) in [(&mut all.store, file.store), (&mut all.backend, file.backend)] {
            match (&place, found, &from) {
                (Some(_), Some(_), Some(from)) => diagnostics.push(duplicate(FROM, from.clone())),
                (_, Some(found), _) => *place = Some(found),
                (_, None, _) => {}
            }
        }
    }
    all
}

fn duplicate(kind: &str, place: Range) -> Diagnostic {
    repeated(kind, &format!("Only one {kind:?} block is"), place)
}

fn duplicate_place(block: &Block) -> Diagnostic {
    let kind = block.kind.as_str();
    let what = format!("Only one {kind:?} block, nested in a \"{FROM}\" block, is");
    repeated(kind, &what, block.header_range())
}

fn repeated(kind: &str, what: &str, place: Range) -> Diagnostic {
    let detail = format!("{what} allowed in a directory's {SUFFIX} files.");
    Diagnostic::error(format!("Duplicate {kind:?} configuration block"), detail).at(place)
}

const BOTH: &str = "Invalid combination of \"backend\" and \"state_store\"";

/// The error for a provider where states come from a backend.
fn needless_provider(otherwise: &str) -> Diagnostic {
    let detail = format!(
        "The \"{PROVIDER}\" block can only be used in combination with a \"state_store\" block. Either remove the unused \"{PROVIDER}\" \
         block, or {otherwise}."
    );
    Diagnostic::error(format!("Invalid combination of \"backend\" and \"{PROVIDER}\""), detail)
}

fn inconsistent(described: &str, used: &str) -> Diagnostic {
    let detail = format!(
        "The configuration's \"{PROVIDER}\" block defines a provider called {described:?} but the \"state_store\" block in the \
         \"{FROM}\" block uses a provider called {used:?} instead. Please update the blocks so that they are in agreement."
    );
    Diagnostic::error("Inconsistent provider information for state migration", detail)
}

/// What does not go together, or is missing.
fn combination(source: &MigrationSource) -> Option<Diagnostic> {
    let store = source.store.as_ref().and_then(|place| place.store.as_ref());
    match (&source.backend, store, &source.provider) {
        (None, None, None) => Some(Diagnostic::error(
            "Empty state migration configuration",
            format!(
                "The configuration includes {SUFFIX} files, but they are empty. Please make sure they include the necessary blocks to \
                 define a state migration, or remove the files from your project."
            ),
        )),
        (Some(_), Some(_), _) => Some(Diagnostic::error(
            BOTH,
            "A configuration cannot include both \"backend\" and \"state_store\" blocks. Remove one of these blocks from inside the \
             \"from\" block. The remaining block should describe where your existing state should be migrated from.",
        )),
        (Some(_), None, Some(provider)) => {
            let problem = needless_provider("replace the \"backend\" block with a \"state_store\" block");
            Some(problem.at(provider.range.clone()))
        }
        (Some(_), None, None) => None,
        (None, Some(_), None) => Some(Diagnostic::error(
            format!("Missing \"{PROVIDER}\" block for state store migration"),
            format!(
                "The configuration includes a \"state_store\" block but is missing the required \"{PROVIDER}\" block. Add a \
                 \"{PROVIDER}\" block to specify the provider to use when migrating state out of that state store."
            ),
        )),
        (None, None, Some(_)) => Some(Diagnostic::error(
            "Missing \"state_store\" block for state store migration",
            format!(
                "The configuration includes a \"{PROVIDER}\" block but is missing the required \"state_store\" block. Add a \
                 \"state_store\" block, nested in a \"{FROM}\" block, to specify the state store to migrate from."
            ),
        )),
        (None, Some(store), Some(provider)) => {
            let described = &provider.source.kind;
            (**described != *store.name).then(|| inconsistent(described, &store.name).at(provider.range.clone()))
        }
    }
}

#[cfg(test)]
mod tests {
    use base::files::Memory;

    use super::*;

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
        let renamed = provider.replace("  p =", "  q =");
        assert_eq!(read(&format!("{store}{renamed}")), Ok("s".into()), "the source decides");
        let inconsistent = "Inconsistent provider information for state migration";
        let version = "Invalid provider version in \"state_store_provider\" configuration block";
        let cases = [
            (String::new(), "Empty state migration configuration"),
            (from.repeat(2), "Duplicate \"from\" configuration block"),
            (format!("{from}{provider}"), "Invalid combination of \"backend\" and \"state_store_provider\""),
            (store.to_owned(), "Missing \"state_store_provider\" block for state store migration"),
            (provider.to_owned(), "Missing \"state_store\" block for state store migration"),
            (format!("{store}{}", provider.replace("a/p", "a/q")), inconsistent),
            (format!("{store}{}", provider.replace("source", "version")), version),
            (format!("{store}state_store_provider {{\n  p = \"1\"\n}}\n"), "Invalid \"state_store_provider\" object"),
            (format!("{store}{}", provider.replace("source", "x")), "Invalid state_store_provider object"),
            (
                format!("{store}state_store_provider {{}}\n"),
                "Unexpected number of providers described in \"state_store_provider\" configuration block.",
            ),
            ("from {\n  backend \"a\" {}\n  backend \"b\" {}\n}\n".into(), "Duplicate \"backend\" configuration block"),
            (
                "from {\n  backend \"a\" {}\n  state_store \"s\" {\n    provider \"p\" {}\n  }\n}\n".into(),
                "Invalid combination of \"backend\" and \"state_store\"",
            ),
            ("x = 1\n".into(), "Unsupported argument"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(&text), Err(expected.to_owned()), "{text}");
        }
    }
}
