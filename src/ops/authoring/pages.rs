//! All pages of a provider: which there are, from which templates and examples.
//!
//! Reads the project through [`Files`], writes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use base::files::Files;
use render::docs::{Described, Examples, Page, PageKind, Subject, Template, execute, is_deprecated, render};

/// The folders of a project, relative to it.
#[derive(Clone, Debug)]
pub struct Folders {
    pub examples: PathBuf,
    pub templates: PathBuf,
}

/// What pages call the provider.
#[derive(Clone, Debug)]
pub struct Names {
    /// `terraform-provider-todo`
    pub provider: String,
    /// In titles.
    pub rendered: String,
}

/// By path below the folder of the documentation, with `/`.
pub type Pages = BTreeMap<String, Vec<u8>>;

const BAD_TEMPLATE: &str = "Invalid template";
const END: &str = ".md.tmpl";
/// Names of pages that are written by hand, in place of a template; old ones are in the folders `r` and `d`.
const STATIC_ENDS: [&str; 4] = [".md", ".markdown", ".html.markdown", ".html.md"];

pub struct Generator<'a> {
    pub described: &'a Described,
    pub names: &'a Names,
    pub folders: &'a Folders,
    /// No pages for deprecated types.
    pub skip_deprecated: bool,
    pub files: &'a dyn Files,
}

