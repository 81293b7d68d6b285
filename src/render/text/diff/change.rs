//! Two values side by side, with what is known of their place.
//!
//! The rules are those of the reference's plan text, which compares values in the form of its plan JSON: an unknown value
//! is null there, and an unknown attribute of an object or entry of a map is absent.

use std::sync::Arc;

use crate::lang::value::{Marks, PathStep, Type, Value};
use crate::model::plan::Action;

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
}

impl<'p> Change<'p> {
    pub fn root(before: &Value, after: &Value, replace: &[&'p [PathStep]]) -> Change<'p> {
        Change {
            before: before.clone(),
            after: after.clone(),
            before_explicit: false,
            after_explicit: false,
            replace: replace.to_vec(),
            relevant: None,
            strict_strings: false,
            unknown_parts: Vec::new(),
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
    match value.ty() {
        _ if is_nil(value) => Form::Null,
        Type::Bool => Form::Bool,
        Type::Number => Form::Number,
        Type::String => Form::String,
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => Form::Array,
        _ => Form::Object,
    }
}

/// Equal as JSON, apart from marks.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    if a.has_marks_deep() || b.has_marks_deep() {
        return same_unmarked(&a.unmark_deep().0, &b.unmark_deep().0);
    }
    same_unmarked(a, b)
}

fn same_unmarked(a: &Value, b: &Value) -> bool {
    let kind = form(a);
    if kind != form(b) {
        return false;
    }
    match kind {
        Form::Null => true,
        Form::Bool | Form::Number | Form::String => a == b,
        Form::Array => {
            let (a, b) = (a.elements(), b.elements());
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_unmarked(a, b))
        }
        Form::Object => {
            let present = |v: &'_ Value| v.entries().values().filter(|part| part.is_known()).count();
            let has = |(key, part): (&Arc<str>, &Value)| {
                !part.is_known() || b.get(key).is_some_and(|other| other.is_known() && same_unmarked(part, other))
            };
            present(a) == present(b) && a.entries().iter().all(has)
        }
    }
}

/// Joins the action of a part to that of the whole.
pub(super) fn join(current: Action, part: Action) -> Action {
    match part {
        Action::NoOp => current,
        part if part == current => current,
        _ => Action::Update,
    }
}
