//! Checks JSON against the schemas in `docs/schemas`.
//!
//! Owns the keywords that these schemas use; any other keyword is an error, because nothing would check it. A validator crate would add
//! 25 crates to the build, and none lists the members that a schema does not name, which an open schema accepts. Never reads from the
//! network: references lead to files of the same folder.

use std::collections::BTreeMap;
use std::path::Path;

use regex_automata::meta::Regex;
use serde_json::{Map, Value};

/// What says nothing about a value.
const ANNOTATIONS: [&str; 6] = ["$schema", "$defs", "title", "description", "examples", "format"];
/// What says something about the content of objects and arrays.
const APPLICATORS: [&str; 9] =
    ["$ref", "properties", "additionalProperties", "items", "prefixItems", "anyOf", "allOf", "if", "required"];

/// All schemas, by the names of their files without the ending.
pub struct Schemas(BTreeMap<String, Value>);

/// What a schema says about a document.
#[derive(Debug, Default)]
pub struct Report {
    /// Why the document is not valid.
    pub errors: Vec<String>,
    /// What the schema says of members and elements, by their pointers.
    pub described: Described,
}

type Described = BTreeMap<String, Content>;

/// What a schema says of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    /// Which members or elements it has.
    #[default]
    Known,
    /// Its type or value, but no members.
    Free,
    /// Nothing.
    Anything,
}

impl Report {
    /// Pointers to what the schema does not name.
    pub fn unnamed(&self, document: &Value) -> Vec<String> {
        let mut found = Vec::new();
        self.collect_unnamed(document, "", &mut found);
        found
    }

    fn collect_unnamed(&self, value: &Value, at: &str, found: &mut Vec<String>) {
        match self.described.get(at) {
            None => found.push(at.to_owned()),
            Some(Content::Free | Content::Anything) => {}
            Some(Content::Known) => {
                for (below, part) in inner_values(value, at) {
                    self.collect_unnamed(part, &below, found);
                }
            }
        }
    }
}

/// The members or elements of a value, with their pointers.
fn inner_values<'v>(value: &'v Value, at: &str) -> Vec<(String, &'v Value)> {
    match value {
        Value::Object(members) => members.iter().map(|(name, part)| (member_pointer(at, name), part)).collect(),
        Value::Array(elements) => elements.iter().enumerate().map(|(i, part)| (format!("{at}/{i}"), part)).collect(),
        _ => Vec::new(),
    }
}

fn member_pointer(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A schema, and the file that its references start from.
#[derive(Clone, Copy)]
struct Schema<'s> {
    file: &'s str,
    keywords: &'s Map<String, Value>,
}

impl<'s> Schema<'s> {
    fn new(file: &'s str, schema: &'s Value) -> Schema<'s> {
        let keywords = schema.as_object().unwrap_or_else(|| panic!("{file}: a schema is an object, not {schema}"));
        Schema { file, keywords }
    }

    fn content(&self) -> Content {
        let has = |keyword: &str| self.keywords.contains_key(keyword);
        let is_bare_type = has("type") && !APPLICATORS.iter().any(|keyword| has(keyword));
        if self.keywords.keys().all(|keyword| ANNOTATIONS.contains(&keyword.as_str())) {
            Content::Anything
        } else if is_bare_type || has("enum") || has("const") {
            Content::Free
        } else {
            Content::Known
        }
    }
}

