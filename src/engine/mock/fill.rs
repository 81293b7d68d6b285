//! Given values made to fit: converted, and completed with made-up values where parts are missing.
//!
//! Attributes that the wanted object does not have are dropped.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::dialect::Dialect;
use base::source::Range;
use model::version::at_least;
use terrane_protocol::schema::{Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::convert::convert;
use terrane_value::{ObjectType, Path, PathStep, Type, Value};

use super::generate::{Maker, no_entries};
use crate::opentofu;

/// What given values may be, and what errors say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether nested attributes and blocks may be given all their elements. An object is a template for the elements that exist.
    /// Terraform takes nothing else.
    pub collections: bool,
    /// Whether errors show indexes and keys in paths, as since Terraform 1.12.
    pub indexes_in_paths: bool,
}

impl Rules {
    /// Those of the release that the run is compatible with, for values that stand at a place.
    pub fn at(place: Option<&Range>) -> Rules {
        let dialect = place.map_or_else(Dialect::default, Range::dialect);
        let is_newer = at_least(12) || opentofu::mocks_take_collections(dialect);
        Rules { collections: is_newer, indexes_in_paths: is_newer }
    }
}

/// Why given values do not fit, and at which of their parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    pub path: Path,
    pub message: String,
}

fn misfit<T>(given: &Value, wanted: &str, path: &Path) -> Result<T, Misfit> {
    let found = given.ty().friendly_name();
    Err(Misfit { path: path.clone(), message: format!("incompatible types; expected {wanted}, found {found}") })
}

/// A path, and one from its end on.
pub fn joined(outer: &Path, inner: &Path) -> Path {
    Path(outer.steps().iter().chain(inner.steps()).cloned().collect())
}

/// The value of an attribute.
pub fn attribute(given: &Value, attribute: &Attribute, maker: Maker, rules: Rules) -> Result<Value, Misfit> {
    Filler { rules, path: Path::new() }.attribute(given, attribute, maker)
}

/// The blocks of a computed type of nested blocks, which must be given as a collection.
pub fn blocks(given: &Value, nested: &NestedBlock, maker: Maker, rules: Rules) -> Result<Value, Misfit> {
    Filler { rules, path: Path::new() }.blocks(given, nested, maker)
}

struct Filler {
    rules: Rules,
    /// To the part of the given values that is filled now.
    path: Path,
}

/// A step into given values, and the maker for the part there.
type Part<'v> = (PathStep, &'v Value, Maker);

impl Filler {
    fn attribute(&mut self, given: &Value, attribute: &Attribute, maker: Maker) -> Result<Value, Misfit> {
        if attribute.write_only {
            return Ok(maker.attribute(attribute));
        }
        let shape = match &attribute.shape {
            AttributeShape::Plain(ty) => return self.value(given, ty, maker),
            AttributeShape::Nested(shape) => shape,
        };
        if !given.is_known() {
            return Ok(Value::unknown(attribute.implied_type()).mark(given.marks()));
        }
        if matches!(shape.nesting, Nesting::Single | Nesting::Group) {
            return self.object_of_shape(given, shape, maker);
        }
        if given.ty().is_object() {
            return Ok(maker.attribute(attribute));
        }
        if !self.rules.collections {
            return misfit(given, "object type", &self.path);
        }
        let wanted = attribute.implied_type();
        let parts = self.parts_of(given, shape.nesting, &wanted, maker)?;
        let filled = self.each(parts, |filler, given, maker| filler.object_of_shape(given, shape, maker))?;
        Ok(collected(shape.nesting, shape.element_type(), filled, given))
    }

    fn object_of_shape(&mut self, given: &Value, shape: &ObjectShape, maker: Maker) -> Result<Value, Misfit> {
        if !given.ty().is_object() {
            return misfit(given, "object type", &self.path);
        }
        Ok(Value::object(self.attributes(given, &shape.attributes, maker)?).mark(given.marks()))
    }

