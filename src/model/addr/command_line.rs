//! Reading addresses from the command line: `-target`, `-replace`, the state commands.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::{SourceFile, Span};
use lang::syntax::ast::{IndexKey, Traversal, TraversalStep};
use lang::syntax::parser;
use terrane_protocol::schema::ResourceMode;

use super::parse::{BRACKETS_REQUIRED, MODULE_NAME_REQUIRED, NO_WHOLE_NUMBER, TOO_LONG, TYPE_AND_NAME_REQUIRED};
use super::pattern::is_pattern;
use super::{
    AbsActionInstance, AbsResourceInstance, Action, ActionInstance, InstanceKey, ModuleInstance, ModuleStep, Pattern,
    Resource, Target,
};
use crate::addr::parse::{INSTANCE_REQUIRED, INVALID_ADDRESS};

/// Names that expressions use for something else.
const RESERVED: &[&str] =
    &["count", "each", "local", "module", "path", "self", "terraform", "var", "template", "lazy", "arg"];

/// A module or a resource, all of its instances or one, or a pattern.
pub fn target(text: &str) -> Result<Target, Diagnostics> {
    if is_pattern(text) {
        return Pattern::parse(text).map(Target::Pattern);
    }
    Ok(match parse_address(text)? {
        (module, None) => Target::Module(module),
        (module, Some((resource, InstanceKey::None))) => Target::Resource(resource.absolute(module)),
        (module, Some((resource, key))) => Target::Instance(resource.absolute(module).instance(key)),
    })
}

/// One resource instance.
pub fn resource_instance(text: &str) -> Result<AbsResourceInstance, Diagnostics> {
    match parse_address(text)? {
        (module, Some((resource, key))) => Ok(resource.absolute(module).instance(key)),
        (_, None) => Err(invalid(text, INSTANCE_REQUIRED)),
    }
}

/// An action or one of its instances, as `-invoke` takes it.
pub fn action(text: &str) -> Result<AbsActionInstance, Diagnostics> {
    parse(text, |module, rest| Ok(action_of(rest)?.absolute(module)))
}

type Parts = (ModuleInstance, Option<(Resource, InstanceKey)>);

fn parse_address(text: &str) -> Result<Parts, Diagnostics> {
    parse(text, |module, rest| match rest {
        [] => Ok((module, None)),
        _ => resource(rest).map(|resource| (module, Some(resource))),
    })
}

/// Reads an address; `read` reads what follows the module.
fn parse<T>(text: &str, read: impl Fn(ModuleInstance, &[AddressStep]) -> Result<T, Invalid>) -> Result<T, Diagnostics> {
    let file = unnamed(text);
    let (traversal, diagnostics) = parser::parse_traversal(file);
    let of_traversal = |traversal: &Traversal| {
        let steps = steps_of(traversal)?;
        let (module, rest) = module_of(&steps)?;
        read(module, rest)
    };
    match traversal {
        Some(traversal) if !diagnostics.has_errors() => of_traversal(&traversal).map_err(|why| invalid(text, why)),
        _ => Err(diagnostics),
    }
}

/// A place without a file: the address is not shown again. An empty one would be no place at all.
fn unnamed(text: &str) -> Arc<SourceFile> {
    SourceFile::new("", if text.is_empty() { " " } else { text })
}

fn invalid(text: &str, why: impl Into<Invalid>) -> Diagnostics {
    let Invalid { summary, detail } = why.into();
    let whole = Span::new(0, text.len()).in_file(&unnamed(text));
    Diagnostic::error(summary, detail).at(whole).into()
}

/// What is wrong with the steps of an address.
struct Invalid {
    summary: &'static str,
    detail: String,
}

impl Invalid {
    /// What is wrong is on the way to a module.
    fn in_module(detail: impl Into<String>) -> Invalid {
        Invalid { summary: "Invalid address operator", detail: detail.into() }
    }
}

impl<T: Into<String>> From<T> for Invalid {
    fn from(detail: T) -> Invalid {
        Invalid { summary: INVALID_ADDRESS, detail: detail.into() }
    }
}

/// The names and keys of a traversal, one after the other.
enum AddressStep {
    Name(Arc<str>),
    Key(InstanceKey),
}

fn steps_of(traversal: &Traversal) -> Result<Vec<AddressStep>, Invalid> {
    let mut steps = vec![AddressStep::Name(traversal.root.name.clone())];
    for step in &traversal.steps {
        steps.push(match step {
            TraversalStep::Attr { name, .. } => AddressStep::Name(name.name.clone()),
            TraversalStep::Index { key, .. } => {
                let of_module =
                    matches!(&*steps, [.., AddressStep::Name(word), AddressStep::Name(_)] if &**word == "module");
                AddressStep::Key(instance_key(key).ok_or_else(|| match of_module {
                    true => Invalid::in_module(format!("Invalid module index: {NO_WHOLE_NUMBER}")),
                    false => format!("Invalid resource instance key: {NO_WHOLE_NUMBER}").into(),
                })?)
            }
            TraversalStep::Splat { .. } => return Err("Splat expressions ([*]) may not be used here.".into()),
        });
    }
    Ok(steps)
}

/// The module that an address begins with, and the rest.
fn module_of(steps: &[AddressStep]) -> Result<(ModuleInstance, &[AddressStep]), Invalid> {
    let mut rest = steps;
    let mut module = Vec::new();
    while let [AddressStep::Name(name), after @ ..] = rest {
        if &**name != "module" {
            break;
        }
        let [AddressStep::Name(name), after @ ..] = after else {
            return Err(Invalid::in_module(MODULE_NAME_REQUIRED));
        };
        let (key, after) = key_of(after);
        module.push(ModuleStep { name: name.clone(), key });
        rest = after;
    }
    Ok((ModuleInstance(module.into()), rest))
}

