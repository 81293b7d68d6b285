//! `providers schema -json`: the schemas of providers, streamed. The document of a large provider has
//! many megabytes; only one type is in memory at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use model::addr::Provider;
use terrane_protocol::provider::{IdentitySchema, IdentityUse};
use terrane_protocol::schema::{
    Attribute, AttributeShape, Block, FunctionSignature, NestedBlock, Nesting, Parameter, ProviderSchemas,
    ResourceMode, Schema, SchemaError,
};
use terrane_value::Type;
use terrane_value::json::write_string;

use super::go;

const FORMAT_VERSION: &str = "1.0";
/// Pieces are about this large, in bytes.
const PIECE: usize = 1 << 16;

/// The schemas of the identities of a provider's resource types.
pub type Identities = BTreeMap<Arc<str>, IdentitySchema>;

/// Why a provider's description cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DescriptionError {
    Schema(SchemaError),
    /// The provider has an action of this name, but no schema of it.
    NoAction(String),
    /// The same of a state store.
    NoStateStore(String),
}

impl fmt::Display for DescriptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DescriptionError::Schema(error) => error.fmt(f),
            DescriptionError::NoAction(name) => write!(f, "there is no schema of the action {name:?}"),
            DescriptionError::NoStateStore(name) => write!(f, "there is no schema of {name:?}"),
        }
    }
}

impl From<SchemaError> for DescriptionError {
    fn from(error: SchemaError) -> DescriptionError {
        DescriptionError::Schema(error)
    }
}

/// Gives the document, without a line ending, to `emit` in pieces. The error is a provider's name with what cannot be read
/// of its description; what was emitted before it is cut short.
pub fn write<'a>(
    providers: impl IntoIterator<Item = (&'a Provider, &'a Arc<dyn ProviderSchemas>)>,
    identities: &BTreeMap<Provider, Identities>,
    emit: &mut dyn FnMut(&str),
) -> Result<(), (Provider, DescriptionError)> {
    let mut out = Document { text: String::with_capacity(PIECE * 2), emit };
    let mut described: Vec<(String, &Provider, &Arc<dyn ProviderSchemas>)> =
        providers.into_iter().map(|(provider, schemas)| (provider.to_string(), provider, schemas)).collect();
    described.sort_by(|a, b| a.0.cmp(&b.0));
    out.text.push_str("{\"format_version\":");
    write_string(FORMAT_VERSION, &mut out.text);
    for (i, (name, provider, schemas)) in described.iter().enumerate() {
        out.text.push_str(if i == 0 { ",\"provider_schemas\":{" } else { "," });
        key(&mut out.text, name);
        let none = Identities::new();
        let identities = identities.get(*provider).unwrap_or(&none);
        out.provider(provider, &***schemas, identities).map_err(|why| ((*provider).clone(), why))?;
    }
    out.text.push_str(if described.is_empty() { "}" } else { "}}" });
    (out.emit)(&out.text);
    Ok(())
}

struct Document<'a> {
    /// What was not emitted yet.
    text: String,
    emit: &'a mut dyn FnMut(&str),
}

