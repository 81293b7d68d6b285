//! The `pg` backend against a real server, where there is one.

use std::time::Duration;

use base::env::Environment;
use postgres::Postgres;
use terrane_value::Type;

use super::*;
use crate::conformance;
use crate::contract::{ErrorKind, LockInfo};
use crate::servers::postgres;

/// A database of one test, on a server that all share.
struct Database {
    server: Arc<Postgres>,
    name: String,
}

/// The locks of a test's own database: other tests have theirs on the same server.
const LOCKS: &str = "pg_locks WHERE locktype = 'advisory' \
                     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

impl Database {
    /// None if there is no server.
    fn new() -> Option<Database> {
        let server = Postgres::shared()?;
        Some(Database { name: server.database(), server })
    }

    async fn try_open(&self, settings: &[(&str, Value)]) -> Result<Arc<dyn Backend>, String> {
        let mut all = vec![
            ("conn_str", Value::string(self.server.address(&self.name))),
            ("schema_name", Value::null(Type::String)),
            ("skip_schema_creation", Value::null(Type::Bool)),
            ("skip_table_creation", Value::null(Type::Bool)),
            ("skip_index_creation", Value::null(Type::Bool)),
        ];
        for (name, value) in settings {
            all.iter_mut().filter(|(other, _)| other == name).for_each(|(_, old)| *old = value.clone());
        }
        open(all, &[]).await
    }

    async fn open(&self) -> Arc<dyn Backend> {
        self.try_open(&[]).await.unwrap()
    }

    fn run(&self, statements: &str) -> String {
        self.server.run(&self.name, statements)
    }

    /// Runs a statement in a session of another program, which goes on until the child is killed.
    fn hold(&self, lock: &str) -> std::process::Child {
        let text = format!("SELECT pg_advisory_lock({lock}); SELECT pg_sleep(60)");
        let url = self.server.address(&self.name);
        let mut psql = std::process::Command::new("psql");
        let child = psql.args(["-X", "-q", &url, "-c", &text]).stdout(std::process::Stdio::null()).spawn().unwrap();
        let end = std::time::Instant::now() + Duration::from_secs(60);
        while self.run(&format!("SELECT count(*) FROM {LOCKS}")) == "0" {
            assert!(std::time::Instant::now() < end, "the lock is not taken");
            std::thread::sleep(Duration::from_millis(10));
        }
        child
    }
}

async fn open(settings: Vec<(&str, Value)>, environment: &[(&str, &str)]) -> Result<Arc<dyn Backend>, String> {
    let dir = std::env::temp_dir();
    let environment = Environment::of(environment.iter().copied());
    let context = Context::new(environment, dir);
    let opened = Pg.open(&Value::object(settings), &context).await.map_err(|problems| problems[0].summary.clone());
    opened.map(Opened::into_states)
}

#[tokio::test]
async fn does_what_every_backend_does() {
    let Some(database) = Database::new() else { return };
    conformance::check(&*database.open().await).await;
}

#[tokio::test]
async fn settings_of_the_environment_open_it_too() {
    let Some(database) = Database::new() else { return };
    let port = database.server.port.to_string();
    let environment = [
        ("PGHOST", "127.0.0.1"),
        ("PGPORT", &port),
        ("PGUSER", "postgres"),
        ("PGDATABASE", &database.name),
        ("PGSSLMODE", "prefer"),
        ("PG_SCHEMA_NAME", "from \"env\""),
    ];
    let nothing = ["conn_str", "schema_name", "skip_schema_creation", "skip_table_creation", "skip_index_creation"];
    let settings = || nothing.iter().map(|name| (*name, Value::null(Type::String))).collect();
    let store = open(settings(), &environment).await.unwrap().store("default").await.unwrap();
    store.write(Arc::from(&b"{}"[..])).await.unwrap();
    assert_eq!(database.run("SELECT data FROM \"from \"\"env\"\"\".states"), "{}");
    let required = [&environment[..4], &[("PGSSLMODE", "")]].concat();
    assert_eq!(open(settings(), &required).await.err().unwrap(), "pq: SSL is not enabled on the server");
    let wrong = [&environment[..], &[("PG_SKIP_INDEX_CREATION", "no")]].concat();
    assert!(open(settings(), &wrong).await.err().unwrap().starts_with("invalid value for \"skip_index_creation\""));
}

