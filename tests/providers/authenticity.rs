//! Packages that are not what their makers released: hashes, signatures, keys. As the reference has it.

use super::stage::{Play, Stage, check};
use crate::support::catalogue::{Release, sum};
use crate::support::server::Reply;
use crate::support::signing::SigningKey;
use crate::support::trouble::Trouble;

const CASES: &[(&str, Play)] = &[
    ("signed by a key that only the registry vouches for", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.run(&["init"]);
    }),
    ("another archive than was signed", |stage| {
        stage.thing(&["1.0.0"], "");
        let other = Release::new("acme/thing", "6.6.6").archives.into_values().next().unwrap();
        stage.trouble(".zip", Trouble::Instead(Reply::bytes(other)));
        stage.run(&["init"]);
        nothing_left(stage);
    }),
    ("the registry says another checksum than is signed", |stage| {
        stage.thing(&["1.0.0"], "");
        let other = Release::new("acme/thing", "1.0.0").only_for(&[&crate::support::platform()]);
        let wrong = sum(&other.archives[&crate::support::platform()]);
        let sums = Release::new("acme/thing", "1.0.0").sums();
        let right = sums.split_whitespace().next().unwrap();
        said_instead(stage, right, &wrong);
        stage.run(&["init"]);
        nothing_left(stage);
    }),
    ("the registry says a checksum that is none", |stage| {
        stage.thing(&["1.0.0"], "");
        let sums = Release::new("acme/thing", "1.0.0").sums();
        said_instead(stage, sums.split_whitespace().next().unwrap(), "0123");
        stage.run(&["init"]);
    }),
    ("the checksums have no line for the archive", |stage| {
        stage.thing(&["1.0.0"], "");
        let sums = format!("{}  other.zip\n", "0".repeat(64));
        signed(stage, sums);
        stage.run(&["init"]);
        nothing_left(stage);
    }),
    ("the checksums are not checksums", |stage| {
        stage.thing(&["1.0.0"], "");
        signed(stage, "<html>Please log in</html>\n".to_owned());
        stage.run(&["init"]);
    }),
    ("the checksums were changed after they were signed", |stage| {
        stage.thing(&["1.0.0"], "");
        let sums = format!("{}{}  other.zip\n", Release::new("acme/thing", "1.0.0").sums(), "0".repeat(64));
        stage.trouble("_SHA256SUMS.sig", never());
        stage.trouble("_SHA256SUMS", Trouble::Instead(Reply::status("200 OK").body(sums)));
        stage.run(&["init"]);
        nothing_left(stage);
    }),
    ("signed by a key that the registry does not show", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.registry.change(|shelf| shelf.signer = Some(SigningKey::new("Mallory <m@example.com>")));
        stage.run(&["init"]);
        nothing_left(stage);
    }),
    ("one of several keys", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.registry.change(|shelf| shelf.shown_keys.insert(0, SigningKey::new("Other <o@example.com>")));
        stage.run(&["init"]);
    }),
    ("no keys", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.registry.change(|shelf| shelf.shown_keys.clear());
        stage.run(&["init"]);
        nothing_left(stage);
    }),
    ("a key that is none", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.registry.change(|shelf| shelf.shown_keys[0].armor = "Not a key at all.".to_owned());
        stage.run(&["init"]);
    }),
    ("a signature that is none", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.trouble("_SHA256SUMS.sig", Trouble::Instead(Reply::status("200 OK").body("Signed: me")));
        stage.run(&["init"]);
        nothing_left(stage);
    }),
    ("an empty signature", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.trouble("_SHA256SUMS.sig", Trouble::Instead(Reply::status("200 OK")));
        stage.run(&["init"]);
        nothing_left(stage);
    }),
    ("a trust signature of a key that is not the partners", |stage| {
        stage.thing(&["1.0.0"], "");
        let key = SigningKey::new("Mallory <m@example.com>");
        stage.registry.change(|shelf| shelf.trust_signature = key.armor.clone());
        stage.run(&["init"]);
    }),
    ("a trust signature that is none", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.registry.change(|shelf| shelf.trust_signature = "Trust me.".to_owned());
        stage.run(&["init"]);
    }),
    ("the key was changed for another release", |stage| {
        stage.thing(&["1.0.0"], "1.0.0");
        stage.run(&["init"]);
        stage.publish([Release::new("acme/thing", "1.1.0")]);
        let key = SigningKey::new("Other <o@example.com>");
        stage.registry.change(|shelf| (shelf.signer, shelf.shown_keys) = (Some(key.clone()), vec![key]));
        stage.key_ids();
        stage.requires(&[("thing", "acme/thing", "")]);
        stage.run(&["init", "-upgrade"]);
    }),
    ("the release was made again after it was locked", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.run(&["init"]);
        std::fs::remove_dir_all(stage.project.path("work/.terraform")).unwrap();
        let other = Release::new("acme/thing", "1.0.0").sized(64);
        stage.registry.change(|shelf| shelf.releases = vec![other]);
        stage.run(&["init"]);
        nothing_left(stage);
    }),
];

/// No trouble, so that later ones do not count.
fn never() -> Trouble {
    Trouble::Drip
}

/// The registry's answers with one text in place of another.
fn said_instead(stage: &Stage, right: &str, wrong: &str) {
    let answer = stage.registry.answer(&format!("/v1/providers/acme/thing/1.0.0/download/{}", os_and_arch()));
    let text = String::from_utf8(answer.body.to_vec()).unwrap().replace(right, wrong);
    stage.trouble("/download/", Trouble::Instead(Reply::json(text)));
}

fn os_and_arch() -> String {
    crate::support::platform().replace('_', "/")
}

/// Other checksums, well signed.
fn signed(stage: &Stage, sums: String) {
    let mut signature = Vec::new();
    stage.registry.change(|shelf| signature = shelf.signer.as_ref().unwrap().sign(sums.as_bytes()));
    stage.trouble("_SHA256SUMS.sig", Trouble::Instead(Reply::status("200 OK").body(signature)));
    stage.trouble("_SHA256SUMS", Trouble::Instead(Reply::status("200 OK").body(sums)));
}

/// Nothing was installed, nothing is half there.
pub fn nothing_left(stage: &Stage) {
    let left = stage.files("work/.terraform/providers");
    assert!(left.is_empty(), "left behind: {left:?}");
    let temporary = stage.files("tmp");
    assert!(stage.is_reference() || temporary.is_empty(), "left behind: {temporary:?}");
}

#[test]
fn as_the_reference() {
    check("authenticity", CASES);
}
