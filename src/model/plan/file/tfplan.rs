//! Plans that Terraform or OpenTofu wrote, in their format of version 3.
//!
//! Their values are MessagePack by the schemas of the providers, which a plan file holds since OpenTofu 1.13 (`stored_schemas`):
//! changes of resources stay undecoded until the schemas are known. Formats and field numbers as in OpenTofu 1.12 and Terraform 1.11; later versions add
//! fields, and count the version up where a reader must know them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::Path as FilePath;
use std::sync::Arc;

use serde::Deserialize;
use terrane_protocol::provider::{Identity, IdentitySchema};
use terrane_value::{Marks, Type, Value, msgpack};
use zip::ZipArchive;

use super::addresses::action_address;
use super::error::PlanFileError;
use super::protobuf::{Message, text};
use super::stored_schemas::{self, OPENTOFU_SCHEMAS, StoredSchemas, Writer};
use super::tfplan_actions::RawInvocation;
use super::tfplan_values::{
    ActionTypeOf, RawValue, TypeOf, deferral_reason, instance, invalid_address, path, provider,
};
use super::{BackendSettings, LOCK, SavedPlan, StoreProviderSettings, member, states};
use crate::addr::Provider;
use crate::addr::parse::parse_target;
use crate::plan::{
    Action, ActionInvocation, ActionReason, Change, DeferredChange, DeferredInvocation, DeferredReason, IdentityChange,
    Importing, Mode, OutputChange, Plan, PlanScope, ResourceChange,
};
use crate::state::file::deferred_instance;
use crate::state::{CheckResult, CheckStatus, DeposedKey};

pub(super) const PLAN: &str = "tfplan";
const MODULES: &str = "tfconfig/modules.json";
const VERSION: u64 = 3;

/// What can be read of a plan only with the schemas of its providers.
#[derive(Clone, Debug, Default)]
pub struct Undecoded {
    changes: Vec<RawChange>,
    drift: Vec<RawChange>,
    deferred: Vec<(DeferredReason, RawChange)>,
    invocations: Vec<RawInvocation>,
    deferred_invocations: Vec<(DeferredReason, RawInvocation)>,
    /// The record of installed modules.
    pub modules: Vec<u8>,
    schemas: StoredSchemas,
}

/// A change whose values have no types yet.
#[derive(Clone, Debug)]
struct RawChange {
    /// With null for the values.
    change: ResourceChange,
    before: Option<RawValue>,
    after: Option<RawValue>,
    identities: RawIdentities,
}

/// Identities as MessagePack, by the schema of the resource type's identities.
#[derive(Clone, Debug, Default)]
struct RawIdentities {
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    import: Option<Vec<u8>>,
}

impl Undecoded {
    pub fn providers(&self) -> BTreeSet<Provider> {
        let deferred = self.deferred_invocations.iter().map(|(_, raw)| raw);
        let of_actions = self.invocations.iter().chain(deferred).map(|raw| raw.provider().clone());
        self.changes
            .iter()
            .chain(&self.drift)
            .chain(self.deferred.iter().map(|(_, raw)| raw))
            .map(|raw| raw.change.provider.provider.clone())
            .chain(of_actions)
            .collect()
    }

    /// The schemas in the plan file, if it has those of all that is to be decoded.
    pub fn stored_schemas(&self) -> Option<&StoredSchemas> {
        let changes = self.changes.iter().chain(&self.drift).chain(self.deferred.iter().map(|(_, raw)| raw));
        let has = |raw: &RawChange| {
            let resource = &raw.change.addr.resource.resource;
            self.schemas.has(&raw.change.provider.provider, resource.mode, &resource.kind)
        };
        let no_actions = self.invocations.is_empty() && self.deferred_invocations.is_empty();
        (no_actions && changes.into_iter().all(has)).then_some(&self.schemas)
    }
}

