//! Saved plans of the reference: shown as it shows them, and applied.

use serde_json::Value as Json;

use super::folders::{FOLDERS, applied};
use crate::support::{Outcome, reference};

fn json(outcome: Outcome) -> Json {
    outcome.expect(0, &[]);
    let mut json: Json = serde_json::from_str(&outcome.out).unwrap();
    for name in ["terraform_version", "format_version"] {
        json.as_object_mut().unwrap().remove(name);
    }
    json
}

#[test]
fn plans_of_the_reference_are_shown_and_applied() {
    let Some(terraform) = reference() else { return };
    for (folder, second) in FOLDERS.iter().filter(|(_, second)| !second.is_empty()) {
        let project = applied(folder, &[], &terraform);
        let theirs = |args: &[&str]| project.finish(project.command(&terraform, args));
        theirs(&[&["plan", "-input=false", "-out=kept"], *second].concat());
        assert_eq!(json(project.run(&["show", "-json", "kept"])), json(theirs(&["show", "-json", "kept"])), "{folder}");
        let outcome = project.run(&["apply", "-no-color", "-input=false", "kept"]);
        let refused = ["plan file", "Failed to read plan"].iter().any(|text| outcome.text().contains(text));
        assert!(!refused, "{folder}\n{}{}", outcome.out, outcome.err);
        if outcome.code == Some(0) {
            let after = theirs(&[&["plan", "-input=false", "-detailed-exitcode"], *second].concat());
            assert_ne!(after.code, Some(1), "{folder}\n{}{}", after.out, after.err);
        }
    }
}
