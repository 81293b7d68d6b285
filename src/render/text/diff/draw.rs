//! Drawing a difference as the lines of a plan.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use base::dialect::Dialect;
use model::plan::Action;
use terrane_value::Value;
use terrane_value::identifier::is_identifier;
use terrane_value::text::{go_quoted, write_go_quoted};

use super::json_text::{document, documents_diff};
use super::slices::pair_lists;
use super::{Blocks, Diff, Kind};
use crate::opentofu;
use crate::text::style::Style;
use crate::text::visible::visible;

/// How a difference is drawn; parts inherit it and change single settings.
#[derive(Clone)]
pub struct Drawing<'s> {
    pub style: &'s Style,
    /// Deleted parts do not say `-> null`, for the whole says it.
    pub hide_null_suffix: bool,
    /// The part says that it forces replacement, for the whole does not.
    pub force_replace: bool,
    /// The part does not say that it forces replacement, for the whole says it.
    pub hide_replace: bool,
    pub show_unchanged: bool,
    pub hide_symbols: bool,
}

impl<'s> Drawing<'s> {
    pub fn new(style: &'s Style) -> Drawing<'s> {
        Drawing {
            style,
            hide_null_suffix: false,
            force_replace: false,
            hide_replace: false,
            show_unchanged: false,
            hide_symbols: false,
        }
    }

    /// For the parts of a whole: what is said of replacement goes one level down only.
    fn inner(&self) -> Drawing<'s> {
        Drawing { force_replace: false, hide_replace: false, ..self.clone() }
    }

    /// For the elements of a collection, which does or does not speak for them about replacement.
    fn elements(&self, force_replace: bool) -> Drawing<'s> {
        Drawing { hide_null_suffix: true, force_replace, ..self.inner() }
    }

    fn null_suffix(&self, action: Action) -> String {
        let shown = action == Action::Delete && !self.hide_null_suffix;
        if shown { self.style.fill(" [dark_gray]-> null[reset]", &[]) } else { String::new() }
    }

    fn replace_suffix(&self, replace: bool) -> String {
        let shown = (replace || self.force_replace) && !self.hide_replace;
        if shown { self.style.fill(" [red]# forces replacement[reset]", &[]) } else { String::new() }
    }

    fn symbol(&self, action: Action) -> String {
        if self.hide_symbols { String::new() } else { format!("{} ", symbol(action, self.style)) }
    }

    fn unchanged(&self, what: &str, count: usize) -> String {
        let plural = if count == 1 { "" } else { "s" };
        self.style.dark_gray(format!("# ({count} unchanged {what}{plural} hidden)"))
    }

    fn arrow(&self) -> String {
        self.style.yellow("->")
    }

    fn with_unchanged(&self) -> Drawing<'s> {
        Drawing { show_unchanged: true, ..self.inner() }
    }
}

/// Three columns that say what is done.
pub fn symbol(action: Action, style: &Style) -> String {
    style.fill(symbol_tags(action, style.dialect), &[])
}

/// As `symbol`, with tags for the colours.
pub fn symbol_tags(action: Action, dialect: Dialect) -> &'static str {
    match action {
        Action::DeleteThenCreate => "[red]-[reset]/[green]+[reset]",
        Action::CreateThenDelete => "[green]+[reset]/[red]-[reset]",
        Action::CreateThenForget => opentofu::replace_and_forget_symbol(dialect),
        Action::Create => "  [green]+[reset]",
        Action::Delete => "  [red]-[reset]",
        Action::Forget => opentofu::forget_symbol(dialect),
        Action::Read => " [cyan]<=[reset]",
        Action::Update => "  [yellow]~[reset]",
        Action::NoOp => "   ",
    }
}

fn pad(indent: usize) -> String {
    "    ".repeat(indent)
}

