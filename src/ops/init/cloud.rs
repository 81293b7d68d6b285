//! The part of `init` that only `cloud` blocks have: which changes are none of a backend, what is asked before states go to
//! HCP Terraform, and under which names.

use backend::DEFAULT_WORKSPACE;
use backend::hcp::{Flavor, Hcp, Mapping};
use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;

use super::migration::{INPUT_DISABLED_HERE, Migrated, Migration, answer, confirm, is_empty, read};
use super::migration_texts::not_loaded;
use super::{InitEvent, InitRequest};
use crate::interface::ask::Question;

/// The kind that `cloud` blocks have.
pub const CLOUD: &str = "cloud";

/// How a change of settings concerns `cloud` blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Into,
    OutOf,
    /// There was a block, or nothing at all, and there is a block.
    Within,
    /// No block is concerned.
    None,
}

impl Change {
    /// `old` and `new` are kinds of backends; `local_states`: there are states in files, without any backend.
    pub fn of(old: Option<&str>, new: Option<&str>, local_states: bool) -> Change {
        match (old == Some(CLOUD), new == Some(CLOUD)) {
            (true, true) => Change::Within,
            (false, true) if old.is_none() && !local_states => Change::Within,
            (false, true) => Change::Into,
            (true, false) => Change::OutOf,
            (false, false) => Change::None,
        }
    }

    /// Options that are for backends only.
    pub fn check_options(self, request: &InitRequest) -> Result<(), Diagnostics> {
        let migrates = matches!(self, Change::Into | Change::OutOf);
        let mut found = Diagnostics::new();
        if self == Change::None {
            return Ok(());
        }
        if request.reconfigure {
            found.error(
                INVALID_OPTION,
                match migrates {
                    true => {
                        "The -reconfigure option is unsupported when migrating to HCP Terraform, because activating HCP Terraform \
                         involves some additional steps."
                    }
                    false => {
                        "The -reconfigure option is for in-place reconfiguration of state backends only, and is not needed when \
                         changing HCP Terraform settings.\n\nWhen using HCP Terraform, initialization automatically activates any \
                         new Cloud configuration settings."
                    }
                },
            );
        }
        if request.migrate_state {
            let name = if request.force_copy { "-force-copy" } else { "-migrate-state" };
            let why = match migrates {
                true => "HCP Terraform migrations have additional steps, configured by interactive prompts.",
                false => {
                    "State storage is handled automatically by HCP Terraform and so the state storage location is not configurable."
                }
            };
            found.error(
                INVALID_OPTION,
                format!(
                    "The {name} option is for migration between state backends only, and is not applicable when using HCP \
                     Terraform.\n\n{why}"
                ),
            );
        }
        if found.has_errors() { Err(found) } else { Ok(()) }
    }

    /// What people hear of the change from one kind to another; none: what they hear of other backends.
    pub fn event(self, old: &str, new: &str) -> Option<InitEvent> {
        match self {
            Change::Within => Some(InitEvent::CloudChanged),
            Change::Into => Some(InitEvent::ToCloud(old.to_owned())),
            Change::OutOf => Some(InitEvent::FromCloud(Some(new.to_owned()))),
            Change::None => None,
        }
    }
}

const INVALID_OPTION: &str = "Invalid command-line option";

/// Settings of the command line are for `backend` blocks.
pub fn no_backend_config() -> Diagnostic {
    Diagnostic::error(
        INVALID_OPTION,
        "The -backend-config=... command line option is only for state backends, and is not applicable to HCP Terraform-based \
         configurations.\n\nTo change the set of workspaces associated with this configuration, edit the Cloud configuration block \
         in the root module.",
    )
}

/// The question for the first workspace of a configuration.
pub fn first_workspace(hcp: &Hcp) -> Question {
    Question {
        title: "No workspaces found.".to_owned(),
        text: format!(
            "\nThere are no workspaces with the configured tags ({})\nin your HCP Terraform organization. To finish initializing, \
             {PROGRAM} needs at\nleast one workspace available.\n\n{PROGRAM} can create a properly tagged workspace for you now. \
             Please enter a\nname to create a new HCP Terraform workspace.\n",
            hcp.mapping.shown_tags()
        ),
        apart: true,
        ..Question::default()
    }
}

