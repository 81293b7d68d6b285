//! Validators as a table of values and the details of their errors.

use std::sync::Arc;

use terrane_value::Type;

use super::*;

/// The errors for the attribute `a` of an object with the attributes `a`, `b` and `c`.
fn errors(validator: impl Validator, a: Value, b: Value, c: Value) -> Vec<String> {
    let config = Value::object([("a", a), ("b", b), ("c", c)]);
    let path = Path::new().attr("a");
    let mut found = Vec::new();
    let value = config.get("a").cloned().unwrap_or_else(Value::null_dynamic);
    validator.validate(&mut ConfiguredAttribute { path: &path, value: &value, config: &config, found: &mut found });
    found.into_iter().map(|diagnostic| diagnostic.detail).collect()
}

fn null() -> Value {
    Value::null(Type::String)
}

/// The errors for a value beside nulls.
fn check(validator: impl Validator, value: Value) -> Vec<String> {
    errors(validator, value, null(), null())
}

fn text(text: &str) -> Value {
    Value::string(text)
}

#[test]
fn null_and_unknown_values_are_accepted() {
    for value in [null(), Value::unknown(Type::String)] {
        assert_eq!(check(at_least(1), value.clone()), [""; 0]);
        assert_eq!(check(one_of(["x"]), value.clone()), [""; 0]);
        assert_eq!(check(length_at_least(1), value.clone()), [""; 0]);
        assert_eq!(check(size_at_least(1), value), [""; 0]);
    }
}

#[test]
fn numbers() {
    assert_eq!(check(at_least(1), Value::int(1)), [""; 0]);
    assert_eq!(check(at_least(1), Value::int(0)), ["Attribute a value must be at least 1, got: 0"]);
    assert_eq!(check(at_most(1), Value::int(2)), ["Attribute a value must be at most 1, got: 2"]);
    assert_eq!(check(between(1, 3), Value::int(4)), ["Attribute a value must be between 1 and 3, got: 4"]);
    assert_eq!(
        check(one_of_numbers([1, 2]), Value::int(3)),
        ["Attribute a value must be one of: [\"1\" \"2\"], got: 3"]
    );
    assert_eq!(check(none_of_numbers([1]), Value::int(1)), ["Attribute a value must be none of: [\"1\"], got: 1"]);
    let sum = |validator| errors(validator, Value::int(4), Value::int(2), Value::int(3));
    assert_eq!(sum(at_least_sum_of(&["b", "c"])), ["Attribute a value must be at least sum of b + c, got: 4"]);
    let unknown = Value::unknown(Type::Number);
    assert_eq!(errors(at_least_sum_of(&["b", "c"]), Value::int(1), Value::int(2), unknown), [""; 0]);
    let product = errors(equal_to_product_of(&["b", "c"]), Value::int(6), Value::int(2), Value::int(3));
    assert_eq!(product, [""; 0]);
}

#[test]
fn sums_in_nested_objects_name_the_others_relative_to_it() {
    let inner = Value::object([("most", Value::int(2)), ("least", Value::int(3))]);
    let config = Value::object([("retry", inner)]);
    let path = Path::new().attr("retry").attr("most");
    let mut found = Vec::new();
    let mut attribute = ConfiguredAttribute { path: &path, value: &Value::int(2), config: &config, found: &mut found };
    at_least_sum_of(&["least"]).validate(&mut attribute);
    let details: Vec<&str> = found.iter().map(|diagnostic| diagnostic.detail.as_str()).collect();
    assert_eq!(details, ["Attribute retry.most value must be at least sum of <.least, got: 2"]);
}

#[test]
fn texts() {
    assert_eq!(check(length_between(2, 3), text("é")), [""; 0]);
    assert_eq!(
        check(characters_at_least(2), text("é")),
        ["Attribute a UTF-8 character count must be at least 2, got: 1"]
    );
    assert_eq!(check(length_at_most(1), text("ab")), ["Attribute a string length must be at most 1, got: 2"]);
    assert_eq!(
        check(one_of(["zip", "tar"]), text("rar")),
        ["Attribute a value must be one of: [\"zip\" \"tar\"], got: \"rar\""]
    );
    assert_eq!(check(one_of_ignoring_case(["ZIP"]), text("zip")), [""; 0]);
    assert_eq!(check(none_of(["x"]), text("x")), ["Attribute a value must be none of: [\"x\"], got: \"x\""]);
    let date = || matches("value must be a date", |text| text.len() == 10);
    assert_eq!(check(date(), text("today")), ["Attribute a value must be a date, got: today"]);
}

#[test]
fn collections() {
    let list = |texts: &[&str]| Value::list(Type::String, texts.iter().map(|one| text(one)).collect());
    assert_eq!(check(size_at_least(1), list(&[])), ["Attribute a list must contain at least 1 elements, got: 0"]);
    assert_eq!(
        check(size_between(1, 2), list(&["x", "y", "z"])),
        ["Attribute a list must contain at least 1 elements and at most 2 elements, got: 3"]
    );
    assert_eq!(check(unique_values(), list(&["x", "x"])), ["This attribute contains duplicate values of: \"x\""]);
    assert_eq!(check(unique_values(), list(&["x", "y"])), [""; 0]);
    let with_null = Value::list(Type::String, vec![null()]);
    assert_eq!(check(no_null_values(), with_null), ["This attribute contains a null value."]);
    let each = values(vec![Arc::new(one_of(["x"]))]);
    assert_eq!(check(each, list(&["x", "y"])), ["Attribute a[1] value must be one of: [\"x\"], got: \"y\""]);
    let map = Value::map(Type::String, [("k", text("v"))]);
    assert_eq!(check(keys(vec![Arc::new(length_at_least(2))]), map).len(), 1);
    assert_eq!(check(is_required(), list(&[])).len(), 1);
}

#[test]
fn combinations() {
    let (set, unknown) = (|| text("x"), || Value::unknown(Type::String));
    assert_eq!(
        errors(also_requires(&["b"]), set(), null(), null()),
        ["Attribute \"b\" must be specified when \"a\" is specified"]
    );
    assert_eq!(
        errors(conflicts_with(&["b"]), set(), set(), null()),
        ["Attribute \"b\" cannot be specified when \"a\" is specified"]
    );
    assert_eq!(errors(conflicts_with(&["b"]), set(), unknown(), null()), [""; 0]);
    let none = "At least one attribute out of [b,a] must be specified";
    assert_eq!(errors(at_least_one_of(&["b"]), null(), null(), null()), [none]);
    assert_eq!(errors(at_least_one_of(&["b"]), null(), unknown(), null()), [""; 0]);
    assert_eq!(
        errors(exactly_one_of(&["b", "c"]), set(), set(), null()),
        ["2 attributes specified when one (and only one) of [b,c] is required"]
    );
    assert_eq!(errors(exactly_one_of(&["b", "c"]), null(), null(), set()), [""; 0]);
    assert_eq!(
        errors(exactly_one_of(&["a", "b"]), null(), null(), set()),
        ["No attribute specified when one (and only one) of [a,b] is required"]
    );
    assert_eq!(errors(prefer_write_only("b"), set(), null(), null()).len(), 1);
}

#[test]
fn any_and_all() {
    let choices = || -> Vec<Arc<dyn Validator>> { vec![Arc::new(at_most(1)), Arc::new(at_least(5))] };
    assert_eq!(check(any(choices()), Value::int(6)), [""; 0]);
    assert_eq!(check(any(choices()), Value::int(3)).len(), 2);
    assert_eq!(check(all(choices()), Value::int(6)).len(), 1);
}
