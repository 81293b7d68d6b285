//! Type constraints as written in configuration: `list(object({ a = optional(string, "x") }))`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Span;
use terrane_value::convert::convert;
use terrane_value::unify::unify_unsafe;
use terrane_value::{Type, Value};

use super::evaluate;
use super::scope::Constant;
use crate::syntax::ast::{Call, Expression};

const INVALID: &str = "Invalid type specification";

/// Values for optional attributes that are absent, in the shape of the type.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Defaults {
    /// Of the object itself.
    pub values: BTreeMap<Arc<str>, Value>,
    /// Of nested objects: by attribute name, tuple index, or "" for the elements of a collection.
    pub children: BTreeMap<Arc<str>, Defaults>,
}

/// A type constraint; `Dynamic` where it is wrong.
pub fn parse_type(expr: &Expression) -> (Type, Option<Defaults>, Diagnostics) {
    let mut parser = TypeReader { diagnostics: Diagnostics::new() };
    let (ty, defaults) = parser.ty(expr);
    (ty, defaults, parser.diagnostics)
}

type Parsed = (Type, Option<Defaults>);

struct TypeReader {
    diagnostics: Diagnostics,
}

impl TypeReader {
    fn invalid(&mut self, expr: &Expression, detail: impl Into<String>) -> Parsed {
        self.diagnostics.push(Diagnostic::error(INVALID, detail).at(expr.range()));
        (Type::Dynamic, None)
    }

    fn invalid_at(
        &mut self,
        expr: &Expression,
        subject: Span,
        context: Option<Span>,
        detail: impl Into<String>,
    ) -> Parsed {
        let mut diagnostic = Diagnostic::error(INVALID, detail).at(expr.range_of(subject));
        diagnostic.context = context.map(|c| expr.range_of(c));
        self.diagnostics.push(diagnostic);
        (Type::Dynamic, None)
    }

    fn ty(&mut self, expr: &Expression) -> Parsed {
        if let Some(keyword) = expr.as_keyword() {
            return match keyword {
                "bool" => (Type::Bool, None),
                "string" => (Type::String, None),
                "number" => (Type::Number, None),
                "any" => (Type::Dynamic, None),
                "list" | "map" | "set" | "object" | "tuple" => self.invalid(expr, one_argument(keyword)),
                _ => self.invalid(expr, format!("The keyword {keyword:?} is not a valid type specification.")),
            };
        }
        match expr.as_call() {
            Some(call) => self.constructor(expr, call),
            None => self.invalid(expr, "A type specification is either a primitive type keyword (bool, number, string) or a complex type constructor call, like list(string)."),
        }
    }

    fn constructor(&mut self, expr: &Expression, call: &Call) -> Parsed {
        let name = &*call.name;
        let args_span = call.open.to(call.close);
        match name {
            "bool" | "string" | "number" => {
                let detail = format!("Primitive type keyword {name:?} does not expect arguments.");
                return self.invalid_at(expr, args_span, None, detail);
            }
            "any" => {
                let detail = format!("Type constraint keyword {name:?} does not expect arguments.");
                return self.invalid_at(expr, args_span, None, detail);
            }
            _ => {}
        }
        let known = matches!(name, "list" | "set" | "map" | "object" | "tuple");
        let [argument] = call.args.as_slice() else {
            if !known {
                return self.unknown_constructor(expr, call);
            }
            let subject = match call.args.as_slice() {
                [_, second, .., last] => second.span.to(last.span),
                [_, second] => second.span,
                _ => args_span,
            };
            return self.invalid_at(expr, subject, Some(args_span), one_argument(name));
        };
        let argument = expr.part(argument);
        match name {
            "list" => self.collection(&argument, Type::list),
            "set" => self.collection(&argument, Type::set),
            "map" => self.collection(&argument, Type::map),
            "object" => self.object(expr, &argument),
            "tuple" => self.tuple(expr, &argument),
            _ => self.unknown_constructor(expr, call),
        }
    }

    fn unknown_constructor(&mut self, expr: &Expression, call: &Call) -> Parsed {
        if &*call.name == "optional" {
            let detail = "Keyword \"optional\" is valid only as a modifier for object type attributes.";
            return self.invalid_at(expr, call.name_span, None, detail);
        }
        self.invalid(expr, format!("Keyword {:?} is not a valid type constructor.", call.name))
    }

    fn collection(&mut self, element: &Expression, of: fn(Type) -> Type) -> Parsed {
        let (element, defaults) = self.ty(element);
        let defaults =
            defaults.map(|d| Defaults { values: BTreeMap::new(), children: BTreeMap::from([("".into(), d)]) });
        (of(element), defaults)
    }

    fn tuple(&mut self, expr: &Expression, argument: &Expression) -> Parsed {
        let Some(elements) = argument.as_static_list() else {
            let detail = "Tuple type constructor requires a list of element types.";
            return self.invalid_at(expr, argument.node.span, Some(expr.node.span), detail);
        };
        let mut children = BTreeMap::new();
        let mut types = Vec::with_capacity(elements.len());
        for (i, element) in elements.iter().enumerate() {
            let (ty, defaults) = self.ty(element);
            types.push(ty);
            children.extend(defaults.map(|d| (i.to_string().into(), d)));
        }
        (Type::tuple(types), Defaults::of(BTreeMap::new(), children))
    }

