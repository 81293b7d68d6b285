//! Rules for single values of the `s3` backend's settings, and the collector of what breaks them.

use regex_automata::meta::Regex;
use terrane_protocol::provider::ProviderDiagnostic;
use terrane_value::{Path, Value, duration};

/// A rule for a text: an error or a warning, without a place, if it is broken.
pub type Rule = fn(&str) -> Result<(), ProviderDiagnostic>;

/// The settings, and what was found so far.
pub struct Checks<'a> {
    pub config: &'a Value,
    pub found: Vec<ProviderDiagnostic>,
}

impl<'a> Checks<'a> {
    pub fn new(config: &'a Value) -> Checks<'a> {
        Checks { config, found: Vec::new() }
    }

    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|d| d.severity == terrane_protocol::provider::Severity::Error)
    }

    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.config.get(name).and_then(Value::as_str)
    }

    pub fn is_unknown(&self, name: &str) -> bool {
        self.config.get(name).is_some_and(|value| !value.is_known())
    }

    pub fn error(&mut self, summary: &str, detail: impl Into<String>, path: Path) {
        self.found.push(ProviderDiagnostic::error(summary, detail).at(path));
    }

    pub fn warning(&mut self, summary: &str, detail: impl Into<String>, path: Path) {
        self.found.push(ProviderDiagnostic::warning(summary, detail).at(path));
    }

    pub fn required(&mut self, name: &str, rules: &[Rule]) {
        if self.config.get(name).is_none_or(Value::is_null) {
            self.missing(name, Path::new().attr(name));
        } else {
            self.text(name, rules);
        }
    }

    fn missing(&mut self, name: &str, path: Path) {
        let detail = format!(
            "The attribute {name:?} is required by the backend.\n\nRefer to the backend documentation for additional information which attributes are required."
        );
        self.error("Missing Required Value", detail, path);
    }

    /// A text, if it is set.
    pub fn text(&mut self, name: &str, rules: &[Rule]) {
        if let Some(text) = self.get(name) {
            self.apply(text, rules, &Path::new().attr(name));
        }
    }

    /// A text in an object.
    pub fn inner(&mut self, outer: &str, name: &str, required: bool, rules: &[Rule]) {
        let Some(object) = self.config.get(outer).filter(|value| !value.is_null()) else { return };
        let path = Path::new().attr(outer).attr(name);
        match object.get(name) {
            Some(value) if value.is_null() && required => self.missing(&format!("{outer}.{name}"), path),
            Some(value) => {
                if let Some(text) = value.as_str() {
                    self.apply(text, rules, &path);
                }
            }
            None => {}
        }
    }

    /// The rules in turn, until there is an error; be it an earlier setting's, as in the reference.
    fn apply(&mut self, text: &str, rules: &[Rule], path: &Path) {
        for rule in rules {
            if let Err(problem) = rule(text) {
                self.found.push(problem.at(path.clone()));
            }
            if self.has_errors() {
                return;
            }
        }
    }

    pub fn conflict(&mut self, names: &[&str]) {
        let set = names.iter().filter(|name| self.config.get(name).is_some_and(|value| !value.is_null()));
        if set.count() > 1 {
            self.combination(names, Path::new());
        }
    }

    fn combination(&mut self, names: &[&str], path: Path) {
        self.error("Invalid Attribute Combination", format!("Only one of {} can be set.", names.join(", ")), path);
    }

    pub fn exactly_one(&mut self, outer: &str, object: &Value, names: [&str; 2]) {
        let set = names.iter().filter(|name| object.get(name).is_some_and(|value| !value.is_null())).count();
        let path = Path::new().attr(outer);
        match set {
            0 => {
                let detail = format!("Exactly one of {} must be set.", names.join(", "));
                self.error("Missing Required Value", detail, path);
            }
            1 => {}
            _ => self.combination(&names, path),
        }
    }

    pub fn deprecated(&mut self, name: &str, replacement: &str) {
        if self.config.get(name).is_some_and(|value| !value.is_null()) {
            let detail = format!("The parameter \"{name}\" is deprecated. Use parameter \"{replacement}\" instead.");
            self.warning("Deprecated Parameter", detail, Path::new().attr(name));
        }
    }
}

fn complain<T>(summary: &str, detail: impl Into<String>) -> Result<T, ProviderDiagnostic> {
    Err(ProviderDiagnostic::error(summary, detail))
}

fn unless(ok: bool, summary: &str, detail: impl Into<String>) -> Result<(), ProviderDiagnostic> {
    if ok { Ok(()) } else { complain(summary, detail) }
}

pub fn not_empty(text: &str) -> Result<(), ProviderDiagnostic> {
    unless(!text.trim().is_empty(), "Invalid Value", "The value cannot be empty or all whitespace")
}

pub fn no_outer_slash(text: &str) -> Result<(), ProviderDiagnostic> {
    let ok = !text.starts_with('/') && !text.ends_with('/');
    unless(ok, "Invalid Value", "The value must not start or end with \"/\"")
}

