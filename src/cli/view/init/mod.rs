//! What `init` shows: lines for people, or a stream of JSON lines.
//!
//! Never decides what is done.

pub mod human;
mod json;
pub mod texts;

use std::sync::Arc;

use ops::init::{InitEvent, InitOutcome};

use super::both::Both;
use super::operation::Audience;
use crate::console::Console;

/// The view of `init`.
pub trait InitView: Sync {
    fn event(&self, event: &InitEvent);

    /// What is left to say.
    fn finish(&self, outcome: InitOutcome);
}

/// The view for an audience.
pub fn view(console: &Arc<Console>, audience: Audience) -> Box<dyn InitView> {
    let view: Box<dyn InitView> = match audience {
        Audience::Programs => Box::new(json::Json::new(console.clone())),
        Audience::People { in_automation } => Box::new(human::Human::new(console.clone(), in_automation)),
    };
    match &console.copy {
        Some(copy) => Box::new(Both(view, Box::new(json::Json::new(copy.clone())))),
        None => view,
    }
}
