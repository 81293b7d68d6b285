//! The schemas in a plan file of OpenTofu 1.13: of its providers, and of the resource types that the plan and its configuration
//! name. They have neither descriptions nor deprecations.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lang::value::Type;
use crate::model::addr::{Provider, ResourceMode};
use crate::model::schema::{
    Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape, ProviderSchemas, Schema, StaticSchemas,
};

use super::protobuf::Message;

/// The member of the archive.
pub(super) const SCHEMAS: &str = "tfschemas";

/// How deep blocks and attributes may be nested; no provider comes near it.
const MAX_DEPTH: usize = 64;

/// The schemas in a plan file, by provider; empty for plan files that have none.
#[derive(Clone, Debug, Default)]
pub struct StoredSchemas(BTreeMap<Provider, Arc<StaticSchemas>>);

impl StoredSchemas {
    /// The schemas of all these providers, or None if one of them has none.
    pub fn of(
        &self,
        providers: impl IntoIterator<Item = Provider>,
    ) -> Option<BTreeMap<Provider, Arc<dyn ProviderSchemas>>> {
        let one = |provider: Provider| {
            let found: Arc<dyn ProviderSchemas> = self.0.get(&provider)?.clone();
            Some((provider, found))
        };
        providers.into_iter().map(one).collect()
    }

    /// Whether the type of a resource has a schema.
    pub(super) fn has(&self, provider: &Provider, mode: ResourceMode, kind: &str) -> bool {
        self.0.get(provider).is_some_and(|schemas| match mode {
            ResourceMode::Managed => schemas.managed.contains_key(kind),
            ResourceMode::Data => schemas.data.contains_key(kind),
            ResourceMode::Ephemeral | ResourceMode::List => false,
        })
    }
}

/// Reads the member of the archive.
pub(super) fn read(content: &[u8]) -> Result<StoredSchemas, String> {
    let providers = entries(&Message::read(content)?, 1)?.into_iter().map(|(source, schemas)| {
        let provider = Provider::parse_source(source).map_err(|problem| problem.detail)?;
        Ok((provider, Arc::new(provider_schemas(&schemas)?)))
    });
    Ok(StoredSchemas(providers.collect::<Result<_, String>>()?))
}

fn provider_schemas(message: &Message<'_>) -> Result<StaticSchemas, String> {
    Ok(StaticSchemas {
        provider: Arc::new(schema(&message.message(1)?)?),
        managed: types(message, 2)?,
        data: types(message, 3)?,
        ..StaticSchemas::default()
    })
}

/// The resource types in a field, by name.
fn types(message: &Message<'_>, field: u64) -> Result<BTreeMap<Arc<str>, Arc<Schema>>, String> {
    let read = |(name, found): (&str, Message<'_>)| Ok((Arc::from(name), Arc::new(schema(&found.message(1)?)?)));
    entries(message, field)?.into_iter().map(read).collect()
}

/// The entries of a map of messages by text.
fn entries<'a>(message: &Message<'a>, field: u64) -> Result<Vec<(&'a str, Message<'a>)>, String> {
    let entry = |entry: Result<Message<'a>, String>| {
        let entry = entry?;
        Ok((entry.text(1)?, entry.message(2)?))
    };
    message.messages(field).map(entry).collect()
}

fn schema(message: &Message<'_>) -> Result<Schema, String> {
    Ok(Schema::new(signed(message.number(1)), block(&message.message(2)?, 0)?))
}

/// Negative numbers are written as large ones.
fn signed(number: u64) -> i64 {
    i64::from_ne_bytes(number.to_ne_bytes())
}

/// A count; one below zero is none.
fn count(number: u64) -> u64 {
    u64::try_from(signed(number)).unwrap_or(0)
}

fn block(message: &Message<'_>, depth: usize) -> Result<Block, String> {
    if depth > MAX_DEPTH {
        return Err("a schema is nested too deeply".into());
    }
    let nested = |found: Result<Message<'_>, String>| {
        let found = found?;
        let nested = NestedBlock {
            block: block(&found.message(2)?, depth + 1)?,
            nesting: nesting(found.number(3))?,
            min_items: count(found.number(4)),
            max_items: count(found.number(5)),
        };
        Ok::<_, String>((Arc::from(found.text(1)?), nested))
    };
    Ok(Block {
        attributes: attributes(message, depth)?,
        blocks: message.messages(2).map(nested).collect::<Result<_, _>>()?,
        ..Block::default()
    })
}

fn attributes(message: &Message<'_>, depth: usize) -> Result<BTreeMap<Arc<str>, Attribute>, String> {
    let one = |found: Result<Message<'_>, String>| {
        let found = found?;
        Ok((Arc::from(found.text(1)?), attribute(&found, depth)?))
    };
    message.messages(1).map(one).collect()
}

fn attribute(message: &Message<'_>, depth: usize) -> Result<Attribute, String> {
    if depth > MAX_DEPTH {
        return Err("a schema is nested too deeply".into());
    }
    let shape = match message.bytes(3) {
        None => AttributeShape::Plain(Type::from_json_bytes(message.bytes(2).unwrap_or_default())?),
        Some(nested) => {
            let nested = Message::read(nested)?;
            let attributes = attributes(&nested, depth + 1)?;
            AttributeShape::Nested(ObjectShape { attributes, nesting: nesting(nested.number(2))? })
        }
    };
    Ok(Attribute {
        required: message.flag(4),
        optional: message.flag(5),
        computed: message.flag(6),
        sensitive: message.flag(7),
        write_only: message.flag(8),
        shape,
        ..Attribute::new(Type::Dynamic)
    })
}

fn nesting(number: u64) -> Result<Nesting, String> {
    Ok(match number {
        1 => Nesting::Single,
        2 => Nesting::Group,
        3 => Nesting::List,
        4 => Nesting::Set,
        5 => Nesting::Map,
        other => return Err(format!("invalid nesting mode {other}")),
    })
}
