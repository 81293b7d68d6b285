//! Lines typed at a terminal: editing keys, history, completion.
//!
//! Owns the crate that does it. The history lives as long as the session: expressions may hold secrets.

use std::cell::Cell;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

/// The start of the word before a position in a line, and its completions.
pub type Complete = Box<dyn Fn(&str, usize) -> (usize, Vec<String>) + Send>;

#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// Without its line ending.
    Line(String),
    /// Ctrl-C; `empty`: there was nothing on the line.
    Interrupted { empty: bool },
    /// Ctrl-D on an empty line, or the terminal is gone.
    End,
}

pub struct LineEditor(Editor<Assistant, MemHistory>);

impl LineEditor {
    /// The error says why the terminal cannot be used.
    pub fn new(complete: Complete) -> Result<LineEditor, String> {
        // Without bracketed paste each pasted line is a line, as if it had been typed.
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .auto_add_history(true)
            .bracketed_paste(false)
            .build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history).map_err(|e| e.to_string())?;
        editor.set_helper(Some(Assistant { complete, empty: Cell::new(true) }));
        Ok(LineEditor(editor))
    }

    pub fn read(&mut self, prompt: &str) -> Result<Input, String> {
        if let Some(assistant) = self.0.helper() {
            assistant.empty.set(true);
        }
        match self.0.readline(prompt) {
            Ok(line) => Ok(Input::Line(line)),
            Err(ReadlineError::Interrupted) => {
                Ok(Input::Interrupted { empty: self.0.helper().is_none_or(|a| a.empty.get()) })
            }
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(e) => Err(e.to_string()),
        }
    }
}

/// Completion and validation for the editor.
struct Assistant {
    complete: Complete,
    /// Whether the line was empty when it was last drawn: an interrupt does not tell.
    empty: Cell<bool>,
}

impl Helper for Assistant {}
impl Highlighter for Assistant {}
impl Validator for Assistant {}

impl Hinter for Assistant {
    type Hint = String;

    fn hint(&self, line: &str, _pos: usize, _context: &Context<'_>) -> Option<String> {
        self.empty.set(line.is_empty());
        None
    }
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _context: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((self.complete)(line, pos))
    }
}
