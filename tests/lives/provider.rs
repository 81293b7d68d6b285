//! The judge's provider: it serves objects that live on servers, and records what it was configured with and all that it is
//! asked. This very test binary serves it, when a program made by [`install`] runs it, under any of the names in [`NAMES`].
//!
//! A server is a folder below `servers` in the working directory, an object a file in it. All that the provider makes up
//! follows from the name of the object and from how often it was created and changed, so that two programs get the same.

use std::fs::File;
use std::io::Write;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value as Json, json};
use terrane_protocol::provider::*;
use terrane_protocol::schema::{Attribute, Block, ProviderSchemas, Schema, StaticSchemas};
use terrane_value::{Path, Type, Value, json as value_json};

use crate::support::served;

/// The local names of the providers; all are the same program.
pub const NAMES: &[&str] = &["alpha", "beta", "gamma"];

/// Names the provider; not set in ordinary runs of the tests.
const NAME: &str = "TERRANE_TEST_LIVES_NAME";

/// What was asked, one JSON object in a line, in the working directory.
pub const LOG: &str = "requests.log";

/// Writes the programs, and returns the folder of each.
pub fn install(folder: &FilePath) -> Vec<(&'static str, PathBuf)> {
    use std::os::unix::fs::PermissionsExt;
    let program = |name: &&'static str| {
        let own = folder.join("providers").join(name);
        std::fs::create_dir_all(&own).unwrap();
        let file = own.join(format!("terraform-provider-{name}"));
        std::fs::write(&file, served::launcher(NAME, name, "lives::provider::serves")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        (*name, own)
    };
    NAMES.iter().map(program).collect()
}

/// No test: what [`install`] runs.
#[test]
#[ignore = "a process of other tests"]
fn serves() {
    let Some(name) = std::env::var(NAME).ok() else { return };
    served::serve(Arc::new(Judge { schemas: schemas(&name), name, configured: Mutex::new(None) }))
}

struct Judge {
    name: String,
    schemas: Arc<StaticSchemas>,
    configured: Mutex<Option<Configured>>,
}

/// What the provider was configured with.
#[derive(Clone)]
struct Configured {
    /// None: the name of the server is not known.
    server: Option<String>,
    label: String,
}

fn schemas(name: &str) -> Arc<StaticSchemas> {
    let of = |list: &[(&str, &str, Type)]| Arc::new(Schema::new(0, block(list)));
    let (text, any) = (Type::String, Type::Dynamic);
    let thing = of(&[
        ("name", "r", text.clone()),
        ("value", "o", any.clone()),
        ("force", "o", text.clone()),
        ("fails", "o", text.clone()),
        ("id", "c", text.clone()),
        ("url", "c", text.clone()),
        ("made", "c", text.clone()),
    ]);
    let look = of(&[("key", "o", text.clone()), ("filter", "o", any.clone()), ("found", "c", text.clone())]);
    let key = of(&[("name", "o", text.clone()), ("token", "c", text.clone())]);
    let settings = of(&[("server", "o", text.clone()), ("label", "o", text.clone()), ("extra", "o", any)]);
    let kind = |kind: &str, schema: Arc<Schema>| (Arc::from(format!("{name}_{kind}")), schema);
    Arc::new(StaticSchemas {
        provider: settings,
        managed: [kind("thing", thing.clone()), kind("item", thing)].into_iter().collect(),
        data: [kind("look", look)].into_iter().collect(),
        ephemeral: [kind("key", key)].into_iter().collect(),
        capabilities: terrane_protocol::schema::Capabilities { move_resource_state: true, ..Default::default() },
        ..StaticSchemas::default()
    })
}

fn block(list: &[(&str, &str, Type)]) -> Block {
    let attribute = |(name, flag, ty): &(&str, &str, Type)| {
        let mut attribute = Attribute::new(ty.clone());
        (attribute.required, attribute.optional, attribute.computed) = (*flag == "r", *flag == "o", *flag == "c");
        (Arc::from(*name), attribute)
    };
    Block { attributes: list.iter().map(attribute).collect(), ..Block::default() }
}

/// A value for the log: as in JSON, with `{"$unknown": true}`.
fn shown(value: &Value) -> Json {
    if !value.is_known() {
        return json!({"$unknown": true});
    }
    match value.ty() {
        _ if value.is_null() => Json::Null,
        Type::Object(_) | Type::Map(_) => {
            Json::Object(value.entries().iter().map(|(name, part)| (name.to_string(), shown(part))).collect())
        }
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => value.elements().iter().map(shown).collect(),
        _ => serde_json::from_str(&value_json::to_simple_json(value).unwrap()).unwrap(),
    }
}

fn part(value: &Value, name: &str) -> Value {
    let found = value.entries().iter().find(|(own, _)| &***own == name).map(|(_, part)| part.clone());
    found.unwrap_or_else(|| Value::null(Type::String))
}

/// A known text; none where it is null or unknown.
fn text(value: &Value, name: &str) -> Option<String> {
    let part = part(value, name);
    (part.is_known() && !part.is_null()).then(|| part.as_str().unwrap_or_default().to_owned())
}

