//! What is known of objects after a command: what the kept states name, and what the report says, in both of its forms.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::state::journal::Journal;
use serde_json::Value as Json;

use super::suite::{Suite, name_of};
use crate::support::{Outcome, Project, program};

/// The folder of what tests keep, in the working directory.
pub const FOLDER: &str = ".terraform/test";

/// What is kept below [`FOLDER`].
#[derive(Debug, Default)]
pub struct Kept {
    /// The names of objects in kept states, by ID.
    pub objects: BTreeMap<String, String>,
    /// The names of objects whose change was begun, and of which no state says how it ended.
    pub uncertain: BTreeSet<String>,
    /// The files of states that have objects, with the names of these.
    pub states: BTreeMap<String, Vec<String>>,
    /// Files that the manifest does not name, and that are no results of tests.
    pub strays: Vec<String>,
    pub has_manifest: bool,
}

/// Reads what is kept, by the program's own commands, from copies.
pub fn kept(project: &Project) -> Result<Kept, String> {
    let folder = project.work().join(FOLDER);
    let mut kept = Kept::default();
    // A process that is killed leaves the file of its lock, which says nothing, and a file that it was writing, which the next one
    // removes.
    let mut known: Vec<String> = ["manifest.json", "last.json", ".lock", ".terrane-"].map(str::to_owned).into();
    if let Ok(text) = std::fs::read(folder.join("manifest.json")) {
        kept.has_manifest = true;
        let manifest: Json = serde_json::from_slice(&text).map_err(|why| format!("manifest.json: {why}"))?;
        for (file, states) in manifest["files"].as_object().ok_or("manifest.json has no files")? {
            for (key, state) in states["states"].as_object().ok_or("manifest.json has no states")? {
                let id = state["id"].as_str().ok_or("manifest.json has no ID")?;
                read_state(project, &folder, id, |address| name_of(file, key, address), &mut kept)?;
                known.push(id.to_owned());
            }
        }
    }
    for entry in std::fs::read_dir(&folder).into_iter().flatten() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !known.iter().any(|known| name.contains(known.as_str())) {
            kept.strays.push(name);
        }
    }
    Ok(kept)
}

fn read_state(
    project: &Project,
    folder: &Path,
    id: &str,
    name: impl Fn(&str) -> String,
    kept: &mut Kept,
) -> Result<(), String> {
    let reader = project.path("reader");
    let _ = std::fs::remove_dir_all(&reader);
    std::fs::create_dir_all(&reader).unwrap();
    let (state, journal) = (format!("{id}.tfstate"), format!(".{id}.tfstate.journal"));
    let next = format!(".{id}.tfstate.next");
    let copies =
        [(&state, "terraform.tfstate"), (&journal, ".terraform.tfstate.journal"), (&next, ".terraform.tfstate.next")];
    for (from, to) in copies {
        if folder.join(from).exists() {
            std::fs::copy(folder.join(from), reader.join(to)).unwrap();
        }
    }
    if let Ok(content) = std::fs::read(folder.join(&journal)) {
        let read = Journal::read(&content).map_err(|found| format!("{journal}: {found:?}"))?;
        let open = read.map(|journal| journal.in_flight()).unwrap_or_default();
        kept.uncertain.extend(open.iter().map(|(addr, _)| name(&addr.to_string())));
    }
    let mut pull = project.command(program(), &["state", "pull"]);
    pull.current_dir(&reader);
    let pulled = project.finish(pull);
    if pulled.code != Some(0) {
        return Err(format!("{state} cannot be read:\n{}{}", pulled.out, pulled.err));
    }
    let mut objects = BTreeMap::new();
    if !pulled.out.trim().is_empty() {
        let document: Json = serde_json::from_str(&pulled.out).map_err(|why| format!("{state}: {why}"))?;
        let resources = document["resources"].as_array().into_iter().flatten();
        for instance in resources.flat_map(|resource| resource["instances"].as_array().into_iter().flatten()) {
            let attribute = |name: &str| instance["attributes"][name].as_str().unwrap_or_default().to_owned();
            objects.insert(attribute("id"), attribute("name"));
        }
    }
    if !objects.is_empty() {
        kept.states.insert(format!("{FOLDER}/{state}"), objects.values().cloned().collect());
    }
    kept.objects.extend(objects);
    Ok(())
}

/// What a command reports of objects, by their names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many objects of a name are left although they were to be destroyed, or exist when the suite is abandoned.
    pub left: BTreeMap<String, usize>,
    /// As asked for by `skip_cleanup`.
    pub wanted: BTreeMap<String, usize>,
    /// Those that may exist.
    pub creating: BTreeSet<String>,
    pub is_abandoned: bool,
}

impl Report {
    /// How many objects of a name it says are there.
    pub fn count(&self, name: &str) -> usize {
        [&self.left, &self.wanted].iter().filter_map(|objects| objects.get(name)).sum()
    }

    /// What people read.
    pub fn of_text(outcome: &Outcome, suite: &Suite) -> Report {
        let mut report = Report::default();
        let mut abandoned = String::new();
        let text = format!("{}\n\n{}", outcome.out, outcome.err);
        for block in text.split("\n\n") {
            let (items, header): (Vec<&str>, Vec<&str>) = block.lines().partition(|line| line.starts_with("  - "));
            let header = header.join(" ");
            let addresses = items.iter().map(|item| without_key(&item["  - ".len()..]));
            let key_of = |file: &str, run: &str| suite.key_of(file, run).unwrap_or(run).to_owned();
            if let Some(place) = after(&header, "resources in state after executing ") {
                let (file, run) = place.trim_end_matches(',').rsplit_once('/').unwrap_or_default();
                let key = key_of(file, run);
                let is_wanted = header.contains("because the skip_cleanup attribute");
                let objects = if is_wanted { &mut report.wanted } else { &mut report.left };
                addresses.for_each(|address| count(objects, name_of(file, &key, address)));
            } else if let Some(file) = after(&header, "was interrupted while executing ") {
                abandoned = file.trim_end_matches(',').to_owned();
                report.is_abandoned = true;
            } else if let Some(place) = after(&header, "has already created the following resources ") {
                let quoted = if place == "for" { quoted(&header) } else { "" };
                let key = if quoted.is_empty() { String::new() } else { key_of(&abandoned, quoted) };
                addresses.for_each(|address| count(&mut report.left, name_of(&abandoned, &key, address)));
            } else if header.contains("was in the process of creating the following resources") {
                let key = key_of(&abandoned, quoted(&header));
                report.creating.extend(addresses.map(|address| name_of(&abandoned, &key, address)));
            }
        }
        report
    }

