//! Operations on values: equality, arithmetic, comparison, logic, indexing, length.
//!
//! Owns how unknowns, nulls, refinements and marks pass through an operation. Operands have been converted to the
//! types that the operation wants; messages with source ranges are made by those who call.

use std::cmp::Ordering;
use std::fmt;

use super::{Number, Refinement, Type, Value};

/// Why an operation has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationError {
    NullOperand,
    /// Such as zero by zero.
    NotANumber,
    WrongType,
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OperationError::NullOperand => "argument must not be null",
            OperationError::NotANumber => "not a number",
            OperationError::WrongType => "unsuitable type",
        })
    }
}

type Outcome = Result<Value, OperationError>;

/// Equality as the `==` operator has it.
impl Value {
    /// A bool; unknown where unknown parts could decide. Null equals null of any type. Marks of all parts are united.
    #[must_use]
    pub fn equals(&self, other: &Value) -> Value {
        let marks = self.deep_marks() | other.deep_marks();
        if self.same_storage(other) && self.is_wholly_known() {
            return Value::bool(true).mark(marks);
        }
        match equal(self, other) {
            Some(answer) => Value::bool(answer),
            None => Value::unknown_not_null(Type::Bool),
        }
        .mark(marks)
    }

    #[must_use]
    pub fn not_equals(&self, other: &Value) -> Value {
        let equal = self.equals(other);
        match equal.as_bool() {
            Some(answer) => Value::bool(!answer).mark(equal.marks()),
            None => equal,
        }
    }
}

fn equal(a: &Value, b: &Value) -> Option<bool> {
    match (a.is_known(), b.is_known()) {
        (true, true) => {}
        (true, false) => return equal_to_unknown(a, b),
        (false, true) => return equal_to_unknown(b, a),
        (false, false) => return None,
    }
    if a.is_null() || b.is_null() {
        return Some(a.is_null() && b.is_null());
    }
    if has_open_type(a) || has_open_type(b) {
        return if may_conform(a.ty(), b.ty()) || may_conform(b.ty(), a.ty()) { None } else { Some(false) };
    }
    match (a.ty(), b.ty()) {
        (Type::Set(x), Type::Set(y)) => {
            if x != y {
                return Some(false);
            }
            if !a.is_wholly_known() || !b.is_wholly_known() {
                return None;
            }
            Some(a.elements() == b.elements())
        }
        (Type::List(_), Type::List(_)) | (Type::Tuple(_), Type::Tuple(_)) => {
            if a.ty() != b.ty() || a.len() != b.len() {
                return Some(false);
            }
            all_equal(a.elements().iter().zip(b.elements()))
        }
        (Type::Map(_), Type::Map(_)) | (Type::Object(_), Type::Object(_)) => {
            if a.ty() != b.ty() || !a.entries().keys().eq(b.entries().keys()) {
                return Some(false);
            }
            all_equal(a.entries().values().zip(b.entries().values()))
        }
        (x, y) if x != y => Some(false),
        (Type::Number, _) => Some(a.as_number() == b.as_number()),
        (Type::String, _) => Some(a.as_str() == b.as_str()),
        _ => Some(a.as_bool() == b.as_bool()),
    }
}

/// Whether some part is unknown and of unknown type.
fn has_open_type(value: &Value) -> bool {
    if value.is_wholly_known() {
        return false;
    }
    match value.is_known() {
        false => value.ty().is_dynamic(),
        true => value.elements().iter().chain(value.entries().values()).any(has_open_type),
    }
}

/// Whether a type is the wanted one where the wanted one takes any type at `Dynamic`.
fn may_conform(ty: &Type, want: &Type) -> bool {
    match (ty, want) {
        (_, Type::Dynamic) => true,
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
            may_conform(a, b)
        }
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| may_conform(a, b))
        }
        (Type::Object(a), Type::Object(b)) => {
            let same_names = a.attributes.keys().eq(b.attributes.keys());
            same_names && a.attributes.values().zip(b.attributes.values()).all(|(a, b)| may_conform(a, b))
        }
        _ => ty == want,
    }
}

