//! The command line: arguments, output, prompts.
//!
//! Owns the syntax of commands, their output and prompts. Never uses the engine except through
//! [`ops`]; prints only through [`console::Console`].

mod approval_prompt;
pub mod args;
mod command;
mod completion;
pub mod console;
mod help;
mod internal_plugin;
mod line_editor;
mod live;
mod opentofu;
mod progress;
mod prompt;
pub mod reference;
mod shell_script;
mod table;
mod view;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use args::view::{INVALID_OUTPUT_FORMAT, ViewOptions};
use args::{ArgsError, words};
use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::env::{self, Environment};
use base::name::{COMMAND, PROGRAM, TERRANE};
use base::term::Terminal;
use base::{limits, log, stop, suggest, telemetry};
use completion::install::Change;
use console::Console;
use model::version::{self, PROGRAM_VERSION, compatible_version};
use ops::setup::compatible;
use progress::{Progress, Wishes};
use table::{COMMANDS, Entry, Run};

/// What every command gets.
pub struct Invocation {
    pub environment: Environment,
    pub console: Arc<Console>,
    /// The working directory before `-chdir`.
    pub original_dir: PathBuf,
    /// The words of the command's name.
    pub command: &'static str,
}

/// Runs the program with its arguments, of which the first is the name that it was started by.
pub fn run(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    stop::survive_file_size_limit();
    let environment = Environment::process();
    limits::set(&environment);
    let dialect = Dialect::detect(args.next().as_deref().map(Path::new), environment.non_empty(env::TERRANE_NAME));
    dialect.set_for_process();
    let environment = environment.speaking(dialect);
    version::set_dialect(dialect);
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    if args.first().is_some_and(|arg| arg == "internal-plugin") {
        return ExitCode::from(internal_plugin::run(&args[1..], environment));
    }
    if completion::answered(&environment, &Console::new(&environment, Terminal::detect(), ViewOptions::default())) {
        return ExitCode::from(console::exit_code(0));
    }
    log::start(log::Settings::from_environment(&environment));
    log_start(&args, dialect);
    let recording = net::telemetry::start(&environment);
    let code = console::exit_code(dispatch(args, environment));
    recording.end(code);
    tracing::debug!("exit code: {code}");
    ExitCode::from(code)
}

/// What every log begins with.
fn log_start(args: &[String], dialect: Dialect) {
    let command = dialect.command();
    tracing::info!("{} version: {}", dialect.language().program(), compatible_version());
    tracing::info!("{TERRANE} version: {PROGRAM_VERSION} ({})", ops::plugins::selections::platform());
    tracing::info!(
        "CLI args: {:?}",
        std::iter::once(command).chain(args.iter().map(String::as_str)).collect::<Vec<_>>()
    );
}

fn dispatch(mut args: Vec<String>, environment: Environment) -> u8 {
    let mut typed = args.clone();
    let mut view = ViewOptions::default();
    view.take(&mut args);
    let terminal = Terminal::detect();
    tracing::trace!("stdout is {}a terminal", if terminal.output { "" } else { "not " });
    let console = Console::new(&environment, terminal, view);
    let original_dir = env::working_dir().unwrap_or_default();

    if let Some(code) = change_completion(&console, &environment, &args) {
        return code;
    }
    let before = args.iter().position(|arg| !arg.starts_with('-')).unwrap_or(args.len());
    let mut global: Vec<String> = args.drain(..before).collect();
    if let Err(text) = change_directory(&mut global) {
        console.error_line(&text);
        return 1;
    }
    // A wish that means nothing is an error of the commands that it matters to.
    let _ = compatible::note_wish(&environment);
    let is_version = |arg: &String| matches!(arg.as_str(), "-v" | "-version" | "--version");
    if global.iter().chain(&args).take_while(|arg| *arg != "--").any(is_version) {
        args = version_arguments(&global, &args);
        global.clear();
    }
    let is_help = |arg: &String| matches!(arg.as_str(), "-h" | "-help" | "--help");
    let wants_help = global.iter().chain(&args).take_while(|arg| *arg != "--").any(is_help);
    global.retain(|arg| !is_help(arg));
    if args.is_empty() {
        console.print(&help::program_page());
        return if wants_help { 0 } else { 127 };
    }
    let Some((entry, count)) = table::find(&args) else { return unknown_command(&console, &args[0]) };
    telemetry::name_command(environment.dialect(), entry.name);
    if !global.is_empty() {
        console.error_line(
            "Invalid flags before the subcommand. If these flags are for\nthe subcommand, please put them after the subcommand.\n",
        );
        console.print(&entry_page(entry));
        return 1;
    }
    if wants_help {
        console.print(&entry_page(entry));
        return 0;
    }
    let mut rest = match extra_arguments(&environment, entry) {
        Ok(extra) => extra,
        Err(text) => {
            console.error_line(&text);
            return 1;
        }
    };
    // What was typed counts more than what the environment adds.
    let mut view = ViewOptions::default();
    view.take(&mut rest);
    view.take(&mut typed);
    rest.extend(args.drain(count..));
    let console = match console_of(entry, &environment, console.terminal, view, &mut rest) {
        Ok(console) => Arc::new(console),
        Err(code) => return code,
    };
    tracing::info!(
        "CLI command args: {:?}",
        entry.name.split(' ').chain(rest.iter().map(String::as_str)).collect::<Vec<_>>()
    );
    match &entry.run {
        Run::Command { run, .. } => {
            let progress = console.progress.clone();
            let code = run(&Invocation { environment, console, original_dir, command: entry.name }, &rest);
            if progress.has_failed() { 1 } else { code }
        }
        Run::Group => {
            rest.first().into_iter().for_each(|word| unknown_member(&console, entry, word));
            console.print(&entry_page(entry));
            1
        }
    }
}

