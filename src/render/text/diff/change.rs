//! Two values side by side, with what is known of their place.
//!
//! The rules are those of the reference's plan text, which compares values in the form of its plan JSON: an unknown value
//! is null there, and an unknown attribute of an object or entry of a map is absent.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use base::dialect::Dialect;
use model::plan::Action;
use terrane_value::{Marks, PathStep, Type, Value};

/// Before and after at one place of a larger value. Null and absent differ where a collection may hold nulls.
#[derive(Clone)]
pub(super) struct Change<'p> {
    pub before: Value,
    pub after: Value,
    pub before_explicit: bool,
    pub after_explicit: bool,
    /// What is left of the paths that force replacement and lead here.
    pub replace: Vec<&'p [PathStep]>,
    /// What is left of the paths to show; `None`: everything is shown. An empty path shows all that is below.
    pub relevant: Option<Vec<&'p [PathStep]>>,
    /// The schema cannot be one of the older SDK, so that an empty string is not the same as null.
    pub strict_strings: bool,
    /// The attributes that become unknown although the whole has no value after.
    pub unknown_parts: Vec<Arc<str>>,
    pub dialect: Dialect,
}

impl<'p> Change<'p> {
    pub fn root(before: &Value, after: &Value, replace: &[&'p [PathStep]], dialect: Dialect) -> Change<'p> {
        Change {
            before: before.clone(),
            after: after.clone(),
            before_explicit: false,
            after_explicit: false,
            replace: replace.to_vec(),
            relevant: None,
            strict_strings: false,
            unknown_parts: Vec::new(),
            dialect,
        }
    }

    pub fn replaces(&self) -> bool {
        self.replace.iter().any(|path| path.is_empty())
    }

    pub fn both_nil(&self) -> bool {
        is_nil(&self.before) && is_nil(&self.after)
    }

    pub fn sensitive(&self) -> (bool, bool) {
        let is = |v: &Value| v.marks().contains(Marks::SENSITIVE);
        (is(&self.before), is(&self.after))
    }

    pub fn without_sensitive(&self) -> Change<'p> {
        Change { before: self.before.unmark().0, after: self.after.unmark().0, strict_strings: false, ..self.clone() }
    }

    /// The part at a step, without its values.
    fn child(&self, matches: impl Fn(&PathStep) -> bool) -> Change<'p> {
        let inside = |path: &&'p [PathStep]| match path.split_first() {
            Some((step, rest)) if matches(step) => Some(rest),
            _ => None,
        };
        let shown = |path: &&'p [PathStep]| if path.is_empty() { Some(*path) } else { inside(path) };
        Change {
            before: Value::null_dynamic(),
            after: Value::null_dynamic(),
            before_explicit: false,
            after_explicit: false,
            replace: self.replace.iter().filter_map(inside).collect(),
            relevant: self.relevant.as_ref().map(|paths| paths.iter().filter_map(shown).collect()),
            strict_strings: false,
            unknown_parts: Vec::new(),
            dialect: self.dialect,
        }
    }

    fn named(&self, name: &str) -> Change<'p> {
        let child = self.child(|step| match step {
            PathStep::Attr(attr) => &**attr == name,
            PathStep::Index(key) => key.as_str() == Some(name),
        });
        Change { strict_strings: self.strict_strings, ..child }
    }

    /// An attribute; null and absent are the same.
    pub fn attribute(&self, name: &str, ty: &Type) -> Change<'p> {
        let part = |v: &Value| match v.get(name) {
            Some(part) => part.clone(),
            None if !v.is_known() => Value::unknown(ty.clone()),
            None => Value::null(ty.clone()),
        };
        let unknown = self.unknown_parts.iter().any(|part| &**part == name);
        let after = if unknown { Value::unknown(ty.clone()) } else { part(&self.after) };
        Change { before: part(&self.before), after, ..self.named(name) }.relevant_only()
    }

    /// An entry of a map; null is a value like any other.
    pub fn entry(&self, key: &str) -> Change<'p> {
        let (before, after) = (self.before.get(key), self.after.get(key));
        let mut child = self.named(key);
        (child.before_explicit, child.after_explicit) = (before.is_some(), after.is_some_and(Value::is_known));
        child.before = before.cloned().unwrap_or_else(Value::null_dynamic);
        child.after = after.cloned().unwrap_or_else(Value::null_dynamic);
        if self.unknown_parts.iter().any(|part| &**part == key) {
            child.after = Value::unknown(Type::Dynamic);
        }
        child.relevant_only()
    }

    /// An element that stands at one index before and at another one after; none: it is not there. `filter`: it may be
    /// irrelevant where the whole is not.
    pub fn element(&self, before: Option<usize>, after: Option<usize>, filter: bool) -> Change<'p> {
        let part = |v: &Value, i: Option<usize>| i.and_then(|i| v.at(i)).cloned();
        let (old, new) = (part(&self.before, before), part(&self.after, after));
        let index = before.or(after);
        let child = self.child(|step| match step {
            PathStep::Index(key) => key.as_i64().and_then(|i| usize::try_from(i).ok()) == index,
            PathStep::Attr(_) => false,
        });
        let child = Change {
            before_explicit: old.is_some(),
            after_explicit: new.is_some(),
            before: old.unwrap_or_else(Value::null_dynamic),
            after: new.unwrap_or_else(Value::null_dynamic),
            ..child
        };
        if filter { child.relevant_only() } else { Change { relevant: None, ..child } }
    }

    /// The change if some of it is to be shown; otherwise the same as if nothing changed.
    fn relevant_only(self) -> Change<'p> {
        if self.relevant.as_ref().is_none_or(|paths| !paths.is_empty()) {
            return self;
        }
        Change {
            after: self.before.clone(),
            after_explicit: self.before_explicit,
            strict_strings: false,
            unknown_parts: Vec::new(),
            ..self
        }
    }

    pub fn only_before(&self) -> Change<'p> {
        Change { after: Value::null_dynamic(), after_explicit: false, strict_strings: false, ..self.clone() }
    }

    pub fn only_after(&self) -> Change<'p> {
        Change { before: Value::null_dynamic(), before_explicit: false, strict_strings: false, ..self.clone() }
    }

    /// The action that the two values alone imply.
    pub fn action(&self) -> Action {
        let unknown = !self.after.is_known();
        let (old, new) = (is_nil(&self.before), is_nil(&self.after));
        let (before, after) = (self.before_explicit, self.after_explicit || unknown);
        let (was_sensitive, is_sensitive) = self.sensitive();
        match (old && !before, new && !after) {
            (true, false) => Action::Create,
            (false, true) => Action::Delete,
            _ if same(&self.before, &self.after) && before == after && was_sensitive == is_sensitive => Action::NoOp,
            _ => Action::Update,
        }
    }

    /// What a collection's action is before its parts are looked at.
    pub fn collection_action(&self) -> Action {
        match (is_nil(&self.before), is_nil(&self.after)) {
            (true, false) => Action::Create,
            (false, true) => Action::Delete,
            _ => Action::NoOp,
        }
    }
}

