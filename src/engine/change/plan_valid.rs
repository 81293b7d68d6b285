//! Checks that a planned object of a provider is valid for the configuration and the prior object.

use std::collections::BTreeMap;
use std::sync::Arc;

use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::text::go_quoted;
use terrane_value::{Path, PathStep, Type, Value};

use super::go_text::go_text;
use super::{Breach, part};

/// The breaches of a plan; empty for a good one. The provider may fill in computed attributes that the configuration
/// leaves null, and may keep a prior value that it deems equal to the configured one. Refinements of unknown values do
/// not count: providers answer unknowns without them.
pub fn plan_valid(schema: &Block, prior: &Value, config: &Value, planned: &Value) -> Vec<Breach> {
    let mut check = PlanCheck::default();
    check.block(schema, prior, config, planned, &mut Path::new());
    check.breaches
}

const UNKNOWN_BLOCK: &str =
    "attribute representing nested block must not be unknown itself; set nested attribute values to unknown instead";
const UNKNOWN_COMPUTED_BLOCK: &str = "planned unknown value for configured block";
const UNKNOWN_ELEMENT: &str =
    "element representing nested block must not be unknown itself; set nested attribute values to unknown instead";
const ABSENT: &str = "planned for absence but config wants existence";
const PRESENT: &str = "planned for existence but config wants absence";

/// Equal but for refinements.
fn is_same(a: &Value, b: &Value) -> bool {
    a == b || !a.is_wholly_known() && a.unrefined() == b.unrefined()
}

/// One check and what it found.
#[derive(Default)]
struct PlanCheck {
    breaches: Vec<Breach>,
}

impl PlanCheck {
    fn fail(&mut self, path: &Path, text: impl Into<String>) {
        self.breaches.push((path.clone(), text.into()));
    }

    fn block(&mut self, schema: &Block, prior: &Value, config: &Value, planned: &Value, path: &mut Path) {
        match (config.is_null(), planned.is_null()) {
            (true, true) => return,
            (false, true) => return self.fail(path, ABSENT),
            (true, false) => return self.fail(path, PRESENT),
            (false, false) => {}
        }
        self.attributes(&schema.attributes, prior, config, planned, path);
        for (name, nested) in &schema.blocks {
            path.push(PathStep::Attr(name.clone()));
            self.nested_block(nested, &part(prior, name), &part(config, name), &part(planned, name), path);
            path.pop();
        }
    }

    fn nested_block(&mut self, schema: &NestedBlock, prior: &Value, config: &Value, planned: &Value, path: &mut Path) {
        let what = match schema.nesting {
            Nesting::Single | Nesting::Group => "",
            Nesting::List => "list",
            Nesting::Map => "map",
            Nesting::Set => "set",
        };
        let is_null_collection = planned.is_null() && !what.is_empty();
        if is_same(planned, config) && !(is_null_collection && schema.block.computed) {
            return;
        }
        if !config.is_known() {
            // A `dynamic` block whose number of blocks is not known yet: nothing of it is the provider's to change.
            return self.fail(path, format!("planned value {} for unknown dynamic block", go_text(planned)));
        }
        if schema.block.computed && config.is_null() && !is_null_collection {
            return; // The provider may plan any blocks.
        }
        if !planned.is_known() {
            return self.fail(path, if schema.block.computed { UNKNOWN_COMPUTED_BLOCK } else { UNKNOWN_BLOCK });
        }
        if matches!(schema.nesting, Nesting::Single | Nesting::Group) {
            return self.block(&schema.block, prior, config, planned, path);
        }
        if is_null_collection {
            let text = format!(
                "attribute representing a {what} of nested blocks must be empty to indicate no blocks, not null"
            );
            return self.fail(path, text);
        }
        let element = |check: &mut PlanCheck, prior: &Value, config: &Value, planned: &Value, path: &mut Path| {
            if planned.is_known() {
                check.block(&schema.block, prior, config, planned, path);
            } else {
                check.fail(path, UNKNOWN_ELEMENT);
            }
        };
        let sizes = (planned.len(), config.len());
        let counts = format!("block count in plan ({}) disagrees with count in config ({})", sizes.0, sizes.1);
        match schema.nesting {
            Nesting::List if sizes.0 != sizes.1 => self.fail(path, counts),
            Nesting::List => self.list(prior, config, planned, path, &element),
            // The keys of an object are part of its type: each is compared, also if their numbers differ.
            Nesting::Map if sizes.0 != sizes.1 && planned.ty().is_map() => self.fail(path, counts),
            Nesting::Map => self.map("block", prior, config, planned, path, &element),
            // Elements of sets have no identity that relates configured and planned ones:
            // the provider is trusted.
            _ => {
                for unknown in planned.elements().iter().filter(|element| !element.is_known()) {
                    path.push(PathStep::Index(unknown.clone()));
                    self.fail(path, UNKNOWN_ELEMENT);
                    path.pop();
                }
            }
        }
    }

