//! The messages of the JSON streams: one object per line, with the members that programs know.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::diag::Diagnostic;
use base::dialect::Dialect;
use base::name::PROGRAM;
use engine::event::{EphemeralVerb, Event, ObjectLabel};
use model::addr::{AbsResource, AbsResourceInstance, Provider};
use model::plan::{Action, ActionReason, OutputChange, ResourceChange};
use model::state::OutputValue;
use model::version::{at_least, compatible_version};
use serde_json::{Map, Value as Json, json};

use super::diagnostic::{diagnostic_json, severity_name};
use super::listing;
use super::message::{Message, resource, stream_name};
use super::output::output_json;
use crate::words::{Operation, awaited, duration, ephemeral, words};

/// Version of the stream's format.
const UI_VERSION: &str = "1.2";
/// The same with the messages of actions, of a query, or of state stores.
const NEWER_UI_VERSION: &str = "1.3";

/// The first message of every stream.
pub fn version(is_newer: bool, dialect: Dialect) -> Message {
    let key = stream_name(dialect);
    Message::new(
        "version",
        format!("{PROGRAM} {language}", language = compatible_version()),
        json!({ key: compatible_version(), "ui": if is_newer || at_least(15) { NEWER_UI_VERSION } else { UI_VERSION } }),
    )
}

pub fn log(text: impl Into<String>) -> Message {
    Message::new("log", text, Json::Null)
}

/// Why the provider of a state store may keep states, or that it may not; `kind` is the type of the message.
pub fn store_provider_trust(kind: &'static str, text: impl Into<String>) -> Message {
    Message::new(kind, text, Json::Null)
}

/// The provider of a state store is about to be installed.
pub fn store_provider_start(text: impl Into<String>) -> Message {
    Message::new("state_store_provider_installation_start", text, Json::Null)
}

/// A message of no kind.
pub fn note(text: impl Into<String>) -> Message {
    Message::new("", text, Json::Null)
}

/// As [`note`], of an error.
pub fn error(text: impl Into<String>) -> Message {
    note(text).at_level("error")
}

/// As [`note`], of a warning.
pub fn warning(text: impl Into<String>) -> Message {
    note(text).at_level("warn")
}

pub fn resource_address(addr: &AbsResourceInstance) -> Message {
    Message::new("resource_address", addr.to_string(), Json::Null)
}

pub fn workspaces(current: &str, names: &[String]) -> Message {
    let members = json!({ "current_workspace": current, "workspaces": names });
    Message::new("workspace_list", "list of workspaces", members)
}

/// The resources that get another provider.
pub fn provider_replacement(from: &Provider, to: &Provider, resources: &[AbsResource]) -> Message {
    let count = resources.len();
    let resources: Vec<String> = resources.iter().map(AbsResource::to_string).collect();
    let text = format!("{PROGRAM} will replace provider from {from} to {to} for {count} resources");
    Message::new(
        "replace_provider",
        text,
        json!({ "resources": resources, "from": from.to_string(), "to": to.to_string() }),
    )
}

/// A message of `init` with its code.
pub fn init_output(text: impl Into<String>, code: &str) -> Message {
    Message::new("init_output", text, json!({ "message_code": code }))
}

pub fn diagnostic(diagnostic: &Diagnostic) -> Message {
    let (level, word) = if diagnostic.is_error() { ("error", "Error") } else { ("warn", "Warning") };
    debug_assert!(level.starts_with(&severity_name(diagnostic.severity)[..4]));
    let document = serde_json::to_value(diagnostic_json(diagnostic)).unwrap_or(Json::Null);
    let text = format!("{word}: {}", diagnostic.summary);
    Message::new("diagnostic", text, json!({ "diagnostic": document })).at_level(level)
}

fn action_name(action: Action) -> &'static str {
    match action {
        Action::NoOp => "noop",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::Delete => "delete",
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget => "replace",
        Action::Forget => "remove",
    }
}

/// Events call replacements by shorter names than plans do.
fn reason_name(reason: ActionReason) -> Option<&'static str> {
    match reason {
        ActionReason::ReplaceBecauseCannotUpdate => Some("cannot_update"),
        ActionReason::ReplaceBecauseTainted => Some("tainted"),
        ActionReason::ReplaceByRequest => Some("requested"),
        ActionReason::ReplaceByTriggers => Some("replace_triggered_by"),
        other => other.json_name(),
    }
}

