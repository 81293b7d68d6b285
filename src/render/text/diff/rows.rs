//! A difference as rows of a table: a name, and the values before and after beside each other.
//!
//! Owns which rows a difference has, for pages and for Markdown. Never reveals a sensitive value, nor how long it is, with any
//! style of the terminal.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::dialect::Dialect;
use model::plan::Action;
use terrane_value::Value;
use terrane_value::text::go_quoted;

use super::draw::{is_important, valid_name};
use super::json_text::{document, documents_diff};
use super::slices::pair_lists;
use super::{Blocks, Diff, Kind};
use crate::text::visible::visible;

/// One row. The texts have no line breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffRow {
    /// How many groups it is in.
    pub depth: usize,
    /// `NoOp`, `Create`, `Update` or `Delete`.
    pub action: Action,
    pub shape: RowShape,
    /// As it stands before `=`; empty for elements of a list and for lines of a text.
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub forces_replacement: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowShape {
    /// A value that has no parts.
    Value,
    /// The rows that follow, one level deeper, are its parts.
    Group,
    /// A line of a text.
    Line,
    /// A remark, which is in `name`.
    Note,
}

const SENSITIVE: &str = "(sensitive value)";
const UNKNOWN: &str = "(known after apply)";
/// Unchanged lines of a text that are shown before and after a changed one.
const CONTEXT: usize = 3;

/// The rows of a whole object or value. `show_unchanged`: also of what does not change.
pub fn rows(diff: &Diff, show_unchanged: bool, dialect: Dialect) -> Vec<DiffRow> {
    let mut table = RowTable { rows: Vec::new(), dialect };
    let place = RowPlace { depth: 0, show_unchanged };
    match &diff.kind {
        Kind::Block { .. } | Kind::Object { .. } => table.children(diff, place),
        _ => table.part(String::new(), diff, place),
    }
    table.rows
}

struct RowTable {
    rows: Vec<DiffRow>,
    dialect: Dialect,
}

#[derive(Clone, Copy)]
struct RowPlace {
    depth: usize,
    show_unchanged: bool,
}

impl RowPlace {
    fn inside(self) -> RowPlace {
        RowPlace { depth: self.depth + 1, ..self }
    }

    fn hides(self, diff: &Diff) -> bool {
        diff.action == Action::NoOp && !self.show_unchanged
    }
}

impl RowTable {
    fn row(&mut self, name: String, diff: &Diff, place: RowPlace, sides: (Option<String>, Option<String>)) {
        self.rows.push(DiffRow {
            depth: place.depth,
            action: diff.action,
            shape: RowShape::Value,
            name,
            before: sides.0,
            after: sides.1,
            forces_replacement: diff.replace,
        });
    }

    fn group(&mut self, name: String, diff: &Diff, place: RowPlace) {
        self.row(name, diff, place, (None, None));
        if let Some(row) = self.rows.last_mut() {
            row.shape = RowShape::Group;
        }
    }

    fn note(&mut self, text: String, place: RowPlace) {
        self.rows.push(DiffRow {
            depth: place.depth,
            action: Action::NoOp,
            shape: RowShape::Note,
            name: text,
            before: None,
            after: None,
            forces_replacement: false,
        });
    }

