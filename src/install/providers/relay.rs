//! Events of work that runs side by side, told in the order of the work: what the first does is told at once, what others
//! do when those before them are done.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::install::event::InstallEvent;

pub type Tell<'a> = &'a mut (dyn FnMut(InstallEvent) + Send);

pub struct Relay<'a> {
    state: Mutex<State<'a>>,
}

struct State<'a> {
    tell: Tell<'a>,
    slots: Vec<Slot>,
    /// The slot that is told at once.
    first: usize,
}

#[derive(Default)]
struct Slot {
    waiting: VecDeque<InstallEvent>,
    done: bool,
}

impl<'a> Relay<'a> {
    /// For as many pieces of work.
    pub fn new(tell: Tell<'a>, slots: usize) -> Relay<'a> {
        let slots = (0..slots).map(|_| Slot::default()).collect();
        Relay { state: Mutex::new(State { tell, slots, first: 0 }) }
    }

    pub fn say(&self, slot: usize, event: InstallEvent) {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // How far a download is means nothing later.
        if slot == state.first || matches!(event, InstallEvent::Progress { .. }) {
            (state.tell)(event);
        } else if let Some(slot) = state.slots.get_mut(slot) {
            slot.waiting.push_back(event);
        }
    }

    /// Nothing more will be said of this piece of work.
    pub fn done(&self, slot: usize) {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = state.slots.get_mut(slot) {
            slot.done = true;
        }
        while let Some(slot) = state.slots.get_mut(state.first) {
            slot.waiting.drain(..).for_each(&mut *state.tell);
            if !slot.done {
                return;
            }
            state.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::addr::Provider;

    #[test]
    fn events_come_in_the_order_of_the_work() {
        let mut heard = Vec::new();
        let mut tell = |event: InstallEvent| match event {
            InstallEvent::BuiltIn { provider, .. } => heard.push(provider.kind.to_string()),
            other => heard.push(format!("{other:?}")),
        };
        let event = |name: &str| InstallEvent::BuiltIn { provider: Provider::builtin(name), version: None };
        let relay = Relay::new(&mut tell, 3);
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
