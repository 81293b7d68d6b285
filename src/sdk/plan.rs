//! The plan that follows from a schema: defaults, unknowns for what is computed, then plan modifiers.
//!
//! The order is that of the library of the public providers.

use terrane_value::{Path, Type, Value};

use super::modifier::{PlanModifier, PlannedAttribute};
use super::schema::{Block, Shape};
use super::walk::{Beside, Item, rewrite_object};

/// A proposed change of one object.
pub(super) struct Proposal<'a> {
    pub block: &'a Block,
    pub config: &'a Value,
    /// Null for a creation.
    pub prior: &'a Value,
    /// Null for a destruction.
    pub proposed: &'a Value,
}

/// A planned object, and the attributes whose change replaces it.
pub(super) struct Planned {
    pub value: Value,
    pub requires_replace: Vec<Path>,
}

/// Plans by the schema alone.
pub(super) fn plan(proposal: &Proposal<'_>) -> Planned {
    if proposal.proposed.is_null() {
        return Planned { value: proposal.proposed.clone(), requires_replace: Vec::new() };
    }
    let mut value = with_defaults(proposal);
    if value != *proposal.prior {
        value = with_unknowns(proposal, &value);
    }
    modified(proposal, &value)
}

/// The proposed object with its defaults, and without write-only values. Objects that only the provider sets get no defaults:
/// these would plan a change of what the provider has set.
fn with_defaults(proposal: &Proposal<'_>) -> Value {
    rewrite(proposal, proposal.proposed, &mut |item, _, beside, value| match item {
        Item::Attribute(attribute) if attribute.write_only => Value::null(attribute.ty()),
        Item::Attribute(attribute) => match &attribute.default {
            Some(default) if beside.in_configured_object && beside.config.is_null() => default.clone(),
            _ => value,
        },
        Item::Block(_) => value,
    })
}

/// Any change makes all computed attributes unknown that are not configured and have no default.
fn with_unknowns(proposal: &Proposal<'_>, planned: &Value) -> Value {
    rewrite(proposal, planned, &mut |item, _, beside, value| match item {
        Item::Attribute(attribute) if attribute.computed && beside.config.is_null() && attribute.default.is_none() => {
            match &attribute.shape {
                Shape::Plain(Type::Dynamic) => Value::dynamic(),
                shape => Value::unknown(shape.ty()),
            }
        }
        Item::Attribute(_) | Item::Block(_) => value,
    })
}

/// Runs the modifiers of each attribute and block, outer ones first.
fn modified(proposal: &Proposal<'_>, planned: &Value) -> Planned {
    let mut requires_replace = Vec::new();
    let value = rewrite(proposal, planned, &mut |item, path, beside, value| {
        let modifiers: &[std::sync::Arc<dyn PlanModifier>] = match item {
            Item::Attribute(attribute) => &attribute.modifiers,
            Item::Block(block) => &block.modifiers,
        };
        if modifiers.is_empty() {
            return value;
        }
        let mut attribute = PlannedAttribute {
            path,
            config: beside.config,
            prior: beside.prior,
            planned: value,
            requires_replace: false,
            prior_object: proposal.prior,
            config_object: proposal.config,
            planned_object: planned,
        };
        for modifier in modifiers {
            modifier.modify(&mut attribute);
        }
        if attribute.requires_replace {
            requires_replace.push(path.clone());
        }
        attribute.planned
    });
    Planned { value, requires_replace }
}

fn rewrite(
    proposal: &Proposal<'_>,
    planned: &Value,
    change: &mut dyn FnMut(Item<'_>, &Path, Beside<'_>, Value) -> Value,
) -> Value {
    let beside = Beside::of(proposal.config, proposal.prior);
    rewrite_object(proposal.block, &mut Path::new(), beside, planned, change)
}

/// Write-only values become null: they are never stored.
pub(super) fn without_write_only(block: &Block, value: &Value) -> Value {
    let beside = Beside::of(value, value);
    rewrite_object(block, &mut Path::new(), beside, value, &mut |item, _, _, value| match item {
        Item::Attribute(attribute) if attribute.write_only => Value::null(attribute.ty()),
        Item::Attribute(_) | Item::Block(_) => value,
    })
}