/// What `version` gets of arguments that ask for it: `-json`, unless it belongs to another command.
fn version_arguments(global: &[String], args: &[String]) -> Vec<String> {
    let mut flags = global.iter().chain(args.iter().take_while(|arg| arg.starts_with('-')));
    let json = flags.find(|arg| matches!(arg.as_str(), "-json" | "--json"));
    ["version".to_owned()].into_iter().chain(json.cloned()).collect()
}

/// The console of a command, as its flags say, which are taken out of the arguments.
fn console_of(
    entry: &Entry,
    environment: &Environment,
    terminal: Terminal,
    mut view: ViewOptions,
    rest: &mut Vec<String>,
) -> Result<Console, u8> {
    let Run::Command { arguments, .. } = &entry.run else { return Ok(Console::new(environment, terminal, view)) };
    let command = arguments();
    view.take_of(&command, rest);
    let copy = args::view::take_json_into(&command, rest);
    let progress = progress_of(entry.name, &command, environment, terminal, view, rest);
    let console = Console::new(environment, terminal, view);
    let made = progress.and_then(|progress| {
        let console = Console::new(environment, terminal, view).with_progress(progress);
        match &copy {
            Some(path) => with_copy(console, path, rest),
            None => Ok(console),
        }
    });
    made.map_err(|problem| {
        console.diagnostics(problem.into());
        1
    })
}

/// The progress of a command, as its flags say, which are taken out of the arguments.
fn progress_of(
    name: &str,
    command: &clap::Command,
    environment: &Environment,
    terminal: Terminal,
    view: ViewOptions,
    rest: &mut Vec<String>,
) -> Result<Progress, Diagnostic> {
    if !args::view::has_progress(command) {
        return Ok(Progress::off());
    }
    let wishes = Wishes {
        mode: args::view::take_progress(command, rest),
        timings: args::view::take_timings(command, rest)?,
        is_json: args::view::writes_json(rest),
        no_color: view.no_color,
    };
    live::check_timings(wishes.timings.as_ref())?;
    Progress::of(name, wishes, terminal, environment)
}

/// The console of a command with `-json-into`.
fn with_copy(console: Console, path: &str, args: &[String]) -> Result<Console, Diagnostic> {
    let is_json = |arg: &String| matches!(arg.as_str(), "-json" | "--json" | "-json=true" | "--json=true");
    match args.iter().any(is_json) {
        true => {
            Err(Diagnostic::error(INVALID_OUTPUT_FORMAT, "The -json and -json-into arguments are mutually exclusive."))
        }
        false => console.with_copy(path),
    }
}

/// Does what `-install-autocomplete` and `-uninstall-autocomplete` ask for; None if the arguments have none of them.
fn change_completion(console: &Console, environment: &Environment, args: &[String]) -> Option<u8> {
    let given = |flag: &str| {
        args.iter()
            .take_while(|arg| *arg != "--")
            .any(|arg| arg.trim_start_matches('-') == flag && arg.starts_with('-'))
    };
    let change = match (given("install-autocomplete"), given("uninstall-autocomplete")) {
        (false, false) => return None,
        (true, true) => {
            console.error_line(
                "Error executing CLI: Either the autocomplete install or uninstall flag may be specified, but not both.",
            );
            return Some(1);
        }
        (true, false) => Change::Install,
        (false, true) => Change::Uninstall,
    };
    let problems = match std::env::current_exe() {
        Ok(program) => completion::install::change(environment, change, environment.dialect().command(), &program),
        Err(why) => vec![format!("the path of this program is not known: {why}")],
    };
    if problems.is_empty() {
        return Some(0);
    }
    let number = if problems.len() == 1 { "1 error".into() } else { format!("{} errors", problems.len()) };
    let list: String = problems.iter().map(|problem| format!("\t* {problem}\n")).collect();
    console.error_line(&format!("Error executing CLI: {number} occurred:\n{list}\n"));
    Some(1)
}

fn entry_page(entry: &'static Entry) -> String {
    match &entry.run {
        Run::Command { arguments, .. } => help::page(&arguments()),
        Run::Group => help::group_page(entry),
    }
}

