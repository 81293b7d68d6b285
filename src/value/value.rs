//! The value: immutable, shared, cheap to clone.
//!
//! Owns construction and access. A nested value carries its own marks; a set carries those of its elements. What a
//! reader asks often (marks anywhere inside, wholly known) is computed once, when the value is made.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::{Entries, Marks, Number, PathStep, Refinement, Type, set};

/// A value of the language: known, null or unknown, of any type, with marks.
#[derive(Clone)]
pub struct Value {
    data: Data,
    marks: Marks,
}

#[derive(Clone)]
enum Data {
    Bool(bool),
    Number(Number),
    String(Arc<str>),
    Sequence(Arc<Sequence>),
    Mapping(Arc<Mapping>),
    Null(Type),
    Unknown(Type),
    Refined(Arc<(Type, Refinement)>),
}

/// A list, set or tuple.
struct Sequence {
    ty: OnceLock<Type>,
    elements: Box<[Value]>,
    inside: Inside,
}

/// A map or object.
struct Mapping {
    ty: OnceLock<Type>,
    entries: Entries,
    inside: Inside,
}

/// What holds of all nested values together.
#[derive(Clone, Copy)]
struct Inside {
    marks: Marks,
    known: bool,
}

impl Inside {
    fn of<'v>(values: impl Iterator<Item = &'v Value>) -> Inside {
        values.fold(Inside { marks: Marks::NONE, known: true }, |all, v| Inside {
            marks: all.marks | v.deep_marks(),
            known: all.known && v.is_wholly_known(),
        })
    }
}

static EMPTY_ENTRIES: LazyLock<Entries> = LazyLock::new(Entries::default);
static EMPTY_TEXT: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(""));

/// Construction.
impl Value {
    fn new(data: Data) -> Value {
        Value { data, marks: Marks::NONE }
    }

    pub fn bool(b: bool) -> Value {
        Value::new(Data::Bool(b))
    }

    pub fn number(n: impl Into<Number>) -> Value {
        Value::new(Data::Number(n.into()))
    }

    pub fn int(n: i64) -> Value {
        Value::number(n)
    }

    /// An integer as if it had been written in the configuration: with 512 bits (see `Number::literal`).
    pub fn literal_int(n: i64) -> Value {
        Value::number(Number::literal(n))
    }

    /// A string, brought to Unicode's normal form C as the language requires.
    pub fn string(text: impl AsRef<str>) -> Value {
        let text = text.as_ref();
        if text.is_empty() {
            return Value::new(Data::String(EMPTY_TEXT.clone()));
        }
        Value::new(Data::String(normalised(text).unwrap_or_else(|| Arc::from(text))))
    }

    /// As `string`, without a copy where the text is in normal form already.
    pub fn shared_string(text: Arc<str>) -> Value {
        Value::new(Data::String(normalised(&text).unwrap_or(text)))
    }

    pub fn null(ty: Type) -> Value {
        Value::new(Data::Null(ty))
    }

    /// A null of no particular type, as the keyword `null` is.
    pub fn null_dynamic() -> Value {
        Value::null(Type::Dynamic)
    }

    pub fn unknown(ty: Type) -> Value {
        Value::new(Data::Unknown(ty))
    }

    /// An unknown about which something is known; a known value where only one is left.
    pub fn unknown_refined(ty: Type, refinement: Refinement) -> Value {
        if refinement.is_empty() || ty.is_dynamic() {
            return Value::unknown(ty);
        }
        match refinement.collapse(&ty) {
            Some(value) => value,
            None => Value::new(Data::Refined(Arc::new((ty, refinement)))),
        }
    }

    pub fn unknown_not_null(ty: Type) -> Value {
        Value::unknown_refined(ty, Refinement::not_null())
    }

    /// Unknown, and of unknown type.
    pub fn dynamic() -> Value {
        Value::unknown(Type::Dynamic)
    }

    fn sequence(ty: OnceLock<Type>, elements: Vec<Value>) -> Value {
        let inside = Inside::of(elements.iter());
        Value::new(Data::Sequence(Arc::new(Sequence { ty, elements: elements.into(), inside })))
    }

