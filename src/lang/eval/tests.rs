//! Expressions and what they come to, recorded from the reference's console.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::source::SourceFile;
use terrane_value::convert::convert;
use terrane_value::{Marks, Type, Value};

use super::scope::{Resolved, Scope};
use super::{evaluate, evaluate_to};
use crate::functions::{CallContext, Function, FunctionError, Param, Signature};
use crate::syntax::ast::Traversal;
use crate::syntax::parse_expression;

/// A function of one argument.
struct Unary {
    signature: Signature,
    body: fn(&Value) -> Result<Value, FunctionError>,
}

impl Function for Unary {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, args: &[Value]) -> Result<Type, FunctionError> {
        Ok(self.call_body(args)?.ty().clone())
    }

    fn call(&self, args: &[Value], _: &CallContext<'_>) -> Result<Value, FunctionError> {
        self.call_body(args)
    }
}

impl Unary {
    fn call_body(&self, args: &[Value]) -> Result<Value, FunctionError> {
        (self.body)(args.first().unwrap_or(&Value::null_dynamic()))
    }
}

struct Fixture {
    names: BTreeMap<&'static str, Value>,
    functions: BTreeMap<&'static str, Unary>,
}

impl Scope for Fixture {
    fn resolve(&self, traversal: &Traversal, file: &Arc<SourceFile>) -> Resolved {
        match self.names.get(traversal.root_name()) {
            Some(value) => Resolved::value(value.clone(), 0),
            None => super::scope::Constant.resolve(traversal, file),
        }
    }

    fn function(&self, name: &str) -> Option<&dyn Function> {
        self.functions.get(name).map(|f| f as &dyn Function)
    }

    fn function_names(&self) -> Vec<String> {
        self.functions.keys().map(ToString::to_string).collect()
    }
}

fn to(value: &Value, ty: Type) -> Result<Value, FunctionError> {
    convert(value, &ty).map_err(|e| FunctionError::argument(0, e.to_string()))
}

fn fixture() -> Fixture {
    let mut functions = BTreeMap::new();
    let mut add =
        |name: &'static str, param: &'static str, ty: Type, body: fn(&Value) -> Result<Value, FunctionError>| {
            let mut param = Param::new(param, ty);
            param.allow_unknown = name != "upper";
            param.allow_null = name == "sensitive" || name.starts_with("to");
            param.allow_dynamic = true;
            param.allow_marked = name == "sensitive";
            let (name_of, params) = (name.into(), vec![param]);
            let signature = Signature { name: name_of, params, variadic: None, description: "".into(), returns: None };
            functions.insert(name, Unary { signature, body });
        };
    add("sensitive", "value", Type::Dynamic, |v| Ok(v.clone().mark(Marks::SENSITIVE)));
    add("tolist", "v", Type::Dynamic, |v| to(v, Type::list(Type::Dynamic)));
    add("toset", "v", Type::Dynamic, |v| to(v, Type::set(Type::Dynamic)));
    add("tomap", "v", Type::Dynamic, |v| to(v, Type::map(Type::Dynamic)));
    add("upper", "str", Type::String, |v| Ok(Value::string(v.as_str().unwrap_or("").to_uppercase())));
    add("try", "expressions", Type::Dynamic, |v| Ok(v.clone()));
    add("can", "expression", Type::Dynamic, |v| Ok(v.clone()));
    let var = Value::object([
        ("obj", Value::object([("a", Value::int(1)), ("b", Value::string("x"))])),
        ("lst", Value::tuple(vec![Value::string("a"), Value::string("b")])),
        ("nul", Value::null_dynamic()),
        ("str", Value::unknown(Type::String)),
        ("num", Value::unknown(Type::Number)),
        ("yes", Value::unknown(Type::Bool)),
        ("list", Value::unknown(Type::list(Type::object([("a", Type::Number)])))),
        ("any", Value::dynamic()),
    ]);
    Fixture { names: BTreeMap::from([("var", var)]), functions }
}

