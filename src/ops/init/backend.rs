//! The backend's part of `init`: the configured backend, its comparison with the record, the migration of states, and
//! the selection of the workspace.

use std::sync::Arc;

use backend::hcp::Flavor;
use backend::{DEFAULT_WORKSPACE, ErrorKind, OpenBackend, StateAccess, load};
use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM};
use model::config::{self, Module};
use model::state::file::problems_text;
use model::version::at_least;
use terrane_value::{Value, convert};

use super::cloud::{self, Change};
use super::interface::{InitEvent, InitRequest, TellInit};
use super::moved_states::erase;
use crate::backends::open::{CLOUD, default_settings, open_settings, recorded, settings_of};
use crate::backends::provided_kind::ProvidedKind;
use crate::backends::record::{self, BackendRecord};
use crate::backends::settings::{self, BackendSettings, KindRef};
use crate::backends::state_store;
use crate::interface::ask::Question;
use crate::interface::options::StateOptions;
use crate::migrate::moving::{Migrated, Migration, Side, error_text, is_empty, refresh_failed};
use crate::setup::Setup;
use crate::setup::workdir::select_workspace;

/// The backend in use and its workspace.
pub struct InUse {
    pub backend: Arc<OpenBackend>,
    pub workspace: String,
}

/// Takes the backend of the configuration into use.
pub async fn run(
    setup: &Setup,
    root: &Module,
    request: &InitRequest,
    tell: TellInit<'_>,
) -> (Option<InUse>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    if root.backend.is_none() && !request.backend_config.is_empty() {
        diagnostics.push(missing_block());
    }
    let options = StateOptions { lock: request.lock, lock_timeout: request.lock_timeout, ..StateOptions::default() };
    let workspace = setup.workdir.workspace.clone();
    let mut step = Step { setup, request, options, tell, workspace, to_select: None, diagnostics };
    let done = match setup.workdir.check_workspace() {
        Ok(()) => step.configure(root).await,
        Err(problems) => Err(problems),
    };
    let done = match done {
        Ok(backend) => step.select_at_last().map(|()| backend),
        failed => failed,
    };
    let mut diagnostics = step.diagnostics;
    diagnostics.extend(setup.encryption.take_warnings());
    match done {
        Ok(backend) => (Some(InUse { backend, workspace: step.workspace }), diagnostics),
        Err(problems) => {
            diagnostics.extend(problems);
            (None, diagnostics)
        }
    }
}

/// The backend of the record, for an `init` that does not look at the configuration's.
pub async fn saved(setup: &Setup) -> Result<InUse, Diagnostics> {
    setup.workdir.check_workspace()?;
    let settings = settings_of(setup, recorded(setup)?.as_ref()).await?;
    let (backend, _) = open_settings(setup, &settings, &StateOptions::default()).await?;
    Ok(InUse { backend, workspace: setup.workdir.workspace.clone() })
}

/// The state of a workspace, as a source of requirements; none without a backend.
pub async fn state(in_use: Option<&InUse>) -> Result<Option<model::state::State>, Diagnostics> {
    let Some(in_use) = in_use else { return Ok(None) };
    let store = in_use.backend.store(&in_use.workspace).await;
    let store = store.map_err(|e| plain(format!("Error loading state: {e}")))?;
    let loaded = load(&store, StateAccess::ReadOnly).await;
    let loaded = loaded.map_err(refresh_failed)?;
    Ok(loaded.file.map(|file| file.state))
}

fn unknown_settings() -> Diagnostics {
    let detail = "The `terraform` configuration block should contain only concrete and static values. Another diagnostic should \
                  contain more information about which part of the configuration is problematic.";
    Diagnostic::error("Unknown values within backend definition", detail).into()
}

/// An error that is one text.
fn plain(text: impl Into<String>) -> Diagnostics {
    Diagnostic::error(text, "").into()
}

struct Step<'a, 't> {
    setup: &'a Setup,
    request: &'a InitRequest,
    options: StateOptions,
    tell: TellInit<'t>,
    workspace: String,
    /// What to select once the backend is recorded. An interrupted migration begins again with the workspace that was in use,
    /// or it would copy another one over the state that it has copied.
    to_select: Option<String>,
    /// Warnings and other messages that are shown in any case.
    diagnostics: Diagnostics,
}