/// The words for actions in progress; reading is called refreshing here.
fn verbs(action: Action) -> Option<(&'static str, &'static str)> {
    match action {
        Action::Read => Some(("Refreshing", "Refresh")),
        other => words(other).map(|w| (w.doing, w.done)),
    }
}

/// The hook members of a change: resource, action, label and seconds passed, as far as there are any.
fn hook(addr: &AbsResourceInstance, action: Option<Action>, label: &Option<ObjectLabel>, seconds: Option<u64>) -> Json {
    let mut hook = Map::new();
    hook.insert("resource".into(), resource(addr));
    if let Some(action) = action {
        hook.insert("action".into(), action_name(action).into());
    }
    if let Some(label) = label {
        hook.insert("id_key".into(), label.key.as_str().into());
        if !label.value.is_empty() {
            hook.insert("id_value".into(), label.value.as_str().into());
        }
    }
    if let Some(seconds) = seconds {
        hook.insert("elapsed_seconds".into(), seconds.into());
    }
    json!({ "hook": hook })
}

fn label_text(label: &Option<ObjectLabel>) -> String {
    let label = label.as_ref().filter(|label| !label.value.is_empty());
    label.map_or(String::new(), |label| format!(" [{}={}]", label.key, label.value))
}

/// The message of an event, if it has one.
pub fn event(event: &Event, dialect: Dialect) -> Option<Message> {
    Some(match event {
        Event::RefreshStarted { addr, label, .. } => Message::new(
            "refresh_start",
            format!("{addr}: Refreshing state...{}", label_text(label)),
            hook(addr, None, label, None),
        ),
        Event::RefreshFinished { addr, label, .. } => Message::new(
            "refresh_complete",
            format!("{addr}: Refresh complete{}", label_text(label)),
            hook(addr, None, label, None),
        ),
        Event::ReadStarted { addr } => apply_started(addr, Action::Read, &None)?,
        // Observed: a data source that cannot be read has its diagnostics alone.
        Event::ReadFinished { failed: true, .. } => return None,
        Event::ReadFinished { addr, label, elapsed, .. } => apply_finished(addr, Action::Read, label, *elapsed, false)?,
        Event::ApplyStarted { addr, action, label, .. } => apply_started(addr, *action, label)?,
        Event::ApplyFinished { addr, action, label, elapsed, failed, .. } => {
            apply_finished(addr, *action, label, *elapsed, *failed)?
        }
        Event::ProvisionStarted { addr, kind } => {
            provision("provision_start", addr, kind, format!("{addr}: Provisioning with '{kind}'..."), None)
        }
        Event::ProvisionOutput { addr, kind, text, .. } => {
            provision("provision_progress", addr, kind, format!("{addr}: ({kind}): {text}"), Some(text))
        }
        Event::ProvisionFinished { addr, kind, failed: false } => {
            provision("provision_complete", addr, kind, format!("{addr}: ({kind}) Provisioning complete"), None)
        }
        Event::ProvisionFinished { addr, kind, failed: true } => {
            provision("provision_errored", addr, kind, format!("{addr}: ({kind}) Provisioning errored"), None)
        }
        Event::ActionStarted(_) | Event::ActionProgress { .. } | Event::ActionFinished { .. } => {
            super::actions::event(event)?
        }
        Event::EphemeralStarted { addr, verb } => {
            let text = format!("{addr}: {}...", ephemeral(*verb, dialect).doing);
            ephemeral_message("ephemeral_op_start", addr, *verb, text, None)
        }
        Event::EphemeralFinished { addr, verb, elapsed, failed } => {
            let (kind, end) =
                if *failed { ("ephemeral_op_errored", "errored") } else { ("ephemeral_op_complete", "complete") };
            let text = format!("{addr}: {} {end} after {}", ephemeral(*verb, dialect).done, duration(*elapsed));
            ephemeral_message(kind, addr, *verb, text, Some(*elapsed))
        }
        Event::RequestPending { subject, elapsed, .. } => {
            log(format!("{subject}: {}... [{} elapsed]", awaited(event)?, duration(*elapsed)))
        }
        Event::ListStarted { addr, config, sensitive } => listing::started(addr, config.as_ref(), sensitive),
        Event::Phase(_)
        | Event::RefreshFailed { .. }
        | Event::ListFinished(_)
        | Event::PolicyResult(_)
        | Event::QueryPolicies(_)
        | Event::Unchanged { .. }
        | Event::EphemeralDeferred { .. }
        | Event::ImportPlanned { .. }
        | Event::ImportRequested { .. }
        | Event::ImportPrepared { .. }
        | Event::ImportStarted { .. }
        | Event::ImportFinished { .. }
        | Event::Diagnostics(_) => return None,
    })
}

