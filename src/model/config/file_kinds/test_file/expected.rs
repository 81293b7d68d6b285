//! Expected failures: the objects whose rules a run expects not to hold.

use std::fmt;
use std::sync::Arc;

use base::diag::Diagnostic;
use base::source::{Range, SourceFile};
use lang::syntax::ast::{Traversal, TraversalStep};
use lang::syntax::parser;

use super::words::ADVICE;
use crate::addr::parse::{instance_key, parse_test_reference};
use crate::addr::{InstanceKey, ModuleInstance, ModuleStep, Resource, ResourceInstance, Subject};

/// An element of `expect_failures` as it is written.
#[derive(Clone, Debug)]
pub struct ExpectedFailure {
    pub traversal: Traversal,
    pub file: Arc<SourceFile>,
    /// Whether the object may be one of a child module.
    pub(super) extensions: bool,
}

/// An object with rules. A step of its module without a key stands for every instance of the call, a resource for all its instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckableTarget {
    pub module: ModuleInstance,
    pub object: CheckableObject,
}

/// An object with rules within its module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckableObject {
    Variable(Arc<str>),
    Output(Arc<str>),
    Check(Arc<str>),
    Resource(Resource),
    ResourceInstance(ResourceInstance),
}

impl ExpectedFailure {
    /// The object, and where it is named. The errors are those of the reference.
    pub fn resolve(&self) -> Result<(CheckableTarget, Range), Diagnostic> {
        let start = self.traversal.root.span.in_file(&self.file);
        let inner = module_and_object(&self.traversal);
        if let Some((module, rest)) = inner.as_ref().filter(|_| self.extensions) {
            let reference = parse_test_reference(rest, &self.file)?;
            let range = start.to(&reference.range);
            return match CheckableObject::of(&reference.subject) {
                Some(object) => Ok((CheckableTarget { module: module.clone(), object }, range)),
                None => Err(not_checkable(format!("{module}.{}", reference.subject), range)),
            };
        }
        let reference = parse_test_reference(&self.traversal, &self.file)?;
        match CheckableObject::of(&reference.subject) {
            Some(object) => Ok((CheckableTarget { module: ModuleInstance::root(), object }, reference.range)),
            None => {
                let error = not_checkable(reference.subject.to_string(), reference.range);
                Err(if inner.is_some() { error.with_tip(&*ADVICE) } else { error })
            }
        }
    }
}

fn not_checkable(what: String, range: Range) -> Diagnostic {
    let detail = format!(
        "You cannot expect failures from {what}. You can only expect failures from checkable objects such as input variables, output \
         values, check blocks, managed resources and data sources."
    );
    Diagnostic::error(INVALID_EXPECTATION, detail).at(range)
}

/// The summary of an element of `expect_failures` that nothing can fail by.
pub const INVALID_EXPECTATION: &str = "Invalid `expect_failures` reference";

/// The child module at the beginning of an address, and the object within it. None if it begins with no module, or names only one or an
/// output of one as expressions do.
fn module_and_object(address: &Traversal) -> Option<(ModuleInstance, Traversal)> {
    let mut module = ModuleInstance::root();
    let mut rest = address.clone();
    while rest.root_name() == "module" {
        let name = rest.attr(0)?.to_owned();
        let (key, next) = match rest.steps.get(1)? {
            TraversalStep::Index { key, .. } => (instance_key(key)?, 2),
            _ => (InstanceKey::None, 1),
        };
        let TraversalStep::Attr { name: root, .. } = rest.steps.get(next)?.clone() else { return None };
        module = module.child(&name, key);
        let steps = rest.steps.split_off(next + 1);
        rest = Traversal { root, steps, span: address.span };
    }
    let is_object = !module.is_root() && !rest.steps.is_empty();
    is_object.then_some((module, rest))
}

impl CheckableObject {
    fn of(subject: &Subject) -> Option<CheckableObject> {
        Some(match subject {
            Subject::Variable(name) => CheckableObject::Variable(name.clone()),
            Subject::Output(name) => CheckableObject::Output(name.clone()),
            Subject::Check(name) => CheckableObject::Check(name.clone()),
            Subject::Resource(resource) => CheckableObject::Resource(resource.clone()),
            Subject::ResourceInstance(instance) => CheckableObject::ResourceInstance(instance.clone()),
            _ => return None,
        })
    }

    fn covers(&self, other: &CheckableObject) -> bool {
        match (self, other) {
            (CheckableObject::Resource(resource), CheckableObject::ResourceInstance(instance)) => {
                *resource == instance.resource
            }
            _ => self == other,
        }
    }
}

