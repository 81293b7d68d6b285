//! Symbol libraries, an experiment of OpenTofu 1.13 that Terrane does not have: the errors of modules that use them without
//! asking for the experiment.

use std::sync::{Arc, LazyLock};

use base::diag::{Diagnostic, Diagnostics};
use base::source::{Range, SourceFile};
use lang::syntax::ast::{Block, Traversal, TraversalStep};
use lang::syntax::body::BodySchema;

use crate::addr::parse::INVALID_REFERENCE;
use crate::opentofu;

/// The name of the experiment.
pub const SYMBOL_LIBRARIES: &str = "symbol_libraries";

const SYMBOLS: &str = "symbols";

static SCHEMA: LazyLock<BodySchema> = LazyLock::new(|| BodySchema::new().required("source").attribute("version"));

/// Checks a `symbols` block; gives the place of one that is sound.
pub fn check_block(block: &Block, diags: &mut Diagnostics) -> Option<Range> {
    let (_, problems) = block.body.content(&SCHEMA);
    let is_sound = !problems.has_errors();
    diags.extend(problems);
    is_sound.then(|| block.header_range())
}

/// The error about something that needs the experiment.
pub fn not_enabled(place: Range) -> Diagnostic {
    let detail = format!(
        "This module depends on features that are not yet stable and are only available with the {SYMBOL_LIBRARIES:?} experiment enabled"
    );
    Diagnostic::error("Language Experiment not enabled", detail).at(place)
}

/// The errors about a reference to a symbol library; none for other references.
pub fn refuse_reference(traversal: &Traversal, file: &Arc<SourceFile>) -> Option<Vec<Diagnostic>> {
    if traversal.root_name() != SYMBOLS || !opentofu::knows_symbol_libraries(file.dialect()) {
        return None;
    }
    let Some(TraversalStep::Attr { name, span }) = traversal.steps.first() else {
        let detail =
            format!("The {SYMBOLS:?} object cannot be accessed directly. Instead, access one of its attributes.");
        return Some(vec![Diagnostic::error(INVALID_REFERENCE, detail).at(traversal.root.span.in_file(file))]);
    };
    let place = traversal.root.span.to(*span).in_file(file);
    Some(vec![not_enabled(place.clone()), missing(&name.name, place)])
}

/// The errors about a call of a function in a symbol library; none for other functions.
pub fn refuse_function(name: &str, place: &Range) -> Option<Vec<Diagnostic>> {
    let path = path_in_library(name, place)?;
    Some(match path.split("::").collect::<Vec<_>>()[..] {
        [library, _] => {
            let mut first = not_enabled(place.clone());
            first.detail.push('.');
            vec![first, missing(library, place.clone())]
        }
        _ => {
            let detail = format!("invalid symbols function {name:?}: expected symbols::<name>::<function>");
            vec![Diagnostic::error("Unable to parse symbols function", detail).at(place.clone())]
        }
    })
}

/// The error about a type of a symbol library in the place of a type; none for other types.
pub fn refuse_type(name: &str, place: &Range) -> Option<Diagnostic> {
    let (library, kind) = path_in_library(name, place)?.split_once("::")?;
    (!kind.contains("::")).then(|| missing(library, place.clone()))
}

/// `symbols::a::b` -> `a::b`, where there are symbol libraries.
fn path_in_library<'n>(name: &'n str, place: &Range) -> Option<&'n str> {
    name.strip_prefix("symbols::").filter(|_| opentofu::knows_symbol_libraries(place.dialect()))
}

fn missing(library: &str, place: Range) -> Diagnostic {
    Diagnostic::error("Missing symbol library", format!("Symbol library {library} not declared")).at(place)
}
