//! Deciding which version of each provider to install. The decision is a plain value: nothing is fetched, nothing is written.

use std::collections::{BTreeMap, BTreeSet};

use base::diag::{Diagnostic, Diagnostics};
use base::name::{COMMAND, PROGRAM, TERRANE};
use base::suggest;
use futures_util::StreamExt;
use model::addr::Provider;
use model::deps::{Constraints, Hash, Lock, LockedProvider, Requirements, Version};

use super::SIDE_BY_SIDE;
use super::relay::Reporter;
use crate::event::InstallEvent;
use crate::source::{Available, Source, SourceError};

/// What to resolve, and against what.
pub struct ResolveInput<'a> {
    pub requirements: &'a Requirements,
    pub lock: &'a Lock,
    pub source: &'a dyn Source,
    /// Select the newest versions and ignore the lock.
    pub upgrade: bool,
    /// The provider that keeps the version of the lock also in an upgrade.
    pub keep: Option<&'a Provider>,
    /// The provider that keeps the states: if its locked version is not allowed, the error says how it is upgraded.
    pub store: Option<&'a Provider>,
    /// The names of the providers within this program.
    pub builtins: &'a [&'a str],
    /// The providers within this program that stand in for public ones, with the versions that they behave like.
    pub stand_ins: &'a BTreeMap<Provider, Version>,
    /// Development overrides (true) and reattached providers: not installed.
    pub unmanaged: &'a BTreeMap<Provider, bool>,
    /// The providers whose locked package is installed: no requests for them, except for upgrades.
    pub present: &'a BTreeSet<Provider>,
}

/// One version per provider, decided; nothing is installed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstallPlan {
    pub selections: BTreeMap<Provider, Selection>,
    /// What is locked of providers that are not installed: it stays.
    pub kept: BTreeMap<Provider, LockedProvider>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    pub version: Version,
    pub constraints: Constraints,
    /// Hashes of the lock file for this very version.
    pub locked_hashes: BTreeSet<Hash>,
}

/// What is to be found out for one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Locked and in place.
    Nothing(Version),
    /// Whether the source has the locked version.
    Locked(Version),
    /// The newest version that the constraints allow.
    Newest,
}

/// Decides on a version of every provider. What could not be decided is reported; the plan holds the rest.
pub async fn resolve(input: &ResolveInput<'_>, report: Reporter<'_>) -> (InstallPlan, Diagnostics) {
    let mut plan = InstallPlan::default();
    let mut diags = Diagnostics::new();
    let (mut questions, mut unavailable) = (Vec::new(), Vec::new());
    // What needs no asking comes first.
    let is_ours = |provider: &Provider| provider.is_builtin() || input.stand_ins.contains_key(provider);
    let (ours, others): (Vec<_>, Vec<_>) = input.requirements.0.iter().partition(|(provider, _)| is_ours(provider));
    for (provider, constraints) in ours.into_iter().chain(others) {
        let stand_in = input.stand_ins.get(provider);
        // What is locked of those that are not installed here may be wanted elsewhere.
        let locked = || input.lock.get(provider).map(|locked| (provider.clone(), locked.clone()));
        if let Some(overridden) = input.unmanaged.get(provider) {
            plan.kept.extend(locked());
            report(InstallEvent::Unmanaged { provider: provider.clone(), overridden: *overridden });
        } else if provider.is_builtin() || stand_in.is_some() {
            plan.kept.extend(locked());
            match check_builtin(provider, constraints, stand_in, input.builtins) {
                Ok(()) => {
                    let locked = stand_in.and_then(|version| {
                        let locked = input.lock.get(provider).map(|locked| locked.version.clone());
                        locked.filter(|locked| locked != version)
                    });
                    report(InstallEvent::BuiltIn { provider: provider.clone(), version: stand_in.cloned(), locked });
                }
                Err(problem) => diags.push(problem),
            }
        } else {
            let locked = input.lock.get(provider).filter(|_| !input.upgrade || input.keep == Some(provider));
            report(InstallEvent::QueryStarted {
                provider: provider.clone(),
                constraints: constraints.clone(),
                locked: locked.map(|locked| locked.version.clone()),
            });
            match need(provider, constraints, locked, input.present.contains(provider)) {
                Ok(need) => questions.push((provider, constraints, need)),
                Err(problem) if input.store == Some(provider) => diags.push(conflicts_with_store(provider, &problem)),
                Err(problem) => diags.push(query_failed(provider, &problem, None)),
            }
        }
    }
    let asking = questions.iter().map(async |(provider, _, need)| match need {
        Need::Nothing(_) => Ok(Available::default()),
        Need::Locked(_) | Need::Newest => input.source.versions(provider).await,
    });
    let answers: Vec<_> = futures_util::stream::iter(asking).buffered(SIDE_BY_SIDE).collect().await;
    for ((provider, constraints, need), answer) in questions.into_iter().zip(answers) {
        let decided = match answer {
            Ok(available) => {
                if !available.warnings.is_empty() {
                    report(InstallEvent::Warned { provider: provider.clone(), warnings: available.warnings.clone() });
                }
                decide(&need, constraints, &available)
            }
            Err(error) => Err(error),
        };
        match decided {
            Ok(version) => {
                report(InstallEvent::Selected { provider: provider.clone(), version: version.clone() });
                plan.selections.insert(provider.clone(), selection(input, provider, constraints, version));
            }
            // Said once, for all of them.
            Err(SourceError::Interrupted) => {}
            Err(error) => {
                let alternative = alternative(input, provider, &error).await;
                diags.push(query_failed(provider, &error, alternative.as_ref()));
                unavailable.push(provider);
            }
        }
    }
    let also_ours = unavailable.into_iter().filter(|provider| input.builtins.contains(&&*provider.kind));
    diags.advise_at_end(built_in_advice(also_ours));
    (plan, diags)
}

