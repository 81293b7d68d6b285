//! `link`

use clap::Command;
use ops::link::{LinkRequest, NAMES};

use super::ArgsError;
use super::flags::{self, Given, switch};

pub fn command() -> Command {
    flags::command("link")
        .about("Create a link to this program named terraform or tofu")
        .override_usage("[options] NAME DIR")
        .long_about(
            "Creates a symbolic link to this program in the existing folder DIR (on Windows a hard link or a copy). NAME is terraform \
             or tofu: started by that name, this program behaves as the program of that name. A link to this program is replaced, \
             another file only with -force.",
        )
        .args([switch("force", false, "Replace a file that is not a link to this program.")])
}

pub fn parse(args: &[String]) -> Result<LinkRequest, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    let names = NAMES.join(" or ");
    match given.positional().as_slice() {
        [name, folder] if NAMES.contains(&name.as_str()) => {
            Ok(LinkRequest { name: name.clone(), folder: folder.into(), force: given.on("force") })
        }
        [name, _] => {
            let detail = format!("The name {name:?} changes nothing in what the program does. Expected {names}.");
            Err(ArgsError::usage("Unsupported name of a link", detail))
        }
        _ => {
            let detail = format!("Expected two arguments: the name of the link, {names}, and an existing folder.");
            Err(ArgsError::usage("Name and folder of the link expected", detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_folder_are_required() {
        let parse = |args: &[&str]| parse(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        let expected = |force| LinkRequest { name: "tofu".to_owned(), folder: "some/bin".into(), force };
        assert_eq!(parse(&["tofu", "some/bin"]).unwrap(), expected(false));
        assert_eq!(parse(&["-force", "tofu", "some/bin"]).unwrap(), expected(true));
        assert_eq!(parse(&["terraform", "x"]).unwrap().name, "terraform");
        let wrong: [&[&str]; 6] =
            [&[], &["tofu"], &["tofu", "a", "b"], &["tofu", "a", "-force"], &["terrane", "a"], &["../tofu", "a"]];
        for args in wrong {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}
