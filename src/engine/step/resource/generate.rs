//! Imports without a block: the object is read, its configuration is generated and then planned.

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::source::SourceFile;
use crate::engine::blocks::imports::Generated;
use crate::engine::graph::NodeId;
use crate::engine::graph::walk::End;
use crate::engine::run::Run;
use crate::engine::run::results::Each;
use crate::engine::run::scope::ModuleScope;
use crate::engine::step::expansion::Unknown;
use crate::engine::step::imports::{Known, named, written};
use crate::lang::syntax::parser::parse_file;
use crate::lang::value::Value;
use crate::model::addr::InstanceKey;
use crate::model::config::{ImportBy, Resource, resource_from_text};
use crate::model::plan::Action;

use super::plan::{Forced, plan};
use super::record::{new_change, note_change, put};
use super::{Instance, identity, import};

pub async fn run(run: &Run, node: NodeId, index: u32) -> End {
    let generated = &run.blocks.imports.generated[index as usize];
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
    let known = Known { identity: identity.as_ref(), unknown: Unknown::of_run(run) };
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
    let local = generated.written_provider.as_ref();
    let text = written::resource(&generated.resource.resource, local, &instance.schema.block, &current.value);
    put(&run.results, &instance, None, Some(current.encode(&instance.schema)), false);
    let block = diagnostics.take(read_back(&text, generated));
    let Some(block) = block else { return diagnostics };
    instance.config = Some(&block);
    let (change, found) = plan(&instance, Some(&current), Forced::No, None).await;
    diagnostics.extend(found);
    if let Some(mut change) = change {
        change.importing = Some(import::importing(&named, Some(&current)));
        change.generated_config = Some(text);
        note_change(&run.results, change);
    }
    diagnostics
}

fn read_back(text: &str, generated: &Generated) -> (Option<Resource>, Diagnostics) {
    let file = SourceFile::new("generated_resources.tf", text);
    let (body, mut diagnostics) = parse_file(file);
    let block = body.blocks().first().map(|block| resource_from_text(block, &mut diagnostics));
    if block.is_none() {
        let detail = format!("The configuration written for {} could not be read.", generated.resource);
        diagnostics.push(Diagnostic::error("Invalid generated configuration", detail));
    }
    (block, diagnostics)
}
