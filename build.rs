//! Compiles the plugin protocols in `proto/` with a protobuf compiler written in Rust: no `protoc` is needed.
//!
//! The two provider protocols name some things differently, but nearly all their messages look the same on the wire,
//! and `src/plugin/wire` relies on it: it reads and writes version 6 messages for both. What it relies on is checked
//! here, so that a change of the protocol files that breaks it does not compile.

#![allow(clippy::print_stdout, reason = "it is how a build script talks to cargo")]

use std::collections::BTreeMap;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FileDescriptorSet};

const FILES: &[&str] = &[
    "proto/tfplugin5.proto",
    "proto/tfplugin6.proto",
    "proto/goplugin.proto",
    "proto/health.proto",
    "proto/schema_index.proto",
];

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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for file in FILES {
        println!("cargo:rerun-if-changed={file}");
    }
    let set = protox::compile(FILES, ["proto"])?;
    check_same_on_the_wire(&set)?;
    // All bytes are slices of the message that they came in: a schema of five megabytes is never copied.
    let mut config = prost_build::Config::new();
    for package in ["tfplugin5", "tfplugin6"] {
        let message = format!(".{package}.DynamicValue");
        config.extern_path(message, "crate::plugin::wire::dynamic_value::DynamicValue");
    }
    config.bytes(["."]).compile_fds(set)?;
    Ok(())
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
