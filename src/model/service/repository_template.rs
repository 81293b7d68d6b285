//! Where an OCI mirror keeps a provider: `example.com/mirror/${namespace}/${type}`, a repository for each.

use base::diag::{Diagnostic, Diagnostics};

use super::cli_file::LineColumn;
use super::oci_repository::{Repository, is_repository_name};
use super::pattern::Pattern;
use crate::addr::Provider;

const INVALID_ADDRESS: &str = "template must generate a valid OCI repository address, including a registry hostname followed by a \
                               slash and then a repository name";

/// Texts and parts of a provider's address that make the address of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryTemplate {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Hostname,
    Namespace,
    Type,
}

impl RepositoryTemplate {
    /// Every part of the address must be in the template that the patterns of `include` (None: they are wrong, which is said
    /// elsewhere) do not make certain: otherwise providers would share a repository. Texts as OpenTofu has them.
    pub fn parse(text: &str, include: Option<&[Pattern]>, at: LineColumn) -> Result<RepositoryTemplate, Diagnostics> {
        let mut problems = Diagnostics::new();
        let mut invalid = |why: &str| {
            let detail = format!("Invalid oci_mirror block at {at}: {why}.");
            problems.push(Diagnostic::error("Invalid oci_mirror repository template", detail));
        };
        let mut template = RepositoryTemplate { pieces: Vec::new() };
        match pieces(text, "${") {
            Ok(pieces) => template.pieces = pieces,
            Err(why) => invalid(&why),
        }
        if let Some(include) = include.filter(|_| !template.pieces.is_empty()) {
            let certain = |part: fn(&Pattern) -> &String| {
                let mut found: Vec<&String> = include.iter().map(part).filter(|part| *part != "*").collect();
                found.sort();
                found.dedup();
                found.len() == 1
            };
            for (piece, certain, name, what) in [
                (Piece::Hostname, certain(|p| &p.host), "hostname", "registry hostname"),
                (Piece::Namespace, certain(|p| &p.namespace), "namespace", "provider namespace"),
                (Piece::Type, certain(|p| &p.kind), "type", "provider"),
            ] {
                if !certain && !template.pieces.contains(&piece) {
                    invalid(&format!(
                        "template must refer to the {name:?} symbol unless the \"include\" argument selects exactly one {what}"
                    ));
                }
            }
            if template.repository(&Provider::new("example.com", "example-namespace", "example-type")).is_none() {
                invalid(INVALID_ADDRESS);
            }
        }
        if problems.is_empty() { Ok(template) } else { Err(problems) }
    }

    /// The form of command lines, `{namespace}` in place of `${namespace}`: a simple URI template of RFC 6570. The error, for people,
    /// says what is invalid.
    pub fn parse_uri(text: &str) -> Result<RepositoryTemplate, String> {
        let template = RepositoryTemplate { pieces: pieces(text, "{")? };
        match template.repository(&Provider::new("example.com", "example-namespace", "example-type")) {
            Some(_) => Ok(template),
            None => Err(INVALID_ADDRESS.to_owned()),
        }
    }

    /// None if what comes out is no address of a repository.
    pub fn repository(&self, provider: &Provider) -> Option<Repository> {
        let text: String = self
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Hostname => &provider.host,
                Piece::Namespace => &provider.namespace,
                Piece::Type => &provider.kind,
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
fn pieces(text: &str, open: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(open) {
        if rest[..at].ends_with('$') {
            return Err(format!("template must not contain \"${open}\", which no repository's address has"));
        }
        pieces.push(Piece::Text(rest[..at].to_owned()));
        let after = &rest[at + open.len()..];
        let Some(end) = after.find('}') else { return Err("template has an interpolation without an end".to_owned()) };
        pieces.push(match after[..end].trim() {
            "hostname" => Piece::Hostname,
            "namespace" => Piece::Namespace,
            "type" => Piece::Type,
            other => {
                return Err(format!(
                    "the symbol {other:?} is not available for an OCI mirror repository address template. Only \"hostname\", \
                     \"namespace\", and \"type\" are available"
                ));
            }
        });
        rest = &after[end + 1..];
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, include: &[&str]) -> Result<RepositoryTemplate, Vec<String>> {
        let include: Vec<Pattern> = include.iter().map(|text| Pattern::parse(text).unwrap()).collect();
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
            let error = RepositoryTemplate::parse_uri(bad).unwrap_err();
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
