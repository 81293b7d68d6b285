//! The journal: what changed since the last full snapshot, one checked record after the other.
//!
//! Owns the format and the rules of replay; never opens a file.
//!
//! A line per record: sixteen hex digits of the SHA-256 of the rest, a space, one JSON object with the record's kind
//! under "k". The first record is the header. A line that is cut short or does not match its digits ends the journal:
//! it was being written when the machine stopped. Readers must refuse a header whose "format" they do not know; new
//! kinds of records need a new format, because an unknown record may be a change.
//!
//! The base is the state file that the changes apply to. Whenever a snapshot is about to be written, its fingerprint
//! is recorded first, so that whichever of the two is on disk after a crash, the records that still apply are known.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::process::ProcessId;
use gotext::hex::hex;
use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, Serializer};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::file::{
    Rendered, StateChange, compact_parts, merge_checks, merge_output, merge_resource, resource_instance,
};
use super::{DeposedKey, State};
use crate::addr::AbsResourceInstance;

/// 2: with records of actions.
const FORMAT: u32 = 2;
const FORMATS: std::ops::RangeInclusive<u32> = 1..=FORMAT;

/// How many digits a line begins with.
const DIGITS: usize = 16;

/// What the journal is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Lineage and serial of the base; the lineage to be given to the state if it had none.
    pub lineage: String,
    pub serial: u64,
    /// Of the base; empty if there was no state.
    pub base: String,
    /// Who writes it.
    pub process: ProcessId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// What planning made of the base before anything was changed.
    Prior(Vec<StateChange>),
    /// A plugin's process that this run started.
    Plugin { name: String, process: ProcessId },
    /// An object is about to be changed.
    Started { addr: AbsResourceInstance, deposed: Option<DeposedKey> },
    /// How far an action is that the change of an object invokes.
    Action { caller: AbsResourceInstance, action: String, phase: ActionPhase },
    /// Something is as it now is.
    Changed(StateChange),
    /// The snapshot that holds everything recorded before this is about to be written.
    Snapshot { fingerprint: String, serial: u64 },
}

/// How far an action of a run is. What only an interrupted run knows is the order of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActionPhase {
    /// The change that invokes it is done.
    Due,
    Running,
    /// It was invoked, or its condition was not met.
    Done,
}

const ACTION_PHASES: [(&str, ActionPhase); 3] =
    [("action_due", ActionPhase::Due), ("action_running", ActionPhase::Running), ("action_done", ActionPhase::Done)];

/// An action that an interrupted run did not complete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenAction {
    pub caller: AbsResourceInstance,
    pub action: String,
    pub running: bool,
}

/// What identifies a state file's content: hex SHA-256, or nothing if there is no content.
pub fn fingerprint(content: &[u8]) -> String {
    if content.is_empty() { String::new() } else { hex(&Sha256::digest(content)) }
}

#[derive(Serialize, Deserialize, Default)]
struct Line<'a> {
    #[serde(borrow)]
    k: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lineage: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    serial: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<(u32, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    addr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deposed: Option<String>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    entry: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<Vec<Line<'a>>>,
}

impl Line<'_> {
    fn of(kind: &'static str) -> Line<'static> {
        Line { k: Cow::Borrowed(kind), ..Line::default() }
    }

    /// With its check and its line ending.
    fn encode(&self) -> Vec<u8> {
        let mut line = vec![b' '; DIGITS + 1];
        // Writing to memory does not fail.
        let _ = self.serialize(&mut Serializer::with_formatter(&mut line, CompactEntries));
        let digits = check_digits(&line[DIGITS + 1..]);
        line[..DIGITS].copy_from_slice(digits.as_bytes());
        line.push(b'\n');
        line
    }
}

/// Writes entries, which are text already, without the space between their tokens.
struct CompactEntries;

impl Formatter for CompactEntries {
    fn write_raw_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut written = Ok(());
        compact_parts(fragment, |part| {
            if written.is_ok() {
                written = writer.write_all(part.as_bytes());
            }
        });
        written
    }
}

fn check_digits(json: &[u8]) -> String {
    hex(&Sha256::digest(json)[..DIGITS / 2])
}

impl Header {
    pub fn encode(&self) -> Vec<u8> {
        Line {
            format: Some(FORMAT),
            lineage: Some(self.lineage.clone()),
            serial: Some(self.serial),
            fingerprint: Some(self.base.clone()),
            process: Some((self.process.number, self.process.started)),
            ..Line::of("header")
        }
        .encode()
    }
}

