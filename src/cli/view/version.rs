//! What `version` shows.

use serde_json::{Map, Value as JsonValue, json};

use crate::base::name::{self, TERRANE};
use crate::model::addr::Provider;
use crate::model::version::{PROGRAM_VERSION, language_version};
use crate::render::json::go;

/// The view of `version`.
pub trait VersionView {
    /// `selected` are the providers that the lock file names.
    fn text(&self, platform: &str, selected: &[(Provider, String)]) -> String;
}

pub fn view(json: bool) -> Box<dyn VersionView> {
    if json { Box::new(Json) } else { Box::new(Human) }
}

struct Human;

impl VersionView for Human {
    fn text(&self, platform: &str, selected: &[(Provider, String)]) -> String {
        // Other programs read the version of the language from the first line.
        let mut text = format!(
            "{} v{} (compatible; {TERRANE} v{PROGRAM_VERSION})\non {platform}\n",
            name::current().language().program(),
            language_version(),
        );
        for (provider, version) in selected {
            text.push_str(&match version.as_str() {
                "0.0.0" => format!("+ provider {provider} (unversioned)\n"),
                version => format!("+ provider {provider} v{version}\n"),
            });
        }
        text
    }
}

struct Json;

impl VersionView for Json {
    fn text(&self, platform: &str, selected: &[(Provider, String)]) -> String {
        let providers: Map<String, JsonValue> =
            selected.iter().map(|(provider, version)| (provider.to_string(), version.as_str().into())).collect();
        let document = json!({
            "terraform_version": language_version(),
            "platform": platform,
            "provider_selections": providers,
            "terraform_outdated": false,
            "terrane_version": PROGRAM_VERSION,
        });
        format!("{}\n", go::pretty(&document))
    }
}