impl Step<'_, '_> {
    async fn configure(&mut self, root: &Module) -> Result<Arc<OpenBackend>, Diagnostics> {
        let recorded = recorded(self.setup)?;
        if recorded.as_ref().is_some_and(|recorded| recorded.provider.is_some()) {
            (self.tell)(InitEvent::StoreRecorded);
        }
        if let Some((block, store)) = root.backend.as_ref().and_then(|block| Some((block, block.store.as_ref()?))) {
            return self.configure_store((block, store), recorded, root).await;
        }
        if let Some(old) = recorded.as_ref().filter(|old| old.provider.is_some() && !self.request.reconfigure) {
            return Err(state_store::left(old, root.backend.as_ref()));
        }
        let Some(block) = &root.backend else {
            return match recorded {
                Some(old) if !self.request.reconfigure => self.unset(&old).await,
                recorded => {
                    if recorded.is_some() {
                        self.write(None)?;
                    }
                    self.open(&default_settings()?).await
                }
            };
        };
        let (settings, is_overridden, problems) = self.wanted(block, root)?;
        let Some(recorded) = recorded.filter(|_| !self.request.reconfigure) else {
            return self.first(settings, problems).await;
        };
        let unchanged = settings.hash == recorded.hash && settings.kind.name() == recorded.kind;
        let same = !problems.has_errors() && settings.is_recorded(&recorded);
        if (unchanged && !is_overridden) || same {
            let saved = settings_of(self.setup, Some(&recorded)).await?;
            let saved = BackendSettings { body: settings.body.clone(), ..saved };
            let backend = self.open(&saved).await?;
            if recorded.hash != settings.hash {
                self.write(Some(&BackendRecord { hash: settings.hash, ..recorded }))?;
            }
            self.select(&backend).await?;
            return Ok(backend);
        }
        let concerns_cloud =
            Change::of(Some(kind_of_record(&recorded)), Some(kind_of(&settings)), false) != Change::None;
        if !concerns_cloud && !self.request.migrate_state {
            return Err(changed());
        }
        self.change(&recorded, settings, problems).await
    }

    /// There is a `state_store` block. States are moved to or from a state store by another command.
    async fn configure_store(
        &mut self,
        (block, store): (&config::Backend, &config::StoreProvider),
        recorded: Option<BackendRecord>,
        root: &Module,
    ) -> Result<Arc<OpenBackend>, Diagnostics> {
        let given = (&self.request.backend_config[..], root.static_context.as_ref());
        let Some(recorded) = recorded.filter(|_| !self.request.reconfigure) else {
            let settings = state_store::of_block(self.setup, block, store, given).await?;
            return self.first(settings, Diagnostics::new()).await;
        };
        if let Some(problems) = state_store::change(self.setup, (block, store), &recorded, given).await? {
            return Err(problems);
        }
        let backend = self.open(&settings_of(self.setup, Some(&recorded)).await?).await?;
        if !self.begins_empty(&backend).await? {
            self.select(&backend).await?;
        }
        Ok(backend)
    }

    /// Whether a state store has no states yet, and the workspace in use is the one that the first apply makes.
    async fn begins_empty(&self, backend: &Arc<OpenBackend>) -> Result<bool, Diagnostics> {
        Ok(self.workspace == DEFAULT_WORKSPACE && names_of(backend).await?.is_some_and(|names| names.is_empty()))
    }

    /// The settings that are asked for, whether the command line adds any, and what is wrong with them.
    fn wanted(
        &mut self,
        block: &config::Backend,
        root: &Module,
    ) -> Result<(BackendSettings, bool, Diagnostics), Diagnostics> {
        let kind = settings::kind_of(block)?;
        let mut found = Diagnostics::new();
        let overlay = settings::overlay(
            self.setup.dialect(),
            &self.request.backend_config,
            kind,
            root.static_context.as_ref(),
            &mut found,
        );
        if found.has_errors() {
            return Err(found);
        }
        let is_overridden = overlay.is_some();
        let (settings, problems) = BackendSettings::of_block(block, overlay);
        let Some(settings) = settings else { return Err(problems) };
        // Text that could not be read counts as an unknown value: it must not be recorded as a setting that is not set.
        if !problems.has_errors() && !settings.config.is_wholly_known() {
            return Err(unknown_settings());
        }
        Ok((settings, is_overridden, problems))
    }

    /// Opens a backend; warnings about its settings are kept.
    async fn open(&mut self, settings: &BackendSettings) -> Result<Arc<OpenBackend>, Diagnostics> {
        let (backend, warnings) = open_settings(self.setup, settings, &StateOptions::default()).await?;
        self.diagnostics.extend(warnings);
        Ok(backend)
    }

    /// Opens a backend that was not in use, after asking for what its settings lack.
    async fn open_new(
        &mut self,
        settings: &mut BackendSettings,
        problems: Diagnostics,
    ) -> Result<Arc<OpenBackend>, Diagnostics> {
        if problems.has_errors() {
            return Err(problems);
        }
        self.diagnostics.extend(problems);
        self.ask_for_missing(settings).await?;
        self.open(settings).await
    }

