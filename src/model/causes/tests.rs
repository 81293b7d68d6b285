//! Chains of causes of small plans.

use std::path::Path;
use std::sync::Arc;

use base::files::Memory;
use terrane_value::{Path as ValuePath, Type, Value};

use super::*;
use crate::addr::parse::parse_abs_instance;
use crate::addr::{AbsProviderConfig, Module, Provider};
use crate::config::{ModuleRequest, ModuleSite, NoInputs, load};
use crate::plan::{Change, DeferredChange, IdentityChange, Mode, ResourceChange};
use crate::state::{Attributes, Object, ObjectStatus, State};

fn config(files: &[(&str, &str)]) -> Arc<Config> {
    let resolver = |request: &ModuleRequest<'_>| {
        let dir = request.parent_dir.join(request.call.source.trim_start_matches("./"));
        Ok(ModuleSite { dir, version: None, unreadable: None })
    };
    let memory = Memory::of(files.iter().copied());
    let (config, diagnostics) = load(Path::new(""), &memory, &resolver, Arc::new(NoInputs));
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    Arc::new(config.unwrap())
}

/// An object of texts; `?` is a text that is not known yet. None: there is no object.
fn object(attributes: Option<&[(&str, &str)]>) -> Value {
    let value = |text: &str| if text == "?" { Value::unknown(Type::String) } else { Value::string(text) };
    match attributes {
        Some(attributes) => Value::object(attributes.iter().map(|(name, text)| (*name, value(text)))),
        None => Value::null_dynamic(),
    }
}

type Texts<'t> = Option<&'t [(&'t str, &'t str)]>;

fn change(addr: &str, action: Action, reason: ActionReason, before: Texts<'_>, after: Texts<'_>) -> ResourceChange {
    let addr = parse_abs_instance(addr).unwrap();
    let provider =
        AbsProviderConfig { module: Module::root(), provider: Provider::default_for("t"), alias: None, key: None };
    ResourceChange {
        previous_addr: addr.clone(),
        addr,
        deposed: None,
        provider,
        action,
        reason,
        change: Change { before: object(before), after: object(after) },
        required_replace: Vec::new(),
        private: Arc::from([]),
        importing: None,
        identity: IdentityChange::default(),
        generated_config: None,
    }
}

fn at(place: Option<&Range>) -> String {
    // Windows has other separators.
    place.map_or_else(String::new, |range| format!(" {}:{}", range.filename().replace('\\', "/"), range.start().line))
}

fn lines(causes: &[Cause], depth: usize, out: &mut Vec<String>) {
    for cause in causes {
        let fact = match &cause.fact {
            Fact::Attribute { name, forces, is_known } => {
                let (forces, known) = (if *forces { " forces" } else { "" }, if *is_known { "" } else { " unknown" });
                format!("{name}{forces}{known}")
            }
            Fact::Object { addr, path, is_unknown, is_explained, .. } => {
                let (unknown, cut) =
                    (if *is_unknown { " unknown" } else { "" }, if *is_explained { "" } else { " cut" });
                format!("object {addr} {path:?}{unknown}{cut}")
            }
            other => format!("{other:?}"),
        };
        out.push(format!("{}{fact}{}", "  ".repeat(depth), at(cause.place.as_ref())));
        lines(&cause.because, depth + 1, out);
    }
}

/// The causes as lines, then what the object waits for.
fn explained(plan: &Plan, config: &Config, addr: &str) -> Vec<String> {
    let mut out = Vec::new();
    for explanation in explain(plan, config, &parse_abs_instance(addr).unwrap()) {
        lines(&explanation.causes, 0, &mut out);
        for wait in &explanation.waits {
            let order = if wait.is_destruction { "destruction of " } else { "" };
            out.push(format!("after {order}{}{}", wait.addr, at(wait.place.as_ref())));
        }
    }
    out
}

fn reached(plan: &Plan, config: &Config, addr: &str) -> Vec<String> {
    let found = dependents(plan, config, &parse_abs_instance(addr).unwrap());
    found.iter().map(|one| format!("{} {}{}", one.distance, one.name, at(one.place.as_ref()))).collect()
}

const NET: &str = "variable \"size\" {}
locals {
  zone = t_net.main.zone
}
resource \"t_net\" \"main\" {
  zone = \"a\"
}
resource \"t_host\" \"web\" {
  size = var.size
  zone = local.zone
  net  = t_net.main.id
}
output \"net\" {
  value = t_host.web.net
}
";

