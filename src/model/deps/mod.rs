//! Dependencies of a configuration and their locks: versions, constraints, requirements, package hashes, the lock
//! files and the manifest of modules. Texts and rules only; fetching is `install`.
//!
//! Never opens a file, and never knows the sources of packages.

pub mod compatible;
pub mod constraint;
pub mod hash;
pub mod lock;
mod lock_comments;
pub mod module_constraints;
pub mod module_lock;
pub mod module_manifest;
pub mod requirement;
pub mod version;

pub use constraint::{Constraint, Constraints, Operator};
pub use hash::Hash;
pub use lock::{Lock, LockedProvider};
pub use module_constraints::ModuleConstraints;
pub use module_lock::{ModuleLock, PackageId};
pub use requirement::Requirements;
pub use version::Version;
