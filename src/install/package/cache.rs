//! A folder of packages that several working directories share, and several processes at once.
//!
//! What is in it is read without a lock, for packages come to their places whole. Who wants to put one there holds the
//! lock of that package, and looks again once it has it. Nothing is ever taken out.

use std::path::{Path, PathBuf};
use std::{fs, io};

use base::files::{named, normal, reason};
use base::stop::Stop;
use model::addr::Provider;
use model::deps::{Hash, Version};

use super::archive::{Staged, Unpacked};
use super::lock::{self, PackageLock};
use super::stamp::{self, Stamps};
use super::temporary::beside;
use super::{PackageError, executable, link, relative_dir};

/// The shared folder.
#[derive(Clone, Debug)]
pub struct Cache {
    dir: PathBuf,
}

/// A package that the cache has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    pub dir: PathBuf,
    pub hash: Hash,
}

/// The right to put one package into the cache, until it is dropped.
#[derive(Debug)]
pub struct Reservation {
    dir: PathBuf,
    _lock: PackageLock,
}

impl Cache {
    /// `target` is the folder of the working directory that packages are linked into: it cannot be the cache as well.
    pub fn open(dir: &Path, target: &Path) -> Result<Cache, PackageError> {
        let fails = |why: String| PackageError::Cache { dir: dir.to_owned(), why };
        match fs::metadata(dir) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(fails("it is not a folder".to_owned())),
            Err(e) => return Err(fails(reason(&e))),
        }
        if same(dir, target).map_err(|e| fails(reason(&e)))? {
            return Err(fails(format!(
                "it must not be the folder that packages are installed in, {}",
                target.display()
            )));
        }
        // The links to packages of the cache hold wherever they are.
        Ok(Cache { dir: std::path::absolute(dir).map_err(|e| named(e, "find", dir))? })
    }

    /// Where a package is, or would be.
    pub fn package_dir(&self, provider: &Provider, version: &Version) -> PathBuf {
        self.dir.join(relative_dir(provider, version))
    }

    /// The package, if it is there, has an executable, and its hash is accepted.
    pub fn find(
        &self,
        provider: &Provider,
        version: &Version,
        stamps: &Stamps,
        accepts: impl Fn(&Hash) -> bool,
    ) -> Option<Cached> {
        look(&self.package_dir(provider, version), provider, stamps, accepts)
    }

    /// Waits until no other process is storing this package. `contended` is called once if that takes long.
    pub async fn reserve(
        &self,
        provider: &Provider,
        version: &Version,
        stop: &Stop,
        contended: impl FnOnce(),
    ) -> Result<Reservation, PackageError> {
        let dir = self.package_dir(provider, version);
        let lock = lock::acquire(&beside(&dir, "lock"), stop, contended).await?;
        Ok(Reservation { dir, _lock: lock })
    }
}

impl Reservation {
    /// Where the package goes: the target of [`super::archive::stage`].
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// As [`Cache::find`]: another process may have been faster.
    pub fn find(&self, provider: &Provider, stamps: &Stamps, accepts: impl Fn(&Hash) -> bool) -> Option<Cached> {
        look(&self.dir, provider, stamps, accepts)
    }

    /// The package that is here already, with the hash of the archive that it came from: then it is as good as that archive.
    pub fn origin(&self, provider: &Provider) -> Option<(Hash, Hash)> {
        executable(&self.dir, provider).ok()?;
        stamp::origin(&self.dir)
    }

    /// Puts a package here that was unpacked beside [`Reservation::dir`] from the archive with this hash.
    pub fn store(self, staged: Staged, archive: Option<&Hash>) -> Result<Unpacked, PackageError> {
        let unpacked = staged.finish()?;
        stamp::write_beside(&unpacked.dir, &unpacked.hashes.unpacked, archive);
        Ok(unpacked)
    }

    /// Makes the cache lead to a package in a folder elsewhere.
    pub fn link(self, source: &Path) -> Result<PathBuf, PackageError> {
        link::link(source, &self.dir)?;
        Ok(self.dir)
    }
}

fn look(dir: &Path, provider: &Provider, stamps: &Stamps, accepts: impl Fn(&Hash) -> bool) -> Option<Cached> {
    if !dir.is_dir() {
        return None;
    }
    let hash = stamps.hash_of(dir).ok()?;
    let fits = accepts(&hash) && executable(dir, provider).is_ok();
    fits.then(|| Cached { dir: dir.to_owned(), hash })
}

