//! `provider docs`: the pages of a provider in the project's folder `docs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::files::{Disk, Files};
use model::schema::document::read_whole_provider;
use render::docs::{Described, PageKind, marker};
use serde_json::Value as Json;
use terrane_protocol::provider::{IdentityAttribute, IdentitySchema, IdentityUse};
use terrane_value::Type;

use super::pages::{Folders, Generator, Names, Pages};
use super::project::CargoProject;
use super::{PROGRAM_PREFIX, TellBuild, failure, program};
use crate::setup::Setup;

/// The largest page that the public registries show, in bytes.
const PAGE_LIMIT: usize = 500_000;

const BAD_SCHEMA: &str = "Failed to read the schema of the provider";

/// Where the schema of the provider comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SchemaSource {
    /// The cargo project in the working directory, which is built.
    #[default]
    Project,
    /// A program.
    Program(PathBuf),
    /// A file with the output of `providers schema -json`.
    Document(PathBuf),
}

#[derive(Clone, Debug, Default)]
pub struct DocsRequest {
    pub source: SchemaSource,
    /// `todo` or `terraform-provider-todo`; by default that of the program or of the project.
    pub name: Option<String>,
    /// The name of the provider in titles.
    pub rendered_name: Option<String>,
    pub examples: PathBuf,
    pub templates: PathBuf,
    pub output: PathBuf,
    pub skip_deprecated: bool,
    /// Write nothing.
    pub check: bool,
}

/// What is different from before, as paths with the folder of the pages.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DocsOutcome {
    /// How many pages there are.
    pub pages: usize,
    pub created: Vec<PathBuf>,
    pub changed: Vec<PathBuf>,
    /// Pages of types that no longer exist.
    pub removed: Vec<PathBuf>,
}