impl SavedPlan {
    /// Reads what was left undecoded.
    pub fn decode(&mut self, type_of: TypeOf<'_>, type_of_action: ActionTypeOf<'_>) -> Result<(), PlanFileError> {
        let Some(undecoded) = self.undecoded.take() else { return Ok(()) };
        let (plan, schemas) = (&mut self.plan, &undecoded.schemas);
        plan.changes = decoded(undecoded.changes, type_of, schemas)?;
        plan.drift = decoded(undecoded.drift, type_of, schemas)?;
        for (reason, raw) in undecoded.deferred {
            let changes = decoded(vec![raw], type_of, schemas)?;
            plan.deferred.extend(changes.into_iter().map(|change| DeferredChange { reason, change }));
        }
        plan.deferred.sort_by_cached_key(|deferred| deferred.change.addr.to_string());
        for raw in undecoded.invocations {
            plan.invocations.push(raw.decode(type_of_action)?.into());
        }
        plan.invocations.sort_by_cached_key(|invocation| order(invocation));
        for (reason, raw) in undecoded.deferred_invocations {
            let invocation = raw.decode(type_of_action)?.into();
            plan.deferred_invocations.push(DeferredInvocation { reason, invocation });
        }
        plan.deferred_invocations.sort_by_cached_key(|deferred| order(&deferred.invocation));
        if plan.is_of_opentofu {
            plan.applyable = !plan.errored && has_changes(plan);
        }
        // What has only moved is listed here too, and shown where nothing else is planned.
        if plan.scope.mode != Mode::RefreshOnly {
            plan.drift.retain(|change| change.action != Action::NoOp);
        }
        Ok(())
    }
}

/// They are written in no order.
fn order(invocation: &ActionInvocation) -> (Option<String>, Option<(usize, usize)>, String) {
    let place = invocation.lifecycle().map(|trigger| (trigger.block, trigger.position));
    (invocation.caller().map(ToString::to_string), place, invocation.addr.to_string())
}

/// `schemas`: those in the plan file, which alone say what identities are.
fn decoded(
    changes: Vec<RawChange>,
    type_of: TypeOf<'_>,
    schemas: &StoredSchemas,
) -> Result<Vec<ResourceChange>, PlanFileError> {
    let one = |mut raw: RawChange| {
        let addr = raw.change.addr.clone();
        let ty = type_of(&raw.change.provider.provider, &addr).map_err(|error| error.of(&addr))?;
        let value = |raw: Option<RawValue>| match raw {
            Some(raw) => {
                let value = msgpack::decode(&raw.msgpack, &ty);
                let value = value.map_err(|error| PlanFileError::from(error).of(&addr))?;
                Ok(value.mark_at_paths(&raw.sensitive))
            }
            None => Ok::<_, PlanFileError>(Value::null(ty.clone())),
        };
        let change = Change { before: value(raw.before)?, after: value(raw.after)? };
        if let Some(schema) = schemas.identity(&raw.change.provider.provider, &addr.resource.resource.kind) {
            identify(&mut raw.change, &raw.identities, schema).map_err(|error| error.of(&addr))?;
        }
        Ok(ResourceChange { change, ..raw.change })
    };
    let mut changes = changes.into_iter().map(one).collect::<Result<Vec<_>, PlanFileError>>()?;
    changes.sort_by(|a, b| (&a.addr, &a.deposed).cmp(&(&b.addr, &b.deposed)));
    Ok(changes)
}

/// Adds the identities of a change.
fn identify(
    change: &mut ResourceChange,
    identities: &RawIdentities,
    schema: &IdentitySchema,
) -> Result<(), PlanFileError> {
    let ty = schema.implied_type();
    let identity = |bytes: &Option<Vec<u8>>| -> Result<Option<Identity>, PlanFileError> {
        let Some(bytes) = bytes else { return Ok(None) };
        // The error is an unknown value, which identities do not have.
        Ok(Identity::from_value(&msgpack::decode(bytes, &ty)?, schema).unwrap_or_default())
    };
    change.identity = IdentityChange { before: identity(&identities.before)?, after: identity(&identities.after)? };
    if let Some(import) = identity(&identities.import)? {
        change.importing = Some(Importing { id: None, identity: Some(import.json.to_string()) });
    }
    Ok(())
}

