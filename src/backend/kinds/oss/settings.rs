//! The settings of the `oss` backend, as version 1.11.4 of the reference has them, and what is wrong with some.

use terrane_protocol::provider::ProviderDiagnostic;
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting};
use terrane_value::{Type, Value};

use crate::contract::schema::{block, optional};
use crate::contract::settings::failure;
use crate::objects::workspaces::place_problems;

const TEXTS: [(&str, &str); 17] = [
    ("access_key", "The access key."),
    ("acl", "Who may read and write the state: private, public-read or public-read-write."),
    ("assume_role_policy", "What the role may do at most."),
    ("assume_role_role_arn", "A role to assume."),
    ("assume_role_session_name", "What the use of the role is called."),
    ("ecs_role_name", "The role of the ECS instance."),
    ("endpoint", "Where OSS is."),
    ("key", "The path of the state in the bucket."),
    ("prefix", "The folder of states in the bucket."),
    ("profile", "The profile in the file of credentials."),
    ("region", "The region of the bucket."),
    ("secret_key", "The access key's secret."),
    ("security_token", "The token of temporary keys."),
    ("shared_credentials_file", "The file with profiles."),
    ("sts_endpoint", "Where keys of roles are."),
    ("tablestore_endpoint", "The instance of Tablestore."),
    ("tablestore_table", "The table for locks and checksums."),
];

pub fn schema() -> Block {
    let text = |description: &str| optional(Type::String, description);
    let bucket = Attribute { optional: false, required: true, ..text("The name of the bucket.") };
    let others = [
        ("bucket", bucket),
        ("encrypt", optional(Type::Bool, "Encrypt the state with a key of the service.")),
        ("assume_role_session_expiration", optional(Type::Number, "How long the role's keys are valid, in seconds.")),
    ];
    let texts = TEXTS.iter().map(|(name, description)| (*name, text(description)));
    let mut schema = block(&texts.chain(others).collect::<Vec<_>>());
    let role = block(&[
        ("role_arn", text("The role.")),
        ("session_name", text("What its use is called.")),
        ("policy", text("What it may do at most.")),
        ("session_expiration", optional(Type::Number, "How long its keys are valid, in seconds.")),
    ]);
    let role = NestedBlock { block: role, nesting: Nesting::Set, min_items: 0, max_items: 0 };
    schema.blocks.insert("assume_role".into(), role);
    schema
}

pub fn check(config: &Value) -> Vec<ProviderDiagnostic> {
    let mut found = Vec::new();
    let mut complain = |text: String| found.push(failure(text));
    let acl = config.get("acl").and_then(Value::as_str).unwrap_or_default();
    if !matches!(acl, "" | "private" | "public-read" | "public-read-write") {
        complain(format!(
            "\"acl\" must be a valid ACL value , expected private, public-read or public-read-write, got {acl:?}"
        ));
    }
    let roles = config.get("assume_role").map(Value::elements).unwrap_or_default();
    if roles.len() > 1 {
        complain(format!("assume_role: attribute supports 1 item maximum, config has {} declared", roles.len()));
    } else if let Some(why) = roles.first().and_then(|role| duration(role, "assume_role.0.", "session_expiration")) {
        complain(why);
    }
    if let Some(why) = duration(config, "", "assume_role_session_expiration") {
        complain(why);
    }
    place_problems(config, "workspace_key_prefix").into_iter().for_each(&mut complain);
    found
}

fn duration(config: &Value, outer: &str, name: &str) -> Option<String> {
    let seconds = config.get(name)?.as_number()?.as_f64().trunc();
    let range = "in the range (900 - 3600)";
    (!(900.0..=3600.0).contains(&seconds)).then(|| format!("expected {outer}{name} to be {range}, got {seconds}"))
}
