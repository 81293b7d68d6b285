//! Sound documents to begin with: what the program itself writes for a small configuration.

use std::sync::LazyLock;

use crate::support::Project;

pub const MAIN: &str = r#"
terraform {
  required_version = ">= 1.0"
}

variable "size" {
  type    = object({ a = optional(number, 1), b = list(string) })
  default = { b = ["x", "y"] }
}

locals {
  texts = { for k in var.size.b : k => "${k}-${length(k)}" }
}

resource "terraform_data" "many" {
  count            = 3
  input            = { n = count.index, t = local.texts, s = sensitive("secret"), l = [1, 2.5, true, null] }
  triggers_replace = [count.index]
}

resource "terraform_data" "each" {
  for_each = local.texts
  input    = each.value

  lifecycle {
    create_before_destroy = true
    precondition {
      condition     = each.key != ""
      error_message = "No key."
    }
  }
  provisioner "local-exec" {
    command = "true"
  }
}

module "child" {
  source = "./child"
  count  = 2
  text   = terraform_data.each["x"].output
}

check "c" {
  assert {
    condition     = length(terraform_data.many) == 3
    error_message = "Not three."
  }
}

moved {
  from = terraform_data.old
  to   = terraform_data.new["a"]
}

output "o" {
  value     = terraform_data.many[*].output
  sensitive = true
}
"#;

const CHILD: &str = r#"
variable "text" {}

resource "terraform_data" "inner" {
  input = <<-EOT
    text: ${var.text}
  EOT
}

output "id" {
  value = terraform_data.inner.id
}
"#;

/// What the program wrote.
pub struct Written {
    pub state: Vec<u8>,
    pub plan: Vec<u8>,
}

pub static WRITTEN: LazyLock<Written> = LazyLock::new(|| {
    let project = Project::new(MAIN);
    project.write("work/child/main.tf", CHILD);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve", "-target=terraform_data.many", "-target=module.child"]);
    project.ok(&["plan", "-out=plan", "-replace=terraform_data.many[1]"]);
    let read = |name: &str| std::fs::read(project.path("work").join(name)).unwrap();
    Written { state: read("terraform.tfstate"), plan: read("plan") }
});

/// The members of a zip archive.
pub fn members(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let mut members = Vec::new();
    for i in 0..archive.len() {
        let mut member = archive.by_index(i).unwrap();
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut member, &mut content).unwrap();
        members.push((member.name().unwrap().into_owned(), content));
    }
    members
}

/// An archive of these members.
pub fn zipped<'a>(members: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, content) in members {
        writer.start_file(name, stored).unwrap();
        std::io::Write::write_all(&mut writer, content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
