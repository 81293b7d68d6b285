//! Schemas from a JSON document, in the format of `providers schema -json`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;
use terrane_protocol::schema::{
    Attribute, AttributeShape, Block, FunctionSignature, NestedBlock, Nesting, ObjectShape, Parameter, Schema,
    StaticSchemas,
};
use terrane_value::Type;

/// The resource types of one provider. An error names the type that cannot be read.
pub fn read_provider(document: &Json) -> Result<StaticSchemas, String> {
    Ok(StaticSchemas {
        managed: types(&document["resource_schemas"])?,
        data: types(&document["data_source_schemas"])?,
        ephemeral: types(&document["ephemeral_resource_schemas"])?,
        ..StaticSchemas::default()
    })
}

/// All schemas of one provider. An error names the type or function that cannot be read.
pub fn read_whole_provider(document: &Json) -> Result<StaticSchemas, String> {
    let provider = block(&document["provider"]["block"]).map_err(|why| format!("schema of the provider: {why}"))?;
    let function = |(name, found): (&String, &Json)| {
        let function = function(found).map_err(|why| format!("function {name}: {why}"))?;
        Ok::<_, String>((Arc::from(name.as_str()), Arc::new(function)))
    };
    Ok(StaticSchemas {
        provider: Arc::new(Schema::new(document["provider"]["version"].as_i64().unwrap_or_default(), provider)),
        functions: members(&document["functions"]).map(function).collect::<Result<_, _>>()?,
        list_resources: types(&document["list_resource_schemas"])?,
        actions: types(&document["action_schemas"])?,
        state_stores: types(&document["state_store_schemas"])?,
        ..read_provider(document)?
    })
}

fn function(document: &Json) -> Result<FunctionSignature, String> {
    let parameters = document["parameters"].as_array().into_iter().flatten();
    Ok(FunctionSignature {
        parameters: parameters.map(parameter).collect::<Result<_, _>>()?,
        variadic: Some(&document["variadic_parameter"]).filter(|found| !found.is_null()).map(parameter).transpose()?,
        returns: Type::from_json(&document["return_type"]).map_err(|error| error.to_string())?,
        summary: text(document, "summary"),
        description: text(document, "description"),
        markdown: false,
        deprecation_message: text(document, "deprecation_message"),
    })
}

fn parameter(document: &Json) -> Result<Parameter, String> {
    Ok(Parameter {
        name: text(document, "name"),
        ty: Type::from_json(&document["type"]).map_err(|error| error.to_string())?,
        allow_null: flag(document, "is_nullable"),
        allow_unknown: false,
        description: text(document, "description"),
        markdown: false,
    })
}

fn types(document: &Json) -> Result<BTreeMap<Arc<str>, Arc<Schema>>, String> {
    let read = |(name, found): (&String, &Json)| {
        let block = block(&found["block"]).map_err(|why| format!("schema of {name}: {why}"))?;
        let version = found["version"].as_i64().unwrap_or_default();
        Ok((Arc::from(name.as_str()), Arc::new(Schema::new(version, block))))
    };
    members(document).map(read).collect()
}

/// The members of an object; none for anything else.
fn members(document: &Json) -> impl Iterator<Item = (&String, &Json)> {
    document.as_object().into_iter().flatten()
}

fn text(document: &Json, name: &str) -> String {
    document[name].as_str().unwrap_or_default().to_owned()
}

fn flag(document: &Json, name: &str) -> bool {
    document[name].as_bool().unwrap_or_default()
}

fn block(document: &Json) -> Result<Block, String> {
    let nested = |(name, found): (&String, &Json)| {
        let nested = NestedBlock {
            block: block(&found["block"])?,
            nesting: nesting(found)?,
            min_items: found["min_items"].as_u64().unwrap_or_default(),
            max_items: found["max_items"].as_u64().unwrap_or_default(),
        };
        Ok::<_, String>((Arc::from(name.as_str()), nested))
    };
    Ok(Block {
        attributes: attributes(&document["attributes"])?,
        blocks: members(&document["block_types"]).map(nested).collect::<Result<_, _>>()?,
        description: text(document, "description"),
        markdown: document["description_kind"] == "markdown",
        deprecated: flag(document, "deprecated"),
        deprecation_message: text(document, "deprecation_message"),
        // Schema documents do not say which blocks are computed.
        computed: false,
    })
}

