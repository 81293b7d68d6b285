//! The protocol files: the generated messages are current, and both provider protocols are the same on the wire.
//!
//! `src/protocol/wire/generated` is committed, so that neither users nor authors of providers build a protobuf compiler.
//! `TERRANE_TEST_RECORD=1` writes it again. The two provider protocols name some things differently, but nearly all
//! their messages look the same on the wire, and `src/plugin/wire` relies on it: it reads and writes version 6 messages
//! for both.

use std::collections::BTreeMap;
use std::path::Path;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FileDescriptorSet};

const FILES: &[&str] = &["tfplugin5.proto", "tfplugin6.proto", "goplugin.proto", "health.proto", "schema_index.proto"];

/// Messages of protocol 5 whose name in protocol 6 is another.
const RENAMED: &[(&str, &str)] = &[
    ("Stop", "StopProvider"),
    ("PrepareProviderConfig", "ValidateProviderConfig"),
    ("ValidateResourceTypeConfig", "ValidateResourceConfig"),
    ("ValidateDataSourceConfig", "ValidateDataResourceConfig"),
    ("Configure", "ConfigureProvider"),
];

/// Fields of protocol 5 that protocol 6 does not have, or has elsewhere. The attribute of a schema is the one message
/// that has to be converted; the prepared configuration is not used.
const DIFFERENT: &[&str] = &[
    "Schema.Attribute.write_only",
    "Schema.Attribute.deprecation_message",
    "PrepareProviderConfig.Response.prepared_config",
];

/// Messages that only protocol 5 has.
const ONLY_IN_5: &[&str] = &["GetProvisionerSchema", "ValidateProvisionerConfig", "ProvisionResource"];

type Fields = BTreeMap<String, (i32, Type, Label, String)>;

#[test]
fn generated_messages_are_current() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocol/wire/generated");
    let made = tempfile::tempdir().unwrap();
    // All bytes are slices of the message that they came in: a schema of five megabytes is never copied.
    let mut config = prost_build::Config::new();
    for package in ["tfplugin5", "tfplugin6"] {
        let message = format!(".{package}.DynamicValue");
        config.extern_path(message, "crate::wire::dynamic_value::DynamicValue");
    }
    config.bytes(["."]).out_dir(made.path()).compile_fds(descriptors()).unwrap();
    let mut names: Vec<_> = std::fs::read_dir(made.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert!(names.len() >= FILES.len());
    for name in names {
        let text = std::fs::read_to_string(made.path().join(&name)).unwrap();
        if std::env::var_os("TERRANE_TEST_RECORD").is_some() {
            std::fs::write(folder.join(&name), text).unwrap();
        } else {
            let committed = std::fs::read_to_string(folder.join(&name)).unwrap_or_default();
            assert!(committed == text, "src/protocol/wire/generated/{} is not current: record it", name.display());
        }
    }
}

#[test]
fn protocols_5_and_6_are_the_same_on_the_wire() {
    check_same_on_the_wire(&descriptors()).unwrap();
}

fn proto() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/proto"))
}

fn descriptors() -> FileDescriptorSet {
    protox::compile(FILES, [proto()]).unwrap()
}

fn check_same_on_the_wire(set: &FileDescriptorSet) -> Result<(), String> {
    let five = fields_of(set, "tfplugin5");
    let six = fields_of(set, "tfplugin6");
    for (name, (number, kind, label, of)) in &five {
        let message = name.split('.').next().unwrap_or_default();
        if DIFFERENT.contains(&name.as_str()) || ONLY_IN_5.contains(&message) {
            continue;
        }
        let counterpart = RENAMED.iter().find(|(old, _)| *old == message).map_or(message, |(_, new)| new);
        let counterpart = format!("{counterpart}{}", &name[message.len()..]);
        let here = (*number, *kind, *label, of.clone());
        if six.get(&counterpart) != Some(&here) {
            return Err(format!("{name} of protocol 5 is not {counterpart} of protocol 6: {here:?}"));
        }
    }
    Ok(())
}

/// "Message.Nested.field" -> number, type, label and the type's name without its package.
fn fields_of(set: &FileDescriptorSet, package: &str) -> Fields {
    fn collect(prefix: &str, message: &DescriptorProto, package: &str, fields: &mut Fields) {
        let prefix = format!("{prefix}{}.", message.name());
        for field in &message.field {
            let of = field.type_name().trim_start_matches(&format!(".{package}")).to_owned();
            fields.insert(format!("{prefix}{}", field.name()), (field.number(), field.r#type(), field.label(), of));
        }
        for nested in &message.nested_type {
            collect(&prefix, nested, package, fields);
        }
    }
    let mut fields = Fields::new();
    for file in set.file.iter().filter(|file| file.package() == package) {
        for message in &file.message_type {
            collect("", message, package, &mut fields);
        }
    }
    fields
}
