//! What hosts send to a provider of the library: every call of both protocols.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use terrane_protocol::grpc::Reply;
use terrane_protocol::provider_server::ProviderServer;
use terrane_protocol::wire::dynamic_value::DynamicValue;
use terrane_protocol::wire::protocol::{Call, Protocol};
use terrane_protocol::wire::v5::V5;
use terrane_protocol::wire::v6::{V6, message as m};
use terrane_sdk::{
    Action, Block, Context, Creation, DataSource, Ephemeral, Error, Field, Function, FunctionError, IdentitySchema,
    Import, ListResource, Model, Moved, Nesting, Number, Opened, Progress, Provider, Query, Resource, Results, Schema,
    Set, Shape, Signature, Stored, Types, Update, Values, argument, identity_schema, keep, parameter, server,
    signature, validators,
};
use terrane_value::{Type, Value, msgpack};

use super::harness::survives;

#[derive(Clone, Model)]
#[allow(dead_code)]
struct Inner {
    #[attribute(required)]
    name: Field<String>,
    #[attribute(default = 3)]
    size: Field<i64>,
    #[attribute(computed, modifiers(keep()))]
    id: Field<String>,
}

/// What both protocols have.
#[derive(Clone, Model)]
#[allow(dead_code)]
struct Thing {
    #[attribute(computed, keep)]
    id: Field<String>,
    #[attribute(optional, replace, validators(validators::length_at_most(40)))]
    name: Field<String>,
    #[attribute(optional, computed)]
    number: Field<Number>,
    #[attribute(optional)]
    flags: Field<Vec<bool>>,
    #[attribute(optional)]
    tags: Field<BTreeMap<String, String>>,
    #[attribute(optional)]
    names: Field<Set<String>>,
    #[attribute(optional)]
    any: Value,
    #[attribute(optional, write_only, sensitive)]
    secret: Field<String>,
    #[block]
    list: Vec<Inner>,
    #[block]
    set: Set<Inner>,
    #[block]
    single: Option<Inner>,
}

/// With nested attributes, for protocol 6.
#[derive(Clone, Model)]
#[allow(dead_code)]
struct Nested {
    #[attribute(optional, computed)]
    one: Field<Inner>,
    #[attribute(optional)]
    many: Field<BTreeMap<String, Inner>>,
    #[attribute(optional)]
    set: Field<Set<Inner>>,
}

/// An object of a state or a configuration of which unknown parts became null.
fn known<M: Model>(value: &Value) -> Result<M, Error> {
    let settled = value.transform(&mut |_, value| {
        Ok::<_, Error>(if value.is_known() { value } else { Value::null(value.ty().clone()) })
    })?;
    Ok(M::from_value(&settled)?)
}

/// Every kind of type, for a model. What is planned is stored.
struct Any<M>(PhantomData<fn() -> M>);

impl<M: Model> Resource for Any<M> {
    type Data = ();
    type Model = M;

    async fn create(&self, _: &mut Context<()>, creation: &mut Creation<M>) -> Result<M, Error> {
        known(creation.planned.value())
    }

    async fn update(&self, context: &mut Context<()>, update: &mut Update<M>) -> Result<M, Error> {
        let text: String = context.private().get_value("key").unwrap_or_default();
        context.private().set_value("key", text)?;
        known(update.planned.value())
    }

    async fn import(&self, _: &mut Context<()>, import: Import) -> Result<M, Error> {
        let id = import.id_or_attribute("id")?;
        known(&Value::object([("id", Value::string(id))]))
    }

    async fn upgrade(&self, _: &mut Context<()>, stored: Stored) -> Result<M, Error> {
        known(&stored.object()?)
    }

    async fn move_from(&self, _: &mut Context<()>, moved: Moved) -> Result<M, Error> {
        known(&moved.object(&Schema::of::<M>())?)
    }

    fn identity_schema(&self) -> Option<IdentitySchema> {
        Some(identity_schema([("id", Type::String)]))
    }

    fn identity(&self, state: &M) -> Option<Value> {
        let _ = state;
        Some(Value::object([("id", Value::string("a"))]))
    }
}

impl<M: Model> DataSource for Any<M> {
    type Data = ();
    type Model = M;

    async fn read(&self, _: &mut Context<()>, config: Values<M>) -> Result<M, Error> {
        known(config.value())
    }
}

impl<M: Model> Ephemeral for Any<M> {
    type Data = ();
    type Model = M;

    async fn open(&self, _: &mut Context<()>, config: Values<M>) -> Result<Opened<M>, Error> {
        Ok(Opened::new(known(config.value())?))
    }
}

