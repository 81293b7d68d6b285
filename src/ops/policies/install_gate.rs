//! The policies of `init`: they decide on providers whose versions are selected and on modules whose sources are resolved, before these
//! are installed.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base::diag::{Diagnostic, Diagnostics};
use engine::policy::{before_install, called_module, denied, findings, selected_provider};
use install::modules::{ModuleGuard, ResolvedModule};
use install::providers::resolve::InstallPlan;
use model::addr::{LocalProviderConfig, Provider};
use model::config::Module;
use model::config::policy_file::PolicySet;
use model::deps::Version;
use model::plan::PolicyReport;

use super::load;
use crate::setup::Setup;
use crate::setup::host::Machine;

/// The summary of what follows from violations.
const BLOCKED: &str = "Policy evaluation failed";

/// Policies with the results that they have so far.
pub struct InstallGate {
    policies: PolicySet,
    host: Machine,
    reports: Mutex<Vec<PolicyReport>>,
}

impl InstallGate {
    /// Reads the files at the paths; none without paths. What is wrong with them is reported.
    pub fn read(setup: &Setup, paths: &[PathBuf]) -> (Option<InstallGate>, Diagnostics) {
        let (policies, diagnostics) = load::of_run(setup, paths);
        let gate = (!policies.is_empty()).then(|| InstallGate {
            policies,
            host: Machine::new(setup),
            reports: Mutex::default(),
        });
        (gate, diagnostics)
    }

    /// Evaluates the policies of the selected providers and of those within this program, and takes the denied ones out of the plan.
    /// `root`: the module that configures them.
    pub fn check_providers<'p>(
        &self,
        plan: &mut InstallPlan,
        built_in: impl IntoIterator<Item = (&'p Provider, &'p Version)>,
        root: &Module,
    ) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        let mut is_blocked = false;
        for (provider, version) in built_in {
            is_blocked |= self.denies_provider(provider, version, root, &mut diagnostics);
        }
        plan.selections.retain(|provider, selection| {
            let denies = self.denies_provider(provider, &selection.version, root, &mut diagnostics);
            is_blocked |= denies;
            !denies
        });
        if is_blocked {
            let detail =
                "Provider download blocked due to policy violations. Please review other diagnostics for details.";
            diagnostics.error(BLOCKED, detail);
        }
        diagnostics
    }

    fn denies_provider(
        &self,
        provider: &Provider,
        version: &Version,
        root: &Module,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let name = root.local_name_of(provider);
        let block = root.providers.get(&LocalProviderConfig { local_name: name.clone(), alias: None });
        let target = selected_provider(provider, &name, version, block.map(|block| block.range.clone()));
        let Some(report) = before_install(&self.policies, &self.host, &target) else { return false };
        let denies = denied(&report);
        diagnostics.extend(findings(&report));
        self.reports().push(report);
        denies
    }

    /// The results since the last call, in the order of the addresses.
    pub fn take_reports(&self) -> Vec<PolicyReport> {
        let mut reports = std::mem::take(&mut *self.reports());
        reports.sort_by(|a, b| a.target.cmp(&b.target));
        reports
    }

    fn reports(&self) -> MutexGuard<'_, Vec<PolicyReport>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModuleGuard for InstallGate {
    fn check(&self, module: &ResolvedModule<'_>) -> Diagnostics {
        let ResolvedModule { path, call, version } = module;
        let target = called_module(path, &call.source, *version, call.range.clone());
        let Some(report) = before_install(&self.policies, &self.host, &target) else { return Diagnostics::new() };
        let mut diagnostics = findings(&report);
        if denied(&report) {
            let detail =
                "Module download blocked due to policy violations. Please review other diagnostics for details.";
            diagnostics.push(Diagnostic::error(BLOCKED, detail));
        }
        self.reports().push(report);
        diagnostics
    }
}
