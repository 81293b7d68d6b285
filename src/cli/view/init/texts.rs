//! The texts of `init`: the same for people and for programs, but for their layout.

use base::dialect::Dialect;
use base::name::{COMMAND, PROGRAM};
use install::event::InstallEvent;
use model::addr::Provider;
use model::deps::{Constraints, Version};
use ops::init::{InitEvent, StatePlace};
use ops::providers::Trust;

use crate::opentofu;

pub const LOCK_FILE: &str = ".terraform.lock.hcl";

/// As programs read it, with its code; without one it is a message of the log. None: not for them.
pub fn message(event: &InitEvent, dialect: Dialect) -> Option<(String, Option<&'static str>)> {
    let (text, code): (String, _) = match event {
        InitEvent::Empty => (format!("{}\n\n{}", empty_title(), empty_text()), "output_init_empty_message"),
        InitEvent::Backend => ("Initializing the backend...".into(), "initializing_backend_message"),
        InitEvent::StoreProvider { provider, constraints, store } => {
            return Some((installing_store_provider(provider, constraints, store), None));
        }
        InitEvent::StoreProviderTrust(trust) => return Some((trust_text(*trust), None)),
        InitEvent::StateStore(kind) => {
            (format!("Initializing the state store {kind:?}..."), "initializing_state_store_message")
        }
        InitEvent::Cloud => {
            let service = opentofu::cloud_service(dialect);
            (format!("Initializing {service}..."), "initializing_terraform_cloud_message")
        }
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
        InitEvent::Module(event) => return event.text().map(|text| (text, None)),
        InitEvent::Copied(path) => return Some((format!("- {}", path.0.join(".")), None)),
        InitEvent::Install(event) => return install_message(event).map(|text| (text, None)),
        InitEvent::StoreProviderInstalled
        | InitEvent::StoreRecorded
        | InitEvent::CopyDone
        | InitEvent::Diagnostics(_)
        | InitEvent::NotSound(_)
        | InitEvent::Policy(_) => return None,
    };
    Some((text, Some(code)))
}

fn installing_store_provider(provider: &Provider, constraints: &Constraints, store: &str) -> String {
    let shown = provider.for_display();
    match constraints.is_empty() {
        true => format!("Installing provider {shown} for state store {store:?}..."),
        false => format!("Installing provider {shown} ({constraints}) for state store {store:?}..."),
    }
}

pub fn trust_text(trust: Trust) -> String {
    let how = match trust {
        Trust::Automatic => "approved automatically",
        Trust::Approved => "approved by the user",
        Trust::Rejected => "rejected by the user",
    };
    format!("The state store provider was {how}.")
}

/// As newer versions of the reference, which alone have state stores, write of a version of the lock file.
pub fn reused_version(event: &InstallEvent) -> Option<(&Provider, &Version)> {
    match event {
        InstallEvent::QueryStarted { provider, locked: Some(version), .. } => Some((provider, version)),
        _ => None,
    }
}

pub fn install_message(event: &InstallEvent) -> Option<String> {
    Some(match event {
        InstallEvent::BuiltIn { provider, version, locked } => {
            let version = version.as_ref().map(|version| format!(" v{version}")).unwrap_or_default();
            let in_place = locked.as_ref().map(|locked| format!(", in place of v{locked} of the lock file"));
            let provider = provider.for_display();
            format!("{provider}{version} is built in to {PROGRAM}{}", in_place.unwrap_or_default())
        }
        InstallEvent::Unmanaged { provider, overridden: true } => {
            format!("{} is overridden for development, not installed", provider.for_display())
        }
        InstallEvent::Unmanaged { provider, overridden: false } => {
            format!("{} is managed outside of {PROGRAM}, not installed", provider.for_display())
        }
        InstallEvent::QueryStarted { provider, locked: Some(_), .. } => {
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

pub fn ready(place: StatePlace) -> String {
    match place {
        StatePlace::Backend => format!("{PROGRAM} has been successfully initialized!"),
        StatePlace::Cloud => "HCP Terraform has been successfully initialized!".to_owned(),
    }
}

pub fn advice(place: StatePlace) -> String {
    match place {
        StatePlace::Backend => format!(
            "
You may now begin working with {PROGRAM}. Try running \"{COMMAND} plan\" to see
any changes that are required for your infrastructure. All {PROGRAM} commands
should now work.

If you ever set or change modules or backend configuration for {PROGRAM},
rerun this command to reinitialize your working directory. If you forget, other
commands will detect it and remind you to do so if necessary."
        ),
        StatePlace::Cloud => format!(
            "
You may now begin working with HCP Terraform. Try running \"{COMMAND} plan\" to
see any changes that are required for your infrastructure.

If you ever set or change modules or {PROGRAM} Settings, run \"{COMMAND} init\"
again to reinitialize your working directory."
        ),
    }
}

/// The codes of both texts in the stream for programs.
pub fn ready_codes(place: StatePlace) -> (&'static str, &'static str) {
    match place {
        StatePlace::Backend => ("output_init_success_message", "output_init_success_cli_message"),
        StatePlace::Cloud => ("output_init_success_cloud_message", "output_init_success_cli_cloud_message"),
    }
}

pub fn empty_title() -> String {
    format!("{PROGRAM} initialized in an empty directory!")
}

pub fn empty_text() -> String {
    format!(
        "The directory has no {PROGRAM} configuration files. You may begin working
with {PROGRAM} immediately by creating {PROGRAM} configuration files."
    )
}

pub fn lock_created(file: &str) -> String {
    format!(
        "{PROGRAM} has created a lock file {file} to record the provider
selections it made above. Include this file in your version control repository
so that {PROGRAM} can guarantee to make the same selections by default when
you run \"{COMMAND} init\" in the future."
    )
}

pub fn lock_changed() -> String {
    format!(
        "{PROGRAM} has made some changes to the provider dependency selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make."
    )
}

pub fn module_lock_created() -> String {
    format!(
        "{PROGRAM} has recorded the checksums of module packages in the file
.terraform.modules.lock.hcl. Include this file in your version control
repository, so that the same packages are used wherever \"{COMMAND} init\" is run."
    )
}

pub fn module_lock_changed() -> String {
    format!(
        "{PROGRAM} has made some changes to the checksums of module packages in the
file .terraform.modules.lock.hcl. Review those changes and commit them to
your version control system if they represent changes you intended to make."
    )
}
