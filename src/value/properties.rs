//! Properties that hold for all values: round trips, idempotence, a total order.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::{Number, Refinement, Type, Value, convert, json, msgpack, set};

fn any_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![Just(Type::Bool), Just(Type::Number), Just(Type::String)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Type::tuple),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(Type::object),
        ]
    })
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Number::from),
        "-?[0-9]{1,30}(\\.[0-9]{1,20})?".prop_map(|t| Number::parse(&t).unwrap()),
    ]
}

/// A value of the type; unknowns only where wanted.
fn of_type(ty: &Type, unknowns: bool) -> BoxedStrategy<Value> {
    let t = ty.clone();
    let known: BoxedStrategy<Value> = match ty {
        Type::Dynamic => Just(Value::null_dynamic()).boxed(),
        Type::Bool => any::<bool>().prop_map(Value::bool).boxed(),
        // A float's text is the shortest for its own precision, so that only what had a text comes back the same.
        Type::Number => number()
            .prop_map(|n| Number::parse(&n.to_string()).unwrap())
            .prop_map(|n| Value::number(if n.is_zero() { Number::zero() } else { n }))
            .boxed(),
        Type::String => "\\PC{0,6}".prop_map(Value::string).boxed(),
        Type::List(e) => prop::collection::vec(of_type(e, unknowns), 0..4)
            .prop_map(move |v| Value::list(t.element_type().unwrap().clone(), v))
            .boxed(),
        Type::Set(e) => prop::collection::vec(of_type(e, unknowns), 0..4)
            .prop_map(move |v| Value::set(t.element_type().unwrap().clone(), v))
            .boxed(),
        Type::Map(e) => prop::collection::btree_map("[a-z<é]{0,3}", of_type(e, unknowns), 0..4)
            .prop_map(move |v| Value::map(t.element_type().unwrap().clone(), v))
            .boxed(),
        Type::Tuple(types) => {
            types.iter().map(|t| of_type(t, unknowns)).collect::<Vec<_>>().prop_map(Value::tuple).boxed()
        }
        Type::Object(object) => {
            let names: Vec<_> = object.attributes.keys().cloned().collect();
            let parts: Vec<_> = object.attributes.values().map(|t| of_type(t, unknowns)).collect();
            parts.prop_map(move |values| Value::object(names.iter().cloned().zip(values))).boxed()
        }
    };
    let null = Just(Value::null(ty.clone()));
    if unknowns {
        let plain = Just(Value::unknown(ty.clone()));
        let refined = Just(Value::unknown_refined(ty.clone(), Refinement::not_null()));
        prop_oneof![6 => known, 1 => null, 1 => plain, 1 => refined].boxed()
    } else {
        prop_oneof![8 => known, 1 => null].boxed()
    }
}

fn typed(unknowns: bool) -> impl Strategy<Value = (Type, Value)> {
    any_type().prop_flat_map(move |t| {
        let values = of_type(&t, unknowns);
        (Just(t), values)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn msgpack_round_trip((ty, value) in typed(true)) {
        prop_assert_eq!(&msgpack::decode(&msgpack::encode(&value, &ty), &ty).unwrap(), &value);
        prop_assert_eq!(&msgpack::decode(&msgpack::encode(&value, &Type::Dynamic), &Type::Dynamic).unwrap(), &value);
    }

    #[test]
    fn msgpack_survives_garbage(bytes in prop::collection::vec(any::<u8>(), 0..40), (ty, _) in typed(false)) {
        let _ = msgpack::decode(&bytes, &ty);
        let _ = msgpack::decode(&bytes, &Type::Dynamic);
    }

    #[test]
    fn json_round_trip((ty, value) in typed(false)) {
        let text = json::to_json(&value, &ty).unwrap();
        prop_assert_eq!(&json::from_json(text.as_bytes(), &ty).unwrap(), &value);
        let text = json::to_json(&value, &Type::Dynamic).unwrap();
        prop_assert_eq!(&json::from_json(text.as_bytes(), &Type::Dynamic).unwrap(), &value);
    }

    #[test]
    fn conversion_is_idempotent((_, value) in typed(true), want in any_type()) {
        if let Ok(once) = convert::convert(&value, &want) {
            prop_assert_eq!(once.ty(), &want);
            prop_assert_eq!(&convert::convert(&once, &want).unwrap(), &once);
        }
    }

    #[test]
    fn element_order_is_total((ty, a) in typed(false), seed in any::<u8>()) {
        let _ = seed;
        let b = Value::null(ty);
        prop_assert_eq!(set::element_order(&a, &b), set::element_order(&b, &a).reverse());
        prop_assert_eq!(set::element_order(&a, &a), Ordering::Equal);
    }

    #[test]
    fn numbers_print_and_parse(n in number()) {
        let text = n.to_string();
        let again = Number::parse(&text).unwrap();
        // The shortest text denotes the same number at its own precision.
        prop_assert_eq!(again.to_string(), text);
        if let Some(f) = n.as_exact_f64() {
            prop_assert_eq!(again.as_f64(), f);
        }
    }
}