fn net() -> (Plan, Arc<Config>) {
    let replaced = ResourceChange {
        required_replace: vec![ValuePath::new().attr("zone"), ValuePath::new().attr("id")],
        ..change(
            "t_net.main",
            Action::DeleteThenCreate,
            ActionReason::ReplaceBecauseCannotUpdate,
            Some(&[("id", "1"), ("zone", "b")]),
            Some(&[("id", "?"), ("zone", "a")]),
        )
    };
    let updated = change(
        "t_host.web",
        Action::Update,
        ActionReason::None,
        Some(&[("computed", "x"), ("net", "1"), ("size", "s"), ("zone", "b")]),
        Some(&[("computed", "?"), ("net", "?"), ("size", "m"), ("zone", "a")]),
    );
    (Plan { changes: vec![updated, replaced], ..Plan::default() }, config(&[("main.tf", NET)]))
}

#[test]
fn references_lead_to_the_change_that_causes_another() {
    let (plan, config) = net();
    let expected = [
        "computed unknown",
        "  ByProvider",
        "net unknown main.tf:11",
        "  object t_net.main \"id\" unknown main.tf:5",
        "    zone forces main.tf:6",
        "      Differs",
        "    id forces unknown",
        "      ByProvider",
        "size main.tf:9",
        "  Differs",
        "    Given(\"var.size\") main.tf:1",
        "zone main.tf:10",
        "  Reference(\"local.zone\") main.tf:3",
        "    object t_net.main \"zone\" cut main.tf:5",
        "after t_net.main main.tf:10",
    ];
    assert_eq!(explained(&plan, &config, "t_host.web"), expected);
    assert_eq!(reached(&plan, &config, "t_net.main"), ["1 t_host.web main.tf:10", "2 output.net main.tf:14"]);
    assert!(explained(&plan, &config, "t_host.other").is_empty());
}

#[test]
fn drift_is_a_cause() {
    let (mut plan, config) = net();
    let (before, after): (Texts<'_>, Texts<'_>) = (Some(&[("size", "m")]), Some(&[("size", "s")]));
    plan.drift = vec![change("t_host.web", Action::Update, ActionReason::None, before, after)];
    let lines = explained(&plan, &config, "t_host.web");
    let size = lines.iter().position(|line| line == "size main.tf:9").unwrap();
    assert_eq!(lines[size + 1], "  ChangedOutside");
    plan.changes[1] = change("t_net.main", Action::Create, ActionReason::None, None, Some(&[("id", "?")]));
    assert_eq!(explained(&plan, &config, "t_net.main"), ["NoObject"]);
    plan.drift = vec![change("t_net.main", Action::Delete, ActionReason::None, Some(&[("id", "1")]), None)];
    assert_eq!(explained(&plan, &config, "t_net.main"), ["DeletedOutside"]);
}

const KEYS: &str = "resource \"t_net\" \"n\" {
  for_each = toset([\"a\", \"b\"])
}
module \"m\" {
  source   = \"./m\"
  for_each = toset([\"a\", \"b\"])
  net      = t_net.n[each.key].id
}
";

const KEYS_M: &str = "variable \"net\" {}
resource \"t_host\" \"h\" {
  net = var.net
}
";

#[test]
fn instances_wait_for_the_instance_with_their_key() {
    let config = config(&[("main.tf", KEYS), ("m/main.tf", KEYS_M)]);
    let new = |addr: &str| change(addr, Action::Create, ActionReason::None, None, Some(&[("id", "?"), ("net", "?")]));
    let all = ["t_net.n[\"a\"]", "t_net.n[\"b\"]", "module.m[\"a\"].t_host.h", "module.m[\"b\"].t_host.h"];
    let plan = Plan { changes: all.into_iter().map(new).collect(), ..Plan::default() };
    let expected = ["NoObject", "after t_net.n[\"a\"] m/main.tf:3"];
    assert_eq!(explained(&plan, &config, "module.m[\"a\"].t_host.h"), expected);
    assert_eq!(explained(&plan, &config, "t_net.n[\"b\"]"), ["NoObject main.tf:2"]);
    assert_eq!(reached(&plan, &config, "t_net.n[\"b\"]"), ["1 module.m[\"b\"].t_host.h m/main.tf:3"]);
}

const READS: &str = "resource \"t_net\" \"n\" {
}
data \"t_zone\" \"unknown\" {
  net = t_net.n.id
}
data \"t_zone\" \"after\" {
  depends_on = [t_net.n]
}
resource \"t_host\" \"h\" {
  count = data.t_zone.unknown.size
}
resource \"t_host\" \"triggered\" {
  lifecycle {
    replace_triggered_by = [t_net.n.id]
  }
}
";