impl Generator<'_> {
    /// All pages, and what is wrong: with errors, pages are missing.
    pub fn pages(&self) -> (Pages, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        let mut pages = Pages::new();
        let templates = match self.templates() {
            Ok(templates) => templates,
            Err(error) => return (pages, Diagnostics::from(error)),
        };
        for (kind, name, subject) in self.subjects() {
            match self.page(kind, &name, subject, &templates) {
                Ok(Some((path, text))) => {
                    pages.insert(path, text.into_bytes());
                }
                Ok(None) => {}
                Err(error) => diagnostics.push(error),
            }
        }
        for (path, text) in &templates {
            match self.other_page(path, text, &pages) {
                Ok(None) => {}
                Ok(Some((page, content))) => {
                    pages.insert(page, content);
                }
                Err(error) => diagnostics.push(error),
            }
        }
        (pages, diagnostics)
    }

    fn short_name(&self) -> &str {
        self.names.provider.strip_prefix(super::PROGRAM_PREFIX).unwrap_or(&self.names.provider)
    }

    /// The subjects of all pages, with the provider first.
    fn subjects(&self) -> Vec<(PageKind, String, Subject<'_>)> {
        let mut all = vec![(PageKind::Provider, self.short_name().to_owned(), self.described.provider())];
        for kind in PageKind::OF_TYPES {
            let subjects = self.described.subjects(kind).into_iter();
            let wanted = subjects.filter(|(_, subject)| !self.skip_deprecated || !is_deprecated(subject));
            all.extend(wanted.map(|(name, subject)| (kind, name.to_string(), subject)));
        }
        all
    }

    /// The name of a page without its end: `resources/note`. Types that have the name of the provider keep it.
    fn stem(&self, kind: PageKind, name: &str) -> String {
        let prefix = format!("{}_", self.short_name());
        match kind {
            PageKind::Provider => "index".to_owned(),
            PageKind::Function => format!("{}/{name}", kind.folder()),
            _ => format!("{}/{}", kind.folder(), name.strip_prefix(&prefix).unwrap_or(name)),
        }
    }

    /// Makes the page of a subject. None: the project has it as a file.
    fn page(
        &self,
        kind: PageKind,
        name: &str,
        subject: Subject<'_>,
        templates: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Option<(String, String)>, Diagnostic> {
        let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        if !is_plain {
            let detail =
                format!("{name:?} cannot be the name of a page: names have letters, digits, \"_\" and \"-\" only.");
            return Err(Diagnostic::error("Invalid name in a schema", detail));
        }
        let stem = self.stem(kind, name);
        let own = format!("{stem}{END}");
        let shared = format!("{}{END}", kind.folder());
        let short = match kind {
            PageKind::Resource => stem.replacen("resources/", "r/", 1),
            PageKind::DataSource => stem.replacen("data-sources/", "d/", 1),
            _ => stem.clone(),
        };
        let exists = |stem: &str| STATIC_ENDS.iter().any(|end| templates.contains_key(&format!("{stem}{end}")));
        let is_static = exists(&stem) || exists(&short);
        let chosen = match templates.get_key_value(&own) {
            None if is_static => return Ok(None),
            None => templates.get_key_value(&shared),
            own => own,
        };
        let template = chosen.map(|(path, text)| self.parse(path, text)).transpose()?;
        let page = Page {
            kind,
            name,
            subject,
            examples: self.examples(kind, name),
            provider: &self.names.provider,
            rendered_provider: &self.names.rendered,
        };
        let text = render(&page, template.as_ref(), &|path| self.read(path)).map_err(|why| match chosen {
            Some((path, _)) => self.bad_template(path, &why),
            None => Diagnostic::error("Failed to make a page", format!("{stem}.md: {why}")),
        })?;
        Ok(Some((format!("{stem}.md"), text)))
    }

    /// Makes a page of a template, or of another file in its folder, that belongs to no type.
    fn other_page(&self, path: &str, content: &[u8], pages: &Pages) -> Result<Option<(String, Vec<u8>)>, Diagnostic> {
        let Some(page) = path.strip_suffix(".tmpl") else { return Ok(Some((path.to_owned(), content.to_owned()))) };
        let is_shared = PageKind::OF_TYPES.iter().any(|kind| path == format!("{}{END}", kind.folder()));
        if is_shared || pages.contains_key(page) {
            return Ok(None);
        }
        let folder = path.split_once('/').map_or("", |(folder, _)| folder);
        if PageKind::OF_TYPES.iter().any(|kind| kind.folder() == folder) {
            let file = self.folders.templates.join(path);
            let detail = format!(
                "The template {} belongs to no type or function of the provider, so that no page was made of it. Rename it, or \
                 delete it.",
                file.display()
            );
            return Err(Diagnostic::warning("Template without a type", detail));
        }
        let template = self.parse(path, content)?;
        let text = execute(&template, BTreeMap::new(), &|path| self.read(path));
        let text = text.map_err(|error| self.bad_template(path, &error.to_string()))?;
        Ok(Some((page.to_owned(), text.into_bytes())))
    }

    fn parse(&self, path: &str, text: &[u8]) -> Result<Template, Diagnostic> {
        let text = std::str::from_utf8(text).map_err(|e| self.bad_template(path, &format!("not UTF-8: {e}")))?;
        Template::parse(text).map_err(|error| self.bad_template(path, &error.to_string()))
    }

    fn bad_template(&self, path: &str, why: &str) -> Diagnostic {
        let file = self.folders.templates.join(path);
        let detail = format!(
            "{}, {why}\n\nTemplates may use fields, functions, if, range and with; no variables and no named templates.",
            file.display()
        );
        Diagnostic::error(BAD_TEMPLATE, detail)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        self.files.read_to_string(Path::new(path)).map_err(|e| e.to_string())
    }

    /// The examples of a type that the project has.
    fn examples(&self, kind: PageKind, name: &str) -> Examples {
        let (begin, end) = kind.example();
        let folder = match kind {
            PageKind::Provider => self.folders.examples.join("provider"),
            _ => self.folders.examples.join(kind.folder()).join(name),
        };
        let path = |file: &str| folder.join(file).to_string_lossy().replace('\\', "/");
        let mut names: Vec<String> = self.files.list(&folder).unwrap_or_default().into_iter().map(|e| e.name).collect();
        names.sort();
        let existing = |file: &str| names.iter().any(|name| name == file).then(|| path(file));
        let fits =
            |name: &&String| name.starts_with(begin) && name.ends_with(end) && name.len() >= begin.len() + end.len();
        let of_resource = |file: &str| existing(file).filter(|_| kind == PageKind::Resource);
        Examples {
            main: path(&format!("{begin}{end}")),
            files: names.iter().filter(fits).map(|name| path(name)).collect(),
            import: of_resource("import.sh"),
            import_by_id: of_resource("import-by-string-id.tf"),
            import_by_identity: of_resource("import-by-identity.tf"),
        }
    }

    /// All files of the folder of templates, by path below it.
    fn templates(&self) -> Result<BTreeMap<String, Vec<u8>>, Diagnostic> {
        let mut found = BTreeMap::new();
        let mut folders = vec![String::new()];
        let root = &self.folders.templates;
        let failed = |e: std::io::Error| Diagnostic::error("Failed to read the templates", format!("{e}."));
        while let Some(folder) = folders.pop() {
            if folder.is_empty() && !self.files.is_dir(root) {
                break;
            }
            for entry in self.files.list(&root.join(&folder)).map_err(failed)? {
                let path = if folder.is_empty() { entry.name } else { format!("{folder}/{}", entry.name) };
                let on_disk = root.join(&path);
                if self.files.is_dir(&on_disk) {
                    folders.push(path);
                } else {
                    let content = self.files.read(&on_disk).map_err(failed)?;
                    found.insert(path, content);
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use base::files::Memory;
    use model::schema::document::read_whole_provider;
    use serde_json::json;

    use super::*;

    fn made(files: &[(&str, &str)]) -> (Pages, Vec<String>) {
        let document = json!({
            "provider": {"block": {}},
            "resource_schemas": {"x_a": {"block": {"deprecated": true}}, "x_b": {"block": {}}, "x": {"block": {}}},
            "functions": {"f": {"return_type": "bool"}},
        });
        let described = Described { schemas: read_whole_provider(&document).unwrap(), ..Described::default() };
        let names = Names { provider: "terraform-provider-x".to_owned(), rendered: "terraform-provider-x".to_owned() };
        let folders = Folders { examples: "examples".into(), templates: "templates".into() };
        let files = Memory::of(files.iter().copied());
        let generator = Generator {
            described: &described,
            names: &names,
            folders: &folders,
            skip_deprecated: files.exists(Path::new("skip")),
            files: &files,
        };
        let (pages, diagnostics) = generator.pages();
        (pages, diagnostics.into_vec().into_iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect())
    }

    fn text<'a>(pages: &'a Pages, path: &str) -> &'a str {
        pages.get(path).map_or("none", |page| std::str::from_utf8(page).unwrap())
    }

    #[test]
    fn each_type_has_a_page() {
        let (pages, problems) = made(&[
            ("examples/resources/x_a/resource.tf", "1"),
            ("examples/resources/x_a/resource-other.tf", "2"),
            ("examples/resources/x_a/data.tf", "3"),
            ("examples/provider/provider.tf", "4"),
        ]);
        assert_eq!(problems, [""; 0]);
        let names: Vec<&str> = pages.keys().map(String::as_str).collect();
        assert_eq!(names, ["functions/f.md", "index.md", "resources/a.md", "resources/b.md", "resources/x.md"]);
        assert!(text(&pages, "index.md").contains("## Example Usage\n\n```terraform\n4\n```"));
        let page = text(&pages, "resources/a.md");
        assert!(page.contains("```terraform\n2\n```\n\n```terraform\n1\n```\n\n<!--") && !page.contains('3'), "{page}");
        let (pages, _) = made(&[("skip", "")]);
        assert!(!pages.contains_key("resources/a.md") && pages.len() == 4);
    }

    #[test]
    fn templates_and_files_replace_pages() {
        let (pages, problems) = made(&[
            ("templates/resources/a.md.tmpl", "own {{ .Name }}"),
            ("templates/resources.md.tmpl", "shared {{ .Name }}"),
            ("templates/resources/x.html.md", "by hand"),
            ("templates/guides/deep/start.md.tmpl", "{{ upper \"guide\" }}"),
            ("templates/image.png", "\u{1}"),
        ]);
        let (old, _) = made(&[("templates/r/a.html.markdown", "old")]);
        assert!(!old.contains_key("resources/a.md") && old.contains_key("resources/b.md"));
        assert_eq!(problems, [""; 0]);
        assert_eq!(text(&pages, "resources/a.md"), "own x_a");
        assert_eq!(text(&pages, "resources/b.md"), "shared x_b");
        assert_eq!((text(&pages, "resources/x.md"), text(&pages, "resources/x.html.md")), ("none", "by hand"));
        assert_eq!((text(&pages, "guides/deep/start.md"), text(&pages, "image.png")), ("GUIDE", "\u{1}"));
        assert!(!pages.contains_key("resources.md") && pages.contains_key("functions/f.md"));
    }

    #[test]
    fn errors_name_the_template() {
        let (pages, problems) = made(&[
            ("templates/resources/a.md.tmpl", "\n{{ .Nope }}"),
            ("templates/resources/old.md.tmpl", "x"),
            ("templates/guides/g.md.tmpl", "{{ .Name }}"),
            ("templates/index.md.tmpl", "{{ tffile \"examples/missing.tf\" }}"),
        ]);
        let begins = [
            "Invalid template: templates/index.md.tmpl, line 1: ",
            "Invalid template: templates/resources/a.md.tmpl, line 2: there is no field .Nope",
            "Invalid template: templates/guides/g.md.tmpl, line 1: there is no field .Name; the fields of this page are: none",
            "Template without a type: The template templates/resources/old.md.tmpl",
        ];
        for begin in begins {
            assert!(problems.iter().any(|problem| problem.starts_with(begin)), "{begin}: {problems:?}");
        }
        assert!(pages.contains_key("resources/b.md"));
    }
}
