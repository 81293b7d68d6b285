//! Values in the notation of the reference's errors about inconsistent results of providers.

use std::fmt::Write;

use terrane_value::text::go_quoted;
use terrane_value::{Number, Path, PathStep, Refinement, Type, Value};

/// `cty.StringVal("a")`, `cty.NullVal(cty.String)`, ...
pub fn go_text(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

/// `cty.Path{cty.GetAttrStep{Name:"a"}, cty.IndexStep{Key:cty.NumberIntVal(0)}}`
pub fn go_path(path: &Path) -> String {
    let step = |step: &PathStep| match step {
        PathStep::Attr(name) => format!("cty.GetAttrStep{{Name:{}}}", go_quoted(name)),
        PathStep::Index(key) => format!("cty.IndexStep{{Key:{}}}", go_text(key)),
    };
    let steps: Vec<String> = path.steps().iter().map(step).collect();
    format!("cty.Path{{{}}}", steps.join(", "))
}

fn write_value(out: &mut String, value: &Value) {
    // Writing to a string cannot fail.
    let _ = match value {
        v if v.has_marks() => {
            write_value(out, &v.unmark().0);
            write!(out, ".Mark(marks.Sensitive)")
        }
        v if !v.is_known() && v.ty().is_dynamic() => write!(out, "cty.DynamicVal"),
        v if !v.is_known() => {
            write!(
                out,
                "cty.UnknownVal({}){}",
                type_text(v.ty()),
                v.refinement().map_or_else(String::new, refinement_text)
            )
        }
        v if v.is_null() => write!(out, "cty.NullVal({})", type_text(v.ty())),
        v => {
            write_known(out, v);
            Ok(())
        }
    };
}

fn refinement_text(facts: &Refinement) -> String {
    if *facts == Refinement::not_null() {
        return ".RefineNotNull()".into();
    }
    let mut out = String::from(".Refine()");
    if facts.not_null {
        out.push_str(".NotNull()");
    }
    if let Some(prefix) = &facts.string_prefix {
        let _ = write!(out, ".StringPrefixFull({})", go_quoted(prefix));
    }
    for (name, bound) in [("Lower", &facts.number_min), ("Upper", &facts.number_max)] {
        if let Some((n, inclusive)) = bound {
            let _ = write!(out, ".Number{name}Bound({}, {inclusive})", number_text(n));
        }
    }
    if facts.length_min > 0 {
        let _ = write!(out, ".CollectionLengthLowerBound({})", facts.length_min);
    }
    if let Some(max) = facts.length_max {
        let _ = write!(out, ".CollectionLengthUpperBound({max})");
    }
    out.push_str(".NewValue()");
    out
}

fn number_text(n: &Number) -> String {
    if n.is_integer() {
        return format!("cty.NumberIntVal({})", n.to_shortest_general_text());
    }
    match n.as_exact_f64() {
        Some(f) => format!("cty.NumberFloatVal({})", Number::from(f).to_shortest_general_text()),
        None => format!("cty.MustParseNumberVal(\"{n}\")"),
    }
}

fn write_known(out: &mut String, value: &Value) {
    if let Some(b) = value.as_bool() {
        out.push_str(if b { "cty.True" } else { "cty.False" });
    } else if let Some(n) = value.as_number() {
        out.push_str(&number_text(n));
    } else if let Some(s) = value.as_str() {
        let _ = write!(out, "cty.StringVal({})", go_quoted(s));
    } else {
        match value.ty() {
            Type::List(t) => sequence(out, "List", Some(t), value),
            Type::Set(t) => sequence(out, "Set", Some(t), value),
            Type::Tuple(_) => sequence(out, "Tuple", None, value),
            Type::Map(t) if value.entries().is_empty() => {
                let _ = write!(out, "cty.MapValEmpty({})", type_text(t));
            }
            Type::Map(_) => entries(out, "Map", value),
            _ if value.entries().is_empty() => out.push_str("cty.EmptyObjectVal"),
            _ => entries(out, "Object", value),
        }
    }
}

fn sequence(out: &mut String, kind: &str, element: Option<&Type>, value: &Value) {
    if value.elements().is_empty() {
        let _ = match element {
            Some(ty) => write!(out, "cty.{kind}ValEmpty({})", type_text(ty)),
            None => write!(out, "cty.EmptyTupleVal"),
        };
        return;
    }
    let _ = write!(out, "cty.{kind}Val([]cty.Value{{");
    for (i, element) in value.elements().iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        write_value(out, element);
    }
    out.push_str("})");
}

