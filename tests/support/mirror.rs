//! The other ways in which a host can offer packages: a network mirror's documents, and a registry of containers.

use serde_json::{Value, json};

use super::catalogue::{Release, Shelf, sum};
use super::server::{Asked, Reply};

/// `index.json`, or `VERSION.json` with addresses of archives and their `zh:` hashes.
pub fn document(shelf: &Shelf, name: &str, document: &str) -> Option<Reply> {
    let wanted = document.strip_suffix(".json")?;
    if wanted == "index" {
        let versions: serde_json::Map<String, Value> =
            shelf.of(name).map(|release| (release.version.clone(), json!({}))).collect();
        return (!versions.is_empty()).then(|| Reply::json(json!({"versions": versions}).to_string()));
    }
    let release = shelf.release(name, wanted)?;
    let archive = |(platform, archive): (&String, &std::sync::Arc<Vec<u8>>)| {
        let url = super::registry::Registry::file(name, wanted, &release.file(platform));
        (platform.clone(), json!({"url": url, "hashes": [format!("zh:{}", sum(archive))]}))
    };
    let archives: serde_json::Map<String, Value> = release.archives.iter().map(archive).collect();
    Some(Reply::json(json!({"archives": archives}).to_string()))
}

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A registry of containers that has each provider as a repository `providers/namespace/type`. If the shelf requires a
/// token, it refers clients without one to `/token`, which issues it for `user` with the password `pass`.
pub fn container(shelf: &Shelf, asked: &Asked, parts: &[&str]) -> Reply {
    if let ["token"] = parts {
        // user:pass
        return match (&shelf.token, asked.header("authorization")) {
            (Some(token), "Basic dXNlcjpwYXNz") => Reply::json(json!({"token": token}).to_string()),
            _ => Reply::status("401 Unauthorized"),
        };
    }
    if let Some(token) = &shelf.token
        && asked.header("authorization") != format!("Bearer {token}")
    {
        let realm = format!("https://{}/token", asked.header("host"));
        let challenge = format!("Bearer realm=\"{realm}\",service=\"tests\",scope=\"repository:x:pull\"");
        return Reply::status("401 Unauthorized").with("WWW-Authenticate", challenge);
    }
    let found = match parts {
        ["v2"] => Some(Reply::json("{}")),
        ["v2", "providers", namespace, kind, "tags", "list"] => tags(shelf, &format!("{namespace}/{kind}")),
        ["v2", "providers", namespace, kind, "manifests", reference] => {
            manifest(shelf, &format!("{namespace}/{kind}"), reference)
        }
        ["v2", "providers", namespace, kind, "blobs", digest] => blob(shelf, &format!("{namespace}/{kind}"), digest),
        _ => None,
    };
    found.unwrap_or_else(|| Reply::status("404 Not Found"))
}

fn tag(version: &str) -> String {
    version.replace('+', "_")
}

fn tags(shelf: &Shelf, name: &str) -> Option<Reply> {
    let tags: Vec<String> = shelf.of(name).map(|release| tag(&release.version)).collect();
    (!tags.is_empty()).then(|| Reply::json(json!({"name": format!("providers/{name}"), "tags": tags}).to_string()))
}

/// By tag the index of platforms; by digest the index or the manifest of one platform.
fn manifest(shelf: &Shelf, name: &str, reference: &str) -> Option<Reply> {
    for release in shelf.of(name) {
        let index = index(release);
        if tag(&release.version) == reference || digest(&index) == reference {
            return Some(document_of(INDEX, &index));
        }
        for archive in release.archives.values() {
            let manifest = manifest_of(archive);
            if digest(&manifest) == reference {
                return Some(document_of(MANIFEST, &manifest));
            }
        }
    }
    None
}

fn blob(shelf: &Shelf, name: &str, wanted: &str) -> Option<Reply> {
    if wanted == digest("{}") {
        return Some(Reply::status("200 OK").body("{}"));
    }
    let mut archives = shelf.of(name).flat_map(|release| release.archives.values());
    let archive = archives.find(|archive| format!("sha256:{}", sum(archive)) == wanted)?;
    Some(Reply::bytes(archive.clone()))
}

fn digest(text: &str) -> String {
    format!("sha256:{}", sum(text.as_bytes()))
}

fn document_of(kind: &str, text: &str) -> Reply {
    Reply::status("200 OK").with("Content-Type", kind).with("Docker-Content-Digest", digest(text)).body(text)
}

fn index(release: &Release) -> String {
    let entry = |(platform, archive): (&String, &std::sync::Arc<Vec<u8>>)| {
        let (os, arch) = platform.split_once('_').unwrap();
        let manifest = manifest_of(archive);
        json!({
            "mediaType": MANIFEST, "digest": digest(&manifest), "size": manifest.len(),
            "artifactType": "application/vnd.opentofu.provider-target",
            "platform": {"os": os, "architecture": arch},
        })
    };
    let manifests: Vec<Value> = release.archives.iter().map(entry).collect();
    let artifact = "application/vnd.opentofu.provider";
    json!({"schemaVersion": 2, "mediaType": INDEX, "artifactType": artifact, "manifests": manifests}).to_string()
}

fn manifest_of(archive: &[u8]) -> String {
    json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": "application/vnd.opentofu.provider-target",
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": digest("{}"), "size": 2},
        "layers": [{"mediaType": "archive/zip", "digest": format!("sha256:{}", sum(archive)), "size": archive.len()}],
    })
    .to_string()
}