pub fn no_double_slash(text: &str) -> Result<(), ProviderDiagnostic> {
    unless(!text.contains("//"), "Invalid Value", "Value must not contain \"//\"")
}

pub fn length(text: &str, least: usize, most: usize) -> Result<(), ProviderDiagnostic> {
    let had = text.len();
    unless(
        (least..=most).contains(&had),
        "Invalid Value Length",
        format!("Length must be between {least} and {most}, had {had}"),
    )
}

fn is_of(text: &str, others: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || others.contains(c))
}

pub fn external_id(text: &str) -> Result<(), ProviderDiagnostic> {
    let detail = "Value can only contain letters, numbers, or the following characters: =,.@/-";
    unless(is_of(text, "+=,.@:/-"), "Invalid Value", detail)
}

pub fn session_name(text: &str) -> Result<(), ProviderDiagnostic> {
    let detail = "Value can only contain letters, numbers, or the following characters: =,.@-";
    unless(is_of(text, "+=,.@-"), "Invalid Value", detail)
}

pub fn retry_mode(text: &str) -> Result<(), ProviderDiagnostic> {
    unless(["standard", "adaptive"].contains(&text), "Invalid Value", format!("unknown RetryMode, {text}"))
}

pub fn endpoint_mode(text: &str) -> Result<(), ProviderDiagnostic> {
    unless(["IPv4", "IPv6"].contains(&text), "Invalid Value", "Value must be one of [IPv4, IPv6]")
}

/// Six sections, the last one with all further colons.
fn arn(text: &str) -> Result<Vec<&str>, &'static str> {
    if !text.starts_with("arn:") {
        return Err("arn: invalid prefix");
    }
    let sections: Vec<&str> = text.splitn(6, ':').collect();
    if sections.len() == 6 { Ok(sections) } else { Err("arn: not enough sections") }
}

fn iam_arn(text: &str, resource: &str, kind: &str) -> Result<(), ProviderDiagnostic> {
    let sections = arn(text)
        .or_else(|why| complain("Invalid ARN", format!("The value {text:?} cannot be parsed as an ARN: {why}")))?;
    unless(
        sections[5].starts_with(resource),
        &format!("Invalid IAM {kind} ARN"),
        format!("Value must be a valid IAM {kind} ARN, got {text:?}"),
    )
}

pub fn role_arn(text: &str) -> Result<(), ProviderDiagnostic> {
    iam_arn(text, "role/", "Role")
}

pub fn policy_arn(text: &str) -> Result<(), ProviderDiagnostic> {
    iam_arn(text, "policy/", "Policy")
}

const MULTI_REGION_KEY: &str = "mrk-[a-f0-9]{32}";
const KEY: &str = "[a-f0-9]{8}-[a-f0-9]{4}-[1-5][a-f0-9]{3}-[ab89][a-f0-9]{3}-[a-f0-9]{12}";
const ALIAS: &str = "alias/[a-zA-Z0-9/_-]+";

pub fn kms_key(text: &str) -> Result<(), ProviderDiagnostic> {
    let is_arn = text.starts_with("arn:") && text.matches(':').count() >= 5;
    let pattern = match is_arn {
        true => format!("^(?:key/(?:{KEY}|{MULTI_REGION_KEY})|{ALIAS})$"),
        // The anchors are the reference's: each holds for one of the three alone.
        false => format!("^{KEY}|{MULTI_REGION_KEY}|{ALIAS}$"),
    };
    let subject = if is_arn { arn(text).map(|sections| sections[5]).unwrap_or_default() } else { text };
    let kind = if is_arn { "ARN" } else { "ID" };
    let ok = Regex::new(&pattern).is_ok_and(|regex| regex.is_match(subject));
    unless(ok, &format!("Invalid KMS Key {kind}"), format!("Value must be a valid KMS Key {kind}, got {text:?}"))
}

pub fn session_duration(text: &str) -> Result<(), ProviderDiagnostic> {
    let Ok(nanoseconds) = duration::nanoseconds(text) else {
        let why = format!("time: invalid duration {text:?}");
        return complain("Invalid Duration", format!("The value {text:?} cannot be parsed as a duration: {why}"));
    };
    let minute = 60_000_000_000;
    unless(
        (15 * minute..=720 * minute).contains(&nanoseconds),
        "Invalid Duration",
        format!("Duration must be between 15m0s and 12h0m0s, had {}", go_duration(nanoseconds)),
    )
}

