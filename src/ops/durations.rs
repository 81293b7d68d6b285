//! How long operations on objects took, so that later runs can say how long they will take.
//!
//! A file among what the program has seen, `FILE`, which only its owner may read: a line with the name and version of the format, then a
//! line for each type and operation with the seconds of the last `SAMPLES` times, the newest last: `aws_instance create 31.2 28.9`. The
//! lines that were used last are at the end. It has no addresses and no values. A file of another version, a symbolic link and
//! what else is no file are neither read nor replaced; a line that is damaged is left out. Two runs that end at the same time may lose
//! what one of them has seen.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::atomic;
use base::env::{self, Environment};

use crate::setup::user_data;

const FILE: &str = "durations";
const HEADER: &str = "durations 1";

/// So many times of each operation are kept.
const SAMPLES: usize = 10;

/// Bytes of the file at most.
const MAX_BYTES: usize = 1 << 20;

/// A type of objects, with the kind of block in front if it is no managed resource, and an operation: `data.aws_ami`, `read`.
pub type TimedOperation = (String, String);

/// How long operations took in earlier runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durations {
    /// In the order of the file.
    lines: Vec<(TimedOperation, Vec<f64>)>,
}

/// The place of the file; none if the environment names none, or wants no estimates.
pub fn path(environment: &Environment) -> Option<PathBuf> {
    if environment.get(env::TERRANE_ESTIMATES) == Some("off") {
        return None;
    }
    Some(user_data::state_folder(environment)?.join(FILE))
}

impl Durations {
    /// Nothing, if there is no file or it cannot be read: estimates are of no consequence.
    pub fn read(path: &Path) -> Durations {
        read(path).map(|text| Durations::parse(&text)).unwrap_or_default()
    }

    /// The usual times of all operations: the median of the last ones.
    pub fn usual(&self) -> BTreeMap<TimedOperation, Duration> {
        let usual = |(operation, samples): &(TimedOperation, Vec<f64>)| Some((operation.clone(), median(samples)?));
        self.lines.iter().filter_map(usual).collect()
    }

    fn parse(text: &str) -> Durations {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return Durations::default();
        }
        Durations { lines: lines.filter_map(parse_line).collect() }
    }

    fn add(&mut self, operation: &TimedOperation, times: &[Duration]) {
        let is_it = |(of, _): &(TimedOperation, Vec<f64>)| of == operation;
        let at = self.lines.iter().position(is_it);
        let (_, mut samples) = at.map_or_else(|| (operation.clone(), Vec::new()), |at| self.lines.remove(at));
        samples.extend(times.iter().map(Duration::as_secs_f64));
        samples.drain(..samples.len().saturating_sub(SAMPLES));
        self.lines.push((operation.clone(), samples));
    }

    /// The text of the file; what was not used for the longest time is left out if it is too long.
    fn text(&self) -> String {
        let shown: Vec<String> = self.lines.iter().map(line).collect();
        let mut room = MAX_BYTES - HEADER.len() - 1;
        let mut first = shown.len();
        while first > 0 && shown[first - 1].len() <= room {
            first -= 1;
            room -= shown[first].len();
        }
        format!("{HEADER}\n{}", shown[first..].concat())
    }
}

/// None: there are no samples.
fn median(samples: &[f64]) -> Option<Duration> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let median = match sorted.len() {
        0 => return None,
        count if count % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    };
    Duration::try_from_secs_f64(median).ok()
}

/// Adds the times of a run to the file. Errors are in the log: they do not matter to the run.
pub fn record(path: &Path, times: &BTreeMap<TimedOperation, Vec<Duration>>) {
    if times.keys().any(|operation| !is_sound(operation)) {
        tracing::debug!("durations: a type has a strange name");
    }
    let text = read(path);
    if text.is_none() && path.symlink_metadata().is_ok() {
        tracing::debug!("durations: {} cannot be read", path.display());
        return;
    }
    if text.as_ref().is_some_and(|text| !text.is_empty() && text.lines().next() != Some(HEADER)) {
        tracing::debug!("durations: {} has another format", path.display());
        return;
    }
    let mut durations = text.map(|text| Durations::parse(&text)).unwrap_or_default();
    for (operation, times) in times.iter().filter(|(operation, _)| is_sound(operation)) {
        durations.add(operation, times);
    }
    let folder = atomic::directory_of(path);
    let written = private_folder(folder).and_then(|()| atomic::replace_private(path, durations.text().as_bytes()));
    if let Err(why) = written {
        tracing::debug!("durations are not kept: {why}");
    }
}

fn is_sound((kind, operation): &TimedOperation) -> bool {
    is_word(kind) && is_word(operation)
}

