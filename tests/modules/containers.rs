//! Packages in OCI registries, which the reference does not know: laid out as OpenTofu describes it.

use std::sync::Arc;

use serde_json::json;

use super::{calls, fixture};
use crate::support::Project;
use crate::support::catalogue::sum;
use crate::support::server::{Asked, Reply, Server};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const PACKAGE: &str = "application/vnd.opentofu.modulepkg";

fn digest(content: &[u8]) -> String {
    format!("sha256:{}", sum(content))
}

fn manifest(artifact: &str, archive: &[u8]) -> String {
    json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": artifact,
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": digest(b"{}"), "size": 2},
        "layers": [{"mediaType": "archive/zip", "digest": digest(archive), "size": archive.len()}],
    })
    .to_string()
}

/// The repository `team/vpc` with the tags `latest`, `v1`, `other` (no module) and `damaged`, whose archive has other content.
fn repository(asked: &Asked) -> Option<Reply> {
    let archive = fixture("module.zip");
    let good = manifest(PACKAGE, &archive);
    let wanted = asked.place().strip_prefix("/v2/team/vpc/").unwrap_or_default();
    let as_manifest = |text: String| Reply::status("200 OK").with("Content-Type", MANIFEST).body(text);
    Some(match wanted.split_once('/') {
        Some(("manifests", "latest" | "v1")) => as_manifest(good),
        Some(("manifests", reference)) if reference == digest(good.as_bytes()) => as_manifest(good),
        Some(("manifests", "other")) => as_manifest(manifest("application/vnd.opentofu.provider-target", &archive)),
        Some(("manifests", "damaged")) => as_manifest(manifest(PACKAGE, b"another archive")),
        Some(("manifests", reference)) if reference == digest(b"elsewhere") => as_manifest(good),
        Some(("blobs", wanted)) if wanted == digest(&archive) => Reply::bytes(Arc::new(archive)),
        Some(("blobs", wanted)) if wanted == digest(b"another archive") => Reply::bytes(Arc::new(archive)),
        _ => Reply::status("404 Not Found"),
    })
}

/// The same, for clients with one of the tokens `t0ken` and `fresh`: a service on the same host issues the first for a password, and the
/// second for a refresh token.
fn guarded(asked: &Asked) -> Option<Reply> {
    if asked.place() == "/token" {
        let by_password = asked.header("authorization") == "Basic dXNlcjpwYXNzdzByZA==";
        let by_refresh = asked.method == "POST"
            && String::from_utf8_lossy(&asked.body).contains("grant_type=refresh_token")
            && String::from_utf8_lossy(&asked.body).contains("refresh_token=r3fresh");
        return Some(match (by_password, by_refresh) {
            (true, _) => Reply::json(json!({"token": "t0ken"}).to_string()),
            (_, true) => Reply::json(json!({"access_token": "fresh"}).to_string()),
            _ => Reply::status("401 Unauthorized"),
        });
    }
    if ["Bearer t0ken", "Bearer fresh"].contains(&asked.header("authorization")) {
        return repository(asked);
    }
    let challenge = format!("Bearer realm=\"https://{}/token\",service=\"tests\"", asked.header("host"));
    Some(Reply::status("401 Unauthorized").with("WWW-Authenticate", challenge))
}

fn host(server: &Server) -> String {
    format!("localhost:{}", server.port)
}

