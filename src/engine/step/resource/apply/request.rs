//! The request that changes an object, and the checks of what the provider made of it.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::name::PROGRAM;
use model::addr::ConfigResource;
use model::plan::{Action, ResourceChange};
use model::state::ObjectStatus;
use terrane_protocol::provider::ApplyRequest;
use terrane_value::Value;

use crate::change::{breach_text, compatible, write_only};
use crate::engine_errors::{INVALID_PROVIDER_OBJECT, halted};
use crate::run::object::{Stored, mark, nonconforming, unknown_as_null, unknown_parts};
use crate::step::resource::Instance;

const INVALID_RESULT: &str = "Provider returned invalid result object after apply";

/// Asks the provider to make the change, and checks what it made. The object is what to keep, errors or not.
pub async fn apply(
    instance: &Instance<'_>,
    current: Option<Stored>,
    change: &ResourceChange,
) -> (Option<Stored>, Diagnostics) {
    let run = instance.run;
    let mut diagnostics = Diagnostics::new();
    let destroys = change.action == Action::Delete;
    let config = match destroys {
        true => instance.null(),
        false => diagnostics.take(instance.evaluate()),
    };
    if !destroys && !config.is_wholly_known() {
        diagnostics.push(still_unknown(instance, &config));
    }
    let meta = diagnostics.take(instance.provider_meta());
    if diagnostics.has_errors() {
        return (current, diagnostics);
    }
    let (before, before_marks) = change.change.before.unmark_deep_with_paths();
    let (after, after_marks) = change.change.after.unmark_deep_with_paths();
    if change.action == Action::Update && before == after && before_marks != after_marks {
        // Only what is secret changed: nothing to ask the provider for.
        let object = current.map(|c| {
            let identity = change.identity.after.clone().or(c.identity.clone());
            Stored { value: change.change.after.clone(), identity, ..c }
        });
        return (object, diagnostics);
    }
    if run.ports.stop.is_stopping() {
        diagnostics.push(halted());
        return (current, diagnostics);
    }
    if let Err(errors) = run.ports.sink.started(&instance.addr, change.deposed.as_ref()).await {
        diagnostics.extend(errors);
        return (current, diagnostics);
    }
    let request = ApplyRequest {
        kind: instance.addr.kind().into(),
        prior: before,
        planned: after.clone(),
        config: config.unmark_deep().0,
        planned_private: change.private.clone(),
        planned_identity: change.identity.after.clone(),
        provider_meta: meta,
    };
    // Nothing reports a slow answer here: the events of a change in progress do.
    let response = instance.provider.apply_resource_change(request).await;
    diagnostics.extend(instance.about(response.diagnostics));
    let value = match check_type(instance, &response.new_state) {
        Ok(()) => response.new_state,
        // A failed call has no answer worth checking.
        Err(_) if diagnostics.has_errors() => return (current, diagnostics),
        Err(error) => {
            diagnostics.push(error);
            return (current, diagnostics);
        }
    };
    let value = check_new_value(instance, change, value, response.legacy_type_system, &mut diagnostics);
    if destroys && !value.is_null() && !diagnostics.has_errors() {
        diagnostics.push(left_object(instance));
    }
    if value.is_null() {
        if !destroys && !diagnostics.has_errors() {
            diagnostics.push(null_object(instance, change.action));
        }
        // On errors a missing answer must not lose the object that was there.
        return (if diagnostics.has_errors() { current } else { None }, diagnostics);
    }
    let failed = diagnostics.has_errors();
    let object = Stored {
        value: mark(&value, &after_marks, &instance.schema.block),
        identity: response.identity.or_else(|| current.as_ref().and_then(|c| c.identity.clone())),
        private: response.private,
        status: current.as_ref().filter(|_| failed).map_or(ObjectStatus::Ready, |c| c.status),
        dependencies: kept_dependencies(current.as_ref()),
        create_before_destroy: instance.create_before_destroy && !destroys,
        keep: instance.keep(),
        provider_key: instance.provider_addr.key.clone(),
    };
    (Some(object), diagnostics)
}