impl Document<'_> {
    fn provider(
        &mut self,
        provider: &Provider,
        schemas: &dyn ProviderSchemas,
        identities: &Identities,
    ) -> Result<(), DescriptionError> {
        self.text.push_str("{\"provider\":");
        let own = schemas.provider()?;
        // What is part of the program and has no settings has not even an empty block.
        let bare = provider.is_builtin() && own.block == Block::default();
        schema(&mut self.text, &own, !bare);
        self.types(schemas, ResourceMode::Managed, "resource_schemas")?;
        self.types(schemas, ResourceMode::Data, "data_source_schemas")?;
        self.types(schemas, ResourceMode::Ephemeral, "ephemeral_resource_schemas")?;
        self.types(schemas, ResourceMode::List, "list_resource_schemas")?;
        for (i, name) in schemas.function_names().iter().enumerate() {
            self.text.push_str(if i == 0 { ",\"functions\":{" } else { "," });
            key(&mut self.text, name);
            if let Some(signature) = schemas.function(name)? {
                function(&mut self.text, &signature);
            }
            self.flush();
        }
        if !schemas.function_names().is_empty() {
            self.text.push('}');
        }
        self.identities(identities);
        for (i, name) in schemas.action_names().iter().enumerate() {
            self.text.push_str(if i == 0 { ",\"action_schemas\":{" } else { "," });
            key(&mut self.text, name);
            let found = schemas.action(name)?.ok_or_else(|| DescriptionError::NoAction(name.to_string()))?;
            self.text.push_str("{\"block\":");
            block(&mut self.text, &found.block);
            self.text.push('}');
            self.flush();
        }
        if !schemas.action_names().is_empty() {
            self.text.push('}');
        }
        for (i, name) in schemas.state_store_names().iter().enumerate() {
            self.text.push_str(if i == 0 { ",\"state_store_schemas\":{" } else { "," });
            key(&mut self.text, name);
            let found = schemas.state_store(name)?.ok_or_else(|| DescriptionError::NoStateStore(name.to_string()))?;
            schema(&mut self.text, &found, true);
        }
        self.text.push_str(if schemas.state_store_names().is_empty() { "}" } else { "}}" });
        Ok(())
    }

    fn identities(&mut self, identities: &Identities) {
        for (i, (name, schema)) in identities.iter().enumerate() {
            self.text.push_str(if i == 0 { ",\"resource_identity_schemas\":{" } else { "," });
            key(&mut self.text, name);
            identity(&mut self.text, schema);
            self.flush();
        }
        if !identities.is_empty() {
            self.text.push('}');
        }
    }

    fn types(&mut self, schemas: &dyn ProviderSchemas, mode: ResourceMode, name: &str) -> Result<(), DescriptionError> {
        let mut first = true;
        schemas.for_each(mode, &mut |kind, found| {
            if first {
                self.text.push(',');
                key(&mut self.text, name);
            }
            self.text.push(if first { '{' } else { ',' });
            first = false;
            key(&mut self.text, kind);
            schema(&mut self.text, found, true);
            self.flush();
        })?;
        if !first {
            self.text.push('}');
        }
        Ok(())
    }

    fn flush(&mut self) {
        if self.text.len() >= PIECE {
            (self.emit)(&self.text);
            self.text.clear();
        }
    }
}

fn key(out: &mut String, name: &str) {
    write_string(name, out);
    out.push(':');
}

/// `,"name":` unless it is the object's first member.
fn member(out: &mut String, name: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    key(out, name);
}

/// Left out if empty.
fn text(out: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        member(out, name);
        write_string(text, out);
    }
}

/// Left out if false.
fn flag(out: &mut String, name: &str, value: bool) {
    if value {
        member(out, name);
        out.push_str("true");
    }
}

fn schema(out: &mut String, schema: &Schema, with_block: bool) {
    // The reference counts without a sign.
    out.push_str(&format!("{{\"version\":{}", schema.version.cast_unsigned()));
    if with_block {
        member(out, "block");
        block(out, &schema.block);
    }
    out.push('}');
}

fn identity(out: &mut String, schema: &IdentitySchema) {
    out.push_str(&format!("{{\"version\":{},\"attributes\":{{", schema.version.cast_unsigned()));
    for (name, attribute) in &schema.attributes {
        member(out, name);
        out.push('{');
        member(out, "type");
        out.push_str(&String::from_utf8_lossy(&attribute.ty.to_json_bytes()));
        text(out, "description", &attribute.description);
        flag(out, "required_for_import", attribute.import == IdentityUse::Required);
        flag(out, "optional_for_import", attribute.import == IdentityUse::Optional);
        out.push('}');
    }
    out.push_str("}}");
}

fn description_kind(markdown: bool) -> &'static str {
    if markdown { "markdown" } else { "plain" }
}

