//! The lock file and `providers lock`: what is written, what is kept, what is refused. As the reference has it.

use super::stage::{Play, Stage, check};
use crate::support::catalogue::{Release, zip};
use crate::support::platform;
use crate::support::registry::requires;
use crate::support::server::Reply;
use crate::support::trouble::Trouble;

const LOCK: &str = "work/.terraform.lock.hcl";

/// `acme/thing` 1.0.0 for this platform and two others.
fn everywhere() -> Release {
    let release = Release::new("acme/thing", "1.0.0");
    ["darwin_arm64", "windows_amd64"].iter().fold(release, |release, platform| {
        let archive = zip(&[(&release.program(), 0o755, platform.as_bytes())]);
        release.archive(platform, archive)
    })
}

fn thing(stage: &Stage, constraint: &str) {
    stage.publish([everywhere()]);
    stage.requires(&[("thing", "acme/thing", constraint)]);
}

/// Changes a text in the lock file.
fn edit(stage: &Stage, from: &str, to: &str) {
    let text = stage.project.read(LOCK);
    assert!(text.contains(from), "{text}");
    stage.project.write(LOCK, &text.replace(from, to));
}

/// Leaves of the lock file's hashes only those that begin so.
fn keep_hashes(stage: &Stage, scheme: &str) {
    let text = stage.project.read(LOCK);
    let kept = |line: &&str| !line.starts_with("    \"") || line.starts_with(&format!("    \"{scheme}"));
    stage.project.write(LOCK, &text.lines().filter(kept).map(|line| format!("{line}\n")).collect::<String>());
}

