//! `terraform_remote_state` of states that are encrypted.

use super::{PASSPHRASE, block};
use crate::support::Project;

#[test]
fn a_data_source_reads_an_encrypted_state() {
    let key = block(&["new"]);
    let encryption =
        |inside: &str| format!("terraform {{\n encryption {{\n{inside}}}\n}}\nvariable \"passphrase\" {{}}\n");
    let mut project = Project::new(&(encryption(&key) + "output \"x\" {\n value = \"far away\"\n}\n"));
    project.set("TF_VAR_passphrase", PASSPHRASE);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    std::fs::rename(project.path("work/terraform.tfstate"), project.path("far.tfstate")).unwrap();
    let reading = "data \"terraform_remote_state\" \"far\" {\n backend = \"local\"\n config = { path = \"../far.tfstate\" }\n}\noutput \"y\" {\n \
                   value = data.terraform_remote_state.far.outputs.x\n}\n";
    let (providers, _) = key.split_once("state {").unwrap();
    let remotes = |target: &str| format!("{providers}remote_state_data_sources {{\n{target}}}\n");
    for target in [
        "default {\n method = method.aes_gcm.new\n}\n",
        "remote_state_data_source \"far\" {\n method = method.aes_gcm.new\n}\n",
    ] {
        project.write("work/main.tf", &(encryption(&remotes(target)) + reading));
        let plan = project.ok(&["plan", "-no-color"]);
        assert!(plan.out.contains("+ y = \"far away\""), "{}", plan.out);
    }
    project.write("work/main.tf", &(encryption(&remotes("default {\n method = method.aes_gcm.old\n}\n")) + reading));
    project
        .run(&["plan", "-no-color"])
        .expect(1, &["Error: Decryption failed", "passphrase from var.passphrase", "no decryption key available"]);
    project.write("work/main.tf", &(encryption(&key) + reading));
    project
        .run(&["plan", "-no-color"])
        .expect(1, &["This state file is encrypted and can not be read without an encryption"]);
}
