//! The sentences for causes of changes that text and JSON have in common.
//!
//! Owns the words. Never knows values: causes have none.

use base::name::PROGRAM;
use model::causes::{ChangeSummary, Fact};
use model::plan::{Action, ActionReason, DeferredReason};

/// What is planned for an object, behind its address.
pub fn summary(change: &ChangeSummary) -> &'static str {
    if change.deferred.is_some() {
        return "is deferred to a later plan";
    }
    match change.action {
        Action::NoOp => "does not change",
        Action::Create => "will be created",
        Action::Read => "will be read during apply",
        Action::Update => "will be updated in-place",
        Action::Delete => "will be destroyed",
        Action::DeleteThenCreate => "will be replaced: destroyed first, then created",
        Action::CreateThenDelete => "will be replaced: created first, then the old object is destroyed",
        Action::CreateThenForget => "will be replaced: the old object stays and is no longer managed",
        Action::Forget => "will be forgotten: it stays and is no longer managed",
    }
}

/// What kind of cause it is, for programs.
pub fn kind(fact: &Fact) -> &'static str {
    match fact {
        Fact::NoObject => "no_object",
        Fact::DeletedOutside => "deleted_outside",
        Fact::ChangedOutside => "changed_outside",
        Fact::Imported => "imported",
        Fact::MovedFrom(_) => "moved",
        Fact::Deposed => "deposed",
        Fact::Tainted => "tainted",
        Fact::Requested => "requested",
        Fact::DestroyMode => "destroy_mode",
        Fact::Reason(_) => "reason",
        Fact::Deferred(_) => "deferred",
        Fact::Attribute { .. } => "attribute",
        Fact::Differs => "differs",
        Fact::ByProvider => "by_provider",
        Fact::Reference(_) => "reference",
        Fact::Given(_) => "given",
        Fact::Trigger => "trigger",
        Fact::DependsOn => "depends_on",
        Fact::Object { .. } => "object",
    }
}

/// A sentence without the full stop.
pub fn sentence(fact: &Fact) -> String {
    match fact {
        Fact::NoObject => "The state has no object at this address".into(),
        Fact::DeletedOutside => format!("The object was deleted outside of {PROGRAM}"),
        Fact::ChangedOutside => format!("The object was changed outside of {PROGRAM}"),
        Fact::Imported => "An existing object is imported".into(),
        Fact::MovedFrom(addr) => format!("The object had the address {addr}"),
        Fact::Deposed => "The object is left over from a replacement that did not complete".into(),
        Fact::Tainted => "The object is tainted".into(),
        Fact::Requested => "The option -replace asks for it".into(),
        Fact::DestroyMode => "The plan destroys all objects".into(),
        Fact::Reason(reason) => reason_sentence(*reason).into(),
        Fact::Deferred(reason) => deferral(*reason).into(),
        Fact::Attribute { name, forces: false, is_known: true } => format!("{name} changes"),
        Fact::Attribute { name, forces: false, is_known: false } => format!("{name} is known only after apply"),
        Fact::Attribute { name, forces: true, is_known: true } => {
            format!("{name} changes, which forces the replacement")
        }
        Fact::Attribute { name, forces: true, is_known: false } => {
            format!("{name} forces the replacement: its new value is known only after apply")
        }
        Fact::Differs => "The configuration sets another value than the object has".into(),
        Fact::ByProvider => "The configuration does not set it; the provider plans it".into(),
        Fact::Reference(name) => format!("It refers to {name}"),
        Fact::Given(name) => format!("It depends on the value of {name}"),
        Fact::Trigger => "replace_triggered_by names an object that changes".into(),
        Fact::DependsOn => "depends_on names an object with planned changes".into(),
        Fact::Object { addr, change, path, is_unknown, is_explained } => {
            let planned = summary(change);
            let separator = if path.starts_with('[') || path.is_empty() { "" } else { "." };
            let mut text = match (change.deferred.is_some(), *is_unknown, path.is_empty()) {
                (true, _, _) | (false, false, true) => format!("{addr} {planned}"),
                (false, true, _) => format!("{addr}{separator}{path} is known only after apply: {addr} {planned}"),
                (false, false, false) => format!("{addr}{separator}{path} changes: {addr} {planned}"),
            };
            if !is_explained {
                text.push_str(" (its causes are not repeated here)");
            }
            text
        }
    }
}

