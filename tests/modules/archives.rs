//! Archives of every kind, over HTTPS and from the disk; what they must not do; and hosts that say where a package is.

use super::{calls, fixture};
use crate::support::Project;
use crate::support::server::{Asked, Reply, Server};

fn archive(name: &'static str) -> Reply {
    Reply::status("200 OK").with("Content-Type", "application/octet-stream").body(fixture(name))
}

fn files(asked: &Asked) -> Option<Reply> {
    let path = asked.path.split('?').next().unwrap_or_default();
    Some(match path {
        "/module.zip" | "/plain" | "/bucket/module.zip" => archive("module.zip"),
        "/module.tar" => archive("module.tar"),
        "/module.tar.gz" | "/module.tgz" => archive("module.tar.gz"),
        "/module.tbz2" | "/module.tar.bz2" => archive("module.tbz2"),
        "/module.tar.xz" | "/module.txz" => archive("module.tar.xz"),
        "/module.tar.zst" => archive("module.tar.zst"),
        "/single.gz" => archive("single.gz"),
        "/garbage.zip" => Reply::status("200 OK").body("this is no archive"),
        "/sums" => Reply::status("200 OK").body(format!("{SHA256} *module.zip\n")),
        _ => Reply::status("404 Not Found"),
    })
}

/// Of module.zip.
const SHA256: &str = "f9d7d89789c44c775f514e7b8e2e22a6adee5126e09910f3bf4e0f13ab908020";

#[test]
fn every_kind() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, files);
    let names = ["zip", "tar", "tar.gz", "tgz", "tbz2", "tar.bz2", "tar.xz", "txz", "tar.zst"];
    let mut sources: Vec<(String, String)> =
        names.iter().map(|name| (name.replace('.', "_"), server.url(&format!("/module.{name}")))).collect();
    sources.push(("named".into(), server.url("/plain?archive=zip")));
    sources.push(("summed".into(), server.url(&format!("/module.zip?checksum=sha256:{SHA256}"))));
    sources.push(("listed".into(), server.url(&format!("/module.zip?checksum=file:{}", server.url("/sums")))));
    sources.push(("inside".into(), server.url("/module.zip//sub")));
    sources.push(("bucket".into(), format!("s3::{}", server.url("/bucket/module.zip"))));
    let pairs: Vec<_> = sources.iter().map(|(name, source)| (name.as_str(), source.as_str())).collect();
    project.write("work/main.tf", &calls(&pairs));
    project.ok(&["init"]);
    let inside = project.read("work/.terraform/modules/inside/sub/main.tf");
    for (name, _) in &sources {
        let module = project.path("work/.terraform/modules").join(name);
        assert_eq!(std::fs::read_to_string(module.join("sub/main.tf")).unwrap(), inside, "{name}");
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(module.join("bin/run.sh")).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{name}");
    }
}

#[test]
fn from_the_disk() {
    let project = Project::new("");
    std::fs::write(project.path("m.tgz"), fixture("module.tar.gz")).unwrap();
    let source = format!("{}//sub", project.path("m.tgz").display());
    project.write("work/main.tf", &calls(&[("m", &source)]));
    project.ok(&["get"]).expect(0, &["- m in .terraform/modules/m/sub"]);
}

