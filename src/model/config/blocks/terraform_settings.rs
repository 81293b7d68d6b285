//! The `terraform` blocks of all files of a module together: how they are merged, and what those of override files replace.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::body::Body;

use super::backend::Backend;
use super::encryption::Encryption;
use super::state_store;
use super::terraform::TerraformBlock;
use crate::config::providers::requirements::RequiredProviders;
use crate::model_errors::DUPLICATE_BACKEND;

/// What the blocks say that were merged so far.
#[derive(Default)]
pub struct TerraformSettings {
    pub required_versions: Vec<(String, Range)>,
    pub encryption: Option<Arc<Encryption>>,
    backend: Option<Backend>,
    cloud: Option<Backend>,
    store: Option<Backend>,
    provider_metas: BTreeMap<Arc<str>, (Body, Range)>,
}

/// The requirements of a module. They come first: resources find their provider by them.
pub fn requirements<'b>(
    blocks: impl Iterator<Item = &'b TerraformBlock>,
    diags: &mut Diagnostics,
) -> RequiredProviders {
    let mut found: Option<&(RequiredProviders, Range)> = None;
    for block in blocks.flat_map(|block| &block.requirements) {
        if let Some((_, first)) = found {
            let detail = format!(
                "A module may have only one required providers configuration. The required providers were previously \
                 configured at {first}."
            );
            diags.push(Diagnostic::error("Duplicate required providers configuration", detail).at(block.1.clone()));
            continue;
        }
        found = Some(block);
    }
    found.map(|(entries, _)| entries.clone()).unwrap_or_default()
}

const DUPLICATE_ENCRYPTION: &str = "Duplicate encryption configuration";

/// There is one `encryption` block at most; those with errors of their own do not count.
pub fn encryption<'b>(
    blocks: impl Iterator<Item = &'b TerraformBlock>,
    diags: &mut Diagnostics,
) -> Option<Arc<Encryption>> {
    let mut found: Option<&(Encryption, Range)> = None;
    for block in blocks.flat_map(|block| &block.encryptions) {
        if let Some((_, first)) = found {
            let detail = format!(
                "A module may have only one encryption configuration. Encryption was previously configured at {first}."
            );
            diags.push(Diagnostic::error(DUPLICATE_ENCRYPTION, detail).at(block.1.clone()));
            continue;
        }
        found = Some(block);
    }
    found.map(|(encryption, _)| Arc::new(encryption.clone()))
}

impl TerraformSettings {
    /// Adds a block, but for its requirements and its encryption.
    pub fn add(&mut self, block: TerraformBlock, diags: &mut Diagnostics) {
        self.required_versions.extend(block.required_version);
        for found in block.backends {
            if let Some(previous) = &self.backend {
                let detail = format!(
                    "A module may have only one backend configuration. The backend was previously configured at {}.",
                    previous.range
                );
                diags.push(Diagnostic::error(DUPLICATE_BACKEND, detail).at(found.range.clone()));
                continue;
            }
            self.backend = Some(found);
        }
        add_clouds(&mut self.cloud, block.clouds, diags);
        add_stores(&mut self.store, block.stores, diags);
        for (name, body, range) in block.provider_metas {
            if let Some((_, previous)) = self.provider_metas.get(&name) {
                let detail = format!(
                    "A provider_meta block for provider {:?} was already declared at {previous}. Providers may only have one \
                     provider_meta block per module.",
                    &*name
                );
                diags.push(Diagnostic::error("Duplicate provider_meta block", detail).at(range));
                continue;
            }
            self.provider_metas.insert(name, (body, range));
        }
    }

