//! The reference of all commands, made from the dispatcher's table: a page for `docs/` and a page for `man`.

use std::fmt::Write;

use base::name::{COMMAND, PROGRAM};
use model::version::PROGRAM_VERSION;

use super::args::flags::command;
use super::args::view::view_flags;
use super::help::{Described, Description, describe};
use super::table::{COMMANDS, Entry, Run};

/// What every command understands before its name.
const GLOBAL: [(&str, &str); 5] = [
    ("-chdir=DIR", "Work in this folder instead of the current one."),
    ("-help", "Show the commands, or the help page of a command."),
    ("-version", "The same as the command \"version\"."),
    ("-install-autocomplete", "Set up completion of command lines in the shells of this user."),
    ("-uninstall-autocomplete", "Remove what -install-autocomplete set up."),
];

/// What every command understands behind its name.
fn common() -> Vec<Described> {
    let description = describe(&command("").args(view_flags()));
    description.sections.into_iter().flat_map(|section| section.options).collect()
}

/// The commands, without the flags that all have.
fn described() -> impl Iterator<Item = (&'static Entry, Option<Description>)> {
    let common: Vec<String> = common().into_iter().map(|option| option.form).collect();
    COMMANDS.iter().filter(|entry| !entry.hidden).map(move |entry| match &entry.run {
        Run::Command { arguments, .. } => {
            let mut description = describe(&arguments());
            description.sections.iter_mut().for_each(|part| part.options.retain(|o| !common.contains(&o.form)));
            description.sections.retain(|part| !part.options.is_empty());
            (entry, Some(description))
        }
        Run::Group => (entry, None),
    })
}

/// All commands in Markdown.
pub fn markdown() -> String {
    let mut out = format!(
        "# Commands\n\nMade from the help pages: `{COMMAND} COMMAND -help` shows the same, with the flags that all commands have. A test keeps this page current.\n\n\
         Flags may be written with one dash or two, and their values behind `=` or as the next word. They end at the first argument \
         that is not a flag. `TF_CLI_ARGS` and `TF_CLI_ARGS_name` add arguments; see [environment variables](environment.md).\n\n\
         Exit codes: 0 for success, 1 for an error, others where a command names them.\n\n## Before the command\n\n"
    );
    let global = GLOBAL.map(|(form, help)| Described { form: form.into(), help: help.into() });
    markdown_options(&mut out, &global);
    out.push_str("\n## In every command\n\n");
    markdown_options(&mut out, &common());
    for (entry, description) in described() {
        let _ = write!(out, "\n## {}\n\n", entry.name);
        let Some(description) = description else {
            out.push_str(&heading(entry));
            continue;
        };
        let _ = write!(out, "```\n{COMMAND} {} {}\n```\n\n{}\n", entry.name, description.usage, description.about);
        for section in &description.sections {
            let _ = write!(out, "\n{}:\n\n", section.title);
            markdown_options(&mut out, &section.options);
        }
    }
    out
}

/// What is said of a heading.
fn heading(entry: &Entry) -> String {
    format!("{}: the commands below.\n", entry.summary)
}

fn markdown_options(out: &mut String, options: &[Described]) {
    out.push_str("| Flag | |\n|---|---|\n");
    for option in options {
        let _ = writeln!(out, "| `{}` | {} |", option.form.replace('|', "\\|"), option.help.replace('|', "\\|"));
    }
}

/// All commands as the source of a manual page.
pub fn manual() -> String {
    let mut out = format!(
        ".TH {} 1 \"\" \"{PROGRAM} {PROGRAM_VERSION}\" \"User Commands\"\n.SH NAME\n{COMMAND} \\- infrastructure as code in one \
         program\n.SH SYNOPSIS\n.B {COMMAND}\n[global options] command [options] [arguments]\n.SH GLOBAL OPTIONS\n",
        COMMAND.to_string().to_uppercase()
    );
    for (form, help) in GLOBAL {
        roff_option(&mut out, form, help);
    }
    out.push_str(".SH OPTIONS OF EVERY COMMAND\n");
    common().iter().for_each(|option| roff_option(&mut out, &option.form, &option.help));
    out.push_str(".SH COMMANDS\n");
    for (entry, description) in described() {
        let _ = writeln!(out, ".SS {}", roff(entry.name));
        let Some(description) = description else {
            let _ = writeln!(out, "{}", roff(heading(entry).trim_end()));
            continue;
        };
        let _ = writeln!(out, ".B {} {}\n{}\n.PP", COMMAND, roff(entry.name), roff(&description.usage));
        let _ = writeln!(out, "{}", roff(&description.about).replace("\n\n", "\n.PP\n"));
        for option in description.sections.iter().flat_map(|section| &section.options) {
            roff_option(&mut out, &option.form, &option.help);
        }
    }
    out.push_str(".SH EXIT STATUS\n0 for success, 1 for an error, others where a command names them.\n");
    out
}

fn roff_option(out: &mut String, form: &str, help: &str) {
    let _ = writeln!(out, ".TP\n.B {}\n{}", roff(form), roff(help));
}

/// Text that the formatter takes as it is.
fn roff(text: &str) -> String {
    let lines = text.replace('\\', "\\e").replace('-', "\\-");
    let quoted = |line: &str| if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_string() };
    lines.split('\n').map(quoted).collect::<Vec<_>>().join("\n")
}
