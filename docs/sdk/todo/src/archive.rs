//! The action `todo_archive`: deletes the notes that are done.

use terrane_sdk::{Action, Context, Error, Model, Progress, Values};

use crate::client::Client;

/// Deletes the notes that are done.
#[derive(Default, Model)]
pub struct ArchiveConfig {
    /// Only notes with this tag.
    #[attribute(optional)]
    tag: Option<String>,
}

pub struct Archive;

impl Action for Archive {
    type Data = Client;
    type Config = ArchiveConfig;

    async fn invoke(
        &self,
        context: &mut Context<Client>,
        config: Values<ArchiveConfig>,
        progress: &Progress,
    ) -> Result<(), Error> {
        let config = config.model()?;
        let client = context.data()?;
        for note in client.notes(config.tag.as_deref()).await?.into_iter().filter(|note| note.done) {
            client.delete_note(&note.id).await?;
            progress.report(&format!("deleted {:?}", note.title));
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

    #[tokio::test]
    async fn deletes_notes_that_are_done() {
        let fake = Fake::start();
        let client = Client::new(&fake.address, Some(Fake::TOKEN.to_owned()));
        for (title, done) in [("Milk", false), ("Bread", true)] {
            let title = title.to_owned();
            client.create_note(&client::Note { title, done, ..client::Note::default() }).await.unwrap();
        }
        let mut context = testing::context(client);
        let lines = testing::invoke(&Archive, &mut context, ArchiveConfig::default()).await.unwrap();
        assert_eq!(lines, ["deleted \"Bread\""]);
        assert_eq!(fake.store().notes.keys().collect::<Vec<_>>(), ["1"]);
    }
}
