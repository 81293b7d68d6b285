//! What `init` shows: lines for people, or a stream of JSON lines.
//!
//! Never decides what is done.

mod contract;
pub mod human;
mod json;
pub mod texts;

use std::sync::Arc;

pub use contract::InitView;

use super::both::Both;
use super::operation::Audience;
use crate::console::Console;

/// The view for an audience.
pub fn view(console: &Arc<Console>, audience: Audience) -> Box<dyn InitView> {
    let view: Box<dyn InitView> = match audience {
        Audience::Programs => Box::new(json::InitJson::new(console.clone())),
        Audience::People { in_automation } => Box::new(human::InitHuman::new(console.clone(), in_automation)),
    };
    match &console.copy {
        Some(copy) => Box::new(Both(view, Box::new(json::InitJson::new(copy.clone())))),
        None => view,
    }
}