/// The value that the provider made of the object, without what no provider may give. Reports what is wrong with it.
fn check_new_value(
    instance: &Instance<'_>,
    change: &ResourceChange,
    value: Value,
    legacy_type_system: bool,
    diagnostics: &mut Diagnostics,
) -> Value {
    let value = check_write_only(instance, value, diagnostics);
    let value = check_known(instance, value, diagnostics);
    if change.action == Action::Delete || diagnostics.has_errors() || legacy_type_system {
        return value;
    }
    for breach in compatible::object_compatible(&instance.schema.block, &change.change.after, &value) {
        let what = format!(
            "When applying changes to {}, provider {:?} produced an unexpected new value: {}.",
            instance.addr,
            instance.provider_addr.to_string(),
            breach_text(&breach, Some("Root object"))
        );
        diagnostics.push(instance.bug("Provider produced inconsistent result after apply", what));
    }
    value
}

fn kept_dependencies(current: Option<&Stored>) -> Arc<[ConfigResource]> {
    current.map_or_else(|| Arc::from([]), |c| c.dependencies.clone())
}

fn still_unknown(instance: &Instance<'_>, config: &Value) -> Diagnostic {
    let paths: Vec<String> = unknown_parts(config).iter().map(ToString::to_string).collect();
    Diagnostic::error(
        "Configuration contains unknown value",
        format!(
            "configuration for {} still contains unknown values during apply (this is a bug in {PROGRAM}; please report \
             it!)\nThe following paths in the resource configuration are unknown:\n{}",
            instance.addr,
            paths.join("\n")
        ),
    )
}

fn check_type(instance: &Instance<'_>, value: &Value) -> Result<(), Diagnostic> {
    let (addr, provider) = (&instance.addr, instance.provider_addr.to_string());
    match nonconforming(value, instance.schema.implied_type()) {
        None => Ok(()),
        Some(wrong) => {
            let what = format!(
                "Provider {provider:?} produced an invalid value after apply for {addr}. The result cannot not be saved in \
                 the {PROGRAM} state.\n\n{wrong}."
            );
            Err(instance.bug(INVALID_PROVIDER_OBJECT, what))
        }
    }
}

/// Only a destruction may leave no object.
fn null_object(instance: &Instance<'_>, action: Action) -> Diagnostic {
    let detail = format!(
        "After applying a {action:?} plan, the provider returned a null object for {}. Only destroying should always produce a \
         null value, so this is always a bug in the provider and should be reported in the provider's own repository.",
        instance.addr
    );
    Diagnostic::error(INVALID_RESULT, detail)
}

/// A destruction must leave none. What is left is kept.
fn left_object(instance: &Instance<'_>) -> Diagnostic {
    let detail = format!(
        "After applying a {:?} plan, the provider returned a non-null object for {}. Destroying should always produce a null \
         value, so this is always a bug in the provider and should be reported in the provider's own repository. {PROGRAM} will \
         still save this errant object in the state for debugging and recovery.",
        Action::Delete,
        instance.addr
    );
    Diagnostic::error(INVALID_RESULT, detail)
}

/// Values of write-only attributes are errors. They become null, so that the rest of the object can be kept.
fn check_write_only(instance: &Instance<'_>, value: Value, diagnostics: &mut Diagnostics) -> Value {
    let found = instance.check_write_only(INVALID_PROVIDER_OBJECT, &value, "after apply");
    if !found.has_errors() {
        return value;
    }
    diagnostics.extend(found);
    write_only::without_values(&instance.schema.block, &value)
}

/// Nothing may be unknown after apply; what is becomes null, so that the rest can be kept.
fn check_known(instance: &Instance<'_>, value: Value, diagnostics: &mut Diagnostics) -> Value {
    if value.is_wholly_known() {
        return value;
    }
    for path in unknown_parts(&value) {
        diagnostics.push(Diagnostic::error(
            INVALID_RESULT,
            format!(
                "After the apply operation, the provider still indicated an unknown value for {}{path}. All values must be \
                 known after apply, so this is always a bug in the provider and should be reported in the provider's own \
                 repository. {PROGRAM} will still save the other known object values in the state.",
                instance.addr
            ),
        ));
    }
    unknown_as_null(&value)
}
