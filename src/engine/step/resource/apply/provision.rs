//! Provisioners: they run after an object was created, or before it is destroyed.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use base::telemetry;
use lang::syntax::ast::Body;
use lang::syntax::syntax_errors::missing_argument;
use model::config::{OnFailure, ProvisionerBlock, ProvisionerWhen};
use model::provider_diagnostics::about_body;
use model::schema::decode::{decode_body, references_in_body};
use terrane_protocol::provider::{Output, ProvisionRequest, has_errors};
use terrane_value::{Marks, Type, Value};

use super::winrm;
use crate::blocks::connection::connection_schema;
use crate::engine_errors;
use crate::event::Event;
use crate::graph::walk::Turn;
use crate::run::module_scope::ModuleScope;
use crate::run::results::ResourceSlots;
use crate::step::resource::Instance;

/// Whether there are provisioners for an occasion.
pub fn any(instance: &Instance<'_>, when: ProvisionerWhen) -> bool {
    instance.config.is_some_and(|config| config.provisioners.iter().any(|p| p.when == when))
}

/// Runs the provisioners for one occasion, in order; the first failure that counts ends it. `turn` is given back while
/// they wait for other instances of the same block.
pub async fn run(
    instance: &Instance<'_>,
    value: &Value,
    when: ProvisionerWhen,
    mut turn: Option<&mut Turn>,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for block in instance.provisioners().0.iter().filter(|p| p.when == when) {
        if instance.run.ports.stop.is_stopping() {
            diagnostics.push(engine_errors::halted());
            break;
        }
        if let Some(turn) = &mut turn {
            wait_for_siblings(instance, block, turn).await;
        }
        let (refused, found) = provision(instance, block, value).await;
        let (is_refused, failed) = (refused.is_some(), found.has_errors());
        diagnostics.extend(refused);
        let may_fail = block.on_failure == OnFailure::Continue;
        if !failed || !may_fail {
            diagnostics.extend(found);
        }
        if is_refused || (failed && !may_fail) {
            break;
        }
    }
    diagnostics
}

/// A provisioner may read other instances of its block: they only have to exist.
async fn wait_for_siblings(instance: &Instance<'_>, block: &ProvisionerBlock, turn: &mut Turn) {
    let (Some(config), Some(module), Some(own)) = (instance.config, &instance.module, instance.block) else {
        return;
    };
    let Some(shape) = instance.run.blocks.schemas.provisioner(&block.kind) else { return };
    let mut references = references_in_body(&block.body, &shape.block);
    if let Some(connection) = block.connection.as_ref().or(config.connection.as_ref()) {
        references.extend(references_in_body(connection, connection_schema()));
    }
    let Some(slots) = module.resources[own.index()].get() else { return };
    for (traversal, expr) in references {
        let Ok(reference) = model::addr::parse::parse_reference(&traversal, &expr.file) else { continue };
        for position in siblings(&reference.subject, config, slots) {
            if !slots.instances[position].is_published() {
                turn.pause(slots.instances[position].wait()).await;
            }
        }
    }
}

