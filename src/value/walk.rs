//! Walking and rebuilding values: transform, unmark deeply, mark at paths.
//!
//! Owns the recursion over nested values; each rebuilds only what changed.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Entries, Marks, Path, PathStep, Type, Value};

impl Value {
    /// Each direct part with the step that leads to it.
    pub fn children(&self) -> Vec<(PathStep, &Value)> {
        if !self.elements().is_empty() {
            let is_set = self.ty().is_set();
            let step = |(i, v): (usize, &Value)| PathStep::Index(if is_set { v.clone() } else { Value::int(i as i64) });
            return self.elements().iter().enumerate().map(|(i, v)| (step((i, v)), v)).collect();
        }
        let entries = self.entries();
        if entries.is_empty() {
            return Vec::new();
        }
        let is_map = self.ty().is_map();
        let step = |k: &Arc<str>| {
            if is_map { PathStep::Index(Value::shared_string(k.clone())) } else { PathStep::Attr(k.clone()) }
        };
        entries.iter().map(|(k, v)| (step(k), v)).collect()
    }

    /// A value of the same kind and marks with other parts, in the same order. The element type follows the parts.
    fn with_children(&self, parts: Vec<Value>) -> Value {
        let element = |old: &Type| match parts.first() {
            Some(first) if !old.is_dynamic() && first.ty() != old => first.ty().clone(),
            _ => old.clone(),
        };
        let rebuilt = match self.ty() {
            Type::List(t) => Value::list(element(t), parts),
            Type::Set(t) => Value::set(element(t), parts),
            Type::Map(t) => Value::map(element(t), self.entries().keys().cloned().zip(parts)),
            Type::Tuple(_) => Value::tuple(parts),
            _ => Value::object(self.entries().keys().cloned().zip(parts)),
        };
        rebuilt.mark(self.marks())
    }

    /// Visits this value, then its parts where the visitor answers true.
    pub fn walk<E>(&self, visit: &mut dyn FnMut(&Path, &Value) -> Result<bool, E>) -> Result<(), E> {
        fn go<E>(
            value: &Value,
            path: &mut Path,
            visit: &mut dyn FnMut(&Path, &Value) -> Result<bool, E>,
        ) -> Result<(), E> {
            if !visit(path, value)? {
                return Ok(());
            }
            for (step, child) in value.children() {
                path.push(step);
                go(child, path, visit)?;
                path.pop();
            }
            Ok(())
        }
        go(self, &mut Path::new(), visit)
    }

    /// Replaces every nested value and then this one by what `f` makes of it (parts first).
    pub fn transform<E>(&self, f: &mut dyn FnMut(&Path, Value) -> Result<Value, E>) -> Result<Value, E> {
        fn go<E>(
            value: &Value,
            path: &mut Path,
            f: &mut dyn FnMut(&Path, Value) -> Result<Value, E>,
        ) -> Result<Value, E> {
            let children = value.children();
            if children.is_empty() {
                return f(path, value.clone());
            }
            let mut changed = false;
            let mut parts = Vec::with_capacity(children.len());
            for (step, child) in children {
                path.push(step);
                let part = go(child, path, f)?;
                path.pop();
                changed = changed || !part.same_storage(child) && part != *child;
                parts.push(part);
            }
            f(path, if changed { value.with_children(parts) } else { value.clone() })
        }
        go(self, &mut Path::new(), f)
    }

    /// The same object, with those attributes of others that are equal, so that they take memory once.
    #[must_use]
    pub fn sharing(self, others: &[&Value]) -> Value {
        if let Some(same) = others.iter().find(|other| ***other == self) {
            return (*same).clone();
        }
        let equal = |name: &Arc<str>, part: &Value| {
            let has_parts = !part.is_empty();
            others.iter().filter(|_| has_parts).find_map(|other| other.get(name).filter(|theirs| *theirs == part))
        };
        if !self.is_known_object() || self.entries().iter().all(|(name, part)| equal(name, part).is_none()) {
            return self;
        }
        let parts = self.entries().iter();
        let parts = parts.map(|(name, part)| (name.clone(), equal(name, part).unwrap_or(part).clone()));
        Value::object_of(self.ty().clone(), parts.collect::<Entries>()).mark(self.marks())
    }

