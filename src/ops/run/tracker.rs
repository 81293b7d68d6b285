//! What a run has done so far: counted for its last line, and by object for a run that fails or is interrupted.
//!
//! Hears the events on their way to the listener. Never changes or holds back one.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use backend::durable::journaled::ObjectAddress;
use engine::event::Event;
use engine::ports::Observer;
use model::addr::AbsResourceInstance;
use model::plan::{Action, Plan, ResourceChange};
use model::state::{ObjectStatus, State};

use crate::interface::listen::Listener;
use crate::interface::planning::{Tally, Unfinished};

pub struct Tracker {
    listener: Arc<dyn Listener>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    tally: Tally,
    /// The objects whose change has begun.
    objects: HashMap<ObjectAddress, Steps>,
    /// The objects whose provisioners run.
    provisioning: BTreeSet<AbsResourceInstance>,
}

/// How far the change of one object came.
#[derive(Clone, Copy, Default)]
struct Steps {
    destroyed: bool,
    /// Created or updated.
    made: bool,
    failed: bool,
}

impl Tracker {
    pub fn new(listener: Arc<dyn Listener>) -> Tracker {
        Tracker { listener, seen: Mutex::default() }
    }

    pub fn tally(&self) -> Tally {
        self.seen().tally
    }

    /// The objects whose provisioners run at this moment.
    pub fn provisioning(&self) -> Vec<String> {
        self.seen().provisioning.iter().map(ToString::to_string).collect()
    }

    /// What a run left that came to its end with errors or after an interrupt. `state`: the last one.
    pub fn unfinished(&self, plan: &Plan, state: &State, interrupted: bool) -> Unfinished {
        let is_tainted = |addr: &AbsResourceInstance| {
            state
                .instance(addr)
                .and_then(|instance| instance.current.as_ref())
                .is_some_and(|it| it.status == ObjectStatus::Tainted)
        };
        self.collect(plan, &[], interrupted, is_tainted)
    }

    /// What a run left that was interrupted twice. `open`: the objects that were being changed.
    pub fn abandoned(&self, plan: &Plan, open: &[ObjectAddress]) -> Unfinished {
        let provisioning = self.seen().provisioning.clone();
        self.collect(plan, open, true, |addr| provisioning.contains(addr))
    }

    fn collect(
        &self,
        plan: &Plan,
        open: &[ObjectAddress],
        interrupted: bool,
        is_tainted: impl Fn(&AbsResourceInstance) -> bool,
    ) -> Unfinished {
        let seen = self.seen();
        let mut unfinished = Unfinished { interrupted, uncertain: open.len(), ..Unfinished::default() };
        let open: BTreeSet<&ObjectAddress> = open.iter().collect();
        for change in plan.changes.iter().filter(|change| is_step(change)) {
            let object = (change.addr.clone(), change.deposed.clone());
            let Some(steps) = seen.objects.get(&object) else {
                unfinished.not_started.push(object_text(&object));
                continue;
            };
            if open.contains(&object) {
                continue;
            }
            let addr = &change.addr;
            let was_to_stay = !matches!(change.action, Action::Delete);
            if was_to_stay && is_tainted(addr) {
                unfinished.tainted.push(addr.to_string());
            } else if was_to_stay && steps.destroyed && !steps.made && change.action == Action::DeleteThenCreate {
                unfinished.gone.push(addr.to_string());
            } else {
                unfinished.failed += usize::from(steps.failed);
            }
        }
        unfinished
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Whether a provider is asked to change something.
fn is_step(change: &ResourceChange) -> bool {
    !matches!(change.action, Action::NoOp | Action::Read | Action::Forget)
}

/// An object as it is named in lists.
pub fn object_text((addr, deposed): &ObjectAddress) -> String {
    match deposed {
        None => addr.to_string(),
        Some(key) => format!("{addr} (deposed object {key})"),
    }
}

impl Observer for Tracker {
    fn event(&self, event: Event) {
        self.seen().hear(&event);
        self.listener.event(event);
    }
}

impl Seen {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::ImportFinished { .. } => self.tally.imported += 1,
            Event::ActionFinished { error, .. } => {
                self.tally.actions += 1;
                self.tally.failed_actions += usize::from(error.is_some());
            }
            Event::ApplyStarted { addr, deposed, .. } => {
                self.objects.entry((addr.clone(), deposed.clone())).or_default();
            }
            Event::ProvisionStarted { addr, .. } => {
                self.provisioning.insert(addr.clone());
            }
            Event::ProvisionFinished { addr, .. } => {
                self.provisioning.remove(addr);
            }
            Event::ApplyFinished { addr, deposed, action, failed, .. } => {
                let steps = self.objects.entry((addr.clone(), deposed.clone())).or_default();
                if *failed {
                    steps.failed = true;
                    return;
                }
                match action {
                    Action::Delete => steps.destroyed = true,
                    _ => steps.made = true,
                }
                self.count(*action);
            }
            _ => {}
        }
    }

    fn count(&mut self, action: Action) {
        let tally = &mut self.tally;
        match action {
            Action::Create | Action::CreateThenForget => tally.added += 1,
            Action::Update => tally.changed += 1,
            Action::Delete => tally.removed += 1,
            Action::DeleteThenCreate | Action::CreateThenDelete => {
                tally.removed += 1;
                tally.added += 1;
            }
            Action::NoOp | Action::Read | Action::Forget => {}
        }
    }
}