/// As the console shows it, in one line; marks and unknown values spelled out.
fn show(value: &Value) -> String {
    let marks = if value.is_sensitive() { "sensitive " } else { "" };
    let text = if value.is_null() {
        "null".into()
    } else if !value.is_known() {
        let facts = value.refinement().map_or(String::new(), |r| {
            let prefix = r.string_prefix.as_ref().map_or(String::new(), |p| format!(" {p}*"));
            format!("{prefix}{}", if r.not_null { " not null" } else { "" })
        });
        format!("?{}{facts}", value.ty().friendly_name())
    } else {
        match value.ty() {
            Type::String => format!("{:?}", value.as_str().unwrap()),
            Type::Number => value.as_number().unwrap().to_string(),
            Type::Bool => value.as_bool().unwrap().to_string(),
            Type::Map(_) | Type::Object(_) => {
                let entries: Vec<_> = value.entries().iter().map(|(k, v)| format!("{k}={}", show(v))).collect();
                format!("{{{}}}", entries.join(" "))
            }
            ty => {
                let items: Vec<_> = value.elements().iter().map(show).collect();
                format!(
                    "{}[{}]",
                    if ty.is_tuple() {
                        ""
                    } else if ty.is_set() {
                        "set"
                    } else {
                        "list"
                    },
                    items.join(" ")
                )
            }
        }
    };
    format!("{marks}{text}")
}

fn run(text: &str) -> String {
    let (expr, diagnostics) = parse_expression(SourceFile::new("t", text));
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    let (value, diagnostics) = evaluate(&expr, &fixture());
    if !diagnostics.has_errors() {
        return show(&value);
    }
    let shown = diagnostics.iter().map(|d| {
        let at = d.subject.as_ref().map_or("?".into(), |r| r.text().replace('\n', " "));
        let values: Vec<_> = d.values.iter().map(|v| format!(" [{} {}]", v.traversal, v.statement)).collect();
        let call = d.function_call.as_ref().map_or(String::new(), |c| format!(" while calling {}", c.signature));
        format!("{}: {} @ {at}{}{call}", d.summary, d.detail, values.concat())
    });
    shown.collect::<Vec<_>>().join("; ")
}

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(run(text), *expected, "{text}");
    }
}

#[test]
fn operators() {
    check(&[
        ("1 + 2 * 3", "7"),
        ("\"1\" + 1", "2"),
        ("5.5 % 2", "1.5"),
        ("-5 % 3", "-2"),
        ("0.1 + 0.2", "0.3"),
        ("1 == \"1\"", "false"),
        ("[1] == tolist([1])", "false"),
        ("null == null", "true"),
        ("sensitive(1) == 1", "sensitive true"),
        ("[sensitive(1)] == [1]", "sensitive true"),
        ("\"ab${var.str}\" == null", "false"),
        ("var.num + 1", "?number not null"),
        ("!\"x\"", "Invalid operand: Unsuitable value for unary operand: a bool is required. @ \"x\""),
        ("1 + \"x\"", "Invalid operand: Unsuitable value for right operand: a number is required. @ \"x\""),
        ("true && 1", "Invalid operand: Unsuitable value for right operand: bool required. @ 1"),
        ("1 + null", "Operation failed: Error during operation: argument must not be null. @ 1 + null"),
        (
            "0 / 0",
            "Operation failed: Error during operation: can't divide zero by zero or infinity by infinity. @ 0 / 0",
        ),
        ("-null", "Operation failed: Error during operation: argument must not be null. @ -null"),
    ]);
}

#[test]
fn one_side_may_decide() {
    let error = "Invalid index: The given key does not identify an element in this collection value: the collection has no elements. @ [0]";
    check(&[("false && [][0]", "false"), ("true || [][0]", "true"), ("[][0] || true", "true")]);
    check(&[("[][0] && false", "false"), ("[][0] || false", error)]);
    check(&[
        ("true && [][0]", error),
        ("false || [][0]", error),
        ("null || true", "true"),
        ("true || null", "true"),
        ("null && false", "false"),
        ("1 + [][0]", error),
    ]);
    check(&[("false && [][0] && [][1]", "false")]);
    check(&[("try(true || [][0], 1)", "true"), ("can(false && [][0])", "true"), ("try([][0] || true, 1)", "true")]);
    check(&[("var.yes || true", "true"), ("true || var.yes", "true"), ("var.yes && false", "false")]);
    check(&[("sensitive(true) || [][0]", "sensitive true"), ("[][0] && sensitive(false)", "sensitive false")]);
    check(&[("var.yes || [][0]", "?bool not null"), ("var.yes || null", "?bool not null")]);
}

