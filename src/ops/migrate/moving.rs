//! Copying states between backends, for `state migrate` and for an `init` with another backend: questions, locks and writes.
//!
//! The source is not changed. States keep their lineage and serial.

use std::path::Path;
use std::sync::{Arc, Mutex};

use backend::{DEFAULT_WORKSPACE, ErrorKind, OpenBackend, StateAccess, StateSession, StoreError, load};
use base::diag::{Diagnostic, Diagnostics, Kind};
use engine::event::Event;
use engine::ports::Observer;
use model::state::file::{self, StateFile, problems_text};

use super::error::MigrationError;
use super::texts::{NamedPlace, Texts};
use crate::backends::held::{self, HeldAccess, HeldState};
use crate::backends::open::CLOUD;
use crate::backends::version;
use crate::interface::ask::Question;
use crate::interface::listen::Listener;
use crate::interface::options::StateOptions;
use crate::interface::planning::Planned;
use crate::setup::Setup;

/// A backend with the name of its kind.
#[derive(Clone)]
pub struct Side {
    pub kind: String,
    /// A provider implements it.
    pub is_store: bool,
    pub backend: Arc<OpenBackend>,
}

impl Side {
    /// True for `cloud` blocks, but not for the state store of a provider that has this name.
    fn is_cloud(&self) -> bool {
        self.kind == CLOUD && self.backend.hcp().is_some()
    }

    fn place(&self) -> NamedPlace<'_> {
        NamedPlace { kind: &self.kind, is_store: self.is_store }
    }
}

pub struct Migration<'a> {
    pub setup: &'a Setup,
    /// By `state migrate`.
    pub is_command: bool,
    pub options: &'a StateOptions,
    /// Every question is answered with yes.
    pub force: bool,
    /// Whatever version of the language a workspace is for.
    pub ignore_version: bool,
    pub from: Side,
    pub to: Side,
    /// The workspace in use.
    pub workspace: String,
    /// What to tell besides the outcome.
    pub found: Diagnostics,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Migrated {
    /// A state was not copied, because that was not wanted.
    pub refused: bool,
    /// The workspaces whose states are at the new place now.
    pub copied: Vec<String>,
    /// The workspace to select from now on.
    pub select: Option<String>,
    /// The workspaces as they are now, a line each, with a mark at the selected one.
    pub listed: Option<String>,
}

