//! Schemas between the wire and the model, and all schemas of a provider, decoded when they are asked for.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use prost::Message;
use rustc_hash::FxHashMap;
use terrane_value::Type;

use super::protocol::Protocol;
use super::{function, index, message as wire, string_kind};
use crate::schema::{
    Attribute, AttributeShape, Block, Capabilities, FunctionSignature, NestedBlock, Nesting, ObjectShape,
    ProviderSchemas, ResourceMode, Schema, SchemaError, SchemaPart,
};

/// The answer to a schema request. Holds the bytes as they came; a type is decoded at the first question for it.
pub struct WireSchemas<P> {
    provider: Lazy<Schema>,
    meta: Option<Lazy<Schema>>,
    managed: FxHashMap<Arc<str>, Lazy<Schema>>,
    data: FxHashMap<Arc<str>, Lazy<Schema>>,
    ephemeral: FxHashMap<Arc<str>, Lazy<Schema>>,
    functions: FxHashMap<Arc<str>, Lazy<FunctionSignature>>,
    list_resources: FxHashMap<Arc<str>, Lazy<Schema>>,
    actions: FxHashMap<Arc<str>, Lazy<Schema>>,
    state_stores: FxHashMap<Arc<str>, Lazy<Schema>>,
    capabilities: Capabilities,
    protocol: PhantomData<fn() -> P>,
}

struct Lazy<T> {
    bytes: Bytes,
    decoded: OnceLock<Result<Arc<T>, SchemaError>>,
}

impl<T> Lazy<T> {
    fn new(bytes: Bytes) -> Lazy<T> {
        Lazy { bytes, decoded: OnceLock::new() }
    }

    fn get(&self, decode: impl FnOnce(Bytes) -> Result<T, SchemaError>) -> Result<Arc<T>, SchemaError> {
        self.decoded.get_or_init(|| decode(self.bytes.clone()).map(Arc::new)).clone()
    }
}

impl<P: Protocol> WireSchemas<P> {
    /// Reads the top level of a schema response; also gives the diagnostics in it.
    pub fn read(response: Bytes) -> Result<(WireSchemas<P>, Vec<wire::Diagnostic>), SchemaError> {
        let text = |error: prost::DecodeError| SchemaError::Response(error.to_string());
        let index = index::Response::decode(response).map_err(text)?;
        let diagnostics = index.diagnostics.into_iter().map(wire::Diagnostic::decode).collect::<Result<_, _>>();
        let capabilities = wire::ServerCapabilities::decode(index.server_capabilities).map_err(text)?;
        let schemas = WireSchemas {
            provider: Lazy::new(index.provider),
            // A provider without provider_meta may send none or an empty one.
            meta: Some(index.provider_meta).filter(|bytes| !bytes.is_empty()).map(Lazy::new),
            managed: lazy_map(index.resource_schemas),
            data: lazy_map(index.data_source_schemas),
            ephemeral: lazy_map(index.ephemeral_resource_schemas),
            functions: lazy_map(index.functions),
            list_resources: lazy_map(index.list_resource_schemas),
            actions: lazy_map(index.action_schemas),
            state_stores: lazy_map(index.state_store_schemas),
            capabilities: Capabilities {
                plan_destroy: capabilities.plan_destroy,
                get_provider_schema_optional: capabilities.get_provider_schema_optional,
                move_resource_state: capabilities.move_resource_state,
                generate_resource_config: capabilities.generate_resource_config,
            },
            protocol: PhantomData,
        };
        Ok((schemas, diagnostics.map_err(text)?))
    }

    /// Whether both describe the same. The order of types in a response means nothing.
    pub fn same(&self, other: &WireSchemas<P>) -> bool {
        let bytes = |lazy: &Option<Lazy<Schema>>| lazy.as_ref().map(|lazy| lazy.bytes.clone());
        self.provider.bytes == other.provider.bytes
            && bytes(&self.meta) == bytes(&other.meta)
            && same_types(&self.managed, &other.managed)
            && same_types(&self.data, &other.data)
            && same_types(&self.ephemeral, &other.ephemeral)
            && same_types(&self.functions, &other.functions)
            && same_types(&self.list_resources, &other.list_resources)
            && same_types(&self.actions, &other.actions)
            && same_types(&self.state_stores, &other.state_stores)
            && self.capabilities == other.capabilities
    }

