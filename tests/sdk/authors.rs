//! The commands for authors of providers: a new project is built and tested, its pages are made, and its release is installed
//! from a registry by Terrane and by the reference.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::json;

use super::{EXAMPLE, here, todo};
use crate::support::catalogue::sum;
use crate::support::needs::{self, Need};
use crate::support::server::{Asked, Reply, Server};
use crate::support::signing::SigningKey;
use crate::support::{self, Project, platform, processes, program};

/// A project of `provider new`, with the tools of this machine.
struct Lab {
    project: Project,
    /// Where cargo builds.
    target: PathBuf,
}

impl Lab {
    /// None, and the test is skipped, if there is no cargo, or if it lacks crates and the network.
    fn new() -> Option<Lab> {
        let mut project = Project::new("");
        std::fs::remove_file(project.path("work/main.tf")).unwrap();
        let target = Path::new(env!("CARGO_BIN_EXE_terrane")).ancestors().nth(2).unwrap().join("sdk-example");
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        let tool = |name: &str, folder: &str| std::env::var_os(name).map_or_else(|| home.join(folder), PathBuf::from);
        project.set("CARGO_HOME", tool("CARGO_HOME", ".cargo"));
        project.set("RUSTUP_HOME", tool("RUSTUP_HOME", ".rustup"));
        project.set("CARGO_TARGET_DIR", &target);
        project.set("CARGO_PROFILE_DEV_DEBUG", "0");
        let sdk = format!("-sdk-path={}", here("").display());
        project.ok(&["provider", "new", &sdk, "-namespace=acme", "demo"]);
        let folder = project.work().join("terraform-provider-demo");
        // The crates that the example has are there.
        std::fs::copy(here(EXAMPLE).join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        let mut lab = Lab { project, target };
        let crates = todo::crates_of(|args| lab.cargo(args));
        crates.inspect_err(|why| needs::skip(Need::Cargo, &format!("cargo cannot build a new project: {why}"))).ok()?;
        lab.project.set("CARGO_NET_OFFLINE", "true");
        Some(lab)
    }

    fn cargo(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(Path::new("cargo"), args);
        command.current_dir(self.folder());
        command
    }

    fn folder(&self) -> PathBuf {
        self.project.work().join("terraform-provider-demo")
    }

    fn program(&self) -> PathBuf {
        self.target.join("debug/terraform-provider-demo")
    }

    /// Runs a command of the program in the folder of the provider.
    fn provider(&self, code: i32, args: &[&str], texts: &[&str]) -> String {
        let args = [&["-chdir=terraform-provider-demo", "provider"], args].concat();
        let outcome = self.project.run(&args);
        outcome.expect(code, texts);
        outcome.out
    }

    fn write(&self, below: &str, text: &str) {
        self.project.write(&format!("work/terraform-provider-demo/{below}"), text);
    }

    fn read(&self, below: &str) -> String {
        self.project.read(&format!("work/terraform-provider-demo/{below}"))
    }
}

/// A registry with one release, whose files are in a folder.
fn registry(project: &mut Project, files: PathBuf, key: SigningKey) -> Server {
    Server::start(project, move |asked: &Asked| {
        let parts: Vec<&str> = asked.place().trim_matches('/').split('/').collect();
        let file = |name: &str| std::fs::read(files.join(name)).ok();
        let prefix = "terraform-provider-demo_0.1.0";
        let found = match parts.as_slice() {
            [".well-known", "terraform.json"] => Some(Reply::json(r#"{"providers.v1": "/v1/"}"#)),
            ["v1", "acme", "demo", "versions"] => {
                let manifest = file(&format!("{prefix}_manifest.json")).unwrap();
                let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
                let (os, arch) = platform().split_once('_').map(|(os, arch)| (os.to_owned(), arch.to_owned())).unwrap();
                let version = json!({
                    "version": "0.1.0", "protocols": manifest["metadata"]["protocol_versions"],
                    "platforms": [{"os": os, "arch": arch}],
                });
                Some(Reply::json(json!({"versions": [version]}).to_string()))
            }
            ["v1", "acme", "demo", "0.1.0", "download", os, arch] => {
                let name = format!("{prefix}_{os}_{arch}.zip");
                let key = json!({"key_id": key.id, "ascii_armor": key.armor});
                let document = json!({
                    "protocols": ["6.0"], "os": os, "arch": arch, "filename": name,
                    "shasum": sum(&file(&name).unwrap()), "download_url": format!("/files/{name}"),
                    "shasums_url": format!("/files/{prefix}_SHA256SUMS"),
                    "shasums_signature_url": format!("/files/{prefix}_SHA256SUMS.sig"),
                    "signing_keys": {"gpg_public_keys": [key]},
                });
                Some(Reply::json(document.to_string()))
            }
            ["files", name] => file(name).map(|content| Reply::bytes(Arc::new(content))),
            _ => None,
        };
        Some(found.unwrap_or_else(|| Reply::status("404 Not Found")))
    })
}

/// A folder with a configuration that uses the provider from a registry.
fn configuration(lab: &Lab, name: &str, server: &Server) -> PathBuf {
    let host = format!("localhost:{}", server.port);
    let main = format!(
        r#"
        terraform {{
          required_providers {{
            demo = {{
              source = "{host}/acme/demo"
            }}
          }}
        }}
        provider "demo" {{
          folder = "notes"
        }}
        resource "demo_note" "milk" {{
          name = provider::demo::slug("Buy milk")
          text = "Two bottles."
        }}
        data "demo_notes" "all" {{
          depends_on = [demo_note.milk]
        }}
        output "names" {{
          value = data.demo_notes.all.names
        }}
        "#
    );
    lab.project.write(&format!("work/{name}/main.tf"), &main).parent().unwrap().to_owned()
}

/// Installs the release with a host and uses the provider.
fn use_release(lab: &Lab, host: &Path, folder: &Path) {
    let run = |args: &[&str], texts: &[&str]| {
        let mut command = lab.project.command(host, args);
        command.current_dir(folder);
        lab.project.finish(command).expect(0, texts);
    };
    run(&["init", "-no-color"], &["Installed localhost:", "acme/demo v0.1.0 (self-signed, key ID"]);
    run(&["apply", "-auto-approve", "-no-color"], &["1 added", "\"buy-milk\""]);
    run(&["plan", "-detailed-exitcode", "-no-color"], &["No changes."]);
    assert_eq!(std::fs::read_to_string(folder.join("notes/buy-milk.txt")).unwrap(), "Two bottles.");
    run(&["state", "rm", "demo_note.milk"], &[]);
    run(&["import", "-no-color", "demo_note.milk", "buy-milk"], &["Import successful!"]);
    run(&["destroy", "-auto-approve", "-no-color"], &["1 destroyed"]);
}

#[test]
fn new_project_is_built_documented_and_released() {
    let Some(mut lab) = Lab::new() else { return };
    let tested = lab.cargo(&["test", "--quiet"]).output().unwrap();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
    let again = lab.project.run(&["provider", "new", "demo"]);
    again.expect(1, &["Failed to create the project", "terraform-provider-demo exists"]);

    lab.provider(0, &["docs"], &["docs/index.md: created", "4 pages are current now."]);
    lab.provider(0, &["docs", "-check"], &["All 4 pages are current."]);
    let page = lab.read("docs/resources/note.md");
    for text in ["page_title: \"demo_note Resource - terraform-provider-demo\"", "## Import", "- `size` (Number) The"] {
        assert!(page.contains(text), "{page}");
    }
    change_pages(&lab);

    let key = SigningKey::new("Author <author@example.com>");
    std::fs::write(lab.project.path("key"), key.secret()).unwrap();
    let binary = format!("-binary={}", lab.program().display());
    let key_flag = format!("-key={}", lab.project.path("key").display());
    let arguments = ["package", &binary, &key_flag];
    let shown = lab.provider(0, &arguments, &["Protocol versions: 5.0, 6.0", &format!("Signed by the key {}", key.id)]);
    let archive = format!("dist/terraform-provider-demo_0.1.0_{}.zip", platform());
    assert!(shown.contains(&archive), "{shown}");
    let sums = lab.read("dist/terraform-provider-demo_0.1.0_SHA256SUMS");
    lab.provider(0, &arguments, &[]);
    assert_eq!(lab.read("dist/terraform-provider-demo_0.1.0_SHA256SUMS"), sums, "archives differ from run to run");
    refuse_releases(&lab, &binary);

    let dist = lab.folder().join("dist");
    let server = registry(&mut lab.project, dist, key);
    let folder = configuration(&lab, "ours", &server);
    use_release(&lab, program(), &folder);
    if let Some(terraform) = support::reference() {
        use_release(&lab, &terraform, &configuration(&lab, "theirs", &server));
    }
    // A list that the key did not sign.
    lab.write("dist/terraform-provider-demo_0.1.0_SHA256SUMS", &format!("{sums}\n"));
    let folder = configuration(&lab, "forged", &server);
    let mut command = lab.project.command(program(), &["init", "-no-color"]);
    command.current_dir(folder);
    lab.project.finish(command).expect(1, &["signature"]);
    processes::all_gone(lab.project.mark());
}

/// Pages follow changes of the project; pages that were written by hand are kept.
fn change_pages(lab: &Lab) {
    lab.write("examples/functions/slug/function.tf", "# Changed.\n");
    lab.write("docs/resources/old.md", &lab.read("docs/resources/note.md"));
    lab.write("docs/data-sources/mine.md", "# Mine\n");
    lab.write("docs/guides/start.md", "# Start\n");
    lab.provider(
        1,
        &["docs", "-check"],
        &["docs/functions/slug.md: outdated", "docs/resources/old.md: to delete", "Page without a type", "mine.md"],
    );
    lab.provider(0, &["docs"], &["docs/functions/slug.md: changed", "docs/resources/old.md: deleted"]);
    assert!(lab.read("docs/functions/slug.md").contains("# Changed."));
    assert!(!lab.project.exists("work/terraform-provider-demo/docs/resources/old.md"));
    assert_eq!(lab.read("docs/data-sources/mine.md"), "# Mine\n");
    assert_eq!(lab.read("docs/guides/start.md"), "# Start\n");
    lab.write("templates/resources/note.md.tmpl", "{{ .Name }}: {{ .SchemaMarkdown | trimspace }}\n");
    lab.write("templates/guides/more.md", "# More\n");
    lab.provider(0, &["docs"], &["docs/resources/note.md: changed", "docs/guides/more.md: created"]);
    assert!(lab.read("docs/resources/note.md").starts_with("demo_note: <!-- schema generated by"));
    lab.write("templates/resources/note.md.tmpl", "\n{{ template \"x\" }}");
    lab.provider(1, &["docs"], &["templates/resources/note.md.tmpl, line 2: {{ template }} is not supported"]);
    lab.write("templates/resources/note.md.tmpl", "{{ .Name }}\n");
}

fn refuse_releases(lab: &Lab, binary: &str) {
    let refuse = |args: &[&str], texts: &[&str]| {
        let args = [&["package", "-out=refused"], args].concat();
        lab.provider(1, &args, texts);
        assert!(!lab.project.exists("work/terraform-provider-demo/refused"), "{args:?}");
    };
    refuse(&[binary, "-release-version=v1.0"], &["Invalid release", "must have three numbers and no \"v\""]);
    refuse(&[binary, "-name=De_mo"], &["Invalid release"]);
    refuse(
        &[binary, "-platform=windows_amd64"],
        &["Wrong program in a release", "cannot be the program for windows_amd64"],
    );
    refuse(&[binary, binary], &["there are 2 programs and 0 platforms"]);
    refuse(&["-platform=linux_amd64"], &["there is none"]);
    refuse(&[binary, "-key=README.md"], &["Failed to sign the release", "not an OpenPGP key"]);
    refuse(&[&format!("-binary={}", program().display())], &["The program does not work as a provider"]);
    lab.write("terraform-registry-manifest.json", r#"{"version": 1, "metadata": {"protocol_versions": ["7.0"]}}"#);
    refuse(&[binary], &["Invalid registry manifest", "it serves 5.0 and 6.0"]);
    std::fs::remove_file(lab.folder().join("terraform-registry-manifest.json")).unwrap();
}

/// The files of a folder and of those below it, sorted, with their paths below it.
fn files_of(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().display().to_string();
                files.push((name, std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// Replaces a folder by one with these files.
fn write_all(folder: &Path, files: &[(String, String)]) {
    let _ = std::fs::remove_dir_all(folder);
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// All kinds of pages, of the example.
#[test]
fn pages_of_the_example_are_the_recorded_ones() {
    let Some(provider) = todo::provider() else { return };
    let expected = here("tests/sdk/expected_pages");
    let project = Project::new("");
    std::os::unix::fs::symlink(here(EXAMPLE).join("examples"), project.path("work/examples")).unwrap();
    let binary = format!("-binary={}", provider.display());
    project.ok(&["provider", "docs", &binary]);
    let found = files_of(&project.path("work/docs"));
    if std::env::var_os("TERRANE_TEST_RECORD").is_some() {
        write_all(&expected, &found);
    }
    let recorded = files_of(&expected);
    if found != recorded {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("found_pages");
        write_all(&place, &found);
        let names: Vec<&str> = found.iter().filter(|page| !recorded.contains(page)).map(|(name, _)| &**name).collect();
        panic!("not as recorded: {names:?}. Compare {} with {}", place.display(), expected.display());
    }
    processes::all_gone(project.mark());
}
