//! The block `store` of `terraform_data`: a value, also an ephemeral one, that is kept in the state.

use terrane_sdk::{Attribute, Block, Error, NestedBlock, Nesting, Object, Path, Plan, Type, Value};

const STORE: &str = "store";

pub fn block() -> NestedBlock {
    let attributes = vec![
        Attribute::plain("input", Type::Dynamic).optional().write_only(),
        Attribute::plain("output", Type::Dynamic).computed(),
        Attribute::plain("sensitive_output", Type::Dynamic).computed().sensitive(),
        Attribute::plain("version", Type::Dynamic).optional(),
        Attribute::plain("sensitive", Type::Bool).optional(),
        Attribute::plain("replace", Type::Bool).optional(),
    ];
    NestedBlock::new(STORE, Nesting::Single, Block { attributes, ..Block::default() })
}

/// The block of an object; none if there is none.
fn store_of(object: &Value) -> Option<Object> {
    object.get(STORE).filter(|store| !store.is_null() && store.is_known()).map(|store| Object(store.clone()))
}

/// The two outputs of the block, of which at most one is set.
struct Outputs {
    sensitive: bool,
    plain: Value,
    secret: Value,
}

impl Outputs {
    fn current(&self) -> &Value {
        if self.secret.is_null() { &self.plain } else { &self.secret }
    }

    fn set(&mut self, value: Value) {
        (self.plain, self.secret) = match self.sensitive {
            true => (Value::null_dynamic(), value),
            false => (value, Value::null_dynamic()),
        };
    }

    fn are_known(&self) -> bool {
        self.plain.is_known() && self.secret.is_known()
    }
}

/// Plans the outputs. `replaces`: something else replaces the object.
pub fn plan(plan: &mut Plan<Object>, replaces: bool) -> Result<(), Error> {
    let Some(config) = store_of(plan.config.value()) else { return Ok(()) };
    for name in ["sensitive", "replace"] {
        if !config.value(name).is_known() {
            let detail = format!("the {name:?} attribute must be known in order to plan changes to this resource");
            return Err(Error::new("unexpected unknown value", detail).at(Path::new().attr(STORE).attr(name)));
        }
    }
    let stored = store_of(plan.prior.value());
    let prior = |name: &str| stored.as_ref().map_or_else(Value::null_dynamic, |stored| stored.value(name));
    // An object that is replaced has no earlier version.
    let compared = |name: &str| if replaces { Value::null_dynamic() } else { prior(name) };
    let mut outputs = Outputs {
        sensitive: config.bool("sensitive") == Some(true),
        plain: prior("output"),
        secret: prior("sensitive_output"),
    };
    if !is_same(&compared("sensitive"), &config.value("sensitive")) {
        let current = outputs.current().clone();
        outputs.set(current);
    }
    let (input, version) = (config.value("input"), config.value("version"));
    let unknown = || Value::unknown(input.ty().clone());
    if input.is_null() && outputs.plain.is_null() && outputs.secret.is_null() {
        outputs.set(input.clone());
    } else if !version.is_null() {
        if !is_same(&version, &compared("version")) {
            outputs.set(unknown());
        }
    } else if *outputs.current() != input {
        outputs.set(unknown());
    }
    if config.bool("replace") == Some(true) && !outputs.are_known() && !plan.is_create() {
        plan.planned.set_value("id", Value::unknown(Type::String));
        plan.requires_replace.push(Path::new().attr(STORE).attr("input"));
    }
    let store = config.with([
        ("input", Value::null_dynamic()),
        ("output", outputs.plain),
        ("sensitive_output", outputs.secret),
    ]);
    plan.planned.set_value(STORE, store.0);
    Ok(())
}

/// Equal, or both null.
fn is_same(one: &Value, other: &Value) -> bool {
    one.is_null() && other.is_null() || one == other
}

