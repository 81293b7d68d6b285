//! A provider of protocol 6 for tests, whose service is the folder `service` of the working directory: things, keys that are
//! opened and closed, and notes. This very test binary serves it, when a program made by [`install`] runs it.
//!
//! `service/things/ID` is a thing; `service/log` has a line for every note, and for every key that is opened, renewed and
//! closed.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value as Json, json};
use terrane_sdk::{
    Action, Context, Creation, DeferralReason, Ephemeral, Error, Field, IdentitySchema, Import, ListResource, Model,
    Opened, Plan, Progress, Provider, Query, Resource, Results, Type, Types, Update, Value, Values, identity_schema,
    server,
};

use super::served;

/// Set where this binary is the provider, not set in ordinary runs of the tests.
const SERVES: &str = "TERRANE_TEST_DEPOT";

/// Writes a program that is the provider.
pub fn install(file: &Path) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, served::launcher(SERVES, "1", "support::depot::serves")).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// No test: what [`install`] runs.
#[test]
#[ignore = "a process of other tests"]
fn serves() {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    served::serve(server(Depot))
}

#[test]
fn implementation_is_valid() {
    terrane_sdk::validate_implementation(Depot).unwrap();
}

struct Depot;

impl Provider for Depot {
    type Config = ();
    type Data = Service;

    async fn configure(&self, _context: &mut Context<()>, _config: Values<()>) -> Result<Service, Error> {
        Ok(Service { folder: "service".into() })
    }

    fn types(&self, types: &mut Types<Service>) {
        types
            .resource("depot_thing", ThingResource)
            .ephemeral("depot_key", KeyResource)
            .list("depot_thing", ThingList)
            .action("depot_note", NoteAction);
    }
}

struct Service {
    folder: PathBuf,
}

impl Service {
    /// Appends a line to the log.
    fn log(&self, line: &str) -> Result<(), Error> {
        fs::create_dir_all(&self.folder)?;
        let mut log = OpenOptions::new().create(true).append(true).open(self.folder.join("log"))?;
        log.write_all(format!("{}\n", line.replace('\n', " ")).as_bytes())?;
        Ok(())
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join("things").join(id)
    }

    fn write(&self, thing: &Thing) -> Result<(), Error> {
        let content = json!({
            "name": thing.name, "value": thing.value.value(), "zone": thing.zone, "fails": thing.fails,
            "waits": thing.waits,
        });
        fs::create_dir_all(self.folder.join("things"))?;
        Ok(fs::write(self.file(thing.id()), content.to_string())?)
    }

    fn read(&self, id: &str) -> Result<Option<Thing>, Error> {
        let text = match fs::read_to_string(self.file(id)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let found: Json = serde_json::from_str(&text).map_err(|e| Error::new("Unreadable thing", e.to_string()))?;
        let text = |name: &str| found[name].as_str().map(str::to_owned);
        Ok(Some(Thing {
            id: Field::Known(id.to_owned()),
            name: text("name").unwrap_or_default(),
            value: text("value").map_or(Field::Null, Field::Known),
            zone: text("zone"),
            fails: found["fails"].as_bool(),
            waits: found["waits"].as_bool(),
        }))
    }
}

/// Something that is kept.
#[derive(Clone, Default, Model)]
struct Thing {
    #[attribute(computed, keep)]
    id: Field<String>,
    #[attribute(required)]
    name: String,
    #[attribute(optional)]
    value: Field<String>,
    /// A thing in another zone is another thing.
    #[attribute(optional, replace)]
    zone: Option<String>,
    /// The service refuses it.
    #[attribute(optional)]
    fails: Option<bool>,
    /// Deferred as long as the value is not known.
    #[attribute(optional)]
    waits: Option<bool>,
}

impl Thing {
    fn id(&self) -> &str {
        self.id.value().map_or("", String::as_str)
    }

    fn to_identity(&self) -> Value {
        Value::object([("id", Value::string(self.id()))])
    }

    fn refused(&self) -> Result<(), Error> {
        match self.fails {
            Some(true) => Err(Error::new("Thing refused", "The service does not keep it.")),
            _ => Ok(()),
        }
    }
}

struct ThingResource;

impl Resource for ThingResource {
    type Data = Service;
    type Model = Thing;

    async fn plan(&self, context: &mut Context<Service>, plan: &mut Plan<Thing>) -> Result<(), Error> {
        if plan.is_destroy() || !context.is_deferral_allowed() {
            return Ok(());
        }
        let waits = plan.config.get(Thing::WAITS)?;
        if waits.value() == Some(&true) && plan.config.get(Thing::VALUE)?.is_unknown() {
            context.defer(DeferralReason::ResourceConfigUnknown)?;
        }
        Ok(())
    }

