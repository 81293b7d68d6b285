//! Results of checks as JSON.

use model::addr::parse::parse_target;
use model::addr::{InstanceKey, Target};
use model::state::{CheckResult, CheckStatus};
use serde_json::{Map, Value as Json};

use super::resources::key_json;
use super::shape::set;

/// One entry per block with conditions, sorted by its kind and address.
pub fn checks_json(checks: &[CheckResult]) -> Json {
    let mut sorted: Vec<&CheckResult> = checks.iter().collect();
    sorted.sort_by_key(|check| check.config_addr.clone());
    Json::Array(sorted.into_iter().map(check_json).collect())
}

fn check_json(check: &CheckResult) -> Json {
    let mut out = Map::new();
    set(&mut out, "address", config_address(check));
    set(&mut out, "status", status_name(check.status));
    let instances: Vec<Json> =
        check.objects.iter().map(|(addr, status, messages)| instance_json(check, addr, *status, messages)).collect();
    if !instances.is_empty() {
        set(&mut out, "instances", instances);
    }
    Json::Object(out)
}

fn status_name(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Unknown => "unknown",
        CheckStatus::Pass => "pass",
        CheckStatus::Fail => "fail",
        CheckStatus::Error => "error",
    }
}

fn instance_json(check: &CheckResult, addr: &str, status: CheckStatus, messages: &[String]) -> Json {
    let mut address = Map::new();
    let (module, local) = split_module(addr);
    if &*check.kind == "resource"
        && let Ok(target) = parse_target(addr)
    {
        let key = match &target {
            Target::Instance(instance) => instance.key().clone(),
            _ => InstanceKey::None,
        };
        if !key.is_none() {
            set(&mut address, "instance_key", key_json(&key));
        }
    }
    let _ = local;
    if !module.is_empty() {
        set(&mut address, "module", module);
    }
    set(&mut address, "to_display", addr);
    let mut out = Map::new();
    set(&mut out, "address", address);
    set(&mut out, "status", status_name(status));
    if !messages.is_empty() {
        let problems: Vec<Json> = messages.iter().map(|message| serde_json::json!({ "message": message })).collect();
        set(&mut out, "problems", problems);
    }
    Json::Object(out)
}

/// The fields in the order of their names, as the reference writes them.
fn config_address(check: &CheckResult) -> Json {
    let (module, local) = split_module(&check.config_addr);
    let mut out = Map::new();
    set(&mut out, "kind", &*check.kind);
    let mut parts: Vec<&str> = local.split('.').collect();
    if &*check.kind == "resource" {
        let mode = match parts.first() {
            Some(&mode @ ("data" | "ephemeral")) => {
                parts.remove(0);
                mode
            }
            _ => "managed",
        };
        set(&mut out, "mode", mode);
        put_module(&mut out, module);
        set(&mut out, "name", parts.get(1).copied().unwrap_or_default());
        set(&mut out, "to_display", check.config_addr.as_str());
        set(&mut out, "type", parts.first().copied().unwrap_or_default());
    } else {
        put_module(&mut out, module);
        set(&mut out, "name", parts.get(1).copied().unwrap_or_default());
        set(&mut out, "to_display", check.config_addr.as_str());
    }
    Json::Object(out)
}

fn put_module(out: &mut Map<String, Json>, module: &str) {
    if !module.is_empty() {
        set(out, "module", module);
    }
}

/// The module part of an address and the rest. Keys in quotes may hold dots.
fn split_module(addr: &str) -> (&str, &str) {
    let mut end = 0;
    let mut rest = addr;
    while let Some(after) = rest.strip_prefix("module.") {
        let mut quoted = false;
        let mut escaped = false;
        let dot = after.char_indices().find(|(_, c)| {
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '.' => return !quoted,
                _ => {}
            }
            false
        });
        let Some((at, _)) = dot else { break };
        end = addr.len() - after.len() + at;
        rest = &addr[end + 1..];
    }
    if end == 0 { ("", addr) } else { (&addr[..end], &addr[end + 1..]) }
}

#[cfg(test)]
mod tests {
    use model::state::{CheckResult, CheckStatus};

    use super::{checks_json, split_module};

    #[test]
    fn resources_have_their_mode() {
        let cases = [
            ("test_thing.a", "managed", "test_thing", "a"),
            ("data.test_thing.a", "data", "test_thing", "a"),
            ("module.m.ephemeral.test_key.a", "ephemeral", "test_key", "a"),
        ];
        for (addr, mode, ty, name) in cases {
            let (kind, config_addr) = ("resource".into(), addr.to_owned());
            let check = CheckResult { kind, config_addr, status: CheckStatus::Pass, objects: Vec::new() };
            let address = &checks_json(&[check])[0]["address"];
            let found = [&address["mode"], &address["type"], &address["name"], &address["to_display"]];
            assert_eq!(found, [mode, ty, name, addr]);
        }
    }

    #[test]
    fn module_paths_end_before_the_object() {
        assert_eq!(split_module("check.c"), ("", "check.c"));
        assert_eq!(split_module(r#"module.a["x.y"].module.b.t.n[0]"#), (r#"module.a["x.y"].module.b"#, "t.n[0]"));
    }
}