/// The text with spaces up to a width in characters. Formatting to a width panics if it exceeds 65,535.
pub fn padded(mut text: String, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// A name as it stands before `=`: quoted unless it is an identifier.
pub fn valid_name(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { go_quoted(name) }
}

/// Shown even if unchanged, for they tell people which object it is.
pub(super) fn is_important(name: &str) -> bool {
    matches!(name, "id" | "name" | "tags")
}

/// Draws a difference in a given way.
pub fn draw(diff: &Diff, indent: usize, drawing: &Drawing<'_>) -> String {
    let mut out = String::new();
    write_diff(&mut out, diff, indent, drawing);
    out
}

/// As `draw`. Texts, which may be long, are drawn in place.
pub fn write_diff(out: &mut String, diff: &Diff, indent: usize, drawing: &Drawing<'_>) {
    let d = drawing;
    let drawn = match &diff.kind {
        Kind::Primitive { before, after, text: true } => return write_text(out, diff, before, after, indent, d),
        Kind::Primitive { before, after, text: false } => return write_primitive(out, diff, before, after, d),
        Kind::Block { attributes, blocks } => return write_block(out, diff, attributes, blocks, indent, d),
        Kind::List { elements, context } => list(diff, elements, *context, indent, d),
        Kind::Set { elements, nested } => set(diff, elements, *nested, indent, d),
        Kind::Map { elements, nested } => map(diff, elements, *nested, indent, d),
        Kind::Object { attributes, nested } => object(diff, attributes, *nested, indent, d),
        Kind::Sensitive { inner, .. } | Kind::SensitiveBlock { inner, .. } if d.style.reveal => {
            return write_diff(out, inner, indent, d);
        }
        Kind::Sensitive { .. } => {
            format!("(sensitive value){}{}", d.null_suffix(diff.action), d.replace_suffix(diff.replace))
        }
        Kind::SensitiveBlock { .. } => sensitive_block(diff, indent, d),
        Kind::WriteOnly { sensitive } => {
            let what = if *sensitive { "sensitive, write-only" } else { "write-only" };
            format!("({what} attribute){}{}", d.null_suffix(diff.action), d.replace_suffix(diff.replace))
        }
        Kind::Unknown(Some(before)) if diff.action != Action::Create => {
            let inner = Drawing { hide_null_suffix: true, hide_replace: diff.replace, ..d.inner() };
            write_diff(out, before, indent, &inner);
            format!(" -> (known after apply){}", d.replace_suffix(diff.replace))
        }
        Kind::Unknown(_) => format!("(known after apply){}", d.replace_suffix(diff.replace)),
        Kind::TypeChange(before, after) => {
            let inner = Drawing { hide_null_suffix: true, ..d.clone() };
            write_diff(out, before, indent, &inner);
            let _ = write!(out, " {} ", d.arrow());
            return write_diff(out, after, indent, &inner);
        }
    };
    out.push_str(&drawn);
}

/// Lines that stand above a part: a change of its sensitivity.
fn warnings(diff: &Diff, indent: usize, d: &Drawing<'_>) -> Vec<String> {
    let (before, after, inner, is_block) = match &diff.kind {
        Kind::Sensitive { before, after, inner } => (*before, *after, inner.action, false),
        Kind::SensitiveBlock { before, after, inner } => (*before, *after, inner.action, true),
        _ => return Vec::new(),
    };
    if before == after || matches!(inner, Action::Create | Action::Delete) {
        return Vec::new();
    }
    let what = if is_block { "block" } else { "attribute value" };
    let line = match before {
        true => {
            "  # [yellow]Warning[reset]: this {} will no longer be marked as sensitive\n{}  # after applying this change."
        }
        false => {
            "  # [yellow]Warning[reset]: this {} will be marked as sensitive and will not\n{}  # display in UI output after \
             applying this change."
        }
    };
    let mut text = d.style.fill(line, &[&what, &pad(indent)]);
    if inner == Action::NoOp && !is_block {
        text.push_str(" The value is unchanged.");
    }
    vec![text]
}

fn write_warnings(out: &mut String, diff: &Diff, indent: usize, d: &Drawing<'_>) {
    for warning in warnings(diff, indent, d) {
        let _ = writeln!(out, "{}{warning}", pad(indent));
    }
}

fn write_primitive(out: &mut String, diff: &Diff, before: &Value, after: &Value, d: &Drawing<'_>) {
    match diff.action {
        Action::Create => write_plain(out, after, d),
        Action::Delete => {
            write_plain(out, before, d);
            out.push_str(&d.null_suffix(diff.action));
        }
        Action::NoOp => write_plain(out, before, d),
        _ => write_plain_change(out, before, after, d),
    }
    out.push_str(&d.replace_suffix(diff.replace));
}

fn write_plain_change(out: &mut String, before: &Value, after: &Value, d: &Drawing<'_>) {
    write_plain(out, before, d);
    let _ = write!(out, " {} ", d.arrow());
    write_plain(out, after, d);
}

fn write_plain(out: &mut String, value: &Value, d: &Drawing<'_>) {
    let _ = if let Some(b) = value.as_bool() {
        write!(out, "{b}")
    } else if let Some(n) = value.as_number() {
        write!(out, "{n}")
    } else if let Some(s) = value.as_str() {
        out.reserve(s.len() + 2);
        write_go_quoted(s, out);
        Ok(())
    } else {
        write!(out, "{}", d.style.dark_gray("null"))
    };
}

fn write_text(out: &mut String, diff: &Diff, before: &Value, after: &Value, indent: usize, d: &Drawing<'_>) {
    let (old, new) = (before.as_str(), after.as_str());
    let (old_json, new_json) = (old.and_then(document), new.and_then(document));
    let multiline = |t: Option<&str>| t.is_some_and(|t| t.contains('\n'));
    let replace = d.replace_suffix(diff.replace);
    let head = format!("<<-EOT{replace}\n");
    match diff.action {
        Action::Create | Action::NoOp => {
            if new_json.is_some() {
                let old_json = if diff.action == Action::NoOp { new_json.clone() } else { None };
                return out.push_str(&json(diff, old_json, new_json, indent, d));
            }
            if !multiline(new) {
                write_plain(out, after, d);
                return out.push_str(&replace);
            }
            out.push_str(&head);
            write_lines(out, new.unwrap_or("").trim(), indent, d);
        }
        Action::Delete => {
            if before.is_null() {
                write_plain(out, before, d);
                return out.push_str(&replace);
            }
            if old_json.is_some() {
                return out.push_str(&json(diff, old_json, None, indent, d));
            }
            if !multiline(old) {
                return write_primitive(out, diff, before, after, d);
            }
            out.push_str(&head);
            write_lines(out, old.unwrap_or("").trim(), indent, d);
        }
        _ => {
            if old_json.is_some() && new_json.is_some() {
                return out.push_str(&json(diff, old_json, new_json, indent, d));
            }
            if old_json.is_some() || new_json.is_some() {
                return write_diff(out, &type_change(diff, before, after), indent, d);
            }
            if !multiline(old) && !multiline(new) {
                return write_primitive(out, diff, before, after, d);
            }
            out.push_str(&head);
            write_changed_lines(out, old, new, indent, d);
        }
    }
    let _ = write!(out, "{}{}EOT{}", pad(indent), d.symbol(Action::NoOp), d.null_suffix(diff.action));
}

/// A text that begins or ends to be JSON: removed as one, added as the other.
fn type_change(diff: &Diff, before: &Value, after: &Value) -> Diff {
    let part = |before: &Value, after: &Value, action| {
        let kind = Kind::Primitive { before: before.clone(), after: after.clone(), text: true };
        Box::new(Diff { kind, action, replace: false })
    };
    let null = Value::null_dynamic();
    let kind = Kind::TypeChange(part(before, &null, Action::Delete), part(&null, after, Action::Create));
    Diff { kind, ..diff.clone() }
}

fn write_lines(out: &mut String, text: &str, indent: usize, d: &Drawing<'_>) {
    let lead = format!("{}{}", pad(indent + 1), d.symbol(Action::NoOp));
    for line in text.split('\n') {
        let _ = writeln!(out, "{lead}{}", visible(line));
    }
}

fn write_changed_lines(out: &mut String, old: Option<&str>, new: Option<&str>, indent: usize, d: &Drawing<'_>) {
    fn split<'t>(text: Option<&'t str>, d: &Drawing<'_>) -> Vec<Cow<'t, str>> {
        let Some(text) = text else { return vec![d.style.dark_gray("null").into()] };
        let text = if text.contains('\n') { text.trim() } else { text };
        text.split('\n').map(visible).collect()
    }
    let (old, new) = (split(old, d), split(new, d));
    let [unchanged, removed, added] =
        [Action::NoOp, Action::Delete, Action::Create].map(|action| format!("{}{}", pad(indent + 1), d.symbol(action)));
    for (before, after) in pair_lists(d.style.dialect, &old, &new, |line| line.as_ref(), |_, _| false) {
        let (before, after) = (before.map(|i| &old[i]), after.map(|i| &new[i]));
        if let Some(line) = before {
            let _ = writeln!(out, "{}{line}", if before == after { &unchanged } else { &removed });
        }
        if let Some(line) = after.filter(|_| before != after) {
            let _ = writeln!(out, "{added}{line}");
        }
    }
}

fn json(diff: &Diff, before: Option<Value>, after: Option<Value>, indent: usize, d: &Drawing<'_>) -> String {
    let inner = documents_diff(before.as_ref(), after.as_ref(), d.style.dialect);
    let mut options = Drawing { hide_null_suffix: true, ..d.inner() };
    let (mut whitespace, mut replace) = (String::new(), String::new());
    let mut action = diff.action;
    if inner.action == Action::NoOp && diff.action == Action::Update {
        whitespace =
            if diff.replace { " # whitespace changes force replacement" } else { " # whitespace changes" }.into();
        options.show_unchanged = true;
        action = Action::NoOp;
    } else {
        replace = d.replace_suffix(diff.replace);
    }
    let body = draw(&inner, indent + 1, &options);
    if matches!(diff.action, Action::Create | Action::Delete) {
        action = Action::NoOp;
    }
    let suffix = d.null_suffix(diff.action);
    if body.contains('\n') {
        let symbol = d.symbol(action);
        let (inside, outside, blank) = (pad(indent + 1), pad(indent), d.symbol(Action::NoOp));
        return format!("jsonencode({whitespace}\n{inside}{symbol}{body}{replace}\n{outside}{blank}){suffix}");
    }
    format!("jsonencode({body}){whitespace}{replace}")
}

fn list(diff: &Diff, elements: &[Diff], context: bool, indent: usize, d: &Drawing<'_>) -> String {
    let suffix = d.null_suffix(diff.action);
    if elements.is_empty() {
        return format!("[]{suffix}{}", d.replace_suffix(diff.replace));
    }
    let inner = d.elements(false);
    let plain = d.with_unchanged();
    let mut out = format!("[{}\n", d.replace_suffix(diff.replace));
    let mut hidden: Vec<&Diff> = Vec::new();
    let mut show_next = false;
    for element in elements {
        if element.action == Action::NoOp && !show_next && !d.show_unchanged {
            hidden.push(element);
            continue;
        }
        show_next = false;
        if context {
            if hidden.len() > 1 {
                let text = d.unchanged("element", hidden.len() - 1);
                let _ = writeln!(out, "{}{}{text}", pad(indent + 1), d.symbol(Action::NoOp));
            }
            if let Some(last) = hidden.last() {
                let text = draw(last, indent + 1, &plain);
                let _ = writeln!(out, "{}{}{text},", pad(indent + 1), d.symbol(Action::NoOp));
            }
            hidden.clear();
            show_next = element.action != Action::NoOp;
        }
        write_warnings(&mut out, element, indent + 1, d);
        let options = if context && element.action == Action::NoOp { &plain } else { &inner };
        let text = draw(element, indent + 1, options);
        let _ = writeln!(out, "{}{}{text},", pad(indent + 1), d.symbol(element.action));
    }
    if !hidden.is_empty() {
        let text = d.unchanged("element", hidden.len());
        let _ = writeln!(out, "{}{}{text}", pad(indent + 1), d.symbol(Action::NoOp));
    }
    let _ = write!(out, "{}{}]{suffix}", pad(indent), d.symbol(Action::NoOp));
    out
}

/// A nested set leaves it to its elements to say that they force replacement.
fn set(diff: &Diff, elements: &[Diff], nested: bool, indent: usize, d: &Drawing<'_>) -> String {
    let suffix = d.null_suffix(diff.action);
    let replace = d.replace_suffix(diff.replace && !nested);
    if elements.is_empty() {
        return format!("[]{suffix}{replace}");
    }
    let inner = d.elements(diff.replace && nested);
    let mut out = format!("[{replace}\n");
    let mut hidden = 0;
    for element in elements {
        if element.action == Action::NoOp && !d.show_unchanged {
            hidden += 1;
            continue;
        }
        write_warnings(&mut out, element, indent + 1, d);
        let text = draw(element, indent + 1, &inner);
        let _ = writeln!(out, "{}{}{text},", pad(indent + 1), d.symbol(element.action));
    }
    write_hidden(&mut out, "element", hidden, indent, d);
    let _ = write!(out, "{}{}]{suffix}", pad(indent), d.symbol(Action::NoOp));
    out
}

fn write_hidden(out: &mut String, what: &str, count: usize, indent: usize, d: &Drawing<'_>) {
    if count > 0 {
        let _ = writeln!(out, "{}{}{}", pad(indent + 1), d.symbol(Action::NoOp), d.unchanged(what, count));
    }
}

/// A nested map leaves it to its elements to say that they force replacement.
fn map(diff: &Diff, elements: &BTreeMap<Arc<str>, Diff>, nested: bool, indent: usize, d: &Drawing<'_>) -> String {
    let suffix = d.null_suffix(diff.action);
    let replace = d.replace_suffix(diff.replace && !nested);
    if elements.is_empty() {
        return format!("{{}}{suffix}{replace}");
    }
    let hide_null_suffix = nested || diff.action == Action::Delete;
    let inner = Drawing { hide_null_suffix, ..d.elements(diff.replace && nested) };
    let width = if nested { 0 } else { elements.keys().map(|k| go_quoted(k).len()).max().unwrap_or(0) };
    let mut out = format!("{{{replace}\n");
    let mut hidden = 0;
    for (key, element) in elements {
        if element.action == Action::NoOp && !d.show_unchanged {
            hidden += 1;
            continue;
        }
        write_warnings(&mut out, element, indent + 1, d);
        let text = draw(element, indent + 1, &inner);
        let comma = if matches!(element.kind, Kind::Object { .. }) { "," } else { "" };
        let name = padded(go_quoted(key), width);
        let _ = writeln!(out, "{}{}{name} = {text}{comma}", pad(indent + 1), d.symbol(element.action));
    }
    write_hidden(&mut out, "element", hidden, indent, d);
    let _ = write!(out, "{}{}}}{suffix}", pad(indent), d.symbol(Action::NoOp));
    out
}

fn object(diff: &Diff, attributes: &BTreeMap<Arc<str>, Diff>, nested: bool, indent: usize, d: &Drawing<'_>) -> String {
    let suffix = d.null_suffix(diff.action);
    if attributes.is_empty() {
        return format!("{{}}{suffix}{}", d.replace_suffix(diff.replace));
    }
    let inner = Drawing { hide_null_suffix: !nested, ..d.inner() };
    let mut out = format!("{{{}\n", d.replace_suffix(diff.replace));
    write_attributes(&mut out, attributes, indent, &inner);
    let _ = write!(out, "{}{}}}{suffix}", pad(indent), d.symbol(Action::NoOp));
    out
}

/// The attributes that are worth showing, aligned, and how many are not shown.
fn write_attributes(out: &mut String, attributes: &BTreeMap<Arc<str>, Diff>, indent: usize, d: &Drawing<'_>) {
    let width = attributes.keys().map(|name| valid_name(name).len()).max().unwrap_or(0);
    let important = d.with_unchanged();
    let mut hidden = 0;
    for (name, attribute) in attributes {
        let options = if is_important(name) { &important } else { d };
        if attribute.action == Action::NoOp && !options.show_unchanged {
            hidden += 1;
            continue;
        }
        write_warnings(out, attribute, indent + 1, options);
        let symbol = options.symbol(attribute.action);
        let name = padded(valid_name(name), width);
        let _ = write!(out, "{}{symbol}{name} = ", pad(indent + 1));
        write_diff(out, attribute, indent + 1, options);
        out.push('\n');
    }
    write_hidden(out, "attribute", hidden, indent, d);
}

fn write_block(
    out: &mut String,
    diff: &Diff,
    attributes: &BTreeMap<Arc<str>, Diff>,
    blocks: &BTreeMap<Arc<str>, Blocks>,
    indent: usize,
    d: &Drawing<'_>,
) {
    if attributes.is_empty() && blocks.is_empty() {
        let _ = write!(out, "{{}}{}", d.replace_suffix(diff.replace));
        return;
    }
    let _ = writeln!(out, "{{{}", d.replace_suffix(diff.replace));
    let inner = d.inner();
    write_attributes(out, attributes, indent, &inner);
    let mut hidden = 0;
    for (kind, group) in blocks {
        let unknown = Diff { kind: Kind::Unknown(None), action: diff.action, replace: false };
        let unknown = group.unknown.then_some((&None, &unknown));
        let mut shown = false;
        for (key, diff) in unknown.into_iter().chain(group.blocks.iter().map(|(key, diff)| (key, diff))) {
            let replaced = sensitive_group(group, diff);
            let diff = replaced.as_ref().unwrap_or(diff);
            if diff.action == Action::NoOp && !d.show_unchanged {
                hidden += 1;
                continue;
            }
            if !shown && !attributes.is_empty() {
                out.push('\n');
                shown = true;
            }
            let options = Drawing { force_replace: group.replace, ..inner.clone() };
            write_warnings(out, diff, indent + 1, &options);
            let label = key.as_ref().map_or_else(String::new, |key| format!(" {}", go_quoted(key)));
            let symbol = options.symbol(diff.action);
            let _ = write!(out, "{}{symbol}{}{label} ", pad(indent + 1), valid_name(kind));
            write_diff(out, diff, indent + 1, &options);
            out.push('\n');
        }
    }
    if hidden > 0 {
        out.push('\n');
        write_hidden(out, "block", hidden, indent, d);
    }
    let _ = write!(out, "{}{}}}", pad(indent), d.symbol(Action::NoOp));
}

/// What stands for a block where all blocks of its kind are sensitive as a whole.
fn sensitive_group(group: &Blocks, diff: &Diff) -> Option<Diff> {
    let (before, after) = (group.before_sensitive, group.after_sensitive);
    let hides = match diff.action {
        Action::Create => after,
        Action::Delete => before,
        _ => before || after,
    };
    let action = if diff.action == Action::NoOp && before != after { Action::Update } else { diff.action };
    let kind = Kind::SensitiveBlock { before, after, inner: Box::new(diff.clone()) };
    hides.then_some(Diff { kind, action, replace: diff.replace })
}

fn sensitive_block(diff: &Diff, indent: usize, d: &Drawing<'_>) -> String {
    let line = format!("{}{}", pad(indent), d.symbol(Action::NoOp));
    format!(
        "{{{}\n{line}  # At least one attribute in this block is (or was) sensitive,\n{line}  # so its contents will not be \
         displayed.\n{line}}}",
        d.replace_suffix(diff.replace)
    )
}
