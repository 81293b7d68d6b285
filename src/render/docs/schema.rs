//! Schemas as Markdown: lists of attributes and blocks, grouped by who sets them, and a section for each nested schema.
//!
//! The layout is the one that readers of registries know from other generators, so that links to anchors stay valid.

use std::fmt::Write as _;
use std::sync::Arc;

use terrane_protocol::provider::{IdentityAttribute, IdentitySchema};
use terrane_protocol::schema::{Attribute, AttributeShape, Block, NestedBlock, Nesting, ObjectShape};
use terrane_value::Type;

const WRITE_ONLY: &str = "https://developer.hashicorp.com/terraform/language/resources/ephemeral#write-only-arguments";

/// The description of an `id` that has none: providers of the older SDK have no place for one.
const ID: &str = "The ID of this resource.";

/// The section "Schema" of a page; ends in empty lines.
pub fn schema(block: &Block) -> String {
    let mut out = "## Schema\n\n".to_owned();
    block_children(&mut out, "", block);
    out
}

/// The section "Identity Schema" of a resource type.
pub fn identity(schema: &IdentitySchema) -> String {
    let mut out = "### Identity Schema\n\n".to_owned();
    let mut list = |title: &str, required: bool| {
        let attributes = schema.attributes.iter().filter(|(_, attribute)| attribute.is_required() == required);
        for (i, (name, attribute)) in attributes.enumerate() {
            if i == 0 {
                let _ = write!(out, "#### {title}\n\n");
            }
            identity_attribute(&mut out, name, attribute);
        }
        if required {
            out.push('\n');
        }
    };
    list("Required", true);
    list("Optional", false);
    out
}

fn identity_attribute(out: &mut String, name: &str, attribute: &IdentityAttribute) {
    let _ = write!(out, "- `{name}` ({})", type_name(&attribute.ty));
    described(out, &attribute.description);
    out.push('\n');
}

/// A type as it is written in lists: `List of String`.
pub fn type_name(ty: &Type) -> String {
    match ty {
        Type::Dynamic => "Dynamic".to_owned(),
        Type::Bool => "Boolean".to_owned(),
        Type::Number => "Number".to_owned(),
        Type::String => "String".to_owned(),
        Type::List(element) => format!("List of {}", type_name(element)),
        Type::Set(element) => format!("Set of {}", type_name(element)),
        Type::Map(element) => format!("Map of {}", type_name(element)),
        Type::Tuple(_) => "Tuple".to_owned(),
        Type::Object(_) => "Object".to_owned(),
    }
}

/// Who sets an attribute or a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Required,
    Optional,
    ReadOnly,
}

impl Group {
    const ALL: [Group; 3] = [Group::Required, Group::Optional, Group::ReadOnly];

    fn title(self) -> &'static str {
        match self {
            Group::Required => "Required",
            Group::Optional => "Optional",
            Group::ReadOnly => "Read-Only",
        }
    }

    /// An attribute that says nothing, which no SDK accepts, counts as optional.
    fn of_attribute(attribute: &Attribute) -> Group {
        match attribute {
            Attribute { required: true, .. } => Group::Required,
            Attribute { optional: false, computed: true, .. } => Group::ReadOnly,
            _ => Group::Optional,
        }
    }

    /// A block is read-only if it may be left out and all that is in it is read-only.
    fn of_block(nested: &NestedBlock) -> Group {
        let parts = || {
            let attributes = nested.block.attributes.values().map(Group::of_attribute);
            attributes.chain(nested.block.blocks.values().map(Group::of_block))
        };
        let is_empty = parts().next().is_none();
        if nested.min_items > 0 {
            Group::Required
        } else if !is_empty && nested.max_items == 0 && parts().all(|group| group == Group::ReadOnly) {
            Group::ReadOnly
        } else {
            Group::Optional
        }
    }
}

