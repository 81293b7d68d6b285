//! `version`

use serde_json::{Map, Value as Json, json};

use crate::base::name::{self, TERRANE};
use crate::cli::Invocation;
use crate::cli::args;
use crate::model::version::{PROGRAM_VERSION, language_version};
use crate::ops::plugins::selections::selections;
use crate::render::json::go;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let json = match args::version::parse(args) {
        Ok(json) => json,
        Err(error) => return invocation.usage_error(error),
    };
    let platform = crate::ops::plugins::selections::platform();
    let selected = selections();
    if json {
        let providers: Map<String, Json> =
            selected.iter().map(|(provider, version)| (provider.to_string(), version.as_str().into())).collect();
        let document = json!({
            "terraform_version": language_version(),
            "platform": platform,
            "provider_selections": providers,
            "terraform_outdated": false,
            "terrane_version": PROGRAM_VERSION,
        });
        invocation.console.line(&go::pretty(&document));
        return 0;
    }
    // Other programs read the version of the language from the first line.
    let mut text = format!(
        "{} v{} (compatible; {TERRANE} v{PROGRAM_VERSION})\non {platform}\n",
        name::current().language().program(),
        language_version(),
    );
    for (provider, version) in &selected {
        text.push_str(&match version.as_str() {
            "0.0.0" => format!("+ provider {provider} (unversioned)\n"),
            version => format!("+ provider {provider} v{version}\n"),
        });
    }
    invocation.console.print(&text);
    0
}
