//! Settings from blocks, overlays and records.

use std::sync::Arc;

use base::source::SourceFile;
use lang::syntax::parser;

use super::*;

fn block(text: &str) -> config::Backend {
    let (body, found) = parser::parse_file(SourceFile::new("main.tf", text));
    assert!(!found.has_errors(), "{found:?}");
    let (content, _) = body.content(&BodySchema::new().block("backend", &["type"]).block("cloud", &[]));
    let block = &content.blocks[0];
    let is_cloud_block = block.kind.as_str() == "cloud";
    config::Backend {
        kind: if is_cloud_block { "cloud".into() } else { block.label(0).clone() },
        is_cloud_block,
        store: None,
        kind_range: block.kind_range(),
        body: block.body.clone(),
        range: block.header_range(),
    }
}

fn settings(text: &str, given: &[&str]) -> (BackendSettings, Diagnostics) {
    let block = block(text);
    let mut diagnostics = Diagnostics::new();
    let given: Vec<String> = given.iter().map(ToString::to_string).collect();
    let overlay = overlay(Dialect::default(), &given, list::find(&block.kind).unwrap(), None, &mut diagnostics);
    let (settings, found) = BackendSettings::of_block(&block, overlay);
    diagnostics.extend(found);
    (settings.unwrap(), diagnostics)
}

/// Each page of a backend has valid examples and names every setting.
#[test]
fn pages_of_backends_match_their_schemas() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/backends");
    let mut examples = 0;
    for kind in list::KINDS {
        let Ok(page) = std::fs::read_to_string(folder.join(kind.name()).with_extension("md")) else {
            assert!(["inmem", "local"].contains(&kind.name()), "{} has no page", kind.name());
            continue;
        };
        for text in page.split("```hcl\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let (_, inner) = text.split_once("terraform {").unwrap();
            let (settings, found) = settings(inner.trim_end().strip_suffix('}').unwrap(), &[]);
            assert!(found.is_empty() && missing(&settings).is_empty(), "{}: {found:?}", kind.name());
            examples += 1;
        }
        let words: Vec<&str> = page.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        let schema = kind.schema();
        let unnamed: Vec<_> = schema.attributes.iter().filter(|(name, _)| !words.contains(&&***name)).collect();
        assert!(unnamed.is_empty(), "docs/backends/{}.md lacks {unnamed:?}", kind.name());
    }
    assert!(examples >= 7);
}

/// Hashes and records as the reference wrote them (1.11.4).
#[test]
fn records_are_the_reference_s() {
    let (settings, found) = settings("backend \"local\" {\n  path = \"alt.tfstate\"\n}\n", &[]);
    assert!(found.is_empty());
    let record = settings.record();
    assert_eq!(record.config, r#"{"path":"alt.tfstate","workspace_dir":null}"#);
    assert_eq!(record.hash, 2619443999);
    assert!(settings.is_recorded(&record));
    let other = BackendRecord { config: r#"{"path":"alt.tfstate","later":"x"}"#.into(), ..record.clone() };
    assert!(!settings.is_recorded(&other), "a setting that this version does not know");
    let older = BackendRecord { config: r#"{"path":"alt.tfstate"}"#.into(), ..record };
    assert!(settings.is_recorded(&older) && BackendSettings::of_record(&older).unwrap().config == settings.config);
}

#[test]
fn the_command_line_adds_to_the_block_and_not_to_its_hash() {
    let text = "backend \"http\" {\n  address = \"http://a\"\n}\n";
    let (plain, _) = settings(text, &[]);
    let (more, found) = settings(text, &["retry_max=5", "address=http://b=c", "retry_max=6"]);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(more.hash, plain.hash);
    let config: serde_json::Value = serde_json::from_str(&more.record().config).unwrap();
    assert_eq!((&config["address"], &config["retry_max"]), (&"http://b=c".into(), &6.into()));
    assert!(config["lock_address"].is_null());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.tfbackend");
    std::fs::write(&path, "retry_max = 7\nlock_address = \"http://l\"\n").unwrap();
    let (mixed, found) = settings(text, &["retry_max=5", path.to_str().unwrap(), "lock_method=PUT"]);
    assert!(found.is_empty(), "{found:?}");
    let config: serde_json::Value = serde_json::from_str(&mixed.record().config).unwrap();
    assert_eq!((&config["retry_max"], &config["lock_method"]), (&7.into(), &"PUT".into()));
    let (_, none) = settings(text, &[""]);
    assert!(none.is_empty());
}

#[test]
fn problems_of_arguments_are_reported() {
    let cases = [
        ("nope=1", "Invalid backend configuration argument"),
        ("retry_max=many", "Invalid backend configuration value"),
        ("missing.tfbackend", "Failed to read file"),
    ];
    for (argument, summary) in cases {
        let (_, found) = settings("backend \"http\" {}\n", &[argument]);
        assert_eq!(found.iter().next().unwrap().summary, summary);
    }
    let (_, found) = settings("backend \"http\" {\n  adress = 1\n}\n", &[]);
    assert_eq!(found.iter().next().unwrap().summary, "Unsupported argument");
    let (none, found) = BackendSettings::of_block(&block("backend \"x\" {}\n"), None);
    assert!(none.is_none() && found.iter().next().unwrap().kind == diag::Kind::UnknownBackend);
    let renamed = not_found_elsewhere(found);
    assert_eq!(renamed.iter().next().unwrap().summary, INVALID_BACKEND_TYPE);
}

#[test]
fn required_settings_are_asked_for_by_name() {
    let (mut settings, _) = settings("backend \"http\" {}\n", &[]);
    assert!(missing(&settings).is_empty());
    with_setting(&mut settings, "address", Value::string("http://a"));
    assert_eq!(settings.config.get("address").and_then(Value::as_str), Some("http://a"));
    let _: Vec<(Arc<str>, Type, String)> = missing(&settings);
}
