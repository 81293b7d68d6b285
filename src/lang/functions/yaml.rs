//! `yamlencode` and `yamldecode`.
//!
//! Owns both directions: which plain scalars are numbers, bools, nulls or timestamps, and the exact layout of what is
//! written (quoted keys, literal blocks, folding at 80 columns), as observed on the reference.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};
use terrane_value::convert::convert;
use terrane_value::{Number, Type, Value};

use super::builtin::{Allow, Builtin, Outcome, any, quoted, string, text};
use super::signature::{CallContext, FunctionError};
use super::yaml_errors::{self, at};
use super::{base64_text, time};
use crate::opentofu;

/// Nesting beyond this would exhaust the stack.
const MAX_DEPTH: usize = 250;

pub(super) fn table() -> Vec<Builtin> {
    vec![
        Builtin::new("yamlencode", vec![any("value").null().unknown().dynamic()], Type::String, encode)
            .may_be_null()
            .doc("The YAML form of a value."),
        Builtin::new("yamldecode", vec![string("src")], Type::Dynamic, decode)
            .typed(|_| Ok(Type::Dynamic))
            .may_be_null()
            .doc("The value that a YAML text stands for."),
    ]
}

fn encode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    if !a[0].is_wholly_known() {
        return Ok(Value::unknown(Type::String));
    }
    let mut emitter = Emitter { out: String::new() };
    let plain = emitter.node(&a[0], -1, NodePosition::Root);
    if !emitter.out.ends_with('\n') {
        emitter.out.push('\n');
    }
    if plain {
        emitter.out.push_str("...\n");
    }
    Ok(Value::string(emitter.out))
}

/// Where a node is written.
#[derive(Clone, Copy, PartialEq)]
enum NodePosition {
    Root,
    /// Behind `- `.
    Item,
    /// Behind `key:`.
    Member,
}

struct Emitter {
    out: String,
}

impl Emitter {
    fn line(&mut self, indent: i32) {
        if !self.out.ends_with('\n') && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', indent.max(0) as usize));
    }

    fn column(&self) -> usize {
        self.out.rsplit('\n').next().unwrap_or_default().chars().count()
    }

    /// Answers whether the node was a plain scalar, which a document must mark its end after.
    fn node(&mut self, value: &Value, parent: i32, place: NodePosition) -> bool {
        let deeper = if parent < 0 { 0 } else { parent + 2 };
        let empty = value.is_empty();
        if value.is_null() || value.ty().is_primitive() {
            if place == NodePosition::Member {
                self.out.push(' ');
            }
            return self.scalar(value, if parent < 0 { 2 } else { parent + 2 });
        }
        let is_mapping = value.ty().is_map() || value.ty().is_object();
        if empty {
            if place == NodePosition::Member {
                self.out.push(' ');
            }
            self.out.push_str(if is_mapping { "{}" } else { "[]" });
            return false;
        }
        if is_mapping {
            for (i, (key, v)) in value.entries().iter().enumerate() {
                if i > 0 || place == NodePosition::Member {
                    self.line(deeper);
                }
                self.double_quoted(key, deeper, false);
                self.out.push(':');
                self.node(v, deeper, NodePosition::Member);
            }
            return false;
        }
        // A list that is a member of a mapping is not indented any further.
        let indent = if place == NodePosition::Member { parent } else { deeper };
        for (i, v) in value.elements().iter().enumerate() {
            if i > 0 || place == NodePosition::Member {
                self.line(indent);
            }
            self.out.push_str("- ");
            self.node(v, indent, NodePosition::Item);
        }
        false
    }

    fn scalar(&mut self, value: &Value, indent: i32) -> bool {
        let Some(text) = value.as_str() else {
            match (value.as_number(), value.as_bool()) {
                (Some(n), _) => self.out.push_str(&n.to_string()),
                (_, Some(b)) => self.out.push_str(if b { "true" } else { "false" }),
                _ => self.out.push_str("null"),
            }
            return true;
        };
        if fits_literal(text) {
            self.literal(text, indent)
        } else {
            self.double_quoted(text, indent, true)
        }
        false
    }

