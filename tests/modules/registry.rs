//! Registries: discovery, versions, locations, credentials; and those that answer badly, or not at all.

use std::time::{Duration, Instant};

use super::fixture;
use crate::support::Project;
use crate::support::server::{Asked, Reply, Server};

const VERSIONS: &str = r#"{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.2.0"},{"version":"2.0.0-beta1"},{"version":"1.1.0"}]}]}"#;

/// A registry that implements the protocol.
fn registry(asked: &Asked) -> Option<Reply> {
    let path = asked.path.split('?').next().unwrap_or_default();
    Some(match path {
        "/.well-known/terraform.json" => Reply::json(r#"{"modules.v1": "/v1/modules"}"#),
        "/v1/modules/acme/net/aws/versions" => Reply::json(VERSIONS),
        "/v1/modules/acme/net/aws/1.2.0/download" => {
            Reply::status("204 No Content").with("X-Terraform-Get", "/archives/net.zip//s*")
        }
        "/v1/modules/acme/net/aws/1.1.0/download" => {
            Reply::json(r#"{"location": "../../../../../../archives/net.zip"}"#)
        }
        "/v1/modules/acme/net/aws/2.0.0-beta1/download" => {
            Reply::status("204 No Content").with("X-Terraform-Get", "../beside")
        }
        "/archives/net.zip" => Reply::status("200 OK").body(fixture("module.zip")),
        _ => Reply::status("404 Not Found"),
    })
}

fn call(name: &str, source: &str, version: &str) -> String {
    let version = if version.is_empty() { String::new() } else { format!("  version = \"{version}\"\n") };
    format!("module \"{name}\" {{\n  source = \"{source}\"\n{version}}}\n")
}

#[test]
fn versions_and_locations() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, registry);
    let source = format!("{}/acme/net/aws", server.host());
    let main = [
        call("exact", &source, "1.1.0"),
        call("folder", &format!("{source}//sub"), "~> 1.1, < 1.2"),
        call("newest", &source, ""),
    ];
    project.write("work/main.tf", &main.concat());
    let out = project.ok(&["get"]).out;
    let expected = [
        format!("Downloading {source} 1.1.0 for exact..."),
        "- exact in .terraform/modules/exact".into(),
        format!("Downloading {source} 1.1.0 for folder..."),
        "- folder in .terraform/modules/folder/sub".into(),
        format!("Downloading {source} 1.2.0 for newest..."),
        "- newest in .terraform/modules/newest/sub".into(),
    ];
    assert_eq!(out.lines().collect::<Vec<_>>(), expected);
    let manifest = project.read("work/.terraform/modules/modules.json");
    let entry = format!(
        r#"{{"Key":"folder","Source":"{source}//sub","Version":"1.1.0","Dir":".terraform/modules/folder/sub"}}"#
    );
    assert!(manifest.contains(&entry), "{manifest}");
    // There is one request for each resource.
    let counts =
        ["/.well-known/terraform.json", "/v1/modules/acme/net/aws/versions", "/v1/modules/acme/net/aws/1.1.0/download"];
    assert_eq!(counts.map(|path| server.count(path)), [1, 1, 1]);
    assert_eq!(server.count("/archives/net.zip"), 1);
    // What is installed and still allowed stays, unless it is to be upgraded.
    project.write("work/main.tf", &call("exact", &source, ">= 1.0"));
    assert_eq!(project.ok(&["get"]).out, "");
    project.ok(&["get", "-update"]).expect(0, &[" 1.2.0 for exact..."]);
    project.write("work/main.tf", &call("exact", &source, "1.1.0"));
    project.run(&["validate"]).expect(1, &["Module version requirements have changed"]);
    project.ok(&["init"]).expect(0, &[" 1.1.0 for exact..."]);
    project.ok(&["validate"]);
}

#[test]
fn unavailable_modules_are_errors() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, registry);
    let (host, source) = (server.host(), format!("{}/acme/net/aws", server.host()));
    let none = format!("Module \"m\" (from main.tf:1) cannot be found in the module registry at {host}.");
    let unresolvable = format!(
        "There is no available version of module \"{source}\" (main.tf:1) which matches the given version constraint. The newest \
         available version is 1.2.0."
    );
    let cases = [
        (call("m", &format!("{host}/acme/none/aws"), ""), ["Error: Module not found", &none]),
        (call("m", &source, "> 1.2"), ["Error: Unresolvable module version constraint", &unresolvable]),
        (
            call("m", &source, "1.0.0"),
            ["Error: Error accessing remote module registry", "module \"acme/net/aws\" version \"1.0.0\" not found"],
        ),
        (
            call("m", &format!("{source}//nope"), "1.1.0"),
            ["Error: Unreadable module subdirectory", "The target submodule nope does not exist"],
        ),
        (
            call("m", &source, "2.0.0-beta1"),
            ["Error: Failed to download module", "error downloading 'https://127.0.0.1:"],
        ),
    ];
    for (main, texts) in cases {
        project.write("work/main.tf", &main);
        let outcome = project.run(&["init"]);
        outcome.expect(1, &texts);
        outcome.expect(1, &["on main.tf line 1"]);
    }
}