    async fn ask_for_missing(&mut self, settings: &mut BackendSettings) -> Result<(), Diagnostics> {
        let Some(asker) = self.setup.ask.clone() else { return Ok(()) };
        for (name, ty, text) in settings::missing(settings) {
            let question = Question { title: name.to_string(), text, ..Question::default() };
            loop {
                let text = asker.ask(&question).await.map_err(|why| {
                    let kind = settings.kind.name();
                    plain(format!("Error asking for input to configure backend {kind:?}: {name}: {why}"))
                })?;
                match convert::convert(&Value::string(text), &ty) {
                    Ok(value) => {
                        settings::with_setting(settings, &name, value);
                        break;
                    }
                    Err(problem) => (self.tell)(InitEvent::Diagnostics(plain(format!("Invalid value: {problem}")))),
                }
            }
        }
        Ok(())
    }

    /// There is a block, and no backend was in use: states of this machine may be moved to it.
    async fn first(
        &mut self,
        mut settings: BackendSettings,
        problems: Diagnostics,
    ) -> Result<Arc<OpenBackend>, Diagnostics> {
        let local = self.open(&default_settings()?).await?;
        let mut filled = filled_workspaces(&local).await?;
        Change::of(None, Some(kind_of(&settings)), !filled.is_empty()).check_options(self.request)?;
        let backend = self.open_new(&mut settings, problems).await?;
        if !filled.is_empty() {
            let from = Side { kind: "local".to_owned(), is_store: false, backend: local.clone() };
            let migrated = self.migrate(from, &settings, &backend).await?;
            if !migrated.refused {
                // A backend without workspaces has one of them.
                filled.retain(|name| migrated.copied.contains(name));
                erase(&local, &backend, &filled).await?;
            }
        }
        self.finish(&settings, backend).await
    }

    async fn change(
        &mut self,
        old: &BackendRecord,
        mut settings: BackendSettings,
        problems: Diagnostics,
    ) -> Result<Arc<OpenBackend>, Diagnostics> {
        let kind = settings.kind.name();
        let change = Change::of(Some(kind_of_record(old)), Some(kind_of(&settings)), false);
        change.check_options(self.request)?;
        (self.tell)(change.event(&old.kind, kind).unwrap_or_else(|| match old.kind == kind {
            true => InitEvent::BackendReconfigured,
            false => InitEvent::BackendReplaced { old: old.kind.clone(), new: kind.to_owned() },
        }));
        let backend = self.open_new(&mut settings, problems).await?;
        if change == Change::Within {
            return self.finish(&settings, backend).await;
        }
        let before = self.open(&settings_of(self.setup, Some(old)).await?).await?;
        let from = Side { kind: old.kind.clone(), is_store: old.provider.is_some(), backend: before };
        self.migrate(from, &settings, &backend).await?;
        self.finish(&settings, backend).await
    }

    /// The block is gone: states come back to this machine.
    async fn unset(&mut self, old: &BackendRecord) -> Result<Arc<OpenBackend>, Diagnostics> {
        let change = Change::of(Some(kind_of_record(old)), None, false);
        if change == Change::None && !self.request.migrate_state {
            return Err(changed());
        }
        change.check_options(self.request)?;
        (self.tell)(match change {
            Change::OutOf => InitEvent::FromCloud(None),
            _ => InitEvent::BackendUnsetting(old.kind.clone()),
        });
        let settings = default_settings()?;
        let local = self.open(&settings).await?;
        let before = self.open(&settings_of(self.setup, Some(old)).await?).await?;
        let from = Side { kind: old.kind.clone(), is_store: old.provider.is_some(), backend: before };
        self.migrate(from, &settings, &local).await?;
        self.write(None)?;
        (self.tell)(InitEvent::BackendUnset(old.kind.clone()));
        Ok(local)
    }

    async fn migrate(
        &mut self,
        from: Side,
        settings: &BackendSettings,
        to: &Arc<OpenBackend>,
    ) -> Result<Migrated, Diagnostics> {
        let mut migration = Migration {
            setup: self.setup,
            is_command: false,
            options: &self.options,
            force: self.request.force_copy,
            ignore_version: self.request.ignore_remote_version,
            from,
            to: Side {
                kind: settings.kind.name().to_owned(),
                is_store: settings.kind.is_provided(),
                backend: to.clone(),
            },
            workspace: self.workspace.clone(),
            found: Diagnostics::new(),
        };
        let result = migration.run().await;
        let found = std::mem::take(&mut migration.found);
        if !found.is_empty() {
            (self.tell)(InitEvent::Diagnostics(found));
        }
        let migrated = result.map_err(|why| plain(why.to_string()))?;
        if let Some(name) = &migrated.select {
            if !self.setup.workdir.workspace_overridden {
                self.workspace.clone_from(name);
            }
            self.to_select = Some(name.clone());
        }
        if let Some(list) = &migrated.listed {
            (self.tell)(InitEvent::WorkspacesCopied(list.clone()));
        }
        Ok(migrated)
    }