    fn hidden(&mut self, count: usize, what: &str, place: RowPlace) {
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            self.note(format!("({count} unchanged {what}{plural} hidden)"), place);
        }
    }

    /// A named part with all that is in it.
    fn part(&mut self, name: String, diff: &Diff, place: RowPlace) {
        match &diff.kind {
            Kind::Primitive { before, after, text } => match *text {
                true => self.text(name, diff, (before, after), place),
                false => self.row(name, diff, place, sides(diff.action, before, after)),
            },
            Kind::Sensitive { before, after, inner } => {
                self.row(name, diff, place, both(diff.action, SENSITIVE));
                self.note_new_marks([*before, *after], inner.action, place);
            }
            Kind::SensitiveBlock { before, after, inner } => {
                self.row(name, diff, place, both(diff.action, "(sensitive block)"));
                self.note_new_marks([*before, *after], inner.action, place);
            }
            Kind::WriteOnly { sensitive } => {
                let what = if *sensitive { "(sensitive, write-only attribute)" } else { "(write-only attribute)" };
                self.row(name, diff, place, both(diff.action, what));
            }
            Kind::Unknown(Some(before)) if diff.action != Action::Create => {
                self.becomes_unknown(name, diff, before, place)
            }
            Kind::Unknown(_) => self.row(name, diff, place, (None, Some(UNKNOWN.to_owned()))),
            Kind::TypeChange(before, after) => {
                self.part(name.clone(), &with_action(before, Action::Delete), place);
                self.part(name, &with_action(after, Action::Create), place);
            }
            Kind::List { .. } | Kind::Set { .. } | Kind::Map { .. } | Kind::Object { .. } | Kind::Block { .. } => {
                if has_no_parts(&diff.kind) {
                    let text = if matches!(diff.kind, Kind::List { .. } | Kind::Set { .. }) { "[]" } else { "{}" };
                    return self.row(name, diff, place, both(diff.action, text));
                }
                self.group(name, diff, place);
                self.children(diff, place.inside());
            }
        }
    }

    /// What has a value and will have one that only apply knows.
    fn becomes_unknown(&mut self, name: String, diff: &Diff, before: &Diff, place: RowPlace) {
        let first = self.rows.len();
        self.part(name, &Diff { replace: diff.replace, ..with_action(before, Action::Delete) }, place);
        if let Some(row) = self.rows.get_mut(first) {
            row.action = diff.action;
            row.after = Some(UNKNOWN.to_owned());
        }
    }

    /// Says that the marks of a part change. `marked`: whether it is sensitive before and after.
    fn note_new_marks(&mut self, marked: [bool; 2], inner: Action, place: RowPlace) {
        if matches!(inner, Action::Create | Action::Delete) {
            return;
        }
        let text = match marked {
            [true, false] => "Warning: this will no longer be marked as sensitive after applying this change.",
            [false, true] => "Warning: this will be marked as sensitive after applying this change.",
            _ => return,
        };
        self.note(text.to_owned(), place);
    }

    /// The parts of what has parts.
    fn children(&mut self, diff: &Diff, place: RowPlace) {
        match &diff.kind {
            Kind::List { elements, .. } | Kind::Set { elements, .. } => {
                let mut hidden = 0;
                for element in elements {
                    match place.hides(element) {
                        true => hidden += 1,
                        false => self.part(String::new(), element, place),
                    }
                }
                self.hidden(hidden, "element", place);
            }
            Kind::Map { elements, .. } => {
                let mut hidden = 0;
                for (key, element) in elements {
                    match place.hides(element) {
                        true => hidden += 1,
                        false => self.part(go_quoted(key), element, place),
                    }
                }
                self.hidden(hidden, "element", place);
            }
            Kind::Object { attributes, .. } => self.attributes(attributes, place),
            Kind::Block { attributes, blocks } => {
                self.attributes(attributes, place);
                self.blocks(diff, blocks, place);
            }
            _ => self.part(String::new(), diff, place),
        }
    }

    fn attributes(&mut self, attributes: &BTreeMap<Arc<str>, Diff>, place: RowPlace) {
        let mut hidden = 0;
        for (name, attribute) in attributes {
            if place.hides(attribute) && !is_important(name) {
                hidden += 1;
                continue;
            }
            let shown = RowPlace { show_unchanged: place.show_unchanged || is_important(name), ..place };
            self.part(valid_name(name), attribute, shown);
        }
        self.hidden(hidden, "attribute", place);
    }

    fn blocks(&mut self, whole: &Diff, blocks: &BTreeMap<Arc<str>, Blocks>, place: RowPlace) {
        let mut hidden = 0;
        for (kind, group) in blocks {
            if group.before_sensitive || group.after_sensitive {
                self.sensitive_blocks(kind, group, place);
                continue;
            }
            if group.unknown {
                let unknown = Diff { kind: Kind::Unknown(None), action: whole.action, replace: group.replace };
                self.part(valid_name(kind), &unknown, place);
            }
            for (key, block) in &group.blocks {
                if place.hides(block) {
                    hidden += 1;
                    continue;
                }
                let label = key.as_ref().map_or_else(String::new, |key| format!(" {}", go_quoted(key)));
                let first = self.rows.len();
                self.part(valid_name(kind) + &label, block, place);
                if let Some(row) = self.rows.get_mut(first) {
                    row.forces_replacement |= group.replace;
                }
            }
        }
        self.hidden(hidden, "block", place);
    }

    /// One row for all blocks of a kind that is sensitive as a whole: their number is a part of the value.
    fn sensitive_blocks(&mut self, kind: &str, group: &Blocks, place: RowPlace) {
        let mut actions = group.blocks.iter().map(|(_, block)| block.action);
        let first = actions.next().unwrap_or(Action::NoOp);
        let is_marked = group.before_sensitive != group.after_sensitive;
        let action = match actions.all(|action| action == first) {
            true if first == Action::NoOp && (is_marked || group.unknown) => Action::Update,
            true => first,
            false => Action::Update,
        };
        let whole = Diff { kind: Kind::Unknown(None), action, replace: group.replace };
        if !place.hides(&whole) {
            self.row(valid_name(kind), &whole, place, both(action, "(sensitive blocks)"));
        }
    }

    /// A string: as a document if it is JSON, line by line if it has several, otherwise quoted.
    fn text(&mut self, name: String, diff: &Diff, (before, after): (&Value, &Value), place: RowPlace) {
        let (old, new) = (before.as_str(), after.as_str());
        let (old_json, new_json) = (old.and_then(document), new.and_then(document));
        let documents = match diff.action {
            Action::Create => (None, new_json),
            Action::Delete => (old_json, None),
            Action::NoOp => (new_json.clone(), new_json),
            _ if old_json.is_some() && new_json.is_some() => (old_json, new_json),
            _ => (None, None),
        };
        if documents.0.is_some() || documents.1.is_some() {
            let inner = documents_diff(documents.0.as_ref(), documents.1.as_ref(), self.dialect);
            return self.json(name, diff, &inner, place);
        }
        let has_lines = |text: Option<&str>| text.is_some_and(|text| text.trim().contains('\n'));
        if has_lines(old) || has_lines(new) {
            self.group(name, diff, place);
            let (old, new) = match diff.action {
                Action::Create => (None, new),
                Action::Delete => (old, None),
                _ => (old, new),
            };
            return self.lines(old, new, place.inside());
        }
        self.row(name, diff, place, sides(diff.action, before, after));
    }

    fn json(&mut self, name: String, diff: &Diff, inner: &Diff, place: RowPlace) {
        self.group(format!("{name} (JSON)").trim_start().to_owned(), diff, place);
        if inner.action == Action::NoOp && diff.action == Action::Update {
            return self.note("(whitespace changes)".to_owned(), place.inside());
        }
        match has_no_parts(&inner.kind) {
            true => self.part(String::new(), inner, place.inside()),
            false => self.children(inner, place.inside()),
        }
    }

    /// The lines of two texts beside each other, without most of those that do not change.
    fn lines(&mut self, old: Option<&str>, new: Option<&str>, place: RowPlace) {
        let lines = |text: Option<&str>| -> Vec<String> {
            text.map_or_else(Vec::new, |text| text.trim().split('\n').map(one_line).collect())
        };
        let (old, new) = (lines(old), lines(new));
        let paired = paired_lines(&old, &new, self.dialect);
        let is_changed = |(before, after): &(Option<&String>, Option<&String>)| before != after;
        let changed: Vec<usize> =
            paired.iter().enumerate().filter(|(_, pair)| is_changed(pair)).map(|(at, _)| at).collect();
        let mut hidden = 0;
        for (at, (before, after)) in paired.iter().enumerate() {
            let next = changed.partition_point(|changed| *changed < at);
            let near = |changed: Option<&usize>| changed.is_some_and(|changed| changed.abs_diff(at) <= CONTEXT);
            if !place.show_unchanged
                && !near(changed.get(next))
                && !near(next.checked_sub(1).and_then(|i| changed.get(i)))
            {
                hidden += 1;
                continue;
            }
            self.hidden(std::mem::take(&mut hidden), "line", place);
            let action = match (before, after) {
                (None, _) => Action::Create,
                (_, None) => Action::Delete,
                (before, after) if before == after => Action::NoOp,
                _ => Action::Update,
            };
            let diff = Diff { kind: Kind::Unknown(None), action, replace: false };
            self.row(String::new(), &diff, place, (before.cloned(), after.cloned()));
            if let Some(row) = self.rows.last_mut() {
                row.shape = RowShape::Line;
            }
        }
        self.hidden(hidden, "line", place);
    }
}

