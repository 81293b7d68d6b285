//! The recorded answers of Go's standard library, for tests. `testdata/record.go` makes them.

use serde_json::Value;

use super::keys::PrivateKey;
use super::keys::parse::parse_pem;

/// The cases of a golden file.
pub fn cases(file: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("providers/tls/testdata").join(file);
    let text = std::fs::read_to_string(path).expect("golden file");
    serde_json::from_str(&text).expect("JSON")
}

/// A field that is a string.
pub fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_else(|| panic!("{field} in {case}"))
}

/// The elements of a field; null is an empty list.
pub fn texts(case: &Value, field: &str) -> Vec<String> {
    let elements = case[field].as_array().map(Vec::as_slice).unwrap_or_default();
    elements.iter().map(|element| element.as_str().expect("string").to_owned()).collect()
}

pub fn bytes(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2), "{digits}");
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex")).collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A key of `keys.json`.
pub fn key(name: &str) -> PrivateKey {
    let records = cases("keys.json");
    let record = records.iter().find(|record| text(record, "name") == name).expect("key");
    parse_pem(text(record, "pem")).expect("key")
}
