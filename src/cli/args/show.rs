//! `show`

use base::diag::Diagnostics;
use clap::{ArgMatches, Command};
use ops::inspect::show::ShowRequest;

use super::common::*;
use super::flags::{self, Given, switch, text};
use super::{Parsed, gather};

#[derive(Debug)]
pub struct Show {
    pub subject: ShowRequest,
    pub json: bool,
}

pub fn command() -> Command {
    flags::command("show")
        .about("Show the current state or a saved plan")
        .override_usage("[options] [path]")
        .long_about(
            "Shows the current state, the state file or saved plan with the given path, or what an option chooses.",
        )
        .args([json_flag(), json_into_flag()])
        .args([
            switch("state", false, "Show the current state, which is shown without this option too."),
            text("plan", "path", "Show this saved plan."),
            switch("config", false, "With -json: show the configuration, with all of its modules."),
            text(
                "module",
                "path",
                "With -json: show the module in this folder, alone and without installing anything.",
            ),
        ])
        .args(variable_flags())
        .arg(show_sensitive_flag())
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Parsed<Show> {
    let (given, mut diagnostics) = gather(command(), args);
    let json = given.on("json");
    let subject = chosen(&given, json, &mut diagnostics);
    let path = first_of_at_most_one(&given, diagnostics)?.filter(|path| !path.is_empty());
    let subject = subject.unwrap_or_else(|| path.map_or(ShowRequest::State, ShowRequest::File));
    Ok((Show { subject, json }, variable_arguments(&given)))
}

/// What a flag says is to be shown.
fn chosen(given: &ArgMatches, json: bool, diagnostics: &mut Diagnostics) -> Option<ShowRequest> {
    let named = |flag: &str| given.text(flag).filter(|value| !value.is_empty());
    let mut chosen: Vec<ShowRequest> = Vec::new();
    chosen.extend(given.on("state").then_some(ShowRequest::State));
    chosen.extend(named("plan").map(ShowRequest::Plan));
    chosen.extend(given.on("config").then_some(ShowRequest::Config));
    chosen.extend(named("module").map(ShowRequest::Module));
    if chosen.len() > 1 {
        diagnostics.error(
            "Conflicting object types to show",
            "The -state, -plan=FILENAME, -config, and -module=DIR options are mutually-exclusive, to specify which kind of object \
             to show.",
        );
    } else if !chosen.is_empty() && !given.positional().is_empty() {
        diagnostics.error(
            "Unexpected command line arguments",
            "This command does not expect any positional arguments when using a target-selection option.",
        );
    }
    let chosen = chosen.into_iter().next()?;
    match &chosen {
        ShowRequest::Config if !json => {
            diagnostics
                .error("JSON output required for configuration", "The -config option requires -json to be specified.");
        }
        ShowRequest::Module(_) if !json => {
            diagnostics
                .error("JSON output required for module", "The -module=DIR option requires -json to be specified.");
        }
        ShowRequest::Config
        | ShowRequest::Module(_)
        | ShowRequest::State
        | ShowRequest::Plan(_)
        | ShowRequest::File(_) => {}
    }
    Some(chosen)
}