    /// Records a backend that is new, once its workspace is known to exist.
    async fn finish(
        &mut self,
        settings: &BackendSettings,
        backend: Arc<OpenBackend>,
    ) -> Result<Arc<OpenBackend>, Diagnostics> {
        let selected = match &settings.kind {
            KindRef::Provided(kind) => self.select_in_store(kind, &backend).await,
            KindRef::Own(_) => self.select(&backend).await,
        };
        let kind = kind_of(settings);
        // A `remote` backend without workspaces is ready for the first one.
        if kind != "remote" {
            selected?;
            self.write(Some(&settings.record()))?;
        } else {
            self.write(Some(&settings.record()))?;
            (self.tell)(InitEvent::BackendSet(kind.to_owned()));
            selected?;
            return Ok(backend);
        }
        if kind != CLOUD && kind != STATE_STORE {
            (self.tell)(InitEvent::BackendSet(kind.to_owned()));
        }
        Ok(backend)
    }

    fn write(&self, record: Option<&BackendRecord>) -> Result<(), Diagnostics> {
        record::write(&self.setup.workdir.data_dir, self.setup.dialect(), record).map_err(|e| {
            let (what, why) = match record {
                Some(_) => (
                    "saving",
                    format!(
                        "{PROGRAM} saves the complete backend configuration in a local file for\nconfiguring the backend on future \
                         operations. This cannot be disabled. Errors\nare usually due to simple file permission errors. Please look \
                         at the error\nabove, resolve it, and try again."
                    ),
                ),
                None => (
                    "clearing",
                    format!(
                        "{PROGRAM} removes the saved backend configuration when you're removing a\nconfigured backend. This must be \
                         done so future {PROGRAM} runs know to not\nuse the backend configuration. Please look at the error above, \
                         resolve it,\nand try again."
                    ),
                ),
            };
            plain(format!("Error {what} the backend configuration: {e}\n\n{why}"))
        })
    }

    /// Selects a workspace for this command and those that follow; one that a variable names stays in use.
    fn use_workspace(&mut self, name: &str) -> Result<(), Diagnostics> {
        select_workspace(&self.setup.workdir.data_dir, name).map_err(|e| plain(e.to_string()))?;
        self.to_select = None;
        if !self.setup.workdir.workspace_overridden {
            self.workspace = name.to_owned();
        }
        Ok(())
    }

    fn select_at_last(&mut self) -> Result<(), Diagnostics> {
        self.to_select.take().map_or(Ok(()), |name| self.use_workspace(&name))
    }

    /// Asks for the name of the first workspace, which the first look at its state makes.
    async fn first_workspace(&mut self, backend: &Arc<OpenBackend>) -> Result<(), Diagnostics> {
        let (Some(hcp), Some(asker)) = (backend.hcp(), self.setup.ask.clone()) else { return Ok(()) };
        let asked = asker.ask(&cloud::first_workspace(hcp)).await;
        let name = asked.map_err(|e| plain(format!("Couldn't create initial workspace: {e}")))?;
        match name.trim() {
            "" => Err(plain("Couldn't create initial workspace: no name provided")),
            name => self.use_workspace(name),
        }
    }

    /// As [`Self::select`], in a state store that was not in use.
    async fn select_in_store(&mut self, kind: &ProvidedKind, backend: &Arc<OpenBackend>) -> Result<(), Diagnostics> {
        if self.begins_empty(backend).await? {
            return Ok(());
        }
        if names_of(backend).await?.is_some_and(|names| names.is_empty()) {
            return Err(kind.not_created(&self.workspace).into());
        }
        self.select(backend)
            .await
            .map_err(|problems| plain(format!("Failed to select a workspace: {}", problems_text(&problems))))
    }

