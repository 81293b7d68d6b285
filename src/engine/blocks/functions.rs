//! Functions that providers define, as entries for the language's evaluation.
//!
//! Evaluation is synchronous and a provider is not: a call blocks its worker while another one drives the provider.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use lang::functions::signature::Reads;
use lang::functions::{CallContext, Function, FunctionError, Param, Signature};
use model::addr::Provider;
use model::config::Module;
use rustc_hash::FxHashMap;
use terrane_protocol::schema::{FunctionSignature, Parameter};
use terrane_value::{Type, Value};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::blocks::schemas::Schemas;
use crate::pending_request::PendingRequest;
use crate::ports::Ports;

/// The prefix of names of functions that come from providers.
const NAMESPACE: &str = "provider::";

/// The functions of all providers that a run knows.
#[derive(Default)]
pub struct ProviderFunctions {
    by_provider: FxHashMap<Provider, BTreeMap<Arc<str>, ProviderFunction>>,
}

impl ProviderFunctions {
    pub fn of(schemas: &Schemas, ports: &Ports) -> ProviderFunctions {
        let mut by_provider: FxHashMap<Provider, BTreeMap<Arc<str>, ProviderFunction>> = FxHashMap::default();
        for (provider, of) in schemas.providers() {
            for name in of.function_names() {
                let Ok(Some(described)) = of.function(&name) else { continue };
                let function = ProviderFunction::new(provider, name.clone(), &described, ports.clone());
                by_provider.entry(provider.clone()).or_default().insert(name, function);
            }
        }
        ProviderFunctions { by_provider }
    }

    /// The function that `provider::LOCAL::NAME` means in a module, or `provider::LOCAL::ALIAS::NAME`: functions do not depend on
    /// the configuration of their provider.
    pub fn find(&self, name: &str, module: &Module) -> Option<&dyn Function> {
        let (local_name, function) = name.strip_prefix(NAMESPACE)?.split_once("::")?;
        let (_, function) = function.split_once("::").unwrap_or(("", function));
        let requirement = module.requirements.get(local_name).filter(|r| r.explicit)?;
        self.by_provider.get(&requirement.source)?.get(function).map(|f| f as &dyn Function)
    }

    /// The full names of the functions that a module can call, sorted.
    pub fn names(&self, module: &Module) -> Vec<String> {
        let required = module.requirements.iter().filter(|(_, r)| r.explicit);
        let of = |(local, r): (&Arc<str>, &model::config::ProviderRequirement)| {
            let known = self.by_provider.get(&r.source).into_iter().flat_map(|f| f.keys());
            known.map(|name| format!("{NAMESPACE}{local}::{name}")).collect::<Vec<_>>()
        };
        required.flat_map(of).collect()
    }
}

/// One function of one provider.
struct ProviderFunction {
    provider: Provider,
    name: Arc<str>,
    signature: Signature,
    returns: Type,
    ports: Ports,
    identity: String,
}

impl ProviderFunction {
    fn new(provider: &Provider, name: Arc<str>, described: &FunctionSignature, ports: Ports) -> ProviderFunction {
        let signature = Signature {
            name: Cow::Owned(name.to_string()),
            params: described.parameters.iter().map(param).collect(),
            variadic: described.variadic.as_ref().map(param),
            description: Cow::Owned(described.description.clone()),
            returns: Some(described.returns.clone()),
        };
        let identity = format!("{NAMESPACE}{provider}::{name}");
        let returns = described.returns.clone();
        ProviderFunction { provider: provider.clone(), name, signature, returns, ports, identity }
    }

    /// Nested unknown values are for functions that ask for them.
    fn is_ready(&self, args: &[Value]) -> bool {
        args.iter().enumerate().all(|(i, arg)| {
            let param = self.signature.params.get(i).or(self.signature.variadic.as_ref());
            param.is_none_or(|p| p.allow_unknown) || arg.is_wholly_known()
        })
    }

    async fn ask(&self, args: Vec<Value>) -> Result<Value, FunctionError> {
        let answer = async {
            let process = self.ports.providers.unconfigured(&self.provider).await.map_err(|errors| {
                let first = errors.iter().next();
                FunctionError::new(first.map_or_else(String::new, |e| format!("{}: {}", e.summary, e.detail)))
            })?;
            Ok(process.call_function(&self.name, args).await)
        };
        let request = PendingRequest { name: "CallFunction", provider: &self.provider, subject: &self.identity };
        request.answered(&self.ports, answer).await?.map_err(|error| match error.argument {
            Some(index) => FunctionError::argument(index, error.text),
            None => FunctionError::new(error.text),
        })
    }
}

fn param(described: &Parameter) -> Param {
    Param {
        allow_null: described.allow_null,
        allow_unknown: described.allow_unknown,
        allow_dynamic: described.ty.has_dynamic(),
        description: Cow::Owned(described.description.clone()),
        ..Param::new(described.name.clone(), described.ty.clone())
    }
}

impl Function for ProviderFunction {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _args: &[Value]) -> Result<Type, FunctionError> {
        Ok(self.returns.clone())
    }

    fn call(&self, args: &[Value], _context: &CallContext<'_>) -> Result<Value, FunctionError> {
        if !self.is_ready(args) {
            return Ok(Value::unknown(self.returns.clone()));
        }
        match Handle::try_current() {
            Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
                tokio::task::block_in_place(|| handle.block_on(self.ask(args.to_vec())))
            }
            // One thread cannot both wait for the provider and drive it.
            _ => Err(FunctionError::new("functions of providers cannot be called here")),
        }
    }

    fn never_null(&self) -> bool {
        false
    }

    fn reads(&self) -> Reads {
        Reads::Provider
    }

    fn identity(&self) -> &str {
        &self.identity
    }
}
