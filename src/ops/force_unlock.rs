//! `force-unlock`: a lock removed that nobody will release any more.

use crate::base::diag::Diagnostics;

use super::options::StateOptions;
use super::read_state;
use super::setup::Setup;

/// Whether the locks of the backend in use are held by processes of this machine, so that only they can release them.
pub async fn is_local(setup: &Setup) -> Result<bool, Diagnostics> {
    // The local backend is the only one yet.
    read_state::open(setup, &StateOptions::default()).await.map(|_| true)
}
