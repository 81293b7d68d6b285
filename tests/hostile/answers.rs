//! What providers answer: schemas, functions, values, paths, diagnostics.

use bytes::Bytes;
use prost::Message;
use terrane_protocol::schema::ResourceMode;
use terrane_protocol::schema::set::ProviderSchemas;
use terrane_protocol::wire::dynamic_value::DynamicValue;
use terrane_protocol::wire::protocol::Protocol;
use terrane_protocol::wire::schema::WireSchemas;
use terrane_protocol::wire::v5::V5;
use terrane_protocol::wire::v6::{V6, message};
use terrane_protocol::wire::{diagnostic, function, value};
use terrane_value::{Type, Value, msgpack};

use super::harness::survives;

fn attribute(name: &str, ty: &str) -> message::schema::Attribute {
    message::schema::Attribute {
        name: name.into(),
        r#type: Bytes::copy_from_slice(ty.as_bytes()),
        optional: true,
        description: "Text.".into(),
        ..Default::default()
    }
}

/// An answer with a schema of every kind.
fn schemas() -> Vec<u8> {
    let inner = message::schema::Block { attributes: vec![attribute("x", "\"bool\"")], ..Default::default() };
    let nested = message::schema::NestedBlock {
        type_name: "block".into(),
        block: Some(inner),
        nesting: message::schema::nested_block::NestingMode::List as i32,
        max_items: 3,
        ..Default::default()
    };
    let object = message::schema::Attribute {
        name: "o".into(),
        nested_type: Some(message::schema::Object {
            attributes: vec![attribute("y", "[\"list\",\"string\"]")],
            nesting: message::schema::object::NestingMode::Set as i32,
            ..Default::default()
        }),
        computed: true,
        ..Default::default()
    };
    let block = message::schema::Block {
        attributes: vec![attribute("id", "\"string\""), attribute("d", "\"dynamic\""), object],
        block_types: vec![nested],
        ..Default::default()
    };
    let schema = message::Schema { version: 2, block: Some(block) };
    let parameter =
        message::function::Parameter { name: "p".into(), r#type: Bytes::from("\"number\""), ..Default::default() };
    let function = message::Function {
        parameters: vec![parameter],
        r#return: Some(message::function::Return { r#type: Bytes::from("[\"map\",\"string\"]") }),
        ..Default::default()
    };
    message::get_provider_schema::Response {
        provider: Some(schema.clone()),
        resource_schemas: [("t".to_owned(), schema.clone())].into(),
        data_source_schemas: [("d".to_owned(), schema.clone())].into(),
        functions: [("f".to_owned(), function)].into(),
        provider_meta: Some(schema),
        ..Default::default()
    }
    .encode_to_vec()
}

/// An answer to a plan.
fn plan(ty: &Type) -> Vec<u8> {
    let object = Value::object([("id", Value::string("a")), ("n", Value::unknown_not_null(Type::Number))]);
    let state = DynamicValue::of(msgpack::encode_in_pieces(&object, ty));
    let json = DynamicValue::of_json(Bytes::from("{\"id\":\"a\",\"n\":1}"));
    let step = |selector| message::attribute_path::Step { selector: Some(selector) };
    use message::attribute_path::step::Selector;
    let steps = vec![
        step(Selector::AttributeName("id".into())),
        step(Selector::ElementKeyInt(-1)),
        step(Selector::ElementKeyString("k".into())),
    ];
    let path = message::AttributePath { steps };
    message::plan_resource_change::Response {
        planned_state: Some(state),
        requires_replace: vec![path.clone()],
        planned_private: Bytes::from("p"),
        diagnostics: vec![message::Diagnostic {
            severity: 1,
            summary: "Summary".into(),
            detail: "Detail".into(),
            attribute: Some(path),
        }],
        planned_identity: Some(message::ResourceIdentityData { identity_data: Some(json) }),
        ..Default::default()
    }
    .encode_to_vec()
}

fn read_schemas<P: Protocol>(input: &[u8]) {
    let Ok((schemas, diagnostics)) = WireSchemas::<P>::read(Bytes::copy_from_slice(input)) else { return };
    let _ = diagnostic::from_wire(diagnostics);
    let _ = (schemas.provider(), schemas.provider_meta());
    for mode in [ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral] {
        let _ = schemas.for_each(mode, &mut |_, schema| {
            let ty = schema.implied_type();
            let _ = msgpack::decode(&msgpack::encode(&Value::null(ty.clone()), ty), ty);
        });
    }
    for name in schemas.function_names() {
        let _ = schemas.function(&name);
    }
}

#[test]
fn provider_answers() {
    let ty = Type::object([("id", Type::String), ("n", Type::Number)]);
    let words: &[&[u8]] = &[
        b"\"string\"",
        b"\"dynamic\"",
        b"[\"list\",",
        b"[\"object\",{\"a\":",
        b"[\"set\",\"bool\"]",
        &[0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0x12, 0x80, 0x80, 0x80, 0x80, 0x10],
        &[0x1a, 0x02, 0x0a, 0x00],
        &[0xc1],
        &[0xdd, 0xff, 0xff, 0xff, 0xff],
    ];
    survives("provider_answers", 1_500, &[schemas(), plan(&ty)], words, |input| {
        read_schemas::<V6>(input);
        read_schemas::<V5>(input);
        let _ = function::decode(Bytes::copy_from_slice(input));
        let Ok(answer) = message::plan_resource_change::Response::decode(input) else { return };
        let _ = value::from_wire(answer.planned_state, &ty);
        let identity = answer.planned_identity.and_then(|identity| identity.identity_data);
        let _ = value::from_wire(identity, &Type::Dynamic);
        let _ = diagnostic::from_wire(answer.diagnostics);
        answer.requires_replace.into_iter().for_each(|path| _ = diagnostic::path_from_wire(path).to_string());
    });
}