/// Null in the plan's JSON.
pub(super) fn is_nil(value: &Value) -> bool {
    value.is_null() || !value.is_known()
}

/// The kinds of JSON values.
#[derive(PartialEq, Eq, Clone, Copy)]
pub(super) enum Form {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

pub(super) fn form(value: &Value) -> Form {
    // Without deriving the types of tuples and objects, which values would keep.
    match () {
        () if is_nil(value) => return Form::Null,
        () if value.is_known_tuple() => return Form::Array,
        () if value.is_known_object() => return Form::Object,
        () => {}
    }
    match value.ty() {
        Type::Bool => Form::Bool,
        Type::Number => Form::Number,
        Type::String => Form::String,
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => Form::Array,
        _ => Form::Object,
    }
}

/// Equal as JSON, apart from marks.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    Comparable(a) == Comparable(b)
}

/// A value that is equal to another if both are [`same`].
pub(super) struct Comparable<'v>(pub &'v Value);

impl PartialEq for Comparable<'_> {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.0, other.0);
        let kind = form(a);
        if kind != form(b) {
            return false;
        }
        match kind {
            Form::Null => true,
            Form::Bool => a.as_bool() == b.as_bool(),
            Form::Number => a.as_number() == b.as_number(),
            Form::String => a.as_str() == b.as_str(),
            Form::Array => {
                let (a, b) = (a.elements(), b.elements());
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            Form::Object => known_entries(a).eq(known_entries(b)),
        }
    }
}

impl Eq for Comparable<'_> {}

impl Hash for Comparable<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let value = self.0;
        let kind = form(value);
        (kind as u8).hash(state);
        match kind {
            Form::Null => {}
            Form::Bool => value.as_bool().hash(state),
            Form::Number => value.as_number().map(ToString::to_string).hash(state),
            Form::String => value.as_str().hash(state),
            Form::Array => value.elements().iter().for_each(|element| Comparable(element).hash(state)),
            Form::Object => known_entries(value).for_each(|entry| entry.hash(state)),
        }
    }
}

/// The entries that are in the plan's JSON.
fn known_entries(value: &Value) -> impl Iterator<Item = (&Arc<str>, Comparable<'_>)> {
    value.entries().iter().filter(|(_, part)| part.is_known()).map(|(key, part)| (key, Comparable(part)))
}

/// Joins the action of a part to that of the whole.
pub(super) fn join(current: Action, part: Action) -> Action {
    match part {
        Action::NoOp => current,
        part if part == current => current,
        _ => Action::Update,
    }
}
