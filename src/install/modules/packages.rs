//! Packages of one installation: each address is fetched once, and its files are copied for further calls.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use model::deps::PackageId;
use tokio::sync::{OnceCell, Semaphore};

use super::checksum::{self, Checksums, Content};
use super::context::Context;
use super::fetch::{FetchError, Fetched};
use super::place::{self, Image, What};

/// So many packages are fetched at the same time.
const AT_ONCE: usize = 8;

/// Why a module has no package.
#[derive(Clone, Debug)]
pub enum PackageError {
    Fetch(FetchError),
    /// It is not what was recorded the first time: those hashes, and the one of what came.
    Changed {
        known: String,
        came: String,
    },
}

/// A package that came.
pub struct Package {
    pub fetched: Fetched,
    /// None if it is not checked.
    pub content: Option<Content>,
    staged: PathBuf,
    /// The first place that it was put to: the others are copies of that.
    home: Mutex<Option<PathBuf>>,
    /// The content to copy, set on first use; None: too large to keep.
    image: OnceLock<Option<Image>>,
}

type Cell = Arc<OnceCell<Result<Arc<Package>, PackageError>>>;

pub struct Packages {
    staging: PathBuf,
    cells: Mutex<HashMap<String, Cell>>,
    permits: Semaphore,
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

    /// A name for something temporary.
    fn temporary(&self) -> PathBuf {
        self.staging.join(self.count.fetch_add(1, Ordering::Relaxed).to_string())
    }
}

impl Context {
    /// Puts the package at an address to its place.
    pub async fn bring(
        self: &Arc<Self>,
        address: &str,
        id: &PackageId,
        place: &Path,
    ) -> Result<Arc<Package>, PackageError> {
        let cell = {
            let mut cells = self.packages.cells.lock().unwrap_or_else(PoisonError::into_inner);
            cells.entry(address.to_owned()).or_default().clone()
        };
        let package = cell.get_or_init(|| self.fetch(address, id, place)).await.clone()?;
        let (copy, attic) = (self.packages.temporary(), self.packages.temporary());
        let (shared, target) = (package.clone(), place.to_owned());
        let put = self.on_disk(move || shared.put(&target, &copy, &attic)).await;
        put.and_then(|done| done.map_err(|e| e.to_string())).map_err(|e| PackageError::Fetch(FetchError::Failed(e)))?;
        Ok(package)
    }

    /// `place`: what messages call the folder of the package, in place of the temporary one.
    async fn fetch(
        self: &Arc<Self>,
        address: &str,
        id: &PackageId,
        place: &Path,
    ) -> Result<Arc<Package>, PackageError> {
        let failed = |why: String| PackageError::Fetch(FetchError::Failed(why));
        let _permit = self.packages.permits.acquire().await.map_err(|e| failed(e.to_string()))?;
        let staged = self.packages.temporary();
        let named = |error: FetchError| match error {
            FetchError::Failed(why) => failed(why.replace(&*staged.to_string_lossy(), &place.to_string_lossy())),
            FetchError::Interrupted => PackageError::Fetch(error),
        };
        let fetched = self.fetcher.fetch(address, &staged).await.map_err(named)?;
        let mut content = None;
        if self.checksums != Checksums::Off && fetched == Fetched::Files {
            let folder = staged.clone();
            let summed = self.on_disk(move || checksum::of_folder(&folder)).await;
            content = Some(summed.and_then(|sum| sum.map_err(|e| e.to_string())).map_err(failed)?);
        }
        let known = self.lock.packages.get(id).filter(|_| !self.upgrade);
        if let (Some(content), Some(known)) = (&content, known)
            && !known.contains(&content.hash)
        {
            let known: Vec<&str> = known.iter().map(|hash| hash.as_str()).collect();
            return Err(PackageError::Changed { known: known.join(", "), came: content.hash.to_string() });
        }
        Ok(Arc::new(Package { fetched, content, staged, home: Mutex::new(None), image: OnceLock::new() }))
    }
}

impl Package {
    fn put(&self, target: &Path, copy: &Path, attic: &Path) -> std::io::Result<()> {
        let source = {
            let mut home = self.home.lock().unwrap_or_else(PoisonError::into_inner);
            match &*home {
                Some(home) => home.clone(),
                None => {
                    place::put(&self.staged, target, attic)?;
                    *home = Some(target.to_owned());
                    return Ok(());
                }
            }
        };
        let what = if self.fetched == Fetched::Link { What::Visible } else { What::Package };
        match self.image.get() {
            Some(Some(image)) => image.write(copy)?,
            Some(None) => place::copy(&source, copy, what)?,
            None => {
                let image = Image::of(&source, what)?;
                match &image {
                    Some(image) => image.write(copy)?,
                    None => place::copy(&source, copy, what)?,
                }
                // Concurrent callers set the same image.
                let _ = self.image.set(image);
            }
        }
        place::put(copy, target, attic)
    }
}
