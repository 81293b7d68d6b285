//! The work of nodes without a block: orphaned objects, and the changes of an apply.

use std::sync::Arc;

use crate::engine::blocks::BlockId;
use crate::model::addr::{AbsResourceInstance, ConfigResource};
use crate::model::plan::ResourceChange;

/// Objects in the state without a block, of one resource.
#[derive(Clone, Debug)]
pub struct Orphans {
    pub resource: ConfigResource,
    pub provider: u32,
    pub instances: Vec<AbsResourceInstance>,
}

/// A planned change that apply carries out.
#[derive(Clone, Debug)]
pub struct Task {
    pub change: Arc<ResourceChange>,
    pub provider: u32,
    pub block: Option<BlockId>,
}
