//! The settings of the `cos` backend, as version 1.11.4 of the reference has them, and what is wrong with some.

use base::env;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting};
use terrane_value::{Type, Value};

use crate::contract::schema::{block, optional};
use crate::contract::settings::{Settings, failure};
use crate::objects::workspaces::place_problems;

const TEXTS: [(&str, &str); 12] = [
    ("acl", "Who may read the state: private or public-read."),
    ("cam_role_name", "The role of the machine."),
    ("domain", "The domain of the cloud's interfaces."),
    ("endpoint", "Where COS is inside of the cloud."),
    ("key", "The path of the state in the bucket."),
    ("prefix", "The folder of states in the bucket."),
    ("profile", "The profile in the folder of credentials."),
    // The environment may have it.
    ("region", "The region of the bucket."),
    ("secret_id", "The ID of the key."),
    ("secret_key", "The key."),
    ("security_token", "The token of temporary keys."),
    ("shared_credentials_dir", "The folder with profiles."),
];

pub fn schema() -> Block {
    let text = |description: &str| optional(Type::String, description);
    let bucket = Attribute { optional: false, required: true, ..text("The name of the bucket.") };
    let others = [
        ("bucket", bucket),
        ("encrypt", optional(Type::Bool, "Encrypt the state with a key of the service.")),
        ("accelerate", optional(Type::Bool, "Ask for the bucket at the nearest place.")),
    ];
    let secret = |name: &str| matches!(name, "secret_key" | "security_token");
    let texts = TEXTS.iter().map(|(name, doc)| (*name, Attribute { sensitive: secret(name), ..text(doc) }));
    let mut schema = block(&texts.chain(others).collect::<Vec<_>>());
    let role = block(&[
        ("role_arn", text("The role.")),
        ("session_name", text("What its use is called.")),
        ("session_duration", optional(Type::Number, "How long its keys are valid, in seconds.")),
        ("policy", text("What it may do at most.")),
        ("external_id", text("The ID that the role expects.")),
    ]);
    let role = NestedBlock { block: role, nesting: Nesting::Set, min_items: 0, max_items: 0 };
    schema.blocks.insert("assume_role".into(), role);
    schema
}

pub fn check(settings: &Settings<'_>) -> Vec<ProviderDiagnostic> {
    let config = settings.config;
    let text = |name: &str| config.get(name).and_then(Value::as_str);
    let mut found = Vec::new();
    let mut complain = |text: String| found.push(failure(text));
    if let Some(acl) = text("acl").filter(|acl| !matches!(*acl, "private" | "public-read")) {
        complain(format!("acl value invalid, expected private or public-read, got {acl}"));
    }
    let roles = config.get("assume_role").map(Value::elements).unwrap_or_default();
    match roles {
        [] => {}
        [role] => check_role(role, settings).into_iter().for_each(&mut complain),
        _ => complain(format!("assume_role: attribute supports 1 item maximum, config has {} declared", roles.len())),
    }
    place_problems(config, "prefix").into_iter().for_each(&mut complain);
    let is_missing = config.get("region").is_none_or(Value::is_null);
    if is_missing && settings.environment.non_empty(env::TENCENTCLOUD_REGION).is_none() {
        complain("\"region\": required field is not set".to_owned());
    }
    found
}

fn check_role(role: &Value, settings: &Settings<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let required =
        [("role_arn", env::TENCENTCLOUD_ASSUME_ROLE_ARN), ("session_name", env::TENCENTCLOUD_ASSUME_ROLE_SESSION_NAME)];
    for (name, variable) in required {
        if role.get(name).is_none_or(Value::is_null) && settings.environment.non_empty(variable).is_none() {
            found.push(format!("\"assume_role.0.{name}\": required field is not set"));
        }
    }
    let name = "assume_role.0.session_duration";
    match role.get("session_duration").and_then(Value::as_number).map(|seconds| seconds.as_f64().trunc()) {
        Some(seconds) if seconds < 0.0 => found.push(format!("{name:?} cannot be lower than 0: {seconds}")),
        Some(seconds) if seconds > 43200.0 => found.push(format!("{name:?} cannot be higher than 43200: {seconds}")),
        _ => {}
    }
    found
}