    fn decode(bytes: Bytes) -> Result<Schema, SchemaError> {
        let schema = P::decode_schema(bytes).map_err(|error| SchemaError::Message(error.to_string()))?;
        from_wire(schema)
    }

    /// The schema of an action is one level deeper.
    fn decode_action(bytes: Bytes) -> Result<Schema, SchemaError> {
        let action = index::ActionSchema::decode(bytes).map_err(|error| SchemaError::Message(error.to_string()))?;
        Self::decode(action.schema)
    }

    fn find(map: &FxHashMap<Arc<str>, Lazy<Schema>>, name: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        map.get(name).map(|lazy| lazy.get(Self::decode)).transpose()
    }
}

fn lazy_map<T>(map: HashMap<String, Bytes>) -> FxHashMap<Arc<str>, Lazy<T>> {
    map.into_iter().map(|(name, bytes)| (Arc::from(name), Lazy::new(bytes))).collect()
}

fn same_types<T>(a: &FxHashMap<Arc<str>, Lazy<T>>, b: &FxHashMap<Arc<str>, Lazy<T>>) -> bool {
    a.len() == b.len() && a.iter().all(|(name, lazy)| b.get(name).is_some_and(|other| lazy.bytes == other.bytes))
}

fn names<T>(map: &FxHashMap<Arc<str>, Lazy<T>>) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = map.keys().cloned().collect();
    names.sort_unstable();
    names
}

impl<P: Protocol> ProviderSchemas for WireSchemas<P> {
    fn provider(&self) -> Result<Arc<Schema>, SchemaError> {
        self.provider.get(Self::decode)
    }

    fn provider_meta(&self) -> Result<Option<Arc<Schema>>, SchemaError> {
        self.meta.as_ref().map(|lazy| lazy.get(Self::decode)).transpose()
    }

    fn managed(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Self::find(&self.managed, kind)
    }

    fn data(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Self::find(&self.data, kind)
    }

    fn ephemeral(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Self::find(&self.ephemeral, kind)
    }

    fn function(&self, name: &str) -> Result<Option<Arc<FunctionSignature>>, SchemaError> {
        self.functions.get(name).map(|lazy| lazy.get(function::decode)).transpose()
    }

    fn managed_names(&self) -> Vec<Arc<str>> {
        names(&self.managed)
    }

    fn data_names(&self) -> Vec<Arc<str>> {
        names(&self.data)
    }

    fn ephemeral_names(&self) -> Vec<Arc<str>> {
        names(&self.ephemeral)
    }

