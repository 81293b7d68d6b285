//! The built-in providers.

use std::collections::BTreeMap;

use model::addr;
use model::deps::Version;

/// Whether a provider is a built-in one, such as that of `terraform_data`.
pub fn is_built_in(provider: &addr::Provider) -> bool {
    provider.is_builtin() && builtin::table::find("provider", &provider.kind).is_some()
}

/// The built-in providers that can also have their public addresses, with the versions that they behave like.
pub fn public_built_ins() -> BTreeMap<addr::Provider, Version> {
    let row = |plugin: &builtin::table::BuiltInPlugin| {
        let version = Version::parse_exact(plugin.stands_for?).ok()?;
        Some((addr::Provider::default_for(plugin.name), version))
    };
    builtin::table::PLUGINS.iter().filter_map(row).collect()
}

/// The names of the providers that live in this program.
pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    builtin::table::PLUGINS.iter().filter(|plugin| plugin.kind() == "provider").map(|plugin| plugin.name)
}
