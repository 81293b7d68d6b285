//! The only place that prints, and that draws the status area.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use base::diag::{Diagnostic, Diagnostics, Severity};
use base::dialect::Dialect;
use base::env::{self, Environment};
use base::files::reason;
use base::term::{self, Terminal};
use render::text::diagnostic::{RenderedDiagnostic, render_all};
use render::text::style::Style;

use super::args::view::ViewOptions;
use super::progress::Progress;
use super::progress::draw::Size;
use super::progress::screen::{Screen, TaskBar, TerminalStatus, task_bar};

/// The first error of writing to standard output.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// The exit code of a command whose output did not all arrive: a reader that closed the pipe ends the program by the
/// signal that would have ended it at once; for any other reason the command has failed, and standard error says why.
pub fn exit_code(code: u8) -> u8 {
    match FAILURE.get() {
        None => code,
        Some(error) if error.kind() == ErrorKind::BrokenPipe => {
            base::process::end_by_broken_pipe();
            code.max(1)
        }
        Some(error) => {
            let _ = writeln!(io::stderr(), "Error: Failed to write to standard output: {}", reason(error));
            code.max(1)
        }
    }
}

/// As [`write_output`]; nothing to write costs nothing.
fn write_piece(piece: &[u8]) {
    if !piece.is_empty() {
        write_output([piece]);
    }
}

fn write_output<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) {
    let mut out = io::stdout().lock();
    let written = pieces.into_iter().try_for_each(|piece| write_whole(&mut out, piece));
    if let Err(error) = written.and_then(|()| patiently(|| out.flush())) {
        let _ = FAILURE.set(error);
    }
}

