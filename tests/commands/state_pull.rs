//! The bytes of `state pull`; recorded transcripts leave out empty lines at the end.

use crate::support::Project;

#[test]
fn the_snapshot_ends_as_the_reference_prints_it() {
    let project = Project::new("output \"o\" {\n  value = 1\n}\n");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    let stored = std::fs::read_to_string(project.path("work/terraform.tfstate")).unwrap();
    assert_eq!(project.ok(&["state", "pull"]).out, stored + "\n");
}
