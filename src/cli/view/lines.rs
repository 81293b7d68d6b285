//! Commands that say one thing per line: for people, or as a stream of JSON lines.

use std::sync::Arc;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::cli::console::Console;
use crate::engine::event::Event;
use crate::engine::ports::Observer;
use crate::model::addr::AbsResourceInstance;
use crate::ops::interface::listen::Listener;
use crate::ops::interface::planning::Planned;
use crate::render::json::events;

use super::json;

/// Where the lines go.
pub struct Lines {
    pub console: Arc<Console>,
    json: bool,
}

impl Lines {
    /// Begins the stream, if it is one.
    pub fn new(console: &Arc<Console>, json: bool) -> Lines {
        if json {
            json::write(console, &events::version(false));
        }
        Lines { console: console.clone(), json }
    }

    pub fn is_stream(&self) -> bool {
        self.json
    }

    pub fn say(&self, text: &str) {
        match self.json {
            true => json::write(&self.console, &events::note(text)),
            false => self.console.line(text),
        }
    }

    /// A sentence, which ends with a full stop where people read it.
    pub fn sentence(&self, text: &str) {
        self.say(if self.json { text.strip_suffix('.').unwrap_or(text) } else { text });
    }

    /// Text with colours for people, another one for programs.
    pub fn coloured(&self, text: &str, plain: &str) {
        self.say(if self.json { plain } else { text });
    }

    /// As [`Self::coloured`], of a warning.
    pub fn warn(&self, text: &str, plain: &str) {
        match self.json {
            true => json::write(&self.console, &events::warning(plain)),
            false => self.console.line(text),
        }
    }

    pub fn address(&self, addr: &AbsResourceInstance) {
        match self.json {
            true => json::write(&self.console, &events::resource_address(addr)),
            false => self.console.line(&addr.to_string()),
        }
    }

    pub fn workspaces(&self, current: &str, names: &[String]) {
        json::write(&self.console, &events::workspaces(current, names));
    }

    /// Warnings about a state, beside a list that programs read.
    pub fn aside(&self, diagnostics: Diagnostics) {
        match self.json {
            true => json::write_diagnostics(&self.console, diagnostics),
            false => self.console.diagnostics_aside(diagnostics),
        }
    }

    /// Gives the exit code.
    pub fn finish(&self, diagnostics: Diagnostics) -> u8 {
        let failed = diagnostics.has_errors();
        match self.json {
            true => json::write_diagnostics(&self.console, diagnostics),
            false => self.console.spaced_diagnostics(diagnostics),
        }
        u8::from(failed)
    }

    /// An error that is one text.
    pub fn refuse_plainly(&self, text: &str) {
        match self.json {
            true => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                json::write(&self.console, &events::error(text.trim_end_matches('.')));
            }
            false => self.console.red_error_line(text),
        }
    }

    /// An error of several lines, of which the first is its summary.
    pub fn refuse(&self, text: &str) {
        if !self.json {
            self.console.red_error_line(text);
            return;
        }
        let (summary, detail) = text.trim().split_once("\n\n").unwrap_or((text.trim(), ""));
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Each item of a list is on a separate line.
        let paragraph = |text: &str| text.split("\n- ").map(one_line).collect::<Vec<_>>().join("\n- ");
        let detail = detail.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n");
        let summary = one_line(summary).trim_end_matches(['.', '!']).to_owned();
        json::write(&self.console, &events::diagnostic(&Diagnostic::error(summary, detail)));
    }
}

impl Observer for Lines {
    fn event(&self, event: Event) {
        if let Event::Diagnostics(diagnostics) = event {
            self.diagnostics(diagnostics);
        }
    }
}

impl Listener for Lines {
    fn planned(&self, _planned: &Planned) {}

    fn loaded(&self, _planned: &Planned) {}

    fn diagnostics(&self, diagnostics: Diagnostics) {
        match self.json {
            true => json::write_diagnostics(&self.console, diagnostics),
            false => self.console.diagnostics(diagnostics),
        }
    }

    fn waiting_for_lock(&self) {
        const TEXT: &str = "Acquiring state lock. This may take a few moments...";
        match self.json {
            true => json::write(&self.console, &events::note(TEXT)),
            false => self.console.line(TEXT),
        }
    }
}
