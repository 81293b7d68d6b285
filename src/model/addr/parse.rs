//! Reading addresses: from traversals in configuration, and from the command line.

use std::sync::Arc;

use base::diag::Diagnostic;
use base::name::PROGRAM;
use base::source::{SourceFile, Span};
use lang::syntax::ast::{IndexKey, Traversal, TraversalStep};
use lang::syntax::parser;
use terrane_protocol::schema::ResourceMode;

use super::{
    AbsResourceInstance, Action, InstanceKey, ModuleInstance, ModuleStep, Reference, Resource, Subject, Target,
};
use crate::opentofu;

/// Text that is no address.
pub const INVALID_ADDRESS: &str = "Invalid address";
/// What is said where an address goes no further than a module.
pub const INSTANCE_REQUIRED: &str = "A resource instance address is required here. The module path must be followed by a \
                                     resource instance specification.";
/// What is said where the type or the name of a resource is missing.
pub const TYPE_AND_NAME_REQUIRED: &str = "Resource specification must include a resource type and name.";
/// What is said of a module's address without the name.
pub const MODULE_NAME_REQUIRED: &str = "Prefix \"module.\" must be followed by a module name.";
/// What is said of a key that stands without brackets.
pub const BRACKETS_REQUIRED: &str = "Resource instance key must be given in square brackets.";
/// What is said of a number that cannot be a key.
pub const NO_WHOLE_NUMBER: &str = "value must be a whole number, between -9223372036854775808 and 9223372036854775807.";
/// What is said where an address goes on after its end.
pub const TOO_LONG: &str = "Unexpected extra operators after address.";

/// A reference to something that has no value.
pub const INVALID_REFERENCE: &str = "Invalid reference";
/// A key that no instance can have.
const INVALID_KEY: &str = "Invalid index key";

/// What a traversal in an expression refers to. Errors are those of the reference, such as "Invalid reference".
pub fn parse_reference(traversal: &Traversal, file: &Arc<SourceFile>) -> Result<Reference, Diagnostic> {
    let reader = ReferenceReader { traversal, file };
    let root = traversal.root.name.clone();
    match &*root {
        "var" => reader.attribute(Subject::Variable),
        "local" => reader.attribute(Subject::Local),
        "count" => reader.attribute(Subject::Count),
        "each" => reader.attribute(Subject::Each),
        "path" => reader.attribute(Subject::Path),
        "terraform" => reader.attribute(Subject::Terraform),
        // OpenTofu's name for the same. Everything else below it stays a resource of that type, as it is without the name.
        "tofu" if opentofu::reserves_tofu(file.dialect()) || matches!(reader.first_name(), Some("workspace" | "applying")) => {
            reader.attribute(Subject::Terraform)
        }
        "self" => Ok(reader.reference(Subject::SelfObject, 0)),
        "caller" => Ok(reader.reference(Subject::Caller, 0)),
        "action" => reader.action(),
        "module" => reader.module(),
        "data" => reader.resource(ResourceMode::Data, 1),
        "ephemeral" => reader.resource(ResourceMode::Ephemeral, 1),
        "list" => reader.resource(ResourceMode::List, 1),
        "resource" => reader.resource(ResourceMode::Managed, 1),
        "template" | "lazy" | "arg" => Err(Diagnostic::error(
            "Reserved symbol name",
            format!(
                "The symbol name \"{root}\" is reserved for use in a future {PROGRAM} version. If you are using a provider \
                 that already uses this as a resource type name, add the prefix \"resource.\" to force \
                 interpretation as a resource type name."
            ),
        )
        .at(traversal.root.span.in_file(file))),
        _ => reader.resource(ResourceMode::Managed, 0),
    }
}

/// The same where a test file says it, which also knows outputs, checks and runs.
pub fn parse_test_reference(traversal: &Traversal, file: &Arc<SourceFile>) -> Result<Reference, Diagnostic> {
    let reader = ReferenceReader { traversal, file };
    match traversal.root_name() {
        "output" => reader.attribute(Subject::Output),
        "check" => reader.attribute(Subject::Check),
        "run" => reader.attribute(Subject::Run),
        _ => parse_reference(traversal, file),
    }
}

struct ReferenceReader<'t> {
    traversal: &'t Traversal,
    file: &'t Arc<SourceFile>,
}

