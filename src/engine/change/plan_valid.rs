//! Is a planned object one that a provider may answer, given configuration and prior object?

use std::sync::Arc;

use crate::lang::value::{Path, Type, Value};
use crate::model::schema::{Attribute, Block, NestedBlock, Nesting, ObjectShape};

use super::compatible::correlate_sets;
use super::go_text::go_text;
use super::{Breach, part};

/// The breaches of a plan; empty for a good one. The provider may fill in computed attributes that the configuration
/// leaves null, and may keep a prior value that it deems equal to the configured one.
pub fn plan_valid(schema: &Block, prior: &Value, config: &Value, planned: &Value) -> Vec<Breach> {
    let mut breaches = Vec::new();
    check_block(schema, prior, config, planned, &Path::new(), &mut breaches);
    breaches
}

fn check_block(schema: &Block, prior: &Value, config: &Value, planned: &Value, path: &Path, out: &mut Vec<Breach>) {
    if planned.is_null() && !config.is_null() {
        return out.push((path.clone(), "planned for absence but config wants existence".into()));
    }
    if config.is_null() && !planned.is_null() {
        return out.push((path.clone(), "planned for existence but config wants absence".into()));
    }
    if planned.is_null() {
        return;
    }
    for (name, attribute) in &schema.attributes {
        let path = path.clone().attr(name.clone());
        check_attribute(attribute, &part(prior, name), &part(config, name), &part(planned, name), &path, out);
    }
    for (name, nested) in &schema.blocks {
        let path = path.clone().attr(name.clone());
        check_nested(nested, &part(prior, name), &part(config, name), &part(planned, name), &path, out);
    }
}

fn check_nested(
    schema: &NestedBlock,
    prior: &Value,
    config: &Value,
    planned: &Value,
    path: &Path,
    out: &mut Vec<Breach>,
) {
    if !config.is_known() {
        // The blocks' number is not known yet; whatever is planned stands for them.
        return;
    }
    if !planned.is_known() {
        let text = "attribute representing nested block must not be unknown itself; set nested attribute values to \
                    unknown instead";
        return out.push((path.clone(), text.into()));
    }
    let what = match schema.nesting {
        Nesting::Single | Nesting::Group => return check_block(&schema.block, prior, config, planned, path, out),
        Nesting::List => "a list",
        Nesting::Map => "a map",
        Nesting::Set => "a set",
    };
    if planned.is_null() {
        let text =
            format!("attribute representing {what} of nested blocks must be empty to indicate no blocks, not null");
        return out.push((path.clone(), text));
    }
    let null = Value::null(Type::Dynamic);
    match schema.nesting {
        Nesting::List => {
            let (in_plan, in_config) = (planned.elements(), config.elements());
            if in_plan.len() != in_config.len() {
                let text = format!(
                    "block count in plan ({}) disagrees with count in config ({})",
                    in_plan.len(),
                    in_config.len()
                );
                return out.push((path.clone(), text));
            }
            for (i, (planned, config)) in in_plan.iter().zip(in_config).enumerate() {
                let prior = prior.at(i).unwrap_or(&null);
                check_block(&schema.block, prior, config, planned, &path.clone().index_int(i), out);
            }
        }
        Nesting::Map => {
            for (key, planned) in planned.entries() {
                let Some(config) = config.get(key) else {
                    out.push((path.clone(), format!("block key {key:?} from plan is not present in config")));
                    continue;
                };
                let prior = prior.get(key).unwrap_or(&null);
                check_block(&schema.block, prior, config, planned, &path.clone().index_str(key), out);
            }
            for key in config.entries().keys().filter(|key| planned.get(key).is_none()) {
                out.push((path.clone(), format!("block key {key:?} from config is not present in plan")));
            }
        }
        _ => correlate_sets(planned, config, path, out, |planned, config| {
            plan_valid(&schema.block, &null, config, planned).is_empty()
        }),
    }
}

