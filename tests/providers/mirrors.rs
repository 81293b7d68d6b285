//! Sources that are no registry: folders, mirrors, overrides, and which of them is asked. As the reference has it.

use super::stage::{Play, Stage, check};
use crate::support::catalogue::Release;
use crate::support::platform;
use crate::support::registry::requires;
use crate::support::server::Reply;
use crate::support::trouble::Trouble;

const LOCK: &str = "work/.terraform.lock.hcl";

const FOLDER: &str = "provider_installation {\n  filesystem_mirror {\n    path = \"PROJECT/mirror\"\n  }\n}\n";
const MIRROR: &str = "provider_installation {\n  network_mirror {\n    url = \"https://HOST/mirror/\"\n  }\n}\n";

/// Puts a release of `acme/thing` on `example.com` into a folder, as an archive.
fn packed(stage: &Stage, folder: &str, version: &str) {
    let release = Release::new("acme/thing", version);
    let file = stage.project.path(&format!("{folder}/example.com/acme/thing/{}", release.file(&platform())));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, &**release.archives.values().next().unwrap()).unwrap();
}

/// The same as a folder of files.
fn unpacked(stage: &Stage, folder: &str, version: &str) {
    let place = format!("{folder}/example.com/acme/thing/{version}/{}", platform());
    stage.project.script(&format!("{place}/terraform-provider-thing_v{version}"), "#!/bin/sh\nexit 1\n");
}

fn example(stage: &Stage, constraint: &str) {
    stage.project.write("work/main.tf", &requires("example.com", &[("thing", "acme/thing", constraint)]));
}