impl Schemas {
    pub fn load() -> Schemas {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
        let mut schemas = BTreeMap::new();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                let text = std::fs::read_to_string(&path).unwrap();
                let schema = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                schemas.insert(name, schema);
            }
        }
        Schemas(schemas)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or_else(|| panic!("there is no schema {name}"))
    }

    /// Panics if a schema has a keyword that nothing checks, a reference that leads nowhere, or `additionalProperties: false`: the
    /// formats are open for new members.
    pub fn check_keywords(&self) {
        self.0.iter().for_each(|(name, schema)| self.check_keywords_of(Schema::new(name, schema)));
    }

    fn check_keywords_of(&self, schema: Schema<'_>) {
        for (keyword, argument) in schema.keywords {
            let inner: Vec<&Value> = match keyword.as_str() {
                "$defs" | "properties" => argument.as_object().unwrap().values().collect(),
                "anyOf" | "allOf" | "prefixItems" => array(argument).iter().collect(),
                "additionalProperties" | "items" | "if" | "then" => vec![argument],
                "$ref" => {
                    self.target(schema.file, argument);
                    Vec::new()
                }
                annotation if ANNOTATIONS.contains(&annotation) => Vec::new(),
                _ => {
                    // Panics if it does not know the keyword.
                    assertion(keyword, argument, &Value::Null);
                    Vec::new()
                }
            };
            inner.into_iter().for_each(|inner| self.check_keywords_of(Schema::new(schema.file, inner)));
        }
    }

    pub fn check(&self, name: &str, document: &Value) -> Report {
        let mut report = Report::default();
        report.errors = self.evaluate(Schema::new(name, self.get(name)), document, "", &mut report.described);
        report
    }

    /// The errors; adds to `described` what the schema names.
    fn evaluate(&self, schema: Schema<'_>, value: &Value, at: &str, described: &mut Described) -> Vec<String> {
        let mut errors = Vec::new();
        add(described, at.to_owned(), schema.content());
        for (keyword, argument) in schema.keywords {
            let of = |inner| Schema::new(schema.file, inner);
            match keyword.as_str() {
                annotation if ANNOTATIONS.contains(&annotation) => {}
                "$ref" => errors.extend(self.evaluate(self.target(schema.file, argument), value, at, described)),
                "allOf" => {
                    for inner in array(argument) {
                        errors.extend(self.evaluate(of(inner), value, at, described));
                    }
                }
                "anyOf" => errors.extend(self.any_of(schema, argument, value, at, described)),
                "if" => {
                    let is_met = self.evaluate(of(argument), value, at, &mut Described::new()).is_empty();
                    if let Some(then) = schema.keywords.get("then").filter(|_| is_met) {
                        errors.extend(self.evaluate(of(then), value, at, described));
                    }
                }
                "then" => {}
                "properties" | "additionalProperties" | "prefixItems" | "items" => {
                    for (below, part, inner) in described_parts(schema, keyword, value, at) {
                        errors.extend(self.evaluate(of(inner), part, &below, described));
                    }
                }
                _ => errors.extend(assertion(keyword, argument, value).map(|why| format!("{at}: {why}"))),
            }
        }
        errors
    }

    /// The errors of the alternative with the fewest, unless one has none.
    fn any_of(
        &self,
        schema: Schema<'_>,
        alternatives: &Value,
        value: &Value,
        at: &str,
        described: &mut Described,
    ) -> Vec<String> {
        let mut fewest: Option<Vec<String>> = None;
        for alternative in array(alternatives) {
            let mut of_alternative = Described::new();
            let errors = self.evaluate(Schema::new(schema.file, alternative), value, at, &mut of_alternative);
            if errors.is_empty() {
                of_alternative.into_iter().for_each(|(pointer, content)| add(described, pointer, content));
            }
            if fewest.as_ref().is_none_or(|fewest| errors.len() < fewest.len()) {
                fewest = Some(errors);
            }
        }
        fewest.unwrap_or_default()
    }

    /// `FILE.json#/$defs/NAME`, where the file may be left out, or `FILE.json`.
    fn target<'s>(&'s self, file: &'s str, reference: &'s Value) -> Schema<'s> {
        let reference = reference.as_str().unwrap();
        let (named, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let file = if named.is_empty() { file } else { named.strip_suffix(".json").unwrap() };
        let found = self.get(file).pointer(pointer);
        Schema::new(file, found.unwrap_or_else(|| panic!("{file}: {reference} leads nowhere")))
    }
}

fn add(described: &mut Described, pointer: String, content: Content) {
    let known = described.entry(pointer).or_default();
    *known = content.max(*known);
}

/// What a keyword says about members or elements: their pointers, the values, and the schema of each.
fn described_parts<'v>(
    schema: Schema<'v>,
    keyword: &str,
    value: &'v Value,
    at: &str,
) -> Vec<(String, &'v Value, &'v Value)> {
    let argument = &schema.keywords[keyword];
    let named = |name: &str| schema.keywords.get("properties").is_some_and(|members| members.get(name).is_some());
    let first = schema.keywords.get("prefixItems").map_or(0, |first| array(first).len());
    match (keyword, value) {
        ("properties", Value::Object(members)) => members
            .iter()
            .filter_map(|(name, part)| Some((member_pointer(at, name), part, argument.get(name)?)))
            .collect(),
        ("additionalProperties", Value::Object(members)) => members
            .iter()
            .filter(|(name, _)| !named(name))
            .map(|(name, part)| (member_pointer(at, name), part, argument))
            .collect(),
        ("prefixItems", Value::Array(elements)) => elements
            .iter()
            .zip(array(argument))
            .enumerate()
            .map(|(i, (part, inner))| (format!("{at}/{i}"), part, inner))
            .collect(),
        ("items", Value::Array(elements)) => {
            elements.iter().enumerate().skip(first).map(|(i, part)| (format!("{at}/{i}"), part, argument)).collect()
        }
        _ => Vec::new(),
    }
}

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("a list is missing: {value}"))
}