    /// Makes sure that the workspace in use exists; another one is selected if it does not.
    async fn select(&mut self, backend: &Arc<OpenBackend>) -> Result<(), Diagnostics> {
        let Some(names) = names_of(backend).await? else {
            return if self.workspace == DEFAULT_WORKSPACE { Ok(()) } else { self.use_workspace(DEFAULT_WORKSPACE) };
        };
        let current = self.workspace.clone();
        match &names[..] {
            [] if self.setup.ask.is_some() && is_cloud(backend) => self.first_workspace(backend).await,
            [] => Err(plain(format!(
                "No existing workspaces.\n\nUse the \"{COMMAND} workspace\" command to create and select a new workspace.\nIf the \
                 backend already contains existing workspaces, you may need to update\nthe backend configuration."
            ))),
            names if names.contains(&current) => Ok(()),
            [only] => self.use_workspace(only),
            names => {
                let Some(asker) = self.setup.ask.clone() else {
                    return Err(plain(format!("Currently selected workspace {current:?} does not exist")));
                };
                let list: String = names.iter().zip(1..).map(|(name, i)| format!("{i}. {name}\n")).collect();
                let question = Question {
                    title: format!("The currently selected workspace ({current}) does not exist."),
                    text: format!(
                        "This is expected behavior when the selected workspace did not have an\nexisting non-empty state. Please \
                         enter a number to select a workspace:\n\n{list}"
                    ),
                    apart: true,
                    ..Question::default()
                };
                let text = asker.ask(&question).await;
                let text = text.map_err(|e| plain(format!("Failed to select workspace: {e}")))?;
                let chosen = text.parse::<usize>().ok().and_then(|i| names.get(i.checked_sub(1)?));
                match chosen {
                    Some(name) => self.use_workspace(name),
                    None => Err(plain("Failed to select workspace: input not a valid number")),
                }
            }
        }
    }
}

/// True for the backend of a `cloud` block.
pub fn is_cloud(backend: &OpenBackend) -> bool {
    backend.hcp().is_some_and(|hcp| hcp.flavor == Flavor::Cloud)
}

/// The workspaces of a backend; none if it has only the default one.
async fn names_of(backend: &Arc<OpenBackend>) -> Result<Option<Vec<String>>, Diagnostics> {
    match backend.workspaces().await {
        Ok(names) => Ok(Some(names)),
        Err(e) if e.kind == ErrorKind::WorkspacesUnsupported => Ok(None),
        Err(e) => Err(plain(format!("Failed to get existing workspaces: {e}"))),
    }
}

/// The workspaces of this machine that hold anything.
async fn filled_workspaces(local: &Arc<OpenBackend>) -> Result<Vec<String>, Diagnostics> {
    let failed = |why: String| {
        plain(format!(
            "Error reading local state: {why}\n\n{PROGRAM} is trying to read your local state to determine if there is\nstate to \
             migrate to your newly configured backend. {PROGRAM} can't continue\nwithout this check because that would risk losing \
             state. Please resolve the\nerror above and try again."
        ))
    };
    let mut filled = Vec::new();
    for name in local.workspaces().await.map_err(|e| failed(e.text))? {
        let store = local.store(&name).await.map_err(|e| failed(e.text))?;
        let loaded = load(&store, StateAccess::ReadOnly).await.map_err(|problems| failed(error_text(&problems)))?;
        if loaded.file.is_some_and(|file| !is_empty(&file)) {
            filled.push(name);
        }
    }
    Ok(filled)
}

fn missing_block() -> Diagnostic {
    Diagnostic::warning(
        "Missing backend configuration",
        format!(
            "-backend-config was used without a \"backend\" block in the configuration.\n\nIf you intended to override the default \
             local backend configuration,\nno action is required, but you may add an explicit backend block to \
             your\nconfiguration to clear this warning:\n\n{LOCAL_BLOCK}\n\nHowever, if you intended to override a defined \
             backend, please verify that\nthe backend configuration is present and valid.\n"
        ),
    )
}

const LOCAL_BLOCK: &str = "terraform {\n  backend \"local\" {}\n}";

fn changed() -> Diagnostics {
    let start = if at_least(16) { "run" } else { "use" };
    Diagnostic::error(
        "Backend configuration changed",
        format!(
            "A change in the backend configuration has been detected, which may require migrating existing state.\n\nIf you wish to \
             attempt automatic migration of the state, {start} \"{COMMAND} init -migrate-state\".\nIf you wish to store the current \
             configuration with no changes to the state, {start} \"{COMMAND} init -reconfigure\"."
        ),
    )
    .into()
}

/// The kind of all state stores of providers, whose own names may be those of backends.
const STATE_STORE: &str = "state_store";

fn kind_of(settings: &BackendSettings) -> &str {
    match &settings.kind {
        KindRef::Own(kind) => kind.name(),
        KindRef::Provided(_) => STATE_STORE,
    }
}

fn kind_of_record(record: &BackendRecord) -> &str {
    if record.provider.is_some() { STATE_STORE } else { &record.kind }
}
