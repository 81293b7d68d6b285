//! The linter: rules that report what is valid but unclear, or what has a better alternative.
//!
//! Owns the identifiers of rules and groups, and which of them a user selects. Rules read one module as it is written:
//! they know no values, no state and no schemas. A rule is an entry of [`RULES`].

mod count;
mod usage;
mod variables;

use std::collections::BTreeSet;

use base::diag::{Diagnostic, Diagnostics, Kind};
use base::source::Range;

use crate::config::Module;

/// All rules of all groups of this and of other sources.
const ALL: &str = "all";
/// All rules of this program.
const CORE: &str = "core:all";
/// Rules about text that may mislead its readers.
const CONFUSING: &str = "core:confusing";
/// Rules about text that has a better alternative.
const IMPROVEMENT: &str = "core:improvement";

/// One rule. Its group is selected by its own name, by `CORE` and by `ALL`.
pub struct Rule {
    pub id: &'static str,
    pub group: &'static str,
    /// The summary of its warnings, without the identifier.
    pub summary: &'static str,
    check: fn(&Module) -> Vec<Finding>,
}

/// All rules, in the order in which they report.
pub static RULES: [Rule; 4] = [
    Rule {
        id: "core:unused-variable",
        group: IMPROVEMENT,
        summary: "Input variable not used",
        check: usage::find_unused_variables,
    },
    Rule {
        id: "core:unused-local",
        group: IMPROVEMENT,
        summary: "Local value not used",
        check: usage::find_unused_locals,
    },
    Rule {
        id: "core:count-instead-enabled",
        group: IMPROVEMENT,
        summary: "Could use enabled instead of count",
        check: count::find,
    },
    Rule {
        id: "core:no-type-variable",
        group: CONFUSING,
        summary: "Variable with no type",
        check: variables::find_untyped,
    },
];

/// What a rule reports.
struct Finding {
    detail: String,
    at: Range,
    /// The wider construct to show around it.
    within: Option<Range>,
}

/// The rules and groups that a user asks for or excludes, by their identifiers. By default there are none: nothing is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    included: BTreeSet<String>,
    excluded: BTreeSet<String>,
}

impl Selection {
    /// Reads lists such as `all,!core:unused-local`. Ignores what cannot be an identifier. Unknown identifiers select nothing.
    pub fn parse<'a>(lists: impl IntoIterator<Item = &'a str>) -> Selection {
        let mut selection = Selection::default();
        for word in lists.into_iter().flat_map(|list| list.split(',')).map(str::trim) {
            let (id, set) = match word.strip_prefix('!') {
                Some(id) => (id, &mut selection.excluded),
                None => (word, &mut selection.included),
            };
            if is_identifier(id) {
                set.insert(id.to_owned());
            }
        }
        selection
    }

    pub fn is_empty(&self) -> bool {
        self.included.is_empty() && self.excluded.is_empty()
    }

    /// The more specific identifier decides; of the same one, the inclusion.
    fn has(&self, rule: &Rule) -> bool {
        let levels: [&[&str]; 3] = [&[rule.id], &[rule.group, CORE], &[ALL]];
        for ids in levels {
            if ids.iter().any(|id| self.included.contains(*id)) {
                return true;
            }
            if ids.iter().any(|id| self.excluded.contains(*id)) {
                return false;
            }
        }
        false
    }
}

/// `name` or `namespace:name`: lower-case letters, digits, `-` and `_`, in namespaces also `/`; a letter or digit is first.
fn is_identifier(text: &str) -> bool {
    let is_part = |part: &str, also: &[char]| {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        part.starts_with(is_plain) && part.chars().all(|c| is_plain(c) || also.contains(&c))
    };
    match text.split_once(':') {
        Some((namespace, name)) => is_part(namespace, &['-', '_', '/']) && is_part(name, &['-', '_']),
        None => is_part(text, &['-', '_']),
    }
}