fn write_whole(out: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match patiently(|| out.write(bytes))? {
            0 => return Err(ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    Ok(())
}

/// Tries again where another process has made the stream one that does not wait.
fn patiently<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(e) if e.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// A new file that only its owner may read, for it may hold secrets.
fn private_file(path: &str) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Standard output and error of one command, with what is known of them.
pub struct Console {
    pub terminal: Terminal,
    pub style: Style,
    /// Diagnostics are laid out for the error output, also those on standard output.
    diagnostic_style: Style,
    pub view: ViewOptions,
    /// Held while a piece is written, so that pieces do not mix.
    streams: Arc<Mutex<Streams>>,
    /// What the status area shows.
    pub progress: Arc<Progress>,
    /// A question waits for its answer.
    asking: Arc<AtomicBool>,
    /// Where output goes in place of standard output.
    file: Option<Mutex<File>>,
    /// Gets what programs would read, beside the output for people.
    pub copy: Option<Arc<Console>>,
}

/// What is known of the terminal while pieces are written to it.
struct Streams {
    screen: Screen,
    /// When something was written last.
    written: Instant,
}

impl Default for Streams {
    fn default() -> Streams {
        Streams { screen: Screen::default(), written: Instant::now() }
    }
}

impl Streams {
    /// Takes note of what the terminal is like now.
    fn look(&mut self) {
        let size = term::output_size().map(|(columns, rows)| Size { columns, rows });
        self.screen.look(TerminalStatus { size, typed: term::unread_input() });
    }
}

fn locked(streams: &Mutex<Streams>) -> MutexGuard<'_, Streams> {
    streams.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A question waits for its answer while this lives.
pub struct Asking {
    asking: Arc<AtomicBool>,
    streams: Arc<Mutex<Streams>>,
}

impl Drop for Asking {
    fn drop(&mut self) {
        locked(&self.streams).screen.take_back();
        self.asking.store(false, Ordering::Relaxed);
    }
}

impl Console {
    pub fn new(environment: &Environment, terminal: Terminal, view: ViewOptions) -> Console {
        let bare = view.no_color || environment.non_empty(env::NO_COLOR).is_some();
        let colour = !bare && terminal.output_colour(environment);
        let (width, reveal, dialect) = (terminal.columns(), view.show_sensitive, environment.dialect());
        let extras = !view.no_color && terminal.is_for_people(environment);
        let style = Style { colour, width, reveal, bare, tips: false, extras, dialect };
        let colour = !bare && terminal.diagnostic_colour(environment);
        let tips = terminal.error && environment.non_empty(env::TF_IN_AUTOMATION).is_none();
        let diagnostic_style = Style { colour, width: terminal.error_columns(), tips, ..style };
        let (streams, asking, progress) = (Arc::default(), Arc::default(), Arc::new(Progress::off()));
        Console { terminal, style, diagnostic_style, view, streams, progress, asking, file: None, copy: None }
    }

    /// With the progress of a command, which is followed beside its output.
    pub fn with_progress(self, progress: Progress) -> Console {
        Console { progress: Arc::new(progress), ..self }
    }

    /// What the terminal is like now is known if there may be an area.
    fn streams(&self) -> MutexGuard<'_, Streams> {
        let mut streams = locked(&self.streams);
        if self.progress.has_area() {
            streams.look();
        }
        streams
    }

    /// The dialect whose texts and streams are written.
    pub fn dialect(&self) -> Dialect {
        self.style.dialect
    }

    /// Whether a person reads both outputs, and wants advice that programs would have to ignore.
    pub fn advises(&self) -> bool {
        self.terminal.output && self.diagnostic_style.tips
    }

    /// Notes that a question waits for its answer, until what is returned is dropped.
    pub fn begin_question(&self) -> Asking {
        let mut streams = self.streams();
        self.asking.store(true, Ordering::Relaxed);
        write_piece(&streams.screen.lend(Instant::now()));
        Asking { asking: self.asking.clone(), streams: self.streams.clone() }
    }

    pub fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Relaxed)
    }

    /// Whether advice is shown that the reference does not give.
    pub fn shows_tips(&self) -> bool {
        self.diagnostic_style.tips
    }

    /// With the file of `-json-into` as the place for what programs read.
    pub fn with_copy(mut self, path: &str) -> Result<Console, Diagnostic> {
        let file = private_file(path).map_err(|error| {
            let why = reason(&error);
            let detail =
                format!("Unable to open the file {path:?} specified by -json-into for writing: open {path}: {why}");
            Diagnostic::error("Invalid argument", detail)
        })?;
        let terminal = Terminal { output: false, ..self.terminal };
        let style = Style { colour: false, bare: true, extras: false, ..self.style };
        let made = Console {
            terminal,
            style,
            diagnostic_style: style,
            view: self.view,
            streams: Arc::default(),
            progress: Arc::new(Progress::off()),
            asking: self.asking.clone(),
            file: Some(Mutex::new(file)),
            copy: None,
        };
        self.copy = Some(Arc::new(made));
        Ok(self)
    }

    /// The text on standard output, as it is.
    pub fn print(&self, text: &str) {
        self.print_bytes(text.as_bytes());
    }

    /// As `print`, for what may be of any encoding.
    pub fn print_bytes(&self, text: &[u8]) {
        if let Some(file) = &self.file {
            let mut file = file.lock().unwrap_or_else(|e| e.into_inner());
            if let Err(error) = write_whole(&mut *file, text) {
                let _ = FAILURE.set(io::Error::other(format!("the file of -json-into: {}", reason(&error))));
            }
            return;
        }
        let mut streams = self.streams();
        let now = Instant::now();
        streams.written = now;
        match self.progress.has_area() {
            true => write_piece(&streams.screen.print(text, now)),
            false => write_output([text]),
        }
    }

    /// The text on standard error, as it is.
    pub fn print_error(&self, text: &str) {
        let mut streams = self.streams();
        let now = Instant::now();
        streams.written = now;
        let is_below = self.progress.has_area() && self.terminal.error;
        if is_below {
            write_piece(&streams.screen.step_aside(text.as_bytes(), now));
        }
        let _ = write_whole(&mut io::stderr().lock(), text.as_bytes());
        if is_below {
            write_piece(&streams.screen.step_back(now));
        }
    }

    /// Shows these lines below everything else until they change; none if there are none.
    pub fn set_area(&self, lines: Vec<String>) {
        let (mut streams, now) = (self.streams(), Instant::now());
        write_piece(&streams.screen.set_area(lines, now));
    }

    /// Takes the status area away at once, until there are lines again.
    pub fn clear_area(&self) {
        let mut streams = self.streams();
        write_piece(&streams.screen.clear(Instant::now()));
    }

    /// Takes the status area away for good.
    pub fn end_area(&self) {
        term::on_loan(None);
        self.clear_area();
    }

    /// Takes the status area away while another program has the terminal.
    pub fn lend_to_programs(&self) {
        let streams = self.streams.clone();
        term::on_loan(Some(Box::new(move |begins| {
            let mut streams = locked(&streams);
            streams.look();
            match begins {
                true => write_piece(&streams.screen.lend(Instant::now())),
                false => streams.screen.take_back(),
            }
        })));
    }

    /// Tells the terminal how far the command is; none: there is nothing to tell any more.
    pub fn set_task_bar(&self, progress: Option<TaskBar>) {
        let _streams = self.streams();
        write_piece(task_bar(progress).as_bytes());
    }

    /// How long nothing was written.
    pub fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.streams().written)
    }

    pub fn line(&self, text: &str) {
        self.print(&format!("{text}\n"));
    }

    pub fn error_line(&self, text: &str) {
        self.print_error(&format!("{text}\n"));
    }

    /// An error that is no diagnostic, all of it in red: so the commands that the reference never gave a view report.
    pub fn red_error_line(&self, text: &str) {
        self.error_line(&self.style.fill("[red]{}[reset]", &[&text]));
    }

    /// As `diagnostics`, each followed by an empty line: so do the commands that the reference never gave a view.
    pub fn spaced_diagnostics(&self, diagnostics: Diagnostics) {
        for shown in self.rendered(diagnostics) {
            match shown.severity {
                Severity::Warning => self.line(&self.style.fill("[yellow]{}[reset]", &[&shown.text])),
                Severity::Error => self.red_error_line(&shown.text),
            }
        }
    }

    /// Paragraphs broken into lines for standard error.
    pub fn wrapped_for_error(&self, text: &str) -> String {
        self.diagnostic_style.wrapped(text)
    }

    /// The texts of diagnostics: errors belong to standard error, warnings to standard output.
    pub fn rendered(&self, diagnostics: Diagnostics) -> impl Iterator<Item = RenderedDiagnostic> {
        let ViewOptions { compact_warnings, grouping, .. } = self.view;
        render_all(self.view.wanted(diagnostics), &self.diagnostic_style, compact_warnings, grouping)
    }

    /// All on standard error: for commands whose standard output is a value that programs read.
    pub fn diagnostics_aside(&self, diagnostics: Diagnostics) {
        for shown in self.rendered(diagnostics) {
            self.print_error(&shown.text);
        }
    }

    /// Warnings on standard output, errors on standard error.
    pub fn diagnostics(&self, diagnostics: Diagnostics) {
        for shown in self.rendered(diagnostics) {
            match shown.severity {
                Severity::Warning => self.print(&shown.text),
                Severity::Error => self.print_error(&shown.text),
            }
        }
    }
}
