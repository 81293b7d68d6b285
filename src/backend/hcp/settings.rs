//! The settings of the `remote` backend and of the `cloud` block: schemas, and what they come to with the environment.

use base::dialect::Dialect;
use base::env;
use base::name::PROGRAM;
use base::secret::Secret;
use model::version::at_least;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting};
use terrane_value::{Path, PathStep, Type, Value};

use super::workspaces::Tag;
use crate::contract::schema::{block, optional};
use crate::contract::settings::Settings;

/// What a configuration asks of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Empty: the configuration names none, and there is no default.
    pub hostname: String,
    pub organization: String,
    pub token: Option<Secret>,
    pub mapping: Mapping,
    /// The project of new workspaces, and of those that are listed.
    pub project: Option<String>,
}

/// How the workspaces of a working directory are found among those of the organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// One workspace.
    Name(String),
    /// The names of all begin with this, which is left out.
    Prefix(String),
    Tags {
        tags: Vec<Tag>,
        with_values: bool,
    },
}

impl Mapping {
    /// The tags for people.
    pub fn shown_tags(&self) -> String {
        let Mapping::Tags { tags, with_values } = self else { return String::new() };
        let one = |(key, value): &Tag| if *with_values { format!("{key}={value}") } else { key.clone() };
        tags.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

fn nested(mut schema: Block, attributes: &[(&str, Attribute)]) -> Block {
    let workspaces = NestedBlock { block: block(attributes), nesting: Nesting::Single, min_items: 0, max_items: 0 };
    schema.blocks.insert("workspaces".into(), workspaces);
    schema
}

pub fn remote_schema() -> Block {
    let text = |doc: &str| optional(Type::String, doc);
    let required = Attribute { required: true, optional: false, ..text("The name of the organization.") };
    let schema = block(&[
        ("hostname", text("The host of the service (app.terraform.io).")),
        ("organization", required),
        ("token", text("The token to authenticate with, in place of that of the CLI configuration file.")),
    ]);
    let names = [
        ("name", text("The one workspace to use, which is called default here.")),
        ("prefix", text("The beginning of the names of workspaces, which is left out here.")),
    ];
    nested(schema, &names)
}

pub fn cloud_schema() -> Block {
    let text = |doc: &str| optional(Type::String, doc);
    let schema = block(&[
        ("hostname", text("The host of the service (app.terraform.io).")),
        ("organization", text("The name of the organization.")),
        ("token", text("The token to authenticate with, in place of that of the CLI configuration file.")),
    ]);
    let names = [
        ("name", text("The one workspace to use.")),
        ("project", text("The project of workspaces.")),
        ("tags", optional(Type::Dynamic, "The tags of workspaces: a set of names, or an object of names and values.")),
    ];
    nested(schema, &names)
}

/// A setting that is not empty.
fn text<'a>(config: &'a Value, name: &str) -> Option<&'a str> {
    config.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A setting of the nested block.
fn of_workspaces<'a>(config: &'a Value, name: &str) -> Option<&'a Value> {
    let workspaces = config.get("workspaces").filter(|value| !value.is_null())?;
    workspaces.get(name).filter(|value| !value.is_null())
}

fn name_of<'a>(config: &'a Value, setting: &str) -> Option<&'a str> {
    of_workspaces(config, setting).and_then(Value::as_str).filter(|text| !text.is_empty())
}

pub fn at(setting: &str) -> Path {
    Path(vec![PathStep::Attr(setting.into())])
}

/// What is wrong with settings of `remote`.
pub fn check_remote(config: &Value) -> Vec<ProviderDiagnostic> {
    let mut found = Vec::new();
    if text(config, "organization").is_none() {
        let detail = "The \"organization\" attribute value must not be empty.";
        found.push(ProviderDiagnostic::error("Invalid organization value", detail).at(at("organization")));
    }
    let problem = match (name_of(config, "name"), name_of(config, "prefix")) {
        (None, None) => "Either workspace \"name\" or \"prefix\" is required.",
        (Some(_), Some(_)) => "Only one of workspace \"name\" or \"prefix\" is allowed.",
        _ => return found,
    };
    found.push(invalid_workspaces(problem.to_owned()));
    found
}

const INVALID_WORKSPACES: &str = "Invalid workspaces configuration";

fn invalid_workspaces(detail: String) -> ProviderDiagnostic {
    ProviderDiagnostic::error(INVALID_WORKSPACES, detail).at(at("workspaces"))
}