/// The lines of both texts in pairs; what is removed stands beside what is added in its place.
fn paired_lines<'t>(
    old: &'t [String],
    new: &'t [String],
    dialect: Dialect,
) -> Vec<(Option<&'t String>, Option<&'t String>)> {
    let mut paired: Vec<(Option<&String>, Option<&String>)> = Vec::new();
    // The first of the removed lines that nothing stands beside yet.
    let mut open: Option<usize> = None;
    for (before, after) in pair_lists(dialect, old, new, |line| line.as_str(), |_, _| false) {
        let (before, after) = (before.map(|i| &old[i]), after.map(|i| &new[i]));
        match (before, after) {
            (None, Some(_)) if open.is_some_and(|at| at < paired.len()) => {
                if let Some(at) = open {
                    paired[at].1 = after;
                    open = Some(at + 1);
                }
            }
            (Some(_), None) => {
                open = open.or(Some(paired.len()));
                paired.push((before, None));
            }
            _ => {
                open = None;
                paired.push((before, after));
            }
        }
    }
    paired
}

fn with_action(diff: &Diff, action: Action) -> Diff {
    Diff { action, ..diff.clone() }
}

fn has_no_parts(kind: &Kind) -> bool {
    match kind {
        Kind::List { elements, .. } | Kind::Set { elements, .. } => elements.is_empty(),
        Kind::Map { elements, .. } => elements.is_empty(),
        Kind::Object { attributes, .. } => attributes.is_empty(),
        Kind::Block { attributes, blocks } => attributes.is_empty() && blocks.is_empty(),
        _ => true,
    }
}