    fn object(&mut self, expr: &Expression, argument: &Expression) -> Parsed {
        let Some(items) = argument.as_static_map() else {
            let detail = "Object type constructor requires a map whose keys are attribute names and whose values are the corresponding attribute types.";
            return self.invalid_at(expr, argument.node.span, Some(expr.node.span), detail);
        };
        let mut attributes: BTreeMap<Arc<str>, Type> = BTreeMap::new();
        let (mut optional, mut values, mut children) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new());
        for (key, value) in &items {
            let Some(name) = key.as_keyword() else {
                let detail = "Object constructor map keys must be attribute names.";
                self.invalid_at(expr, key.node.span, Some(expr.node.span), detail);
                continue;
            };
            let name: Arc<str> = name.into();
            if attributes.contains_key(&name) {
                let detail = "Object constructor map keys must be unique.";
                self.invalid_at(expr, key.node.span, Some(expr.node.span), detail);
                continue;
            }
            let Some(attribute) = self.attribute(value) else { continue };
            if attribute.optional {
                optional.insert(name.clone());
            }
            let (ty, defaults) = self.ty(&attribute.ty);
            if let Some((given, at)) = attribute.default {
                match convert(&given, &ty) {
                    Ok(value) => {
                        values.insert(name.clone(), value);
                    }
                    Err(error) => {
                        let detail = format!(
                            "This default value is not compatible with the attribute's type constraint: {error}."
                        );
                        let summary = "Invalid default value for optional attribute";
                        self.diagnostics.push(Diagnostic::error(summary, detail).at(at.range()));
                    }
                }
            }
            children.extend(defaults.map(|d| (name.clone(), d)));
            attributes.insert(name, ty);
        }
        (Type::object_with_optional(attributes, optional), Defaults::of(values, children))
    }

    /// Takes `optional(...)` apart. Nothing if there is no type in it.
    fn attribute(&mut self, value: &Expression) -> Option<DeclaredAttribute> {
        let call = match value.as_call() {
            Some(call) if &*call.name == "optional" => call,
            _ => return Some(DeclaredAttribute { ty: value.clone(), optional: false, default: None }),
        };
        let args_span = call.open.to(call.close);
        let args: Vec<Expression> = call.args.iter().map(|arg| value.part(arg)).collect();
        let Some(ty) = args.first().cloned() else {
            let detail = "Optional attribute modifier requires the attribute type as its argument.";
            self.invalid_at(value, args_span, Some(value.node.span), detail);
            return None;
        };
        match args.as_slice() {
            [_] => Some(DeclaredAttribute { ty, optional: true, default: None }),
            [_, default] => {
                let (given, problems) = evaluate(default, &Constant);
                let usable = !problems.has_errors();
                self.diagnostics.extend(problems);
                Some(DeclaredAttribute { ty, optional: usable, default: usable.then(|| (given, default.clone())) })
            }
            _ => {
                let detail = "Optional attribute modifier expects at most two arguments: the attribute type, and a default value.";
                self.invalid_at(value, args_span, Some(value.node.span), detail);
                Some(DeclaredAttribute { ty, optional: false, default: None })
            }
        }
    }
}

/// An attribute of an object type.
struct DeclaredAttribute {
    ty: Expression,
    optional: bool,
    /// The value and where it is written.
    default: Option<(Value, Expression)>,
}

fn one_argument(name: &str) -> String {
    let what = match name {
        "object" => "attribute types and values as a map",
        "tuple" => "element types as a list",
        _ => "element type",
    };
    format!("The {name} type constructor requires one argument specifying the {what}.")
}

impl Defaults {
    fn of(values: BTreeMap<Arc<str>, Value>, children: BTreeMap<Arc<str>, Defaults>) -> Option<Defaults> {
        (!values.is_empty() || !children.is_empty()).then_some(Defaults { values, children })
    }

    /// The value with defaults where objects in it lack optional attributes or have null for them. Done before the
    /// conversion to the type.
    pub fn apply(&self, value: &Value) -> Value {
        if !value.is_known() || value.is_null() || (self.values.is_empty() && self.children.is_empty()) {
            return value.clone();
        }
        let applied = match value.ty() {
            Type::List(element) => self.apply_to_elements(value, element, Value::list),
            Type::Set(element) => self.apply_to_elements(value, element, Value::set),
            Type::Tuple(_) => Value::tuple(self.elements(value)),
            Type::Map(element) => {
                let entries = self.entries(value);
                match common_values(entries.values(), element) {
                    Some((ty, values)) => Value::map(ty, entries.into_keys().zip(values)),
                    None => Value::object(entries),
                }
            }
            Type::Object(_) => Value::object(self.entries(value)),
            _ => return value.clone(),
        };
        applied.mark(value.marks())
    }

