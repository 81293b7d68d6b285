//! `explain`, for new and saved plans, and pictures of graphs.

use serde_json::Value as Json;

use crate::support::Project;

const MAIN: &str = r#"variable "size" {
  default = "s"
}

resource "terraform_data" "net" {
  triggers_replace = var.size
}

module "host" {
  source = "./host"
  net    = terraform_data.net.id
}

output "host" {
  value = module.host.id
}
"#;

const HOST: &str = r#"variable "net" {}

resource "terraform_data" "this" {
  input = var.net
}

output "id" {
  value = terraform_data.this.output
}
"#;

fn applied() -> Project {
    let project = Project::new(MAIN);
    project.write("work/host/main.tf", HOST);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project
}

#[test]
fn causes_are_followed_across_modules() {
    let project = applied();
    let explained = project.ok(&["explain", "-var=size=m", "-dependents", "module.host.terraform_data.this"]).out;
    for line in [
        "module.host.terraform_data.this will be updated in-place (host/main.tf:3)",
        "  - input is known only after apply (host/main.tf:4)",
        "    - It refers to var.net (main.tf:11)",
        "      - terraform_data.net.id is known only after apply: terraform_data.net will be replaced: destroyed first, then created (main.tf:5)",
        "        - triggers_replace changes, which forces the replacement (main.tf:6)",
        "            - It depends on the value of var.size (main.tf:1)",
        "  - terraform_data.net, which will be replaced: destroyed first, then created (host/main.tf:4)",
        "  - output.host (main.tf:15)",
    ] {
        assert!(explained.lines().any(|found| found == line), "{line}\n{explained}");
    }
    let unchanged = project.ok(&["explain", "terraform_data.net"]).out;
    assert_eq!(unchanged, "terraform_data.net does not change (main.tf:5)\n\nThe plan does nothing to it.\n");
}

#[test]
fn saved_plans_are_explained_for_programs() {
    let project = applied();
    project.ok(&["plan", "-var=size=m", "-out=p"]);
    let args = ["explain", "-plan=p", "-json", "-dependents", "terraform_data.net"];
    let document: Json = serde_json::from_str(&project.ok(&args).out).unwrap();
    let object = &document["explanation"]["objects"][0];
    assert_eq!(object["address"], "terraform_data.net");
    assert_eq!(object["actions"], serde_json::json!(["delete", "create"]));
    assert_eq!(object["causes"][0]["attribute"], "triggers_replace");
    assert_eq!(object["causes"][0]["place"], serde_json::json!({ "filename": "main.tf", "line": 6 }));
    let names: Vec<&Json> =
        document["explanation"]["dependents"].as_array().unwrap().iter().map(|d| &d["name"]).collect();
    assert_eq!(names, ["module.host.terraform_data.this", "output.host"]);

    let wrong = project.run(&["explain", "-plan=p", "-json", "terraform_data.nte"]);
    assert_eq!(wrong.code, Some(1));
    let document: Json = serde_json::from_str(&wrong.out).unwrap();
    assert_eq!(document["explanation"], Json::Null);
    let detail = document["diagnostics"][0]["detail"].as_str().unwrap();
    assert!(detail.contains("Did you mean \"terraform_data.net\"?"), "{detail}");
}

#[test]
fn secrets_are_in_no_explanation() {
    let main = "variable \"secret\" {\n  sensitive = true\n}\nresource \"terraform_data\" \"a\" {\n  input = { (\"key-${nonsensitive(var.secret)}\") = \
                var.secret }\n}\n";
    let project = Project::new(main);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve", "-var=secret=hidden-1"]);
    let cases: [&[&str]; 2] = [
        &["explain", "-var=secret=hidden-2", "terraform_data.a"],
        &["explain", "-var=secret=hidden-2", "-json", "terraform_data.a"],
    ];
    for args in cases {
        let out = project.ok(args).out;
        assert!(out.contains("terraform_data.a") && out.contains("input"), "{out}");
        assert!(!out.contains("hidden"), "{out}");
    }
}

#[test]
fn pictures_need_no_other_program_and_have_a_focus() {
    let project = applied();
    let whole = project.ok(&["graph", "-format=svg"]).out;
    assert!(whole.starts_with("<svg ") && whole.ends_with("</svg>\n"), "{whole}");
    for part in [">module.host</text>", "module.host.terraform_data.this needs terraform_data.net"] {
        assert!(whole.contains(part), "{part}\n{whole}");
    }
    assert_eq!(project.ok(&["graph", "-format=svg"]).out, whole);
    let focus = project.ok(&["graph", "-focus=terraform_data.net", "-depth=0"]).out;
    assert!(focus.contains("\"terraform_data.net\"") && !focus.contains("module.host"), "{focus}");
    let steps = project.ok(&["graph", "-type=plan", "-format=svg", "-focus=output.host"]).out;
    assert!(steps.contains("class=\"node focus\""), "{steps}");
    let cases: [(&[&str], &str); 3] = [
        (&["graph", "-focus=terraform_data.nte"], "Did you mean \"terraform_data.net\"?"),
        (&["graph", "-depth=1"], "-focus=ADDRESS"),
        (&["graph", "-format=png"], "Unsupported graph format: png"),
    ];
    for (args, error) in cases {
        let outcome = project.run(args);
        let shown = outcome.err.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert!(outcome.code == Some(1) && shown.contains(error), "{args:?}: {outcome:?}");
    }
}