/// The value with other parts.
fn with(value: &Value, parts: &[(&str, Value)]) -> Value {
    let replaced = value.transform::<()>(&mut |path, old| {
        let found = parts.iter().find(|(name, _)| *path == Path::new().attr(*name));
        Ok(found.map_or(old, |(_, new)| new.clone()))
    });
    replaced.unwrap()
}

fn known(text: impl AsRef<str>) -> Value {
    Value::string(text.as_ref())
}

fn unknown() -> Value {
    Value::unknown(Type::String)
}

impl Judge {
    fn log(&self, call: &str, mut facts: Json) {
        facts["provider"] = json!(self.name);
        facts["call"] = json!(call);
        if call != "configure" {
            let configured = self.configured();
            facts["at"] = match configured.server {
                Some(server) => json!(format!("{server}/{}", configured.label)),
                None => json!({"$unknown": true}),
            };
        }
        let mut log = File::options().append(true).create(true).open(LOG).unwrap();
        log.write_all(format!("{facts}\n").as_bytes()).unwrap();
    }

    fn configured(&self) -> Configured {
        let nothing = Configured { server: Some("unconfigured".to_owned()), label: String::new() };
        self.configured.lock().unwrap().clone().unwrap_or(nothing)
    }

    /// The file of an object; none where the server is not known.
    fn file(&self, object: &Value) -> Option<PathBuf> {
        let id = text(object, "id").unwrap_or_default();
        Some(PathBuf::from("servers").join(self.configured().server?).join(format!("{id}.json")))
    }

    /// Creates an object, or changes it.
    fn keep(&self, prior: &Value, planned: &Value) -> Result<Value, String> {
        let server = self.configured().server.ok_or("the server is not known")?;
        let folder = PathBuf::from("servers").join(server);
        std::fs::create_dir_all(&folder).unwrap();
        let name = text(planned, "name").unwrap_or_default();
        let id = match text(prior, "id") {
            Some(id) => id,
            None => format!("{name}-{}", next(&folder.join(format!("{name}.count")))),
        };
        let version = next(&folder.join(format!("{id}.version")));
        let made = with(
            planned,
            &[("id", known(&id)), ("url", known(format!("{id}.url"))), ("made", made(planned, &id, version))],
        );
        std::fs::write(folder.join(format!("{id}.json")), shown(&made).to_string()).unwrap();
        Ok(made)
    }

    fn is_failing(&self, object: &Value, verb: &str) -> ProviderDiagnostics {
        let is_asked = text(object, "fails").is_some_and(|asked| asked == verb);
        let error = || ProviderDiagnostic::error(format!("Cannot {verb}"), "As asked.");
        is_asked.then(error).into_iter().collect()
    }
}

/// What was planned, or the version where that was left open.
fn made(planned: &Value, id: &str, version: u64) -> Value {
    let planned = part(planned, "made");
    if planned.is_known() && !planned.is_null() { planned } else { known(format!("{id}.v{version}")) }
}

/// Counts in a file.
fn next(file: &FilePath) -> u64 {
    let count = std::fs::read_to_string(file).ok().and_then(|text| text.parse().ok()).unwrap_or(0) + 1;
    std::fs::write(file, format!("{count}")).unwrap();
    count
}

/// Some objects take longer than others, so that what does not wait for them is seen.
async fn dawdle(object: &Value) {
    let name = text(object, "name").unwrap_or_default();
    let sum: u64 = name.bytes().map(u64::from).sum();
    tokio::time::sleep(Duration::from_millis(sum % 4 * 8)).await;
}

fn about(object: &Value) -> Json {
    json!({"name": shown(&part(object, "name")), "id": shown(&part(object, "id"))})
}

