//! A whole state that takes the place of the one in a store, with the lineage and serial that it brings along.

use base::diag::Diagnostics;
use model::state::StateMeta;
use model::state::file::{Rendered, StateFile, problems_text};
use model::state::journal::fingerprint;

use super::journaled;
use super::recovery::Loaded;
use super::store::StateStore;

/// Writes `new` in place of what was loaded, under the store's lock unless the user wants none. A state that is not empty
/// is only replaced by a later snapshot of the same lineage, unless `force`. Errors are texts for users.
pub async fn import(store: &dyn StateStore, loaded: &Loaded, new: StateFile, force: bool) -> Result<(), String> {
    let text = |problems: Diagnostics| problems_text(&problems);
    journaled::refuse_pending_journal(store, loaded).map_err(text)?;
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
        if let Some(history) = store.facts().history {
            history.keep_stored(&old.meta, &|| before.to_bytes(&old.meta).to_vec());
        }
    }
    let content = rendered.to_bytes(&meta);
    if fingerprint(&content) == loaded.fingerprint {
        return Ok(());
    }
    store.write(content).await.map_err(|error| error.text)
}

/// Whether a snapshot may come after another one; `same`: they hold the same. Those without a lineage cannot be compared.
fn follows(new: &StateMeta, old: &StateMeta, same: bool) -> Result<(), String> {
    if new.lineage.is_empty() || old.lineage.is_empty() {
        return Ok(());
    }
    if new.lineage != old.lineage {
        return Err(format!(
            "cannot import state with lineage {:?} over unrelated state with lineage {:?}",
            new.lineage, old.lineage
        ));
    }
    match new.serial.cmp(&old.serial) {
        std::cmp::Ordering::Less => {
            Err(format!("cannot import state with serial {} over newer state with serial {}", new.serial, old.serial))
        }
        std::cmp::Ordering::Equal if !same => Err(format!(
            "cannot overwrite existing state with serial {} with a different state that has the same serial",
            new.serial
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use model::state::{OutputValue, State, file};
    use terrane_value::Value;

    use super::*;
    use crate::memory::MemoryBackend;
    use crate::recovery::{Access, load};
    use crate::store::Backend;

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
        let store = MemoryBackend::default().open_store("default", &crate::store::FirstState::default()).await.unwrap();
        if let Some(old) = old {
            store.write(file::write(&old.meta, &old.state).unwrap().into()).await.unwrap();
        }
        let loaded = load(&*store, Access::Locked).await.unwrap();
        if let Err(reason) = import(&*store, &loaded, new, force).await {
            return reason;
        }
        let meta = load(&*store, Access::Locked).await.unwrap().file.unwrap().meta;
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
