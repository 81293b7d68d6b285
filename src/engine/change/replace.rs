//! Which of the paths that a provider says require replacement have really changed.

use crate::lang::value::{Path, PathStep, Type, Value};

/// The paths among `requires_replace` whose values differ between prior and planned object. An unknown planned value
/// counts as a change. The second list holds paths that do not exist in the schema's type: a bug of the provider.
pub fn changed_paths(requires_replace: &[Path], prior: &Value, planned: &Value) -> (Vec<Path>, Vec<Path>) {
    let (mut changed, mut invalid) = (Vec::new(), Vec::new());
    for path in requires_replace {
        let (before, after) = (path.apply(prior), path.apply(planned));
        if before.is_none() && after.is_none() {
            if !exists_in_type(planned.ty(), path) {
                invalid.push(path.clone());
            }
            continue;
        }
        let differs = match (before, after) {
            (Some(before), Some(after)) => !after.is_wholly_known() || before != after,
            _ => true,
        };
        if differs && !changed.contains(path) {
            changed.push(path.clone());
        }
    }
    (changed, invalid)
}

/// Whether values of the type can have something at the path.
fn exists_in_type(ty: &Type, path: &Path) -> bool {
    let mut ty = ty.clone();
    for step in path.steps() {
        let next = match (step, &ty) {
            (_, Type::Dynamic) => return true,
            (PathStep::Attr(name), Type::Object(_)) => ty.attribute(name).cloned(),
            (PathStep::Index(_), Type::List(e) | Type::Set(e) | Type::Map(e)) => Some((**e).clone()),
            (PathStep::Index(key), Type::Tuple(es)) => {
                key.as_i64().and_then(|i| usize::try_from(i).ok()).and_then(|i| es.get(i)).cloned()
            }
            _ => None,
        };
        match next {
            Some(next) => ty = next,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_paths_count() {
        let object = |a: &str, b: Value| Value::object([("a", Value::string(a)), ("b", b)]);
        let (a, b, c) = (Path::new().attr("a"), Path::new().attr("b"), Path::new().attr("c"));
        let prior = object("x", Value::string("y"));
        let planned = object("x", Value::unknown(Type::String));
        assert_eq!(changed_paths(&[a, b.clone(), c.clone()], &prior, &planned), (vec![b], vec![c]));
    }
}
