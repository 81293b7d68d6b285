//! The rules of the house, as tables, and what breaks them.
//!
//! Owns the layers and what each part of the crate may know. `docs/architecture.md` shows the same tables and is
//! checked against them.

use std::collections::BTreeSet;
use std::path::Path;

use super::imports::{self, Kind, Named};

/// A part of the crate: an area, or a part of one with additional rules.
pub struct Part {
    pub path: &'static str,
    /// Allowed imports of this crate: in addition to the area's parts (for an area), or in total (for a part of an area).
    pub may: &'static [&'static str],
    /// What it must never name of the outside, in code that is not a test.
    pub never: &'static [&'static [&'static str]],
}

/// Files are read through the trait that the caller gives.
const FILES: &[&str] = &["std::fs", "tokio::fs", "crate::base::files::Disk"];
const ENVIRONMENT: &[&str] = &["std::env"];
const NETWORK: &[&str] = &[
    "std::net::TcpStream",
    "std::net::TcpListener",
    "std::net::UdpSocket",
    "std::net::ToSocketAddrs",
    "std::os::unix::net",
    "tokio::net",
    "h2",
    "http",
    "http_body",
    "tonic",
    "tower_service",
    "rustls",
    "tokio_rustls",
    "russh",
    "reqwest",
];
const PROCESSES: &[&str] = &["std::process", "tokio::process"];
const CLOCK: &[&str] =
    &["std::time::SystemTime", "std::time::Instant", "tokio::time", "jiff::Timestamp::now", "jiff::Zoned::now"];
const CHANCE: &[&str] = &["rand", "uuid::Uuid::new_v4"];
const RUNTIME: &[&str] = &["tokio"];
/// Of the runtime only what waits for other tasks; nothing that touches the world. `tokio::runtime` is there for one
/// thing: evaluation, which is not async, waits for a provider's function.
const DEVICES: &[&str] = &["tokio::fs", "tokio::io", "tokio::net", "tokio::process", "tokio::signal"];
const TERMINAL: &[&str] = &["std::io::stdin", "std::io::stdout", "std::io::stderr"];
/// Neither the keyword nor the traits.
const ASYNC: &[&str] = &["async", "await", "async_trait", "futures_util", "std::future"];

/// From the bottom up: an area imports only from rows above its own, and never a sibling. Which crates an area has, its Cargo.toml
/// says, and the compiler enforces; this says what it uses of them.
#[rustfmt::skip]
pub const AREAS: &[(u8, Part)] = &[
    (0, Part { path: "derive", may: &[], never: &[] }),
    (0, Part { path: "value", may: &[], never: &[FILES, ENVIRONMENT, NETWORK, PROCESSES, CLOCK, CHANCE, RUNTIME, TERMINAL, ASYNC] }),
    (0, Part { path: "logging", may: &[], never: &[FILES, ENVIRONMENT, NETWORK, PROCESSES, CLOCK, CHANCE, RUNTIME, TERMINAL, ASYNC] }),
    (1, Part { path: "protocol", may: &["value"], never: &[] }),
    (1, Part { path: "gotext", may: &["value"],
        never: &[FILES, ENVIRONMENT, NETWORK, PROCESSES, CLOCK, CHANCE, RUNTIME, TERMINAL, ASYNC] }),
    (2, Part { path: "sdk", may: &["derive", "value", "logging", "protocol"], never: &[] }),
    (2, Part { path: "base", may: &["value", "logging", "gotext"], never: &[] }),
    (3, Part { path: "acceptance", may: &["value", "protocol", "sdk"], never: &[] }),
    (3, Part { path: "net", may: &["value", "gotext", "base"], never: &[] }),
    (3, Part { path: "lang", may: &["value", "gotext", "base::diag", "base::dialect", "base::files", "base::moment", "base::name", "base::source", "base::suggest"],
        never: &[FILES, ENVIRONMENT, NETWORK, PROCESSES, CLOCK, CHANCE, RUNTIME, TERMINAL, ASYNC] }),
    (4, Part { path: "model", may: &["value", "protocol::schema", "protocol::provider", "gotext", "base::diag", "base::dialect", "base::files", "base::name", "base::source",
        "base::suggest", "base::process::ProcessId", "base::secret", "lang"],
        never: &[FILES, ENVIRONMENT, NETWORK, PROCESSES, CLOCK, CHANCE, RUNTIME, TERMINAL] }),
    (5, Part { path: "engine", may: &["value", "protocol::schema", "protocol::provider", "base::diag", "base::dialect", "base::files", "base::moment", "base::name", "base::source",
        "base::stop", "base::suggest", "base::telemetry", "lang", "model"],
        never: &[FILES, ENVIRONMENT, NETWORK, PROCESSES, CLOCK, CHANCE, DEVICES, TERMINAL] }),
    (5, Part { path: "encryption", may: &["value", "gotext", "base", "net", "lang", "model::addr", "model::config", "model::model_errors"],
        never: &[ENVIRONMENT, TERMINAL] }),
    (6, Part { path: "plugin", may: &["value", "logging", "protocol", "gotext", "base", "model::addr", "model::version"], never: &[] }),
    (6, Part { path: "install", may: &["value", "gotext", "base", "net", "lang", "model::addr", "model::deps", "model::config", "model::service",
        "model::version"], never: &[TERMINAL] }),
    (6, Part { path: "backend", may: &["value", "protocol::schema", "protocol::provider", "gotext", "base", "net", "model::addr",
        "model::state", "model::service", "model::version", "encryption"], never: &[TERMINAL] }),
    (7, Part { path: "render", may: &["value", "protocol::schema", "protocol::provider", "gotext", "base::diag", "base::dialect", "base::files", "base::name", "base::source", "base::suggest",
        "lang", "model", "engine::event", "install::event"],
        never: &[FILES, ENVIRONMENT, NETWORK, PROCESSES, CLOCK, CHANCE, RUNTIME, TERMINAL, ASYNC] }),
    (7, Part { path: "builtin", may: &["value", "protocol::schema", "protocol::provider", "sdk", "gotext", "base", "net", "lang", "model::addr",
        "model::opentofu"], never: &[] }),
    (8, Part { path: "ops", may: &["value", "protocol", "gotext", "base", "net", "lang", "model", "encryption", "engine", "plugin", "sdk", "builtin", "install",
        "backend", "render"], never: &[TERMINAL] }),
    (9, Part { path: "cli", may: &["value", "protocol", "base", "net", "lang", "model", "engine::event", "engine::ports::Observer",
        "plugin::crypto", "builtin", "install::event", "render", "ops"], never: &[] }),
];