/// What is wrong with settings of `cloud`, before the environment adds others.
pub fn check_cloud(config: &Value) -> Vec<ProviderDiagnostic> {
    let both = of_workspaces(config, "name").is_some() && of_workspaces(config, "tags").is_some();
    if both { vec![only_one()] } else { Vec::new() }
}

fn only_one() -> ProviderDiagnostic {
    invalid_workspaces(format!("Only one of workspace \"tags\" or \"name\" is allowed.\n\n{}", help()))
}

/// What the block's strategies are, as the reference explains it.
fn help() -> String {
    let text = format!(
        "The 'workspaces' block configures how {PROGRAM} CLI maps its workspaces for this single\nconfiguration to workspaces \
         within an HCP Terraform or Terraform Enterprise organization. Two strategies are available:\n\n[bold]tags[reset] - A set of \
         tags used to select remote HCP Terraform or Terraform Enterprise workspaces to be used for this single\nconfiguration. New \
         workspaces will automatically be tagged with these tag values. Generally, this\nis the primary and recommended strategy \
         to use.  This option conflicts with \"name\".\n\n[bold]name[reset] - The name of a single HCP Terraform or Terraform \
         Enterprise workspace to be used with this configuration.\nWhen configured, only the specified workspace can be used. This \
         option conflicts with \"tags\"\nand with the TF_WORKSPACE environment variable."
    );
    if at_least(15) { text.replace("[bold]", "").replace("[reset]", "") } else { text }
}

pub fn remote(config: &Value, dialect: Dialect) -> Wanted {
    let mapping = match (name_of(config, "name"), name_of(config, "prefix")) {
        (Some(name), _) => Mapping::Name(name.to_owned()),
        (None, prefix) => Mapping::Prefix(prefix.unwrap_or_default().to_owned()),
    };
    Wanted {
        hostname: text(config, "hostname").or(dialect.service_host()).unwrap_or_default().to_owned(),
        organization: text(config, "organization").unwrap_or_default().to_owned(),
        token: text(config, "token").map(Secret::new),
        mapping,
        project: None,
    }
}

/// What a `cloud` block comes to with what the environment adds.
pub fn cloud(settings: Settings<'_>) -> Result<Wanted, Vec<ProviderDiagnostic>> {
    let config = settings.config;
    let mut problems = Vec::new();
    let organization = settings.text("organization", &[env::TF_CLOUD_ORGANIZATION]);
    if organization.is_none() {
        problems.push(missing("organization", env::TF_CLOUD_ORGANIZATION));
    }
    let (tags, with_values) = match of_workspaces(config, "tags").map(tags).transpose() {
        Ok(found) => found.unwrap_or_default(),
        Err(why) => return Err(vec![ProviderDiagnostic::error(why, "")]),
    };
    let given = settings.environment.get(env::TF_WORKSPACE);
    let mapping = match name_of(config, "name") {
        Some(_) if !tags.is_empty() => Err(only_one()),
        Some(name) if given.is_some_and(|given| given != name) => Err(invalid_workspaces(format!(
            "Specified workspace \"name\" conflicts with TF_WORKSPACE environment variable.\n\n{}",
            help()
        ))),
        Some(name) => Ok(Mapping::Name(name.to_owned())),
        None if !tags.is_empty() => Ok(Mapping::Tags { tags, with_values }),
        None => match given.filter(|given| !given.is_empty()) {
            Some(name) => Ok(Mapping::Name(name.to_owned())),
            None => Err(invalid_workspaces(format!(
                "Missing workspace mapping strategy. Either workspace \"tags\" or \"name\" is required.\n\n{}",
                help()
            ))),
        },
    };
    let project = name_of(config, "project").or_else(|| settings.environment.non_empty(env::TF_CLOUD_PROJECT));
    match (mapping, organization) {
        (Ok(mapping), Some(organization)) => Ok(Wanted {
            hostname: settings
                .text("hostname", &[env::TF_CLOUD_HOSTNAME])
                .or(settings.environment.dialect().service_host())
                .unwrap_or_default()
                .to_owned(),
            organization: organization.to_owned(),
            token: text(config, "token").map(Secret::new),
            mapping,
            project: project.map(str::to_owned),
        }),
        (mapping, _) => {
            problems.extend(mapping.err());
            Err(problems)
        }
    }
}

fn missing(setting: &str, variable: &str) -> ProviderDiagnostic {
    let detail =
        format!("{setting:?} must be set in the cloud configuration or as an environment variable: {variable}.");
    ProviderDiagnostic::error("Invalid or missing required argument", detail).at(at(setting))
}

