//! Tests of conversions.

use super::*;
use crate::Marks;

fn ok(value: Value, want: Type, expected: Value) {
    let got = convert(&value, &want).unwrap();
    assert_eq!(got, expected);
    assert_eq!(convert(&got, &want).unwrap(), got, "twice");
}

#[test]
fn conversions() {
    let s = Value::string;
    ok(Value::int(1), Type::String, s("1"));
    ok(s("1.50"), Type::Number, Value::number(1.5));
    ok(s("true"), Type::Bool, Value::bool(true));
    ok(Value::tuple(vec![Value::int(1), s("a")]), Type::list(Type::String), Value::strings(["1", "a"]));
    ok(Value::tuple(vec![Value::int(1), s("a")]), Type::list(Type::Dynamic), Value::strings(["1", "a"]));
    ok(
        Value::tuple(vec![s("b"), s("a"), s("b")]),
        Type::set(Type::String),
        Value::set(Type::String, vec![s("a"), s("b")]),
    );
    ok(Value::object([("a", Value::int(1))]), Type::map(Type::String), Value::map(Type::String, [("a", s("1"))]));
    ok(Value::empty_object(), Type::map(Type::String), Value::map(Type::String, Vec::<(&str, Value)>::new()));
    let wanted = Type::object_with_optional([("a", Type::String), ("b", Type::list(Type::Number))], ["b"]);
    let expected = Value::object([("a", s("x")), ("b", Value::null(Type::list(Type::Number)))]);
    ok(Value::object([("a", s("x")), ("z", s("y"))]), wanted, expected);
    let all_strings = Type::object_with_optional([("a", Type::String), ("b", Type::String)], ["b"]);
    let expected = Value::object([("a", s("x")), ("b", Value::null(Type::String))]);
    ok(Value::map(Type::String, [("a", s("x"))]), all_strings, expected);
    ok(Value::null_dynamic(), Type::String, Value::null(Type::String));
    ok(Value::dynamic().mark(Marks::SENSITIVE), Type::Bool, Value::unknown(Type::Bool).mark(Marks::SENSITIVE));
    ok(s("5").mark(Marks::SENSITIVE), Type::Number, Value::literal_int(5).mark(Marks::SENSITIVE));
    ok(
        Value::tuple(vec![s("x"), Value::null_dynamic()]),
        Type::list(Type::Dynamic),
        Value::list(Type::String, vec![s("x"), Value::null(Type::String)]),
    );
}

#[test]
fn messages() {
    let object = |names: &[&str]| Type::object(names.iter().map(|n| (*n, Type::String)));
    let cases = [
        (Value::string("x"), Type::Number, "", "a number is required"),
        (Value::string("True"), Type::Bool, "", "a bool is required; to convert from string, use lowercase \"true\""),
        (Value::empty_tuple(), Type::String, "", "string required"),
        (Value::empty_object(), object(&["a"]), "", "attribute \"a\" is required"),
        (Value::empty_object(), object(&["a", "b", "c"]), "", "attributes \"a\", \"b\", and \"c\" are required"),
        (Value::object([("a", Value::empty_tuple())]), object(&["a"]), "", "attribute \"a\": string required"),
        (
            Value::tuple(vec![Value::string("1"), Value::empty_tuple()]),
            Type::list(Type::String),
            "",
            "element 1: string required",
        ),
        (Value::tuple(vec![Value::string("q")]), Type::list(Type::Number), "[0]", "a number is required"),
        (
            Value::tuple(vec![Value::int(1), Value::empty_tuple()]),
            Type::list(Type::Dynamic),
            "",
            "all list elements must have the same type",
        ),
        (
            Value::list(Type::list(Type::Bool), vec![]),
            Type::list(Type::Bool),
            "",
            "incorrect list element type: bool required",
        ),
        (
            Value::map(Type::String, Vec::<(&str, Value)>::new()),
            object(&["k"]),
            "",
            "map has no element for required attribute \"k\"",
        ),
    ];
    for (value, want, path, message) in cases {
        let error = convert(&value, &want).unwrap_err();
        assert_eq!((error.path.to_string().as_str(), error.message.as_str()), (path, message));
    }
}

/// Observed, 1.11.4. Where "any" is not at the top, elements of different types have no common one.
#[test]
fn any_takes_one_type() {
    let any = |of: fn(Type) -> Type| of(Type::Dynamic);
    let (one, null) = (|name: &'static str| Value::object([(name, Value::int(1))]), Value::null_dynamic);
    let record = || Type::object_with_optional([("id", Type::String), ("v", Type::Dynamic)], ["v"]);
    let id = |more: Option<Value>| {
        let v = more.map(|v| ("v", v));
        Value::object([("id", Value::string("z"))].into_iter().chain(v))
    };
    let numbers = Type::object([("a", Type::Number)]);

    let map = convert(&Value::object([("x", null()), ("y", one("a"))]), &any(Type::map)).unwrap();
    assert_eq!(map, Value::map(numbers.clone(), [("x", Value::null(numbers)), ("y", one("a"))]));
    let fails = [
        (
            Value::object([("x", null()), ("y", one("a")), ("z", one("b"))]),
            any(Type::map),
            "attribute types must all match",
        ),
        (Value::tuple(vec![null(), one("a")]), any(Type::list), "all list elements must have the same type"),
        (Value::tuple(vec![null(), one("a")]), any(Type::set), "all set elements must have the same type"),
        (
            Value::tuple(vec![id(None), id(Some(Value::tuple(vec![Value::int(1)])))]),
            Type::list(record()),
            "element types must all match for conversion to list",
        ),
        (
            Value::object([("x", id(None)), ("y", id(Some(one("a"))))]),
            Type::map(record()),
            "attribute types must all match for conversion to map",
        ),
    ];
    for (value, want, message) in fails {
        let error = convert(&value, &want).expect_err(message);
        assert!(error.message.starts_with(message), "{error}");
    }
    let same = vec![id(Some(Value::int(1))), id(Some(Value::string("a")))];
    let list = convert(&Value::tuple(same), &Type::list(record())).unwrap();
    assert_eq!(list.ty(), &Type::list(Type::object([("id", Type::String), ("v", Type::String)])));
}