const CASES: &[(&str, Play)] = &[
    ("hashes for one platform after another", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["providers", "lock"]);
        stage.show(LOCK);
        stage.run(&["providers", "lock", "-platform=darwin_arm64"]);
        stage.show(LOCK);
        stage.run(&["providers", "lock", "-platform=darwin_arm64"]);
        stage.run(&["init"]);
    }),
    ("a platform that there is no package for", |stage| {
        thing(stage, "");
        stage.run(&["providers", "lock", "-platform=plan9_mips"]);
    }),
    ("options that cannot be", |stage| {
        thing(stage, "");
        for options in [
            &["-platform=linux"][..],
            &["-platform=a_b_c"],
            &["-fs-mirror=/a", "-net-mirror=https://example.com/"],
            &["-net-mirror=http://example.com/"],
            &["-net-mirror=example.com"],
            &["hashicorp/aws"],
            &["no/such/address/at/all"],
            &["terraform.io/builtin/terraform"],
        ] {
            stage.run(&[&["providers", "lock"][..], options].concat());
        }
    }),
    ("only some providers", |stage| {
        stage.publish([everywhere(), Release::new("acme/other", "2.0.0")]);
        stage.requires(&[("thing", "acme/thing", ""), ("other", "acme/other", "")]);
        let other = format!("{}/acme/other", stage.registry.host());
        stage.run(&["providers", "lock", &other]);
        stage.run(&["providers", "lock"]);
        stage.show(LOCK);
    }),
    ("a locked version that is no longer there", |stage| {
        thing(stage, "");
        stage.run(&["providers", "lock"]);
        edit(stage, "\"1.0.0\"", "\"0.9.0\"");
        stage.run(&["providers", "lock"]);
        stage.run(&["init"]);
    }),
    ("a locked version that the constraints no longer allow", |stage| {
        thing(stage, "");
        stage.run(&["providers", "lock"]);
        stage.requires(&[("thing", "acme/thing", "> 1.0")]);
        stage.run(&["providers", "lock"]);
    }),
    ("constraints that changed", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["providers", "lock"]);
        stage.requires(&[("thing", "acme/thing", ">= 1.0.0, < 3")]);
        stage.run(&["providers", "lock"]);
        stage.show(LOCK);
    }),
    ("hashes that are not of the package", |stage| {
        thing(stage, "");
        stage.run(&["providers", "lock"]);
        edit(stage, "h1:", "h1:x");
        stage.run(&["providers", "lock"]);
    }),
    ("a folder of archives", |stage| {
        let release = everywhere();
        for (platform, archive) in &release.archives {
            let file = stage.project.path(&format!("mirror/example.com/acme/thing/{}", release.file(platform)));
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, &**archive).unwrap();
        }
        stage.project.write("work/main.tf", &requires("example.com", &[("thing", "acme/thing", "")]));
        stage.run(&["providers", "lock", "-fs-mirror=../mirror", "-platform=darwin_arm64"]);
        stage.show(LOCK);
        stage.run(&["providers", "lock", "-fs-mirror=../mirror", "-platform=plan9_mips"]);
        stage.run(&["providers", "lock", "-fs-mirror=../nowhere"]);
    }),
    ("a folder of folders", |stage| {
        let place = format!("mirror/example.com/acme/thing/1.0.0/{}", platform());
        stage.project.script(&format!("{place}/terraform-provider-thing_v1.0.0"), "#!/bin/sh\n");
        stage.project.write("work/main.tf", &requires("example.com", &[("thing", "acme/thing", "")]));
        stage.run(&["providers", "lock", "-fs-mirror=../mirror"]);
        stage.show(LOCK);
    }),
    ("a network mirror", |stage| {
        stage.publish([everywhere()]);
        stage.project.write("work/main.tf", &requires("example.com", &[("thing", "acme/thing", "")]));
        let mirror = stage.filled("-net-mirror=https://HOST/mirror/");
        stage.run(&["providers", "lock", &mirror]);
        stage.show(LOCK);
        stage.run(&["providers", "lock", &mirror, "-platform=plan9_mips"]);
        for (part, trouble) in [
            ("index.json", Trouble::status("404 Not Found")),
            ("index.json", Trouble::status("403 Forbidden")),
            ("1.0.0.json", Trouble::status("404 Not Found")),
            (".zip", Trouble::status("404 Not Found")),
        ] {
            stage.registry.server.heal();
            stage.trouble(part, trouble);
            stage.run(&["providers", "lock", &mirror]);
        }
    }),
    ("a shared cache", |stage| {
        thing(stage, "");
        std::fs::create_dir(stage.project.path("cache")).unwrap();
        stage.project.set("TF_PLUGIN_CACHE_DIR", stage.project.path("cache"));
        stage.run(&["providers", "lock", "-enable-plugin-cache"]);
        let downloads = stage.registry.downloads();
        stage.run(&["providers", "lock", "-enable-plugin-cache"]);
        stage.note(&format!("{} downloads", stage.registry.downloads() - downloads));
        stage.run(&["providers", "lock"]);
        stage.note(&format!("{} downloads", stage.registry.downloads() - downloads));
    }),
    ("a lock that is only read", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["init", "-lockfile=readonly"]);
        stage.run(&["init"]);
        stage.run(&["init", "-lockfile=readonly"]);
        stage.run(&["init", "-lockfile=other"]);
    }),
    ("a lock that is only read and upgraded", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["init"]);
        stage.run(&["init", "-lockfile=readonly", "-upgrade"]);
    }),
    ("other constraints for the same version", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["init"]);
        stage.requires(&[("thing", "acme/thing", ">= 1.0.0")]);
        stage.run(&["init"]);
        stage.show(LOCK);
    }),
    ("a lock that is only read, with other constraints", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["init"]);
        stage.requires(&[("thing", "acme/thing", ">= 1.0.0")]);
        stage.run(&["init", "-lockfile=readonly"]);
        stage.show(LOCK);
    }),
    ("a lock that is only read, without the folder's hash", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["init"]);
        keep_hashes(stage, "zh:");
        std::fs::remove_dir_all(stage.project.path("work/.terraform")).unwrap();
        stage.run(&["init", "-lockfile=readonly"]);
        stage.show(LOCK);
    }),
    ("a lock that is only read, without the archives' hashes", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["init"]);
        keep_hashes(stage, "h1:");
        std::fs::remove_dir_all(stage.project.path("work/.terraform")).unwrap();
        stage.run(&["init", "-lockfile=readonly"]);
        stage.show(LOCK);
    }),
    ("a readonly lock with a provider that is not required", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["init"]);
        stage.requires(&[]);
        stage.run(&["init", "-lockfile=readonly"]);
        stage.run(&["init"]);
        stage.show(LOCK);
    }),
    ("a lock that is only read, with a new provider", |stage| {
        thing(stage, "~> 1.0");
        stage.run(&["init"]);
        stage.publish([Release::new("acme/other", "2.0.0")]);
        stage.requires(&[("thing", "acme/thing", "~> 1.0"), ("other", "acme/other", "")]);
        stage.run(&["init", "-lockfile=readonly"]);
        stage.show(LOCK);
    }),
];

#[test]
fn as_the_reference() {
    check("locks", CASES);
}

