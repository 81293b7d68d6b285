//! Where an OCI mirror keeps a provider: `example.com/mirror/${namespace}/${type}`, a repository for each.

use std::fmt;

use base::diag::{Diagnostic, Diagnostics};

use super::cli_file::LineColumn;
use super::oci_repository::{Repository, is_repository_name};
use super::pattern::ProviderPattern;
use crate::addr::Provider;

/// Texts and parts of a provider's address that make the address of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryTemplate {
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Hostname,
    Namespace,
    Type,
}

/// Why a text is no template, without a full stop. Texts as OpenTofu has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// The sign of a symbol behind a dollar.
    Dollar(String),
    Unterminated,
    UnknownSymbol(String),
    /// It makes no address of a repository.
    Address,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TemplateError::Dollar(open) => {
                write!(f, "template must not contain \"${open}\", which no repository's address has")
            }
            TemplateError::Unterminated => f.write_str("template has an interpolation without an end"),
            TemplateError::UnknownSymbol(name) => write!(
                f,
                "the symbol {name:?} is not available for an OCI mirror repository address template. Only \"hostname\", \
                 \"namespace\", and \"type\" are available"
            ),
            TemplateError::Address => f.write_str(
                "template must generate a valid OCI repository address, including a registry hostname followed by a slash and then \
                 a repository name",
            ),
        }
    }
}

impl std::error::Error for TemplateError {}

impl RepositoryTemplate {
    /// Every part of the address must be in the template that the patterns of `include` (None: they are wrong, which is said
    /// elsewhere) do not make certain: otherwise providers would share a repository. Texts as OpenTofu has them.
    pub fn parse(
        text: &str,
        include: Option<&[ProviderPattern]>,
        at: LineColumn,
    ) -> Result<RepositoryTemplate, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut invalid = |why: &str| {
            let detail = format!("Invalid oci_mirror block at {at}: {why}.");
            problems.push(Diagnostic::error("Invalid oci_mirror repository template", detail));
        };
        let mut template = RepositoryTemplate { parts: Vec::new() };
        match read_parts(text, "${") {
            Ok(parts) => template.parts = parts,
            Err(why) => invalid(&why.to_string()),
        }
        if let Some(include) = include.filter(|_| !template.parts.is_empty()) {
            let certain = |part: fn(&ProviderPattern) -> &String| {
                let mut found: Vec<&String> = include.iter().map(part).filter(|part| *part != "*").collect();
                found.sort();
                found.dedup();
                found.len() == 1
            };
            for (part, certain, name, what) in [
                (TemplatePart::Hostname, certain(|p| &p.host), "hostname", "registry hostname"),
                (TemplatePart::Namespace, certain(|p| &p.namespace), "namespace", "provider namespace"),
                (TemplatePart::Type, certain(|p| &p.kind), "type", "provider"),
            ] {
                if !certain && !template.parts.contains(&part) {
                    invalid(&format!(
                        "template must refer to the {name:?} symbol unless the \"include\" argument selects exactly one {what}"
                    ));
                }
            }
            if template.repository(&Provider::new("example.com", "example-namespace", "example-type")).is_none() {
                invalid(&TemplateError::Address.to_string());
            }
        }
        if problems.is_empty() { Ok(template) } else { Err(problems) }
    }

    /// The form of command lines, `{namespace}` in place of `${namespace}`: a simple URI template of RFC 6570.
    pub fn parse_uri(text: &str) -> Result<RepositoryTemplate, TemplateError> {
        let template = RepositoryTemplate { parts: read_parts(text, "{")? };
        match template.repository(&Provider::new("example.com", "example-namespace", "example-type")) {
            Some(_) => Ok(template),
            None => Err(TemplateError::Address),
        }
    }

    /// None if what comes out is no address of a repository.
    pub fn repository(&self, provider: &Provider) -> Option<Repository> {
        let text: String = self
            .parts
            .iter()
            .map(|part| match part {
                TemplatePart::Text(text) => text.as_str(),
                TemplatePart::Hostname => &provider.host,
                TemplatePart::Namespace => &provider.namespace,
                TemplatePart::Type => &provider.kind,
            })
            .collect();
        let (registry, name) = text.split_once('/')?;
        let host = registry.split(':').next().unwrap_or(registry);
        let host_is_fine = !host.is_empty()
            && registry.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':'))
            && (registry.contains(['.', ':']) || registry == "localhost");
        (host_is_fine && is_repository_name(name))
            .then(|| Repository { registry: registry.to_owned(), name: name.to_owned() })
    }
}