fn reason_sentence(reason: ActionReason) -> &'static str {
    match reason {
        ActionReason::None => "The plan names no reason",
        ActionReason::ReplaceBecauseCannotUpdate => "The provider cannot update the object",
        ActionReason::ReplaceBecauseTainted => "The object is tainted",
        ActionReason::ReplaceByRequest => "The option -replace asks for it",
        ActionReason::ReplaceByTriggers => "An object that replace_triggered_by names changes",
        ActionReason::DeleteBecauseNoResourceConfig => "The configuration has no block for it",
        ActionReason::DeleteBecauseWrongRepetition => {
            "Its key does not match the use of count or for_each in its block"
        }
        ActionReason::DeleteBecauseCountIndex => "Its index is out of the range of count",
        ActionReason::DeleteBecauseEachKey => "Its key is not in for_each",
        ActionReason::DeleteBecauseNoModule => "The configuration does not call its module instance",
        ActionReason::DeleteBecauseNoMoveTarget => "It was moved to an address that the configuration does not have",
        ActionReason::DeleteBecauseNotEnabled => "enabled is false in its block",
        ActionReason::ForgetBecauseOfConfig => "The configuration sets destroy = false",
        ActionReason::ForgetBecauseOfState => "Its block, which was removed, had destroy = false",
        ActionReason::ReadBecauseConfigUnknown => "Its configuration has values that are known only after apply",
        ActionReason::ReadBecauseDependencyPending => "It depends on an object with planned changes",
        ActionReason::ReadBecauseCheckNested => "It belongs to a check block, which apply evaluates again",
    }
}

fn deferral(reason: DeferredReason) -> &'static str {
    match reason {
        DeferredReason::InstanceCountUnknown => "The number of its instances is known only after apply",
        DeferredReason::ResourceConfigUnknown => "Its configuration has values that are known only after apply",
        DeferredReason::ProviderConfigUnknown => "The configuration of its provider is known only after apply",
        DeferredReason::DeferredPrereq => "An object that it depends on is deferred",
        DeferredReason::AbsentPrereq => "The provider needs something that does not exist yet",
        DeferredReason::Unknown => "The provider deferred it and gave no reason",
    }
}

#[cfg(test)]
mod tests {
    use model::addr::parse::parse_abs_instance;

    use super::*;

    #[test]
    fn objects_are_named_with_the_part_that_is_referred_to() {
        let addr = parse_abs_instance("a.b").unwrap();
        let change = ChangeSummary { action: Action::Create, reason: ActionReason::None, deferred: None };
        let deferred = ChangeSummary { deferred: Some(DeferredReason::DeferredPrereq), ..change };
        let cases = [
            (change, "", false, "a.b will be created"),
            (change, "x", false, "a.b.x changes: a.b will be created"),
            (change, "x[0]", true, "a.b.x[0] is known only after apply: a.b will be created"),
            (change, "", true, "a.b is known only after apply: a.b will be created"),
            (deferred, "x", true, "a.b is deferred to a later plan"),
        ];
        for (change, path, is_unknown, expected) in cases {
            let fact = |is_explained| Fact::Object {
                addr: addr.clone(),
                change,
                path: path.to_string(),
                is_unknown,
                is_explained,
            };
            assert_eq!(sentence(&fact(true)), expected);
            assert_eq!(sentence(&fact(false)), format!("{expected} (its causes are not repeated here)"));
        }
    }
}
