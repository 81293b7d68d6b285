//! Where files of the user are that belong to no working directory.

use std::path::PathBuf;

use base::env::{self, Environment};

/// The program's folder among the user's data, which may not exist yet; none if the environment names no place.
pub fn folder(environment: &Environment) -> Option<PathBuf> {
    let base = match environment.non_empty(env::XDG_DATA_HOME) {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(environment.non_empty(env::HOME)?).join(".local/share"),
    };
    Some(base.join("terrane"))
}
