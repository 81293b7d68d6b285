//! `state replace-provider`

use base::diag::{Diagnostic, Diagnostics};
use model::addr::{AbsResource, Provider};
use model::state::file::problems_text;

use super::{EditOptions, EditRefusal, Edited, Editing, check_backend, check_configuration};
use crate::interface::ask::{NoAnswer, Question};
use crate::interface::listen::Listener;
use crate::setup::Setup;

/// Which provider's resources another one gets.
#[derive(Clone, Debug)]
pub struct ReplaceProvider {
    pub from: String,
    pub to: String,
    /// Do not ask.
    pub auto_approve: bool,
    pub options: EditOptions,
}

/// Replaces the provider of resources, after approval. `planned` receives them before the
/// question. Returns their number; None: not approved.
pub async fn replace_provider(
    setup: &Setup,
    wanted: &ReplaceProvider,
    listener: &dyn Listener,
    planned: impl Fn(&Provider, &Provider, &[AbsResource]),
) -> Result<Edited<Option<usize>>, EditRefusal> {
    check_configuration(setup)?;
    let (from, to) = providers(wanted)?;
    let mut editing = Editing::open(setup, &wanted.options, "state-replace-provider", listener).await?;
    let replaced = editing.state.replace_provider(&from, &to);
    let result = match replaced.is_empty() {
        true => Ok(Some(0)),
        false => {
            planned(&from, &to, &replaced);
            approve_and_save(setup, wanted, &editing).await.map(|approved| approved.then_some(replaced.len()))
        }
    };
    editing.done(result).await
}

fn providers(wanted: &ReplaceProvider) -> Result<(Provider, Provider), Diagnostics> {
    let parse = |role: &str, text: &str| {
        let invalid = |why: Diagnostic| {
            Diagnostic::error(format!("Invalid {role:?} provider {text:?}"), problems_text(&why.into()))
        };
        Provider::parse_source(text).map_err(invalid)
    };
    match (parse("from", &wanted.from), parse("to", &wanted.to)) {
        (Ok(from), Ok(to)) => Ok((from, to)),
        (from, to) => Err([from.err(), to.err()].into_iter().flatten().collect()),
    }
}

async fn approve_and_save(setup: &Setup, wanted: &ReplaceProvider, editing: &Editing) -> Result<bool, EditRefusal> {
    if !wanted.auto_approve {
        let question = Question { title: "Enter a value:".into(), bare: true, ..Question::default() };
        let answer = match &setup.ask {
            Some(ask) => ask.ask(&question).await,
            None => Err(NoAnswer::Failed("input is disabled".into())),
        };
        match answer {
            Ok(answer) if answer == "yes" => {}
            Ok(_) => return Ok(false),
            Err(NoAnswer::Interrupted) => return Err(EditRefusal::NoAnswer("interrupted".into())),
            Err(NoAnswer::Failed(reason)) => return Err(EditRefusal::NoAnswer(reason)),
        }
    }
    check_backend(setup, &wanted.options).await?;
    editing.save().await?;
    Ok(true)
}