impl ReferenceReader<'_> {
    fn error(&self, detail: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic::error(INVALID_REFERENCE, detail).at(span.in_file(self.file))
    }

    /// A subject that the root and the first `steps` steps make up.
    fn reference(&self, subject: Subject, steps: usize) -> Reference {
        let (used, remaining) = self.traversal.steps.split_at(steps);
        let span = used.iter().fold(self.traversal.root.span, |span, step| span.to(step.span()));
        Reference { subject, range: span.in_file(self.file), remaining: remaining.to_vec() }
    }

    /// The name that follows the root.
    fn first_name(&self) -> Option<&str> {
        match self.traversal.steps.first() {
            Some(TraversalStep::Attr { name, .. }) => Some(&*name.name),
            _ => None,
        }
    }

    fn attribute(&self, subject: fn(Arc<str>) -> Subject) -> Result<Reference, Diagnostic> {
        let root = &self.traversal.root;
        match self.traversal.steps.first() {
            Some(TraversalStep::Attr { name, .. }) => Ok(self.reference(subject(name.name.clone()), 1)),
            Some(other) => {
                Err(self.error(format!("The {:?} object does not support this operation.", &*root.name), other.span()))
            }
            None => Err(self.error(
                format!(
                    "The {:?} object cannot be accessed directly. Instead, access one of its attributes.",
                    &*root.name
                ),
                root.span,
            )),
        }
    }

    fn module(&self) -> Result<Reference, Diagnostic> {
        let name = match self.traversal.steps.first() {
            Some(TraversalStep::Attr { name, .. }) => name.name.clone(),
            _ => return self.attribute(Subject::Module),
        };
        let (key, after) = match self.traversal.steps.get(1) {
            Some(TraversalStep::Index { key, span }) => (self.key(key, *span)?, 2),
            _ => (InstanceKey::None, 1),
        };
        Ok(match self.traversal.steps.get(after) {
            Some(TraversalStep::Attr { name: output, .. }) => {
                self.reference(Subject::ModuleOutput(name, key, output.name.clone()), after + 1)
            }
            _ if key.is_none() => self.reference(Subject::Module(name), after),
            _ => self.reference(Subject::ModuleInstance(name, key), after),
        })
    }

    /// `at` counts the steps before the resource type: 0 where the root is the type.
    fn resource(&self, mode: ResourceMode, at: usize) -> Result<Reference, Diagnostic> {
        let root = &self.traversal.root;
        let steps = &self.traversal.steps;
        if steps.len() < at + 1 {
            let what = match (at, mode) {
                (0, _) => {
                    let detail = "A reference to a resource type must be followed by at least one attribute access, \
                                  specifying the resource name.";
                    return Err(self.error(detail, self.traversal.span));
                }
                (_, ResourceMode::Data) => ("data", "data source"),
                (_, ResourceMode::Ephemeral) => ("ephemeral", "ephemeral resource"),
                (_, ResourceMode::List) => ("list", "list resource"),
                (_, ResourceMode::Managed) => ("resource", "resource"),
            };
            let detail = format!(
                "The \"{}\" object must be followed by two attribute names: the {} type and the resource name.",
                what.0, what.1
            );
            return Err(self.error(detail, self.traversal.span));
        }
        let kind = match at {
            0 => root.name.clone(),
            _ => match &steps[0] {
                TraversalStep::Attr { name, .. } => name.name.clone(),
                other => {
                    let detail = format!("The {:?} object does not support this operation.", &*root.name);
                    return Err(self.error(detail, other.span()));
                }
            },
        };
        let name = match steps.get(at) {
            Some(TraversalStep::Attr { name, .. }) => name.name.clone(),
            other => {
                let what = match mode {
                    ResourceMode::Data => "a data source",
                    ResourceMode::Ephemeral => "an ephemeral resource type",
                    ResourceMode::List => "a list resource type",
                    ResourceMode::Managed => "a resource type",
                };
                let detail = format!(
                    "A reference to {what} must be followed by at least one attribute access, specifying the resource \
                     name."
                );
                return Err(self.error(detail, other.map_or(self.traversal.span, TraversalStep::span)));
            }
        };
        let resource = Resource { mode, kind, name };
        Ok(match steps.get(at + 1) {
            Some(TraversalStep::Index { key, span }) => {
                let key = self.key(key, *span)?;
                self.reference(Subject::ResourceInstance(resource.instance(key)), at + 2)
            }
            _ => self.reference(Subject::Resource(resource), at + 1),
        })
    }

    fn action(&self) -> Result<Reference, Diagnostic> {
        let steps = &self.traversal.steps;
        let [TraversalStep::Attr { name: kind, .. }, second, ..] = steps.as_slice() else {
            let detail =
                "The \"action\" object must be followed by two attribute names: the action type and the action name.";
            return Err(self.error(detail, self.traversal.span));
        };
        let TraversalStep::Attr { name, .. } = second else {
            let detail = "A reference to an action must be followed by at least one attribute access, specifying the action \
                          name.";
            return Err(self.error(detail, second.span()));
        };
        let action = Action { kind: kind.name.clone(), name: name.name.clone() };
        Ok(match steps.get(2) {
            Some(TraversalStep::Index { key, span }) => {
                let key = instance_key(key).ok_or_else(|| {
                    let detail = format!("Invalid index for action instance: {NO_WHOLE_NUMBER}");
                    Diagnostic::error(INVALID_KEY, detail).at(span.in_file(self.file))
                })?;
                self.reference(Subject::Action(action.instance(key)), 3)
            }
            _ => self.reference(Subject::Action(action.instance(InstanceKey::None)), 2),
        })
    }

    fn key(&self, key: &IndexKey, span: Span) -> Result<InstanceKey, Diagnostic> {
        instance_key(key).ok_or_else(|| {
            Diagnostic::error(INVALID_KEY, "Resource instance keys must be whole numbers or strings.")
                .at(span.in_file(self.file))
        })
    }
}