/// What is wrong with a value by a keyword that asks for no other schema.
fn assertion(keyword: &str, argument: &Value, value: &Value) -> Option<String> {
    let is_met = match keyword {
        "type" => match argument {
            Value::String(name) => has_type(value, name),
            several => array(several).iter().any(|name| has_type(value, name.as_str().unwrap())),
        },
        "enum" => array(argument).contains(value),
        "const" => argument == value,
        "required" => {
            let has = |name: &Value| value.get(name.as_str().unwrap()).is_some();
            !value.is_object() || array(argument).iter().all(has)
        }
        "minItems" => value.as_array().is_none_or(|elements| elements.len() as u64 >= argument.as_u64().unwrap()),
        "minimum" => value.as_f64().is_none_or(|number| number >= argument.as_f64().unwrap()),
        "pattern" => {
            let pattern = Regex::new(argument.as_str().unwrap()).unwrap();
            value.as_str().is_none_or(|text| pattern.is_match(text))
        }
        other => panic!("the checker does not know the keyword {other:?}"),
    };
    (!is_met).then(|| format!("{value} is against {keyword:?} {argument}"))
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("there is no type {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn errors(schema: Value, value: &Value) -> Vec<String> {
        let schemas = Schemas([("x".to_owned(), schema)].into());
        schemas.check("x", value).errors
    }

    #[test]
    fn each_keyword_refuses_what_it_should() {
        // A schema, a value that is valid, and one that is not.
        let cases = [
            (json!({"type": "string"}), json!(""), json!(1)),
            (json!({"type": ["integer", "null"]}), json!(null), json!(1.5)),
            (json!({"type": "integer", "minimum": 0}), json!(0), json!(-1)),
            (json!({"enum": [["a"], "b"]}), json!(["a"]), json!("a")),
            (json!({"const": "a"}), json!("a"), json!("b")),
            (json!({"type": "string", "pattern": "^1\\.[0-9]+$"}), json!("1.20"), json!("2.0")),
            (json!({"required": ["a"]}), json!({"a": null}), json!({})),
            (json!({"properties": {"a": {"type": "boolean"}}}), json!({"b": 1}), json!({"a": 1})),
            (json!({"additionalProperties": {"type": "boolean"}}), json!({"a": true}), json!({"a": 1})),
            (
                json!({"properties": {"a": {}}, "additionalProperties": {"type": "null"}}),
                json!({"a": 1, "b": null}),
                json!({"b": 1}),
            ),
            (json!({"items": {"type": "null"}}), json!([null]), json!([1])),
            (json!({"minItems": 2, "prefixItems": [{"const": 1}]}), json!([1, 2]), json!([1])),
            (json!({"prefixItems": [{"const": 1}], "items": {"const": 2}}), json!([1, 2]), json!([1, 1])),
            (json!({"anyOf": [{"const": 1}, {"const": 2}]}), json!(2), json!(3)),
            (json!({"allOf": [{"type": "integer"}, {"const": 2}]}), json!(2), json!(1)),
            (json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}), json!({"c": 1}), json!({"a": 1})),
            (
                json!({"$defs": {"d": {"items": {"$ref": "#/$defs/d"}, "type": "array"}}, "$ref": "#/$defs/d"}),
                json!([[], [[]]]),
                json!([[], [1]]),
            ),
        ];
        for (schema, valid, invalid) in cases {
            assert_eq!(errors(schema.clone(), &valid), Vec::<String>::new(), "{schema}");
            assert_eq!(errors(schema.clone(), &invalid).len(), 1, "{schema}");
        }
    }

    #[test]
    fn unnamed_members_are_listed() {
        let schema = json!({"properties": {"a": {"properties": {"b": {}}}, "c": {"items": {"type": "object"}}}});
        let schemas = Schemas([("x".to_owned(), schema)].into());
        let document = json!({"a": {"b": {"free": 1}, "x/y": 1}, "c": [{"free": 1}], "d": 1});
        assert_eq!(schemas.check("x", &document).unnamed(&document), ["/a/x~1y", "/d"]);
    }
}
