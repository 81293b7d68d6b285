//! The provider of a state store is installed before all others: it has to be there when the states are read.

use std::path::{Path, PathBuf};

use base::diag::{Diagnostic, Diagnostics};
use base::files::{Disk, Files};
use base::name::{COMMAND, PROGRAM};
use base::source::SourceFile;
use install::event::InstallEvent;
use install::package::platform;
use model::addr;
use model::config::{Backend, StoreProvider};
use model::deps::{Constraints, Lock, Requirements};
use model::state::file::problems_text;

use super::install::{InstallRequest, install};
use super::{ProviderEvent, TellProviders, Trust};
use crate::interface::ask::Question;
use crate::plugins::packages;
use crate::plugins::state_stores::{self, Supply};
use crate::setup::Setup;
use crate::setup::network::Network;

/// The version constraints of a state store's provider; invalid ones are reported elsewhere.
pub fn constraints(store: &StoreProvider) -> Constraints {
    let texts = store.requirement.iter().flat_map(|requirement| &requirement.versions);
    Constraints(texts.filter_map(|(text, _)| Constraints::parse(text).ok()).flat_map(|one| one.0).collect())
}

/// What a provider of a state store is installed for.
#[derive(Clone, Copy)]
pub struct Purpose<'a> {
    /// The folders that the command line names as sources.
    pub plugin_dirs: &'a [PathBuf],
    /// The lock file that the command line names for it.
    pub lock_file: Option<&'a Path>,
    /// The place of a migration that it is for: "source" or "destination".
    pub place: Option<&'static str>,
}

/// Whether `init` upgrades providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upgrade {
    No,
    Yes,
    /// All but the provider of the state store, for which there is a warning.
    AllButStore,
}

/// Installs the provider of a state store, in the version that the lock file selects if it selects one. The lock file is not
/// written: other providers follow. Gives warnings.
pub async fn run(
    setup: &Setup,
    network: &Network,
    block: &Backend,
    store: &StoreProvider,
    (upgrade, purpose): (Upgrade, Purpose<'_>),
    tell: TellProviders<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let provider = store.source();
    let mut warnings = Diagnostics::new();
    if state_stores::supply(setup, &provider)? == Supply::BuiltIn {
        tell(ProviderEvent::StoreProviderInstalled);
        return Ok(warnings);
    }
    if upgrade == Upgrade::AllButStore {
        warnings.push(not_upgraded(&provider));
    }
    let upgrade = upgrade == Upgrade::Yes;
    let constraints = constraints(store);
    let lock = selections(setup, &provider, purpose)?;
    tell(ProviderEvent::StoreProvider {
        provider: provider.clone(),
        constraints: constraints.clone(),
        store: block.kind.to_string(),
    });
    let wanted = ProviderChoice { provider: &provider, constraints, lock, upgrade };
    warnings.extend(get(setup, network, wanted, purpose, tell).await?);
    Ok(warnings)
}

/// A provider to install.
pub struct ProviderChoice<'a> {
    pub provider: &'a addr::Provider,
    pub constraints: Constraints,
    /// The selections that apply, from [`selections`].
    pub lock: Lock,
    pub upgrade: bool,
}

/// Installs one provider and selects its version for the rest of the command.
pub async fn get(
    setup: &Setup,
    network: &Network,
    ProviderChoice { provider, constraints, lock, upgrade }: ProviderChoice<'_>,
    purpose: Purpose<'_>,
    tell: TellProviders<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let mut requirements = Requirements::default();
    requirements.add(provider.clone(), constraints);
    let (unmanaged, plugin_dirs) = (packages::unmanaged(setup)?, purpose.plugin_dirs);
    let wanted = InstallRequest {
        requirements: &requirements,
        lock: &lock,
        unmanaged,
        plugin_dirs,
        upgrade,
        keep: None,
        store: None,
        policies: None,
    };
    let (mut downloaded, mut authenticated) = (false, String::new());
    let mut hear = |event: ProviderEvent| {
        match &event {
            ProviderEvent::Install(InstallEvent::Downloaded { .. }) => downloaded = true,
            ProviderEvent::Install(InstallEvent::Fetched { authentication, .. }) => {
                authenticated = authentication.with_key();
            }
            _ => {}
        }
        tell(event);
    };
    let installed = install(setup, network, &wanted, &mut hear).await;
    if installed.diagnostics.has_errors() {
        return Err(installed.diagnostics);
    }
    tell(ProviderEvent::StoreProviderInstalled);
    if downloaded && lock.get(provider).is_none() {
        let problem = missing_lock(purpose, &lock);
        approve(setup, provider, (&installed.lock, &authenticated), problem, tell).await?;
    } else if purpose.lock_file.is_some() {
        tell(ProviderEvent::StoreProviderTrust(Trust::Automatic));
    }
    setup.stores.select(installed.lock, installed.only_here);
    Ok(installed.diagnostics)
}

