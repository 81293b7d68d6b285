//! `csvdecode`.
//!
//! Reads each byte once: fields are slices of the text, but for quoted ones that are more than one piece of it. Rules and
//! messages are those of Go's reader, observed on 1.11.4.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use terrane_value::{Entries, Type, Value};

use super::builtin::{Outcome, fail, quoted, text};
use super::signature::{CallContext, FunctionError};

pub(super) fn decode(a: &[Value], _: &CallContext<'_>) -> Outcome {
    let mut rows = Rows { rest: text(a, 0), line: 0 };
    let Some(header) = rows.next()? else { return fail("missing header line") };
    let names: Vec<Arc<str>> = header.fields.iter().map(|name| Arc::from(&**name)).collect();
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
        return fail(format!("duplicate column name {}", quoted(twice)));
    }
    let ty = Type::object(names.iter().map(|name| (name.clone(), Type::String)));
    let mut objects = Vec::new();
    while let Some(row) = rows.next()? {
        if row.fields.len() != names.len() {
            return wrong(row.line, "wrong number of fields");
        }
        let values = row.fields.iter().map(Value::string);
        objects.push(Value::object_of(ty.clone(), names.iter().cloned().zip(values).collect::<Entries>()));
    }
    Ok(Value::list(ty, objects))
}

fn wrong<T>(line: usize, what: &str) -> Result<T, FunctionError> {
    fail(format!("CSV parse error on line {line}: {what}"))
}

/// A record, and the line that it begins in, from 1.
struct Row<'s> {
    line: usize,
    fields: Vec<Cow<'s, str>>,
}

struct Rows<'s> {
    rest: &'s str,
    /// The line that was read last, from 1.
    line: usize,
}

impl<'s> Rows<'s> {
    /// The next record; empty lines are none.
    fn next(&mut self) -> Result<Option<Row<'s>>, FunctionError> {
        while let Some(line) = self.next_line() {
            if !line.is_empty() {
                let start = self.line;
                return Ok(Some(Row { line: start, fields: self.fields(line)? }));
            }
        }
        Ok(None)
    }

    /// A line without its end: `\n` or `\r\n`, and at the end of the text also `\r`.
    fn next_line(&mut self) -> Option<&'s str> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line += 1;
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    fn fields(&mut self, mut line: &'s str) -> Result<Vec<Cow<'s, str>>, FunctionError> {
        let mut fields = Vec::new();
        loop {
            let (field, after) = match line.strip_prefix('"') {
                Some(quoted) => self.quoted_field(quoted)?,
                None => self.plain_field(line)?,
            };
            fields.push(field);
            match after {
                Some(after) => line = after,
                None => return Ok(fields),
            }
        }
    }

    /// A field, and the line behind its comma.
    fn plain_field(&self, line: &'s str) -> Result<(Cow<'s, str>, Option<&'s str>), FunctionError> {
        let (field, after) = match line.split_once(',') {
            Some((field, after)) => (field, Some(after)),
            None => (line, None),
        };
        match field.contains('"') {
            true => wrong(self.line, "bare \" in non-quoted-field"),
            false => Ok((Cow::Borrowed(field), after)),
        }
    }

    /// As `plain_field`, behind the quote that opens the field, which may go on for several lines.
    fn quoted_field(&mut self, mut line: &'s str) -> Result<(Cow<'s, str>, Option<&'s str>), FunctionError> {
        const MISPLACED: &str = "extraneous or missing \" in quoted-field";
        let mut field = Cow::Borrowed("");
        loop {
            let Some((part, after)) = line.split_once('"') else {
                field += line;
                field += "\n";
                match self.next_line() {
                    Some(next) => line = next,
                    None => return wrong(self.line, MISPLACED),
                }
                continue;
            };
            field += part;
            match after.as_bytes().first() {
                Some(b'"') => {
                    field += "\"";
                    line = &after[1..];
                }
                Some(b',') => return Ok((field, Some(&after[1..]))),
                None => return Ok((field, None)),
                Some(_) => return wrong(self.line, MISPLACED),
            }
        }
    }
}
