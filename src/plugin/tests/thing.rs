//! A provider for tests with something of every kind, all of them named `t_thing`.

use std::ops::ControlFlow;
use std::sync::Arc;

use async_trait::async_trait;
use terrane_protocol::provider::*;
use terrane_protocol::schema::{
    Attribute, Block, Capabilities, FunctionSignature, Parameter, ProviderSchemas, Schema, StaticSchemas,
};
use terrane_value::{Path, Type, Value};

/// The `id` of its resources is computed.
pub struct Thing;

pub fn thing_type() -> Type {
    Type::object([("id", Type::String), ("name", Type::String), ("tags", Type::map(Type::String))])
}

pub fn identity(name: &str) -> Identity {
    Identity { schema_version: 2, json: format!("{{\"name\":{name:?},\"place\":null}}").into() }
}

pub fn thing(name: &str, id: Value) -> Value {
    let tags = Value::map(Type::String, [("k", Value::string("v"))]);
    Value::object([("id", id), ("name", Value::string(name)), ("tags", tags)])
}

pub fn schemas() -> StaticSchemas {
    let (mut id, mut name) = (Attribute::new(Type::String), Attribute::new(Type::String));
    (id.computed, name.required) = (true, true);
    let mut tags = Attribute::new(Type::map(Type::String));
    tags.optional = true;
    let attributes = [(Arc::from("id"), id), (Arc::from("name"), name), (Arc::from("tags"), tags)].into();
    let schema = Arc::new(Schema::new(1, Block { attributes, ..Block::default() }));
    let settings = [("count", Type::Number), ("fail", Type::Bool)].map(|(name, ty)| {
        let attribute = Attribute { optional: true, ..Attribute::new(ty) };
        (Arc::from(name), attribute)
    });
    let settings = Arc::new(Schema::new(0, Block { attributes: settings.into(), ..Block::default() }));
    let parameter = Parameter {
        name: "text".to_owned(),
        ty: Type::String,
        allow_null: false,
        allow_unknown: false,
        description: String::new(),
        markdown: false,
    };
    let twice = FunctionSignature {
        parameters: vec![parameter],
        variadic: None,
        returns: Type::String,
        summary: String::new(),
        description: String::new(),
        markdown: false,
        deprecation_message: String::new(),
    };
    StaticSchemas {
        managed: [(Arc::from("t_thing"), schema.clone())].into(),
        data: [(Arc::from("t_thing"), schema.clone())].into(),
        ephemeral: [(Arc::from("t_thing"), schema)].into(),
        functions: [(Arc::from("twice"), Arc::new(twice))].into(),
        list_resources: [(Arc::from("t_thing"), settings.clone())].into(),
        actions: [(Arc::from("t_thing"), settings)].into(),
        capabilities: Capabilities { plan_destroy: true, generate_resource_config: true, ..Capabilities::default() },
        ..StaticSchemas::default()
    }
}

/// The settings of lists and actions.
pub fn settings(count: Option<i64>, fail: bool) -> Value {
    let count = count.map_or_else(|| Value::null(Type::Number), Value::int);
    Value::object([("count", count), ("fail", Value::bool(fail))])
}

fn is_failing(settings: &Value) -> bool {
    settings.get("fail") == Some(&Value::bool(true))
}

fn count(settings: &Value) -> i64 {
    settings.get("count").and_then(Value::as_i64).unwrap_or(i64::MAX)
}

/// The reason of every deferral.
pub const DEFERRED: DeferralReason = DeferralReason::AbsentPrereq;

fn deferral(client: ClientCapabilities) -> Option<DeferralReason> {
    client.deferral_allowed.then_some(DEFERRED)
}

#[async_trait]
impl Provider for Thing {
    async fn schemas(&self) -> Result<Arc<dyn ProviderSchemas>, ProviderDiagnostics> {
        Ok(Arc::new(schemas()))
    }

    async fn validate_provider_config(&self, config: Value) -> (Value, ProviderDiagnostics) {
        (config, vec![ProviderDiagnostic::warning("Hm", "not good")])
    }