fn all_equal<'v>(pairs: impl Iterator<Item = (&'v Value, &'v Value)>) -> Option<bool> {
    for (a, b) in pairs {
        if !equal(a, b)? {
            return Some(false);
        }
    }
    Some(true)
}

fn equal_to_unknown(known: &Value, unknown: &Value) -> Option<bool> {
    if known.is_null() {
        return if unknown.is_definitely_not_null() { Some(false) } else { None };
    }
    if unknown.ty().has_dynamic() {
        return None;
    }
    if known.ty() != unknown.ty() || !may_be(unknown, known) {
        return Some(false);
    }
    None
}

/// Whether an unknown could turn out to be this known value.
pub fn may_be(unknown: &Value, known: &Value) -> bool {
    let Some(facts) = unknown.refinement() else { return true };
    if known.is_null() {
        return !facts.not_null;
    }
    if let (Some(prefix), Some(text)) = (&facts.string_prefix, known.as_str()) {
        return text.starts_with(&**prefix);
    }
    if let Some(n) = known.as_number() {
        let above = facts.number_min.as_ref().is_none_or(|(min, at)| n > min || *at && n == min);
        let below = facts.number_max.as_ref().is_none_or(|(max, at)| n < max || *at && n == max);
        return above && below;
    }
    if known.ty().is_collection() && known.is_wholly_known() {
        let len = known.len() as u64;
        return len >= facts.length_min && facts.length_max.is_none_or(|max| len <= max);
    }
    true
}

/// Arithmetic, comparison and logic. Both operands number or bool, null refused.
impl Value {
    fn numeric(&self, other: &Value, f: fn(&Number, &Number) -> Option<Number>) -> Outcome {
        let marks = self.marks() | other.marks();
        if !operands(self, other, &Type::Number)? {
            return Ok(Value::unknown_not_null(Type::Number).mark(marks));
        }
        match (self.as_number(), other.as_number()) {
            (Some(a), Some(b)) => f(a, b).map(|n| Value::number(n).mark(marks)).ok_or(OperationError::NotANumber),
            _ => Err(OperationError::WrongType),
        }
    }

    pub fn add(&self, other: &Value) -> Outcome {
        self.numeric(other, Number::add)
    }

    pub fn subtract(&self, other: &Value) -> Outcome {
        self.numeric(other, Number::sub)
    }

    pub fn multiply(&self, other: &Value) -> Outcome {
        self.numeric(other, Number::mul)
    }

    pub fn divide(&self, other: &Value) -> Outcome {
        self.numeric(other, Number::div)
    }

    pub fn modulo(&self, other: &Value) -> Outcome {
        self.numeric(other, Number::rem)
    }

    pub fn negate(&self) -> Outcome {
        if self.is_null() {
            return Err(OperationError::NullOperand);
        }
        if !self.is_known() {
            return Ok(Value::unknown_not_null(Type::Number).mark(self.marks()));
        }
        self.as_number().map(|n| Value::number(n.neg()).mark(self.marks())).ok_or(OperationError::WrongType)
    }

    fn compare(&self, other: &Value, holds: fn(Ordering) -> bool) -> Outcome {
        let marks = self.marks() | other.marks();
        if !operands(self, other, &Type::Number)? {
            let answer = compare_bounds(self, other).map(holds);
            let result = answer.map_or_else(|| Value::unknown_not_null(Type::Bool), Value::bool);
            return Ok(result.mark(marks));
        }
        match (self.as_number(), other.as_number()) {
            // What is equal by its text may differ in value: then it is both equal and less or greater.
            (Some(a), Some(b)) => {
                Ok(Value::bool(holds(a.total_cmp(b)) || a == b && holds(Ordering::Equal)).mark(marks))
            }
            _ => Err(OperationError::WrongType),
        }
    }

    pub fn less_than(&self, other: &Value) -> Outcome {
        self.compare(other, Ordering::is_lt)
    }

    pub fn less_than_or_equal(&self, other: &Value) -> Outcome {
        self.compare(other, Ordering::is_le)
    }

    pub fn greater_than(&self, other: &Value) -> Outcome {
        self.compare(other, Ordering::is_gt)
    }