/// Whether there is something to apply, as OpenTofu decides it.
fn has_changes(plan: &Plan) -> bool {
    let changes = |change: &ResourceChange| {
        change.action != Action::NoOp || change.importing.is_some() || change.addr != change.previous_addr
    };
    plan.changes.iter().any(changes)
        || plan.outputs.iter().any(|output| output.action != Action::NoOp)
        || (plan.scope.mode == Mode::RefreshOnly && plan.prior_state.resources != plan.previous_state.resources)
}

/// Reads a plan; None if the archive holds none of this format.
pub(super) fn read(archive: &mut ZipArchive<Cursor<&[u8]>>) -> Result<Option<SavedPlan>, PlanFileError> {
    let Some(content) = member(archive, PLAN)? else { return Ok(None) };
    let message = Message::read(&content)?;
    let version = message.number(1);
    if version != VERSION {
        return Err(PlanFileError::UnsupportedFormat { found: version, known: VERSION });
    }
    let mut saved = SavedPlan { plan: plan(&message)?, backend: place_of_states(&message)?, ..SavedPlan::default() };
    states(archive, &mut saved)?;
    let modules = configuration(archive, &mut saved)?;
    // Without them, the providers are asked.
    let schemas =
        match member(archive, OPENTOFU_SCHEMAS)?.map(|content| stored_schemas::read(&content, Writer::OpenTofu)) {
            Some(Ok(schemas)) => schemas,
            Some(Err(why)) => {
                tracing::debug!("plan file: schemas not used: {why}");
                StoredSchemas::default()
            }
            None => StoredSchemas::default(),
        };
    saved.lock = member(archive, LOCK)?;
    saved.undecoded = Some(Undecoded {
        changes: message.messages(3).map(|change| raw_change(&change?)).collect::<Result<_, _>>()?,
        drift: message.messages(18).map(|change| raw_change(&change?)).collect::<Result<_, _>>()?,
        deferred: message.messages(27).map(|deferred| deferred_change(&deferred?)).collect::<Result<_, _>>()?,
        invocations: message.messages(30).map(|found| RawInvocation::read(&found?)).collect::<Result<_, _>>()?,
        deferred_invocations: message
            .messages(31)
            .map(|found| RawInvocation::read_deferred(&found?))
            .collect::<Result<_, _>>()?,
        modules,
        schemas,
    });
    Ok(Some(saved))
}

