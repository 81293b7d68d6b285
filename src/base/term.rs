//! The terminal: whether there is one, how large, whether it may have colours, asking for a secret, and lending it to other programs.
//!
//! Never prints answers or decides what to show.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::sync::{Mutex, PoisonError};

use super::env::{self, Environment};
use super::opentofu;

/// Columns assumed when the terminal does not tell.
pub const DEFAULT_WIDTH: usize = 78;

/// What is known of the standard streams at the start of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    pub input: bool,
    pub output: bool,
    pub error: bool,
    /// Columns of the output if it is a terminal.
    pub width: Option<usize>,
    /// Columns of the error output if it is a terminal.
    pub error_width: Option<usize>,
}

impl Terminal {
    pub fn detect() -> Terminal {
        let output = io::stdout().is_terminal();
        let known = |(width, _): (terminal_size::Width, _)| Some(usize::from(width.0)).filter(|width| *width > 0);
        Terminal {
            input: io::stdin().is_terminal(),
            output,
            error: io::stderr().is_terminal(),
            width: terminal_size::terminal_size_of(io::stdout()).and_then(known),
            error_width: terminal_size::terminal_size_of(io::stderr()).and_then(known),
        }
    }

    /// Columns to lay text out for.
    pub fn columns(&self) -> usize {
        self.width.unwrap_or(DEFAULT_WIDTH)
    }

    /// Columns to lay diagnostics out for, wherever they go.
    pub fn error_columns(&self) -> usize {
        self.error_width.unwrap_or(DEFAULT_WIDTH)
    }

    /// Whether the output may have colours.
    pub fn output_colour(&self, environment: &Environment) -> bool {
        may_colour(environment, self.output)
    }

    /// Whether diagnostics may have colours: warnings go to the output, errors to the error output.
    pub fn diagnostic_colour(&self, environment: &Environment) -> bool {
        may_colour(environment, self.output && self.error)
    }

    /// Whether a person reads the output at a terminal that can move its cursor: not in CI or automation, and not where the user wants
    /// plain lines. Only then there may be more than the output of the reference.
    pub fn is_for_people(&self, environment: &Environment) -> bool {
        let is_set = |variable| environment.non_empty(variable).is_some();
        let is_dumb = environment.get(env::TERM) == Some("dumb");
        self.output && !environment.is_ci() && !is_dumb && !is_set(env::NO_COLOR) && !is_set(env::TF_IN_AUTOMATION)
    }
}

/// The columns and rows of the output as they are now; none if it is no terminal, or does not tell.
pub fn output_size() -> Option<(usize, usize)> {
    let (width, height) = terminal_size::terminal_size_of(io::stdout())?;
    Some((usize::from(width.0), usize::from(height.0))).filter(|(columns, rows)| *columns > 0 && *rows > 0)
}

/// How many bytes of whole lines were typed at the terminal of the output that no program has read yet; 0 if systems do not tell.
#[cfg(unix)]
pub fn unread_input() -> usize {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the call writes the number, or fails if the output is no terminal.
    let known = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::FIONREAD, &raw mut bytes) } == 0;
    usize::try_from(bytes).ok().filter(|_| known).unwrap_or(0)
}

#[cfg(not(unix))]
pub fn unread_input() -> usize {
    0
}

/// Waits until the size of the terminal changes. Never returns where systems do not report it.
#[cfg(unix)]
pub async fn resized() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::window_change()) {
        Ok(mut changes) => _ = changes.recv().await,
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
pub async fn resized() {
    std::future::pending().await
}

type Hearer = Box<dyn Fn(bool) + Send>;

/// Called before another program may use the terminal, and after it.
static HEARER: Mutex<Option<Hearer>> = Mutex::new(None);

/// `hear` is called with true before a program that may ask questions starts, and with false when it has ended, until another
/// hearer replaces it; none: there is none from now on.
pub fn on_loan(hear: Option<Hearer>) {
    *HEARER.lock().unwrap_or_else(PoisonError::into_inner) = hear;
}

/// The terminal is another program's until this is dropped.
pub struct Loan(());

/// Lends the terminal to another program, which may ask questions on it.
pub fn lend() -> Loan {
    tell_loan(true);
    Loan(())
}

impl Drop for Loan {
    fn drop(&mut self) {
        tell_loan(false);
    }
}

fn tell_loan(begins: bool) {
    if let Some(hear) = &*HEARER.lock().unwrap_or_else(PoisonError::into_inner) {
        hear(begins);
    }
}

/// `NO_COLOR` counts under every name. As Terraform and OpenTofu a pipe has colours too; as Terrane only a terminal has, unless
/// `FORCE_COLOR` or `CLICOLOR_FORCE` asks for them.
fn may_colour(environment: &Environment, is_terminal: bool) -> bool {
    let asks = |variable| environment.non_empty(variable).is_some_and(|value| value != "0");
    let is_forced = || asks(env::FORCE_COLOR) || asks(env::CLICOLOR_FORCE);
    environment.non_empty(env::NO_COLOR).is_none()
        && (is_terminal || opentofu::colours_every_stream(environment.dialect()) || is_forced())
}

/// One line from standard input without its line ending; None at the end of the input.
pub fn read_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(line.trim_end_matches(['\n', '\r']).to_string()))
}

/// As [`read_line`]; what is not followed by a line ending is no line.
pub fn read_whole_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.strip_suffix('\n').map(|line| line.trim_end_matches('\r').to_string()))
}