fn check_attribute(
    schema: &Attribute,
    prior: &Value,
    config: &Value,
    planned: &Value,
    path: &Path,
    out: &mut Vec<Breach>,
) {
    if schema.write_only {
        if !planned.is_null() {
            out.push((path.clone(), "write-only attribute must be null in the plan".into()));
        }
        return;
    }
    if planned == config || (planned == prior && !prior.is_null() && !config.is_null()) {
        return;
    }
    if !config.is_known() && schema.nested().is_none() && !planned.is_known() {
        return;
    }
    if config.is_null() {
        if !schema.computed && !planned.is_null() {
            let text = if schema.sensitive {
                "sensitive planned value for a non-computed attribute".into()
            } else {
                format!("planned value {} for a non-computed attribute", go_text(planned))
            };
            out.push((path.clone(), text));
        }
        return;
    }
    if let Some(object) = schema.nested() {
        return check_object(object, prior, config, planned, path, out);
    }
    let text = match (schema.sensitive, prior.is_null()) {
        (true, true) => "sensitive planned value does not match config value".to_owned(),
        (true, false) => "sensitive planned value does not match config value nor prior value".to_owned(),
        (false, true) => format!("planned value {} does not match config value {}", go_text(planned), go_text(config)),
        (false, false) => format!(
            "planned value {} does not match config value {} nor prior value {}",
            go_text(planned),
            go_text(config),
            go_text(prior)
        ),
    };
    out.push((path.clone(), text));
}

fn check_object(
    schema: &ObjectShape,
    prior: &Value,
    config: &Value,
    planned: &Value,
    path: &Path,
    out: &mut Vec<Breach>,
) {
    if planned.is_null() && !config.is_null() {
        return out.push((path.clone(), "planned for absence but config wants existence".into()));
    }
    if !config.is_known() || !planned.is_known() {
        if config.is_known() {
            out.push((
                path.clone(),
                format!("planned value {} does not match config value {}", go_text(planned), go_text(config)),
            ));
        }
        return;
    }
    let null = Value::null(Type::Dynamic);
    let attributes = |prior: &Value, config: &Value, planned: &Value, path: &Path, out: &mut Vec<Breach>| {
        for (name, attribute) in &schema.attributes {
            let path = path.clone().attr(name.clone());
            check_attribute(attribute, &part(prior, name), &part(config, name), &part(planned, name), &path, out);
        }
    };
    match schema.nesting {
        Nesting::Single | Nesting::Group => attributes(prior, config, planned, path, out),
        Nesting::List => {
            let (in_plan, in_config) = (planned.elements(), config.elements());
            if in_plan.len() != in_config.len() {
                let text =
                    format!("count in plan ({}) disagrees with count in config ({})", in_plan.len(), in_config.len());
                return out.push((path.clone(), text));
            }
            for (i, (planned, config)) in in_plan.iter().zip(in_config).enumerate() {
                attributes(prior.at(i).unwrap_or(&null), config, planned, &path.clone().index_int(i), out);
            }
        }
        Nesting::Map => {
            let keys = |v: &Value| v.entries().keys().cloned().collect::<Vec<Arc<str>>>();
            for key in keys(planned) {
                match (planned.get(&key), config.get(&key)) {
                    (Some(planned), Some(config)) => {
                        let prior = prior.get(&key).unwrap_or(&null);
                        attributes(prior, config, planned, &path.clone().index_str(&key), out);
                    }
                    _ => out.push((path.clone(), format!("map key {key:?} from plan is not present in config"))),
                }
            }
            for key in keys(config).iter().filter(|key| planned.get(key).is_none()) {
                out.push((path.clone(), format!("map key {key:?} from config is not present in plan")));
            }
        }
        Nesting::Set => correlate_sets(planned, config, path, out, |planned, config| {
            let mut inner = Vec::new();
            attributes(&null, config, planned, path, &mut inner);
            inner.is_empty()
        }),
    }
}

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
}
