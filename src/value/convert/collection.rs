//! Conversion to lists, sets and maps: whose elements all have one type.
//!
//! Where the wanted element type is or has "any", that type is found in two steps: from the types of the parts before they
//! are converted, and again from what they became. Observed on cty 1.16.

use std::sync::Arc;

use super::exists::{Any, common_type};
use super::{Failure, Path, PathStepOf, absent, at, conversion_exists, part, to};
use crate::unify::{unify, unify_unsafe};
use crate::{Type, Value};

/// A list from a list, set or tuple.
pub(super) fn list(value: &Value, element: &Type, path: &mut Path) -> Result<Value, Failure> {
    let Parts { mut values, want } = if value.is_known_tuple() {
        let mut parts = sequence_from_tuple(value, element, path)?;
        if let Some(last) = parts.values.len().checked_sub(1) {
            // The reference reports parts without a common type at the last one.
            path.push(PathStepOf::Index(last).step());
            parts.unify(true, PathStepOf::Index, path)?;
            path.pop();
        }
        parts
    } else {
        let have = element_of_sequence(value)?;
        // Where unknown elements may turn out equal, a set has no known length, and what it becomes has none either.
        if value.ty().is_set() && !value.length().is_known() {
            if !conversion_exists(have, element, true) {
                return Err(Failure::Types);
            }
            return Ok(Value::unknown(Type::list(absent::fill_element(value.ty(), &element.without_optional_deep()))));
        }
        sequence_from_collection(value, have, element, path)?
    };
    let ty = one_type(&mut values, want, "element types must all match for conversion to list", path)?;
    Ok(Value::list(ty, values))
}

/// A set from a list, set or tuple.
pub(super) fn set(value: &Value, element: &Type, path: &mut Path) -> Result<Value, Failure> {
    let Parts { mut values, want } = match value.is_known_tuple() {
        true => sequence_from_tuple(value, element, path)?,
        false => sequence_from_collection(value, element_of_sequence(value)?, element, path)?,
    };
    let ty = one_type(&mut values, want, "element types must all match for conversion to set", path)?;
    Ok(Value::set(ty, values))
}

/// A map from a map or object.
pub(super) fn map(value: &Value, element: &Type, path: &mut Path) -> Result<Value, Failure> {
    let from_object = value.is_known_object();
    let entries = value.entries();
    let want = if from_object {
        aim(entries.values(), element, Any::Allowed)?
    } else {
        let Type::Map(have) = value.ty() else { return Err(Failure::Types) };
        if **have == *element || element.is_dynamic() {
            return Ok(value.clone());
        }
        if !conversion_exists(have, element, true) {
            return Err(Failure::Types);
        }
        element.clone()
    };
    let steps = || entries.keys().map(PathStepOf::Key);
    let mut parts = Parts::converted(entries.values().zip(steps()), want, path)?;
    if parts.want.is_collection() || parts.want.is_object() {
        let keys: Vec<&Arc<str>> = entries.keys().collect();
        parts.unify(from_object, |i| PathStepOf::Key(keys[i]), path)?;
    }
    let mismatch = match from_object {
        true => "attribute types must all match for conversion to map",
        false => "element types must all match for conversion to map",
    };
    let Parts { mut values, want } = parts;
    let ty = one_type(&mut values, want, mismatch, path)?;
    Ok(Value::map(ty, entries.keys().cloned().zip(values)))
}

fn element_of_sequence(value: &Value) -> Result<&Type, Failure> {
    match value.ty() {
        Type::List(element) | Type::Set(element) => Ok(element),
        _ => Err(Failure::Types),
    }
}

fn sequence_from_tuple(value: &Value, element: &Type, path: &mut Path) -> Result<Parts, Failure> {
    let want = aim(value.elements().iter(), element, Any::AllOrNone)?;
    let steps = (0..).map(PathStepOf::Index);
    Parts::converted(value.elements().iter().zip(steps), want, path)
}

fn sequence_from_collection(value: &Value, have: &Type, want: &Type, path: &mut Path) -> Result<Parts, Failure> {
    if have == want || want.is_dynamic() {
        return Ok(Parts { values: value.elements().to_vec(), want: have.clone() });
    }
    if !conversion_exists(have, want, true) {
        return Err(Failure::Types);
    }
    let steps = (0..).map(PathStepOf::Index);
    Parts::converted(value.elements().iter().zip(steps), want.clone(), path)
}

/// The type that parts of different types are converted to first: what is wanted, or for "any" what their types unify to.
fn aim<'v>(parts: impl ExactSizeIterator<Item = &'v Value>, want: &Type, any: Any) -> Result<Type, Failure> {
    if !want.is_dynamic() || parts.len() == 0 {
        return Ok(want.clone());
    }
    let types: Vec<Type> = parts.map(|v| v.ty().clone()).collect();
    common_type(&types, any, true).ok_or(Failure::Types)
}

/// Parts of a collection that is being made, converted to a type that may have "any" in it.
struct Parts {
    values: Vec<Value>,
    want: Type,
}

impl Parts {
    fn converted<'v>(
        values: impl Iterator<Item = (&'v Value, PathStepOf<'v>)>,
        want: Type,
        path: &mut Path,
    ) -> Result<Parts, Failure> {
        let converted: Result<Vec<Value>, Failure> = values.map(|(v, step)| part(v, step, &want, path)).collect();
        Ok(Parts { values: converted?, want })
    }

    /// Converts parts that took different types to one that all can have.
    fn unify<'v>(
        &mut self,
        unsafe_ok: bool,
        step: impl Fn(usize) -> PathStepOf<'v>,
        path: &mut Path,
    ) -> Result<(), Failure> {
        if !self.want.has_dynamic() || all_equal(&self.values) {
            return Ok(());
        }
        let types: Vec<Type> = self.values.iter().map(|v| v.ty().clone()).collect();
        let Some(common) = (if unsafe_ok { unify_unsafe(&types) } else { unify(&types) }) else {
            return at(path, "cannot find a common base type for all elements");
        };
        for (i, value) in self.values.iter_mut().enumerate() {
            if *value.ty() != common {
                path.push(step(i).step());
                *value = to(value, &common, path)?;
                path.pop();
            }
        }
        Ok(())
    }
}

fn all_equal(values: &[Value]) -> bool {
    values.windows(2).all(|pair| pair[0].ty() == pair[1].ty())
}

/// The element type of finished parts: what was wanted, or what they all have where that leaves it open. Parts that are of no
/// type yet take that of the others.
fn one_type(values: &mut [Value], want: Type, mismatch: &str, path: &Path) -> Result<Type, Failure> {
    let want = want.without_optional_deep();
    if !want.has_dynamic() {
        return Ok(want);
    }
    let Some(typed) = values.iter().map(Value::ty).find(|t| !t.is_dynamic()).cloned() else { return Ok(want) };
    for value in values.iter_mut() {
        if value.ty().is_dynamic() {
            let bare = if value.is_null() { Value::null(typed.clone()) } else { Value::unknown(typed.clone()) };
            *value = bare.mark(value.marks());
        } else if *value.ty() != typed {
            return at(path, mismatch);
        }
    }
    Ok(typed)
}
