//! The list resource `todo_note`: finds the notes that no configuration manages yet.

use terrane_sdk::{Context, Error, ListResource, Model, Query, Results};

use crate::client::Client;
use crate::note::Note;

/// Which notes to list.
#[derive(Default, Model)]
pub struct NoteFilter {
    /// Only notes with this tag.
    #[attribute(optional)]
    tag: Option<String>,
}

pub struct NoteList;

impl ListResource for NoteList {
    type Data = Client;
    type Config = NoteFilter;

    async fn list(
        &self,
        context: &mut Context<Client>,
        query: Query<NoteFilter>,
        results: &mut Results<'_>,
    ) -> Result<(), Error> {
        let filter = query.config.model()?;
        for found in context.data()?.notes(filter.tag.as_deref()).await? {
            let title = found.title.clone();
            let note = Note::from_service(found);
            let identity = note.to_identity();
            let object = query.include_object.then_some(note);
            if results.add(&identity, title, object).await?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use terrane_sdk::testing;

    use super::*;
    use crate::client;
    use crate::fake::Fake;
    use crate::note::NoteResource;

    #[tokio::test]
    async fn lists_notes_up_to_the_limit() {
        let fake = Fake::start();
        let client = Client::new(&fake.address, Some(Fake::TOKEN.to_owned()));
        for (title, tag) in [("Milk", "home"), ("Report", "work"), ("Bread", "home")] {
            let (title, tags) = (title.to_owned(), vec![tag.to_owned()]);
            client.create_note(&client::Note { title, tags, ..client::Note::default() }).await.unwrap();
        }
        let cases: [(Option<&str>, Option<u64>, &[&str]); 3] = [
            (None, None, &["Milk", "Report", "Bread"]),
            (Some("home"), None, &["Milk", "Bread"]),
            (None, Some(1), &["Milk"]),
        ];
        for (tag, limit, expected) in cases {
            let mut context = testing::context(client.clone());
            let filter = NoteFilter { tag: tag.map(str::to_owned) };
            let listed = testing::list(&NoteList, &NoteResource, &mut context, filter, limit).await.unwrap();
            let titles: Vec<&str> = listed.iter().map(|note| &*note.display_name).collect();
            assert_eq!(titles, expected, "{tag:?} {limit:?}");
            assert_eq!(listed[0].identity, r#"{"id":"1"}"#);
        }
    }
}
