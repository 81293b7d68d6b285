//! `show`

use std::path::Path;
use std::sync::Arc;

use base::atomic;
use base::diag::{Diagnostic, Diagnostics};
use base::name::COMMAND;
use ops::hcp;
use ops::inspect::show::{self, ShowRequest, ShowSubject};
use render::markdown::CommentLimit;

use crate::Invocation;
use crate::args::ArgsError;
use crate::args::plan_view::{INCOMPATIBLE, PlanView};
use crate::args::show::{RequestedReview, Show, parse};
use crate::console::Console;
use crate::view::review::{ReviewFormat, of_run, of_subject};
use crate::view::show::{ShowView, file_view, view};

/// The summary where the file of `-out` cannot be written.
const WRITE_FAILED: &str = "Failed to write file";

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let (args, setup) = match super::parsed_and_setup(invocation, parse(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let format = match args.review.as_ref().map(|review| review_format(console, review)).transpose() {
        Ok(format) => format,
        Err(error) => return invocation.usage_error(error),
    };
    let work = async {
        if let ShowRequest::File(path) | ShowRequest::Plan(path) = &args.subject
            && let Some(shown) = hcp::show(&setup, path.as_ref(), args.json).await?
        {
            return Ok(Err(shown));
        }
        let (found, warnings) = show::run(&setup, &args.subject).await?;
        let is_encrypted = format.is_some() && show::is_encrypted(&setup, &args.subject).await;
        Ok::<_, Diagnostics>(Ok((found, warnings, is_encrypted)))
    };
    let (found, warnings, is_encrypted) = match super::run_with(invocation, &setup, work) {
        Ok(Ok(Ok(found))) => found,
        Ok(Ok(Err(run))) => {
            if let Some(format) = format {
                return give_review(console, &args, of_run(&run, format, console.dialect()));
            }
            return give(console, args.out.as_deref(), &chosen_view(console, &args).run(&run));
        }
        Ok(Err(diagnostics)) => return super::finish(console, diagnostics),
        Err(code) => return code,
    };
    if let Some(copy) = &console.copy
        && let Ok(text) = view(copy, true, &args.view).text(&found)
    {
        copy.print(&text);
    }
    if let Some(format) = format {
        console.diagnostics_aside(warnings);
        if is_encrypted {
            console.error_line(
                "Note: what is shown is stored encrypted. The output is clear text; only sensitive values are left out.",
            );
        }
        return give_review(console, &args, of_subject(&found, format, console.dialect()));
    }
    if let Some(problem) = unfit_filter(&args.view, &found) {
        return super::finish(console, problem.into());
    }
    let view = chosen_view(console, &args);
    view.warnings(warnings);
    let what = if matches!(found, ShowSubject::Plan { .. }) { "plan" } else { "state" };
    match view.text(&found) {
        Ok(text) => give(console, args.out.as_deref(), &text),
        Err(why) => {
            console.error_line(&format!("Failed to marshal {what} to json: {why}"));
            1
        }
    }
}

fn chosen_view(console: &Arc<Console>, args: &Show) -> Box<dyn ShowView> {
    match args.out {
        Some(_) => file_view(console, &args.view),
        None => view(console, args.json, &args.view),
    }
}

/// The error where a filter is for plans, and there is a state to show.
fn unfit_filter(view: &PlanView, found: &ShowSubject) -> Option<Diagnostic> {
    let is_state = matches!(found, ShowSubject::State { .. } | ShowSubject::Nothing);
    let filter = &view.filter;
    let is_of_plans = !filter.only.is_empty() || filter.diff_only;
    let why = match (is_of_plans, view.summary_form) {
        (true, _) => "The options -only and -diff-only choose changes of a plan, but this is a state.",
        (false, None) if !filter.matching.is_empty() => {
            "To choose objects of a state, use -match together with -summary."
        }
        (false, _) => return None,
    };
    is_state.then(|| Diagnostic::error(INCOMPATIBLE, why))
}

/// Writes the text to a file, or to standard output. Returns the exit code.
fn give(console: &Arc<Console>, out: Option<&str>, text: &str) -> u8 {
    let Some(path) = out else {
        console.print(text);
        return 0;
    };
    match atomic::write(Path::new(path), text.as_bytes()) {
        Ok(()) => 0,
        Err(error) => super::finish(console, Diagnostic::error(WRITE_FAILED, format!("{error}.")).into()),
    }
}

/// The format of a review, with what the user's limit stands for.
fn review_format(console: &Console, review: &RequestedReview) -> Result<ReviewFormat, ArgsError> {
    if console.view.show_sensitive {
        return Err(ArgsError::usage(
            "Sensitive values cannot be shown",
            "Pages and texts for merge requests never contain sensitive values, because they are passed on. Remove -show-sensitive, \
             or use it without -html and -markdown.",
        ));
    }
    match review {
        RequestedReview::Html => Ok(ReviewFormat::Html),
        RequestedReview::Markdown(None) => Ok(ReviewFormat::Markdown(CommentLimit::default())),
        RequestedReview::Markdown(Some(text)) => {
            let limit = CommentLimit::parse(text).ok_or_else(|| {
                ArgsError::usage(
                    "Invalid -max-bytes option",
                    format!(
                        "The -max-bytes option must be github, gitlab, azure, bitbucket or a number of at least {}, but it is {text:?}.",
                        CommentLimit::LEAST
                    ),
                )
            })?;
            Ok(ReviewFormat::Markdown(limit))
        }
    }
}

/// Writes a review, which only its owner may read, to a file or to standard output. None: the subject is nothing that people review.
fn give_review(console: &Arc<Console>, args: &Show, text: Option<String>) -> u8 {
    let Some(text) = text else {
        let detail =
            format!("Only a plan or a state can be shown with -html or -markdown. Run `{COMMAND} show -json` instead.");
        return super::finish(console, Diagnostic::error("Nothing to review", detail).into());
    };
    match &args.out {
        None => give(console, None, &text),
        Some(path) => match atomic::write_private(Path::new(path), text.as_bytes()) {
            Ok(()) => 0,
            Err(error) => super::finish(console, Diagnostic::error(WRITE_FAILED, format!("{error}.")).into()),
        },
    }
}
