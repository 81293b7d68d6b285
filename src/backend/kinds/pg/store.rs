//! The state of one workspace: a row of the table. Its lock is an advisory lock of the server on the row's number, held by
//! one connection: it ends with that connection. A state that has no row yet is locked by a number for all such states.
//!
//! Owns the statements on that row and what they mean. Under a lock everything is asked over the connection that holds it,
//! so that a snapshot that the server accepts was written under the lock.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, watch};
use tokio_postgres::Row;
use tokio_postgres::types::Type as Column;

use super::session::{Parameter, Pool, Session, text};
use crate::contract::{ErrorKind, LockError, LockInfo, StateStore, StoreError, StoreFacts};

/// The number that is locked while a state without a row is.
const CREATION: i64 = -1;

/// How often a held lock is verified, and how long the server may take to answer.
const HEARTBEAT: Duration = Duration::from_secs(30);
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the server may take to end the session that holds a lock.
const TERMINATION: Duration = Duration::from_secs(10);

/// What a connection that holds a lock is called in the server's list: this word, the lock's id, operation and owner.
const LABEL: &str = "lock";

pub struct PgStore {
    pool: Arc<Pool>,
    /// With its schema, quoted.
    table: String,
    workspace: String,
    journal: PathBuf,
    held: watch::Sender<Option<Arc<HeldLock>>>,
}

/// A lock that this store holds.
struct HeldLock {
    id: String,
    key: i64,
    session: Session,
    /// Held while a statement runs, so that the heartbeat does not wait behind it.
    running: Mutex<()>,
    /// Why the lock is no longer held, although the connection is open.
    lost: watch::Sender<Option<String>>,
}

/// A session of the server that holds a lock.
struct Holder {
    pid: i32,
    info: LockInfo,
}

impl PgStore {
    pub fn new(pool: Arc<Pool>, table: String, workspace: String, journal: PathBuf) -> PgStore {
        PgStore { pool, table, workspace, journal, held: watch::Sender::new(None) }
    }

    fn held(&self) -> Option<Arc<HeldLock>> {
        self.held.borrow().clone()
    }

