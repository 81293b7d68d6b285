//! A provider that lists what exists: each object that exists is a file in a folder of the working directory, and so is each request that
//! came and each that was answered. By a file of faults it fails, stalls, dies, interrupts or kills the program that started it.
//! This very test binary serves it, when the program that [`install`] writes runs it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path as FilePath;
use std::sync::Arc;

use async_trait::async_trait;
use terrane_protocol::provider::*;
use terrane_protocol::schema::{Attribute, Block, ProviderSchemas, Schema, StaticSchemas};
use terrane_value::{Path, Type, Value, json as value_json};
use tokio::sync::watch;

use crate::support::{Project, served};

/// Says that this process is the provider; not set in ordinary runs of the tests.
const ROLE: &str = "TERRANE_TEST_LEDGER";

/// The only resource type.
pub const KIND: &str = "ledger_object";

/// A file per object that exists, named after its ID.
const OBJECTS: &str = "ledger/objects";
/// A file per request about an object, named after its number, with what was asked.
const REQUESTS: &str = "ledger/requests";
/// A file per request that was answered.
const ANSWERS: &str = "ledger/answers";
/// A file per fault that happens only once and has happened.
const SPENT: &str = "ledger/spent";
/// A line per fault.
const FAULTS: &str = "ledger/faults";

/// What goes wrong. Names are those of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The first destruction fails.
    DestroyOnce(String),
    DestroyAlways(String),
    /// The object is created, and yet its creation is an error.
    CreatePartial(String),
    /// It is not created.
    CreateRefused(String),
    /// At the request of this number.
    At(u64, Deed),
}

/// What the provider does at a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Interrupts the program, and goes on.
    Interrupt,
    InterruptTwice,
    /// Kills the program and ends. What was asked for is not done.
    KillBefore,
    /// As before, but it is done. It is not answered.
    KillAfter,
    /// Ends as Go programs do that panic.
    DieBefore,
    DieAfter,
    /// Interrupts the program twice, and answers only when it is asked to stop: with an error.
    Stall,
    /// Interrupts the program twice, and never answers.
    Hang,
}

const DEEDS: &[Deed] = &[
    Deed::Interrupt,
    Deed::InterruptTwice,
    Deed::KillBefore,
    Deed::KillAfter,
    Deed::DieBefore,
    Deed::DieAfter,
    Deed::Stall,
    Deed::Hang,
];

impl Fault {
    fn line(&self) -> String {
        match self {
            Fault::DestroyOnce(name) => format!("destroy-once {name}"),
            Fault::DestroyAlways(name) => format!("destroy-always {name}"),
            Fault::CreatePartial(name) => format!("create-partial {name}"),
            Fault::CreateRefused(name) => format!("create-refused {name}"),
            Fault::At(number, deed) => format!("{deed:?} {number}"),
        }
    }

    fn of_line(line: &str) -> Option<Fault> {
        let (word, rest) = line.split_once(' ')?;
        let name = rest.to_owned();
        Some(match word {
            "destroy-once" => Fault::DestroyOnce(name),
            "destroy-always" => Fault::DestroyAlways(name),
            "create-partial" => Fault::CreatePartial(name),
            "create-refused" => Fault::CreateRefused(name),
            _ => Fault::At(rest.parse().ok()?, *DEEDS.iter().find(|deed| format!("{deed:?}") == word)?),
        })
    }
}

/// A request as it was recorded.
#[derive(Clone, Debug)]
pub struct Request {
    pub number: u64,
    /// `read`, `plan`, `create`, `update` or `delete`.
    pub verb: String,
    pub name: String,
    /// Of the object that it is about; for a creation, the one that it makes.
    pub id: String,
    pub is_answered: bool,
}

