//! `state rm`

use std::collections::BTreeSet;

use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use model::addr::{AbsResourceInstance, Target, command_line};
use model::state::State;

use super::{EditOptions, EditRefusal, Edited, Editing, check_backend, check_configuration};
use crate::interface::listen::Listener;
use crate::setup::Setup;
use crate::state::instances::{sorted, unmatched};

/// Forgets the instances that the addresses name. `removed` hears of each before the state is written; gives how many
/// there were. `dry_run`: nothing is written.
pub async fn remove(
    setup: &Setup,
    options: &EditOptions,
    addresses: &[String],
    dry_run: bool,
    listener: &dyn Listener,
    removed: impl Fn(&AbsResourceInstance),
) -> Result<Edited<usize>, EditRefusal> {
    check_configuration(setup)?;
    let mut editing = Editing::open(setup, options, "state-rm", listener).await?;
    let result = remove_and_save(setup, options, addresses, dry_run, &mut editing, removed).await;
    editing.done(result).await
}

async fn remove_and_save(
    setup: &Setup,
    options: &EditOptions,
    addresses: &[String],
    dry_run: bool,
    editing: &mut Editing,
    removed: impl Fn(&AbsResourceInstance),
) -> Result<usize, EditRefusal> {
    let found = named(&editing.state, addresses)?;
    for addr in &found {
        removed(addr);
        editing.state.forget(addr);
    }
    if dry_run {
        return Ok(found.len());
    }
    check_backend(setup, options).await?;
    editing.save().await?;
    if found.is_empty() {
        let detail = format!(
            "No matching objects found. To view the available instances, use \"{COMMAND} state list\". Please modify the \
             address to reference a specific instance."
        );
        let close = addresses.iter().map(|given| editing.state.close_address(given)).find(|tip| !tip.is_empty());
        let error = Diagnostic::error("Invalid target address", detail).with_tip(close.unwrap_or_default());
        return Err(EditRefusal::Diagnostics(error.into()));
    }
    Ok(found.len())
}

/// The instances that each address names, one address after the other.
fn named(state: &State, addresses: &[String]) -> Result<Vec<AbsResourceInstance>, Diagnostics> {
    let all = sorted(state);
    let (mut found, mut problems) = (Vec::new(), Diagnostics::new());
    let mut of_patterns = BTreeSet::new();
    for text in addresses {
        match command_line::target(text) {
            Ok(target) => {
                let matching: Vec<_> = all.iter().map(|(addr, _)| addr).filter(|addr| target.contains(addr)).collect();
                match &target {
                    Target::Pattern(pattern) if matching.is_empty() => problems.push(unmatched(pattern)),
                    // Patterns may overlap.
                    Target::Pattern(_) => {
                        found.extend(matching.into_iter().filter(|addr| of_patterns.insert(*addr)).cloned());
                    }
                    _ => found.extend(matching.into_iter().cloned()),
                }
            }
            Err(more) => problems.extend(more),
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(found) }
}
