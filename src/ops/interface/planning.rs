//! The result of planning, for views.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::addr;
use model::config::Config;
use model::plan::{Action, Plan, ResourceChange};
use terrane_protocol::schema::{ProviderSchemas, ResourceMode};

/// Schemas by provider, as far as a plan or a state speaks of them.
pub type Schemas = BTreeMap<addr::Provider, Arc<dyn ProviderSchemas>>;

/// A plan with what is needed to show it.
#[derive(Clone)]
pub struct Planned {
    pub plan: Arc<Plan>,
    pub config: Arc<Config>,
    pub schemas: Schemas,
}

/// How many objects an operation concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub added: usize,
    pub changed: usize,
    pub imported: usize,
    pub removed: usize,
    /// Objects that are left alone from now on.
    pub forgotten: usize,
    /// Actions: to invoke, or invoked whether or not they succeeded.
    pub actions: usize,
    pub failed_actions: usize,
}

/// What is left of a plan that was not carried out to its end. Names are addresses, in the plan's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// By the user, rather than by errors.
    pub interrupted: bool,
    /// Objects whose change failed, and that are in none of the lists below.
    pub failed: usize,
    /// Objects that were being changed when the run was abandoned; their state is not known.
    pub uncertain: usize,
    /// New objects that the next apply replaces.
    pub tainted: Vec<String>,
    /// Destroyed for a replacement that was not created.
    pub gone: Vec<String>,
    pub not_started: Vec<String>,
}

impl Tally {
    /// What a plan is going to do.
    pub fn of_plan(plan: &Plan) -> Tally {
        let mut tally = Tally { actions: plan.invocations.len(), ..Tally::default() };
        // Data sources that are dropped are not shown.
        let is_shown =
            |change: &&ResourceChange| change.action != Action::Delete || change.addr.mode() == ResourceMode::Managed;
        for change in plan.changes.iter().filter(is_shown) {
            tally.imported += usize::from(change.importing.is_some());
            tally.forgotten += usize::from(change.action.forgets());
            match change.action {
                Action::Create => tally.added += 1,
                Action::Update => tally.changed += 1,
                Action::Delete => tally.removed += 1,
                Action::DeleteThenCreate | Action::CreateThenDelete => {
                    tally.added += 1;
                    tally.removed += 1;
                }
                Action::CreateThenForget => tally.added += 1,
                Action::NoOp | Action::Read | Action::Forget => {}
            }
        }
        tally
    }
}
