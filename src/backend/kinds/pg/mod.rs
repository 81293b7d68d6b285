//! The `pg` backend: states as rows of a table, locks as advisory locks of the server.
//!
//! Owns the table; operations on one row are in `store`. Never knows the content of states.

mod conn_str;
mod session;
mod settings;
mod store;
mod tls;

use std::sync::Arc;

use async_trait::async_trait;
use base::env;
use conn_str::Parameters;
use session::{Connector, Pool, Session};
use settings::Needed;
use store::PgStore;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::Block;
use terrane_value::Value;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type as Column;

use crate::contract::settings::{Settings, failure};
use crate::contract::{Backend, Context, DEFAULT_WORKSPACE, FirstState, StateStore, StoreError};
use crate::kinds::{Kind, Opened};

const TABLE: &str = "states";
const INDEX: &str = "states_by_name";
const SEQUENCE: &str = "public.global_states_id_seq";
const DEFAULT_SCHEMA: &str = "terraform_remote_state";

/// The kind that opens [`PgBackend`].
pub struct Pg;

#[async_trait]
impl Kind for Pg {
    fn name(&self) -> &'static str {
        "pg"
    }

    fn schema(&self) -> Block {
        settings::schema()
    }

    async fn open(&self, config: &Value, context: &Context) -> Result<Opened, Vec<ProviderDiagnostic>> {
        let settings = Settings::of(config, context);
        let needed = Needed::of(&settings).map_err(|problem| vec![problem])?;
        let schema = settings.text("schema_name", &[env::PG_SCHEMA_NAME]).unwrap_or(DEFAULT_SCHEMA).to_owned();
        let text = settings.text("conn_str", &[env::PG_CONN_STR]).unwrap_or_default();
        let connector = Parameters::read(text, settings.folder_of("conn_str"), &context.environment)
            .and_then(|parameters| Connector::new(parameters, &context.environment))
            .map_err(|why| vec![failure(why)])?;
        let pool = Pool::new(connector);
        prepare(&pool, &schema, needed).await.map_err(|error| vec![failure(error.text)])?;
        let table = format!("{}.{TABLE}", quoted(&schema));
        Ok(Opened::States(Arc::new(PgBackend { pool: Arc::new(pool), table, context: context.clone() })))
    }
}

/// Processes that create the same things at the same time get in each other's way: how often to look again.
const ATTEMPTS: u32 = 10;

/// Creates what is needed and not there. One round trip if all is there, without any right to create.
async fn prepare(pool: &Pool, schema: &str, needed: Needed) -> Result<(), StoreError> {
    const EXISTING: &str = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), \
         EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2), \
         EXISTS (SELECT FROM pg_indexes WHERE schemaname = $1 AND tablename = $2 AND indexname = $3)";
    let parameters: [session::Parameter; 3] = [(&schema, Column::TEXT), (&TABLE, Column::TEXT), (&INDEX, Column::TEXT)];
    let mut attempt = 1;
    loop {
        let (session, rows) = pool.query_over(EXISTING, &parameters).await?;
        let exists = |column| rows.first().is_some_and(|row| row.try_get(column).unwrap_or(false));
        let missing = Needed {
            schema: needed.schema && !exists(0),
            table: needed.table && !exists(1),
            index: needed.index && !exists(2),
        };
        match create(&session, schema, missing).await {
            Ok(()) => {
                pool.put(session);
                return Ok(());
            }
            Err(error) if attempt < ATTEMPTS && is_race(&error) => pool.put(session),
            Err(error) => return Err(StoreError::new(session.explain(&error).await)),
        }
        tokio::time::sleep(std::time::Duration::from_millis(50) * attempt).await;
        attempt += 1;
    }
}