impl<M: Model> ListResource for Any<M> {
    type Data = ();
    type Config = M;

    async fn list(&self, _: &mut Context<()>, query: Query<M>, results: &mut Results<'_>) -> Result<(), Error> {
        let object: M = known(query.config.value())?;
        let identity = Value::object([("id", Value::string("a"))]);
        results.add(&identity, "a", Some(object)).await.map(drop)
    }
}

impl<M: Model> Action for Any<M> {
    type Data = ();
    type Config = M;

    async fn invoke(&self, _: &mut Context<()>, config: Values<M>, progress: &Progress) -> Result<(), Error> {
        progress.report("working");
        config.model().map(drop)
    }
}

struct Both;

impl Function for Both {
    fn signature(&self) -> Signature {
        let parameters = vec![parameter::<String>("text", "A text."), parameter::<Vec<i64>>("numbers", "Numbers.")];
        signature("Takes both", parameters, Type::Dynamic)
    }

    async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let (text, numbers): (String, Vec<i64>) = (argument(&arguments, 0)?, argument(&arguments, 1)?);
        Ok(Value::string(format!("{text}{numbers:?}")))
    }
}

struct Tester<M>(PhantomData<fn() -> M>);

impl<M: Model> Provider for Tester<M> {
    type Config = Inner;
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, config: Values<Inner>) -> Result<(), Error> {
        config.model().map(drop)
    }

    fn types(&self, types: &mut Types<()>) {
        let any = || Any::<M>(PhantomData);
        types.resource("any", any()).data_source("any", any()).ephemeral("any", any());
        types.function("both", Both).list("any", any()).action("any", any());
    }
}

/// The parts of requests for types with the attributes of `config`.
struct Samples<'a> {
    config: &'a Value,
    ty: &'a Type,
}

impl Samples<'_> {
    fn kind(&self) -> String {
        "any".to_owned()
    }

    fn value(&self) -> Option<DynamicValue> {
        Some(DynamicValue::of(msgpack::encode_in_pieces(self.config, self.ty)))
    }

    fn null(&self) -> Option<DynamicValue> {
        Some(DynamicValue::of(msgpack::encode_in_pieces(&Value::null(self.ty.clone()), self.ty)))
    }

    fn identity(&self) -> Option<m::ResourceIdentityData> {
        Some(m::ResourceIdentityData { identity_data: Some(DynamicValue::of_json("{\"id\":\"a\"}".into())) })
    }

    fn private(&self) -> Bytes {
        Bytes::from("{\"key\":\"ImEi\"}")
    }

    fn provider_config(&self) -> Option<DynamicValue> {
        let ty = Type::object([("id", Type::String), ("name", Type::String), ("size", Type::Number)]);
        let config = Value::object([
            ("id", Value::null(Type::String)),
            ("name", Value::string("x")),
            ("size", Value::null(Type::Number)),
        ]);
        Some(DynamicValue::of(msgpack::encode_in_pieces(&config, &ty)))
    }
}

fn raw(json: &'static str) -> Option<m::RawState> {
    Some(m::RawState { json: json.into(), ..Default::default() })
}

/// A state of the oldest form.
fn flat() -> m::RawState {
    let flat = [("id", "a"), ("name", "b"), ("flags.#", "1"), ("flags.0", "true"), ("tags.%", "1"), ("tags.k", "v")];
    m::RawState { flatmap: flat.map(|(key, value)| (key.to_owned(), value.to_owned())).into(), ..Default::default() }
}

fn arguments() -> Vec<DynamicValue> {
    let arguments = [Value::string("x"), Value::list(Type::Number, vec![Value::int(1), Value::int(2)])];
    arguments.map(|value| DynamicValue::of(msgpack::encode_in_pieces(&value, value.ty()))).into()
}

/// A call with a request.
type Sent = (Call, Vec<u8>);

/// A request of each call, as a host would send it, for types with the attributes of `config`.
fn requests(config: &Value, ty: &Type) -> Vec<Sent> {
    let samples = Samples { config, ty };
    [validations(&samples), stored(&samples), changes(&samples), others(&samples)].concat()
}

