//! The span of a call, whose fields are in every line that a provider logs during the call.

use tracing::Span;
use tracing::field::Empty;

use super::private_folder::random_name;
use super::wire::protocol::Call;

/// A field of the span, by its name in the log, for [`name_type`].
pub const RESOURCE_TYPE: &str = "tf_resource_type";
pub const DATA_SOURCE_TYPE: &str = "tf_data_source_type";
pub const EPHEMERAL_TYPE: &str = "tf_ephemeral_resource_type";
pub const ACTION_TYPE: &str = "tf_action_type";

/// The span of a new call. It has no parent, and costs nothing without a log.
pub(super) fn call_span(call: Call) -> Span {
    // At the highest level, because lines of every level have its fields.
    let span = tracing::error_span!(
        parent: None,
        "call",
        tf_rpc = call.name_for_people(),
        tf_req_id = Empty,
        tf_resource_type = Empty,
        tf_data_source_type = Empty,
        tf_ephemeral_resource_type = Empty,
        tf_action_type = Empty,
    );
    if !span.is_disabled()
        && let Ok(id) = random_name()
    {
        span.record("tf_req_id", id);
    }
    span
}

/// Adds the type that the current call is about to its span. `field` is a constant of this module.
pub fn name_type(field: &'static str, name: &str) {
    let span = Span::current();
    if span.metadata().is_some_and(|metadata| metadata.target() == module_path!()) {
        span.record(field, name);
    }
}
