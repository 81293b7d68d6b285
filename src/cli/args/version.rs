//! `version`

use clap::Command;
use ops::version_check::IndexSource;

use super::ArgsError;
use super::common::{TOO_MANY, json_flag};
use super::flags::{self, FlagError, Given, WITHOUT_VALUE, optional};

/// What to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub json: bool,
    /// Where to look for newer versions; none: nowhere.
    pub check: Option<IndexSource>,
}

pub fn command() -> Command {
    flags::command("version")
        .about("Show the current version")
        .long_about(
            "Shows the version of the language, of this program, and of the providers in the dependency lock file. With -check, also \
             whether there is a newer version of this program.",
        )
        .args([
            optional(
                "check",
                "url",
                "Read the signed index of versions, and show the newest one. The value is the address of the index, or the path of a copy. Default: the releases of the project. Needs the key in TERRANE_RELEASE_KEY. Without this flag, no request is made.",
            ),
            json_flag(),
        ])
}

pub fn parse(args: &[String]) -> Result<Version, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    let check = match given.text("check") {
        None => None,
        Some(value) if value == "false" => None,
        Some(value) if value == WITHOUT_VALUE => Some(IndexSource::Project),
        Some(value) if value.is_empty() => {
            return Err(ArgsError::flag_with_page(FlagError::Value { name: "check".to_owned(), value }));
        }
        Some(value) => Some(IndexSource::Named(value)),
    };
    // An address that was typed as a separate word must not be replaced by the project's.
    if check.is_some() && !given.positional().is_empty() {
        return Err(ArgsError::usage(TOO_MANY, "Give the address of the index as -check=URL."));
    }
    Ok(Version { json: given.on("json"), check })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_looked_for_only_if_asked() {
        let named = |text: &str| Some(IndexSource::Named(text.to_owned()));
        let cases: [(&[&str], bool, Option<IndexSource>); 8] = [
            (&[], false, None),
            (&["-json"], true, None),
            (&["word"], false, None),
            (&["-check=false"], false, None),
            (&["-check"], false, Some(IndexSource::Project)),
            (&["-check", "-json"], true, Some(IndexSource::Project)),
            (&["--check=https://a.example/x?y=z"], false, named("https://a.example/x?y=z")),
            (&["-check=./copy"], false, named("./copy")),
        ];
        for (args, json, check) in cases {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            assert_eq!(parse(&args).unwrap(), Version { json, check }, "{args:?}");
        }
        let wrong: [&[&str]; 3] = [&["-check="], &["-check", "https://a.example/"], &["-check=x", "y"]];
        for args in wrong {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            assert!(parse(&args).is_err(), "{args:?}");
        }
    }
}
