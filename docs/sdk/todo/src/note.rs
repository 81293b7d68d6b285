//! The resource `todo_note`.

#[cfg(test)]
mod tests;

use serde::Deserialize;
use terrane_sdk::validators::{length_at_least, one_of};
use terrane_sdk::{
    ConfiguredAttribute, Context, Creation, Error, Field, IdentitySchema, Import, Model, Resource, Schema, Set, Stored,
    Type, Update, Validation, Value, identity_schema,
};

use crate::client::{self, Client};

/// A note on a list of the to-do service.
#[derive(Clone, Default, Model)]
pub struct Note {
    /// The id that the service gave the note.
    #[attribute(computed, keep)]
    id: Field<String>,
    /// The list that the note is on. A note that changes lists is a new note.
    #[attribute(default = "inbox", replace)]
    list: String,
    /// What is to be done.
    #[attribute(required, validators(length_at_least(1)))]
    title: String,
    /// Details, in Markdown.
    #[attribute(optional)]
    body: Option<String>,
    /// Whether it is done.
    #[attribute(default = false)]
    done: bool,
    /// Words by which notes are found.
    #[attribute(default = Set::default())]
    tags: Set<String>,
    /// Reminds the owner of the note.
    #[block(max = 1)]
    reminder: Vec<Reminder>,
    /// A text that only the service gets to know. It is never stored in plans and states.
    #[attribute(optional, sensitive, write_only)]
    secret: Option<String>,
    /// Change this number to send the secret again.
    #[attribute(optional)]
    secret_version: Option<i64>,
    /// When the note was created, in RFC 3339.
    #[attribute(computed, keep)]
    created_at: Field<String>,
    /// When the note was last changed, in RFC 3339.
    #[attribute(computed)]
    updated_at: Field<String>,
}

#[derive(Clone, Model)]
pub struct Reminder {
    /// When to remind, in RFC 3339 and UTC.
    #[attribute(required, validators(utc_time))]
    at: String,
    /// How to remind: `mail` or `phone`.
    #[attribute(default = "mail", validators(one_of(["mail", "phone"])))]
    channel: String,
}

fn utc_time(attribute: &mut ConfiguredAttribute<'_>) {
    if attribute.value.as_str().is_some_and(|text| !text.ends_with('Z')) {
        attribute.invalid("Invalid Attribute Value Match", "value must end with Z, for UTC");
    }
}

impl Note {
    /// The note as the service takes it.
    fn to_service(&self) -> client::Note {
        let reminder = self.reminder.first();
        client::Note {
            list: self.list.clone(),
            title: self.title.clone(),
            body: self.body.clone(),
            done: self.done,
            tags: self.tags.0.clone(),
            reminder: reminder.map(|r| client::Reminder { at: r.at.clone(), channel: r.channel.clone() }),
            ..client::Note::default()
        }
    }

    /// A note as the service has it. What it does not have is null.
    pub fn from_service(note: client::Note) -> Note {
        Note {
            id: Field::Known(note.id),
            list: note.list,
            title: note.title,
            body: note.body,
            done: note.done,
            tags: note.tags.into_iter().collect(),
            reminder: note.reminder.into_iter().map(|r| Reminder { at: r.at, channel: r.channel }).collect(),
            secret: None,
            secret_version: None,
            created_at: Field::Known(note.created_at),
            updated_at: Field::Known(note.updated_at),
        }
    }

    /// What identifies the note, as [`NoteResource::identity_schema`] has it.
    pub fn to_identity(&self) -> Value {
        Value::object([("id", Value::string(self.id()))])
    }

    fn id(&self) -> &str {
        self.id.value().map_or("", String::as_str)
    }
}

/// A note as version 0 of the schema stored it.
#[derive(Deserialize)]
struct NoteV0 {
    id: String,
    text: String,
    /// Words, divided by commas.
    labels: Option<String>,
}

pub struct NoteResource;

impl Resource for NoteResource {
    type Data = Client;
    type Model = Note;

    fn schema(&self) -> Schema {
        Schema::of::<Note>().version(1)
    }

