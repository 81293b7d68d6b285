//! Random texts: their characters, checks, plans and imports.

use terrane_sdk::Type;

use super::super::Random;
use super::super::characters::{DIGITS, SPECIAL, UPPER};
use super::*;
use crate::providers::tester::{Tester, text};

async fn password() -> Tester {
    Tester::resource(Random, "random_password").await
}

async fn string() -> Tester {
    Tester::resource(Random, "random_string").await
}

fn no_bool() -> Value {
    Value::null(Type::Bool)
}

#[tokio::test]
async fn texts_contain_the_required_characters() {
    let count = |text: &str, class: &str| text.chars().filter(|c| class.contains(*c)).count();
    let planned = Object(password().await.object([
        ("length", Value::int(12)),
        ("upper", Value::bool(false)),
        ("min_numeric", Value::int(3)),
        ("min_special", Value::int(2)),
        ("override_special", Value::string("°")),
    ]));
    for _ in 0..20 {
        let text = generate(&planned).unwrap();
        assert_eq!(text.chars().count(), 12);
        assert!(count(&text, DIGITS) >= 3 && count(&text, "°") >= 2, "{text}");
        assert_eq!(count(&text, UPPER) + count(&text, SPECIAL), 0, "{text}");
    }
}

#[tokio::test]
async fn validation() {
    let (no, n) = (|| Value::bool(false), Value::int);
    let none_true =
        |numeric| [("length", n(2)), ("special", no()), ("upper", no()), ("lower", no()), ("numeric", numeric)];
    let password = password().await;
    let ephemeral = Tester::ephemeral(Random, "random_password").await;
    let cases: Vec<(Vec<(&'static str, Value)>, &[&str])> = vec![
        (vec![("length", n(8))], &[]),
        (vec![("length", n(0))], &["Attribute length value must be at least 1, got: 0"]),
        (
            vec![("length", n(2)), ("min_upper", n(2)), ("min_special", n(1))],
            &[
                "Attribute length value must be at least sum of min_upper + min_lower + min_numeric + min_special, got: 2",
            ],
        ),
        (vec![("length", n(2)), ("min_upper", Value::unknown(Type::Number)), ("min_special", n(9))], &[]),
        (
            none_true(no()).into(),
            &["At least one attribute out of [special,upper,lower,numeric] must be specified as true"],
        ),
        (none_true(no_bool()).into(), &[]),
    ];
    for (values, expected) in cases {
        for tester in [&password, &ephemeral] {
            let found = tester.validate(tester.object_of(values.clone())).await;
            assert_eq!(found.iter().map(|d| d.detail.as_str()).collect::<Vec<_>>(), expected);
        }
    }
}

#[tokio::test]
async fn number_and_numeric_agree() {
    let string = string().await;
    let config = |number: Option<bool>, numeric: Option<bool>| {
        let value = |b: Option<bool>| b.map_or(no_bool(), Value::bool);
        string.object([("length", Value::int(3)), ("number", value(number)), ("numeric", value(numeric))])
    };
    for (number, numeric, expected) in
        [(None, None, true), (Some(false), None, false), (None, Some(false), false), (Some(true), Some(true), true)]
    {
        let plan = string.plan(string.absent(), config(number, numeric)).await;
        assert_eq!(plan.planned.get("number"), Some(&Value::bool(expected)));
        assert_eq!(plan.planned.get("numeric"), Some(&Value::bool(expected)));
        assert!(plan.diagnostics.is_empty());
    }
    let plan = string.plan(string.absent(), config(Some(true), Some(false))).await;
    assert_eq!(plan.diagnostics.len(), 1);
}

#[tokio::test]
async fn a_change_from_the_empty_text_to_null_replaces_nothing() {
    let string = string().await;
    let special = |value| string.object([("length", Value::int(3)), ("override_special", value)]);
    let planned = string.plan(string.absent(), special(Value::string(""))).await.planned;
    let state = string.create(planned).await.unwrap();
    for (value, replaces) in [(Value::null(Type::String), false), (Value::string("/"), true)] {
        let planned = string.plan(state.clone(), special(value)).await;
        assert_eq!(!planned.requires_replace.is_empty(), replaces);
        assert_eq!(planned.planned.get("result"), state.get("result"), "kept");
    }
}

#[tokio::test]
async fn upgrade_fills_and_rehashes() {
    let other = bcrypt::hash("other", 4).unwrap();
    let stored = format!(r#"{{"result":"secret","bcrypt_hash":"{other}"}}"#);
    let upgraded = password().await.upgrade(2, &stored).await.unwrap();
    assert_eq!(upgraded.get("length"), Some(&Value::int(6)));
    assert_eq!(upgraded.get("numeric"), Some(&Value::bool(true)));
    let hash = text(&upgraded, "bcrypt_hash");
    assert!(hash.starts_with("$2a$10$") && bcrypt::verify("secret", hash).unwrap());
    let error = password().await.upgrade(2, r#"{"result":"secret","bcrypt_hash":"wrong"}"#).await.unwrap_err();
    assert_eq!(error.summary, "Version 3 State Upgrade Error");
}

#[tokio::test]
async fn import_takes_the_text() {
    let imported = string().await.import("abc").await.unwrap();
    assert_eq!((text(&imported, "id"), imported.get("length")), ("abc", Some(&Value::int(3))));
    assert_eq!(text(&password().await.import("abc").await.unwrap(), "id"), "none");
}

#[tokio::test]
async fn an_ephemeral_password_fills_in_its_defaults() {
    let ephemeral = Tester::ephemeral(Random, "random_password").await;
    let opened = ephemeral.open(ephemeral.object([("length", Value::int(9)), ("upper", Value::bool(false))])).await;
    let opened = opened.unwrap();
    assert_eq!((opened.get("upper"), opened.get("lower")), (Some(&Value::bool(false)), Some(&Value::bool(true))));
    assert!(bcrypt::verify(text(&opened, "result"), text(&opened, "bcrypt_hash")).unwrap());
}
