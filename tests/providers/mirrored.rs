//! `providers mirror`: a folder of packages, and what web servers make of it.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::stage::{Play, Stage, check};
use crate::support::catalogue::{Release, zip};
use crate::support::needs::{self, Need};
use crate::support::proxy::Proxy;
use crate::support::registry::requires;
use crate::support::server::{Asked, Reply, Server, write_identity};
use crate::support::trouble::{Gate, Trouble};
use crate::support::{PATIENCE, Project, Running, platform, processes, program, reference};

fn everywhere(version: &str) -> Release {
    let release = Release::new("acme/thing", version);
    let archive = zip(&[(&release.program(), 0o755, b"elsewhere")]);
    release.archive("darwin_arm64", archive)
}

/// A document of the mirror goes to the transcript, and which files there are.
fn show(stage: &mut Stage, name: &str) {
    let folder = format!("mirror/{}/acme/thing", stage.registry.host());
    stage.show(&format!("{folder}/{name}"));
    let mut files = stage.files("mirror");
    files.sort();
    for file in files {
        stage.note(&file.display().to_string());
    }
}

const CASES: &[(&str, Play)] = &[
    ("one provider", |stage| {
        stage.publish([everywhere("1.0.0"), everywhere("1.1.0")]);
        stage.requires(&[("thing", "acme/thing", "~> 1.0")]);
        stage.run(&["providers", "mirror", "../mirror"]);
        show(stage, "index.json");
        show(stage, "1.1.0.json");
    }),
    ("another platform later", |stage| {
        stage.publish([everywhere("1.0.0")]);
        stage.requires(&[("thing", "acme/thing", "")]);
        stage.run(&["providers", "mirror", "../mirror"]);
        stage.run(&["providers", "mirror", "-platform=darwin_arm64", "../mirror"]);
        show(stage, "1.0.0.json");
    }),
    ("versions of the lock file", |stage| {
        stage.publish([everywhere("1.0.0"), everywhere("1.1.0")]);
        stage.requires(&[("thing", "acme/thing", "1.0.0")]);
        stage.run(&["providers", "lock"]);
        stage.requires(&[("thing", "acme/thing", "~> 1.0")]);
        stage.run(&["providers", "mirror", "../mirror"]);
        stage.run(&["providers", "mirror", "-lock-file=false", "../mirror"]);
        show(stage, "index.json");
    }),
    ("arguments that cannot be", |stage| {
        stage.publish([everywhere("1.0.0")]);
        stage.requires(&[("thing", "acme/thing", "")]);
        stage.run(&["providers", "mirror"]);
        stage.run(&["providers", "mirror", "a", "b"]);
        stage.run(&["providers", "mirror", "-platform=linux", "-platform=a_b_c", "../mirror"]);
    }),
    ("a provider that is built in", |stage| {
        stage.publish([everywhere("1.0.0")]);
        let main = stage.registry.requires(&[("thing", "acme/thing", "")]);
        stage.project.write("work/main.tf", &(main + "resource \"terraform_data\" \"a\" {}\n"));
        stage.run(&["providers", "mirror", "../mirror"]);
    }),
    ("no version that fits", |stage| {
        stage.publish([everywhere("1.0.0")]);
        stage.requires(&[("thing", "acme/thing", "> 2")]);
        std::fs::create_dir(stage.project.path("mirror")).unwrap();
        stage.run(&["providers", "mirror", "../mirror"]);
    }),
    ("a provider that no mirror has", |stage| {
        stage.requires(&[("thing", "acme/thing", "")]);
        std::fs::create_dir(stage.project.path("mirror")).unwrap();
        stage.run(&["providers", "mirror", "../mirror"]);
    }),
    ("a platform that there is no package for", |stage| {
        stage.publish([everywhere("1.0.0")]);
        stage.requires(&[("thing", "acme/thing", "")]);
        std::fs::create_dir(stage.project.path("mirror")).unwrap();
        stage.run(&["providers", "mirror", "-platform=plan9_mips", "../mirror"]);
    }),
    ("an archive that is not the one", |stage| {
        stage.publish([everywhere("1.0.0")]);
        stage.requires(&[("thing", "acme/thing", "")]);
        std::fs::create_dir(stage.project.path("mirror")).unwrap();
        stage.trouble(".zip", Trouble::Instead(Reply::status("200 OK").body("PK? No.")));
        stage.run(&["providers", "mirror", "../mirror"]);
    }),
];

