//! Checks of a provider's own definitions: what hosts would refuse, or would answer with confusing errors.

use std::collections::BTreeSet;

use terrane_value::{Type, convert};

use super::attribute::Attribute;
use super::erased::AnyType;
use super::error::Error;
use super::function::Signature;
use super::provider::Provider;
use super::schema::{Block, NestedBlock, Nesting, Schema, Shape};
use super::server::Server;

const RESERVED: &[&str] = &["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"];
const RESERVED_OF_PROVIDERS: &[&str] = &["alias", "version"];
const INVALID_ATTRIBUTE: &str = "Invalid Attribute Implementation";
const INVALID_SCHEMA: &str = "Invalid Schema Implementation";

/// Checks the schemas, names and functions of a provider: one line in a test.
///
/// ```
/// # use terrane_sdk::{Context, Error, Provider, Types, Values, validate_implementation};
/// struct Empty;
///
/// impl Provider for Empty {
///     type Config = ();
///     type Data = ();
///     async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
///         Ok(())
///     }
///     fn types(&self, _types: &mut Types<()>) {}
/// }
///
/// validate_implementation(Empty).unwrap();
/// ```
pub fn validate_implementation(provider: impl Provider) -> Result<(), Error> {
    let server = Server::new(provider);
    let mut check = ImplementationCheck { kind: Kind::Provider, name: "provider".to_owned(), errors: Vec::new() };
    check.schema(server.config_schema());
    let types = server.types();
    for (kind, name) in &types.duplicates {
        let detail = format!("The provider offers the type {name:?} more than once.");
        check.errors.push(Error::new(format!("Duplicate {kind} Type Defined"), detail));
    }
    for (name, resource) in &types.resources {
        check.of_type(Kind::Resource, name, &**resource);
        let version = resource.schema().version;
        if version < 0 {
            check.report(INVALID_SCHEMA, format!("The version of the schema is {version}."));
        }
    }
    for (name, source) in &types.data_sources {
        check.of_type(Kind::Other, name, &**source);
    }
    for (name, ephemeral) in &types.ephemeral {
        check.of_type(Kind::Other, name, &**ephemeral);
    }
    for (name, list) in &types.lists {
        check.of_type(Kind::Other, name, &**list);
        // A provider that is joined with this one may have the resource type.
        if types.resources.get(name).is_some_and(|resource| resource.identity_schema().is_none()) {
            let detail = "A resource type with a list resource must have an identity.".to_owned();
            check.report(INVALID_SCHEMA, detail);
        }
    }
    for (name, action) in &types.actions {
        check.of_type(Kind::Action, name, &**action);
    }
    for (name, function) in &types.functions {
        check.function(name, &function.signature());
    }
    match check.errors.into_iter().reduce(Error::and) {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Provider,
    Resource,
    Action,
    /// Data sources, ephemeral resources and list resources.
    Other,
}

/// The definitions of one type.
struct ImplementationCheck {
    kind: Kind,
    name: String,
    errors: Vec<Error>,
}

impl ImplementationCheck {
    fn report(&mut self, summary: &str, detail: String) {
        self.errors.push(Error::new(summary, format!("{}: {detail}", self.name)));
    }

    fn of_type<T: AnyType + ?Sized>(&mut self, kind: Kind, name: &str, of: &T) {
        (self.kind, self.name) = (kind, name.to_owned());
        if !is_name(name) {
            self.report(INVALID_SCHEMA, "Names of types have lower-case letters, digits and _.".to_owned());
        }
        self.schema(of.schema());
    }

    fn schema(&mut self, schema: &Schema) {
        let reserved: &[&[&str]] = match self.kind {
            Kind::Provider => &[RESERVED, RESERVED_OF_PROVIDERS],
            Kind::Resource | Kind::Action | Kind::Other => &[RESERVED],
        };
        for attribute in &schema.block.attributes {
            if reserved.iter().any(|names| names.contains(&&*attribute.name)) {
                self.report("Reserved Root Attribute/Block Name", format!("{:?} is reserved.", attribute.name));
            }
        }
        for nested in &schema.block.blocks {
            if reserved.iter().any(|names| names.contains(&&*nested.name)) {
                self.report("Reserved Root Attribute/Block Name", format!("{:?} is reserved.", nested.name));
            }
        }
        self.block(&schema.block, false);
    }

    fn block(&mut self, block: &Block, in_set: bool) {
        let mut names = BTreeSet::new();
        let attributes = block.attributes.iter().map(|attribute| &attribute.name);
        for name in attributes.chain(block.blocks.iter().map(|nested| &nested.name)) {
            if !is_name(name) {
                let detail =
                    format!("{name:?}: names begin with a lower-case letter or _ and go on with these or digits.");
                self.report("Invalid Attribute/Block Name", detail);
            }
            if !names.insert(name) {
                self.report(INVALID_SCHEMA, format!("{name:?} is there more than once."));
            }
        }
        for attribute in &block.attributes {
            self.attribute(attribute, in_set);
        }
        for nested in &block.blocks {
            self.nested_block(nested, in_set);
        }
    }

    fn nested_block(&mut self, nested: &NestedBlock, in_set: bool) {
        if nested.block.attributes.is_empty() && nested.block.blocks.is_empty() {
            self.report(INVALID_SCHEMA, format!("The block {:?} has no attributes.", nested.name));
        }
        if nested.nesting == Nesting::Map {
            self.report(INVALID_SCHEMA, format!("The block {:?} is a map: hosts have no such blocks.", nested.name));
        }
        self.block(&nested.block, in_set || nested.nesting == Nesting::Set);
    }

    fn attribute(&mut self, attribute: &Attribute, in_set: bool) {
        let name = &attribute.name;
        let flags = (attribute.required, attribute.optional, attribute.computed);
        if matches!(flags, (false, false, false) | (true, true, _) | (true, _, true)) {
            let detail = format!("{name:?} must be required, or optional, computed or both.");
            self.report("Invalid Attribute Definition", detail);
        }
        if let Some(default) = &attribute.default {
            if !attribute.computed {
                let detail = format!("{name:?} has a default: it must be computed.");
                self.report("Schema Using Attribute Default For Non-Computed Attribute", detail);
            }
            if convert::convert(default, &attribute.ty()).is_err() {
                self.report(INVALID_ATTRIBUTE, format!("The default of {name:?} is not of its type."));
            }
        }
        if self.kind != Kind::Resource && (attribute.default.is_some() || !attribute.modifiers.is_empty()) {
            let detail = format!("{name:?}: only resources have defaults and plan modifiers.");
            self.report(INVALID_ATTRIBUTE, detail);
        }
        let has_write_only = matches!(self.kind, Kind::Resource | Kind::Action);
        if attribute.write_only && (!has_write_only || attribute.computed || in_set) {
            let detail = format!(
                "{name:?}: only attributes of resources and actions are write-only, not computed ones or in sets."
            );
            self.report(INVALID_SCHEMA, detail);
        }
        match &attribute.shape {
            Shape::Plain(ty) if has_dynamic_element(ty) => {
                self.report(INVALID_SCHEMA, format!("{name:?}: elements of collections must have a type."));
            }
            Shape::Plain(_) => {}
            Shape::Nested(nesting, block) => {
                if !block.blocks.is_empty() {
                    self.report(INVALID_SCHEMA, format!("{name:?}: nested attributes have no blocks."));
                }
                self.block(block, in_set || *nesting == Nesting::Set);
            }
        }
    }

    fn function(&mut self, name: &str, signature: &Signature) {
        name.clone_into(&mut self.name);
        let mut names = BTreeSet::new();
        for parameter in signature.parameters.iter().chain(&signature.variadic) {
            if !names.insert(&parameter.name) {
                let detail = format!("Two parameters are named {:?}.", parameter.name);
                self.report("Invalid Function Definition", detail);
            }
        }
    }
}

fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    name.bytes().next().is_some_and(letter) && name.bytes().all(|byte| letter(byte) || byte.is_ascii_digit())
}

/// True for a list, set or map whose elements are of any type.
fn has_dynamic_element(ty: &Type) -> bool {
    ty.is_collection() && ty.has_dynamic()
}
