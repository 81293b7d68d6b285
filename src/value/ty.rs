//! Types: what shape a value has, or must have.
//!
//! Owns the type itself, its names for people and its JSON form. Never knows values or conversion rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::hash::BuildHasher;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use serde_json::{Value as Json, json};

use crate::document::Document;
use crate::identifier::is_identifier;
use crate::type_error::TypeError;

/// The type of a value, or a type constraint (where `Dynamic` stands for any type).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Dynamic,
    Bool,
    Number,
    String,
    List(Arc<Type>),
    Set(Arc<Type>),
    Map(Arc<Type>),
    // Thin, so that a value, which contains types, is small.
    Tuple(Arc<Vec<Type>>),
    Object(Arc<ObjectType>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ObjectType {
    pub attributes: BTreeMap<Arc<str>, Type>,
    /// Names that a conversion may find absent; only in type constraints.
    pub optional: BTreeSet<Arc<str>>,
}

impl Type {
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    pub fn set(element: Type) -> Type {
        Type::Set(Arc::new(element))
    }

    pub fn map(element: Type) -> Type {
        Type::Map(Arc::new(element))
    }

    pub fn tuple(elements: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(Arc::new(elements.into_iter().collect()))
    }

    pub fn object<N: Into<Arc<str>>>(attributes: impl IntoIterator<Item = (N, Type)>) -> Type {
        let attributes = attributes.into_iter().map(|(name, ty)| (name.into(), ty)).collect();
        Type::Object(Arc::new(ObjectType { attributes, optional: BTreeSet::new() }))
    }

    pub fn object_with_optional<N: Into<Arc<str>>>(
        attributes: impl IntoIterator<Item = (N, Type)>,
        optional: impl IntoIterator<Item = N>,
    ) -> Type {
        let attributes = attributes.into_iter().map(|(name, ty)| (name.into(), ty)).collect();
        let optional = optional.into_iter().map(Into::into).collect();
        Type::Object(Arc::new(ObjectType { attributes, optional }))
    }

    pub fn empty_object() -> Type {
        Type::Object(Arc::default())
    }

    pub fn is_dynamic(&self) -> bool {
        matches!(self, Type::Dynamic)
    }

    pub fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Number | Type::String)
    }

    pub fn is_list(&self) -> bool {
        matches!(self, Type::List(_))
    }

    pub fn is_set(&self) -> bool {
        matches!(self, Type::Set(_))
    }

    pub fn is_map(&self) -> bool {
        matches!(self, Type::Map(_))
    }

    pub fn is_tuple(&self) -> bool {
        matches!(self, Type::Tuple(_))
    }

    pub fn is_object(&self) -> bool {
        matches!(self, Type::Object(_))
    }

    /// List, set or map.
    pub fn is_collection(&self) -> bool {
        matches!(self, Type::List(_) | Type::Set(_) | Type::Map(_))
    }

    /// Element type of a list, set or map.
    pub fn element_type(&self) -> Option<&Type> {
        match self {
            Type::List(t) | Type::Set(t) | Type::Map(t) => Some(t),
            _ => None,
        }
    }

    pub fn tuple_elements(&self) -> Option<&[Type]> {
        match self {
            Type::Tuple(elements) => Some(elements),
            _ => None,
        }
    }

    pub fn object_type(&self) -> Option<&ObjectType> {
        match self {
            Type::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Type of an object's attribute.
    pub fn attribute(&self, name: &str) -> Option<&Type> {
        self.object_type()?.attributes.get(name)
    }

    /// Whether `Dynamic` is here or somewhere inside.
    pub fn has_dynamic(&self) -> bool {
        match self {
            Type::Dynamic => true,
            Type::Bool | Type::Number | Type::String => false,
            Type::List(t) | Type::Set(t) | Type::Map(t) => t.has_dynamic(),
            Type::Tuple(elements) => elements.iter().any(Type::has_dynamic),
            Type::Object(object) => object.attributes.values().any(Type::has_dynamic),
        }
    }

    pub fn has_optional(&self) -> bool {
        match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => false,
            Type::List(t) | Type::Set(t) | Type::Map(t) => t.has_optional(),
            Type::Tuple(elements) => elements.iter().any(Type::has_optional),
            Type::Object(object) => !object.optional.is_empty() || object.attributes.values().any(Type::has_optional),
        }
    }

    /// The same type with all attributes required, as the type of a value is.
    #[must_use]
    pub fn without_optional_deep(&self) -> Type {
        if !self.has_optional() {
            return self.clone();
        }
        match self {
            Type::Dynamic | Type::Bool | Type::Number | Type::String => self.clone(),
            Type::List(t) => Type::list(t.without_optional_deep()),
            Type::Set(t) => Type::set(t.without_optional_deep()),
            Type::Map(t) => Type::map(t.without_optional_deep()),
            Type::Tuple(elements) => Type::tuple(elements.iter().map(Type::without_optional_deep)),
            Type::Object(object) => {
                Type::object(object.attributes.iter().map(|(name, t)| (name.clone(), t.without_optional_deep())))
            }
        }
    }

    /// For messages about values: `list of string`, `object`.
    pub fn friendly_name(&self) -> String {
        match self {
            Type::Dynamic => "dynamic".into(),
            Type::Bool => "bool".into(),
            Type::Number => "number".into(),
            Type::String => "string".into(),
            Type::List(t) => format!("list of {}", t.friendly_name()),
            Type::Set(t) => format!("set of {}", t.friendly_name()),
            Type::Map(t) => format!("map of {}", t.friendly_name()),
            Type::Tuple(_) => "tuple".into(),
            Type::Object(_) => "object".into(),
        }
    }

    /// For messages about what is wanted: as `friendly_name`, but `any type`, `list of any single type`.
    pub fn friendly_name_for_constraint(&self) -> String {
        fn element(t: &Type) -> String {
            if t.is_dynamic() { "any single type".into() } else { t.friendly_name_for_constraint() }
        }
        match self {
            Type::Dynamic => "any type".into(),
            Type::List(t) => format!("list of {}", element(t)),
            Type::Set(t) => format!("set of {}", element(t)),
            Type::Map(t) => format!("map of {}", element(t)),
            other => other.friendly_name(),
        }
    }

    /// The type expression that denotes this type: `list(string)`, `object({a=string,b=number})`.
    pub fn constraint_text(&self) -> String {
        let mut out = String::new();
        self.write_constraint(&mut out);
        out
    }

    fn write_constraint(&self, out: &mut String) {
        let mut collection = |kind: &str, t: &Type| {
            out.push_str(kind);
            out.push('(');
            t.write_constraint(out);
            out.push(')');
        };
        match self {
            Type::Dynamic => out.push_str("any"),
            Type::Bool => out.push_str("bool"),
            Type::Number => out.push_str("number"),
            Type::String => out.push_str("string"),
            Type::List(t) => collection("list", t),
            Type::Set(t) => collection("set", t),
            Type::Map(t) => collection("map", t),
            Type::Tuple(elements) => {
                out.push_str("tuple([");
                for (i, t) in elements.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    t.write_constraint(out);
                }
                out.push_str("])");
            }
            Type::Object(object) => {
                out.push_str("object({");
                for (i, (name, t)) in object.attributes.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    if is_identifier(name) {
                        out.push_str(name);
                    } else {
                        let _ = write!(out, "{name:?}");
                    }
                    out.push('=');
                    t.write_constraint(out);
                }
                out.push_str("})");
            }
        }
    }

    /// The JSON form that states, plans and provider messages use: `"string"`, `["list","string"]`,
    /// `["object",{"a":"string"},["a"]]`.
    pub fn to_json(&self) -> Json {
        match self {
            Type::Dynamic => json!("dynamic"),
            Type::Bool => json!("bool"),
            Type::Number => json!("number"),
            Type::String => json!("string"),
            Type::List(t) => json!(["list", t.to_json()]),
            Type::Set(t) => json!(["set", t.to_json()]),
            Type::Map(t) => json!(["map", t.to_json()]),
            Type::Tuple(elements) => json!(["tuple", elements.iter().map(Type::to_json).collect::<Vec<_>>()]),
            Type::Object(object) => {
                let attributes: serde_json::Map<String, Json> =
                    object.attributes.iter().map(|(name, t)| (name.to_string(), t.to_json())).collect();
                if object.optional.is_empty() {
                    json!(["object", attributes])
                } else {
                    let optional: Vec<&str> = object.optional.iter().map(|n| &**n).collect();
                    json!(["object", attributes, optional])
                }
            }
        }
    }

    pub fn to_json_bytes(&self) -> Vec<u8> {
        self.to_json().to_string().into_bytes()
    }

    /// Reads the JSON form.
    pub fn from_json(json: &Json) -> Result<Type, TypeError> {
        Type::from_document(&Document::from(json))
    }

    /// As `from_json`, from JSON that was read before.
    pub fn from_document(json: &Document) -> Result<Type, TypeError> {
        match json {
            Document::String(name) => match name.as_str() {
                "dynamic" => Ok(Type::Dynamic),
                "bool" => Ok(Type::Bool),
                "number" => Ok(Type::Number),
                "string" => Ok(Type::String),
                other => Err(TypeError::UnknownName(other.to_owned())),
            },
            Document::Array(parts) => from_json_array(parts),
            _ => Err(TypeError::Malformed),
        }
    }

    /// As `from_json`, from the text.
    pub fn from_json_bytes(bytes: &[u8]) -> Result<Type, TypeError> {
        match bytes {
            br#""string""# => Ok(Type::String),
            br#""bool""# => Ok(Type::Bool),
            br#""number""# => Ok(Type::Number),
            br#""dynamic""# => Ok(Type::Dynamic),
            _ => remembered(bytes),
        }
    }
}

