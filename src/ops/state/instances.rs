//! `state list`, `state identities`, `state show` and `state pull`.

use std::collections::BTreeMap;
use std::sync::Arc;

use backend::{StateAccess, load};
use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::addr::{AbsResourceInstance, Pattern, Target, command_line};
use model::state::file::{self as state_file, StateFile};
use model::state::{Attributes, Instance, State};
use terrane_value::Value;

use super::edits::check_configuration;
use crate::backends::read_state;
use crate::interface::options::StateOptions;
use crate::interface::planning::Schemas;
use crate::opentofu;
use crate::plugins::schemas;
use crate::setup::Setup;

/// Why a state command has nothing to show.
#[derive(Debug)]
pub enum ReadRefusal {
    /// There is no state.
    NoState,
    /// The state cannot be read.
    Unread(Diagnostics),
    Diagnostics(Diagnostics),
}

impl From<Diagnostics> for ReadRefusal {
    fn from(diagnostics: Diagnostics) -> ReadRefusal {
        ReadRefusal::Diagnostics(diagnostics)
    }
}

/// The instances of the state, in order: modules after what is not in one; those within the addresses, if any are given.
pub async fn list(
    setup: &Setup,
    options: &StateOptions,
    addresses: &[String],
    id: Option<&str>,
) -> Result<(Vec<AbsResourceInstance>, Diagnostics), ReadRefusal> {
    let (file, warnings) = read(setup, options).await?;
    let found = selected(&file.state, addresses, id)?;
    Ok((found.into_iter().map(|(addr, _)| addr).collect(), warnings))
}

/// `state identities`: what identifies the objects of the instances that `list` would give, by the text of their addresses. Each
/// is the text of a JSON object; instances without an identity are left out.
pub async fn identities(
    setup: &Setup,
    options: &StateOptions,
    addresses: &[String],
    id: Option<&str>,
) -> Result<(BTreeMap<String, Arc<str>>, Diagnostics), ReadRefusal> {
    let (file, warnings) = read(setup, options).await?;
    let identity = |(addr, instance): (AbsResourceInstance, &Instance)| {
        Some((addr.to_string(), instance.current.as_ref()?.identity.as_ref()?.json.clone()))
    };
    Ok((selected(&file.state, addresses, id)?.into_iter().filter_map(identity).collect(), warnings))
}

async fn read(setup: &Setup, options: &StateOptions) -> Result<(StateFile, Diagnostics), ReadRefusal> {
    let opened = read_state::open(setup, options).await?;
    let loaded = load(&opened.store, StateAccess::ReadOnly).await.map_err(ReadRefusal::Unread)?;
    Ok((loaded.file.ok_or(ReadRefusal::NoState)?, loaded.warnings))
}

/// The instances within the addresses, if any are given, whose attribute "id" is `id`, if that is given.
fn selected<'s>(
    state: &'s State,
    addresses: &[String],
    id: Option<&str>,
) -> Result<Vec<(AbsResourceInstance, &'s Instance)>, ReadRefusal> {
    let all = sorted(state);
    let mut found = if addresses.is_empty() { all.clone() } else { Vec::new() };
    let mut problems = Diagnostics::new();
    for text in addresses {
        match command_line::target(text) {
            Ok(target) => {
                let before = found.len();
                found.extend(all.iter().filter(|(addr, _)| target.contains(addr)).cloned());
                if found.len() == before {
                    problems.push(unknown(&target, state));
                }
            }
            Err(more) => problems.extend(more),
        }
    }
    if problems.has_errors() {
        return Err(problems.into());
    }
    found.retain(|(_, instance)| id.is_none_or(|id| id_of(instance).as_deref() == Some(id)));
    Ok(found)
}

/// As people expect instances to be listed: by module, data before managed, type, name, key.
pub(super) fn sorted(state: &State) -> Vec<(AbsResourceInstance, &Instance)> {
    let mut all: Vec<_> = state.instances().map(|(addr, _, instance)| (addr, instance)).collect();
    all.sort_by(|(a, _), (b, _)| {
        let depth = |addr: &AbsResourceInstance| addr.module.0.len();
        (depth(a), a).cmp(&(depth(b), b))
    });
    all
}