/// `present`: the locked package is in place.
pub(super) fn need(
    provider: &Provider,
    constraints: &Constraints,
    locked: Option<&LockedProvider>,
    present: bool,
) -> Result<Need, SourceError> {
    let Some(locked) = locked else { return Ok(Need::Newest) };
    if !constraints.allows(&locked.version) {
        return Err(SourceError::Failed(format!(
            "locked provider {provider} {} does not match configured version constraint {constraints}; must use {COMMAND} init \
             -upgrade to allow selection of new versions",
            locked.version
        )));
    }
    Ok(match present {
        true => Need::Nothing(locked.version.clone()),
        false => Need::Locked(locked.version.clone()),
    })
}

/// The version to take of those that there are.
pub(super) fn decide(need: &Need, constraints: &Constraints, available: &Available) -> Result<Version, SourceError> {
    let (found, missing) = match need {
        Need::Nothing(version) => return Ok(version.clone()),
        Need::Locked(version) => (
            available.versions.iter().find(|v| *v == version),
            format!("the previously-selected version {version} is no longer available"),
        ),
        Need::Newest => (
            constraints.newest(&available.versions),
            format!("no available releases match the given constraints {constraints}"),
        ),
    };
    found.cloned().ok_or(SourceError::Failed(missing))
}

fn selection(input: &ResolveInput<'_>, provider: &Provider, constraints: &Constraints, version: Version) -> Selection {
    let same_version = input.lock.get(provider).filter(|l| l.version == version);
    Selection {
        version,
        constraints: constraints.clone(),
        locked_hashes: same_version.map(|l| l.hashes.clone()).unwrap_or_default(),
    }
}

/// A provider that may have been meant: one of the same type that the configuration names in full elsewhere.
async fn alternative(input: &ResolveInput<'_>, provider: &Provider, error: &SourceError) -> Option<Provider> {
    if !matches!(error, SourceError::NotInRegistry(_)) || !provider.is_default() {
        return None;
    }
    let same = |other: &&Provider| other.kind == provider.kind && *other != provider;
    input.requirements.0.keys().find(same).cloned()
}

fn check_builtin(
    provider: &Provider,
    constraints: &Constraints,
    stand_in: Option<&Version>,
    builtins: &[&str],
) -> Result<(), Diagnostic> {
    let problem = match stand_in {
        Some(version) if constraints.allows(version) => return Ok(()),
        Some(version) => return Err(wrong_stand_in(provider, constraints, version)),
        None if !builtins.contains(&&*provider.kind) => {
            let problem = format!("this {PROGRAM} release has no built-in provider named {:?}", &*provider.kind);
            let close = suggest::question(&provider.kind, builtins.iter().copied());
            return Err(unusable_builtin(provider, &problem).with_tip(close));
        }
        None if !constraints.is_empty() => "built-in providers do not support explicit version constraints",
        None => return Ok(()),
    };
    Err(unusable_builtin(provider, problem))
}

fn unusable_builtin(provider: &Provider, problem: &str) -> Diagnostic {
    let detail = format!("Cannot use {}: {problem}.", provider.for_display());
    Diagnostic::error("Invalid dependency on built-in provider", detail)
}

/// A provider is to come from this program, which has another version than those that are allowed.
pub fn wrong_stand_in(provider: &Provider, constraints: &Constraints, version: &Version) -> Diagnostic {
    let problem = format!(
        "it is built in to {PROGRAM} as version {version}, which does not match the configured version constraint {constraints}. \
         Change the constraint, or leave the provider out of the builtin block of provider_installation in the CLI configuration, \
         so that it is installed"
    );
    unusable_builtin(provider, &problem)
}

