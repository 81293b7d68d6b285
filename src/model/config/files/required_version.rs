//! The versions that modules are written for: `required_version` and `compatible_with`. All of them together decide which release the
//! run is compatible with.

use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::name::{PROGRAM, TERRANE};
use base::source::Range;

use crate::addr;
use crate::config::blocks::language::{Compatibility, Program};
use crate::config::module::{Config, Module};
use crate::deps::compatible::{Choice, choose};
use crate::deps::{Constraints, Version};
use crate::opentofu;
use crate::version::{self, PROGRAM_VERSION, Wish, newest_of, supported};

/// A constraint on the release, with the module that has it.
struct Pin {
    constraints: Constraints,
    text: String,
    who: String,
    range: Range,
}

/// Settles which release the run is compatible with: the newest one that all modules are written for. An error if there is none.
pub fn check_versions(config: &Config) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let mut pins = Vec::new();
    for module in config.modules() {
        pins_of(module, &mut pins, &mut diags);
        for written in &module.compatible_with {
            diags.extend(incompatible(written, &module.path));
        }
    }
    match version::wish() {
        Some(wish) => diags.extend(against_wish(config.dialect(), &wish, &pins)),
        None => diags.extend(select_release(config.dialect(), &pins)),
    }
    diags
}

/// Settles as [`check_versions`], as well as these modules allow it, and without an error: others may follow.
pub fn note_versions<'m>(dialect: Dialect, modules: impl IntoIterator<Item = &'m Module>) {
    let (mut pins, mut ignored) = (Vec::new(), Diagnostics::new());
    modules.into_iter().for_each(|module| pins_of(module, &mut pins, &mut ignored));
    if !matches!(choice(dialect, &pins), Choice::Later | Choice::Nothing) {
        set(&pins);
    }
}

fn pins_of(module: &Module, pins: &mut Vec<Pin>, diags: &mut Diagnostics) {
    let who = |source: &str| match module.path.is_root() {
        true => "This configuration".to_owned(),
        false => format!("Module {} (from {source})", module.path),
    };
    let texts = module
        .required_versions
        .iter()
        .filter(|(_, range)| opentofu::heeds_required_version(range.dialect(), range.filename()));
    for (text, range) in texts {
        let Ok(constraints) = Constraints::parse(text) else { continue };
        let before = diags.len();
        let parts = text.split(',').zip(&constraints.0);
        diags.extend(parts.filter(|(_, of)| of.version.is_prerelease()).map(|(part, _)| prerelease(part, range)));
        if diags.len() == before {
            pins.push(Pin { constraints, text: text.clone(), who: who(&module.source), range: range.clone() });
        }
    }
}

fn choice(dialect: Dialect, pins: &[Pin]) -> Choice {
    choose(dialect, &pins.iter().map(|pin| &pin.constraints).collect::<Vec<_>>())
}

fn set(pins: &[Pin]) {
    let all: Vec<Constraints> = pins.iter().map(|pin| pin.constraints.clone()).collect();
    version::set_pins(Arc::new(move |version| {
        Version::parse(version).is_ok_and(|version| all.iter().all(|pin| pin.matches(&version)))
    }));
}

fn select_release(dialect: Dialect, pins: &[Pin]) -> Diagnostics {
    match choice(dialect, pins) {
        Choice::Release(_) => set(pins),
        Choice::Patch(_) => {
            set(pins);
            let later =
                pins.iter().find(|pin| !matches!(choice(dialect, std::slice::from_ref(*pin)), Choice::Release(_)));
            return later
                .or(pins.first())
                .map(|pin| patch(dialect, &pin.text).at(pin.range.clone()))
                .into_iter()
                .collect();
        }
        Choice::Later | Choice::Nothing => return unmet(dialect, pins),
    }
    Diagnostics::new()
}

/// The warning about a release that is not known yet.
fn patch(dialect: Dialect, wanted: &str) -> Diagnostic {
    let newest = newest_of(dialect).text;
    let program = dialect.language().program();
    let detail = format!(
        "{wanted} asks for a later patch of {program} than {newest}, the newest one that {TERRANE} {PROGRAM_VERSION} knows. The language \
         of a minor release does not change with its patches: {TERRANE} goes on as {newest}."
    );
    Diagnostic::warning(format!("Later than {program} {newest}"), detail)
}

fn unsupported(pin: &Pin, detail: String) -> Diagnostic {
    Diagnostic::error(format!("Unsupported {PROGRAM} Core version"), detail).at(pin.range.clone())
}

