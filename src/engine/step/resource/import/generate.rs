//! Imports without a block: the object is read, its configuration is generated and then planned.

use std::collections::BTreeSet;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::source::SourceFile;
use lang::syntax::parser::parse_file;
use model::addr::InstanceKey;
use model::config::{ImportBy, Resource, resource_from_text, write};
use model::plan::{Action, ResourceChange};
use terrane_value::{Path, PathStep, Value};

use crate::blocks::imports::Generated;
use crate::graph::walk::End;
use crate::ids::{GeneratedId, NodeId};
use crate::run::Run;
use crate::run::module_scope::ModuleScope;
use crate::run::results::Each;
use crate::step::expansion::Unknown;
use crate::step::imports::{ImportContext, named};
use crate::step::resource::plan::change::plan;
use crate::step::resource::plan::replace::Forced;
use crate::step::resource::read::identity;
use crate::step::resource::record::{new_change, note_change, put};
use crate::step::resource::{Instance, import};

pub async fn run(run: &Run, node: NodeId, id: GeneratedId) -> End {
    let generated = &run.blocks.imports.generated[id.index()];
    let diagnostics = plan_import(run, node, generated).await;
    let end = if diagnostics.has_errors() { End::Failed } else { End::Done };
    run.report(node, diagnostics);
    end
}

async fn plan_import(run: &Run, node: NodeId, generated: &Generated) -> Diagnostics {
    let root = run.results.root.clone();
    let addr = generated.resource.resource.absolute(Default::default()).instance(InstanceKey::None);
    if run.prior.state.instance(&addr).is_some() || !run.is_targeted(node, &addr) {
        return Diagnostics::new();
    }
    let mut instance = match Instance::new(run, addr, None, generated.provider, Some(root.clone()), Each::None) {
        Ok(instance) => instance,
        Err(error) => return error.into(),
    };
    let identity = match &generated.import.by {
        ImportBy::Id(_) => None,
        ImportBy::Identity(_) => match identity::schema(&instance).await {
            Ok(schema) => Some(schema.unwrap_or_default().import_type()),
            Err(found) => return found,
        },
    };
    let known = ImportContext { identity: identity.as_ref(), unknown: Unknown::of_run(run) };
    let (named, mut diagnostics) = named(&generated.import, &ModuleScope::new(run, &root), known);
    let Some(named) = named else { return diagnostics };
    let imported = diagnostics.take(import::import(&instance, &named).await);
    if let Some(reason) = instance.deferral.get().filter(|_| !diagnostics.has_errors()) {
        let unknown = Value::unknown(instance.schema.implied_type().clone());
        let mut change = new_change(&instance, Action::NoOp, instance.null(), unknown);
        change.importing = Some(import::importing(&named, None));
        run.results.changes().defer(change, *reason);
        return diagnostics;
    }
    let Some(current) = imported else { return diagnostics };
    let schema = instance.schema.clone();
    let write = |with_empty: &BTreeSet<Arc<str>>| {
        let local = generated.written_provider.as_ref();
        write::resource(&generated.resource.resource, local, &schema.block, &current.value, with_empty)
    };
    let mut text = write(&BTreeSet::new());
    put(&instance, None, Some(current.encode(&instance.schema)));
    let block = diagnostics.take(read_back(&text, generated, run.dialect()));
    let Some(block) = block else { return diagnostics };
    instance.config = Some(&block);
    let (mut change, mut found) = plan(&instance, Some(&current), Forced::No).await;
    let better = change.as_ref().map(replacing_arguments).map(|names| write(&names)).filter(|better| *better != text);
    let better = better.and_then(|text| Some((read_back(&text, generated, run.dialect()).0?, text)));
    if let Some((block, better)) = &better {
        instance.config = Some(block);
        let (again, found_again) = plan(&instance, Some(&current), Forced::No).await;
        if again.as_ref().is_some_and(|again| !again.action.is_replace()) {
            (change, found, text) = (again, found_again, better.clone());
        }
    }
    diagnostics.extend(found);
    let mut change = match change {
        Some(change) => ResourceChange { importing: Some(import::importing(&named, Some(&current))), ..change },
        // The plan has failed. The text is still written, to be edited.
        None => new_change(&instance, Action::NoOp, current.value.clone(), current.value.clone()),
    };
    change.generated_config = Some(text);
    note_change(&run.results, change);
    diagnostics
}

/// The arguments and blocks that a planned replacement is due to; none for another plan.
fn replacing_arguments(change: &ResourceChange) -> BTreeSet<Arc<str>> {
    let name = |path: &Path| match path.steps().first() {
        Some(PathStep::Attr(name)) => Some(name.clone()),
        _ => None,
    };
    let paths = change.required_replace.iter().filter(|_| change.action.is_replace());
    paths.filter_map(name).collect()
}

fn read_back(text: &str, generated: &Generated, dialect: Dialect) -> (Option<Resource>, Diagnostics) {
    let file = SourceFile::written_in(dialect, "generated_resources.tf", text);
    let (body, mut diagnostics) = parse_file(file);
    let block = body.blocks().first().map(|block| resource_from_text(block, &mut diagnostics));
    if block.is_none() {
        let detail = format!("The configuration written for {} could not be read.", generated.resource);
        diagnostics.push(Diagnostic::error("Invalid generated configuration", detail));
    }
    (block, diagnostics)
}
