//! The schemas in a plan file: of its providers, and of the types that the plan and its configuration name, so that showing it
//! needs no provider. They have neither descriptions nor deprecations. OpenTofu has them since 1.13, with those of identities; what this
//! program writes has the same form, with more fields, but without identities, which its plans keep as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_protocol::provider::{IdentityAttribute, IdentitySchema};
use terrane_protocol::schema::{
    Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape, ProviderSchemas, ResourceMode, Schema,
    SchemaError, StaticSchemas,
};
use terrane_value::Type;

use super::error::PlanFileError;
use super::protobuf::{Draft, Message};
use crate::addr::Provider;

/// The member of archives of OpenTofu.
pub(super) const OPENTOFU_SCHEMAS: &str = "tfschemas";

/// Who wrote schemas, and so which fields there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    OpenTofu,
    /// Ephemeral resources are in field 4, actions in field 5.
    Terrane,
}

/// How deep blocks and attributes may be nested; no provider comes near it.
const MAX_DEPTH: usize = 64;

/// A type whose schema a plan file keeps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StoredType {
    Resource(ResourceMode, Arc<str>),
    Action(Arc<str>),
}

impl StoredType {
    fn kind(&self) -> &Arc<str> {
        let (StoredType::Resource(_, kind) | StoredType::Action(kind)) = self;
        kind
    }
}

/// The schemas in a plan file, by provider; empty for plan files that have none.
#[derive(Clone, Debug, Default)]
pub struct StoredSchemas {
    providers: BTreeMap<Provider, Arc<StaticSchemas>>,
    /// Of managed resource types, by provider and type.
    identities: BTreeMap<(Provider, Arc<str>), Arc<IdentitySchema>>,
}

impl StoredSchemas {
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }

    /// Adds a provider, with those of its types. Errors: see [`ProviderSchemas`].
    pub fn add(
        &mut self,
        provider: Provider,
        types: &[StoredType],
        from: &dyn ProviderSchemas,
    ) -> Result<(), SchemaError> {
        let mut kept = StaticSchemas { provider: from.provider()?, ..StaticSchemas::default() };
        for stored in types {
            let (found, to) = match stored {
                StoredType::Resource(ResourceMode::Managed, kind) => (from.managed(kind)?, &mut kept.managed),
                StoredType::Resource(ResourceMode::Data, kind) => (from.data(kind)?, &mut kept.data),
                StoredType::Resource(ResourceMode::Ephemeral, kind) => (from.ephemeral(kind)?, &mut kept.ephemeral),
                StoredType::Resource(ResourceMode::List, _) => continue,
                StoredType::Action(kind) => (from.action(kind)?, &mut kept.actions),
            };
            if let Some(schema) = found {
                to.insert(stored.kind().clone(), schema);
            }
        }
        self.providers.insert(provider, Arc::new(kept));
        Ok(())
    }

    /// The content of the member of archives of this program.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut draft = Draft::default();
        for (provider, schemas) in &self.providers {
            let mut content = Draft::default();
            content.message(1, draft_schema(&schemas.provider));
            for (field, types) in
                [(2, &schemas.managed), (3, &schemas.data), (4, &schemas.ephemeral), (5, &schemas.actions)]
            {
                for (kind, schema) in types {
                    let mut found = Draft::default();
                    found.message(1, draft_schema(schema));
                    content.message(field, entry(kind, found));
                }
            }
            draft.message(1, entry(&provider.to_string(), content));
        }
        draft.finish()
    }

    /// All of them, or None if one of the providers that are needed has none.
    pub fn all(
        &self,
        needed: impl IntoIterator<Item = Provider>,
    ) -> Option<BTreeMap<Provider, Arc<dyn ProviderSchemas>>> {
        let is_complete = needed.into_iter().all(|provider| self.providers.contains_key(&provider));
        let shared = |(provider, schemas): (&Provider, &Arc<StaticSchemas>)| {
            let schemas: Arc<dyn ProviderSchemas> = schemas.clone();
            (provider.clone(), schemas)
        };
        is_complete.then(|| self.providers.iter().map(shared).collect())
    }

    /// As [`StoredSchemas::all`], where the provider that is needed may have another host in the plan file: an address without a host
    /// names the registry of the program that reads it, and the plan was written by another one. Such a provider is there by both
    /// addresses. A plan file has the schemas of all providers of its configuration, so no other provider is taken for it.
    pub fn all_by_any_host(
        &self,
        needed: impl IntoIterator<Item = Provider>,
    ) -> Option<BTreeMap<Provider, Arc<dyn ProviderSchemas>>> {
        let mut with_aliases = self.clone();
        for provider in needed {
            if self.providers.contains_key(&provider) {
                continue;
            }
            let is_same = |stored: &Provider| stored.namespace == provider.namespace && stored.kind == provider.kind;
            let (_, schemas) = self.providers.iter().find(|(stored, _)| is_same(stored))?;
            with_aliases.providers.insert(provider.clone(), schemas.clone());
        }
        with_aliases.all(std::iter::empty::<Provider>())
    }

    /// The schema of the identities of a managed resource type.
    pub(super) fn identity(&self, provider: &Provider, kind: &str) -> Option<&IdentitySchema> {
        self.identities.get(&(provider.clone(), kind.into())).map(|schema| &**schema)
    }

    /// Whether the type of a resource has a schema.
    pub(super) fn has(&self, provider: &Provider, mode: ResourceMode, kind: &str) -> bool {
        self.providers.get(provider).is_some_and(|schemas| match mode {
            ResourceMode::Managed => schemas.managed.contains_key(kind),
            ResourceMode::Data => schemas.data.contains_key(kind),
            ResourceMode::Ephemeral | ResourceMode::List => false,
        })
    }
}

