//! The inputs of recorded requests and certificates, for tests.

use jiff::Timestamp;
use serde_json::Value;

use super::template::Options;
use crate::providers::tls::alternative_names::AlternativeNames;
use crate::providers::tls::der::read::Reader;
use crate::providers::tls::golden::{bytes, text, texts};
use crate::providers::tls::name::{Name, Subject};
use crate::providers::tls::validity::Validity;

/// The signed part: recorded alone where signatures are random, inside of the whole otherwise. Empty after an error.
pub fn expected_unsigned(case: &Value) -> Vec<u8> {
    let whole = bytes(text(case, "whole"));
    let unsigned = Reader::new(&whole).sequence().and_then(|mut parts| parts.any());
    unsigned.map_or_else(|| bytes(text(case, "tbs")), |element| element.whole.to_vec())
}

pub fn subject(case: &Value) -> Name {
    let block = &case["subject"];
    let text = |field: &str| block[field].as_str().map(str::to_owned);
    let has_streets = block["street_address"].is_array();
    Name::from(&Subject {
        common_name: text("common_name"),
        organization: text("organization"),
        organizational_unit: text("organizational_unit"),
        street_address: has_streets.then(|| texts(block, "street_address")),
        locality: text("locality"),
        province: text("province"),
        country: text("country"),
        postal_code: text("postal_code"),
        serial_number: text("serial_number"),
        email_address: text("email_address"),
    })
}

pub fn names(case: &Value) -> AlternativeNames {
    let [dns, ips, uris] = ["dns_names", "ip_addresses", "uris"].map(|field| texts(case, field));
    AlternativeNames::new(&dns, &ips, &uris).expect("names")
}

pub fn options(case: &Value) -> Options {
    Options {
        allowed_uses: texts(case, "uses"),
        is_ca: case["is_ca"] == true,
        max_path_length: case["max_path_length"].as_i64(),
        has_subject_key_id: case["subject_key_id"] == true,
        has_authority_key_id: case["authority_key_id"] == true,
    }
}

pub fn validity(case: &Value) -> Validity {
    let number = |field: &str| case[field].as_i64().expect("number");
    Validity::new(Timestamp::new(number("seconds"), 123).expect("time"), number("hours")).expect("times")
}
