//! Addresses (to follow).

use super::builtin::Builtin;

pub(super) fn table() -> Vec<Builtin> {
    Vec::new()
}
