//! Objects that get another address by hand: what `state mv` does, within one state or from one to another.
//!
//! Owns which objects an address means there, and what keeps them from moving. Never knows the configuration: what
//! `moved` blocks do is another matter.

use std::collections::HashSet;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use terrane_protocol::schema::ResourceMode;

use super::{Instance, State};
use crate::addr::{AbsResource, AbsResourceInstance, ConfigResource, InstanceKey, ModuleInstance, Target};

const INVALID_SOURCE: &str = "Invalid source address";
const INVALID_TARGET: &str = "Invalid target address";
const INVALID_REQUEST: &str = "Invalid state move request";

/// Why nothing may be moved.
#[derive(Debug, PartialEq, Eq)]
pub enum MoveError {
    Invalid(Diagnostics),
    /// The state has objects in the module instance that others were to become.
    ModuleExists,
}

impl From<Diagnostic> for MoveError {
    fn from(diagnostic: Diagnostic) -> MoveError {
        MoveError::Invalid(diagnostic.into())
    }
}

/// Moves what an address names to another one, in this state, or into another where one is given. A module comes with
/// the modules in it. `moved` hears of each move; after an error the states are not to be used.
pub fn move_objects(
    from: &mut State,
    to: Option<&mut State>,
    source: &Target,
    destination: &Target,
    mut moved: impl FnMut(&Target, &Target),
) -> Result<usize, MoveError> {
    let sources = sources(from, source);
    if sources.is_empty() {
        return Err(unmatched(source, from).into());
    }
    let mut moving = Moving { from, to };
    for one in &sources {
        let new = match one {
            Target::Module(module) => moving.module(module, source, destination)?,
            Target::Resource(resource) => moving.resource(resource, destination)?,
            Target::Instance(instance) => moving.instance(instance, destination)?,
            Target::Pattern(_) => return Err(unmatched(one, moving.from).into()),
        };
        moved(one, &new);
        moving.forget_dependencies(one);
    }
    Ok(sources.len())
}

/// Moves what several addresses or patterns name into a module: resources and instances keep their type, name and key,
/// modules the last step of their address. As [`move_objects`] otherwise, but that `moved` hears of nothing if anything is wrong.
pub fn move_into(
    from: &mut State,
    mut to: Option<&mut State>,
    sources: &[Target],
    module: &ModuleInstance,
    mut moved: impl FnMut(&Target, &Target),
) -> Result<usize, MoveError> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for source in sources {
        let found = matching(from, source);
        if found.is_empty() {
            return Err(unmatched(source, from).into());
        }
        all.extend(found.into_iter().filter(|one| seen.insert(one.clone())));
    }
    let mut heard = Vec::new();
    for one in &all {
        let destination = relocated(one, module);
        let hear = |from: &Target, to: &Target| heard.push((from.clone(), to.clone()));
        move_objects(from, to.as_deref_mut(), one, &destination, hear)?;
    }
    heard.iter().for_each(|(from, to)| moved(from, to));
    Ok(heard.len())
}

/// What an address or a pattern names in the state: modules, resources and single instances.
fn matching(state: &State, source: &Target) -> Vec<Target> {
    match source {
        Target::Pattern(pattern) if pattern.names_modules() => {
            let modules = pattern.modules(state.resources.keys().map(|addr| &addr.module));
            modules.into_iter().map(Target::Module).collect()
        }
        Target::Pattern(pattern) => {
            let mut found = Vec::new();
            for (addr, resource) in &state.resources {
                let instances = resource.instances.keys().map(|key| addr.instance(key.clone()));
                let wanted: Vec<_> = instances.filter(|instance| pattern.contains(instance)).collect();
                match wanted.len() == resource.instances.len() && !wanted.is_empty() {
                    true => found.push(Target::Resource(addr.clone())),
                    false => found.extend(wanted.into_iter().map(Target::Instance)),
                }
            }
            found
        }
        Target::Module(module) => {
            let is_there = state.resources.keys().any(|addr| addr.module.starts_with(module));
            is_there.then(|| source.clone()).into_iter().collect()
        }
        Target::Resource(addr) => state.resources.contains_key(addr).then(|| source.clone()).into_iter().collect(),
        Target::Instance(addr) => state.instance(addr).map(|_| source.clone()).into_iter().collect(),
    }
}