/// The area of a crate, by the name that code gives the crate.
pub fn area_of_crate(name: &str) -> Option<&'static str> {
    let path = match name {
        "terrane_sdk_acceptance" => "acceptance",
        name => name.strip_prefix("terrane_").unwrap_or(name),
    };
    AREAS.iter().map(|(_, part)| part.path).find(|area| *area == path)
}

/// Parts of areas with additional rules: they import only these parts of the crate.
#[rustfmt::skip]
pub const PARTS: &[Part] = &[
    Part { path: "lang::syntax", may: &["value::identifier", "value::text", "gotext", "base", "lang::syntax"], never: &[] },
    Part { path: "model::addr", may: &["value", "protocol::schema", "base", "lang::syntax", "model::addr", "model::opentofu"], never: &[] },
    Part { path: "model::schema", may: &["value", "protocol::schema", "base", "lang", "model::addr", "model::schema"], never: &[] },
    Part { path: "protocol::schema", may: &["value", "protocol::schema"], never: &[NETWORK, RUNTIME] },
    Part { path: "protocol::provider", may: &["value", "protocol::schema", "protocol::provider"], never: &[NETWORK, RUNTIME] },
    Part { path: "model::service", may: &["value", "base", "lang::syntax", "model::addr", "model::service"],
        never: &[] },
    Part { path: "engine::change", may: &["value", "protocol", "base", "model", "engine::change"], never: &[ASYNC] },
    Part { path: "engine::event", may: &["value", "protocol", "base", "model", "engine::event"], never: &[ASYNC] },
    Part { path: "protocol::grpc", may: &["protocol::grpc"], never: &[] },
    Part { path: "cli::args", may: &["value", "protocol", "base", "model", "ops", "render::plan_filter", "cli::args", "cli::opentofu"],
        never: &[FILES, PROCESSES, RUNTIME] },
];

/// What only some files name, tests aside, and why there.
pub struct OnlyIn {
    pub name: &'static str,
    pub files: &'static [&'static str],
}