    async fn create(&self, context: &mut Context<Service>, creation: &mut Creation<Thing>) -> Result<Thing, Error> {
        let mut thing = creation.planned.model()?;
        thing.refused()?;
        thing.id = Field::Known(new_id());
        context.data()?.write(&thing)?;
        Ok(thing)
    }

    async fn read(&self, context: &mut Context<Service>, state: Thing) -> Result<Option<Thing>, Error> {
        context.data()?.read(state.id())
    }

    async fn update(&self, context: &mut Context<Service>, update: &mut Update<Thing>) -> Result<Thing, Error> {
        let thing = update.planned.model()?;
        thing.refused()?;
        context.data()?.write(&thing)?;
        Ok(thing)
    }

    async fn delete(&self, context: &mut Context<Service>, state: Thing) -> Result<(), Error> {
        Ok(fs::remove_file(context.data()?.file(state.id()))?)
    }

    async fn import(&self, context: &mut Context<Service>, import: Import) -> Result<Thing, Error> {
        let id = import.id_or_attribute("id")?;
        let missing = || Error::new("Thing not found", format!("There is no thing {id:?}."));
        context.data()?.read(id)?.ok_or_else(missing)
    }

    fn identity_schema(&self) -> Option<IdentitySchema> {
        Some(identity_schema([("id", Type::String)]))
    }

    fn identity(&self, state: &Thing) -> Option<Value> {
        Some(state.to_identity())
    }
}

/// Never the same twice, in any process.
fn new_id() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("thing-{:016x}", RandomState::new().hash_one(SystemTime::now()))
}

/// A key that opens something for a while.
#[derive(Clone, Default, Model)]
struct Key {
    #[attribute(required)]
    name: String,
    /// Milliseconds until it is renewed.
    #[attribute(optional)]
    renewed_after: Option<i64>,
    #[attribute(computed)]
    value: Field<String>,
}

struct KeyResource;

impl Ephemeral for KeyResource {
    type Data = Service;
    type Model = Key;

    async fn open(&self, context: &mut Context<Service>, config: Values<Key>) -> Result<Opened<Key>, Error> {
        let mut key = config.model()?;
        context.data()?.log(&format!("open {}", key.name))?;
        context.private().set_value("key", (&key.name, key.renewed_after))?;
        key.value = Field::Known(format!("key-{}", key.name));
        let again = key.renewed_after.map(in_milliseconds);
        let opened = Opened::new(key);
        Ok(match again {
            Some(time) => opened.renew_at(time),
            None => opened,
        })
    }

    async fn renew(&self, context: &mut Context<Service>) -> Result<Option<SystemTime>, Error> {
        let (name, after) = stored(context);
        context.data()?.log(&format!("renew {name}"))?;
        Ok(after.map(in_milliseconds))
    }

    async fn close(&self, context: &mut Context<Service>) -> Result<(), Error> {
        let (name, _) = stored(context);
        context.data()?.log(&format!("close {name}"))
    }
}

fn in_milliseconds(after: i64) -> SystemTime {
    SystemTime::now() + Duration::from_millis(after.unsigned_abs())
}

fn stored(context: &mut Context<Service>) -> (String, Option<i64>) {
    context.private().get_value("key").unwrap_or_default()
}

struct ThingList;

impl ListResource for ThingList {
    type Data = Service;
    type Config = ();

    async fn list(
        &self,
        context: &mut Context<Service>,
        query: Query<()>,
        results: &mut Results<'_>,
    ) -> Result<(), Error> {
        let service = context.data()?;
        let entries = fs::read_dir(service.folder.join("things")).into_iter().flatten().flatten();
        let mut ids: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        ids.sort();
        for id in ids {
            let Some(thing) = service.read(&id)? else { continue };
            let object = query.include_object.then(|| thing.clone());
            if results.add(&thing.to_identity(), thing.name.clone(), object).await?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Writes a line into the log.
#[derive(Clone, Default, Model)]
struct Note {
    #[attribute(optional)]
    text: Option<String>,
    #[attribute(optional)]
    fails: Option<bool>,
    /// Milliseconds that it takes.
    #[attribute(optional)]
    takes: Option<i64>,
}

struct NoteAction;

impl Action for NoteAction {
    type Data = Service;
    type Config = Note;

    async fn invoke(
        &self,
        context: &mut Context<Service>,
        config: Values<Note>,
        progress: &Progress,
    ) -> Result<(), Error> {
        let note = config.model()?;
        if note.fails == Some(true) {
            return Err(Error::new("Note refused", "The service does not write it down."));
        }
        progress.report("writing");
        tokio::time::sleep(Duration::from_millis(note.takes.unwrap_or_default().unsigned_abs())).await;
        context.data()?.log(&format!("note {}", note.text.unwrap_or_default()))
    }
}
