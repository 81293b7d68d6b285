//! `version`

use crate::cli::Invocation;
use crate::cli::args;
use crate::cli::view::version::view;
use crate::ops::configuration::load::note_root_version;
use crate::ops::plugins::selections::{platform, selections};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let json = match args::version::parse(args) {
        Ok(json) => json,
        Err(error) => return invocation.usage_error(error),
    };
    note_root_version();
    invocation.console.print(&view(json).text(&platform(), &selections()));
    0
}
