//! Schedules: a seed decides in which order the calls of the mock world go on, and when the run is interrupted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use base::stop::{Stage, Stop};
use model::addr::{AbsProviderConfig, AbsResourceInstance};
use model::state::journal::ActionPhase;
use model::state::{DeposedKey, Instance, OutputValue, State};

/// A small generator of numbers: the same seed gives the same numbers.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

/// An interrupt after so many points.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt {
    pub after: u64,
    pub stage: Stage,
}

pub struct Schedule {
    pub stop: Stop,
    pub parallelism: usize,
    /// None: calls never pause.
    random: Option<Mutex<Random>>,
    interrupt: Mutex<Option<Interrupt>>,
}

impl Default for Schedule {
    fn default() -> Schedule {
        Schedule {
            stop: Stop::new(),
            parallelism: super::world::PARALLELISM,
            random: None,
            interrupt: Mutex::default(),
        }
    }
}

impl Schedule {
    pub fn seeded(seed: u64, parallelism: usize, interrupt: Option<Interrupt>) -> Schedule {
        let random = Some(Mutex::new(Random(seed)));
        Schedule { stop: Stop::new(), parallelism, random, interrupt: Mutex::new(interrupt) }
    }

    /// A place where other steps may overtake this one, and where the interrupt may come.
    pub async fn point(&self) {
        self.count();
        let pauses = self.random.as_ref().map_or(0, |random| random.lock().unwrap().below(4));
        for _ in 0..pauses {
            tokio::task::yield_now().await;
        }
    }

    fn count(&self) {
        let mut interrupt = self.interrupt.lock().unwrap();
        let Some(coming) = interrupt.as_mut() else { return };
        if coming.after > 0 {
            coming.after -= 1;
            return;
        }
        match coming.stage {
            Stage::Running => {}
            Stage::Stopping => self.stop.stop(),
            Stage::Killed => self.stop.kill(),
        }
        *interrupt = None;
    }
}

/// The state as the sink received it: what a journal holds.
#[derive(Clone, Debug, Default)]
pub struct StateRecord {
    pub state: State,
    /// Objects whose change was started and not finished.
    pub open: BTreeSet<(AbsResourceInstance, Option<DeposedKey>)>,
    /// Actions that are due or running.
    pub actions: BTreeMap<(AbsResourceInstance, String), ActionPhase>,
}

impl StateRecord {
    pub fn begin(&mut self, state: &State) {
        *self = StateRecord { state: state.clone(), ..StateRecord::default() };
    }

    pub fn started(&mut self, addr: &AbsResourceInstance, deposed: Option<&DeposedKey>) {
        let new = self.open.insert((addr.clone(), deposed.cloned()));
        assert!(new, "{addr} was started twice");
    }

    pub fn finished(&mut self, addr: &AbsResourceInstance, provider: &AbsProviderConfig, instance: &Instance) {
        self.open.retain(|(open, _)| open != addr);
        *self.state.instance_mut(addr, provider) = instance.clone();
        self.state.prune(addr);
    }

    pub fn actions(&mut self, caller: &AbsResourceInstance, actions: &[String], phase: ActionPhase) {
        for action in actions {
            let key = (caller.clone(), action.clone());
            match phase {
                ActionPhase::Done => _ = self.actions.remove(&key),
                phase => _ = self.actions.insert(key, phase),
            }
        }
    }

    pub fn output(&mut self, name: &str, value: Option<&OutputValue>) {
        match value {
            Some(value) => drop(self.state.outputs.insert(name.into(), value.clone())),
            None => drop(self.state.outputs.remove(name)),
        }
    }
}