#[test]
fn reads_triggers_and_deferrals_have_the_places_that_cause_them() {
    let config = config(&[("main.tf", READS)]);
    let (config_unknown, pending) =
        (ActionReason::ReadBecauseConfigUnknown, ActionReason::ReadBecauseDependencyPending);
    let unknown: Texts<'_> = Some(&[("net", "?"), ("size", "?")]);
    let old: Texts<'_> = Some(&[("id", "1")]);
    let new: Texts<'_> = Some(&[("id", "?")]);
    let replaced = ActionReason::ReplaceByTriggers;
    let mut plan = Plan {
        changes: vec![
            change("data.t_zone.after", Action::Read, pending, None, Some(&[("size", "?")])),
            change("data.t_zone.unknown", Action::Read, config_unknown, None, unknown),
            change("t_host.triggered", Action::DeleteThenCreate, replaced, old, new),
            change("t_net.n", Action::DeleteThenCreate, ActionReason::ReplaceByRequest, old, new),
        ],
        ..Plan::default()
    };
    let mut deferred = change("t_host.h", Action::Create, ActionReason::None, None, Some(&[("id", "?")]));
    deferred.addr.resource.key = crate::addr::InstanceKey::Wildcard;
    deferred.previous_addr = deferred.addr.clone();
    let placeholder = deferred.addr.clone();
    plan.deferred = vec![DeferredChange { reason: DeferredReason::InstanceCountUnknown, change: deferred }];

    let net = |depth: &str, path: &str, unknown: &str| {
        [format!("{depth}object t_net.n {path:?}{unknown} main.tf:1"), format!("{depth}  Requested")]
    };
    let [object, requested] = net("  ", "id", " unknown");
    let read = explained(&plan, &config, "data.t_zone.unknown");
    assert_eq!(read, ["net unknown main.tf:4", &object, &requested, "after t_net.n main.tf:4"]);
    let [object, requested] = net("  ", "", " unknown");
    let after = explained(&plan, &config, "data.t_zone.after");
    assert_eq!(after, ["DependsOn main.tf:7", &object, &requested, "after t_net.n main.tf:7"]);
    let [object, requested] = net("  ", "id", " unknown");
    let triggered = explained(&plan, &config, "t_host.triggered");
    assert_eq!(triggered, ["Trigger main.tf:14", &object, &requested, "after t_net.n main.tf:14"]);

    let mut found = Vec::new();
    let explanation = &explain(&plan, &config, &placeholder)[0];
    lines(&explanation.causes, 0, &mut found);
    let expected =
        ["Deferred(InstanceCountUnknown) main.tf:10", "  object data.t_zone.unknown \"size\" unknown main.tf:3"];
    assert_eq!(found[..2], expected);
}

#[test]
fn removals_name_what_removes_them() {
    let main =
        "variable \"n\" {}\nresource \"t_host\" \"h\" {\n  count = var.n\n}\nremoved {\n  from = t_host.gone\n}\n";
    let config = config(&[("main.tf", main)]);
    let gone = |addr: &str, reason| change(addr, Action::Delete, reason, Some(&[("id", "1")]), None);
    let mut plan = Plan {
        changes: vec![
            gone("t_host.gone", ActionReason::DeleteBecauseNoResourceConfig),
            gone("t_host.h[1]", ActionReason::DeleteBecauseCountIndex),
        ],
        ..Plan::default()
    };
    let expected = ["Reason(DeleteBecauseCountIndex) main.tf:3", "  Given(\"var.n\") main.tf:1"];
    assert_eq!(explained(&plan, &config, "t_host.h[1]"), expected);
    assert_eq!(explained(&plan, &config, "t_host.gone"), ["Reason(DeleteBecauseNoResourceConfig) main.tf:5"]);
    plan.scope.mode = Mode::Destroy;
    plan.changes = vec![gone("t_host.h[0]", ActionReason::None)];
    assert_eq!(explained(&plan, &config, "t_host.h[0]"), ["DestroyMode"]);
}

/// Values that need each other are an error of the configuration, but must not hang.
#[test]
fn circles_end() {
    let main =
        "locals {\n  a = local.b\n  b = [local.a, t_net.n.id]\n}\nresource \"t_net\" \"n\" {\n  zone = local.a\n}\n";
    let config = config(&[("main.tf", main)]);
    let (before, after): (Texts<'_>, Texts<'_>) =
        (Some(&[("id", "1"), ("zone", "a")]), Some(&[("id", "?"), ("zone", "b")]));
    let plan =
        Plan { changes: vec![change("t_net.n", Action::Update, ActionReason::None, before, after)], ..Plan::default() };
    assert!(!explained(&plan, &config, "t_net.n").is_empty());
    assert!(reached(&plan, &config, "t_net.n").is_empty());
}

