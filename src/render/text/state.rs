//! A state for people: every object as a block of the language, then the outputs.

use std::fmt::Write;
use std::sync::Arc;

use crate::lang::value::Value;
use crate::model::addr::AbsResourceInstance;
use crate::model::schema::Schema;
use crate::model::state::{DeposedKey, Object, ObjectStatus, State};

use super::diff::{self, Drawing};
use super::plan::SchemaLookup;
use super::style::Style;

/// Turns a stored object into its value, sensitive parts marked.
pub type ObjectValue<'a> = dyn Fn(&Object, Option<&Schema>) -> Value + 'a;

/// The whole state.
pub fn state_text(state: &State, schemas: &SchemaLookup<'_>, values: &ObjectValue<'_>, style: &Style) -> String {
    if state.is_empty() {
        return "The state file is empty. No resources are represented.\n".into();
    }
    let mut out = String::new();
    let mut all: Vec<_> = state.instances().collect();
    all.sort_by_cached_key(|(addr, _, _)| (addr.module.clone(), addr.mode(), addr.resource.clone()));
    let mut last_module = None;
    for (addr, provider, instance) in &all {
        let schema: Option<Arc<Schema>> = schemas(&provider.provider, addr.mode(), addr.kind());
        if last_module.as_ref().is_some_and(|module| *module != addr.module) {
            out.push('\n');
        }
        last_module = Some(addr.module.clone());
        let objects = instance.current.iter().map(|o| (None, o));
        for (deposed, object) in objects.chain(instance.deposed.iter().map(|(key, o)| (Some(key), o))) {
            let value = values(object, schema.as_deref());
            let _ = writeln!(out, "{}", heading(addr, deposed, object));
            let _ = writeln!(out, "{}\n", object_text(addr, &value, schema.as_deref(), style));
        }
    }
    if !state.outputs.is_empty() {
        if all.is_empty() {
            out.push('\n');
        }
        out.push_str("\nOutputs:\n\n");
        for (name, output) in &state.outputs {
            let text = if output.sensitive { "(sensitive value)".into() } else { plain_text(&output.value, style) };
            let _ = writeln!(out, "{name} = {text}");
        }
    } else {
        // The empty line separates objects; none follows the last one.
        out.truncate(out.trim_end().len() + 1);
    }
    out
}

fn heading(addr: &AbsResourceInstance, deposed: Option<&DeposedKey>, object: &Object) -> String {
    let deposed = deposed.map_or_else(String::new, |key| format!(" (deposed object {key})"));
    let tainted = if object.status == ObjectStatus::Tainted { " (tainted)" } else { "" };
    format!("# {addr}:{tainted}{deposed}")
}

/// An output's value, drawn by its type as an unchanged part of a plan is.
fn plain_text(value: &Value, style: &Style) -> String {
    let diff = diff::typed_diff(value.ty(), value, value);
    diff::draw_with(
        &diff,
        0,
        &Drawing { hide_symbols: true, show_unchanged: true, hide_null_suffix: true, ..Drawing::new(style) },
    )
}

/// One object as a block.
pub fn object_text(addr: &AbsResourceInstance, value: &Value, schema: Option<&Schema>, style: &Style) -> String {
    let resource = &addr.resource.resource;
    let diff = match schema {
        Some(schema) => diff::block_diff(&schema.block, value, value, &[], None),
        None => diff::value_diff(value, value),
    };
    let drawing = Drawing { hide_symbols: true, show_unchanged: true, hide_null_suffix: true, ..Drawing::new(style) };
    let body = diff::draw_with(&diff, 0, &drawing);
    format!("{} {:?} {:?} {body}", resource.mode.keyword(), &*resource.kind, &*resource.name)
}

/// `state show`: one instance with all its objects.
pub fn instance_text(
    addr: &AbsResourceInstance,
    objects: &[(Option<&DeposedKey>, &Object, Value)],
    schema: Option<&Schema>,
    style: &Style,
) -> String {
    let mut out = String::new();
    for (deposed, object, value) in objects {
        let _ = writeln!(out, "{}\n{}", heading(addr, *deposed, object), object_text(addr, value, schema, style));
    }
    out
}