fn verb_name(verb: EphemeralVerb) -> &'static str {
    match verb {
        EphemeralVerb::Open => "open",
        EphemeralVerb::Renew => "renew",
        EphemeralVerb::Close => "close",
    }
}

fn ephemeral_message(
    kind: &'static str,
    addr: &AbsResourceInstance,
    verb: EphemeralVerb,
    text: String,
    elapsed: Option<Duration>,
) -> Message {
    let mut hook = Map::new();
    hook.insert("resource".into(), resource(addr));
    hook.insert("action".into(), verb_name(verb).into());
    if let Some(elapsed) = elapsed {
        hook.insert("elapsed_seconds".into(), seconds(elapsed).into());
    }
    Message::new(kind, text, json!({ "hook": hook }))
}

fn apply_started(addr: &AbsResourceInstance, action: Action, label: &Option<ObjectLabel>) -> Option<Message> {
    let (doing, _) = verbs(action)?;
    let text = format!("{addr}: {doing}...{}", label_text(label));
    Some(Message::new("apply_start", text, hook(addr, Some(action), label, None)))
}

fn apply_finished(
    addr: &AbsResourceInstance,
    action: Action,
    label: &Option<ObjectLabel>,
    elapsed: Duration,
    failed: bool,
) -> Option<Message> {
    let (_, done) = verbs(action)?;
    let seconds = seconds(elapsed);
    let after = duration(elapsed);
    if failed {
        let text = format!("{addr}: {done} errored after {after}");
        return Some(Message::new("apply_errored", text, hook(addr, Some(action), &None, Some(seconds))));
    }
    let label = if action == Action::Delete { &None } else { label };
    let text = format!("{addr}: {done} complete after {after}{}", label_text(label));
    Some(Message::new("apply_complete", text, hook(addr, Some(action), label, Some(seconds))))
}

fn seconds(elapsed: Duration) -> u64 {
    elapsed.as_secs_f64().round() as u64
}

/// A change still goes on.
pub fn still(addr: &AbsResourceInstance, operation: Operation, elapsed: Duration, dialect: Dialect) -> Option<Message> {
    let text = |doing: &str| format!("{addr}: Still {}... [{} elapsed]", doing.to_lowercase(), duration(elapsed));
    Some(match operation {
        Operation::Change(action) => {
            let text = text(verbs(action)?.0);
            Message::new("apply_progress", text, hook(addr, Some(action), &None, Some(seconds(elapsed))))
        }
        Operation::Ephemeral(verb) => {
            ephemeral_message("ephemeral_op_progress", addr, verb, text(ephemeral(verb, dialect).doing), Some(elapsed))
        }
    })
}

fn provision(
    kind: &'static str,
    addr: &AbsResourceInstance,
    provisioner: &str,
    text: String,
    output: Option<&String>,
) -> Message {
    let mut hook = Map::new();
    hook.insert("resource".into(), resource(addr));
    hook.insert("provisioner".into(), provisioner.into());
    if let Some(output) = output {
        hook.insert("output".into(), output.as_str().into());
    }
    Message::new(kind, text, json!({ "hook": hook }))
}

fn change_document(change: &ResourceChange) -> Json {
    let mut document = Map::new();
    document.insert("resource".into(), resource(&change.addr));
    if change.previous_addr != change.addr {
        document.insert("previous_resource".into(), resource(&change.previous_addr));
    }
    document.insert("action".into(), change_name(change).into());
    if let Some(reason) = reason_name(change.reason) {
        document.insert("reason".into(), reason.into());
    }
    if let Some(importing) = &change.importing {
        let import = match (&importing.id, &importing.identity) {
            (Some(id), _) => json!({ "id": id }),
            (_, Some(_)) => json!({}),
            (None, None) => json!({ "unknown": true }),
        };
        document.insert("importing".into(), import);
    }
    if let Some(config) = &change.generated_config {
        document.insert("generated_config".into(), config.as_str().into());
    }
    json!({ "change": document })
}

