//! Repositories of git: over the file system, over HTTPS, and by a fake ssh; and one of Mercurial, by a fake hg.

use super::{Repository, calls};
use crate::support::Project;
use crate::support::server::{self, Server};

const MAIN: &str = "output \"v\" {\n  value = 1\n}\n";

/// Manifest and screen as the reference writes them, observed on 1.11.4 with the same repository.
#[test]
fn branches_tags_commits_and_folders() {
    let project = Project::new("");
    let repository = Repository::new(&project, "repository");
    repository.commit(&[
        ("main.tf", MAIN),
        ("sub/main.tf", "module \"deep\" {\n  source = \"./deep/\"\n}\n"),
        ("sub/deep/x.tf", ""),
    ]);
    repository.git(&["tag", "v1"]);
    let commit = repository.git(&["rev-parse", "HEAD"]);
    repository.commit(&[("main.tf", "output \"w\" {\n  value = 2\n}\n")]);
    let url = repository.url();
    let sources = [
        ("branch", format!("{url}?ref=main")),
        ("commit", format!("{url}?ref={commit}")),
        ("folder", format!("{url}//s*?ref=v1")),
        ("plain", url.clone()),
        ("shallow", format!("{url}?ref=v1&depth=1")),
    ];
    let pairs: Vec<_> = sources.iter().map(|(name, source)| (*name, source.as_str())).collect();
    project.write("work/main.tf", &calls(&pairs));
    let out = project.ok(&["get"]).out;
    let lines: Vec<String> = vec![
        format!("Downloading {url}?ref=main for branch..."),
        "- branch in .terraform/modules/branch".into(),
        format!("Downloading {url}?ref={commit} for commit..."),
        "- commit in .terraform/modules/commit".into(),
        format!("Downloading {url}?ref=v1 for folder..."),
        "- folder in .terraform/modules/folder/sub".into(),
        "- folder.deep in .terraform/modules/folder/sub/deep".into(),
        format!("Downloading {url} for plain..."),
        "- plain in .terraform/modules/plain".into(),
        format!("Downloading {url}?ref=v1&depth=1 for shallow..."),
        "- shallow in .terraform/modules/shallow".into(),
    ];
    assert_eq!(out.lines().collect::<Vec<_>>(), lines);
    let entry = |key: &str, source: &str, dir: &str| format!(r#"{{"Key":"{key}","Source":"{source}","Dir":"{dir}"}}"#);
    let expected = [
        entry("", "", "."),
        entry("branch", &format!("{url}?ref=main"), ".terraform/modules/branch"),
        entry("commit", &format!("{url}?ref={commit}"), ".terraform/modules/commit"),
        entry("folder", &format!("{url}//s*?ref=v1"), ".terraform/modules/folder/sub"),
        entry("folder.deep", "./deep", ".terraform/modules/folder/sub/deep"),
        entry("plain", &url, ".terraform/modules/plain"),
        entry("shallow", &format!("{url}?ref=v1&depth=1"), ".terraform/modules/shallow"),
    ];
    assert_eq!(
        project.read("work/.terraform/modules/modules.json"),
        format!(r#"{{"Modules":[{}]}}"#, expected.join(","))
    );
    let main = |key: &str| project.read(&format!("work/.terraform/modules/{key}/main.tf"));
    assert_eq!((main("branch"), main("commit"), main("shallow")), (main("plain"), MAIN.into(), MAIN.into()));
    assert_ne!(main("plain"), MAIN);
    // Nothing is left of the way there, and nothing is done a second time.
    let left = std::fs::read_dir(project.path("work/.terraform/modules")).unwrap().flatten();
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with('.')));
    assert_eq!(project.ok(&["get"]).out, "");
    let again = project.ok(&["get", "-update"]).out;
    assert_eq!(again, out);
}

/// Sources and versions may be expressions, in modules that were just fetched too.
#[test]
fn sources_are_evaluated_on_the_way() {
    let project = Project::new("");
    let repository = Repository::new(&project, "repository");
    let inner = format!(
        "variable \"tag\" {{\n  const = true\n  type  = string\n}}\nmodule \"inner\" {{\n  source = \"{}//inner?ref=${{var.tag}}\"\n}}\n",
        repository.url()
    );
    repository.commit(&[("main.tf", &inner), ("inner/main.tf", MAIN)]);
    repository.git(&["tag", "v1"]);
    repository.commit(&[("inner/main.tf", "")]);
    let main = format!(
        "variable \"tag\" {{\n  const = true\n  type  = string\n}}\nmodule \"m\" {{\n  source = \"{}?ref=${{var.tag}}\"\n  tag    = var.tag\n}}\n",
        repository.url()
    );
    project.write("work/main.tf", &main);
    let url = repository.url();
    project.ok(&["init", "-var=tag=v1"]).expect(
        0,
        &[
            &format!("Downloading {url}?ref=v1 for m... - m in .terraform/modules/m"),
            &format!("Downloading {url}?ref=v1 for m.inner... - m.inner in .terraform/modules/m.inner/inner"),
        ],
    );
    assert_eq!(project.read("work/.terraform/modules/m.inner/inner/main.tf"), MAIN);
    project.ok(&["validate", "-var=tag=v1"]);
}