/// Everything but changes of resources and states.
fn plan(message: &Message<'_>) -> Result<Plan, PlanFileError> {
    let mode = match message.number(17) {
        0 => Mode::Normal,
        1 => Mode::Destroy,
        2 => Mode::RefreshOnly,
        other => return Err(PlanFileError::number("plan has invalid mode", other)),
    };
    let mut plan = Plan {
        scope: PlanScope { mode, ..PlanScope::default() },
        timestamp: message.text(21)?.to_owned(),
        applyable: message.flag(25),
        errored: message.flag(20),
        // It says neither whether a plan is applyable nor whether it is complete.
        is_of_opentofu: !message.flag(25) && !message.flag(26),
        ..Plan::default()
    };
    plan.variables = message
        .messages(2)
        .map(|entry| {
            let entry = entry?;
            Ok((Arc::from(entry.text(1)?), dynamic(&entry.message(2)?)?))
        })
        .collect::<Result<BTreeMap<_, _>, PlanFileError>>()?;
    // What plans of Terraform have as 22 is not of interest.
    let ephemeral = message.all(if plan.is_of_opentofu { 22 } else { 28 });
    plan.ephemeral_variables =
        ephemeral.map(|name| Ok(Arc::from(text(name)?))).collect::<Result<_, PlanFileError>>()?;
    let targets = |field: u64| {
        let one = |target| Ok(parse_target(text(target)?)?);
        message.all(field).map(one).collect::<Result<Vec<_>, PlanFileError>>()
    };
    plan.scope.targets = targets(5)?;
    plan.scope.excludes = if plan.is_of_opentofu { targets(6)? } else { Vec::new() };
    plan.scope.force_replace = message.all(16).map(|addr| instance(text(addr)?)).collect::<Result<_, _>>()?;
    plan.scope.requested_actions = message.all(32).map(|addr| action_address(text(addr)?)).collect::<Result<_, _>>()?;
    plan.outputs = message.messages(4).map(|output| output_change(&output?)).collect::<Result<_, _>>()?;
    plan.outputs.sort_by(|a, b| a.name.cmp(&b.name));
    plan.checks = message.messages(19).map(|check| check_result(&check?)).collect::<Result<_, _>>()?;
    plan.relevant_attributes = message
        .messages(15)
        .map(|relevant| {
            let relevant = relevant?;
            Ok((instance(relevant.text(1)?)?, path(&relevant.message(2)?)?))
        })
        .collect::<Result<_, PlanFileError>>()?;
    // They are written in no order.
    plan.relevant_attributes.sort_by_cached_key(|(addr, path)| (addr.clone(), path.to_string()));
    plan.complete = match plan.is_of_opentofu {
        true => !plan.errored && plan.scope.is_whole(),
        false => message.flag(26),
    };
    Ok(plan)
}

fn deferred_change(message: &Message<'_>) -> Result<(DeferredReason, RawChange), PlanFileError> {
    Ok((deferral_reason(message.message(1)?.number(1)), raw_change(&message.message(2)?)?))
}

fn raw_change(message: &Message<'_>) -> Result<RawChange, PlanFileError> {
    // Only deferred changes have wildcard keys.
    let text = message.text(13)?;
    let addr = deferred_instance(text).ok_or_else(|| invalid_address(text))?;
    let previous_addr = match message.text(14)? {
        "" => addr.clone(),
        previous => instance(previous)?,
    };
    let inner = message.message(9)?;
    let action = action(inner.number(1))?;
    let (before, after) = values(&inner, action)?;
    let raw = |value: Option<&[u8]>, marks: u64| -> Result<Option<RawValue>, PlanFileError> {
        let Some(value) = value else { return Ok(None) };
        let sensitive = inner.messages(marks).map(|steps| Ok((path(&steps?)?, Marks::SENSITIVE)));
        Ok(Some(RawValue { msgpack: value.to_vec(), sensitive: sensitive.collect::<Result<_, PlanFileError>>()? }))
    };
    let (before, after) = (raw(before, 3)?, raw(after, 4)?);
    let deposed = Some(message.text(7)?).filter(|key| !key.is_empty()).map(|key| DeposedKey(key.into()));
    let generated = Some(inner.text(6)?).filter(|config| !config.is_empty()).map(str::to_owned);
    let msgpack = |message: &Message<'_>, field: u64| -> Result<Option<Vec<u8>>, PlanFileError> {
        let Some(bytes) = message.bytes(field) else { return Ok(None) };
        Ok(Message::read(bytes)?.bytes(1).map(<[u8]>::to_vec))
    };
    let mut identities =
        RawIdentities { before: msgpack(&inner, 7)?, after: msgpack(&inner, 8)?, ..RawIdentities::default() };
    let importing = match inner.bytes(5) {
        None => None,
        Some(bytes) => {
            let importing = Message::read(bytes)?;
            // Terraform has a flag there, OpenTofu an identity.
            identities.import = msgpack(&importing, 2)?;
            let id = (!importing.flag(2)).then(|| importing.text(1).map(str::to_owned)).transpose()?;
            Some(Importing { id, identity: None })
        }
    };
    let null = Change { before: Value::null_dynamic(), after: Value::null_dynamic() };
    let change = ResourceChange {
        addr,
        previous_addr,
        deposed,
        provider: provider(message.text(8)?)?,
        action,
        reason: reason(message.number(12))?,
        change: null,
        required_replace: message.messages(11).map(|steps| path(&steps?)).collect::<Result<_, _>>()?,
        private: message.bytes(10).unwrap_or_default().into(),
        importing,
        identity: Default::default(),
        generated_config: generated,
    };
    Ok(RawChange { change, before, after, identities })
}

