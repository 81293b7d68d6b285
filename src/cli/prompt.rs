//! Prompts at the terminal, or on standard input.

use std::sync::Arc;

use async_trait::async_trait;
use base::stop::Stop;
use base::term;
use ops::interface::ask::{Ask, NoAnswer, Question};

use super::console::Console;

/// Asks on standard output and reads from standard input.
pub struct Prompt {
    pub console: Arc<Console>,
    pub stop: Stop,
}

#[async_trait]
impl Ask for Prompt {
    async fn ask(&self, question: &Question) -> Result<String, NoAnswer> {
        let after_stop = question.after_stop;
        let stopped = async { if after_stop { self.stop.killed().await } else { self.stop.stopping().await } };
        if self.stop.is_killed() || (self.stop.is_stopping() && !after_stop) {
            return Err(NoAnswer::Interrupted);
        }
        let asking = self.console.begin_question();
        self.console.print(&text(&self.console, question));
        let (secret, bare) = (question.secret, question.bare);
        // Restores the terminal if an interrupt comes while the input is hidden.
        let _mode = secret.then(term::Mode::keep);
        let read = tokio::task::spawn_blocking(move || {
            match (secret, bare) {
                (true, _) => term::read_secret(&mut std::io::sink()),
                // As in the reference: an answer without a line ending is none.
                (false, true) => term::read_whole_line(),
                (false, false) => term::read_line(),
            }
        });
        let line = tokio::select! {
            line = read => Some(line),
            () = stopped => None,
        };
        drop(asking);
        let Some(line) = line else { return Err(NoAnswer::Interrupted) };
        match line.map_err(|e| NoAnswer::Failed(e.to_string()))? {
            Ok(Some(line)) => {
                // A secret's own line break is not shown.
                let hidden = secret && self.console.terminal.input;
                self.console.print(match (bare, hidden) {
                    (true, _) => "",
                    (false, true) => "\n\n",
                    (false, false) => "\n",
                });
                Ok(line)
            }
            Ok(None) => Err(NoAnswer::Failed("EOF".to_string())),
            Err(e) => Err(NoAnswer::Failed(e.to_string())),
        }
    }
}

fn text(console: &Console, question: &Question) -> String {
    if question.bare {
        return format!("{} ", question.title);
    }
    let style = &console.style;
    let apart = if question.apart { "\n" } else { "" };
    let mut lines: String = question.text.lines().map(|line| format!("  {line}\n")).collect();
    if !lines.is_empty() {
        lines.push('\n');
    }
    style.fill("[reset][bold]{}{}[reset]\n{}  [bold]Enter a value:[reset] ", &[&apart, &question.title, &lines])
}
