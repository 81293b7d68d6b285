//! Where files of the user are that belong to no working directory.

use std::path::PathBuf;

use base::env::{self, Environment};

/// The program's folder among the user's data, which may not exist yet; none if the environment names no place.
pub fn folder(environment: &Environment) -> Option<PathBuf> {
    let named = |name: &str| environment.non_empty(name).map(PathBuf::from);
    let of_home = || named(env::HOME).map(|home| home.join(".local/share"));
    let of_system = || named(env::LOCALAPPDATA).filter(|_| cfg!(windows));
    let base = named(env::XDG_DATA_HOME).or_else(of_home).or_else(of_system)?;
    Some(base.join("terrane"))
}