    pub fn greater_than_or_equal(&self, other: &Value) -> Outcome {
        self.compare(other, Ordering::is_ge)
    }

    fn logical(&self, other: &Value, f: fn(bool, bool) -> bool) -> Outcome {
        let marks = self.marks() | other.marks();
        if !operands(self, other, &Type::Bool)? {
            return Ok(Value::unknown_not_null(Type::Bool).mark(marks));
        }
        match (self.as_bool(), other.as_bool()) {
            (Some(a), Some(b)) => Ok(Value::bool(f(a, b)).mark(marks)),
            _ => Err(OperationError::WrongType),
        }
    }

    pub fn and(&self, other: &Value) -> Outcome {
        self.logical(other, |a, b| a && b)
    }

    pub fn or(&self, other: &Value) -> Outcome {
        self.logical(other, |a, b| a || b)
    }

    #[allow(clippy::should_implement_trait)]
    pub fn not(&self) -> Outcome {
        if self.is_null() {
            return Err(OperationError::NullOperand);
        }
        if !self.is_known() {
            return Ok(Value::unknown_not_null(Type::Bool).mark(self.marks()));
        }
        self.as_bool().map(|b| Value::bool(!b).mark(self.marks())).ok_or(OperationError::WrongType)
    }
}

/// Whether both are known; an error where one cannot be an operand at all.
fn operands(a: &Value, b: &Value, want: &Type) -> Result<bool, OperationError> {
    for v in [a, b] {
        if v.ty() != want && !v.ty().is_dynamic() {
            return Err(OperationError::WrongType);
        }
        if v.is_null() {
            return Err(OperationError::NullOperand);
        }
    }
    Ok(a.is_known() && b.is_known())
}

/// The order of two numbers that follows from their bounds alone; strict orders only.
fn compare_bounds(a: &Value, b: &Value) -> Option<Ordering> {
    let bounds = |v: &Value| match v.as_number() {
        Some(n) => (Some(n.clone()), Some(n.clone())),
        None => {
            let facts = v.refinement();
            (
                facts.and_then(|f| f.number_min.as_ref()).map(|(n, _)| n.clone()),
                facts.and_then(|f| f.number_max.as_ref()).map(|(n, _)| n.clone()),
            )
        }
    };
    let ((a_min, a_max), (b_min, b_max)) = (bounds(a), bounds(b));
    if a_max.is_some() && b_min.is_some() && a_max < b_min {
        return Some(Ordering::Less);
    }
    if a_min.is_some() && b_max.is_some() && a_min > b_max {
        return Some(Ordering::Greater);
    }
    None
}

/// Parts of values that may be unknown.
impl Value {
    /// An element of a list, tuple (number) or map (string). Nothing where there is none. Marks of both sides are in
    /// the result; an unknown side gives an unknown.
    pub fn index(&self, key: &Value) -> Option<Value> {
        let marks = self.marks() | key.marks();
        if self.is_null() || key.is_null() {
            return None;
        }
        if let Some(object) = self.ty().object_type() {
            let name = key.as_str();
            return match name {
                Some(name) if self.is_known() => self.get(name).cloned(),
                Some(name) => object.attributes.get(name).map(|ty| Value::unknown(ty.clone())),
                None => Some(Value::dynamic()),
            }
            .map(|v| v.mark(marks));
        }
        if !self.is_known() || !key.is_known() {
            let result = match (self.ty(), key.as_number()) {
                (Type::List(t) | Type::Map(t), _) => Value::unknown((**t).clone()),
                (Type::Tuple(types), Some(n)) => Value::unknown(types.get(n.as_usize()?)?.clone()),
                _ => Value::dynamic(),
            };
            return Some(result.mark(marks));
        }
        let found = match self.ty() {
            Type::List(_) | Type::Tuple(_) => self.at(key.as_number()?.as_usize()?),
            Type::Map(_) => self.get(key.as_str()?),
            _ => None,
        };
        found.map(|v| v.clone().mark(marks))
    }