async fn create(session: &Session, schema: &str, missing: Needed) -> Result<(), tokio_postgres::Error> {
    let schema = quoted(schema);
    let table = format!("{schema}.{TABLE}");
    let mut statements = Vec::new();
    if missing.schema {
        statements.push(format!("CREATE SCHEMA IF NOT EXISTS {schema}"));
    }
    if missing.table {
        statements.push(format!("CREATE SEQUENCE IF NOT EXISTS {SEQUENCE} AS bigint"));
        statements.push(format!(
            "CREATE TABLE IF NOT EXISTS {table} (id bigint NOT NULL DEFAULT nextval('{SEQUENCE}') PRIMARY KEY, \
             name text UNIQUE, data text)"
        ));
    }
    if missing.index {
        statements.push(format!("CREATE UNIQUE INDEX IF NOT EXISTS {INDEX} ON {table} (name)"));
    }
    for statement in statements {
        tracing::debug!("backend/pg: {statement}");
        session.query(&statement, &[]).await?;
    }
    Ok(())
}

/// True if another process created the same object at the same time.
fn is_race(error: &tokio_postgres::Error) -> bool {
    let races = [
        SqlState::UNIQUE_VIOLATION,
        SqlState::DUPLICATE_SCHEMA,
        SqlState::DUPLICATE_TABLE,
        SqlState::DUPLICATE_OBJECT,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::INTERNAL_ERROR,
    ];
    error.code().is_some_and(|code| races.contains(code))
}

/// An identifier as it stands in a statement.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A table of states.
pub struct PgBackend {
    pool: Arc<Pool>,
    /// With its schema, quoted.
    table: String,
    context: Context,
}

#[async_trait]
impl Backend for PgBackend {
    async fn workspaces(&self) -> Result<Vec<String>, StoreError> {
        let statement = format!("SELECT name FROM {} WHERE name <> $1", self.table);
        let rows = self.pool.query(&statement, &[(&DEFAULT_WORKSPACE, Column::TEXT)]).await?;
        let mut names: Vec<String> = rows.iter().filter_map(|row| row.try_get(0).ok()).collect();
        // Not the server's order, which depends on its locale.
        names.sort();
        names.insert(0, DEFAULT_WORKSPACE.to_owned());
        Ok(names)
    }

    async fn delete_workspace(&self, name: &str, _force: bool) -> Result<(), StoreError> {
        if name == DEFAULT_WORKSPACE || name.is_empty() {
            return Err(StoreError::new("can't delete default state"));
        }
        let statement = format!("DELETE FROM {} WHERE name = $1", self.table);
        self.pool.query(&statement, &[(&name, Column::TEXT)]).await.map(|_| ())
    }

    async fn open_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        if workspace != DEFAULT_WORKSPACE {
            self.create_workspace(workspace, first).await?;
        }
        let journal = self.context.journal_of(workspace, &[&self.pool.connector.place(), &self.table]);
        Ok(Arc::new(PgStore::new(self.pool.clone(), self.table.clone(), workspace.to_owned(), journal)))
    }

    async fn create_store(&self, workspace: &str, first: &FirstState) -> Result<Arc<dyn StateStore>, StoreError> {
        self.open_store(workspace, first).await
    }
}

impl PgBackend {
    /// Makes a row with the first state, so that the workspace is listed. Takes no lock: a row that is there stays, and a
    /// process that is about to write the same row holds a lock that excludes every other one.
    async fn create_workspace(&self, name: &str, first: &FirstState) -> Result<(), StoreError> {
        let exists = format!("SELECT FROM {} WHERE name = $1", self.table);
        if !self.pool.query(&exists, &[(&name, Column::TEXT)]).await?.is_empty() {
            return Ok(());
        }
        let empty = first.content()?;
        let empty = String::from_utf8_lossy(&empty);
        let insert = format!("INSERT INTO {} (name, data) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", self.table);
        self.pool.query(&insert, &[(&name, Column::TEXT), (&empty, Column::TEXT)]).await.map(|_| ())
    }
}

#[cfg(test)]
mod tests;