impl Record {
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Record::Prior(pieces) => {
                Line { pieces: Some(pieces.iter().map(piece_line).collect()), ..Line::of("prior") }.encode()
            }
            Record::Plugin { name, process } => {
                let process = Some((process.number, process.started));
                Line { name: Some(name.clone()), process, ..Line::of("plugin") }.encode()
            }
            Record::Started { addr, deposed } => {
                let deposed = deposed.as_ref().map(|key| key.0.to_string());
                Line { addr: Some(addr.to_string()), deposed, ..Line::of("started") }.encode()
            }
            Record::Action { caller, action, phase } => {
                let kind = ACTION_PHASES.iter().find(|(_, of)| of == phase).map_or("", |(kind, _)| *kind);
                Line { addr: Some(caller.to_string()), name: Some(action.clone()), ..Line::of(kind) }.encode()
            }
            Record::Changed(piece) => piece_line(piece).encode(),
            Record::Snapshot { fingerprint, serial } => {
                Line { fingerprint: Some(fingerprint.clone()), serial: Some(*serial), ..Line::of("snapshot") }.encode()
            }
        }
    }

    fn decode(line: Line<'_>) -> Option<Record> {
        if let Some((_, phase)) = ACTION_PHASES.iter().find(|(kind, _)| *kind == line.k) {
            return Some(Record::Action { caller: resource_instance(&line.addr?)?, action: line.name?, phase: *phase });
        }
        Some(match &*line.k {
            "prior" => Record::Prior(line.pieces?.into_iter().map(piece_of).collect::<Option<_>>()?),
            "plugin" => {
                let (number, started) = line.process?;
                Record::Plugin { name: line.name?, process: ProcessId { number, started } }
            }
            "started" => Record::Started {
                addr: resource_instance(&line.addr?)?,
                deposed: line.deposed.map(|key| DeposedKey(key.into())),
            },
            "snapshot" => Record::Snapshot { fingerprint: line.fingerprint?, serial: line.serial? },
            _ => Record::Changed(piece_of(line)?),
        })
    }
}

fn piece_line(piece: &StateChange) -> Line<'_> {
    fn raw(text: &str) -> Option<&RawValue> {
        serde_json::from_str(text).ok()
    }
    match piece {
        StateChange::Instance(addr, text) => {
            Line { addr: Some(addr.to_string()), entry: raw(text), ..Line::of("instance") }
        }
        StateChange::GoneInstance(addr) => Line { addr: Some(addr.to_string()), ..Line::of("gone") },
        StateChange::Output(name, text) => {
            Line { name: Some(name.to_string()), entry: raw(text), ..Line::of("output") }
        }
        StateChange::GoneOutput(name) => Line { name: Some(name.to_string()), ..Line::of("gone_output") },
        StateChange::Checks(text) => Line { entry: raw(text), ..Line::of("checks") },
    }
}

fn piece_of(line: Line<'_>) -> Option<StateChange> {
    let entry = line.entry.map(|raw| raw.get().to_string());
    Some(match &*line.k {
        "instance" => StateChange::Instance(resource_instance(&line.addr?)?, entry?),
        "gone" => StateChange::GoneInstance(resource_instance(&line.addr?)?),
        "output" => StateChange::Output(line.name?.into(), entry?),
        "gone_output" => StateChange::GoneOutput(line.name?.into()),
        // No results at all are null, which reads as no entry.
        "checks" => StateChange::Checks(entry.unwrap_or_else(|| "null".into())),
        _ => return None,
    })
}

/// A journal that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    pub header: Header,
    pub records: Vec<Record>,
    /// The last record was cut short.
    pub torn: bool,
}

impl Journal {
    /// Reads a journal's content; None if not even its header was written, which means that nothing was started.
    /// Errors: a newer format, or damage in the middle (a good record after a bad one).
    pub fn read(content: &[u8]) -> Result<Option<Journal>, Diagnostics> {
        let mut lines = content.split_inclusive(|b| *b == b'\n');
        let Some(first) = lines.next().and_then(checked) else { return Ok(None) };
        let header = read_header(first)?;
        let mut records = Vec::new();
        let mut torn = false;
        for line in lines {
            let Some(json) = checked(line) else {
                torn = true;
                continue;
            };
            if torn {
                return Err(damaged("a record in its middle is not what was written"));
            }
            // The digits say that it was written as it is, so that it is not what is left of a record.
            let record = serde_json::from_slice(json).ok().and_then(Record::decode);
            records.push(record.ok_or_else(|| damaged("it has a record that this version does not know"))?);
        }
        Ok(Some(Journal { header, records, torn }))
    }