#[test]
fn old_addresses_of_moved_objects_are_explained() {
    let config = config(&[("main.tf", "resource \"t_net\" \"new\" {\n}\n")]);
    let same: Texts<'_> = Some(&[("id", "1")]);
    let mut moved = change("t_net.new", Action::NoOp, ActionReason::None, same, same);
    moved.previous_addr = parse_abs_instance("t_net.old").unwrap();
    let plan = Plan { changes: vec![moved], ..Plan::default() };
    let found = explain(&plan, &config, &parse_abs_instance("t_net.old").unwrap());
    assert_eq!(found.iter().map(|found| found.addr.to_string()).collect::<Vec<_>>(), ["t_net.new"]);
    assert!(matches!(found[0].causes[..], [Cause { fact: Fact::MovedFrom(_), .. }]), "{:?}", found[0].causes);
}

const ORDER: &str = "variable \"n\" {}
resource \"t_net\" \"n\" {
  count = var.n
}
resource \"t_host\" \"old\" {
  net = t_net.n[0].id
}
resource \"t_host\" \"new\" {
  net = t_host.old.net
}
resource \"t_host\" \"other\" {
}
";

/// A state of objects and what they depend on; those with a `!` outlive the creation of their replacement.
fn state(objects: &[(&str, &[&str])]) -> State {
    let mut state = State::default();
    for (addr, dependencies) in objects {
        let provider = change("t.t", Action::NoOp, ActionReason::None, None, None).provider;
        let block = |addr: &&str| parse_abs_instance(addr).unwrap().config();
        let object = Object {
            status: ObjectStatus::Ready,
            schema_version: 0,
            attributes: Attributes::Json(Arc::from("{}")),
            sensitive: Arc::from([]),
            identity: None,
            private: Arc::from([]),
            dependencies: dependencies.iter().map(block).collect(),
            create_before_destroy: addr.ends_with('!'),
            keep: false,
            provider_key: None,
        };
        let addr = parse_abs_instance(addr.trim_end_matches('!')).unwrap();
        state.instance_mut(&addr, &provider).current = Some(object);
    }
    state
}

#[test]
fn destructions_are_waited_for() {
    let config = config(&[("main.tf", ORDER)]);
    let (old, new): (Texts<'_>, Texts<'_>) = (Some(&[("net", "1")]), Some(&[("net", "2")]));
    let none = ActionReason::None;
    let plan = |last: &str| Plan {
        prior_state: state(&[
            ("t_net.n[0]", &[]),
            (&format!("t_net.n[1]{last}"), &[]),
            ("t_host.old", &["t_net.n"]),
            ("t_host.gone", &["t_net.n"]),
        ]),
        changes: vec![
            change("t_host.gone", Action::Delete, none, old, None),
            change("t_host.new", Action::Create, none, None, new),
            change("t_host.old", Action::Update, none, old, new),
            change("t_host.other", Action::Create, none, None, new),
            change("t_net.n[0]", Action::NoOp, none, old, old),
            change("t_net.n[1]", Action::Delete, none, old, None),
        ],
        ..Plan::default()
    };
    let after = |plan: &Plan, addr: &str| -> Vec<String> {
        explained(plan, &config, addr).into_iter().filter(|line| line.starts_with("after")).collect()
    };
    let first = plan("");
    assert_eq!(after(&first, "t_host.old"), ["after destruction of t_net.n[1] main.tf:6"]);
    let expected = ["after t_host.old main.tf:9", "after destruction of t_net.n[1]"];
    assert_eq!(after(&first, "t_host.new"), expected);
    assert!(after(&first, "t_host.other").is_empty());
    assert!(after(&first, "t_host.gone").is_empty());
    assert_eq!(after(&first, "t_net.n[1]"), ["after destruction of t_host.gone"]);

    let last = plan("!");
    assert!(after(&last, "t_host.old").is_empty());
    assert_eq!(after(&last, "t_host.new"), ["after t_host.old main.tf:9"]);
    assert_eq!(after(&last, "t_net.n[1]"), ["after destruction of t_host.gone", "after t_host.old"]);

    let mut grown = plan("");
    grown.changes.pop();
    grown.changes[4].action = Action::Update;
    assert_eq!(after(&grown, "t_net.n[0]"), ["after destruction of t_host.gone"]);
}