/// The warnings of the selected rules about a module.
pub fn check(module: &Module, selection: &Selection) -> Diagnostics {
    let mut found = Diagnostics::new();
    for rule in RULES.iter().filter(|rule| selection.has(rule)) {
        for Finding { detail, at, within } in (rule.check)(module) {
            let mut warning = Diagnostic::warning(format!("{} ({})", rule.summary, rule.id), detail).at(at);
            warning.context = within;
            found.push(warning.of_kind(Kind::Lint));
        }
    }
    found
}

/// The warning that OpenTofu shows where a selection is not empty.
pub fn experimental(selection: &Selection) -> Option<Diagnostic> {
    let detail = "The linting functionality is under active development and may change or break in future releases. You can \
                  provide feedback by opening a new issue.";
    (!selection.is_empty()).then(|| Diagnostic::warning("Experimental linting enabled", detail))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::files::Memory;

    use super::*;
    use crate::addr;
    use crate::config::load_module;

    /// The details of the warnings of one rule.
    pub fn details(id: &str, text: &str) -> Vec<String> {
        details_of(id, &[("main.tf", text)])
    }

    /// As [`details`], for several files.
    pub fn details_of(id: &str, files: &[(&str, &str)]) -> Vec<String> {
        let files = Memory::of(files.iter().copied());
        let (module, _) = load_module(Path::new("."), addr::Module::root(), &files);
        check(&module.unwrap(), &Selection::parse([id])).into_iter().map(|d| d.detail).collect()
    }

    #[test]
    fn more_specific_identifiers_decide() {
        let (variable, local, count, untyped) =
            ("core:unused-variable", "core:unused-local", "core:count-instead-enabled", "core:no-type-variable");
        let cases: &[(&[&str], &[&str])] = &[
            (&["all"], &[variable, local, count, untyped]),
            (&["core:all"], &[variable, local, count, untyped]),
            (&["core:improvement"], &[variable, local, count]),
            (&["core:confusing"], &[untyped]),
            (&["core:unused-local"], &[local]),
            (&[" core:unused-local , nope"], &[local]),
            (&["core:unused-local", "core:no-type-variable"], &[local, untyped]),
            (&["all,!core:unused-local"], &[variable, count, untyped]),
            (&["all,!core:improvement"], &[untyped]),
            (&["all,!core:all"], &[]),
            (&["core:improvement,!core:all"], &[variable, local, count]),
            (&["core:all,!core:improvement"], &[variable, local, count, untyped]),
            (&["core:improvement,!core:unused-local"], &[variable, count]),
            (&["!core:improvement,core:unused-local"], &[local]),
            (&["core:unused-local,!core:unused-local"], &[local]),
            (&["!core:unused-local"], &[]),
            (&["nope"], &[]),
            (&["ALL", "core:ALL"], &[]),
            (&[""], &[]),
        ];
        for (lists, expected) in cases {
            let selection = Selection::parse(lists.iter().copied());
            let selected: Vec<&str> = RULES.iter().filter(|rule| selection.has(rule)).map(|rule| rule.id).collect();
            assert_eq!(selected, *expected, "{lists:?}");
        }
    }

    #[test]
    fn only_identifiers_turn_the_linter_on() {
        let cases = [
            ("", false),
            (",", false),
            ("!", false),
            ("ALL", false),
            ("a b", false),
            ("a:b:c", false),
            (":a", false),
            ("a:", false),
            ("-a", false),
            ("nope", true),
            ("!core:all", true),
            ("0a_-", true),
            ("registry/a:b", true),
        ];
        for (list, expected) in cases {
            let selection = Selection::parse([list]);
            assert_eq!(experimental(&selection).is_some(), expected, "{list}");
        }
    }

    #[test]
    fn identifiers_are_their_own() {
        let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        assert!(RULES.iter().all(|rule| is_identifier(rule.id) && is_identifier(rule.group)));
    }
}