/// The values before and after: which of them are written depends on the action.
type Values<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

fn values<'a>(change: &Message<'a>, action: Action) -> Result<Values<'a>, PlanFileError> {
    let values = change.messages(2).map(|value| Ok(value?.bytes(1).unwrap_or_default()));
    let values = values.collect::<Result<Vec<&[u8]>, PlanFileError>>()?;
    let missing = PlanFileError::Incomplete("missing planned value");
    let first = || values.first().copied().ok_or(missing.clone()).map(Some);
    Ok(match action {
        Action::NoOp => (first()?, first()?),
        Action::Create => (None, first()?),
        Action::Delete | Action::Forget => (first()?, None),
        _ => (first()?, Some(values.get(1).copied().ok_or(missing)?)),
    })
}

fn output_change(message: &Message<'_>) -> Result<OutputChange, PlanFileError> {
    let inner = message.message(2)?;
    let action = action(inner.number(1))?;
    let value = |value: Option<&[u8]>| match value {
        Some(bytes) => msgpack::decode(bytes, &Type::Dynamic),
        None => Ok(Value::null_dynamic()),
    };
    let (before, after) = values(&inner, action)?;
    Ok(OutputChange {
        name: message.text(1)?.into(),
        action,
        change: Change { before: value(before)?, after: value(after)? },
        sensitive: message.flag(3),
    })
}

fn check_result(message: &Message<'_>) -> Result<CheckResult, PlanFileError> {
    let object = |message: Result<Message<'_>, PlanFileError>| {
        let message = message?;
        let failures = message.all(3).map(|why| text(why).map(str::to_owned)).collect::<Result<_, _>>()?;
        Ok((message.text(1)?.to_owned(), status(message.number(2))?, failures))
    };
    let kind = match message.number(1) {
        1 => "resource",
        2 => "output_value",
        3 => "check",
        4 => "var",
        other => return Err(PlanFileError::number("unsupported kind of checkable object", other)),
    };
    Ok(CheckResult {
        kind: kind.into(),
        config_addr: message.text(2)?.to_owned(),
        status: status(message.number(3))?,
        objects: message.messages(4).map(object).collect::<Result<_, PlanFileError>>()?,
    })
}

fn status(number: u64) -> Result<CheckStatus, PlanFileError> {
    Ok(match number {
        0 => CheckStatus::Unknown,
        1 => CheckStatus::Pass,
        2 => CheckStatus::Fail,
        3 => CheckStatus::Error,
        other => return Err(PlanFileError::number("unsupported check status", other)),
    })
}

fn action(number: u64) -> Result<Action, PlanFileError> {
    Ok(match number {
        0 => Action::NoOp,
        1 => Action::Create,
        2 => Action::Read,
        3 => Action::Update,
        5 => Action::Delete,
        6 => Action::DeleteThenCreate,
        7 => Action::CreateThenDelete,
        8 => Action::Forget,
        // In 1.13, 10 is the order of objects without `create_before_destroy`.
        9 | 10 => Action::CreateThenForget,
        other => return Err(PlanFileError::number("invalid change action", other)),
    })
}

