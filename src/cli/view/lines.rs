//! Commands that say one thing per line: for people, or as a stream of JSON lines.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use engine::event::Event;
use engine::ports::Observer;
use model::addr::AbsResourceInstance;
use ops::interface::listen::Listener;
use ops::interface::planning::Planned;
use render::json::events;
use render::json::message::Message;

use super::json;
use crate::console::Console;

/// Where the lines go: to people or programs, and with `-json-into` also to a file for programs.
pub struct Lines {
    /// The first is standard output, if the lines go there.
    outputs: Vec<LineOutput>,
}

/// One place that lines go to.
pub struct LineOutput {
    pub console: Arc<Console>,
    json: bool,
}

impl Lines {
    /// Begins the streams.
    pub fn new(console: &Arc<Console>, json: bool) -> Lines {
        Lines::begin(vec![LineOutput { console: console.clone(), json }], console)
    }

    /// Only the stream of `-json-into`: something else is written to standard output.
    pub fn aside_only(console: &Arc<Console>) -> Lines {
        Lines::begin(Vec::new(), console)
    }

    fn begin(mut outputs: Vec<LineOutput>, console: &Console) -> Lines {
        outputs.extend(console.copy.iter().map(|copy| LineOutput { console: copy.clone(), json: true }));
        for output in outputs.iter().filter(|output| output.json) {
            json::write(&output.console, &events::version(false, output.console.dialect()));
        }
        Lines { outputs }
    }

    /// Does something for each place, where people and programs receive different texts.
    pub fn each(&self, show: impl FnMut(&LineOutput)) {
        self.outputs.iter().for_each(show);
    }

    pub fn say(&self, text: &str) {
        self.each(|output| output.say(text));
    }

    pub fn sentence(&self, text: &str) {
        self.each(|output| output.sentence(text));
    }

    pub fn coloured(&self, text: &str, plain: &str) {
        self.each(|output| output.coloured(text, plain));
    }

    pub fn warn(&self, text: &str, plain: &str) {
        self.each(|output| output.warn(text, plain));
    }

    pub fn address(&self, addr: &AbsResourceInstance) {
        self.each(|output| output.address(addr));
    }

    pub fn aside(&self, diagnostics: Diagnostics) {
        self.each(|output| output.aside(diagnostics.clone()));
    }

    /// Gives the exit code.
    pub fn finish(&self, diagnostics: Diagnostics) -> u8 {
        self.each(|output| output.finish(diagnostics.clone()));
        u8::from(diagnostics.has_errors())
    }

    pub fn refuse_plainly(&self, text: &str) {
        self.each(|output| output.refuse_plainly(text));
    }

    pub fn refuse(&self, text: &str) {
        self.each(|output| output.refuse(text));
    }

    /// As [`Self::refuse_plainly`], with advice for those who read tips.
    pub fn refuse_with_tip(&self, text: &str, tip: &str) {
        self.each(|output| match tip.is_empty() || output.json || !output.console.shows_tips() {
            true => output.refuse_plainly(text),
            false => output.refuse_plainly(&format!("{text}\n\n{tip}")),
        });
    }
}

impl LineOutput {
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

    /// A message that only programs receive.
    pub fn message(&self, message: &Message) {
        json::write(&self.console, message);
    }

    /// Warnings about a state, beside a list that programs read.
    pub fn aside(&self, diagnostics: Diagnostics) {
        match self.json {
            true => json::write_diagnostics(&self.console, diagnostics),
            false => self.console.diagnostics_aside(diagnostics),
        }
    }

    /// What a command found at its end.
    pub fn finish(&self, diagnostics: Diagnostics) {
        match self.json {
            true => json::write_diagnostics(&self.console, diagnostics),
            false => self.console.spaced_diagnostics(diagnostics),
        }
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
        self.each(|output| match output.json {
            true => json::write_diagnostics(&output.console, diagnostics.clone()),
            false => output.console.diagnostics(diagnostics.clone()),
        });
    }

    fn waiting_for_lock(&self) {
        self.say("Acquiring state lock. This may take a few moments...");
    }
}
