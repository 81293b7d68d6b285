//! The settings of state stores, from a `state_store` block or from the record.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use base::source::{Range, SourceFile};
use base::suggest;
use lang::syntax::body::Body;
use model::addr;
use model::config::{self, NoNames, StaticContext};
use model::deps::{Constraints, Version};
use model::plan::file::StoreProviderSettings;
use model::schema::decode::decode_body;
use terrane_protocol::provider::NO_SCHEMAS;
use terrane_protocol::schema::{Schema, SchemaError};
use terrane_value::Value;
use tokio::sync::OnceCell;

use super::init_needed;
use super::provided_kind::{ProvidedKind, UNSUPPORTED};
use super::record::BackendRecord;
use super::settings::{BackendSettings, KindRef, hash_of, overlay, value_of_json};
use crate::plugins::state_stores::{self, StoreProvider};
use crate::setup::Setup;

/// What the command line lays over a block, and what names in files of settings mean.
pub type OverlayArguments<'a> = (&'a [String], Option<&'a StaticContext>);

/// The settings of a `state_store` block.
pub async fn of_block(
    setup: &Setup,
    block: &config::Backend,
    store: &config::StoreProvider,
    given: OverlayArguments<'_>,
) -> Result<BackendSettings, Diagnostics> {
    let found = state_stores::provider(setup, &store.source())?;
    let (provider_schema, schema) = schemas(&found, &block.kind, Some((store, &block.range))).await?;
    let mut diagnostics = Diagnostics::new();
    let (config, of_provider) = decode_body(&store.body, &provider_schema.block, &NoNames);
    let kind = ProvidedKind {
        name: block.kind.to_string(),
        provider_name: store.name.to_string(),
        provider: found,
        config,
        provider_schema,
        schema,
        folder: setup.root.real_dir(),
        processes: setup.stores.clone(),
        process: OnceCell::new(),
    };
    let over = overlay(setup.dialect(), given.0, &kind, given.1, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let body = match over {
        Some(over) => Body::merged(block.body.clone(), over),
        None => block.body.clone(),
    };
    let config = diagnostics.take(decode_body(&body, &kind.schema.block, &NoNames));
    // As in the reference, errors of the provider's settings are reported once those of the store are corrected.
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    diagnostics.extend(of_provider);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let (written, _) = decode_body(&block.body, &kind.schema.block.none_required(), &NoNames);
    let hash = hash(&kind, store, &written);
    Ok(BackendSettings { kind: KindRef::Provided(Arc::new(kind)), config, hash, body })
}

/// As the reference computes it (1.17).
fn hash(kind: &ProvidedKind, store: &config::StoreProvider, config: &Value) -> u32 {
    let version = kind.provider.version.as_ref().map(Version::to_string).unwrap_or_default();
    hash_of(vec![
        Value::string(kind.name.clone()),
        config.unmark_deep().0,
        Value::string(kind.provider.address.to_string()),
        Value::string(version),
        Value::string(store.name.clone()),
        kind.config.unmark_deep().0,
    ])
}

/// The schemas of a provider and of one of its stores. Errors are placed at the block, if there is one.
async fn schemas(
    found: &StoreProvider,
    kind: &str,
    block: Option<(&config::StoreProvider, &Range)>,
) -> Result<(Arc<Schema>, Arc<Schema>), Diagnostics> {
    let address = &found.address;
    let all = found.processes.schemas(address).await?;
    let unread = |why: SchemaError| Diagnostics::from(Diagnostic::error(NO_SCHEMAS, format!("{address}: {why}.")));
    let provider = all.provider().map_err(unread)?;
    if let Some(schema) = all.state_store(kind).map_err(unread)? {
        return Ok((provider, schema));
    }
    let names = all.state_store_names();
    let local_name = block.map_or(&address.kind, |(store, _)| &store.name);
    let place = block.map(|(_, range)| range.clone());
    let problem = match suggest::name(kind, names.iter().map(|name| &**name)) {
        _ if names.is_empty() => {
            let detail =
                format!("There are no state stores implemented by provider {local_name} ({:?})", address.to_string());
            Diagnostic::error(UNSUPPORTED, detail)
        }
        suggested => {
            let suggestion = suggested.map(|name| format!(" Did you mean {name:?}?")).unwrap_or_default();
            let detail = format!(
                "State store {kind:?} is not implemented by provider {local_name} ({:?}){suggestion}",
                address.to_string()
            );
            Diagnostic::error("State store not implemented by the provider", detail)
        }
    };
    Err(problem.at_opt(place).into())
}

/// The settings of a recorded state store.
pub async fn of_record(
    setup: &Setup,
    record: &BackendRecord,
    provider: &StoreProviderSettings,
) -> Result<BackendSettings, Diagnostics> {
    let found = state_stores::provider(setup, &address_of(provider)?)?;
    let (provider_schema, schema) = schemas(&found, &record.kind, None).await?;
    let config = value_of_json(&provider.config, &provider_schema.block)?;
    let settings = value_of_json(&record.config, &schema.block)?;
    let kind = ProvidedKind {
        name: record.kind.clone(),
        provider_name: found.address.kind.to_string(),
        provider: found,
        config,
        provider_schema,
        schema,
        folder: setup.root.real_dir(),
        processes: setup.stores.clone(),
        process: OnceCell::new(),
    };
    let body = Body::empty(&SourceFile::new("", ""));
    Ok(BackendSettings { kind: KindRef::Provided(Arc::new(kind)), config: settings, hash: record.hash, body })
}

fn address_of(provider: &StoreProviderSettings) -> Result<addr::Provider, Diagnostics> {
    addr::Provider::parse_source(&provider.source).map_err(|_| {
        let detail = format!(
            "The record of the state store names the provider {:?}, which is no provider address. Run \"{COMMAND} init \
             -reconfigure\" to record the state store of the configuration.",
            provider.source
        );
        Diagnostic::error("Invalid record of the state store", detail).into()
    })
}

/// The record of the state store that the configuration asks for, if `init` recorded that very one.
pub async fn in_use(
    setup: &Setup,
    block: &config::Backend,
    store: &config::StoreProvider,
    recorded: Option<BackendRecord>,
) -> Result<BackendRecord, Diagnostics> {
    let texts = store.requirement.iter().flat_map(|requirement| &requirement.versions);
    let constraints =
        texts.filter_map(|(text, _)| Constraints::parse(text).ok()).fold(Constraints::default(), |mut all, one| {
            all.0.extend(one.0);
            all
        });
    state_stores::check_selection(setup, &store.source(), &constraints)?;
    let Some(recorded) = recorded else {
        let reason = format!("Initial configuration of a state store {:?} in {}", &*block.kind, provider_text(store));
        return Err(init_needed::state_store(&reason, false, Some(&block.range)));
    };
    if recorded.provider.is_none() {
        return Err(from_backend(&recorded.kind, block, store));
    }
    match change(setup, (block, store), &recorded, (&[], None)).await? {
        None => Ok(recorded),
        Some(problem) => Err(problem),
    }
}

fn provider_text(store: &config::StoreProvider) -> String {
    format!("provider {} ({:?})", store.name, store.source().to_string())
}

/// Why the state store of the configuration is not the recorded one. None: it is.
pub async fn change(
    setup: &Setup,
    (block, store): (&config::Backend, &config::StoreProvider),
    recorded: &BackendRecord,
    given: OverlayArguments<'_>,
) -> Result<Option<Diagnostics>, Diagnostics> {
    let Some(old) = &recorded.provider else { return Ok(Some(from_backend(&recorded.kind, block, store))) };
    let source = store.source();
    let new = of_block(setup, block, store, given).await?;
    let (shown, kind) = (source.for_display(), &*block.kind);
    let supply = state_stores::supply(setup, &source)?.name();
    let found = |reason: String, place: Option<&Range>| Ok(Some(init_needed::state_store(&reason, true, place)));
    if old.supply != supply {
        let reason = format!("State store {kind:?} ({shown}) supply mode changed from {:?} to {supply:?}", old.supply);
        return found(reason, Some(&block.range));
    }
    if old.source != source.to_string() {
        let was = address_of(old).map_or_else(|_| old.source.clone(), |address| address.for_display());
        return found(format!("State store provider changed from {was} to {shown}"), Some(&store.range));
    }
    let version = state_stores::provider(setup, &source)?.version.map(|version| version.to_string());
    if old.version != version {
        let text = |version: &Option<String>| version.clone().unwrap_or_default();
        let reason = format!(
            "State store provider {:?} ({shown}) version changed from {} to {}",
            &*store.name,
            text(&old.version),
            text(&version)
        );
        return found(reason, None);
    }
    if recorded.kind != kind {
        let reason = format!("State store type changed from {:?} to {kind:?}", recorded.kind);
        return found(reason, Some(&block.kind_range));
    }
    let was = of_record(setup, recorded, old).await?;
    if new.record().provider.map(|new| new.config) != was.record().provider.map(|was| was.config) {
        let reason = format!("State store provider {:?} ({shown}) configuration changed", &*store.name);
        return found(reason, Some(&store.range));
    }
    // Settings of the command line are in the record only.
    let unchanged = new.config == was.config || (given.0.is_empty() && new.hash == recorded.hash);
    if !unchanged {
        let reason = format!("State store {kind:?} ({shown}) configuration changed");
        return found(reason, Some(&block.range));
    }
    Ok(None)
}

/// The error for a configuration that has a backend, or none, where a state store is recorded.
pub fn left(recorded: &BackendRecord, block: Option<&config::Backend>) -> Diagnostics {
    let reason = match block {
        Some(block) => format!("Migrating from state store {:?} to backend {:?}", recorded.kind, &*block.kind),
        None => format!("Unsetting the previously set state store {:?}", recorded.kind),
    };
    init_needed::state_store(&reason, true, block.map(|block| &block.range))
}

/// The error for a state store in the configuration where a backend is recorded.
fn from_backend(kind: &str, block: &config::Backend, store: &config::StoreProvider) -> Diagnostics {
    let reason =
        format!("Migrating from backend {kind:?} to state store {:?} in {}", &*block.kind, provider_text(store));
    init_needed::to_state_store(&reason)
}