    fn mapping(ty: OnceLock<Type>, entries: Entries) -> Value {
        let inside = Inside::of(entries.values());
        Value::new(Data::Mapping(Arc::new(Mapping { ty, entries, inside })))
    }

    /// The elements must be of the element type (or that type must be `Dynamic`).
    pub fn list(element: Type, elements: Vec<Value>) -> Value {
        Value::sequence(Type::list(element).into(), elements)
    }

    /// Sorts and removes duplicates; marks of elements become marks of the set.
    pub fn set(element: Type, mut elements: Vec<Value>) -> Value {
        let mut marks = Marks::NONE;
        for element in &mut elements {
            if element.has_marks_deep() {
                let (bare, own) = element.unmark_deep();
                *element = bare;
                marks |= own;
            }
        }
        set::sort_elements(&element, &mut elements);
        Value::sequence(Type::set(element).into(), elements).mark(marks)
    }

    pub fn map<K: Into<Arc<str>>>(element: Type, entries: impl IntoIterator<Item = (K, Value)>) -> Value {
        let entries = entries.into_iter().map(|(k, v)| (k.into(), v)).collect();
        Value::mapping(Type::map(element).into(), entries)
    }

    pub fn tuple(elements: Vec<Value>) -> Value {
        Value::sequence(OnceLock::new(), elements)
    }

    pub fn object<K: Into<Arc<str>>>(attributes: impl IntoIterator<Item = (K, Value)>) -> Value {
        Value::mapping(OnceLock::new(), attributes.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// An object of a known type, which is not derived again. The attributes must match it.
    pub fn object_of(ty: Type, attributes: impl Into<Entries>) -> Value {
        debug_assert!(ty.is_object());
        Value::mapping(ty.into(), attributes.into())
    }

    pub fn empty_object() -> Value {
        static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::object(std::iter::empty::<(Arc<str>, Value)>()));
        EMPTY.clone()
    }

    pub fn empty_tuple() -> Value {
        Value::tuple(Vec::new())
    }

    pub fn strings<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Value {
        Value::list(Type::String, texts.into_iter().map(Value::string).collect())
    }
}

/// Access. The `as_*` calls see through marks and answer nothing for null, unknown and other types.
impl Value {
    pub fn ty(&self) -> &Type {
        match &self.data {
            Data::Bool(_) => &Type::Bool,
            Data::Number(_) => &Type::Number,
            Data::String(_) => &Type::String,
            Data::Null(ty) | Data::Unknown(ty) => ty,
            Data::Refined(refined) => &refined.0,
            Data::Sequence(s) => s.ty.get_or_init(|| Type::tuple(s.elements.iter().map(|v| v.ty().clone())).shared()),
            Data::Mapping(m) => {
                let attributes = || m.entries.iter().map(|(k, v)| (k.clone(), v.ty().clone()));
                m.ty.get_or_init(|| Type::object(attributes()).shared())
            }
        }
    }

    pub fn is_null(&self) -> bool {
        matches!(self.data, Data::Null(_))
    }

    /// Known itself; what is nested may be unknown.
    pub fn is_known(&self) -> bool {
        !matches!(self.data, Data::Unknown(_) | Data::Refined(_))
    }

    pub fn is_wholly_known(&self) -> bool {
        match &self.data {
            Data::Sequence(s) => s.inside.known,
            Data::Mapping(m) => m.inside.known,
            _ => self.is_known(),
        }
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self.data {
            Data::Bool(b) => Some(b),
            _ => None,
        }
    }

    pub fn as_number(&self) -> Option<&Number> {
        match &self.data {
            Data::Number(n) => Some(n),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(s) => Some(s),
            _ => None,
        }
    }

    pub fn as_arc_str(&self) -> Option<Arc<str>> {
        match &self.data {
            Data::String(s) => Some(s.clone()),
            _ => None,
        }
    }

    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// Elements of a known list, set (in its order) or tuple; nothing for all else.
    pub fn elements(&self) -> &[Value] {
        match &self.data {
            Data::Sequence(s) => &s.elements,
            _ => &[],
        }
    }

    /// Entries of a known map or object; nothing for all else.
    pub fn entries(&self) -> &Entries {
        match &self.data {
            Data::Mapping(m) => &m.entries,
            _ => &EMPTY_ENTRIES,
        }
    }

