//! What the logs of the program and of providers share: levels, the content of an event, and what of a library's event is shown.
//!
//! - [`Level`]: as `TF_LOG` names them.
//! - [`Entry`]: the message and the fields of an event of `tracing`.
//! - [`library`]: an entry without what may be secret.
//! - [`Masks`]: texts that no line may have; [`masked`] is a text without them.
//!
//! Never knows where lines go or which format they have.

mod entry;
mod level;
pub mod library;
mod masks;

pub use entry::{Entry, Fields};
pub use level::Level;
pub use masks::{Masks, masked};
