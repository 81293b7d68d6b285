//! The ephemeral resource `todo_session`: a token that is valid while a run needs it.

use std::time::{Duration, SystemTime};

use terrane_sdk::{Context, Ephemeral, Error, Field, Model, Opened, Values};

use crate::client::{Client, Session};

/// A short-lived token. It is closed at the end of the run.
#[derive(Clone, Default, Model)]
pub struct SessionModel {
    /// The token.
    #[attribute(computed, sensitive)]
    token: Field<String>,
}

pub struct SessionResource;

impl Ephemeral for SessionResource {
    type Data = Client;
    type Model = SessionModel;

    async fn open(
        &self,
        context: &mut Context<Client>,
        _config: Values<SessionModel>,
    ) -> Result<Opened<SessionModel>, Error> {
        let session = context.data()?.open_session().await?;
        context.private().set_value("token", &session.token)?;
        let renewal = renewal(&session);
        Ok(Opened::new(SessionModel { token: Field::Known(session.token) }).renew_at(renewal))
    }

    async fn renew(&self, context: &mut Context<Client>) -> Result<Option<SystemTime>, Error> {
        let token = token(context);
        let session = context.data()?.renew_session(&token).await?;
        Ok(Some(renewal(&session)))
    }

    async fn close(&self, context: &mut Context<Client>) -> Result<(), Error> {
        let token = token(context);
        Ok(context.data()?.close_session(&token).await?)
    }
}

/// Half of its time is left then.
fn renewal(session: &Session) -> SystemTime {
    SystemTime::now() + Duration::from_secs(session.seconds / 2)
}

/// The token that `open` stored.
fn token(context: &mut Context<Client>) -> String {
    context.private().get_value("token").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use terrane_sdk::testing;

    use super::*;
    use crate::fake::Fake;

    #[tokio::test]
    async fn session_is_renewed_and_closed() {
        let fake = Fake::start();
        let mut context = testing::context(Client::new(&fake.address, Some(Fake::TOKEN.to_owned())));
        let opened = SessionResource.open(&mut context, Values::of(SessionModel::default())).await.unwrap();
        assert_eq!(opened.value.token, Field::known("session-1"));
        assert!(SessionResource.renew(&mut context).await.unwrap() > opened.renew_at);
        assert_eq!(fake.store().sessions.len(), 1);
        SessionResource.close(&mut context).await.unwrap();
        assert!(fake.store().sessions.is_empty());
    }
}