    fn attributes(
        &mut self,
        given: &Value,
        attributes: &BTreeMap<Arc<str>, Attribute>,
        maker: Maker,
    ) -> Result<BTreeMap<Arc<str>, Value>, Misfit> {
        let mut filled = BTreeMap::new();
        for (name, inner) in attributes {
            let maker = maker.at(name);
            let value = match given.get(name) {
                Some(given) => self.within(PathStep::Attr(name.clone()), |f| f.attribute(given, inner, maker))?,
                None => maker.attribute(inner),
            };
            filled.insert(name.clone(), value);
        }
        Ok(filled)
    }

    fn blocks(&mut self, given: &Value, nested: &NestedBlock, maker: Maker) -> Result<Value, Misfit> {
        let wanted = nested.implied_type();
        let parts = self.parts_of(given, nested.nesting, &wanted, maker)?;
        let filled = self.each(parts, |filler, given, maker| filler.object_of_block(given, &nested.block, maker))?;
        let element = nested.block.implied_type();
        if !element.has_dynamic() {
            return Ok(collected(nested.nesting, element, filled, given));
        }
        Ok(match nested.nesting {
            Nesting::List => Value::tuple(filled.into_iter().map(|(_, value)| value).collect()).mark(given.marks()),
            Nesting::Map => Value::object(named(filled)).mark(given.marks()),
            _ => collected(nested.nesting, element, filled, given),
        })
    }

    fn object_of_block(&mut self, given: &Value, block: &Block, maker: Maker) -> Result<Value, Misfit> {
        if !given.ty().is_object() {
            return misfit(given, "object type", &self.path);
        }
        let mut filled = self.attributes(given, &block.attributes, maker)?;
        for (name, nested) in &block.blocks {
            let maker = maker.at(name);
            let is_single = matches!(nested.nesting, Nesting::Single | Nesting::Group);
            let value = match given.get(name) {
                Some(given) if is_single => {
                    self.within(PathStep::Attr(name.clone()), |f| f.object_of_block(given, &nested.block, maker))?
                }
                Some(given) if !given.ty().is_object() => {
                    self.within(PathStep::Attr(name.clone()), |f| f.blocks(given, nested, maker))?
                }
                _ => nested.empty_value(),
            };
            filled.insert(name.clone(), value);
        }
        Ok(Value::object(filled).mark(given.marks()))
    }

