//! Stricter than the reference: what the user demands of signatures, and answers that name another package.

use super::stage::Stage;
use crate::support::catalogue::Release;
use crate::support::platform;
use crate::support::server::Reply;
use crate::support::signing::SigningKey;
use crate::support::trouble::Trouble;

const DEMAND: &str = "TERRANE_REQUIRE_SIGNATURES";
const REFUSE_EXPIRED: &str = "TERRANE_REFUSE_EXPIRED_KEYS";

fn stage() -> Stage {
    let stage = Stage::new([]);
    stage.thing(&["1.0.0"], "");
    stage
}

/// What a run of `init` says in one line, and its exit code.
fn init(stage: &mut Stage, args: &[&str]) -> (String, Option<i32>) {
    let outcome = stage.run(&[&["init"], args].concat());
    let words = (outcome.out + &outcome.err).replace(['│', '╷', '╵'], " ");
    (words.split_whitespace().collect::<Vec<_>>().join(" "), outcome.code)
}

fn refused(stage: &mut Stage, args: &[&str], why: &str) {
    let (said, code) = init(stage, args);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(why), "{said}");
    assert!(stage.files("work/.terraform/providers").is_empty());
}

fn installed(stage: &mut Stage, args: &[&str]) {
    let (said, code) = init(stage, args);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn weaker_signatures_are_refused() {
    let mut stage = stage();
    stage.project.set(DEMAND, "partner");
    refused(&mut stage, &[], "allow only providers signed by HashiCorp or one of its partners");
    stage.project.set(DEMAND, "Signed");
    refused(&mut stage, &[], "none of \"signed\", \"partner\" and \"official\"");
    stage.project.set(DEMAND, "signed");
    installed(&mut stage, &[]);
    stage.project.set(DEMAND, "official");
    installed(&mut stage, &[]);
    std::fs::remove_dir_all(stage.project.path("work/.terraform")).unwrap();
    refused(&mut stage, &[], "the provider is self-signed, key ID ");
}

#[test]
fn folders_have_no_signatures() {
    let mut stage = stage();
    stage.project.set(DEMAND, "signed");
    let (release, host) = (Release::new("acme/thing", "1.0.0"), stage.registry.host());
    let packed = stage.project.path(&format!("packed/{host}/acme/thing/{}", release.file(&platform())));
    std::fs::create_dir_all(packed.parent().unwrap()).unwrap();
    std::fs::write(packed, &**release.archives.get(&platform()).unwrap()).unwrap();
    let unpacked = format!("unpacked/{host}/acme/thing/1.0.0/{}/terraform-provider-thing_v1.0.0", platform());
    stage.project.script(&unpacked, "#!/bin/sh\nexit 1\n");
    for folder in ["../packed", "../unpacked"] {
        refused(&mut stage, &["-plugin-dir", folder], "the provider is not signed, and nothing vouches for it");
    }
}

#[test]
fn keys_that_expired_count_unless_they_must_not() {
    let mut stage = stage();
    let key = SigningKey::expired("Old <old@example.com>");
    stage.registry.change(|shelf| (shelf.signer, shelf.shown_keys) = (Some(key.clone()), vec![key]));
    for name in [REFUSE_EXPIRED, "OPENTOFU_ENFORCE_GPG_EXPIRATION"] {
        stage.project.set(name, "true");
        refused(&mut stage, &[], "error checking signature: openpgp: key expired");
        stage.project.set(name, "");
    }
    stage.project.set("TF_LOG", "warn");
    let (said, code) = init(&mut stage, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("expired openpgp key from Old <old@example.com>"), "{said}");
}

/// The registry answers with the package of an older release: everything in the answer is validly signed.
#[test]
fn package_answers_are_bound_to_the_version() {
    let mut stage = Stage::new([]);
    stage.thing(&["1.0.0", "1.1.0"], "1.1.0");
    let path = format!("/v1/providers/acme/thing/1.0.0/download/{}", platform().replace('_', "/"));
    let older = String::from_utf8(stage.registry.answer(&path).body.to_vec()).unwrap();
    stage.trouble("/download/", Trouble::Instead(Reply::json(older)));
    let name = |version: &str| format!("\"terraform-provider-thing_{version}_{}.zip\"", platform());
    let why = format!("registry response names the package {}: it must be {}", name("1.0.0"), name("1.1.0"));
    refused(&mut stage, &[], &why);
}
