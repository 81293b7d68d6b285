//! Configuration text for an object that has none: what `-generate-config-out` writes.
//!
//! It contains all configurable attributes with the values of the object; computed attributes are omitted. The blocks that a
//! query generates follow the rules of newer programs. Owns which attributes are written; never knows where the text goes.

mod expression;
mod layout;

use std::collections::BTreeSet;
use std::sync::Arc;

use lang::syntax::fmt::format_blanks;
use lang::syntax::quote::quoted;
use terrane_protocol::provider::IdentitySchema;
use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::Value;

use self::expression::{expression, key_text};
use self::layout::{BodyItem, write};
use crate::addr::{LocalProviderConfig, Resource};

/// Where values come from, which decides on what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// The object of an import. An empty text means that an optional attribute is not set: older plugins store it so.
    Import,
    /// As `Import`, with empty texts.
    ImportWithEmpty,
    /// The object of a result of a query. As `Import`, without computed attributes that have no value.
    State,
    /// A configuration by the provider: everything with a value is written.
    Provider,
}

impl ValueOrigin {
    /// The value to write for an attribute; none: it is omitted. `top`: of the resource, not of a part of it.
    fn value<'v>(
        self,
        name: &str,
        attribute: &Attribute,
        value: Option<&'v Value>,
        top: bool,
    ) -> Option<Option<&'v Value>> {
        let configurable = attribute.required || attribute.optional;
        // Older plugins have an "id" that can be set and must not be.
        let is_id = top && name == "id" && attribute.computed && attribute.optional;
        if attribute.deprecated || self != ValueOrigin::Provider && (is_id || !configurable) {
            return None;
        }
        let value = value.filter(|value| !self.is_unset(attribute, value));
        let is_omitted = !self.is_import() && attribute.computed && value.is_none_or(Value::is_null);
        if is_omitted { None } else { Some(value) }
    }

    fn is_import(self) -> bool {
        matches!(self, ValueOrigin::Import | ValueOrigin::ImportWithEmpty)
    }

    /// Whether the value means that the attribute has none. Sensitive values of imports are hidden before that is asked.
    fn is_unset(self, attribute: &Attribute, value: &Value) -> bool {
        let is_asked = match self {
            ValueOrigin::Import => !attribute.sensitive && !value.is_sensitive(),
            ValueOrigin::State => true,
            ValueOrigin::ImportWithEmpty | ValueOrigin::Provider => false,
        };
        is_asked && attribute.optional && value.as_str() == Some("")
    }
}

/// The block of a result of a query.
pub fn listed(
    addr: &Resource,
    provider: &LocalProviderConfig,
    schema: &Block,
    value: &Value,
    source: ValueOrigin,
) -> String {
    format_blanks(&whole(addr, Some(provider), body(schema, value, true, &|_| source)))
}

/// The `import` block of a result of a query.
pub fn import(to: &Resource, provider: &LocalProviderConfig, schema: &IdentitySchema, identity: &Value) -> String {
    let attributes = schema.attributes.keys();
    let attributes: Vec<BodyItem> = attributes
        .map(|name| BodyItem::line(name, &identity.get(name).map_or_else(|| "null".to_string(), expression), None))
        .collect();
    let mut object = "{\n".to_string();
    write(&attributes, 1, &mut object);
    let items = [
        BodyItem::line("to", &to.to_string(), None),
        BodyItem::line("provider", &provider.to_string(), None),
        BodyItem::line("identity", &(object + "}"), None),
    ];
    let mut out = "import {\n".to_string();
    write(&items, 1, &mut out);
    format_blanks(&(out + "}"))
}

/// The whole block. `provider`: written where the type's name does not imply it. `with_empty`: arguments and blocks in which
/// an empty text is a value.
pub fn resource(
    addr: &Resource,
    provider: Option<&LocalProviderConfig>,
    schema: &Block,
    value: &Value,
    with_empty: &BTreeSet<Arc<str>>,
) -> String {
    let source =
        |name: &str| if with_empty.contains(name) { ValueOrigin::ImportWithEmpty } else { ValueOrigin::Import };
    format_blanks(&whole(addr, provider, body(schema, value, true, &source)))
}

