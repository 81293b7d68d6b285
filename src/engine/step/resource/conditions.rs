//! Pre- and postconditions of resources.

use base::diag::Diagnostics;
use terrane_protocol::schema::ResourceMode;
use terrane_value::Value;

use super::Instance;
use crate::step::condition::{Checked, ConditionKind, check};

fn checked(instance: &Instance<'_>) -> Checked {
    Checked { config_addr: instance.addr.config().to_string(), addr: instance.addr.to_string() }
}

/// Whether failing conditions are warnings: never those of ephemeral resources.
fn only_warns(instance: &Instance<'_>) -> bool {
    instance.run.is_lenient() && instance.addr.mode() != ResourceMode::Ephemeral
}

pub fn preconditions(instance: &Instance<'_>) -> Diagnostics {
    let (Some(config), Some(scope)) = (instance.config, instance.scope()) else { return Diagnostics::new() };
    if config.lifecycle.preconditions.is_empty() {
        return Diagnostics::new();
    }
    let conditions = &config.lifecycle.preconditions;
    check(
        &instance.run.results,
        ConditionKind::Precondition,
        conditions,
        &scope,
        &checked(instance),
        only_warns(instance),
    )
}

/// `value` is what `self` stands for.
pub fn postconditions(instance: &Instance<'_>, value: &Value) -> Diagnostics {
    let (Some(config), Some(scope)) = (instance.config, instance.scope()) else { return Diagnostics::new() };
    if config.lifecycle.postconditions.is_empty() {
        return Diagnostics::new();
    }
    let scope = scope.with_self(value.clone());
    let conditions = &config.lifecycle.postconditions;
    check(
        &instance.run.results,
        ConditionKind::Postcondition,
        conditions,
        &scope,
        &checked(instance),
        only_warns(instance),
    )
}
