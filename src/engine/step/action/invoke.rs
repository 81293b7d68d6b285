//! Invoking an action, with its events.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use terrane_protocol::provider::{ClientCapabilities, InvokeActionRequest, Output, ProviderDiagnostics, Severity};
use terrane_value::Value;

use super::instance::{about_action, unknown_type};
use crate::event::Event;
use crate::graph::Invocation;
use crate::policy;
use crate::run::Run;

/// Invokes an action with a configuration. Its messages name the caller.
pub async fn invoke(run: &Run, invocation: &Invocation, config: Value) -> Diagnostics {
    let planned = &invocation.planned;
    let action = run.blocks.tree.action(invocation.block);
    if run.blocks.schemas.action(&action.provider, &action.addr.kind).is_none() {
        return unknown_type(action).into();
    }
    if let Some(refused) = policy::at_apply::refused_invocation(run, &planned.addr) {
        return refused.at(action.range.clone()).into();
    }
    let Some(provider) = run.results.provider(invocation.provider) else {
        let detail = format!("The provider configuration {} is not available.", planned.provider);
        return Diagnostic::error(crate::engine_errors::NOT_CONFIGURED, detail).at(action.range.clone()).into();
    };
    if !config.is_wholly_known() {
        let detail = format!(
            "The action {} was not fully known during apply. This may be caused by using the caller object in conjunction with a \
             before event.",
            planned.addr
        );
        return Diagnostic::error("Action configuration unknown during apply", detail).at(action.range.clone()).into();
    }
    let observer = run.ports.observer.clone();
    observer.event(Event::ActionStarted(planned.clone()));
    let progress: Output = {
        let (planned, observer) = (planned.clone(), observer.clone());
        Arc::new(move |message: &str| {
            observer.event(Event::ActionProgress { invocation: planned.clone(), message: message.to_string() });
        })
    };
    let request = InvokeActionRequest {
        kind: action.addr.kind.clone(),
        config: config.unmark_deep().0,
        client: ClientCapabilities::of_engine(false),
        progress,
    };
    let answer = provider.invoke_action(request).await;
    observer.event(Event::ActionFinished { invocation: planned.clone(), error: error_text(&answer) });
    about_action(answer, action, &address(invocation))
}

/// Whose configuration messages are about.
pub fn address(invocation: &Invocation) -> String {
    match invocation.planned.caller() {
        Some(caller) => format!("{}, called from {}", invocation.planned.addr, caller.resource),
        None => invocation.planned.addr.to_string(),
    }
}

/// All errors as one text; none if there are none.
fn error_text(found: &ProviderDiagnostics) -> Option<String> {
    let errors: Vec<String> = found
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| match d.detail.is_empty() {
            true => d.summary.clone(),
            false => format!("{}: {}", d.summary, d.detail),
        })
        .collect();
    match errors.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        many => {
            let list: String = many.iter().map(|error| format!("\n- {error}")).collect();
            Some(format!("{} problems:\n{list}", many.len()))
        }
    }
}