fn block(out: &mut String, block: &Block) {
    out.push('{');
    if !block.attributes.is_empty() {
        member(out, "attributes");
        attributes(out, &block.attributes);
    }
    if !block.blocks.is_empty() {
        member(out, "block_types");
        out.push('{');
        for (name, nested) in &block.blocks {
            member(out, name);
            nested_block(out, nested);
        }
        out.push('}');
    }
    text(out, "description", &block.description);
    text(out, "description_kind", description_kind(block.markdown));
    flag(out, "deprecated", block.deprecated);
    text(out, "deprecation_message", &block.deprecation_message);
    out.push('}');
}

fn nested_block(out: &mut String, nested: &NestedBlock) {
    out.push('{');
    text(out, "nesting_mode", nesting_mode(nested.nesting));
    member(out, "block");
    block(out, &nested.block);
    for (name, count) in [("min_items", nested.min_items), ("max_items", nested.max_items)] {
        if count > 0 {
            member(out, name);
            out.push_str(&count.to_string());
        }
    }
    out.push('}');
}

fn nesting_mode(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    }
}

fn attributes(out: &mut String, attributes: &std::collections::BTreeMap<Arc<str>, Attribute>) {
    out.push('{');
    for (name, found) in attributes {
        member(out, name);
        attribute(out, found);
    }
    out.push('}');
}

fn attribute(out: &mut String, attribute: &Attribute) {
    out.push('{');
    match &attribute.shape {
        AttributeShape::Plain(ty) => {
            member(out, "type");
            write_type(out, ty);
        }
        AttributeShape::Nested(shape) => {
            member(out, "nested_type");
            out.push('{');
            if !shape.attributes.is_empty() {
                member(out, "attributes");
                attributes(out, &shape.attributes);
            }
            text(out, "nesting_mode", nesting_mode(shape.nesting));
            out.push('}');
        }
    }
    text(out, "description", &attribute.description);
    text(out, "description_kind", description_kind(attribute.markdown));
    flag(out, "deprecated", attribute.deprecated);
    text(out, "deprecation_message", &attribute.deprecation_message);
    flag(out, "required", attribute.required);
    flag(out, "optional", attribute.optional);
    flag(out, "computed", attribute.computed);
    flag(out, "sensitive", attribute.sensitive);
    flag(out, "write_only", attribute.write_only);
    out.push('}');
}

fn write_type(out: &mut String, ty: &Type) {
    match ty {
        Type::String => out.push_str("\"string\""),
        Type::Bool => out.push_str("\"bool\""),
        Type::Number => out.push_str("\"number\""),
        other => out.push_str(&go::compact(&other.to_json())),
    }
}

fn function(out: &mut String, signature: &FunctionSignature) {
    out.push('{');
    text(out, "description", &signature.description);
    text(out, "summary", &signature.summary);
    text(out, "deprecation_message", &signature.deprecation_message);
    member(out, "return_type");
    write_type(out, &signature.returns);
    if !signature.parameters.is_empty() {
        member(out, "parameters");
        for (i, found) in signature.parameters.iter().enumerate() {
            out.push(if i == 0 { '[' } else { ',' });
            parameter(out, found);
        }
        out.push(']');
    }
    if let Some(found) = &signature.variadic {
        member(out, "variadic_parameter");
        parameter(out, found);
    }
    out.push('}');
}

fn parameter(out: &mut String, parameter: &Parameter) {
    out.push('{');
    text(out, "name", &parameter.name);
    text(out, "description", &parameter.description);
    flag(out, "is_nullable", parameter.allow_null);
    member(out, "type");
    write_type(out, &parameter.ty);
    out.push('}');
}

#[cfg(test)]
mod tests {
    use terrane_protocol::schema::{ObjectShape, StaticSchemas};

    use super::*;

