//! Packages of one installation: each address is fetched once, and its files are copied for further calls.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::{OnceCell, Semaphore};

use super::checksum::Content;
use super::fetch::{FetchError, Fetched};
use super::folders::{self, CopyScope, Image};

/// So many packages are fetched at the same time.
const AT_ONCE: usize = 8;

/// Why a module has no package.
#[derive(Clone, Debug)]
pub enum ModulePackageError {
    Fetch(FetchError),
    /// It is not what was recorded the first time: those hashes, and the one of what came.
    Changed {
        known: String,
        came: String,
    },
}

/// A package that came.
pub struct ModulePackage {
    pub fetched: Fetched,
    /// None if it is not checked.
    pub content: Option<Content>,
    pub(super) staged: PathBuf,
    /// The first place that it was put to: the others are copies of that.
    pub(super) home: Mutex<Option<PathBuf>>,
    /// The content to copy, set on first use; None: too large to keep.
    pub(super) image: OnceLock<Option<Image>>,
}

pub(super) type PackageCell = Arc<OnceCell<Result<Arc<ModulePackage>, ModulePackageError>>>;

pub struct Packages {
    staging: PathBuf,
    cells: Mutex<HashMap<String, PackageCell>>,
    /// For packages that are fetched at the same time.
    pub(super) permits: Semaphore,
    count: AtomicUsize,
}

impl Packages {
    pub fn new(staging: &Path) -> Packages {
        Packages {
            staging: staging.to_owned(),
            cells: Mutex::default(),
            permits: Semaphore::new(AT_ONCE),
            count: AtomicUsize::new(0),
        }
    }

    /// The package at an address, once it is fetched.
    pub(super) fn cell(&self, address: &str) -> PackageCell {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        cells.entry(address.to_owned()).or_default().clone()
    }

    /// A name for something temporary.
    pub(super) fn temporary(&self) -> PathBuf {
        self.staging.join(self.count.fetch_add(1, Ordering::Relaxed).to_string())
    }
}

impl ModulePackage {
    /// Puts the package in a folder.
    pub(super) fn install(&self, target: &Path, copy: &Path, attic: &Path) -> std::io::Result<()> {
        let source = {
            let mut home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
            match &*home {
                Some(home) => home.clone(),
                None => {
                    folders::replace(&self.staged, target, attic)?;
                    *home = Some(target.to_owned());
                    return Ok(());
                }
            }
        };
        let what = if self.fetched == Fetched::Link { CopyScope::Visible } else { CopyScope::Package };
        match self.image.get() {
            Some(Some(image)) => image.write(copy)?,
            Some(None) => folders::copy(&source, copy, what)?,
            None => {
                let image = Image::of(&source, what)?;
                match &image {
                    Some(image) => image.write(copy)?,
                    None => folders::copy(&source, copy, what)?,
                }
                // Concurrent callers set the same image.
                let _ = self.image.set(image);
            }
        }
        folders::replace(copy, target, attic)
    }
}
