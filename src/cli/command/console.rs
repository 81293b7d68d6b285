//! `console`

use std::sync::Arc;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::term;
use crate::cli::Invocation;
use crate::cli::args::console::parse;
use crate::cli::console::Console;
use crate::cli::line_editor::{Input, LineEditor};
use crate::lang::syntax::unfinished::is_unfinished;
use crate::ops::console::{self, Answer, Session};
use crate::ops::setup::Setup;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let request = match parse(args) {
        Ok(request) => request,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup(invocation, false) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let screen = invocation.console.clone();
    let work = async {
        let (session, diagnostics) = console::open(&setup, &request).await;
        let unsound = diagnostics.has_errors();
        screen.spaced_diagnostics(diagnostics);
        let Some(session) = session else { return 1 };
        if unsound {
            let text = "Due to the problems above, some expressions may produce unexpected results.";
            screen.spaced_diagnostics(Diagnostic::warning(text, "").into());
        }
        let session = Arc::new(session);
        let code = match screen.terminal.input {
            true => typed(&screen, &session),
            false => piped(&screen, &setup, &session).await,
        };
        let left = session.end().await;
        let failed = left.has_errors();
        screen.spaced_diagnostics(left);
        if failed { 1 } else { code }
    };
    super::run_with(invocation, &setup.stop, work).unwrap_or_else(|code| code)
}

/// An expression per line; the value of the last is shown. The first mistake ends it.
async fn piped(screen: &Console, setup: &Setup, session: &Session) -> u8 {
    let mut last = String::new();
    loop {
        let read = tokio::task::spawn_blocking(term::read_line_lossy);
        let line = tokio::select! {
            line = read => line,
            () = setup.stop.stopping() => return 1,
        };
        let Ok(Ok(Some(line))) = line else { break };
        match session.answer(line.trim()) {
            Answer::Exit => return 0,
            Answer::Text(text) => last = text,
            Answer::Failed(diagnostics) => {
                screen.spaced_diagnostics(diagnostics);
                return 1;
            }
        }
    }
    screen.line(&last);
    0
}

/// A prompt. An expression goes on over lines until its brackets are closed or a line is empty; mistakes do not end it.
fn typed(screen: &Console, session: &Arc<Session>) -> u8 {
    let completer = session.clone();
    let mut editor = match LineEditor::new(Box::new(move |line, at| completer.complete(line, at))) {
        Ok(editor) => editor,
        Err(e) => return unreadable(screen, &e),
    };
    let mut text = String::new();
    loop {
        let first = text.is_empty();
        // The editor waits for keys: what runs beside us must be able to go on.
        let input = tokio::task::block_in_place(|| editor.read(if first { "> " } else { ": " }));
        match input {
            Ok(Input::Line(line)) => {
                text.push_str(&line);
                text.push('\n');
                if !line.is_empty() && is_unfinished(&text) {
                    continue;
                }
            }
            Ok(Input::Interrupted { empty }) => {
                if !first {
                    screen.line("(multi-line entry canceled)");
                } else if empty {
                    return 0;
                }
                text.clear();
                continue;
            }
            Ok(Input::End) => return 0,
            Err(e) => return unreadable(screen, &e),
        }
        match session.answer(&std::mem::take(&mut text)) {
            Answer::Exit => return 0,
            Answer::Text(text) => screen.line(&text),
            Answer::Failed(diagnostics) => {
                screen.spaced_diagnostics(diagnostics);
                screen.line("");
            }
        }
    }
}

fn unreadable(screen: &Console, why: &str) -> u8 {
    let detail = format!("The terminal cannot be read: {why}.");
    screen.spaced_diagnostics(Diagnostics::from(Diagnostic::error("Failed to read input", detail)));
    1
}