    /// The index of the first record that the state on disk does not have; None if that state is neither the base nor
    /// a snapshot of this journal.
    pub fn position(&self, disk: &str) -> Option<usize> {
        let snapshot = |record: &Record| matches!(record, Record::Snapshot { fingerprint, .. } if fingerprint == disk);
        match self.records.iter().rposition(snapshot) {
            Some(i) => Some(i + 1),
            None => (self.header.base == disk).then_some(0),
        }
    }

    /// True if a state of the same lineage already has all that was recorded, as when a copy of the run's last snapshot was
    /// written to the store by other means. Results of checks do not count. Where the run began without a state, the lineage may be
    /// another one: Terraform gives a new one to what it pushes to an empty store.
    pub fn is_contained_in(&self, lineage: &str, state: &State) -> bool {
        if lineage != self.header.lineage && !self.header.base.is_empty() {
            return false;
        }
        let mut replayed = state.clone();
        if self.replay(0, &mut replayed).is_err() {
            return false;
        }
        replayed.checks.clone_from(&state.checks);
        match (Rendered::of(&replayed), Rendered::of(state)) {
            (Ok(replayed), Ok(state)) => replayed == state,
            _ => false,
        }
    }

    /// Applies the records from a position on; returns how many changes there were.
    pub fn replay(&self, from: usize, state: &mut State) -> Result<usize, Diagnostics> {
        let mut changes = 0;
        for piece in self.records.iter().skip(from).flat_map(pieces) {
            apply(piece, state)?;
            changes += 1;
        }
        Ok(changes)
    }

    /// Objects whose change was started and not finished, in order of address.
    pub fn in_flight(&self) -> Vec<(AbsResourceInstance, Option<DeposedKey>)> {
        let mut open = BTreeSet::new();
        for record in &self.records {
            match record {
                Record::Started { addr, deposed } => _ = open.insert((addr.clone(), deposed.clone())),
                Record::Changed(StateChange::Instance(addr, _) | StateChange::GoneInstance(addr)) => {
                    open.retain(|(other, _)| other != addr);
                }
                _ => {}
            }
        }
        open.into_iter().collect()
    }

    /// Actions that were due or running, in order of their callers. Those of a caller whose change is uncertain are not among
    /// them: the next plan includes them if it was not made.
    pub fn open_actions(&self) -> Vec<OpenAction> {
        let mut open: BTreeMap<_, (usize, bool)> = BTreeMap::new();
        for record in &self.records {
            let Record::Action { caller, action, phase } = record else { continue };
            // A trigger may list an action more than once.
            let (due, running) = open.entry((caller, action)).or_default();
            *running = *phase == ActionPhase::Running;
            match phase {
                ActionPhase::Due => *due += 1,
                ActionPhase::Running => {}
                ActionPhase::Done => *due = due.saturating_sub(1),
            }
        }
        let uncertain = self.in_flight();
        let is_certain = |caller: &AbsResourceInstance| !uncertain.iter().any(|(addr, _)| addr == caller);
        let open = open.into_iter().filter(|((caller, _), (due, _))| *due > 0 && is_certain(caller));
        open.map(|((caller, action), (_, running))| OpenAction {
            caller: caller.clone(),
            action: action.clone(),
            running,
        })
        .collect()
    }

    /// Every instance that the journal speaks of: what is at stake when it cannot be replayed.
    pub fn instances(&self) -> BTreeSet<AbsResourceInstance> {
        let named = |record: &Record| match record {
            Record::Started { addr, .. }
            | Record::Changed(StateChange::Instance(addr, _) | StateChange::GoneInstance(addr)) => Some(addr.clone()),
            _ => None,
        };
        self.records.iter().filter_map(named).collect()
    }

    /// Instances that the records from a position on hold, as they became.
    pub fn recorded(&self, from: usize) -> BTreeSet<AbsResourceInstance> {
        let named = |piece: &StateChange| match piece {
            StateChange::Instance(addr, _) | StateChange::GoneInstance(addr) => Some(addr.clone()),
            _ => None,
        };
        self.records.iter().skip(from).flat_map(pieces).filter_map(named).collect()
    }

