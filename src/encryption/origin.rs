//! Where the key of a method comes from, in words: so that people know which value to check.

use model::config::{Encryption, KeyProvider, Method};

use super::reference::key_provider_of;

/// `method.aes_gcm.m, with the key of key_provider.pbkdf2.k (passphrase from var.p)`
pub fn of_method(method: &Method, config: &Encryption) -> String {
    let name = format!("method.{}.{}", method.kind, method.name);
    let (attributes, _) = method.body.just_attributes();
    let keys = attributes.get("keys").map(|keys| keys.expr.variables()).unwrap_or_default();
    let providers = keys.into_iter().filter_map(key_provider_of);
    let origins: Vec<String> =
        providers.filter_map(|(kind, name)| config.key_provider(kind, name)).map(of_provider).collect();
    match origins.is_empty() {
        true => name,
        false => format!("{name}, with the key of {}", origins.join(" and ")),
    }
}

fn of_provider(provider: &KeyProvider) -> String {
    let name = format!("key_provider.{}.{}", provider.kind, provider.name);
    let (attributes, _) = provider.body.just_attributes();
    let mut sources: Vec<String> = Vec::new();
    for (argument, attribute) in &attributes {
        let from: Vec<String> = attribute.expr.variables().iter().map(|traversal| traversal.to_string()).collect();
        if !from.is_empty() {
            sources.push(format!("{argument} from {}", from.join(" and ")));
        }
    }
    sources.sort();
    if sources.is_empty() { name } else { format!("{name} ({})", sources.join(", ")) }
}
