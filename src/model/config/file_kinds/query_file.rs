//! `*.tfquery.hcl` and `*.tfquery.json`: `list` blocks, and variables, local values and providers for them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::files::ConfigFiles;
use base::source::Range;
use lang::syntax::ast::Block;
use lang::syntax::body::{Body, BodySchema};
use rustc_hash::FxHashMap;
use terrane_protocol::schema::ResourceMode;
use terrane_value::identifier::is_identifier;

use crate::addr;
use crate::config::blocks::resource::{ListArguments, Resource};
use crate::config::blocks::{labels, locals, variable};
use crate::config::files::file_set;
use crate::config::files::module_file::ModuleFile;
use crate::config::providers::{provider_block, provider_ref};
use crate::model_errors::COUNT_AND_FOR_EACH;
use crate::schema::decode::duplicate_block;

const ENDINGS: [&str; 2] = [".tfquery.hcl", ".tfquery.json"];

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new()
        .block("list", &["type", "name"])
        .block("provider", &["name"])
        .block("locals", &[])
        .block("variable", &["name"])
});

static ARGUMENTS: LazyLock<BodySchema> = LazyLock::new(arguments);
static LIST: LazyLock<BodySchema> = LazyLock::new(|| arguments().block("config", &[]));

fn arguments() -> BodySchema {
    BodySchema::new()
        .attribute("count")
        .attribute("for_each")
        .attribute("provider")
        .attribute("include_resource")
        .attribute("limit")
}

/// True if a folder has query files.
pub fn has_query_files(dir: &Path, files: &dyn ConfigFiles) -> bool {
    !find(dir, files).is_empty()
}

/// The query files of a folder, by name.
fn find(dir: &Path, files: &dyn ConfigFiles) -> Vec<PathBuf> {
    let mut names: Vec<String> =
        files.list(dir).unwrap_or_default().into_iter().filter(|entry| !entry.is_dir).map(|entry| entry.name).collect();
    names.retain(|name| !file_set::is_ignored(name) && ENDINGS.iter().any(|ending| name.ends_with(ending)));
    names.sort();
    let path = |name: String| if dir == Path::new(".") { PathBuf::from(name) } else { dir.join(name) };
    names.into_iter().map(path).collect()
}

/// What the query files of a folder declare.
pub fn read(dir: &Path, files: &dyn ConfigFiles, diags: &mut Diagnostics) -> Vec<ModuleFile> {
    let mut read = Vec::new();
    for path in find(dir, files) {
        let Some(body) = file_set::load(&path, files, diags) else { continue };
        read.push(decode(&body, diags));
    }
    read
}

fn decode(body: &Body, diags: &mut Diagnostics) -> ModuleFile {
    let mut file = ModuleFile::default();
    let mut lists: FxHashMap<(Arc<str>, Arc<str>), Range> = FxHashMap::default();
    for block in &diags.take(body.content(&SCHEMA)).blocks {
        match block.kind.as_str() {
            "provider" => file.providers.extend(provider_block::decode(block, diags)),
            "locals" => file.locals.extend(locals::decode(block, diags)),
            "variable" => file.variables.push(variable::decode(block, diags)),
            // The schema lets nothing else through.
            _ => {
                let (list, problems) = decode_list(block);
                if !problems.has_errors() {
                    file.resources.push(list);
                }
                diags.extend(problems);
                let name = (block.label(0).clone(), block.label(1).clone());
                let first = lists.entry(name).or_insert_with(|| block.header_range());
                if *first != block.header_range() {
                    diags.push(duplicate(block, first));
                }
            }
        }
    }
    file
}

fn duplicate(block: &Block, first: &Range) -> Diagnostic {
    let (kind, name) = (block.label(0), block.label(1));
    let detail = format!("This query file already has a list block named {kind}.{name} defined at {first}.");
    Diagnostic::error("Duplicate \"list\" block names", detail).at(block.header_range())
}