/// A schema with a separate section, below the list that mentions it.
struct Section<'a> {
    anchor: String,
    /// Names from the root on, separated by dots.
    path: String,
    content: Content<'a>,
    /// The group of the attribute that is an object: the attributes of the object have none.
    group: Group,
}

enum Content<'a> {
    Block(&'a Block),
    Attributes(&'a ObjectShape),
    Object(&'a Type),
}

fn joined(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

fn anchor(kind: &str, path: &str) -> String {
    format!("{kind}--{}", path.replace('.', "--"))
}

/// `path` is empty for the root.
fn block_children(out: &mut String, path: &str, block: &Block) {
    enum Child<'a> {
        Attribute(&'a Attribute),
        Block(&'a NestedBlock),
    }
    let mut children: Vec<(&Arc<str>, Group, Child<'_>)> = Vec::new();
    for (name, attribute) in &block.attributes {
        let group = if is_bare_id(path, name, attribute) { Group::ReadOnly } else { Group::of_attribute(attribute) };
        children.push((name, group, Child::Attribute(attribute)));
    }
    children.extend(block.blocks.iter().map(|(name, nested)| (name, Group::of_block(nested), Child::Block(nested))));
    children.sort_by_key(|(name, ..)| name.to_string());
    let mut sections = Vec::new();
    for group in Group::ALL {
        let members: Vec<_> = children.iter().filter(|(_, of, _)| *of == group).collect();
        if members.is_empty() {
            continue;
        }
        let title = group.title();
        let _ = if path.is_empty() { write!(out, "### {title}\n\n") } else { write!(out, "{title}:\n\n") };
        let secret = members.iter().any(|(_, _, child)| match child {
            Child::Attribute(attribute) => attribute.write_only,
            Child::Block(nested) => has_write_only(&nested.block),
        });
        if secret {
            let _ = write!(out, "> **NOTE**: [Write-only arguments]({WRITE_ONLY}) need Terraform 1.11 or newer.\n\n");
        }
        for (name, _, child) in members {
            let path_of_child = joined(path, name);
            match child {
                Child::Attribute(attribute) => {
                    let fallback = if is_bare_id(path, name, attribute) { ID } else { "" };
                    sections.extend(write_attribute(out, &path_of_child, attribute, group, fallback));
                }
                Child::Block(nested) => sections.push(write_block(out, &path_of_child, nested, group)),
            }
        }
        out.push('\n');
    }
    write_sections(out, sections);
}

/// An `id` at the root without a description is the one that the older SDK adds to each type.
fn is_bare_id(path: &str, name: &str, attribute: &Attribute) -> bool {
    path.is_empty() && name.eq_ignore_ascii_case("id") && attribute.description.is_empty()
}

/// The note about write-only arguments looks into nested blocks, but not into nested attributes.
fn has_write_only(block: &Block) -> bool {
    block.attributes.values().any(|attribute| attribute.write_only)
        || block.blocks.values().any(|nested| has_write_only(&nested.block))
}

fn described(out: &mut String, description: &str) {
    let description = description.trim();
    if !description.is_empty() {
        let _ = write!(out, " {description}");
    }
}

fn nesting_name(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::Single | Nesting::Group => "",
        Nesting::List => " List",
        Nesting::Set => " Set",
        Nesting::Map => " Map",
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, name)| name)
}

/// Writes the line of an attribute. `fallback` is its description if it has none.
fn write_attribute<'a>(
    out: &mut String,
    path: &str,
    attribute: &'a Attribute,
    group: Group,
    fallback: &str,
) -> Option<Section<'a>> {
    let kind = match &attribute.shape {
        AttributeShape::Plain(ty) => type_name(ty),
        AttributeShape::Nested(shape) => format!("Attributes{}", nesting_name(shape.nesting)),
    };
    let _ = write!(out, "- `{}` ({kind}", name_of(path));
    out.push_str(if attribute.sensitive { ", Sensitive" } else { "" });
    out.push_str(if attribute.deprecated { ", Deprecated" } else { "" });
    if attribute.write_only {
        let _ = write!(out, ", [Write-only]({WRITE_ONLY})");
    }
    out.push(')');
    described(out, if attribute.description.is_empty() { fallback } else { &attribute.description });
    let content = match &attribute.shape {
        AttributeShape::Nested(shape) => Some(Content::Attributes(shape)),
        AttributeShape::Plain(ty) => object_in(ty).map(Content::Object),
    };
    finish_line(out, "nestedatt", path, content, group)
}

fn write_block<'a>(out: &mut String, path: &str, nested: &'a NestedBlock, group: Group) -> Section<'a> {
    let _ = write!(out, "- `{}` (Block{}", name_of(path), nesting_name(nested.nesting));
    if matches!(nested.nesting, Nesting::Single | Nesting::Group) {
        out.push_str(match group {
            Group::Required => ", Required",
            Group::Optional => ", Optional",
            Group::ReadOnly => ", Read-only",
        });
    } else if nested.min_items > 0 {
        let _ = write!(out, ", Min: {}", nested.min_items);
    }
    if nested.max_items > 0 {
        let _ = write!(out, ", Max: {}", nested.max_items);
    }
    out.push_str(if nested.block.deprecated { ", Deprecated)" } else { ")" });
    described(out, &nested.block.description);
    let section = Section {
        anchor: anchor("nestedblock", path),
        path: path.to_owned(),
        content: Content::Block(&nested.block),
        group,
    };
    let _ = writeln!(out, " (see [below for nested schema](#{}))", section.anchor);
    section
}

