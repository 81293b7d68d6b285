//! The function table: an entry is a name, a signature and a body.
//!
//! Owns the language's built-in functions, by topic. Never knows how calls are evaluated: nulls, unknowns and marks
//! that a parameter does not allow are handled before a body runs.

mod assume;
mod base64_text;
mod builtin;
mod charset;
mod collection;
pub(crate) mod consistency;
mod crypto;
mod csv;
mod encoding;
mod filesystem;
mod format;
mod glob;
mod go_math;
mod go_regex;
mod json_text;
mod network;
mod numeric;
pub(crate) mod redaction;
mod rsa;
mod sequence;
mod sets;
pub mod signature;
mod string;
mod template;
mod time;
pub mod type_of;
mod types;
mod yaml;
mod yaml_errors;

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub use builtin::Builtin;
pub use signature::{CallContext, Function, FunctionError, Machine, Param, Signature};

static TABLE: LazyLock<BTreeMap<String, Builtin>> = LazyLock::new(|| {
    let topics = [
        numeric::table(),
        string::table(),
        format::table(),
        collection::table(),
        sequence::table(),
        sets::table(),
        encoding::table(),
        yaml::table(),
        filesystem::table(),
        time::table(),
        crypto::table(),
        network::table(),
        types::table(),
        assume::table(),
        template::table(),
    ];
    topics.into_iter().flatten().map(|f| (f.signature().name.to_string(), f)).collect()
});

/// Functions of long ago, which only say what to write instead.
static REMOVED: LazyLock<BTreeMap<String, Builtin>> =
    LazyLock::new(|| types::removed().into_iter().map(|f| (f.signature().name.to_string(), f)).collect());

/// The built-in function of that name, with or without `core::` before it.
pub fn lookup(name: &str) -> Option<&'static dyn Function> {
    let name = name.strip_prefix("core::").unwrap_or(name);
    TABLE.get(name).or_else(|| REMOVED.get(name)).map(|f| f as &dyn Function)
}

/// The names of all built-in functions, sorted, without a namespace.
pub fn names() -> Vec<&'static str> {
    TABLE.keys().map(String::as_str).collect()
}

/// All built-in functions, sorted by name.
pub fn all() -> impl Iterator<Item = &'static Builtin> {
    TABLE.values()
}

#[cfg(test)]
mod fuzz;
// It measures the time of a thread, which Windows gives in another way.
#[cfg(all(test, unix))]
mod growth;
#[cfg(test)]
mod tests;