    /// Without any marks, and the union of those that were there.
    pub fn unmark_deep(&self) -> (Value, Marks) {
        let marks = self.deep_marks();
        (self.strip(), marks)
    }

    fn strip(&self) -> Value {
        let deep = self.deep_marks();
        if deep.is_empty() {
            return self.clone();
        }
        let bare = self.clone().with_marks(Marks::NONE);
        if bare.deep_marks().is_empty() {
            return bare;
        }
        self.rebuild_same_type(|_, v| v.strip())
    }

    /// As `with_children` for parts whose types do not change; own marks are dropped. What is null or unknown has no
    /// parts and stays.
    fn rebuild_same_type(&self, mut part: impl FnMut(&PathKey<'_>, &Value) -> Value) -> Value {
        if self.is_null() || !self.is_known() {
            return self.clone().with_marks(Marks::NONE);
        }
        let ty = self.ty();
        match ty {
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
                let parts = self.elements().iter().enumerate().map(|(i, v)| part(&PathKey::Index(i), v)).collect();
                match ty {
                    Type::List(t) => Value::list((**t).clone(), parts),
                    Type::Set(t) => Value::set((**t).clone(), parts),
                    _ => Value::tuple(parts),
                }
            }
            Type::Map(t) => {
                let parts = self.entries().iter().map(|(k, v)| (k.clone(), part(&PathKey::Name(k), v)));
                Value::map((**t).clone(), parts)
            }
            Type::Object(_) => {
                let parts = self.entries().iter().map(|(k, v)| (k.clone(), part(&PathKey::Name(k), v)));
                Value::object_of(ty.clone(), parts.collect::<Entries>())
            }
            _ => self.clone().with_marks(Marks::NONE),
        }
    }

    /// With all unknown parts of known types only: their refinements are gone. Providers answer none.
    #[must_use]
    pub fn unrefined(&self) -> Value {
        if self.is_wholly_known() {
            return self.clone();
        }
        if !self.is_known() {
            return Value::unknown(self.ty().clone()).mark(self.marks());
        }
        self.rebuild_same_type(|_, part| part.unrefined()).mark(self.marks())
    }

    /// Without any marks, and where they were, outermost first.
    pub fn unmark_deep_with_paths(&self) -> (Value, Vec<(Path, Marks)>) {
        fn collect(value: &Value, path: &mut Path, found: &mut Vec<(Path, Marks)>) {
            if value.deep_marks().is_empty() {
                return;
            }
            if value.has_marks() {
                found.push((path.clone(), value.marks()));
            }
            for (step, child) in value.children() {
                path.push(step);
                collect(child, path, found);
                path.pop();
            }
        }
        let mut found = Vec::new();
        collect(self, &mut Path::new(), &mut found);
        (self.strip(), found)
    }

    /// With marks added where the paths point to; paths that lead nowhere (into a null or an unknown, too) are ignored,
    /// those into sets mark the set.
    #[must_use]
    pub fn mark_at_paths(&self, paths: &[(Path, Marks)]) -> Value {
        if paths.is_empty() {
            return self.clone();
        }
        let tails: Vec<(&[PathStep], Marks)> = paths.iter().map(|(p, m)| (p.steps(), *m)).collect();
        self.mark_tails(&tails)
    }

    fn mark_tails(&self, tails: &[(&[PathStep], Marks)]) -> Value {
        let mut own = self.marks();
        let mut by_key: HashMap<PathKey<'_>, Vec<(&[PathStep], Marks)>> = HashMap::new();
        let is_set = self.ty().is_set();
        for (steps, marks) in tails {
            match steps.split_first() {
                None => own |= *marks,
                Some(_) if is_set && self.is_known() && !self.is_null() => own |= *marks,
                Some((step, rest)) => {
                    if let Some(key) = PathKey::of(step) {
                        by_key.entry(key).or_default().push((rest, *marks));
                    }
                }
            }
        }
        if by_key.is_empty() {
            return self.clone().with_marks(own);
        }
        self.rebuild_same_type(|key, v| by_key.get(key).map_or_else(|| v.clone(), |tails| v.mark_tails(tails)))
            .with_marks(own)
    }
}

/// A step in a form that can be looked up.
#[derive(PartialEq, Eq, Hash)]
enum PathKey<'s> {
    Name(&'s str),
    Index(usize),
}

