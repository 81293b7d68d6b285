//! The note's life, with the service of [`crate::fake`].

use terrane_sdk::testing;

use super::*;
use crate::fake::Fake;

fn client(fake: &Fake) -> Client {
    Client::new(&fake.address, Some(Fake::TOKEN.to_owned()))
}

/// A configuration: what is not set is null.
fn config(title: &str) -> Note {
    Note {
        list: "home".to_owned(),
        title: title.to_owned(),
        tags: Set(vec!["food".to_owned()]),
        reminder: vec![Reminder { at: "2026-12-01T08:00:00Z".to_owned(), channel: "mail".to_owned() }],
        ..Note::default()
    }
}

async fn create(context: &mut Context<Client>, config: Note) -> Result<Note, Error> {
    NoteResource.create(context, &mut testing::creation(&NoteResource, config)).await
}

#[tokio::test]
async fn note_is_created_changed_and_deleted() {
    let fake = Fake::start();
    let mut context = testing::context(client(&fake));
    let created = create(&mut context, config("Milk")).await.unwrap();
    let id = created.id().to_owned();
    assert_eq!(fake.store().notes[&id]["reminder"]["channel"], "mail");

    let mut update = testing::update(&NoteResource, created.clone(), Note { done: true, ..config("Bread") });
    assert_eq!(update.planned.get(Note::CREATED_AT).unwrap(), created.created_at);
    assert_eq!(update.planned.get(Note::UPDATED_AT).unwrap(), Field::Unknown);
    let updated = NoteResource.update(&mut context, &mut update).await.unwrap();
    assert_ne!(updated.updated_at, created.updated_at);
    assert_eq!(fake.store().notes[&id]["title"], "Bread");

    let read = NoteResource.read(&mut context, updated.clone()).await.unwrap().unwrap();
    assert_eq!((&*read.title, read.done), ("Bread", true));
    NoteResource.delete(&mut context, updated.clone()).await.unwrap();
    assert!(fake.store().notes.is_empty());
    assert!(NoteResource.read(&mut context, updated).await.unwrap().is_none());
}

#[tokio::test]
async fn another_list_replaces_the_note() {
    let prior = Note { id: Field::known("1"), ..config("Milk") };
    let moved = Note { list: "work".to_owned(), ..config("Milk") };
    for (config, replaced) in [(moved, vec![Note::LIST.path()]), (config("Bread"), vec![])] {
        let mut context = testing::context(Client::new("http://localhost", None));
        let plan = testing::plan(&NoteResource, &mut context, Some(prior.clone()), config).await.unwrap();
        assert_eq!(plan.requires_replace, replaced);
    }
}

#[tokio::test]
async fn secret_is_sent_and_not_stored() {
    let fake = Fake::start();
    let mut context = testing::context(client(&fake));
    let config = Note { secret: Some("x".to_owned()), secret_version: Some(1), ..config("Milk") };
    let created = create(&mut context, config.clone()).await.unwrap();
    assert_eq!((&created.secret, created.secret_version), (&None, Some(1)));
    assert_eq!(fake.store().secrets[created.id()], "x");

    let config = Note { secret: Some("y".to_owned()), secret_version: Some(2), ..config };
    let mut update = testing::update(&NoteResource, created.clone(), config);
    NoteResource.update(&mut context, &mut update).await.unwrap();
    assert_eq!(fake.store().secrets[created.id()], "y");
}

#[tokio::test]
async fn failed_creation_stores_the_note() {
    let fake = Fake::start();
    fake.store().refuses_secrets = true;
    let mut context = testing::context(client(&fake));
    let config = Note { secret: Some("x".to_owned()), ..config("Milk") };
    let mut creation = testing::creation(&NoteResource, config);
    let error = NoteResource.create(&mut context, &mut creation).await.err().unwrap();
    assert!(error.to_string().contains("no secrets today"), "{error}");
    let stored = testing::stored_object(&creation).unwrap();
    assert!(fake.store().notes.contains_key(stored.id()));
}

#[tokio::test]
async fn note_that_others_changed_is_not_overwritten() {
    let fake = Fake::start();
    let mut context = testing::context(client(&fake));
    let created = create(&mut context, config("Milk")).await.unwrap();
    client(&fake).update_note(created.id(), "*", &config("Butter").to_service()).await.unwrap();
    let mut update = testing::update(&NoteResource, created, config("Bread"));
    let error = NoteResource.update(&mut context, &mut update).await.err().unwrap();
    assert!(error.to_string().contains("changed by someone else"), "{error}");
}

#[tokio::test]
async fn note_that_is_done_already_is_a_warning() {
    let fake = Fake::start();
    for (done, warnings) in [(false, 0), (true, 1)] {
        let mut context = testing::context(client(&fake));
        create(&mut context, Note { done, ..config("Milk") }).await.unwrap();
        assert_eq!(testing::warnings(&context).len(), warnings, "{done}");
    }
}

#[tokio::test]
async fn notes_are_imported_by_id_and_by_identity() {
    let fake = Fake::start();
    let mut context = testing::context(client(&fake));
    let created = create(&mut context, config("Milk")).await.unwrap();
    let identity = NoteResource.identity(&created).unwrap();
    for import in [Import::Id(created.id().to_owned()), Import::Identity(identity)] {
        let imported = NoteResource.import(&mut context, import).await.unwrap();
        assert_eq!(imported.title, "Milk");
    }
    let missing = NoteResource.import(&mut context, Import::Id("99".to_owned())).await.err().unwrap();
    assert_eq!(missing.to_string(), "Note not found: The service has no note \"99\".");
}

#[tokio::test]
async fn version_0_is_upgraded() {
    let json = r#"{ "id": "7", "text": "Milk", "labels": "food, home" }"#;
    let mut context = testing::context(Client::new("http://localhost", None));
    let note = NoteResource.upgrade(&mut context, testing::stored(&NoteResource, 0, json)).await.unwrap();
    assert_eq!((note.id(), &*note.title), ("7", "Milk"));
    assert_eq!(note.tags.0, ["food", "home"]);
}

#[test]
fn configurations_are_checked() {
    let cases = [
        (config("Milk"), None),
        (config(""), Some("Invalid Attribute Value Length: Attribute title string length must be at least 1, got: 0")),
        (
            Note { reminder: vec![Reminder { at: "8:00".to_owned(), channel: "mail".to_owned() }], ..config("Milk") },
            Some("Invalid Attribute Value Match: Attribute reminder[0].at value must end with Z, for UTC, got: 8:00"),
        ),
        (
            Note { secret_version: Some(1), ..config("Milk") },
            Some("Missing secret: \"secret_version\" does nothing without \"secret\"."),
        ),
    ];
    for (config, expected) in cases {
        let found = testing::validate(&NoteResource, config).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), expected);
    }
}
