//! Bodies of blocks with what override files say otherwise. The rules are those observed on 1.11.4.

use lang::syntax::ast::{Attribute, Block, ExprKind};
use lang::syntax::body::{Body, BodySchema, NativeBody};

/// Arguments of blocks themselves, which an escaping block does not mean.
const OWN_ARGUMENTS: [&str; 8] =
    ["alias", "count", "depends_on", "for_each", "provider", "providers", "source", "version"];

/// The body of a block with an override on top: its arguments replace those of the same name, its nested blocks all of their kind.
pub fn merged(kind: &str, base: &Body, over: &Body) -> Body {
    let (base, over) = with_escaped_arguments(base, over);
    match kind {
        "resource" | "data" => {
            let (base, over) = one_repetition(base, over);
            merged_block("lifecycle", &base, &over)
        }
        "action" => {
            let (base, over) = one_repetition(base, over);
            merged_block("config", &base, &over)
        }
        "module" => {
            let (base, over) = one_repetition(base, over);
            let passes_nothing =
                argument(&over, "providers").is_some_and(|a| a.expr.as_static_map().is_some_and(|map| map.is_empty()));
            Body::merged(base, if passes_nothing { without(&over, "providers") } else { over })
        }
        _ => Body::merged(base, over),
    }
}

/// The body of a `check` block whose data source is overridden. None if it has no such data source.
pub fn merged_in_check(check: &Block, over: &Block) -> Option<Body> {
    let schema = BodySchema::new().block("data", &["type", "name"]);
    let (content, rest, _) = check.body.partial_content(&schema);
    let mut blocks = content.blocks;
    let base = blocks.iter_mut().find(|block| have_same_labels(block, over))?;
    base.body = merged("data", &base.body, &over.body);
    Some(Body::joined(rest, items(check, Vec::new(), blocks)))
}

pub fn have_same_labels(a: &Block, b: &Block) -> bool {
    a.labels.iter().map(|label| &label.text).eq(b.labels.iter().map(|label| &label.text))
}

/// One argument of a body, looked at before the body is read.
pub fn argument(body: &Body, name: &str) -> Option<Attribute> {
    body.partial_content(&BodySchema::new().attribute(name)).0.attributes.swap_remove(name)
}

fn without(body: &Body, name: &str) -> Body {
    body.partial_content(&BodySchema::new().attribute(name)).1
}

/// A body of one argument or block that stands elsewhere.
pub fn items(like: &Block, attributes: Vec<Attribute>, blocks: Vec<Block>) -> Body {
    let file = like.file().clone();
    Body::native(NativeBody { file, attributes, blocks, span: like.open.to(like.close), end: like.close })
}

/// A body in which blocks of a kind have been replaced.
pub fn with_blocks(body: &Body, kind: &str, change: impl Fn(&Block) -> Body) -> Body {
    let (content, rest, _) = body.partial_content(&BodySchema::new().block(kind, &[]));
    let Some(first) = content.blocks.first() else { return body.clone() };
    let blocks = content.blocks.iter().map(|block| Block { body: change(block), ..block.clone() }).collect();
    Body::joined(rest, items(first, Vec::new(), blocks))
}

/// Where `count` and `for_each` come from different blocks, `count` counts.
fn one_repetition(base: Body, over: Body) -> (Body, Body) {
    let has = |body: &Body, name: &str| argument(body, name).is_some();
    let (by_count, by_each) = (has(&base, "count"), has(&base, "for_each"));
    match (by_count, has(&over, "count"), has(&over, "for_each")) {
        // Both in one block are an error there.
        _ if by_count && by_each => (base, over),
        (_, true, _) => (without(&base, "for_each"), without(&over, "for_each")),
        (true, false, true) => (base, without(&over, "for_each")),
        _ => (base, over),
    }
}

/// A merge in which one kind of nested block is merged too.
fn merged_block(kind: &str, base: &Body, over: &Body) -> Body {
    let schema = BodySchema::new().block(kind, &[]);
    let (mine, rest, _) = over.partial_content(&schema);
    let (theirs, _, _) = base.partial_content(&schema);
    let Some(inner) = mine.blocks.first() else { return Body::merged(base.clone(), rest) };
    let block = match (theirs.blocks.first(), kind) {
        (Some(first), "lifecycle") => Block { body: merged_lifecycle(&first.body, &inner.body), ..first.clone() },
        (Some(first), _) => Block { body: Body::merged(first.body.clone(), inner.body.clone()), ..first.clone() },
        (None, "lifecycle") => Block { body: without(&inner.body, "replace_triggered_by"), ..inner.clone() },
        (None, _) => inner.clone(),
    };
    Body::merged(Body::merged(base.clone(), items(inner, Vec::new(), vec![block])), rest)
}

/// `replace_triggered_by` cannot be overridden, and `ignore_changes = all` stays.
fn merged_lifecycle(base: &Body, over: &Body) -> Body {
    let over = without(over, "replace_triggered_by");
    let ignores_all = argument(base, "ignore_changes").is_some_and(|a| a.expr.as_keyword() == Some("all"));
    Body::merged(base.clone(), if ignores_all { without(&over, "ignore_changes") } else { over })
}

/// Both bodies, if either has an escaping block `_`: what one says in it replaces what the other says outside of it, and the reverse.
fn with_escaped_arguments(base: &Body, over: &Body) -> (Body, Body) {
    let schema = BodySchema::new().block("_", &[]);
    let (of_base, base_plain, _) = base.partial_content(&schema);
    let (of_over, over_plain, _) = over.partial_content(&schema);
    if of_over.blocks.is_empty() && of_base.blocks.is_empty() {
        return (base.clone(), over.clone());
    }
    let is_escaped = |name: &str| !OWN_ARGUMENTS.contains(&name);
    let mut base_plain = base_plain;
    for name in of_over.blocks.iter().flat_map(|block| block.body.just_attributes().0.into_keys()) {
        if is_escaped(&name) {
            base_plain = without(&base_plain, &name);
        }
    }
    let outside = over_plain.just_attributes().0;
    let kept = |body: &Body| outside.keys().filter(|name| is_escaped(name)).fold(body.clone(), |b, n| without(&b, n));
    let block = match (of_base.blocks.first(), of_over.blocks.first()) {
        (Some(first), Some(second)) => {
            Block { body: Body::merged(kept(&first.body), second.body.clone()), ..first.clone() }
        }
        (Some(first), None) => Block { body: kept(&first.body), ..first.clone() },
        (None, Some(second)) => second.clone(),
        (None, None) => return (base_plain, over_plain),
    };
    (base_plain, Body::joined(over_plain, items(&block.clone(), Vec::new(), vec![block])))
}

/// True for the word `null`.
pub fn is_null(attribute: &Attribute) -> bool {
    matches!(attribute.expr.kind(), ExprKind::Null)
}
