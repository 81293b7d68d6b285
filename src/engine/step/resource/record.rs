//! Recording: the result of a step goes to the plan, the state and the observer.

use base::diag::Diagnostics;
use model::addr::{AbsProviderConfig, AbsResourceInstance};
use model::plan::{Action, ActionReason, Change, ResourceChange};
use model::state::{DeposedKey, Instance as StateInstance, Object};
use model::version::at_least;
use terrane_value::{Path, Type, Value};

use super::Instance;
use crate::run::records::States;
use crate::run::results::Results;
use crate::run::{Prior, Run, Verb};

/// What tells people which object is meant: its id, or its name if objects of its type have no id. None if that is null,
/// unknown or secret; the text may be empty.
pub fn shown_id(value: &Value) -> Option<(String, String)> {
    let key = ["id", "name"].into_iter().find(|key| has_text(value, key))?;
    Some((key.to_string(), text_of(value, key)?))
}

/// As `shown_id`. Without one, the name, or the tag that stands for one.
pub fn shown_id_or_name(value: &Value) -> Option<(String, String)> {
    shown_id(value).or_else(|| {
        if has_text(value, "name") {
            return Some(("name".to_string(), text_of(value, "name")?));
        }
        let tags = value.get("tags").filter(|tags| *tags.ty() == Type::map(Type::String))?;
        if tags.is_sensitive() || !tags.is_wholly_known() {
            return None;
        }
        let key = ["name", "Name"].into_iter().find(|key| tags.get(key).is_some())?;
        Some((format!("tags.{key}"), text_of(tags, key)?))
    })
}

/// Whether the type of the object has an attribute of this name that is a string.
fn has_text(value: &Value, name: &str) -> bool {
    value.get(name).is_some_and(|part| *part.ty() == Type::String)
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    let part = value.get(name)?;
    if value.is_sensitive() || part.is_sensitive() {
        return None;
    }
    part.as_str().map(str::to_string)
}

/// A change with what all changes of an instance share.
pub fn new_change(instance: &Instance<'_>, action: Action, before: Value, after: Value) -> ResourceChange {
    change_of(&instance.run.prior, &instance.addr, instance.provider_addr, action, before, after)
}

/// As `new_change`, of an instance that no provider serves.
pub fn change_of(
    prior: &Prior,
    addr: &AbsResourceInstance,
    provider: &AbsProviderConfig,
    action: Action,
    before: Value,
    after: Value,
) -> ResourceChange {
    ResourceChange {
        addr: addr.clone(),
        previous_addr: previous_addr(prior, addr),
        deposed: None,
        provider: provider.clone(),
        action,
        reason: ActionReason::None,
        change: Change { before, after },
        required_replace: Vec::<Path>::new(),
        private: std::sync::Arc::from([]),
        importing: None,
        identity: Default::default(),
        generated_config: None,
    }
}

/// Where the object was before this run.
pub fn previous_addr(prior: &Prior, addr: &AbsResourceInstance) -> AbsResourceInstance {
    prior.moved.get(addr).unwrap_or(addr).clone()
}

/// Writes or removes an object of the state that plan builds: as read, or as refreshed.
pub fn put(
    results: &Results,
    instance: &Instance<'_>,
    deposed: Option<&DeposedKey>,
    object: Option<Object>,
    previous: bool,
) {
    let key = &instance.provider_addr.key;
    let object = object.map(|object| Object { provider_key: key.clone(), ..object });
    let mut states = results.states();
    let States { current, previous: before } = &mut *states;
    let (state, other) = if previous { (before, current) } else { (current, before) };
    let place = state.instance_mut(&instance.addr, instance.provider_addr);
    place_object(place, deposed, object);
    state.prune(&instance.addr);
    state.share_instance(&instance.addr, other);
}

fn place_object(place: &mut StateInstance, deposed: Option<&DeposedKey>, object: Option<Object>) {
    match (deposed, object) {
        (None, object) => place.current = object,
        (Some(key), Some(object)) => drop(place.deposed.insert(key.clone(), object)),
        (Some(key), None) => drop(place.deposed.remove(key)),
    }
}

