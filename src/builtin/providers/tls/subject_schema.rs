//! What requests and self-signed certificates share: the subject, other names, and the key.

use terrane_sdk::validators::size_between;
use terrane_sdk::{
    Attribute, Block, Error, NestedBlock, Nesting, Object, PlanModifier, PlannedAttribute, Value, keep, replace,
    replace_if,
};

use super::alternative_names::AlternativeNames;
use super::keys::PrivateKey;
use super::keys::parse::{Owner, parse_for_resource};
use super::name::{Name, Subject};
use super::pem_attribute;

const SUBJECT: &[&str] = &[
    "common_name",
    "organization",
    "organizational_unit",
    "locality",
    "province",
    "country",
    "postal_code",
    "serial_number",
    "email_address",
];

/// A PEM text that is changed replaces the object if the state holds a whole one: older states hold checksums.
pub(super) fn replace_if_whole() -> impl PlanModifier {
    replace_if(|attribute: &PlannedAttribute<'_>| attribute.prior.as_str().is_some_and(pem_attribute::is_whole))
}

/// A required PEM text.
pub(super) fn pem_attribute(name: &str, text: &str) -> Attribute {
    Attribute::string(name).required().description(text).modifier(replace_if_whole())
}

/// A computed text that a change in place does not change.
pub(super) fn kept(name: &str, text: &str) -> Attribute {
    Attribute::string(name).computed().description(text).modifier(keep())
}

pub(super) fn subject_block() -> NestedBlock {
    let text = |name: &'static str| {
        let words = name.replace('_', " ");
        Attribute::string(name).optional().description(format!("The {words} of the subject.")).modifier(replace())
    };
    let street = Attribute::string_list("street_address").optional().description("The street address of the subject.");
    let block = Block::new(SUBJECT.iter().copied().map(text).chain([street.modifier(replace())]));
    NestedBlock::new("subject", Nesting::List, block).validator(size_between(0, 1)).modifier(replace())
}

/// `dns_names`, `ip_addresses` and `uris`.
pub(super) fn names_attributes() -> impl Iterator<Item = Attribute> {
    let list = |name: &str, text: &str| Attribute::string_list(name).optional().description(text).modifier(replace());
    [
        list("dns_names", "Host names that the certificate is for."),
        list("ip_addresses", "IP addresses that the certificate is for."),
        list("uris", "URIs that the certificate is for."),
    ]
    .into_iter()
}

pub(super) fn subject_of(object: &Object) -> Name {
    let blocks = object.value("subject");
    let Some(block) = blocks.at(0) else { return Name::blank() };
    let block = Object(block.clone());
    let text = |name: &str| block.text(name).map(str::to_owned);
    let street = block.value("street_address");
    Name::from(&Subject {
        common_name: text("common_name"),
        organization: text("organization"),
        organizational_unit: text("organizational_unit"),
        street_address: (!street.is_null()).then(|| block.texts("street_address")),
        locality: text("locality"),
        province: text("province"),
        country: text("country"),
        postal_code: text("postal_code"),
        serial_number: text("serial_number"),
        email_address: text("email_address"),
    })
}

pub(super) fn names_of(object: &Object) -> Result<AlternativeNames, Error> {
    let names = AlternativeNames::new(&object.texts("dns_names"), &object.texts("ip_addresses"), &object.texts("uris"));
    Ok(names?)
}

/// The key in an attribute.
pub(super) fn key_of(object: &Object, name: &str, owner: Owner) -> Result<PrivateKey, Error> {
    Ok(parse_for_resource(object.text(name).unwrap_or_default(), owner)?)
}

pub(super) fn algorithm_of(key: &PrivateKey) -> Value {
    Value::string(key.algorithm().name())
}