/// The action, or what a change without one is for.
fn change_name(change: &ResourceChange) -> &'static str {
    match change.action {
        Action::NoOp if change.previous_addr != change.addr => "move",
        Action::NoOp if change.importing.is_some() => "import",
        action => action_name(action),
    }
}

/// What the refresh found changed outside.
pub fn drift(change: &ResourceChange) -> Message {
    let text = format!("{}: Drift detected ({})", change.addr, change_name(change));
    Message::new("resource_drift", text, change_document(change))
}

pub fn planned_change(change: &ResourceChange) -> Message {
    let text = format!("{}: Plan to {}", change.addr, change_name(change));
    Message::new("planned_change", text, change_document(change))
}

/// How many objects are concerned; `operation` is "plan", "apply" or "destroy".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub add: usize,
    pub change: usize,
    pub import: usize,
    pub remove: usize,
    /// Objects that are left alone; only OpenTofu speaks of them.
    pub forget: Option<usize>,
    /// How many actions, and how many of those that were invoked failed; none: the configuration has no actions.
    pub actions: Option<(usize, usize)>,
}

pub fn change_summary(counts: Counts, operation: &str) -> Message {
    let Counts { add, change, import, remove, forget, actions } = counts;
    let forgotten = |words: &str| match forget.unwrap_or_default() {
        0 => String::new(),
        count => format!(", {count} {words}"),
    };
    let imported = |verb: &str| if import > 0 { format!("{import} {verb}, ") } else { String::new() };
    let (invoked, failed) = actions.unwrap_or_default();
    let counted = |words: &str| if invoked > 0 { format!(" Actions: {invoked} {words}") } else { String::new() };
    let text = match operation {
        "apply" => {
            let failed = if failed > 0 { format!("invoked, {failed} failed.") } else { "invoked.".to_owned() };
            format!(
                "Apply complete! Resources: {}{add} added, {change} changed, {remove} destroyed{}.{}",
                imported("imported"),
                forgotten("forgotten"),
                counted(&failed)
            )
        }
        "destroy" => format!("Destroy complete! Resources: {remove} destroyed.{}", counted("invoked.")),
        _ => format!(
            "Plan: {}{add} to add, {change} to change, {remove} to destroy{}.{}",
            imported("to import"),
            forgotten("to forget"),
            counted("to invoke.")
        ),
    };
    let mut changes = json!({ "add": add, "change": change, "import": import, "remove": remove });
    if let Some(forget) = forget {
        changes["forget"] = forget.into();
    }
    if actions.is_some() {
        changes["action_invocation"] = invoked.into();
        changes["action_fail"] = failed.into();
    }
    changes["operation"] = operation.into();
    Message::new("change_summary", text, json!({ "changes": changes }))
}

/// The outputs of a plan: what happens to each.
pub fn planned_outputs(outputs: &[OutputChange]) -> Option<Message> {
    if outputs.is_empty() {
        return None;
    }
    let document: Map<String, Json> = outputs
        .iter()
        .map(|o| (o.name.to_string(), json!({ "sensitive": o.sensitive, "action": action_name(o.action) })))
        .collect();
    Some(Message::new("outputs", format!("Outputs: {}", outputs.len()), json!({ "outputs": document })))
}

/// Outputs with their values, of which sensitive ones are left out.
pub fn outputs(outputs: &BTreeMap<Arc<str>, OutputValue>) -> Message {
    let document = outputs.iter().map(|(name, output)| (name.to_string(), output_json(output, !output.sensitive)));
    let document: Map<String, Json> = document.collect();
    Message::new("outputs", format!("Outputs: {}", outputs.len()), json!({ "outputs": document }))
}

#[cfg(test)]
mod tests {
    use model::addr::{InstanceKey, ModuleInstance, Provider, Resource};
    use terrane_protocol::schema::ResourceMode;

    use super::*;