fn whole(addr: &Resource, provider: Option<&LocalProviderConfig>, body: Vec<BodyItem>) -> String {
    let mut items = Vec::new();
    items.extend(provider.map(|local| BodyItem::line("provider", &local.to_string(), None)));
    items.extend(body);
    let mut out = format!("resource {} {} {{\n", quoted(&addr.kind), quoted(&addr.name));
    write(&items, 1, &mut out);
    out.push('}');
    out
}

const SENSITIVE: Option<&str> = Some("sensitive");

/// `source`: by the name of the argument or the block.
fn body(schema: &Block, value: &Value, top: bool, source: &dyn Fn(&str) -> ValueOrigin) -> Vec<BodyItem> {
    let mut items = Vec::new();
    for (name, attribute) in &schema.attributes {
        let source = source(name);
        let value = source.value(name, attribute, value.get(name), top);
        items.extend(value.map(|value| argument(name, attribute, value, source)));
    }
    for (name, nested) in &schema.blocks {
        let source = source(name);
        let is_written = |_: &&Value| source == ValueOrigin::Provider || !nested.block.deprecated;
        if let Some(value) = value.get(name).filter(is_written) {
            blocks(name, nested, value, source, &mut items);
        }
    }
    items
}

fn argument(name: &str, attribute: &Attribute, value: Option<&Value>, source: ValueOrigin) -> BodyItem {
    let Some(value) = value else { return BodyItem::line(name, "null", None) };
    if attribute.sensitive || value.is_sensitive() {
        return BodyItem::line(name, "null", SENSITIVE);
    }
    match attribute.nested() {
        Some(shape) if !value.is_null() => BodyItem::line(name, &nested_text(shape, value, source), None),
        _ => BodyItem::line(name, &expression(value), None),
    }
}

fn nested_text(shape: &ObjectShape, value: &Value, source: ValueOrigin) -> String {
    let one = |value: &Value| {
        if value.is_null() {
            return "null".to_string();
        }
        let written = |(name, a): (&Arc<str>, &Attribute)| {
            Some(argument(name, a, source.value(name, a, value.get(name), false)?, source))
        };
        let items: Vec<BodyItem> = shape.attributes.iter().filter_map(written).collect();
        let mut out = "{\n".to_string();
        write(&items, 1, &mut out);
        out + "}"
    };
    match shape.nesting {
        Nesting::Single | Nesting::Group => one(value),
        Nesting::List | Nesting::Set => {
            let inner: Vec<String> = value.elements().iter().map(|v| indented(&one(v)) + ",\n").collect();
            format!("[\n{}]", inner.concat())
        }
        Nesting::Map => {
            let entries = value.entries().iter();
            let items: Vec<BodyItem> = entries.map(|(key, v)| BodyItem::line(&key_text(key), &one(v), None)).collect();
            let mut out = "{\n".to_string();
            write(&items, 1, &mut out);
            out + "}"
        }
    }
}