#[async_trait]
impl Provider for Judge {
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

    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics {
        self.log("configure", json!({"config": shown(&request.config)}));
        let server = part(&request.config, "server");
        let name =
            |value: &Value| if value.is_null() { "default" } else { value.as_str().unwrap_or("default") }.to_owned();
        let configured = Configured {
            server: server.is_known().then(|| name(&server)),
            label: shown(&part(&request.config, "label")).to_string(),
        };
        *self.configured.lock().unwrap() = Some(configured);
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        let RawState::Json(stored) = &request.raw else { panic!("a state of before version 4") };
        let ty = self.schemas.managed[&request.kind].implied_type();
        (value_json::from_json(stored, ty).unwrap(), Vec::new())
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let mut facts = about(&request.current);
        facts["type"] = json!(request.kind);
        self.log("read", facts);
        let diagnostics = self.is_failing(&request.current, "read");
        // What cannot be asked is taken as it was.
        let is_there = self.file(&request.current).is_none_or(|file| file.exists());
        let gone = || Value::null(request.current.ty().clone());
        ReadResponse {
            new_state: if is_there { request.current.clone() } else { gone() },
            deferred: None,
            identity: None,
            private: request.private,
            diagnostics,
        }
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let (prior, proposed) = (&request.prior, &request.proposed);
        let facts = json!({
            "type": request.kind, "name": shown(&part(proposed, "name")),
            "prior": shown(prior), "proposed": shown(proposed), "config": shown(&request.config),
        });
        self.log("plan", facts);
        let changes = |name: &&&str| shown(&part(prior, name)) != shown(&part(proposed, name));
        let mut replaced = Vec::new();
        let planned = if proposed.is_null() {
            proposed.clone()
        } else if prior.is_null() {
            with(proposed, &[("id", unknown()), ("url", unknown()), ("made", unknown())])
        } else {
            replaced.extend(["name", "force"].iter().filter(changes).map(|name| Path::new().attr(*name)));
            let is_changed = ["name", "force", "value", "fails"].iter().any(|name| changes(&name));
            if is_changed { with(proposed, &[("made", unknown())]) } else { proposed.clone() }
        };
        PlanResponse {
            planned,
            deferred: None,
            identity: None,
            requires_replace: replaced,
            private: request.prior_private,
            legacy_type_system: false,
            diagnostics: self.is_failing(proposed, "plan"),
        }
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        let (prior, planned) = (&request.prior, &request.planned);
        let verb = match (prior.is_null(), planned.is_null()) {
            (true, _) => "create",
            (_, true) => "delete",
            _ => "update",
        };
        let object = if planned.is_null() { prior } else { planned };
        let mut facts = about(object);
        facts["type"] = json!(request.kind);
        facts["planned"] = shown(planned);
        self.log(&format!("{verb} begins"), facts.clone());
        dawdle(object).await;
        let mut diagnostics = self.is_failing(object, verb);
        let mut new_state = prior.clone();
        if diagnostics.is_empty() && planned.is_null() {
            let gone = self.file(prior).is_some_and(|file| std::fs::remove_file(file).is_ok());
            facts["gone"] = json!(gone);
            new_state = planned.clone();
        } else if diagnostics.is_empty() {
            match self.keep(prior, planned) {
                Ok(made) => new_state = made,
                Err(text) => diagnostics.push(ProviderDiagnostic::error("Cannot keep", text)),
            }
        }
        facts["id"] = shown(&part(if new_state.is_null() { prior } else { &new_state }, "id"));
        facts["failed"] = json!(!diagnostics.is_empty());
        self.log(&format!("{verb} ends"), facts);
        ApplyResponse {
            new_state,
            identity: None,
            private: request.planned_private,
            legacy_type_system: false,
            diagnostics,
        }
    }

    async fn import_resource_state(&self, kind: &str, id: &str, _: ClientCapabilities) -> ImportResponse {
        self.log("import", json!({"type": kind, "id": id}));
        let ty = self.schemas.managed[kind].implied_type().object_type().unwrap();
        let nulls = ty.attributes.iter().map(|(name, ty)| (name.clone(), Value::null(ty.clone())));
        let name = id.split('/').next().unwrap_or_default();
        let parts = [("name", known(name)), ("url", known(format!("{id}.url"))), ("made", known(format!("{id}.v0")))];
        let state = with(&with(&Value::object(nulls), &parts), &[("id", known(id.replace('/', "-")))]);
        if let Some(file) = self.file(&state) {
            // It was always there.
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, shown(&state).to_string()).unwrap();
        }
        let object = ImportedObject { kind: kind.into(), state, identity: None, private: Arc::from(&b""[..]) };
        ImportResponse::objects(vec![object])
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        self.log("move", json!({"from": request.source_kind, "type": request.target_kind}));
        let ty = self.schemas.managed[&request.target_kind].implied_type();
        let state = value_json::from_json(&request.source_state, ty).unwrap();
        MoveResponse { state, identity: None, private: request.source_private, diagnostics: Vec::new() }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        self.log("data", json!({"type": request.kind, "config": shown(&request.config)}));
        let Configured { server, label } = self.configured();
        let server = server.unwrap_or_else(|| "unknown".to_owned());
        let key = text(&request.config, "key").unwrap_or_default();
        let found = known(format!("{server}.{key}.{}", label.replace('"', "")));
        ReadDataResponse::new(with(&request.config, &[("found", found)]), Vec::new())
    }

    async fn validate_ephemeral_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn open_ephemeral(&self, kind: &str, config: Value, _: ClientCapabilities) -> OpenEphemeralResponse {
        self.log("open", json!({"type": kind, "config": shown(&config)}));
        let token = known(format!("token.{}", text(&config, "name").unwrap_or_default()));
        OpenEphemeralResponse {
            result: with(&config, &[("token", token)]),
            deferred: None,
            private: Vec::new(),
            renew_at: None,
            diagnostics: Vec::new(),
        }
    }

    async fn renew_ephemeral(&self, _: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        RenewEphemeralResponse { private, renew_at: None, diagnostics: Vec::new() }
    }

    async fn close_ephemeral(&self, kind: &str, _: Vec<u8>) -> ProviderDiagnostics {
        self.log("close", json!({"type": kind}));
        Vec::new()
    }

    async fn call_function(&self, _: &str, _: Vec<Value>) -> Result<Value, FunctionError> {
        panic!("there are no functions")
    }

    async fn stop(&self) -> Result<(), String> {
        Ok(())
    }
}
