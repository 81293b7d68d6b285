//! What a plan and its apply share: the seed of made-up values, in the private data of the plan.
//!
//! An apply plans again. The values that the first plan made up must be the same then.

use std::sync::Arc;

use terrane_protocol::provider::{ApplyResponse, Identity, PlanResponse, ProviderDiagnostics};
use terrane_value::Value;

use super::generate::{Maker, Random};

const PREFIX: &[u8] = b"mock:";

/// The private data of a plan.
pub fn private(maker: Maker) -> Arc<[u8]> {
    [PREFIX, &maker.seed().to_le_bytes()].concat().into()
}

/// The maker of the plan that the private data is of; a new one if there is none.
pub fn maker(private: &[u8], random: &Random) -> Maker {
    let seed = private.strip_prefix(PREFIX).and_then(|seed| <[u8; 8]>::try_from(seed).ok());
    seed.map_or_else(|| Maker::new(&**random), |seed| Maker::of_seed(u64::from_le_bytes(seed)))
}

/// The answer of a plan that needs no replacement.
pub fn plan_response(
    planned: Value,
    identity: Option<Identity>,
    private: Arc<[u8]>,
    diagnostics: ProviderDiagnostics,
) -> PlanResponse {
    PlanResponse {
        planned,
        identity,
        deferred: None,
        requires_replace: Vec::new(),
        private,
        legacy_type_system: false,
        diagnostics,
    }
}

/// The answer of an apply. Nothing private is left to store.
pub fn apply_response(new_state: Value, identity: Option<Identity>, diagnostics: ProviderDiagnostics) -> ApplyResponse {
    ApplyResponse { new_state, identity, private: Arc::from([]), legacy_type_system: false, diagnostics }
}
