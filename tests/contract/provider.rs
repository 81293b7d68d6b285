//! A provider of protocol 6 that answers as a script says, and logs what it is asked. This very test binary serves it,
//! when a program made by [`install`] runs it.
//!
//! The script is a JSON file: `types` (schemas), `capabilities`, and `answers`, a list per type and call. The first answer
//! whose `when` fits is given: `create`, `update`, `delete`, or `applying` for a plan within an apply. Without one, plans are the proposal with unknown values for what is computed and not set,
//! and an apply makes up what is unknown.

use std::fs::File;
use std::io::Write;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value as Json, json};
use terrane_protocol::provider::*;
use terrane_protocol::schema::{
    Attribute, AttributeShape, Block, Capabilities, NestedBlock, Nesting, ObjectShape, ProviderSchemas, Schema,
    StaticSchemas,
};
use terrane_value::{Path, PathStep, Type, Value, json as value_json};

use crate::support::{Project, served};

/// Names the script; not set in ordinary runs of the tests.
const SCRIPT: &str = "TERRANE_TEST_SCRIPT";

/// Writes a program that is the provider, and its script.
pub fn install(project: &Project, program: &str, script: &Json) {
    let at = project.write("script.json", &script.to_string());
    let text = served::launcher(SCRIPT, &at.display().to_string(), "contract::provider::serves");
    project.script(program, &text);
}

/// No test: what [`install`] runs.
#[test]
#[ignore = "a process of other tests"]
fn serves() {
    let Some(at) = std::env::var_os(SCRIPT).map(PathBuf::from) else { return };
    let script: Json = serde_json::from_slice(&std::fs::read(&at).unwrap()).unwrap();
    let provider = Arc::new(Scripted { schemas: schemas(&script), script, log: at.with_extension("log") });
    served::serve(provider)
}

struct Scripted {
    script: Json,
    schemas: Arc<StaticSchemas>,
    log: PathBuf,
}

fn schemas(script: &Json) -> Arc<StaticSchemas> {
    let types = script["types"].as_object().unwrap();
    let schema = |of: &Json| Arc::new(Schema::new(of["version"].as_i64().unwrap_or(0), block(of)));
    let all = || types.iter().map(|(name, of)| (Arc::from(&**name), schema(of)));
    let can = |name: &str| script["capabilities"].as_array().is_some_and(|all| all.contains(&json!(name)));
    Arc::new(StaticSchemas {
        managed: all().collect(),
        data: all().collect(),
        capabilities: Capabilities {
            plan_destroy: can("plan_destroy"),
            move_resource_state: can("move_resource_state"),
            ..Capabilities::default()
        },
        ..StaticSchemas::default()
    })
}

/// `{"attributes": {NAME: [FLAGS, TYPE] | [FLAGS, NESTING, {NAME: ...}]}, "blocks": {NAME: [NESTING, {...}]}}`.
fn block(of: &Json) -> Block {
    let blocks = of["blocks"].as_object().into_iter().flatten().map(|(name, nested)| {
        let (nesting, block) = (nesting(&nested[0]), block(&nested[1]));
        (Arc::from(&**name), NestedBlock { block, nesting, min_items: 0, max_items: 0 })
    });
    Block { attributes: attributes(&of["attributes"]).collect(), blocks: blocks.collect(), ..Block::default() }
}

fn attributes(of: &Json) -> impl Iterator<Item = (Arc<str>, Attribute)> {
    of.as_object().into_iter().flatten().map(|(name, of)| {
        let mut attribute = Attribute::new(Type::Dynamic);
        attribute.shape = match of.get(2) {
            Some(inner) => AttributeShape::Nested(ObjectShape {
                attributes: attributes(inner).collect(),
                nesting: nesting(&of[1]),
            }),
            None => AttributeShape::Plain(Type::from_json(&of[1]).unwrap()),
        };
        let has = |flag: char| of[0].as_str().unwrap().contains(flag);
        (attribute.required, attribute.optional, attribute.computed) = (has('r'), has('o'), has('c'));
        (attribute.sensitive, attribute.write_only) = (has('s'), has('w'));
        (Arc::from(&**name), attribute)
    })
}

