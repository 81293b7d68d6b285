//! `terrane-plan.json`: the plan itself as JSON.
//!
//! Values (module `values`) name their type by its number in a table, so that each type is written once; marks are lists of
//! paths beside them.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use lang::functions::signature::Fingerprint;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use terrane_protocol::provider::Identity;
use terrane_value::{Type, TypeError};

use super::addresses::{action_address, instance_of, placeholder_of, target_of, target_text};
use super::error::PlanFileError;
use super::invocations::{self, InvocationText};
use super::policies::{self, PoliciesText};
use super::values::{StepText, ValueReader, ValueText, ValueWriter};
use super::{BackendSettings, FORMAT, SavedPlan, StoreProviderSettings};
use crate::addr::AbsProviderConfig;
use crate::plan::{
    Action, ActionInvocation, ActionReason, Change, DEFAULT_PARALLELISM, DeferredChange, DeferredInvocation,
    DeferredReason, IdentityChange, Importing, Mode, OutputChange, PlanScope, Refresh, ResourceChange,
};
use crate::state::file::provider_config;
use crate::state::{CheckResult, CheckStatus, DeposedKey};
use crate::version::PROGRAM_VERSION;

#[derive(Serialize, Deserialize)]
struct Top {
    format: u32,
    program: String,
    mode: u32,
    types: Vec<Box<RawValue>>,
    changes: Vec<ChangeText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    invocations: Vec<InvocationText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    requested_actions: Vec<String>,
    /// Reason and change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deferred: Vec<(u32, ChangeText)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deferred_invocations: Vec<(u32, InvocationText)>,
    drift: Vec<ChangeText>,
    outputs: Vec<OutputText>,
    variables: Vec<(String, ValueText)>,
    ephemeral_variables: Vec<String>,
    targets: Vec<(u8, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    excludes: Vec<(u8, String)>,
    force_replace: Vec<String>,
    checks: Vec<CheckText>,
    timestamp: String,
    relevant: Vec<(String, Vec<StepText>)>,
    /// Call and result, in base64.
    function_results: Vec<(String, String)>,
    applyable: bool,
    complete: bool,
    errored: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    denied_by: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policies: Option<PoliciesText>,
    backend: (String, String, String),
    /// Source, version, supply and configuration of the provider of a state store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    store_provider: Option<(String, Option<String>, String, String)>,
    config: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct ChangeText {
    addr: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deposed: Option<String>,
    provider: String,
    action: u32,
    reason: u32,
    before: ValueText,
    after: ValueText,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replace: Vec<Vec<StepText>>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    private: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    importing: Option<ImportText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generated: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<IdentitiesText>,
}

/// Those before and after: the version of the schema, and the text of a JSON object.
#[derive(Serialize, Deserialize)]
struct IdentitiesText(Option<(i64, String)>, Option<(i64, String)>);

#[derive(Serialize, Deserialize)]
struct ImportText {
    id: Option<String>,
    #[serde(default)]
    identity: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct OutputText {
    name: String,
    action: u32,
    before: ValueText,
    after: ValueText,
    sensitive: bool,
}

#[derive(Serialize, Deserialize)]
struct CheckText {
    kind: String,
    addr: String,
    status: u32,
    objects: Vec<(String, u32, Vec<String>)>,
}

/// Both directions of the numbers that stand for the values of a type. A value without a number does not compile, and a
/// number without a value is an error.
macro_rules! numbered {
    ($number:ident, $item:ident, $ty:ty, $what:literal, { $($value:path = $code:literal,)* }) => {
        fn $number(item: $ty) -> u32 {
            match item {
                $($value => $code,)*
            }
        }

        fn $item(number: u32) -> Result<$ty, PlanFileError> {
            match number {
                $($code => Ok($value),)*
                _ => Err(PlanFileError::number(concat!("unknown ", $what), number)),
            }
        }
    };
}

numbered!(mode_number, mode_of, Mode, "planning mode", {
    Mode::Normal = 0,
    Mode::Destroy = 1,
    Mode::RefreshOnly = 2,
});

numbered!(action_number, action_of, Action, "action", {
    Action::NoOp = 0,
    Action::Create = 1,
    Action::Read = 2,
    Action::Update = 3,
    Action::Delete = 4,
    Action::DeleteThenCreate = 5,
    Action::CreateThenDelete = 6,
    Action::Forget = 7,
    Action::CreateThenForget = 8,
});

numbered!(reason_number, reason_of, ActionReason, "action reason", {
    ActionReason::None = 0,
    ActionReason::ReplaceBecauseCannotUpdate = 1,
    ActionReason::ReplaceBecauseTainted = 2,
    ActionReason::ReplaceByRequest = 3,
    ActionReason::ReplaceByTriggers = 4,
    ActionReason::DeleteBecauseNoResourceConfig = 5,
    ActionReason::DeleteBecauseWrongRepetition = 6,
    ActionReason::DeleteBecauseCountIndex = 7,
    ActionReason::DeleteBecauseEachKey = 8,
    ActionReason::DeleteBecauseNoModule = 9,
    ActionReason::DeleteBecauseNoMoveTarget = 10,
    ActionReason::ReadBecauseConfigUnknown = 11,
    ActionReason::ReadBecauseDependencyPending = 12,
    ActionReason::ReadBecauseCheckNested = 13,
    ActionReason::DeleteBecauseNotEnabled = 14,
    ActionReason::ForgetBecauseOfState = 15,
    ActionReason::ForgetBecauseOfConfig = 16,
});

numbered!(deferral_number, deferral_of, DeferredReason, "reason of a deferral", {
    DeferredReason::Unknown = 0,
    DeferredReason::InstanceCountUnknown = 1,
    DeferredReason::ResourceConfigUnknown = 2,
    DeferredReason::ProviderConfigUnknown = 3,
    DeferredReason::AbsentPrereq = 4,
    DeferredReason::DeferredPrereq = 5,
});

numbered!(status_number, status_of, CheckStatus, "check status", {
    CheckStatus::Unknown = 0,
    CheckStatus::Pass = 1,
    CheckStatus::Fail = 2,
    CheckStatus::Error = 3,
});

/// Errors: the plan cannot be written as JSON.
pub(super) fn encode(saved: &SavedPlan) -> serde_json::Result<Vec<u8>> {
    let mut writer = Writer::default();
    let plan = &saved.plan;
    let changes = plan.changes.iter().map(|c| writer.change(c)).collect();
    let invocations =
        plan.invocations.iter().map(|i| invocations::text_of(i, writer.values.value(&i.config))).collect();
    let deferred = plan.deferred.iter().map(|d| (deferral_number(d.reason), writer.change(&d.change))).collect();
    let invocation = |d: &DeferredInvocation| {
        let of = &d.invocation;
        (deferral_number(d.reason), invocations::text_of(of, writer.values.value(&of.config)))
    };
    let deferred_invocations = plan.deferred_invocations.iter().map(invocation).collect();
    let drift = plan.drift.iter().map(|c| writer.change(c)).collect();
    let outputs = plan.outputs.iter().map(|o| writer.output(o)).collect();
    let variables = plan.variables.iter().map(|(name, v)| (name.to_string(), writer.values.value(v))).collect();
    let relevant =
        plan.relevant_attributes.iter().map(|(addr, path)| (addr.to_string(), writer.values.path(path))).collect();
    let top = Top {
        format: FORMAT,
        program: PROGRAM_VERSION.into(),
        mode: mode_number(plan.scope.mode),
        changes,
        invocations,
        requested_actions: plan.scope.requested_actions.iter().map(ToString::to_string).collect(),
        deferred,
        deferred_invocations,
        drift,
        outputs,
        variables,
        ephemeral_variables: plan.ephemeral_variables.iter().map(|name| name.to_string()).collect(),
        targets: plan.scope.targets.iter().map(target_text).collect(),
        excludes: plan.scope.excludes.iter().map(target_text).collect(),
        force_replace: plan.scope.force_replace.iter().map(ToString::to_string).collect(),
        checks: plan.checks.iter().map(check_text).collect(),
        timestamp: plan.timestamp.clone(),
        relevant,
        function_results: plan
            .function_results
            .iter()
            .map(|(call, result)| (base64_of(call), base64_of(result)))
            .collect(),
        applyable: plan.applyable,
        complete: plan.complete,
        errored: plan.errored,
        denied_by: plan.denied_by.clone(),
        policies: policies::text_of(plan),
        backend: (saved.backend.kind.clone(), saved.backend.workspace.clone(), saved.backend.config.clone()),
        store_provider: saved.backend.provider.clone().map(|of| (of.source, of.version, of.supply, of.config)),
        config: saved.config.files.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect(),
        types: writer.values.types,
    };
    serde_json::to_vec(&top)
}

#[derive(Default)]
struct Writer {
    values: ValueWriter,
}

impl Writer {
    fn change(&mut self, change: &ResourceChange) -> ChangeText {
        let moved = change.previous_addr != change.addr;
        ChangeText {
            addr: change.addr.to_string(),
            previous: moved.then(|| change.previous_addr.to_string()),
            deposed: change.deposed.as_ref().map(|key| key.0.to_string()),
            provider: change.provider.to_string(),
            action: action_number(change.action),
            reason: reason_number(change.reason),
            before: self.values.value(&change.change.before),
            after: self.values.value(&change.change.after),
            replace: change.required_replace.iter().map(|path| self.values.path(path)).collect(),
            private: base64::engine::general_purpose::STANDARD.encode(&change.private),
            importing: change.importing.as_ref().map(|i| ImportText { id: i.id.clone(), identity: i.identity.clone() }),
            generated: change.generated_config.clone(),
            identity: identities_text(&change.identity),
        }
    }

    fn output(&mut self, output: &OutputChange) -> OutputText {
        OutputText {
            name: output.name.to_string(),
            action: action_number(output.action),
            before: self.values.value(&output.change.before),
            after: self.values.value(&output.change.after),
            sensitive: output.sensitive,
        }
    }
}

fn identities_text(change: &IdentityChange) -> Option<IdentitiesText> {
    let one = |identity: &Option<Identity>| identity.as_ref().map(|it| (it.schema_version, it.json.to_string()));
    (*change != IdentityChange::default()).then(|| IdentitiesText(one(&change.before), one(&change.after)))
}

fn identities(text: IdentitiesText) -> IdentityChange {
    let one =
        |text: Option<(i64, String)>| text.map(|(schema_version, json)| Identity { schema_version, json: json.into() });
    IdentityChange { before: one(text.0), after: one(text.1) }
}

fn check_text(check: &CheckResult) -> CheckText {
    let object = |(addr, status, messages): &(String, CheckStatus, Vec<String>)| {
        (addr.clone(), status_number(*status), messages.clone())
    };
    CheckText {
        kind: check.kind.to_string(),
        addr: check.config_addr.clone(),
        status: status_number(check.status),
        objects: check.objects.iter().map(object).collect(),
    }
}

/// Everything but the states, the lock file and the configuration's content; the paths of the configuration's files.
pub(super) fn decode(content: &[u8]) -> Result<(SavedPlan, Vec<String>), PlanFileError> {
    #[derive(Deserialize)]
    struct Version {
        format: u32,
        program: String,
    }
    let version: Version = serde_json::from_slice(content)?;
    if version.format != FORMAT || version.program != PROGRAM_VERSION {
        return Err(PlanFileError::OtherVersion(version.program));
    }
    let top: Top = serde_json::from_slice(content)?;
    let types =
        top.types.iter().map(|t| Type::from_json_bytes(t.get().as_bytes())).collect::<Result<_, TypeError>>()?;
    let mut reader = Reader { values: ValueReader { types }, providers: FxHashMap::default() };
    let mut saved = SavedPlan::default();
    let plan = &mut saved.plan;
    plan.scope = PlanScope {
        mode: mode_of(top.mode)?,
        targets: top.targets.into_iter().map(target_of).collect::<Result<_, _>>()?,
        excludes: top.excludes.into_iter().map(target_of).collect::<Result<_, _>>()?,
        force_replace: top.force_replace.iter().map(|text| instance_of(text)).collect::<Result<_, _>>()?,
        requested_actions: top.requested_actions.iter().map(|text| action_address(text)).collect::<Result<_, _>>()?,
        // Only the making of a plan asks for these.
        refresh: Refresh::All,
        deferral_allowed: false,
        generate_config: false,
        policies: Arc::default(),
        parallelism: DEFAULT_PARALLELISM,
    };
    plan.changes = reader.changes(top.changes)?;
    plan.invocations = top.invocations.into_iter().map(|text| reader.invocation(text)).collect::<Result<_, _>>()?;
    for (reason, text) in top.deferred {
        plan.deferred.push(DeferredChange { reason: deferral_of(reason)?, change: reader.change(text)? });
    }
    for (reason, text) in top.deferred_invocations {
        let invocation = reader.invocation(text)?;
        plan.deferred_invocations.push(DeferredInvocation { reason: deferral_of(reason)?, invocation });
    }
    plan.drift = reader.changes(top.drift)?;
    plan.outputs = top.outputs.into_iter().map(|o| reader.output(o)).collect::<Result<_, _>>()?;
    plan.variables = top
        .variables
        .into_iter()
        .map(|(name, value)| Ok((Arc::from(name), reader.values.value(value)?)))
        .collect::<Result<BTreeMap<_, _>, PlanFileError>>()?;
    plan.ephemeral_variables = top.ephemeral_variables.into_iter().map(Arc::from).collect();
    plan.checks = top.checks.into_iter().map(check_of).collect::<Result<_, _>>()?;
    plan.relevant_attributes = top
        .relevant
        .into_iter()
        .map(|(addr, path)| Ok((placeholder_of(&addr)?, reader.values.path(path)?)))
        .collect::<Result<_, PlanFileError>>()?;
    plan.function_results = top
        .function_results
        .iter()
        .map(|(call, result)| Ok((fingerprint_of(call)?, fingerprint_of(result)?)))
        .collect::<Result<_, PlanFileError>>()?;
    plan.timestamp = top.timestamp;
    (plan.applyable, plan.complete, plan.errored) = (top.applyable, top.complete, top.errored);
    plan.denied_by = top.denied_by;
    policies::read(top.policies, plan)?;
    let (kind, workspace, config) = top.backend;
    let provider = top.store_provider.map(|(source, version, supply, config)| StoreProviderSettings {
        source,
        version,
        supply,
        config,
    });
    saved.backend = BackendSettings { kind, workspace, config, provider };
    Ok((saved, top.config))
}

struct Reader {
    values: ValueReader,
    providers: FxHashMap<String, AbsProviderConfig>,
}

impl Reader {
    fn provider(&mut self, text: String) -> Result<AbsProviderConfig, PlanFileError> {
        if let Some(known) = self.providers.get(&text) {
            return Ok(known.clone());
        }
        let provider = provider_config(&text)?;
        self.providers.insert(text, provider.clone());
        Ok(provider)
    }

    fn invocation(&mut self, text: InvocationText) -> Result<Arc<ActionInvocation>, PlanFileError> {
        let provider = self.provider(text.provider.clone())?;
        let config = self.values.value(text.config.clone())?;
        invocations::of_text(text, provider, config).map(Arc::new)
    }

    fn changes(&mut self, list: Vec<ChangeText>) -> Result<Vec<ResourceChange>, PlanFileError> {
        list.into_iter().map(|text| self.change(text)).collect()
    }

    fn change(&mut self, text: ChangeText) -> Result<ResourceChange, PlanFileError> {
        let addr = placeholder_of(&text.addr)?;
        let previous_addr = match text.previous {
            Some(previous) => placeholder_of(&previous)?,
            None => addr.clone(),
        };
        let private = base64::engine::general_purpose::STANDARD.decode(text.private)?;
        Ok(ResourceChange {
            addr,
            previous_addr,
            deposed: text.deposed.map(|key| DeposedKey(key.into())),
            provider: self.provider(text.provider)?,
            action: action_of(text.action)?,
            reason: reason_of(text.reason)?,
            change: Change { before: self.values.value(text.before)?, after: self.values.value(text.after)? },
            required_replace: text.replace.into_iter().map(|path| self.values.path(path)).collect::<Result<_, _>>()?,
            private: private.into(),
            importing: text.importing.map(|i| Importing { id: i.id, identity: i.identity }),
            generated_config: text.generated,
            identity: text.identity.map(identities).unwrap_or_default(),
        })
    }

    fn output(&self, text: OutputText) -> Result<OutputChange, PlanFileError> {
        Ok(OutputChange {
            name: text.name.into(),
            action: action_of(text.action)?,
            change: Change { before: self.values.value(text.before)?, after: self.values.value(text.after)? },
            sensitive: text.sensitive,
        })
    }
}

fn base64_of(fingerprint: &Fingerprint) -> String {
    base64::engine::general_purpose::STANDARD_NO_PAD.encode(fingerprint)
}

fn fingerprint_of(text: &str) -> Result<Fingerprint, PlanFileError> {
    let bytes = base64::engine::general_purpose::STANDARD_NO_PAD.decode(text)?;
    bytes.try_into().map_err(|_| PlanFileError::not("fingerprint", text))
}

fn check_of(text: CheckText) -> Result<CheckResult, PlanFileError> {
    let object = |(addr, status, messages): (String, u32, Vec<String>)| Ok((addr, status_of(status)?, messages));
    Ok(CheckResult {
        kind: text.kind.into(),
        config_addr: text.addr,
        status: status_of(text.status)?,
        objects: text.objects.into_iter().map(object).collect::<Result<_, PlanFileError>>()?,
    })
}
