//! Events of running operations.

use crate::base::diag::Diagnostics;
use crate::engine::event::Event;
use crate::engine::ports::Observer;

use super::planning::Planned;

/// Hears what an operation does; never answers.
pub trait Listener: Observer {
    /// A plan is ready and should be shown, before the approval and the apply.
    fn planned(&self, planned: &Planned);

    /// A plan was read from a file and is about to be carried out.
    fn loaded(&self, planned: &Planned);

    /// Found before the end and to be shown now.
    fn diagnostics(&self, diagnostics: Diagnostics);

    /// Another process holds the state lock; the command waits.
    fn waiting_for_lock(&self);

    /// An operation that runs elsewhere has a line to show.
    fn remote(&self, _line: RemoteLine<'_>) {}
}

/// A line of an operation that runs elsewhere.
#[derive(Clone, Copy, Debug)]
pub enum RemoteLine<'a> {
    /// This program's own: a template with tags for colours, and what stands for each `{}`.
    Own { template: &'a str, arguments: &'a [&'a str] },
    /// Of the log of a run, which some services give as lines of JSON.
    Log { text: &'a str, of_plan: bool },
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
