//! Where files of the user are that belong to no working directory.

use std::path::PathBuf;

use base::env::{self, Environment};

/// The program's folder among the user's data, which may not exist yet; none if the environment names no place.
pub fn folder(environment: &Environment) -> Option<PathBuf> {
    folder_below(environment, env::XDG_DATA_HOME, ".local/share")
}

/// As [`folder`], of what the program has seen, which may be deleted at any time.
pub fn state_folder(environment: &Environment) -> Option<PathBuf> {
    folder_below(environment, env::XDG_STATE_HOME, ".local/state")
}

fn folder_below(environment: &Environment, variable: &str, in_home: &str) -> Option<PathBuf> {
    let named = |name: &str| environment.non_empty(name).map(PathBuf::from);
    let of_home = || named(env::HOME).map(|home| home.join(in_home));
    // Some shells of Windows set HOME, others do not: the place must not depend on it.
    let of_system = || named(env::LOCALAPPDATA).filter(|_| cfg!(windows));
    let base = named(variable).or_else(of_system).or_else(of_home)?;
    Some(base.join("terrane"))
}