    fn literal(&mut self, text: &str, indent: i32) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        if !text.ends_with('\n') {
            self.out.push('-');
        } else if text == "\n" || text.ends_with("\n\n") {
            self.out.push('+');
        }
        self.out.push('\n');
        for line in text.split_inclusive('\n') {
            if line != "\n" {
                self.out.extend(std::iter::repeat_n(' ', indent.max(0) as usize));
            }
            self.out.push_str(line);
        }
    }

    fn double_quoted(&mut self, text: &str, indent: i32, may_fold: bool) {
        const WIDTH: usize = 80;
        self.out.push('"');
        let mut column = self.column();
        let mut after_space = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let before = self.out.len();
            if c == ' ' {
                let inside = at > 0 && chars.peek().is_some();
                if may_fold && !after_space && column > WIDTH && inside {
                    self.line(indent);
                    column = indent.max(0) as usize;
                    if chars.peek().is_some_and(|(_, next)| *next == ' ') {
                        self.out.push('\\');
                        column += 1;
                    }
                } else {
                    self.out.push(' ');
                    column += 1;
                }
                after_space = true;
                continue;
            }
            after_space = false;
            push_escaped(c, &mut self.out);
            column += self.out[before..].chars().count();
        }
        self.out.push('"');
    }
}

/// Whether a text can stand as a literal block: several lines, nothing to escape, no space that would get lost.
fn fits_literal(text: &str) -> bool {
    text.contains('\n')
        && !text.contains(" \n")
        && !text.ends_with(' ')
        && text.chars().all(|c| c == '\n' || is_printable(c) && !is_break(c))
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

fn push_escaped(c: char, out: &mut String) {
    if is_printable(c) && !is_break(c) && c != '"' && c != '\\' {
        return out.push(c);
    }
    let short = match c {
        '\0' => "\\0",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\u{b}' => "\\v",
        '\u{c}' => "\\f",
        '\r' => "\\r",
        '\u{1b}' => "\\e",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{85}' => "\\N",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        _ => "",
    };
    let code = c as u32;
    out.push_str(&match short {
        "" if code <= 0xff => format!("\\x{code:02X}"),
        "" if code <= 0xffff => format!("\\u{code:04X}"),
        "" => format!("\\U{code:08X}"),
        short => short.to_owned(),
    });
}

fn decode(a: &[Value], context: &CallContext<'_>) -> Outcome {
    let source = text(a, 0);
    yaml_errors::check(source).map_err(FunctionError::new)?;
    let parser = Parser::new_from_str(source);
    let merges_sequences = opentofu::merges_sequences(context.dialect);
    let (anchors, open) = (HashMap::new(), HashSet::new());
    let mut loader = Loader { source, parser, anchors, open, depth: 0, merges_sequences };
    loader.document().map_err(FunctionError::new)
}

struct Loader<'s> {
    source: &'s str,
    parser: Parser<'s, StrInput<'s>>,
    anchors: HashMap<usize, Value>,
    /// Anchors of collections that are still being read.
    open: HashSet<usize>,
    depth: usize,
    /// Whether the mappings of a sequence are merged too, the last of which wins.
    merges_sequences: bool,
}

type Loaded<T> = Result<T, String>;

