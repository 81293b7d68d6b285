//! Help pages, made from what clap knows of a command.
//!
//! Owns how commands describe themselves; the reference of all commands is made of the same descriptions.

use std::fmt::Write;

use base::name::COMMAND;
use clap::{Arg, Command};
use render::text::wrap::wrap;

use super::args::flags::{is_switch, takes_text};
use super::table::{COMMANDS, Entry};

const WIDTH: usize = 78;
const INDENT: usize = 22;

/// What there is to say of a command: for its help page, and for the reference of all commands.
pub struct Description {
    pub name: String,
    /// What follows the name: `[options] NAME`.
    pub usage: String,
    pub about: String,
    pub sections: Vec<Section>,
}

/// Options under a heading.
pub struct Section {
    pub title: String,
    pub options: Vec<Described>,
}

pub struct Described {
    /// As it is typed: `-out=path`, `-lock=false`.
    pub form: String,
    pub help: String,
}

/// Describes a command by its arguments.
pub fn describe(command: &Command) -> Description {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let shown = command.get_arguments().filter(|flag| flag.get_long().is_some() && !flag.is_hide_set());
    let (with_heading, mut others): (Vec<&Arg>, Vec<&Arg>) = shown.partition(|flag| flag.get_help_heading().is_some());
    let mut sections: Vec<Section> = Vec::new();
    for flag in with_heading {
        let title = flag.get_help_heading().unwrap_or_default();
        match sections.iter_mut().find(|section| section.title == title) {
            Some(section) => section.options.push(described(flag)),
            None => sections.push(Section { title: title.into(), options: vec![described(flag)] }),
        }
    }
    others.sort_by_key(|flag| flag.get_long());
    if !others.is_empty() {
        let title = if sections.is_empty() { "Options" } else { "Other options" };
        sections.push(Section { title: title.into(), options: others.into_iter().map(described).collect() });
    }
    Description { name: command.get_name().to_string(), usage: usage(command), about, sections }
}

fn described(flag: &Arg) -> Described {
    let name = flag.get_long().unwrap_or_default();
    let default = flag.get_default_values().first().and_then(|value| value.to_str());
    let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
    if is_switch(flag) && !takes_text(flag) {
        // What is on by default is described by what it does when it is off.
        let value = if default == Some("true") { "=false" } else { "" };
        return Described { form: format!("-{name}{value}"), help };
    }
    let value = flag.get_value_names().and_then(|names| names.first()).map_or("value", |name| name.as_str());
    let help = default.map_or_else(|| help.clone(), |default| format!("{help} Default: {default}."));
    Described { form: format!("-{name}={value}"), help }
}

/// The page of one command.
pub fn page(command: &Command) -> String {
    let description = describe(command);
    let mut out = heading(&description);
    for section in description.sections {
        let _ = write!(out, "\n{}:\n", section.title);
        section.options.iter().for_each(|option| write_option(&mut out, option));
    }
    out.trim_end().to_string() + "\n"
}

/// The page of one command without its options, which would push an error away.
pub fn short_page(command: &Command) -> String {
    let description = describe(command);
    let how = format!("For all options, run:\n  {COMMAND} {} -help\n", description.name);
    format!("{}\n{how}", heading(&description))
}

fn heading(Description { name, usage, about, .. }: &Description) -> String {
    let mut out = format!("Usage: {COMMAND} [global options] {name} {usage}\n");
    if !about.is_empty() {
        let _ = write!(out, "\n{}\n", indented(&wrap(about, WIDTH - 2), 2));
    }
    out
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

fn write_option(out: &mut String, option: &Described) {
    let head = format!("  {}", option.form);
    let body = indented(&wrap(&option.help, WIDTH - INDENT), INDENT);
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
        let _ = writeln!(out, "  {:width$}  {}", entry.name, entry.summary);
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

/// The page of a group of commands: `state`, `workspace`.
pub fn group_page(group: &Entry) -> String {
    let mut out = format!("Usage: {COMMAND} [global options] {} <subcommand> [options] [args]\n\n", group.name);
    let _ = write!(out, "  {}.\n\nSubcommands:\n", group.summary);
    let prefix = format!("{} ", group.name);
    let members: Vec<_> = COMMANDS.iter().filter_map(|c| Some((c.name.strip_prefix(&prefix)?, c))).collect();
    let width = members.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, entry) in members {
        let _ = writeln!(out, "    {name:width$}    {}", entry.summary);
    }
    out
}
