//! Copying states to and from the workspaces of a `cloud` block: what is asked before, and under which names they go there.

use backend::DEFAULT_WORKSPACE;
use backend::hcp::{Flavor, Hcp, Mapping};
use base::name::PROGRAM;

use super::error::MigrationError;
use super::moving::{INPUT_DISABLED, Migrated, Migration, confirm, is_empty, read};
use super::texts::not_loaded;
use crate::interface::ask::Question;

impl Migration<'_> {
    /// Copies states to the workspaces of a `cloud` block.
    pub async fn copy_to_cloud(&mut self, names: Option<Vec<String>>, hcp: &Hcp) -> Result<Migrated, MigrationError> {
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
    pub async fn copy_from_cloud(&mut self, names: Option<Vec<String>>, hcp: &Hcp) -> Result<Migrated, MigrationError> {
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

    async fn all_to_cloud(
        &mut self,
        names: Vec<String>,
        hcp: &Hcp,
        migrated: &mut Migrated,
    ) -> Result<(), MigrationError> {
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
            self.single_to(&name, &target, true, migrated).await.map_err(|e| self.not_all(new, &e.to_string()))?;
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
    async fn pattern(&self, app: &str) -> Result<String, MigrationError> {
        if let Some(Hcp { flavor: Flavor::Remote, mapping: Mapping::Prefix(prefix), .. }) = self.from.backend.hcp() {
            self.demand(from_remote(app)).await?;
            return Ok(format!("{prefix}*"));
        }
        let kind = &self.from.kind;
        let choice = self.ask("Would you like to rename your workspaces?", &renaming(kind, app)).await?;
        match choice.as_str() {
            "2" => return Ok("*".to_owned()),
            "1" => {}
            _ => return Err("Please select 1 or 2 as part of this option.".to_owned().into()),
        }
        let pattern = self.ask("How would you like to rename your workspaces?", PATTERN).await?;
        match pattern.matches('*').count() {
            0 => Err("The pattern must have an '*'".to_owned().into()),
            1 => Ok(pattern),
            _ => Err("The pattern '*' cannot be used more than once.".to_owned().into()),
        }
    }

    async fn ask(&self, title: &str, text: &str) -> Result<String, MigrationError> {
        let question = Question { title: title.to_owned(), text: text.to_owned(), ..Question::default() };
        let asked = match &self.setup.ask {
            None => Err(INPUT_DISABLED.to_owned()),
            Some(asker) => asker.ask(&question).await.map_err(|why| why.to_string()),
        };
        asked.map_err(|e| format!("Error asking for state migration action: {e}").into())
    }

    /// Asks for consent.
    async fn agrees(&self, question: Question) -> Result<bool, MigrationError> {
        if self.setup.ask.is_none() {
            return Err(MigrationError::NoInput);
        }
        if self.force {
            return Ok(true);
        }
        let asked = confirm(self.setup, &question).await;
        asked.map_err(|e| format!("Error asking for state migration action: {e}").into())
    }

    /// Asks for consent, without which nothing is done.
    async fn demand(&self, question: Question) -> Result<(), MigrationError> {
        if self.agrees(question).await? { Ok(()) } else { Err(MigrationError::Aborted) }
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
