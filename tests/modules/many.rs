//! Many calls of one source: it is fetched once.

use super::{calls, fixture};
use crate::support::Project;
use crate::support::server::{Reply, Server};

#[test]
fn one_source_is_fetched_once() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, |_| Some(Reply::status("200 OK").body(fixture("module.zip"))));
    let names: Vec<String> = (0..200).map(|i| format!("m{i:03}")).collect();
    let source = server.url("/module.zip");
    let pairs: Vec<_> = names.iter().map(|name| (name.as_str(), source.as_str())).collect();
    project.write("work/main.tf", &calls(&pairs));
    let out = project.ok(&["get"]).out;
    // Side by side, and yet in order.
    let expected: String = names
        .iter()
        .map(|name| format!("Downloading {source} for {name}...\n- {name} in .terraform/modules/{name}\n"))
        .collect();
    assert_eq!(out, expected);
    assert_eq!(server.count("/module.zip"), 1);
    assert!(names.iter().all(|name| project.exists(&format!("work/.terraform/modules/{name}/sub/main.tf"))));
    project.ok(&["validate"]);
}
