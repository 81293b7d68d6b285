//! Checks of a configuration by its schema, with the messages that users of the public providers know.

use std::sync::Arc;

use terrane_protocol::provider::{ProviderDiagnostic, ProviderDiagnostics};
use terrane_protocol::schema::Nesting;
use terrane_value::{Path, Value};

use super::attribute::{Attribute, NumberKind};
use super::schema::{Block, Shape};
use super::validator::{ConfiguredAttribute, Validator, attribute_name};

const REQUIRED: &str = "Missing Configuration for Required Attribute";
const READ_ONLY: &str = "Invalid Configuration for Read-Only Attribute";
const WRITE_ONLY: &str = "WriteOnly Attribute Not Allowed";
const REFER: &str = "Refer to the provider documentation or contact the provider developers for additional information";

/// A walk over one configuration.
pub(super) struct Check<'a> {
    pub config: &'a Value,
    /// The host never stores write-only values.
    pub write_only_allowed: bool,
    pub found: &'a mut ProviderDiagnostics,
}

/// The configuration with null for blocks that are not there: hosts send empty lists and sets.
pub(super) fn without_empty_blocks(block: &Block, object: &Value) -> Value {
    if object.is_null() || !object.is_known() || block.blocks.is_empty() {
        return object.clone();
    }
    let mut values = object.entries().to_map();
    for nested in &block.blocks {
        let Some(value) = values.get_mut(&*nested.name) else { continue };
        if value.is_known() && !value.is_null() && value.ty().is_collection() && value.is_empty() {
            *value = Value::null(value.ty().clone());
        }
    }
    Value::object(values)
}

impl Check<'_> {
    /// Checks attributes, then blocks; nothing stops at the first error.
    pub fn object(&mut self, block: &Block, path: &Path, object: &Value) {
        if object.is_null() || !object.is_known() {
            return;
        }
        for attribute in &block.attributes {
            if let Some(value) = object.get(&attribute.name) {
                self.attribute(attribute, &path.clone().attr(&*attribute.name), value);
            }
        }
        for nested in &block.blocks {
            let Some(value) = object.get(&nested.name) else { continue };
            let path = path.clone().attr(&*nested.name);
            self.validators(&nested.validators, &path, value);
            self.nested(nested.nesting, &nested.block, &path, value);
            if let Some(message) = &nested.block.deprecation
                && value.is_known()
                && !value.is_null()
                && (!value.ty().is_collection() || !value.is_empty())
            {
                self.found.push(ProviderDiagnostic::warning("Block Deprecated", message).at(path));
            }
        }
    }

    fn attribute(&mut self, attribute: &Attribute, path: &Path, value: &Value) {
        if attribute.required && value.is_null() {
            let detail = format!(
                "Must set a configuration value for the {} attribute as the provider has marked it as required.\n\n\
                 {REFER} about configurable attributes that are required.",
                attribute_name(path)
            );
            self.error(REQUIRED, detail, path);
        }
        if attribute.computed && !attribute.optional && !value.is_null() {
            let detail = format!(
                "Cannot set value for this attribute as the provider has marked it as read-only. Remove the \
                 configuration line setting the value.\n\n\
                 {REFER} about configurable and read-only attributes that are supported."
            );
            self.error(READ_ONLY, detail, path);
        }
        if attribute.write_only && !self.write_only_allowed && !value.is_null() {
            let detail = format!(
                "The resource contains a non-null value for WriteOnly attribute {}. Write-only attributes are only \
                 supported in Terraform 1.11 and later.",
                attribute_name(path)
            );
            self.error(WRITE_ONLY, detail, path);
        }
        self.number(attribute.number, path, value);
        self.validators(&attribute.validators, path, value);
        if let Shape::Nested(nesting, block) = &attribute.shape {
            self.nested(*nesting, block, path, value);
        }
        if let Some(message) = &attribute.deprecation
            && !value.is_null()
            && value.is_known()
        {
            self.found.push(ProviderDiagnostic::warning("Attribute Deprecated", message).at(path.clone()));
        }
    }

    fn nested(&mut self, nesting: Nesting, block: &Block, path: &Path, value: &Value) {
        if value.is_null() || !value.is_known() {
            return;
        }
        match nesting {
            Nesting::Single | Nesting::Group => self.object(block, path, value),
            Nesting::Map => {
                for (key, element) in value.entries() {
                    self.object(block, &path.clone().index_str(key), element);
                }
            }
            Nesting::List => {
                for (index, element) in value.elements().iter().enumerate() {
                    self.object(block, &path.clone().index_int(index), element);
                }
            }
            Nesting::Set => {
                for element in value.elements() {
                    self.object(block, &path.clone().index(element.clone()), element);
                }
            }
        }
    }

    fn validators(&mut self, validators: &[Arc<dyn Validator>], path: &Path, value: &Value) {
        for validator in validators {
            let mut attribute = ConfiguredAttribute { path, value, config: self.config, found: self.found };
            validator.validate(&mut attribute);
        }
    }

    /// Numbers that the attribute's type cannot hold.
    fn number(&mut self, kind: NumberKind, path: &Path, value: &Value) {
        let Some(number) = value.as_number() else { return };
        let (fits, what) = match kind {
            NumberKind::Any => return,
            NumberKind::Int64 => (number.as_i64().is_some(), "an integer"),
            NumberKind::Int32 => {
                let fits = number.as_i64().is_some_and(|n| i32::try_from(n).is_ok());
                (fits, "a 32-bit integer")
            }
            NumberKind::Float64 => (number.as_f64().is_finite(), "a 64-bit floating point number"),
            NumberKind::Float32 => (number.as_f64().abs() <= f64::from(f32::MAX), "a 32-bit floating point number"),
        };
        if fits {
            return;
        }
        let detail = format!(
            "An unexpected error was encountered trying to convert an attribute value from the configuration. This is \
             always an error in the provider. Please report the following to the provider developer:\n\nError: Value \
             {number} is not {what}."
        );
        self.error("Configuration Read Error", detail, path);
    }

    fn error(&mut self, summary: &str, detail: String, path: &Path) {
        self.found.push(ProviderDiagnostic::error(summary, detail).at(path.clone()));
    }
}
