//! The provisioner `note`: it says its text.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use terrane_protocol::provider::*;
use terrane_protocol::schema::{Attribute, Block, Schema};
use terrane_value::{Type, Value};

use super::world::World;

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    let mut block = Block::default();
    block.attributes.insert("text".into(), Attribute { required: true, ..Attribute::new(Type::String) });
    Arc::new(Schema::new(0, block))
});

pub struct Note(pub Arc<World>);
#[async_trait]
impl Provisioner for Note {
    async fn schema(&self) -> Result<Arc<Schema>, ProviderDiagnostics> {
        Ok(SCHEMA.clone())
    }
    async fn validate(&self, _: Value) -> ProviderDiagnostics {
        Vec::new()
    }
    async fn provision(&self, request: ProvisionRequest) -> ProviderDiagnostics {
        self.0.schedule.point().await;
        let text = request.config.get("text").and_then(Value::as_str).unwrap_or("?").to_string();
        self.0.say(format!("note {text}"));
        match self.0.is_failing(&text) {
            true => vec![ProviderDiagnostic::error("note failed", text)],
            false => Vec::new(),
        }
    }
    async fn stop(&self) -> Result<(), String> {
        Ok(())
    }
}