fn nesting(document: &Json) -> Result<Nesting, String> {
    Ok(match document["nesting_mode"].as_str().unwrap_or_default() {
        "single" => Nesting::Single,
        "group" => Nesting::Group,
        "list" => Nesting::List,
        "set" => Nesting::Set,
        "map" => Nesting::Map,
        other => return Err(format!("invalid nesting mode {other:?}")),
    })
}

fn attributes(document: &Json) -> Result<BTreeMap<Arc<str>, Attribute>, String> {
    members(document).map(|(name, found)| Ok((Arc::from(name.as_str()), attribute(found)?))).collect()
}

fn attribute(document: &Json) -> Result<Attribute, String> {
    let shape = match &document["nested_type"] {
        Json::Null => AttributeShape::Plain(Type::from_json(&document["type"]).map_err(|error| error.to_string())?),
        nested => AttributeShape::Nested(ObjectShape {
            attributes: attributes(&nested["attributes"])?,
            nesting: nesting(nested)?,
        }),
    };
    Ok(Attribute {
        shape,
        description: text(document, "description"),
        markdown: document["description_kind"] == "markdown",
        required: flag(document, "required"),
        optional: flag(document, "optional"),
        computed: flag(document, "computed"),
        sensitive: flag(document, "sensitive"),
        deprecated: flag(document, "deprecated"),
        deprecation_message: text(document, "deprecation_message"),
        write_only: flag(document, "write_only"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_attributes_and_blocks() {
        let document = json!({"resource_schemas": {"x_y": {"version": 3, "block": {
            "attributes": {
                "a": {"type": ["map", "string"], "optional": true, "sensitive": true},
                "n": {"nested_type": {"attributes": {"b": {"type": "number"}}, "nesting_mode": "set"}, "computed": true},
            },
            "block_types": {"l": {"nesting_mode": "list", "block": {}, "max_items": 2}},
        }}}});
        let found = read_provider(&document).unwrap();
        let schema = &found.managed["x_y"];
        assert_eq!(schema.version, 3);
        let expected = Type::object([
            ("a", Type::map(Type::String)),
            ("l", Type::list(Type::empty_object())),
            ("n", Type::set(Type::object([("b", Type::Number)]))),
        ]);
        assert_eq!(*schema.implied_type(), expected);
        assert!(schema.block.attributes["a"].sensitive && !schema.block.attributes["a"].computed);
        assert_eq!(schema.block.blocks["l"].max_items, 2);
    }

    #[test]
    fn reads_what_is_not_a_resource() {
        let document = json!({
            "provider": {"version": 2, "block": {"attributes": {"a": {"type": "bool", "optional": true}}}},
            "functions": {"f": {
                "summary": "s", "return_type": "bool", "parameters": [{"name": "p", "type": "number", "is_nullable": true}],
                "variadic_parameter": {"name": "v", "type": ["list", "string"]},
            }},
            "action_schemas": {"x_act": {"block": {}}},
        });
        let found = read_whole_provider(&document).unwrap();
        assert_eq!((found.provider.version, found.provider.block.attributes.len()), (2, 1));
        let function = &found.functions["f"];
        assert!(function.parameters[0].allow_null && function.returns == Type::Bool);
        assert_eq!(function.variadic.as_ref().map(|variadic| &variadic.ty), Some(&Type::list(Type::String)));
        assert!(found.actions.contains_key("x_act") && found.list_resources.is_empty());
        let broken = read_whole_provider(&json!({"functions": {"f": {"return_type": "x"}}})).map(drop);
        assert_eq!(broken, Err("function f: invalid primitive type name \"x\"".to_owned()));
    }

    #[test]
    fn invalid_schemas_are_errors() {
        let of = |attribute: Json| {
            let block = json!({"attributes": {"a": attribute}});
            read_provider(&json!({"data_source_schemas": {"x": {"block": block}}})).map(drop)
        };
        assert_eq!(
            of(json!({"type": "strong"})),
            Err("schema of x: invalid primitive type name \"strong\"".to_owned())
        );
        let nested = json!({"nested_type": {"nesting_mode": "tree"}});
        assert_eq!(of(nested), Err("schema of x: invalid nesting mode \"tree\"".to_owned()));
        assert!(read_provider(&json!([])).is_ok_and(|found| found.managed.is_empty()));
    }
}
