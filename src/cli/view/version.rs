//! What `version` shows.

use base::dialect::Dialect;
use base::name::TERRANE;
use model::addr::Provider;
use model::version::{PROGRAM_VERSION, at_least, compatible_version, supported};
use render::json::go;
use serde_json::{Map, Value as JsonValue, json};

use crate::opentofu;

/// The view of `version`.
pub trait VersionView {
    /// `selected` are the providers that the lock file names.
    fn text(&self, platform: &str, selected: &[(Provider, String)]) -> String;
}

pub fn view(json: bool, dialect: Dialect) -> Box<dyn VersionView> {
    if json { Box::new(VersionJson) } else { Box::new(VersionHuman(dialect)) }
}

struct VersionHuman(Dialect);

impl VersionView for VersionHuman {
    fn text(&self, platform: &str, selected: &[(Provider, String)]) -> String {
        let dialect = self.0;
        // Other programs read the version of the language from the first line, some of them from all of it.
        let language = format!("{} v{}", dialect.language().program(), compatible_version());
        let own = format!("{TERRANE} v{PROGRAM_VERSION}");
        let mut text = match opentofu::names_terrane_in_version(dialect) {
            true => format!("{language} (compatible; {own})\non {platform}\n"),
            false => format!("{language}\non {platform}\n"),
        };
        for (provider, version) in selected {
            text.push_str(&match version.as_str() {
                "0.0.0" => format!("+ provider {provider} (unversioned)\n"),
                version => format!("+ provider {provider} v{version}\n"),
            });
        }
        text.push_str(&format!("\n{own}, compatible with {}\n", supported(dialect)));
        text
    }
}

struct VersionJson;

impl VersionView for VersionJson {
    fn text(&self, platform: &str, selected: &[(Provider, String)]) -> String {
        let providers: Map<String, JsonValue> =
            selected.iter().map(|(provider, version)| (provider.to_string(), version.as_str().into())).collect();
        let rest = json!({
            "terraform_version": compatible_version(),
            "platform": platform,
            "provider_selections": providers,
            "terraform_outdated": false,
            "terrane_version": PROGRAM_VERSION,
        });
        let mut document = Map::new();
        if at_least(17) {
            document.insert("format_version".into(), "1.0".into());
        }
        document.extend(rest.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
        format!("{}\n", go::pretty(&JsonValue::Object(document)))
    }
}