    /// Runs a statement, over the connection that holds the lock if there is one.
    async fn query(&self, statement: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, StoreError> {
        match self.held() {
            Some(held) => held.query(statement, parameters).await,
            None => self.pool.query(statement, parameters).await,
        }
    }

    /// Tries to take the lock: one round trip. The lock for creation is only looked at where the state has a row; two
    /// that look do not disturb each other.
    async fn try_lock(&self, info: &LockInfo) -> Result<Attempt, StoreError> {
        let statement = format!(
            "WITH tried AS (SELECT state.id, pg_try_advisory_lock(coalesce(state.id, {CREATION})) AS locked, \
               CASE WHEN state.id IS NULL THEN true ELSE pg_try_advisory_lock_shared({CREATION}) END AS quiet \
               FROM (SELECT 1) AS one LEFT JOIN {} AS state ON state.name = $1) \
             SELECT id, locked, quiet, \
               CASE WHEN id IS NOT NULL AND quiet THEN pg_advisory_unlock_shared({CREATION}) END, \
               CASE WHEN id IS NOT NULL AND locked AND NOT quiet THEN pg_advisory_unlock(id) END, \
               CASE WHEN locked AND quiet THEN set_config('application_name', $2, false) END FROM tried",
            self.table
        );
        let label = label(info);
        let parameters: [Parameter; 2] = [(&self.workspace, Column::TEXT), (&label, Column::TEXT)];
        let (session, rows) = self.pool.query_over(&statement, &parameters).await?;
        let row = rows.first().ok_or_else(|| StoreError::new("pq: the server gave no answer about the lock"))?;
        let wrong = |error: tokio_postgres::Error| StoreError::new(text(&error));
        let id: Option<i64> = row.try_get(0).map_err(wrong)?;
        let (locked, quiet) = (row.try_get(1).map_err(wrong)?, row.try_get(2).map_err(wrong)?);
        Ok(Attempt { session, id, locked, quiet })
    }

    /// The sessions that hold the lock of one of these numbers in this database.
    async fn holders(&self, keys: &[i64]) -> Result<Vec<Holder>, StoreError> {
        const HOLDERS: &str = "SELECT lock.pid, activity.application_name, activity.usename::text, \
               coalesce(host(activity.client_addr), ''), \
               to_char(activity.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') \
             FROM pg_locks AS lock LEFT JOIN pg_stat_activity AS activity USING (pid) \
             WHERE lock.locktype = 'advisory' AND lock.granted AND lock.objsubid = 1 \
               AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
               AND (lock.classid::bigint << 32 | lock.objid::bigint) = ANY ($1)";
        let keys = keys.to_vec();
        let rows = self.pool.query(HOLDERS, &[(&keys, Column::INT8_ARRAY)]).await?;
        Ok(rows.iter().filter_map(holder).collect())
    }

    async fn busy(&self, reason: String, key: i64) -> LockError {
        let holder = self.holders(&[key]).await.ok().and_then(|holders| holders.into_iter().next());
        LockError { reason, holder: holder.map(|holder| holder.info), busy: true }
    }

    /// Releases a lock that another process holds, by ending the session of the server that holds it.
    async fn release_elsewhere(&self, id: &str) -> Result<(), StoreError> {
        let statement = format!("SELECT id FROM {} WHERE name = $1", self.table);
        let rows = self.query(&statement, &[(&self.workspace, Column::TEXT)]).await?;
        let row: Option<i64> = rows.first().and_then(|row| row.try_get(0).ok());
        let keys: Vec<i64> = row.into_iter().chain([CREATION]).collect();
        let holders = self.holders(&keys).await?;
        let Some(holder) = holders.iter().find(|holder| holder.info.id == id) else {
            return Err(not_held(id, &holders));
        };
        let ended = self.pool.query("SELECT pg_terminate_backend($1)", &[(&holder.pid, Column::INT4)]).await?;
        if !ended.first().is_some_and(|row| row.try_get(0).unwrap_or(false)) {
            return Err(StoreError::new(format!("the server's process {} could not be ended", holder.pid)));
        }
        let gone = async {
            while self.holders(&keys).await?.iter().any(|other| other.pid == holder.pid) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok(())
        };
        let late = |_| StoreError::new(format!("the server's process {} did not end in time", holder.pid));
        tokio::time::timeout(TERMINATION, gone).await.map_err(late)?
    }
}

/// What became of an attempt to lock.
struct Attempt {
    session: Session,
    /// None: the state has no row.
    id: Option<i64>,
    locked: bool,
    /// No state without a row is locked.
    quiet: bool,
}

fn label(info: &LockInfo) -> String {
    let operation = info.operation.strip_prefix("OperationType").unwrap_or(&info.operation).replace(' ', "-");
    format!("{LABEL} {} {operation} {}", info.id, info.who)
}

/// The lock that a session holds, as far as the server knows it. Other programs do not label theirs.
fn holder(row: &Row) -> Option<Holder> {
    let pid: i32 = row.try_get(0).ok()?;
    let column = |at: usize| row.try_get::<_, Option<String>>(at).ok().flatten().unwrap_or_default();
    let (name, user, address) = (column(1), column(2), column(3));
    let mut words = name.splitn(4, ' ');
    let info = LockInfo { created: column(4), info: format!("PostgreSQL process {pid}"), ..LockInfo::default() };
    let from = if address.is_empty() { user } else { format!("{user}@{address}") };
    let info = match (words.next(), words.next()) {
        (Some(LABEL), Some(id)) => LockInfo {
            id: id.to_owned(),
            operation: words.next().unwrap_or_default().to_owned(),
            who: words.next().map(str::to_owned).filter(|who| !who.is_empty()).unwrap_or(from),
            ..info
        },
        _ => LockInfo { operation: name, who: from, ..info },
    };
    Some(Holder { pid, info })
}

fn not_held(id: &str, holders: &[Holder]) -> StoreError {
    let text = match holders.first() {
        None => format!("the state is not locked by the ID {id:?}"),
        Some(holder) if holder.info.id.is_empty() => format!(
            "the lock is held by process {0} of the server ({1}), which has not told its lock ID. \
             To end that session and release the lock, run: SELECT pg_terminate_backend({0})",
            holder.pid, holder.info.who
        ),
        Some(holder) => format!("lock ID {id:?} does not match existing lock ID {:?}", holder.info.id),
    };
    StoreError { kind: ErrorKind::LockGone, text }
}

impl HeldLock {
    async fn query(&self, statement: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>, StoreError> {
        let _running = self.running.lock().await;
        if let Some(why) = self.lost.borrow().clone() {
            return Err(lock_lost(&why));
        }
        match self.session.query(statement, parameters).await {
            Ok(rows) => Ok(rows),
            Err(error) => {
                let why = self.session.explain(&error).await;
                Err(if self.session.is_closed() { lock_lost(&why) } else { StoreError::new(why) })
            }
        }
    }

    /// Completes when the lock is lost, with the reason.
    async fn gone(&self) -> String {
        let mut lost = self.lost.subscribe();
        tokio::select! {
            why = self.session.closed() => why,
            why = lost.wait_for(Option::is_some) => why.ok().and_then(|why| why.clone()).unwrap_or_default(),
        }
    }

    /// Asks the server whether it still knows the lock. Keeps networks from forgetting the connection, and notices those
    /// that forgot it, and poolers that gave the server's session to another client.
    async fn verify(&self) {
        const IS_HELD: &str = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted \
             AND pid = pg_backend_pid() AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = $1)";
        let Ok(_running) = self.running.try_lock() else { return };
        let parameters: [Parameter; 1] = [(&self.key, Column::INT8)];
        let asked = tokio::time::timeout(PATIENCE, self.session.query(IS_HELD, &parameters)).await;
        let why = match asked {
            Ok(Ok(rows)) if rows.first().is_some_and(|row| row.try_get(0).unwrap_or(false)) => return,
            Ok(Ok(_)) => "the server's session no longer holds it".to_owned(),
            Ok(Err(error)) => self.session.explain(&error).await,
            Err(_) => "the server did not answer".to_owned(),
        };
        self.lost.send_replace(Some(why));
    }
}

/// Verifies a lock now and then, until its store lets go of it.
fn keep(held: &Arc<HeldLock>) {
    let held = Arc::downgrade(held);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(HEARTBEAT).await;
            let Some(held) = held.upgrade() else { return };
            held.verify().await;
        }
    });
}

