//! `provider new`, `provider docs` and `provider package`

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use ops::authoring::docs::{DocsRequest, SchemaSource};
use ops::authoring::release::ReleaseRequest;
use ops::authoring::scaffold::ScaffoldRequest;

use super::ArgsError;
use super::common::view_flags;
use super::flags::{self, Given, list, switch, text};

pub fn new_command() -> Command {
    flags::command("provider new")
        .about("Create a project for a provider in Rust")
        .override_usage("[options] NAME")
        .long_about(
            "Creates a folder with a small provider that works: a resource, a data source and a function with their tests, and \
             examples for its documentation. NAME is the last part of the source address, such as todo. Existing files are never \
             changed.",
        )
        .args([
            text("dir", "path", "The folder to create. Default: terraform-provider-NAME."),
            text("namespace", "name", "The user or organization in the source address. Default: example."),
            text("sdk-path", "path", "Use this local copy of the library instead of its repository."),
        ])
        .args(view_flags())
}

pub fn parse_new(args: &[String]) -> Result<ScaffoldRequest, ArgsError> {
    let given = flags::parse(new_command(), args).map_err(ArgsError::flag_with_page)?;
    let words = given.positional();
    let [name] = &words[..] else {
        return Err(ArgsError::TextThenErrorPage("Exactly one argument expected: the name of the provider.\n".into()));
    };
    Ok(ScaffoldRequest {
        name: name.clone(),
        namespace: given.text("namespace").unwrap_or_else(|| "example".to_owned()),
        folder: path(&given, "dir"),
        sdk: path(&given, "sdk-path"),
    })
}

pub fn docs_command() -> Command {
    flags::command("provider docs")
        .about("Generate the documentation of a provider for registries")
        .long_about(
            "Writes a page in Markdown for the provider and for each of its types and functions, made of its schema, of the \
             examples of the project, and of templates if there are any. The schema is that of the provider in the working \
             directory, which cargo builds, or of another program or file. Pages of types that are no more are deleted if this \
             command made them.",
        )
        .args([
            text("binary", "path", "Ask this program for its schema. Nothing is built."),
            text("schema", "path", "Read the schema from this file, which has the output of \"providers schema -json\"."),
            text("name", "name", "The name of the provider, if it is not that of the program."),
            text("rendered-name", "name", "The name of the provider in titles. Default: terraform-provider-NAME."),
            text("examples", "path", "The folder of the examples. Default: examples."),
            text("templates", "path", "The folder of the templates. Default: templates."),
            text("out", "path", "The folder of the pages. Default: docs."),
            switch("ignore-deprecated", false, "Make no pages for deprecated types and functions."),
            switch("check", false, "Write nothing. Exit with 1 if a page is missing or not current."),
        ])
        .args(view_flags())
}

pub fn parse_docs(args: &[String]) -> Result<DocsRequest, ArgsError> {
    let given = without_words(docs_command(), args)?;
    let source = match (path(&given, "binary"), path(&given, "schema")) {
        (Some(_), Some(_)) => {
            let text = "The flags -binary and -schema exclude each other.".to_owned();
            return Err(ArgsError::Text { text, usage: false });
        }
        (Some(program), None) => SchemaSource::Program(program),
        (None, Some(file)) => SchemaSource::Document(file),
        (None, None) => SchemaSource::Project,
    };
    let folder = |flag: &str, default: &str| path(&given, flag).unwrap_or_else(|| default.into());
    Ok(DocsRequest {
        source,
        name: given.text("name"),
        rendered_name: given.text("rendered-name"),
        examples: folder("examples", "examples"),
        templates: folder("templates", "templates"),
        output: folder("out", "docs"),
        skip_deprecated: given.on("ignore-deprecated"),
        check: given.on("check"),
    })
}

pub fn package_command() -> Command {
    flags::command("provider package")
        .about("Package a release of a provider for registries")
        .long_about(
            "Writes the files of a release: an archive per platform, the manifest with the protocol versions, the checksums, and \
             their signature. Without -binary, cargo builds the provider in the working directory for this machine. The program for \
             this machine is started to check that it works and which protocol versions it serves. The same programs give the same \
             archives.",
        )
        .args([
            list("binary", "path", "A program that was built. May be repeated, with a -platform for each."),
            list("platform", "os_arch", "The platform of a program, such as linux_amd64, in the order of the programs. Default: this machine."),
            text("name", "name", "The last part of the source address. Default: as the program is called."),
            text("release-version", "version", "The version, such as 1.2.3. Default: that of the project."),
            text("key", "path", "The OpenPGP secret key that signs the checksums. Without it there is no signature. TERRANE_SIGNING_PASSWORD is its password."),
            text("out", "path", "The folder for the files. Default: dist."),
        ])
        .args(view_flags())
}

pub fn parse_package(args: &[String]) -> Result<ReleaseRequest, ArgsError> {
    let given = without_words(package_command(), args)?;
    Ok(ReleaseRequest {
        programs: given.texts("binary").into_iter().map(PathBuf::from).collect(),
        platforms: given.texts("platform"),
        name: given.text("name"),
        version: given.text("release-version"),
        key: path(&given, "key"),
        output: path(&given, "out").unwrap_or_else(|| "dist".into()),
    })
}

fn without_words(command: Command, args: &[String]) -> Result<ArgMatches, ArgsError> {
    let given = flags::parse(command, args).map_err(ArgsError::flag_with_page)?;
    if given.positional().is_empty() { Ok(given) } else { Err(ArgsError::too_many()) }
}

fn path(given: &ArgMatches, flag: &str) -> Option<PathBuf> {
    given.text(flag).filter(|path| !path.is_empty()).map(PathBuf::from)
}