/// One host per way to fail, told apart by the module's namespace.
#[test]
fn registries_that_falter() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, |asked| {
        let namespace = asked.path.strip_prefix("/v1/modules/").and_then(|rest| rest.split('/').next());
        Some(match namespace {
            Some("unauthorized") => Reply::status("401 Unauthorized"),
            Some("forbidden") => Reply::status("403 Forbidden"),
            Some("broken") => Reply::status("500 Internal Server Error"),
            Some("garbage") => Reply::json("garbage"),
            Some("empty") => Reply::json("{}"),
            Some("bare") => Reply::json(r#"{"modules":[{}]}"#),
            Some("stalls") => return None,
            _ => return registry(asked),
        })
    });
    project.set("TF_REGISTRY_CLIENT_TIMEOUT", "1");
    let host = server.host();
    let versions = |namespace: &str| format!("/v1/modules/{namespace}/net/aws/versions");
    let cases = [
        ("unauthorized", vec!["error looking up module versions: 401 Unauthorized.".to_owned()]),
        ("forbidden", vec!["error looking up module versions: 403 Forbidden.".to_owned()]),
        (
            "broken",
            vec![format!(
                "the request failed after 2 attempts, please try again later: 500 Internal Server Error returned from {}.",
                server.url(&versions("broken"))
            )],
        ),
        ("garbage", vec!["the registry's answer is not what the protocol asks for".to_owned()]),
        (
            "empty",
            vec![format!(
                "The registry at {host} returned an invalid response when Terrane requested available versions"
            )],
        ),
        ("bare", vec!["has no versions available on".to_owned()]),
        ("stalls", vec!["after 2 attempts".to_owned(), "context deadline exceeded".to_owned()]),
    ];
    for (namespace, texts) in &cases {
        project.write("work/main.tf", &call("m", &format!("{host}/{namespace}/net/aws"), ""));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let outcome = project.run(&["init"]);
        outcome.expect(1, &texts);
        outcome.expect(1, &["on main.tf line 1"]);
    }
    let attempts = ["unauthorized", "broken", "stalls"].map(|namespace| server.count(&versions(namespace)));
    assert_eq!(attempts, [1, 2, 2], "only what may pass is asked again");
}

