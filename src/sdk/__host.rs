//! What the crate for acceptance tests needs of this one. Not part of the interface: it changes without notice.

pub use crate::log::start as start_log;
#[cfg(feature = "ring")]
pub use crate::serve::{ProtocolError, check_protocol_5, reattach_entry};
pub use crate::stop::Stop;
