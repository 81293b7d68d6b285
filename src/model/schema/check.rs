//! Which schemas providers may offer: the reference refuses a provider whose schemas break these rules, 1.11.4.

use std::sync::Arc;

use terrane_protocol::schema::{Attribute, Block, NestedBlock, Nesting, ObjectShape};

/// What is wrong with the schema of a resource type, as the reference says it; empty for a valid one.
pub fn problems(block: &Block) -> Vec<String> {
    let mut found = Vec::new();
    check_block(block, "", &mut found);
    found
}

fn check_block(block: &Block, prefix: &str, found: &mut Vec<String>) {
    for (name, attribute) in &block.attributes {
        check_attribute(attribute, name, prefix, found);
        if block.computed && !attribute.computed {
            found.push(format!("{prefix}{name}: all attributes within computed blocks must also be computed"));
        }
    }
    for (name, nested) in &block.blocks {
        let place = format!("{prefix}{name}");
        if block.attributes.contains_key(name) {
            found.push(format!("{place}: name defined as both attribute and child block type"));
        } else if !is_valid_name(name) {
            found.push(format!("{place}: name may contain only lowercase letters, digits and underscores"));
        }
        if block.computed && !nested.block.computed {
            found.push(format!("{place}: all nested blocks within computed blocks must also be computed"));
        }
        if let Some(problem) = check_computed(nested) {
            found.push(format!("{place}: {problem}"));
        }
        if let Some(problem) = check_nesting(nested) {
            found.push(format!("{place}: {problem}"));
        }
        check_block(&nested.block, &format!("{place}."), found);
    }
}

fn is_valid_name(name: &Arc<str>) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// As 1.17 checks it: 1.11.4 does not have computed blocks.
fn check_computed(nested: &NestedBlock) -> Option<&'static str> {
    match nested.nesting {
        Nesting::Group if nested.block.computed => Some("NestingGroup blocks cannot be computed"),
        Nesting::List | Nesting::Set | Nesting::Map if nested.block.computed && nested.min_items > 0 => {
            Some("Computed cannot be used when MinItems > 0")
        }
        _ => None,
    }
}

fn check_nesting(nested: &NestedBlock) -> Option<&'static str> {
    let (min, max) = (nested.min_items, nested.max_items);
    match nested.nesting {
        Nesting::Single if min != max => Some("MinItems and MaxItems must match in NestingSingle mode"),
        Nesting::Single if min > 1 => Some("MinItems and MaxItems must be set to either 0 or 1 in NestingSingle mode"),
        Nesting::Group if (min, max) != (0, 0) => Some("MinItems and MaxItems cannot be used in NestingGroup mode"),
        Nesting::Map if (min, max) != (0, 0) => Some("MinItems and MaxItems must both be 0 in NestingMap mode"),
        Nesting::List if max != 0 && min > max => {
            Some("MinItems must be less than or equal to MaxItems in NestingList mode")
        }
        Nesting::Set if max != 0 && min > max => {
            Some("MinItems must be less than or equal to MaxItems in NestingSet mode")
        }
        Nesting::Set if nested.block.implied_type().has_dynamic() => {
            Some("NestingSet blocks may not contain attributes of cty.DynamicPseudoType")
        }
        Nesting::Set if nested.block.has_write_only() => Some("NestingSet blocks may not contain WriteOnly attributes"),
        _ => None,
    }
}

fn check_attribute(attribute: &Attribute, name: &str, prefix: &str, found: &mut Vec<String>) {
    let mut problem = |text: &str| found.push(format!("{prefix}{name}: {text}"));
    let (optional, required, computed) = (attribute.optional, attribute.required, attribute.computed);
    if !optional && !required && !computed {
        problem("must set Optional, Required or Computed");
    }
    if optional && required {
        problem("cannot set both Optional and Required");
    }
    if computed && required {
        problem("cannot set both Computed and Required");
    }
    let Some(object) = attribute.nested() else { return };
    if object.nesting == Nesting::Set {
        if object.implied_type().has_dynamic() {
            problem("NestingSet attributes may not contain attributes of cty.DynamicPseudoType");
        }
        if contains_write_only(object) {
            problem("NestingSet attributes may not contain WriteOnly attributes");
        }
    }
    // The reference names inner attributes without the outer one.
    object.attributes.iter().for_each(|(name, attribute)| check_attribute(attribute, name, prefix, found));
}