/// Reads the member of the archive.
pub(super) fn read(content: &[u8], writer: Writer) -> Result<StoredSchemas, PlanFileError> {
    let mut stored = StoredSchemas::default();
    for (source, schemas) in entries(&Message::read(content)?, 1)? {
        let provider = Provider::parse_source(source)?;
        if writer == Writer::OpenTofu {
            for (kind, found) in entries(&schemas, 2)? {
                if let Some(schema) = identity_schema(&found)? {
                    stored.identities.insert((provider.clone(), kind.into()), Arc::new(schema));
                }
            }
        }
        stored.providers.insert(provider, Arc::new(provider_schemas(&schemas, writer)?));
    }
    Ok(stored)
}

/// The schema of the identities of a resource type, if it has identities.
fn identity_schema(message: &Message<'_>) -> Result<Option<IdentitySchema>, PlanFileError> {
    let Some(bytes) = message.bytes(2) else { return Ok(None) };
    let found = Message::read(bytes)?;
    let attributes = attributes(&found.message(2)?, 0)?.into_iter().filter_map(|(name, attribute)| {
        match attribute.shape {
            AttributeShape::Plain(ty) => Some((name, IdentityAttribute::optional(ty))),
            // Identities have no nested attributes.
            AttributeShape::Nested(_) => None,
        }
    });
    Ok(Some(IdentitySchema { version: signed(found.number(1)), attributes: attributes.collect() }))
}

fn provider_schemas(message: &Message<'_>, writer: Writer) -> Result<StaticSchemas, PlanFileError> {
    let mut found = StaticSchemas {
        provider: Arc::new(schema(&message.message(1)?)?),
        managed: types(message, 2)?,
        data: types(message, 3)?,
        ..StaticSchemas::default()
    };
    if writer == Writer::Terrane {
        found.ephemeral = types(message, 4)?;
        found.actions = types(message, 5)?;
    }
    Ok(found)
}

/// The resource types in a field, by name.
fn types(message: &Message<'_>, field: u64) -> Result<BTreeMap<Arc<str>, Arc<Schema>>, PlanFileError> {
    let read = |(name, found): (&str, Message<'_>)| Ok((Arc::from(name), Arc::new(schema(&found.message(1)?)?)));
    entries(message, field)?.into_iter().map(read).collect()
}

/// The entries of a map of messages by text.
fn entries<'a>(message: &Message<'a>, field: u64) -> Result<Vec<(&'a str, Message<'a>)>, PlanFileError> {
    let entry = |entry: Result<Message<'a>, PlanFileError>| {
        let entry = entry?;
        Ok((entry.text(1)?, entry.message(2)?))
    };
    message.messages(field).map(entry).collect()
}

