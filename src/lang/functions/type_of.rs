//! `type`, which only the console has: what a value's type is, as a value that nothing but the console understands.
//!
//! Such a value is an object of one attribute whose name no expression can give, marked as a type. So it travels through
//! conditionals and indexes as any value does, and the console can tell it from one that was made from it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use terrane_value::{Marks, Type, Value};

use super::signature::{CallContext, Function, FunctionError, Param, Signature};

const ATTRIBUTE: &str = "\0type";

/// The console's function `type`.
pub struct TypeOf(Signature);

pub static TYPE_OF: LazyLock<TypeOf> = LazyLock::new(|| {
    let value = Param {
        allow_null: true,
        allow_unknown: true,
        allow_dynamic: true,
        allow_marked: true,
        ..Param::new("value", Type::Dynamic)
    };
    TypeOf(Signature {
        name: Cow::Borrowed("type"),
        params: vec![value],
        variadic: None,
        description: Cow::Borrowed("The type of a value; only in the console."),
        returns: None,
    })
});

impl Function for TypeOf {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _args: &[Value]) -> Result<Type, FunctionError> {
        Ok(Type::object([(ATTRIBUTE, Type::String)]))
    }

    fn call(&self, args: &[Value], _context: &CallContext<'_>) -> Result<Value, FunctionError> {
        let text = args.first().map_or_else(String::new, |value| type_text(value.ty()));
        Ok(Value::object([(ATTRIBUTE, Value::string(text))]).mark(Marks::TYPE_TEXT))
    }
}

/// What the console makes of a value as far as `type` is concerned.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed {
    /// An ordinary value.
    No,
    /// The result of `type` itself: the type as shown.
    Text(String),
    /// Something made from such a result, which means nothing.
    Part,
}

pub fn typed(value: &Value) -> Typed {
    if !value.deep_marks().contains(Marks::TYPE_TEXT) {
        return Typed::No;
    }
    match value.get(ATTRIBUTE).and_then(Value::as_str) {
        Some(text) => Typed::Text(text.to_string()),
        None => Typed::Part,
    }
}

const INDENT: &str = "    ";

/// A type as the console shows it: objects and tuples with a line per part.
pub fn type_text(ty: &Type) -> String {
    let mut out = String::new();
    write_type(ty, 0, &mut out);
    out
}

fn write_type(ty: &Type, depth: usize, out: &mut String) {
    match ty {
        Type::Object(_) if ty.attribute(ATTRIBUTE).is_some() => out.push_str("type"),
        Type::Object(object) => {
            let parts = object.attributes.iter().map(|(name, ty)| (Some(&**name), ty));
            write_parts("object({", parts, "})", depth, out);
        }
        Type::Tuple(elements) => write_parts("tuple([", elements.iter().map(|ty| (None, ty)), "])", depth, out),
        Type::List(element) => write_collection("list(", element, depth, out),
        Type::Set(element) => write_collection("set(", element, depth, out),
        Type::Map(element) => write_collection("map(", element, depth, out),
        Type::Dynamic | Type::Bool | Type::Number | Type::String => out.push_str(&ty.friendly_name()),
    }
}

fn write_collection(open: &str, element: &Type, depth: usize, out: &mut String) {
    if matches!(element, Type::Object(_) | Type::Tuple(_)) {
        return write_parts(open, std::iter::once((None, element)), ")", depth, out);
    }
    out.push_str(open);
    write_type(element, depth, out);
    out.push(')');
}

fn write_parts<'t>(
    open: &str,
    parts: impl ExactSizeIterator<Item = (Option<&'t str>, &'t Type)>,
    close: &str,
    depth: usize,
    out: &mut String,
) {
    out.push_str(open);
    if parts.len() > 0 {
        out.push('\n');
        for (name, ty) in parts {
            out.push_str(&INDENT.repeat(depth + 1));
            if let Some(name) = name {
                let _ = write!(out, "{name}: ");
            }
            write_type(ty, depth + 1, out);
            out.push_str(",\n");
        }
        out.push_str(&INDENT.repeat(depth));
    }
    out.push_str(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the reference's console shows them.
    #[test]
    fn types_are_shown_in_lines() {
        let object = Type::object([("a b", Type::Number), ("t", Type::tuple([Type::Bool, Type::empty_object()]))]);
        let cases = [
            (Type::Dynamic, "dynamic"),
            (Type::list(Type::list(Type::Number)), "list(list(number))"),
            (Type::tuple([]), "tuple([])"),
            (Type::set(Type::empty_object()), "set(\n    object({}),\n)"),
            (object, "object({\n    a b: number,\n    t: tuple([\n        bool,\n        object({}),\n    ]),\n})"),
        ];
        for (ty, expected) in cases {
            assert_eq!(type_text(&ty), expected);
        }
    }
}