#[test]
fn conditionals() {
    check(&[
        ("true ? 1 : \"x\"", "\"1\""),
        ("true ? [1] : [\"a\"]", "[\"1\"]"),
        ("true ? [1] : [1, 2]", "list[1]"),
        ("true ? {a=1} : {b=1}", "{a=1}"),
        ("true ? 1 : [][0]", "1"),
        ("sensitive(true) ? \"a\" : \"b\"", "sensitive \"a\""),
        ("var.yes ? 1 : 1", "1"),
        ("var.yes ? \"a\" : null", "?string"),
        ("var.yes ? \"a\" : \"b\"", "?string not null"),
        ("true ? null : [1]", "null"),
        (
            "true ? [1] : {}",
            "Inconsistent conditional result types: The true and false result expressions must have consistent types. The 'true' value is tuple, but the 'false' value is object. @ [1] : {}",
        ),
        (
            "true ? {a=[1]} : {a={}}",
            "Inconsistent conditional result types: The true and false result expressions must have consistent types. Type mismatch for object attribute \"a\": The 'true' value is tuple, but the 'false' value is object. @ {a=[1]} : {a={}}",
        ),
        (
            "null ? 1 : 2",
            "Null condition: The condition value is null. Conditions must either be true or false. @ null",
        ),
        ("\"x\" ? 1 : 2", "Incorrect condition type: The condition expression must be of type bool. @ \"x\""),
    ]);
}

#[test]
fn templates() {
    check(&[
        ("\"${null}\"", "null"),
        ("\"a${1}${true}\"", "\"a1true\""),
        ("\"abc-${var.str}b\"", "?string abc-* not null"),
        ("\"a${sensitive(\"b\")}\"", "sensitive \"ab\""),
        ("\"${sensitive(var.any)}x\"", "sensitive ?string not null"),
        ("\"%{for x in [1,2]}${x},%{endfor}\"", "\"1,2,\""),
        ("\"%{ for k, v in var.obj }${k}=${v};%{ endfor }\"", "\"a=1;b=x;\""),
        ("\"%{for x in [sensitive(1)]}${x}%{endfor}\"", "sensitive \"1\""),
        ("\"%{if var.yes}a%{endif}\"", "?string not null"),
        (
            "\"a${null}\"",
            "Invalid template interpolation value: The expression result is null. Cannot include a null value in a string template. @ null",
        ),
        (
            "\"a${var.obj}\"",
            "Invalid template interpolation value: Cannot include the given value in a string template: string required. @ var.obj [var.obj is object with 2 attributes]",
        ),
        (
            "\"%{if \"x\"}a%{endif}\"",
            "Incorrect condition type: The condition expression must be of type bool. @ \"x\"",
        ),
    ]);
}

