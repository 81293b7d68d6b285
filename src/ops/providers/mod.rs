//! Installing providers: `install` selects versions and brings packages to their places, `store_provider` does so for the
//! provider of a state store, ahead of all others; `lock` completes the lock file, `mirror` fills a mirror.
//!
//! Starts no provider and reads no state.

pub mod install;
pub mod lock;
pub mod mirror;
pub mod store_provider;

use ::install::event::InstallEvent;
use model::addr;
use model::deps::Constraints;
use model::plan::PolicyReport;

/// Events while providers are installed.
pub enum ProviderEvent {
    /// The provider of a state store is about to be installed.
    StoreProvider {
        provider: addr::Provider,
        constraints: Constraints,
        store: String,
    },
    /// It is installed, or part of this program.
    StoreProviderInstalled,
    /// Whether it may keep the states.
    StoreProviderTrust(Trust),
    Install(InstallEvent),
    /// A package has another signer than HashiCorp; the text about such signers.
    Strangers(&'static str),
    /// The results of policies for a provider.
    Policy(PolicyReport),
    /// The lock file is new, or not what it was.
    LockCreated,
    LockChanged,
}

/// Why a provider may keep states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// A lock file of the command line selects it, or it is on this machine.
    Automatic,
    /// The user agreed.
    Approved,
    /// The user did not.
    Rejected,
}

/// Hears the events.
pub type TellProviders<'a> = &'a mut (dyn FnMut(ProviderEvent) + Send);