    fn attributes(
        &mut self,
        schema: &BTreeMap<Arc<str>, Attribute>,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &mut Path,
    ) {
        for (name, attribute) in schema {
            path.push(PathStep::Attr(name.clone()));
            self.attribute(attribute, &part(prior, name), &part(config, name), &part(planned, name), path);
            path.pop();
        }
    }

    fn attribute(&mut self, schema: &Attribute, prior: &Value, config: &Value, planned: &Value, path: &mut Path) {
        if schema.write_only {
            if !planned.is_null() {
                self.fail(path, "planned value for write-only attribute is not null");
            }
            return;
        }
        if is_same(planned, config) || is_same(planned, prior) && !prior.is_null() && !config.is_null() {
            return;
        }
        if config.is_null() {
            match (schema.computed, schema.sensitive) {
                (true, _) => {}
                (false, true) => self.fail(path, "sensitive planned value for a non-computed attribute"),
                (false, false) => {
                    self.fail(path, format!("planned value {} for a non-computed attribute", go_text(planned)));
                }
            }
            return;
        }
        if let Some(shape) = schema.nested() {
            return self.object(shape, prior, config, planned, path);
        }
        let nor_prior = !prior.is_null();
        self.fail(
            path,
            match (schema.sensitive, nor_prior) {
                (true, false) => "sensitive planned value does not match config value".to_owned(),
                (true, true) => "sensitive planned value does not match config value nor prior value".to_owned(),
                (false, _) => {
                    let nor = if nor_prior { format!(" nor prior value {}", go_text(prior)) } else { String::new() };
                    format!("planned value {} does not match config value {}{nor}", go_text(planned), go_text(config))
                }
            },
        );
    }

    /// An attribute with nested attributes, configured and not planned as configured.
    fn object(&mut self, schema: &ObjectShape, prior: &Value, config: &Value, planned: &Value, path: &mut Path) {
        if planned.is_null() {
            return self.fail(path, ABSENT);
        }
        if !planned.is_known() {
            return self.fail(path, "planned unknown for configured value");
        }
        let element = |check: &mut PlanCheck, prior: &Value, config: &Value, planned: &Value, path: &mut Path| {
            check.attributes(&schema.attributes, prior, config, planned, path);
        };
        let lengths = (planned.length(), config.length());
        match schema.nesting {
            Nesting::Single | Nesting::Group => element(self, prior, config, planned, path),
            // Unknown elements of sets may turn out to be equal, and the provider is trusted with the rest.
            Nesting::Set if !lengths.0.is_known() || !lengths.1.is_known() => {}
            _ if lengths.0 != lengths.1 => {
                let (planned, config) = (go_text(&lengths.0), go_text(&lengths.1));
                self.fail(path, format!("count in plan ({planned}) disagrees with count in config ({config})"));
            }
            Nesting::List => self.list(prior, config, planned, path, &element),
            Nesting::Map => self.map("map", prior, config, planned, path, &element),
            Nesting::Set => {}
        }
    }

    /// Elements correspond by index; there are as many in plan as in configuration.
    fn list(&mut self, prior: &Value, config: &Value, planned: &Value, path: &mut Path, element: &CheckElement<'_>) {
        let null = Value::null(Type::Dynamic);
        for (i, (planned, config)) in planned.elements().iter().zip(config.elements()).enumerate() {
            path.push(PathStep::Index(Value::int(i as i64)));
            element(self, prior.at(i).unwrap_or(&null), config, planned, path);
            path.pop();
        }
    }

