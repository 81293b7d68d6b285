//! What registries have answered in one installation: each module is asked for once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;

use crate::registry::modules::RegistryError;

type AnswerCell<T> = Arc<OnceCell<Result<T, RegistryError>>>;

/// What registries have said.
#[derive(Default)]
pub struct Resolutions {
    pub(super) versions: Mutex<HashMap<String, AnswerCell<Arc<Vec<String>>>>>,
    pub(super) locations: Mutex<HashMap<(String, String), AnswerCell<String>>>,
}