/// Whether two paths are one folder, however they are written; the second need not exist.
fn same(dir: &Path, target: &Path) -> io::Result<bool> {
    let real = fs::canonicalize(dir)?;
    let target = std::path::absolute(target)?;
    // Of what does not exist, the part that does tells where it would be.
    let existing = target.ancestors().find_map(|part| fs::canonicalize(part).ok().map(|real| (part, real)));
    let Some((part, base)) = existing else { return Ok(false) };
    let rest = target.strip_prefix(part).unwrap_or(Path::new(""));
    Ok(normal(&base.join(rest)) == real)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::archive;
    use crate::package::contents::Limits;

    fn wanted() -> (Provider, Version) {
        (Provider::default_for("foo"), Version::parse("1.0.0").unwrap())
    }

    /// An archive with the provider's program.
    fn archive(dir: &Path) -> PathBuf {
        let path = dir.join("a.zip");
        let mut zip = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        zip.start_file("terraform-provider-foo_v1.0.0", zip::write::SimpleFileOptions::default()).unwrap();
        io::Write::write_all(&mut zip, b"#!/bin/sh\n").unwrap();
        zip.finish().unwrap();
        path
    }

    #[tokio::test]
    async fn a_cached_package_is_found_by_all() {
        let dir = tempfile::tempdir().unwrap();
        let (provider, version) = wanted();
        let (zip, stop) = (archive(dir.path()), Stop::new());
        let folder = dir.path().join("cache");
        fs::create_dir(&folder).unwrap();
        let cache = Cache::open(&folder, &dir.path().join("w/.terraform/providers")).unwrap();
        let stamps = Stamps::load(&dir.path().join("w"));
        assert_eq!(cache.find(&provider, &version, &stamps, |_| true), None);
        // What a killed run left is swept by the next one that may put something there.
        let left = cache.package_dir(&provider, &version).with_file_name(".unpacking-left");
        fs::create_dir_all(&left).unwrap();
        let fetch = async |stamps: &Stamps| {
            let reservation = cache.reserve(&provider, &version, &stop, || ()).await.unwrap();
            if let Some(found) = reservation.find(&provider, stamps, |_| true) {
                return (found.hash, false);
            }
            let staged = archive::stage(&zip, reservation.dir(), &provider, &Limits::default(), &stop).unwrap();
            // Concurrent readers do not see the package yet.
            assert_eq!(cache.find(&provider, &version, stamps, |_| true), None);
            tokio::task::yield_now().await;
            (reservation.store(staged, None).unwrap().hashes.unpacked, true)
        };
        let ((one, fetched), (other, again)) = tokio::join!(fetch(&stamps), fetch(&stamps));
        assert_eq!((one, fetched && again, fetched || again), (other.clone(), false, true));
        assert!(!left.exists());
        let found = cache.find(&provider, &version, &stamps, |hash| *hash == other).unwrap();
        assert_eq!(found.dir, cache.package_dir(&provider, &version));
        assert_eq!(cache.find(&provider, &version, &stamps, |_| false), None);
    }

    #[tokio::test]
    async fn a_bad_package_is_replaced_while_others_are_linked_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let (provider, version) = wanted();
        let folder = dir.path().join("cache");
        fs::create_dir(&folder).unwrap();
        let cache = Cache::open(&folder, &dir.path().join("w")).unwrap();
        let place = cache.package_dir(&provider, &version);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("terraform-provider-foo"), "torn").unwrap();
        let used = dir.path().join("w/package");
        link::link(&place, &used).unwrap();
        let reservation = cache.reserve(&provider, &version, &Stop::new(), || ()).await.unwrap();
        let zip = archive(dir.path());
        let staged = archive::stage(&zip, reservation.dir(), &provider, &Limits::default(), &Stop::new()).unwrap();
        reservation.store(staged, None).unwrap();
        assert_eq!(fs::read_to_string(used.join("terraform-provider-foo_v1.0.0")).unwrap(), "#!/bin/sh\n");
        assert!(!used.join("terraform-provider-foo").exists());
    }

    #[test]
    fn some_folders_cannot_be_caches() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, file) = (dir.path().join("c"), dir.path().join("f"));
        fs::create_dir(&cache).unwrap();
        fs::write(&file, "").unwrap();
        let why = |dir: &Path, target: &Path| Cache::open(dir, target).unwrap_err().to_string();
        assert!(why(&dir.path().join("gone"), &cache).ends_with("no such file or directory"));
        assert!(why(&file, &cache).ends_with("it is not a folder"));
        let itself =
            |target: PathBuf| why(&cache, &target).contains("must not be the folder that packages are installed in");
        assert!(itself(cache.clone()));
        assert!(itself(dir.path().join("./x/../c")));
        assert!(why(&cache.join("../c"), &cache).contains("must not be"));
        #[cfg(unix)]
        {
            let link = dir.path().join("l");
            std::os::unix::fs::symlink(&cache, &link).unwrap();
            assert!(itself(link.clone()));
            assert!(why(&link, &cache).contains("must not be"));
            // A folder within it is another one, there or not.
            assert!(Cache::open(&cache, &link.join("providers")).is_ok());
        }
        assert!(Cache::open(&cache, &dir.path().join("other/c")).is_ok());
    }
}