/// As Go writes a length of time: `1h0m0s`, `1.5s`, `250ms`.
fn go_duration(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let total = nanoseconds.unsigned_abs();
    let decimal = |unit: u64, name: &str| {
        let fraction = format!("{:0width$}", total % unit, width = unit.ilog10() as usize);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{}{point}{fraction}{name}", total / unit)
    };
    match total {
        0 => "0s".into(),
        1..1_000 => format!("{sign}{total}ns"),
        1_000..1_000_000 => decimal(1_000, "µs"),
        1_000_000..1_000_000_000 => decimal(1_000_000, "ms"),
        _ => {
            let seconds = total / 1_000_000_000;
            let rest = go_seconds(total % 60_000_000_000);
            match (seconds / 3600, seconds / 60 % 60) {
                (0, 0) => format!("{sign}{rest}"),
                (0, minutes) => format!("{sign}{minutes}m{rest}"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{rest}"),
            }
        }
    }
}

fn go_seconds(nanoseconds: u64) -> String {
    let fraction = format!("{:09}", nanoseconds % 1_000_000_000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}s", nanoseconds / 1_000_000_000)
}

pub fn policy(text: &str) -> Result<(), ProviderDiagnostic> {
    const INVALID: &str = "Invalid IAM Policy Document";
    let text = text.trim();
    if text.starts_with('{') {
        return match serde_json::from_str::<serde_json::Value>(text) {
            Ok(_) => Ok(()),
            Err(e) => complain("Invalid JSON Document", format!("The JSON document contains an error: {e}")),
        };
    }
    if !text.starts_with('"') {
        return complain(INVALID, "Expected a JSON object describing the policy");
    }
    let expected = "Expected a JSON object describing the policy, had a JSON-encoded string.";
    match serde_json::from_str::<String>(text) {
        Ok(content) if content.ends_with(".json") => complain(
            INVALID,
            format!(
                "{expected}\n\nThe string {content:?} looks like a filename, please pass the contents of the file instead of the filename."
            ),
        ),
        Ok(content) if serde_json::from_str::<serde_json::Value>(&content).is_ok() => complain(
            INVALID,
            format!(
                "{expected}\n\nThe string content was valid JSON, your policy document may have been double-encoded."
            ),
        ),
        _ => complain(INVALID, expected),
    }
}

/// Whether Go's `url.Parse` finds a scheme and a host.
fn has_scheme_and_host(text: &str) -> Result<bool, ProviderDiagnostic> {
    let failed = |why: &str| {
        complain("Invalid Value", format!("The value {text:?} cannot be parsed as a URL: parse {text:?}: {why}"))
    };
    if text.chars().any(|c| c.is_ascii_control()) {
        return failed("net/url: invalid control character in URL");
    }
    let Some((scheme, rest)) = text.split_once(':') else { return Ok(false) };
    if scheme.is_empty() {
        return failed("missing protocol scheme");
    }
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        || !scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    {
        return if scheme.contains('/') { Ok(false) } else { failed("first path segment in URL cannot contain colon") };
    }
    let host = rest.strip_prefix("//").unwrap_or_default().split(['/', '?', '#']).next().unwrap_or_default();
    Ok(!host.is_empty())
}

/// A URL; one that lacks something is doubtful.
pub fn url(text: &str) -> Result<(), ProviderDiagnostic> {
    let detail = format!(
        "The value should be a valid URL containing at least a scheme and hostname. Had {text:?}.\n\nUsing an incomplete URL, such as a hostname only, may work, but may have unexpected behavior."
    );
    match has_scheme_and_host(text)? {
        true => Ok(()),
        false => Err(ProviderDiagnostic::warning("Complete URL Expected", detail)),
    }
}

pub fn whole_url(text: &str) -> Result<(), ProviderDiagnostic> {
    let detail = format!("The value must be a valid URL containing at least a scheme and hostname. Had {text:?}");
    unless(has_scheme_and_host(text)?, "Invalid Value", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: Rule, good: &[&str], bad: &[&str]) {
        for text in good {
            assert_eq!(rule(text), Ok(()), "{text}");
        }
        for text in bad {
            assert!(rule(text).is_err(), "{text}");
        }
    }

    #[test]
    fn single_values() {
        let id = "57ff7a43-341d-46b6-aee3-a450c9de6dc8";
        let arn = format!("arn:aws:kms:us-west-2:111122223333:key/{id}");
        let alias = "arn:aws:kms:us-west-2:111122223333:alias/a/b";
        check(
            kms_key,
            &[id, "alias/arbitrary-key", &arn, alias, &format!("mrk-{}", "f".repeat(32))],
            &["x", "arn:aws:lamda:foo:bar:key/xyz", "$%wrongkey"],
        );
        check(role_arn, &["arn:aws:iam::1:role/x"], &["arn:aws:iam::1:user/x", "arn:aws", "x"]);
        check(session_duration, &["15m", "12h", "1h30m"], &["14m59s", "12h1s", "x", "1"]);
        check(policy, &["{}", " {\"a\": 1} "], &["x", "{", "\"a.json\"", "\"{}\"", "\"x\""]);
        check(whole_url, &["http://x", "https://x:1/y"], &["x", "localhost:5000", "127.0.0.1:5000", "http://"]);
        assert_eq!(url("x").unwrap_err().summary, "Complete URL Expected");
        assert_eq!(url("127.0.0.1:1").unwrap_err().summary, "Invalid Value");
        let times = [
            (0, "0s"),
            (1_500_000_000, "1.5s"),
            (899_000_000_000, "14m59s"),
            (43_201_000_000_000, "12h0m1s"),
            (2_500_000, "2.5ms"),
        ];
        for (nanoseconds, expected) in times {
            assert_eq!(go_duration(nanoseconds), expected);
        }
    }
}