    fn function_names(&self) -> Vec<Arc<str>> {
        names(&self.functions)
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn list_resource(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Self::find(&self.list_resources, kind)
    }

    fn list_resource_names(&self) -> Vec<Arc<str>> {
        names(&self.list_resources)
    }

    fn action(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        self.actions.get(kind).map(|lazy| lazy.get(Self::decode_action)).transpose()
    }

    fn action_names(&self) -> Vec<Arc<str>> {
        names(&self.actions)
    }

    fn state_store(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Self::find(&self.state_stores, kind)
    }

    fn state_store_names(&self) -> Vec<Arc<str>> {
        names(&self.state_stores)
    }

    fn for_each(&self, mode: ResourceMode, visit: &mut dyn FnMut(&str, &Schema)) -> Result<(), SchemaError> {
        let map = match mode {
            ResourceMode::Managed => &self.managed,
            ResourceMode::Data => &self.data,
            ResourceMode::Ephemeral => &self.ephemeral,
            ResourceMode::List => &self.list_resources,
        };
        for name in names(map) {
            let Some(lazy) = map.get(&name) else { continue };
            match lazy.decoded.get() {
                Some(decoded) => visit(&name, decoded.as_ref().map_err(SchemaError::clone)?),
                None => visit(&name, &Self::decode(lazy.bytes.clone())?),
            }
        }
        Ok(())
    }
}

/// A schema as the model has it; the error says what is wrong with it.
pub fn from_wire(schema: wire::Schema) -> Result<Schema, SchemaError> {
    Ok(Schema::new(schema.version, from_block(schema.block.unwrap_or_default())?))
}

fn from_block(block: wire::schema::Block) -> Result<Block, SchemaError> {
    let mut out = Block {
        description: block.description,
        markdown: block.description_kind == wire::StringKind::Markdown as i32,
        deprecated: block.deprecated,
        deprecation_message: block.deprecation_message,
        computed: block.computed,
        ..Block::default()
    };
    for attribute in block.attributes {
        let (name, attribute) = from_attribute(attribute)?;
        out.attributes.insert(name, attribute);
    }
    for nested in block.block_types {
        use wire::schema::nested_block::NestingMode;
        let name: Arc<str> = nested.type_name.as_str().into();
        let nesting = match nested.nesting() {
            NestingMode::Single => Nesting::Single,
            NestingMode::Group => Nesting::Group,
            NestingMode::List => Nesting::List,
            NestingMode::Set => Nesting::Set,
            NestingMode::Map => Nesting::Map,
            NestingMode::Invalid => return Err(SchemaError::Nesting(SchemaPart::Block(name.to_string()))),
        };
        let nested = NestedBlock {
            nesting,
            min_items: u64::try_from(nested.min_items).unwrap_or(0),
            max_items: u64::try_from(nested.max_items).unwrap_or(0),
            block: from_block(nested.block.unwrap_or_default())?,
        };
        out.blocks.insert(name, nested);
    }
    Ok(out)
}

fn from_attribute(attribute: wire::schema::Attribute) -> Result<(Arc<str>, Attribute), SchemaError> {
    let name: Arc<str> = attribute.name.into();
    let shape = match attribute.nested_type {
        Some(object) => AttributeShape::Nested(from_object(&name, object)?),
        None => AttributeShape::Plain(
            Type::from_json_bytes(&attribute.r#type)
                .map_err(|error| SchemaError::Type(SchemaPart::Attribute(name.to_string()), error))?,
        ),
    };
    let attribute = Attribute {
        shape,
        description: attribute.description,
        markdown: attribute.description_kind == wire::StringKind::Markdown as i32,
        required: attribute.required,
        optional: attribute.optional,
        computed: attribute.computed,
        sensitive: attribute.sensitive,
        deprecated: attribute.deprecated,
        deprecation_message: attribute.deprecation_message,
        write_only: attribute.write_only,
    };
    Ok((name, attribute))
}

fn from_object(name: &str, object: wire::schema::Object) -> Result<ObjectShape, SchemaError> {
    use wire::schema::object::NestingMode;
    let nesting = match object.nesting() {
        NestingMode::Single => Nesting::Single,
        NestingMode::List => Nesting::List,
        NestingMode::Set => Nesting::Set,
        NestingMode::Map => Nesting::Map,
        NestingMode::Invalid => return Err(SchemaError::Nesting(SchemaPart::Attribute(name.to_owned()))),
    };
    let attributes = object.attributes.into_iter().map(from_attribute).collect::<Result<_, _>>()?;
    Ok(ObjectShape { attributes, nesting })
}

/// A schema as protocol 6 writes it; with `nested_types` false the objects in it have plain types, as protocol 5 needs.
pub fn to_wire(schema: &Schema, nested_types: bool) -> wire::Schema {
    wire::Schema { version: schema.version, block: Some(to_block(&schema.block, nested_types)) }
}

fn to_block(block: &Block, nested_types: bool) -> wire::schema::Block {
    use wire::schema::nested_block::NestingMode;
    let nested = block.blocks.iter().map(|(name, nested)| wire::schema::NestedBlock {
        type_name: name.to_string(),
        block: Some(to_block(&nested.block, nested_types)),
        nesting: match nested.nesting {
            Nesting::Single => NestingMode::Single,
            Nesting::Group => NestingMode::Group,
            Nesting::List => NestingMode::List,
            Nesting::Set => NestingMode::Set,
            Nesting::Map => NestingMode::Map,
        } as i32,
        min_items: i64::try_from(nested.min_items).unwrap_or(i64::MAX),
        max_items: i64::try_from(nested.max_items).unwrap_or(i64::MAX),
    });
    wire::schema::Block {
        version: 0,
        attributes: block.attributes.iter().map(|(name, a)| to_attribute(name, a, nested_types)).collect(),
        block_types: nested.collect(),
        description: block.description.clone(),
        description_kind: string_kind(block.markdown),
        deprecated: block.deprecated,
        deprecation_message: block.deprecation_message.clone(),
        computed: block.computed,
    }
}

fn to_attribute(name: &str, attribute: &Attribute, nested_types: bool) -> wire::schema::Attribute {
    let nested = attribute.nested().filter(|_| nested_types);
    wire::schema::Attribute {
        name: name.to_owned(),
        r#type: if nested.is_some() { Bytes::new() } else { attribute.implied_type().to_json_bytes().into() },
        nested_type: nested.map(|shape| to_object(shape, nested_types)),
        description: attribute.description.clone(),
        required: attribute.required,
        optional: attribute.optional,
        computed: attribute.computed,
        sensitive: attribute.sensitive,
        description_kind: string_kind(attribute.markdown),
        deprecated: attribute.deprecated,
        write_only: attribute.write_only,
        deprecation_message: attribute.deprecation_message.clone(),
    }
}

#[allow(deprecated, reason = "the message has fields that were never used")]
fn to_object(shape: &ObjectShape, nested_types: bool) -> wire::schema::Object {
    use wire::schema::object::NestingMode;
    wire::schema::Object {
        attributes: shape.attributes.iter().map(|(name, a)| to_attribute(name, a, nested_types)).collect(),
        nesting: match shape.nesting {
            Nesting::Single | Nesting::Group => NestingMode::Single,
            Nesting::List => NestingMode::List,
            Nesting::Set => NestingMode::Set,
            Nesting::Map => NestingMode::Map,
        } as i32,
        min_items: 0,
        max_items: 0,
    }
}

/// The whole answer to a schema request. The schemas are those of version 6 even for protocol 5, whose attributes
/// differ: `P` writes each.
pub fn to_response<P: Protocol>(schemas: &dyn ProviderSchemas) -> Result<Vec<u8>, SchemaError> {
    let write = |schema: &Schema| Bytes::from(P::encode_schema(to_wire(schema, P::VERSION >= 6)));
    type Find<'a> = &'a dyn Fn(&str) -> Result<Option<Arc<Schema>>, SchemaError>;
    let map = |names: Vec<Arc<str>>, find: Find<'_>| {
        let found = names.into_iter().filter_map(|name| {
            let schema = find(&name).transpose()?;
            Some(schema.map(|schema| (name.to_string(), write(&schema))))
        });
        found.collect::<Result<HashMap<_, _>, SchemaError>>()
    };
    let functions = schemas.function_names().into_iter().filter_map(|name| {
        let signature = schemas.function(&name).transpose()?;
        Some(signature.map(|signature| (name.to_string(), function::to_wire(&signature).encode_to_vec().into())))
    });
    let action = |bytes: Bytes| Bytes::from(index::ActionSchema { schema: bytes }.encode_to_vec());
    let actions: HashMap<String, Bytes> = map(schemas.action_names(), &|name| schemas.action(name))?;
    // Protocol 5 has none.
    let stores = if P::VERSION >= 6 { schemas.state_store_names() } else { Vec::new() };
    let capabilities = schemas.capabilities();
    let response = index::Response {
        provider: write(&*schemas.provider()?),
        resource_schemas: map(schemas.managed_names(), &|name| schemas.managed(name))?,
        data_source_schemas: map(schemas.data_names(), &|name| schemas.data(name))?,
        ephemeral_resource_schemas: map(schemas.ephemeral_names(), &|name| schemas.ephemeral(name))?,
        functions: functions.collect::<Result<_, SchemaError>>()?,
        list_resource_schemas: map(schemas.list_resource_names(), &|name| schemas.list_resource(name))?,
        state_store_schemas: map(stores, &|name| schemas.state_store(name))?,
        action_schemas: actions.into_iter().map(|(name, schema)| (name, action(schema))).collect(),
        provider_meta: schemas.provider_meta()?.map(|schema| write(&schema)).unwrap_or_default(),
        server_capabilities: to_capabilities(capabilities).encode_to_vec().into(),
        diagnostics: Vec::new(),
    };
    Ok(response.encode_to_vec())
}

pub fn to_capabilities(capabilities: Capabilities) -> wire::ServerCapabilities {
    wire::ServerCapabilities {
        plan_destroy: capabilities.plan_destroy,
        get_provider_schema_optional: capabilities.get_provider_schema_optional,
        move_resource_state: capabilities.move_resource_state,
        generate_resource_config: capabilities.generate_resource_config,
    }
}

#[cfg(test)]
mod tests {
    use terrane_value::TypeError;