/// Changes the working state of an apply and makes the change durable.
pub async fn save(
    run: &Run,
    addr: &AbsResourceInstance,
    provider: &AbsProviderConfig,
    change: impl FnOnce(&mut StateInstance),
) -> Diagnostics {
    let instance = {
        let mut states = run.results.states();
        let place = states.current.instance_mut(addr, provider);
        change(place);
        let instance = place.clone();
        states.current.prune(addr);
        instance
    };
    match run.ports.sink.finished(addr, provider, &instance).await {
        Ok(()) => Diagnostics::new(),
        Err(errors) => errors,
    }
}

/// Notes what refreshing found changed outside: in the current object, for the reference looks at no other. Other marks
/// than those that the state had of it counted too, before Terraform 1.12; where nothing else is planned, a new address as well.
pub fn note_drift(instance: &Instance<'_>, stored: &Object, before: &Value, after: Option<&Value>) {
    let (action, after) = match after {
        // The provider upgraded the object to none.
        None if before.is_null() => return,
        None => (Action::Delete, Value::null(before.ty().clone())),
        Some(after) if after == before && (at_least(12) || has_stored_marks(stored, after)) => {
            let run = instance.run;
            let only_this = matches!(run.verb, Verb::Plan { refresh_only: true, .. });
            if !only_this || !run.prior.moved.contains_key(&instance.addr) {
                return;
            }
            (Action::NoOp, after.clone())
        }
        Some(after) => (Action::Update, after.clone()),
    };
    let change = new_change(instance, action, before.clone(), after);
    instance.run.results.changes().drift.push(change);
}

/// Whether a value has exactly the marks that the state keeps of an object.
fn has_stored_marks(stored: &Object, value: &Value) -> bool {
    if stored.sensitive.is_empty() && !value.has_marks_deep() {
        return true;
    }
    value.unmark_deep().0.mark_at_paths(&stored.sensitive) == *value
}

/// Adds a change to the plan.
pub fn note_change(results: &Results, change: ResourceChange) {
    results.changes().add(change);
}

#[cfg(test)]
mod tests {
    use terrane_value::Marks;

    use super::*;

    fn object(attributes: &[(&str, Value)]) -> Value {
        Value::object(attributes.iter().map(|(name, value)| (*name, value.clone())))
    }

    #[test]
    fn objects_are_shown_by_id_name_or_tag() {
        let text = Value::string;
        let no_text = || Value::null(Type::String);
        let unknown = || Value::unknown(Type::String);
        let tags = |key: &str| Value::map(Type::String, [(key, text("t"))]);
        #[rustfmt::skip]
        let cases = [
            (object(&[("id", text("i")), ("name", text("n"))]), "id=i", "id=i"),
            (object(&[("name", text("n"))]), "name=n", "name=n"),
            (object(&[("id", no_text()), ("name", text("n"))]), "", "name=n"),
            (object(&[("id", unknown()), ("name", text("n"))]), "", "name=n"),
            (object(&[("id", text("i").with_marks(Marks::SENSITIVE)), ("name", text("n"))]), "", "name=n"),
            (object(&[("id", text("")), ("name", text("n"))]), "id=", "id="),
            (object(&[("id", Value::int(1)), ("name", text("n"))]), "name=n", "name=n"),
            (object(&[("id", no_text()), ("name", no_text()), ("tags", tags("Name"))]), "", ""),
            (object(&[("id", no_text()), ("tags", tags("Name"))]), "", "tags.Name=t"),
            (object(&[("tags", tags("name"))]), "", "tags.name=t"),
            (object(&[("tags", tags("other"))]), "", ""),
            (object(&[("tags", tags("name").with_marks(Marks::SENSITIVE))]), "", ""),
            (object(&[("tags", object(&[("name", text("t"))]))]), "", ""),
            (object(&[]), "", ""),
            (Value::null(Type::object([("id", Type::String)])), "", ""),
        ];
        for (value, id, id_or_name) in cases {
            let shown =
                |found: Option<(String, String)>| found.map_or(String::new(), |(key, text)| format!("{key}={text}"));
            assert_eq!(shown(shown_id(&value)), id, "{value:?}");
            assert_eq!(shown(shown_id_or_name(&value)), id_or_name, "{value:?}");
        }
    }
}
