//! Module calls against the variables of what they call: nothing missing, nothing unknown.

use base::diag::Diagnostics;
use lang::syntax::body::BodySchema;

use crate::config::module::{Config, Module};

pub fn check(config: &Config, diags: &mut Diagnostics) {
    for module in config.modules() {
        for (name, call) in &module.calls {
            if let Some(child) = module.children.get(name) {
                let (_, problems) = call.body.content(&inputs(child));
                diags.extend(problems);
            }
        }
    }
}

/// The arguments that a call of the module takes.
pub fn inputs(module: &Module) -> BodySchema {
    module.variables.values().fold(BodySchema::new(), |schema, variable| match variable.default {
        None => schema.required(&variable.name),
        Some(_) => schema.attribute(&variable.name),
    })
}