    use super::super::v5::V5;
    use super::super::v6::V6;
    use super::*;
    use crate::schema::StaticSchemas;

    #[test]
    fn computed_blocks_cross_the_wire() {
        let block = Block { computed: true, ..Block::default() };
        assert_eq!(from_block(to_block(&block, true)), Ok(block));
    }

    fn example() -> StaticSchemas {
        let mut nested = Attribute::new(Type::String);
        nested.optional = true;
        let mut shaped = Attribute::new(Type::String);
        shaped.shape = AttributeShape::Nested(ObjectShape {
            attributes: [(Arc::from("inner"), nested.clone())].into(),
            nesting: Nesting::Set,
        });
        shaped.computed = true;
        let mut secret = Attribute::new(Type::map(Type::Number));
        (secret.required, secret.sensitive, secret.write_only) = (true, true, true);
        (secret.deprecated, secret.deprecation_message) = (true, "older".to_owned());
        let inner = Block { attributes: [(Arc::from("a"), nested)].into(), ..Block::default() };
        let block = Block {
            attributes: [(Arc::from("shaped"), shaped), (Arc::from("secret"), secret)].into(),
            blocks: [(
                Arc::from("b"),
                NestedBlock { block: inner, nesting: Nesting::Group, min_items: 1, max_items: 2 },
            )]
            .into(),
            description: "what it is".to_owned(),
            markdown: true,
            deprecated: true,
            deprecation_message: "old".to_owned(),
            computed: false,
        };
        StaticSchemas {
            managed: [(Arc::from("x_y"), Arc::new(Schema::new(3, block.clone())))].into(),
            list_resources: [(Arc::from("x_y"), Arc::new(Schema::new(1, block.clone())))].into(),
            actions: [(Arc::from("x_act"), Arc::new(Schema::new(2, block.clone())))].into(),
            state_stores: [(Arc::from("x_store"), Arc::new(Schema::new(0, block)))].into(),
            capabilities: Capabilities { plan_destroy: true, ..Capabilities::default() },
            ..StaticSchemas::default()
        }
    }