fn action_of(steps: &[AddressStep]) -> Result<ActionInstance, Invalid> {
    let (kind, name, after) = match steps {
        [] => return Err("Action addresses must contain an action reference after the module reference.".into()),
        [AddressStep::Name(word), rest @ ..] if &**word == "action" => match rest {
            [] | [_] => return Err("Action specification must include an action type and name.".into()),
            [AddressStep::Key(_), ..] => return Err("Action type is required.".into()),
            [_, AddressStep::Key(_), ..] => return Err("An action name is required.".into()),
            [AddressStep::Name(kind), AddressStep::Name(name), after @ ..] => (kind, name, after),
        },
        _ => return Err("Action specification must start with `action`.".into()),
    };
    let action = Action { kind: kind.clone(), name: name.clone() };
    match after {
        [] => Ok(action.instance(InstanceKey::None)),
        [AddressStep::Key(key)] => Ok(action.instance(key.clone())),
        [AddressStep::Name(_)] => Err("Action instance key must be given in square brackets.".into()),
        _ => Err(TOO_LONG.into()),
    }
}

fn resource(steps: &[AddressStep]) -> Result<(Resource, InstanceKey), Invalid> {
    let (mode, rest) = match steps {
        [AddressStep::Name(name), rest @ ..] if &**name == "data" => (ResourceMode::Data, rest),
        [AddressStep::Name(name), rest @ ..] if &**name == "ephemeral" => (ResourceMode::Ephemeral, rest),
        [AddressStep::Name(name), rest @ ..] if &**name == "resource" => (ResourceMode::Managed, rest),
        [AddressStep::Name(name), ..] if RESERVED.contains(&&**name) => {
            return Err(format!(
                "The keyword {name:?} is reserved and cannot be used to target a resource address. If you are targeting a \
                 resource type that uses a reserved keyword, please prefix your address with \"resource.\".",
            )
            .into());
        }
        _ => (ResourceMode::Managed, steps),
    };
    match rest {
        [] | [_] => Err(TYPE_AND_NAME_REQUIRED.into()),
        [AddressStep::Key(_), ..] => Err("A resource type name is required.".into()),
        [_, AddressStep::Key(_), ..] => Err("A resource name is required.".into()),
        [AddressStep::Name(kind), AddressStep::Name(name), after @ ..] => {
            let resource = Resource { mode, kind: kind.clone(), name: name.clone() };
            match after {
                [] => Ok((resource, InstanceKey::None)),
                [AddressStep::Key(key)] => Ok((resource, key.clone())),
                [AddressStep::Name(_)] => Err(BRACKETS_REQUIRED.into()),
                _ => Err(TOO_LONG.into()),
            }
        }
    }
}

fn key_of(steps: &[AddressStep]) -> (InstanceKey, &[AddressStep]) {
    match steps {
        [AddressStep::Key(key), rest @ ..] => (key.clone(), rest),
        _ => (InstanceKey::None, steps),
    }
}

/// None: a number that is no key.
fn instance_key(key: &IndexKey) -> Option<InstanceKey> {
    match key {
        IndexKey::String(text) => Some(InstanceKey::Str(text.clone())),
        IndexKey::Number(text) => text.parse().map(InstanceKey::Int).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_print_as_they_are_written() {
        for text in ["a.b", "a.b[0]", "data.a.b[\"k\"]", "module.x", "module.x[1].module.y.a.b", "ephemeral.a.b"] {
            assert_eq!(target(text).unwrap().to_string(), text);
        }
        assert_eq!(target("resource.a.b").unwrap().to_string(), "a.b");
    }

    #[test]
    fn actions_have_addresses() {
        for text in ["action.a.b", "module.x[1].action.a.b[\"k\"]", "action.a.b[0]"] {
            assert_eq!(action(text).unwrap().to_string(), text);
        }
        let cases = [
            ("", "Must begin with a variable name."),
            ("a.b", "Action specification must start with `action`."),
            ("action.a", "Action specification must include an action type and name."),
            ("module.m", "Action addresses must contain an action reference after the module reference."),
            ("action.a.b.c", "Action instance key must be given in square brackets."),
            ("action.a.b[0].c", "Unexpected extra operators after address."),
        ];
        for (text, expected) in cases {
            assert_eq!(action(text).unwrap_err().into_vec().remove(0).detail, expected, "{text}");
        }
    }

    /// As the reference words them.
    #[test]
    fn invalid_addresses_are_errors() {
        let cases = [
            ("", "Must begin with a variable name."),
            ("a", "Resource specification must include a resource type and name."),
            ("a.b.c", "Resource instance key must be given in square brackets."),
            ("a.b[", "Index brackets must contain either a literal number or a literal string."),
            ("data.a.b[0].c", "Unexpected extra operators after address."),
            ("module", "Prefix \"module.\" must be followed by a module name."),
            ("a[0].b", "A resource name is required."),
            ("a..b", "Dot must be followed by attribute name."),
            (
                "a.b[1.5]",
                "Invalid resource instance key: value must be a whole number, between -9223372036854775808 and 9223372036854775807.",
            ),
            (
                "module.m[1.5].a.b",
                "Invalid module index: value must be a whole number, between -9223372036854775808 and 9223372036854775807.",
            ),
            ("a.b[0", "Index key must be followed by a closing bracket."),
        ];
        for (text, expected) in cases {
            let found = target(text).unwrap_err().into_vec().remove(0).detail;
            assert_eq!(found, expected, "{text}");
        }
    }
}
