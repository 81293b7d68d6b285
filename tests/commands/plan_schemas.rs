//! Saved plans are shown without their providers.

use crate::support::Project;

const MAIN: &str = r#"
terraform {
  required_providers {
    tls = {
      source = "hashicorp/tls"
    }
    cloudinit = {
      source = "hashicorp/cloudinit"
    }
  }
}

variable "name" {
  default = "example.com"
}

resource "tls_private_key" "a" {
  algorithm = "ED25519"
}

resource "tls_self_signed_cert" "a" {
  private_key_pem       = tls_private_key.a.private_key_pem
  validity_period_hours = 12
  allowed_uses          = ["server_auth"]
  subject {
    common_name = var.name
  }
}

data "cloudinit_config" "a" {
  part {
    content = "hello"
  }
}

ephemeral "tls_private_key" "once" {
  algorithm = "ED25519"
}
"#;

fn project() -> Project {
    let mut project = Project::new(MAIN);
    project.write("built-in.tfrc", "provider_installation {\n  builtin {}\n  direct {}\n}\n");
    project
        .write("nothing.tfrc", "provider_installation {\n  filesystem_mirror {\n    path = \"/nonexistent\"\n  }\n}\n");
    project.set("TF_CLI_CONFIG_FILE", project.path("built-in.tfrc"));
    project
}

#[test]
fn a_plan_is_shown_without_its_providers() {
    let mut project = project();
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["plan", "-out=change", "-var=name=example.org"]);
    project.ok(&["plan", "-out=end", "-destroy"]);
    let shown = |project: &Project| {
        let commands =
            [&["show", "change"][..], &["show", "-json", "change"], &["show", "end"], &["show", "-json", "end"]];
        commands.map(|command| project.ok(command).out)
    };
    let with = shown(&project);
    assert!(with[0].contains("~ subject {"), "{}", with[0]);
    project.set("TF_CLI_CONFIG_FILE", project.path("nothing.tfrc"));
    std::fs::remove_dir_all(project.path("work/.terraform")).unwrap();
    assert_eq!(shown(&project), with);
}
