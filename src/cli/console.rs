//! The only place that prints.

use std::io::Write;
use std::sync::Mutex;

use crate::base::diag::{Diagnostics, Severity};
use crate::base::env::Environment;
use crate::base::term::Terminal;
use crate::render::text::diagnostic::render_all;
use crate::render::text::style::Style;

use super::args::common::ViewOptions;

/// Back to the start of the line, and everything on it away.
const CLEAR: &str = "\r\x1b[K";

/// Standard output and error of one command, with what is known of them.
pub struct Console {
    pub terminal: Terminal,
    pub style: Style,
    /// Diagnostics are laid out for the error output, also those on standard output.
    diagnostic_style: Style,
    compact_warnings: bool,
    /// The line that comes and goes. Held while a piece is written, so that pieces do not mix.
    status: Mutex<String>,
}

impl Console {
    pub fn new(environment: &Environment, terminal: Terminal, view: ViewOptions) -> Console {
        let colour = terminal.colour(environment) && !view.no_color;
        let style = Style { colour, width: terminal.columns() };
        let diagnostic_style = Style { colour, width: terminal.error_columns() };
        Console { terminal, style, diagnostic_style, compact_warnings: view.compact_warnings, status: Mutex::default() }
    }

    /// The text on standard output, as it is.
    pub fn print(&self, text: &str) {
        self.print_bytes(text.as_bytes());
    }

    /// As `print`, for what may be of any encoding.
    pub fn print_bytes(&self, text: &[u8]) {
        let status = self.status.lock().unwrap_or_else(|e| e.into_inner());
        let mut out = std::io::stdout().lock();
        let (away, again) = if status.is_empty() { ("", "") } else { (CLEAR, status.as_str()) };
        let pieces = [away.as_bytes(), text, again.as_bytes()];
        // Nobody is left to tell when the reader has gone.
        let _ = pieces.iter().try_for_each(|piece| out.write_all(piece)).and_then(|()| out.flush());
    }

    /// Shows a line below everything else until the next one; none if it is empty. Only on a terminal.
    pub fn status(&self, text: &str) {
        let mut status = self.status.lock().unwrap_or_else(|e| e.into_inner());
        if !self.terminal.output || *status == text {
            return;
        }
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "{CLEAR}{text}").and_then(|()| out.flush());
        text.clone_into(&mut status);
    }

    /// The text on standard error, as it is.
    pub fn print_error(&self, text: &str) {
        let status = self.status.lock().unwrap_or_else(|e| e.into_inner());
        if !status.is_empty() {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(CLEAR.as_bytes()).and_then(|()| out.flush());
        }
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    pub fn line(&self, text: &str) {
        self.print(&format!("{text}\n"));
    }

    pub fn error_line(&self, text: &str) {
        self.print_error(&format!("{text}\n"));
    }

    /// As `diagnostics`, each followed by an empty line: so do the commands that the reference never gave a view.
    pub fn spaced_diagnostics(&self, diagnostics: Diagnostics) {
        for shown in render_all(diagnostics, &self.diagnostic_style, self.compact_warnings) {
            match shown.severity {
                Severity::Warning => self.line(&shown.text),
                Severity::Error => self.error_line(&shown.text),
            }
        }
    }

    /// Warnings on standard output, errors on standard error.
    pub fn diagnostics(&self, diagnostics: Diagnostics) {
        for shown in render_all(diagnostics, &self.diagnostic_style, self.compact_warnings) {
            match shown.severity {
                Severity::Warning => self.print(&shown.text),
                Severity::Error => self.print_error(&shown.text),
            }
        }
    }
}