const CAREFULLY: &str = "Version constraints are normally set for good reason, so updating the constraint may lead to other errors or \
                         unexpected behavior.";

/// Why no release meets the pins.
fn unmet(dialect: Dialect, pins: &[Pin]) -> Diagnostics {
    let alone = |pin: &Pin| choice(dialect, std::slice::from_ref(pin));
    let hopeless: Diagnostics = pins.iter().filter_map(|pin| unmet_alone(pin, alone(pin))).collect();
    if !hopeless.is_empty() {
        return hopeless;
    }
    let program = dialect.language().program();
    let none = format!("no release of {} meets both", supported(dialect));
    let excludes = |a: &Pin, b: &Pin| {
        matches!(choose(dialect, &[&a.constraints, &b.constraints]), Choice::Later | Choice::Nothing)
    };
    for (i, later) in pins.iter().enumerate() {
        if let Some(first) = pins[..i].iter().find(|first| excludes(first, later)) {
            let detail = format!(
                "{} requires {program} {:?}, and {} requires {:?} ({}): {none}. To proceed, update one of the constraints, or choose \
                 another version of a module. {CAREFULLY}",
                later.who,
                later.text,
                in_a_sentence(&first.who),
                first.text,
                first.range,
            );
            return unsupported(later, detail).into();
        }
    }
    let list: String = pins.iter().map(|pin| format!("\n  - {}: {:?} ({})", pin.who, pin.text, pin.range)).collect();
    let detail = format!("No release of {} meets all of these constraints:{list}", supported(dialect));
    pins.first().map(|pin| unsupported(pin, detail)).into_iter().collect()
}

/// `This configuration` -> `this configuration`
fn in_a_sentence(who: &str) -> String {
    match who.split_at_checked(1) {
        Some((first, rest)) => first.to_lowercase() + rest,
        None => String::new(),
    }
}

/// What is wrong with one constraint alone.
fn unmet_alone(pin: &Pin, choice: Choice) -> Option<Diagnostic> {
    let (who, text, dialect) = (&pin.who, &pin.text, pin.range.dialect());
    let program = dialect.language().program();
    let detail = match choice {
        Choice::Release(_) | Choice::Patch(_) => return None,
        Choice::Later => {
            let newest = newest_of(dialect);
            format!(
                "{who} requires {program} {text:?}, and the language of {TERRANE} {PROGRAM_VERSION} is complete until {program} {}. To \
                 proceed, either choose a later version of {TERRANE} or update this version constraint. {CAREFULLY}",
                newest.text
            )
        }
        Choice::Nothing => format!(
            "{who} requires {program} {text:?}, which no release of {supported} meets. {TERRANE} {PROGRAM_VERSION} is compatible with \
             these. To proceed, update this version constraint. {CAREFULLY}",
            supported = supported(dialect),
        ),
    };
    Some(unsupported(pin, detail))
}

/// Compares the pins with the one release that the user wants.
fn against_wish(dialect: Dialect, wish: &Wish, pins: &[Pin]) -> Diagnostics {
    let mut diags: Diagnostics = wish.later.iter().map(|later| patch(dialect, later)).collect();
    let wanted = wish.later.as_deref().unwrap_or(wish.release.text);
    let Ok(current) = Version::parse(wanted) else { return diags };
    for pin in pins.iter().filter(|pin| !pin.constraints.matches(&current)) {
        let detail = format!(
            "{} does not support {PROGRAM} version {wanted}. To proceed, either choose another supported {PROGRAM} version or update \
             this version constraint. {CAREFULLY}",
            pin.who
        );
        let why = format!("The version {wanted} is from {}.", wish.source);
        diags.push(unsupported(pin, detail).with_tip(why));
    }
    diags
}

/// Why a module is not written for this program, by its own word.
fn incompatible(written: &Compatibility, module: &addr::Module) -> Option<Diagnostic> {
    let constraints = Constraints::parse(&written.constraint).ok()?;
    let (program, version) = match written.program {
        Program::OpenTofu => {
            let newest = newest_of(opentofu::LANGUAGE).text;
            if matches!(choose(opentofu::LANGUAGE, &[&constraints]), Choice::Release(_) | Choice::Patch(_)) {
                return None;
            }
            ("OpenTofu", newest)
        }
        Program::Terrane if constraints.allows(&Version::parse(PROGRAM_VERSION).ok()?) => return None,
        Program::Terrane => (TERRANE, PROGRAM_VERSION),
    };
    let who = if module.is_root() { "This configuration".to_owned() } else { format!("Module {module}") };
    let ours = format!(
        "{who} requires {program} {}, and this version of {PROGRAM} supports the language of {program} {version}. Choose another \
         version of the module, or of {PROGRAM}.",
        written.constraint
    );
    let of_opentofu = format!(
        "This module is not compatible with {program} v{version}.\n\nTo proceed, either choose another supported {program} version or \
         update this version constraint. {CAREFULLY}"
    );
    let detail = if opentofu::names_incompatible_module(written.range.dialect()) { ours } else { of_opentofu };
    Some(Diagnostic::error("Incompatible module", detail).at(written.range.clone()))
}