/// Installs the provider in a project.
pub fn install(project: &mut Project) {
    let launcher = served::launcher(ROLE, "ledger", "faults::module_tests::provider::serves");
    let program = project.script("dev/terraform-provider-ledger", &launcher);
    let folder = program.parent().unwrap().display().to_string();
    let settings = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"example.com/test/ledger\" = {folder:?}\n  }}\n  direct {{}}\n}}\n"
    );
    let settings = project.write("settings.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);
    for folder in [OBJECTS, REQUESTS, ANSWERS, SPENT] {
        std::fs::create_dir_all(project.work().join(folder)).unwrap();
    }
}

/// From now on, these faults and no others.
pub fn set_faults(project: &Project, faults: &[Fault]) {
    let lines: String = faults.iter().map(|fault| fault.line() + "\n").collect();
    std::fs::write(project.work().join(FAULTS), lines).unwrap();
}

/// The objects that exist: their names by ID.
pub fn objects(project: &Project) -> BTreeMap<String, String> {
    let names = names_in(&project.work().join(OBJECTS)).into_iter();
    names.map(|id| (id.clone(), id.split('#').next().unwrap_or_default().to_owned())).collect()
}

/// All requests, in order. Those whose record is empty did nothing.
pub fn requests(project: &Project) -> Vec<Request> {
    let answered: BTreeSet<String> = names_in(&project.work().join(ANSWERS)).into_iter().collect();
    let mut all = Vec::new();
    for number in names_in(&project.work().join(REQUESTS)) {
        let text = std::fs::read_to_string(project.work().join(REQUESTS).join(&number)).unwrap();
        let mut words = text.split(' ').map(str::to_owned);
        let mut word = || words.next().unwrap_or_default();
        let (verb, name, id) = (word(), word(), word());
        let number_of = number.parse().unwrap();
        let id = if verb == "create" { id_of(&name, number_of) } else { id };
        all.push(Request { number: number_of, verb, name, id, is_answered: answered.contains(&number) });
    }
    all.sort_by_key(|request| request.number);
    all
}

fn names_in(folder: &FilePath) -> Vec<String> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn id_of(name: &str, number: u64) -> String {
    format!("{name}#{number}")
}

/// No test: what [`install`] runs.
#[test]
#[ignore = "a process of other tests"]
fn serves() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    // SAFETY: the call has no arguments and cannot fail.
    let parent = unsafe { libc::getppid() };
    served::serve(Arc::new(Ledger { schemas: schemas(), parent, stopped: watch::Sender::new(false) }))
}

struct Ledger {
    schemas: Arc<StaticSchemas>,
    /// The process of the program.
    parent: i32,
    stopped: watch::Sender<bool>,
}

fn schemas() -> Arc<StaticSchemas> {
    let attribute = |name: &str, flag: char| {
        let mut attribute = Attribute::new(Type::String);
        (attribute.required, attribute.optional, attribute.computed) = (flag == 'r', flag == 'o', flag == 'c');
        (Arc::from(name), attribute)
    };
    let list = [("name", 'r'), ("round", 'o'), ("value", 'o'), ("uses", 'o'), ("id", 'c')];
    let attributes = list.iter().map(|(name, flag)| attribute(name, *flag)).collect();
    let schema = Arc::new(Schema::new(0, Block { attributes, ..Block::default() }));
    Arc::new(StaticSchemas { managed: [(Arc::from(KIND), schema)].into_iter().collect(), ..StaticSchemas::default() })
}

/// A known text; else empty.
fn text(object: &Value, name: &str) -> String {
    let part = object.get(name).filter(|part| part.is_known() && !part.is_null());
    part.and_then(|part| part.as_str().map(str::to_owned)).unwrap_or_default()
}

fn with_id(object: &Value, id: Value) -> Value {
    let replaced =
        object.transform::<()>(&mut |path, old| Ok(if *path == Path::new().attr("id") { id.clone() } else { old }));
    replaced.unwrap()
}

