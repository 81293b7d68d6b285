//! Deposed objects: the old object of a replacement that creates first, until it is destroyed.

use base::diag::Diagnostics;
use model::addr::AbsResourceInstance;
use model::state::DeposedKey;

use crate::run::{Run, Verb};
use crate::step::resource::Instance;
use crate::step::resource::record::save;

/// Puts the current object aside, under a new key.
pub async fn depose(instance: &Instance<'_>) -> (Option<DeposedKey>, Diagnostics) {
    let run = instance.run;
    let Some(key) = new_key(run, &instance.addr) else { return (None, Diagnostics::new()) };
    let set_aside = key.clone();
    let found = save(run, &instance.addr, instance.provider_addr, move |place| {
        if let Some(object) = place.current.take() {
            place.deposed.insert(set_aside, object);
        }
    })
    .await;
    (Some(key), found)
}

/// A replacement that was not made gives its place back to the object that was put aside.
pub async fn restore(instance: &Instance<'_>, deposed: Option<&DeposedKey>) -> Diagnostics {
    let Some(key) = deposed else { return Diagnostics::new() };
    save(instance.run, &instance.addr, instance.provider_addr, |place| {
        if place.current.is_none() {
            place.current = place.deposed.remove(key);
        }
    })
    .await
}

/// The key under which the current object of an instance is put aside; the same for all steps of a run.
fn new_key(run: &Run, addr: &AbsResourceInstance) -> Option<DeposedKey> {
    debug_assert!(matches!(run.verb, Verb::Apply { .. }));
    let states = run.results.states();
    let instance = states.current.instance(addr)?;
    instance.current.as_ref()?;
    let key = loop {
        let mut bytes = [0; 4];
        run.ports.host.random(&mut bytes);
        let key = DeposedKey(format!("{:08x}", u32::from_be_bytes(bytes)).into());
        if !instance.deposed.contains_key(&key) {
            break key;
        }
    };
    run.results.deposed().insert(addr.clone(), key.clone());
    Some(key)
}