impl DocsOutcome {
    pub fn is_current(&self) -> bool {
        self.created.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// Makes the pages, and writes those that differ from the files. The diagnostics are warnings.
pub async fn run(
    setup: &Setup,
    request: &DocsRequest,
    tell: TellBuild<'_>,
) -> Result<(DocsOutcome, Diagnostics), Diagnostics> {
    let (described, program) = describe(setup, request, tell).await?;
    let names = names(request, program)?;
    let folders = Folders { examples: request.examples.clone(), templates: request.templates.clone() };
    let generator = Generator {
        described: &described,
        names: &names,
        folders: &folders,
        skip_deprecated: request.skip_deprecated,
        files: &Disk,
    };
    let (pages, mut diagnostics) = generator.pages();
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    for (path, _) in pages.iter().filter(|(_, content)| content.len() > PAGE_LIMIT) {
        let detail = format!("{path} is longer than {PAGE_LIMIT} bytes: the public registries do not show it whole.");
        diagnostics.warning("Long page", detail);
    }
    let outcome = compare(&request.output, &pages, &Disk, &mut diagnostics);
    if !request.check {
        write(&request.output, &pages, &outcome)?;
    }
    Ok((outcome, diagnostics))
}

/// What the provider says of itself, and the name of its program if it was asked.
async fn describe(
    setup: &Setup,
    request: &DocsRequest,
    tell: TellBuild<'_>,
) -> Result<(Described, Option<String>), Diagnostics> {
    let program = match &request.source {
        SchemaSource::Document(path) => return Ok((read_document(path, request.name.as_deref())?, None)),
        SchemaSource::Program(path) => path.clone(),
        SchemaSource::Project => {
            let project = CargoProject::open(&setup.stop).await?;
            let built = project.build(false, &setup.stop, tell).await?;
            return Ok((program::describe(setup, &built).await?, Some(project.program)));
        }
    };
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.split_once("_v").map_or(&*name, |(name, _)| name).to_owned();
    Ok((program::describe(setup, &program).await?, Some(name)))
}

fn names(request: &DocsRequest, program: Option<String>) -> Result<Names, Diagnostics> {
    let given = request.name.clone().or(program.filter(|name| name.starts_with(PROGRAM_PREFIX)));
    let Some(name) = given else {
        let detail = "The name of the provider is not known. Give it with -name, for example -name=todo.";
        return Err(failure("Missing name of the provider", detail));
    };
    let provider = if name.starts_with(PROGRAM_PREFIX) { name } else { format!("{PROGRAM_PREFIX}{name}") };
    let rendered = request.rendered_name.clone().unwrap_or_else(|| provider.clone());
    Ok(Names { provider, rendered })
}

/// Reads a document with the schemas of providers; `name` selects one of several.
fn read_document(path: &Path, name: Option<&str>) -> Result<Described, Diagnostics> {
    let bad = |why: String| failure(BAD_SCHEMA, format!("{}: {why}.", path.display()));
    let bytes = Disk.read(path).map_err(|e| failure(BAD_SCHEMA, format!("{e}.")))?;
    let document: Json = serde_json::from_slice(&bytes).map_err(|e| bad(format!("not valid JSON: {e}")))?;
    let providers = document["provider_schemas"].as_object().filter(|providers| !providers.is_empty());
    let Some(providers) = providers else {
        return Err(bad(
            "there are no provider_schemas; the file must be the output of \"providers schema -json\"".to_owned()
        ));
    };
    let short = name.map(|name| name.strip_prefix(PROGRAM_PREFIX).unwrap_or(name));
    let fits = |address: &str| short.is_none_or(|short| address.rsplit('/').next() == Some(short));
    let mut found = providers.iter().filter(|(address, _)| fits(address));
    match (found.next(), found.next()) {
        (Some((_, provider)), None) => Ok(Described {
            schemas: read_whole_provider(provider).map_err(|why| bad(why.to_string()))?,
            identities: identities(&provider["resource_identity_schemas"]).map_err(bad)?,
        }),
        _ => {
            let all: Vec<&str> = providers.keys().map(String::as_str).collect();
            Err(bad(format!("it has the providers {}; give the name of one with -name", all.join(", "))))
        }
    }
}

fn identities(document: &Json) -> Result<std::collections::BTreeMap<Arc<str>, IdentitySchema>, String> {
    let attribute = |found: &Json| {
        let import = match (&found["required_for_import"], &found["optional_for_import"]) {
            (Json::Bool(true), _) => IdentityUse::Required,
            (_, Json::Bool(true)) => IdentityUse::Optional,
            _ => IdentityUse::Never,
        };
        let description = found["description"].as_str().unwrap_or_default().to_owned();
        Ok::<_, String>(IdentityAttribute {
            ty: Type::from_json(&found["type"]).map_err(|error| error.to_string())?,
            import,
            description,
        })
    };
    let mut all = std::collections::BTreeMap::new();
    for (name, found) in document.as_object().into_iter().flatten() {
        let attributes = found["attributes"].as_object().into_iter().flatten();
        let attributes = attributes.map(|(name, found)| Ok((Arc::from(name.as_str()), attribute(found)?)));
        let attributes =
            attributes.collect::<Result<_, String>>().map_err(|why| format!("identity of {name}: {why}"))?;
        let version = found["version"].as_i64().unwrap_or_default();
        all.insert(Arc::from(name.as_str()), IdentitySchema { version, attributes });
    }
    Ok(all)
}

/// Compares pages with the files. Old pages that were made by a generator are removed, others are reported.
fn compare(output: &Path, pages: &Pages, files: &dyn Files, diagnostics: &mut Diagnostics) -> DocsOutcome {
    let mut outcome = DocsOutcome { pages: pages.len(), ..DocsOutcome::default() };
    for (page, content) in pages {
        let path = output.join(page);
        match files.read(&path) {
            Ok(found) if found == *content => {}
            Ok(_) => outcome.changed.push(path),
            Err(_) => outcome.created.push(path),
        }
    }
    for kind in PageKind::OF_TYPES {
        let folder = output.join(kind.folder());
        for entry in files.list(&folder).unwrap_or_default() {
            let is_page =
                entry.name.ends_with(".md") && !pages.contains_key(&format!("{}/{}", kind.folder(), entry.name));
            let path = folder.join(&entry.name);
            if !is_page {
                continue;
            }
            if files.read_to_string(&path).is_ok_and(|text| is_generated(&text)) {
                outcome.removed.push(path);
            } else {
                let detail = format!(
                    "{} belongs to no type or function of the provider, and was not made by this command, so that it is kept. \
                     Delete it if it is outdated.",
                    path.display()
                );
                diagnostics.push(Diagnostic::warning("Page without a type", detail));
            }
        }
    }
    outcome
}

/// Whether the front matter says that a generator made the page.
fn is_generated(text: &str) -> bool {
    let front = text.strip_prefix("---").and_then(|rest| rest.split("\n---").next()).unwrap_or_default();
    let other = "# generated by https://github.com/hashicorp/terraform-plugin-docs";
    let ours = marker();
    front.lines().any(|line| line == ours || line == other)
}

fn write(output: &Path, pages: &Pages, outcome: &DocsOutcome) -> Result<(), Diagnostics> {
    let failed = |e: std::io::Error| failure("Failed to write the pages", format!("{e}."));
    for path in outcome.created.iter().chain(&outcome.changed) {
        let page = path.strip_prefix(output).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let folder = atomic::directory_of(path);
        std::fs::create_dir_all(folder).map_err(|e| failed(base::files::named(e, "create", folder)))?;
        atomic::write_content(path, pages.get(&page).map(Vec::as_slice).unwrap_or_default()).map_err(failed)?;
    }
    for path in &outcome.removed {
        std::fs::remove_file(path).map_err(|e| failed(base::files::named(e, "delete", path)))?;
    }
    Ok(())
}