    async fn validate_resource_config(
        &self,
        _kind: &str,
        config: Value,
        client: ClientCapabilities,
    ) -> ProviderDiagnostics {
        match config.get("name").and_then(Value::as_str) {
            Some("secret") if !client.write_only_attributes_allowed => {
                vec![ProviderDiagnostic::error("WriteOnly Attribute Not Allowed", "")]
            }
            Some("bad") if client.deferral_allowed => {
                vec![ProviderDiagnostic::error("Bad name", "").at(Path::new().attr("name"))]
            }
            Some("die") => std::future::pending().await,
            _ => Vec::new(),
        }
    }

    async fn validate_data_config(&self, _kind: &str, _config: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn configure(&self, request: ConfigureRequest) -> ProviderDiagnostics {
        assert_eq!(request.terraform_version, "1.2.3");
        Vec::new()
    }

    async fn upgrade_resource_state(&self, request: UpgradeRequest) -> (Value, ProviderDiagnostics) {
        let RawState::Json(json) = request.raw else { panic!("flat") };
        (terrane_value::json::from_json(&json, &thing_type()).unwrap(), Vec::new())
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadResponse {
        ReadResponse {
            new_state: request.current,
            deferred: deferral(request.client),
            identity: request.current_identity.or_else(|| Some(identity("read"))),
            private: request.private,
            diagnostics: Vec::new(),
        }
    }

    async fn plan_resource_change(&self, request: PlanRequest) -> PlanResponse {
        let name = request.config.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        PlanResponse {
            planned: thing(&name, Value::unknown(Type::String)),
            identity: request.prior_identity,
            deferred: deferral(request.client),
            requires_replace: vec![Path::new().attr("name")],
            private: if request.planned_private.is_empty() { Arc::from(*b"private") } else { request.planned_private },
            legacy_type_system: false,
            diagnostics: Vec::new(),
        }
    }

    async fn apply_resource_change(&self, request: ApplyRequest) -> ApplyResponse {
        assert_eq!(&*request.planned_private, b"private");
        let name = request.planned.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        ApplyResponse {
            new_state: thing(&name, Value::string("made")),
            identity: request.planned_identity,
            private: request.planned_private,
            legacy_type_system: true,
            diagnostics: vec![ProviderDiagnostic::error("Half done", "the rest failed")],
        }
    }

    async fn import_resource_state(&self, kind: &str, id: &str, client: ClientCapabilities) -> ImportResponse {
        let state = thing("imported", Value::string(id));
        let identity = Some(identity("imported"));
        ImportResponse {
            objects: vec![ImportedObject { kind: kind.into(), state, identity, private: Arc::default() }],
            deferred: deferral(client),
            diagnostics: Vec::new(),
        }
    }

    async fn identity_schema(&self, kind: &str) -> Result<Option<IdentitySchema>, ProviderDiagnostics> {
        let (name, place) = (IdentityAttribute::required(Type::String), IdentityAttribute::optional(Type::String));
        let attributes = [(Arc::from("name"), name), (Arc::from("place"), place)];
        Ok((kind == "t_thing").then(|| IdentitySchema { version: 2, attributes: attributes.into() }))
    }

    /// Knows version 1, which was a name without quotes.
    async fn upgrade_resource_identity(&self, _: &str, stored: Identity) -> (Option<Identity>, ProviderDiagnostics) {
        match stored.schema_version {
            1 => (Some(identity(&stored.json)), vec![ProviderDiagnostic::warning("Upgraded", "")]),
            _ => (None, vec![ProviderDiagnostic::error("Unknown version", "")]),
        }
    }

    async fn generate_resource_config(&self, _: &str, state: Value) -> (Value, ProviderDiagnostics) {
        let name = state.get("name").and_then(Value::as_str).unwrap_or_default();
        (thing(name, Value::null(Type::String)), vec![ProviderDiagnostic::warning("Generated", "")])
    }

    async fn import_by_identity(&self, kind: &str, identity: Value, _: ClientCapabilities) -> ImportResponse {
        let name = identity.get("name").and_then(Value::as_str).unwrap_or_default();
        let state = thing(name, Value::string("found"));
        ImportResponse::objects(vec![ImportedObject {
            kind: kind.into(),
            state,
            identity: None,
            private: Arc::default(),
        }])
    }

    async fn move_resource_state(&self, request: MoveRequest) -> MoveResponse {
        let state = thing(&request.source_kind, Value::string("moved"));
        let identity = request.source_identity.map(|source| identity(&source.json));
        MoveResponse { state, identity, private: request.source_private, diagnostics: Vec::new() }
    }

    async fn read_data_source(&self, request: ReadDataRequest) -> ReadDataResponse {
        ReadDataResponse { state: request.config, deferred: deferral(request.client), diagnostics: Vec::new() }
    }

    async fn validate_ephemeral_config(&self, _kind: &str, _config: Value) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn open_ephemeral(&self, _kind: &str, config: Value, client: ClientCapabilities) -> OpenEphemeralResponse {
        let renew_at = Some((5, 7));
        OpenEphemeralResponse {
            result: config,
            deferred: deferral(client),
            private: b"p".to_vec(),
            renew_at,
            diagnostics: Vec::new(),
        }
    }

    async fn renew_ephemeral(&self, _kind: &str, private: Vec<u8>) -> RenewEphemeralResponse {
        RenewEphemeralResponse { private, renew_at: None, diagnostics: Vec::new() }
    }

    async fn close_ephemeral(&self, _kind: &str, _private: Vec<u8>) -> ProviderDiagnostics {
        Vec::new()
    }

    async fn call_function(&self, _name: &str, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        match arguments[0].as_str() {
            Some("") => Err(FunctionError { text: "nothing".to_owned(), argument: Some(0) }),
            text => Ok(Value::string(text.unwrap_or_default().repeat(2))),
        }
    }

    async fn validate_list_config(&self, request: ValidateListRequest) -> ProviderDiagnostics {
        let seen = format!("{:?} {:?}", request.include_object.is_known(), request.limit.as_i64());
        vec![ProviderDiagnostic::warning(seen, "").at(Path::new().attr("count"))]
    }

    /// Lists things, the second one with a warning. Then it warns or fails.
    async fn list_resources(&self, request: ListRequest, results: &dyn ListSink) -> ProviderDiagnostics {
        for i in 0..count(&request.config) {
            let name = format!("thing {i}");
            let object = request.include_object.then(|| thing(&name, Value::string(format!("id{i}"))));
            let warning = || ProviderDiagnostic::warning("Old", "");
            let result = ListResult {
                identity: identity(&name),
                display_name: name,
                object,
                diagnostics: (i == 1).then(warning).into_iter().collect(),
            };
            if let ControlFlow::Break(()) = results.add(result).await {
                return vec![ProviderDiagnostic::warning("Stopped", "")];
            }
        }
        match is_failing(&request.config) {
            true => vec![ProviderDiagnostic::error("List failed", "late")],
            false => vec![ProviderDiagnostic::warning("Listed", "")],
        }
    }

    async fn validate_action_config(&self, _: &str, config: Value) -> ProviderDiagnostics {
        if is_failing(&config) { vec![ProviderDiagnostic::error("Cannot act", "")] } else { Vec::new() }
    }

    async fn plan_action(&self, request: PlanActionRequest) -> PlanActionResponse {
        let diagnostics = vec![ProviderDiagnostic::warning("Planned", "")];
        PlanActionResponse { deferred: deferral(request.client), diagnostics }
    }

    /// Reports its steps.
    async fn invoke_action(&self, request: InvokeActionRequest) -> ProviderDiagnostics {
        for i in 0..count(&request.config) {
            (request.progress)(&format!("step {i}"));
            tokio::task::yield_now().await;
        }
        if is_failing(&request.config) { vec![ProviderDiagnostic::error("Action failed", "")] } else { Vec::new() }
    }

    async fn stop(&self) -> Result<(), String> {
        Err("will not".to_owned())
    }
}