    /// Those of one nested value. A tuple's are those of numbers, which name no attribute of an object.
    fn child(&self, key: &str, in_tuple: bool) -> Option<&Defaults> {
        let numbered = key.starts_with(|c: char| c.is_ascii_digit());
        self.children.get("").or_else(|| self.children.get(key).filter(|_| numbered == in_tuple))
    }

    fn elements(&self, value: &Value) -> Vec<Value> {
        let apply = |(i, v): (usize, &Value)| match self.child(&i.to_string(), true) {
            Some(child) => child.apply(v),
            None => v.clone(),
        };
        value.elements().iter().enumerate().map(apply).collect()
    }

    fn apply_to_elements(&self, value: &Value, element: &Type, of: fn(Type, Vec<Value>) -> Value) -> Value {
        let elements = self.elements(value);
        match common_values(elements.iter(), element) {
            Some((ty, values)) => of(ty, values),
            None => Value::tuple(elements),
        }
    }

    fn entries(&self, value: &Value) -> BTreeMap<Arc<str>, Value> {
        let apply = |(key, v): (&Arc<str>, &Value)| match self.child(key, false) {
            Some(child) => (key.clone(), child.apply(v)),
            None => (key.clone(), v.clone()),
        };
        let mut entries: BTreeMap<Arc<str>, Value> = value.entries().iter().map(apply).collect();
        for (key, default) in &self.values {
            let given = entries.get(key).filter(|v| !v.is_null());
            let value = match (given, self.children.get(key)) {
                // What is unknown now gets the default if it turns out to be null.
                (Some(given), _) if default.is_null() || given.ty().is_dynamic() => given.clone(),
                (Some(given), _) => given.refine_not_null(),
                (None, Some(child)) => child.apply(default),
                (None, None) => default.clone(),
            };
            entries.insert(key.clone(), value);
        }
        entries
    }
}

/// The one type that all elements can have, and the elements in that type; that of an empty collection stays.
fn common_values<'v>(values: impl Iterator<Item = &'v Value> + Clone, empty: &Type) -> Option<(Type, Vec<Value>)> {
    let types: Vec<Type> = values.clone().map(|v| v.ty().clone()).collect();
    if types.is_empty() {
        return Some((empty.clone(), Vec::new()));
    }
    let common = unify_unsafe(&types).filter(|t| !t.is_dynamic() || types.iter().all(Type::is_dynamic))?;
    let converted: Vec<Value> = values.map(|v| convert(v, &common)).collect::<Result<_, _>>().ok()?;
    // What "any" is in the common type may still be different types.
    let found = converted.first()?.ty().clone();
    converted.iter().all(|v| *v.ty() == found).then_some((found, converted))
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;

    use super::*;
    use crate::syntax::parse_expression;

    fn parse(text: &str) -> (Type, Option<Defaults>, Vec<String>) {
        let (expr, problems) = parse_expression(SourceFile::new("t", text));
        assert!(problems.is_empty());
        let (ty, defaults, problems) = parse_type(&expr);
        let show = |d: &Diagnostic| format!("{} @{:?}", d.detail, d.subject.as_ref().unwrap());
        (ty, defaults, problems.iter().map(show).collect())
    }

    #[test]
    fn types() {
        let cases = [
            ("string", Type::String),
            ("list(map(number))", Type::list(Type::map(Type::Number))),
            ("set(any)", Type::set(Type::Dynamic)),
            ("tuple([string, bool])", Type::tuple([Type::String, Type::Bool])),
            (
                "object({a = number, b = optional(string)})",
                Type::object_with_optional([("a", Type::Number), ("b", Type::String)], ["b"]),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), (expected, None, Vec::new()), "{text}");
        }
    }

    #[test]
    fn invalid_types_are_errors() {
        let cases = [
            ("list", "The list type constructor requires one argument specifying the element type. @t:1,1-5"),
            ("strin", "The keyword \"strin\" is not a valid type specification. @t:1,1-6"),
            (
                "list(string, number)",
                "The list type constructor requires one argument specifying the element type. @t:1,14-20",
            ),
            (
                "optional(string)",
                "Keyword \"optional\" is valid only as a modifier for object type attributes. @t:1,1-9",
            ),
            (
                "object({a = optional()})",
                "Optional attribute modifier requires the attribute type as its argument. @t:1,21-23",
            ),
            (
                "\"string\"",
                "A type specification is either a primitive type keyword (bool, number, string) or a complex type constructor call, like list(string). @t:1,1-9",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text).2, [expected], "{text}");
        }
    }

    #[test]
    fn defaults_fill_in() {
        let (ty, defaults, problems) =
            parse("list(object({a = optional(string, \"x\"), b = optional(object({c = optional(number, 1)}), {})}))");
        assert!(problems.is_empty(), "{problems:?}");
        let given = Value::tuple(vec![Value::empty_object(), Value::object([("a", Value::string("y"))])]);
        let filled = convert(&defaults.unwrap().apply(&given), &ty).unwrap();
        let texts: Vec<_> = filled.elements().iter().map(|v| v.get("a").unwrap().as_str().unwrap()).collect();
        assert_eq!(texts, ["x", "y"]);
        assert_eq!(filled.at(0).unwrap().get("b").unwrap().get("c"), Some(&Value::int(1)));
    }
}