impl CheckableTarget {
    /// An object by its address, as diagnostics name it: `var.a`, `module.m["k"].aws_x.y[0]`.
    pub fn parse(address: &str) -> Option<CheckableTarget> {
        let file = SourceFile::new("", address);
        let (traversal, _) = parser::parse_traversal(file.clone());
        let traversal = traversal?;
        let (module, rest) = module_and_object(&traversal).unwrap_or((ModuleInstance::root(), traversal));
        let object = CheckableObject::of(&parse_test_reference(&rest, &file).ok()?.subject)?;
        Some(CheckableTarget { module, object })
    }

    /// Whether another target is this one or a part of it.
    pub fn covers(&self, other: &CheckableTarget) -> bool {
        let (own, others) = (&self.module.0, &other.module.0);
        let is_same = |(own, other): (&ModuleStep, &ModuleStep)| {
            own.name == other.name && (own.key.is_none() || own.key == other.key)
        };
        own.len() == others.len() && own.iter().zip(others.iter()).all(is_same) && self.object.covers(&other.object)
    }
}

impl fmt::Display for CheckableObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckableObject::Variable(name) => write!(f, "var.{name}"),
            CheckableObject::Output(name) => write!(f, "output.{name}"),
            CheckableObject::Check(name) => write!(f, "check.{name}"),
            CheckableObject::Resource(resource) => resource.fmt(f),
            CheckableObject::ResourceInstance(instance) => instance.fmt(f),
        }
    }
}

impl fmt::Display for CheckableTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.module.is_root() { self.object.fmt(f) } else { write!(f, "{}.{}", self.module, self.object) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str, extensions: bool) -> String {
        let file = SourceFile::new("a.tftest.hcl", text);
        let traversal = parser::parse_traversal(file.clone()).0.unwrap();
        match (ExpectedFailure { traversal, file, extensions }).resolve() {
            Ok((target, range)) => format!("{target} at {}", range.text()),
            Err(problem) => format!("{}{}", problem.detail, if problem.tip.is_some() { " (tip)" } else { "" }),
        }
    }

    /// Observed in Terraform 1.11.4, without extensions.
    #[test]
    fn objects_of_child_modules_need_extensions() {
        let refused = |what: &str| {
            format!(
                "You cannot expect failures from {what}. You can only expect failures from checkable objects such as input variables, \
                 output values, check blocks, managed resources and data sources."
            )
        };
        let with_tip = |what: &str| format!("{} (tip)", refused(what));
        let same = |text: &str| format!("{text} at {text}");
        let cases = [
            ("var.a", same("var.a"), same("var.a")),
            ("output.o", same("output.o"), same("output.o")),
            ("test_a.b[0]", same("test_a.b[0]"), same("test_a.b[0]")),
            ("var.a.b", "var.a at var.a".into(), "var.a at var.a".into()),
            ("local.l", refused("local.l"), refused("local.l")),
            ("module.m", refused("module.m"), refused("module.m")),
            ("module.m.o", refused("module.m.o"), refused("module.m.o")),
            ("module.m.var.y", with_tip("module.m.var"), same("module.m.var.y")),
            ("module.m.output.o", with_tip("module.m.output"), same("module.m.output.o")),
            ("module.m[0].check.c", with_tip("module.m[0].check"), same("module.m[0].check.c")),
            (
                "module.m.module.n.data.t.x[\"k\"]",
                with_tip("module.m.module"),
                same("module.m.module.n.data.t.x[\"k\"]"),
            ),
            ("module.m.local.l", with_tip("module.m.local"), refused("module.m.local.l")),
        ];
        for (text, without, with) in cases {
            assert_eq!((resolved(text, false), resolved(text, true)), (without, with), "{text}");
        }
    }

    #[test]
    fn targets_cover_their_instances() {
        let cases = [
            ("var.a", "var.a", true),
            ("var.a", "var.b", false),
            ("var.a", "module.m.var.a", false),
            ("test_a.b", "test_a.b[0]", true),
            ("test_a.b[0]", "test_a.b", false),
            ("test_a.b[0]", "test_a.b[\"0\"]", false),
            ("module.m.var.a", "module.m[\"k\"].var.a", true),
            ("module.m[\"k\"].var.a", "module.m[\"l\"].var.a", false),
            ("module.m.check.c", "module.m.module.n.check.c", false),
            ("module.m.module.n.output.o", "module.m[0].module.n[1].output.o", true),
            ("data.t.x", "data.t.x[\"a.b\"]", true),
        ];
        for (expected, address, covers) in cases {
            let target = |text| CheckableTarget::parse(text).unwrap();
            assert_eq!(target(expected).covers(&target(address)), covers, "{expected} {address}");
        }
        assert_eq!(CheckableTarget::parse("module.m.local.a"), None);
    }
}