/// The key of an instance as it is written in brackets; none for a number that cannot be one.
pub fn instance_key(key: &IndexKey) -> Option<InstanceKey> {
    match key {
        IndexKey::String(text) => Some(InstanceKey::Str(text.clone())),
        IndexKey::Number(text) => text.parse().ok().map(InstanceKey::Int),
    }
}

fn invalid(detail: impl Into<String>, span: Span, file: &Arc<SourceFile>) -> Diagnostic {
    Diagnostic::error(INVALID_ADDRESS, detail).at(span.in_file(file))
}

/// An address as `-target` takes it: a module or module instance, a resource, or a resource instance.
pub fn parse_target(text: &str) -> Result<Target, Diagnostic> {
    let file = SourceFile::new("", text);
    let traversal = whole_traversal(&file)?;
    parse_target_traversal(&traversal, &file)
}

/// The same from a traversal in a configuration file.
pub fn parse_target_traversal(traversal: &Traversal, file: &Arc<SourceFile>) -> Result<Target, Diagnostic> {
    let mut steps = Steps::new(traversal, file);
    let module = steps.module_instance()?;
    if steps.at_end() {
        return Ok(Target::Module(module));
    }
    let resource = steps.resource()?;
    let key = steps.key()?;
    steps.expect_end()?;
    let addr = resource.absolute(module);
    Ok(match key {
        InstanceKey::None => Target::Resource(addr),
        key => Target::Instance(addr.instance(key)),
    })
}

/// The address of one resource instance, as `-replace` and the state commands take it.
pub fn parse_abs_instance(text: &str) -> Result<AbsResourceInstance, Diagnostic> {
    let file = SourceFile::new("", text);
    let traversal = whole_traversal(&file)?;
    parse_abs_instance_traversal(&traversal, &file)
}

/// The same from a traversal.
pub fn parse_abs_instance_traversal(
    traversal: &Traversal,
    file: &Arc<SourceFile>,
) -> Result<AbsResourceInstance, Diagnostic> {
    match parse_target_traversal(traversal, file)? {
        Target::Resource(resource) => Ok(resource.instance(InstanceKey::None)),
        Target::Instance(instance) => Ok(instance),
        _ => Err(invalid(INSTANCE_REQUIRED, traversal.span, file)),
    }
}

/// The address of a module instance: the form that state files hold. Empty for the root.
pub fn parse_module_instance(text: &str) -> Result<ModuleInstance, Diagnostic> {
    if text.is_empty() {
        return Ok(ModuleInstance::root());
    }
    let file = SourceFile::new("", text);
    let traversal = whole_traversal(&file)?;
    let mut steps = Steps::new(&traversal, &file);
    let module = steps.module_instance()?;
    steps.expect_end()?;
    Ok(module)
}