#[test]
fn tags_and_digests_select_packages() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, repository);
    let address = format!("oci://{}/team/vpc", host(&server));
    let by_digest = digest(manifest(PACKAGE, &fixture("module.zip")).as_bytes());
    let sources = [
        ("latest", address.clone()),
        ("tagged", format!("{address}?tag=v1")),
        ("exact", format!("{address}?digest={by_digest}")),
        ("inside", format!("{address}//sub?tag=v1")),
    ];
    let pairs: Vec<_> = sources.iter().map(|(name, source)| (*name, source.as_str())).collect();
    project.write("work/main.tf", &calls(&pairs));
    project.ok(&["init"]).expect(
        0,
        &[&format!("Downloading {address}?tag=v1 for tagged..."), "- inside in .terraform/modules/inside/sub"],
    );
    for (name, _) in &sources {
        assert!(project.exists(&format!("work/.terraform/modules/{name}/sub/main.tf")), "{name}");
    }
    assert_eq!(server.count("/v2/team/vpc/manifests/v1"), 1, "one package for two calls");
    let lock = project.read("work/.terraform.modules.lock.hcl");
    assert!(lock.contains(&format!("module \"{address}?tag=v1\"")), "{lock}");
    server.forget();
    project.ok(&["init"]);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn invalid_packages_are_errors() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, repository);
    let address = format!("oci://{}/team/vpc", host(&server));
    let elsewhere = digest(b"elsewhere");
    let cases: &[(String, &[&str])] = &[
        (format!("{address}?tag=none"), &["failed to query the OCI repository", "there is no tag \"none\""]),
        (format!("oci://{}/team/none", host(&server)), &["there is no tag \"latest\", which is selected if"]),
        (format!("{address}?tag=other"), &["is not a module package"]),
        (format!("{address}?tag=damaged"), &["has other content: sha256:"]),
        (format!("{address}?digest={elsewhere}"), &["has other content: sha256:"]),
        (format!("{address}?digest=sha256:00"), &["must have 64 lower-case hexadecimal digits"]),
        (format!("{address}?ref=v1"), &["unsupported arguments: \"ref\""]),
        (format!("{address}?archive=zip"), &["\"archive\" argument is not allowed for OCI sources"]),
        (format!("oci://user:s3cret@{}/x", host(&server)), &["must not contain a user or a password"]),
        ("oci://localhost:1/x".to_owned(), &["could not connect to localhost:1"]),
    ];
    for (source, texts) in cases {
        project.write("work/main.tf", &calls(&[("m", source)]));
        let outcome = project.run(&["init"]);
        outcome.expect(1, texts);
        outcome.expect(1, &["on main.tf line 1"]);
        assert!(!outcome.text().contains("s3cret"), "{}", outcome.err);
        assert!(!project.exists("work/.terraform/modules/m"), "{source}");
    }
    project.set("TERRANE_MODULE_SIZE_LIMIT", "0");
    project.write("work/main.tf", &calls(&[("m", &address)]));
    project.run(&["init"]).expect(1, &["larger than 0 MiB (see TERRANE_MODULE_SIZE_LIMIT)"]);
}

#[test]
fn settings_have_credentials_for_registries() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, guarded);
    let host = host(&server);
    project.write("work/main.tf", &calls(&[("m", &format!("oci://{host}/team/vpc"))]));
    project.run(&["init"]).expect(1, &[&format!("host {host} requires authentication credentials"), "oci_credentials"]);
    let password = "username = \"user\"\n  password = \"passw0rd\"\n";
    let helper = project.script(
        "bin/docker-credential-tests",
        &format!(
            "#!/bin/sh\nread address || :\n[ \"$1 $address\" = \"get https://{host}\" ] || exit 1\n\
             echo '{{\"Username\": \"user\", \"Secret\": \"passw0rd\"}}'\n"
        ),
    );
    let path = format!("{}:{}", helper.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    project.set("PATH", path);
    project.write("login.json", r#"{"credsStore": "tests"}"#);
    let block = |label: &str, body: &str| format!("oci_credentials \"{label}\" {{\n  {body}\n}}\n");
    let wrong = "username = \"user\"\n  password = \"s3cret\"\n";
    let cases = [
        (block(&host, password), true),
        (block(&host, wrong) + &block(&format!("{host}/team"), password), true),
        (block(&host, "access_token = \"3xpired\"\n  refresh_token = \"r3fresh\"\n"), true),
        (block(&host, "docker_credentials_helper = \"tests\"\n"), true),
        ("oci_default_credentials {\n  docker_credentials_helper = \"tests\"\n}\n".to_owned(), true),
        ("oci_default_credentials {\n  docker_style_config_files = [\"login.json\"]\n}\n".to_owned(), true),
        (block(&host, wrong), false),
        (block("registry.example.com", password), false),
        (block(&format!("{host}/tea"), password), false),
        (block(&host, "docker_credentials_helper = \"none\"\n"), false),
        ("oci_default_credentials {\n  docker_style_config_files = [\"none.json\"]\n}\n".to_owned(), false),
    ];
    project.set("TF_CLI_CONFIG_FILE", project.path("settings.tfrc"));
    for (settings, works) in cases {
        project.write("settings.tfrc", &settings);
        let _ = std::fs::remove_dir_all(project.path("work/.terraform"));
        server.forget();
        let mut command = project.command(crate::support::program(), &["init"]);
        command.env("TF_LOG", "trace");
        let outcome = project.finish(command);
        assert_eq!(outcome.code, Some(i32::from(!works)), "{settings}\n{}", outcome.text());
        for secret in ["passw0rd", "s3cret", "t0ken", "r3fresh", "3xpired", "dXNlcjpwYXNzdzByZA"] {
            assert!(!outcome.text().contains(secret), "{secret} is shown:\n{}", outcome.text());
        }
        let asked = server.requests();
        let mut logins = asked.iter().filter(|asked| asked.header("authorization").starts_with("Basic"));
        assert!(logins.all(|asked| asked.place() == "/token"), "{settings}");
    }
}
