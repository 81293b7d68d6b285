//! The data source `todo_notes`: the notes that a filter leaves.

use terrane_sdk::{Context, DataSource, Error, Field, Model, Values};

use crate::client::{self, Client};

/// The notes of the service, the oldest first.
#[derive(Clone, Default, Model)]
pub struct Notes {
    /// Only notes with this tag.
    #[attribute(optional)]
    tag: Option<String>,
    /// Only notes that are done, or only those that are not.
    #[attribute(optional)]
    done: Option<bool>,
    /// What was found.
    #[attribute(computed)]
    notes: Field<Vec<FoundNote>>,
}

#[derive(Clone, Model)]
pub struct FoundNote {
    /// The id of the note.
    #[attribute(computed)]
    id: Field<String>,
    /// The list that the note is on.
    #[attribute(computed)]
    list: Field<String>,
    /// What is to be done.
    #[attribute(computed)]
    title: Field<String>,
    /// Whether it is done.
    #[attribute(computed)]
    done: Field<bool>,
}

impl From<client::Note> for FoundNote {
    fn from(note: client::Note) -> FoundNote {
        FoundNote {
            id: Field::Known(note.id),
            list: Field::Known(note.list),
            title: Field::Known(note.title),
            done: Field::Known(note.done),
        }
    }
}

pub struct NotesDataSource;

impl DataSource for NotesDataSource {
    type Data = Client;
    type Model = Notes;

    async fn read(&self, context: &mut Context<Client>, config: Values<Notes>) -> Result<Notes, Error> {
        let mut model = config.model()?;
        let mut notes = context.data()?.notes(model.tag.as_deref()).await?;
        notes.retain(|note| model.done.is_none_or(|done| note.done == done));
        model.notes = Field::Known(notes.into_iter().map(FoundNote::from).collect());
        Ok(model)
    }
}

#[cfg(test)]
mod tests {
    use terrane_sdk::testing;

    use super::*;
    use crate::fake::Fake;

    #[tokio::test]
    async fn finds_notes_by_tag_and_state() {
        let fake = Fake::start();
        let client = Client::new(&fake.address, Some(Fake::TOKEN.to_owned()));
        for (title, tag, done) in [("Milk", "home", false), ("Report", "work", false), ("Bread", "home", true)] {
            let (title, tags) = (title.to_owned(), vec![tag.to_owned()]);
            client.create_note(&client::Note { title, tags, done, ..client::Note::default() }).await.unwrap();
        }
        let cases: [(Option<&str>, Option<bool>, &[&str]); 4] = [
            (None, None, &["Milk", "Report", "Bread"]),
            (Some("home"), None, &["Milk", "Bread"]),
            (Some("home"), Some(false), &["Milk"]),
            (Some("garden"), None, &[]),
        ];
        for (tag, done, expected) in cases {
            let config = Notes { tag: tag.map(str::to_owned), done, ..Notes::default() };
            let mut context = testing::context(client.clone());
            let found = NotesDataSource.read(&mut context, Values::of(config)).await.unwrap().notes;
            let found = found.into_option().unwrap();
            let titles: Vec<&str> = found.iter().filter_map(|note| note.title.value()).map(String::as_str).collect();
            assert_eq!(titles, expected, "{tag:?} {done:?}");
        }
    }
}
