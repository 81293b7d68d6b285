//! What differs from run to run, or with the length of the program's name, made the same.

use std::path::Path;
use std::sync::LazyLock;

use regex_automata::meta::Regex;
use serde_json::Value;

static IDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap());
static TIMES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)").unwrap());
/// In the names of backups.
static DATES: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\.[0-9]{10}\.").unwrap());
static LENGTHS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(after|\[id=[^\]]*,) \d+s\b").unwrap());
static DEPOSED: LazyLock<Regex> = LazyLock::new(|| Regex::new("deposed object [0-9a-f]{8}").unwrap());
/// IDs that are random numbers.
static NUMBERS: LazyLock<Regex> = LazyLock::new(|| Regex::new("(\\[id=|\\bid +[=] \")[0-9]{12,}").unwrap());
/// Owner and time of locks.
static HOLDERS: LazyLock<Regex> = LazyLock::new(|| Regex::new("(Who: +|Created: +)[^\n]+").unwrap());
/// Only their order means anything.
static SERIALS: LazyLock<Regex> = LazyLock::new(|| Regex::new("(\"serial\": )[0-9]+").unwrap());
/// The program, as the start of a command that people may run.
static COMMANDS: LazyLock<Regex> = LazyLock::new(|| Regex::new("(^|[ \"'`\n])terraform ([a-z-])").unwrap());
/// What is reported in any order.
static PROGRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(␛\[0m␛\[1m)?\S+: (Creating|Creation complete|Destroying|Destruction complete|Modifying|Modifications complete|Refreshing state|Reading|Read complete|Provisioning with )|^(␛\[0m␛\[1m)?\S+(␛\[0m)? \([a-z-]+\): |^(Would move|Move) |^  (module\.\S+\.)?null_resource\.\w$").unwrap()
});
/// When and for how long a run was executed, in reports in JUnit's format.
static REPORTED: LazyLock<Regex> = LazyLock::new(|| Regex::new("( time=\"[^\"]*\")? timestamp=\"[^\"]*\"").unwrap());
/// What is said of objects that take ten seconds or more, which only a busy machine makes of the cases' objects.
static STILL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(␛\[0m␛\[1m)?\S+: Still [a-z].* elapsed").unwrap());
/// The same as messages.
const STILL_MESSAGES: [&str; 2] = ["apply_progress", "ephemeral_op_progress"];
/// The object that a line of progress is about.
static SUBJECT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(␛\[0m␛\[1m)?\S+?(␛\[0m)?(: | \()").unwrap());

/// One stream of a command that calls itself `name` and ran below `place`.
pub fn screen(text: &str, name: &str, place: &Path) -> String {
    let documents = documents(text);
    let is_json = documents.is_some();
    let text = documents.unwrap_or_else(|| text.to_string());
    // The project is in the folder "work" below the place.
    let work = place.join("work").display().to_string();
    let text = text.replace(&work, "[work]").replace(&place.display().to_string(), "[place]").replace('\x1b', "␛");
    let text = IDS.replace(&text, "[id]");
    let text = TIMES.replace(&text, "[time]");
    let text = LENGTHS.replace(&text, "$1 [length]");
    let text = DEPOSED.replace(&text, "deposed object [key]");
    let text = NUMBERS.replace(&text, "$1[number]");
    let text = HOLDERS.replace(&text, "$1[holder]");
    let text = SERIALS.replace(&text, "$1[serial]");
    match is_json {
        true => named(&text, name),
        false => unwrapped(&in_order(&text), name),
    }
}

/// A state file, with its serial; or another file.
pub fn state(text: &str) -> String {
    let text = IDS.replace(&documents(text).unwrap_or_else(|| text.to_string()), "[id]");
    REPORTED.replace(&text, " time=\"[length]\" timestamp=\"[time]\"")
}

/// A file's name without the time that it was made.
pub fn undated(name: &str) -> String {
    DATES.replace(name, ".[time].")
}

trait Replace {
    fn replace(&self, text: &str, with: &str) -> String;
}

impl Replace for Regex {
    fn replace(&self, text: &str, with: &str) -> String {
        let mut out = String::new();
        let mut end = 0;
        for captures in self.captures_iter(text) {
            let Some(all) = captures.get_match() else { continue };
            let group = |n| captures.get_group(n).map_or("", |span| &text[span.range()]);
            out += &text[end..all.start()];
            out += &with.replace("$1", group(1)).replace("$2", group(2));
            end = all.end();
        }
        out + &text[end..]
    }
}

/// JSON, a document per line or one over all lines, laid out one key a line and with its keys in order.
fn documents(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return None;
    }
    let whole = serde_json::from_str(text).map(|document| vec![document]);
    let mut found: Vec<Value> = whole.or_else(|_| text.lines().map(serde_json::from_str).collect()).ok()?;
    found.retain(|document| !STILL_MESSAGES.contains(&document["type"].as_str().unwrap_or_default()));
    // The same of runs of tests, every two seconds.
    found.retain(|document| document["test_run"]["progress"] != "running");
    let pretty = |document: &Value| serde_json::to_string_pretty(&sorted(document)).unwrap() + "\n";
    Some(found.iter().map(pretty).collect())
}

fn sorted(document: &Value) -> Value {
    match document {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            // Found by steps that run at the same time.
            for (_, found) in members.iter_mut().filter(|(name, _)| name == "diagnostics") {
                if let Value::Array(found) = found {
                    found.sort_by_key(Value::to_string);
                }
            }
            Value::Object(members.into_iter().collect())
        }
        Value::Array(elements) => Value::Array(elements.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// Lines of progress about different objects come in any order: each run of them is sorted by its objects. What depends
/// on the speed of the machine goes.
fn in_order(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().filter(|line| !STILL.is_match(*line)).collect();
    for run in lines.chunk_by_mut(|a, b| PROGRESS.is_match(*a) == PROGRESS.is_match(*b)) {
        if PROGRESS.is_match(run[0]) {
            run.sort_by_key(|line| subject(line));
        }
    }
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

fn subject(line: &str) -> &str {
    let found = SUBJECT.find(line).map_or(line, |found| &line[found.range()]);
    found.trim_end_matches([' ', ':', '(']).trim_end_matches("␛[0m")
}

/// Our name in place of the reference's.
pub fn named(text: &str, name: &str) -> String {
    if name == "terrane" {
        return text.to_string();
    }
    COMMANDS.replace(&text.replace("Terraform", "Terrane"), "$1terrane $2")
}

/// Paragraphs that name the program are wrapped elsewhere when its name is shorter: they become one line.
fn unwrapped(text: &str, name: &str) -> String {
    let mut out = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let bare = |line: &str| line.trim_start_matches("│").trim().to_string();
    let mut flush = |paragraph: &mut Vec<&str>| {
        let lines: Vec<String> = paragraph.drain(..).map(String::from).collect();
        let words = named(&lines.iter().map(|line| bare(line)).collect::<Vec<_>>().join(" "), name);
        match words.contains("Terrane") || words.contains("terrane ") {
            true => out += &(words + "\n"),
            false => lines.iter().for_each(|line| out += &format!("{line}\n")),
        }
    };
    for line in text.lines() {
        let edge = bare(line).is_empty() || line.starts_with(['╷', '╵', '─']);
        if edge {
            flush(&mut paragraph);
        }
        paragraph.push(line);
        if edge {
            flush(&mut paragraph);
        }
    }
    flush(&mut paragraph);
    out
}
