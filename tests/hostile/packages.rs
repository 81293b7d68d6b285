//! What registries answer, and the archives that they lead to.

use std::io::Write;
use std::sync::Arc;

use base::stop::Stop;
use base64::Engine as _;
use install::authenticate::signature::{RegistryKey, Signature};
use install::authenticate::{Archive, Step};
use install::modules::fetch::archive::{ArchiveKind, ModuleLimits, unpack};
use install::package::archive;
use install::package::contents::Limits;
use install::registry::ask;
use install::registry::providers::{ProviderDownload, ProviderVersions};
use model::addr::Provider;
use model::deps::{Hash, Version};
use model::service::Host;
use model::service::discovery::HostServices;

use super::harness::survives;
use super::seeds::zipped;

const WORDS: &[&[u8]] = &[
    b"{",
    b"[",
    b"null",
    b"\"versions\":",
    b"\"login.v1\":{\"ports\":[0,65536]},",
    b"\"https://\"",
    b"\"../\"",
    b"99999999999999999999.0.0",
    b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n",
    b"\n\n",
    &[0xc6, 0xff, 0xff, 0xff, 0xff, 0xff],
];

#[test]
fn registry_answers() {
    let versions = br#"{"versions":[{"version":"5.100.0","protocols":["5.0","6.0"]},{"version":"1.0.0-beta+x"}],"warnings":["old"]}"#;
    let download = br#"{"protocols":["5.0"],"os":"linux","arch":"amd64","filename":"f.zip","download_url":"f.zip","shasum":"00","shasums_url":"s","shasums_signature_url":"t","signing_keys":{"gpg_public_keys":[{"key_id":"k","ascii_armor":"a"}]},"packages":{"linux_amd64":{"hashes":["h1:YQ==","zh:00"]}}}"#;
    let document = br#"{"modules.v1":"/v1/modules/","providers.v1":"https://x.example.com/","login.v1":{"client":"c","grant_types":["authz_code"],"authz":"/a","token":"/t","ports":[10000,10010],"scopes":["s"]}}"#;
    let key = include_bytes!("../../src/install/authenticate/keys/official.asc");
    let seeds = [versions.to_vec(), download.to_vec(), document.to_vec(), key.to_vec()];
    let host = Host::parse("example.com").unwrap();
    survives("registry_answers", 800, &seeds, WORDS, |input| {
        if let Ok(found) = ask::object::<ProviderVersions>(input) {
            found.versions.iter().for_each(|version| _ = Version::parse_exact(&version.version));
        }
        if let Ok(found) = ask::object::<ProviderDownload>(input) {
            found.packages.values().flat_map(|package| &package.hashes).for_each(|hash| _ = Hash::parse(hash));
        }
        let base = url::Url::parse("https://example.com/.well-known/terraform.json").unwrap();
        let services = serde_json::from_slice(input).ok();
        let services = HostServices::new(host.clone(), base, services);
        let _ = (services.url("modules.v1"), services.url("login.v1"), services.oauth_client("login.v1"));
        signed_by(input);
    });
}

/// A signature, and a key that should have made it.
fn signed_by(input: &[u8]) {
    let key = RegistryKey {
        key_id: "k".into(),
        ascii_armor: String::from_utf8_lossy(input).into_owned(),
        trust_signature: String::new(),
        source: String::new(),
        source_url: String::new(),
    };
    let list: Arc<[u8]> = Arc::from(&b"00  f.zip\n"[..]);
    let signature = Signature::new(list, input.to_vec(), vec![key]);
    let _ = signature.check(&Archive { path: std::path::Path::new("f.zip"), sha256: &[0; 32] });
}

/// A package as providers are released.
fn package() -> Vec<u8> {
    zipped([
        ("terraform-provider-null_v1.0.0", &b"#!/bin/sh\n"[..]),
        ("LICENSE.txt", &b"text ".repeat(500)),
        ("d/f", b"x"),
    ])
}

#[test]
fn provider_archives() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("package.zip");
    let provider = Provider::default_for("null");
    let limits = Limits { bytes: 8 << 20, entries: 100 };
    let words: &[&[u8]] = &[b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06", b"PK\x03\x04", b"../", &[0xff; 4], &[0; 8]];
    survives("provider_archives", 300, &[package(), zipped([("a", &b"x"[..])])], words, |input| {
        std::fs::write(&file, input).unwrap();
        let _ = archive::hashes(&file, &limits, &Stop::default());
        if let Ok(staged) = archive::stage(&file, &folder.path().join("target"), &provider, &limits, &Stop::default()) {
            let _ = staged.hashes();
        }
    });
}

fn tarred() -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in [("main.tf", "output \"o\" {}\n"), ("sub/x.tf", "locals {}\n")] {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    builder.append_link(&mut link, "link", "main.tf").unwrap();
    builder.into_inner().unwrap()
}

/// Two files, compressed: there is no encoder among our libraries.
const XZ: &str = "\
    /Td6WFoAAATm1rRGAgAhARAAAACocI6G4Af/AGZdADaYSXKFAtLo4UzUOk3ExQ8HMtBlZqTou2Vm5n0l/Vo9V/TovYMqsod5rdIP\
    GqLYxA/BjK0KutnYa2yu32gbKE3bTWBIHpdjCOAiOjn3K01GOxOP93Ma1RZhK5nzdr2hAjt/OGXRwAAAAEp811XsplgEAAGCAYAQ\
    AAD1XTJcscRn+wIAAAAABFla";

#[test]
fn module_archives() {
    let folder = tempfile::tempdir().unwrap();
    let (file, target) = (folder.path().join("package"), folder.path().join("target"));
    let tar = tarred();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&tar).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bzip2.write_all(&tar).unwrap();
    let xz = base64::engine::general_purpose::STANDARD.decode(XZ).unwrap();
    let zstd = ruzstd::encoding::compress_to_vec(tar.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    let kinds = ["tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst", "zip"];
    let seeds = [tar, gzip.finish().unwrap(), bzip2.finish().unwrap(), xz, zstd, package()];
    let words: &[&[u8]] =
        &[b"../", b"ustar\0", b"00000000000\0", &[0xff; 8], &[0; 512], b"\x28\xb5\x2f\xfd", b"/etc/x"];
    survives("module_archives", 300, &seeds, words, |input| {
        std::fs::write(&file, input).unwrap();
        for kind in kinds {
            let Some(kind) = ArchiveKind::of(Some(kind.to_owned()), "") else { panic!("{kind}") };
            let _ = unpack(kind, &file, &target, ModuleLimits { bytes: 8 << 20, entries: 100 });
            let _ = std::fs::remove_dir_all(&target);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing outside of the target");
    });
}
