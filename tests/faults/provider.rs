//! A provider with faults: the built-in `null` behind something that breaks it. This very test binary serves it, when
//! a script made by [`script`] runs it.

use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;
use std::sync::Arc;

use async_trait::async_trait;
use builtin::table::{self, Make, Services};
use ops::plugins::other_states::Backends;
use terrane_protocol::provider::*;
use terrane_protocol::schema::{ProviderSchemas, StaticSchemas};
use terrane_protocol::serve::{self, Caller, Plugin};
use terrane_value::{Type, Value};

use crate::support::{Project, served};

/// Says which fault; not set in ordinary runs of the tests.
const FAULT: &str = "TERRANE_TEST_FAULT";

/// What the provider does with a resource whose `triggers` have a key `broken`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Plans other values than were written.
    Plan,
    /// Plans something else when it is asked again.
    Replan,
    /// Creates something else than it planned.
    Apply,
    /// Answers what is not known, after the apply.
    Unknown,
    /// Ends as Go programs do that panic.
    Panic,
    /// Never answers.
    Hang,
    /// Forgets the object, but calls it a success.
    Lose,
    /// Has more types, which the file `kinds.txt` of the working directory names.
    Schema,
}

const ALL: &[Fault] =
    &[Fault::Plan, Fault::Replan, Fault::Apply, Fault::Unknown, Fault::Panic, Fault::Hang, Fault::Lose, Fault::Schema];

/// Writes a program that is a provider with this fault.
pub fn script(project: &Project, below: &str, fault: Fault) {
    project.script(below, &served::launcher(FAULT, &format!("{fault:?}"), "faults::provider::serves"));
}

/// No test: what [`script`] runs.
#[test]
#[ignore = "a process of other tests"]
fn serves() {
    let Ok(wanted) = std::env::var(FAULT) else { return };
    let fault = *ALL.iter().find(|fault| format!("{fault:?}") == wanted).unwrap();
    let row = table::find("provider", "null").unwrap();
    let Make::Provider(make) = row.make else { panic!("null is a provider") };
    let services = Services {
        has_data_stores: false,
        dialect: Default::default(),
        remote_states: Arc::new(Backends { environment: Default::default(), services: Default::default() }),
    };
    let provider = Arc::new(Faulty { sound: make(&services), fault });
    let caller = Caller::from_environment(|name| std::env::var(name).ok()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let served = runtime.block_on(serve::serve(Plugin::Provider(provider), 5, caller, plugin::crypto(), |line| {
        // SAFETY: the script has opened it, and it has no other user.
        let mut out = unsafe { File::from_raw_fd(3) };
        writeln!(out, "{line}")
    }));
    std::process::exit(i32::from(served.is_err()));
}

struct Faulty {
    sound: Arc<dyn Provider>,
    fault: Fault,
}

impl Faulty {
    fn breaks(&self, fault: Fault, object: &Value) -> bool {
        let triggers = object.get("triggers").filter(|triggers| !triggers.is_null() && triggers.is_known());
        self.fault == fault && triggers.is_some_and(|triggers| triggers.get("broken").is_some())
    }
}

fn with(object: &Value, name: &str, value: Value) -> Value {
    let other = object
        .entries()
        .iter()
        .map(|(key, old)| (key.clone(), if **key == *name { value.clone() } else { old.clone() }));
    Value::object(other.collect::<Vec<_>>())
}

fn other_triggers() -> Value {
    Value::map(Type::String, [(Arc::<str>::from("broken"), Value::string("made up"))])
}

#[async_trait]
impl Provider for Faulty {
    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let proposed = request.proposed.clone();
        let kind = if self.fault == Fault::Schema { "null_resource".into() } else { request.kind.clone() };
        let mut response = self.sound.plan_resource_change(PlanRequest { kind, ..request.clone() }).await;
        if self.breaks(Fault::Plan, &proposed) {
            response.planned = with(&response.planned, "triggers", other_triggers());
        }
        if self.fault == Fault::Replan
            && proposed.get("triggers").is_some_and(|triggers| triggers.get("name").is_none())
        {
            // What is planned in the apply is planned anew, for its unknown values are known then.
            let again = std::path::Path::new("planned-once").exists();
            response.planned = with(&response.planned, "id", Value::string(if again { "late" } else { "early" }));
            let _ = std::fs::write("planned-once", "");
        }
        response.legacy_type_system = false;
        response
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        let planned = request.planned.clone();
        if self.breaks(Fault::Panic, &planned) {
            let text = "panic: assignment to entry in nil map\n\ngoroutine 41 [running]:\nmain.create(...)\n";
            let _ = std::io::stderr().write_all(text.as_bytes());
            std::process::exit(2);
        }
        if self.breaks(Fault::Hang, &planned) {
            let () = std::future::pending().await;
        }
        let mut response = self.sound.apply_resource_change(request).await;
        if self.breaks(Fault::Apply, &planned) {
            response.new_state = with(&response.new_state, "triggers", other_triggers());
        } else if self.breaks(Fault::Unknown, &planned) {
            response.new_state = with(&response.new_state, "id", Value::unknown(Type::String));
        } else if self.breaks(Fault::Lose, &planned) {
            response.new_state = Value::null(response.new_state.ty().clone());
        }
        response.legacy_type_system = false;
        response
    }

    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        let sound = self.sound.schemas().await?;
        if self.fault != Fault::Schema {
            return Ok(sound);
        }
        let schema = sound.managed("null_resource").unwrap().unwrap();
        let more = std::fs::read_to_string("kinds.txt").unwrap_or_default();
        let kinds = std::iter::once("null_resource").chain(more.lines());
        Ok(Arc::new(StaticSchemas {
            managed: kinds.map(|kind| (Arc::from(kind), schema.clone())).collect(),
            capabilities: sound.capabilities(),
            ..StaticSchemas::default()
        }))
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        self.sound.validate_provider_config(config).await
    }

    async fn validate_resource_config(
        &self,
        kind: &str,
        config: Value,
        client: ClientCapabilities,
    ) -> ProviderDiagnostics {
        let kind = if self.fault == Fault::Schema { "null_resource" } else { kind };
        self.sound.validate_resource_config(kind, config, client).await
    }

    async fn validate_data_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.sound.validate_data_config(kind, config).await
    }

    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics {
        self.sound.configure(request).await
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        self.sound.upgrade_resource_state(request).await
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        self.sound.read_resource(request).await
    }

    async fn import_resource_state(&self, kind: &str, id: &str, client: ClientCapabilities) -> ImportResponse {
        self.sound.import_resource_state(kind, id, client).await
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        self.sound.move_resource_state(request).await
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        self.sound.read_data_source(request).await
    }

    async fn validate_ephemeral_config(&self, kind: &str, config: Value) -> ProviderDiagnostics {
        self.sound.validate_ephemeral_config(kind, config).await
    }

    async fn open_ephemeral(&self, kind: &str, config: Value, client: ClientCapabilities) -> OpenEphemeralResponse {
        self.sound.open_ephemeral(kind, config, client).await
    }

    async fn renew_ephemeral(&self, kind: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        self.sound.renew_ephemeral(kind, private).await
    }

    async fn close_ephemeral(&self, kind: &str, private: Vec<u8>) -> ProviderDiagnostics {
        self.sound.close_ephemeral(kind, private).await
    }

    async fn call_function(&self, name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        self.sound.call_function(name, arguments).await
    }

    async fn stop(&self) -> Result<(), String> {
        self.sound.stop().await
    }
}
