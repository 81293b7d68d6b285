//! Rules of the caller about modules, asked before a module is installed.
//!
//! Never knows what the rules are.

use base::diag::Diagnostics;
use model::addr;
use model::config::ModuleCall;
use model::deps::Version;

/// A call whose source and version are decided.
pub struct ResolvedModule<'a> {
    pub path: &'a addr::Module,
    pub call: &'a ModuleCall,
    /// None: it does not come from a registry.
    pub version: Option<&'a Version>,
}

/// Decides whether modules may be installed.
pub trait ModuleGuard: Send + Sync {
    /// What is wrong with a module. With errors, it is not installed; one that is installed already stays, and what it calls is not
    /// looked at.
    fn check(&self, module: &ResolvedModule<'_>) -> Diagnostics;
}
