//! Addresses as state files write them. Read by hand, because a large state holds a great many.

use std::sync::Arc;

use base::diag::Diagnostic;
use terrane_protocol::schema::ResourceMode;

use crate::addr::parse::{INVALID_ADDRESS, TYPE_AND_NAME_REQUIRED};
use crate::addr::provider::{DEFAULT_NAMESPACE, default_host};
use crate::addr::{
    AbsProviderConfig, AbsResourceInstance, ConfigResource, InstanceKey, Module, ModuleInstance, ModuleStep, Provider,
    Resource,
};

/// `module.a["k"].module.b[0]`.
pub fn module_instance(text: &str) -> Result<ModuleInstance, Diagnostic> {
    let mut cursor = Cursor { rest: text, wildcards: false };
    let steps = cursor.module_steps();
    match (steps, cursor.rest) {
        (Some(steps), "") if !steps.is_empty() && !text.ends_with('.') => Ok(ModuleInstance(steps.into())),
        _ => Err(Diagnostic::error(
            "Invalid module instance address",
            "A module instance address must begin with \"module.\".",
        )),
    }
}

/// `module.a.aws_x.y` or `module.a.data.aws_x.y`: a dependency. Instance keys, which old states have, are dropped.
pub fn config_resource(text: &str) -> Result<ConfigResource, Diagnostic> {
    let mut cursor = Cursor { rest: text, wildcards: false };
    parse_resource(&mut cursor)
        .filter(|_| cursor.rest.is_empty())
        .ok_or_else(|| Diagnostic::error(INVALID_ADDRESS, TYPE_AND_NAME_REQUIRED))
}

/// `module.a[0].data.aws_x.y["k"]`: as resource instances print.
pub fn resource_instance(text: &str) -> Option<AbsResourceInstance> {
    instance_at(Cursor { rest: text, wildcards: false })
}

/// As [`resource_instance`], of a deferred change: keys may be `[*]`.
pub fn deferred_instance(text: &str) -> Option<AbsResourceInstance> {
    instance_at(Cursor { rest: text, wildcards: true })
}

fn instance_at(mut cursor: Cursor<'_>) -> Option<AbsResourceInstance> {
    let module = ModuleInstance(cursor.module_steps()?.into());
    let resource = cursor.resource()?;
    let key = cursor.key()?;
    cursor.rest.is_empty().then(|| AbsResourceInstance { module, resource: resource.instance(key) })
}

fn parse_resource(cursor: &mut Cursor<'_>) -> Option<ConfigResource> {
    let module = static_path(cursor.module_steps()?);
    let resource = cursor.resource()?;
    cursor.key()?;
    Some(ConfigResource { module, resource })
}

/// `module.x.provider["registry.terraform.io/hashicorp/aws"].west`, or the form of 0.12: `provider.aws.west`.
pub fn provider_config(text: &str) -> Result<AbsProviderConfig, Diagnostic> {
    let mut cursor = Cursor { rest: text, wildcards: false };
    parse_provider_config(&mut cursor).filter(|_| cursor.rest.is_empty()).ok_or_else(|| {
        Diagnostic::error(
            "Invalid provider configuration address",
            format!("State contains the provider configuration address {text:?}, which is not correctly formatted."),
        )
    })
}

fn parse_provider_config(cursor: &mut Cursor<'_>) -> Option<AbsProviderConfig> {
    let module = static_path(cursor.module_steps()?);
    cursor.take("provider")?;
    let provider = match cursor.key()? {
        InstanceKey::Str(source) => parse_provider(&source)?,
        InstanceKey::Int(_) | InstanceKey::Wildcard => return None,
        InstanceKey::None => {
            cursor.dot()?;
            legacy_provider(cursor.name()?)
        }
    };
    let alias = match cursor.dot() {
        Some(()) => Some(Arc::from(cursor.name()?)),
        None => None,
    };
    let key = match &alias {
        Some(_) => match cursor.key() {
            Some(InstanceKey::Str(key)) => Some(key),
            Some(InstanceKey::Int(_) | InstanceKey::Wildcard) => return None,
            _ => None,
        },
        None => None,
    };
    Some(AbsProviderConfig { module, provider, alias, key })
}

/// A provider in a state older than source addresses; only one was part of the program then.
pub(super) fn legacy_provider(kind: &str) -> Provider {
    match kind {
        "terraform" => Provider::builtin(kind),
        kind => Provider::new(default_host(), LEGACY_NAMESPACE, kind),
    }
}

/// The namespace of providers in states older than source addresses.
const LEGACY_NAMESPACE: &str = "-";

fn parse_provider(source: &str) -> Option<Provider> {
    let parts: Vec<&str> = source.split('/').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return None;
    }
    match parts[..] {
        [kind] => Some(Provider::new(default_host(), DEFAULT_NAMESPACE, kind)),
        [namespace, kind] => Some(Provider::new(default_host(), namespace, kind)),
        [host, namespace, kind] => Some(Provider::new(host, namespace, kind)),
        _ => None,
    }
}

fn static_path(steps: Vec<ModuleStep>) -> Module {
    Module(steps.into_iter().map(|step| step.name).collect())
}

struct Cursor<'a> {
    rest: &'a str,
    /// `[*]` is a key too.
    wildcards: bool,
}

impl<'a> Cursor<'a> {
    /// Takes a token and the space around it.
    fn take(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(token)?.trim_start();
        Some(())
    }

    fn dot(&mut self) -> Option<()> {
        self.take(".")
    }

