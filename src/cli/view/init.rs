//! What `init` shows: lines for people, or a stream of JSON lines.

use std::sync::Arc;

use crate::base::diag::Diagnostics;
use crate::base::name::{COMMAND, PROGRAM};
use crate::cli::console::Console;
use crate::install::event::InstallEvent;
use crate::ops::init::InitEvent;
use crate::render::json::events;
use crate::render::text::style::Style;

use super::downloads::Downloads;
use super::json::{write, write_to_the_second};
use super::operation::Audience;

pub struct InitView {
    console: Arc<Console>,
    json: bool,
    /// Leave out advice on the next command.
    automation: bool,
    downloads: Downloads,
}

impl InitView {
    /// Begins the stream, if it is one.
    pub fn new(console: Arc<Console>, audience: Audience) -> InitView {
        let json = audience == Audience::Programs;
        let automation = audience == Audience::People { in_automation: true };
        if json {
            write(&console, &events::version());
        }
        InitView { downloads: Downloads::new(console.clone()), console, json, automation }
    }

    pub fn event(&self, event: &InitEvent) {
        if let InitEvent::Found(found) = event {
            match self.json {
                true => found.iter().for_each(|diagnostic| write(&self.console, &events::diagnostic(diagnostic))),
                false => self.console.diagnostics(found.clone()),
            }
            return;
        }
        if !self.json {
            if let InitEvent::Install(event) = event {
                self.downloads.hear(event);
            }
            if let Some(text) = human(event, &self.console.style) {
                self.console.line(&text);
            }
            return;
        }
        let Some((text, code)) = program(event) else { return };
        match code {
            Some(code) => self.output(&text, code),
            None => write(&self.console, &events::log(text)),
        }
    }

    /// What is left to say; `ready`: the working directory is ready, with states there.
    pub fn finish(&self, diagnostics: Diagnostics, ready: Option<States>) {
        self.console.status("");
        if self.json {
            diagnostics.iter().for_each(|diagnostic| write(&self.console, &events::diagnostic(diagnostic)));
            if let Some(states) = ready {
                let codes = states.codes();
                self.output(&states.success(), codes.0);
                if !self.automation {
                    self.output(states.advice().trim_start(), codes.1);
                }
            }
            return;
        }
        if ready.is_some() {
            self.console.line("");
        }
        self.console.diagnostics(diagnostics);
        if let Some(states) = ready {
            let style = &self.console.style;
            self.console.line(&style.fill("[reset][bold][green]{}[reset][green]", &[&states.success()]));
            if !self.automation {
                self.console.line(&style.fill("[reset][green]{}", &[&states.advice()]));
            }
        }
    }

    fn output(&self, text: &str, code: &str) {
        write_to_the_second(&self.console, &events::init_output(text, code));
    }
}

/// Where states are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    InBackend,
    InCloud,
}

impl States {
    fn success(self) -> String {
        match self {
            States::InBackend => format!("{PROGRAM} has been successfully initialized!"),
            States::InCloud => "HCP Terraform has been successfully initialized!".to_owned(),
        }
    }

    fn advice(self) -> String {
        match self {
            States::InBackend => format!(
                "
You may now begin working with {PROGRAM}. Try running \"{COMMAND} plan\" to see
any changes that are required for your infrastructure. All {PROGRAM} commands
should now work.

If you ever set or change modules or backend configuration for {PROGRAM},
rerun this command to reinitialize your working directory. If you forget, other
commands will detect it and remind you to do so if necessary."
            ),
            States::InCloud => format!(
                "
You may now begin working with HCP Terraform. Try running \"{COMMAND} plan\" to
see any changes that are required for your infrastructure.

If you ever set or change modules or {PROGRAM} Settings, run \"{COMMAND} init\"
again to reinitialize your working directory."
            ),
        }
    }

    /// The codes of both texts in the stream for programs.
    fn codes(self) -> (&'static str, &'static str) {
        match self {
            States::InBackend => ("output_init_success_message", "output_init_success_cli_message"),
            States::InCloud => ("output_init_success_cloud_message", "output_init_success_cli_cloud_message"),
        }
    }
}