impl Migration<'_> {
    fn texts(&self) -> Texts<'_> {
        let is_newer = self.is_command || self.from.is_store || self.to.is_store;
        Texts { from: self.from.place(), to: self.to.place(), is_newer }
    }

    fn not_loaded(&self, side: &Side, why: &str) -> String {
        self.texts().not_loaded(side.place(), why)
    }

    /// Copies what there is, as far as it is wanted. Before an error, nothing or only whole
    /// states were written.
    pub async fn run(&mut self) -> Result<Migrated, MigrationError> {
        let from = self.workspaces(&self.from.backend).await?;
        let to = self.workspaces(&self.to.backend).await?;
        if !self.ignore_version {
            let checked = version::check_destination(&self.to.backend, to.as_deref()).await;
            self.found.extend(checked.map_err(|problems| problems_text(&problems))?);
        }
        let cloud = |side: &Side| side.is_cloud().then(|| side.backend.clone());
        if let Some(hcp) = cloud(&self.to).as_ref().and_then(|backend| backend.hcp()) {
            return self.copy_to_cloud(from, hcp).await;
        }
        if let Some(hcp) = cloud(&self.from).as_ref().and_then(|backend| backend.hcp()) {
            return self.copy_from_cloud(from, hcp).await;
        }
        let mut migrated = Migrated::default();
        match (from, to) {
            (Some(names), _) if names == [DEFAULT_WORKSPACE] => {
                self.single(DEFAULT_WORKSPACE, self.force, &mut migrated).await?
            }
            (None, _) => self.single(DEFAULT_WORKSPACE, self.force, &mut migrated).await?,
            (Some(_), None) => self.current_only(&mut migrated).await?,
            (Some(names), Some(_)) => self.all(names, &mut migrated).await?,
        }
        Ok(migrated)
    }

    /// None: the backend has no workspaces.
    async fn workspaces(&self, backend: &Arc<OpenBackend>) -> Result<Option<Vec<String>>, MigrationError> {
        match backend.workspaces().await {
            Ok(names) => Ok(Some(names)),
            Err(e) if e.kind == ErrorKind::WorkspacesUnsupported => Ok(None),
            Err(e) => Err(self.texts().not_inspected(&e.text).into()),
        }
    }

    pub async fn all(&mut self, mut names: Vec<String>, migrated: &mut Migrated) -> Result<(), MigrationError> {
        self.agree(self.texts().all()).await?;
        names.sort();
        for name in names {
            self.single_to(&name, &name, true, migrated).await.map_err(|e| self.not_all(&name, &e.to_string()))?;
        }
        Ok(())
    }

    /// Why not all workspaces were copied.
    pub fn not_all(&self, name: &str, why: &str) -> String {
        self.texts().not_all(name, why)
    }

    pub async fn current_only(&mut self, migrated: &mut Migrated) -> Result<(), MigrationError> {
        let current = self.workspace.clone();
        self.agree(self.texts().current_only(&current)).await?;
        migrated.select = Some(DEFAULT_WORKSPACE.to_owned());
        self.single(&current, self.force, migrated).await
    }

    /// The consent to what concerns several workspaces.
    async fn agree(&self, question: Question) -> Result<(), MigrationError> {
        if self.force {
            return Ok(());
        }
        let asked = confirm(self.setup, &question).await;
        match asked.map_err(|e| format!("Error asking for state migration action: {e}"))? {
            true => Ok(()),
            false => Err(MigrationError::Aborted),
        }
    }

    /// One workspace to the default one.
    async fn single(&mut self, name: &str, force: bool, migrated: &mut Migrated) -> Result<(), MigrationError> {
        self.single_to(name, DEFAULT_WORKSPACE, force, migrated).await
    }

    pub async fn single_to(
        &mut self,
        from: &str,
        to: &str,
        force: bool,
        migrated: &mut Migrated,
    ) -> Result<(), MigrationError> {
        let source = self.open(&self.from, from).await.map_err(|e| self.not_loaded(&self.from, &e.text))?;
        let before = read(&source).await.map_err(|e| self.not_loaded(&self.from, &e))?;
        let Some(before) = before.filter(|file| !is_empty(file)) else { return Ok(()) };
        let destination = match self.open(&self.to, to).await {
            Err(e) if e.kind == ErrorKind::DefaultUnsupported => self.named_destination(migrated).await?,
            other => other.map_err(|e| self.not_loaded(&self.to, &e.text))?,
        };
        let present = read(&destination).await.map_err(|e| self.not_loaded(&self.to, &e))?;
        let workspace = from.to_owned();
        // Before any lock: both may be one and the same place.
        if present.is_some_and(|file| file.meta.lineage == before.meta.lineage && same_content(&file, &before)) {
            migrated.copied.push(workspace);
            return Ok(());
        }
        let from = self.hold(&source, "migration source state").await?;
        let to = match self.hold(&destination, "migration destination state").await {
            Ok(to) => to,
            Err(error) => {
                self.found.extend(from.release().await);
                return Err(error);
            }
        };
        let copied = self.copy(&from, &to, force).await;
        self.found.extend(to.release().await);
        self.found.extend(from.release().await);
        match copied? {
            true => migrated.copied.push(workspace),
            false => migrated.refused = true,
        }
        Ok(())
    }

    async fn open(&self, side: &Side, workspace: &str) -> Result<Arc<StateSession>, StoreError> {
        side.backend.store(workspace).await
    }

    /// A destination that has only named workspaces: its name is asked for.
    async fn named_destination(&self, migrated: &mut Migrated) -> Result<Arc<StateSession>, MigrationError> {
        let name = self.ask_for_name().await?;
        let store = self.open(&self.to, &name).await.map_err(|e| self.not_loaded(&self.to, &e.text))?;
        if self.workspace == DEFAULT_WORKSPACE {
            migrated.select = Some(name);
        }
        Ok(store)
    }

    /// Asks for a name to use in place of `default`.
    pub async fn ask_for_name(&self) -> Result<String, MigrationError> {
        let is_cloud = self.to.is_cloud();
        if is_cloud && self.setup.ask.is_none() {
            return Err(MigrationError::NoInput);
        }
        let question = Question {
            title: match is_cloud {
                true => "HCP Terraform and Terraform Enterprise require all workspaces to be given an explicit name.".to_owned(),
                false => format!("The {:?} backend configuration only allows named workspaces!", self.to.kind),
            },
            text: "Please provide a new workspace name (e.g. dev, test) that will be used\nto migrate the existing default \
                   workspace."
                .to_owned(),
            apart: true,
            ..Question::default()
        };
        let asked = match &self.setup.ask {
            None => Err(INPUT_DISABLED.to_owned()),
            Some(asker) => asker.ask(&question).await.map_err(|why| why.to_string()),
        };
        asked.map_err(|e| format!("Error asking for new state name: {e}").into())
    }

    /// Locks a state and reads it, with what an interrupted run left.
    async fn hold(&mut self, store: &Arc<StateSession>, operation: &str) -> Result<HeldState, MigrationError> {
        let gathered = DiagnosticCollector::default();
        let held = held::hold(store, operation, self.options, self.setup, HeldAccess::Change(&gathered)).await;
        self.found.extend(gathered.0.into_inner().unwrap_or_else(|e| e.into_inner()));
        held.map_err(|problems| problems_text(&problems).into())
    }

    /// Copies a state if that is wanted; false if it is not.
    async fn copy(&self, from: &HeldState, to: &HeldState, force: bool) -> Result<bool, MigrationError> {
        let Some(source) = from.loaded.file.as_ref().filter(|file| !is_empty(file)) else { return Ok(true) };
        let present = to.loaded.file.as_ref().filter(|file| !is_empty(file));
        if !force {
            if self.setup.ask.is_none() {
                return Err(MigrationError::NoInput);
            }
            let wanted = match present {
                // That was asked before.
                None if self.to.is_cloud() => true,
                None => confirm(self.setup, &self.texts().copy_to_empty()).await?,
                Some(present) => self.confirm_overwrite(source, present).await?,
            };
            if !wanted {
                return Ok(false);
            }
        }
        let failed = |why: String| self.texts().not_copied(&why);
        if let Some(forced) = to.store.facts().forced {
            forced.force_next_write();
        }
        let snapshot = file::write(&source.meta, &source.state).map_err(|problems| failed(problems_text(&problems)))?;
        to.store.write(snapshot.into()).await.map_err(|e| failed(e.text))?;
        Ok(true)
    }

    /// Asks with both states in files to look at, which are gone afterwards.
    async fn confirm_overwrite(&self, source: &StateFile, present: &StateFile) -> Result<bool, MigrationError> {
        let (from, to) = (&self.from.kind, &self.to.kind);
        let made = tempfile::Builder::new().prefix("terraform").tempdir();
        let dir = made.map_err(|e| format!("Error creating temporary directory: {e}"))?;
        let (old, new) = (dir.path().join(format!("1-{from}.tfstate")), dir.path().join(format!("2-{to}.tfstate")));
        for (path, state) in [(&old, source), (&new, present)] {
            let failed = |why: String| format!("Error saving temporary state: {why}");
            let text = file::write(&state.meta, &state.state).map_err(|problems| failed(problems_text(&problems)))?;
            base::atomic::write_private(path, &text).map_err(|e| failed(e.to_string()))?;
        }
        if let Some(hcp) = self.to.backend.hcp().filter(|_| self.to.is_cloud()) {
            return Ok(confirm(self.setup, &overwrite_cloud(from, hcp.app_name, &old, &new)).await?);
        }
        Ok(confirm(self.setup, &self.texts().overwrite(&old, &new)).await?)
    }
}

