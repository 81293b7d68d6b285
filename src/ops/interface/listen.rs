//! Events of running operations.

use base::diag::Diagnostics;
use engine::event::Event;
use engine::ports::Observer;
use model::config::Config;
use model::plan::document::DescribedPlan;
use serde_json::Value as Json;

use super::planning::Planned;

/// Hears what an operation does; never answers.
pub trait Listener: Observer {
    /// The configuration is read; nothing is shown before it, except for what keeps it from being read.
    fn configured(&self, _config: &Config) {}

    /// A plan is ready and should be shown, before the approval and the apply.
    fn planned(&self, planned: &Planned);

    /// A plan was read from a file and is about to be carried out.
    fn loaded(&self, planned: &Planned);

    /// Found before the end and to be shown now.
    fn diagnostics(&self, diagnostics: Diagnostics);

    /// Another process holds the state lock; the command waits.
    fn waiting_for_lock(&self);

    /// A line of an operation that runs on a service.
    fn remote(&self, _line: RemoteLine<'_>) {}
}

/// Output of an operation that runs on a service.
#[derive(Clone, Copy)]
pub enum RemoteLine<'a> {
    /// A line of this program: a template with tags for colours, and what stands for each `{}`.
    Own {
        template: &'a str,
        arguments: &'a [&'a str],
    },
    /// A line of a log.
    Text(&'a str),
    /// A message of a log in the format of `-json`, and its text. `is_repeated`: the description of the plan shows the same.
    Message {
        message: &'a Json,
        text: &'a str,
        is_repeated: bool,
    },
    Plan(&'a DescribedPlan),
}

/// For operations that have nothing to tell.
pub struct SilentListener;

impl Observer for SilentListener {
    fn event(&self, _event: Event) {}
}

impl Listener for SilentListener {
    fn planned(&self, _planned: &Planned) {}

    fn loaded(&self, _planned: &Planned) {}

    fn diagnostics(&self, _diagnostics: Diagnostics) {}

    fn waiting_for_lock(&self) {}
}
