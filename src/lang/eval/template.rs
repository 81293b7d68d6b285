//! Templates: text with values in it.

use terrane_value::convert::{ConvertError, convert};
use terrane_value::{Marks, Refinement, Type, Value};

use super::env::Env;
use super::expression::Evaluator;
use crate::syntax::ast::{Expr, Template, TemplatePart};

const INVALID: &str = "Invalid template interpolation value";

/// More than this of a known prefix is not worth carrying along.
const MAX_PREFIX: usize = 128;

impl Evaluator<'_> {
    pub(super) fn template(&mut self, expr: &Expr, template: &Template, env: Env<'_>) -> Value {
        if let [TemplatePart::Literal { text, .. }] = template.parts.as_slice() {
            return Value::shared_string(text.clone());
        }
        if let Some(wrapped) = template.as_wrapped() {
            return self.eval(wrapped, env);
        }
        let then = self.now();
        let mut text = String::new();
        let mut marks = Marks::NONE;
        let mut known = true;
        for part in &template.parts {
            let part = match part {
                TemplatePart::Literal { text: literal, .. } => {
                    if known {
                        text.push_str(literal);
                    }
                    continue;
                }
                TemplatePart::Interpolation(part) | TemplatePart::Directive(part) => part,
            };
            let value = self.eval(part, env);
            if value.is_null() {
                let detail = "The expression result is null. Cannot include a null value in a string template.";
                self.error(INVALID, detail, part, Some(expr.span), env);
                continue;
            }
            marks |= value.marks();
            if !value.is_known() {
                known = false;
                continue;
            }
            match append(&value, &mut text, known) {
                Ok(more_marks) => marks |= more_marks,
                Err(error) => {
                    let detail = format!("Cannot include the given value in a string template: {error}.");
                    self.error(INVALID, detail, part, Some(expr.span), env);
                }
            }
        }
        if known {
            return Value::string(text).mark(marks);
        }
        let mut facts = Refinement::not_null();
        if !self.failed_since(then) {
            facts = facts.with_prefix(known_prefix(&text));
        }
        Value::unknown_refined(Type::String, facts).mark(marks)
    }

    /// The texts that a `for` directive made, joined.
    pub(super) fn template_join(&mut self, expr: &Expr, tuple: &Expr, env: Env<'_>) -> Value {
        let tuple = self.eval(tuple, env);
        if !tuple.is_known() {
            return Value::unknown(Type::String);
        }
        let mut marks = tuple.marks();
        let mut text = String::new();
        for value in tuple.elements() {
            if value.is_null() {
                let detail = "An iteration result is null. Cannot include a null value in a string template.";
                self.error(INVALID, detail, expr, None, env);
                continue;
            }
            if !value.is_known() {
                return Value::unknown(Type::String).mark(tuple.marks());
            }
            match append(value, &mut text, true) {
                Ok(more_marks) => marks |= more_marks | value.marks(),
                Err(error) => {
                    let detail =
                        format!("Cannot include one of the interpolation results into the string template: {error}.");
                    self.error(INVALID, detail, expr, None, env);
                }
            }
        }
        Value::string(text).mark(marks)
    }
}

/// Adds the text of a known value, unless the text is complete; marks that conversion brought up.
fn append(value: &Value, text: &mut String, add: bool) -> Result<Marks, ConvertError> {
    if let Some(piece) = value.as_str() {
        if add {
            text.push_str(piece);
        }
        return Ok(Marks::NONE);
    }
    let converted = convert(value, &Type::String)?;
    if add {
        text.push_str(converted.as_str().unwrap_or(""));
    }
    Ok(converted.marks())
}

/// As much of a prefix as no text behind it can change: its last character might combine with what follows.
fn known_prefix(text: &str) -> &str {
    use unicode_segmentation::UnicodeSegmentation;

    let text = &text[..text.floor_char_boundary(MAX_PREFIX)];
    match text.grapheme_indices(true).next_back() {
        None => "",
        Some((_, last)) if last.len() == 1 && stands_alone(last.as_bytes()[0]) => text,
        Some((start, _)) => &text[..start],
    }
}

/// Punctuation that no letter or mark combines with in practice, so that prefixes may end in it.
fn stands_alone(byte: u8) -> bool {
    matches!(
        byte,
        b'-' | b'_'
            | b':'
            | b';'
            | b'/'
            | b'\\'
            | b','
            | b'.'
            | b'('
            | b')'
            | b'{'
            | b'}'
            | b'['
            | b']'
            | b'|'
            | b'?'
            | b'!'
            | b'~'
            | b' '
            | b'\t'
            | b'@'
            | b'#'
            | b'$'
            | b'%'
            | b'^'
            | b'&'
            | b'*'
            | b'+'
            | b'"'
            | b'\''
    )
}