/// None: there is no file, or none that can be read. What is longer than this program writes is left out.
fn read(path: &Path) -> Option<String> {
    // A pipe would wait for a user who writes; a link may lead to a file of another program.
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let file = std::fs::File::open(path).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn parse_line(line: &str) -> Option<(TimedOperation, Vec<f64>)> {
    let mut words = line.split(' ');
    let (kind, operation) = (words.next()?, words.next()?);
    if !is_word(kind) || !is_word(operation) {
        return None;
    }
    let mut samples = Vec::new();
    for word in words {
        let seconds: f64 = word.parse().ok()?;
        if !(0.0..1e9).contains(&seconds) {
            return None;
        }
        samples.push(seconds);
    }
    samples.drain(..samples.len().saturating_sub(SAMPLES));
    (!samples.is_empty()).then(|| ((kind.to_owned(), operation.to_owned()), samples))
}

fn line(((kind, operation), samples): &(TimedOperation, Vec<f64>)) -> String {
    let mut text = format!("{kind} {operation}");
    // Writing to a string does not fail.
    samples.iter().for_each(|seconds| _ = write!(text, " {seconds:.1}"));
    text.push('\n');
    text
}

/// Whether it is a name of a type or of an operation, and nothing else.
fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    !text.is_empty() && text.len() <= 200 && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(kind: &str, operation: &str) -> TimedOperation {
        (kind.to_owned(), operation.to_owned())
    }

    fn seconds(all: &[u64]) -> Vec<Duration> {
        all.iter().copied().map(Duration::from_secs).collect()
    }

    #[test]
    fn the_usual_time_is_the_median_of_the_last_ten() {
        let cases: &[(&[u64], Option<f64>)] = &[
            (&[], None),
            (&[5], Some(5.0)),
            (&[1, 100], Some(50.5)),
            (&[9, 1, 5], Some(5.0)),
            (&[1000, 1000, 1000, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], Some(1.0)),
        ];
        for (times, expected) in cases {
            let mut durations = Durations::default();
            durations.add(&operation("a", "create"), &seconds(times));
            let usual = durations.usual();
            let found = usual.get(&operation("a", "create")).map(Duration::as_secs_f64);
            assert_eq!(found, *expected, "{times:?}");
            assert_eq!(usual.get(&operation("a", "delete")), None);
        }
    }

    #[test]
    fn a_file_is_private_and_has_types_and_seconds_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/terrane/durations");
        let run = |kind: &str, times: &[u64]| {
            record(&path, &BTreeMap::from([(operation(kind, "create"), seconds(times))]));
        };
        run("aws_instance", &[31]);
        run("data.aws_ami", &[1]);
        run("aws_instance", &[29]);
        run("a b\nc", &[1]);
        let text = "durations 1\ndata.aws_ami create 1.0\naws_instance create 31.0 29.0\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        let usual = Durations::read(&path).usual();
        let seconds = |kind: &str| usual.get(&operation(kind, "create")).map(Duration::as_secs);
        assert_eq!((seconds("aws_instance"), seconds("data.aws_ami"), usual.len()), (Some(30), Some(1), 2));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            for (place, mode) in [(path.as_path(), 0o600), (path.parent().unwrap(), 0o700)] {
                assert_eq!(std::fs::metadata(place).unwrap().permissions().mode() & 0o777, mode, "{place:?}");
            }
        }
    }

    #[test]
    fn a_file_of_another_version_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durations");
        std::fs::write(&path, "durations 2\nx").unwrap();
        assert_eq!(Durations::read(&path), Durations::default());
        record(&path, &BTreeMap::from([(operation("a", "create"), seconds(&[1]))]));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "durations 2\nx");
    }

    #[test]
    fn a_file_that_this_program_did_not_write_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durations");
        for content in [[b"durations 2\n".as_slice(), &[b'x'; MAX_BYTES]].concat(), b"\xff\xfe".to_vec()] {
            std::fs::write(&path, &content).unwrap();
            record(&path, &BTreeMap::from([(operation("a", "create"), seconds(&[1]))]));
            assert!(std::fs::read(&path).unwrap() == content);
        }
        std::fs::write(&path, b"durations 1\n\xff create 1\n").unwrap();
        record(&path, &BTreeMap::from([(operation("a", "create"), seconds(&[1]))]));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "durations 1\na create 1.0\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_becomes_private_and_a_link_is_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (path, link) = (dir.path().join("durations"), dir.path().join("link"));
        std::fs::write(&path, HEADER).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink("durations", &link).unwrap();
        let times = BTreeMap::from([(operation("a", "create"), seconds(&[1]))]);
        record(&link, &times);
        assert_eq!(
            (std::fs::read_to_string(&path).unwrap().as_str(), Durations::read(&link)),
            (HEADER, Durations::default())
        );
        assert!(link.is_symlink());
        record(&path, &times);
        assert_eq!(Durations::read(&path).usual().len(), 1);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_file_of_times() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("durations");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(Durations::read(&path), Durations::default());
        record(&path, &BTreeMap::from([(operation("a", "create"), seconds(&[1]))]));
    }

    #[test]
    fn damaged_lines_are_left_out() {
        let text = format!("{HEADER}\na create 1\nb\nc create\nd create x\ne create -1\nf create nan\ng/h create 1\n");
        assert_eq!(Durations::parse(&text).usual().len(), 1);
    }

    #[test]
    fn a_long_file_loses_what_was_not_used_for_long() {
        let long = "x".repeat(150);
        let line = |number| (operation(&format!("{long}{number}"), "create"), vec![1.0]);
        let durations = Durations { lines: (0..8_000).map(line).collect() };
        let text = durations.text();
        assert!(text.len() <= MAX_BYTES && text.len() > MAX_BYTES - 200, "{}", text.len());
        let kept = Durations::parse(&text).usual();
        assert!(!kept.contains_key(&line(0).0) && kept.contains_key(&line(7_999).0));
    }

    #[test]
    fn the_place_follows_the_environment() {
        let of = |pairs: &[(&str, &str)]| path(&Environment::of(pairs.iter().copied()));
        assert_eq!(of(&[("HOME", "/h")]), Some("/h/.local/state/terrane/durations".into()));
        assert_eq!(of(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")]), Some("/s/terrane/durations".into()));
        assert_eq!(of(&[("HOME", "/h"), ("TERRANE_ESTIMATES", "off")]), None);
        assert_eq!(of(&[]), None);
    }
}