/// What is shown of a command beside an error in its arguments.
fn error_page(entry: &'static Entry) -> String {
    match &entry.run {
        Run::Command { arguments, .. } => help::short_page(&arguments()),
        Run::Group => entry_page(entry),
    }
}

fn unknown_command(console: &Console, name: &str) -> u8 {
    let mut names: Vec<&str> = COMMANDS.iter().filter(|c| !c.name.contains(' ')).map(|c| c.name).collect();
    names.sort_unstable();
    let hint = suggest::name(name, names).map_or(String::new(), |close| format!(" Did you mean {close:?}?"));
    console.error_line(&format!(
        "{PROGRAM} has no command named {name:?}.{hint}\n\nTo see all of {PROGRAM}'s top-level commands, run:\n  {COMMAND} -help\n",
    ));
    1
}

/// Says which command of a group was probably meant, before the page that lists them all.
fn unknown_member(console: &Console, group: &Entry, word: &str) {
    let prefix = format!("{} ", group.name);
    let members = COMMANDS.iter().filter_map(|entry| entry.name.strip_prefix(&prefix));
    if let Some(close) = suggest::closest(word, members).filter(|_| console.shows_tips()) {
        console.error_line(&format!("{PROGRAM} has no command named \"{prefix}{word}\". Did you mean {close:?}?\n"));
    }
}

/// Takes `-chdir=DIR` out of the global options and goes there.
fn change_directory(global: &mut Vec<String>) -> Result<(), String> {
    let Some(at) = global.iter().position(|arg| arg.starts_with("-chdir")) else { return Ok(()) };
    let arg = global.remove(at);
    if arg == "-chdir" {
        return Err(
            "Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example"
                .into(),
        );
    }
    let Some(dir) = arg.strip_prefix("-chdir=") else {
        global.insert(at, arg);
        return Ok(());
    };
    if dir.is_empty() {
        return Err(
            "Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example"
                .into(),
        );
    }
    std::env::set_current_dir(dir).map_err(|e| {
        let reason = match e.kind() {
            std::io::ErrorKind::NotFound => "no such file or directory".to_string(),
            std::io::ErrorKind::NotADirectory => "not a directory".to_string(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
            _ => e.to_string(),
        };
        format!("Error handling -chdir option: chdir {dir}: {reason}")
    })
}

/// Arguments that the environment adds right after the command's name: for all commands, then for this one.
fn extra_arguments(environment: &Environment, entry: &Entry) -> Result<Vec<String>, String> {
    let own = format!("{}{}", env::TF_CLI_ARGS_, entry.name.replace(['-', ' '], "_"));
    let mut extra = Vec::new();
    for name in [env::TF_CLI_ARGS, own.as_str()] {
        let Some(text) = environment.non_empty(name) else { continue };
        let found = words::split(text).map_err(|why| format!("Error parsing extra CLI args from {name}: {why}"))?;
        extra.extend(found);
    }
    Ok(extra)
}

impl Invocation {
    /// Says what is wrong with the arguments, as the command's kind does, and gives the exit code.
    pub fn usage_error(&self, error: ArgsError) -> u8 {
        match error {
            ArgsError::Diagnostics { diagnostics, hint } => {
                self.copy_errors(&diagnostics);
                self.console.diagnostics(diagnostics);
                if hint {
                    let command = self.command;
                    self.console.print_error(&format!(
                        "\nFor more help on using this command, run:\n  {COMMAND} {command} -help\n",
                    ));
                }
            }
            ArgsError::Json(diagnostics) => view::json::errors(&self.console, diagnostics),
            ArgsError::Document(diagnostics) => view::documents::errors(&self.console, self.command, diagnostics),
            ArgsError::TextThenPage(text) => {
                self.console.red_error_line(&text);
                let entry = COMMANDS.iter().find(|entry| entry.name == self.command);
                entry.into_iter().for_each(|entry| self.console.print(&error_page(entry)));
            }
            ArgsError::TextThenErrorPage(text) => {
                self.console.red_error_line(&text);
                let entry = COMMANDS.iter().find(|entry| entry.name == self.command);
                entry.into_iter().for_each(|entry| self.console.red_error_line(error_page(entry).trim_end()));
            }
            ArgsError::Text { text, usage } => {
                let entry = COMMANDS.iter().find(|entry| entry.name == self.command);
                if let (true, Some(entry)) = (usage, entry) {
                    self.console.red_error_line(&error_page(entry));
                }
                self.console.red_error_line(&text);
            }
        }
        1
    }

    /// Writes errors of the arguments to the file of `-json-into`, for commands with a stream. As in OpenTofu, `output` and
    /// `show`, which have documents, write nothing.
    fn copy_errors(&self, diagnostics: &Diagnostics) {
        let has_stream = !matches!(self.command, "output" | "show");
        if let Some(copy) = self.console.copy.as_ref().filter(|_| has_stream) {
            view::json::errors(copy, diagnostics.clone());
        }
    }
}
