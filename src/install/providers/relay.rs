//! Reports events of parallel jobs in the order of the jobs: those of the first job immediately, those of others
//! when the jobs before them have finished.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::event::InstallEvent;

pub type Reporter<'a, E = InstallEvent> = &'a mut (dyn FnMut(E) + Send);

pub struct Relay<'a, E = InstallEvent> {
    state: Mutex<RelayState<'a, E>>,
}

struct RelayState<'a, E> {
    report: Reporter<'a, E>,
    slots: Vec<Slot<E>>,
    /// The slot whose events are reported immediately.
    first: usize,
}

struct Slot<E> {
    queued: VecDeque<E>,
    done: bool,
}

/// An event that may mean nothing later.
pub trait Fleeting {
    /// It is reported immediately or not at all.
    fn is_fleeting(&self) -> bool {
        false
    }
}

impl Fleeting for InstallEvent {
    /// How far a download is.
    fn is_fleeting(&self) -> bool {
        matches!(self, InstallEvent::Progress { .. })
    }
}

impl<'a, E: Fleeting> Relay<'a, E> {
    /// For as many pieces of work.
    pub fn new(report: Reporter<'a, E>, slots: usize) -> Relay<'a, E> {
        let slots = (0..slots).map(|_| Slot { queued: VecDeque::new(), done: false }).collect();
        Relay { state: Mutex::new(RelayState { report, slots, first: 0 }) }
    }

    pub fn say(&self, slot: usize, event: E) {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if slot == state.first || event.is_fleeting() {
            (state.report)(event);
        } else if let Some(slot) = state.slots.get_mut(slot) {
            slot.queued.push_back(event);
        }
    }

    /// Nothing more will be said of this piece of work.
    pub fn done(&self, slot: usize) {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = state.slots.get_mut(slot) {
            slot.done = true;
        }
        while let Some(slot) = state.slots.get_mut(state.first) {
            slot.queued.drain(..).for_each(&mut *state.report);
            if !slot.done {
                return;
            }
            state.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use model::addr::Provider;

    use super::*;

    #[test]
    fn events_come_in_the_order_of_the_work() {
        let mut heard = Vec::new();
        let mut report = |event: InstallEvent| match event {
            InstallEvent::BuiltIn { provider, .. } => heard.push(provider.kind.to_string()),
            other => heard.push(format!("{other:?}")),
        };
        let event =
            |name: &str| InstallEvent::BuiltIn { provider: Provider::builtin(name), version: None, locked: None };
        let relay = Relay::new(&mut report, 3);
        relay.say(1, event("b1"));
        relay.say(0, event("a1"));
        relay.say(2, event("c1"));
        relay.done(2);
        relay.say(0, event("a2"));
        relay.done(0);
        relay.say(1, event("b2"));
        relay.done(1);
        assert_eq!(heard, ["a1", "a2", "b1", "b2", "c1"]);
    }
}
