//! The call of a provider's client that calls a function.

use terrane_protocol::provider::{FunctionError, ProviderDiagnostics};
use terrane_protocol::schema::ProviderSchemas;
use terrane_protocol::wire::protocol::{Call, Protocol};
use terrane_protocol::wire::v6::message as wire;
use terrane_protocol::wire::{function, value};
use terrane_value::Value;

use super::provider::{ProviderClient, require};

impl<P: Protocol> ProviderClient<P> {
    pub(super) async fn try_function(&self, name: &str, arguments: &[Value]) -> Result<Value, FunctionError> {
        let text = |diagnostics: ProviderDiagnostics| {
            let first = diagnostics.into_iter().next();
            let text = first.map(|d| format!("{}: {}", d.summary, d.detail)).unwrap_or_default();
            // The message of a failed call ends the sentence.
            FunctionError { text: text.trim_end_matches('.').to_owned(), argument: None }
        };
        let schemas = self.wire_schemas().await.map_err(text)?;
        let signature = require(schemas.function(name), || format!("unknown function {name:?}")).map_err(text)?;
        let mut encoded = Vec::with_capacity(arguments.len());
        for (position, argument) in arguments.iter().enumerate() {
            let Some(ty) = function::argument_type(&signature, position) else {
                let text = format!("the function {name} takes no more than {position} arguments");
                return Err(FunctionError { text, argument: Some(position) });
            };
            encoded.extend(value::to_wire(argument, ty));
        }
        let request = wire::call_function::Request { name: name.to_owned(), arguments: encoded };
        let response: wire::call_function::Response =
            self.call(Call::CallFunction, request).await.map_err(|failure| text(vec![failure]))?;
        if let Some(error) = response.error {
            return Err(function::from_error(error));
        }
        value::from_wire(response.result, &signature.returns)
            .map_err(|error| text(vec![self.garbage(Call::CallFunction, error)]))
    }
}
