//! `import`: records an existing object at an address that has a block in the configuration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::{Disk, WrittenIn};
use base::name::PROGRAM;
use base::source::SourceFile;
use base::suggest;
use engine::ports::Observer;
use engine::{self, ImportInput};
use lang::syntax::parser;
use model::addr::parse::parse_abs_instance_traversal;
use model::addr::{AbsResourceInstance, Resource};
use model::config::{Config, has_configuration};
use terrane_protocol::schema::ResourceMode;

use super::open::{OperationLock, open, sound};
use super::save;
use super::session::{CANCELED, Session};
use super::sink::NoSink;
use crate::backends::version::{self, OnMismatch};
use crate::configuration::load::{self, LoadedConfig};
use crate::configuration::variables::{self, Collected};
use crate::interface::listen::Listener;
use crate::interface::options::{StateOptions, VariableArgument};
use crate::plugins::outdated_schemas;
use crate::setup::Setup;

#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// As typed.
    pub address: String,
    /// What the provider knows the object by.
    pub id: String,
    /// The folder of the root module; none: the working directory.
    pub config: Option<PathBuf>,
    pub state: StateOptions,
    pub variables: Vec<VariableArgument>,
    pub parallelism: usize,
}

/// Why nothing was imported.
#[derive(Clone, Debug)]
pub enum ImportRefusal {
    /// The address is none.
    Address(Diagnostics),
    /// No block declares the resource; with what there is to say of the configuration.
    Undeclared {
        addr: AbsResourceInstance,
        /// A question about the address that was probably meant, or nothing.
        question: String,
        diagnostics: Diagnostics,
    },
    Diagnostics(Diagnostics),
}

impl From<Diagnostics> for ImportRefusal {
    fn from(diagnostics: Diagnostics) -> ImportRefusal {
        ImportRefusal::Diagnostics(diagnostics)
    }
}

/// Imports one object, and writes the state. Gives what else there is to say, such as that the lock could not be given back.
pub async fn run(
    setup: &Setup,
    request: &ImportRequest,
    listener: Arc<dyn Listener>,
) -> Result<Diagnostics, ImportRefusal> {
    let addr = address(&request.address)?;
    setup.restart.repeated(|| attempt(setup, request, &addr, listener.clone())).await
}

async fn attempt(
    setup: &Setup,
    request: &ImportRequest,
    addr: &AbsResourceInstance,
    listener: Arc<dyn Listener>,
) -> Result<Diagnostics, ImportRefusal> {
    let mut diagnostics = Diagnostics::new();
    let setup = setup.with_variables(&request.variables);
    let config = configuration(&setup, request, addr, &mut diagnostics)?;
    let collected = sound(&mut diagnostics, variables::collect(&setup, &request.variables))?;
    let lock = OperationLock { operation: None, options: &request.state };
    let (mut session, mut diagnostics) = open(&setup, config, lock, listener, diagnostics).await?;
    let workspace = &setup.workdir.workspace;
    match version::check(&session.opened.backend, workspace, OnMismatch::of(&request.state)).await {
        Ok(warnings) => {
            diagnostics.extend(warnings);
            diagnostics.extend(import(&mut session, request, addr, &collected).await);
        }
        Err(problems) => diagnostics.extend(problems),
    }
    let failed = diagnostics.has_errors();
    diagnostics.extend(session.end().await);
    if failed { Err(diagnostics.into()) } else { Ok(diagnostics) }
}

/// The instance that an address names. Data sources and ephemeral resources have nothing to import.
fn address(text: &str) -> Result<AbsResourceInstance, ImportRefusal> {
    let file = SourceFile::new("<import-address>", text);
    let (traversal, diagnostics) = parser::parse_traversal(file.clone());
    let Some(traversal) = traversal.filter(|_| !diagnostics.has_errors()) else {
        return Err(ImportRefusal::Address(diagnostics));
    };
    let addr = parse_abs_instance_traversal(&traversal, &file).map_err(|error| ImportRefusal::Address(error.into()))?;
    if addr.mode() != ResourceMode::Managed {
        let text = "A managed resource address is required. Importing into a data resource is not allowed.";
        return Err(ImportRefusal::Diagnostics(Diagnostic::error(text, "").into()));
    }
    Ok(addr)
}

