//! Two values side by side, with what is known of their place.

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
}

impl<'p> Change<'p> {
    pub fn root(before: &Value, after: &Value, replace: &[&'p [PathStep]]) -> Change<'p> {
        Change {
            before: before.clone(),
            after: after.clone(),
            before_explicit: false,
            after_explicit: false,
            replace: replace.to_vec(),
        }
    }

    pub fn replaces(&self) -> bool {
        self.replace.iter().any(|path| path.is_empty())
    }

    pub fn has_before(&self) -> bool {
        !self.before.is_null() || self.before_explicit
    }

    pub fn has_after(&self) -> bool {
        !self.after.is_null() || self.after_explicit
    }

    pub fn both_null(&self) -> bool {
        self.before.is_null() && self.after.is_null()
    }

    pub fn sensitive(&self) -> (bool, bool) {
        let is = |v: &Value| v.marks().contains(Marks::SENSITIVE);
        (is(&self.before), is(&self.after))
    }

    pub fn without_sensitive(&self) -> Change<'p> {
        Change { before: self.before.unmark().0, after: self.after.unmark().0, ..self.clone() }
    }

    fn step_paths(&self, matches: impl Fn(&PathStep) -> bool) -> Vec<&'p [PathStep]> {
        let inside = |path: &&'p [PathStep]| match path.split_first() {
            Some((step, rest)) if matches(step) => Some(rest),
            _ => None,
        };
        self.replace.iter().filter_map(inside).collect()
    }

    /// An attribute; null and absent are the same.
    pub fn attribute(&self, name: &str, ty: &Type) -> Change<'p> {
        let part = |v: &Value| match v.get(name) {
            Some(part) => part.clone(),
            None if !v.is_known() => Value::unknown(ty.clone()),
            None => Value::null(ty.clone()),
        };
        Change {
            before: part(&self.before),
            after: part(&self.after),
            before_explicit: false,
            after_explicit: false,
            replace: self.step_paths(|step| match step {
                PathStep::Attr(attr) => &**attr == name,
                PathStep::Index(key) => key.as_str() == Some(name),
            }),
        }
    }

    /// An entry of a map; null is a value like any other.
    pub fn entry(&self, key: &str) -> Change<'p> {
        let part = |v: &Value| v.get(key).cloned();
        let (before, after) = (part(&self.before), part(&self.after));
        let mut child = self.attribute(key, &Type::Dynamic);
        (child.before_explicit, child.after_explicit) = (before.is_some(), after.is_some());
        child.before = before.unwrap_or_else(Value::null_dynamic);
        child.after = after.unwrap_or_else(Value::null_dynamic);
        child
    }

    /// An element that stands at one index before and at another one after; none: it is not there.
    pub fn element(&self, before: Option<usize>, after: Option<usize>) -> Change<'p> {
        let part = |v: &Value, i: Option<usize>| i.and_then(|i| v.at(i)).cloned();
        let (old, new) = (part(&self.before, before), part(&self.after, after));
        let index = before.or(after);
        Change {
            before_explicit: old.is_some(),
            after_explicit: new.is_some(),
            before: old.unwrap_or_else(Value::null_dynamic),
            after: new.unwrap_or_else(Value::null_dynamic),
            replace: self.step_paths(|step| match step {
                PathStep::Index(key) => key.as_i64().and_then(|i| usize::try_from(i).ok()) == index,
                PathStep::Attr(_) => false,
            }),
        }
    }

    pub fn only_before(&self) -> Change<'p> {
        Change { after: Value::null_dynamic(), after_explicit: false, ..self.clone() }
    }

    pub fn only_after(&self) -> Change<'p> {
        Change { before: Value::null_dynamic(), before_explicit: false, ..self.clone() }
    }

    /// The action that the two values alone tell.
    pub fn action(&self) -> Action {
        match (self.has_before(), self.has_after()) {
            (false, true) => Action::Create,
            (true, false) => Action::Delete,
            _ if same(&self.before, &self.after) && self.sensitive().0 == self.sensitive().1 => Action::NoOp,
            _ => Action::Update,
        }
    }

    /// What a collection's action is before its parts are looked at.
    pub fn collection_action(&self) -> Action {
        match (self.before.is_null(), self.after.is_null()) {
            (true, false) => Action::Create,
            (false, true) => Action::Delete,
            _ => Action::NoOp,
        }
    }
}

/// Equal apart from marks and from the types of nulls.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    if a.has_marks_deep() || b.has_marks_deep() {
        let (a, b) = (a.unmark_deep().0, b.unmark_deep().0);
        return same(&a, &b);
    }
    a == b || (a.is_null() && b.is_null())
}

/// Joins the action of a part to that of the whole.
pub(super) fn join(current: Action, part: Action) -> Action {
    match part {
        Action::NoOp => current,
        part if part == current => current,
        _ => Action::Update,
    }
}
