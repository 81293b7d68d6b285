//! What `version` shows.

use base::name::{self, Name, TERRANE};
use model::addr::Provider;
use model::version::{PROGRAM_VERSION, at_least, compatible_version, supported};
use render::json::go;
use serde_json::{Map, Value as JsonValue, json};

/// The view of `version`.
pub trait VersionView {
    /// `selected` are the providers that the lock file names.
    fn text(&self, platform: &str, selected: &[(Provider, String)]) -> String;
}

pub fn view(json: bool) -> Box<dyn VersionView> {
    if json { Box::new(VersionJson) } else { Box::new(VersionHuman) }
}

struct VersionHuman;

impl VersionView for VersionHuman {
    fn text(&self, platform: &str, selected: &[(Provider, String)]) -> String {
        let called = name::current();
        // Other programs read the version of the language from the first line, some of them from all of it.
        let language = format!("{} v{}", called.language().program(), compatible_version());
        let own = format!("{TERRANE} v{PROGRAM_VERSION}");
        let mut text = match called {
            Name::Terrane => format!("{language} (compatible; {own})\non {platform}\n"),
            Name::Terraform | Name::OpenTofu => format!("{language}\non {platform}\n"),
        };
        for (provider, version) in selected {
            text.push_str(&match version.as_str() {
                "0.0.0" => format!("+ provider {provider} (unversioned)\n"),
                version => format!("+ provider {provider} v{version}\n"),
            });
        }
        text.push_str(&format!("\n{own}, compatible with {}\n", supported()));
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