#[test]
fn steps() {
    check(&[
        ("var.obj[\"a\"]", "1"),
        ("var.lst.1", "\"b\""),
        ("sensitive({a=1}).a", "sensitive 1"),
        ("[1][sensitive(0)]", "sensitive 1"),
        ("{a=1}[sensitive(\"a\")]", "1"),
        ("tomap({a=1})[sensitive(\"a\")]", "sensitive 1"),
        ("var.any.x[0]", "?dynamic"),
        ("var.list[0].a", "?number"),
        (
            "var.obj.c",
            "Unsupported attribute: This object does not have an attribute named \"c\". @ .c [var.obj is object with 2 attributes]",
        ),
        (
            "var.lst[2]",
            "Invalid index: The given key does not identify an element in this collection value: the given index is greater than or equal to the length of the collection. @ [2] [var.lst is tuple with 2 elements]",
        ),
        (
            "var.lst[5]",
            "Invalid index: The given key does not identify an element in this collection value. @ [5] [var.lst is tuple with 2 elements]",
        ),
        (
            "var.lst[\"x\"]",
            "Invalid index: The given key does not identify an element in this collection value: a number is required. @ [\"x\"] [var.lst is tuple with 2 elements]",
        ),
        (
            "[1][1.5]",
            "Invalid index: The given key does not identify an element in this collection value: indexing a sequence requires a whole number, but the given index has a fractional part. @ [1.5]",
        ),
        (
            "[1][-1]",
            "Invalid index: The given key does not identify an element in this collection value: a negative number is not a valid index for a sequence. @ [-1]",
        ),
        (
            "var.obj[0]",
            "Invalid index: The given key does not identify an element in this collection value. An object only supports looking up attributes by name, not by numeric index. @ [0] [var.obj is object with 2 attributes]",
        ),
        (
            "var.nul.x",
            "Attempt to get attribute from null value: This value is null, so it does not have any attributes. @ .x [var.nul is null]",
        ),
        (
            "var.nul[0]",
            "Attempt to index null value: This value is null, so it does not have any indices. @ [0] [var.nul is null]",
        ),
        ("{a=1}[null]", "Invalid index: Can't use a null value as an indexing key. @ [null]"),
        ("tomap({a=1}).b", "Missing map element: This map does not have an element with the key \"b\". @ .b"),
        (
            "tolist([{a=1}]).a",
            "Unsupported attribute: Can't access attributes on a list of objects. Did you mean to access attribute \"a\" for a specific element of the list, or across all elements of the list? @ .a",
        ),
        ("\"x\".y", "Unsupported attribute: Can't access attributes on a primitive-typed value (string). @ .y"),
        (
            "toset([\"a\"])[0]",
            "Invalid index: Elements of a set are identified only by their value and don't have any separate index or key to select with, so it's only possible to perform operations across all elements of the set. @ [0]",
        ),
    ]);
}

#[test]
fn splats() {
    check(&[
        ("null.*.x", "[]"),
        ("1.*", "[1]"),
        ("var.obj.*.a", "[1]"),
        ("[{a=1},{a=2}][*].a", "[1 2]"),
        ("tolist([{a=1}])[*].a", "list[1]"),
        ("toset([\"a\"])[*]", "list[\"a\"]"),
        ("tolist([])[*].a.b", "list[]"),
        ("[[{a=1}],[{a=2}]][*][0].a", "[1 2]"),
        ("[{b=[1,2]}][*].b[*]", "[[1 2]]"),
        ("sensitive([1,2])[*]", "sensitive [1 2]"),
        ("sensitive(null)[*]", "sensitive []"),
        ("var.str[*]", "?dynamic"),
        ("var.list[*].a", "?list of number not null"),
        (
            "tolist(null)[*]",
            "Splat of null value: Splat expressions (with the * symbol) cannot be applied to null sequences. @ tolist(null)",
        ),
        (
            "[1,2].*.x",
            "Unsupported attribute: Can't access attributes on a primitive-typed value (number). @ .x; Unsupported attribute: Can't access attributes on a primitive-typed value (number). @ .x",
        ),
    ]);
}

#[test]
fn for_expressions() {
    check(&[
        ("[for i, x in [\"a\"]: i]", "[0]"),
        ("[for i, x in toset([\"a\"]): i]", "[\"a\"]"),
        ("{for k, v in {a=1,b=2,c=3}: v%2 => k...}", "{0=[\"b\"] 1=[\"a\" \"c\"]}"),
        ("[for x in [1,2,3]: x * 2 if x > 1]", "[4 6]"),
        ("[for x in [[1],[2]]: [for y in x: \"${y}\"]]", "[[1] [2]]"),
        ("[for x in sensitive([1,2]): x]", "sensitive [1 2]"),
        ("[for x in [1]: x if sensitive(true)]", "sensitive [1]"),
        ("{for x in [sensitive(\"a\")]: x => x}", "sensitive {a=sensitive \"a\"}"),
        ("[for x in [1]: x if var.yes]", "?dynamic"),
        ("[for x in var.any: x]", "?dynamic"),
        ("[for x in []: x if x.y]", "[]"),
        (
            "[for x in null: x]",
            "Iteration over null value: A null value cannot be used as the collection in a 'for' expression. @ null",
        ),
        (
            "[for x in 1: x]",
            "Iteration over non-iterable value: A value of type number cannot be used as the collection in a 'for' expression. @ 1",
        ),
        ("[for x in [1]: x if null]", "Condition is null: The value of the 'if' clause must not be null. @ null"),
        ("[for x in [1]: x if x]", "Invalid 'for' condition: The 'if' clause value is invalid: bool required. @ x"),
        (
            "{for x in [1,1]: x => x}",
            "Duplicate object key: Two different items produced the key \"1\" in this 'for' expression. If duplicates are expected, use the ellipsis (...) after the value expression to enable grouping by key. @ x",
        ),
        (
            "{for x in [1]: null => x}",
            "Invalid object key: Key expression in 'for' expression must not produce a null value. @ null",
        ),
        (
            "{for x in [1]: [] => x}",
            "Invalid object key: The key expression produced an invalid result: string required. @ []",
        ),
    ]);
}