    /// An attribute of an object or an element of a map.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries().get(name)
    }

    /// An element of a list or tuple.
    pub fn at(&self, index: usize) -> Option<&Value> {
        self.elements().get(index)
    }

    /// How many elements or entries there are.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Sequence(s) => s.elements.len(),
            Data::Mapping(m) => m.entries.len(),
            _ => 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known about an unknown value.
    pub fn refinement(&self) -> Option<&Refinement> {
        match &self.data {
            Data::Refined(refined) => Some(&refined.1),
            _ => None,
        }
    }

    /// Whether this cannot turn out to be null: a known value that is not, or an unknown refined so.
    pub fn is_definitely_not_null(&self) -> bool {
        match &self.data {
            Data::Null(_) | Data::Unknown(_) => false,
            Data::Refined(refined) => refined.1.not_null,
            _ => true,
        }
    }

    /// This unknown, with the additional fact that it is not null. Known values stay.
    #[must_use]
    pub fn refine_not_null(&self) -> Value {
        if self.is_known() {
            return self.clone();
        }
        let mut refinement = self.refinement().cloned().unwrap_or_default();
        refinement.not_null = true;
        Value::unknown_refined(self.ty().clone(), refinement).mark(self.marks)
    }

    pub fn is_true(&self) -> bool {
        self.as_bool() == Some(true)
    }

    /// One step inwards.
    pub fn step(&self, step: &PathStep) -> Option<&Value> {
        match step {
            PathStep::Attr(name) => self.get(name),
            PathStep::Index(key) => match key.as_str() {
                Some(key) if matches!(self.data, Data::Mapping(_)) => self.get(key),
                _ if self.ty().is_set() => self.elements().iter().find(|e| *e == key),
                _ => self.at(key.as_number()?.as_usize()?),
            },
        }
    }

    /// Whether this is a known object, told without deriving its type.
    pub fn is_known_object(&self) -> bool {
        matches!(&self.data, Data::Mapping(m) if m.ty.get().is_none_or(Type::is_object))
    }

    /// Whether this is a known tuple, told without deriving its type.
    pub fn is_known_tuple(&self) -> bool {
        matches!(&self.data, Data::Sequence(s) if s.ty.get().is_none_or(Type::is_tuple))
    }

    /// Whether both share the same storage, so that they are equal without a look inside.
    pub fn same_storage(&self, other: &Value) -> bool {
        self.marks == other.marks
            && match (&self.data, &other.data) {
                (Data::Sequence(a), Data::Sequence(b)) => Arc::ptr_eq(a, b),
                (Data::Mapping(a), Data::Mapping(b)) => Arc::ptr_eq(a, b),
                (Data::String(a), Data::String(b)) => Arc::ptr_eq(a, b),
                _ => false,
            }
    }
}

/// Marks of one value.
impl Value {
    /// Its own, without those of what is nested.
    pub fn marks(&self) -> Marks {
        self.marks
    }

    /// Its own and those of all that is nested.
    pub fn deep_marks(&self) -> Marks {
        match &self.data {
            Data::Sequence(s) => self.marks | s.inside.marks,
            Data::Mapping(m) => self.marks | m.inside.marks,
            _ => self.marks,
        }
    }

    pub fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    pub fn has_marks_deep(&self) -> bool {
        !self.deep_marks().is_empty()
    }

    pub fn is_sensitive(&self) -> bool {
        self.marks.contains(Marks::SENSITIVE)
    }

    /// With these marks in addition.
    #[must_use]
    pub fn mark(mut self, marks: Marks) -> Value {
        self.marks |= marks;
        self
    }

    /// With exactly these own marks.
    #[must_use]
    pub fn with_marks(mut self, marks: Marks) -> Value {
        self.marks = marks;
        self
    }

    pub fn unmark(&self) -> (Value, Marks) {
        (self.clone().with_marks(Marks::NONE), self.marks)
    }
}

