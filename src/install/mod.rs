//! The door to providers and modules: sources, checksums, packages, the lock file as a result.