    /// What the blocks of an override file say replaces what was said before. Their `provider_meta` blocks have no effect.
    pub fn override_by(&mut self, file: Vec<TerraformBlock>, diags: &mut Diagnostics) {
        let (mut versions, mut backends) = (Vec::new(), Vec::new());
        let (mut cloud, mut store) = (None, None);
        let mut encryption: Option<Range> = None;
        for block in file {
            versions.extend(block.required_version);
            for (found, range) in block.encryptions {
                if let Some(first) = encryption.replace(range.clone()) {
                    let detail = format!(
                        "Each override file may have only one encryption configuration. Encryption was previously configured at {first}."
                    );
                    diags.push(Diagnostic::error(DUPLICATE_ENCRYPTION, detail).at(range));
                    continue;
                }
                let merged = match self.encryption.take() {
                    Some(base) => base.as_ref().clone().merged(found),
                    None => found,
                };
                self.encryption = Some(Arc::new(merged));
            }
            add_clouds(&mut cloud, block.clouds, diags);
            add_stores(&mut store, block.stores, diags);
            backends.extend(block.backends);
        }
        if !versions.is_empty() {
            self.required_versions = versions;
        }
        if let [first, second, ..] = &backends[..] {
            diags.push(duplicate_override(first, second));
            backends.clear();
        }
        // One place for states takes the place of another.
        let backend = backends.pop();
        if backend.is_some() || cloud.is_some() || store.is_some() {
            self.backend = backend.filter(|_| cloud.is_none());
            (self.cloud, self.store) = (cloud, store);
        }
    }

    /// Decides on the block that says where states are. Returns it, and a `state_store` block that conflicts with it.
    pub fn select_backend(&mut self, diags: &mut Diagnostics) -> (Option<Backend>, Option<Backend>) {
        let (backend, cloud, store) = (self.backend.take(), self.cloud.take(), self.store.take());
        let range = |block: &Option<Backend>| block.as_ref().map(|block| block.range.clone());
        if let Some(store) = &store {
            let (backend_range, cloud_range) = (range(&backend), range(&cloud));
            diags.extend(state_store::conflict(&store.range, backend_range.as_ref(), cloud_range.as_ref()));
        } else if let (Some(backend), Some(cloud)) = (&backend, &cloud) {
            let (hosted, kept) = (&cloud.range, &backend.range);
            let detail = format!(
                "A module may declare either one 'cloud' block OR one 'backend' block configuring a state backend. The 'cloud' \
                 block is configured at {hosted}; a backend is configured at {kept}. Remove the backend block to configure HCP \
                 Terraform or Terraform Enteprise."
            );
            let error = Diagnostic::error("Both a backend and cloud configuration are present", detail);
            diags.push(error.at(kept.clone()));
        }
        // `init` turns to the `cloud` block first.
        let backend = backend.filter(|_| store.is_none() || cloud.is_none());
        match backend.or(cloud) {
            Some(chosen) => (Some(chosen), store),
            None => (store, None),
        }
    }

    /// The `provider_meta` blocks, by local name.
    pub fn provider_metas(self) -> BTreeMap<Arc<str>, Body> {
        self.provider_metas.into_iter().map(|(name, (body, _))| (name, body)).collect()
    }
}

fn add_clouds(cloud: &mut Option<Backend>, blocks: Vec<Backend>, diags: &mut Diagnostics) {
    for found in blocks {
        match &cloud {
            Some(previous) => diags.push(duplicate_cloud(previous, &found)),
            None => *cloud = Some(found),
        }
    }
}

fn add_stores(store: &mut Option<Backend>, blocks: Vec<Backend>, diags: &mut Diagnostics) {
    for found in blocks {
        match &store {
            Some(previous) => diags.push(state_store::duplicate(&previous.range, &found.range)),
            None => *store = Some(found),
        }
    }
}

fn duplicate_cloud(previous: &Backend, found: &Backend) -> Diagnostic {
    let detail = format!(
        "A module may have only one 'cloud' block configuring HCP Terraform or Terraform Enterprise. The 'cloud' block was \
         previously configured at {}.",
        previous.range
    );
    Diagnostic::error("Duplicate HCP Terraform configurations", detail).at(found.range.clone())
}

/// The error of two backends in one override file.
fn duplicate_override(first: &Backend, second: &Backend) -> Diagnostic {
    let detail = format!(
        "Each override file may have only one backend configuration. A backend was previously configured at {}.",
        first.range
    );
    Diagnostic::error(DUPLICATE_BACKEND, detail).at(second.range.clone())
}