/// The lock file of the working directory with what takes precedence over it: in `init`, the selection of a lock file of the command
/// line; in a migration, such a file takes its place, and what is installed already is added.
pub fn selections(setup: &Setup, provider: &addr::Provider, purpose: Purpose<'_>) -> Result<Lock, Diagnostics> {
    let of_directory = || match packages::lock_file(&setup.root) {
        (_, problems) if problems.has_errors() => Err(problems),
        (lock, _) => Ok(lock),
    };
    match (purpose.lock_file, purpose.place) {
        (None, None) => of_directory(),
        (Some(path), None) => Ok(of_directory()?.with(selection_of(path, provider)?)),
        (None, Some(_)) => Ok(setup.stores.selected().with(of_directory()?)),
        (Some(path), Some(place)) => {
            let text = Disk.read_to_string(path).map_err(|e| {
                let summary = format!("Unreadable {place} provider lock file");
                Diagnostics::from(Diagnostic::error(summary, format!("{:?}: {e}", path.display().to_string())))
            })?;
            match Lock::parse(SourceFile::new(&*path.display().to_string(), text)) {
                (_, problems) if problems.has_errors() => Err(problems),
                (lock, _) => Ok(setup.stores.selected().with(lock)),
            }
        }
    }
}

/// What a lock file of another place says of the provider.
fn selection_of(path: &Path, provider: &addr::Provider) -> Result<Lock, Diagnostics> {
    let shown = path.display().to_string();
    let failed = |why: String| {
        let detail = format!("{PROGRAM} experienced an error loading the file at {shown:?}: {why}");
        Diagnostics::from(Diagnostic::error("Error loading -state-provider-lock-file lock file", detail))
    };
    let text = Disk.read_to_string(path).map_err(|e| failed(e.to_string()))?;
    let (mut lock, problems) = Lock::parse(SourceFile::new(&*shown, text));
    if problems.has_errors() {
        return Err(failed(problems_text(&problems)));
    }
    lock.providers.retain(|locked, _| locked == provider);
    if !lock.is_empty() {
        return Ok(lock);
    }
    let detail = format!(
        "{PROGRAM} checked the lock file at {shown:?}, supplied via the -state-provider-lock-file flag, but could not find the state \
         store provider {:?} ({}). To get a sufficient lock file create a minimal configuration with the specific provider and version \
         you want to use described in a required_providers block. Then, perform \"{COMMAND} init\" manually to create a dependency \
         lock file describing that provider. After checking the lock file's contents you can retry the original command that produced \
         this error by running: \"{COMMAND} init -input=false -state-provider-lock-file=<path to the newly-created lock file>\".",
        &*provider.kind,
        provider.for_display()
    );
    let summary =
        "State store provider not described in dependency lock file supplied via -state-provider-lock-file flag";
    Err(Diagnostic::error(summary, detail).into())
}

/// Asks whether a provider may keep states that no lock file selected and that comes from elsewhere: it runs at once. Without input,
/// `missing_lock` is the error.
async fn approve(
    setup: &Setup,
    provider: &addr::Provider,
    (lock, authentication): (&Lock, &str),
    missing_lock: Diagnostic,
    tell: TellProviders<'_>,
) -> Result<(), Diagnostics> {
    let Some(locked) = lock.get(provider) else { return Ok(()) };
    let Some(ask) = &setup.ask else { return Err(missing_lock.into()) };
    let (kind, version, platform) = (&provider.kind, &locked.version, platform());
    let hashes: String = locked.hashes.iter().map(|hash| format!("- {}\n", hash.as_str())).collect();
    let question = Question {
        title: format!(
            "Do you want to use provider {:?} ({provider}), version {version}, for managing state?\nPlatform: {platform}\n\
             Authentication: {authentication}\nHashes:\n{hashes}\n",
            &**kind
        ),
        text: format!(
            "Check the details above for provider {:?} and confirm that you trust the provider.\n\tOnly 'yes' will be accepted to confirm.",
            &**kind
        ),
        ..Question::default()
    };
    let why = match ask.ask(&question).await {
        Ok(answer) if answer == "yes" => {
            tell(ProviderEvent::StoreProviderTrust(Trust::Approved));
            return Ok(());
        }
        Ok(_) => {
            format!("State store provider {:?} ({provider}) was not approved, so init cannot continue.", &**kind)
        }
        Err(why) => format!("Failed to approve use of state storage provider: {why}"),
    };
    tell(ProviderEvent::StoreProviderTrust(Trust::Rejected));
    Err(Diagnostic::error(why, "").into())
}

