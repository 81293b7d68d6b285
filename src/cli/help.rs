//! Help pages, made from what clap knows of a command.

use std::fmt::Write;

use clap::{Arg, Command};

use crate::base::name::COMMAND;
use crate::render::text::wrap::wrap;

use super::args::flags::is_switch;
use super::table::{COMMANDS, Entry, Run};

const WIDTH: usize = 78;
const INDENT: usize = 22;

/// The page of one command.
pub fn page(command: Command) -> String {
    let name = command.get_name().to_string();
    let usage = usage(&command);
    let mut out = format!("Usage: {COMMAND} [global options] {name} {usage}\n");
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        let text = wrap(&about.to_string(), WIDTH - 2);
        let _ = write!(out, "\n{}\n", indented(&text, 2));
    }
    let mut flags: Vec<&Arg> = command.get_arguments().filter(|a| a.get_long().is_some() && !a.is_hide_set()).collect();
    flags.sort_by_key(|flag| flag.get_long());
    if !flags.is_empty() {
        out.push_str("\nOptions:\n");
        for flag in flags {
            option(&mut out, flag);
        }
    }
    out.trim_end().to_string() + "\n"
}

fn usage(command: &Command) -> String {
    let mut command = command.clone();
    let rendered = command.render_usage().to_string();
    let text = rendered.strip_prefix("Usage: ").unwrap_or(&rendered).trim().to_string();
    if text.starts_with('[') && !text.contains("...]") || text.chars().next().is_some_and(char::is_uppercase) {
        return text;
    }
    if text.starts_with("[options]") { text } else { "[options]".to_string() }
}

fn option(out: &mut String, flag: &Arg) {
    let name = flag.get_long().unwrap_or_default();
    let value = match (is_switch(flag), flag.get_value_names().and_then(|names| names.first())) {
        (true, _) => match flag.get_default_values().first().and_then(|v| v.to_str()) {
            Some("true") => "=true".to_string(),
            _ => String::new(),
        },
        (false, Some(value)) => format!("={value}"),
        (false, None) => "=value".to_string(),
    };
    let head = format!("  -{name}{value}");
    let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
    let body = indented(&wrap(&help, WIDTH - INDENT), INDENT);
    if head.len() + 2 <= INDENT {
        let _ = write!(out, "\n{head}{}\n", &body[head.len().min(body.len())..]);
    } else {
        let _ = write!(out, "\n{head}\n{body}\n");
    }
}

fn indented(text: &str, by: usize) -> String {
    let pad = " ".repeat(by);
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!("{pad}{line}") });
    lines.collect::<Vec<_>>().join("\n")
}

/// The page of the program itself.
pub fn program_page() -> String {
    let top: Vec<&Entry> = COMMANDS.iter().filter(|c| !c.name.contains(' ') && !c.hidden).collect();
    let width = top.iter().map(|c| c.name.len()).max().unwrap_or_default();
    let mut out = format!(
        "Usage: {COMMAND} [global options] <subcommand> [args]\n\n\
         The available commands for execution are listed below.\n\
         The primary workflow commands are given first, followed by\n\
         less common or more advanced commands.\n\nMain commands:\n",
    );
    for entry in top.iter().filter(|c| c.primary) {
        let _ = writeln!(out, "  {:width$}  {}", entry.name, entry.summary);
    }
    out.push_str("\nAll other commands:\n");
    for entry in top.iter().filter(|c| !c.primary) {
        let _ = writeln!(out, "  {:width$}  {}{}", entry.name, entry.summary, missing(entry));
    }
    out.push_str(
        "\nGlobal options (use these before the subcommand, if any):\n\
         \x20 -chdir=DIR    Switch to a different working directory before executing the\n\
         \x20               given subcommand.\n\
         \x20 -help         Show this help output, or the help for a specified subcommand.\n\
         \x20 -version      An alias for the \"version\" subcommand.\n",
    );
    out
}

/// What is added to the summary of a command that is not there yet.
fn missing(entry: &Entry) -> &'static str {
    match entry.run {
        Run::Missing => " (not supported yet)",
        Run::Command { .. } | Run::Group => "",
    }
}

/// The page of a group of commands: `state`, `workspace`.
pub fn group_page(group: &Entry) -> String {
    let mut out = format!("Usage: {COMMAND} [global options] {} <subcommand> [options] [args]\n\n", group.name);
    let _ = write!(out, "  {}.\n\nSubcommands:\n", group.summary);
    let prefix = format!("{} ", group.name);
    let members: Vec<_> = COMMANDS.iter().filter_map(|c| Some((c.name.strip_prefix(&prefix)?, c))).collect();
    let width = members.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, entry) in members {
        let _ = writeln!(out, "    {name:width$}    {}{}", entry.summary, missing(entry));
    }
    out
}