#[test]
fn objects() {
    check(&[
        ("{a=1, a=2}", "{a=2}"),
        ("{true=1, null=2, (1)=3}", "{1=3 null=2 true=1}"),
        ("{(sensitive(\"a\")) = 1}", "sensitive {a=1}"),
        ("{(var.str) = 1}", "?dynamic"),
        ("{(null)=1}", "Null value as key: Can't use a null value as a key. @ 1"),
        ("{([])=1}", "Incorrect key type: Can't use this value as a key: string required. @ ([])"),
        (
            "{var.obj=1}",
            "Ambiguous attribute key: If this expression is intended to be a reference, wrap it in parentheses. If it's instead intended as a literal name containing periods, wrap it in quotes to create a string literal. @ var.obj",
        ),
    ]);
}

#[test]
fn calls() {
    check(&[
        ("upper(\"x\")", "\"X\""),
        ("core::upper([\"x\"]...)", "\"X\""),
        ("upper(sensitive(\"x\"))", "sensitive \"X\""),
        ("upper(var.any)", "?string not null"),
        ("try(var.obj.z, 1)", "1"),
        ("try(var.any, 1)", "?dynamic"),
        ("can(var.obj.z)", "false"),
        ("can(var.any)", "?bool"),
        (
            "uper(\"x\")",
            "Call to unknown function: There is no function named \"uper\". Did you mean \"upper\"? @ uper",
        ),
        (
            "fo::bar(1)",
            "Unknown provider function: The function namespace \"fo\" is not valid. Provider function calls must use the \"provider::\" namespace prefix. @ fo::bar",
        ),
        (
            "upper()",
            "Not enough function arguments: Function \"upper\" expects 1 argument(s). Missing value for \"str\". @ ) while calling upper(str)",
        ),
        (
            "upper(\"x\", \"y\")",
            "Too many function arguments: Function \"upper\" expects only 1 argument(s). @ y while calling upper(str)",
        ),
        (
            "upper([])",
            "Invalid function argument: Invalid value for \"str\" parameter: string required. @ [ while calling upper(str)",
        ),
        (
            "upper(null)",
            "Invalid function argument: Invalid value for \"str\" parameter: argument must not be null. @ null while calling upper(str)",
        ),
        (
            "upper(null...)",
            "Invalid expanding argument value: The expanding argument (indicated by ...) must not be null. @ null while calling upper(str)",
        ),
        (
            "upper({}...)",
            "Invalid expanding argument value: The expanding argument (indicated by ...) must be of a tuple, list, or set type. @ {} while calling upper(str)",
        ),
        (
            "try(var.obj.z)",
            "Error in function call: Call to function \"try\" failed: no expression succeeded:\n- Unsupported attribute (at t:1,12-14)\n  This object does not have an attribute named \"z\".\n\nAt least one expression must produce a successful result. @ try( [var.obj is object with 2 attributes] while calling try(expressions)",
        ),
    ]);
}

#[test]
fn names_that_mean_nothing_are_always_reported() {
    let error = "Variables not allowed: Variables may not be used here. @ nope";
    check(&[("true ? 1 : nope.x", error), ("true || nope.x", error), ("try(nope.x, 1)", error)]);
}

#[test]
fn results_convert() {
    let (expr, _) = parse_expression(SourceFile::new("t", "[1, 2]"));
    let (value, diagnostics) = evaluate_to(&expr, &Type::list(Type::String), &fixture());
    assert!(diagnostics.is_empty());
    assert_eq!(show(&value), "list[\"1\" \"2\"]");
    assert!(evaluate_to(&expr, &Type::Number, &fixture()).1.has_errors());
}
