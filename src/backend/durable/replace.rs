//! A whole state that takes the place of the one in a store, with the lineage and serial that it brings along.

use std::cmp::Ordering;

use base::diag::Diagnostics;
use model::state::StateMeta;
use model::state::file::{Rendered, StateFile, problems_text};
use model::state::journal::fingerprint;

use super::loaded::Loaded;
use super::session::StateSession;
use crate::contract::StoreError;

/// Writes `new` in place of what was loaded, under the store's lock unless the user wants none. A state that is not empty
/// is only replaced by a later snapshot of the same lineage, unless `force`.
pub async fn replace_state(
    store: &StateSession,
    loaded: &Loaded,
    new: StateFile,
    force: bool,
) -> Result<(), StoreError> {
    let text = |problems: Diagnostics| StoreError::new(problems_text(&problems));
    loaded.refuse_pending_journal(store).map_err(text)?;
    let rendered = Rendered::of(&new.state).map_err(text)?;
    let mut meta = new.meta;
    if let Some(old) = &loaded.file {
        let same = rendered == Rendered::of(&old.state).map_err(text)?;
        if !force && !old.state.is_empty() {
            follows(&meta, &old.meta, same)?;
        }
        if !same {
            // Being written is another change.
            meta.serial += 1;
        }
    }
    if let Some(old) = &loaded.file {
        let before = Rendered::of(&old.state).map_err(text)?;
        store.keep_stored(&old.meta, || before.to_bytes(&old.meta));
    }
    let content = rendered.to_bytes(&meta);
    if fingerprint(&content) == loaded.fingerprint {
        return Ok(());
    }
    store.write(content).await
}

/// Whether a snapshot may come after another one; `same`: they hold the same. Those without a lineage cannot be compared.
fn follows(new: &StateMeta, old: &StateMeta, same: bool) -> Result<(), StoreError> {
    if new.lineage.is_empty() || old.lineage.is_empty() {
        return Ok(());
    }
    if new.lineage != old.lineage {
        let (new, old) = (&new.lineage, &old.lineage);
        let text = format!("cannot import state with lineage {new:?} over unrelated state with lineage {old:?}");
        return Err(StoreError::new(text));
    }
    let serial = new.serial;
    match serial.cmp(&old.serial) {
        Ordering::Less => Err(StoreError::new(format!(
            "cannot import state with serial {serial} over newer state with serial {}",
            old.serial
        ))),
        Ordering::Equal if !same => Err(StoreError::new(format!(
            "cannot overwrite existing state with serial {serial} with a different state that has the same serial"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use model::state::{OutputValue, State, file};
    use terrane_value::Value;

    use super::*;
    use crate::contract::{Backend, FirstState};
    use crate::durable::loaded::StateAccess;
    use crate::durable::recovery::load;
    use crate::kinds::memory::MemoryBackend;

    /// A state of a serial, a lineage and the value of an output; none without one.
    fn state(serial: u64, lineage: &str, content: &str) -> StateFile {
        let mut state = State::default();
        if !content.is_empty() {
            state.outputs.insert("o".into(), OutputValue::new(Value::string(content), false));
        }
        StateFile { meta: StateMeta { terraform_version: String::new(), serial, lineage: lineage.into() }, state }
    }

    /// What is in the store after a push, or why it was refused.
    async fn push(old: Option<StateFile>, new: StateFile, force: bool) -> String {
        let store = MemoryBackend::default().open_store("default", &FirstState::default()).await.unwrap();
        let store = StateSession::new(store, None);
        if let Some(old) = old {
            store.write(file::write(&old.meta, &old.state).unwrap().into()).await.unwrap();
        }
        let loaded = load(&store, StateAccess::Locked).await.unwrap();
        if let Err(reason) = replace_state(&store, &loaded, new, force).await {
            return reason.text;
        }
        let meta = load(&store, StateAccess::Locked).await.unwrap().file.unwrap().meta;
        format!("{} {}", meta.lineage, meta.serial)
    }

    /// As the reference's local backend: the serial counts the write where the content is another one.
    #[tokio::test]
    async fn a_state_gives_way_to_its_successors_only() {
        let unrelated = "cannot import state with lineage \"b\" over unrelated state with lineage \"a\"";
        let older = "cannot import state with serial 4 over newer state with serial 5";
        let other = "cannot overwrite existing state with serial 5 with a different state that has the same serial";
        let cases = [
            (None, state(5, "a", "x"), "a 5", "a 5"),
            (Some(state(5, "a", "x")), state(5, "a", "x"), "a 5", "a 5"),
            (Some(state(5, "a", "x")), state(6, "a", "y"), "a 7", "a 7"),
            (Some(state(5, "a", "x")), state(6, "a", "x"), "a 6", "a 6"),
            (Some(state(5, "a", "x")), state(5, "a", "y"), other, "a 6"),
            (Some(state(5, "a", "x")), state(4, "a", "x"), older, "a 4"),
            (Some(state(5, "a", "x")), state(9, "b", "y"), unrelated, "b 10"),
            (Some(state(5, "a", "")), state(3, "b", "y"), "b 4", "b 4"),
            (Some(state(5, "a", "x")), state(3, "", "y"), " 4", " 4"),
            (Some(state(5, "", "x")), state(3, "b", "y"), "b 4", "b 4"),
        ];
        for (old, new, expected, forced) in cases {
            let name = format!("{old:?} {new:?}");
            assert_eq!(push(old.clone(), new.clone(), false).await, expected, "{name}");
            assert_eq!(push(old, new, true).await, forced, "{name}");
        }
    }
}