fn siblings(subject: &model::addr::Subject, config: &model::config::Resource, slots: &ResourceSlots) -> Vec<usize> {
    use model::addr::Subject;
    match subject {
        Subject::Resource(resource) if *resource == config.addr => (0..slots.instances.len()).collect(),
        Subject::ResourceInstance(of) if of.resource == config.addr => {
            slots.expansion.index_of(&of.key).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Runs one provisioner. Apart from its errors: the error that counts even with `on_failure = continue`.
async fn provision(
    instance: &Instance<'_>,
    block: &ProvisionerBlock,
    value: &Value,
) -> (Option<Diagnostic>, Diagnostics) {
    let run = instance.run;
    let mut diagnostics = Diagnostics::new();
    let Some(shape) = run.blocks.schemas.provisioner(&block.kind).cloned() else {
        let errors = run.ports.providers.provisioner(&block.kind).await.err().unwrap_or_default();
        return (None, errors.into_iter().map(|e| e.at(block.type_range.clone())).collect());
    };
    let root = run.results.root.clone();
    let module = instance.module.as_ref().unwrap_or(&root);
    let scope = ModuleScope::new(run, module).with_each(instance.each.clone()).with_self(value.clone());
    let config = diagnostics.take(decode_body(&block.body, &shape.block, &scope));
    let shared = instance.provisioners().1;
    let connection = diagnostics.take(connection(shared, block.connection.as_ref(), &scope));
    if diagnostics.has_errors() {
        return (None, diagnostics);
    }
    let provisioner = match run.ports.providers.provisioner(&block.kind).await {
        Ok(provisioner) => provisioner,
        Err(errors) => return (None, errors),
    };
    let refused = winrm::refusal(run.dialect(), &connection, shared.or(block.connection.as_ref()));
    let (addr, kind) = (&instance.addr, &block.kind);
    let observer = run.ports.observer.clone();
    observer.event(Event::ProvisionStarted { addr: addr.clone(), kind: kind.clone() });
    let marks = config.deep_marks() | connection.deep_marks();
    let why = match (marks.contains(Marks::SENSITIVE), marks.contains(Marks::EPHEMERAL)) {
        (true, true) => Some("sensitive, ephemeral"),
        (true, false) => Some("sensitive"),
        (false, true) => Some("ephemeral"),
        (false, false) => None,
    };
    let output: Output = {
        let (addr, kind, observer) = (addr.clone(), kind.clone(), observer.clone());
        Arc::new(move |text: &str| {
            let (text, sensitive) = match why {
                None => (text.to_string(), None),
                Some(why) => (format!("(output suppressed due to {why} value in config)"), Some(text.to_string())),
            };
            observer.event(Event::ProvisionOutput { addr: addr.clone(), kind: kind.clone(), text, sensitive });
        })
    };
    let config = with_trace_parent(kind, config.unmark_deep().0);
    let request = ProvisionRequest { config, connection: connection.unmark_deep().0, output };
    let found = provisioner.provision(request).await;
    let failed = has_errors(&found);
    observer.event(Event::ProvisionFinished { addr: addr.clone(), kind: kind.clone(), failed });
    let address = addr.to_string();
    diagnostics.extend(about_body(found, Some(&block.body), Some(&address)));
    (refused, diagnostics)
}

/// The settings of `local-exec` with the span of the run in the command's environment, unless they name another.
fn with_trace_parent(kind: &str, config: Value) -> Value {
    const NAME: &str = "TRACEPARENT";
    if kind != "local-exec" {
        return config;
    }
    let Some(span) = telemetry::trace_parent() else { return config };
    let mut variables = config.get("environment").map(|given| given.entries().to_map()).unwrap_or_default();
    if variables.iter().any(|(name, value)| name.eq_ignore_ascii_case(NAME) && !value.is_null()) {
        return config;
    }
    variables.insert(NAME.into(), Value::string(span));
    let mut settings = config.entries().to_map();
    settings.insert("environment".into(), Value::map(Type::String, variables));
    Value::object(settings)
}

/// The connection: what the provisioner's own block says over what the resource's says; null if there is neither.
fn connection(shared: Option<&Body>, own: Option<&Body>, scope: &ModuleScope<'_>) -> (Value, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let (Some(last), shape) = (own.or(shared), connection_schema()) else {
        return (Value::null(Type::Dynamic), diagnostics);
    };
    let mut entries = BTreeMap::new();
    for body in [shared, own].into_iter().flatten() {
        let value = diagnostics.take(decode_body(body, shape, scope));
        for (name, part) in value.entries() {
            if !part.is_null() || !entries.contains_key(name) {
                entries.insert(name.clone(), part.clone());
            }
        }
    }
    if entries.get("host").is_none_or(Value::is_null) && !diagnostics.has_errors() {
        diagnostics.push(missing_host(last.missing_item_range()));
    }
    (Value::object(entries), diagnostics)
}

/// A connection must say where to.
pub fn missing_host(place: Range) -> Diagnostic {
    missing_argument("host", place)
}