impl<'s> Loader<'s> {
    fn next(&mut self) -> Loaded<(Event<'s>, Span)> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(e)) => Err(yaml_errors::worded(&e, self.source)),
            None => Err("unexpected end of document".into()),
        }
    }

    fn document(&mut self) -> Loaded<Value> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::Nothing, _) => {}
                (Event::DocumentStart(_), _) => break,
                (_, span) => return Err(at(&span.start, "missing start of document")),
            }
        }
        let first = self.next()?;
        let value = self.node(first)?;
        match self.next()? {
            (Event::DocumentEnd, _) => {}
            (_, span) => return Err(at(&span.start, "unexpected extra content after value")),
        }
        match self.next()? {
            (Event::StreamEnd, _) => Ok(value),
            (_, span) => Err(at(&span.start, "unexpected extra content after value")),
        }
    }

    fn node(&mut self, (event, span): (Event<'s>, Span)) -> Loaded<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(at(&span.start, "exceeded max depth"));
        }
        let value = match event {
            Event::Alias(id) if self.open.contains(&id) => {
                let name = yaml_errors::anchor_name(self.source, &span.start);
                Err(at(&span.start, &format!("cannot refer to anchor {name:?} from inside its own definition")))
            }
            Event::Alias(id) => self.anchors.get(&id).cloned().ok_or_else(|| "reference to undefined anchor".into()),
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref(), &span)?;
                self.remember(anchor, &value);
                Ok(value)
            }
            Event::SequenceStart(anchor, tag) => {
                check_collection_tag(tag.as_ref(), "seq").map_err(|e| at(&span.start, &e))?;
                self.open.insert(anchor);
                let value = self.sequence()?;
                self.remember(anchor, &value);
                Ok(value)
            }
            Event::MappingStart(anchor, tag) => {
                check_collection_tag(tag.as_ref(), "map").map_err(|e| at(&span.start, &e))?;
                self.open.insert(anchor);
                let value = self.mapping()?;
                self.remember(anchor, &value);
                Ok(value)
            }
            _ => Err(at(&span.start, "unexpected event")),
        };
        self.depth -= 1;
        value
    }

    /// Zero is what the parser gives to nodes without an anchor.
    fn remember(&mut self, anchor: usize, value: &Value) {
        self.open.remove(&anchor);
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
    }

    fn sequence(&mut self) -> Loaded<Value> {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Value::tuple(elements)),
                event => elements.push(self.node(event)?),
            }
        }
    }

    fn mapping(&mut self) -> Loaded<Value> {
        let mut members: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        let mut merged: BTreeMap<Arc<str>, Value> = BTreeMap::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                // What stands in the mapping itself wins over what is merged into it.
                merged.extend(members);
                return Ok(Value::object(merged));
            }
            let is_merge = matches!(&event, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<");
            let key = if is_merge { None } else { Some(self.node((event, span))?) };
            let event = self.next()?;
            let value = self.node(event)?;
            let Some(key) = key else {
                self.merge_into(&mut merged, &value, &span)?;
                continue;
            };
            let text = match (key.as_arc_str(), key.as_number(), key.as_bool()) {
                (Some(text), ..) => text,
                (_, Some(n), _) => Arc::from(n.to_string()),
                (.., Some(b)) => Arc::from(if b { "true" } else { "false" }),
                _ if key.is_null() => return Err(at(&span.start, "mapping key cannot be null")),
                _ => return Err("only strings are allowed as mapping keys".into()),
            };
            members.insert(text, value);
        }
    }

    fn merge_into(&self, merged: &mut BTreeMap<Arc<str>, Value>, value: &Value, key: &Span) -> Loaded<()> {
        if self.merges_sequences && value.ty().is_tuple() {
            for element in value.elements() {
                if element.is_null() || !element.ty().is_object() {
                    let what = element.ty().friendly_name();
                    return Err(at(&key.start, &format!("cannot merge {what} (from sequence) into mapping")));
                }
                self.merge_into(merged, element, key)?;
            }
            return Ok(());
        }
        if value.is_null() || !value.ty().is_object() {
            return Err(format!("cannot merge {} into mapping", value.ty().friendly_name()));
        }
        merged.extend(value.entries().iter().map(|(k, v)| (k.clone(), v.clone())));
        Ok(())
    }
}

const CORE: &str = "tag:yaml.org,2002:";

fn tag_text(tag: &Tag) -> String {
    format!("{}{}", tag.handle, tag.suffix)
}

fn check_collection_tag(tag: Option<&Cow<'_, Tag>>, expected: &str) -> Loaded<()> {
    match tag.map(|t| tag_text(t)) {
        None => Ok(()),
        Some(text) if text == "!" || text.strip_prefix(CORE) == Some(expected) => Ok(()),
        Some(text) if text.starts_with(CORE) => {
            let kind = if expected == "seq" { "sequence" } else { "mapping" };
            Err(format!("can't interpret {kind} as {text}"))
        }
        Some(text) => Err(format!("unsupported tag {}", quoted(&text))),
    }
}

