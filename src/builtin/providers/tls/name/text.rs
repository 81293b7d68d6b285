//! Names as text: RFC 2253, with the most specific attribute first.

use std::fmt;

use super::{Attribute, Name};
use crate::providers::tls::der::oid::{self, Oid};

impl fmt::Display for Name {
    /// `CN=x,O=y`, as Go writes it: attributes without a short name come last, as their identifier and DER.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.known().map(|(oid, values)| {
            let values: Vec<_> = values.iter().map(|value| format!("{}={}", short_name(oid), escaped(value))).collect();
            values.join("+")
        });
        let others = self.others.iter().map(other_text);
        let mut parts: Vec<String> = others.chain(known).collect();
        parts.reverse();
        f.write_str(&parts.join(","))
    }
}

fn short_name(oid: &Oid) -> &'static str {
    match oid {
        oid::COUNTRY => "C",
        oid::ORGANIZATION => "O",
        oid::ORGANIZATIONAL_UNIT => "OU",
        oid::COMMON_NAME => "CN",
        oid::SERIAL_NUMBER => "SERIALNUMBER",
        oid::LOCALITY => "L",
        oid::PROVINCE => "ST",
        oid::STREET_ADDRESS => "STREET",
        _ => "POSTALCODE",
    }
}

fn other_text(attribute: &Attribute) -> String {
    let digits: String = attribute.value.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}=#{digits}", oid::dotted(&attribute.oid))
}

fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for (at, c) in value.char_indices() {
        let is_escaped = match c {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' => true,
            ' ' => at == 0 || at + 1 == value.len(),
            '#' => at == 0,
            _ => false,
        };
        if is_escaped {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
