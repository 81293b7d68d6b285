//! Why a change is made: clauses that follow the word "because".
//!
//! Owns the clauses. Never knows where they stand in a text, and contains no values: map keys and list indexes are left out of paths,
//! because they may be secret.

use model::addr::InstanceKey;
use model::plan::{ActionReason, DeferredReason, ResourceChange};
use terrane_value::{Path, PathStep};

/// Why an object is destroyed; none if the plan gives no reason.
pub fn destroyed(change: &ResourceChange) -> Option<String> {
    let resource = &change.addr.resource.resource;
    let key = match change.addr.key() {
        InstanceKey::Str(text) => format!("{text:?}"),
        InstanceKey::Int(n) => n.to_string(),
        InstanceKey::None | InstanceKey::Wildcard => String::new(),
    };
    Some(match change.reason {
        ActionReason::DeleteBecauseNoResourceConfig => {
            format!("{}.{} is not in configuration", resource.kind, resource.name)
        }
        ActionReason::DeleteBecauseNoMoveTarget => {
            format!("{} was moved to {}, which is not in configuration", change.previous_addr, change.addr)
        }
        ActionReason::DeleteBecauseNoModule => format!("{} is not in configuration", change.addr.module),
        ActionReason::DeleteBecauseWrongRepetition => match change.addr.key() {
            InstanceKey::None | InstanceKey::Wildcard => "resource uses count or for_each".into(),
            InstanceKey::Int(_) => "resource does not use count".into(),
            InstanceKey::Str(_) => "resource does not use for_each".into(),
        },
        ActionReason::DeleteBecauseCountIndex => format!("index [{key}] is out of range for count"),
        ActionReason::DeleteBecauseNotEnabled => "enabled is false".to_owned(),
        ActionReason::DeleteBecauseEachKey => format!("key [{key}] is not in for_each map"),
        _ => return None,
    })
}

/// Why an object is replaced, apart from the attributes that force it; none if those are the reason.
pub fn replaced(reason: ActionReason) -> Option<&'static str> {
    match reason {
        ActionReason::ReplaceBecauseTainted => Some("it is tainted"),
        ActionReason::ReplaceByRequest => Some("it was requested with -replace"),
        ActionReason::ReplaceByTriggers => Some("something in replace_triggered_by changes"),
        _ => None,
    }
}

/// Why an object is forgotten.
pub fn forgotten(reason: ActionReason) -> Option<&'static str> {
    match reason {
        ActionReason::ForgetBecauseOfConfig => Some("destroy = false is set in the configuration"),
        ActionReason::ForgetBecauseOfState => Some("destroy = false was set before its block was removed"),
        _ => None,
    }
}

/// Why a data source is read during apply.
pub fn read(reason: ActionReason) -> Option<&'static str> {
    match reason {
        ActionReason::ReadBecauseConfigUnknown => Some("config refers to values not yet known"),
        ActionReason::ReadBecauseDependencyPending => Some("it depends on a resource or a module with changes pending"),
        ActionReason::ReadBecauseCheckNested => Some("a check block is verified again"),
        _ => None,
    }
}

/// Why a change is left to a later plan.
pub fn deferred(reason: DeferredReason) -> &'static str {
    match reason {
        DeferredReason::InstanceCountUnknown => "the number of resource instances is unknown",
        DeferredReason::ResourceConfigUnknown => "the resource configuration is unknown",
        DeferredReason::ProviderConfigUnknown => "the provider configuration is unknown",
        DeferredReason::DeferredPrereq => "a prerequisite for this resource is deferred",
        DeferredReason::AbsentPrereq => "a prerequisite for this resource has not yet been created",
        DeferredReason::Unknown => "the provider gave no reason",
    }
}

/// The names of the attributes and blocks on a path, with dots between them.
pub fn attribute_names(path: &Path) -> String {
    let names = path.steps().iter().filter_map(|step| match step {
        PathStep::Attr(name) => Some(&**name),
        PathStep::Index(_) => None,
    });
    names.collect::<Vec<_>>().join(".")
}

/// Why a deposed object is destroyed.
pub const DEPOSED: &str = "it is left over from a partially-failed replacement of this instance";

#[cfg(test)]
mod tests {
    use model::plan::Action;

    use super::*;
    use crate::plan_filter::tests::change;

    #[test]
    fn deletions_have_clauses() {
        let cases = [
            ("t.a", ActionReason::DeleteBecauseNoResourceConfig, "t.a is not in configuration"),
            ("module.m[0].t.a", ActionReason::DeleteBecauseNoModule, "module.m[0] is not in configuration"),
            ("t.a[3]", ActionReason::DeleteBecauseCountIndex, "index [3] is out of range for count"),
            ("t.a[\"k\"]", ActionReason::DeleteBecauseEachKey, "key [\"k\"] is not in for_each map"),
            ("t.a[\"k\"]", ActionReason::DeleteBecauseWrongRepetition, "resource does not use for_each"),
        ];
        for (addr, reason, expected) in cases {
            let found = ResourceChange { reason, ..change(addr, Action::Delete) };
            assert_eq!(destroyed(&found).as_deref(), Some(expected));
        }
        assert_eq!(destroyed(&change("t.a", Action::Delete)), None);
    }

    #[test]
    fn paths_have_neither_keys_nor_indexes() {
        let path = Path::new().attr("network").index_int(7).attr("tags").index_str("secret");
        assert_eq!(attribute_names(&path), "network.tags");
    }
}
