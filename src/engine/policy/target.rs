//! What a policy is evaluated for.

use std::sync::Arc;

use base::source::Range;
use model::addr::{AbsProviderConfig, AbsResourceInstance, InstanceKey, ModuleInstance, Provider, Resource};
use model::config::policy_file::{PolicyKind, PolicyMock, PolicyMockKind, PolicyOperation};
use terrane_value::{Type, Value};

/// An object, a provider configuration or a module instance.
#[derive(Clone, Debug)]
pub struct PolicyTarget {
    /// The address, as reports have it.
    pub address: String,
    pub kind: PolicyKind,
    /// The type of the resource, the name of the provider, or the source of the module.
    pub name: Arc<str>,
    /// What happens to the object of a resource.
    pub operation: Option<PolicyOperation>,
    pub attrs: Value,
    /// None if there was no object before, or if the target is no object.
    pub prior_attrs: Option<Value>,
    pub meta: Value,
    /// Its block, if it has one.
    pub place: Option<Range>,
}

/// Makes the value of `meta`.
pub struct TargetMeta;

impl TargetMeta {
    pub fn of_resource(addr: &AbsResourceInstance, provider: &AbsProviderConfig, operation: PolicyOperation) -> Value {
        let module_path = if addr.module.is_root() { ".".to_owned() } else { addr.module.to_string() };
        TargetMeta::complete(vec![
            ("address", Value::string(addr.to_string())),
            ("module_path", Value::string(module_path)),
            ("operation", Value::string(operation.name())),
            ("provider_type", Value::string(&*provider.provider.kind)),
            ("type", Value::string(addr.kind())),
        ])
    }

    /// `name`: the local name in its module; `version`: the selected one, if there is one.
    pub fn of_provider(addr: &AbsProviderConfig, name: &str, version: Option<&str>) -> Value {
        let provider = &addr.provider;
        TargetMeta::complete(vec![
            ("address", Value::string(addr.to_string())),
            ("alias", text_or_null(addr.alias.as_deref())),
            ("name", Value::string(name)),
            ("namespace", Value::string(&*provider.namespace)),
            ("source", Value::string(provider.to_string())),
            ("type", Value::string(&*provider.kind)),
            ("version", text_or_null(version)),
        ])
    }

    pub fn of_module(address: &str, source: &str, version: Option<&str>) -> Value {
        TargetMeta::complete(vec![
            ("address", Value::string(address)),
            ("source", Value::string(source)),
            ("version", text_or_null(version)),
        ])
    }

    /// Of a mocked object, which is one of the root module: what its test says, above what follows from its labels.
    pub fn of_mock(mock: &PolicyMock, operation: PolicyOperation, own: Option<&Value>) -> Value {
        let (target, name) = (&*mock.target, &*mock.name);
        let of_labels = match mock.kind {
            PolicyMockKind::Resource | PolicyMockKind::Data => {
                let resource = Resource::managed(target, name);
                let provider = AbsProviderConfig::root(Provider::default_for(resource.implied_provider()));
                let addr = resource.absolute(ModuleInstance::root()).instance(InstanceKey::None);
                TargetMeta::of_resource(&addr, &provider, operation)
            }
            PolicyMockKind::Provider => {
                TargetMeta::of_provider(&AbsProviderConfig::root(Provider::default_for(target)), target, None)
            }
            PolicyMockKind::Module => TargetMeta::of_module(&format!("module.{name}"), target, None),
        };
        let mut all = of_labels.entries().to_map();
        all.extend(own.map(|own| own.entries().to_map()).unwrap_or_default());
        Value::object(all)
    }

    /// With what only HCP Terraform knows: there is no workspace with tags, and no stack.
    fn complete(own: Vec<(&'static str, Value)>) -> Value {
        let empty = || Value::string("");
        let stack = [("deployment_group", empty()), ("deployment_name", empty()), ("stack_name", empty())];
        let no_tags = Value::map(Type::String, Vec::<(Arc<str>, Value)>::new());
        let of_service = [("tfe_stack", Value::object(stack)), ("tfe_workspace", Value::object([("tags", no_tags)]))];
        Value::object(own.into_iter().chain(of_service))
    }
}

fn text_or_null(text: Option<&str>) -> Value {
    text.map_or_else(|| Value::null(Type::String), Value::string)
}

/// An object with the attributes of another one, all of them null.
pub fn null_object(like: &Value) -> Value {
    let attributes = like.ty().object_type().into_iter().flat_map(|object| &object.attributes);
    Value::object(attributes.map(|(name, ty)| (name.clone(), Value::null(ty.clone()))))
}
