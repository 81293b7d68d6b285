//! A provider as a program: started to learn what it says of itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base::diag::Diagnostics;
use base::env::PLUGIN_PROTOCOL_VERSIONS;
use plugin::process::Children;
use plugin::start::{ProviderProcess, start_provider};
use render::docs::Described;
use terrane_protocol::handshake::VERSIONS;
use terrane_protocol::provider::{IdentitySchema, Provider, ProviderDiagnostics};
use terrane_protocol::schema::{ProviderSchemas, Schema, SchemaError, StaticSchemas};

use super::failure;
use crate::plugins::launch::Launcher;
use crate::setup::Setup;

const NO_ANSWER: &str = "The program does not work as a provider";

/// Starts a program, asks for its schemas, and ends it.
pub async fn describe(setup: &Setup, program: &Path) -> Result<Described, Diagnostics> {
    let process = start(setup, program, None).await.map_err(|why| refused(program, &why))?;
    let described = described(&*process.provider()).await;
    process.shutdown().await;
    described.map_err(|why| refused(program, &why))
}

/// The versions of the protocol that a program serves, with schemas that can be read: at least one.
pub async fn protocols(setup: &Setup, program: &Path) -> Result<Vec<u16>, Diagnostics> {
    let mut found = Vec::new();
    let mut reason = String::new();
    for version in VERSIONS {
        match serves(setup, program, version).await {
            Ok(()) => found.push(version),
            Err(why) => reason = why,
        }
    }
    if found.is_empty() { Err(refused(program, &reason)) } else { Ok(found) }
}

async fn serves(setup: &Setup, program: &Path, version: u16) -> Result<(), String> {
    let process = start(setup, program, Some(version)).await?;
    let described = match process.protocol() == version {
        true => described(&*process.provider()).await.map(drop),
        false => Err(format!("it speaks protocol {} only", process.protocol())),
    };
    process.shutdown().await;
    described
}

/// Starts a program; `version` is the only protocol that is offered to it.
async fn start(setup: &Setup, program: &Path, version: Option<u16>) -> Result<ProviderProcess, String> {
    let path = std::path::absolute(program).map_err(|e| e.to_string())?;
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut launch = Launcher::new(setup, Children::default()).package(&path, &name);
    launch.env.extend(version.map(|version| (PLUGIN_PROTOCOL_VERSIONS.to_owned(), version.to_string())));
    tokio::select! {
        process = start_provider(&launch, &name, None) => process.map_err(|error| error.to_string()),
        () = setup.stop.stopping() => Err("interrupted".to_owned()),
    }
}

fn refused(program: &Path, why: &str) -> Diagnostics {
    let detail = format!(
        "{} was started as a plugin, but it does not answer as hosts expect:\n\n{}\n\nCheck that it is the program of a \
         provider, that it is made for this machine, and that it passes validate_implementation.",
        program.display(),
        why.trim()
    );
    failure(NO_ANSWER, detail)
}

async fn described(provider: &dyn Provider) -> Result<Described, String> {
    let schemas = provider.schemas().await.map_err(texts)?;
    let mut identities = BTreeMap::new();
    for kind in schemas.managed_names() {
        if let Some(identity) = identity(provider, &kind).await {
            identities.insert(kind, identity);
        }
    }
    Ok(Described { schemas: all(&*schemas).map_err(|error| error.to_string())?, identities })
}

/// Providers of older SDKs do not know the question.
async fn identity(provider: &dyn Provider, kind: &str) -> Option<IdentitySchema> {
    provider.identity_schema(kind).await.ok().flatten()
}

fn texts(diagnostics: ProviderDiagnostics) -> String {
    diagnostics.into_iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect::<Vec<_>>().join("\n")
}

/// All schemas, read at once.
fn all(schemas: &dyn ProviderSchemas) -> Result<StaticSchemas, SchemaError> {
    type Schemas = BTreeMap<Arc<str>, Arc<Schema>>;
    type Find<'a> = &'a dyn Fn(&str) -> Result<Option<Arc<Schema>>, SchemaError>;
    let read = |names: Vec<Arc<str>>, find: Find<'_>| -> Result<Schemas, SchemaError> {
        let mut found = Schemas::new();
        for name in names {
            found.extend(find(&name)?.map(|schema| (name, schema)));
        }
        Ok(found)
    };
    let mut functions = BTreeMap::new();
    for name in schemas.function_names() {
        functions.extend(schemas.function(&name)?.map(|function| (name, function)));
    }
    Ok(StaticSchemas {
        provider: schemas.provider()?,
        provider_meta: schemas.provider_meta()?,
        managed: read(schemas.managed_names(), &|kind| schemas.managed(kind))?,
        data: read(schemas.data_names(), &|kind| schemas.data(kind))?,
        ephemeral: read(schemas.ephemeral_names(), &|kind| schemas.ephemeral(kind))?,
        functions,
        list_resources: read(schemas.list_resource_names(), &|kind| schemas.list_resource(kind))?,
        actions: read(schemas.action_names(), &|kind| schemas.action(kind))?,
        state_stores: read(schemas.state_store_names(), &|kind| schemas.state_store(kind))?,
        capabilities: schemas.capabilities(),
    })
}