impl PathKey<'_> {
    fn of(step: &PathStep) -> Option<PathKey<'_>> {
        match step {
            PathStep::Attr(name) => Some(PathKey::Name(name)),
            PathStep::Index(key) => match key.as_str() {
                Some(name) => Some(PathKey::Name(name)),
                None => key.as_number()?.as_usize().map(PathKey::Index),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_leave_and_return() {
        let v = Value::object([
            ("a", Value::list(Type::String, vec![Value::string("x"), Value::string("y").mark(Marks::SENSITIVE)])),
            ("m", Value::map(Type::Number, [("k", Value::int(1).mark(Marks::EPHEMERAL))]).mark(Marks::SENSITIVE)),
            ("n", Value::bool(true)),
        ]);
        let (bare, paths) = v.unmark_deep_with_paths();
        assert!(!bare.has_marks_deep());
        let shown: Vec<String> = paths.iter().map(|(p, _)| p.to_string()).collect();
        assert_eq!(shown, [".a[1]", ".m", ".m[\"k\"]"]);
        assert_eq!(bare.mark_at_paths(&paths), v);
        assert_eq!(v.unmark_deep(), (bare, Marks::SENSITIVE | Marks::EPHEMERAL));
    }

    #[test]
    fn marks_below_null_and_unknown_parts_change_nothing() {
        let object = Type::object([("secret", Type::String), ("plain", Type::String)]);
        let of = |ty: Type| [Value::null(ty.clone()), Value::unknown(ty.clone()), Value::unknown_not_null(ty)];
        let inner = |path: Path| vec![(path.attr("secret"), Marks::SENSITIVE)];
        for value in of(object.clone()) {
            assert_eq!(value.mark_at_paths(&inner(Path::new())), value);
        }
        let collections = [Type::list(object.clone()), Type::set(object.clone()), Type::map(object.clone())];
        for value in collections.into_iter().flat_map(of) {
            assert_eq!(value.mark_at_paths(&inner(Path::new().index_int(0))), value);
            assert_eq!(value.mark_at_paths(&inner(Path::new().index_str("k"))), value);
        }
        let list = Value::list(object.clone(), vec![Value::null(object)]);
        assert_eq!(list.mark_at_paths(&inner(Path::new().index_int(0))), list);
    }

    #[test]
    fn refinements_leave_at_every_depth() {
        let refined = || Value::unknown_not_null(Type::String);
        let nest = |v: Value| {
            let object = Value::object([("a", v.clone()), ("n", Value::null(Type::String))]);
            Value::object([
                ("list", Value::list(Type::String, vec![v.clone(), Value::string("x")])),
                ("map", Value::map(Type::String, [("k", v.clone().mark(Marks::SENSITIVE))])),
                ("set", Value::set(Type::String, vec![v.clone(), v.clone()])),
                ("tuple", Value::tuple(vec![Value::int(1), object])),
                ("own", v),
            ])
        };
        assert_eq!(nest(refined()).unrefined(), nest(Value::unknown(Type::String)));
    }

    #[test]
    fn equal_attributes_are_shared() {
        let list = |text: &str| Value::strings([text, "x"]);
        let other = Value::object([("a", list("1")), ("b", list("2")), ("c", list("3"))]);
        let value = Value::object([("a", list("1")), ("b", list("other")), ("d", list("3"))]);
        let shared = value.clone().sharing(&[&other]);
        assert_eq!(shared, value);
        let is_shared = |name| shared.get(name).unwrap().same_storage(other.get("a").unwrap());
        assert_eq!(["a", "b", "d"].map(is_shared), [true, false, false]);
        let equal = Value::object([("a", list("1")), ("b", list("2")), ("c", list("3"))]);
        assert!(equal.sharing(&[&other]).same_storage(&other));
        assert_eq!(Value::null_dynamic().sharing(&[&other]), Value::null_dynamic());
    }

    #[test]
    fn transform_changes_types() {
        let v = Value::list(Type::Number, vec![Value::int(1), Value::int(2)]);
        let t =
            v.transform::<()>(&mut |_, v| Ok(if v.ty() == &Type::Number { Value::string("n") } else { v })).unwrap();
        assert_eq!(t, Value::strings(["n", "n"]));
    }
}