fn relocated(one: &Target, module: &ModuleInstance) -> Target {
    match one {
        Target::Module(old) => Target::Module(match old.last() {
            Some(step) => module.child(&step.name, step.key.clone()),
            None => module.clone(),
        }),
        Target::Resource(addr) => Target::Resource(addr.resource.absolute(module.clone())),
        Target::Instance(addr) => {
            let resource = addr.containing_resource().resource.absolute(module.clone());
            Target::Instance(resource.instance(addr.key().clone()))
        }
        Target::Pattern(pattern) => Target::Pattern(pattern.clone()),
    }
}

fn unmatched(source: &Target, state: &State) -> Diagnostic {
    let detail = format!("Cannot move {source}: does not match anything in the current state.");
    Diagnostic::error(INVALID_SOURCE, detail).with_tip(state.close_address(&source.to_string()))
}

/// What moves as one: the module instances below a module, each by itself; a resource, which is its instance if that has no
/// key.
fn sources(state: &State, source: &Target) -> Vec<Target> {
    match source {
        Target::Module(outer) => {
            let mut modules: Vec<_> = state.resources.keys().map(|addr| &addr.module).collect();
            modules.retain(|module| module.starts_with(outer));
            modules.sort();
            modules.dedup();
            modules.into_iter().cloned().map(Target::Module).collect()
        }
        Target::Resource(addr) => match state.resources.get(addr) {
            Some(resource) if resource.instances.contains_key(&InstanceKey::None) => {
                vec![Target::Instance(addr.instance(InstanceKey::None))]
            }
            Some(_) => vec![source.clone()],
            None => Vec::new(),
        },
        Target::Instance(_) => vec![source.clone()],
        Target::Pattern(_) => Vec::new(),
    }
}

struct Moving<'a> {
    from: &'a mut State,
    /// None: the same.
    to: Option<&'a mut State>,
}

