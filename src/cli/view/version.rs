//! What `version` shows.

use base::dialect::Dialect;
use base::name::TERRANE;
use model::addr::Provider;
use model::version::{PROGRAM_VERSION, at_least, compatible_version, supported};
use ops::version_check::{NewestVersion, Standing, VersionReport};
use render::json::go;
use render::text::visible::visible;
use serde_json::{Map, Value as JsonValue, json};

use crate::opentofu;

/// The view of `version`.
pub trait VersionView {
    /// `selected` are the providers that the lock file names; `report` is what the index of versions says, if it was read.
    fn text(&self, platform: &str, selected: &[(Provider, String)], report: Option<&VersionReport>) -> String;
}

pub fn view(json: bool, dialect: Dialect) -> Box<dyn VersionView> {
    if json { Box::new(VersionJson) } else { Box::new(VersionHuman(dialect)) }
}

struct VersionHuman(Dialect);

impl VersionView for VersionHuman {
    fn text(&self, platform: &str, selected: &[(Provider, String)], report: Option<&VersionReport>) -> String {
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
        text.push_str(&report.map_or_else(String::new, report_text));
        text
    }
}

/// What the index of versions says.
fn report_text(report: &VersionReport) -> String {
    let VersionReport { newest, withdrawn, page } = report;
    let mut text = String::from("\n");
    match withdrawn.as_deref() {
        None => {}
        Some("") => text.push_str(&format!("{TERRANE} v{PROGRAM_VERSION} was withdrawn.\n")),
        Some(reason) => text.push_str(&format!("{TERRANE} v{PROGRAM_VERSION} was withdrawn: {}\n", visible(reason))),
    }
    let Some(NewestVersion { version, date, standing }) = newest else {
        return text + &format!("There is no release that can be recommended. See {page}\n");
    };
    text.push_str(&match standing {
        Standing::Newest => format!("This is the newest version of {TERRANE} ({date}).\n"),
        Standing::Outdated => format!("The newest version of {TERRANE} is v{version} ({date}): {page}\n"),
        Standing::Ahead => format!("The newest release of {TERRANE} is v{version} ({date}), which is older: {page}\n"),
    });
    text
}

struct VersionJson;

impl VersionView for VersionJson {
    fn text(&self, platform: &str, selected: &[(Provider, String)], report: Option<&VersionReport>) -> String {
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
        if let Some(report) = report {
            let newest = report.newest.as_ref().map(|newest| newest.version.as_str());
            document.insert("terrane_latest".into(), newest.into());
            document.insert("terrane_outdated".into(), report.is_outdated().into());
            if let Some(reason) = &report.withdrawn {
                document.insert("terrane_withdrawn".into(), reason.as_str().into());
            }
        }
        format!("{}\n", go::pretty(&JsonValue::Object(document)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_name_the_newest_version_and_why_this_one_was_withdrawn() {
        let newest = |standing| {
            let (version, date) = ("9.0.0".to_owned(), "2026-06-01".to_owned());
            Some(NewestVersion { version, date, standing })
        };
        let withdrawn = |reason: &str| Some(reason.to_owned());
        let own = format!("{TERRANE} v{PROGRAM_VERSION}");
        let cases = [
            (newest(Standing::Newest), None, "\nThis is the newest version of Terrane (2026-06-01).\n".to_owned()),
            (
                newest(Standing::Outdated),
                withdrawn("a\u{1b}b"),
                format!("\n{own} was withdrawn: a\\x1bb\nThe newest version of Terrane is v9.0.0 (2026-06-01): PAGE\n"),
            ),
            (
                newest(Standing::Ahead),
                withdrawn(""),
                format!(
                    "\n{own} was withdrawn.\nThe newest release of Terrane is v9.0.0 (2026-06-01), which is older: PAGE\n"
                ),
            ),
            (None, None, "\nThere is no release that can be recommended. See PAGE\n".to_owned()),
        ];
        for (newest, withdrawn, expected) in cases {
            let report = VersionReport { newest, withdrawn, page: "PAGE".to_owned() };
            assert_eq!(report_text(&report), expected);
            let text = view(false, Dialect::default()).text("linux_amd64", &[], Some(&report));
            assert!(text.ends_with(&expected), "{text}");
        }
    }
}
