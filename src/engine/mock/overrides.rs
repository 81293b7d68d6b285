//! Which override stands for a resource instance or a module instance.
//!
//! Owns their order. An address with the key of the instance counts more than one for all instances, wherever the two stand; among equals
//! the layers decide: the run, the file, the mocked provider, the shared data that it names. Pure: never knows what an object is.

use std::fmt;
use std::sync::Arc;

use base::source::Range;
use model::addr::{
    AbsProviderConfig, AbsResource, AbsResourceInstance, InstanceKey, ModuleInstance, Pattern, Provider, Target,
};
use model::config::test_file::OverrideKind;
use rustc_hash::FxHashMap;
use terrane_value::Value;

use super::computed::ObjectValues;

/// An override with its values.
#[derive(Clone)]
pub struct ResolvedOverride {
    pub kind: OverrideKind,
    /// An object: values for computed attributes, or the outputs of a module.
    pub values: Value,
    /// Set if values name `self`: counts instead of `values`.
    pub of_object: Option<Arc<ObjectValues>>,
    /// Whether the values are known in plans.
    pub during_plan: bool,
    /// The header of the block, for errors.
    pub range: Option<Range>,
}

impl fmt::Debug for ResolvedOverride {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolvedOverride")
            .field("kind", &self.kind)
            .field("values", &self.values)
            .field("during_plan", &self.during_plan)
            .finish_non_exhaustive()
    }
}

/// A configuration of a provider in the root module: the provider, and the alias if there is one.
pub type RootProvider = (Provider, Option<Arc<str>>);

/// The overrides of one place, with what they replace.
#[derive(Clone, Debug, Default)]
pub struct OverrideLayer {
    /// The mocked provider that they stand in: they count for its resources alone. None: a run or a file.
    pub provider: Option<RootProvider>,
    pub overrides: Vec<(Target, ResolvedOverride)>,
}

/// All overrides of a run.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    layers: Vec<Layer>,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    provider: Option<RootProvider>,
    modules: FxHashMap<ModuleInstance, ResolvedOverride>,
    resources: FxHashMap<AbsResource, ResolvedOverride>,
    instances: FxHashMap<AbsResourceInstance, ResolvedOverride>,
    patterns: Vec<(Pattern, ResolvedOverride)>,
}

