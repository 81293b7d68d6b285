//! The encryption of the working directory: its keys are derived once per command.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::OnceCell;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::encryption::Encryption;
use crate::model::config;

/// What the root module says of encryption, with what its names mean.
#[derive(Clone, Debug)]
pub struct Declared {
    /// None: it has no `encryption` block.
    pub block: Option<Arc<config::Encryption>>,
    pub early: config::Early,
}

#[derive(Default)]
pub struct Sealing {
    declared: Mutex<Option<Declared>>,
    pub made: OnceCell<Result<Arc<Encryption>, Diagnostics>>,
    warnings: Mutex<Diagnostics>,
    notify: OnceLock<Notify>,
}

/// Shows a warning at once.
pub type Notify = Arc<dyn Fn(Diagnostic) + Send + Sync>;

impl Sealing {
    /// How warnings are shown that must not wait.
    pub fn notify_with(&self, notify: Notify) {
        let _ = self.notify.set(notify);
    }

    pub fn notifier(&self) -> Notify {
        self.notify.get().cloned().unwrap_or_else(|| Arc::new(|_| {}))
    }

    /// Remembers what a configuration that was loaded says, so that it need not be loaded for that.
    pub fn declare(&self, declared: Declared) {
        *self.declared.lock().unwrap_or_else(PoisonError::into_inner) = Some(declared);
    }

    pub fn declared(&self) -> Option<Declared> {
        self.declared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps warnings for a command that shows them.
    pub fn warn(&self, warnings: Diagnostics) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warnings);
    }

    /// What there is to warn of, once.
    pub fn take_warnings(&self) -> Diagnostics {
        std::mem::take(&mut self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