fn reason(number: u64) -> Result<ActionReason, PlanFileError> {
    Ok(match number {
        0 => ActionReason::None,
        1 => ActionReason::ReplaceBecauseTainted,
        2 => ActionReason::ReplaceByRequest,
        3 => ActionReason::ReplaceBecauseCannotUpdate,
        4 => ActionReason::DeleteBecauseNoResourceConfig,
        5 => ActionReason::DeleteBecauseWrongRepetition,
        6 => ActionReason::DeleteBecauseCountIndex,
        7 => ActionReason::DeleteBecauseEachKey,
        8 => ActionReason::DeleteBecauseNoModule,
        9 => ActionReason::ReplaceByTriggers,
        10 => ActionReason::ReadBecauseConfigUnknown,
        11 => ActionReason::ReadBecauseDependencyPending,
        12 => ActionReason::DeleteBecauseNoMoveTarget,
        13 => ActionReason::ReadBecauseCheckNested,
        14 => ActionReason::DeleteBecauseNotEnabled,
        15 => ActionReason::ForgetBecauseOfState,
        16 => ActionReason::ForgetBecauseOfConfig,
        other => return Err(PlanFileError::number("unsupported reason of an action", other)),
    })
}

fn dynamic(message: &Message<'_>) -> Result<Value, PlanFileError> {
    let bytes = message.bytes(1).ok_or(PlanFileError::Incomplete("a value has an unsupported serialization format"))?;
    Ok(msgpack::decode(bytes, &Type::Dynamic)?)
}

/// The backend, or the state store, which is described in the same way with its provider besides.
fn place_of_states(message: &Message<'_>) -> Result<BackendSettings, PlanFileError> {
    if message.bytes(29).is_none() {
        return backend(&message.message(13)?);
    }
    let store = message.message(29)?;
    let provider = store.message(4)?;
    let provider = StoreProviderSettings {
        source: provider.text(1)?.to_owned(),
        version: Some(provider.text(2)?.to_owned()),
        // The only mode for which a plan has a version that means anything.
        supply: "managed_by_terraform".to_owned(),
        config: config_text(&provider.message(3)?)?,
    };
    Ok(BackendSettings { provider: Some(provider), ..backend(&store)? })
}

fn backend(message: &Message<'_>) -> Result<BackendSettings, PlanFileError> {
    Ok(BackendSettings {
        kind: message.text(1)?.to_owned(),
        workspace: message.text(3)?.to_owned(),
        config: config_text(&message.message(2)?)?,
        provider: None,
    })
}

fn config_text(value: &Message<'_>) -> Result<String, PlanFileError> {
    let config = msgpack::to_json(value.bytes(1).unwrap_or_default())?;
    Ok(config.to_string())
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ModuleEntry {
    key: String,
    dir: String,
}

/// Adds the files of the modules as the loader names them; gives the record of the modules.
fn configuration(archive: &mut ZipArchive<Cursor<&[u8]>>, saved: &mut SavedPlan) -> Result<Vec<u8>, PlanFileError> {
    let record = member(archive, MODULES)?.ok_or(PlanFileError::NoMember(MODULES))?;
    let broken = |error: serde_json::Error| PlanFileError::member(MODULES, error);
    let entries: Vec<ModuleEntry> = serde_json::from_slice(&record).map_err(broken)?;
    let damaged = |error: zip::result::ZipError| PlanFileError::Archive(error.to_string());
    let names = archive.file_names().map(|name| name.map(|name| name.into_owned()).map_err(damaged));
    let names = names.collect::<Result<Vec<String>, PlanFileError>>()?;
    for ModuleEntry { key, dir } in entries {
        let folder = format!("tfconfig/m-{key}/");
        for name in names.iter().filter(|name| name.starts_with(&folder)) {
            let Some(content) = member(archive, name)? else { continue };
            let file = &name[folder.len()..];
            let path = if dir == "." { file.into() } else { FilePath::new(&dir).join(file) };
            saved.config.files.push((path, content));
        }
    }
    // The record in a working directory names the source of the root module too: none.
    let mut modules: Vec<serde_json::Map<String, serde_json::Value>> =
        serde_json::from_slice(&record).map_err(broken)?;
    for module in &mut modules {
        module.entry("Source").or_insert_with(|| "".into());
    }
    serde_json::to_vec(&serde_json::json!({ "Modules": modules })).map_err(broken)
}