fn overwrite_cloud(from: &str, app: &str, old: &Path, new: &Path) -> Question {
    let text = format!(
        "Pre-existing state was found while migrating the previous {from:?} backend to\n{app}. An existing non-empty state already \
         exists in {app}.\nThe two states have been saved to temporary files that will be removed after\nresponding to this \
         query.\n\nPrevious (type {from:?}): {}\nNew      ({app}): {}\n\nDo you want to overwrite the state in {app} with the previous \
         state?\nEnter \"yes\" to copy and \"no\" to start with the existing state in {app}.",
        old.display(),
        new.display(),
    );
    Question { title: "Do you want to copy existing state to HCP Terraform?".to_owned(), text, ..Question::default() }
}

/// Why a question is not asked.
pub const INPUT_DISABLED: &str = "input is disabled";

/// A state without resources and outputs.
pub fn is_empty(file: &StateFile) -> bool {
    file.state.resources.is_empty() && file.state.outputs.is_empty()
}

/// States with the same objects and outputs.
fn same_content(a: &StateFile, b: &StateFile) -> bool {
    let text = |file: &StateFile| file::write(&b.meta, &file.state).ok();
    text(a).is_some_and(|text_a| Some(text_a) == text(b))
}

pub async fn read(store: &Arc<StateSession>) -> Result<Option<StateFile>, String> {
    let loaded = load(store, StateAccess::ReadOnly).await.map_err(|problems| error_text(&problems))?;
    Ok(loaded.file)
}

/// Why a state cannot be read. Problems of keys say all there is to say.
pub fn refresh_failed(problems: Diagnostics) -> Diagnostics {
    let is_of_keys = problems.iter().all(|problem| problem.kind == Kind::Encryption);
    if is_of_keys {
        return problems;
    }
    Diagnostic::error(format!("Error refreshing state: {}", error_text(&problems)), "").into()
}

/// The reason why a state could not be read, without the general summary.
pub fn error_text(problems: &Diagnostics) -> String {
    let mut errors = problems.iter().filter(|d| d.is_error());
    match (errors.next(), errors.next()) {
        (Some(one), None) if !one.detail.is_empty() => one.detail.clone(),
        _ => problems_text(problems),
    }
}

/// Yes or no; two other answers mean no.
pub async fn confirm(setup: &Setup, question: &Question) -> Result<bool, String> {
    let Some(asker) = &setup.ask else { return Err(INPUT_DISABLED.to_owned()) };
    for _ in 0..2 {
        let text = asker.ask(question).await;
        match text.map_err(|e| format!("Error asking for confirmation: {e}"))?.to_lowercase().as_str() {
            "yes" => return Ok(true),
            "no" => return Ok(false),
            _ => {}
        }
    }
    Ok(false)
}

/// Collects the messages while a state is locked.
#[derive(Default)]
struct DiagnosticCollector(Mutex<Diagnostics>);

impl Observer for DiagnosticCollector {
    fn event(&self, _event: Event) {}
}

impl Listener for DiagnosticCollector {
    fn planned(&self, _planned: &Planned) {}

    fn loaded(&self, _planned: &Planned) {}

    fn diagnostics(&self, diagnostics: Diagnostics) {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).extend(diagnostics);
    }

    fn waiting_for_lock(&self) {}
}
