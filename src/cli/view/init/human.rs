//! `init` as people follow it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base::name::PROGRAM;
use install::event::InstallEvent;
use model::addr::Provider;
use model::deps::Version;
use model::version::at_least;
use ops::init::{InitEvent, InitOutcome};
use ops::providers::Trust;
use render::text::policies;
use render::text::style::Style;

use super::contract::InitView;
use super::texts::{
    LOCK_FILE, advice, empty_text, empty_title, install_message, lock_created, message, ready, reused_version,
    trust_text,
};
use crate::console::Console;
use crate::opentofu;

pub struct InitHuman {
    console: Arc<Console>,
    /// Leave out advice on the next command.
    in_automation: bool,
    /// There is a state store: versions are named, and parts set apart, as by those versions of the reference that have them.
    has_store: AtomicBool,
    /// The last part is the one about the backend.
    in_backend: AtomicBool,
}

/// The lines about the installation of packages, for other commands than `init`.
pub struct InstallLines {
    console: Arc<Console>,
}

impl InstallLines {
    pub fn new(console: Arc<Console>) -> InstallLines {
        InstallLines { console }
    }

    pub fn event(&self, event: &InstallEvent) {
        self.console.progress.install(event);
        if let Some((provider, version)) = reused_version(event) {
            self.console.line(&reused_line(provider, version));
        } else if let Some(text) = install(event, &self.console.style) {
            self.console.line(&text);
        }
    }
}

fn reused_line(provider: &Provider, version: &Version) -> String {
    format!("- Reusing version {version} of {} from the dependency lock file", provider.for_display())
}

impl InitHuman {
    pub fn new(console: Arc<Console>, in_automation: bool) -> InitHuman {
        InitHuman { console, in_automation, has_store: AtomicBool::new(false), in_backend: AtomicBool::new(false) }
    }
}

impl InitHuman {
    /// Whether empty lines stand between the parts: with a state store always, otherwise since Terraform 1.15.
    fn is_spaced(&self) -> bool {
        self.has_store.load(Ordering::Relaxed) || at_least(15)
    }

    /// What the status area shows of an event.
    fn follow(&self, event: &InitEvent) {
        let progress = &self.console.progress;
        match event {
            InitEvent::Backend | InitEvent::StateStore(_) | InitEvent::Cloud => {
                progress.begin_part(Some("Initializing the backend"));
            }
            InitEvent::Modules { .. } => progress.begin_part(Some("Installing modules")),
            InitEvent::Providers | InitEvent::StoreProvider { .. } => {
                progress.begin_part(Some("Installing providers"));
            }
            InitEvent::Install(event) => progress.install(event),
            InitEvent::Module(event) => progress.module(event),
            _ => {}
        }
    }

    /// The version of the lock file that is named.
    fn reused<'a>(&self, event: &'a InitEvent) -> Option<(&'a Provider, &'a Version)> {
        let InitEvent::Install(event) = event else { return None };
        reused_version(event).filter(|_| self.has_store.load(Ordering::Relaxed) || at_least(17))
    }
}

impl InitView for InitHuman {
    fn event(&self, event: &InitEvent) {
        if let InitEvent::Diagnostics(diagnostics) = event {
            self.console.diagnostics(diagnostics.clone());
            return;
        }
        if let InitEvent::Policy(report) = event {
            return policies::infos(report, &self.console.style).iter().for_each(|text| self.console.print(text));
        }
        if let InitEvent::NotSound(text) = event {
            if self.is_spaced() && self.in_backend.swap(false, Ordering::Relaxed) {
                self.console.line("");
            }
            return self.console.error_line(&format!("\n{text}"));
        }
        self.follow(event);
        if is_of_store(event) {
            self.has_store.store(true, Ordering::Relaxed);
        }
        let ends_backend = matches!(event, InitEvent::Modules { .. } | InitEvent::Providers);
        if self.is_spaced() && (ends_backend || matches!(event, InitEvent::LockCreated | InitEvent::LockChanged)) {
            self.console.line("");
        }
        self.in_backend.fetch_and(!ends_backend, Ordering::Relaxed);
        self.in_backend.fetch_or(
            matches!(event, InitEvent::Backend | InitEvent::StateStore(_) | InitEvent::Cloud),
            Ordering::Relaxed,
        );
        if let Some((provider, version)) = self.reused(event) {
            self.console.line(&reused_line(provider, version));
            return;
        }
        if matches!(event, InitEvent::StoreRecorded) {
            self.in_backend.store(true, Ordering::Relaxed);
            return;
        }
        if let Some(text) = human(event, &self.console.style) {
            let apart = opentofu::separates_parts_of_init(self.console.dialect()) && begins_part(event);
            self.console.line(&if apart { format!("\n{text}") } else { text });
        }
    }

    fn finish(&self, outcome: InitOutcome) {
        let (place, warnings) = match outcome {
            InitOutcome::NotReady(diagnostics) => {
                if self.is_spaced() && self.in_backend.load(Ordering::Relaxed) {
                    self.console.line("");
                }
                return self.console.diagnostics(diagnostics);
            }
            InitOutcome::Ready { place, warnings } => (place, warnings),
        };
        self.console.line("");
        let is_apart = opentofu::separates_parts_of_init(self.console.dialect()) || self.console.shows_tips();
        let apart = is_apart && warnings.iter().next().is_some();
        self.console.diagnostics(warnings);
        if apart {
            self.console.line("");
        }
        let style = &self.console.style;
        self.console.line(&style.fill("[reset][bold][green]{}[reset][green]", &[&ready(place)]));
        if !self.in_automation {
            self.console.line(&style.fill("[reset][green]{}", &[&advice(place)]));
        }
    }
}

