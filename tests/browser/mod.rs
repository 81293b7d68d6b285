//! Pages of `show -html` in Chromium: `page.mjs` uses them as people do, with playwright-core.

use std::path::{Path, PathBuf};

use crate::support::Project;
use crate::support::needs::{self, Need, on_path};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Where `.ci/full` installs playwright-core.
const PLAYWRIGHT: &str = "target/browser/node_modules/playwright-core";
/// The browser in Debian's packages `chromium-headless-shell` and `chromium`.
const CHROMIUM: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// Node, playwright-core and Chromium. None, and the test is skipped, if one of them is missing.
fn browser() -> Option<[PathBuf; 3]> {
    let named = std::env::var_os("TERRANE_TEST_CHROMIUM").map(PathBuf::from);
    let chromium = named.or_else(|| CHROMIUM.into_iter().find_map(on_path));
    let playwright = Some(Path::new(ROOT).join(PLAYWRIGHT)).filter(|folder| folder.is_dir());
    let found = [("node", on_path("node")), ("playwright-core", playwright), ("Chromium", chromium)];
    if let Some((missing, _)) = found.iter().find(|(_, path)| path.is_none()) {
        needs::skip(Need::Chromium, &format!("there is no {missing}"));
        return None;
    }
    let [node, playwright, chromium] = found.map(|(_, path)| path);
    Some([node?, playwright?, chromium?])
}

/// With `plan.html`, of a plan with every kind of change, and `state.html`.
fn project() -> Project {
    let project = Project::new(include_str!("main.tf"));
    project.write("work/net/main.tf", include_str!("net/main.tf"));
    project.write("work/net/zone/main.tf", include_str!("net/zone/main.tf"));
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["show", "-html", "-out=state.html"]);
    project.ok(&["plan", "-out=change", "-var=release=two"]);
    project.ok(&["show", "-html", "-out=plan.html", "change"]);
    project
}

#[test]
fn pages_work_in_chromium() {
    let Some([node, playwright, chromium]) = browser() else { return };
    let project = project();
    let mut command = project.command(&node, &[]);
    command.arg(Path::new(ROOT).join("tests/browser/page.mjs")).args([playwright, chromium, project.work()]);
    let output = command.output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{out}{err}");
}