    /// Up to the next dot or bracket.
    fn name(&mut self) -> Option<&'a str> {
        let end = self.rest.find(['.', '[']).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        let name = name.trim_ascii();
        (!name.is_empty()).then_some(name)
    }

    /// `aws_x.y` or `data.aws_x.y`.
    fn resource(&mut self) -> Option<Resource> {
        let mut kind = self.name()?;
        let mode = match kind {
            "data" => ResourceMode::Data,
            "ephemeral" => ResourceMode::Ephemeral,
            _ => ResourceMode::Managed,
        };
        if mode != ResourceMode::Managed {
            self.dot()?;
            kind = self.name()?;
        }
        self.dot()?;
        Some(Resource { mode, kind: kind.into(), name: self.name()?.into() })
    }

    /// `module.x[key].` as often as it comes; the dot after the last one is taken too, unless the text ends.
    fn module_steps(&mut self) -> Option<Vec<ModuleStep>> {
        let mut steps = Vec::new();
        while self.module_keyword().is_some() {
            let name = self.name()?.into();
            steps.push(ModuleStep { name, key: self.key()? });
            if self.rest.is_empty() {
                break;
            }
            self.dot()?;
        }
        Some(steps)
    }

    /// `module.`, or nothing taken.
    fn module_keyword(&mut self) -> Option<()> {
        let before = self.rest;
        let found = self.take("module").and_then(|()| self.dot());
        if found.is_none() {
            self.rest = before;
        }
        found
    }

    /// An instance key, or none if no bracket follows; nothing if it is malformed.
    fn key(&mut self) -> Option<InstanceKey> {
        if self.take("[").is_none() {
            return Some(InstanceKey::None);
        }
        if self.rest.starts_with('"') {
            self.rest = &self.rest[1..];
            let text = self.quoted()?;
            self.take("]")?;
            return Some(InstanceKey::Str(text.into()));
        }
        if self.wildcards && self.take("*").is_some() {
            self.take("]")?;
            return Some(InstanceKey::Wildcard);
        }
        let end = self.rest.find(']')?;
        let number = self.rest[..end].trim_ascii().parse().ok()?;
        self.rest = &self.rest[end + 1..];
        Some(InstanceKey::Int(number))
    }

    /// The rest of a quoted string, its escapes resolved.
    fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[i + 1..];
                    return Some(text);
                }
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    escape @ ('u' | 'U') => {
                        let count = if escape == 'u' { 4 } else { 8 };
                        let digits: String = chars.by_ref().take(count).map(|(_, c)| c).collect();
                        text.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                    }
                    other => text.push(other),
                },
                // `$${` and `%%{` stand for the introducer itself.
                '$' | '%' if self.rest[i + 1..].starts_with(c) && self.rest[i + 2..].starts_with('{') => {
                    text.push(c);
                    chars.next();
                }
                other => text.push(other),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read() {
        for text in ["module.a", "module.a[0].module.b[\"k\\\"\\n$${x}.[y]\"]", "module.a[\"é\"]"] {
            assert_eq!(module_instance(text).unwrap().to_string(), text);
        }
        for text in ["aws_x.y", "data.aws_x.y", "module.a.module.b.data.aws_x.y"] {
            assert_eq!(config_resource(text).unwrap().to_string(), text);
        }
        for text in ["provider[\"h.io/n/t\"]", "module.a.provider[\"h.io/n/t\"].west"] {
            assert_eq!(provider_config(text).unwrap().to_string(), text);
        }
        for text in ["a.b", "module.m[\"x.y\"].data.a.b[2]", "a.b[\"[\"]"] {
            assert_eq!(resource_instance(text).unwrap().to_string(), text);
        }
    }

    /// Seen in `state pull` of the reference.
    #[test]
    fn old_and_spaced_addresses() {
        for (text, expected) in [
            ("provider.aws.w", "provider[\"registry.terraform.io/-/aws\"].w"),
            ("provider. null", "provider[\"registry.terraform.io/-/null\"]"),
            ("provider.terraform", "provider[\"terraform.io/builtin/terraform\"]"),
            (" module . a .provider. terraform", "module.a.provider[\"terraform.io/builtin/terraform\"]"),
            ("provider [ \"hashicorp/null\" ] . x", "provider[\"registry.terraform.io/hashicorp/null\"].x"),
        ] {
            assert_eq!(provider_config(text).unwrap().to_string(), expected, "{text}");
        }
        assert_eq!(module_instance(" module . x [ \"a \" ]").unwrap().to_string(), "module.x[\"a \"]");
        assert_eq!(module_instance("module.x[ 1 ]").unwrap().to_string(), "module.x[1]");
        assert_eq!(config_resource("a. b").unwrap().to_string(), "a.b");
        assert_eq!(config_resource("modules.b").unwrap().to_string(), "modules.b");
    }

    #[test]
    fn malformed_addresses_are_errors() {
        for text in ["", "x.y", "module", "module.a.", "module.a[", "module.a[\"x]", "module.a.b"] {
            assert!(module_instance(text).is_err(), "{text}");
        }
        for text in ["", "x", "data.x", "module.a", "a.b.c", "a..b"] {
            assert!(config_resource(text).is_err(), "{text}");
        }
        for text in ["", "x", "provider", "provider[0]", "provider[\"a/b/c/d\"]", "provider[\"a\"]x"] {
            assert!(provider_config(text).is_err(), "{text}");
        }
    }
}