#[test]
fn over_https_with_submodules() {
    let mut project = Project::new("");
    let inner = Repository::new(&project, "repositories/inner");
    inner.commit(&[("inner.tf", MAIN)]);
    let outer = Repository::new(&project, "repositories/outer");
    outer.commit(&[("main.tf", "module \"inner\" {\n  source = \"./inner\"\n}\n")]);
    let root = project.path("repositories");
    let server = Server::start(&mut project, move |asked| Some(server::git(&root, asked)));
    outer.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        &inner.path.display().to_string(),
        "inner",
    ]);
    outer.git(&["config", "-f", ".gitmodules", "submodule.inner.url", "../../inner/.git"]);
    outer.commit(&[]);
    project.write("work/main.tf", &calls(&[("m", &format!("git::{}", server.url("/outer/.git")))]));
    project.ok(&["init"]).expect(0, &["- m in .terraform/modules/m", "- m.inner in .terraform/modules/m/inner"]);
    assert!(project.exists("work/.terraform/modules/m/inner/inner.tf"));
}

#[test]
fn errors_contain_the_output_of_git() {
    let project = Project::new("");
    let repository = Repository::new(&project, "repository");
    repository.commit(&[("main.tf", MAIN)]);
    let (url, gone) = (repository.url(), project.path("gone"));
    let expect = |source: &str, texts: &[&str]| {
        project.write("work/main.tf", &calls(&[("m", source)]));
        project.run(&["init"]).expect(1, &["Error: Failed to download module", "on main.tf line 1"]);
        project.run(&["init"]).expect(1, texts);
    };
    expect(
        &format!("git::file://{}", gone.display()),
        &["exited with 128:", "'.terraform/modules/m'...", "does not appear to be a git repository"],
    );
    expect(&format!("{url}?ref=nope"), &["exited with 1: error: pathspec 'nope' did not match"]);
    expect(&format!("{url}?ref=--upload-pack=x"), &["invalid ref: \"--upload-pack=x\""]);
    expect(&format!("{url}?ref=abcdef0123&depth=1"), &["requires 'ref' to be a branch or tag name"]);
    expect("git::ssh://git@host:user/x.git", &["invalid port number \"user\""]);
}

/// The key goes to ssh in a file that only the user can read and that is removed afterwards; it is never shown.
#[test]
fn keys_in_addresses() {
    let mut project = Project::new("");
    let repository = Repository::new(&project, "repository");
    repository.commit(&[("main.tf", MAIN)]);
    let served = repository.path.display().to_string();
    let seen = project.path("seen");
    let script = format!(
        "#!/bin/sh\nkey=\"$2\"\ncat \"$key\" > '{0}'\nstat -c %a \"$key\" >> '{0}'\necho \"$key\" >> '{0}'\nexec git-upload-pack '{served}'\n",
        seen.display()
    );
    let ssh = project.script("ssh.sh", &script);
    project.set("GIT_SSH_COMMAND", &ssh);
    project.set("GIT_SSH_VARIANT", "simple");
    project.write("work/main.tf", &calls(&[("m", "git::ssh://git@host.example/x.git?sshkey=c2VjcmV0Cg%3D%3D")]));
    let outcome = project.ok(&["init"]);
    assert!(outcome.text().contains("ssh://git@host.example/x.git?sshkey=redacted for m..."), "{}", outcome.out);
    let seen = std::fs::read_to_string(seen).unwrap();
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(lines[..2], ["secret", "600"]);
    assert!(!std::path::Path::new(lines[2]).exists());
    assert!(!project.read("work/.terraform.modules.lock.hcl").contains("sshkey"));
}

#[test]
fn mercurial() {
    let mut project = Project::new("");
    let script = "#!/bin/sh\ncase $1 in\nclone) mkdir -p \"$5\"; echo \"# $4\" > \"$5/main.tf\";;\nupdate) echo \"# $2\" >> main.tf;;\nesac\n";
    project.script("bin/hg", script);
    let path = format!("{}:{}", project.path("bin").display(), std::env::var("PATH").unwrap());
    project.set("PATH", path);
    project.write("work/main.tf", &calls(&[("m", "hg::http://hg.example/x?rev=v1")]));
    project.ok(&["get"]);
    assert_eq!(project.read("work/.terraform/modules/m/main.tf"), "# http://hg.example/x\n# v1\n");
}
