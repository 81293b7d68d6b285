//! Warnings about stored objects that a plan did not get to, so that they are still as their provider's schema does not allow.
//!
//! As the reference, which decodes all managed objects where it looks for changes made outside: only if there are any, or objects that have moved.

use base::diag::{Diagnostic, Diagnostics};
use model::state::{Attributes, State};
use terrane_protocol::schema::ResourceMode;
use terrane_value::json;

use super::planned::has_same_objects;
use crate::blocks::schemas::Schemas;

/// `previous`: what the plan starts from, brought to current schemas as far as the plan went. `refreshed`: what became of it.
/// `has_moves`: objects have new addresses.
pub fn warnings(schemas: &Schemas, previous: &State, refreshed: &State, has_moves: bool) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let is_raw = |attributes: &Attributes| matches!(attributes, Attributes::Json(_));
    let managed = || previous.instances().filter(|(addr, ..)| addr.mode() == ResourceMode::Managed);
    let current = || managed().filter_map(|(addr, provider, found)| Some((addr, provider, found.current.as_ref()?)));
    let is_looked_for = || has_moves || !has_same_objects(previous, refreshed);
    if !current().any(|(.., object)| is_raw(&object.attributes)) || !is_looked_for() {
        return diagnostics;
    }
    for (addr, provider, object) in current() {
        let Attributes::Json(text) = &object.attributes else { continue };
        let Some(schema) = schemas.kind(&provider.provider, addr.mode(), addr.kind()) else {
            let detail = format!("No resource schema found for {} when decoding prior state", addr.kind());
            diagnostics.push(Diagnostic::warning("Missing resource schema from provider", detail));
            continue;
        };
        if let Err(error) = json::from_json(text.as_bytes(), schema.implied_type()) {
            let detail = format!("Error decoding {:?} from prior state: {error}", addr.to_string());
            diagnostics.push(Diagnostic::warning("Failed to decode resource from state", detail));
        }
    }
    diagnostics
}