/// `open` begins a symbol.
fn read_parts(text: &str, open: &str) -> Result<Vec<TemplatePart>, TemplateError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(open) {
        if rest[..at].ends_with('$') {
            return Err(TemplateError::Dollar(open.to_owned()));
        }
        parts.push(TemplatePart::Text(rest[..at].to_owned()));
        let after = &rest[at + open.len()..];
        let Some(end) = after.find('}') else { return Err(TemplateError::Unterminated) };
        parts.push(match after[..end].trim() {
            "hostname" => TemplatePart::Hostname,
            "namespace" => TemplatePart::Namespace,
            "type" => TemplatePart::Type,
            other => return Err(TemplateError::UnknownSymbol(other.to_owned())),
        });
        rest = &after[end + 1..];
    }
    parts.push(TemplatePart::Text(rest.to_owned()));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, include: &[&str]) -> Result<RepositoryTemplate, Vec<String>> {
        let include: Vec<ProviderPattern> = include.iter().map(|text| ProviderPattern::parse(text).unwrap()).collect();
        let parsed = RepositoryTemplate::parse(text, Some(&include), LineColumn::default());
        parsed.map_err(|problems| problems.into_iter().map(|d| d.detail).collect())
    }

    #[test]
    fn providers_have_repositories() {
        let provider = Provider::default_for("null");
        for (text, include, expected) in [
            ("example.com/m/${namespace}/${type}", &["registry.terraform.io/*/*"][..], Some("m/hashicorp/null")),
            ("example.com:5000/${ hostname }/${namespace}-${type}", &[], Some("registry.terraform.io/hashicorp-null")),
            ("example.com/one", &["hashicorp/null"], Some("one")),
        ] {
            let found = parse(text, include).unwrap().repository(&provider);
            assert_eq!(found.map(|r| r.name).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn command_lines_have_uri_templates() {
        let provider = Provider::default_for("null");
        let found =
            RepositoryTemplate::parse_uri("example.com:5000/m/{namespace}/{type}").unwrap().repository(&provider);
        assert_eq!(found.map(|r| r.to_string()).as_deref(), Some("example.com:5000/m/hashicorp/null"));
        for (bad, expected) in [
            ("example.com/{foo}", "the symbol \"foo\" is not available"),
            ("example.com/${type}", "must not contain \"${\""),
            ("example.com/{type", "without an end"),
            ("{type}", "must generate a valid OCI repository address"),
        ] {
            let error = RepositoryTemplate::parse_uri(bad).unwrap_err().to_string();
            assert!(error.contains(expected), "{bad}: {error}");
        }
    }

    #[test]
    fn ambiguous_and_broken_templates_are_errors() {
        let ambiguous = |name: &str, what: &str| {
            format!(
                "Invalid oci_mirror block at -: template must refer to the {name:?} symbol unless the \"include\" argument selects \
                 exactly one {what}."
            )
        };
        assert_eq!(
            parse("example.com/x", &["a.example/*/*", "b.example/c/*"]),
            Err(vec![ambiguous("hostname", "registry hostname"), ambiguous("type", "provider")])
        );
        for bad in
            ["${foo}", "x/${type", "example.com/A${hostname}${namespace}${type}", "${hostname}${namespace}${type}"]
        {
            assert_eq!(parse(bad, &[]).map_err(|found| found.len()), Err(1), "{bad}");
        }
    }
}