/// The error for a provider whose versions are not available.
fn query_failed(provider: &Provider, error: &SourceError, alternative: Option<&Provider>) -> Diagnostic {
    let shown = provider.for_display();
    let who = format!(
        "see which modules are currently depending on {shown}{}, run the following command:\n    {COMMAND} providers",
        if matches!(error, SourceError::NotInRegistry(_)) { "" } else { " and what versions are specified" }
    );
    let more = match (error, alternative) {
        (SourceError::NoRegistry { host, other_version }, _) => {
            return no_registry(provider, &host.for_display(), *other_version);
        }
        (SourceError::NotFound { searched, .. }, _) => {
            let places: Vec<String> = searched.iter().map(|place| format!("  - {place}")).collect();
            places.join("\n")
        }
        (SourceError::NotInRegistry(_), Some(meant)) => format!(
            "Did you intend to use {}? If so, you must specify that source address in each module which requires that \
             provider. To {who}",
            meant.for_display()
        ),
        (SourceError::NotInRegistry(_), None) => format!(
            "All modules should specify their required_providers so that external consumers will get the correct providers \
             when using a module. To {who}"
        ),
        _ => format!("To {who}"),
    };
    let detail = format!("Could not retrieve the list of available versions for provider {shown}: {error}\n\n{more}");
    Diagnostic::error("Failed to query available provider packages", detail)
}

/// The error if the version that is locked for the state store is not one that all modules allow.
fn conflicts_with_store(provider: &Provider, problem: &SourceError) -> Diagnostic {
    let (kind, shown) = (&*provider.kind, provider.for_display());
    let detail = format!(
        "Provider {kind:?} ({shown}) is used to store state, so the root module's version constraints take precedence when downloading \
         the provider. {PROGRAM} encountered an error that suggests that version constraint may be conflicting with a version \
         constraint from a child module. If you want to upgrade the provider used for state storage you must use the following \
         command:\n    {COMMAND} state migrate -upgrade\n\nError from the installer: {problem}\n\nTo see which modules are currently \
         depending on {shown} and what versions are specified, run the following command:\n    {COMMAND} providers"
    );
    Diagnostic::error("Unable to download the provider used for state storage", detail)
}

/// What to say to those who lack providers of hashicorp's that are built in, too; nothing if there are none.
pub fn built_in_advice<'p>(providers: impl Iterator<Item = &'p Provider>) -> String {
    let names: Vec<String> = providers.filter(|one| one.is_default()).map(Provider::for_display).collect();
    let (list, they) = match names.as_slice() {
        [] => return String::new(),
        [one] => (one.clone(), "it needs"),
        [some @ .., last] => (format!("{} and {last}", some.join(", ")), "they need"),
    };
    format!(
        "{TERRANE} has {list} built in. With \"provider_installation {{ builtin {{}} direct {{}} }}\" in a file that \
         TF_CLI_CONFIG_FILE names, {they} no installation. Terraform does not know this setting: do not write it to a file that \
         both programs read."
    )
}

fn no_registry(provider: &Provider, host: &str, other_version: bool) -> Diagnostic {
    let detail = match other_version {
        false if host == "github.com" => format!(
            "The given source address {:?} specifies a GitHub repository rather than a Terraform provider. Refer to the \
             documentation of the provider to find the correct source address to use.",
            provider.to_string()
        ),
        false => format!(
            "The host {host:?} given in provider source address {:?} does not offer a Terraform provider registry.",
            provider.to_string()
        ),
        true => format!(
            "The host {host:?} given in provider source address {:?} does not offer a Terraform provider registry that is \
             compatible with this {PROGRAM} version, but it may be compatible with a different {PROGRAM} version.",
            provider.to_string()
        ),
    };
    Diagnostic::error("Invalid provider registry host", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_choose_unless_a_version_is_locked() {
        let version = |text: &str| Version::parse(text).unwrap();
        let available = Available::new(["1.0.0", "1.2.0", "2.0.0", "2.1.0-beta"].map(version).into(), Vec::new());
        let cases = [
            (Need::Newest, "", Ok("2.0.0")),
            (Need::Newest, "~> 1.0", Ok("1.2.0")),
            (Need::Newest, "2.1.0-beta", Ok("2.1.0-beta")),
            (Need::Newest, "> 3.0", Err("no available releases match the given constraints > 3.0.0")),
            (Need::Locked(version("1.0.0")), "", Ok("1.0.0")),
            (Need::Locked(version("1.1.0")), "", Err("the previously-selected version 1.1.0 is no longer available")),
            (Need::Nothing(version("7.0.0")), "", Ok("7.0.0")),
        ];
        for (need, constraints, expected) in cases {
            let constraints = match constraints {
                "" => Constraints::default(),
                text => Constraints::parse(text).unwrap(),
            };
            let got = decide(&need, &constraints, &available);
            let got = got.map(|v| v.to_string()).map_err(|error| error.to_string());
            assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned), "{need:?} {constraints}");
        }
    }

    #[test]
    fn the_provider_of_a_state_store_says_how_it_is_upgraded() {
        let error = SourceError::Failed("locked provider x".to_owned());
        let found = conflicts_with_store(&Provider::parse_source("a/b").unwrap(), &error);
        let detail = found.detail;
        assert!(
            detail.contains("state migrate -upgrade\n\nError from the installer: locked provider x\n\nTo see"),
            "{detail}"
        );
    }
}