impl Migration<'_> {
    /// Copies states to the workspaces of a `cloud` block.
    pub async fn copy_to_cloud(&mut self, names: Option<Vec<String>>, hcp: &Hcp) -> Result<Migrated, String> {
        let mut migrated = Migrated::default();
        let target = match &hcp.mapping {
            Mapping::Name(name) => name.clone(),
            _ => DEFAULT_WORKSPACE.to_owned(),
        };
        let current = self.workspace.clone();
        match names.filter(|names| names.len() > 1) {
            None => {
                let source = self.from.backend.store(&current).await.map_err(|e| e.text)?;
                if read(&source).await?.is_none_or(|file| is_empty(&file)) {
                    return Ok(migrated);
                }
                match self.agrees(single(hcp.app_name)).await? {
                    true => self.single_to(&current, &target, self.force, &mut migrated).await?,
                    false => migrated.refused = true,
                }
            }
            Some(_) if matches!(hcp.mapping, Mapping::Name(_)) => {
                self.demand(current_only(&self.from.kind, &target, hcp.app_name)).await?;
                self.single_to(&current, &target, self.force, &mut migrated).await?;
            }
            Some(names) => self.all_to_cloud(names, hcp, &mut migrated).await?,
        }
        Ok(migrated)
    }

    /// Copies the states of a `cloud` block's workspaces to a backend.
    pub async fn copy_from_cloud(&mut self, names: Option<Vec<String>>, hcp: &Hcp) -> Result<Migrated, String> {
        let mut migrated = Migrated::default();
        match (&hcp.mapping, names) {
            (Mapping::Name(name), _) => {
                migrated.select = Some(DEFAULT_WORKSPACE.to_owned());
                self.single_to(name, DEFAULT_WORKSPACE, self.force, &mut migrated).await?;
            }
            (_, Some(names)) => match self.to.backend.workspaces().await {
                Ok(_) => self.all(names, &mut migrated).await?,
                Err(_) => self.current_only(&mut migrated).await?,
            },
            (_, None) => {}
        }
        Ok(migrated)
    }

    async fn all_to_cloud(&mut self, names: Vec<String>, hcp: &Hcp, migrated: &mut Migrated) -> Result<(), String> {
        let current = self.workspace.clone();
        let mut named_default = None;
        if names.iter().any(|name| name == DEFAULT_WORKSPACE) {
            let kind = self.from.kind.clone();
            let store = self.from.backend.store(DEFAULT_WORKSPACE).await.map_err(|e| not_loaded(&kind, &e.text))?;
            if read(&store).await.map_err(|e| not_loaded(&kind, &e))?.is_some_and(|file| !is_empty(&file)) {
                named_default = Some(self.ask_for_name().await?);
            }
        }
        let pattern = self.pattern(hcp.app_name).await?;
        let mut selected = None;
        for name in names {
            let new = named_default.as_ref().filter(|_| name == DEFAULT_WORKSPACE).unwrap_or(&name);
            let target = pattern.replace('*', new);
            self.single_to(&name, &target, true, migrated).await.map_err(|e| self.not_all(new, &e))?;
            if name == current {
                selected = Some(target);
            }
        }
        let present = self.to.backend.workspaces().await.map_err(|e| e.text)?;
        if let Some(selected) = selected.filter(|name| present.contains(name)) {
            let line = |name: &String| if *name == selected { format!("* {name}\n") } else { format!("  {name}\n") };
            let list: String = present.iter().map(line).collect();
            migrated.listed = Some(list);
            migrated.select = Some(selected);
        }
        Ok(())
    }

    /// How workspaces are renamed: a name with an asterisk for the old one.
    async fn pattern(&self, app: &str) -> Result<String, String> {
        if let Some(Hcp { flavor: Flavor::Remote, mapping: Mapping::Prefix(prefix), .. }) = self.from.backend.hcp() {
            self.demand(from_remote(app)).await?;
            return Ok(format!("{prefix}*"));
        }
        let kind = &self.from.kind;
        let choice = self.ask("Would you like to rename your workspaces?", &renaming(kind, app)).await?;
        match choice.as_str() {
            "2" => return Ok("*".to_owned()),
            "1" => {}
            _ => return Err("Please select 1 or 2 as part of this option.".to_owned()),
        }
        let pattern = self.ask("How would you like to rename your workspaces?", PATTERN).await?;
        match pattern.matches('*').count() {
            0 => Err("The pattern must have an '*'".to_owned()),
            1 => Ok(pattern),
            _ => Err("The pattern '*' cannot be used more than once.".to_owned()),
        }
    }

    async fn ask(&self, title: &str, text: &str) -> Result<String, String> {
        let question = Question { title: title.to_owned(), text: text.to_owned(), ..Question::default() };
        let asked = match &self.setup.ask {
            None => Err("input is disabled".to_owned()),
            Some(somebody) => answer(&**somebody, &question).await,
        };
        asked.map_err(|e| format!("Error asking for state migration action: {e}"))
    }

    /// Asks for consent.
    async fn agrees(&self, question: Question) -> Result<bool, String> {
        if self.setup.ask.is_none() {
            return Err(INPUT_DISABLED_HERE.to_owned());
        }
        if self.force {
            return Ok(true);
        }
        let asked = confirm(self.setup, &question).await;
        asked.map_err(|e| format!("Error asking for state migration action: {e}"))
    }

    /// Asks for consent, without which nothing is done.
    async fn demand(&self, question: Question) -> Result<(), String> {
        if self.agrees(question).await? { Ok(()) } else { Err("Migration aborted by user.".to_owned()) }
    }
}

