//! The output of a command.

use std::fmt;

/// A command that has ended.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// As a user would type it.
    pub command: String,
    /// None if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// Both outputs in one line: without frames, and with single spaces in place of line breaks, because programs wrap lines.
    pub fn flat_text(&self) -> String {
        let text = format!("{}\n{}", self.stderr, self.stdout);
        flat(&text.replace(['│', '╷', '╵'], " "))
    }
}

/// Words with single spaces between them.
pub(super) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        for text in [&self.stdout, &self.stderr].into_iter().filter(|text| !text.trim().is_empty()) {
            writeln!(f, "{}", text.trim_end())?;
        }
        match self.code {
            Some(code) => write!(f, "exit code {code}"),
            None => f.write_str("ended by a signal"),
        }
    }
}
