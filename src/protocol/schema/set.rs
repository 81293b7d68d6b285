//! All the schemas of one provider, decoded when asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_value::Type;

use super::{Schema, SchemaError};
use crate::schema::ResourceMode;

/// The schemas of one provider. A type is decoded at the first question for it, which fails if its description
/// cannot be read.
pub trait ProviderSchemas: Send + Sync {
    fn provider(&self) -> Result<Arc<Schema>, SchemaError>;
    fn provider_meta(&self) -> Result<Option<Arc<Schema>>, SchemaError>;
    fn managed(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError>;
    fn data(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError>;
    fn ephemeral(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError>;
    fn function(&self, name: &str) -> Result<Option<Arc<FunctionSignature>>, SchemaError>;
    fn managed_names(&self) -> Vec<Arc<str>>;
    fn data_names(&self) -> Vec<Arc<str>>;
    fn ephemeral_names(&self) -> Vec<Arc<str>>;
    fn function_names(&self) -> Vec<Arc<str>>;
    fn capabilities(&self) -> Capabilities;

    /// The configuration of a list resource. Lists find objects of the managed resource type of the same name.
    fn list_resource(&self, _kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(None)
    }

    fn list_resource_names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// The configuration of an action.
    fn action(&self, _kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(None)
    }

    fn action_names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// The settings of a state store.
    fn state_store(&self, _kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(None)
    }

    fn state_store_names(&self) -> Vec<Arc<str>> {
        Vec::new()
    }

    /// Shows all types of a mode in the order of their names, for those who want them all and once: nothing needs to be
    /// kept.
    fn for_each(&self, mode: ResourceMode, visit: &mut dyn FnMut(&str, &Schema)) -> Result<(), SchemaError> {
        let (names, find): (_, fn(&Self, &str) -> Result<Option<Arc<Schema>>, SchemaError>) = match mode {
            ResourceMode::Managed => (self.managed_names(), Self::managed),
            ResourceMode::Data => (self.data_names(), Self::data),
            ResourceMode::Ephemeral => (self.ephemeral_names(), Self::ephemeral),
            ResourceMode::List => (self.list_resource_names(), Self::list_resource),
        };
        for name in names {
            if let Some(schema) = find(self, &name)? {
                visit(&name, &schema);
            }
        }
        Ok(())
    }
}

/// What a provider says that it can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The provider plans the destruction of objects.
    pub plan_destroy: bool,
    /// A process serves calls without having been asked for its schema.
    pub get_provider_schema_optional: bool,
    pub move_resource_state: bool,
    pub generate_resource_config: bool,
}

/// A provider-defined function.
#[derive(Clone, Debug)]
pub struct FunctionSignature {
    pub parameters: Vec<Parameter>,
    pub variadic: Option<Parameter>,
    pub returns: Type,
    pub summary: String,
    pub description: String,
    pub markdown: bool,
    pub deprecation_message: String,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: String,
    pub ty: Type,
    pub allow_null: bool,
    pub allow_unknown: bool,
    pub description: String,
    pub markdown: bool,
}

/// Schemas held in memory: what built-in providers and tests give.
#[derive(Clone, Debug, Default)]
pub struct StaticSchemas {
    pub provider: Arc<Schema>,
    pub provider_meta: Option<Arc<Schema>>,
    pub managed: BTreeMap<Arc<str>, Arc<Schema>>,
    pub data: BTreeMap<Arc<str>, Arc<Schema>>,
    pub ephemeral: BTreeMap<Arc<str>, Arc<Schema>>,
    pub functions: BTreeMap<Arc<str>, Arc<FunctionSignature>>,
    pub list_resources: BTreeMap<Arc<str>, Arc<Schema>>,
    pub actions: BTreeMap<Arc<str>, Arc<Schema>>,
    pub state_stores: BTreeMap<Arc<str>, Arc<Schema>>,
    pub capabilities: Capabilities,
}

impl ProviderSchemas for StaticSchemas {
    fn provider(&self) -> Result<Arc<Schema>, SchemaError> {
        Ok(self.provider.clone())
    }

    fn provider_meta(&self) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(self.provider_meta.clone())
    }

    fn managed(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(self.managed.get(kind).cloned())
    }

    fn data(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(self.data.get(kind).cloned())
    }

    fn ephemeral(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(self.ephemeral.get(kind).cloned())
    }

    fn function(&self, name: &str) -> Result<Option<Arc<FunctionSignature>>, SchemaError> {
        Ok(self.functions.get(name).cloned())
    }

    fn managed_names(&self) -> Vec<Arc<str>> {
        self.managed.keys().cloned().collect()
    }

    fn data_names(&self) -> Vec<Arc<str>> {
        self.data.keys().cloned().collect()
    }

    fn ephemeral_names(&self) -> Vec<Arc<str>> {
        self.ephemeral.keys().cloned().collect()
    }

    fn function_names(&self) -> Vec<Arc<str>> {
        self.functions.keys().cloned().collect()
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn list_resource(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(self.list_resources.get(kind).cloned())
    }

    fn list_resource_names(&self) -> Vec<Arc<str>> {
        self.list_resources.keys().cloned().collect()
    }

    fn action(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(self.actions.get(kind).cloned())
    }

    fn action_names(&self) -> Vec<Arc<str>> {
        self.actions.keys().cloned().collect()
    }

    fn state_store(&self, kind: &str) -> Result<Option<Arc<Schema>>, SchemaError> {
        Ok(self.state_stores.get(kind).cloned())
    }

    fn state_store_names(&self) -> Vec<Arc<str>> {
        self.state_stores.keys().cloned().collect()
    }
}
