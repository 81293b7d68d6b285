//! The settings of the `pg` backend, apart from what is in the connection string.

use base::env;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Type;

use crate::contract::schema::{block, optional};
use crate::contract::settings::Settings;

/// The settings of a block.
pub fn schema() -> Block {
    block(&[
        ("conn_str", optional(Type::String, "Postgres connection string; a `postgres://` URL")),
        ("schema_name", optional(Type::String, "Name of the automatically managed Postgres schema to store state")),
        (
            "skip_schema_creation",
            optional(Type::Bool, "If set to `true`, the Postgres schema is not created automatically"),
        ),
        (
            "skip_table_creation",
            optional(Type::Bool, "If set to `true`, the Postgres table is not created automatically"),
        ),
        (
            "skip_index_creation",
            optional(Type::Bool, "If set to `true`, the Postgres index is not created automatically"),
        ),
    ])
}

/// What is created if it is not there.
#[derive(Clone, Copy)]
pub struct Needed {
    pub schema: bool,
    pub table: bool,
    pub index: bool,
}

impl Needed {
    pub fn of(settings: &Settings) -> Result<Needed, ProviderDiagnostic> {
        let needed = |name, variable| Ok(!settings.flag(name, &[variable])?.unwrap_or(false));
        Ok(Needed {
            schema: needed("skip_schema_creation", env::PG_SKIP_SCHEMA_CREATION)?,
            table: needed("skip_table_creation", env::PG_SKIP_TABLE_CREATION)?,
            index: needed("skip_index_creation", env::PG_SKIP_INDEX_CREATION)?,
        })
    }
}
