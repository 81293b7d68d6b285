//! A state for people: every object as a block of the language, then the outputs.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use model::addr::{AbsResourceInstance, ModuleInstance};
use model::state::{DeposedKey, Object, ObjectStatus, State};
use terrane_protocol::schema::Schema;
use terrane_value::Value;

use super::diff::{self, Drawing};
use super::style::Style;
use crate::objects::{ObjectError, object_value};
use crate::schemas::SchemaLookup;

/// The whole state.
///
/// Fails if an object cannot be shown.
pub fn state_text(state: &State, schemas: &SchemaLookup<'_>, style: &Style) -> Result<String, ObjectError> {
    if state.is_empty() {
        return Ok("The state file is empty. No resources are represented.\n".into());
    }
    let mut out = String::new();
    let mut all: Vec<_> = state.instances().collect();
    // A module's children follow it, by the texts of their addresses.
    all.sort_by_cached_key(|(addr, _, _)| {
        let path: Vec<String> = addr.module.0.iter().map(|step| format!("{}{}", step.name, step.key)).collect();
        (path, addr.mode(), addr.resource.clone())
    });
    let mut gaps = Gaps::default();
    for (addr, provider, instance) in &all {
        let schema: Option<Arc<Schema>> = schemas(&provider.provider, addr.mode(), addr.kind());
        let objects = instance.current.iter().map(|o| (None, o));
        for (deposed, object) in objects.chain(instance.deposed.iter().map(|(key, o)| (Some(key), o))) {
            let value = object_value(addr, &provider.provider, object, schema.as_deref())?;
            out.push_str(gaps.before(&addr.module));
            let _ = writeln!(out, "{}", heading(addr, deposed, object));
            let _ = writeln!(out, "{}", object_text(addr, &value, schema.as_deref(), style));
        }
    }
    if !state.outputs.is_empty() {
        out.push_str("\n\nOutputs:\n\n");
        for (name, output) in &state.outputs {
            let text = if output.sensitive && !style.reveal {
                "(sensitive value)".into()
            } else {
                plain_text(&output.value, style)
            };
            let _ = writeln!(out, "{name} = {text}");
        }
    }
    Ok(out)
}

/// The empty lines between objects, as the reference leaves them: two before the first object of a module, but none if
/// nothing of the modules around it was shown.
#[derive(Default)]
struct Gaps {
    shown: HashSet<ModuleInstance>,
    last: Option<ModuleInstance>,
}

impl Gaps {
    fn before(&mut self, module: &ModuleInstance) -> &'static str {
        if self.last.as_ref() == Some(module) {
            return "\n";
        }
        let around = (0..module.0.len()).any(|depth| self.shown.contains(&ModuleInstance(module.0[..depth].into())));
        self.shown.insert(module.clone());
        self.last = Some(module.clone());
        if around { "\n\n" } else { "" }
    }
}

fn heading(addr: &AbsResourceInstance, deposed: Option<&DeposedKey>, object: &Object) -> String {
    let of = match deposed {
        Some(key) => format!(" (deposed object {key})"),
        None if object.status == ObjectStatus::Tainted => " (tainted)".into(),
        None => String::new(),
    };
    format!("# {addr}:{of}")
}

/// An output's value, drawn by its type as an unchanged part of a plan is.
fn plain_text(value: &Value, style: &Style) -> String {
    let diff = diff::typed_diff(value.ty(), value, value, style.dialect);
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
        Some(schema) => diff::block_diff(&schema.block, value, value, &[], None, style.dialect),
        None => diff::value_diff(value, value, style.dialect),
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

#[cfg(test)]
mod tests {
    use model::addr::{InstanceKey, ModuleStep};

    use super::*;

    fn module(path: &[&str]) -> ModuleInstance {
        let step = |name: &&str| ModuleStep { name: (*name).into(), key: InstanceKey::None };
        ModuleInstance(path.iter().map(step).collect())
    }

    #[test]
    fn objects_of_modules_are_apart_only_from_what_is_around_them() {
        let mut in_modules = Gaps::default();
        let cases = [(&["a"][..], ""), (&["a"], "\n"), (&["a", "x"], "\n\n"), (&["b"], ""), (&["b", "y"], "\n\n")];
        for (path, expected) in cases {
            assert_eq!(in_modules.before(&module(path)), expected, "{path:?}");
        }
        let mut below_the_root = Gaps::default();
        for (path, expected) in [(&[][..], ""), (&[], "\n"), (&["a"], "\n\n"), (&["b"], "\n\n")] {
            assert_eq!(below_the_root.before(&module(path)), expected, "{path:?}");
        }
    }
}
