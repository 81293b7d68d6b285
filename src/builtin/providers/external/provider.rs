//! The external provider: its data source.

use std::collections::BTreeMap;

use terrane_sdk::validators::size_at_least;
use terrane_sdk::{Attribute, Context, DataSource, Error, Object, Path, Provider, Schema, Type, Types, Value, Values};

use super::{Call, ID, run};
use crate::providers::{NOT_READ, until_stopped};

pub struct External;

impl Provider for External {
    type Config = ();
    type Data = ();

    async fn configure(&self, _: &mut Context<()>, _: Values<()>) -> Result<(), Error> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.data_source("external", ExternalProgram);
    }
}

struct ExternalProgram;

/// A text; none if it is null.
fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

impl DataSource for ExternalProgram {
    type Data = ();
    type Model = Object;

    fn schema(&self) -> Schema {
        Schema::new([
            Attribute::string_list("program")
                .required()
                .description("The program to run, then its arguments.")
                .validator(size_at_least(1)),
            Attribute::string("working_dir").optional().description("The working directory of the program."),
            Attribute::string_map("query").optional().description("Texts that the program gets as a JSON object."),
            Attribute::string_map("result").computed().description("The texts that the program answered with."),
            Attribute::string("id").computed().description("Always \"-\"."),
        ])
        .description("Runs a program that answers a query, both as JSON objects of texts.")
    }

    async fn read(&self, context: &mut Context<()>, config: Values<Object>) -> Result<Object, Error> {
        let config = config.model()?;
        let call = Call {
            program: config.value("program").elements().iter().map(text).collect(),
            working_dir: config.text("working_dir").map(str::to_owned),
            query: config.value("query").entries().iter().map(|(key, value)| (key.to_string(), text(value))).collect(),
        };
        let result = until_stopped(context, NOT_READ, run(&call)).await?;
        let result = result.map_err(|failure| Error::from(failure).at(Path::new().attr("program")))?;
        let map = |texts: BTreeMap<String, String>| {
            Value::map(Type::String, texts.into_iter().map(|(key, text)| (key, Value::string(text))))
        };
        let result = result.map_or_else(|| Value::null(Type::map(Type::String)), map);
        Ok(config.with([("result", result), ("id", Value::string(ID))]))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_implementation_is_valid() {
        terrane_sdk::validate_implementation(super::External).unwrap();
    }
}