    fn validate(&self, validation: &mut Validation<'_, Note>) {
        let secret = validation.config.get(Note::SECRET);
        let version = validation.config.get(Note::SECRET_VERSION);
        if let (Ok(Field::Null), Ok(Field::Known(_))) = (secret, version) {
            let detail = "\"secret_version\" does nothing without \"secret\".";
            validation.error(Note::SECRET_VERSION.path(), "Missing secret", detail);
        }
    }

    async fn create(&self, context: &mut Context<Client>, creation: &mut Creation<Note>) -> Result<Note, Error> {
        let planned = creation.planned.model()?;
        let saved = context.data()?.create_note(&planned.to_service()).await?;
        store_etag(context, &saved)?;
        let note = Note { secret_version: planned.secret_version, ..Note::from_service(saved) };
        // From here on there is a note: if something fails, it is in the state, and the next apply replaces it.
        creation.store(note.clone());
        if let Field::Known(secret) = creation.config.get(Note::SECRET)? {
            context.data()?.set_secret(note.id(), &secret).await?;
        }
        if note.done {
            let detail = "The note was created although there is nothing left to do.";
            context.warn_at(Note::DONE.path(), "Note is done already", detail);
        }
        Ok(note)
    }

    async fn read(&self, context: &mut Context<Client>, state: Note) -> Result<Option<Note>, Error> {
        let Some(found) = context.data()?.note(state.id()).await? else { return Ok(None) };
        store_etag(context, &found)?;
        Ok(Some(Note { secret_version: state.secret_version, ..Note::from_service(found) }))
    }

    async fn update(&self, context: &mut Context<Client>, update: &mut Update<Note>) -> Result<Note, Error> {
        let (prior, planned) = (update.prior.model()?, update.planned.model()?);
        let etag = stored_etag(context);
        let saved = context.data()?.update_note(prior.id(), &etag, &planned.to_service()).await?;
        store_etag(context, &saved)?;
        let note = Note { secret_version: prior.secret_version, ..Note::from_service(saved) };
        if planned.secret_version == prior.secret_version {
            return Ok(note);
        }
        // If the secret fails, the state has the other changes, and the next plan tries again.
        update.store(note.clone());
        if let Field::Known(secret) = update.config.get(Note::SECRET)? {
            context.data()?.set_secret(note.id(), &secret).await?;
        }
        Ok(Note { secret_version: planned.secret_version, ..note })
    }

    async fn delete(&self, context: &mut Context<Client>, state: Note) -> Result<(), Error> {
        Ok(context.data()?.delete_note(state.id()).await?)
    }

    async fn import(&self, context: &mut Context<Client>, import: Import) -> Result<Note, Error> {
        let id = import.id_or_attribute("id")?;
        let missing = || Error::new("Note not found", format!("The service has no note {id:?}."));
        let found = context.data()?.note(id).await?.ok_or_else(missing)?;
        store_etag(context, &found)?;
        Ok(Note::from_service(found))
    }

    async fn upgrade(&self, _context: &mut Context<Client>, stored: Stored) -> Result<Note, Error> {
        let unreadable = |e: serde_json::Error| Error::new("Unable to upgrade the note", e.to_string());
        let old: NoteV0 = serde_json::from_slice(stored.json()?).map_err(unreadable)?;
        let labels = old.labels.unwrap_or_default();
        Ok(Note {
            id: Field::Known(old.id),
            list: "inbox".to_owned(),
            title: old.text,
            tags: labels.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect(),
            ..Note::default()
        })
    }

    fn identity_schema(&self) -> Option<IdentitySchema> {
        Some(identity_schema([("id", Type::String)]))
    }

    fn identity(&self, state: &Note) -> Option<Value> {
        Some(state.to_identity())
    }
}

/// Remembers which version of the note the state describes.
fn store_etag(context: &mut Context<Client>, note: &client::Note) -> Result<(), Error> {
    context.private().set_value("etag", &note.etag)
}

/// "*", which is any version, for notes that were stored without one.
fn stored_etag(context: &mut Context<Client>) -> String {
    context.private().get_value("etag").unwrap_or_else(|| "*".to_owned())
}
