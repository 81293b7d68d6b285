//! What of a test file the program refuses in whose place Terrane runs.

use base::diag::{Diagnostic, Diagnostics};
use base::name::TERRANE;
use base::source::Range;

use super::TestFile;
use crate::opentofu;

impl TestFile {
    /// Warns of what works here only: under the names of other programs, teams share files with those that run these.
    pub fn check_portability(&self) -> Diagnostics {
        let mut diags = Diagnostics::new();
        if let Some(range) = self.extensions_range.as_ref().filter(|range| is_foreign(range)) {
            let program = range.dialect().program();
            let detail = format!(
                "{program} refuses this test file: it has no \"extensions\" argument and none of the words that this one allows. They \
                 are an extension of {TERRANE}."
            );
            diags.push(Diagnostic::warning("Extensions in a test file", detail).at(range.clone()));
        }
        diags.extend(self.skip_cleanup_range.as_ref().and_then(|range| experiment("\"skip_cleanup\" argument", range)));
        for run in &self.runs {
            let range = run.skip_cleanup_range.as_ref();
            diags.extend(range.and_then(|range| experiment("\"skip_cleanup\" argument", range)));
            let backend = run.backend.as_ref();
            diags.extend(backend.and_then(|backend| experiment("\"backend\" block", &backend.range)));
        }
        diags
    }
}

fn is_foreign(range: &Range) -> bool {
    opentofu::warns_of_extensions(range.dialect())
}

fn experiment(what: &str, range: &Range) -> Option<Diagnostic> {
    if !opentofu::warns_of_experiments(range.dialect()) {
        return None;
    }
    let detail = format!(
        "Stable releases of Terraform refuse the {what} in test files: only experimental builds have it. {TERRANE} has it always."
    );
    Some(Diagnostic::warning("Experimental test feature", detail).at(range.clone()))
}
