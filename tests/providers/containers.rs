//! Mirrors in OCI registries, which the reference does not know: laid out as OpenTofu describes it.

use super::stage::Stage;
use crate::support::catalogue::Release;
use crate::support::server::Reply;
use crate::support::trouble::Trouble;

const SETTINGS: &str = "provider_installation {
  oci_mirror {
    repository_template = \"HOST/providers/${namespace}/${type}\"
    include = [\"HOST/*/*\"]
  }
}
";

fn stage(versions: &[&str], constraint: &str) -> Stage {
    let mut stage = Stage::new([]);
    stage.thing(versions, constraint);
    stage.settings(SETTINGS);
    stage
}

#[test]
fn packages_are_had_and_locked() {
    let mut stage = stage(&["1.0.0", "1.1.0+x.1", "2.0.0"], "~> 1.0");
    stage.run(&["init"]).expect(0, &["acme/thing v1.1.0+x.1 (verified checksum)"]);
    assert_eq!(stage.registry.downloads(), 0, "archives are blobs there");
    let lock = stage.project.read("work/.terraform.lock.hcl");
    assert!(lock.contains("version     = \"1.1.0+x.1\"") && lock.contains("\"h1:"), "{lock}");
    stage.registry.server.forget();
    stage.run(&["init"]).expect(0, &["Using previously-installed"]);
    assert_eq!(stage.registry.server.requests().len(), 0);
}

#[test]
fn clients_with_a_password_receive_a_token() {
    let mut stage = stage(&["1.0.0"], "");
    stage.registry.change(|shelf| shelf.token = Some("t0ken".to_owned()));
    stage.run(&["init"]).expect(1, &["requires authentication credentials"]);
    let config = stage.filled(r#"{"auths": {"HOST/providers": {"auth": "dXNlcjpwYXNz"}}}"#);
    stage.project.write("home/.docker/config.json", &config);
    stage.run(&["init"]).expect(0, &["Installed"]);
    assert_eq!(stage.registry.server.count("/token"), 2, "one of them without a password");
    let asked = stage.registry.server.requests();
    let logins = asked.iter().filter(|asked| asked.header("authorization").starts_with("Basic"));
    assert!(logins.into_iter().all(|asked| asked.place() == "/token"));
}

#[test]
fn settings_have_credentials_for_mirrors() {
    let mut stage = stage(&["1.0.0"], "");
    stage.registry.change(|shelf| shelf.token = Some("t0ken".to_owned()));
    let config = stage.filled(r#"{"auths": {"HOST": {"auth": "dXNlcjp3cm9uZw=="}}}"#);
    stage.project.write("home/.docker/config.json", &config);
    stage.run(&["init"]).expect(1, &["rejected the given authentication credentials"]);
    let block = "oci_credentials \"HOST\" {\n  username = \"user\"\n  password = \"pass\"\n}\n";
    stage.settings(&(SETTINGS.to_owned() + block));
    stage.run(&["init"]).expect(0, &["Installed"]);
    stage.settings(&(SETTINGS.to_owned() + "oci_credentials \"HOST\" {\n  username = \"user\"\n}\n"));
    // The other settings still count.
    stage.run(&["init"]).expect(0, &["Invalid oci_credentials block", "must set username and password together"]);
}

#[test]
fn missing_or_invalid_manifests_are_errors() {
    let mut missing = stage(&["1.0.0"], "> 1");
    missing.run(&["init"]).expect(1, &["no available releases match the given constraints > 1.0.0"]);
    let host = missing.registry.host();
    missing.requires(&[("other", "acme/other", "")]);
    missing
        .run(&["init"])
        .expect(1, &["was not found in any of the search", &format!("- OCI repository {host}/providers/acme/other")]);

    let mut elsewhere = Stage::new([Release::new("acme/thing", "1.0.0").only_for(&["plan9_mips"])]);
    elsewhere.requires(&[("thing", "acme/thing", "")]);
    elsewhere.settings(SETTINGS);
    elsewhere.run(&["init"]).expect(1, &["Incompatible provider version", "package available for your"]);

    for (part, reply, expected) in [
        ("/blobs/", Reply::status("200 OK").body("other bytes"), "archive has incorrect checksum"),
        ("/manifests/sha256", Reply::status("200 OK").body("{}"), "has other content"),
        ("/manifests/1.0.0", Reply::status("200 OK").body("{}"), "has the artifact type"),
        ("/tags/list", Reply::status("200 OK").body("<html>"), "invalid response content"),
        ("/tags/list", Reply::status("404 Not Found"), "was not found in any of the search"),
    ] {
        let mut stage = stage(&["1.0.0"], "");
        stage.trouble(part, Trouble::Instead(reply));
        let outcome = stage.run(&["init"]);
        let said = outcome.err.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert!(outcome.code == Some(1) && said.contains(expected), "{part}: {said}");
        assert!(!stage.project.exists("work/.terraform.lock.hcl"));
        assert_eq!(stage.files("work/.terraform/providers"), Vec::<std::path::PathBuf>::new(), "{part}");
    }
}

#[test]
fn providers_are_locked_from_a_mirror_of_the_command_line() {
    let mut stage = stage(&["1.0.0", "1.1.0"], "");
    stage.settings("");
    let host = stage.registry.host();
    let mirror = format!("-oci-mirror={host}/providers/{{namespace}}/{{type}}");
    let stream = stage.run(&["providers", "lock", "-json", &mirror]).out;
    assert!(stream.lines().all(|line| line.starts_with('{')), "{stream}");
    for text in [
        "\"type\":\"version\"",
        "\"@message\":\"Fetching",
        "\"@message\":\"Success! Terrane has updated the lock file. Review",
    ] {
        assert!(stream.contains(text), "no {text} in:\n{stream}");
    }
    assert_eq!(stage.registry.downloads(), 0, "archives are blobs there");
    assert!(stage.project.read("work/.terraform.lock.hcl").contains("version = \"1.1.0\""));
    for (arguments, expected) in [
        (
            vec![mirror.as_str(), "-fs-mirror=x"],
            "-fs-mirror and -oci-mirror command line options are mutually-exclusive",
        ),
        (vec!["-oci-mirror=x/{name}"], "the symbol \"name\" is not available"),
    ] {
        stage.run(&[&["providers", "lock"][..], &arguments[..]].concat()).expect(1, &[expected]);
    }
}

#[test]
fn lists_of_tags_have_pages() {
    let mut stage = stage(&["1.0.0", "1.5.0"], "");
    let page = |tags: &str| Reply::json(format!("{{\"tags\": [{tags}]}}"));
    let first = page("\"latest\", \"1.0.0\"").with("Link", "</v2/providers/acme/thing/tags/list?last=b>; rel=\"next\"");
    stage.trouble("last=b", Trouble::Instead(page("\"1.5.0\"")));
    stage.trouble("tags/list?n=1000", Trouble::Instead(first));
    stage.run(&["init"]).expect(0, &["acme/thing v1.5.0"]);
}