/// The block with its unknown outputs filled in by its configuration, if there is one.
pub fn filled(planned: &Object, config: &Value) -> Option<(&'static str, Value)> {
    let (store, config) = (store_of(&planned.0)?, store_of(config)?);
    let open = ["output", "sensitive_output"].into_iter().filter(|name| !store.value(name).is_known());
    Some((STORE, store.with(open.map(|name| (name, config.value("input")))).0))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::Terraform;
    use super::super::remote_state::tests::One;
    use super::*;
    use crate::providers::tester::Tester;

    async fn tester() -> Tester {
        let provider = Terraform { remote_states: Arc::new(One), has_data_stores: true };
        Tester::resource(provider, "terraform_data").await
    }

    fn store<const N: usize>(values: [(&str, Value); N]) -> Value {
        let mut block = Block::default();
        block.blocks = vec![super::block()];
        let empty = block.blocks[0].block.clone();
        Object::of(&empty, values).0
    }

    fn text(text: &str) -> Value {
        Value::string(text)
    }

    /// Each row: the prior block, the configured one, then the planned outputs and whether the object is replaced. A value "?" is
    /// unknown. The rules are those of Terraform 1.16.
    #[tokio::test]
    async fn outputs_follow_the_input_or_the_version() {
        type Row = (Option<[(&'static str, Value); 3]>, Vec<(&'static str, Value)>, [Option<&'static str>; 2], bool);
        let kept =
            |output, version| [("output", text(output)), ("version", version), ("replace", Value::null_dynamic())];
        let none = Value::null_dynamic;
        let rows: Vec<Row> = vec![
            (None, vec![("input", text("a"))], [Some("?"), None], false),
            (None, vec![("input", text("a")), ("sensitive", Value::bool(true))], [None, Some("?")], false),
            (Some(kept("a", none())), vec![("input", text("a"))], [Some("a"), None], false),
            (Some(kept("a", none())), vec![("input", text("b"))], [Some("?"), None], false),
            (
                Some(kept("a", none())),
                vec![("input", text("b")), ("replace", Value::bool(true))],
                [Some("?"), None],
                true,
            ),
            (
                Some(kept("a", none())),
                vec![("input", text("a")), ("replace", Value::bool(true))],
                [Some("a"), None],
                false,
            ),
            (
                Some(kept("a", none())),
                vec![("input", text("a")), ("sensitive", Value::bool(true))],
                [None, Some("a")],
                false,
            ),
            (
                Some(kept("a", Value::int(1))),
                vec![("input", text("b")), ("version", Value::int(1))],
                [Some("a"), None],
                false,
            ),
            (
                Some(kept("a", Value::int(1))),
                vec![("input", text("b")), ("version", Value::int(2))],
                [Some("?"), None],
                false,
            ),
        ];
        let data = tester().await;
        for (i, (prior, config, outputs, replaced)) in rows.into_iter().enumerate() {
            let prior = match prior {
                None => data.absent(),
                Some(values) => data.object([("id", text("i")), ("store", store(values))]),
            };
            let mut configured = store([]);
            for (name, value) in config {
                configured = Object(configured).with([(name, value)]).0;
            }
            let plan = data.plan(prior, data.object([("store", configured)])).await;
            assert_eq!(plan.diagnostics.len(), 0, "row {i}: {:?}", plan.diagnostics);
            let planned = plan.planned.get("store").cloned().unwrap();
            let output = |name: &str| match planned.get(name) {
                Some(value) if !value.is_known() => Some("?".to_owned()),
                value => value.and_then(Value::as_str).map(str::to_owned),
            };
            assert_eq!(
                [output("output"), output("sensitive_output")],
                outputs.map(|it| it.map(str::to_owned)),
                "row {i}"
            );
            assert!(planned.get("input").unwrap().is_null(), "row {i}: the input is not stored");
            assert_eq!(!plan.requires_replace.is_empty(), replaced, "row {i}");
        }
    }

    #[tokio::test]
    async fn flags_must_be_known() {
        let data = tester().await;
        let config = data.object([("store", store([("sensitive", Value::unknown(Type::Bool))]))]);
        let plan = data.plan(data.absent(), config).await;
        assert_eq!(plan.diagnostics[0].summary, "unexpected unknown value");
    }
}