fn nesting(of: &Json) -> Nesting {
    match of.as_str().unwrap() {
        "single" => Nesting::Single,
        "list" => Nesting::List,
        "set" => Nesting::Set,
        "map" => Nesting::Map,
        other => panic!("no nesting: {other}"),
    }
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

/// The inverse of [`shown`] for a value of the type.
fn read(json: &Json, ty: &Type) -> Value {
    match json.get("$unknown") {
        Some(_) => Value::unknown(ty.clone()),
        None if ty.is_dynamic() => value_json::untyped(json),
        None => value_json::from_json_value(json, ty).unwrap(),
    }
}

/// The value with other parts: `{"a.0.k": VALUE}`; `{"": VALUE}` replaces the whole.
fn edited(value: Value, edits: &Json) -> Value {
    let mut value = value;
    for (path, new) in edits.as_object().into_iter().flatten() {
        let keys: Vec<&str> = path.split('.').filter(|key| !key.is_empty()).collect();
        let replaced =
            value.transform::<()>(&mut |at, old| Ok(if is_at(at, &keys) { read(new, old.ty()) } else { old }));
        value = replaced.unwrap();
    }
    value
}

fn is_at(path: &Path, keys: &[&str]) -> bool {
    let text = |step: &PathStep| match step {
        PathStep::Attr(name) => name.to_string(),
        PathStep::Index(key) => key.as_str().map_or_else(|| key.as_i64().unwrap_or(-1).to_string(), String::from),
    };
    path.len() == keys.len() && path.steps().iter().zip(keys).all(|(step, key)| text(step) == *key)
}

/// The proposal as a plan: null for write-only attributes, unknown for what is computed and null.
fn planned(schema: &Schema, proposed: &Value, creates: bool) -> Value {
    let planned = proposed.transform::<()>(&mut |path, value| {
        Ok(match attribute_at(&schema.block, path) {
            Some(attribute) if attribute.write_only => Value::null(value.ty().clone()),
            Some(attribute) if creates && attribute.computed && value.is_null() => {
                Value::unknown(attribute.implied_type())
            }
            _ => value,
        })
    });
    planned.unwrap()
}

fn attribute_at<'s>(block: &'s Block, path: &Path) -> Option<&'s Attribute> {
    let mut names = path.steps().iter().filter_map(|step| match step {
        PathStep::Attr(name) => Some(name),
        PathStep::Index(_) => None,
    });
    if !matches!(path.steps().last()?, PathStep::Attr(_)) {
        return None;
    }
    let mut block = block;
    let mut found = loop {
        let name = names.next()?;
        match block.blocks.get(name) {
            Some(nested) => block = &nested.block,
            None => break block.attributes.get(name)?,
        }
    };
    for name in names {
        found = found.nested()?.attributes.get(name)?;
    }
    Some(found)
}

/// Made-up values for what is unknown.
fn made(planned: &Value) -> Value {
    let make = |value: Value| match value.ty() {
        _ if value.is_known() => value,
        Type::Number => Value::int(7),
        Type::Bool => Value::bool(true),
        Type::String | Type::Dynamic => Value::string("made"),
        ty => Value::null(ty.clone()),
    };
    planned.transform::<()>(&mut |_, value| Ok(make(value))).unwrap()
}

impl Scripted {
    /// Logs a call, and gives the scripted answer; null if there is none.
    fn answer(&self, kind: &str, call: &str, mut facts: Json) -> &Json {
        let prior = facts.get("prior").is_some_and(Json::is_null);
        let verb = match facts.get("planned").or(facts.get("proposed")) {
            Some(planned) if planned.is_null() => "delete",
            Some(_) if prior => "create",
            _ => "update",
        };
        // Requests of an apply allow deferrals.
        let applying = facts["deferral"] == json!(true);
        facts["call"] = json!(call);
        facts["type"] = json!(kind);
        let mut log = File::options().append(true).create(true).open(&self.log).unwrap();
        log.write_all(format!("{facts}\n").as_bytes()).unwrap();
        let fits = |answer: &&Json| match answer["when"].as_str() {
            None => true,
            Some("applying") => applying,
            Some(when) => when == verb,
        };
        let answers = self.script["answers"][kind][call].as_array();
        answers.and_then(|all| all.iter().find(fits)).unwrap_or(&Json::Null)
    }

    fn schema(&self, kind: &str) -> &Arc<Schema> {
        &self.schemas.managed[kind]
    }

    fn identity(&self, kind: &str, answer: &Json) -> Option<Identity> {
        self.script["types"][kind].get("identity")?;
        let text = answer.get("identity").cloned().unwrap_or(json!({"name": "made"})).to_string();
        Some(Identity { schema_version: 0, json: text.into() })
    }
}

fn failures(answer: &Json) -> ProviderDiagnostics {
    answer["error"].as_str().map(|text| ProviderDiagnostic::error(text, "As scripted.")).into_iter().collect()
}

fn private(answer: &Json, otherwise: &[u8]) -> Arc<[u8]> {
    answer["private"].as_str().map_or(otherwise, str::as_bytes).into()
}

fn is_set(answer: &Json, name: &str) -> bool {
    answer[name] == json!(true)
}

fn deferral(answer: &Json) -> Option<DeferralReason> {
    is_set(answer, "deferred").then_some(DeferralReason::ResourceConfigUnknown)
}

fn text(private: &[u8]) -> String {
    String::from_utf8_lossy(private).into_owned()
}