    /// As the reference writes it.
    #[test]
    fn a_line_of_the_stream() {
        let module = ModuleInstance::root().child("m", InstanceKey::None);
        let addr = Resource::managed("terraform_data", "a").absolute(module).instance("k".into());
        let started = Event::ApplyStarted { addr, deposed: None, action: Action::Create, label: None };
        let expected = concat!(
            r#"{"@level":"info","@message":"module.m.terraform_data.a[\"k\"]: Creating...","@module":"terraform.ui","#,
            r#""@timestamp":"T","hook":{"resource":{"addr":"module.m.terraform_data.a[\"k\"]","module":"module.m","#,
            r#""resource":"terraform_data.a[\"k\"]","implied_provider":"terraform","resource_type":"terraform_data","#,
            r#""resource_name":"a","resource_key":"k"},"action":"create"},"type":"apply_start"}"#,
            "\n"
        );
        assert_eq!(event(&started, Dialect::default()).unwrap().line(Dialect::default(), "T"), expected);
    }

    /// Observed: they begin, and their diagnostics follow.
    #[test]
    fn data_sources_that_cannot_be_read_have_no_last_message() {
        let data = Resource { mode: ResourceMode::Data, ..Resource::managed("t", "a") };
        let addr = data.absolute(ModuleInstance::root()).instance(InstanceKey::None);
        let finished =
            |failed| Event::ReadFinished { addr: addr.clone(), label: None, elapsed: Duration::ZERO, failed };
        assert!(event(&finished(true), Dialect::default()).is_none());
        assert!(
            event(&finished(false), Dialect::default())
                .unwrap()
                .line(Dialect::default(), "T")
                .contains("\"type\":\"apply_complete\"")
        );
    }

    #[test]
    fn an_empty_id_is_not_shown() {
        let addr = Resource::managed("t", "a").absolute(ModuleInstance::root()).instance(InstanceKey::None);
        let read = |text: &str| {
            let label = Some(ObjectLabel { key: "name".to_string(), value: text.to_string() });
            event(&Event::RefreshStarted { addr: addr.clone(), deposed: None, label }, Dialect::default())
                .unwrap()
                .line(Dialect::default(), "T")
        };
        let some = read("n");
        assert!(some.contains(r#"t.a: Refreshing state... [name=n]""#), "{some}");
        assert!(some.contains(r#""id_key":"name","id_value":"n""#), "{some}");
        let empty = read("");
        assert!(empty.contains(r#"t.a: Refreshing state...""#), "{empty}");
        assert!(empty.contains(r#""id_key":"name""#) && !empty.contains("id_value"), "{empty}");
    }

    /// The type for texts that the reference's documentation offers to programs that show them.
    #[test]
    fn pending_requests_are_log_messages() {
        let pending = Event::RequestPending {
            subject: "provider[\"registry.terraform.io/hashicorp/test\"]".into(),
            provider: Provider::default_for("test"),
            request: "ConfigureProvider",
            elapsed: Duration::from_secs(80),
            stopping: false,
        };
        let expected = concat!(
            r#"{"@level":"info","@message":"provider[\"registry.terraform.io/hashicorp/test\"]: Still waiting for hashicorp/test "#,
            r#"to answer ConfigureProvider... [1m20s elapsed]","@module":"terraform.ui","@timestamp":"T","type":"log"}"#,
            "\n"
        );
        assert_eq!(event(&pending, Dialect::default()).unwrap().line(Dialect::default(), "T"), expected);
    }

    #[test]
    fn long_operations_on_ephemeral_objects_are_reported() {
        let addr = Resource::managed("t", "a").absolute(ModuleInstance::root()).instance(InstanceKey::None);
        let message =
            still(&addr, Operation::Ephemeral(EphemeralVerb::Renew), Duration::from_secs(10), Dialect::default())
                .unwrap();
        assert_eq!((message.kind, &*message.text), ("ephemeral_op_progress", "t.a: Still renewing... [10s elapsed]"));
        let hook = &message.members["hook"];
        assert_eq!((&hook["action"], &hook["elapsed_seconds"]), (&json!("renew"), &json!(10)));
    }

    #[test]
    fn summaries() {
        let counts = Counts { add: 1, change: 2, remove: 3, ..Counts::default() };
        assert_eq!(change_summary(counts, "plan").text, "Plan: 1 to add, 2 to change, 3 to destroy.");
        assert_eq!(change_summary(counts, "destroy").text, "Destroy complete! Resources: 3 destroyed.");
    }
}
