//! `console`

use std::sync::Arc;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::term;
use crate::cli::Invocation;
use crate::cli::args::console::parse;
use crate::cli::console::Console;
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
        screen.diagnostics(diagnostics);
        let Some(session) = session else { return 1 };
        if unsound {
            let text = "Due to the problems above, some expressions may produce unexpected results.";
            screen.diagnostics(Diagnostic::warning(text, "").into());
        }
        let code = piped(&screen, &setup, &session).await;
        let left: Diagnostics = session.end().await;
        let failed = left.has_errors();
        screen.diagnostics(left);
        if failed { 1 } else { code }
    };
    super::run_with(invocation, &setup.stop, work).unwrap_or_else(|code| code)
}

/// An expression per line; the value of the last is shown. The first mistake ends it.
async fn piped(screen: &Arc<Console>, setup: &Setup, session: &Session) -> u8 {
    let mut last = String::new();
    loop {
        let read = tokio::task::spawn_blocking(term::read_line);
        let line = tokio::select! {
            line = read => line,
            () = setup.stop.stopping() => return 1,
        };
        let Ok(Ok(Some(line))) = line else { break };
        match session.answer(line.trim()) {
            Answer::Exit => return 0,
            Answer::Text(text, _) => last = text,
            Answer::Failed(diagnostics) => {
                screen.diagnostics(diagnostics);
                return 1;
            }
        }
    }
    screen.line(&last);
    0
}
