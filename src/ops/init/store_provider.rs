//! The provider of a state store is installed before all others: it has to be there when the states are read.

use std::path::Path;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::files::{Disk, Files};
use crate::base::name::{COMMAND, PROGRAM};
use crate::base::source::SourceFile;
use crate::install::event::InstallEvent;
use crate::install::package::platform;
use crate::model::addr;
use crate::model::config::{Backend, StoreProvider};
use crate::model::deps::{Constraints, Lock, Requirements};
use crate::ops::interface::ask::Question;
use crate::ops::plugins::packages;
use crate::ops::plugins::state_stores::{self, Supply};
use crate::ops::setup::Setup;
use crate::ops::setup::network::Network;

use super::install::{Wanted, install};
use super::migration::answer;
use super::{InitEvent, InitRequest, Tell};

/// The version constraints of a state store's provider; invalid ones are reported elsewhere.
pub fn constraints(store: &StoreProvider) -> Constraints {
    let texts = store.requirement.iter().flat_map(|requirement| &requirement.versions);
    Constraints(texts.filter_map(|(text, _)| Constraints::parse(text).ok()).flat_map(|one| one.0).collect())
}

/// Installs the provider of a state store, in the version that the lock file selects if it selects one. The lock file is not
/// written: other providers follow. Gives warnings.
pub async fn run(
    setup: &Setup,
    network: &Network,
    block: &Backend,
    store: &StoreProvider,
    request: &InitRequest,
    tell: Tell<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let provider = store.source();
    let mut warnings = Diagnostics::new();
    if state_stores::supply(setup, &provider)? == Supply::BuiltIn {
        return Ok(warnings);
    }
    let upgrade = request.upgrade && request.reconfigure;
    if request.upgrade && !upgrade {
        warnings.push(not_upgraded(&provider));
    }
    let constraints = constraints(store);
    tell(InitEvent::StoreProvider {
        provider: provider.clone(),
        constraints: constraints.clone(),
        store: block.kind.to_string(),
    });
    warnings.extend(get(setup, network, (&provider, constraints), upgrade, request, tell).await?);
    Ok(warnings)
}

/// Installs one provider and selects its version for the rest of the command.
pub async fn get(
    setup: &Setup,
    network: &Network,
    (provider, constraints): (&addr::Provider, Constraints),
    upgrade: bool,
    request: &InitRequest,
    tell: Tell<'_>,
) -> Result<Diagnostics, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let lock = diagnostics.take(packages::lock_file());
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let lock = match &request.state_provider_lock_file {
        Some(path) => lock.with(selection_of(path, provider)?),
        None => lock,
    };
    let is_selected = lock.get(provider).is_some();
    let mut requirements = Requirements::default();
    requirements.add(provider.clone(), constraints);
    let unmanaged = packages::unmanaged(setup)?;
    let wanted = Wanted { requirements: &requirements, lock: &lock, unmanaged, request, upgrade, keep: None };
    let (mut downloaded, mut authenticated) = (false, String::new());
    let mut hear = |event: InitEvent| {
        match &event {
            InitEvent::Install(InstallEvent::Downloaded { .. }) => downloaded = true,
            InitEvent::Install(InstallEvent::Fetched { authentication, .. }) => {
                authenticated = authentication.to_string()
            }
            _ => {}
        }
        tell(event);
    };
    let installed = install(setup, network, &wanted, &mut hear).await;
    diagnostics.extend(installed.diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    if downloaded && !is_selected {
        approve(setup, provider, &installed.lock, &authenticated).await?;
    }
    setup.stores.select(installed.lock);
    Ok(diagnostics)
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
        return Err(problems);
    }
    lock.providers.retain(|locked, _| locked == provider);
    if !lock.is_empty() {
        return Ok(lock);
    }
    let detail = format!(
        "The lock file at {shown:?} does not have the provider {:?} ({}). \"{COMMAND} init\" in a configuration that requires nothing \
         but this provider writes a lock file that has it.",
        &*provider.kind,
        provider.for_display()
    );
    let summary =
        "State store provider not described in dependency lock file supplied via -state-provider-lock-file flag";
    Err(Diagnostic::error(summary, detail).into())
}

/// Asks whether a provider may keep states that no lock file selected and that comes from elsewhere: it runs at once.
async fn approve(
    setup: &Setup,
    provider: &addr::Provider,
    lock: &Lock,
    authentication: &str,
) -> Result<(), Diagnostics> {
    let Some(locked) = lock.get(provider) else { return Ok(()) };
    let Some(ask) = &setup.ask else { return Err(missing_lock().into()) };
    let (kind, version, platform) = (&provider.kind, &locked.version, platform());
    let hashes: String = locked.hashes.iter().map(|hash| format!("- {}\n", hash.as_str())).collect();
    let question = Question {
        title: format!(
            "Do you want to use provider {:?} ({provider}), version {version}, for managing state?\nPlatform: {platform}\n\
             Authentication: {authentication}\nHashes:\n{hashes}",
            &**kind
        ),
        text: format!(
            "Check the details above for provider {:?} and confirm that you trust the provider.\nOnly 'yes' will be accepted to confirm.",
            &**kind
        ),
        ..Question::default()
    };
    let refused = |why: String| Diagnostics::from(Diagnostic::error(why, ""));
    match answer(&**ask, &question).await {
        Ok(answer) if answer == "yes" => Ok(()),
        Ok(_) => Err(refused(format!(
            "State store provider {:?} ({provider}) was not approved, so init cannot continue.",
            &**kind
        ))),
        Err(why) => Err(refused(format!("Failed to approve use of state storage provider: {why}"))),
    }
}

fn missing_lock() -> Diagnostic {
    Diagnostic::error(
        "Missing lock for state store provider",
        format!(
            "{PROGRAM} is initializing a state store for the first time in a non-interactive mode but no lock was found for the state \
             store provider. Run \"{COMMAND} init\" with input enabled, check the lock file that it writes, and keep that in version \
             control; or name a checked lock file with the option -state-provider-lock-file."
        ),
    )
}

/// The lock file with the selections of this command that are not in it yet.
pub fn with_selections(setup: &Setup, lock: &Lock) -> Lock {
    lock.clone().with(setup.stores.selected())
}

fn not_upgraded(provider: &addr::Provider) -> Diagnostic {
    let (kind, shown) = (&provider.kind, provider.for_display());
    Diagnostic::warning(
        format!("Cannot upgrade the provider used for state storage during \"{COMMAND} init -upgrade\""),
        format!(
            "The provider {kind} ({shown:?}) is not upgraded by this operation because it is used for state storage.\n\nTo upgrade it, \
             change its version constraint and run \"{COMMAND} init -upgrade -reconfigure\", which does not migrate states."
        ),
    )
}