impl Overrides {
    /// The layers that count most come first. If a layer has two overrides of one target, the first counts.
    pub fn new(layers: Vec<OverrideLayer>) -> Overrides {
        let layers = layers.into_iter().filter(|layer| !layer.overrides.is_empty()).map(Layer::new);
        Overrides { layers: layers.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// The override of a resource instance, whose resource uses that provider configuration.
    pub fn resource(&self, addr: &AbsResourceInstance, provider: &AbsProviderConfig) -> Option<&ResolvedOverride> {
        let layers = || self.layers.iter().filter(move |layer| layer.counts_for(provider));
        layers().find_map(|layer| layer.instance(addr)).or_else(|| layers().find_map(|layer| layer.resource(addr)))
    }

    /// The override of a module instance.
    pub fn module(&self, addr: &ModuleInstance) -> Option<&ResolvedOverride> {
        let find = |addr: &ModuleInstance| self.layers.iter().find_map(|layer| layer.modules.get(addr));
        find(addr).or_else(|| find(&whole_call(addr)?))
    }

    /// Whether the module instance, or one that it is in, is overridden.
    pub fn is_inside_overridden(&self, addr: &ModuleInstance) -> bool {
        (1..=addr.0.len()).any(|length| self.module(&ModuleInstance(addr.0[..length].into())).is_some())
    }
}

/// All instances of the call that a module is an instance of. None: there is only one.
fn whole_call(addr: &ModuleInstance) -> Option<ModuleInstance> {
    let last = addr.last().filter(|last| !last.key.is_none())?;
    Some(addr.parent()?.child(&last.name, InstanceKey::None))
}

impl Layer {
    fn new(layer: OverrideLayer) -> Layer {
        let mut sorted = Layer { provider: layer.provider, ..Layer::default() };
        for (target, one) in layer.overrides {
            match target {
                Target::Module(module) => _ = sorted.modules.entry(module).or_insert(one),
                Target::Resource(resource) => _ = sorted.resources.entry(resource).or_insert(one),
                Target::Instance(instance) => _ = sorted.instances.entry(instance).or_insert(one),
                Target::Pattern(pattern) => sorted.patterns.push((pattern, one)),
            }
        }
        sorted
    }

    fn counts_for(&self, used: &AbsProviderConfig) -> bool {
        self.provider
            .as_ref()
            .is_none_or(|(provider, alias)| used.module.is_root() && used.provider == *provider && used.alias == *alias)
    }

    fn instance(&self, addr: &AbsResourceInstance) -> Option<&ResolvedOverride> {
        self.instances.get(addr).or_else(|| self.pattern(addr, true))
    }

    fn resource(&self, addr: &AbsResourceInstance) -> Option<&ResolvedOverride> {
        self.resources.get(&addr.containing_resource()).or_else(|| self.pattern(addr, false))
    }

    /// The override of the most specific pattern that the instance is in, of those that name a key, or of the others.
    fn pattern(&self, addr: &AbsResourceInstance, with_key: bool) -> Option<&ResolvedOverride> {
        let names_key = |text: &str| text.ends_with(']') && !text.ends_with("[*]");
        let matching = self.patterns.iter().filter_map(|(pattern, one)| {
            let text = pattern.to_string();
            let is_match = names_key(&text) == with_key && pattern.contains(addr);
            is_match.then(|| (text.matches('*').count(), one))
        });
        matching.min_by_key(|(wildcards, _)| *wildcards).map(|(_, one)| one)
    }
}

#[cfg(test)]
mod tests {
    use model::addr::command_line::target;
    use model::addr::parse::{parse_abs_instance, parse_module_instance};

    use super::*;

    fn provider() -> Provider {
        Provider::default_for("x")
    }

    /// Overrides whose value is the name of their layer.
    fn layer(name: &str, provider: Option<RootProvider>, targets: &[&str]) -> OverrideLayer {
        let resolved = |text: &&str| {
            let one = ResolvedOverride {
                kind: OverrideKind::Resource,
                values: Value::string(format!("{name} {text}")),
                of_object: None,
                during_plan: false,
                range: None,
            };
            (target(text).unwrap(), one)
        };
        OverrideLayer { provider, overrides: targets.iter().map(resolved).collect() }
    }

    fn text(found: Option<&ResolvedOverride>) -> &str {
        found.and_then(|found| found.values.as_str()).unwrap_or("-")
    }

    #[test]
    fn instances_count_before_resources_and_runs_before_files() {
        let alias = || (provider(), Some(Arc::from("west")));
        let overrides = Overrides::new(vec![
            layer("run", None, &["x_a.r", "x_a.only[0]", "data.x_a.d", "module.m.x_a.r", "x_a.p[*]"]),
            layer("file", None, &["x_a.r", "x_a.r[1]", "x_a.only", "x_a.file", "module.m[*].x_a.q[\"k\"]", "x_a.p"]),
            layer("mock", Some((provider(), None)), &["x_a.r[2]", "x_a.file", "x_a.mock", "module.n.x_a.r"]),
            layer("west", Some(alias()), &["x_a.west"]),
        ]);
        let cases = [
            ("x_a.r", "run x_a.r"),
            ("x_a.r[0]", "run x_a.r"),
            ("x_a.r[1]", "file x_a.r[1]"),
            // As in the reference: the key counts more than the place.
            ("x_a.r[2]", "mock x_a.r[2]"),
            ("x_a.only[0]", "run x_a.only[0]"),
            ("x_a.only[1]", "file x_a.only"),
            ("x_a.file[\"k\"]", "file x_a.file"),
            ("x_a.mock", "mock x_a.mock"),
            ("x_a.west", "-"),
            ("data.x_a.d[0]", "run data.x_a.d"),
            ("data.x_a.r", "-"),
            ("module.m.x_a.r[0]", "run module.m.x_a.r"),
            ("module.m[0].x_a.r", "-"),
            ("module.m[0].x_a.q[\"k\"]", "file module.m[*].x_a.q[\"k\"]"),
            ("module.m[0].x_a.q[\"j\"]", "-"),
            ("module.n.x_a.r", "mock module.n.x_a.r"),
            ("x_a.p[3]", "run x_a.p[*]"),
        ];
        let used = AbsProviderConfig::root(provider());
        for (addr, expected) in cases {
            let found = overrides.resource(&parse_abs_instance(addr).unwrap(), &used);
            assert_eq!(text(found), expected, "{addr}");
        }
    }

    #[test]
    fn overrides_of_a_mock_count_for_its_resources() {
        let overrides = Overrides::new(vec![
            layer("default", Some((provider(), None)), &["x_a.r"]),
            layer("west", Some((provider(), Some("west".into()))), &["x_a.r"]),
        ]);
        let addr = parse_abs_instance("x_a.r").unwrap();
        let root = model::addr::Module::root();
        let cases = [
            (AbsProviderConfig::root(provider()), "default x_a.r"),
            (AbsProviderConfig::new(root.clone(), provider(), Some("west".into())), "west x_a.r"),
            (AbsProviderConfig::new(root.clone(), provider(), Some("east".into())), "-"),
            (AbsProviderConfig::new(root.child("m"), provider(), None), "-"),
        ];
        for (used, expected) in cases {
            assert_eq!(text(overrides.resource(&addr, &used)), expected, "{used}");
        }
    }

    #[test]
    fn more_specific_patterns_count_more() {
        let overrides = Overrides::new(vec![layer(
            "run",
            None,
            &["module.m[*].x_a.r[*]", "module.m[0].x_a.r[*]", "module.m[*].x_a.r[1]", "module.m[1].x_a.r[1]"],
        )]);
        let cases = [
            ("module.m[2].x_a.r[0]", "run module.m[*].x_a.r[*]"),
            ("module.m[0].x_a.r[0]", "run module.m[0].x_a.r[*]"),
            ("module.m[0].x_a.r[1]", "run module.m[*].x_a.r[1]"),
            ("module.m[1].x_a.r[1]", "run module.m[1].x_a.r[1]"),
        ];
        let used = AbsProviderConfig::root(provider());
        for (addr, expected) in cases {
            let found = overrides.resource(&parse_abs_instance(addr).unwrap(), &used);
            assert_eq!(text(found), expected, "{addr}");
        }
    }

    #[test]
    fn modules_are_overridden_by_instance_and_as_a_whole() {
        let overrides = Overrides::new(vec![
            layer("run", None, &["module.a", "module.b[0].module.c"]),
            layer("file", None, &["module.a[1]", "module.a"]),
        ]);
        let cases = [
            ("module.a", "run module.a", true),
            ("module.a[0]", "run module.a", true),
            ("module.a[1]", "file module.a[1]", true),
            ("module.a[0].module.x", "-", true),
            ("module.b[0]", "-", false),
            ("module.b[0].module.c[\"k\"]", "run module.b[0].module.c", true),
            ("module.b[1].module.c", "-", false),
        ];
        for (addr, expected, inside) in cases {
            let addr = parse_module_instance(addr).unwrap();
            assert_eq!(text(overrides.module(&addr)), expected, "{addr}");
            assert_eq!(overrides.is_inside_overridden(&addr), inside, "{addr}");
        }
        assert!(overrides.module(&ModuleInstance::root()).is_none());
        assert!(!overrides.is_inside_overridden(&ModuleInstance::root()));
        assert!(Overrides::new(vec![layer("run", None, &[])]).is_empty());
    }
}
