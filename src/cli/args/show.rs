//! `show`

use base::diag::Diagnostics;
use clap::{ArgMatches, Command};
use ops::inspect::show::ShowRequest;

use super::common::*;
use super::flags::{self, Given, switch, text};
use super::plan_view::{INCOMPATIBLE, PlanView, plan_view, plan_view_flags, refuse_with_json};
use super::{Parsed, gather};

#[derive(Debug)]
pub struct Show {
    pub subject: ShowRequest,
    pub json: bool,
    pub view: PlanView,
    /// None: text or JSON.
    pub review: Option<RequestedReview>,
    /// The file to write to, in place of standard output.
    pub out: Option<String>,
}

/// What people review in a browser or in a merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedReview {
    Html,
    /// With `-max-bytes` as given.
    Markdown(Option<String>),
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
        .args(plan_view_flags())
        .args([
            switch(
                "html",
                false,
                "Write one HTML page that needs no network: summary, search, differences, dependency graph. Sensitive values are not in it.",
            ),
            switch(
                "markdown",
                false,
                "Write Markdown for a merge request, the most dangerous changes first. Sensitive values are not in it.",
            ),
            text(
                "max-bytes",
                "host|n",
                "With -markdown: the length that the code host allows: github, gitlab, azure, bitbucket or a number of bytes.",
            ),
            text(
                "out",
                "path",
                "With -summary, -html or -markdown: write to this file in place of standard output.",
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
    let view = plan_view(&given, &mut diagnostics);
    let out = given.text("out").filter(|path| !path.is_empty());
    let review = review(&given, &view, json, &mut diagnostics);
    if out.is_some() && view.summary_form.is_none() && review.is_none() {
        diagnostics.error(INCOMPATIBLE, "The -out=FILE option requires -summary, -html or -markdown to be specified.");
    }
    check_form(&view, json, subject.as_ref(), &mut diagnostics);
    let path = first_of_at_most_one(&given, diagnostics)?.filter(|path| !path.is_empty());
    let subject = subject.unwrap_or_else(|| path.map_or(ShowRequest::State, ShowRequest::File));
    Ok((Show { subject, json, view, review, out }, variable_arguments(&given)))
}

/// The page or text for a review, if one is asked for.
fn review(given: &ArgMatches, view: &PlanView, json: bool, diagnostics: &mut Diagnostics) -> Option<RequestedReview> {
    let (html, markdown) = (given.on("html"), given.on("markdown"));
    if usize::from(html) + usize::from(markdown) + usize::from(json) > 1 {
        diagnostics.error(
            INCOMPATIBLE,
            "The -json, -html and -markdown options are mutually-exclusive. Use -json-into=FILENAME to write JSON beside another \
             format.",
        );
    } else if (html || markdown) && !view.is_default() {
        diagnostics.error(
            INCOMPATIBLE,
            "The options -summary, -only, -match and -diff-only are not valid together with -html and -markdown, which have a summary \
             and show all changes.",
        );
    }
    if given.text("max-bytes").is_some() && !markdown {
        diagnostics.error(INCOMPATIBLE, "The -max-bytes option requires -markdown to be specified.");
    }
    match (html, markdown) {
        (true, _) => Some(RequestedReview::Html),
        (false, true) => Some(RequestedReview::Markdown(given.text("max-bytes"))),
        (false, false) => None,
    }
}

/// Reports forms that what is shown does not have.
fn check_form(view: &PlanView, json: bool, subject: Option<&ShowRequest>, diagnostics: &mut Diagnostics) {
    let is_document = matches!(subject, Some(ShowRequest::Config | ShowRequest::Module(_)));
    if is_document && !view.is_default() {
        diagnostics.error(
            INCOMPATIBLE,
            "The options -summary, -only, -match and -diff-only are for plans and states, so they are not valid together with \
             -config and -module=DIR.",
        );
    } else if json {
        refuse_with_json(view, diagnostics);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Show, usize> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        match parse(&words) {
            Ok((show, _)) => Ok(show),
            Err(crate::args::ArgsError::Diagnostics { diagnostics, .. }) => Err(diagnostics.len()),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn reviews_exclude_other_formats() {
        let review = |words: &[&str]| parsed(words).map(|show| (show.review, show.out));
        assert_eq!(review(&["-html", "-out=a", "plan"]), Ok((Some(RequestedReview::Html), Some("a".into()))));
        let markdown = RequestedReview::Markdown(Some("github".into()));
        assert_eq!(review(&["-markdown", "-max-bytes=github"]), Ok((Some(markdown), None)));
        assert_eq!(review(&["plan"]), Ok((None, None)));
        let refused: [(&[&str], usize); 7] = [
            (&["-html", "-json"], 1),
            (&["-html", "-markdown"], 1),
            (&["-html", "-config"], 1),
            (&["-markdown", "-json", "-module=m"], 1),
            (&["-html", "-max-bytes=5"], 1),
            (&["-out=a"], 1),
            (&["-html", "-only=delete"], 1),
        ];
        for (words, errors) in refused {
            assert_eq!(review(words), Err(errors), "{words:?}");
        }
    }
}