fn proceed(text: String) -> Question {
    Question { title: "Do you wish to proceed?".to_owned(), text, ..Question::default() }
}

fn single(app: &str) -> Question {
    proceed(format!(
        "As part of migrating to {app}, {PROGRAM} can optionally copy\nyour current workspace state to the configured {app} \
         workspace.\n\nAnswer \"yes\" to copy the latest state snapshot to the configured\n{app} workspace.\n\nAnswer \"no\" to ignore \
         the existing state and just activate the configured\n{app} workspace with its existing state, if any.\n\nShould {PROGRAM} \
         migrate your existing state?"
    ))
}

fn current_only(kind: &str, target: &str, app: &str) -> Question {
    let text = format!(
        "The previous backend {kind:?} has multiple workspaces, but {app} has\nbeen configured to use a single workspace \
         ({target:?}). By continuing, you will\nonly migrate your current workspace. If you wish to migrate all workspaces\nfrom the \
         previous backend, you may cancel this operation and use the 'tags'\nstrategy in your workspace configuration block \
         instead.\n\nEnter \"yes\" to proceed or \"no\" to cancel."
    );
    Question { title: "Do you want to copy only your current workspace?".to_owned(), text, ..Question::default() }
}

fn from_remote(app: &str) -> Question {
    proceed(format!(
        "When migrating from the 'remote' backend to {PROGRAM}'s native integration\nwith {app}, {PROGRAM} will automatically \
         \ncreate or use existing workspaces based on the previous backend configuration's \n'prefix' value.\n\nWhen the migration is \
         complete, workspace names in {PROGRAM} will match the\nfully qualified {app} workspace name. If necessary, the workspace \
         \ntags configured in the 'cloud' option block will be added to the associated \n{app} workspaces.\n\nEnter \"yes\" to proceed \
         or \"no\" to cancel."
    ))
}

fn renaming(kind: &str, app: &str) -> String {
    format!(
        "Unlike typical {PROGRAM} workspaces representing an environment associated with a particular\nconfiguration (e.g. \
         production, staging, development), HCP Terraform and Terraform Enterprise \nworkspaces are named uniquely across all \
         configurations used within an organization. A typical \nstrategy to start with is <COMPONENT>-<ENVIRONMENT>-<REGION> (e.g. \
         networking-prod-us-east, \nnetworking-staging-us-east).\n\nFor more information on workspace naming, see \
         https://developer.hashicorp.com/terraform/cloud-docs/workspaces/create\n\nWhen migrating existing workspaces from the \
         backend {kind:?} to {app}, \nwould you like to rename your workspaces? Enter 1 or 2.\n\n1. Yes, I'd like to rename all \
         workspaces according to a pattern I will provide.\n2. No, I would not like to rename my workspaces. Migrate them as \
         currently named."
    )
}

const PATTERN: &str = "Enter a pattern with an asterisk (*) to rename all workspaces based on their\nprevious names. The asterisk \
                       represents the current workspace name.\n\nFor example, if a workspace is currently named 'prod', the pattern \
                       'app-*' would yield\n'app-prod' for a new workspace name; 'app-*-region1' would  yield 'app-prod-region1'.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_concern_cloud_blocks() {
        let cases = [
            (None, Some("cloud"), false, Change::Within),
            (None, Some("cloud"), true, Change::Into),
            (Some("cloud"), Some("cloud"), false, Change::Within),
            (Some("s3"), Some("cloud"), false, Change::Into),
            (Some("cloud"), None, false, Change::OutOf),
            (Some("cloud"), Some("s3"), false, Change::OutOf),
            (Some("s3"), None, true, Change::None),
        ];
        for (old, new, local, expected) in cases {
            assert_eq!(Change::of(old, new, local), expected, "{old:?} {new:?}");
        }
    }
}