#[rustfmt::skip]
pub const ONLY_IN: &[OnlyIn] = &[
    // The environment is read once, there; the rest of the program is handed an `Environment`.
    OnlyIn { name: "std::env::var", files: &["base/env.rs", "base/identity.rs"] },
    OnlyIn { name: "std::env::var_os", files: &["base/env.rs", "sdk/serve.rs"] },
    OnlyIn { name: "std::env::vars", files: &["base/env.rs"] },
    OnlyIn { name: "std::env::vars_os", files: &["base/env.rs", "acceptance/environment.rs"] },
    // Users see `env::working_dir()`; what must be one name for one folder is its real name.
    OnlyIn { name: "std::env::current_dir", files: &["base/env.rs", "ops/setup/root.rs"] },
    // Built-in plugins run as separate processes, whose only input is the protocol.
    OnlyIn { name: "crate::base::env::Environment::process", files: &["cli/lib.rs",
        "builtin/provisioners/connection.rs", "builtin/provisioners/file.rs", "builtin/providers/program/unix.rs",
        "builtin/providers/program/windows.rs", "builtin/providers/http/provider.rs",
        "builtin/providers/tls/provider.rs"] },
    OnlyIn { name: "std::env::args", files: &["main.rs", "acceptance/sweep.rs", "sdk/serve.rs"] },
    OnlyIn { name: "std::env::args_os", files: &["main.rs"] },
    // Printing: the console, the log, questions, and the handshake line of a plugin.
    OnlyIn { name: "std::io::stdout", files: &["base/term.rs", "cli/console.rs", "protocol/serve.rs", "sdk/serve.rs"] },
    OnlyIn { name: "std::io::stderr", files: &["base/log.rs", "base/term.rs", "cli/console.rs", "cli/internal_plugin.rs",
        "acceptance/program.rs", "acceptance/settings.rs", "acceptance/sweep.rs", "sdk/log.rs", "sdk/serve.rs"] },
    OnlyIn { name: "std::io::stdin", files: &["base/term.rs"] },
    // A process ends by coming back from `main`; a plugin that cannot speak any more has no other way.
    OnlyIn { name: "std::process::exit", files: &["protocol/serve.rs", "base/stop.rs"] },
];

const PRINTING: &[&str] = &["println", "eprintln", "print", "eprint", "dbg"];

/// Longest file without a reason.
pub const MOST_LINES: usize = 600;

/// Files that are longer, and why.
pub const LONG_FILES: &[(&str, &str)] = &[];

/// Files that may re-export items of lower layers, and why.
pub const FACADES: &[(&str, &str)] = &[
    ("sdk/", "the public interface of the library: authors of providers import from one place"),
    ("acceptance/", "as sdk"),
];

pub fn is_area(name: &str) -> bool {
    AREAS.iter().any(|(_, part)| part.path == name)
}

/// A source file: its path below `src`, its module, and what it names.
struct File {
    path: String,
    text: String,
    module: Vec<String>,
    read: imports::FileNames,
}

/// What is wrong with the source tree in this folder, sorted.
pub fn complaints(src: &Path) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut files = Vec::new();
    for (path, text) in super::source_files(src) {
        let module = module_of(&path);
        match imports::read(&text, &module) {
            Ok(read) => files.push(File { path, text, module, read }),
            Err(e) => complaints.push(format!("{path}: does not parse: {e}")),
        }
    }
    let tests = test_modules(&files);
    for file in &files {
        let is_test = (1..=file.module.len()).any(|n| tests.contains(&file.module[..n].join("::")));
        check_text(file, &mut complaints);
        let Some(area) = area_of(file, &mut complaints) else { continue };
        for named in &file.read.names {
            let test = is_test || named.test;
            // The code that the macro writes names the library, which uses the macro.
            if area.path != "derive" {
                check_inside(file, area, named, &mut complaints);
            }
            if !test {
                check_outside(file, area, named, &mut complaints);
                check_only_in(file, named, &mut complaints);
            }
        }
    }
    complaints.sort();
    complaints.dedup();
    complaints
}

/// `model/addr/mod.rs` -> `model::addr`
fn module_of(path: &str) -> Vec<String> {
    let mut module: Vec<_> = path.trim_end_matches(".rs").split('/').map(String::from).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

fn test_modules(files: &[File]) -> BTreeSet<String> {
    let declared = |file: &File| {
        let name = |child: &String| [&file.module[..], std::slice::from_ref(child)].concat().join("::");
        file.read.test_modules.iter().map(name).collect::<Vec<_>>()
    };
    files.iter().flat_map(declared).collect()
}

/// The area's row; none for the files of the root, which bring the areas together.
fn area_of(file: &File, complaints: &mut Vec<String>) -> Option<&'static Part> {
    let Some(name) = file.module.first() else {
        check_root(file, complaints);
        return None;
    };
    let area = AREAS.iter().map(|(_, part)| part).find(|part| part.path == name);
    if area.is_none() {
        complaints.push(format!("{}: there is no area `{name}`: each file belongs to a layer", file.path));
    }
    area
}

