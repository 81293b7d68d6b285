//! The action `test_act` of the mocked provider: it says its text.

use std::sync::Arc;

use terrane_protocol::provider::*;
use terrane_protocol::schema::{Attribute, Block, Schema};
use terrane_value::{Type, Value};

use super::world::World;

pub fn act_schema() -> Schema {
    let optional = || Attribute { optional: true, ..Attribute::new(Type::String) };
    let mut block = Block::default();
    block.attributes.insert("text".into(), optional());
    block.attributes.insert("secret".into(), Attribute { write_only: true, ..optional() });
    Schema::new(0, block)
}

fn text(config: &Value) -> String {
    let part = |name: &str| config.get(name).and_then(Value::as_str).map(str::to_owned);
    let secret = part("secret").map_or_else(String::new, |secret| format!(" with {secret}"));
    format!("{}{secret}", part("text").unwrap_or_else(|| "?".into()))
}

pub fn plan_act(world: &Arc<World>, request: &PlanActionRequest) -> PlanActionResponse {
    world.panic_if_asked(&format!("plan act {}", text(&request.config)));
    PlanActionResponse::new(Vec::new())
}

/// Names in `failing` fail as `act TEXT`.
pub async fn invoke(world: &Arc<World>, request: &InvokeActionRequest) -> ProviderDiagnostics {
    let text = text(&request.config);
    world.schedule.point().await;
    world.panic_if_asked(&format!("act {text}"));
    world.say(format!("act {text}"));
    (request.progress)("half");
    match world.is_failing(&format!("act {text}")) {
        true => vec![ProviderDiagnostic::error("act failed", text)],
        false => Vec::new(),
    }
}
