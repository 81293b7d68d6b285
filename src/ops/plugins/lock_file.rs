//! The dependency lock file on disk.

use std::io;
use std::path::Path;

use base::atomic;
use base::dialect::Dialect;
use base::files::{Disk, Files};
use model::deps::lock::{LOCK_FILE, Lock};

/// Writes the file anew; what people wrote between its lines stays.
pub fn write(lock: &Lock, dialect: Dialect) -> io::Result<()> {
    let text = match Disk.read_to_string(Path::new(LOCK_FILE)) {
        Ok(earlier) => lock.to_text_keeping(dialect, &earlier),
        Err(_) => lock.to_text(dialect),
    };
    atomic::write(Path::new(LOCK_FILE), text.as_bytes())
}