    /// What programs read.
    pub fn of_events(text: &str, suite: &Suite) -> Result<Report, String> {
        let mut report = Report::default();
        for line in text.lines() {
            let event: Json = serde_json::from_str(line).map_err(|why| format!("{line}: {why}"))?;
            let file = event["@testfile"].as_str().unwrap_or_default();
            let run = event["@testrun"].as_str().unwrap_or_default();
            let key_of = |run: &str| suite.key_of(file, run).unwrap_or(run).to_owned();
            let name = |key: &str, address: &Json| name_of(file, key, address.as_str().unwrap_or_default());
            let names = |key: &str, list: &Json| -> Vec<String> {
                list.as_array().into_iter().flatten().map(|object| name(key, &object["instance"])).collect()
            };
            let add = |objects: &mut BTreeMap<String, usize>, names: Vec<String>| {
                names.into_iter().for_each(|name| count(objects, name));
            };
            match event["type"].as_str() {
                Some("test_cleanup") => {
                    let left = &event["test_cleanup"];
                    add(&mut report.left, names(&key_of(run), &left["failed_resources"]));
                    add(&mut report.wanted, names(&key_of(run), &left["skipped_resources"]));
                }
                Some("test_interrupt") => {
                    let left = &event["test_interrupt"];
                    report.is_abandoned = true;
                    add(&mut report.left, names("", &left["state"]));
                    for (key, objects) in left["states"].as_object().into_iter().flatten() {
                        add(&mut report.left, names(&key_of(key), objects));
                    }
                    let planned = left["planned"].as_array().into_iter().flatten();
                    report.creating.extend(planned.map(|address| name(&key_of(run), address)));
                }
                _ => {}
            }
        }
        Ok(report)
    }
}

fn count(objects: &mut BTreeMap<String, usize>, name: String) {
    *objects.entry(name).or_default() += 1;
}

/// The word after a text.
fn after<'t>(text: &'t str, before: &str) -> Option<&'t str> {
    text.split_once(before)?.1.split(' ').next()
}

/// The first text in quotes.
fn quoted(text: &str) -> &str {
    text.split('"').nth(1).unwrap_or_default()
}

/// The address of an object without its deposed key.
fn without_key(item: &str) -> &str {
    item.split_once(" (").map_or(item, |(address, _)| address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::chance::Chance;

    fn outcome(err: &str) -> Outcome {
        Outcome { code: Some(1), out: String::new(), err: err.to_owned() }
    }

    #[test]
    fn reports_name_objects() {
        let suite = Suite::random(&mut Chance::new(1), false, 0);
        let text = "\nTerrane left the following resources in state after executing\na.tftest.hcl/r1, and they need to be cleaned up \
                    manually:\n  - ledger_object.a\n  - ledger_object.a (0badcafe)\n\nTheir state is kept.\n";
        let report = Report::of_text(&outcome(text), &suite);
        let key = suite.key_of("a.tftest.hcl", "r1").unwrap();
        let name = name_of("a.tftest.hcl", key, "ledger_object.a");
        assert_eq!(report.left, BTreeMap::from([(name.clone(), 2)]));
        let event = "{\"type\":\"test_cleanup\",\"@testfile\":\"a.tftest.hcl\",\"@testrun\":\"r1\",\"test_cleanup\":{\"failed_resources\":\
                     [{\"instance\":\"ledger_object.a\"},{\"instance\":\"ledger_object.a\",\"deposed_key\":\"0badcafe\"}]}}";
        assert_eq!(Report::of_events(event, &suite).unwrap(), report);
        let text = "\nTerrane was interrupted while executing a.tftest.hcl, and may not have\nperformed the expected cleanup operations.\n\
                    \nTerrane has already created the following resources from the module under\ntest:\n  - ledger_object.b\n\
                    \nTerrane has already created the following resources for \"x\" from\n\"./x\":\n  - ledger_object.c[0]\n\
                    \nTerrane was in the process of creating the following resources for \"r1\" from\nthe module under test, and they may \
                    not have been destroyed:\n  - ledger_object.a\n";
        let report = Report::of_text(&outcome(text), &suite);
        let of = |key: &str, address: &str| name_of("a.tftest.hcl", key, address);
        assert_eq!(report.left, BTreeMap::from([(of("", "ledger_object.b"), 1), (of("x", "ledger_object.c[0]"), 1)]));
        assert!(report.is_abandoned && report.creating == BTreeSet::from([name]));
        let event = "{\"type\":\"test_interrupt\",\"@testfile\":\"a.tftest.hcl\",\"@testrun\":\"r1\",\"test_interrupt\":{\"state\":\
                     [{\"instance\":\"ledger_object.b\"}],\"states\":{\"x\":[{\"instance\":\"ledger_object.c[0]\"}]},\"planned\":\
                     [\"ledger_object.a\"]}}";
        assert_eq!(Report::of_events(event, &suite).unwrap(), report);
    }
}
