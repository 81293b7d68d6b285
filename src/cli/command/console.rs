//! `console`

use std::sync::Arc;

use base::diag::Diagnostic;
use base::stop::Stop;
use base::term;
use lang::syntax::unfinished::is_unfinished;
use ops::inspect::console::{self, ConsoleAnswer, ConsoleRequest, ConsoleSession};
use ops::setup::Setup;

use crate::Invocation;
use crate::args::console::parse;
use crate::console::Console;
use crate::line_editor::{Input, LineEditor};
use crate::view::lines::Lines;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let request = match parse(args) {
        Ok(request) => request,
        Err(error) => return invocation.usage_error(error),
    };
    let setup = match super::setup_without_flag(invocation, false) {
        Ok(setup) => setup,
        Err(code) => return code,
    };
    let screen = &*invocation.console;
    let lines = &Lines::new(&invocation.console, false);
    if !console::is_configured(&setup) && !screen.terminal.input {
        return bare(lines, &setup, &request);
    }
    let work = async {
        let Some(session) = start_session(lines, &setup, &request).await else { return 1 };
        let code = match screen.terminal.input {
            // The editor waits for keys: what runs beside us must be able to go on.
            true => typed(screen, lines, &session, &setup.stop).await,
            false => {
                let next = || async {
                    let read = tokio::task::spawn_blocking(term::read_line_lossy);
                    tokio::select! {
                        line = read => line.ok().and_then(Result::ok).flatten().ok_or(End::Input),
                        () = setup.stop.stopping() => Err(End::Interrupted),
                    }
                };
                piped(lines, &session, next).await
            }
        };
        end(lines, &session, code).await
    };
    // A prompt that is left by a signal cannot clean up behind itself.
    let _mode = term::Mode::keep();
    super::run_with(invocation, &setup, work).unwrap_or_else(|code| code)
}

/// Without configuration and without a prompt there is neither a lock to give back nor a process to end: an interrupt may end us at once.
fn bare(lines: &Lines, setup: &Setup, request: &ConsoleRequest) -> u8 {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(e) => return unreadable(lines, &e.to_string()),
    };
    let Some(session) = runtime.block_on(start_session(lines, setup, request)) else { return 1 };
    let next = || async { term::read_line_lossy().ok().flatten().ok_or(End::Input) };
    let code = runtime.block_on(piped(lines, &session, next));
    runtime.block_on(end(lines, &session, code))
}

async fn start_session(lines: &Lines, setup: &Setup, request: &ConsoleRequest) -> Option<Arc<ConsoleSession>> {
    let (session, diagnostics) = console::open(setup, request).await;
    let unsound = diagnostics.has_errors();
    lines.finish(diagnostics);
    let session = session?;
    lines.aside(session.take_warnings());
    if unsound {
        let text = "Due to the problems above, some expressions may produce unexpected results.";
        lines.finish(Diagnostic::warning(text, "").into());
    }
    Some(Arc::new(session))
}

async fn end(lines: &Lines, session: &ConsoleSession, code: u8) -> u8 {
    match lines.finish(session.end().await) {
        0 => code,
        failed => failed,
    }
}

/// The reason for the end of the input.
enum End {
    Input,
    Interrupted,
}

/// An expression per line; the value of the last is shown. The first error ends it.
async fn piped<F>(lines: &Lines, session: &ConsoleSession, next: impl Fn() -> F) -> u8
where
    F: Future<Output = Result<String, End>>,
{
    let mut last = String::new();
    loop {
        let line = match next().await {
            Ok(line) => line,
            Err(End::Input) => break,
            Err(End::Interrupted) => return 1,
        };
        match session.answer(line.trim()) {
            ConsoleAnswer::Exit => return 0,
            ConsoleAnswer::Text(text) => last = text,
            ConsoleAnswer::Failed(diagnostics) => return lines.finish(diagnostics),
        }
    }
    lines.say(&last);
    0
}

/// Waits for a line while other tasks continue. None after a request to stop; then input is not read any more.
async fn read_line(
    mut editor: LineEditor,
    prompt: &'static str,
    stop: &Stop,
) -> Option<(LineEditor, Result<Input, String>)> {
    if stop.is_stopping() {
        return None;
    }
    let read = tokio::task::spawn_blocking(move || {
        let input = editor.read(prompt);
        (editor, input)
    });
    tokio::select! {
        read = read => read.ok(),
        () = stop.stopping() => None,
    }
}

/// A prompt. An expression goes on over lines until its brackets are closed or a line is empty; errors do not end it.
async fn typed(screen: &Console, lines: &Lines, session: &Arc<ConsoleSession>, stop: &Stop) -> u8 {
    let completer = session.clone();
    let mut editor = match LineEditor::new(Box::new(move |line, at| completer.complete(line, at))) {
        Ok(editor) => editor,
        Err(e) => return unreadable(lines, &e),
    };
    let mut text = String::new();
    loop {
        let first = text.is_empty();
        let Some((again, input)) = read_line(editor, if first { "> " } else { ": " }, stop).await else { return 1 };
        editor = again;
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
            Err(e) => return unreadable(lines, &e),
        }
        match session.answer(&std::mem::take(&mut text)) {
            ConsoleAnswer::Exit => return 0,
            ConsoleAnswer::Text(text) => lines.say(&text),
            ConsoleAnswer::Failed(diagnostics) => {
                lines.finish(diagnostics);
                screen.line("");
            }
        }
    }
}

fn unreadable(lines: &Lines, why: &str) -> u8 {
    let detail = format!("The terminal cannot be read: {why}.");
    lines.finish(Diagnostic::error("Failed to read input", detail).into())
}