const CASES: &[(&str, Play)] = &[
    ("a folder of archives", |stage| {
        packed(stage, "mirror", "1.0.0");
        packed(stage, "mirror", "1.1.0");
        example(stage, "");
        stage.settings(FOLDER);
        stage.run(&["init"]);
        stage.show(LOCK);
        stage.run(&["init"]);
    }),
    ("a folder of folders", |stage| {
        unpacked(stage, "mirror", "1.0.0");
        unpacked(stage, "mirror", "1.1.0");
        example(stage, "~> 1.0.0");
        stage.settings(FOLDER);
        stage.run(&["init"]);
        stage.show(LOCK);
    }),
    ("a folder without the provider", |stage| {
        unpacked(stage, "mirror", "1.0.0");
        stage.project.write("work/main.tf", &requires("example.com", &[("other", "acme/other", "")]));
        stage.settings(FOLDER);
        stage.run(&["init"]);
    }),
    ("a folder that is not there", |stage| {
        example(stage, "");
        stage.settings(FOLDER);
        stage.run(&["init"]);
    }),
    ("a folder with an archive that is none", |stage| {
        packed(stage, "mirror", "1.0.0");
        let file = format!("mirror/example.com/acme/thing/terraform-provider-thing_1.0.0_{}.zip", platform());
        stage.project.write(&file, "PK? No.");
        example(stage, "");
        stage.settings(FOLDER);
        stage.run(&["init"]);
    }),
    ("a folder for another platform", |stage| {
        let place = "mirror/example.com/acme/thing/1.0.0/solaris_sparc/terraform-provider-thing_v1.0.0";
        stage.project.script(place, "");
        example(stage, "");
        stage.settings(FOLDER);
        stage.run(&["init"]);
    }),
    ("a package without a program", |stage| {
        let place = format!("mirror/example.com/acme/thing/1.0.0/{}/readme.txt", platform());
        stage.project.write(&place, "Soon.");
        example(stage, "");
        stage.settings(FOLDER);
        stage.run(&["init"]);
    }),
    ("-plugin-dir", |stage| {
        unpacked(stage, "here", "1.0.0");
        packed(stage, "there", "1.1.0");
        example(stage, "");
        stage.run(&["init", "-plugin-dir=../here"]);
        stage.run(&["init", "-plugin-dir=../here", "-plugin-dir=../there", "-upgrade"]);
        std::fs::remove_dir_all(stage.project.path("work/.terraform")).unwrap();
        stage.run(&["init", "-plugin-dir=../here"]);
    }),
    ("-plugin-dir without the provider", |stage| {
        example(stage, "");
        stage.run(&["init", "-plugin-dir=../here"]);
    }),
    ("a folder in the working directory", |stage| {
        unpacked(stage, "work/terraform.d/plugins", "1.0.0");
        example(stage, "");
        stage.run(&["init"]);
    }),
    ("a folder in the user's home", |stage| {
        packed(stage, "home/.terraform.d/plugins", "1.0.0");
        example(stage, "");
        stage.run(&["init"]);
    }),
    ("a folder in the user's data", |stage| {
        unpacked(stage, "home/.local/share/terraform/plugins", "1.0.0");
        example(stage, "");
        stage.run(&["init"]);
    }),
    ("an implied folder without the version", |stage| {
        unpacked(stage, "work/terraform.d/plugins", "1.0.0");
        example(stage, "2.0.0");
        stage.run(&["init"]);
    }),
    ("included and excluded", |stage| {
        unpacked(stage, "mirror", "1.0.0");
        packed(stage, "second", "1.5.0");
        example(stage, "");
        stage.settings(
            "provider_installation {\n  filesystem_mirror {\n    path = \"PROJECT/mirror\"\n    exclude = [\"example.com/acme/*\"]\n  }\n  \
             filesystem_mirror {\n    path = \"PROJECT/second\"\n    include = [\"example.com/*/*\"]\n  }\n}\n",
        );
        stage.run(&["init"]);
    }),
    ("excluded everywhere", |stage| {
        unpacked(stage, "mirror", "1.0.0");
        example(stage, "");
        stage.settings(
            "provider_installation {\n  filesystem_mirror {\n    path = \"PROJECT/mirror\"\n    exclude = [\"*/*/*\"]\n  }\n  \
             direct {\n    exclude = [\"example.com/*/*\"]\n  }\n}\n",
        );
        stage.run(&["init"]);
    }),
    ("a folder and a registry", |stage| {
        stage.thing(&["1.0.0", "2.0.0"], "");
        let folder = format!("mirror/{}/acme/thing/1.5.0/{}", stage.registry.host(), platform());
        stage.project.script(&format!("{folder}/terraform-provider-thing_v1.5.0"), "#!/bin/sh\n");
        stage.settings(
            "provider_installation {\n  filesystem_mirror {\n    path = \"PROJECT/mirror\"\n  }\n  direct {}\n}\n",
        );
        stage.run(&["init"]);
        stage.requires(&[("thing", "acme/thing", "~> 1.5")]);
        stage.run(&["init", "-upgrade"]);
    }),
    ("a network mirror", |stage| {
        stage.publish([Release::new("acme/thing", "1.0.0"), Release::new("acme/thing", "1.1.0")]);
        example(stage, "");
        stage.settings(MIRROR);
        stage.run(&["init"]);
        stage.show(LOCK);
        stage.run(&["init"]);
    }),
    ("a network mirror without the provider", |stage| {
        example(stage, "");
        stage.settings(MIRROR);
        stage.run(&["init"]);
    }),
    ("a network mirror for another platform", |stage| {
        stage.publish([Release::new("acme/thing", "1.0.0").only_for(&["solaris_sparc"])]);
        example(stage, "");
        stage.settings(MIRROR);
        stage.run(&["init"]);
    }),
    ("a network mirror that wants a token", |stage| {
        stage.publish([Release::new("acme/thing", "1.0.0")]);
        stage.registry.change(|shelf| shelf.token = Some("s3cret".to_owned()));
        example(stage, "");
        stage.settings(MIRROR);
        stage.run(&["init"]);
        stage.settings(&format!("credentials \"HOST\" {{\n  token = \"s3cret\"\n}}\n{MIRROR}"));
        stage.run(&["init"]);
    }),
    ("a network mirror with the wrong archive", |stage| {
        stage.publish([Release::new("acme/thing", "1.0.0")]);
        let other = Release::new("acme/thing", "1.0.0").sized(100).archives.into_values().next().unwrap();
        stage.trouble(".zip", Trouble::Instead(Reply::bytes(other)));
        example(stage, "");
        stage.settings(MIRROR);
        stage.run(&["init"]);
    }),
    ("a network mirror that fails", |stage| {
        stage.publish([Release::new("acme/thing", "1.0.0")]);
        example(stage, "");
        stage.settings(MIRROR);
        for (part, trouble) in [
            ("index.json", Trouble::status("500 Internal Server Error")),
            ("index.json", Trouble::Instead(Reply::json("[]"))),
            ("index.json", Trouble::Instead(Reply::status("200 OK").body("{}"))),
            ("1.0.0.json", Trouble::status("404 Not Found")),
            ("1.0.0.json", Trouble::Instead(Reply::json("{\"archives\": 1}"))),
            (".zip", Trouble::status("404 Not Found")),
        ] {
            stage.registry.server.heal();
            stage.trouble(part, trouble);
            stage.run(&["init"]);
        }
    }),
    ("a network mirror by a bad address", |stage| {
        example(stage, "");
        for url in ["http://HOST/mirror/", "https://HOST/mirror", "/mirror/"] {
            stage.settings(&MIRROR.replace("https://HOST/mirror/", url));
            stage.run(&["init"]);
        }
    }),
    ("an override for development", |stage| {
        stage.thing(&["1.0.0"], "");
        let folder = "provider_installation {\n  dev_overrides {\n    \"HOST/acme/thing\" = \"PROJECT/dev\"\n  }\n  direct {}\n}\n";
        stage.settings(folder);
        std::fs::create_dir(stage.project.path("dev")).unwrap();
        stage.run(&["init"]);
    }),
    ("a reattached provider", |stage| {
        example(stage, "");
        let address = r#"{"Protocol":"grpc","ProtocolVersion":5,"Pid":1,"Test":true,"Addr":{"Network":"unix","String":"/nowhere"}}"#;
        stage.project.set("TF_REATTACH_PROVIDERS", format!("{{\"example.com/acme/thing\":{address}}}"));
        stage.run(&["init"]);
    }),
    ("built in", |stage| {
        let source = "terraform {\n  required_providers {\n    NAME = {\n      source = \"terraform.io/builtin/NAME\"\n    }\n  }\n}\n";
        stage.project.write("work/main.tf", &source.replace("NAME", "terraform"));
        stage.run(&["init"]);
        let constrained =
            source.replace("NAME", "terraform").replace("form\"\n    }", "form\"\n      version = \"1.0.0\"\n    }");
        stage.project.write("work/main.tf", &constrained);
        stage.run(&["init"]);
        stage.project.write("work/main.tf", &source.replace("NAME", "nothing"));
        stage.run(&["init"]);
    }),
    ("an address of old in the state", |stage| {
        let state = r#"{"version":4,"terraform_version":"0.12.0","serial":1,"lineage":"x","outputs":{},"resources":[{
            "mode":"managed","type":"thing_a","name":"a","provider":"provider[\"registry.terraform.io/-/thing\"]","instances":[{"schema_version":0,"attributes":{"id":"a"}}]}]}"#;
        stage.project.write("work/terraform.tfstate", state);
        stage.settings(FOLDER);
        stage.run(&["init"]);
    }),
];

#[test]
fn as_the_reference() {
    check("mirrors", CASES);
}