    /// Plugin processes of that run, by name.
    pub fn plugins(&self) -> impl Iterator<Item = (&str, ProcessId)> {
        self.records.iter().filter_map(|record| match record {
            Record::Plugin { name, process } => Some((name.as_str(), *process)),
            _ => None,
        })
    }
}

fn pieces(record: &Record) -> &[StateChange] {
    match record {
        Record::Prior(pieces) => pieces,
        Record::Changed(piece) => std::slice::from_ref(piece),
        _ => &[],
    }
}

/// The JSON of a whole line whose digits are right.
fn checked(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_suffix(b"\n")?;
    let (digits, rest) = line.split_at_checked(DIGITS)?;
    let json = rest.strip_prefix(b" ")?;
    (check_digits(json).as_bytes() == digits).then_some(json)
}

fn read_header(json: &[u8]) -> Result<Header, Diagnostics> {
    let line: Line<'_> = serde_json::from_slice(json).map_err(|e| damaged(&e.to_string()))?;
    match line.format {
        Some(format) if FORMATS.contains(&format) && line.k == "header" => {}
        Some(other) => return Err(damaged(&format!("its format {other} is not known to this version"))),
        None => return Err(damaged("it does not begin with a header")),
    }
    let fields = (line.lineage, line.serial, line.fingerprint, line.process);
    let (Some(lineage), Some(serial), Some(base), Some((number, started))) = fields else {
        return Err(damaged("its header is incomplete"));
    };
    Ok(Header { lineage, serial, base, process: ProcessId { number, started } })
}

fn damaged(why: &str) -> Diagnostics {
    Diagnostic::error("Unreadable state journal", format!("The journal of an interrupted run cannot be read: {why}."))
        .into()
}

