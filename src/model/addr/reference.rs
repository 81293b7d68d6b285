//! What a traversal in an expression refers to.

use std::fmt;
use std::sync::Arc;

use base::source::Range;
use lang::syntax::ast::TraversalStep;

use super::{ActionInstance, InstanceKey, Resource, ResourceInstance};

/// A reference found in an expression: its subject, where it stands, and the steps after the subject.
#[derive(Clone, Debug)]
pub struct Reference {
    pub subject: Subject,
    pub range: Range,
    pub remaining: Vec<TraversalStep>,
}

/// The thing that a reference names, within its module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    Variable(Arc<str>),
    Local(Arc<str>),
    Resource(Resource),
    /// Only where the key is a literal; `x[each.key]` refers to the whole resource.
    ResourceInstance(ResourceInstance),
    Module(Arc<str>),
    ModuleInstance(Arc<str>, InstanceKey),
    /// `module.name.output`, `module.name[key].output`.
    ModuleOutput(Arc<str>, InstanceKey, Arc<str>),
    /// `count.index`
    Count(Arc<str>),
    /// `each.key`, `each.value`
    Each(Arc<str>),
    /// `path.module`, `path.root`, `path.cwd`
    Path(Arc<str>),
    /// `terraform.workspace`, `terraform.applying`
    Terraform(Arc<str>),
    SelfObject,
    /// In an action: the object whose change calls it.
    Caller,
    /// Without a key, all instances or the only one.
    Action(ActionInstance),
    Output(Arc<str>),
    Check(Arc<str>),
    Run(Arc<str>),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Variable(name) => write!(f, "var.{name}"),
            Subject::Local(name) => write!(f, "local.{name}"),
            Subject::Resource(resource) => resource.fmt(f),
            Subject::ResourceInstance(instance) => instance.fmt(f),
            Subject::Module(name) => write!(f, "module.{name}"),
            Subject::ModuleInstance(name, key) => write!(f, "module.{name}{key}"),
            Subject::ModuleOutput(name, key, output) => write!(f, "module.{name}{key}.{output}"),
            Subject::Count(name) => write!(f, "count.{name}"),
            Subject::Each(name) => write!(f, "each.{name}"),
            Subject::Path(name) => write!(f, "path.{name}"),
            Subject::Terraform(name) => write!(f, "terraform.{name}"),
            Subject::SelfObject => f.write_str("self"),
            Subject::Caller => f.write_str("caller"),
            Subject::Action(instance) => instance.fmt(f),
            Subject::Output(name) => write!(f, "output.{name}"),
            Subject::Check(name) => write!(f, "check.{name}"),
            Subject::Run(name) => write!(f, "run.{name}"),
        }
    }
}
