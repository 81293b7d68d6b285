//! What is depended on: versions, constraints, requirements, package hashes, the lock file, the module manifest.