#[tokio::test]
async fn errors_are_the_server_s() {
    let Some(database) = Database::new() else { return };
    let at = |user: &str, port: u16| {
        Value::string(format!("postgres://{user}:secret@127.0.0.1:{port}/{}?sslmode=disable", database.name))
    };
    let port = database.server.port;
    let unknown = database.try_open(&[("conn_str", at("nobody", port))]).await.err().unwrap();
    assert_eq!(unknown, "pq: role \"nobody\" does not exist");
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = database.try_open(&[("conn_str", at("postgres", nowhere))]).await.err().unwrap();
    assert_eq!(refused, format!("dial tcp 127.0.0.1:{nowhere}: connect: connection refused"));
    let skipping = [("skip_schema_creation", Value::bool(true))];
    assert_eq!(
        database.try_open(&skipping).await.err().unwrap(),
        "pq: schema \"terraform_remote_state\" does not exist"
    );
    let skipping = [("skip_table_creation", Value::bool(true)), ("skip_index_creation", Value::bool(true))];
    let backend = database.try_open(&skipping).await.unwrap();
    let missing = backend.workspaces().await.unwrap_err();
    assert_eq!(missing.text, "pq: relation \"terraform_remote_state.states\" does not exist");
}

#[tokio::test]
async fn what_is_there_is_used_without_rights_to_create() {
    let Some(database) = Database::new() else { return };
    database.open().await;
    let user = format!("reader_{}", database.name);
    database.run(&format!(
        "CREATE ROLE {user} LOGIN; GRANT USAGE ON SCHEMA terraform_remote_state TO {user}; \
         GRANT SELECT ON terraform_remote_state.states TO {user}"
    ));
    let address = database.server.address(&database.name).replace("postgres@", &format!("{user}@"));
    let store =
        database.try_open(&[("conn_str", Value::string(address))]).await.unwrap().store("default").await.unwrap();
    assert_eq!(store.read().await.unwrap(), None);
    let refused = store.write(Arc::from(&b"{}"[..])).await.unwrap_err();
    assert_eq!(refused.text, "pq: permission denied for table states");
}

#[tokio::test]
async fn many_create_the_table_at_once() {
    let Some(database) = Database::new() else { return };
    let opened = futures_util::future::join_all((0..20).map(|_| database.try_open(&[]))).await;
    let failed: Vec<String> = opened.into_iter().filter_map(Result::err).collect();
    assert_eq!(failed, [""; 0]);
}

#[tokio::test]
async fn the_lock_is_lost_with_its_connection() {
    let Some(database) = Database::new() else { return };
    let store = database.open().await.store("default").await.unwrap();
    let content: Arc<[u8]> = Arc::from(&b"{}"[..]);
    store.write(content.clone()).await.unwrap();
    let info = LockInfo::new("OperationTypeApply");
    store.lock(&info).await.unwrap();
    let not_yet = tokio::time::timeout(Duration::from_millis(100), store.lock_lost()).await;
    assert!(not_yet.is_err());
    database.run(&format!("SELECT pg_terminate_backend(pid) FROM {LOCKS}"));
    let expected = "the state lock was lost: pq: terminating connection due to administrator command";
    let lost = tokio::time::timeout(Duration::from_secs(10), store.lock_lost()).await.unwrap();
    assert_eq!((lost.kind, lost.text.as_str()), (ErrorKind::LockGone, expected));
    let refused = store.write(content).await.unwrap_err();
    assert_eq!((refused.kind, refused.text.as_str()), (ErrorKind::LockGone, expected));
    assert_eq!(store.unlock(&info.id).await.unwrap_err().kind, ErrorKind::LockGone);
    // Without the lock the store works as any other.
    assert_eq!(store.read().await.unwrap().unwrap(), b"{}");
    store.lock(&info).await.unwrap();
    store.unlock(&info.id).await.unwrap();
}