impl Moving<'_> {
    fn to(&mut self) -> &mut State {
        self.to.as_deref_mut().unwrap_or(self.from)
    }

    fn module(&mut self, module: &ModuleInstance, outer: &Target, destination: &Target) -> Result<Target, MoveError> {
        let (Target::Module(outer), Target::Module(new)) = (outer, destination) else {
            let detail = format!("Cannot move {module} to {destination}: the target must also be a module.");
            return Err(Diagnostic::error(INVALID_TARGET, detail).into());
        };
        let within = &module.0[outer.0.len()..];
        let new = ModuleInstance(new.0.iter().chain(within).cloned().collect());
        if self.to().resources.keys().any(|addr| addr.module == new) {
            return Err(MoveError::ModuleExists);
        }
        let addresses: Vec<_> = self.from.resources.keys().filter(|addr| addr.module == *module).cloned().collect();
        for addr in addresses {
            let Some(resource) = self.from.resources.remove(&addr) else { continue };
            self.to().resources.insert(addr.resource.absolute(new.clone()), resource);
        }
        Ok(Target::Module(new))
    }

    fn resource(&mut self, addr: &AbsResource, destination: &Target) -> Result<Target, MoveError> {
        let Target::Resource(new) = destination else {
            let detail = format!(
                "Cannot move {addr} to {destination}: the source is a whole resource (not a resource instance) so the target \
                 must also be a whole resource."
            );
            return Err(Diagnostic::error(INVALID_TARGET, detail).into());
        };
        let mut problems = unlike(addr, new);
        if self.to().resources.contains_key(new) {
            problems.error(INVALID_TARGET, taken("resource", new));
        }
        if problems.has_errors() {
            return Err(MoveError::Invalid(problems));
        }
        if let Some(resource) = self.from.resources.remove(addr) {
            self.to().resources.insert(new.clone(), resource);
        }
        Ok(destination.clone())
    }

    fn instance(&mut self, addr: &AbsResourceInstance, destination: &Target) -> Result<Target, MoveError> {
        let new = match destination {
            Target::Instance(new) => new.clone(),
            Target::Resource(new) => new.instance(InstanceKey::None),
            Target::Module(_) | Target::Pattern(_) => {
                let detail =
                    format!("Cannot move {addr} to {destination}: the target must also be a resource instance.");
                return Err(Diagnostic::error(INVALID_TARGET, detail).into());
            }
        };
        let (resource, new_resource) = (addr.containing_resource(), new.containing_resource());
        let mut problems = unlike(&resource, &new_resource);
        if self.to().instance(&new).is_some() {
            problems.error(INVALID_TARGET, taken("resource instance", &new));
        }
        let found = self.from.resources.get(&resource).and_then(|of| Some((of, of.instances.get(addr.key())?)));
        let Some((provider, instance)) = found.map(|(of, instance)| (of.provider.clone(), instance.clone())) else {
            problems.error(INVALID_SOURCE, format!("The current state does not contain {addr}."));
            return Err(MoveError::Invalid(problems));
        };
        if problems.has_errors() {
            return Err(MoveError::Invalid(problems));
        }
        self.from.forget(addr);
        // A resource that exists keeps its provider; a new one brings that of the old.
        let place = self.to().resource_mut(new_resource, &provider);
        place.instances.insert(new.key().clone(), instance);
        Ok(Target::Instance(new))
    }

    /// Forgets the dependencies of all objects that depend on what moved: the next apply finds them anew.
    fn forget_dependencies(&mut self, moved: &Target) {
        for resource in self.to().resources.values_mut() {
            if !resource.instances.values().any(|instance| depends_on(instance, moved)) {
                continue;
            }
            let dependents =
                Arc::make_mut(resource).instances.values_mut().filter(|instance| depends_on(instance, moved));
            for instance in dependents {
                if let Some(object) = &mut Arc::make_mut(instance).current {
                    object.dependencies = Arc::default();
                }
            }
        }
    }
}

fn depends_on(instance: &Instance, moved: &Target) -> bool {
    let is_of = |dependency: &ConfigResource| match moved {
        // A dependency is on all instances of a module.
        Target::Module(module) => {
            module.0.iter().all(|step| step.key.is_none()) && dependency.module.starts_with(&module.module())
        }
        Target::Resource(addr) => *dependency == addr.config(),
        Target::Instance(addr) => *dependency == addr.config(),
        Target::Pattern(_) => false,
    };
    instance.current.as_ref().is_some_and(|object| object.dependencies.iter().any(is_of))
}

fn taken(what: &str, addr: &impl std::fmt::Display) -> String {
    format!("Cannot move to {addr}: there is already a {what} at that address in the current state.")
}

/// Why objects of one resource cannot become such of another.
fn unlike(from: &AbsResource, to: &AbsResource) -> Diagnostics {
    let mut problems = Diagnostics::new();
    let (old, new) = (&from.resource, &to.resource);
    if old.mode != new.mode {
        let why = match old.mode {
            ResourceMode::Managed => "a managed resource can be moved only to another managed resource address",
            ResourceMode::Data => "a data resource can be moved only to another data resource address",
            ResourceMode::Ephemeral | ResourceMode::List => "cannot change resource mode",
        };
        problems.error(INVALID_REQUEST, format!("Cannot move {from} to {to}: {why}."));
    }
    if old.kind != new.kind {
        problems.error(INVALID_REQUEST, format!("Cannot move {from} to {to}: resource types don't match."));
    }
    problems
}

#[cfg(test)]
#[path = "moving_tests.rs"]
mod tests;
