//! Where in a body a value was written: what diagnostics of providers point to.

use base::source::Range;
use lang::syntax::ast::{Attribute, Block, Expression};
use lang::syntax::body::{Body, BodySchema};
use terrane_value::{Path, PathStep, Value};

/// The place of the value at a path, as the reference finds it (1.11.4): the expression of the argument that the path ends
/// at, the element in it if the path ends with an index, otherwise the place for a missing argument in the deepest block
/// that the path leads to. None for the empty path.
pub fn attribute_range(body: &Body, path: &Path) -> Option<Range> {
    let (last, before) = path.steps().split_last()?;
    let (steps, key) = match (last, before.split_last()) {
        (PathStep::Attr(_), _) => (path.steps(), None),
        // A path that begins with an index.
        (PathStep::Index(_), None) => return Some(body.missing_item_range()),
        (PathStep::Index(key), Some(_)) => (before, Some(key)),
    };
    let inner = if steps.len() > 1 { deepest_body(body, steps) } else { body.clone() };
    let PathStep::Attr(name) = steps.last()? else { return Some(inner.missing_item_range()) };
    let (content, _, _) = inner.partial_content(&BodySchema::new().attribute(name));
    let Some(attribute) = content.attribute(name) else { return Some(inner.missing_item_range()) };
    let element = key.and_then(|key| element_range(attribute, key));
    Some(element.unwrap_or_else(|| attribute.expr.range()))
}

/// The body of the innermost block that the steps lead to. Steps that name no block are skipped.
fn deepest_body(body: &Body, steps: &[PathStep]) -> Body {
    let mut body = body.clone();
    let mut steps = steps.iter().peekable();
    while let Some(PathStep::Attr(name)) = steps.next() {
        let key = match steps.peek() {
            Some(PathStep::Index(key)) => Some(key.clone()),
            _ => None,
        };
        if key.is_some() {
            steps.next();
        }
        let labels: &[&str] = if key.as_ref().is_some_and(|key| key.as_str().is_some()) { &["key"] } else { &[] };
        let (content, _, problems) = body.partial_content(&BodySchema::new().block(name, labels));
        if problems.has_errors() {
            return body;
        }
        let blocks: Vec<&Block> = content.blocks_of(name).collect();
        if blocks.is_empty() {
            continue;
        }
        let Some(block) = chosen(&blocks, key.as_ref()) else { return body };
        body = block.body.clone();
    }
    body
}

fn chosen<'b>(blocks: &[&'b Block], key: Option<&Value>) -> Option<&'b Block> {
    match key {
        None => Some(*blocks.first()?).filter(|_| blocks.len() == 1),
        Some(key) => match key.as_str() {
            Some(key) => blocks.iter().find(|block| block.labels.first().is_some_and(|l| &*l.text == key)).copied(),
            None => key.as_i64().and_then(|i| usize::try_from(i).ok()).and_then(|i| blocks.get(i)).copied(),
        },
    }
}

/// The element of a literal collection; the argument's name if there is no such element; none if it is no literal.
fn element_range(attribute: &Attribute, key: &Value) -> Option<Range> {
    let expr = &attribute.expr;
    let Some(key) = key.as_str() else {
        let items = expr.as_static_list()?;
        let item = usize::try_from(key.as_i64()?).ok().and_then(|i| items.get(i));
        return Some(item.map_or_else(|| attribute.name_range(), Expression::range));
    };
    let is_key = |e: &Expression| e.as_keyword() == Some(key) || e.as_literal_string().as_deref() == Some(key);
    let items = expr.as_static_map()?;
    let found = items.iter().find(|(k, _)| is_key(k)).map(|(_, value)| value.range_of(value.node.start_span()));
    Some(found.unwrap_or_else(|| attribute.name_range()))
}

#[cfg(test)]
mod tests {
    use base::source::SourceFile;

    use super::*;

    const BODY: &str = r#"a = ["x", "y"]
m = { k = "v" }
o = { x = { y = 1 } }
l {
  a = 1
}
l {
  b = 2
}
s {
  a = 3
}
n "key" {
  a = 4
}
"#;

    /// Each row: a path, and the text that it points to; observed on the reference, 1.11.4. `}` ends the deepest body.
    #[test]
    fn paths_lead_to_what_the_reference_points_to() {
        let (body, found) = lang::syntax::parser::parse_file(SourceFile::new("t.tf", BODY));
        assert!(!found.has_errors(), "{found:?}");
        let path = |name: &str| Path::new().attr(name);
        let cases = [
            (path("a"), "[\"x\", \"y\"]"),
            (path("a").index_int(1), "\"y\""),
            (path("a").index_int(7), "a"),
            (path("m").index_str("k"), "v"),
            (path("m").index_str("none"), "m"),
            (path("l").index_int(0).attr("a"), "1"),
            (path("l").index_int(1).attr("b"), "2"),
            (path("s").attr("a"), "3"),
            (path("n").index_str("key").attr("a"), "4"),
        ];
        for (path, expected) in cases {
            let range = attribute_range(&body, &path).unwrap();
            assert_eq!(&BODY[range.span.start as usize..range.span.end as usize], expected, "{path}");
        }
        let missing = body.missing_item_range();
        for path in
            [path("none"), path("l"), path("l").index_int(0), path("l").index_int(5).attr("b"), path("o").attr("x")]
        {
            assert_eq!(attribute_range(&body, &path).unwrap(), missing, "{path}");
        }
        assert!(attribute_range(&body, &Path::new()).is_none());
    }
}