#[tokio::test]
async fn force_unlock_ends_the_holder_s_session() {
    let Some(database) = Database::new() else { return };
    let (mine, theirs) = (database.open().await, database.open().await);
    for workspace in ["default", "w"] {
        let (mine, theirs) = (mine.store(workspace).await.unwrap(), theirs.store(workspace).await.unwrap());
        let info = LockInfo { who: "somebody@host".into(), ..LockInfo::new("OperationTypePlan") };
        theirs.lock(&info).await.unwrap();
        let holder = mine.lock(&LockInfo::new("x")).await.unwrap_err().holder.unwrap();
        assert_eq!((holder.id, holder.operation.as_str()), (info.id.clone(), "Plan"));
        assert!(holder.who.starts_with("somebody@") && holder.created.ends_with('Z'), "{}", holder.who);
        let wrong = mine.unlock("wrong").await.unwrap_err();
        assert_eq!(wrong.text, format!("lock ID \"wrong\" does not match existing lock ID {:?}", info.id));
        mine.unlock(&info.id).await.unwrap();
        let lost = tokio::time::timeout(Duration::from_secs(10), theirs.lock_lost()).await.unwrap();
        assert_eq!(lost.kind, ErrorKind::LockGone);
        let id = mine.lock(&LockInfo::new("x")).await.unwrap();
        mine.unlock(&id).await.unwrap();
        assert_eq!(mine.unlock(&id).await.unwrap_err().text, format!("the state is not locked by the ID {id:?}"));
    }
}

#[tokio::test]
async fn locks_of_other_programs_count() {
    let Some(database) = Database::new() else { return };
    let backend = database.open().await;
    let (new, old) = (backend.store("default").await.unwrap(), backend.store("old").await.unwrap());
    let refused = async |store: &Arc<dyn StateStore>| {
        let error = store.lock(&LockInfo::new("x")).await.unwrap_err();
        (error.reason, error.busy, error.holder.unwrap())
    };
    let mut creator = database.hold("-1");
    let (reason, busy, holder) = refused(&new).await;
    assert_eq!((reason.as_str(), busy), ("Already locked for workspace creation: default", true));
    assert!(holder.id.is_empty() && holder.who == "postgres@127.0.0.1", "{holder}");
    let (reason, _, _) = refused(&old).await;
    assert_eq!(reason, "Cannot lock workspace; already locked for workspace creation: old");
    let error = new.unlock("x").await.unwrap_err();
    assert!(error.text.contains("SELECT pg_terminate_backend("), "{error}");
    creator.kill().unwrap();
    creator.wait().unwrap();
    database.run(&format!("SELECT pg_terminate_backend(pid) FROM {LOCKS}"));

    let mut user = database.hold("(SELECT id FROM terraform_remote_state.states WHERE name = 'old')");
    let (reason, busy, _) = refused(&old).await;
    assert_eq!((reason.as_str(), busy), ("Workspace is already locked: old", true));
    let id = new.lock(&LockInfo::new("x")).await.unwrap();
    new.unlock(&id).await.unwrap();
    // The session that was ended above may take a moment.
    let locks = || database.run(&format!("SELECT count(*) FROM {LOCKS}"));
    assert!((0..200).any(|_| locks() == "1"), "only the other program's lock is left");
    user.kill().unwrap();
    user.wait().unwrap();
}

#[tokio::test]
async fn a_server_that_restarts_is_found_again() {
    let Some(server) = Postgres::start() else { return };
    let database = Database { name: server.database(), server: Arc::new(server) };
    let store = database.open().await.store("default").await.unwrap();
    let id = store.lock(&LockInfo::new("x")).await.unwrap();
    store.write(Arc::from(&b"{\"a\":1}"[..])).await.unwrap();
    database.server.crash();
    let lost = tokio::time::timeout(Duration::from_secs(10), store.lock_lost()).await.unwrap();
    assert!(lost.text.starts_with("the state lock was lost: "), "{lost}");
    assert!(store.unlock(&id).await.is_err());
    let down = store.read().await.unwrap_err();
    assert!(down.text.starts_with("dial tcp 127.0.0.1:"), "{down}");
    database.server.launch();
    assert_eq!(store.read().await.unwrap().unwrap(), b"{\"a\":1}");
}