#[test]
fn as_the_reference() {
    check("mirrored", CASES);
}

/// A folder with the packages of `registry.example.com/acme/thing`, made by us.
fn mirror() -> Stage {
    let mut stage = Stage::new([everywhere("1.0.0")]);
    let proxy = Proxy::start(stage.registry.server.port);
    stage.project.set("HTTPS_PROXY", format!("http://127.0.0.1:{}", proxy.port));
    stage.project.write("work/main.tf", &main());
    stage.project.ok(&[
        "providers",
        "mirror",
        "-platform=darwin_arm64",
        &format!("-platform={}", platform()),
        "../mirror",
    ]);
    stage
}

fn main() -> String {
    requires("registry.example.com", &[("thing", "acme/thing", "")])
}

/// We and the reference install from a mirror, and lock what is there for every platform.
fn both_install(project: &mut Project, host: &str) {
    let settings = format!("provider_installation {{\n  network_mirror {{\n    url = \"https://{host}/\"\n  }}\n}}\n");
    let settings = project.write("cli.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);
    let lock = format!("-net-mirror=https://{host}/");
    let mut locks = Vec::new();
    for program in [Some(program().to_path_buf()), reference()].into_iter().flatten() {
        for args in [&["init", "-no-color"][..], &["providers", "lock", &lock, "-platform=darwin_arm64"]] {
            project.finish(project.command(&program, args)).expect(0, &["registry.example.com/acme/thing"]);
        }
        locks.push(project.read("work/.terraform.lock.hcl"));
        for left in [".terraform", ".terraform.lock.hcl"] {
            let path = project.path("work").join(left);
            if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
        }
    }
    assert!(locks[0].matches("h1:").count() == 2 && locks.iter().all(|lock| *lock == locks[0]), "{locks:?}");
}

/// The files of a folder, as any static web server offers them.
fn offer(folder: PathBuf) -> impl Fn(&Asked) -> Option<Reply> + Send + Sync {
    move |asked| {
        let path = folder.join(asked.place().trim_start_matches('/'));
        let kind = if path.extension().is_some_and(|e| e == "json") { "application/json" } else { "application/zip" };
        Some(match std::fs::read(path) {
            Ok(bytes) => Reply::status("200 OK").with("Content-Type", kind).body(bytes),
            Err(_) => Reply::status("404 Not Found"),
        })
    }
}

#[test]
fn a_static_server_offers_the_folder() {
    let stage = mirror();
    let mut project = Project::new(&main());
    let server = Server::start(&mut project, offer(stage.project.path("mirror")));
    both_install(&mut project, &server.host());
}

struct Nginx(Child);

impl Nginx {
    /// One that offers a folder over TLS, or None if there is no nginx here.
    fn start(project: &mut Project, folder: &Path) -> Option<(Nginx, u16)> {
        let installed = || Some(PathBuf::from("/usr/sbin/nginx")).filter(|file| file.is_file());
        let Some(program) = needs::on_path("nginx").or_else(installed) else {
            needs::skip(Need::Nginx, "there is no nginx on the PATH or in /usr/sbin");
            return None;
        };
        write_identity(project);
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let place = project.path("");
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temporary: String =
            temporary.iter().map(|name| format!("  {name}_temp_path {}/{name};\n", place.display())).collect();
        let config = format!(
            "daemon off;\nmaster_process off;\npid {0}/nginx.pid;\nerror_log {0}/nginx.log;\nevents {{}}\nhttp {{\n  access_log off;\n  \
             types {{ application/json json; application/zip zip; }}\n{temporary}  server {{\n    listen 127.0.0.1:{port} ssl;\n    \
             ssl_certificate {0}/certificate.pem;\n    ssl_certificate_key {0}/key.pem;\n    root {1};\n  }}\n}}\n",
            place.display(),
            folder.display(),
        );
        let config = project.write("nginx.conf", &config);
        let mut command = Command::new(program);
        command
            .args(["-p".as_ref(), place.as_os_str(), "-c".as_ref(), config.as_os_str()])
            .env(processes::MARK, project.mark());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut nginx = Nginx(child);
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = nginx.0.try_wait().unwrap();
            let log = std::fs::read_to_string(place.join("nginx.log")).unwrap_or_default();
            assert!(ended.is_none() && Instant::now() < end, "nginx does not listen: {log}");
        }
        Some((nginx, port))
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn nginx_offers_the_folder() {
    let stage = mirror();
    let mut project = Project::new(&main());
    let Some((_nginx, port)) = Nginx::start(&mut project, &stage.project.path("mirror")) else { return };
    both_install(&mut project, &format!("localhost:{port}"));
}

#[test]
fn programs_read_which_packages_are_mirrored() {
    let mut stage = Stage::new([everywhere("1.0.0")]);
    stage.requires(&[("thing", "acme/thing", "")]);
    let screen = stage.run(&["providers", "mirror", "-json-into=mirror.json", "../mirror"]).out;
    assert!(screen.contains("  - Selected v1.0.0 with no constraints"), "{screen}");
    let stream = stage.project.read("work/mirror.json");
    let name = format!("{}/acme/thing", stage.registry.host());
    for text in [
        format!("Mirroring {name}..."),
        format!("Selected {name} v1.0.0 with no constraints"),
        format!("Downloading {name} v1.0.0 package for {}...", platform()),
    ] {
        assert!(stream.contains(&format!("\"@message\":\"{text}\"")), "no {text} in:\n{stream}");
    }
    let stream = stage.run(&["providers", "mirror", "-json", "../mirror"]).out;
    assert!(stream.lines().all(|line| line.starts_with('{')) && stream.contains("that is there already"), "{stream}");
    let stream = stage.run(&["providers", "mirror", "-json"]).out;
    assert!(stream.contains("\"summary\":\"No output directory specified\""), "{stream}");
}

#[test]
fn what_is_whole_is_not_fetched_again() {
    let stage = Stage::new([everywhere("1.0.0")]);
    stage.requires(&[("thing", "acme/thing", "")]);
    let again = || stage.project.ok(&["providers", "mirror", "../mirror"]);
    again();
    let downloads = || stage.registry.downloads();
    assert_eq!(downloads(), 1);
    again().expect(0, &["Using the package for", "Package authenticated: self-signed"]);
    assert_eq!(downloads(), 1);
    // Half an archive is none.
    let is_archive = |path: &PathBuf| path.extension().is_some_and(|e| e == "zip");
    let archive = stage.files("mirror").into_iter().find(is_archive).unwrap();
    let whole = std::fs::read(&archive).unwrap();
    std::fs::write(&archive, &whole[..whole.len() / 2]).unwrap();
    again();
    assert_eq!((downloads(), std::fs::read(&archive).unwrap()), (2, whole));
    #[cfg(unix)]
    for file in stage.files("mirror") {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o644, "a web server of another user reads {}", file.display());
    }
}

#[test]
fn a_killed_run_leaves_nothing_that_looks_whole() {
    let stage = Stage::new([everywhere("1.0.0")]);
    stage.requires(&[("thing", "acme/thing", "")]);
    let gate = Gate::default();
    stage.trouble(".zip", Trouble::WaitWithin(50, gate.clone()));
    let mut running = Running::start(stage.project.command(program(), &["providers", "mirror", "../mirror"]));
    gate.reached(1);
    running.child.kill().unwrap();
    running.finish();
    let visible = |path: &PathBuf| !path.file_name().unwrap().to_string_lossy().starts_with('.');
    assert!(!stage.files("mirror").iter().any(visible), "{:?}", stage.files("mirror"));
    gate.open();
    stage.registry.server.heal();
    stage.project.ok(&["providers", "mirror", "../mirror"]);
    assert_eq!(stage.files("mirror").len(), 3, "{:?}", stage.files("mirror"));
}

#[test]
fn an_interrupted_run_ends_with_one_word() {
    for command in [&["providers", "mirror", "../mirror"][..], &["providers", "lock"]] {
        let stage = Stage::new([everywhere("1.0.0")]);
        stage.requires(&[("thing", "acme/thing", "")]);
        let gate = Gate::default();
        stage.trouble(".zip", Trouble::WaitWithin(50, gate.clone()));
        let running = Running::start(stage.project.command(program(), command));
        gate.reached(1);
        // SAFETY: the call touches no memory.
        unsafe { libc::kill(running.child.id() as i32, libc::SIGINT) };
        let outcome = running.finish();
        gate.open();
        assert_eq!(outcome.code, Some(1), "{}{}", outcome.out, outcome.err);
        assert_eq!(outcome.err.matches("Error: ").count(), 1, "{}", outcome.err);
        outcome.expect(1, &["canceled by an interrupt signal"]);
        assert!(stage.files("mirror").is_empty() && stage.files("tmp").is_empty(), "nothing half-written");
        assert!(!stage.project.exists("work/.terraform.lock.hcl"));
    }
}