fn schema(message: &Message<'_>) -> Result<Schema, PlanFileError> {
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

fn block(message: &Message<'_>, depth: usize) -> Result<Block, PlanFileError> {
    if depth > MAX_DEPTH {
        return Err(PlanFileError::DeepSchema);
    }
    let nested = |found: Result<Message<'_>, PlanFileError>| {
        let found = found?;
        let nested = NestedBlock {
            block: block(&found.message(2)?, depth + 1)?,
            nesting: nesting(found.number(3))?,
            min_items: count(found.number(4)),
            max_items: count(found.number(5)),
        };
        Ok::<_, PlanFileError>((Arc::from(found.text(1)?), nested))
    };
    Ok(Block {
        attributes: attributes(message, depth)?,
        blocks: message.messages(2).map(nested).collect::<Result<_, _>>()?,
        ..Block::default()
    })
}

fn attributes(message: &Message<'_>, depth: usize) -> Result<BTreeMap<Arc<str>, Attribute>, PlanFileError> {
    let one = |found: Result<Message<'_>, PlanFileError>| {
        let found = found?;
        Ok((Arc::from(found.text(1)?), attribute(&found, depth)?))
    };
    message.messages(1).map(one).collect()
}

fn attribute(message: &Message<'_>, depth: usize) -> Result<Attribute, PlanFileError> {
    if depth > MAX_DEPTH {
        return Err(PlanFileError::DeepSchema);
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

/// An entry of a map of messages by text.
fn entry(name: &str, content: Draft) -> Draft {
    let mut entry = Draft::default();
    entry.bytes(1, name.as_bytes());
    entry.message(2, content);
    entry
}

fn draft_schema(schema: &Schema) -> Draft {
    let mut draft = Draft::default();
    draft.number(1, u64::from_ne_bytes(schema.version.to_ne_bytes()));
    draft.message(2, draft_block(&schema.block));
    draft
}

fn draft_block(block: &Block) -> Draft {
    let mut draft = Draft::default();
    draft_attributes(&block.attributes, &mut draft);
    for (name, nested) in &block.blocks {
        let mut found = Draft::default();
        found.bytes(1, name.as_bytes());
        found.message(2, draft_block(&nested.block));
        found.number(3, nesting_number(nested.nesting));
        found.number(4, nested.min_items);
        found.number(5, nested.max_items);
        draft.message(2, found);
    }
    draft
}

/// In field 1.
fn draft_attributes(attributes: &BTreeMap<Arc<str>, Attribute>, draft: &mut Draft) {
    for (name, attribute) in attributes {
        let mut found = Draft::default();
        found.bytes(1, name.as_bytes());
        match &attribute.shape {
            AttributeShape::Plain(ty) => found.bytes(2, &ty.to_json_bytes()),
            AttributeShape::Nested(shape) => {
                let mut nested = Draft::default();
                draft_attributes(&shape.attributes, &mut nested);
                nested.number(2, nesting_number(shape.nesting));
                found.message(3, nested);
            }
        }
        found.flag(4, attribute.required);
        found.flag(5, attribute.optional);
        found.flag(6, attribute.computed);
        found.flag(7, attribute.sensitive);
        found.flag(8, attribute.write_only);
        draft.message(1, found);
    }
}

fn nesting_number(nesting: Nesting) -> u64 {
    match nesting {
        Nesting::Single => 1,
        Nesting::Group => 2,
        Nesting::List => 3,
        Nesting::Set => 4,
        Nesting::Map => 5,
    }
}

fn nesting(number: u64) -> Result<Nesting, PlanFileError> {
    Ok(match number {
        1 => Nesting::Single,
        2 => Nesting::Group,
        3 => Nesting::List,
        4 => Nesting::Set,
        5 => Nesting::Map,
        other => return Err(PlanFileError::number("invalid nesting mode", other)),
    })
}