/// Exact: same type, same structure, same marks, same unknowns with the same refinements.
impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        if self.same_storage(other) {
            return true;
        }
        self.marks == other.marks
            && match (&self.data, &other.data) {
                (Data::Bool(a), Data::Bool(b)) => a == b,
                (Data::Number(a), Data::Number(b)) => a == b,
                (Data::String(a), Data::String(b)) => a == b,
                (Data::Null(a), Data::Null(b)) | (Data::Unknown(a), Data::Unknown(b)) => a == b,
                (Data::Refined(a), Data::Refined(b)) => a == b,
                (Data::Sequence(a), Data::Sequence(b)) => {
                    a.elements.len() == b.elements.len() && self.same_kind(other) && a.elements == b.elements
                }
                (Data::Mapping(a), Data::Mapping(b)) => {
                    a.entries.len() == b.entries.len() && self.same_kind(other) && a.entries == b.entries
                }
                _ => false,
            }
    }
}

impl Eq for Value {}

impl Value {
    /// Same type, where elements are compared as well: those of tuples and objects need not be derived for it.
    fn same_kind(&self, other: &Value) -> bool {
        let derived = |v: &Value| match &v.data {
            Data::Sequence(s) => s.ty.get().is_none_or(Type::is_tuple),
            Data::Mapping(m) => m.ty.get().is_none_or(Type::is_object),
            _ => false,
        };
        match (derived(self), derived(other)) {
            (true, true) => true,
            (false, false) => self.ty() == other.ty(),
            _ => false,
        }
    }
}

/// The normal form where it differs.
fn normalised(text: &str) -> Option<Arc<str>> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return None;
    }
    let nfc: String = text.nfc().collect();
    (nfc != text).then(|| Arc::from(nfc))
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.marks.is_empty() {
            write!(f, "{:?}:", self.marks)?;
        }
        match &self.data {
            Data::Bool(b) => write!(f, "{b}"),
            Data::Number(n) => write!(f, "{n}"),
            Data::String(s) => write!(f, "{s:?}"),
            Data::Null(ty) => write!(f, "null({})", ty.constraint_text()),
            Data::Unknown(ty) => write!(f, "unknown({})", ty.constraint_text()),
            Data::Refined(r) => write!(f, "unknown({}, {:?})", r.0.constraint_text(), r.1),
            Data::Sequence(s) => {
                if !self.ty().is_tuple() {
                    write!(f, "{}", if self.ty().is_set() { "set" } else { "list" })?;
                }
                f.debug_list().entries(&s.elements).finish()
            }
            Data::Mapping(m) => {
                if self.ty().is_map() {
                    write!(f, "map")?;
                }
                f.debug_map().entries(&m.entries).finish()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape() {
        assert!(size_of::<Value>() <= 40, "{}", size_of::<Value>());
        let v = Value::object([("a", Value::string("x").mark(Marks::SENSITIVE)), ("b", Value::unknown(Type::Number))]);
        assert_eq!(v.ty(), &Type::object([("a", Type::String), ("b", Type::Number)]));
        assert!(!v.is_wholly_known() && v.is_known());
        assert_eq!((v.marks(), v.deep_marks()), (Marks::NONE, Marks::SENSITIVE));
        assert_eq!(v, v.clone());
        assert_ne!(v, Value::object([("a", Value::string("x")), ("b", Value::unknown(Type::Number))]));
        assert_ne!(Value::empty_tuple(), Value::list(Type::String, vec![]));
        assert_ne!(Value::list(Type::Bool, vec![]), Value::list(Type::String, vec![]));
    }

    #[test]
    fn sets() {
        let s = Value::set(Type::String, ["b", "a", "b"].map(Value::string).to_vec());
        assert_eq!(s.elements(), ["a", "b"].map(Value::string));
        // Equal in their first ten digits.
        let object = |n: i64| Value::object([("n", Value::int(n))]);
        let numbers = [123456789012, 123456789011, 123456789012, 123456789010, 123456789011];
        let s = Value::set(object(0).ty().clone(), numbers.map(object).to_vec());
        assert_eq!(s.elements(), [123456789012, 123456789011, 123456789010].map(object));
        let marked = Value::set(Type::String, vec![Value::string("a").mark(Marks::SENSITIVE)]);
        assert_eq!((marked.marks(), marked.at(0).unwrap().marks()), (Marks::SENSITIVE, Marks::NONE));
    }
}