/// As go-cty-yaml resolves scalars, observed on 1.11.4: blocks are looked at as unquoted scalars are, and then made text again.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: &Span) -> Loaded<Value> {
    let quoted_style = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
    let resolved = || match style {
        ScalarStyle::Plain => plain_scalar(text),
        _ if quoted_style => Ok(Value::string(text)),
        _ => plain_scalar(text).and_then(|value| convert(&value, &Type::String).map_err(|error| error.message)),
    };
    let Some(tag) = tag else { return resolved() };
    let full = tag_text(tag);
    let wrong = || format!("cannot parse {} as {full}", quoted(text));
    match full.strip_prefix(CORE) {
        Some("str") => Ok(Value::string(text)),
        Some("binary") if base64_text::decode(text).is_err() => Err(format!("{}: not valid base64", wrong())),
        Some("binary") => Ok(Value::string(text)),
        // The tag has no effect on quoted scalars that could be something else, nor on what is of another kind.
        Some("int" | "float" | "bool" | "null" | "timestamp") if quoted_style && is_ambiguous(text) => {
            Ok(Value::string(text))
        }
        Some(kind @ ("int" | "float" | "bool" | "null" | "timestamp")) => match plain_scalar(text) {
            Ok(value) if !quoted_style && (value.is_null() || value.as_str().is_none()) => Ok(value),
            _ if kind == "null" => Ok(Value::null_dynamic()),
            _ if kind == "timestamp" => timestamp(text).map(Value::string).ok_or_else(wrong),
            _ => Err(wrong()),
        },
        _ if full == "!" => resolved(),
        _ => Err(at(&span.start, &format!("unsupported tag {}", quoted(&full)))),
    }
}

/// Whether a text begins as numbers, booleans and nulls do.
fn is_ambiguous(text: &str) -> bool {
    text.chars().next().is_none_or(|first| first.is_ascii_digit() || "+-.yYnNtTfFoO~".contains(first))
}

/// What an unquoted scalar means.
fn plain_scalar(text: &str) -> Loaded<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::null_dynamic()),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Value::bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Value::bool(false));
        }
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Ok(Value::number(Number::infinity(false))),
        "-.inf" | "-.Inf" | "-.INF" => return Ok(Value::number(Number::infinity(true))),
        ".nan" | ".NaN" | ".NAN" => return Err("floating point NaN is not supported".into()),
        _ => {}
    }
    if let Some(n) = number(text) {
        return Ok(Value::number(n));
    }
    Ok(Value::string(timestamp(text).unwrap_or_else(|| text.to_owned())))
}

fn number(text: &str) -> Option<Number> {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
                return None;
            }
            return num_bigint::BigInt::parse_bytes(digits.as_bytes(), radix).map(|n| Number::from_bigint(&n));
        }
    }
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let first_digit = body.starts_with(|c: char| c.is_ascii_digit()) || body.starts_with('.') && body.len() > 1;
    let shaped = body.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    if first_digit && shaped { Number::parse(text) } else { None }
}

/// A date, with or without a time, in the form that the other functions of time take.
fn timestamp(text: &str) -> Option<String> {
    let mut parts = text.splitn(3, '-');
    let (year, month, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let digits =
        |t: &str, least: usize, most: usize| (least..=most).contains(&t.len()) && t.bytes().all(|b| b.is_ascii_digit());
    let day_length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (day, clock) = rest.split_at(day_length);
    if !digits(year, 4, 4) || !digits(month, 1, 2) || !digits(day, 1, 2) {
        return None;
    }
    let date = format!("{year}-{month:0>2}-{day:0>2}");
    if clock.is_empty() {
        return time::normalised(&format!("{date}T00:00:00Z"));
    }
    let clock = clock.strip_prefix(['t', 'T', ' '])?;
    let zoned = clock.ends_with('Z') || clock.contains(['+', '-']);
    time::normalised(&format!("{date}T{clock}{}", if zoned { "" } else { "Z" }))
}
