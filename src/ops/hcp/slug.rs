//! The archive of a configuration, for the machines that run it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use base::files::named;
use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};

use super::ignore::IgnoreRules;

/// Folders nested deeper than this are an error: a circle of links.
const DEEPEST: usize = 100;

/// Packs a folder without the files that its `.terraformignore` names. Links that lead out of it are followed.
pub fn pack(folder: &Path) -> io::Result<Vec<u8>> {
    let root = folder.canonicalize().map_err(|e| named(e, "open", folder))?;
    let encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let rules = IgnoreRules::of_folder(&root)?;
    let mut packer = Packer { root: root.clone(), rules, archive: Builder::new(encoder) };
    packer.folder(&root, "", 0)?;
    packer.archive.into_inner()?.finish()
}

/// An archive of one empty folder, for runs that destroy everything.
pub fn pack_nothing(folder: &str) -> io::Result<Vec<u8>> {
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    if !folder.is_empty() {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Directory);
        header.set_mode(0o755);
        header.set_size(0);
        archive.append_data(&mut header, format!("{folder}/"), io::empty())?;
    }
    archive.into_inner()?.finish()
}

struct Packer {
    root: PathBuf,
    rules: IgnoreRules,
    archive: Builder<GzEncoder<Vec<u8>>>,
}

impl Packer {
    /// Adds the content of a folder. `name` is its path in the archive, with a slash at the end; empty for the root.
    fn folder(&mut self, path: &Path, name: &str, depth: usize) -> io::Result<()> {
        if depth > DEEPEST {
            return Err(io::Error::other(format!(
                "too many folders in folders, or a circle of links: {}",
                path.display()
            )));
        }
        let entries = fs::read_dir(path).map_err(|e| named(e, "open", path))?;
        let mut entries: Vec<_> = entries.collect::<io::Result<_>>().map_err(|e| named(e, "read", path))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let name = format!("{name}{}", entry.file_name().to_string_lossy());
            let metadata = entry.metadata().map_err(|e| named(e, "stat", &path))?;
            if metadata.is_symlink() {
                if self.rules.ignores(&name) {
                    continue;
                }
                if self.keeps_link(&path) {
                    self.link(&path, &name)?;
                    continue;
                }
            }
            // A link that leads out is replaced by its target.
            let metadata = fs::metadata(&path).map_err(|e| named(e, "stat", &path))?;
            if metadata.is_dir() {
                self.subfolder(&path, &name, depth)?;
            } else if metadata.is_file() && !self.rules.ignores(&name) {
                self.file(&path, &name, &metadata)?;
            }
        }
        Ok(())
    }

    fn subfolder(&mut self, path: &Path, name: &str, depth: usize) -> io::Result<()> {
        let name = format!("{name}/");
        if self.rules.ignores_all_of(&name) {
            return Ok(());
        }
        if !self.rules.ignores(&name) {
            let mut header = Header::new_gnu();
            header.set_metadata(&fs::metadata(path).map_err(|e| named(e, "stat", path))?);
            header.set_size(0);
            self.archive.append_data(&mut header, &name, io::empty())?;
        }
        self.folder(path, &name, depth + 1)
    }

    fn file(&mut self, path: &Path, name: &str, metadata: &fs::Metadata) -> io::Result<()> {
        let file = fs::File::open(path).map_err(|e| named(e, "open", path))?;
        let mut header = Header::new_gnu();
        header.set_metadata(metadata);
        self.archive.append_data(&mut header, name, file).map_err(|e| named(e, "read", path))
    }

    /// Whether a link leads to a place in the archive, by a path that is valid there too.
    fn keeps_link(&self, path: &Path) -> bool {
        let is_relative = fs::read_link(path).is_ok_and(|target| target.is_relative());
        is_relative && path.canonicalize().is_ok_and(|target| target.starts_with(&self.root))
    }

    fn link(&mut self, path: &Path, name: &str) -> io::Result<()> {
        let target = fs::read_link(path).map_err(|e| named(e, "readlink", path))?;
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_mode(0o777);
        header.set_size(0);
        self.archive.append_link(&mut header, name, target)
    }
}

#[cfg(test)]
mod tests {
    use flate2::read::GzDecoder;

    use super::*;

    fn names(archive: &[u8]) -> Vec<String> {
        let mut archive = tar::Archive::new(GzDecoder::new(archive));
        let entries = archive.entries().unwrap();
        entries.map(|entry| entry.unwrap().path().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn ignored_files_are_not_packed() {
        let dir = tempfile::tempdir().unwrap();
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        for file in ["main.tf", "a.log", "m/x.tf", ".git/config", ".terraform/modules/m/y.tf", ".terraform/z"] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("o.tf"), "o").unwrap();
        fs::write(root.join(".terraformignore"), "*.log\n").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../outside", root.join("linked")).unwrap();
            std::os::unix::fs::symlink("main.tf", root.join("same.tf")).unwrap();
            std::os::unix::fs::symlink("nowhere", root.join("broken.log")).unwrap();
        }
        let packed = names(&pack(&root).unwrap());
        let expected = [
            ".terraform/modules/",
            ".terraform/modules/m/",
            ".terraform/modules/m/y.tf",
            ".terraformignore",
            "linked/",
            "linked/o.tf",
            "m/",
            "m/x.tf",
            "main.tf",
            "same.tf",
        ];
        let packed: Vec<&str> = packed.iter().map(String::as_str).filter(|name| *name != ".terraform/").collect();
        assert_eq!(packed, expected);
        assert!(names(&pack_nothing("").unwrap()).is_empty());
    }
}