/// Whether only newer versions of the reference have this, for a state store is in the configuration or was in use.
pub fn is_of_store(event: &InitEvent) -> bool {
    use InitEvent::*;
    matches!(event, StoreProvider { .. } | StoreProviderInstalled | StateStore(_) | StoreRecorded)
}

/// Whether OpenTofu leaves a line empty before this.
fn begins_part(event: &InitEvent) -> bool {
    use InitEvent::*;
    matches!(event, Backend | Cloud | Providers | LockCreated | LockChanged)
}

/// As people read it. None: they are not told.
fn human(event: &InitEvent, style: &Style) -> Option<String> {
    Some(match event {
        InitEvent::Backend | InitEvent::Cloud | InitEvent::Modules { .. } | InitEvent::Providers => {
            style.fill("[reset][bold]{}", &[&plain_text(event, style)])
        }
        InitEvent::StoreProvider { .. } => style.fill("[reset][bold]{}[reset]", &[&plain_text(event, style)]),
        InitEvent::StoreProviderInstalled => String::new(),
        InitEvent::StoreProviderTrust(trust) => trust_line(*trust, style),
        InitEvent::StateStore(_) => style.fill("[reset][bold]{}[reset]", &[&plain_text(event, style)]),
        InitEvent::Copying(source) => {
            style.fill("[reset][bold]Copying configuration[reset] from {}...", &[&format!("{source:?}")])
        }
        InitEvent::Empty => {
            let (title, text) = (empty_title(), empty_text());
            style.fill("[reset][bold]{}[reset]\n\n{}", &[&title, &text])
        }
        InitEvent::LockCreated => lock_created_line(style),
        InitEvent::BackendSet(_) => style.fill("[reset][green]\n{}", &[&plain_text(event, style)]),
        InitEvent::BackendUnset(_) => style.fill("[reset][green]\n\n{}", &[&plain_text(event, style)]),
        InitEvent::BackendReplaced { .. } => style.fill("[reset]{}\n", &[&plain_text(event, style)]),
        InitEvent::BackendReconfigured => style.fill(
            "[reset][reset][bold]Backend configuration changed![reset]\n\n{}\n",
            &[&format!(
                "{PROGRAM} has detected that the configuration specified for the backend\nhas changed. {PROGRAM} will now check for \
                 existing state in the backends."
            )],
        ),
        InitEvent::WorkspacesCopied(list) => style.fill(
            "[reset][bold]Migration complete! Your workspaces are as follows:[reset]\n{}",
            &[list],
        ),
        InitEvent::Install(event) => return install(event, style),
        InitEvent::Module(event) => return event.text(),
        InitEvent::Copied(path) => format!("- {}", path.0.join(".")),
        _ => plain_text(event, style),
    })
}

pub fn lock_created_line(style: &Style) -> String {
    style.fill(&lock_created("[bold]{}[reset]"), &[&LOCK_FILE])
}

/// The line about the trust in the provider of a state store, with an empty line after it.
pub fn trust_line(trust: Trust, style: &Style) -> String {
    style.fill("[reset][bold]{}[reset]\n", &[&trust_text(trust)])
}

/// The line about a step of the installation of a package; none for some steps.
pub fn install(event: &InstallEvent, style: &Style) -> Option<String> {
    Some(match event {
        InstallEvent::BuiltIn { .. } | InstallEvent::Unmanaged { .. } => format!("- {}", install_message(event)?),
        InstallEvent::QueryStarted { provider, locked: Some(_), .. } => {
            format!("- Reusing previous version of {} from the dependency lock file", provider.for_display())
        }
        InstallEvent::QueryStarted { provider, constraints, .. } if constraints.is_empty() => {
            format!("- Finding latest version of {}...", provider.for_display())
        }
        InstallEvent::QueryStarted { provider, constraints, .. } => {
            format!("- Finding {} versions matching \"{constraints}\"...", provider.for_display())
        }
        InstallEvent::AlreadyInstalled { provider, version } => {
            format!("- Using previously-installed {} v{version}", provider.for_display())
        }
        InstallEvent::LinkedFromCache { provider, version } => {
            format!("- Using {} v{version} from the shared cache directory", provider.for_display())
        }
        InstallEvent::FetchStarted { provider, version } => {
            format!("- Installing {} v{version}...", provider.for_display())
        }
        InstallEvent::Fetched { provider, version, authentication } => {
            let key = authentication
                .stranger()
                .map(|key| style.fill(", key ID [reset][bold]{}[reset]", &[&key]))
                .unwrap_or_default();
            format!("- Installed {} v{version} ({authentication}{key})", provider.for_display())
        }
        InstallEvent::CacheContended { provider, version } => format!(
            "- Waiting for another process that installs {} v{version} to the shared cache directory...",
            provider.for_display()
        ),
        _ => return None,
    })
}

fn plain_text(event: &InitEvent, style: &Style) -> String {
    message(event, style.dialect).map(|(text, _)| text).unwrap_or_default()
}
