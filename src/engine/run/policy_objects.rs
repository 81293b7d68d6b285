//! The objects that policies of a run look up, by type, and the results of filters among them.
//!
//! Each is found once per type, because every policy asks for them for every object. Never knows a policy.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::addr::AbsResourceInstance;
use rustc_hash::{FxHashMap, FxHashSet};
use terrane_value::Value;
use terrane_value::convert::convert;

/// How many results of filters are kept per type. Most filters are the same for all objects.
const KEPT_RESULTS: usize = 50;

/// The objects of a type of managed resources.
pub struct ObjectList {
    objects: Vec<Value>,
    /// Filters with their results, the oldest first.
    results: Mutex<VecDeque<(Value, Value)>>,
}

impl ObjectList {
    pub fn new(objects: Vec<Value>) -> ObjectList {
        ObjectList { objects, results: Mutex::default() }
    }

    /// The objects whose attributes are those of the filter, as a tuple. Unknown if it is not known whether one of them matches.
    /// `filter`: an object or a map without marks.
    pub fn find(&self, filter: &Value) -> Value {
        if let Some((_, found)) = self.results().iter().find(|(known, _)| known == filter) {
            return found.clone();
        }
        let found = self.search(filter);
        let mut results = self.results();
        if results.len() >= KEPT_RESULTS {
            results.pop_front();
        }
        results.push_back((filter.clone(), found.clone()));
        found
    }

    fn search(&self, filter: &Value) -> Value {
        let mut found = Vec::new();
        for object in &self.objects {
            match matches_filter(object, filter) {
                Some(true) => found.push(object.clone()),
                Some(false) => {}
                None => return Value::dynamic(),
            }
        }
        Value::tuple(found)
    }

    fn results(&self) -> MutexGuard<'_, VecDeque<(Value, Value)>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an object has the attributes of a filter; none: it is not known.
fn matches_filter(object: &Value, filter: &Value) -> Option<bool> {
    let mut is_unknown = false;
    for (name, wanted) in filter.entries() {
        let Some(value) = object.get(name) else { return Some(false) };
        let (value, _) = value.unmark_deep();
        // What is written is of no certain type: `{}` may be a map.
        let wanted = convert(wanted, value.ty()).unwrap_or_else(|_| wanted.clone());
        match value.equals(&wanted).as_bool() {
            Some(true) => {}
            Some(false) => return Some(false),
            None => is_unknown = true,
        }
    }
    (!is_unknown).then_some(true)
}

/// The objects of a type as they are or will be. If some of them change, only these are looked up again.
pub struct CurrentObjects {
    /// The objects that the plan promises; null: none.
    planned: FxHashMap<AbsResourceInstance, Value>,
    objects: BTreeMap<AbsResourceInstance, Value>,
    /// Instances to look up.
    outdated: BTreeSet<AbsResourceInstance>,
    list: Option<Arc<ObjectList>>,
}

impl CurrentObjects {
    /// `planned`: the objects of planned changes, of which some are of the same instance; `stored`: the instances of the state.
    pub fn new(
        planned: impl IntoIterator<Item = (AbsResourceInstance, Value)>,
        stored: impl IntoIterator<Item = AbsResourceInstance>,
    ) -> CurrentObjects {
        let mut promised: FxHashMap<AbsResourceInstance, Value> = FxHashMap::default();
        for (addr, after) in planned {
            if !after.is_null() || !promised.contains_key(&addr) {
                promised.insert(addr, after);
            }
        }
        let outdated = promised.keys().cloned().chain(stored).collect();
        CurrentObjects { planned: promised, objects: BTreeMap::new(), outdated, list: None }
    }

    /// Notes that an instance changed.
    pub fn outdate(&mut self, addr: &AbsResourceInstance) {
        self.outdated.insert(addr.clone());
        self.list = None;
    }