/// Takes the next number, for all processes of the provider.
fn record(text: &str) -> u64 {
    let mut number = std::fs::read_dir(REQUESTS).unwrap().count() as u64;
    loop {
        number += 1;
        match File::options().write(true).create_new(true).open(format!("{REQUESTS}/{number}")) {
            Ok(mut file) => {
                file.write_all(text.as_bytes()).unwrap();
                return number;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{REQUESTS}: {error}"),
        }
    }
}

fn faults() -> Vec<Fault> {
    std::fs::read_to_string(FAULTS).unwrap_or_default().lines().filter_map(Fault::of_line).collect()
}

fn die() -> ! {
    let text = "panic: assignment to entry in nil map\n\ngoroutine 41 [running]:\nmain.create(...)\n";
    let _ = std::io::stderr().write_all(text.as_bytes());
    std::process::exit(2)
}

impl Ledger {
    fn signal(&self, number: i32) {
        // SAFETY: the calls touch no memory.
        unsafe {
            // An orphan has another parent, which must not be hit.
            if self.parent > 1 && libc::getppid() == self.parent {
                libc::kill(self.parent, number);
            }
        }
    }

    fn kill(&self) -> ! {
        self.signal(libc::SIGKILL);
        std::process::exit(0)
    }

    /// Records a request, and does what is to be done before it. Returns its number, and the error with which it ends at once, if it
    /// does.
    async fn begin(&self, verb: &str, object: &Value) -> (u64, Option<ProviderDiagnostic>) {
        let number = record(&format!("{verb} {} {}", text(object, "name"), text(object, "id")));
        match deed_at(number) {
            Some(Deed::Interrupt) => self.signal(libc::SIGINT),
            Some(Deed::InterruptTwice) => self.interrupt_twice(),
            Some(Deed::KillBefore) => self.kill(),
            Some(Deed::DieBefore) => die(),
            Some(Deed::Stall) => {
                self.interrupt_twice();
                let _ = self.stopped.subscribe().wait_for(|stopped| *stopped).await;
                self.end(number);
                return (number, Some(ProviderDiagnostic::error("Stopped", "The provider was asked to stop.")));
            }
            Some(Deed::Hang) => {
                self.interrupt_twice();
                let () = std::future::pending().await;
            }
            Some(Deed::KillAfter | Deed::DieAfter) | None => {}
        }
        (number, None)
    }

    fn interrupt_twice(&self) {
        self.signal(libc::SIGINT);
        // Another signal: the same one at once would be an echo.
        self.signal(libc::SIGTERM);
    }

    /// Records that the answer is sent now, unless it never is.
    fn end(&self, number: u64) {
        match deed_at(number) {
            Some(Deed::KillAfter) => self.kill(),
            Some(Deed::DieAfter) => die(),
            _ => drop(File::create(format!("{ANSWERS}/{number}")).unwrap()),
        }
    }

    fn create(&self, number: u64, planned: &Value) -> (Value, Option<ProviderDiagnostic>) {
        let name = text(planned, "name");
        let faults = faults();
        if faults.contains(&Fault::CreateRefused(name.clone())) {
            let refusal = ProviderDiagnostic::error("Cannot create", "As asked.");
            return (Value::null(planned.ty().clone()), Some(refusal));
        }
        let id = id_of(&name, number);
        File::options().write(true).create_new(true).open(format!("{OBJECTS}/{id}")).unwrap();
        let is_partial = faults.contains(&Fault::CreatePartial(name));
        let error = || ProviderDiagnostic::error("Cannot finish the creation", "The object exists.");
        (with_id(planned, Value::string(&id)), is_partial.then(error))
    }

    fn delete(&self, prior: &Value) -> Option<ProviderDiagnostic> {
        let (name, id) = (text(prior, "name"), text(prior, "id"));
        let faults = faults();
        let is_first = || File::options().write(true).create_new(true).open(format!("{SPENT}/{name}")).is_ok();
        let always = Fault::DestroyAlways(name.clone());
        if faults.contains(&always) || faults.contains(&Fault::DestroyOnce(name.clone())) && is_first() {
            return Some(ProviderDiagnostic::error("Cannot delete", "As asked."));
        }
        match std::fs::remove_file(format!("{OBJECTS}/{id}")) {
            Err(error) if error.kind() != ErrorKind::NotFound => panic!("{id}: {error}"),
            // What is gone already is deleted.
            _ => None,
        }
    }
}

fn deed_at(number: u64) -> Option<Deed> {
    faults().into_iter().find_map(|fault| match fault {
        Fault::At(at, deed) if at == number => Some(deed),
        _ => None,
    })
}

#[async_trait]
impl Provider for Ledger {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Ok(self.schemas.clone())
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        (config, Vec::new())
    }

    async fn validate_resource_config(&self, _: &str, _: Value, _: ClientCapabilities) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn validate_data_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn configure(&self, _: ConfigureRequest) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        let RawState::Json(stored) = &request.raw else { panic!("a state of before version 4") };
        let ty = self.schemas.managed[&request.kind].implied_type();
        (value_json::from_json(stored, ty).unwrap(), Vec::new())
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let (number, error) = self.begin("read", &request.current).await;
        let is_there = FilePath::new(OBJECTS).join(text(&request.current, "id")).exists();
        let gone = || Value::null(request.current.ty().clone());
        if error.is_none() {
            self.end(number);
        }
        ReadResponse {
            new_state: if is_there || error.is_some() { request.current.clone() } else { gone() },
            deferred: None,
            identity: None,
            private: request.private,
            diagnostics: error.into_iter().collect(),
        }
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let (prior, proposed) = (&request.prior, &request.proposed);
        let (number, error) = self.begin("plan", if proposed.is_null() { prior } else { proposed }).await;
        let mut replaced = Vec::new();
        let planned = if !proposed.is_null() && prior.is_null() {
            with_id(proposed, Value::unknown(Type::String))
        } else {
            if !proposed.is_null() && text(prior, "round") != text(proposed, "round") {
                replaced.push(Path::new().attr("round"));
            }
            proposed.clone()
        };
        if error.is_none() {
            self.end(number);
        }
        PlanResponse {
            planned,
            deferred: None,
            identity: None,
            requires_replace: replaced,
            private: request.prior_private,
            legacy_type_system: false,
            diagnostics: error.into_iter().collect(),
        }
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        let (prior, planned) = (&request.prior, &request.planned);
        let verb = match (prior.is_null(), planned.is_null()) {
            (true, _) => "create",
            (_, true) => "delete",
            _ => "update",
        };
        let (number, mut error) = self.begin(verb, if planned.is_null() { prior } else { planned }).await;
        let mut new_state = prior.clone();
        if error.is_none() {
            match verb {
                "create" => (new_state, error) = self.create(number, planned),
                "delete" => {
                    error = self.delete(prior);
                    new_state = if error.is_none() { planned.clone() } else { prior.clone() };
                }
                _ => new_state = planned.clone(),
            }
            self.end(number);
        }
        ApplyResponse {
            new_state,
            identity: None,
            private: request.planned_private,
            legacy_type_system: false,
            diagnostics: error.into_iter().collect(),
        }
    }

    async fn import_resource_state(&self, _: &str, _: &str, _: ClientCapabilities) -> ImportResponse {
        panic!("nothing is imported")
    }

    async fn move_resource_state(&self, _: MoveRequest) -> MoveResponse {
        panic!("nothing is moved")
    }

    async fn read_data_source(&self, _: ReadDataRequest) -> ReadDataResponse {
        panic!("there are no data sources")
    }

    async fn validate_ephemeral_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn open_ephemeral(&self, _: &str, _: Value, _: ClientCapabilities) -> OpenEphemeralResponse {
        panic!("there are no ephemeral resources")
    }

    async fn renew_ephemeral(&self, _: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        RenewEphemeralResponse { private, renew_at: None, diagnostics: Vec::new() }
    }

    async fn close_ephemeral(&self, _: &str, _: Vec<u8>) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn call_function(&self, _: &str, _: Vec<Value>) -> Result<Value, FunctionError> {
        panic!("there are no functions")
    }

    async fn stop(&self) -> Result<(), String> {
        self.stopped.send_replace(true);
        Ok(())
    }
}