#[test]
fn hosts_that_offer_nothing() {
    let answers: [(&str, Reply, &str); 6] = [
        ("none", Reply::status("404 Not Found"), "host does not provide a modules service"),
        ("broken", Reply::status("418 I'm a teapot"), "failed to request discovery document: 418"),
        (
            "page",
            Reply::status("200 OK").with("Content-Type", "text/html; x=y"),
            "discovery URL returned an unsupported Content-Type \"text/html\"",
        ),
        ("garbage", Reply::json("garbage"), "failed to decode discovery document as a JSON object"),
        ("other", Reply::json(r#"{"providers.v1": "/x/"}"#), "does not provide a modules service"),
        ("later", Reply::json(r#"{"modules.v2": "/x/"}"#), "does not support modules version v1"),
    ];
    for (_, reply, text) in answers {
        let mut project = Project::new("");
        let reply = std::sync::Mutex::new(reply);
        let server = Server::start(&mut project, move |_| {
            let reply = reply.lock().unwrap();
            Some(Reply { status: reply.status.clone(), headers: reply.headers.clone(), body: reply.body.clone() })
        });
        project.write("work/main.tf", &call("m", &format!("{}/acme/net/aws", server.host()), ""));
        project
            .run(&["init"])
            .expect(1, &["Failed to retrieve available versions for module \"m\" (main.tf:1) from", text]);
    }
    // A host with an unknown certificate authority.
    let mut project = Project::new("");
    let server = Server::start(&mut project, registry);
    project.set("SSL_CERT_FILE", "/dev/null");
    project.write("work/main.tf", &call("m", &format!("{}/acme/net/aws", server.host()), ""));
    project.run(&["init"]).expect(1, &["failed to request discovery document"]);
}

/// Tokens are wanted everywhere but where the archive is, and go nowhere else.
fn guarded(asked: &Asked) -> Option<Reply> {
    let token = asked.headers.get("authorization").map(String::as_str);
    match (asked.path.starts_with("/archives/"), token) {
        (true, None) | (false, Some("Bearer s3cret")) => registry(asked),
        _ => Some(Reply::status("401 Unauthorized")),
    }
}

#[test]
fn credentials() {
    let attempt = |prepare: &dyn Fn(&mut Project, &Server)| {
        let mut project = Project::new("");
        let server = Server::start(&mut project, guarded);
        project.write("work/main.tf", &call("m", &format!("{}/acme/net/aws", server.host()), "1.1.0"));
        prepare(&mut project, &server);
        let outcome = project.run(&["init"]);
        assert!(!outcome.text().contains("s3cret"));
        (outcome, project)
    };
    let works = |prepare: &dyn Fn(&mut Project, &Server)| {
        let (outcome, project) = attempt(prepare);
        assert_eq!(outcome.code, Some(0), "{}", outcome.err);
        project
    };
    let (outcome, _) = attempt(&|_, _| {});
    outcome.expect(1, &["failed to request discovery document: 401 Unauthorized"]);
    works(&|project, server| {
        let name = format!("TF_TOKEN_{}", server.host().replace('.', "_"));
        project.set(&name, "s3cret");
    });
    works(&|project, server| {
        let text = format!("credentials \"{}\" {{\n  token = \"s3cret\"\n}}\n", server.host());
        let path = project.write("cli.tfrc", &text);
        project.set("TF_CLI_CONFIG_FILE", path);
    });
    works(&|project, server| {
        let text = format!(r#"{{"credentials": {{"{}": {{"token": "s3cret"}}}}}}"#, server.host());
        project.write("home/.terraform.d/credentials.tfrc.json", &text);
    });
    let project = works(&|project, server| {
        let text = "credentials_helper \"test\" {\n  args = [\"--flag\", \"x y\"]\n}\n";
        project.write("home/.terraformrc", text);
        let log = project.path("helper.log");
        let helper = format!(
            "#!/bin/sh\necho \"$*\" >> '{}'\n[ \"$4\" = '{}' ] && echo '{{\"token\": \"s3cret\"}}'\n",
            log.display(),
            server.host()
        );
        project.script("home/.terraform.d/plugins/terraform-credentials-test", &helper);
    });
    let log = project.read("helper.log");
    assert!(log.starts_with("--flag x y get 127.0.0.1:") && log.lines().count() == 1, "{log}");
    let (outcome, _) = attempt(&|project, _| {
        project.write("home/.terraformrc", "credentials_helper \"test\" {}\n");
        project.script("home/.terraform.d/plugins/terraform-credentials-test", "#!/bin/sh\nexit 3\n");
    });
    outcome.expect(1, &["401 Unauthorized"]);
}

#[test]
fn settings_may_stand_in_for_discovery() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, registry);
    let text = format!(
        "host \"modules.example\" {{\n  services = {{\n    \"modules.v1\" = \"{}\"\n  }}\n}}\n",
        server.url("/v1/modules/")
    );
    let path = project.write("cli.tfrc", &text);
    project.set("TF_CLI_CONFIG_FILE", path);
    project.write("work/main.tf", &call("m", "modules.example/acme/net/aws", "1.1.0"));
    project.ok(&["init", "-no-color"]).expect(0, &["Downloading modules.example/acme/net/aws 1.1.0 for m..."]);
    assert_eq!(server.count("/.well-known/terraform.json"), 0);
}

/// An interrupt ends a request that would wait; what was installed before stays usable.
#[test]
fn interrupted() {
    let mut project = Project::new("");
    let server =
        Server::start(&mut project, |asked| if asked.path.contains("/slow/") { None } else { registry(asked) });
    project.set("TF_REGISTRY_CLIENT_TIMEOUT", "600");
    let host = server.host();
    let fast = call("fast", &format!("{host}/acme/net/aws"), "1.1.0");
    project.write("work/main.tf", &(fast.clone() + &call("slow", &format!("{host}/slow/net/aws"), "")));
    let mut running = crate::support::Running::start(project.command(crate::support::program(), &["init"]));
    running.until(|screen| screen.contains("- fast in"));
    let start = Instant::now();
    // SAFETY: the call touches no memory.
    unsafe { libc::kill(running.child.id() as i32, libc::SIGINT) };
    let outcome = running.finish();
    assert!(start.elapsed() < Duration::from_secs(30));
    outcome.expect(1, &["Interrupt received.", "Module installation was interrupted"]);
    let left = std::fs::read_dir(project.path("work/.terraform/modules")).unwrap().flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with('.')));
    project.write("work/main.tf", &fast);
    project.ok(&["validate"]);
    assert_eq!(project.ok(&["get"]).out, "");
}