    /// The elements that a collection of nested objects is given.
    fn parts_of<'v>(
        &self,
        given: &'v Value,
        nesting: Nesting,
        wanted: &Type,
        maker: Maker,
    ) -> Result<Vec<Part<'v>>, Misfit> {
        match (nesting, given.ty()) {
            (Nesting::List | Nesting::Set, Type::List(_) | Type::Set(_) | Type::Tuple(_)) => {
                Ok(elements_of(given, maker))
            }
            (Nesting::Map, Type::Map(_)) => Ok(entries_of(given, maker)),
            _ => misfit(given, &wanted.friendly_name(), &self.path),
        }
    }

    fn value(&mut self, given: &Value, wanted: &Type, maker: Maker) -> Result<Value, Misfit> {
        if !given.is_known() {
            return self.converted(given, wanted);
        }
        if let Type::Object(object) = wanted {
            return self.object(given, wanted, object, maker);
        }
        let has_objects = wanted.element_type().is_some_and(Type::is_object);
        match (wanted, given.ty()) {
            (Type::List(element) | Type::Set(element), Type::List(_) | Type::Set(_) | Type::Tuple(_))
                if has_objects =>
            {
                let filled = self.each(elements_of(given, maker), |f, given, maker| f.value(given, element, maker))?;
                let nesting = if wanted.is_set() { Nesting::Set } else { Nesting::List };
                Ok(collected(nesting, (**element).clone(), filled, given))
            }
            (Type::Map(element), Type::Map(_) | Type::Object(_)) if has_objects => {
                let filled = self.each(entries_of(given, maker), |f, given, maker| f.value(given, element, maker))?;
                Ok(collected(Nesting::Map, (**element).clone(), filled, given))
            }
            _ if has_objects => misfit(given, &wanted.friendly_name(), &self.path),
            (Type::Tuple(wanted), Type::Tuple(found)) => self.tuple(given, wanted, found.len(), maker),
            _ => self.converted(given, wanted),
        }
    }

    fn converted(&self, given: &Value, wanted: &Type) -> Result<Value, Misfit> {
        convert(given, wanted).map_err(|error| Misfit { path: joined(&self.path, &error.path), message: error.message })
    }

    fn object(&mut self, given: &Value, wanted: &Type, object: &ObjectType, maker: Maker) -> Result<Value, Misfit> {
        if !matches!(given.ty(), Type::Object(_) | Type::Map(_)) {
            return misfit(given, &wanted.friendly_name(), &self.path);
        }
        let mut filled = BTreeMap::new();
        for (name, inner) in &object.attributes {
            let maker = maker.at(name);
            let value = match given.get(name) {
                Some(given) => {
                    let step = PathStep::Index(Value::shared_string(name.clone()));
                    self.within(step, |filler| filler.value(given, inner, maker))?
                }
                None => maker.value(inner),
            };
            filled.insert(name.clone(), value);
        }
        Ok(Value::object(filled).mark(given.marks()))
    }

    fn tuple(&mut self, given: &Value, wanted: &[Type], found: usize, maker: Maker) -> Result<Value, Misfit> {
        if wanted.len() != found {
            let message = format!(
                "incompatible types; expected tuple with length {}, found tuple with length {found}",
                wanted.len()
            );
            return Err(Misfit { path: self.path.clone(), message });
        }
        let mut filled = Vec::with_capacity(wanted.len());
        for ((step, given, maker), wanted) in elements_of(given, maker).into_iter().zip(wanted) {
            filled.push(self.within(step, |filler| filler.value(given, wanted, maker))?);
        }
        Ok(Value::tuple(filled).mark(given.marks()))
    }

    fn within<T>(&mut self, step: PathStep, fill: impl FnOnce(&mut Filler) -> Result<T, Misfit>) -> Result<T, Misfit> {
        self.path.push(step);
        let filled = fill(self)?;
        self.path.pop();
        Ok(filled)
    }

    fn each(
        &mut self,
        parts: Vec<Part<'_>>,
        mut fill: impl FnMut(&mut Filler, &Value, Maker) -> Result<Value, Misfit>,
    ) -> Result<Vec<(PathStep, Value)>, Misfit> {
        let mut filled = Vec::with_capacity(parts.len());
        for (step, given, maker) in parts {
            let value = self.within(step.clone(), |filler| fill(filler, given, maker))?;
            filled.push((step, value));
        }
        Ok(filled)
    }
}

/// The elements of a list, set or tuple.
fn elements_of(given: &Value, maker: Maker) -> Vec<Part<'_>> {
    let parts = given.children().into_iter().enumerate();
    parts.map(|(index, (step, element))| (step, element, maker.at_index(index))).collect()
}

/// The elements of a map, or the attributes of an object.
fn entries_of(given: &Value, maker: Maker) -> Vec<Part<'_>> {
    let step = |name: &Arc<str>| PathStep::Index(Value::shared_string(name.clone()));
    given.entries().iter().map(|(name, value)| (step(name), value, maker.at(name))).collect()
}

/// A collection of filled elements, with the marks of the given one.
fn collected(nesting: Nesting, element: Type, filled: Vec<(PathStep, Value)>, given: &Value) -> Value {
    let collection = match nesting {
        Nesting::Map if filled.is_empty() => no_entries(element),
        Nesting::Map => Value::map(element, named(filled)),
        Nesting::Set => Value::set(element, filled.into_iter().map(|(_, value)| value).collect()),
        _ => Value::list(element, filled.into_iter().map(|(_, value)| value).collect()),
    };
    collection.mark(given.marks())
}

fn named(filled: Vec<(PathStep, Value)>) -> Vec<(Arc<str>, Value)> {
    let name = |step: PathStep| match step {
        PathStep::Attr(name) => name,
        PathStep::Index(key) => key.as_arc_str().unwrap_or_default(),
    };
    filled.into_iter().map(|(step, value)| (name(step), value)).collect()
}