#[test]
fn platforms_are_locked_side_by_side_and_stay_locked() {
    let mut stage = Stage::new([everywhere()]);
    stage.requires(&[("thing", "acme/thing", "")]);
    let platforms = ["-platform=darwin_arm64", "-platform=windows_amd64", &format!("-platform={}", platform())];
    stage.run(&[&["providers", "lock"][..], &platforms].concat());
    let lock = stage.project.read(LOCK);
    assert_eq!((lock.matches("h1:").count(), lock.matches("zh:").count()), (3, 3), "{lock}");
    assert!(stage.files("work/.terraform").is_empty(), "nothing is installed");
    assert!(stage.files("tmp").is_empty(), "nothing is left");
    stage.project.ok(&["init"]);
    assert_eq!(stage.project.read(LOCK), lock);
}

#[test]
fn comments_outlive_changes() {
    let stage = Stage::new([everywhere(), Release::new("acme/thing", "1.1.0")]);
    stage.requires(&[("thing", "acme/thing", "1.0.0")]);
    stage.project.ok(&["init"]);
    edit(&stage, "provider \"", "# Asked for by the platform team.\nprovider \"");
    edit(&stage, "version     = \"1.0.0\"", "version     = \"1.0.0\" # not 1.1 yet");
    edit(&stage, "    \"h1:", "    # seen on the old machines\n    \"h1:");
    stage.project.ok(&["providers", "lock", "-platform=darwin_arm64"]);
    let locked = stage.project.read(LOCK);
    for comment in [
        "\n# Asked for by the platform team.\nprovider",
        "\"1.0.0\" # not 1.1 yet\n",
        "    # seen on the old machines\n    \"h1:",
    ] {
        assert!(locked.contains(comment), "{locked}");
    }
    if let Some(reference) = crate::support::reference() {
        let outcome = stage.project.finish(stage.project.command(&reference, &["init", "-lockfile=readonly"]));
        outcome.expect(0, &["successfully initialized"]);
    }
    stage.requires(&[("thing", "acme/thing", "1.1.0")]);
    stage.project.ok(&["init", "-upgrade"]);
    let upgraded = stage.project.read(LOCK);
    assert!(upgraded.contains("\"1.1.0\" # not 1.1 yet\n") && !upgraded.contains("old machines"), "{upgraded}");
}

/// What an answer to a download says of all platforms is locked where it belongs to signed archives.
#[test]
fn hashes_that_the_registry_reports_are_locked() {
    let stage = Stage::new([everywhere()]);
    stage.requires(&[("thing", "acme/thing", "")]);
    let (os, arch) = platform().split_once('_').map(|(os, arch)| (os.to_owned(), arch.to_owned())).unwrap();
    let path = format!("/v1/providers/acme/thing/1.0.0/download/{os}/{arch}");
    let mut answer: serde_json::Value = serde_json::from_slice(&stage.registry.answer(&path).body).unwrap();
    stage.project.ok(&["providers", "lock"]);
    let lock = stage.project.read(LOCK);
    let own = lock.split('"').find(|text| text.starts_with("h1:")).unwrap().to_owned();
    std::fs::remove_file(stage.project.path(LOCK)).unwrap();
    let archive = |platform: &str| format!("zh:{}", crate::support::catalogue::sum(&everywhere().archives[platform]));
    answer["packages"] = serde_json::json!({
        platform(): {"hashes": [archive(&platform()), own]},
        "darwin_arm64": {"hashes": [archive("darwin_arm64"), "h1:signed"]},
        "plan9_mips": {"hashes": ["h1:unsigned"]},
    });
    let answer = Reply::json(answer.to_string());
    stage.trouble(&path, Trouble::Instead(answer));
    stage.project.ok(&["init"]);
    let lock = stage.project.read(LOCK);
    assert!(lock.contains("\"h1:signed\"") && !lock.contains("unsigned") && lock.contains(&own), "{lock}");
}

/// Of a mirror's hashes only those of this platform's package count, unless the user trusts it with all.
#[test]
fn hashes_that_a_mirror_offers_are_locked_if_it_is_trusted() {
    for (argument, locked) in [("", false), ("trust_all_hashes = true", true)] {
        let mut stage = Stage::new([everywhere()]);
        stage.project.write("work/main.tf", &requires("example.com", &[("thing", "acme/thing", "")]));
        stage.settings(&format!(
            "provider_installation {{\n  network_mirror {{\n    url = \"https://HOST/mirror/\"\n    {argument}\n  }}\n}}\n"
        ));
        let outcome = stage.project.ok(&["init"]);
        let lock = stage.project.read(LOCK);
        let other = crate::support::catalogue::sum(&everywhere().archives["darwin_arm64"]);
        assert_eq!(lock.contains(&other), locked, "{lock}");
        assert_eq!(outcome.text().contains("Incomplete lock file information"), !locked, "{}", outcome.text());
    }
}
