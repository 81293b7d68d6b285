//! From the address of a package to its place: fetched once, checked, copied for further calls.

use std::sync::{Arc, Mutex, OnceLock};

use model::addr;
use model::deps::PackageId;

use super::checksum::{self, Checksums};
use super::context::Context;
use super::fetch::{FetchError, Fetched};
use super::packages::{ModulePackage, ModulePackageError};
use crate::event::ModuleEvent;

impl Context {
    /// Fetches the package at an address for a module, unless that was done already, and puts it in its place.
    pub async fn install_package(
        self: &Arc<Self>,
        address: &str,
        id: &PackageId,
        path: &addr::Module,
    ) -> Result<Arc<ModulePackage>, ModulePackageError> {
        let cell = self.packages.cell(address);
        let package = cell.get_or_init(|| self.fetch(address, id, path)).await.clone()?;
        let (copy, attic) = (self.packages.temporary(), self.packages.temporary());
        let (shared, target) = (package.clone(), self.place(path));
        let done = self.on_disk(move || shared.install(&target, &copy, &attic)).await.and_then(|done| done);
        done.map_err(|e| ModulePackageError::Fetch(FetchError::Failed(e.to_string())))?;
        Ok(package)
    }

    /// Messages name the place of the module, in place of the temporary folder.
    async fn fetch(
        self: &Arc<Self>,
        address: &str,
        id: &PackageId,
        path: &addr::Module,
    ) -> Result<Arc<ModulePackage>, ModulePackageError> {
        let place = self.place(path);
        let failed = |why: String| ModulePackageError::Fetch(FetchError::Failed(why));
        let _permit = self.packages.permits.acquire().await.map_err(|e| failed(e.to_string()))?;
        let staged = self.packages.temporary();
        let named = |error: FetchError| match error {
            FetchError::Failed(why) => failed(why.replace(&*staged.to_string_lossy(), &place.to_string_lossy())),
            FetchError::Interrupted => ModulePackageError::Fetch(error),
        };
        let progress = |have, all| self.report(ModuleEvent::Progress { path: path.clone(), have, all });
        let fetched = self.fetcher.fetch(address, &staged, &progress).await;
        self.report(ModuleEvent::Downloaded { path: path.clone() });
        let fetched = fetched.map_err(named)?;
        let mut content = None;
        if self.checksums != Checksums::Off && fetched == Fetched::Files {
            let folder = staged.clone();
            let summed = self.on_disk(move || checksum::of_folder(&folder)).await;
            content = Some(summed.and_then(|sum| sum).map_err(|e| failed(e.to_string()))?);
        }
        let known = self.lock.packages.get(id).filter(|_| !self.upgrade);
        if let (Some(content), Some(known)) = (&content, known)
            && !known.contains(&content.hash)
        {
            let known: Vec<&str> = known.iter().map(|hash| hash.as_str()).collect();
            return Err(ModulePackageError::Changed { known: known.join(", "), came: content.hash.to_string() });
        }
        Ok(Arc::new(ModulePackage { fetched, content, staged, home: Mutex::new(None), image: OnceLock::new() }))
    }
}