fn entries(out: &mut String, kind: &str, value: &Value) {
    let _ = write!(out, "cty.{kind}Val(map[string]cty.Value{{");
    for (i, (key, element)) in value.entries().iter().enumerate() {
        let _ = write!(out, "{}{}:", if i > 0 { ", " } else { "" }, go_quoted(key));
        write_value(out, element);
    }
    out.push_str("})");
}

fn type_text(ty: &Type) -> String {
    match ty {
        Type::Dynamic => "cty.DynamicPseudoType".into(),
        Type::Bool => "cty.Bool".into(),
        Type::Number => "cty.Number".into(),
        Type::String => "cty.String".into(),
        Type::List(t) => format!("cty.List({})", type_text(t)),
        Type::Set(t) => format!("cty.Set({})", type_text(t)),
        Type::Map(t) => format!("cty.Map({})", type_text(t)),
        Type::Tuple(ts) if ts.is_empty() => "cty.EmptyTuple".into(),
        Type::Tuple(ts) => {
            format!("cty.Tuple([]cty.Type{{{}}})", ts.iter().map(type_text).collect::<Vec<_>>().join(", "))
        }
        Type::Object(o) if o.attributes.is_empty() => "cty.EmptyObject".into(),
        Type::Object(o) => {
            let attributes: Vec<String> =
                o.attributes.iter().map(|(n, t)| format!("{}:{}", go_quoted(n), type_text(t))).collect();
            format!("cty.Object(map[string]cty.Type{{{}}})", attributes.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_the_reference() {
        let cases = [
            (Value::string("a\n"), r#"cty.StringVal("a\n")"#),
            (Value::int(3), "cty.NumberIntVal(3)"),
            (Value::int(12_345_678), "cty.NumberIntVal(1.2345678e+07)"),
            (Value::number(0.5), "cty.NumberFloatVal(0.5)"),
            (Value::number(Number::parse("0.1").unwrap()), "cty.MustParseNumberVal(\"0.1\")"),
            (Value::unknown(Type::String), "cty.UnknownVal(cty.String)"),
            (Value::unknown_not_null(Type::String), "cty.UnknownVal(cty.String).RefineNotNull()"),
            (
                Value::unknown_refined(Type::String, Refinement::not_null().with_prefix("a-")),
                "cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull(\"a-\").NewValue()",
            ),
            (
                Value::unknown_refined(
                    Type::Number,
                    Refinement::default()
                        .with_number_min(Number::zero(), true)
                        .with_number_max(Number::from(1.5), false),
                ),
                "cty.UnknownVal(cty.Number).Refine().NumberLowerBound(cty.NumberIntVal(0), true)\
                 .NumberUpperBound(cty.NumberFloatVal(1.5), false).NewValue()",
            ),
            (
                Value::unknown_refined(Type::list(Type::Bool), Refinement::not_null().with_length(1, Some(4))),
                "cty.UnknownVal(cty.List(cty.Bool)).Refine().NotNull().CollectionLengthLowerBound(1)\
                 .CollectionLengthUpperBound(4).NewValue()",
            ),
            (Value::null(Type::String), "cty.NullVal(cty.String)"),
            (Value::list(Type::String, vec![]), "cty.ListValEmpty(cty.String)"),
            (Value::tuple(vec![Value::bool(true)]), "cty.TupleVal([]cty.Value{cty.True})"),
            (Value::object([("a", Value::int(1))]), r#"cty.ObjectVal(map[string]cty.Value{"a":cty.NumberIntVal(1)})"#),
        ];
        for (value, expected) in cases {
            assert_eq!(go_text(&value), expected);
        }
    }
}
