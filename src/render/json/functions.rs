//! `metadata functions -json`: the signatures of all functions of the language, by name, each also with its namespace.

use base::dialect::Dialect;
use lang::functions::{Builtin, Function as _, Param, all};
use serde_json::{Map, Value as Json, json};

use super::go;
use crate::opentofu;

const FORMAT_VERSION: &str = "1.0";

/// The whole document, in one line.
pub fn signatures(dialect: Dialect) -> String {
    let described: Vec<(String, Json)> =
        all().map(|f| (f.signature().name.to_string(), signature(f, dialect))).collect();
    let namespaced = described.iter().map(|(name, signature)| (format!("core::{name}"), signature.clone()));
    let mut by_name: Vec<(String, Json)> = described.iter().cloned().chain(namespaced).collect();
    by_name.sort_by(|a, b| a.0.cmp(&b.0));
    let by_name: Map<String, Json> = by_name.into_iter().collect();
    go::compact(&json!({ "format_version": FORMAT_VERSION, "function_signatures": by_name }))
}

fn signature(function: &Builtin, dialect: Dialect) -> Json {
    let signature = function.signature();
    let mut members = Map::new();
    if !signature.description.is_empty() {
        members.insert("description".into(), signature.description.as_ref().into());
    }
    members.insert("return_type".into(), function.documented_type().to_json());
    if !signature.params.is_empty() {
        members.insert("parameters".into(), signature.params.iter().map(parameter).collect());
        if signature.name == "convert" && opentofu::has_types_as_parameters(dialect) {
            members["parameters"][1] = json!({ "name": "type", "type": "type" });
        }
    }
    if let Some(param) = &signature.variadic {
        members.insert("variadic_parameter".into(), parameter(param));
    }
    Json::Object(members)
}

fn parameter(param: &Param) -> Json {
    let mut members = Map::new();
    members.insert("name".into(), param.name.as_ref().into());
    if !param.description.is_empty() {
        members.insert("description".into(), param.description.as_ref().into());
    }
    if param.allow_null {
        members.insert("is_nullable".into(), true.into());
    }
    members.insert("type".into(), param.ty.to_json());
    Json::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parameters that the reference describes.
    const DESCRIBED: [(&str, &str); 13] = [
        ("bcrypt", "cost"),
        ("chunklist", "size"),
        ("cidrhost", "prefix hostnum"),
        ("cidrnetmask", "prefix"),
        ("cidrsubnet", "prefix newbits netnum"),
        ("cidrsubnets", "prefix"),
        ("coalescelist", "vals"),
        ("indent", "spaces"),
        ("join", "separator lists"),
        ("keys", "inputMap"),
        ("setproduct", "sets"),
        ("templatestring", "template vars"),
        ("trim", "cutset"),
    ];

    #[test]
    fn document() {
        let document: Json = serde_json::from_str(&signatures(Dialect::default())).unwrap();
        assert_eq!(document["format_version"], "1.0");
        let by_name = document["function_signatures"].as_object().unwrap();
        assert_eq!(by_name["pow"], by_name["core::pow"]);
        let mut pow = by_name["pow"].clone();
        assert!(pow.as_object_mut().unwrap().remove("description").is_some());
        let number = |name: &str| json!({ "name": name, "type": "number" });
        assert_eq!(pow, json!({ "return_type": "number", "parameters": [number("num"), number("power")] }));
        let variadic = json!({ "name": "args", "is_nullable": true, "type": "dynamic" });
        assert_eq!(by_name["format"]["variadic_parameter"], variadic);
        assert!(by_name.values().all(|f| f["description"].is_string()));
        for (function, params) in DESCRIBED {
            let described = by_name[function]["parameters"].as_array().into_iter().flatten();
            let described = described.chain(by_name[function].get("variadic_parameter"));
            let names: Vec<&str> =
                described.filter(|p| p["description"].is_string()).filter_map(|p| p["name"].as_str()).collect();
            assert_eq!(names.join(" "), params, "{function}");
        }
    }
}