fn prerelease(constraint: &str, range: &Range) -> Diagnostic {
    let detail = format!(
        "Prerelease version constraints are not supported: {}. Remove the prerelease information from the constraint. Prerelease \
         versions of {} will match constraints using their version core only.",
        constraint.trim(),
        opentofu::program_of_prereleases(range.dialect())
    );
    Diagnostic::error("Invalid required_version constraint", detail).at(range.clone())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::source::{SourceFile, Span};

    use super::*;
    use crate::config::no_module;

    fn module(path: addr::Module, pins: &[&str]) -> Module {
        let range = || Span::new(0, 1).in_file(&SourceFile::new("main.tf", "x"));
        let required_versions = pins.iter().map(|pin| (pin.to_string(), range())).collect();
        Module { path, source: "./m".into(), required_versions, ..no_module(Dialect::default(), Path::new(".")) }
    }

    /// The first sentence of each problem with the pins of a root module and those of a module that it calls.
    fn problems(root: &[&str], called: &[&str]) -> Vec<String> {
        let (mut pins, mut diags) = (Vec::new(), Diagnostics::new());
        pins_of(&module(addr::Module::root(), root), &mut pins, &mut diags);
        pins_of(&module(addr::Module::root().child("m"), called), &mut pins, &mut diags);
        if let Choice::Later | Choice::Nothing = choice(Dialect::default(), &pins) {
            diags.extend(unmet(Dialect::default(), &pins));
        }
        let first = |text: &str| text.split(". ").next().unwrap_or_default().to_owned();
        diags.iter().map(|d| first(&d.detail)).collect()
    }

    #[test]
    fn places_that_exclude_each_other_are_named() {
        let newest = newest_of(Dialect::Terraform).text;
        let range = format!("Terraform 1.0 to {newest}");
        let cases: &[(&[&str], &[&str], &[String])] = &[
            (&[">= 1.0, < 2"], &["~> 1.5.0"], &[]),
            (
                &["~> 1.5.0"],
                &[">= 1.9"],
                &[format!(
                    "Module module.m (from ./m) requires Terraform \">= 1.9\", and this configuration requires \"~> 1.5.0\" \
                     (main.tf:1,1-2): no release of {range} meets both"
                )],
            ),
            (
                &["< 0.13"],
                &[">= 5"],
                &[
                    format!("This configuration requires Terraform \"< 0.13\", which no release of {range} meets"),
                    format!(
                        "Module module.m (from ./m) requires Terraform \">= 5\", and the language of Terrane {PROGRAM_VERSION} is \
                         complete until Terraform {newest}"
                    ),
                ],
            ),
            (
                &[">= 1.4, < 1.6", "!= 1.5.7, != 1.5.6, != 1.5.5, != 1.5.4"],
                &["> 1.5.3"],
                &[format!(
                    "No release of {range} meets all of these constraints:\n  - This configuration: \">= 1.4, < 1.6\" \
                     (main.tf:1,1-2)\n  - This configuration: \"!= 1.5.7, != 1.5.6, != 1.5.5, != 1.5.4\" (main.tf:1,1-2)\n  - Module \
                     module.m (from ./m): \"> 1.5.3\" (main.tf:1,1-2)"
                )],
            ),
        ];
        for (root, called, expected) in cases {
            assert_eq!(problems(root, called), *expected, "{root:?} {called:?}");
        }
    }

    #[test]
    fn prereleases_are_no_constraints_of_the_program() {
        let refused = |text: &str| format!("Prerelease version constraints are not supported: {text}");
        assert!(problems(&[">= 1.0, < 2"], &[]).is_empty());
        assert_eq!(problems(&[">= 1.0, < 1.12.0-rc1"], &[]), [refused("< 1.12.0-rc1")]);
        assert_eq!(problems(&["1.11.4-beta, != 0.1-x"], &[]), [refused("1.11.4-beta"), refused("!= 0.1-x")]);
    }
}