fn whole_traversal(file: &Arc<SourceFile>) -> Result<Traversal, Diagnostic> {
    let (traversal, diagnostics) = parser::parse_traversal(file.clone());
    if let Some(error) = diagnostics.into_iter().find(Diagnostic::is_error) {
        return Err(error);
    }
    traversal.ok_or_else(|| invalid("An address is required.", Span::default(), file))
}

/// Words that are no resource types unless `resource.` stands before them.
const RESERVED: [&str; 11] =
    ["arg", "count", "each", "lazy", "local", "module", "path", "self", "template", "terraform", "var"];

/// The parts of an address, read one after the other.
struct Steps<'t> {
    parts: Vec<(AddressPart<'t>, Span)>,
    next: usize,
    file: &'t Arc<SourceFile>,
    whole: Span,
}

enum AddressPart<'t> {
    Name(&'t Arc<str>),
    Key(&'t IndexKey),
    Splat,
}

impl<'t> Steps<'t> {
    fn new(traversal: &'t Traversal, file: &'t Arc<SourceFile>) -> Steps<'t> {
        let root = (AddressPart::Name(&traversal.root.name), traversal.root.span);
        let rest = traversal.steps.iter().map(|step| match step {
            TraversalStep::Attr { name, span } => (AddressPart::Name(&name.name), *span),
            TraversalStep::Index { key, span } => (AddressPart::Key(key), *span),
            TraversalStep::Splat { span } => (AddressPart::Splat, *span),
        });
        Steps { parts: [root].into_iter().chain(rest).collect(), next: 0, file, whole: traversal.span }
    }

    fn at_end(&self) -> bool {
        self.next >= self.parts.len()
    }

    fn name(&mut self) -> Option<Arc<str>> {
        let (AddressPart::Name(name), _) = self.parts.get(self.next)? else { return None };
        self.next += 1;
        Some((*name).clone())
    }

    fn span(&self) -> Span {
        self.parts.get(self.next).map_or(self.whole, |(_, span)| *span)
    }

    /// From a part to the end; the whole if there is nothing any more.
    fn rest(&self, from: usize) -> Span {
        let parts = self.parts.get(from..).unwrap_or_default();
        parts.iter().map(|(_, span)| *span).reduce(Span::to).unwrap_or(self.whole)
    }

    fn key(&mut self) -> Result<InstanceKey, Diagnostic> {
        let Some((AddressPart::Key(key), span)) = self.parts.get(self.next) else { return Ok(InstanceKey::None) };
        self.next += 1;
        instance_key(key)
            .ok_or_else(|| invalid(format!("Invalid resource instance key: {NO_WHOLE_NUMBER}"), *span, self.file))
    }

    fn module_instance(&mut self) -> Result<ModuleInstance, Diagnostic> {
        let mut path = Vec::new();
        while matches!(self.parts.get(self.next), Some((AddressPart::Name(name), _)) if &***name == "module") {
            let keyword = self.span();
            self.next += 1;
            let span = if self.at_end() { keyword } else { self.span() };
            let name = self.name().ok_or_else(|| self.invalid_module(MODULE_NAME_REQUIRED.into(), span))?;
            let span = self.span();
            let key = self
                .key()
                .map_err(|_| self.invalid_module(format!("Invalid module index: {NO_WHOLE_NUMBER}"), span))?;
            path.push(ModuleStep { name, key });
        }
        Ok(ModuleInstance(path.into()))
    }

    fn invalid_module(&self, detail: String, span: Span) -> Diagnostic {
        Diagnostic::error("Invalid address operator", detail).at(span.in_file(self.file))
    }

    fn resource(&mut self) -> Result<Resource, Diagnostic> {
        let mut mode = ResourceMode::Managed;
        let after_module = self.next;
        let missing = |span, file| invalid(TYPE_AND_NAME_REQUIRED, span, file);
        let mut kind = self.name().ok_or_else(|| missing(self.whole, self.file))?;
        if matches!(&*kind, "data" | "ephemeral" | "resource") {
            mode = match &*kind {
                "data" => ResourceMode::Data,
                "ephemeral" => ResourceMode::Ephemeral,
                _ => ResourceMode::Managed,
            };
            kind = self.name().ok_or_else(|| missing(self.rest(after_module + 1), self.file))?;
        } else if RESERVED.contains(&&*kind) {
            let detail = format!(
                "The keyword {kind:?} is reserved and cannot be used to target a resource address. If you are targeting a \
                 resource type that uses a reserved keyword, please prefix your address with \"resource.\"."
            );
            return Err(invalid(detail, self.whole, self.file));
        }
        if self.at_end() {
            let from = if mode == ResourceMode::Managed { after_module } else { after_module + 1 };
            return Err(missing(self.rest(from), self.file));
        }
        let what = if mode == ResourceMode::Data { "data source" } else { "resource" };
        let span = self.span();
        let name = self.name().ok_or_else(|| invalid(format!("A {what} name is required."), span, self.file))?;
        Ok(Resource { mode, kind, name })
    }

    fn expect_end(&self) -> Result<(), Diagnostic> {
        match self.parts.get(self.next) {
            None => Ok(()),
            Some((AddressPart::Name(_), span))
                if matches!(self.parts[..self.next].last(), Some((AddressPart::Name(_), _))) =>
            {
                Err(invalid(BRACKETS_REQUIRED, *span, self.file))
            }
            Some((_, span)) => Err(invalid(TOO_LONG, *span, self.file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_print_as_they_were_read() {
        let cases = [
            "aws_instance.a",
            "aws_instance.a[0]",
            r#"module.m["x"].data.aws_ami.b["k\"y"]"#,
            "module.a.module.b[1]",
            "ephemeral.random_password.p",
        ];
        for text in cases {
            assert_eq!(parse_target(text).map(|t| t.to_string()).ok().as_deref(), Some(text));
        }
    }

    #[test]
    fn bad_targets_say_why() {
        let cases = [
            ("aws_instance", "Resource specification must include a resource type and name."),
            ("module.a.data.x", "Resource specification must include a resource type and name."),
            ("aws_instance.a.b", "Resource instance key must be given in square brackets."),
            ("aws_instance.a[0].b", "Unexpected extra operators after address."),
            ("module[0]", "Prefix \"module.\" must be followed by a module name."),
        ];
        for (text, detail) in cases {
            assert_eq!(parse_target(text).unwrap_err().detail, detail, "{text}");
        }
    }

    #[test]
    fn module_instances_are_nothing_but_that() {
        assert_eq!(
            parse_module_instance("module.a[\"k\"]").map(|m| m.to_string()).ok().as_deref(),
            Some("module.a[\"k\"]")
        );
        for text in ["foo.bar", "module", "module.a.b", "module.a[0].b"] {
            assert!(parse_module_instance(text).is_err(), "{text}");
        }
    }

    #[test]
    fn references_end_where_the_subject_ends() {
        let cases = [
            ("var.a.b", "var.a", 1),
            ("aws_x.y[0].z", "aws_x.y[0]", 1),
            ("data.t.n[\"k\"].v[0]", "data.t.n[\"k\"]", 2),
            ("module.m.out.x", "module.m.out", 1),
            ("module.m[\"a\"]", "module.m[\"a\"]", 0),
            ("self.id", "self", 1),
        ];
        for (text, subject, remaining) in cases {
            let file = SourceFile::new("t.tf", text);
            let traversal = parser::parse_traversal(file.clone()).0.unwrap();
            let reference = parse_reference(&traversal, &file).unwrap();
            assert_eq!((reference.subject.to_string().as_str(), reference.remaining.len()), (subject, remaining));
            assert_eq!(reference.range.text().len(), subject.len());
        }
    }

    #[test]
    fn the_program_has_two_names() {
        let read = |text: &str| {
            let file = SourceFile::new("t.tf", text);
            let traversal = parser::parse_traversal(file.clone()).0.unwrap();
            parse_reference(&traversal, &file).map(|r| r.subject.to_string()).map_err(|e| e.detail)
        };
        assert_eq!(read("tofu.workspace").unwrap(), "terraform.workspace");
        assert_eq!(read("tofu.applying").unwrap(), "terraform.applying");
        assert_eq!(read("tofu.other.x").unwrap(), "tofu.other");
    }
}