fn decode_list(block: &Block) -> (Resource, Diagnostics) {
    let mut diags = Diagnostics::new();
    let (content, rest, _) = block.body.partial_content(&ARGUMENTS);
    let mut error = |summary: &str, detail: &str| {
        diags.push(Diagnostic::error(summary, detail).at(block.header_range()));
    };
    if content.attribute("provider").is_none() {
        let detail = "You must specify a provider attribute when defining a list block.";
        error("Missing \"provider\" attribute", detail);
    }
    if !is_identifier(block.label(1)) {
        error("Invalid list block name", labels::BAD_IDENTIFIER);
    }
    let provider_ref =
        content.attribute("provider").and_then(|a| provider_ref::decode(&a.expr, "provider", &mut diags));
    let expression = |name: &str| content.attribute(name).map(|attribute| attribute.expr.clone());
    let (count, for_each) = (expression("count"), content.attribute("for_each"));
    if let (Some(_), Some(for_each)) = (&count, for_each) {
        let detail = "The \"count\" and \"for_each\" meta-arguments are mutually-exclusive.";
        let error = Diagnostic::error(COUNT_AND_FOR_EACH, detail);
        diags.push(error.at(for_each.name_range()));
    }
    let whole = diags.take(block.body.content(&LIST));
    for second in whole.blocks_of("config").skip(1) {
        let detail = "A list block must contain only one nested \"config\" block.";
        diags.push(Diagnostic::error(duplicate_block("config"), detail).at(second.header_range()));
    }
    let addr = addr::Resource { mode: ResourceMode::List, kind: block.label(0).clone(), name: block.label(1).clone() };
    let list = Resource {
        provider: addr::Provider::default_for(addr.implied_provider()),
        addr,
        count,
        for_each: for_each.map(|attribute| attribute.expr.clone()),
        provider_ref,
        depends_on: Vec::new(),
        lifecycle: Default::default(),
        provisioners: Vec::new(),
        connection: None,
        list: ListArguments { limit: expression("limit"), include_resource: expression("include_resource") },
        body: rest,
        range: block.header_range(),
        type_range: block.label_range(0),
    };
    (list, diags)
}

#[cfg(test)]
mod tests {
    use base::files::Memory;

    use super::*;

    fn read_one(name: &str, text: &str) -> (Vec<ModuleFile>, Vec<String>) {
        let files = Memory::of([(name, text), ("other.tf", "list \"a\" \"b\" {}")]);
        let mut diags = Diagnostics::new();
        let read = read(Path::new("."), &files, &mut diags);
        (read, diags.iter().map(|d| d.summary.clone()).collect())
    }

    #[test]
    fn query_files_are_read_in_both_syntaxes() {
        let native = "list \"a_b\" \"c\" {\n provider = a\n limit = 2\n config {\n x = 1\n }\n}\nlocals {\n l = 1\n}\n\
                      variable \"v\" {}\nprovider \"a\" {}\n";
        let json = r#"{"list": {"a_b": {"c": {"provider": "a", "limit": 2, "config": {"x": 1}}}}, "locals": {"l": 1},
            "variable": {"v": {}}, "provider": {"a": {}}}"#;
        for (name, text) in [("q.tfquery.hcl", native), ("q.tfquery.json", json)] {
            let (read, found) = read_one(name, text);
            assert_eq!(found, Vec::<String>::new(), "{name}");
            let file = &read[0];
            assert_eq!((file.locals.len(), file.variables.len(), file.providers.len()), (1, 1, 1), "{name}");
            let list = &file.resources[0];
            assert_eq!(list.addr.to_string(), "list.a_b.c");
            assert_eq!(list.local_provider_config().to_string(), "a");
            assert!(list.list.limit.is_some() && list.list.include_resource.is_none(), "{name}");
        }
        assert!(read_one("q.tfquery", native).0.is_empty());
    }

    #[test]
    fn errors_of_list_blocks() {
        let list = |body: &str| format!("list \"a_b\" \"c\" {{\n provider = a\n {body}\n}}\n");
        let cases = [
            (list("").replace(" provider = a\n", ""), vec!["Missing \"provider\" attribute"]),
            (list("").replace("\"c\"", "\"1c\""), vec!["Invalid list block name"]),
            (list("count = 1\n for_each = []"), vec!["Invalid combination of \"count\" and \"for_each\""]),
            (list("depends_on = []"), vec!["Unsupported argument"]),
            (list("lifecycle {}"), vec!["Unsupported block type"]),
            (list("config {}\n config {}"), vec!["Duplicate config block"]),
            (list("").repeat(2), vec!["Duplicate \"list\" block names"]),
            (list("").replace(" \"c\"", ""), vec!["Missing name for list"]),
            ("resource \"a\" \"b\" {}\n".into(), vec!["Unsupported block type"]),
            (list("").replace("= a", "= a.b.c"), vec!["Invalid provider configuration reference"]),
        ];
        for (text, expected) in cases {
            assert_eq!(read_one("q.tfquery.hcl", &text).1, expected, "{text}");
        }
    }
}
