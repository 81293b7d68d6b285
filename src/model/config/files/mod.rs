//! From the files of a folder to a module, and from the root module to the tree of modules.
//!
//! Owns which files count, how override files change the others, and how called modules are found. Never installs a module.

pub mod call_check;
pub mod decode;
pub mod file_set;
pub mod load;
pub mod merge;
pub mod module_file;
pub mod overrides;
pub mod required_version;