impl Type {
    /// The same type, in the memory of an equal one that this thread has derived lately: objects of one resource mostly have
    /// the same.
    pub(super) fn shared(self) -> Type {
        const LARGEST: usize = 64;
        let parts = match &self {
            Type::Tuple(elements) => elements.len(),
            Type::Object(object) => object.attributes.len(),
            _ => return self,
        };
        if parts > LARGEST {
            return self;
        }
        let place = (FxBuildHasher.hash_one(&self) >> 58) as usize;
        DERIVED.with_borrow_mut(|known| match &known[place] {
            Some(ty) if *ty == self => ty.clone(),
            _ => {
                known[place] = Some(self.clone());
                self
            }
        })
    }
}

thread_local! {
    static DERIVED: std::cell::RefCell<[Option<Type>; 64]> = const { std::cell::RefCell::new([const { None }; 64]) };
}

/// Types that a thread has read, by a hash of their text: objects of one resource mostly have the same, and then share it.
type Read = [Option<(Box<[u8]>, Type)>; 64];

thread_local! {
    static READ: std::cell::RefCell<Read> = const { std::cell::RefCell::new([const { None }; 64]) };
}

fn remembered(bytes: &[u8]) -> Result<Type, TypeError> {
    const LONGEST: usize = 4096;
    let read = || Type::from_document(&Document::parse(bytes)?);
    if bytes.len() > LONGEST {
        return read();
    }
    let place = (FxBuildHasher.hash_one(bytes) >> 58) as usize;
    READ.with_borrow_mut(|known| match &known[place] {
        Some((text, ty)) if **text == *bytes => Ok(ty.clone()),
        _ => {
            let ty = read()?;
            known[place] = Some((bytes.into(), ty.clone()));
            Ok(ty)
        }
    })
}