/// As [`read_line`], with replacement characters for what is no UTF-8.
pub fn read_line_lossy() -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if io::stdin().lock().read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_string()))
}

/// All that is left of standard input.
pub fn read_all() -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    io::stdin().lock().read_to_end(&mut content)?;
    Ok(content)
}

/// One line from standard input that the terminal does not show while it is typed. `written` gets the line break that
/// the user's own did not make. Where input is no terminal this is [`read_line`].
pub fn read_secret(written: &mut dyn Write) -> io::Result<Option<String>> {
    let hidden = Hidden::new();
    let line = read_line();
    if hidden.is_some() {
        writeln!(written)?;
    }
    drop(hidden);
    line
}

/// How the terminal is set now, set so again when this is dropped. Nothing where input is no terminal.
#[cfg(unix)]
pub struct Mode {
    before: Option<libc::termios>,
}

#[cfg(unix)]
impl Mode {
    pub fn keep() -> Mode {
        // SAFETY: tcgetattr fills the structure, which is only read if the call succeeds.
        unsafe {
            let mut before: libc::termios = std::mem::zeroed();
            Mode { before: (libc::tcgetattr(libc::STDIN_FILENO, &mut before) == 0).then_some(before) }
        }
    }
}

#[cfg(unix)]
impl Drop for Mode {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: the settings are those that tcgetattr gave.
            unsafe {
                libc::tcsetattr(libc::STDIN_FILENO, libc::TCSADRAIN, before);
            }
        }
    }
}

#[cfg(windows)]
pub struct Mode {
    before: Option<console::InputMode>,
}

#[cfg(windows)]
impl Mode {
    pub fn keep() -> Mode {
        Mode { before: console::InputMode::current() }
    }
}

#[cfg(windows)]
impl Drop for Mode {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            before.set();
        }
    }
}

/// The terminal without echo for as long as this lives.
#[cfg(unix)]
struct Hidden {
    before: libc::termios,
}

#[cfg(unix)]
impl Hidden {
    fn new() -> Option<Hidden> {
        // SAFETY: tcgetattr fills the structure, which is only read if the call succeeds.
        unsafe {
            let mut before: libc::termios = std::mem::zeroed();
            if libc::tcgetattr(libc::STDIN_FILENO, &mut before) != 0 {
                return None;
            }
            let mut quiet = before;
            quiet.c_lflag &= !libc::ECHO;
            (libc::tcsetattr(libc::STDIN_FILENO, libc::TCSAFLUSH, &quiet) == 0).then_some(Hidden { before })
        }
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        // SAFETY: the settings are those that tcgetattr gave.
        unsafe {
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSAFLUSH, &self.before);
        }
    }
}

#[cfg(windows)]
struct Hidden {
    before: console::InputMode,
}

#[cfg(windows)]
impl Hidden {
    fn new() -> Option<Hidden> {
        let before = console::InputMode::current()?;
        before.without_echo().set().then_some(Hidden { before })
    }
}

#[cfg(windows)]
impl Drop for Hidden {
    fn drop(&mut self) {
        self.before.set();
    }
}

#[cfg(windows)]
mod console {
    use windows_sys::Win32::System::Console::{
        CONSOLE_MODE, ENABLE_ECHO_INPUT, GetConsoleMode, GetStdHandle, STD_INPUT_HANDLE, SetConsoleMode,
    };

    /// How the console treats what is typed.
    pub(super) struct InputMode(CONSOLE_MODE);

    impl InputMode {
        /// None: standard input is no console.
        pub(super) fn current() -> Option<InputMode> {
            let mut mode = 0;
            // SAFETY: a handle that is none makes the call fail; the number is written to.
            (unsafe { GetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), &mut mode) } != 0).then_some(InputMode(mode))
        }

        pub(super) fn without_echo(&self) -> InputMode {
            InputMode(self.0 & !ENABLE_ECHO_INPUT)
        }

        /// Returns true if the console accepted it.
        pub(super) fn set(&self) -> bool {
            // SAFETY: no memory is involved.
            unsafe { SetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), self.0) != 0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;

    #[test]
    fn colours_of_terminals_and_pipes() {
        let terminal = Terminal { input: true, output: true, error: true, width: None, error_width: None };
        let pipe = Terminal { output: false, ..terminal };
        let one = |name: &str, value: &str| Environment::of([(name.to_owned(), value.to_owned())]);
        let cases = [
            (terminal, Environment::default(), [true, true]),
            (terminal, one("NO_COLOR", "1"), [false, false]),
            (terminal, one("NO_COLOR", ""), [true, true]),
            (pipe, Environment::default(), [false, true]),
            (pipe, one("FORCE_COLOR", "1"), [true, true]),
            (pipe, one("FORCE_COLOR", "0"), [false, true]),
            (pipe, one("CLICOLOR_FORCE", "1"), [true, true]),
            (pipe, Environment::of([("FORCE_COLOR", "1"), ("NO_COLOR", "1")]), [false, false]),
        ];
        for (terminal, environment, expected) in cases {
            let as_dialect = |dialect| environment.clone().speaking(dialect);
            let found =
                [Dialect::Terrane, Dialect::Terraform].map(|dialect| terminal.output_colour(&as_dialect(dialect)));
            assert_eq!(found, expected, "{environment:?}");
            let found =
                [Dialect::Terrane, Dialect::OpenTofu].map(|dialect| terminal.diagnostic_colour(&as_dialect(dialect)));
            assert_eq!(found, expected, "{environment:?}");
        }
        assert_eq!(terminal.columns(), DEFAULT_WIDTH);
    }
}