/// Nothing in the state has such an address.
pub(super) fn unknown(target: &Target, state: &State) -> Diagnostic {
    unknown_target(target).with_tip(state.close_address(&target.to_string()))
}

fn unknown_target(target: &Target) -> Diagnostic {
    let (summary, what, then) = match target {
        Target::Module(_) => (
            "Unknown module",
            "module",
            format!(
                "If you've just added this module to the configuration, you must run \"{COMMAND} apply\" first to create the module's entry in the state."
            ),
        ),
        Target::Instance(_) => (
            "Unknown resource instance",
            "resource instance",
            format!(
                "If you've just added its resource to the configuration or have changed the count or for_each arguments, you must run \"{COMMAND} apply\" first to update the resource's entry in the state."
            ),
        ),
        Target::Pattern(pattern) => return unmatched(pattern),
        Target::Resource(_) => (
            "Unknown resource",
            "resource",
            format!(
                "If you've just added this resource to the configuration, you must run \"{COMMAND} apply\" first to create the resource's entry in the state."
            ),
        ),
    };
    let at = if matches!(target, Target::Module(_)) { "at " } else { "" };
    Diagnostic::error(summary, format!("The current state contains no {what} {at}{target}. {then}"))
}

/// A pattern stands for nothing that is there.
pub(super) fn unmatched(pattern: &Pattern) -> Diagnostic {
    Diagnostic::error(
        "No matching resource instance",
        format!("The current state contains no resource instance that matches the pattern {pattern}."),
    )
}

fn id_of(instance: &Instance) -> Option<String> {
    match &instance.current.as_ref()?.attributes {
        Attributes::Json(text) => {
            let object: serde_json::Value = serde_json::from_str(text).ok()?;
            object.get("id")?.as_str().map(str::to_string)
        }
        Attributes::Flat(pairs) => pairs.iter().find(|(name, _)| name == "id").map(|(_, value)| value.clone()),
        Attributes::Value { value, .. } => value.get("id").and_then(Value::as_str).map(str::to_string),
    }
}

/// One instance with the schemas that it needs to be shown.
pub struct StoredInstance {
    pub addr: AbsResourceInstance,
    pub state: State,
    pub schemas: Schemas,
    pub warnings: Diagnostics,
}

/// Why an instance cannot be shown.
pub enum ShowRefusal {
    Read(ReadRefusal),
    /// The address does not name one instance; `text` is as given.
    Address(String),
    /// The state does not have it; a question about the address that was probably meant, or nothing.
    NotFound(String),
}

/// `state show`
pub async fn show(setup: &Setup, options: &StateOptions, address: &str) -> Result<StoredInstance, ShowRefusal> {
    let addr = command_line::resource_instance(address).map_err(|_| ShowRefusal::Address(address.to_string()))?;
    let current = read_state::current(setup, options).await;
    let (_, loaded) = current.map_err(|problems| ShowRefusal::Read(problems.into()))?;
    let Some(file) = loaded.file else { return Err(ShowRefusal::Read(ReadRefusal::NoState)) };
    let only = only(&file.state, &addr).ok_or_else(|| ShowRefusal::NotFound(file.state.close_address(address)))?;
    let schemas = schemas::of_state(setup, &only).await.map_err(|problems| ShowRefusal::Read(problems.into()))?;
    Ok(StoredInstance { addr, state: only, schemas, warnings: loaded.warnings })
}

/// A state with nothing but one instance.
fn only(state: &State, addr: &AbsResourceInstance) -> Option<State> {
    let resource = state.resources.get(&addr.containing_resource())?;
    let instance = resource.instances.get(addr.key()).filter(|instance| instance.current.is_some())?;
    let mut one = State::default();
    *one.instance_mut(addr, &resource.provider) = (**instance).clone();
    Some(one)
}

/// `state pull`: the stored snapshot as text, in the newest format. None: there is no state.
pub async fn pull(setup: &Setup) -> Result<Option<Vec<u8>>, Diagnostics> {
    check_configuration(setup)?;
    let (_, loaded) = read_state::current(setup, &StateOptions::default()).await?;
    match loaded.file {
        None => Ok(None),
        Some(file) if opentofu::pulls_compact_states(setup.dialect()) => {
            state_file::write_compact(&file.meta, &file.state).map(Some)
        }
        Some(file) => state_file::write(&file.meta, &file.state).map(Some),
    }
}
