//! Registries that work, and what they are asked for: versions, platforms, protocols, locks. As the reference has it.

use super::stage::{Play, Stage, check};
use crate::support::catalogue::Release;
use crate::support::server::Reply;
use crate::support::trouble::Trouble;

const LOCK: &str = "work/.terraform.lock.hcl";

const CASES: &[(&str, Play)] = &[
    ("installed, locked, and installed again", |stage| {
        stage.thing(&["1.0.0", "1.2.0", "2.0.0-beta1", "1.10.0"], "~> 1.0");
        stage.run(&["init"]);
        stage.show(LOCK);
        stage.run(&["init"]);
    }),
    ("a version that is not the newest", |stage| {
        stage.thing(&["1.0.0", "1.2.0", "2.0.0"], "1.0.0");
        stage.run(&["init"]);
        stage.requires(&[("thing", "acme/thing", "")]);
        stage.run(&["init"]);
        stage.run(&["init", "-upgrade"]);
        stage.show(LOCK);
    }),
    ("locked outside the constraints", |stage| {
        stage.thing(&["1.0.0", "2.0.0"], "1.0.0");
        stage.run(&["init"]);
        stage.requires(&[("thing", "acme/thing", ">= 2.0.0")]);
        stage.run(&["init"]);
        stage.run(&["plan"]);
        stage.run(&["init", "-upgrade"]);
    }),
    ("a version before its release only if asked for exactly", |stage| {
        stage.thing(&["1.0.0", "2.0.0-beta1"], "2.0.0-beta1");
        stage.run(&["init"]);
    }),
    ("only a version before its release", |stage| {
        stage.thing(&["2.0.0-beta1"], "");
        stage.run(&["init"]);
    }),
    ("no version fits", |stage| {
        stage.thing(&["1.0.0", "1.2.0"], "~> 3.0");
        stage.run(&["init"]);
    }),
    ("the locked version is gone", |stage| {
        stage.thing(&["1.0.0", "1.2.0"], "");
        stage.run(&["init"]);
        stage.registry.change(|shelf| shelf.releases.truncate(1));
        std::fs::remove_dir_all(stage.project.path("work/.terraform")).unwrap();
        stage.run(&["init"]);
    }),
    ("an unknown provider", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.requires(&[("other", "acme/other", "")]);
        stage.run(&["init"]);
    }),
    ("a version that is no version", |stage| {
        stage.thing(&["1.0.0", "one"], "");
        stage.run(&["init"]);
    }),
    ("warnings", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.registry.change(|shelf| {
            let warnings = vec!["This provider has moved to acme/other.".to_owned(), "And it is old.".to_owned()];
            shelf.warnings.insert("acme/thing".to_owned(), warnings);
        });
        stage.run(&["init"]);
    }),
    ("another platform", |stage| {
        let elsewhere = Release::new("acme/thing", "1.0.0").only_for(&["solaris_sparc", "plan9_mips"]);
        stage.publish([elsewhere]);
        stage.requires(&[("thing", "acme/thing", "")]);
        stage.run(&["init"]);
    }),
    ("another platform for the newest", |stage| {
        let elsewhere = Release::new("acme/thing", "1.1.0").only_for(&["solaris_sparc"]);
        stage.publish([Release::new("acme/thing", "1.0.0"), elsewhere]);
        stage.requires(&[("thing", "acme/thing", "")]);
        stage.run(&["init"]);
    }),
    ("protocols too new, an older version fits", |stage| {
        stage.publish([
            Release::new("acme/thing", "1.0.0"),
            Release::new("acme/thing", "1.1.0"),
            Release::new("acme/thing", "2.0.0").speaks(&["7.0"]),
        ]);
        stage.requires(&[("thing", "acme/thing", "")]);
        stage.run(&["init"]);
    }),
    ("protocols too new, an older version fits, but not the constraint", |stage| {
        stage.publish([Release::new("acme/thing", "1.0.0"), Release::new("acme/thing", "2.0.0").speaks(&["7.0"])]);
        stage.requires(&[("thing", "acme/thing", "~> 2.0")]);
        stage.run(&["init"]);
    }),
    ("protocols too old, a newer version fits", |stage| {
        stage.publish([Release::new("acme/thing", "1.0.0").speaks(&["4.0"]), Release::new("acme/thing", "2.0.0")]);
        stage.requires(&[("thing", "acme/thing", "1.0.0")]);
        stage.run(&["init"]);
    }),
    ("no version has a protocol that we know", |stage| {
        stage.publish([Release::new("acme/thing", "1.0.0").speaks(&["4.0"])]);
        stage.requires(&[("thing", "acme/thing", "")]);
        stage.run(&["init"]);
    }),
    ("protocol six", |stage| {
        stage.publish([Release::new("acme/thing", "1.0.0").speaks(&["6.0"])]);
        stage.requires(&[("thing", "acme/thing", "")]);
        stage.run(&["init"]);
    }),
    ("two providers, one of them unknown", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.requires(&[("thing", "acme/thing", ""), ("other", "acme/other", "")]);
        stage.run(&["init"]);
    }),
    ("a lock that may not change", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.run(&["init", "-lockfile=readonly"]);
        stage.run(&["init"]);
        stage.run(&["init", "-lockfile=readonly"]);
        stage.publish([Release::new("acme/other", "1.0.0")]);
        stage.requires(&[("thing", "acme/thing", ""), ("other", "acme/other", "")]);
        stage.run(&["init", "-lockfile=readonly"]);
        stage.run(&["init", "-lockfile=readonly", "-upgrade"]);
        stage.run(&["init", "-lockfile=never"]);
    }),
    ("a lock with the hashes of another platform", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.run(&["init"]);
        relock(stage, "h1:J4vYVbgxZVUKTn0jkYBXQ2kTfRLZVTmHHI7xnVYLvqE=");
        std::fs::remove_dir_all(stage.project.path("work/.terraform")).unwrap();
        stage.run(&["init"]);
    }),
    ("a lock that is broken", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.project.write(LOCK, "provider \"localhost/acme/thing\" {\n  version = \"one\"\n}\n");
        stage.run(&["init"]);
    }),
    ("what is installed was changed", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.run(&["init"]);
        let program = installed(stage, "terraform-provider-thing_v1.0.0");
        stage.project.script(&program, "#!/bin/sh\necho changed\n");
        stage.run(&["plan"]);
        stage.run(&["init"]);
        stage.run(&["init"]);
        assert!(!stage.project.read(&program).contains("changed"));
    }),
    ("what was installed is gone", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.run(&["init"]);
        std::fs::remove_dir_all(stage.project.path("work/.terraform/providers")).unwrap();
        stage.run(&["plan"]);
        stage.run(&["init"]);
    }),
    ("a host that has no providers", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.trouble(".well-known", Trouble::Instead(Reply::json("{\"modules.v1\": \"/v1/modules/\"}")));
        stage.run(&["init"]);
    }),
    ("a host that speaks another version", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.trouble(".well-known", Trouble::Instead(Reply::json("{\"providers.v9\": \"/v9/providers/\"}")));
        stage.run(&["init"]);
    }),
    ("what stands behind a version", |stage| {
        stage.thing(&["1.0.0+build.7"], "");
        stage.run(&["init"]);
        stage.show(LOCK);
    }),
];

/// Where a file of `acme/thing` 1.0.0 is installed.
fn installed(stage: &Stage, file: &str) -> String {
    let platform = crate::support::platform();
    format!("work/.terraform/providers/{}/acme/thing/1.0.0/{platform}/{file}", stage.registry.host())
}

/// The lock file with one other hash in place of those it has.
fn relock(stage: &Stage, hash: &str) {
    let text = stage.project.read(LOCK);
    let (before, after) = (text.split("hashes").next().unwrap(), "\n  ]\n}\n");
    stage.project.write(LOCK, &format!("{before}hashes = [\n    \"{hash}\",{after}"));
}

#[test]
fn as_the_reference() {
    check("registries", CASES);
}