/// Tags, and whether they have values.
fn tags(value: &Value) -> Result<(Vec<Tag>, bool), String> {
    let ty = value.ty();
    if ty.is_object() || ty.is_map() {
        let one = |(key, value): (&std::sync::Arc<str>, &Value)| match value.as_str() {
            Some(text) => Ok((key.to_string(), text.to_owned())),
            None => Err("tag object values must be strings".to_owned()),
        };
        return Ok((value.entries().iter().map(one).collect::<Result<_, _>>()?, true));
    }
    if !(ty.is_tuple() || ty.is_set() || ty.is_list()) {
        return Err(format!("tags must be a set or object, not {}", ty.friendly_name()));
    }
    let mut tags = Vec::new();
    for element in value.elements() {
        match element.as_str() {
            Some("") => {}
            Some(text) => tags.push((text.to_owned(), String::new())),
            None => return Err("tag elements must be strings".to_owned()),
        }
    }
    Ok((tags, false))
}

#[cfg(test)]
mod tests {
    use base::env::Environment;

    use super::*;

    fn config(workspaces: &[(&str, Value)]) -> Value {
        let names = ["name", "project"].map(|name| (name, Value::null(Type::String)));
        let mut all: std::collections::BTreeMap<&str, Value> = names.into_iter().collect();
        all.insert("tags", Value::null_dynamic());
        all.extend(workspaces.iter().cloned());
        Value::object([
            ("hostname", Value::null(Type::String)),
            ("organization", Value::null(Type::String)),
            ("token", Value::null(Type::String)),
            ("workspaces", Value::object(all)),
        ])
    }

    fn resolved(workspaces: &[(&str, Value)], variables: &[(&str, &str)]) -> Result<Wanted, String> {
        let (config, environment) = (config(workspaces), Environment::of(variables.iter().copied()));
        let wanted = cloud(Settings { config: &config, environment: &environment, folder: std::path::Path::new("") });
        wanted.map_err(|problems| {
            let first = |p: &ProviderDiagnostic| {
                if p.detail.is_empty() { p.summary.clone() } else { p.detail.lines().next().unwrap().to_owned() }
            };
            problems.iter().map(first).collect::<Vec<_>>().join("; ")
        })
    }

    #[test]
    fn the_environment_completes_a_cloud_block() {
        let tags = Value::tuple(vec![Value::string("b"), Value::string("")]);
        let values = Value::object([("team", Value::string("x"))]);
        let name = ("name", Value::string("n"));
        let org = ("TF_CLOUD_ORGANIZATION", "o");
        let cases = [
            (vec![name.clone()], vec![org], Ok(Mapping::Name("n".into()))),
            (vec![name.clone()], vec![org, ("TF_WORKSPACE", "n")], Ok(Mapping::Name("n".into()))),
            (
                vec![name.clone()],
                vec![org, ("TF_WORKSPACE", "m")],
                Err("Specified workspace \"name\" conflicts with TF_WORKSPACE environment variable."),
            ),
            (vec![], vec![org, ("TF_WORKSPACE", "m")], Ok(Mapping::Name("m".into()))),
            (
                vec![],
                vec![],
                Err(
                    "\"organization\" must be set in the cloud configuration or as an environment variable: TF_CLOUD_ORGANIZATION.; \
                     Missing workspace mapping strategy. Either workspace \"tags\" or \"name\" is required.",
                ),
            ),
            (
                vec![("tags", tags)],
                vec![org],
                Ok(Mapping::Tags { tags: vec![("b".into(), String::new())], with_values: false }),
            ),
            (
                vec![("tags", values.clone())],
                vec![org],
                Ok(Mapping::Tags { tags: vec![("team".into(), "x".into())], with_values: true }),
            ),
            (vec![("tags", values), name], vec![org], Err("Only one of workspace \"tags\" or \"name\" is allowed.")),
            (vec![("tags", Value::int(1))], vec![org], Err("tags must be a set or object, not number")),
        ];
        for (workspaces, variables, expected) in cases {
            let found = resolved(&workspaces, &variables).map(|wanted| wanted.mapping);
            assert_eq!(found, expected.map_err(str::to_owned), "{workspaces:?} {variables:?}");
        }
        let variables = [org, ("TF_CLOUD_HOSTNAME", "h"), ("TF_CLOUD_PROJECT", "p"), ("TF_WORKSPACE", "w")];
        let wanted = resolved(&[], &variables).unwrap();
        assert_eq!((wanted.hostname.as_str(), wanted.project.as_deref()), ("h", Some("p")));
    }
}
