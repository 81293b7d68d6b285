//! `version`

use ops::configuration::load::note_root_version;
use ops::plugins::selections::{platform, selections};

use crate::view::version::view;
use crate::{Invocation, args};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let json = match args::version::parse(args) {
        Ok(json) => json,
        Err(error) => return invocation.usage_error(error),
    };
    let dialect = invocation.environment.dialect();
    note_root_version(dialect);
    invocation.console.print(&view(json, dialect).text(&platform(), &selections()));
    0
}
