//! What the provisioner messages need beyond those of providers: they exist in protocol 5 only, and the connection has
//! a type that no schema tells.

use prost::Message;
use terrane_value::{Type, Value};

use super::message as v6;
use super::v5::message as v5;

pub const SERVICE: &str = "/tfplugin5.Provisioner/";

/// What the reference calls the shared attributes of `connection` blocks: all of them, with their types.
const CONNECTION: &[(&str, Type)] = &[
    ("type", Type::String),
    ("user", Type::String),
    ("password", Type::String),
    ("host", Type::String),
    ("port", Type::Number),
    ("timeout", Type::String),
    ("script_path", Type::String),
    ("target_platform", Type::String),
    ("private_key", Type::String),
    ("certificate", Type::String),
    ("host_key", Type::String),
    ("agent", Type::Bool),
    ("agent_identity", Type::String),
    ("proxy_scheme", Type::String),
    ("proxy_host", Type::String),
    ("proxy_port", Type::Number),
    ("proxy_user_name", Type::String),
    ("proxy_user_password", Type::String),
    ("bastion_host", Type::String),
    ("bastion_host_key", Type::String),
    ("bastion_port", Type::Number),
    ("bastion_user", Type::String),
    ("bastion_password", Type::String),
    ("bastion_private_key", Type::String),
    ("bastion_certificate", Type::String),
    ("https", Type::Bool),
    ("insecure", Type::Bool),
    ("cacert", Type::String),
    ("use_ntlm", Type::Bool),
];

/// The type of a connection on the wire: a map of strings.
pub fn connection_type() -> Type {
    Type::map(Type::String)
}

/// A connection for the wire: the attributes that are set, as strings.
pub fn connection(value: &Value) -> Value {
    let set = value.entries().iter().filter(|(_, v)| !v.is_null() && v.is_known());
    let texts = set.filter_map(|(name, v)| {
        let text = match (v.as_str(), v.as_bool(), v.as_number()) {
            (Some(text), _, _) => text.to_owned(),
            (_, Some(b), _) => b.to_string(),
            (_, _, Some(number)) => number.to_string(),
            _ => return None,
        };
        Some((name.clone(), Value::string(text)))
    });
    Value::map(Type::String, texts)
}

/// A connection from the wire: an object of every attribute that a connection may have;
/// null if there is none.
pub fn connection_object(value: &Value) -> Value {
    if value.is_null() || value.is_empty() {
        return Value::null(Type::object(CONNECTION.iter().cloned()));
    }
    let attributes = CONNECTION.iter().map(|(name, ty)| {
        let text = value.get(name).and_then(Value::as_str);
        let value = match (ty, text) {
            (_, None) => None,
            (Type::Bool, Some(text)) => text.parse().ok().map(Value::bool),
            (Type::Number, Some(text)) => text.parse().ok().map(Value::int),
            (_, Some(text)) => Some(Value::string(text)),
        };
        (*name, value.unwrap_or_else(|| Value::null(ty.clone())))
    });
    Value::object(attributes)
}

/// Diagnostics are the same on the wire, so they go through it.
pub fn diagnostics_from_5(diagnostics: Vec<v5::Diagnostic>) -> Vec<v6::Diagnostic> {
    diagnostics.iter().filter_map(|one| v6::Diagnostic::decode(one.encode_to_vec().as_slice()).ok()).collect()
}

pub fn diagnostics_to_5(diagnostics: Vec<v6::Diagnostic>) -> Vec<v5::Diagnostic> {
    diagnostics.iter().filter_map(|one| v5::Diagnostic::decode(one.encode_to_vec().as_slice()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_come_back_with_their_types() {
        let given =
            Value::object([("host", Value::string("h")), ("port", Value::int(22)), ("agent", Value::bool(true))]);
        let sent = connection(&given);
        assert_eq!(sent.get("port"), Some(&Value::string("22")));
        let object = connection_object(&sent);
        assert_eq!(object.get("port"), Some(&Value::int(22)));
        assert_eq!(object.get("agent"), Some(&Value::bool(true)));
        assert_eq!(object.get("host"), Some(&Value::string("h")));
        assert_eq!(object.get("user"), Some(&Value::null(Type::String)));
        assert!(connection(&Value::null_dynamic()).is_empty());
        assert!(connection_object(&connection(&Value::null_dynamic())).is_null());
    }
}