/// `main.rs` only calls `cli`.
fn check_root(file: &File, complaints: &mut Vec<String>) {
    let ours = |n: &&Named| !n.test && n.path.first().is_some_and(|first| first == "crate");
    for named in file.read.names.iter().filter(ours) {
        if named.path.get(1).is_none_or(|area| file.path != "main.rs" || area != "cli") {
            complaints.push(format!("{}: only main.rs names an area, and only cli: {}", file.path, shown(named)));
        }
    }
}

fn check_text(file: &File, complaints: &mut Vec<String>) {
    let path = &file.path;
    if !file.text.starts_with("//!") {
        complaints.push(format!("{path}: does not begin with `//!`: say what the file owns"));
    }
    let lines = file.text.lines().count();
    match LONG_FILES.iter().find(|(long, _)| long == path) {
        None if lines > MOST_LINES => {
            complaints
                .push(format!("{path}: has {lines} lines: above {MOST_LINES} a file needs a reason in LONG_FILES"));
        }
        Some(_) if lines <= MOST_LINES => {
            complaints.push(format!("{path}: has {lines} lines: take it out of LONG_FILES"));
        }
        _ => {}
    }
}

/// Checks imports of this crate by the rows of the area and the part.
fn check_inside(file: &File, area: &Part, named: &Named, complaints: &mut Vec<String>) {
    let Some(target) = named.path.split_first().filter(|(first, _)| *first == "crate").map(|(_, rest)| rest) else {
        return;
    };
    let path = &file.path;
    let Some(other) = target.first() else { return };
    let is_facade = FACADES.iter().any(|(facade, _)| path.starts_with(facade));
    if named.kind == Kind::Reexport && other != area.path && !is_facade {
        complaints.push(format!("{path}: re-exports an item of another area: {}", shown(named)));
    }
    // An item of the crate's root, such as a macro, belongs to no area; modules are caught where they are declared.
    if !is_area(other) {
        return;
    }
    let allowed = |may: &[&str]| may.iter().any(|prefix| is_below(target, prefix));
    if other != area.path && !allowed(area.may) {
        complaints.push(format!("{path}: {} must not import {}", area.path, shown(named)));
    }
    let part = PARTS.iter().find(|part| is_below(&file.module, part.path));
    // Tests of a part may use what its area may.
    if let Some(part) = part.filter(|part| !named.test && !allowed(part.may)) {
        complaints.push(format!("{path}: {} must not import {}", part.path, shown(named)));
    }
}

/// What is not ours: files, environment, network, clock.
fn check_outside(file: &File, area: &Part, named: &Named, complaints: &mut Vec<String>) {
    let part = PARTS.iter().find(|part| is_below(&file.module, part.path));
    for row in [Some(area), part].into_iter().flatten() {
        for forbidden in row.never.iter().copied().flatten() {
            if names(named, forbidden) {
                complaints.push(format!("{}: {} must not use {}", file.path, row.path, shown(named)));
            }
        }
    }
}

fn check_only_in(file: &File, named: &Named, complaints: &mut Vec<String>) {
    let path = &file.path;
    for rule in ONLY_IN.iter().filter(|rule| names(named, rule.name) && !rule.files.contains(&path.as_str())) {
        complaints.push(format!("{path}: uses {}: only {} may", shown(named), rule.files.join(", ")));
    }
    if named.kind == Kind::Macro && named.path.first().is_some_and(|name| PRINTING.contains(&name.as_str())) {
        complaints.push(format!("{path}: {}! prints: only the console object does", shown(named)));
    }
}

/// The path is the forbidden thing, is inside it, or brings it in with a star.
fn names(named: &Named, forbidden: &str) -> bool {
    let keyword = !forbidden.contains("::") && matches!(forbidden, "async" | "await");
    if keyword || named.kind == Kind::Async {
        return named.kind == Kind::Async && named.path.first().is_some_and(|word| word == forbidden);
    }
    if named.kind == Kind::Macro {
        return false;
    }
    // A glob import of the whole crate is reported separately.
    let star = named.kind == Kind::Glob && named.path != ["crate"];
    is_below(&named.path, forbidden) || (star && forbidden.starts_with(&(named.path.join("::") + "::")))
}

fn is_below(path: &[String], prefix: &str) -> bool {
    let mut steps = path.iter();
    prefix.split("::").all(|part| steps.next().is_some_and(|step| step == part))
}

fn shown(named: &Named) -> String {
    let path = named.path.join("::");
    if named.kind == Kind::Glob { path + "::*" } else { path }
}