    #[test]
    fn schemas_cross_the_wire_unchanged() {
        let schemas = example();
        let bytes = to_response::<V6>(&schemas).unwrap();
        let (read, diagnostics) = WireSchemas::<V6>::read(bytes.into()).unwrap();
        assert!(diagnostics.is_empty());
        assert_eq!(read.capabilities(), schemas.capabilities);
        assert_eq!(read.managed_names(), vec![Arc::from("x_y")]);
        let (was, is) = (schemas.managed("x_y").unwrap().unwrap(), read.managed("x_y").unwrap().unwrap());
        assert_eq!((is.version, &is.block), (3, &was.block));
        assert!(read.managed("x_z").unwrap().is_none());
        assert_eq!(read.list_resource_names(), vec![Arc::from("x_y")]);
        let list = read.list_resource("x_y").unwrap().unwrap();
        assert_eq!((list.version, &list.block), (1, &was.block));
        assert_eq!(read.action_names(), vec![Arc::from("x_act")]);
        let action = read.action("x_act").unwrap().unwrap();
        assert_eq!((action.version, &action.block), (2, &was.block));
        assert!(read.action("x_y").unwrap().is_none() && read.list_resource("x_act").unwrap().is_none());
        assert_eq!(read.state_store_names(), vec![Arc::from("x_store")]);
        assert_eq!(read.state_store("x_store").unwrap().unwrap().block, was.block);
        assert!(read.provider_meta().unwrap().is_none());
    }

    #[test]
    fn protocol_5_keeps_all_but_the_shape_of_objects() {
        let schemas = example();
        let bytes = to_response::<V5>(&schemas).unwrap();
        let (read, _) = WireSchemas::<V5>::read(bytes.into()).unwrap();
        let (was, is) = (schemas.managed("x_y").unwrap().unwrap(), read.managed("x_y").unwrap().unwrap());
        assert_eq!(is.implied_type(), was.implied_type());
        assert_eq!(is.block.attributes["secret"], was.block.attributes["secret"]);
        assert_eq!(is.block.blocks, was.block.blocks);
        assert_eq!((is.block.deprecation_message.as_str(), read.state_store_names()), ("old", Vec::new()));
        assert_eq!(read.action("x_act").unwrap().unwrap().implied_type(), was.implied_type());
        assert_eq!(read.list_resource("x_y").unwrap().unwrap().implied_type(), was.implied_type());
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert!(WireSchemas::<V6>::read(Bytes::from_static(b"\x0a\xff")).is_err());
        let mut attribute = to_attribute("a", &Attribute::new(Type::String), true);
        attribute.r#type = Bytes::from_static(b"\"strong\"");
        let error =
            SchemaError::Type(SchemaPart::Attribute("a".to_owned()), TypeError::UnknownName("strong".to_owned()));
        assert_eq!(from_attribute(attribute).unwrap_err(), error);
    }
}
