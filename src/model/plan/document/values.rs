//! Values of a plan's document: what is known, with what is unknown and sensitive beside it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value as Json;
use terrane_value::json::{self, JsonError};
use terrane_value::{Entries, Marks, Path, PathStep, Type, Value};

use crate::plan::Change;

/// Both sides of a change.
pub fn change(document: &Json, ty: &Type) -> Result<Change, JsonError> {
    let before = Source { known: &document["before"], unknown: &Json::Null, sensitive: &document["before_sensitive"] };
    let after = Source {
        known: &document["after"],
        unknown: &document["after_unknown"],
        sensitive: &document["after_sensitive"],
    };
    Ok(Change { before: before.value(ty)?, after: after.value(ty)? })
}

/// The configuration of an action.
pub fn config(document: &Json, ty: &Type) -> Result<Value, JsonError> {
    let source = Source {
        known: &document["config_values"],
        unknown: &document["config_unknown"],
        sensitive: &document["config_sensitive"],
    };
    source.value(ty)
}

/// A path. The type decides whether a name is an attribute or a key.
pub fn path(document: &Json, ty: &Type) -> Path {
    let mut path = Path::new();
    let mut at = ty;
    for step in document.as_array().into_iter().flatten() {
        let (step, next) = match (step, at) {
            (Json::String(name), Type::Map(element)) => (PathStep::Index(Value::string(name)), &**element),
            (Json::String(name), ty) => {
                (PathStep::Attr(name.as_str().into()), ty.attribute(name).unwrap_or(&Type::Dynamic))
            }
            (key, ty) => (PathStep::Index(json::untyped(key)), ty.element_type().unwrap_or(&Type::Dynamic)),
        };
        path.push(step);
        at = next;
    }
    path
}

/// A value in the document: three trees of the same shape.
#[derive(Clone, Copy)]
struct Source<'d> {
    /// Unknown parts are missing, or null within lists.
    known: &'d Json,
    /// `true` where the value is unknown.
    unknown: &'d Json,
    /// `true` where it is sensitive.
    sensitive: &'d Json,
}

impl<'d> Source<'d> {
    fn value(self, ty: &Type) -> Result<Value, JsonError> {
        let value = if *self.unknown == true {
            Value::unknown(ty.clone())
        } else if self.known.is_null() {
            Value::null(ty.clone())
        } else {
            self.present(ty)?
        };
        Ok(if *self.sensitive == true { value.mark(Marks::SENSITIVE) } else { value })
    }

    fn present(self, ty: &Type) -> Result<Value, JsonError> {
        match (ty, self.known) {
            (Type::Object(object), Json::Object(_)) => {
                let part = |(name, ty): (&Arc<str>, &Type)| Ok((name.clone(), self.member(name).value(ty)?));
                let attributes = object.attributes.iter().map(part).collect::<Result<Entries, JsonError>>()?;
                Ok(Value::object_of(ty.clone(), attributes))
            }
            (Type::Map(element), Json::Object(_)) => {
                let part = |name: &'d str| Ok((Arc::from(name), self.member(name).value(element)?));
                let entries: Vec<(Arc<str>, Value)> =
                    self.names().into_iter().map(part).collect::<Result<_, JsonError>>()?;
                Ok(Value::map((**element).clone(), entries))
            }
            (Type::Dynamic, Json::Object(_)) => {
                let part = |name: &'d str| Ok((name, self.member(name).value(&Type::Dynamic)?));
                Ok(Value::object(self.names().into_iter().map(part).collect::<Result<Vec<_>, JsonError>>()?))
            }
            (Type::List(element), Json::Array(_)) => Ok(Value::list((**element).clone(), self.elements(element)?)),
            (Type::Set(element), Json::Array(_)) => Ok(Value::set((**element).clone(), self.elements(element)?)),
            (Type::Tuple(types), Json::Array(_)) => {
                let part = |(at, ty)| self.element(at).value(ty);
                Ok(Value::tuple(types.iter().enumerate().map(part).collect::<Result<_, _>>()?))
            }
            (Type::Dynamic, Json::Array(_)) => Ok(Value::tuple(self.elements(&Type::Dynamic)?)),
            (Type::Dynamic, known) => Ok(json::untyped(known)),
            (ty, known) => match json::from_json_value(known, ty) {
                Ok(value) => Ok(value),
                // What stands for a secret need not be of its type.
                Err(_) if *self.sensitive == true => Ok(json::untyped(known)),
                Err(error) => Err(error),
            },
        }
    }

    /// The names of an object's members, whether known or not.
    fn names(self) -> BTreeSet<&'d str> {
        let of = |document: &'d Json| document.as_object().into_iter().flat_map(|all| all.keys().map(String::as_str));
        of(self.known).chain(of(self.unknown)).collect()
    }

    fn member(self, name: &str) -> Source<'d> {
        Source { known: &self.known[name], unknown: &self.unknown[name], sensitive: &self.sensitive[name] }
    }

    fn elements(self, ty: &Type) -> Result<Vec<Value>, JsonError> {
        let length = [self.known, self.unknown].into_iter().filter_map(Json::as_array).map(Vec::len).max();
        (0..length.unwrap_or_default()).map(|at| self.element(at).value(ty)).collect()
    }

    fn element(self, at: usize) -> Source<'d> {
        Source { known: &self.known[at], unknown: &self.unknown[at], sensitive: &self.sensitive[at] }
    }
}
