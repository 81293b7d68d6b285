//! Checksums of module packages: recorded the first time, checked every time.

use super::{Repository, calls};
use crate::support::Project;

const FILE: &str = "work/.terraform.modules.lock.hcl";
const CHANGED: &str = "Error: Module package has changed";

fn project() -> (Project, Repository) {
    let project = Project::new("");
    let repository = Repository::new(&project, "repository");
    repository.commit(&[("main.tf", "output \"v\" {\n  value = 1\n}\n"), ("data.txt", "1"), (".hidden", "1")]);
    project.write("work/main.tf", &calls(&[("a", &repository.url()), ("b", &repository.url())]));
    (project, repository)
}

#[test]
fn recorded_once_and_checked_when_fetched_again() {
    let (project, repository) = project();
    project.ok(&["init"]).expect(0, &["Terrane has recorded the checksums of module packages"]);
    let recorded = project.read(FILE);
    let head = format!("\nmodule \"{}\" {{\n  hashes = [\n    \"h1:", repository.url());
    assert!(recorded.contains(&head), "{recorded}");
    let again = project.ok(&["init"]);
    assert!(!again.out.contains("checksums"), "{}", again.out);
    assert_eq!(project.read(FILE), recorded);
    // Another user checks out the project, and the branch has moved.
    repository.commit(&[("data.txt", "2")]);
    std::fs::remove_dir_all(project.path("work/.terraform")).unwrap();
    project.run(&["init"]).expect(1, &[CHANGED, "run \"terrane init -upgrade\"", "on main.tf line 1"]);
    assert_eq!(project.read(FILE), recorded);
    project.ok(&["init", "-upgrade"]).expect(0, &["has made some changes to the checksums"]);
    assert_ne!(project.read(FILE), recorded);
    project.ok(&["init"]);
    project.ok(&["validate"]);
    // Modules without a call are removed.
    project.write("work/main.tf", "");
    project.ok(&["init"]);
    assert!(!project.read(FILE).contains("module \""));
}

#[test]
fn checked_at_every_init() {
    let (project, _) = project();
    project.ok(&["init"]);
    // Programs write into modules, and that is fine; configuration that appears is not, nor is what changes.
    project.write("work/.terraform/modules/a/built.zip", "x");
    project.ok(&["init"]);
    project.write("work/.terraform/modules/b/evil.tf", "");
    project.run(&["init"]).expect(1, &[CHANGED, "The module in .terraform/modules/b has the checksum"]);
    project.run(&["validate"]).expect(1, &["Module not installed"]);
    project.ok(&["init", "-upgrade"]);
    assert!(!project.exists("work/.terraform/modules/b/evil.tf"));
    project.write("work/.terraform/modules/b/data.txt", "other");
    project.run(&["get"]).expect(1, &[CHANGED]);
    // Without the record of what it was made of, it is fetched again.
    std::fs::remove_file(project.path("work/.terraform/modules/packages.json")).unwrap();
    project.ok(&["init"]);
    assert_eq!(project.read("work/.terraform/modules/b/data.txt"), "1");
}

#[test]
fn read_only_and_off() {
    let (mut project, repository) = project();
    project.ok(&["init", "-lockfile=readonly"]);
    assert!(!project.exists(FILE));
    project.ok(&["init"]);
    let recorded = project.read(FILE);
    repository.commit(&[("data.txt", "2")]);
    std::fs::remove_dir_all(project.path("work/.terraform")).unwrap();
    project.run(&["init", "-lockfile=readonly"]).expect(1, &[CHANGED]);
    project.set("TERRANE_MODULE_CHECKSUMS", "off");
    project.ok(&["init"]);
    assert_eq!(project.read(FILE), recorded);
    project.set("TERRANE_MODULE_CHECKSUMS", "");
    project.write("work/.terraform.modules.lock.hcl", "module {\n");
    project.run(&["init"]).expect(1, &["on .terraform.modules.lock.hcl line 1"]);
}
