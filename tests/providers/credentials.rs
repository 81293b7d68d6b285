//! Tokens from the environment, settings, files and helpers; and proxies. As in the reference.

use super::stage::{Play, Stage, check};
use crate::support::catalogue::Release;
use crate::support::proxy::Proxy;
use crate::support::registry::requires;
use crate::support::server::Reply;
use crate::support::trouble::Trouble;

/// A registry that wants a token.
fn guarded(stage: &Stage) {
    stage.thing(&["1.0.0"], "");
    stage.registry.change(|shelf| shelf.token = Some("s3cret".to_owned()));
}

/// Runs `init`, and says which requests showed a token.
fn init(stage: &mut Stage) {
    stage.registry.server.forget();
    let outcome = stage.run(&["init"]);
    assert!(!outcome.text().contains("s3cret"), "{}", outcome.text());
    let shown = |asked: &crate::support::server::Asked| match asked.header("authorization") {
        "" => "nothing".to_owned(),
        header => header.to_owned(),
    };
    let mut lines: Vec<String> =
        stage.registry.server.requests().iter().map(|asked| format!("{}: {}", asked.place(), shown(asked))).collect();
    lines.sort();
    lines.dedup();
    lines.iter().for_each(|line| stage.note(line));
}

fn helper(stage: &Stage, script: &str) {
    stage.project.write("home/.terraformrc", "credentials_helper \"test\" {\n  args = [\"--flag\", \"x y\"]\n}\n");
    stage.project.script("home/.terraform.d/plugins/terraform-credentials-test", script);
}

const CASES: &[(&str, Play)] = &[
    ("no token", |stage| {
        guarded(stage);
        init(stage);
    }),
    ("the wrong token", |stage| {
        guarded(stage);
        stage.settings("credentials \"HOST\" {\n  token = \"wrong\"\n}\n");
        init(stage);
    }),
    ("a token of the environment", |stage| {
        guarded(stage);
        let name = format!("TF_TOKEN_{}", stage.registry.host());
        stage.project.set(&name, "s3cret");
        init(stage);
    }),
    ("a token of the settings", |stage| {
        guarded(stage);
        stage.settings("credentials \"HOST\" {\n  token = \"s3cret\"\n}\n");
        init(stage);
    }),
    ("a token that login wrote", |stage| {
        guarded(stage);
        let text = stage.filled(r#"{"credentials": {"HOST": {"token": "s3cret"}}}"#);
        stage.project.write("home/.terraform.d/credentials.tfrc.json", &text);
        init(stage);
    }),
    ("a token of a helper", |stage| {
        guarded(stage);
        helper(stage, "#!/bin/sh\necho \"$*\" >>\"$HOME/asked\"\necho '{\"token\": \"s3cret\"}'\n");
        init(stage);
        let asked = stage.project.read("home/asked");
        stage.note(&stage.shown(asked.lines().next().unwrap_or_default()));
    }),
    ("a helper that fails", |stage| {
        guarded(stage);
        helper(stage, "#!/bin/sh\necho 'no keyring' >&2\nexit 3\n");
        init(stage);
    }),
    ("the environment before the settings", |stage| {
        guarded(stage);
        stage.settings("credentials \"HOST\" {\n  token = \"wrong\"\n}\n");
        let name = format!("TF_TOKEN_{}", stage.registry.host());
        stage.project.set(&name, "s3cret");
        init(stage);
    }),
    ("a login for downloads", |stage| {
        stage.thing(&["1.0.0"], "");
        stage.project.write("home/.netrc", "machine localhost\nlogin user\npassword s3cret\n");
        init(stage);
    }),
    ("an archive on another host", |stage| {
        guarded(stage);
        stage.settings("credentials \"HOST\" {\n  token = \"s3cret\"\n}\n");
        let place = stage.registry.server.url("/files/acme/thing/1.0.0/elsewhere.zip");
        stage.trouble("elsewhere.zip", Trouble::Instead(stage.archive()));
        stage.trouble(".zip", Trouble::Instead(Reply::status("302 Found").with("Location", place)));
        init(stage);
    }),
    ("through a proxy", |stage| {
        let proxy = behind(stage);
        stage.project.set("HTTPS_PROXY", format!("http://user:s3cret@127.0.0.1:{}", proxy.port));
        through(stage, &proxy);
    }),
    ("past a proxy", |stage| {
        let proxy = behind(stage);
        stage.project.set("HTTPS_PROXY", format!("http://127.0.0.1:{}", proxy.port));
        stage.thing(&["1.0.0"], "");
        through(stage, &proxy);
    }),
    ("a host whose services the settings say", |stage| {
        stage.publish([Release::new("hashicorp/thing", "1.0.0")]);
        stage.project.write("work/main.tf", &requires("registry.terraform.io", &[("thing", "hashicorp/thing", "")]));
        stage.settings(
            "host \"registry.terraform.io\" {\n  services = {\n    \"providers.v1\" = \"https://HOST/v1/providers/\"\n  }\n}\n",
        );
        init(stage);
    }),
];

/// A registry with a name that only a proxy can reach.
fn behind(stage: &Stage) -> Proxy {
    stage.publish([Release::new("acme/thing", "1.0.0")]);
    stage.project.write("work/main.tf", &requires("registry.example.com", &[("thing", "acme/thing", "")]));
    Proxy::start(stage.registry.server.port)
}

fn through(stage: &mut Stage, proxy: &Proxy) {
    init(stage);
    let mut asked = proxy.asked();
    asked.dedup();
    asked.iter().for_each(|line| stage.note(line));
}

#[test]
fn as_the_reference() {
    check("credentials", CASES);
}
