//! Messages of the streams that no short run writes: of providers that are slow or fail, of actions, queries and state stores.
//!
//! Owns made-up events; the messages are those of `render`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base::diag::Diagnostic;
use base::dialect::Dialect;
use base::source::{SourceFile, Span};
use engine::event::{EphemeralVerb, Event, ObjectLabel};
use model::addr::{
    AbsProviderConfig, AbsResourceInstance, Action as ActionAddress, InstanceKey, ModuleInstance, Provider, Resource,
};
use model::config::policy_file::PolicyLevel;
use model::config::{ActionEvent, OnActionFailure};
use model::plan::{
    Action, ActionInvocation, GeneratedImport, InvocationTrigger, LifecycleTrigger, ListPolicies, ListResults,
    ListedObject, ObjectPolicies, PolicyFinding, PolicyInfo, PolicyOutcome, PolicyReport, PolicyVerdict,
};
use render::json::message::Message;
use render::json::{actions, events, listing, policies, query_policies, testing};
use render::words::Operation;
use serde_json::Value as Json;
use terrane_value::Value;

const SECONDS: Duration = Duration::from_secs(12);

/// One of each, as lines of a stream.
pub fn messages() -> Vec<Json> {
    let dialect = Dialect::default();
    let of_events = happened().into_iter().map(|event| events::event(&event, dialect).unwrap());
    let all = of_events.chain(ongoing(dialect)).chain(of_lists()).chain(of_tests()).chain(of_stores());
    let all = all.chain(policies::messages(&policy_report())).chain([query_policies::summary(&list_policies())]);
    let planned = [lifecycle(), request()].map(invocation).into_iter().map(|planned| actions::planned(&planned));
    let all = all.chain(planned);
    all.map(|message| serde_json::from_str(&message.line(dialect, "2026-01-02T03:04:05Z")).unwrap()).collect()
}

fn address() -> AbsResourceInstance {
    let module = ModuleInstance::root().child("m", InstanceKey::None);
    Resource::managed("test_thing", "a").absolute(module).instance("k".into())
}

fn happened() -> Vec<Event> {
    let (addr, kind) = (address(), Arc::from("local-exec"));
    let label = Some(ObjectLabel { key: "id".to_owned(), value: "1".to_owned() });
    let finished = |error: Option<&str>| Event::ActionFinished {
        invocation: Arc::new(invocation(lifecycle())),
        error: error.map(str::to_owned),
    };
    vec![
        Event::ApplyFinished {
            addr: addr.clone(),
            deposed: None,
            action: Action::DeleteThenCreate,
            label,
            elapsed: SECONDS,
            failed: true,
        },
        Event::ProvisionFinished { addr: addr.clone(), kind, failed: true },
        Event::EphemeralFinished { addr, verb: EphemeralVerb::Renew, elapsed: SECONDS, failed: true },
        Event::ActionStarted(Arc::new(invocation(request()))),
        Event::ActionProgress { invocation: Arc::new(invocation(lifecycle())), message: "half".to_owned() },
        finished(None),
        finished(Some("no")),
    ]
}

fn ongoing(dialect: Dialect) -> Vec<Message> {
    let operations = [Operation::Change(Action::Delete), Operation::Ephemeral(EphemeralVerb::Open)];
    operations.into_iter().filter_map(|operation| events::still(&address(), operation, SECONDS, dialect)).collect()
}

fn of_lists() -> Vec<Message> {
    let object = |name: &str| Value::object([("name", Value::string(name))]);
    let generated = GeneratedImport { resource: "resource".to_owned(), import: "import".to_owned() };
    let listed =
        |state, generated| ListedObject { display_name: "A".to_owned(), identity: object("a"), state, generated };
    let objects = vec![listed(None, None), listed(Some(object("a")), Some(generated))];
    let results = ListResults { addr: address(), identity_version: 1, objects };
    let started = listing::started(&address(), Some(&object("x")), &["name".to_owned()]);
    listing::finished(&results).into_iter().chain([started, listing::started(&address(), None, &[])]).collect()
}

fn of_tests() -> Vec<Message> {
    let left = vec![("test_thing.a".to_owned(), None), ("test_thing.b".to_owned(), Some("00112233".to_owned()))];
    let states = BTreeMap::from([(String::new(), left.clone()), ("other".to_owned(), left.clone())]);
    let abandoned =
        testing::abandoned("a.tftest.hcl", Some("r"), &states, &["test_thing.c".to_owned()], vec!["s".to_owned()]);
    let kept = testing::left_over("a.tftest.hcl", Some("r"), true, &left, Some("s".to_owned()));
    [testing::left_over("a.tftest.hcl", None, false, &left, None), kept].into_iter().chain(abandoned).collect()
}

fn of_stores() -> Vec<Message> {
    let kinds = ["provider_automatic_approval", "provider_interactive_approval", "provider_interactive_rejection"];
    let trust = kinds.map(|kind| events::store_provider_trust(kind, "text"));
    trust.into_iter().chain([events::store_provider_start("text")]).collect()
}

/// A policy that denies an object, with an `info_message`.
fn policy_report() -> PolicyReport {
    let policy = SourceFile::new("rules/a.policy.hcl", "resource_policy \"t\" \"p\" {\n  x\n}\n");
    let condition = || Span::new(28, 29).in_file(&policy);
    let diagnostic = Diagnostic::error("Policy violation", "D").at(condition()).about("test_thing.a");
    let info = PolicyInfo { message: "I".to_owned(), range: condition(), enforce: 1, verdict: PolicyVerdict::Deny };
    let outcome = PolicyOutcome {
        policy: "resource_policy.t.p".to_owned(),
        range: Span::new(0, 23).in_file(&policy),
        level: PolicyLevel::Mandatory,
        verdict: PolicyVerdict::Deny,
        infos: vec![info],
        findings: vec![PolicyFinding { diagnostic, enforce: Some(1), verdict: PolicyVerdict::Deny }],
    };
    let main = SourceFile::new("main.tf", "resource \"test_thing\" \"a\" {}\n");
    let place = Some(Span::new(0, 25).in_file(&main));
    PolicyReport { target: "test_thing.a".to_owned(), place, outcomes: vec![outcome] }
}

/// Policies of a query.
fn list_policies() -> ListPolicies {
    let identity = Value::object([("name", Value::string("a"))]);
    ListPolicies { list: address(), objects: vec![ObjectPolicies { identity, report: policy_report() }] }
}

fn invocation(trigger: InvocationTrigger) -> ActionInvocation {
    let action = ActionAddress { kind: "test_do".into(), name: "a".into() };
    ActionInvocation {
        addr: action.instance(InstanceKey::Int(0)).absolute(ModuleInstance::root()),
        provider: AbsProviderConfig::root(Provider::default_for("test")),
        trigger,
        config: Value::object([("text", Value::string("x"))]),
    }
}

fn lifecycle() -> InvocationTrigger {
    InvocationTrigger::Lifecycle(LifecycleTrigger {
        resource: address(),
        event: ActionEvent::AfterCreate,
        block: 0,
        position: 1,
        on_failure: OnActionFailure::Taint,
    })
}

fn request() -> InvocationTrigger {
    InvocationTrigger::Request { caller: Some(address()) }
}
