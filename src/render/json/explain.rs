//! The causes of changes for programs.
//!
//! Owns the names of the members. Never knows how causes are found.

use base::dialect::Dialect;
use base::source::Range;
use model::causes::{Cause, ChangeSummary, Dependent, Explanation, Fact, Wait};
use serde_json::{Map, Value as Json, json};

use crate::cause_words::{kind, sentence};

/// An object with its causes.
pub fn explanation_json(explanation: &Explanation, dialect: Dialect) -> Json {
    let mut out = Map::new();
    out.insert("address".into(), explanation.addr.to_string().into());
    if let Some(key) = &explanation.deposed {
        out.insert("deposed".into(), key.to_string().into());
    }
    put_change(&mut out, &explanation.change, dialect);
    put_place(&mut out, explanation.place.as_ref());
    out.insert("causes".into(), explanation.causes.iter().map(|cause| cause_json(cause, dialect)).collect());
    out.insert("waits_for".into(), explanation.waits.iter().map(|wait| wait_json(wait, dialect)).collect());
    Json::Object(out)
}

/// An object or an output that a change would reach.
pub fn dependent_json(dependent: &Dependent, dialect: Dialect) -> Json {
    let mut out = Map::new();
    out.insert("name".into(), dependent.name.clone().into());
    if let Some(change) = &dependent.change {
        put_change(&mut out, change, dialect);
    }
    out.insert("through".into(), dependent.through.to_string().into());
    put_place(&mut out, dependent.place.as_ref());
    out.insert("distance".into(), dependent.distance.into());
    Json::Object(out)
}

fn cause_json(cause: &Cause, dialect: Dialect) -> Json {
    let mut out = Map::new();
    out.insert("kind".into(), kind(&cause.fact).into());
    out.insert("text".into(), sentence(&cause.fact).into());
    match &cause.fact {
        Fact::Attribute { name, forces, is_known } => {
            out.insert("attribute".into(), name.clone().into());
            out.insert("forces_replacement".into(), (*forces).into());
            out.insert("known_after_apply".into(), (!is_known).into());
        }
        Fact::Reference(name) | Fact::Given(name) => {
            out.insert("name".into(), name.clone().into());
        }
        Fact::MovedFrom(addr) => {
            out.insert("address".into(), addr.to_string().into());
        }
        Fact::Reason(reason) => {
            out.insert("action_reason".into(), reason.json_name().into());
        }
        Fact::Deferred(reason) => {
            out.insert("deferred_reason".into(), reason.json_name().into());
        }
        Fact::Object { addr, change, path, is_unknown, .. } => {
            out.insert("address".into(), addr.to_string().into());
            out.insert("path".into(), path.clone().into());
            out.insert("known_after_apply".into(), (*is_unknown).into());
            put_change(&mut out, change, dialect);
        }
        Fact::NoObject
        | Fact::DeletedOutside
        | Fact::ChangedOutside
        | Fact::Imported
        | Fact::Deposed
        | Fact::Tainted
        | Fact::Requested
        | Fact::DestroyMode
        | Fact::Differs
        | Fact::ByProvider
        | Fact::Trigger
        | Fact::DependsOn => {}
    }
    put_place(&mut out, cause.place.as_ref());
    if !cause.because.is_empty() {
        out.insert("causes".into(), cause.because.iter().map(|inner| cause_json(inner, dialect)).collect());
    }
    Json::Object(out)
}

fn wait_json(wait: &Wait, dialect: Dialect) -> Json {
    let mut out = Map::new();
    out.insert("address".into(), wait.addr.to_string().into());
    put_change(&mut out, &wait.change, dialect);
    out.insert("is_destruction".into(), wait.is_destruction.into());
    put_place(&mut out, wait.place.as_ref());
    Json::Object(out)
}

fn put_change(out: &mut Map<String, Json>, change: &ChangeSummary, dialect: Dialect) {
    out.insert("actions".into(), json!(change.action.json_names(dialect)));
    if let Some(reason) = change.reason.json_name() {
        out.insert("action_reason".into(), reason.into());
    }
    if let Some(reason) = change.deferred {
        out.insert("deferred_reason".into(), reason.json_name().into());
    }
}

fn put_place(out: &mut Map<String, Json>, range: Option<&Range>) {
    if let Some(range) = range {
        out.insert("place".into(), json!({ "filename": range.filename(), "line": range.start().line }));
    }
}

#[cfg(test)]
mod tests {
    use model::addr::parse::parse_abs_instance;
    use model::plan::{Action, ActionReason, DeferredReason};

    use super::*;

    #[test]
    fn objects_have_their_causes() {
        let change = ChangeSummary {
            action: Action::DeleteThenCreate,
            reason: ActionReason::ReplaceBecauseCannotUpdate,
            deferred: Some(DeferredReason::DeferredPrereq),
        };
        let attribute = Fact::Attribute { name: "x".into(), forces: true, is_known: false };
        let explanation = Explanation {
            addr: parse_abs_instance("a.b").unwrap(),
            deposed: None,
            change,
            place: None,
            causes: vec![Cause { fact: attribute, place: None, because: Vec::new() }],
            waits: Vec::new(),
        };
        let expected = json!({
            "address": "a.b",
            "actions": ["delete", "create"],
            "action_reason": "replace_because_cannot_update",
            "deferred_reason": "deferred_prereq",
            "causes": [{
                "kind": "attribute",
                "text": "x forces the replacement: its new value is known only after apply",
                "attribute": "x",
                "forces_replacement": true,
                "known_after_apply": true,
            }],
            "waits_for": [],
        });
        assert_eq!(explanation_json(&explanation, Dialect::default()), expected);
    }
}