/// The error for a provider that nothing allows to keep states. `lock`: the selections that there were.
fn missing_lock(purpose: Purpose<'_>, lock: &Lock) -> Diagnostic {
    let problem = match purpose.lock_file {
        Some(path) => format!(
            "The lock file at {:?} (supplied via CLI flag) was empty or did not contain a lock for the state store provider.",
            path.display().to_string()
        ),
        None if lock.is_empty() => {
            format!("{PROGRAM} used the working directory's lock file by default, but it was empty or did not exist.")
        }
        None => format!(
            "{PROGRAM} used the working directory's lock file by default, but it did not contain a lock for the state store provider."
        ),
    };
    let (command, flags, providers, retry) = match purpose.place {
        None => (
            "init",
            "a lock file for the state store provider using the -state-provider-lock-file flag",
            "a minimal configuration",
            "-state-provider-lock-file=<path to lockfile>\".\n",
        ),
        Some(_) => (
            "state migrate",
            "a lock file for the source and/or destination state store providers using -source-provider-lock-file and/or \
             -destination-provider-lock-file flags",
            "a minimal configuration(s)",
            "-source-provider-lock-file=<path to lockfile> -destination-provider-lock-file=<path to lockfile>\".",
        ),
    };
    let detail = format!(
        "{PROGRAM} is initializing a state store for the first time in a non-interactive mode but no lock was found for the state store \
         provider.\n{problem}\n\nWhen performing a \"{COMMAND} {command}\" command in automation, make sure to supply {flags}.\n\nTo fix \
         this, create {providers} containing the specific provider version(s) you need and then perform \"{COMMAND} init\" with input \
         enabled. Check the contents of the lock file created by that command and then retry \"{COMMAND} {command} {retry}"
    );
    Diagnostic::error("Missing lock for state store provider", detail)
}

/// The lock file with the selections of this command that are not in it yet.
pub fn with_selections(setup: &Setup, lock: &Lock) -> Lock {
    lock.clone().with(setup.stores.selected())
}

fn not_upgraded(provider: &addr::Provider) -> Diagnostic {
    let (kind, shown) = (&provider.kind, provider.for_display());
    // The reference has these backslashes.
    Diagnostic::warning(
        format!("Cannot upgrade the provider used for state storage during \"{COMMAND} init -upgrade\""),
        format!(
            "{PROGRAM} will not upgrade the {kind} ({shown:?}) provider as part of this operation because it is used for state \
             storage.\n\nPlease use \\\"{COMMAND} state migrate -upgrade\\\" to upgrade the state store provider and navigate \
             migrating your state between the two versions."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_lock_says_which_file_was_read_and_which_option_to_use() {
        let lock = "provider \"registry.terraform.io/a/b\" {\n  version = \"1.0.0\"\n}\n";
        let (lock, _) = Lock::parse(SourceFile::new("l", lock));
        let used = "used the working directory's lock file by default, but it";
        let cases = [
            (None, None, Lock::default(), format!("{used} was empty or did not exist."), "-state-provider-lock-file="),
            (None, None, lock.clone(), format!("{used} did not contain a lock"), "-state-provider-lock-file="),
            (
                Some("d/l"),
                None,
                lock.clone(),
                "The lock file at \"d/l\" (supplied".to_owned(),
                "-state-provider-lock-file=",
            ),
            (None, Some("source"), lock, format!("{used} did not contain a lock"), "-source-provider-lock-file="),
        ];
        for (file, place, lock, expected, option) in cases {
            let purpose = Purpose { plugin_dirs: &[], lock_file: file.map(Path::new), place };
            let found = missing_lock(purpose, &lock).detail;
            assert!(found.contains(&expected) && found.contains(option), "{found}");
        }
    }
}