fn apply(piece: &StateChange, state: &mut State) -> Result<(), Diagnostics> {
    match piece {
        StateChange::Instance(_, text) => merge_resource(text, state)?,
        StateChange::GoneInstance(addr) => {
            if let Some(resource) = state.resources.get_mut(&addr.containing_resource()) {
                Arc::make_mut(resource).instances.remove(addr.key());
            }
            state.prune(addr);
        }
        StateChange::Output(name, text) => _ = state.outputs.insert(name.clone(), merge_output(name, text)?),
        StateChange::GoneOutput(name) => _ = state.outputs.remove(name),
        StateChange::Checks(text) => state.checks = merge_checks(text)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::file::read;
    use super::*;

    const WIDE: &str = include_str!("file/fixtures/wide.tfstate");

    fn header() -> Header {
        Header { lineage: "l".into(), serial: 3, base: "b".into(), process: ProcessId { number: 7, started: 8 } }
    }

    fn started(text: &str) -> Record {
        Record::Started { addr: resource_instance(text).unwrap(), deposed: None }
    }

    /// Every piece that leads from nothing to a state with everything in it.
    fn everything() -> (State, Vec<StateChange>) {
        let state = read(WIDE.as_bytes()).unwrap().unwrap().state;
        let pieces = Rendered::of(&state).unwrap().changes_since(&Rendered::of(&State::default()).unwrap());
        (state, pieces)
    }

    #[test]
    fn replay_gives_the_state_again() {
        let (state, pieces) = everything();
        let mut content = header().encode();
        content.extend(Record::Prior(pieces[..3].to_vec()).encode());
        for piece in &pieces[3..] {
            content.extend(Record::Changed(piece.clone()).encode());
        }
        let journal = Journal::read(&content).unwrap().unwrap();
        assert_eq!(journal.header, header());
        assert_eq!(journal.position("b"), Some(0));
        assert_eq!(journal.position("x"), None);
        let mut replayed = State::default();
        assert_eq!(journal.replay(0, &mut replayed).unwrap(), pieces.len());
        assert_eq!(Rendered::of(&replayed).unwrap(), Rendered::of(&state).unwrap());
        let back = Rendered::of(&State::default()).unwrap().changes_since(&Rendered::of(&state).unwrap());
        for piece in &back {
            apply(piece, &mut replayed).unwrap();
        }
        assert!(replayed.is_empty() && replayed.checks.is_none());
    }

    #[test]
    fn a_state_with_all_that_was_recorded_contains_the_journal() {
        let (state, pieces) = everything();
        let changed = pieces.iter().cloned().map(Record::Changed).chain([started("a.b")]).collect();
        let journal = Journal { header: header(), records: changed, torn: false };
        assert!(journal.is_contained_in("l", &state));
        assert!(journal.is_contained_in("l", &State { checks: None, ..state.clone() }), "each run finds checks anew");
        assert!(!journal.is_contained_in("other", &state));
        assert!(!journal.is_contained_in("l", &State::default()));
        let mut less = state.clone();
        less.outputs.pop_first();
        assert!(!journal.is_contained_in("l", &less));
    }

    #[test]
    fn cut_anywhere_it_holds_every_whole_record() {
        let (_, pieces) = everything();
        let mut content = header().encode();
        let mut ends = vec![content.len()];
        for record in [started("a.b"), Record::Changed(pieces[0].clone()), started("a.c")] {
            content.extend(record.encode());
            ends.push(content.len());
        }
        for cut in 0..=content.len() {
            let journal = Journal::read(&content[..cut]).unwrap();
            let whole = ends.iter().filter(|end| **end <= cut).count();
            match journal {
                None => assert_eq!(whole, 0, "cut at {cut}"),
                Some(journal) => {
                    assert_eq!(journal.records.len() + 1, whole, "cut at {cut}");
                    assert_eq!(journal.torn, !ends.contains(&cut));
                }
            }
        }
    }

    #[test]
    fn damage_in_the_middle_is_an_error() {
        let mut content = header().encode();
        let at = content.len() + 30;
        content.extend(started("a.b").encode());
        content.extend(started("a.c").encode());
        content[at] ^= 1;
        assert!(Journal::read(&content).is_err());
    }

    #[test]
    fn actions_are_open_until_they_are_done() {
        let caller = |name: &str| resource_instance(name).unwrap();
        let action =
            |name: &str, action: &str, phase| Record::Action { caller: caller(name), action: action.to_owned(), phase };
        let records = vec![
            started("a.uncertain"),
            action("a.uncertain", "action.x.y", ActionPhase::Due),
            action("a.b", "action.x.one", ActionPhase::Due),
            action("a.b", "action.x.three", ActionPhase::Due),
            action("a.b", "action.x.two", ActionPhase::Due),
            action("a.b", "action.x.one", ActionPhase::Running),
            action("a.b", "action.x.one", ActionPhase::Done),
            action("a.b", "action.x.two", ActionPhase::Running),
        ];
        let content: Vec<u8> = header().encode().into_iter().chain(records.iter().flat_map(Record::encode)).collect();
        let journal = Journal::read(&content).unwrap().unwrap();
        assert_eq!(journal.records, records);
        let open = |action: &str, running| OpenAction { caller: caller("a.b"), action: action.to_owned(), running };
        assert_eq!(journal.open_actions(), [open("action.x.three", false), open("action.x.two", true)]);
    }

    #[test]
    fn journals_of_the_format_before_are_read() {
        let line = Line { format: Some(1), lineage: Some("l".into()), serial: Some(3), ..Line::of("header") };
        let line = Line { fingerprint: Some("b".into()), process: Some((7, 8)), ..line };
        assert_eq!(Journal::read(&line.encode()).unwrap().unwrap().header, header());
        let later = Line { format: Some(FORMAT + 1), ..line };
        assert!(Journal::read(&later.encode()).is_err());
    }

    #[test]
    fn unknown_records_are_errors() {
        let mut content = header().encode();
        content.extend(Line::of("later").encode());
        assert!(Journal::read(&content).is_err());
        content.extend(started("a.b").encode());
        assert!(Journal::read(&content).is_err());
    }

    #[test]
    fn snapshots_move_the_base_and_open_changes_are_known() {
        let (_, pieces) = everything();
        let StateChange::Instance(addr, _) = &pieces[0] else { panic!("the first piece is an instance") };
        let journal = Journal {
            header: header(),
            records: vec![
                started("a.b"),
                started(&addr.to_string()),
                Record::Changed(pieces[0].clone()),
                Record::Snapshot { fingerprint: "s".into(), serial: 4 },
                Record::Changed(pieces[1].clone()),
            ],
            torn: false,
        };
        assert_eq!((journal.position("b"), journal.position("s")), (Some(0), Some(4)));
        assert_eq!(journal.replay(4, &mut State::default()).unwrap(), 1);
        let open: Vec<String> = journal.in_flight().iter().map(|(a, _)| a.to_string()).collect();
        assert_eq!(open, ["a.b"]);
    }
}
