//! Comparing two values by what they happen to be: outputs, attributes of dynamic type, JSON texts.
//!
//! Nothing in here is said to force replacement; the reference does not show it either.

use std::collections::BTreeMap;

use model::plan::Action;

use super::change::{Change, Comparable, Form, form, is_nil, join, same};
use super::parts::{elements, keys, sensitive};
use super::slices::{pair_lists, share_a_line};
use super::{Diff, Kind};

pub(super) fn dynamic(change: Change<'_>) -> Diff {
    let change = Change { replace: Vec::new(), ..change };
    sensitive(&change, dynamic).or_else(|| unknown(&change)).unwrap_or_else(|| known(&change))
}

fn unknown(change: &Change<'_>) -> Option<Diff> {
    if change.after.is_known() {
        return None;
    }
    let (kind, action) = match is_nil(&change.before) {
        true => (Kind::Unknown(None), Action::Create),
        false => (Kind::Unknown(Some(Box::new(dynamic(change.only_before())))), Action::Update),
    };
    Some(Diff { kind, action, replace: false })
}

fn known(change: &Change<'_>) -> Diff {
    let (before, after) = (form(&change.before), form(&change.after));
    let deleted = after == Form::Null && !change.after_explicit;
    let created = before == Form::Null && !change.before_explicit;
    if before != after && !created && !deleted {
        let old = of_form(before, &change.only_before());
        let new = of_form(after, &change.only_after());
        let kind = Kind::TypeChange(Box::new(old), Box::new(new));
        return Diff { kind, action: Action::Update, replace: false };
    }
    of_form(if before == Form::Null { after } else { before }, change)
}

fn of_form(form: Form, change: &Change<'_>) -> Diff {
    let (kind, action) = match form {
        Form::Array => {
            let is_object = |v: &_| self::form(v) == Form::Object;
            let pairs = pair_lists(
                change.dialect,
                change.before.elements(),
                change.after.elements(),
                Comparable,
                |before, after| is_object(before) && is_object(after) || share_a_line(change.dialect, before, after),
            );
            let elements = elements(change, pairs, dynamic);
            let action = elements.iter().fold(change.collection_action(), |action, e| join(action, e.action));
            (Kind::List { elements, context: true }, action)
        }
        Form::Object => {
            let mut action = change.collection_action();
            let mut attributes = BTreeMap::new();
            for key in keys(change) {
                let diff = dynamic(change.entry(&key));
                action = join(action, diff.action);
                attributes.insert(key, diff);
            }
            (Kind::Object { attributes, nested: false }, action)
        }
        _ => {
            let (before, after) = (change.before.clone(), change.after.clone());
            (Kind::Primitive { before, after, text: form == Form::String }, primitive_action(change))
        }
    };
    Diff { kind, action, replace: false }
}

fn primitive_action(change: &Change<'_>) -> Action {
    let missing_before = is_nil(&change.before) && !change.before_explicit;
    let missing_after = is_nil(&change.after) && !change.after_explicit;
    match (missing_before, missing_after) {
        (true, false) => Action::Create,
        (false, true) => Action::Delete,
        _ if same(&change.before, &change.after) => Action::NoOp,
        _ => Action::Update,
    }
}
