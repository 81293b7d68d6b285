//! What the world knows before a run: the provider's schemas, and the static facts about a configuration.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use model::config::Config;
use terrane_protocol::schema::{Attribute, Block, ProviderSchemas, Schema, StaticSchemas};
use terrane_value::Type;

use super::super::acts::act_schema;
use super::thing_schema;
use crate::Facts;

/// The same schemas and the same facts for all verbs, as in one command.
pub struct Known {
    schemas: Mutex<Arc<dyn ProviderSchemas>>,
    facts: Mutex<Option<Arc<Facts>>>,
}

impl Known {
    pub fn new() -> Known {
        Known { schemas: Mutex::new(provider_schemas()), facts: Mutex::default() }
    }

    pub fn schemas(&self) -> Arc<dyn ProviderSchemas> {
        self.schemas.lock().unwrap().clone()
    }

    /// From now on the provider answers with another value, which is equal.
    pub fn change_schemas(&self) {
        *self.schemas.lock().unwrap() = provider_schemas();
    }

    /// The facts about a configuration, built anew if the last ones are about another.
    pub fn facts(&self, config: &Arc<Config>) -> Arc<Facts> {
        let mut last = self.facts.lock().unwrap();
        let facts = match last.take() {
            Some(facts) if Arc::ptr_eq(facts.config(), config) => facts,
            _ => Facts::of(config.clone()),
        };
        last.insert(facts).clone()
    }
}

fn provider_schemas() -> Arc<dyn ProviderSchemas> {
    let thing = Arc::new(thing_schema());
    let mut region = Block::default();
    region.attributes.insert("region".into(), Attribute { optional: true, ..Attribute::new(Type::String) });
    Arc::new(StaticSchemas {
        provider: Arc::new(Schema::new(0, region)),
        managed: BTreeMap::from([("test_thing".into(), thing.clone()), ("test_other".into(), thing.clone())]),
        data: BTreeMap::from([("test_thing".into(), thing.clone())]),
        ephemeral: BTreeMap::from([("test_thing".into(), thing)]),
        actions: BTreeMap::from([("test_act".into(), Arc::new(act_schema()))]),
        ..StaticSchemas::default()
    })
}
