//! The provider: its configuration and its types.

use std::env;

use terrane_sdk::{Context, Error, Field, Model, Provider, Types, Values, log};

use crate::archive::Archive;
use crate::client::Client;
use crate::list::NoteList;
use crate::note::NoteResource;
use crate::notes::NotesDataSource;
use crate::session::SessionResource;
use crate::slug::Slug;

pub struct Todo;

/// Keeps notes in a to-do service.
#[derive(Default, Model)]
pub struct Config {
    /// The URL of the service. By default the environment variable `TODO_ADDRESS`.
    #[attribute(optional)]
    pub address: Field<String>,
    /// The token for the service. By default the environment variable `TODO_TOKEN`.
    #[attribute(optional, sensitive)]
    pub token: Field<String>,
}

impl Provider for Todo {
    type Config = Config;
    type Data = Client;

    async fn configure(&self, _context: &mut Context<()>, config: Values<Config>) -> Result<Client, Error> {
        let Config { address, token } = config.model()?;
        if address.is_unknown() {
            let detail = "The address depends on values that are known only after apply. Apply them first.";
            return Err(Error::new("Unknown address", detail).at(Config::ADDRESS.path()));
        }
        let Some(address) = address.into_option().or_else(|| env::var("TODO_ADDRESS").ok()) else {
            let detail = "Set \"address\" in the provider block, or the environment variable TODO_ADDRESS.";
            return Err(Error::new("Missing address", detail).at(Config::ADDRESS.path()));
        };
        let token = token.into_option().or_else(|| env::var("TODO_TOKEN").ok());
        // No line of the log has the token, not even one about a request that contains it.
        log::process().mask_texts(&token);
        Ok(Client::new(&address, token))
    }

    fn types(&self, types: &mut Types<Client>) {
        types
            .resource("todo_note", NoteResource)
            .data_source("todo_notes", NotesDataSource)
            .ephemeral("todo_session", SessionResource)
            .list("todo_note", NoteList)
            .action("todo_archive", Archive)
            .function("slug", Slug);
    }
}

#[cfg(test)]
mod tests {
    use terrane_sdk::{testing, validate_implementation};

    use super::*;

    #[test]
    fn implementation_is_valid() {
        validate_implementation(Todo).unwrap();
    }

    #[tokio::test]
    async fn unknown_address_is_an_error() {
        let config = Config { address: Field::Unknown, token: Field::Null };
        let error = testing::configure(&Todo, config).await.err().unwrap();
        assert!(error.to_string().starts_with("Unknown address: "), "{error}");
    }
}