/// Of what is written: validation and configuration.
fn validations(samples: &Samples<'_>) -> Vec<Sent> {
    vec![
        (
            Call::ValidateProviderConfig,
            m::validate_provider_config::Request { config: samples.provider_config() }.encode_to_vec(),
        ),
        (
            Call::ConfigureProvider,
            m::configure_provider::Request {
                terraform_version: "1.11.4".into(),
                config: samples.provider_config(),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            Call::ValidateResourceConfig,
            m::validate_resource_config::Request {
                type_name: samples.kind(),
                config: samples.value(),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            Call::ValidateDataResourceConfig,
            m::validate_data_resource_config::Request { type_name: samples.kind(), config: samples.value() }
                .encode_to_vec(),
        ),
        (
            Call::ValidateEphemeralResourceConfig,
            m::validate_ephemeral_resource_config::Request { type_name: samples.kind(), config: samples.value() }
                .encode_to_vec(),
        ),
        (
            Call::ValidateListResourceConfig,
            m::validate_list_resource_config::Request {
                type_name: samples.kind(),
                config: samples.value(),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            Call::ValidateActionConfig,
            m::validate_action_config::Request { type_name: samples.kind(), config: samples.value() }.encode_to_vec(),
        ),
    ]
}

/// Of what is stored: upgrades, moves and reading.
fn stored(samples: &Samples<'_>) -> Vec<Sent> {
    vec![
        (
            Call::UpgradeResourceState,
            m::upgrade_resource_state::Request {
                type_name: samples.kind(),
                version: 0,
                raw_state: raw("{\"id\":\"a\",\"tags\":{\"k\":\"v\"},\"list\":[{\"name\":\"x\"}],\"any\":{\"type\":\"number\",\"value\":1}}"),
            }
            .encode_to_vec(),
        ),
        (
            Call::UpgradeResourceState,
            m::upgrade_resource_state::Request { type_name: samples.kind(), version: 1, raw_state: Some(flat()) }.encode_to_vec(),
        ),
        (
            Call::UpgradeResourceIdentity,
            m::upgrade_resource_identity::Request { type_name: samples.kind(), version: 0, raw_identity: raw("{\"id\":\"a\"}") }
                .encode_to_vec(),
        ),
        (
            Call::ReadResource,
            m::read_resource::Request {
                type_name: samples.kind(),
                current_state: samples.value(),
                private: samples.private(),
                current_identity: samples.identity(),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            Call::MoveResourceState,
            m::move_resource_state::Request {
                source_provider_address: "registry.terraform.io/hashicorp/null".into(),
                source_type_name: "null_resource".into(),
                source_state: raw("{\"id\":\"a\",\"triggers\":{\"k\":\"v\"}}"),
                target_type_name: samples.kind(),
                source_private: samples.private(),
                source_identity: raw("{\"id\":\"a\"}"),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
    ]
}

/// Of changes and imports.
fn changes(samples: &Samples<'_>) -> Vec<Sent> {
    vec![
        (
            Call::PlanResourceChange,
            m::plan_resource_change::Request {
                type_name: samples.kind(),
                prior_state: samples.null(),
                proposed_new_state: samples.value(),
                config: samples.value(),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            Call::PlanResourceChange,
            m::plan_resource_change::Request {
                type_name: samples.kind(),
                prior_state: samples.value(),
                proposed_new_state: samples.value(),
                config: samples.value(),
                prior_private: samples.private(),
                prior_identity: samples.identity(),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            Call::ApplyResourceChange,
            m::apply_resource_change::Request {
                type_name: samples.kind(),
                prior_state: samples.value(),
                planned_state: samples.value(),
                config: samples.value(),
                planned_private: samples.private(),
                planned_identity: samples.identity(),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            Call::ImportResourceState,
            m::import_resource_state::Request { type_name: samples.kind(), id: "a".into(), ..Default::default() }
                .encode_to_vec(),
        ),
        (
            Call::ImportResourceState,
            m::import_resource_state::Request {
                type_name: samples.kind(),
                identity: samples.identity(),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            Call::GenerateResourceConfig,
            m::generate_resource_config::Request { type_name: samples.kind(), state: samples.value() }.encode_to_vec(),
        ),
    ]
}

/// Of everything but resources.
fn others(samples: &Samples<'_>) -> Vec<Sent> {
    vec![
        (
            Call::ReadDataSource,
            m::read_data_source::Request { type_name: samples.kind(), config: samples.value(), ..Default::default() }
                .encode_to_vec(),
        ),
        (
            Call::OpenEphemeralResource,
            m::open_ephemeral_resource::Request {
                type_name: samples.kind(),
                config: samples.value(),
                ..Default::default()
            }
            .encode_to_vec(),
        ),
        (
            Call::RenewEphemeralResource,
            m::renew_ephemeral_resource::Request { type_name: samples.kind(), private: Some(samples.private()) }
                .encode_to_vec(),
        ),
        (
            Call::CloseEphemeralResource,
            m::close_ephemeral_resource::Request { type_name: samples.kind(), private: Some(samples.private()) }
                .encode_to_vec(),
        ),
        (Call::CallFunction, m::call_function::Request { name: "both".into(), arguments: arguments() }.encode_to_vec()),
        (
            Call::ListResource,
            m::list_resource::Request {
                type_name: samples.kind(),
                config: samples.value(),
                include_resource_object: true,
                limit: 2,
            }
            .encode_to_vec(),
        ),
        (
            Call::PlanAction,
            m::plan_action::Request { action_type: samples.kind(), config: samples.value(), ..Default::default() }
                .encode_to_vec(),
        ),
        (
            Call::InvokeAction,
            m::invoke_action::Request { action_type: samples.kind(), config: samples.value(), ..Default::default() }
                .encode_to_vec(),
        ),
    ]
}

/// A configuration with a part in every attribute and block.
fn sample(block: &Block) -> Value {
    let attributes = block.attributes.iter().map(|attribute| {
        let value = match &attribute.shape {
            Shape::Nested(nesting, block) => wrapped(*nesting, sample(block)),
            Shape::Plain(_) if attribute.computed => Value::null(attribute.ty()),
            Shape::Plain(ty) => sample_of(ty),
        };
        (attribute.name.clone(), value)
    });
    let blocks =
        block.blocks.iter().map(|nested| (nested.name.clone(), wrapped(nested.nesting, sample(&nested.block))));
    Value::object(attributes.chain(blocks).map(|(name, value)| (Arc::<str>::from(name), value)))
}

fn wrapped(nesting: Nesting, object: Value) -> Value {
    match nesting {
        Nesting::List => Value::list(object.ty().clone(), vec![object]),
        Nesting::Set => Value::set(object.ty().clone(), vec![object]),
        Nesting::Map => Value::map(object.ty().clone(), [(Arc::<str>::from("k"), object)]),
        Nesting::Single | Nesting::Group => object,
    }
}

fn sample_of(ty: &Type) -> Value {
    match ty {
        Type::String => Value::string("text"),
        Type::Bool => Value::bool(true),
        Type::Number => Value::int(7),
        Type::List(element) => Value::list((**element).clone(), vec![sample_of(element)]),
        Type::Set(element) => Value::set((**element).clone(), vec![sample_of(element)]),
        Type::Map(element) => Value::map((**element).clone(), [(Arc::<str>::from("k"), sample_of(element))]),
        _ => Value::string("any"),
    }
}

/// Checks that the messages of an answer report no panic.
async fn check(reply: Reply) {
    let sound = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("Provider panicked"), "{text}");
    };
    match reply {
        Reply::Message(bytes) => sound(&bytes),
        Reply::Stream(mut messages) => {
            while let Some(message) = messages.recv().await {
                message.iter().for_each(|bytes| sound(bytes));
            }
        }
        Reply::Pieces(_) | Reply::End => {}
    }
}

/// Inputs are the number of a call, and a request.
fn survives_requests<P: Protocol, M: Model>(name: &str) {
    let block = Schema::of::<M>().block;
    let (config, calls) = (sample(&block), Call::all().collect::<Vec<_>>());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let provider = ProviderServer::<P>::new(server(Tester::<M>(PhantomData)));
    let send = |call: Call, request: Bytes| {
        runtime.block_on(async {
            let reply = provider.answer(&P::path(call), request).await.expect("the path of a call");
            match reply {
                Ok(reply) => check(reply).await,
                Err(status) => _ = status.to_string(),
            }
        });
    };
    let seeds: Vec<Vec<u8>> = requests(&config, &block.ty())
        .into_iter()
        .map(|(call, request)| [vec![call as u8], request].concat())
        .collect();
    let words: &[&[u8]] = &[
        b"any",
        b"\"string\"",
        b"[\"list\",",
        b"[\"object\",{\"a\":",
        b"{\"id\":",
        b"{\"type\":\"number\",\"value\":",
        b".#",
        b".%",
        &[0xc0],
        &[0xc1],
        &[0xd4, 0x00, 0x00],
        &[0xc7, 0x03, 0x0c, 0x81, 0x01, 0xc2],
        &[0x91],
        &[0x81, 0xa2, b'i', b'd'],
        &[0xdd, 0xff, 0xff, 0xff, 0xff],
        &[0xdf, 0xff, 0xff, 0xff, 0xff],
    ];
    survives(name, 1_500, &seeds, words, |input| {
        let Some((call, request)) = input.split_first() else { return };
        send(calls[*call as usize % calls.len()], Bytes::copy_from_slice(request));
    });
}

#[test]
fn requests_of_protocol_5() {
    survives_requests::<V5, Thing>("requests_of_protocol_5");
}

#[test]
fn requests_of_protocol_6() {
    survives_requests::<V6, Nested>("requests_of_protocol_6");
}