/// As people read it. None: they are not told.
fn human(event: &InitEvent, style: &Style) -> Option<String> {
    Some(match event {
        InitEvent::Backend | InitEvent::Cloud | InitEvent::Modules { .. } | InitEvent::Providers => {
            style.fill("[reset][bold]{}", &[&words(event)])
        }
        InitEvent::Copying(source) => {
            style.fill("[reset][bold]Copying configuration[reset] from {}...", &[&format!("{source:?}")])
        }
        InitEvent::Empty => {
            let (title, text) = (empty_title(), empty_text());
            style.fill("[reset][bold]{}[reset]\n\n{}", &[&title, &text])
        }
        InitEvent::LockCreated => style.fill(&lock_created("[bold]{}[reset]"), &[&LOCK_FILE]),
        InitEvent::BackendSet(_) => style.fill("[reset][green]\n{}", &[&words(event)]),
        InitEvent::BackendUnset(_) => style.fill("[reset][green]\n\n{}", &[&words(event)]),
        InitEvent::BackendReplaced { .. } => style.fill("[reset]{}\n", &[&words(event)]),
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
        InitEvent::Copied(path) => format!("- {}", path.0.join(".")),
        _ => words(event),
    })
}

fn install(event: &InstallEvent, style: &Style) -> Option<String> {
    Some(match event {
        InstallEvent::BuiltIn { .. } | InstallEvent::Unmanaged { .. } => format!("- {}", install_for_programs(event)?),
        InstallEvent::QueryStarted { provider, locked: true, .. } => {
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

fn words(event: &InitEvent) -> String {
    program(event).map(|(text, _)| text).unwrap_or_default()
}

/// As programs read it, with its code; without one it is a message of the log. None: not for them.
fn program(event: &InitEvent) -> Option<(String, Option<&'static str>)> {
    let (text, code): (String, _) = match event {
        InitEvent::Empty => (format!("{}\n\n{}", empty_title(), empty_text()), "output_init_empty_message"),
        InitEvent::Backend => ("Initializing the backend...".into(), "initializing_backend_message"),
        InitEvent::Cloud => ("Initializing HCP Terraform...".into(), "initializing_terraform_cloud_message"),
        InitEvent::CloudChanged => return Some(("HCP Terraform configuration has changed.".into(), None)),
        InitEvent::ToCloud(old) => return Some((format!("Migrating from backend {old:?} to HCP Terraform."), None)),
        InitEvent::FromCloud(Some(new)) => {
            return Some((format!("Migrating from HCP Terraform to backend {new:?}."), None));
        }
        InitEvent::FromCloud(None) => {
            return Some(("Migrating from HCP Terraform or Terraform Enterprise to local state.".into(), None));
        }
        InitEvent::WorkspacesCopied(list) => {
            return Some((format!("Migration complete! Your workspaces are as follows:\n{list}"), None));
        }
        InitEvent::BackendReplaced { old, new } => {
            return Some((format!("{PROGRAM} detected that the backend type changed from {old:?} to {new:?}."), None));
        }
        InitEvent::BackendReconfigured => return Some(("Backend configuration changed!".into(), None)),
        InitEvent::BackendUnsetting(kind) => {
            let text = format!("{PROGRAM} has detected you're unconfiguring your previously set {kind:?} backend.");
            return Some((text, None));
        }
        InitEvent::BackendSet(kind) => (
            format!(
                "Successfully configured the backend {kind:?}! {PROGRAM} will automatically\nuse this backend unless the backend \
                 configuration changes."
            ),
            "backend_configured_success",
        ),
        InitEvent::BackendUnset(kind) => (
            format!("Successfully unset the backend {kind:?}. {PROGRAM} will now operate locally."),
            "backend_configured_unset",
        ),
        InitEvent::Modules { upgrade: false } => ("Initializing modules...".into(), "initializing_modules_message"),
        InitEvent::Modules { upgrade: true } => ("Upgrading modules...".into(), "upgrading_modules_message"),
        InitEvent::Copying(source) => {
            (format!("Copying configuration from {source:?}..."), "copying_configuration_message")
        }
        InitEvent::Providers => ("Initializing provider plugins...".into(), "initializing_provider_plugin_message"),
        InitEvent::LockCreated => (lock_created(LOCK_FILE), "lock_info"),
        InitEvent::LockChanged => (lock_changed(), "dependencies_lock_changes_info"),
        InitEvent::ModuleLockCreated => (module_lock_created(), "module_lock_info"),
        InitEvent::ModuleLockChanged => (module_lock_changed(), "module_lock_changes_info"),
        InitEvent::Strangers(text) => return Some(((*text).into(), None)),
        InitEvent::Module(event) => return Some((event.to_string(), None)),
        InitEvent::Copied(path) => return Some((format!("- {}", path.0.join(".")), None)),
        InitEvent::Install(event) => return install_for_programs(event).map(|text| (text, None)),
        InitEvent::CopyDone | InitEvent::Found(_) | InitEvent::Done { .. } => return None,
    };
    Some((text, Some(code)))
}

fn install_for_programs(event: &InstallEvent) -> Option<String> {
    Some(match event {
        InstallEvent::BuiltIn { provider, version: None } => {
            format!("{} is built in to {PROGRAM}", provider.for_display())
        }
        InstallEvent::BuiltIn { provider, version: Some(version) } => {
            format!("{} v{version} is built in to {PROGRAM}", provider.for_display())
        }
        InstallEvent::Unmanaged { provider, overridden: true } => {
            format!("{} is overridden for development, not installed", provider.for_display())
        }
        InstallEvent::Unmanaged { provider, overridden: false } => {
            format!("{} is managed outside of {PROGRAM}, not installed", provider.for_display())
        }
        InstallEvent::QueryStarted { provider, locked: true, .. } => {
            format!("{}: Reusing previous version from the dependency lock file", provider.for_display())
        }
        InstallEvent::QueryStarted { provider, constraints, .. } if constraints.is_empty() => {
            format!("{}: Finding latest version...", provider.for_display())
        }
        InstallEvent::QueryStarted { provider, constraints, .. } => {
            format!(
                "Finding matching versions for provider: {}, version_constraint: \"{constraints}\"",
                provider.for_display()
            )
        }
        InstallEvent::AlreadyInstalled { provider, version } => {
            format!("{} v{version}: Using previously-installed provider version", provider.for_display())
        }
        InstallEvent::LinkedFromCache { provider, version } => {
            format!("{} v{version}: Using from the shared cache directory", provider.for_display())
        }
        InstallEvent::FetchStarted { provider, version } => {
            format!("Installing provider version: {} v{version}...", provider.for_display())
        }
        InstallEvent::Fetched { provider, version, authentication } => {
            let key = authentication.stranger().map(|key| format!("key_id: {key}")).unwrap_or_default();
            format!("Installed provider version: {} v{version} ({authentication}{key})", provider.for_display())
        }
        InstallEvent::CacheContended { provider, version } => {
            format!("Waiting for another process: {} v{version} of the shared cache directory", provider.for_display())
        }
        _ => return None,
    })
}

fn empty_title() -> String {
    format!("{PROGRAM} initialized in an empty directory!")
}

fn empty_text() -> String {
    format!(
        "The directory has no {PROGRAM} configuration files. You may begin working
with {PROGRAM} immediately by creating {PROGRAM} configuration files."
    )
}

const LOCK_FILE: &str = ".terraform.lock.hcl";

fn lock_created(file: &str) -> String {
    format!(
        "{PROGRAM} has created a lock file {file} to record the provider
selections it made above. Include this file in your version control repository
so that {PROGRAM} can guarantee to make the same selections by default when
you run \"{COMMAND} init\" in the future."
    )
}

fn lock_changed() -> String {
    format!(
        "{PROGRAM} has made some changes to the provider dependency selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make."
    )
}

fn module_lock_created() -> String {
    format!(
        "{PROGRAM} has recorded the checksums of module packages in the file
.terraform.modules.lock.hcl. Include this file in your version control
repository, so that the same packages are used wherever \"{COMMAND} init\" is run."
    )
}

fn module_lock_changed() -> String {
    format!(
        "{PROGRAM} has made some changes to the checksums of module packages in the
file .terraform.modules.lock.hcl. Review those changes and commit them to
your version control system if they represent changes you intended to make."
    )
}