    fn written(provider: Provider, schemas: StaticSchemas) -> String {
        let (mut text, schemas) = (String::new(), Arc::new(schemas) as Arc<dyn ProviderSchemas>);
        write([(&provider, &schemas)], &BTreeMap::new(), &mut |piece| text.push_str(piece)).unwrap();
        let head = format!("{{\"format_version\":\"1.0\",\"provider_schemas\":{{\"{provider}\":");
        text.strip_prefix(&head).and_then(|rest| rest.strip_suffix("}}")).unwrap_or(&text).to_owned()
    }

    fn example() -> StaticSchemas {
        let mut plain = Attribute::new(Type::map(Type::String));
        (plain.description, plain.markdown, plain.optional) = ("<b>".into(), true, true);
        let mut secret = Attribute::new(Type::Number);
        (secret.required, secret.sensitive, secret.write_only, secret.deprecated) = (true, true, true, true);
        let attributes = [(Arc::from("b"), secret)].into();
        let mut shaped = Attribute::new(Type::String);
        (shaped.shape, shaped.computed) =
            (AttributeShape::Nested(ObjectShape { attributes, nesting: Nesting::Set }), true);
        let inner = Block { deprecated: true, ..Block::default() };
        let nested = NestedBlock { block: inner, nesting: Nesting::List, min_items: 1, max_items: 2 };
        let block = Block {
            attributes: [(Arc::from("a"), plain), (Arc::from("c"), shaped)].into(),
            blocks: [(Arc::from("n"), nested)].into(),
            description: "what".into(),
            ..Block::default()
        };
        let parameter = |name: &str, allow_null| Parameter {
            name: name.into(),
            ty: Type::Dynamic,
            allow_null,
            allow_unknown: false,
            description: String::new(),
            markdown: false,
        };
        let function = FunctionSignature {
            parameters: vec![parameter("p", false), parameter("q", true)],
            variadic: Some(parameter("r", false)),
            returns: Type::Bool,
            summary: "s".into(),
            description: String::new(),
            markdown: false,
            deprecation_message: "old".into(),
        };
        StaticSchemas {
            managed: [(Arc::from("x_y"), Arc::new(Schema::new(3, block)))].into(),
            functions: [(Arc::from("f"), Arc::new(function))].into(),
            ..StaticSchemas::default()
        }
    }

    #[test]
    fn document() {
        let expected = concat!(
            r#"{"provider":{"version":0,"block":{"description_kind":"plain"}},"resource_schemas":{"x_y":{"version":3,"#,
            r#""block":{"attributes":{"a":{"type":["map","string"],"description":"\u003cb\u003e","description_kind":"markdown","#,
            r#""optional":true},"c":{"nested_type":{"attributes":{"b":{"type":"number","description_kind":"plain","#,
            r#""deprecated":true,"required":true,"sensitive":true,"write_only":true}},"nesting_mode":"set"},"#,
            r#""description_kind":"plain","computed":true}},"block_types":{"n":{"nesting_mode":"list","#,
            r#""block":{"description_kind":"plain","deprecated":true},"min_items":1,"max_items":2}},"#,
            r#""description":"what","description_kind":"plain"}}},"functions":{"f":{"summary":"s","#,
            r#""deprecation_message":"old","return_type":"bool","parameters":[{"name":"p","type":"dynamic"},"#,
            r#"{"name":"q","is_nullable":true,"type":"dynamic"}],"variadic_parameter":{"name":"r","type":"dynamic"}}}}"#,
        );
        assert_eq!(written(Provider::default_for("x"), example()), expected);
    }

    #[test]
    fn what_is_not_there_is_left_out() {
        let mut text = String::new();
        write([], &BTreeMap::new(), &mut |piece| text.push_str(piece)).unwrap();
        assert_eq!(text, r#"{"format_version":"1.0"}"#);
        assert_eq!(written(Provider::builtin("x"), StaticSchemas::default()), r#"{"provider":{"version":0}}"#);
        let whole = r#"{"provider":{"version":0,"block":{"description_kind":"plain"}}}"#;
        assert_eq!(written(Provider::default_for("x"), StaticSchemas::default()), whole);
    }
}