fn indented(text: &str) -> String {
    text.split('\n').map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn blocks(name: &str, nested: &NestedBlock, value: &Value, source: ValueOrigin, items: &mut Vec<BodyItem>) {
    if value.is_null() || !value.is_known() {
        return;
    }
    let mut add = |header: String, value: &Value| {
        let hidden = value.is_sensitive();
        let inner = if hidden { Vec::new() } else { body(&nested.block, value, false, &|_| source) };
        items.push(BodyItem::Block { header, items: inner, comment: if hidden { SENSITIVE } else { None } });
    };
    match nested.nesting {
        Nesting::Single | Nesting::Group => add(name.to_string(), value),
        Nesting::List | Nesting::Set => value.elements().iter().for_each(|v| add(name.to_string(), v)),
        Nesting::Map => value.entries().iter().for_each(|(key, v)| add(format!("{name} {}", quoted(key)), v)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use terrane_protocol::schema::AttributeShape;
    use terrane_value::Type;

    use super::*;

    /// As the reference writes them; `with_empty` is ours.
    #[test]
    fn empty_texts_of_optional_arguments_are_not_set() {
        let optional = Attribute { optional: true, ..Attribute::new(Type::String) };
        let attributes = |more: &[(&str, Attribute)]| {
            let more = more.iter().map(|(name, attribute)| (Arc::from(*name), attribute.clone()));
            BTreeMap::from_iter([(Arc::from("e"), optional.clone())].into_iter().chain(more))
        };
        let shape = ObjectShape {
            attributes: attributes(&[("d", Attribute { deprecated: true, ..optional.clone() })]),
            nesting: Nesting::Single,
        };
        let nested = Attribute { shape: AttributeShape::Nested(shape), ..optional.clone() };
        let inner = Block { attributes: attributes(&[]), ..Block::default() };
        let block = NestedBlock { block: inner, nesting: Nesting::List, min_items: 0, max_items: 0 };
        let schema = Block {
            attributes: attributes(&[
                ("n", nested),
                ("r", Attribute { required: true, optional: false, ..optional.clone() }),
                ("s", Attribute { sensitive: true, ..optional.clone() }),
                ("t", Attribute { shape: AttributeShape::Plain(Type::list(Type::String)), ..optional.clone() }),
            ]),
            blocks: [("b".into(), block)].into(),
            ..Block::default()
        };
        let empty = || Value::string("");
        let value = Value::object([
            ("b", Value::tuple(vec![Value::object([("e", empty())])])),
            ("e", empty()),
            ("n", Value::object([("d", empty()), ("e", empty())])),
            ("r", empty()),
            ("s", empty()),
            ("t", Value::strings([""])),
        ]);
        let written = |with_empty: &[&str]| {
            let with_empty = with_empty.iter().map(|name| Arc::from(*name)).collect();
            resource(&Resource::managed("t", "n"), None, &schema, &value, &with_empty)
        };
        let expected = r#"resource "t" "n" {
  e = null
  n = {
    e = null
  }
  r = ""
  s = null # sensitive
  t = [""]
  b {
    e = null
  }
}"#;
        assert_eq!(written(&[]), expected);
        let kept =
            expected.replace("  e = null\n  n", "  e = \"\"\n  n").replace("b {\n    e = null", "b {\n    e = \"\"");
        assert_eq!(written(&["b", "e"]), kept);
    }

    #[test]
    fn writes_what_can_be_configured() {
        let optional = |ty| Attribute { optional: true, ..Attribute::new(ty) };
        let attributes = [
            ("id", Attribute { computed: true, ..optional(Type::String) }),
            ("name", optional(Type::String)),
            ("password", Attribute { sensitive: true, ..optional(Type::String) }),
            ("policy", optional(Type::String)),
            ("rules", optional(Type::list(Type::Dynamic))),
            ("tags", optional(Type::map(Type::String))),
            ("made", Attribute { computed: true, ..Attribute::new(Type::String) }),
        ];
        let inner = Block { attributes: [("size".into(), optional(Type::Number))].into(), ..Block::default() };
        let disk = NestedBlock { block: inner, nesting: Nesting::List, min_items: 0, max_items: 0 };
        let schema = Block {
            attributes: attributes.into_iter().map(|(n, a)| (n.into(), a)).collect(),
            blocks: [("disk".into(), disk)].into(),
            ..Block::default()
        };
        fn text(s: &str) -> Value {
            Value::string(s)
        }
        let name = |s: &str| Arc::<str>::from(s);
        let size = Value::object([(name("size"), Value::int(3))]);
        let value = Value::object([
            (name("id"), text("i")),
            (name("name"), text("a \"b\" ${c}")),
            (name("password"), text("p")),
            (name("policy"), text("{\"k\": [1, null]}")),
            (name("tags"), Value::map(Type::String, [(name("a.b"), text("x")), (name("c"), text("y"))])),
            (name("made"), text("m")),
            (name("rules"), Value::list(size.ty().clone(), vec![size.clone(), size.clone()])),
            (name("disk"), Value::list(size.ty().clone(), vec![size])),
        ]);
        let text = resource(&Resource::managed("t", "n"), None, &schema, &value, &BTreeSet::new());
        let expected = r#"resource "t" "n" {
  name     = "a \"b\" $${c}"
  password = null # sensitive
  policy = jsonencode({
    k = [1, null]
  })
  rules = [{
    size = 3
    }, {
    size = 3
  }]
  tags = {
    "a.b" = "x"
    c     = "y"
  }
  disk {
    size = 3
  }
}"#;
        assert_eq!(text, expected);
    }
}