    /// Whether `index` would find something: a bool, perhaps unknown.
    #[must_use]
    pub fn has_index(&self, key: &Value) -> Value {
        let marks = self.marks() | key.marks();
        if self.ty().is_dynamic() || key.ty().is_dynamic() {
            return Value::unknown_not_null(Type::Bool).mark(marks);
        }
        let fits = match self.ty() {
            Type::List(_) | Type::Tuple(_) => key.ty() == &Type::Number,
            Type::Map(_) => key.ty() == &Type::String,
            _ => false,
        };
        let answer = if !fits {
            Some(false)
        } else if let (Type::Tuple(types), Some(n)) = (self.ty(), key.as_number()) {
            Some(n.as_usize().is_some_and(|i| i < types.len()))
        } else if !self.is_known() || !key.is_known() {
            None
        } else {
            Some(self.index(key).is_some())
        };
        answer.map_or_else(|| Value::unknown_not_null(Type::Bool), Value::bool).mark(marks)
    }

    /// How many elements: a number, unknown (with bounds) where that depends on unknowns. Keeps the own marks.
    #[must_use]
    pub fn length(&self) -> Value {
        let unknown = |min: u64, max: Option<u64>| {
            let mut facts = Refinement::not_null().with_number_min(Number::from(min), true);
            if let Some(max) = max {
                facts = facts.with_number_max(Number::from(max), true);
            }
            Value::unknown_refined(Type::Number, facts)
        };
        let result = match self.ty() {
            Type::Tuple(types) => Value::number(types.len()),
            Type::Object(object) => Value::number(object.attributes.len()),
            _ if !self.is_known() => {
                let facts = self.refinement();
                unknown(facts.map_or(0, |f| f.length_min), facts.and_then(|f| f.length_max))
            }
            Type::Set(_) if !self.is_wholly_known() => {
                let known = self.elements().iter().filter(|v| v.is_wholly_known()).count();
                unknown(known.max(1) as u64, Some(self.len() as u64))
            }
            _ => Value::number(self.len()),
        };
        result.mark(self.marks())
    }

    /// Whether elements can be visited: a known list, set, map, tuple or object.
    pub fn can_iterate(&self) -> bool {
        self.is_known() && !self.is_null() && !self.ty().is_primitive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality() {
        let unknown = || Value::unknown(Type::String);
        let (yes, no, maybe) = (Value::bool(true), Value::bool(false), Value::unknown_not_null(Type::Bool));
        let cases = [
            (Value::int(1), Value::literal_int(1), &yes),
            (Value::int(1), Value::string("1"), &no),
            (Value::null(Type::String), Value::null_dynamic(), &yes),
            (Value::null(Type::String), unknown().refine_not_null(), &no),
            (Value::null(Type::String), unknown(), &maybe),
            (unknown(), unknown(), &maybe),
            (Value::tuple(vec![Value::int(1), unknown()]), Value::tuple(vec![Value::int(2), unknown()]), &no),
            (Value::tuple(vec![Value::int(1), unknown()]), Value::tuple(vec![Value::int(1), unknown()]), &maybe),
            (Value::strings(["a"]), Value::tuple(vec![Value::string("a")]), &no),
            (Value::unknown_refined(Type::String, Refinement::not_null().with_prefix("ami-")), Value::string("x"), &no),
        ];
        for (a, b, expected) in cases {
            assert_eq!(&a.equals(&b), expected, "{a:?} {b:?}");
            assert_eq!(&b.equals(&a), expected, "{b:?} {a:?}");
        }
    }

    #[test]
    fn unknown_lengths_and_indexes() {
        let s = Value::set(Type::String, vec![Value::string("a"), Value::unknown(Type::String)]);
        assert!(!s.length().is_known());
        assert_eq!(s.length().less_than(&Value::int(5)).unwrap(), Value::bool(true));
        let list = Value::strings(["a"]);
        assert_eq!(list.index(&Value::int(0)), Some(Value::string("a")));
        assert_eq!(list.index(&Value::int(1)), None);
        assert_eq!(list.index(&Value::unknown(Type::Number)), Some(Value::unknown(Type::String)));
        assert_eq!(Value::int(1).add(&Value::null(Type::Number)), Err(OperationError::NullOperand));
    }
}