    /// The objects, in the order of their addresses. `applied`: the instances whose planned changes were made; `stored`: the object that
    /// the state has of an instance.
    pub fn list(
        &mut self,
        applied: &FxHashSet<AbsResourceInstance>,
        stored: impl Fn(&AbsResourceInstance) -> Option<Value>,
    ) -> Arc<ObjectList> {
        for addr in std::mem::take(&mut self.outdated) {
            let object = match self.planned.get(&addr).filter(|_| !applied.contains(&addr)) {
                Some(after) => Some(after.clone()).filter(|after| !after.is_null()),
                None => stored(&addr),
            };
            match object {
                Some(object) => drop(self.objects.insert(addr, object)),
                None => drop(self.objects.remove(&addr)),
            }
        }
        let objects = &self.objects;
        self.list.get_or_insert_with(|| Arc::new(ObjectList::new(objects.values().cloned().collect()))).clone()
    }
}

#[cfg(test)]
mod tests {
    use model::addr::parse::parse_abs_instance;
    use terrane_value::Marks;

    use super::*;

    fn addr(name: &str) -> AbsResourceInstance {
        parse_abs_instance(&format!("aws_x.{name}")).unwrap()
    }

    fn object(name: &str) -> Value {
        Value::object([("name", Value::string(name))])
    }

    fn names(found: &Value) -> Vec<String> {
        let name = |object: &Value| object.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        found.elements().iter().map(name).collect()
    }

    #[test]
    fn results_of_filters_are_kept_and_bounded() {
        let secret = Value::object([("name", Value::string("b").mark(Marks::SENSITIVE))]);
        let list = ObjectList::new(vec![object("a"), secret, object("a")]);
        let all = list.find(&Value::empty_object());
        assert_eq!(names(&all), ["a", "b", "a"]);
        assert!(all.same_storage(&list.find(&Value::empty_object())));
        for (wanted, expected) in [("a", 2), ("b", 1), ("c", 0), ("a", 2)] {
            assert_eq!(list.find(&object(wanted)).len(), expected, "{wanted}");
        }
        for number in 0..3 * KEPT_RESULTS {
            assert_eq!(list.find(&object(&number.to_string())).len(), 0);
        }
        assert_eq!(list.results().len(), KEPT_RESULTS);
        assert_eq!(list.find(&object("a")).len(), 2);
    }

    /// A filter that is written another way may have another result.
    #[test]
    fn filters_of_other_types_are_other_filters() {
        let list = ObjectList::new(vec![Value::object([("size", Value::int(1))])]);
        for (wanted, expected) in [(Value::int(1), 1), (Value::string("1"), 1), (Value::string("x"), 0)] {
            let filter = Value::object([("size", wanted.clone())]);
            assert_eq!(list.find(&filter).len(), expected, "{wanted:?}");
        }
        let unknown = Value::object([("size", Value::unknown(terrane_value::Type::Number))]);
        assert!(!list.find(&unknown).is_known());
    }

    #[test]
    fn objects_are_as_planned_until_their_change_is_made() {
        let null = Value::null_dynamic();
        let planned =
            [(addr("a"), object("new-a")), (addr("b"), null.clone()), (addr("r"), null), (addr("r"), object("new-r"))];
        let mut current = CurrentObjects::new(planned, ["a", "b", "c"].map(addr));
        let mut applied = FxHashSet::default();
        let stored = |at: &AbsResourceInstance| Some(object(&format!("old-{}", at.resource.resource.name)));
        let first = current.list(&applied, stored);
        assert_eq!(names(&first.find(&Value::empty_object())), ["new-a", "old-c", "new-r"]);
        assert!(Arc::ptr_eq(&first, &current.list(&applied, stored)));

        let made = |at: &AbsResourceInstance| Some(object(&format!("made-{}", at.resource.resource.name)));
        applied.insert(addr("a"));
        current.outdate(&addr("a"));
        assert_eq!(names(&current.list(&applied, made).find(&Value::empty_object())), ["made-a", "old-c", "new-r"]);

        current.outdate(&addr("c"));
        current.outdate(&addr("d"));
        let gone = |at: &AbsResourceInstance| Some(object("made-d")).filter(|_| *at == addr("d"));
        assert_eq!(names(&current.list(&applied, gone).find(&Value::empty_object())), ["made-a", "made-d", "new-r"]);
    }
}