#[test]
fn what_is_refused() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, files);
    std::fs::write(project.path("evil.tar"), traversal()).unwrap();
    let evil = format!("file://{}", project.path("evil.tar").display());
    let zeros = "0".repeat(64);
    let cases: &[(String, &[&str])] = &[
        (evil, &["entry contains '..': ../evil.tf"]),
        (server.url("/garbage.zip"), &["zip: "]),
        (server.url("/single.gz"), &["gzip-compressed files can only unarchive to a single file"]),
        (server.url("/gone.zip"), &["bad response code: 404"]),
        (
            server.url(&format!("/module.zip?checksum=sha256:{zeros}")),
            &["Checksums did not match. Expected: 00", SHA256],
        ),
        (server.url("/module.zip//nope"), &["subdir \"nope\" not found"]),
        (
            "http://user:word@127.0.0.1:1/x.zip".into(),
            &["http://user:redacted@127.0.0.1:1/x.zip\": dial tcp 127.0.0.1:1: connect: connection refused"],
        ),
        ("ftp://127.0.0.1/x".into(), &["download not supported for scheme 'ftp'"]),
    ];
    for (source, texts) in cases {
        project.write("work/main.tf", &calls(&[("m", source)]));
        let outcome = project.run(&["init"]);
        outcome.expect(1, texts);
        outcome.expect(1, &["on main.tf line 1"]);
        assert!(!outcome.text().contains("word"), "{}", outcome.err);
        // What came without the folder that was wanted is there, and recorded nowhere.
        let came = project.path("work/.terraform/modules/m");
        assert_eq!(came.exists(), source.contains("//nope"), "{source}");
        assert!(!project.exists("work/.terraform/modules/evil.tf"));
        let _ = std::fs::remove_dir_all(came);
    }
    project.set("TERRANE_MODULE_SIZE_LIMIT", "0");
    std::fs::write(project.path("m.tar"), fixture("module.tar")).unwrap();
    project.write("work/main.tf", &calls(&[("m", &format!("file://{}", project.path("m.tar").display()))]));
    project.run(&["init"]).expect(1, &["the archive holds more than 0 MiB"]);
}

fn traversal() -> Vec<u8> {
    let mut archive = vec![0; 512];
    archive[..10].copy_from_slice(b"../evil.tf");
    archive[100..107].copy_from_slice(b"0000644");
    archive[124..135].copy_from_slice(b"00000000000");
    archive[156] = b'0';
    archive[257..265].copy_from_slice(b"ustar\x0000");
    archive[148..156].fill(b' ');
    let sum: u32 = archive.iter().map(|b| u32::from(*b)).sum();
    archive[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    archive.resize(512 * 3, 0);
    archive
}

#[test]
fn hosts_that_say_where_a_package_is() {
    let mut project = Project::new("");
    let server = Server::start(&mut project, |asked| {
        let page = |content: &str| {
            let text = format!("<html><head><meta name=\"terraform-get\" content=\"{content}\"></head></html>");
            Some(Reply::status("200 OK").with("Content-Type", "text/html").body(text))
        };
        match asked.path.as_str() {
            "/header?terraform-get=1" => {
                Some(Reply::status("204 No Content").with("X-Terraform-Get", "./module.zip//sub"))
            }
            "/page?terraform-get=1" => page("/module.zip"),
            "/loop?terraform-get=1" => Some(Reply::status("200 OK").with("X-Terraform-Get", "/loop")),
            "/file?terraform-get=1" => Some(Reply::status("200 OK").with("X-Terraform-Get", "file:///etc")),
            "/silent?terraform-get=1" => Some(Reply::status("200 OK")),
            "/moved.zip" => Some(Reply::status("302 Found").with("Location", "/module.zip")),
            "/guarded.zip" if !asked.headers.contains_key("authorization") => Some(Reply::status("401 Unauthorized")),
            "/guarded.zip" => (asked.headers["authorization"] == "Basic bWU6cHc=").then(|| archive("module.zip")),
            _ => files(asked),
        }
    });
    project.write("home/.netrc", "machine 127.0.0.1 login me password pw\n");
    let names = ["header", "page", "moved.zip", "guarded.zip"];
    let sources: Vec<_> = names.iter().map(|n| (n.split('.').next().unwrap(), server.url(&format!("/{n}")))).collect();
    let pairs: Vec<_> = sources.iter().map(|(name, source)| (*name, source.as_str())).collect();
    project.write("work/main.tf", &calls(&pairs));
    project.ok(&["init"]);
    assert!(project.read("work/.terraform/modules/header/main.tf").contains("\"sub\""));
    assert!(project.exists("work/.terraform/modules/page/sub/main.tf"));
    let cases = [
        ("/loop", "too many X-Terraform-Get redirects"),
        ("/file", "no getter available for X-Terraform-Get source protocol: \"file\""),
        ("/silent", "no source URL was returned"),
        ("/none", "bad response code: 404"),
    ];
    for (path, text) in cases {
        project.write("work/main.tf", &calls(&[("m", &server.url(path))]));
        project.run(&["init"]).expect(1, &["error downloading 'https://127.0.0.1:", text]);
    }
}
