//! `providers lock` and `providers mirror`

use base::name::PROGRAM;
use install::event::{Change, LockEvent, MirrorEvent, Tracked};
use ops::providers::{lock, mirror};
use render::text::style::Style;

use crate::Invocation;
use crate::args::providers_lock::{parse_lock, parse_mirror};
use crate::view::lines::{LineOutput, Lines};

pub fn run_lock(invocation: &Invocation, args: &[String]) -> u8 {
    let ((request, json), setup) = match super::parsed_and_setup(invocation, parse_lock(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let lines = Lines::new(&invocation.console, json);
    invocation.console.progress.begin_part(Some("Locking providers"));
    let mut tell = |event: LockEvent| lines.each(|output| say_item(output, |style| fetching(&event, style)));
    let work = lock::run(&setup, &request, &mut tell);
    let (tracked, diagnostics) = match super::run_with(invocation, &setup, work) {
        Ok(done) => done,
        Err(code) => return code,
    };
    let code = lines.finish(diagnostics);
    let Some(tracked) = tracked else { return code };
    let mut changed = false;
    for Tracked { provider, platform, change } in tracked {
        changed |= change != Change::None;
        let text = format!("- Obtained {} checksums for {platform}; {}", provider.for_display(), meaning(change));
        lines.each(|output| say_item(output, |_| text.clone()));
    }
    let done = match changed {
        true => "has updated the lock file.",
        false => "has validated the lock file and found no need for changes.",
    };
    lines.each(|output| {
        let console = &output.console;
        if output.is_stream() {
            let review = if changed {
                format!(" {}", REVIEW.split_whitespace().collect::<Vec<_>>().join(" "))
            } else {
                String::new()
            };
            return output.say(&format!("Success! {PROGRAM} {done}{review}"));
        }
        console.line(&console.style.fill("\n[bold][green]Success![reset] [bold]{} {}[reset]", &[&PROGRAM, &done]));
        if changed {
            console.line(REVIEW);
        }
    });
    code
}

/// An item of a list, which programs receive without its sign and without colours.
fn say_item(output: &LineOutput, text: impl Fn(&Style) -> String) {
    let style = output.console.style;
    match output.is_stream() {
        true => {
            let text = text(&Style { colour: false, ..style });
            output.say(text.strip_prefix("- ").unwrap_or(&text));
        }
        false => output.say(&text(&style)),
    }
}

const REVIEW: &str = "
Review the changes in .terraform.lock.hcl and then commit to your
version control system to retain the new checksums.
";

fn meaning(change: Change) -> &'static str {
    match change {
        Change::NewProvider => {
            "This was a new provider and the checksums for this platform are now tracked in the lock file"
        }
        Change::NewHashes => "Additional checksums for this platform are now tracked in the lock file",
        Change::None => "All checksums for this platform were already tracked in the lock file",
    }
}

fn fetching(event: &LockEvent, style: &Style) -> String {
    match event {
        LockEvent::FetchStarted { provider, version, platform } => {
            format!("- Fetching {} {version} for {platform}...", provider.for_display())
        }
        LockEvent::Fetched { provider, version, platform, authentication } => {
            let key = authentication
                .stranger()
                .map(|key| style.fill(", key ID [reset][bold]{}[reset]", &[&key]))
                .unwrap_or_default();
            format!("- Retrieved {} {version} for {platform} ({authentication}{key})", provider.for_display())
        }
    }
}

pub fn run_mirror(invocation: &Invocation, args: &[String]) -> u8 {
    let ((request, json), setup) = match super::parsed_and_setup(invocation, parse_mirror(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let lines = Lines::new(&invocation.console, json);
    invocation.console.progress.begin_part(Some("Mirroring providers"));
    let mut package = String::new();
    let mut tell = |event: MirrorEvent| {
        let plain = mirroring_plainly(&event, &mut package);
        lines.coloured(&mirroring(&event), &plain);
    };
    let work = mirror::run(&setup, &request, &mut tell);
    match super::run_with(invocation, &setup, work) {
        Ok(diagnostics) => lines.finish(diagnostics),
        Err(code) => code,
    }
}

fn mirroring(event: &MirrorEvent) -> String {
    match event {
        MirrorEvent::BuiltIn { provider } => {
            format!("- Skipping {} because it is built in to {PROGRAM} CLI", provider.for_display())
        }
        MirrorEvent::Started { provider } => format!("- Mirroring {}...", provider.for_display()),
        MirrorEvent::Selected { version, locked: true, .. } => {
            format!("  - Selected v{version} to match dependency lock file")
        }
        MirrorEvent::Selected { version, constraints, .. } if constraints.is_empty() => {
            format!("  - Selected v{version} with no constraints")
        }
        MirrorEvent::Selected { version, constraints, .. } => {
            format!("  - Selected v{version} to meet constraints {constraints}")
        }
        MirrorEvent::FetchStarted { platform } => format!("  - Downloading package for {platform}..."),
        MirrorEvent::AlreadyThere { platform } => {
            format!("  - Using the package for {platform} that is there already...")
        }
        MirrorEvent::Authenticated { authentication } => format!("  - Package authenticated: {authentication}"),
    }
}

/// The same for programs, whose lines name the package: `package`, the provider and its version, as far as events have named them.
fn mirroring_plainly(event: &MirrorEvent, package: &mut String) -> String {
    match event {
        MirrorEvent::Started { provider } => *package = provider.for_display(),
        MirrorEvent::Selected { version, .. } => {
            let provider = package.split(' ').next().unwrap_or_default();
            *package = format!("{provider} v{version}");
        }
        _ => {}
    }
    match event {
        MirrorEvent::Selected { locked: true, .. } => format!("Selected {package} to match dependency lock file"),
        MirrorEvent::Selected { constraints, .. } if constraints.is_empty() => {
            format!("Selected {package} with no constraints")
        }
        MirrorEvent::Selected { constraints, .. } => format!("Selected {package} to meet constraints {constraints}"),
        MirrorEvent::FetchStarted { platform } => format!("Downloading {package} package for {platform}..."),
        MirrorEvent::AlreadyThere { platform } => {
            format!("Using the {package} package for {platform} that is there already...")
        }
        MirrorEvent::Authenticated { authentication } => format!("Package {package} authenticated: {authentication}"),
        MirrorEvent::BuiltIn { .. } | MirrorEvent::Started { .. } => {
            let text = mirroring(event);
            text.strip_prefix("- ").unwrap_or(&text).to_owned()
        }
    }
}