/// The texts of a value before and after, as far as the action has them.
fn sides(action: Action, before: &Value, after: &Value) -> (Option<String>, Option<String>) {
    match action {
        Action::Create => (None, Some(plain(after))),
        Action::Delete => (Some(plain(before)), None),
        _ => (Some(plain(before)), Some(plain(after))),
    }
}

/// The same text on the sides that the action has.
fn both(action: Action, text: &str) -> (Option<String>, Option<String>) {
    let text = || Some(text.to_owned());
    match action {
        Action::Create => (None, text()),
        Action::Delete => (text(), None),
        _ => (text(), text()),
    }
}

fn plain(value: &Value) -> String {
    if !value.is_known() {
        return UNKNOWN.to_owned();
    }
    if value.is_sensitive() {
        return SENSITIVE.to_owned();
    }
    if let Some(boolean) = value.as_bool() {
        return boolean.to_string();
    }
    if let Some(number) = value.as_number() {
        return number.to_string();
    }
    value.as_str().map_or_else(|| "null".to_owned(), go_quoted)
}

/// A line without its end and without control characters.
fn one_line(line: &str) -> String {
    visible(line.trim_end_matches('\r')).replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting};
    use terrane_value::{Marks, Path, Type};

    use super::super::{block_diff, value_diff};
    use super::*;

    /// A row in a line: sign, indentation, name, both sides.
    fn shown(rows: &[DiffRow]) -> Vec<String> {
        let line = |row: &DiffRow| {
            let sign = match row.action {
                Action::Create => '+',
                Action::Delete => '-',
                Action::Update => '~',
                _ => ' ',
            };
            let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "_".into());
            let replace = if row.forces_replacement { " !" } else { "" };
            let indent = "  ".repeat(row.depth);
            match row.shape {
                RowShape::Value | RowShape::Line => {
                    format!("{sign} {indent}{}: {} | {}{replace}", row.name, side(&row.before), side(&row.after))
                }
                RowShape::Group => format!("{sign} {indent}{}:{replace}", row.name),
                RowShape::Note => format!("{sign} {indent}{}", row.name),
            }
        };
        rows.iter().map(line).collect()
    }

    fn of_values(before: &Value, after: &Value) -> Vec<String> {
        let dialect = Dialect::default();
        shown(&rows(&value_diff(before, after, dialect), false, dialect))
    }

    #[test]
    fn values_stand_beside_each_other() {
        let text = Value::string;
        let null = Value::null_dynamic();
        let object = |entries: &[(&str, &Value)]| {
            Value::object(entries.iter().map(|(key, value)| (*key, (*value).clone())).collect::<Vec<_>>())
        };
        let secret = text("secret").mark(Marks::SENSITIVE);
        let list = |texts: &[&str]| Value::tuple(texts.iter().map(Value::string).collect());
        let cases: Vec<(Value, Value, Vec<&str>)> = vec![
            (text("a"), text("b"), vec!["~ : \"a\" | \"b\""]),
            (null.clone(), Value::int(1), vec!["+ : _ | 1"]),
            (Value::bool(true), null.clone(), vec!["- : true | _"]),
            (text("a"), Value::unknown(Type::String), vec!["~ : \"a\" | (known after apply)"]),
            (
                object(&[("id", &text("i")), ("n", &text("x")), ("same", &text("s"))]),
                object(&[("id", &text("i")), ("n", &text("y")), ("same", &text("s"))]),
                vec!["  id: \"i\" | \"i\"", "~ n: \"x\" | \"y\"", "  (1 unchanged attribute hidden)"],
            ),
            (
                list(&["a", "b"]),
                list(&["a", "b", "c"]),
                vec!["~ :", "+   : _ | \"c\"", "    (2 unchanged elements hidden)"],
            ),
            (
                secret.clone(),
                text("x"),
                vec![
                    "~ : (sensitive value) | (sensitive value)",
                    "  Warning: this will no longer be marked as sensitive after applying this change.",
                ],
            ),
            (null.clone(), object(&[("s", &secret)]), vec!["+ s: _ | (sensitive value)"]),
            (text("1\n2\n3"), text("1\nx\n3"), vec!["~ :", "    : 1 | 1", "~   : 2 | x", "    : 3 | 3"]),
            (
                text("{\"a\":1,\"b\":2}"),
                text("{\"a\":1,\"b\":3}"),
                vec!["~ (JSON):", "~   b: 2 | 3", "    (1 unchanged attribute hidden)"],
            ),
            (text("{\"a\":1}"), text("{\"a\": 1}"), vec!["~ (JSON):", "    (whitespace changes)"]),
        ];
        for (before, after, expected) in cases {
            assert_eq!(of_values(&before, &after), expected);
        }
    }

    #[test]
    fn distant_unchanged_lines_are_hidden() {
        let text = |changed: &str| {
            let lines = (0..20).map(|i| if i == 10 { changed.to_owned() } else { i.to_string() });
            Value::string(lines.collect::<Vec<_>>().join("\n"))
        };
        let rows = of_values(&text("old"), &text("new"));
        let expected = ["~ :", "    (7 unchanged lines hidden)", "    : 7 | 7"];
        assert_eq!(rows[..3], expected);
        assert_eq!(rows[5], "~   : old | new");
        assert_eq!(rows[8..], ["    : 13 | 13", "    (6 unchanged lines hidden)"]);
    }

    #[test]
    fn the_number_of_sensitive_blocks_is_not_shown() {
        let mut inner = Block::default();
        inner.attributes.insert("x".into(), Attribute::new(Type::String));
        let element = inner.implied_type();
        let nested = NestedBlock { block: inner, nesting: Nesting::List, min_items: 0, max_items: 0 };
        let mut block = Block::default();
        block.blocks.insert("b".into(), nested);
        let objects = |count: usize| {
            let one = Value::object([("x", Value::string("v"))]);
            let blocks = Value::list(element.clone(), vec![one; count]).mark(Marks::SENSITIVE);
            Value::object([("b", blocks)])
        };
        let of = |before: usize, after: usize| {
            let dialect = Dialect::default();
            let diff = block_diff(&block, &objects(before), &objects(after), &[Path::new().attr("b")], None, dialect);
            shown(&rows(&diff, false, dialect))
        };
        assert_eq!(of(1, 2), ["~ b: (sensitive blocks) | (sensitive blocks) !"]);
        assert_eq!(of(1, 9), of(1, 2).iter().map(String::as_str).collect::<Vec<_>>());
    }
}