/// Ends the line of an attribute, with a link if it has a section.
fn finish_line<'a>(
    out: &mut String,
    kind: &str,
    path: &str,
    content: Option<Content<'a>>,
    group: Group,
) -> Option<Section<'a>> {
    let section = content.map(|content| Section { anchor: anchor(kind, path), path: path.to_owned(), content, group });
    if let Some(section) = &section {
        let _ = write!(out, " (see [below for nested schema](#{}))", section.anchor);
    }
    out.push('\n');
    section
}

/// The object of a type that is one, or is a collection of them.
fn object_in(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Object(_) => Some(ty),
        other => other.element_type().filter(|element| element.is_object()),
    }
}

fn write_sections(out: &mut String, sections: Vec<Section<'_>>) {
    for Section { anchor, path, content, group } in sections {
        let _ = write!(out, "<a id=\"{anchor}\"></a>\n### Nested Schema for `{path}`\n\n");
        match content {
            Content::Block(block) => block_children(out, &path, block),
            Content::Attributes(shape) => attribute_children(out, &path, shape, group),
            Content::Object(ty) => object_children(out, &path, ty, group),
        }
        out.push('\n');
    }
}

fn attribute_children(out: &mut String, path: &str, shape: &ObjectShape, above: Group) {
    let mut sections = Vec::new();
    for group in Group::ALL {
        let mut members =
            shape.attributes.iter().filter(|(_, attribute)| Group::of_attribute(attribute) == group).peekable();
        if members.peek().is_none() {
            continue;
        }
        let _ = write!(out, "{}:\n\n", group.title());
        for (name, attribute) in members {
            sections.extend(write_attribute(out, &joined(path, name), attribute, above, ""));
        }
        out.push('\n');
    }
    write_sections(out, sections);
}

fn object_children(out: &mut String, path: &str, ty: &Type, group: Group) {
    let _ = write!(out, "{}:\n\n", group.title());
    let mut sections = Vec::new();
    for (name, ty) in ty.object_type().into_iter().flat_map(|object| &object.attributes) {
        let path = joined(path, name);
        let _ = write!(out, "- `{name}` ({})", type_name(ty));
        sections.extend(finish_line(out, "nestedobjatt", &path, object_in(ty).map(Content::Object), group));
    }
    out.push('\n');
    write_sections(out, sections);
}