/// The configuration, if it has a block for the resource.
fn configuration(
    setup: &Setup,
    request: &ImportRequest,
    addr: &AbsResourceInstance,
    diagnostics: &mut Diagnostics,
) -> Result<LoadedConfig, ImportRefusal> {
    let here = setup.root.dir();
    let root = request.config.as_ref().unwrap_or(&here);
    if !has_configuration(root, &WrittenIn(setup.dialect(), Disk)) {
        let detail = format!(
            "The directory {} does not contain any {PROGRAM} configuration files (.tf or .tf.json). To specify a different \
             configuration directory, use the -config=\"...\" command line option.",
            root.display()
        );
        let error = Diagnostic::error(format!("No {PROGRAM} configuration files"), detail);
        return Err(ImportRefusal::Diagnostics(error.into()));
    }
    // Observed: what is wrong with the configuration is said with relative paths; what is said while it is walked,
    // and the value of `path.root`, have the folder as it was given.
    let relative = match root.strip_prefix(&here) {
        Ok(path) if path.as_os_str().is_empty() => Path::new("."),
        Ok(path) => path,
        Err(_) => root,
    };
    let Some(first) = sound(diagnostics, load::any_config(relative, setup, &setup.root))? else {
        return Err(std::mem::take(diagnostics).into());
    };
    check_declared(&first.config, addr, diagnostics)?;
    if relative == root {
        return Ok(first);
    }
    match load::any_config(root, setup, &setup.root) {
        (Some(loaded), found) if !found.has_errors() => Ok(loaded),
        (_, found) => Err(found.into()),
    }
}

fn check_declared(
    config: &Config,
    addr: &AbsResourceInstance,
    diagnostics: &mut Diagnostics,
) -> Result<(), ImportRefusal> {
    let Some(module) = config.module(&addr.module.module()) else {
        let detail = format!(
            "{} is not defined in the configuration. Please add configuration for this module before importing into it.",
            addr.module
        );
        diagnostics.error("Import to non-existent module", detail);
        return Err(std::mem::take(diagnostics).into());
    };
    if module.resources.contains_key(&addr.resource.resource) {
        return Ok(());
    }
    let absolute = |resource: &Resource| resource.clone().absolute(addr.module.clone()).to_string();
    let declared: Vec<String> = module.resources.keys().map(absolute).collect();
    let given = addr.containing_resource().to_string();
    let question = suggest::address_question(&given, declared.iter().map(String::as_str));
    Err(ImportRefusal::Undeclared { addr: addr.clone(), question, diagnostics: std::mem::take(diagnostics) })
}

/// Imports under the lock, and writes the state if nothing is wrong.
async fn import(
    session: &mut Session,
    request: &ImportRequest,
    addr: &AbsResourceInstance,
    collected: &Collected,
) -> Diagnostics {
    let setup = session.setup.clone();
    let (variables, mut diagnostics) = variables::resolve(collected, &session.facts.config().root, &setup).await;
    if diagnostics.has_errors() {
        return diagnostics;
    }
    let input = ImportInput {
        facts: session.facts.clone(),
        state: session.state(),
        variables,
        addr: addr.clone(),
        id: request.id.as_str().into(),
        parallelism: request.parallelism,
    };
    let observer: Arc<dyn Observer> = session.listener.clone();
    let ports = session.ports(observer, Arc::new(NoSink));
    let state = tokio::select! {
        done = engine::import(input, &ports) => diagnostics.take(done),
        never = session.held.stop_if_lock_is_lost(&setup.stop) => match never {},
        () = setup.stop.killed() => {
            diagnostics.push(Diagnostic::error(CANCELED, ""));
            None
        }
    };
    outdated_schemas::check(&setup, &session.factories, diagnostics.has_errors()).await;
    if let Some(state) = state.filter(|_| !setup.restart.get()) {
        match session.take_up_journal(&mut diagnostics).await {
            Ok(()) => diagnostics.extend(save::write_unapplied(session, &state).await),
            Err(problems) => diagnostics.extend(problems),
        }
    }
    diagnostics
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference words them.
    #[test]
    fn addresses_name_managed_instances() {
        let refused = |text: &str| match address(text) {
            Ok(_) => panic!("{text}"),
            Err(
                ImportRefusal::Address(found)
                | ImportRefusal::Diagnostics(found)
                | ImportRefusal::Undeclared { diagnostics: found, .. },
            ) => {
                let error = found.into_vec().remove(0);
                (error.subject.map(|range| range.text().to_owned()).unwrap_or_default(), error.summary)
            }
        };
        assert_eq!(address("module.m[0].a.b[\"k\"]").unwrap().to_string(), "module.m[0].a.b[\"k\"]");
        let required = "A managed resource address is required. Importing into a data resource is not allowed.";
        let cases = [
            ("a", "a", "Invalid address"),
            ("a.b.c", ".c", "Invalid address"),
            ("module.m", "module.m", "Invalid address"),
            ("a.b[", "", "Index value required"),
            ("data.a.b", "", required),
            ("ephemeral.a.b", "", required),
        ];
        for (text, subject, summary) in cases {
            assert_eq!(refused(text), (subject.into(), summary.into()), "{text}");
        }
    }
}
