//! `version`

use ops::configuration::load::note_root_version;
use ops::plugins::selections::{platform, selections};
use ops::version_check::{self, IndexSource, VersionReport};

use crate::view::version::view;
use crate::{Invocation, args};

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let wanted = match args::version::parse(args) {
        Ok(wanted) => wanted,
        Err(error) => return invocation.usage_error(error),
    };
    let dialect = invocation.environment.dialect();
    note_root_version(dialect);
    let report = match wanted.check.map(|source| check(invocation, &source)).transpose() {
        Ok(report) => report,
        Err(code) => return code,
    };
    invocation.console.print(&view(wanted.json, dialect).text(&platform(), &selections(), report.as_ref()));
    0
}

/// Looks for newer versions. Errors are shown here.
fn check(invocation: &Invocation, source: &IndexSource) -> Result<VersionReport, u8> {
    let console = &invocation.console;
    let checked = super::run_alone(invocation, version_check::run(&invocation.environment, source))?;
    let (report, warnings) = checked.map_err(|diagnostics| super::finish(console, diagnostics))?;
    // Programs may read the standard output.
    console.diagnostics_aside(warnings);
    Ok(report)
}
