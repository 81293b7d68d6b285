//! Bodies of blocks with what override files say otherwise: the parts of which kinds of blocks make their rules. They are those
//! observed on 1.11.4.

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::{Attribute, Block, ExprKind};
use lang::syntax::body::{Body, BodySchema, NativeBody};

/// Arguments of blocks themselves, which an escaping block does not mean.
const OWN_ARGUMENTS: [&str; 8] =
    ["alias", "count", "depends_on", "for_each", "provider", "providers", "source", "version"];

pub fn have_same_labels(a: &Block, b: &Block) -> bool {
    a.labels.iter().map(|label| &label.text).eq(b.labels.iter().map(|label| &label.text))
}

/// One argument of a body, looked at before the body is read.
pub fn argument(body: &Body, name: &str) -> Option<Attribute> {
    body.partial_content(&BodySchema::new().attribute(name)).0.attributes.swap_remove(name)
}

pub fn without(body: &Body, name: &str) -> Body {
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
pub fn one_repetition(base: Body, over: Body) -> (Body, Body) {
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

/// A merge in which one kind of nested block is merged too, as `both` says. `alone`: the body of one that the base does not have.
pub fn merged_block(
    kind: &str,
    base: &Body,
    over: &Body,
    both: fn(&Body, &Body) -> Body,
    alone: fn(&Body) -> Body,
) -> Body {
    let schema = BodySchema::new().block(kind, &[]);
    let (mine, rest, _) = over.partial_content(&schema);
    let (theirs, _, _) = base.partial_content(&schema);
    let Some(inner) = mine.blocks.first() else { return Body::merged(base.clone(), rest) };
    let block = match theirs.blocks.first() {
        Some(first) => Block { body: both(&first.body, &inner.body), ..first.clone() },
        None => Block { body: alone(&inner.body), ..inner.clone() },
    };
    Body::merged(Body::merged(base.clone(), items(inner, Vec::new(), vec![block])), rest)
}

/// The body without nested blocks of these kinds, which are refused.
pub fn refuse(body: &Body, kinds: &[&str], diags: &mut Diagnostics) -> Body {
    let schema = kinds.iter().fold(BodySchema::new(), |schema, kind| schema.block(kind, &[]));
    let (content, rest, _) = body.partial_content(&schema);
    for block in &content.blocks {
        let kind = block.kind.as_str();
        let detail = format!("Override files cannot override {kind:?} blocks.");
        diags.push(Diagnostic::error(format!("Can't override {kind} blocks"), detail).at(block.header_range()));
    }
    if content.blocks.is_empty() { body.clone() } else { rest }
}

/// Both bodies, if either has an escaping block `_`: what one says in it replaces what the other says outside of it, and the reverse.
pub fn with_escaped_arguments(base: &Body, over: &Body) -> (Body, Body) {
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
