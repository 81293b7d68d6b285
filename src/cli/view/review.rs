//! What `show -html` and `show -markdown` write: plans and states brought to the renderer.

use base::dialect::Dialect;
use model::addr::Provider;
use model::config::Config;
use model::plan::Plan;
use model::state::State;
use ops::hcp::{RunPlan, ShownRun};
use ops::inspect::show::ShowSubject;
use ops::interface::planning::Schemas;
use render::html;
use render::markdown::{CommentLimit, markdown};
use render::review::Review;

use super::shown::schema;

/// The format of a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewFormat {
    Html,
    Markdown(CommentLimit),
}

/// None: it is neither a plan nor a state.
pub fn of_subject(subject: &ShowSubject, format: ReviewFormat, dialect: Dialect) -> Option<String> {
    match subject {
        ShowSubject::Nothing => Some(of_state(&State::default(), &Schemas::new(), format, dialect)),
        ShowSubject::State { file, schemas } => Some(of_state(&file.state, schemas, format, dialect)),
        ShowSubject::Plan { planned } => {
            Some(of_plan(&planned.plan, Some(&planned.config), &planned.schemas, format, dialect))
        }
        ShowSubject::Config { .. } | ShowSubject::Module(_) => None,
    }
}

/// The plan of a run of a service, which does not describe the configuration.
pub fn of_run(run: &ShownRun, format: ReviewFormat, dialect: Dialect) -> Option<String> {
    match &run.plan {
        RunPlan::Described(described) => Some(of_plan(&described.plan, None, &described.schemas, format, dialect)),
        RunPlan::Json(_) => None,
    }
}

fn of_plan(plan: &Plan, config: Option<&Config>, schemas: &Schemas, format: ReviewFormat, dialect: Dialect) -> String {
    let lookup = |provider: &Provider, mode, kind: &str| schema(schemas, provider, mode, kind);
    rendered(&Review::of_plan(plan, config, &lookup, dialect), format)
}

fn of_state(state: &State, schemas: &Schemas, format: ReviewFormat, dialect: Dialect) -> String {
    let lookup = |provider: &Provider, mode, kind: &str| schema(schemas, provider, mode, kind);
    rendered(&Review::of_state(state, &lookup, dialect), format)
}

fn rendered(review: &Review<'_>, format: ReviewFormat) -> String {
    match format {
        ReviewFormat::Html => html::page(review),
        ReviewFormat::Markdown(limit) => markdown(review, limit),
    }
}
