//! The summary of a state: how many objects of which type each module has, and which of them the next apply replaces or destroys.
//!
//! Contains addresses and names of outputs, but no values.

use std::collections::BTreeMap;

use model::addr::{AbsResourceInstance, ModuleInstance};
use model::state::{ObjectStatus, State};

use crate::plan_filter::AddressMatch;

/// The objects of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSummary {
    /// By module and type.
    pub groups: Vec<StateGroup>,
    /// All objects that are shown; deposed ones are not counted.
    pub objects: usize,
    pub tainted: Vec<String>,
    pub deposed: Vec<String>,
    /// The names of the outputs.
    pub outputs: Vec<String>,
    /// Objects that are filtered out.
    pub hidden: usize,
}

/// The objects of one type in one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateGroup {
    /// The module instance; empty for the root module.
    pub module: String,
    /// The type with the prefix of its mode: `data.aws_ami`.
    pub kind: String,
    pub addresses: Vec<String>,
    /// Within the module: the name and the key.
    pub names: Vec<String>,
}

impl StateSummary {
    /// The objects whose addresses match; all without patterns.
    pub fn of_state(state: &State, matching: &[AddressMatch]) -> StateSummary {
        let mut summary = StateSummary::default();
        let mut groups: BTreeMap<(ModuleInstance, String), StateGroup> = BTreeMap::new();
        for (addr, _, instance) in state.instances() {
            if !matching.is_empty() && !matching.iter().any(|one| one.contains(&addr)) {
                summary.hidden += usize::from(instance.current.is_some()) + instance.deposed.len();
                continue;
            }
            summary.deposed.extend(instance.deposed.keys().map(|key| format!("{addr} (deposed object {key})")));
            let Some(object) = &instance.current else { continue };
            summary.objects += 1;
            if object.status == ObjectStatus::Tainted {
                summary.tainted.push(addr.to_string());
            }
            let group = groups.entry((addr.module.clone(), kind(&addr))).or_insert_with(|| StateGroup {
                module: addr.module.to_string(),
                kind: kind(&addr),
                addresses: Vec::new(),
                names: Vec::new(),
            });
            group.addresses.push(addr.to_string());
            group.names.push(format!("{}{}", addr.resource.resource.name, addr.key()));
        }
        summary.groups = groups.into_values().collect();
        summary.outputs = state.outputs.keys().map(ToString::to_string).collect();
        summary
    }
}

fn kind(addr: &AbsResourceInstance) -> String {
    format!("{}{}", addr.mode().prefix(), addr.kind())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use model::addr::command_line::target;
    use model::addr::parse::parse_abs_instance;
    use model::addr::{AbsProviderConfig, Provider};
    use model::state::{DeposedKey, Instance, ResourceState};

    use super::*;
    use crate::objects::tests::object;

    /// A state with a tainted object and a deposed one, also for other tests.
    pub(crate) fn state() -> State {
        let mut state = State::default();
        for text in ["t.a", "t.b[0]", "t.b[1]", "module.m.data.t.c"] {
            let addr = parse_abs_instance(text).unwrap();
            let mut found = object(0, "{\"id\":\"secret-value\"}");
            let mut instance = Instance::default();
            if text == "t.a" {
                found.status = ObjectStatus::Tainted;
                instance.deposed.insert(DeposedKey("00000001".into()), object(0, "{}"));
            }
            instance.current = Some(found);
            let provider = AbsProviderConfig::root(Provider::default_for("test"));
            let resource = state
                .resources
                .entry(addr.containing_resource())
                .or_insert_with(|| Arc::new(ResourceState { provider, instances: BTreeMap::new() }));
            Arc::make_mut(resource).instances.insert(addr.key().clone(), Arc::new(instance));
        }
        state
    }

    #[test]
    fn objects_are_counted_by_module_and_type() {
        let summary = StateSummary::of_state(&state(), &[]);
        let groups: Vec<_> =
            summary.groups.iter().map(|group| (&*group.module, &*group.kind, group.names.len())).collect();
        assert_eq!(groups, [("", "t", 3), ("module.m", "data.t", 1)]);
        assert_eq!(summary.tainted, ["t.a"]);
        assert_eq!(summary.deposed, ["t.a (deposed object 00000001)"]);
        assert_eq!((summary.objects, summary.hidden), (4, 0));
    }

    #[test]
    fn patterns_hide_objects() {
        let matching = [AddressMatch::Target(target("t.b").unwrap())];
        let summary = StateSummary::of_state(&state(), &matching);
        assert_eq!((summary.objects, summary.hidden, summary.tainted.len()), (2, 3, 0));
    }
}
