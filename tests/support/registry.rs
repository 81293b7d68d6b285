//! A registry of providers: discovery, versions, downloads, checksums and their signature. The same host is a network
//! mirror and a registry of containers, with the same releases.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::catalogue::{Release, Shelf, sum};
use super::server::{Asked, Reply, Server};
use super::signing::SigningKey;
use super::{Project, mirror};

pub struct Registry {
    pub server: Server,
    shelf: Arc<Mutex<Shelf>>,
}

impl Registry {
    /// A registry whose releases are signed by a key that it shows. Commands of the project trust its certificate.
    pub fn start(project: &mut Project, releases: impl IntoIterator<Item = Release>) -> Registry {
        let key = SigningKey::new("Tests <tests@example.com>");
        let shelf = Shelf {
            releases: releases.into_iter().collect(),
            signer: Some(key.clone()),
            shown_keys: vec![key],
            ..Shelf::default()
        };
        let shelf = Arc::new(Mutex::new(shelf));
        let served = shelf.clone();
        let server = Server::start(project, move |asked| Some(answer(&served.lock().unwrap(), asked)));
        Registry { server, shelf }
    }

    /// As it stands in source addresses.
    pub fn host(&self) -> String {
        format!("localhost:{}", self.server.port)
    }

    /// The shelf is changed while the host runs.
    pub fn change(&self, change: impl FnOnce(&mut Shelf)) {
        change(&mut self.shelf.lock().unwrap());
    }

    /// What it would answer.
    pub fn answer(&self, path: &str) -> Reply {
        let asked = Asked { method: "GET".to_owned(), path: path.to_owned(), ..Asked::default() };
        answer(&self.shelf.lock().unwrap(), &asked)
    }

    /// The address of a release's archive, or of its `SHA256SUMS`.
    pub fn file(name: &str, version: &str, file: &str) -> String {
        format!("/files/{name}/{version}/{file}")
    }

    /// How often an archive was downloaded, over all of them.
    pub fn downloads(&self) -> usize {
        self.server.requests().iter().filter(|asked| asked.method == "GET" && asked.place().ends_with(".zip")).count()
    }

    /// A configuration that requires providers: local name, `namespace/type`, constraint.
    pub fn requires(&self, providers: &[(&str, &str, &str)]) -> String {
        requires(&self.host(), providers)
    }
}

/// The same for any host.
pub fn requires(host: &str, providers: &[(&str, &str, &str)]) -> String {
    let entry = |(local, name, constraint): &(&str, &str, &str)| {
        let version = if constraint.is_empty() { String::new() } else { format!(", version = {constraint:?}") };
        format!("    {local} = {{ source = \"{host}/{name}\"{version} }}\n")
    };
    let entries: String = providers.iter().map(entry).collect();
    format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n")
}

fn answer(shelf: &Shelf, asked: &Asked) -> Reply {
    let parts: Vec<&str> = asked.place().trim_matches('/').split('/').collect();
    let found = match parts.as_slice() {
        // So that no client is tempted to look at the files without having asked.
        ["files", namespace, kind, version, file] => return served(file_of(shelf, namespace, kind, version, file)),
        [".well-known", "terraform.json"] => Some(Reply::json(r#"{"providers.v1": "/v1/providers/"}"#)),
        ["token"] | ["v2", ..] => return mirror::container(shelf, asked, &parts),
        _ if !known(shelf, asked) => return Reply::status("401 Unauthorized"),
        ["v1", "providers", namespace, kind, "versions"] => versions(shelf, &format!("{namespace}/{kind}")),
        ["v1", "providers", namespace, kind, version, "download", os, arch] => {
            download(shelf, &format!("{namespace}/{kind}"), version, &format!("{os}_{arch}"))
        }
        ["mirror", _, namespace, kind, document] => mirror::document(shelf, &format!("{namespace}/{kind}"), document),
        _ => None,
    };
    served(found)
}

fn served(found: Option<Reply>) -> Reply {
    found.unwrap_or_else(|| Reply::status("404 Not Found"))
}

fn known(shelf: &Shelf, asked: &Asked) -> bool {
    shelf.token.as_ref().is_none_or(|token| asked.header("authorization") == format!("Bearer {token}"))
}

fn versions(shelf: &Shelf, name: &str) -> Option<Reply> {
    let platforms = |release: &Release| -> Vec<Value> {
        let split = release.archives.keys().filter_map(|platform| platform.split_once('_'));
        split.map(|(os, arch)| json!({"os": os, "arch": arch})).collect()
    };
    let entry = |release: &Release| json!({"version": release.version, "protocols": release.protocols, "platforms": platforms(release)});
    let versions: Vec<Value> = shelf.of(name).map(entry).collect();
    let mut document = json!({"id": name, "versions": versions});
    if let Some(warnings) = shelf.warnings.get(name) {
        document["warnings"] = json!(warnings);
    }
    (!versions.is_empty()).then(|| Reply::json(document.to_string()))
}

fn download(shelf: &Shelf, name: &str, version: &str, platform: &str) -> Option<Reply> {
    let release = shelf.release(name, version)?;
    let archive = release.archives.get(platform)?;
    let (os, arch) = platform.split_once('_')?;
    let file = |file: &str| Registry::file(name, version, file);
    let sums = format!("terraform-provider-{}_{version}_SHA256SUMS", release.kind);
    let key = |key: &SigningKey| {
        json!({
            "key_id": key.id, "ascii_armor": key.armor, "trust_signature": shelf.trust_signature,
            "source": "Tests", "source_url": "https://example.com/tests",
        })
    };
    let document = json!({
        "protocols": release.protocols, "os": os, "arch": arch,
        "filename": release.file(platform), "shasum": sum(archive),
        "download_url": file(&release.file(platform)),
        "shasums_url": file(&sums), "shasums_signature_url": file(&format!("{sums}.sig")),
        "signing_keys": {"gpg_public_keys": shelf.shown_keys.iter().map(key).collect::<Vec<_>>()},
    });
    Some(Reply::json(document.to_string()))
}

fn file_of(shelf: &Shelf, namespace: &str, kind: &str, version: &str, file: &str) -> Option<Reply> {
    let release = shelf.release(&format!("{namespace}/{kind}"), version)?;
    if file.ends_with("_SHA256SUMS") {
        return Some(Reply::status("200 OK").body(release.sums()));
    }
    if file.ends_with("_SHA256SUMS.sig") {
        let signer = shelf.signer.as_ref()?;
        return Some(Reply::status("200 OK").body(signer.sign(release.sums().as_bytes())));
    }
    let (_, archive) = release.archives.iter().find(|(platform, _)| release.file(platform) == file)?;
    Some(Reply::bytes(archive.clone()))
}
