//! What `import` shows.

use std::sync::Arc;

use base::diag::Diagnostics;
use base::name::PROGRAM;
use model::addr::AbsResourceInstance;
use ops::interface::listen::Listener;
use ops::run::import::ImportRefusal;
use render::json::events;

use super::both::Both;
use super::json;
use super::operation::{Audience, OperationHuman, OperationJson};
use crate::console::Console;

/// The view of `import`; what it shows at the end decides the exit code.
pub trait ImportView {
    fn listener(&self) -> Arc<dyn Listener>;

    /// The object is in the state; there may be more to say.
    fn success(&self, diagnostics: Diagnostics) -> u8;

    fn refused(&self, refusal: ImportRefusal) -> u8;
}

pub fn view(console: &Arc<Console>, audience: Audience) -> Box<dyn ImportView> {
    let view: Box<dyn ImportView> = match audience {
        Audience::Programs => Box::new(ImportJson::new(console)),
        Audience::People { in_automation } => Box::new(ImportHuman { console: console.clone(), in_automation }),
    };
    match &console.copy {
        Some(copy) => Box::new(Both(view, Box::new(ImportJson::new(copy)))),
        None => view,
    }
}

struct ImportHuman {
    console: Arc<Console>,
    in_automation: bool,
}

impl ImportHuman {
    fn end(&self, diagnostics: Diagnostics) -> u8 {
        let failed = diagnostics.has_errors();
        self.console.spaced_diagnostics(diagnostics);
        u8::from(failed)
    }
}

impl ImportView for ImportHuman {
    fn listener(&self) -> Arc<dyn Listener> {
        Arc::new(OperationHuman::new(self.console.clone(), self.in_automation))
    }

    fn success(&self, diagnostics: Diagnostics) -> u8 {
        self.console.line(&self.console.style.fill(SUCCESS, &[&PROGRAM, &PROGRAM]));
        self.end(diagnostics)
    }

    fn refused(&self, refusal: ImportRefusal) -> u8 {
        match refusal {
            ImportRefusal::Diagnostics(diagnostics) => self.end(diagnostics),
            ImportRefusal::Address(diagnostics) => {
                self.end(diagnostics);
                self.console.line(ADDRESSES);
                1
            }
            ImportRefusal::Undeclared { addr, question, diagnostics } => {
                self.end(diagnostics);
                self.console.error_line(&undeclared(&self.console, &addr));
                if !question.is_empty() && self.console.shows_tips() {
                    self.console.error_line(&format!("{question}\n"));
                }
                1
            }
        }
    }
}

/// A stream of JSON lines.
struct ImportJson {
    console: Arc<Console>,
    stream: Arc<OperationJson>,
}

impl ImportJson {
    /// Begins the stream.
    fn new(console: &Arc<Console>) -> ImportJson {
        let stream = Arc::new(OperationJson::new(console.clone()));
        stream.begin(false);
        ImportJson { console: console.clone(), stream }
    }
}

impl ImportView for ImportJson {
    fn listener(&self) -> Arc<dyn Listener> {
        self.stream.clone()
    }

    fn success(&self, diagnostics: Diagnostics) -> u8 {
        let text = format!(
            "Import successful! The resources that were imported are shown above. These resources are now in your {PROGRAM} state and \
             will henceforth be managed by {PROGRAM}"
        );
        json::write(&self.console, &events::note(text));
        let failed = diagnostics.has_errors();
        self.stream.diagnostics(diagnostics);
        u8::from(failed)
    }

    fn refused(&self, refusal: ImportRefusal) -> u8 {
        match refusal {
            ImportRefusal::Diagnostics(diagnostics) | ImportRefusal::Address(diagnostics) => {
                self.stream.diagnostics(diagnostics)
            }
            ImportRefusal::Undeclared { addr, diagnostics, .. } => {
                self.stream.diagnostics(diagnostics);
                let (address, module) = (addr.to_string(), module_text(&addr));
                let text = format!(
                    "Resource address {address:?} does not exist in the configuration. Before importing this resource, please create its \
                     configuration in {module}"
                );
                json::write(&self.console, &events::error(text));
            }
        }
        1
    }
}

impl ImportView for Both<Box<dyn ImportView>> {
    fn listener(&self) -> Arc<dyn Listener> {
        Arc::new(Both(self.0.listener(), self.1.listener()))
    }

    fn success(&self, diagnostics: Diagnostics) -> u8 {
        self.1.success(diagnostics.clone());
        self.0.success(diagnostics)
    }

    fn refused(&self, refusal: ImportRefusal) -> u8 {
        self.1.refused(refusal.clone());
        self.0.refused(refusal)
    }
}

fn module_text(addr: &AbsResourceInstance) -> String {
    if addr.module.is_root() { "the root module".into() } else { addr.module.to_string() }
}

/// An error with an example, which diagnostics have no place for.
fn undeclared(console: &Console, addr: &AbsResourceInstance) -> String {
    let module = module_text(addr);
    let resource = &addr.resource.resource;
    let (address, kind, name) = (addr.to_string(), &*resource.kind, &*resource.name);
    let text = "[red][reset][bold][red]Error:[reset][bold] resource address {} does not exist in the configuration.[reset]\n\nBefore \
                importing this resource, please create its configuration in {}. For example:\n\nresource {} {} {\n  # (resource \
                arguments)\n}\n[reset]";
    console.style.fill(text, &[&format!("{address:?}"), &module, &format!("{kind:?}"), &format!("{name:?}")])
}

const ADDRESSES: &str =
    "For information on valid syntax, see:\nhttps://developer.hashicorp.com/terraform/cli/state/resource-addressing";

const SUCCESS: &str = "[reset][green]\nImport successful!\n\nThe resources that were imported are shown above. These resources \
                       are now in\nyour {} state and will henceforth be managed by {}.\n";