#[async_trait]
impl Provider for Scripted {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Ok(self.schemas.clone())
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        (config, Vec::new())
    }

    async fn validate_resource_config(
        &self,
        kind: &str,
        config: Value,
        client: ClientCapabilities,
    ) -> ProviderDiagnostics {
        let facts = json!({"config": shown(&config), "deferral": client.deferral_allowed});
        failures(self.answer(kind, "validate", facts))
    }

    async fn validate_data_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn configure(&self, _: ConfigureRequest) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        let answer = self.answer(&request.kind, "upgrade", json!({"version": request.version}));
        let RawState::Json(stored) = &request.raw else { panic!("a state of before version 4") };
        let stored = value_json::from_json(stored, self.schema(&request.kind).implied_type()).unwrap();
        (edited(stored, &answer["set"]), failures(answer))
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        let facts = json!({"current": shown(&request.current), "private": text(&request.private), "deferral": request.client.deferral_allowed});
        let answer = self.answer(&request.kind, "read", facts);
        ReadResponse {
            new_state: edited(request.current, &answer["set"]),
            deferred: deferral(answer),
            identity: self.identity(&request.kind, answer),
            private: private(answer, &request.private),
            diagnostics: failures(answer),
        }
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let facts = json!({
            "prior": shown(&request.prior), "proposed": shown(&request.proposed), "config": shown(&request.config),
            "private": text(&request.prior_private), "deferral": request.client.deferral_allowed,
        });
        let answer = self.answer(&request.kind, "plan", facts);
        let planned = planned(self.schema(&request.kind), &request.proposed, request.prior.is_null());
        let replace = answer["replace"].as_array().into_iter().flatten();
        PlanResponse {
            planned: edited(planned, &answer["set"]),
            deferred: deferral(answer),
            identity: None,
            requires_replace: replace.map(|name| Path::new().attr(name.as_str().unwrap())).collect(),
            private: private(answer, &request.prior_private),
            legacy_type_system: is_set(answer, "legacy"),
            diagnostics: failures(answer),
        }
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        let facts = json!({
            "prior": shown(&request.prior), "planned": shown(&request.planned), "config": shown(&request.config),
            "private": text(&request.planned_private),
        });
        let answer = self.answer(&request.kind, "apply", facts);
        let identity = if request.planned.is_null() { None } else { self.identity(&request.kind, answer) };
        ApplyResponse {
            new_state: edited(made(&request.planned), &answer["set"]),
            identity,
            private: private(answer, &request.planned_private),
            legacy_type_system: is_set(answer, "legacy"),
            diagnostics: failures(answer),
        }
    }

    async fn import_resource_state(&self, kind: &str, id: &str, _: ClientCapabilities) -> ImportResponse {
        let answer = self.answer(kind, "import", json!({"id": id}));
        let ty = self.schema(kind).implied_type().object_type().unwrap();
        let nulls = ty.attributes.iter().map(|(name, ty)| (name.clone(), Value::null(ty.clone())));
        let state = edited(Value::object(nulls), &answer["set"]);
        let identity = self.identity(kind, answer);
        let object = ImportedObject { kind: kind.into(), state, identity, private: private(answer, b"") };
        let objects = answer["objects"].as_u64().unwrap_or(1) as usize;
        ImportResponse { objects: vec![object; objects], deferred: deferral(answer), diagnostics: failures(answer) }
    }

    async fn identity_schema(&self, kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        let identity = self.script["types"][kind]["identity"].as_object();
        let attributes = |of: &serde_json::Map<String, Json>| {
            of.iter()
                .map(|(name, ty)| (Arc::from(&**name), IdentityAttribute::required(Type::from_json(ty).unwrap())))
                .collect()
        };
        Ok(identity.map(|of| IdentitySchema { version: 0, attributes: attributes(of) }))
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        let facts = json!({"from": request.source_kind, "private": text(&request.source_private)});
        let answer = self.answer(&request.target_kind, "move", facts);
        let ty = self.schema(&request.target_kind).implied_type();
        let state = value_json::from_json(&request.source_state, ty).unwrap();
        MoveResponse {
            state: edited(state, &answer["set"]),
            identity: None,
            private: private(answer, &request.source_private),
            diagnostics: failures(answer),
        }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        let facts = json!({"config": shown(&request.config), "deferral": request.client.deferral_allowed});
        let answer = self.answer(&request.kind, "data", facts);
        ReadDataResponse {
            state: edited(made(&planned(self.schema(&request.kind), &request.config, true)), &answer["set"]),
            deferred: deferral(answer),
            diagnostics: failures(answer),
        }
    }

    async fn validate_ephemeral_config(&self, _: &str, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn open_ephemeral(&self, _: &str, _: Value, _: ClientCapabilities) -> OpenEphemeralResponse {
        panic!("there are no ephemeral resources")
    }

    async fn renew_ephemeral(&self, _: &str, _: Vec<u8>) -> RenewEphemeralResponse {
        panic!("there are no ephemeral resources")
    }

    async fn close_ephemeral(&self, _: &str, _: Vec<u8>) -> ProviderDiagnostics {
        panic!("there are no ephemeral resources")
    }

    async fn call_function(&self, _: &str, _: Vec<Value>) -> Result<Value, FunctionError> {
        panic!("there are no functions")
    }

    async fn stop(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The calls logged since the last question, of these kinds.
pub fn calls(project: &Project, kinds: &[&str]) -> Vec<Json> {
    let at = project.path("script.log");
    let log = std::fs::read_to_string(&at).unwrap_or_default();
    let _ = std::fs::remove_file(FilePath::new(&at));
    let read = log.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    read.filter(|call| kinds.contains(&call["call"].as_str().unwrap())).collect()
}