fn from_json_array(parts: &[Document]) -> Result<Type, TypeError> {
    let kind = parts.first().and_then(Document::as_str).ok_or(TypeError::Malformed)?;
    let argument = parts.get(1).ok_or(TypeError::Malformed)?;
    match (kind, argument) {
        ("list", t) => Ok(Type::list(Type::from_document(t)?)),
        ("set", t) => Ok(Type::set(Type::from_document(t)?)),
        ("map", t) => Ok(Type::map(Type::from_document(t)?)),
        ("tuple", Document::Array(elements)) => {
            Ok(Type::Tuple(Arc::new(elements.iter().map(Type::from_document).collect::<Result<_, _>>()?)))
        }
        ("object", Document::Object(attributes)) => {
            let attributes = attributes
                .iter()
                .map(|(name, t)| Ok((Arc::from(name.as_str()), Type::from_document(t)?)))
                .collect::<Result<BTreeMap<Arc<str>, Type>, TypeError>>()?;
            let optional = match parts.get(2) {
                Some(Document::Array(names)) => names.iter().filter_map(Document::as_str).map(Arc::from).collect(),
                _ => BTreeSet::new(),
            };
            Ok(Type::Object(Arc::new(ObjectType { attributes, optional })))
        }
        _ => Err(TypeError::UnknownKind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_json() {
        let ty = Type::object([("a", Type::list(Type::String)), ("b c", Type::Dynamic)]);
        assert_eq!(ty.constraint_text(), r#"object({a=list(string),"b c"=any})"#);
        assert_eq!(ty.friendly_name(), "object");
        assert_eq!(Type::set(Type::Dynamic).friendly_name_for_constraint(), "set of any single type");
        for text in [r#"["object",{"a":["list","string"]},["a"]]"#, r#"["tuple",["bool",["map","number"]]]"#] {
            let ty = Type::from_json_bytes(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(ty.to_json_bytes()).unwrap(), text);
        }
        assert!(Type::from_json_bytes(b"\"nope\"").is_err());
    }
}
