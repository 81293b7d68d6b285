//! The encryption of the working directory: its keys are derived once per command.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base::diag::{Diagnostic, Diagnostics};
use encryption::Encryption;
use model::config;
use tokio::sync::OnceCell;

use crate::interface::ask::Ask;

/// What the root module says of encryption, with what its names mean.
#[derive(Clone, Debug)]
pub struct DeclaredEncryption {
    /// None: it has no `encryption` block.
    pub block: Option<Arc<config::Encryption>>,
    pub early: config::StaticContext,
}

#[derive(Default)]
pub struct CommandEncryption {
    declared: Mutex<Option<DeclaredEncryption>>,
    pub made: OnceCell<Result<Arc<Encryption>, Diagnostics>>,
    warnings: Mutex<Diagnostics>,
    notify: OnceLock<Notify>,
    asker: OnceLock<Arc<dyn Ask>>,
    answers: Mutex<BTreeMap<Arc<str>, String>>,
}

/// Shows a warning at once.
pub type Notify = Arc<dyn Fn(Diagnostic) + Send + Sync>;

impl CommandEncryption {
    /// How warnings are shown that must not wait.
    pub fn notify_with(&self, notify: Notify) {
        let _ = self.notify.set(notify);
    }

    pub fn notifier(&self) -> Notify {
        self.notify.get().cloned().unwrap_or_else(|| Arc::new(|_| {}))
    }

    /// Sets where missing values of the variables of keys are asked for. Without a call, nothing is asked.
    pub fn ask_with(&self, asker: Arc<dyn Ask>) {
        let _ = self.asker.set(asker);
    }

    pub fn asker(&self) -> Option<&dyn Ask> {
        self.asker.get().map(|asker| &**asker)
    }

    /// Keeps the text that was typed for a variable: the rest of the run uses it, too.
    pub fn keep_answer(&self, variable: &Arc<str>, text: String) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(variable.clone(), text);
    }

    /// The text that was typed for a variable.
    pub fn answer(&self, variable: &str) -> Option<String> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(variable).cloned()
    }

    /// Remembers what a configuration that was loaded says, so that it need not be loaded for that.
    pub fn declare(&self, declared: DeclaredEncryption) {
        *self.declared.lock().unwrap_or_else(PoisonError::into_inner) = Some(declared);
    }

    pub fn declared(&self) -> Option<DeclaredEncryption> {
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
