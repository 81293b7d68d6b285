//! The variables that keys are made from, found before any key is made: so that missing values can be asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::diag::Kind;
use lang::eval::Scope;
use lang::syntax::ast::{Attribute, Expression, Traversal};
use lang::syntax::body::Body;
use model::addr::Subject;
use model::addr::parse::parse_reference;
use model::config::{Early, Encryption, KeyProvider, Target, Variable};

use super::providers::KINDS;
use super::reference::{key_provider_of, quoted_key};

/// The first variable without a value that a method of any target needs, also one of a fallback.
pub fn missing_variable<'e>(config: &Encryption, early: &'e Early) -> Option<&'e Variable> {
    first_variable(config, early, None, &mut |_, is_missing| is_missing)
}

/// The variables that the passphrases for all targets are made from.
pub fn passphrase_variables<'e>(config: &Encryption, early: &'e Early) -> Vec<&'e Variable> {
    let mut found: Vec<&Variable> = Vec::new();
    let mut keep = |variable: &'e Variable| {
        if !found.iter().any(|known| known.name == variable.name) {
            found.push(variable);
        }
        false
    };
    first_variable(config, early, Some("passphrase"), &mut |variable, _| keep(variable));
    found
}

/// The first variable without a value that an expression needs, also by way of local values.
pub fn missing_in<'e>(expr: &Expression, early: &'e Early) -> Option<&'e Variable> {
    in_expression(expr, early, &mut BTreeSet::new(), &mut |_, is_missing| is_missing)
}

/// Whether a variable is the one that is searched for; told whether its value is missing.
type Wanted<'w, 'e> = dyn FnMut(&'e Variable, bool) -> bool + 'w;

/// `argument`: only this one of key providers counts.
fn first_variable<'e>(
    config: &Encryption,
    early: &'e Early,
    argument: Option<&str>,
    wanted: &mut Wanted<'_, 'e>,
) -> Option<&'e Variable> {
    let mut search = Search { config, early, argument, wanted, seen: BTreeSet::new() };
    let remotes = config.remotes.iter().map(|(_, target)| target);
    let targets = config.state.iter().chain(&config.plan).chain(&config.remote_default).chain(remotes);
    targets.into_iter().find_map(|target| search.target(target))
}

/// `seen`: names of local values.
fn in_expression<'e>(
    expr: &Expression,
    early: &'e Early,
    seen: &mut BTreeSet<Arc<str>>,
    wanted: &mut Wanted<'_, 'e>,
) -> Option<&'e Variable> {
    expr.variables().into_iter().find_map(|traversal| {
        let reference = parse_reference(traversal, &expr.file).ok()?;
        match &reference.subject {
            Subject::Variable(name) => {
                let found = early.scope("encryption").resolve(traversal, &expr.file).diagnostics;
                let is_missing = found.iter().any(|problem| problem.kind == Kind::MissingValue);
                early.variable(name).filter(|variable| wanted(variable, is_missing))
            }
            Subject::Local(name) if seen.insert(name.clone()) => {
                early.local(name).and_then(|local| in_expression(local, early, seen, wanted))
            }
            _ => None,
        }
    })
}

struct Search<'s, 'w, 'e> {
    config: &'s Encryption,
    early: &'e Early,
    argument: Option<&'s str>,
    wanted: &'s mut Wanted<'w, 'e>,
    /// The key providers that were looked at, by type and name.
    seen: BTreeSet<(Arc<str>, Arc<str>)>,
}

impl<'e> Search<'_, '_, 'e> {
    fn target(&mut self, target: &Target) -> Option<&'e Variable> {
        target.chain().find_map(|link| {
            let (kind, name) = link.method_name()?;
            let body = self.config.method(kind, name)?.body.clone();
            let (attributes, _) = body.just_attributes();
            attributes.values().find_map(|attribute| self.attribute(attribute))
        })
    }

    fn attribute(&mut self, attribute: &Attribute) -> Option<&'e Variable> {
        let expr = &attribute.expr;
        let in_keys = expr.variables().into_iter().chain(quoted_key(expr)).find_map(|traversal| self.keys(traversal));
        let counts = self.argument.is_none_or(|argument| argument == attribute.name.as_str());
        let in_value = |search: &mut Self| in_expression(expr, search.early, &mut BTreeSet::new(), search.wanted);
        in_keys.or_else(|| counts.then(|| in_value(self)).flatten())
    }

    fn keys(&mut self, traversal: &Traversal) -> Option<&'e Variable> {
        let (kind, name) = key_provider_of(traversal)?;
        let provider = self.config.key_provider(kind, name)?.clone();
        let is_new = self.seen.insert((provider.kind.clone(), provider.name.clone()));
        if is_new { self.provider(&provider) } else { None }
    }

    fn provider(&mut self, provider: &KeyProvider) -> Option<&'e Variable> {
        let kind = KINDS.iter().find(|kind| kind.name() == &*provider.kind)?;
        let (content, _, _) = provider.body.partial_content(&kind.schema());
        let inner = |block: &Body, name: &str| block.content(&kind.block_schema(name)).0;
        let blocks: Vec<_> = content.blocks.iter().map(|block| inner(&block.body, block.kind.as_str())).collect();
        let mut attributes = std::iter::once(&content).chain(&blocks).flat_map(|content| content.attributes.values());
        attributes.find_map(|attribute| self.attribute(attribute))
    }
}
