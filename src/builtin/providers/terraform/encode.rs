//! A value as the language's syntax, laid out as the formatter would.

use lang::syntax::quote::quoted;
use terrane_value::Value;
use terrane_value::identifier::is_identifier;

/// The text of an expression, without a newline at its end.
pub fn expression(value: &Value) -> String {
    let mut writer = Writer::default();
    writer.value(value);
    writer.finish()
}

/// An object's attributes as definitions, each on its line or lines.
pub fn attributes(object: &Value) -> String {
    let mut writer = Writer::default();
    for (name, value) in object.entries() {
        writer.definition(name.to_string(), value);
    }
    writer.finish()
}

/// One line before it is indented and aligned.
#[derive(Default)]
struct Line {
    /// The name before the equals sign, if the line defines one.
    name: Option<String>,
    text: String,
    /// Brackets opened less brackets closed.
    net: i32,
}

#[derive(Default)]
struct Writer {
    done: Vec<Line>,
    line: Line,
}

impl Writer {
    fn push(&mut self, text: &str) {
        self.line.text.push_str(text);
    }

    fn open(&mut self, bracket: &str) {
        self.push(bracket);
        self.line.net += 1;
    }

    fn close(&mut self, bracket: &str) {
        self.push(bracket);
        self.line.net -= 1;
    }

    fn end_line(&mut self) {
        self.done.push(std::mem::take(&mut self.line));
    }

    fn definition(&mut self, name: String, value: &Value) {
        self.line.name = Some(name);
        self.value(value);
        self.end_line();
    }

    fn value(&mut self, value: &Value) {
        if value.is_null() {
            return self.push("null");
        }
        if let Some(flag) = value.as_bool() {
            return self.push(if flag { "true" } else { "false" });
        }
        if let Some(number) = value.as_number() {
            let text = number.to_string();
            return self.push(&text);
        }
        if let Some(text) = value.as_str() {
            let text = quoted(text);
            return self.push(&text);
        }
        let ty = value.ty();
        if ty.is_object() || ty.is_map() { self.object(value) } else { self.sequence(value) }
    }

    fn sequence(&mut self, value: &Value) {
        self.open("[");
        for (i, element) in value.elements().iter().enumerate() {
            if i > 0 {
                self.push(", ");
            }
            self.value(element);
        }
        self.close("]");
    }

    fn object(&mut self, value: &Value) {
        self.open("{");
        if !value.entries().is_empty() {
            self.end_line();
            for (name, element) in value.entries() {
                let name = if is_identifier(name) { name.to_string() } else { quoted(name) };
                self.definition(name, element);
            }
        }
        self.close("}");
    }

    fn finish(mut self) -> String {
        let whole = self.line.text.is_empty() && self.line.name.is_none();
        if !whole {
            self.end_line();
        }
        let mut text = String::new();
        let widths = name_widths(&self.done);
        // What each still open level of indentation opened: brackets opened on one line count as one level.
        let mut open: Vec<i32> = Vec::new();
        for (line, width) in self.done.iter().zip(widths) {
            close_levels(&mut open, line.net);
            text.push_str(&"  ".repeat(open.len()));
            if let Some(name) = &line.name {
                text.push_str(name);
                text.extend(std::iter::repeat_n(' ', width.saturating_sub(name.chars().count())));
                text.push_str(" = ");
            }
            text.push_str(&line.text);
            text.push('\n');
            if line.net > 0 {
                open.push(line.net);
            }
        }
        if !whole {
            text.pop();
        }
        text
    }
}

fn close_levels(open: &mut Vec<i32>, net: i32) {
    let mut left = -net;
    while left > 0 {
        let Some(level) = open.last_mut() else { return };
        let closed = left.min(*level);
        *level -= closed;
        left -= closed;
        if *level == 0 {
            open.pop();
        }
    }
}

/// Neighbouring definitions on one line each have their equals signs aligned; one that goes on stands alone.
fn name_widths(lines: &[Line]) -> Vec<usize> {
    let length = |line: &Line| line.name.as_ref().filter(|_| line.net == 0).map(|name| columns(name));
    let mut widths = Vec::with_capacity(lines.len());
    for group in lines.chunk_by(|one, other| length(one).is_some() == length(other).is_some()) {
        let widest = group.iter().filter_map(length).max().unwrap_or(0);
        widths.extend(std::iter::repeat_n(widest, group.len()));
    }
    widths
}

fn columns(name: &str) -> usize {
    name.chars().count()
}

#[cfg(test)]
mod tests {
    use terrane_value::Type;

    use super::*;

    fn object<const N: usize>(values: [(&str, Value); N]) -> Value {
        Value::object(values)
    }

    /// Seen on the reference, 1.11.4.
    #[test]
    fn layout() {
        let (n, s) = (Value::int, |text: &str| Value::string(text));
        let value = object([
            ("${x}", n(1)),
            ("a", n(1)),
            ("bb", Value::tuple(vec![n(1), s("x"), Value::bool(true), Value::null_dynamic(), Value::empty_object()])),
            ("c d", object([("x", s("q\"\n${z} %{")), ("y", Value::empty_tuple())])),
            ("m", Value::map(Type::String, [("k", s("v"))])),
            ("n", n(-1)),
            ("nn", Value::empty_object()),
            ("o", Value::tuple(vec![object([("a", n(1)), ("b", object([("c", n(2))]))]), object([("a", n(2))])])),
            ("s", Value::strings(["a", "b"])),
            ("u", s("é\t\u{1}\u{2028}")),
        ]);
        let expected = r#"{
  "$${x}" = 1
  a       = 1
  bb      = [1, "x", true, null, {}]
  "c d" = {
    x = "q\"\n$${z} %%{"
    y = []
  }
  m = {
    k = "v"
  }
  n  = -1
  nn = {}
  o = [{
    a = 1
    b = {
      c = 2
    }
    }, {
    a = 2
  }]
  s = ["a", "b"]
  u = "é\t\u0001\u2028"
}"#;
        assert_eq!(expression(&value), expected);
        let long = "k".repeat(70_000);
        let wide = expression(&object([("a", n(1)), (long.as_str(), n(2))]));
        assert!(wide.contains(&format!("a{} = 1\n", " ".repeat(long.len() - 1))));
        let list = Value::tuple(vec![object([("a", n(1)), ("bb", n(2))])]);
        let file = attributes(&object([("l", list), ("longer", n(2)), ("s", s("x")), ("z", Value::null_dynamic())]));
        assert_eq!(file, "l = [{\n  a  = 1\n  bb = 2\n}]\nlonger = 2\ns      = \"x\"\nz      = null\n");
    }
}