fn lock_lost(why: &str) -> StoreError {
    StoreError { kind: ErrorKind::LockGone, text: format!("the state lock was lost: {why}") }
}

#[async_trait]
impl StateStore for PgStore {
    fn facts(&self) -> StoreFacts<'_> {
        StoreFacts {
            // An attempt is one cheap request.
            lock_pauses: Duration::from_millis(500)..=Duration::from_secs(4),
            ..StoreFacts::remote(self.journal.clone())
        }
    }

    async fn read(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let statement = format!("SELECT data FROM {} WHERE name = $1", self.table);
        let rows = self.query(&statement, &[(&self.workspace, Column::TEXT)]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let data: Option<String> = row.try_get(0).map_err(|error| StoreError::new(text(&error)))?;
        Ok(data.filter(|data| !data.is_empty()).map(String::into_bytes))
    }

    async fn write(&self, snapshot: Arc<[u8]>) -> Result<(), StoreError> {
        let data = std::str::from_utf8(&snapshot).map_err(|_| StoreError::new("the state is no text"))?;
        let statement = format!(
            "INSERT INTO {} (name, data) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET data = EXCLUDED.data",
            self.table
        );
        self.query(&statement, &[(&self.workspace, Column::TEXT), (&data, Column::TEXT)]).await.map(|_| ())
    }

    async fn lock(&self, info: &LockInfo) -> Result<String, LockError> {
        if let Some(held) = self.held() {
            let reason = format!("Workspace is already locked: {}", self.workspace);
            let holder = LockInfo { id: held.id.clone(), ..LockInfo::default() };
            return Err(LockError { reason, holder: Some(holder), busy: true });
        }
        let Attempt { session, id, locked, quiet } =
            self.try_lock(info).await.map_err(|error| LockError::new(error.text))?;
        let key = id.unwrap_or(CREATION);
        if locked && quiet {
            let (running, lost) = (Mutex::new(()), watch::Sender::new(None));
            let held = Arc::new(HeldLock { id: info.id.clone(), key, session, running, lost });
            keep(&held);
            self.held.send_replace(Some(held));
            return Ok(info.id.clone());
        }
        self.pool.put(session);
        let (reason, key) = match (id, locked) {
            (None, _) => (format!("Already locked for workspace creation: {}", self.workspace), CREATION),
            (Some(id), false) => (format!("Workspace is already locked: {}", self.workspace), id),
            (Some(_), true) => {
                let reason = "Cannot lock workspace; already locked for workspace creation";
                (format!("{reason}: {}", self.workspace), CREATION)
            }
        };
        Err(self.busy(reason, key).await)
    }

    async fn unlock(&self, id: &str) -> Result<(), StoreError> {
        let Some(held) = self.held() else { return self.release_elsewhere(id).await };
        if held.id != id {
            let text = format!("lock ID {id:?} does not match existing lock ID {:?}", held.id);
            return Err(StoreError { kind: ErrorKind::LockGone, text });
        }
        const RELEASE: &str = "SELECT pg_advisory_unlock($1), set_config('application_name', $2, false)";
        let name = self.pool.connector.application_name();
        let released = held.query(RELEASE, &[(&held.key, Column::INT8), (&name, Column::TEXT)]).await;
        // Without the connection there is no lock; the server's error does not matter.
        self.held.send_replace(None);
        match released?.first() {
            Some(row) if row.try_get(0).unwrap_or(false) => {
                if let Some(held) = Arc::into_inner(held) {
                    self.pool.put(held.session);
                }
                Ok(())
            }
            _ => Err(lock_lost("the server knows of no such lock")),
        }
    }

    async fn lock_lost(&self) -> StoreError {
        let mut changes = self.held.subscribe();
        loop {
            let held = changes.borrow_and_update().clone();
            let Some(held) = held else {
                if changes.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
                continue;
            };
            tokio::select! {
                why = held.gone() => return lock_lost(&why),
                _ = changes.changed() => {}
            }
        }
    }

    async fn erase(&self) -> Result<(), StoreError> {
        self.write(Arc::from([])).await
    }
}
