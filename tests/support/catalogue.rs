//! What registries and mirrors of the tests have: releases of providers, as archives.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use super::platform;
use super::signing::SigningKey;

/// One version of a provider.
#[derive(Clone)]
pub struct Release {
    pub namespace: String,
    pub kind: String,
    pub version: String,
    pub protocols: Vec<String>,
    /// By platform.
    pub archives: BTreeMap<String, Arc<Vec<u8>>>,
}

impl Release {
    /// For this platform: a script that does nothing. `name` is `namespace/type`.
    pub fn new(name: &str, version: &str) -> Release {
        let (namespace, kind) = name.split_once('/').unwrap();
        let script = format!("#!/bin/sh\n# {name} {version}\nexit 1\n");
        let bare = Release {
            namespace: namespace.to_owned(),
            kind: kind.to_owned(),
            version: version.to_owned(),
            protocols: vec!["5.0".to_owned()],
            archives: BTreeMap::new(),
        };
        let archive = zip(&[(&bare.program(), 0o755, script.as_bytes())]);
        bare.archive(&platform(), archive)
    }

    /// What its program is called.
    pub fn program(&self) -> String {
        format!("terraform-provider-{}_v{}", self.kind, self.version)
    }

    pub fn file(&self, platform: &str) -> String {
        format!("terraform-provider-{}_{}_{platform}.zip", self.kind, self.version)
    }

    pub fn archive(mut self, platform: &str, archive: Vec<u8>) -> Release {
        self.archives.insert(platform.to_owned(), Arc::new(archive));
        self
    }

    /// Only for other platforms.
    pub fn only_for(mut self, platforms: &[&str]) -> Release {
        self.archives.clear();
        platforms.iter().fold(self, |release, platform| {
            let archive = zip(&[(&release.program(), 0o755, platform.as_bytes())]);
            release.archive(platform, archive)
        })
    }

    pub fn speaks(mut self, protocols: &[&str]) -> Release {
        self.protocols = protocols.iter().map(|p| p.to_string()).collect();
        self
    }

    /// With so many bytes besides, of the kind that programs are made of: half noise, half repetition.
    pub fn sized(self, bytes: usize) -> Release {
        let mut content = b"#!/bin/sh\nexit 1\n".to_vec();
        let seed = self.kind.bytes().fold(1, |seed: u64, byte| seed * 257 + u64::from(byte));
        content.extend(noise(seed, bytes / 2));
        content.extend((0..bytes / 2).map(|i| (i / 64) as u8));
        let archive = zip(&[(&self.program(), 0o755, &content)]);
        self.archive(&platform(), archive)
    }

    /// The checksums of all its archives, as `sha256sum` writes them.
    pub fn sums(&self) -> String {
        let line =
            |(platform, archive): (&String, &Arc<Vec<u8>>)| format!("{}  {}\n", sum(archive), self.file(platform));
        self.archives.iter().map(line).collect()
    }
}

/// Everything that a host has.
#[derive(Default)]
pub struct Shelf {
    pub releases: Vec<Release>,
    /// By `namespace/type`.
    pub warnings: BTreeMap<String, Vec<String>>,
    /// What signs, and what is said to have signed.
    pub signer: Option<SigningKey>,
    pub shown_keys: Vec<SigningKey>,
    /// A trust signature over the key; armored.
    pub trust_signature: String,
    /// Who does not show it learns nothing.
    pub token: Option<String>,
}

impl Shelf {
    pub fn of(&self, name: &str) -> impl Iterator<Item = &Release> + use<'_> {
        let name = name.to_owned();
        self.releases.iter().filter(move |release| format!("{}/{}", release.namespace, release.kind) == name)
    }

    pub fn release(&self, name: &str, version: &str) -> Option<&Release> {
        self.of(name).find(|release| release.version == version)
    }
}

pub fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An archive of files: name, permissions, content.
pub fn zip(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, mode, content) in files {
        let options = SimpleFileOptions::default().unix_permissions(*mode).compression_level(Some(1));
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Bytes that do not shrink.
pub fn noise(seed: u64, many: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let words = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    let mut bytes: Vec<u8> = words.take(many / 8 + 1).flatten().collect();
    bytes.truncate(many);
    bytes
}