    /// Elements correspond by key.
    fn map(
        &mut self,
        what: &str,
        prior: &Value,
        config: &Value,
        planned: &Value,
        path: &mut Path,
        element: &CheckElement<'_>,
    ) {
        let null = Value::null(Type::Dynamic);
        let by_name = what == "map" || planned.ty().is_object();
        for (key, planned) in planned.entries() {
            let Some(config) = config.get(key) else {
                self.fail(path, format!("{what} key {} from plan is not present in config", go_quoted(key)));
                continue;
            };
            path.push(match by_name {
                true => PathStep::Attr(key.clone()),
                false => PathStep::Index(Value::shared_string(key.clone())),
            });
            element(self, prior.get(key).unwrap_or(&null), config, planned, path);
            path.pop();
        }
        for key in config.entries().keys().filter(|key| planned.get(key).is_none()) {
            self.fail(path, format!("{what} key {} from config is not present in plan", go_quoted(key)));
        }
    }
}

/// Checks one element: its prior, configured and planned value.
type CheckElement<'c> = dyn Fn(&mut PlanCheck, &Value, &Value, &Value, &mut Path) + 'c;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_may_fill_in_only_what_is_computed() {
        let plain = Attribute { optional: true, ..Attribute::new(Type::String) };
        let computed = Attribute { computed: true, ..plain.clone() };
        let schema = Block { attributes: [("c".into(), computed), ("p".into(), plain)].into(), ..Block::default() };
        let object = |c: Value, p: Value| Value::object([("c", c), ("p", p)]);
        let null = || Value::null(Type::String);
        let prior = object(Value::string("old"), Value::string("old"));
        let cases: Vec<(Value, Value, Vec<&str>)> = vec![
            (object(null(), null()), object(Value::unknown(Type::String), null()), vec![]),
            (object(null(), Value::string("x")), object(null(), Value::string("old")), vec![]),
            (
                object(null(), null()),
                object(null(), Value::string("y")),
                vec![r#".p: planned value cty.StringVal("y") for a non-computed attribute"#],
            ),
            (
                object(Value::string("x"), null()),
                object(Value::string("z"), null()),
                vec![
                    r#".c: planned value cty.StringVal("z") does not match config value cty.StringVal("x") nor prior value cty.StringVal("old")"#,
                ],
            ),
        ];
        for (config, planned, expected) in cases {
            let breaches: Vec<String> =
                plan_valid(&schema, &prior, &config, &planned).iter().map(|(p, t)| format!("{p}: {t}")).collect();
            assert_eq!(breaches, expected);
        }
    }

    #[test]
    fn a_plan_may_add_computed_blocks_if_none_are_configured() {
        let attribute = Attribute { optional: true, computed: true, ..Attribute::new(Type::String) };
        let block = Block { attributes: [("a".into(), attribute)].into(), computed: true, ..Block::default() };
        let ty = block.implied_type();
        let nested = NestedBlock { block, nesting: Nesting::List, min_items: 0, max_items: 0 };
        let schema = Block { blocks: [("b".into(), nested)].into(), ..Block::default() };
        let of = |value: Value| Value::object([("b", value)]);
        let list = |texts: &[&str]| {
            let element = |text: &&str| Value::object([("a", Value::string(*text))]);
            Value::list(ty.clone(), texts.iter().map(element).collect())
        };
        let null = || Value::null(Type::list(ty.clone()));
        let unknown = || Value::unknown(Type::list(ty.clone()));
        let cases = [
            (null(), list(&["x"]), None),
            (null(), unknown(), None),
            (
                null(),
                null(),
                Some("attribute representing a list of nested blocks must be empty to indicate no blocks, not null"),
            ),
            (list(&["x"]), unknown(), Some("planned unknown value for configured block")),
            (list(&["x"]), list(&["x", "y"]), Some("block count in plan (2) disagrees with count in config (1)")),
        ];
        for (config, planned, expected) in cases {
            let found = plan_valid(&schema, &of(null()), &of(config), &of(planned));
            let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(texts, Vec::from_iter(expected));
        }
    }
}