fn contains_write_only(object: &ObjectShape) -> bool {
    object.attributes.values().any(|a| a.write_only || a.nested().is_some_and(contains_write_only))
}

#[cfg(test)]
mod tests {
    use terrane_protocol::schema::AttributeShape;
    use terrane_value::Type;

    use super::*;

    fn attribute(ty: Type, flags: &str) -> Attribute {
        let has = |flag: char| flags.contains(flag);
        let mut attribute = Attribute::new(ty);
        (attribute.required, attribute.optional) = (has('r'), has('o'));
        (attribute.computed, attribute.write_only) = (has('c'), has('w'));
        attribute
    }

    fn with_attribute(name: &str, attribute: Attribute) -> Block {
        Block { attributes: [(Arc::from(name), attribute)].into(), ..Block::default() }
    }

    fn nested(flags: &str, nesting: Nesting, inner: Attribute) -> Attribute {
        let shape = AttributeShape::Nested(ObjectShape { attributes: [(Arc::from("x"), inner)].into(), nesting });
        Attribute { shape, ..attribute(Type::String, flags) }
    }

    fn with_block(name: &str, nesting: Nesting, min_items: u64, max_items: u64, inner: Attribute) -> Block {
        let block = NestedBlock { block: with_attribute("x", inner), nesting, min_items, max_items };
        Block { blocks: [(Arc::from(name), block)].into(), ..Block::default() }
    }

    #[test]
    fn schemas_are_checked_as_the_reference_does() {
        let text = |flags| attribute(Type::String, flags);
        let dynamic = || attribute(Type::Dynamic, "o");
        let plain = |flags| with_attribute("a", text(flags));
        let block = |nesting, min, max| with_block("b", nesting, min, max, text("o"));
        use Nesting::{Group, List, Map, Set, Single};
        let cases: Vec<(Block, &[&str])> = vec![
            (plain("r"), &[]),
            (plain("oc"), &[]),
            (plain("cw"), &[]),
            (with_attribute("A", text("o")), &[]),
            (plain(""), &["a: must set Optional, Required or Computed"]),
            (plain("ro"), &["a: cannot set both Optional and Required"]),
            (plain("rc"), &["a: cannot set both Computed and Required"]),
            (with_attribute("n", nested("o", Map, text("rc"))), &["x: cannot set both Computed and Required"]),
            (with_attribute("n", nested("o", List, dynamic())), &[]),
            (
                with_attribute("n", nested("o", Set, dynamic())),
                &["n: NestingSet attributes may not contain attributes of cty.DynamicPseudoType"],
            ),
            (
                with_attribute("n", nested("o", Set, text("ow"))),
                &["n: NestingSet attributes may not contain WriteOnly attributes"],
            ),
            (block(Single, 1, 1), &[]),
            (block(Single, 0, 1), &["b: MinItems and MaxItems must match in NestingSingle mode"]),
            (block(Single, 2, 2), &["b: MinItems and MaxItems must be set to either 0 or 1 in NestingSingle mode"]),
            (block(Group, 1, 1), &["b: MinItems and MaxItems cannot be used in NestingGroup mode"]),
            (block(Map, 1, 0), &["b: MinItems and MaxItems must both be 0 in NestingMap mode"]),
            (block(List, 1, 0), &[]),
            (block(List, 3, 2), &["b: MinItems must be less than or equal to MaxItems in NestingList mode"]),
            (block(Set, 3, 2), &["b: MinItems must be less than or equal to MaxItems in NestingSet mode"]),
            (with_block("b", List, 0, 0, dynamic()), &[]),
            (
                with_block("b", Set, 0, 0, dynamic()),
                &["b: NestingSet blocks may not contain attributes of cty.DynamicPseudoType"],
            ),
            (with_block("b", Set, 0, 0, text("ow")), &["b: NestingSet blocks may not contain WriteOnly attributes"]),
            (
                with_block("B", List, 0, 0, text("")),
                &[
                    "B: name may contain only lowercase letters, digits and underscores",
                    "B.x: must set Optional, Required or Computed",
                ],
            ),
        ];
        for (block, expected) in cases {
            assert_eq!(problems(&block), expected, "{block:?}");
        }
    }
}
