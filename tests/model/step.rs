//! One step of a history: a configuration, options of `plan`, and what happened to the state in between.

use std::path::Path;

use serde_json::Value;

use super::generate::Generator;
use super::newer::Newer;
use super::normal::elements;
use super::tree::Configuration;

#[derive(Clone, Debug)]
pub struct Step {
    pub configuration: Configuration,
    /// Options of `plan` besides `-out`.
    pub options: Vec<String>,
    pub tamper: Option<Tamper>,
    /// What the generator did, for reports.
    pub note: String,
}

/// A change of the state file behind the program's back.
#[derive(Clone, Debug)]
pub struct Tamper {
    pub kind: TamperKind,
    /// Module, type, name and key of an instance, as the state file has them.
    pub place: [String; 4],
}

#[derive(Clone, Copy, Debug)]
pub enum TamperKind {
    /// What `taint` does.
    Taint,
    /// What `state rm` does.
    Forget,
    /// Another value for an output of the root module.
    Output,
    /// The file of a `local_file` is gone, or another one.
    FileGone,
    FileChanged,
}

impl Step {
    pub fn has(&self, option: &str) -> bool {
        self.options.iter().any(|o| o == option)
    }

    pub fn is_targeted(&self) -> bool {
        self.options.iter().any(|option| option.starts_with("-target") || option.starts_with("-exclude"))
    }

    /// Returns true where a plan right after this step's apply must have no changes.
    pub fn is_whole(&self) -> bool {
        let partial = ["-target", "-exclude", "-refresh-only", "-destroy", "-refresh=false", "-allow", "-invoke"];
        !self.options.iter().any(|option| partial.iter().any(|p| option.starts_with(p)))
    }
}

impl Generator {
    /// Chooses options for a plan, given the state before.
    pub fn options(&mut self, state: &Value, newer: Newer) -> Vec<String> {
        let mut options = match self.chance.below(40) {
            0 => vec!["-refresh-only".to_owned()],
            1 => vec!["-refresh=false".to_owned()],
            2 => vec!["-destroy".to_owned()],
            3..=5 if newer.has_exclude() && self.one_in(2) => self.addresses(state, "-exclude"),
            3..=5 => self.addresses(state, "-target"),
            6..=9 => self.addresses(state, "-replace"),
            10 => {
                let exclude = newer.has_exclude() && self.one_in(2);
                let mut options = self.addresses(state, if exclude { "-exclude" } else { "-target" });
                options.push("-destroy".to_owned());
                options
            }
            _ => Vec::new(),
        };
        if self.one_in(4) {
            options.push("-parallelism=1".to_owned());
        }
        options
    }

    fn addresses(&mut self, state: &Value, option: &str) -> Vec<String> {
        let found = instance_addresses(state);
        let count = if found.is_empty() { 0 } else { 1 + self.chance.below(2) };
        let mut list = Vec::new();
        for _ in 0..count {
            let (module, address) = &found[self.chance.below(found.len())];
            let whole = option != "-replace" && self.one_in(3);
            let address = match (whole, module.is_empty()) {
                (true, false) => module.clone(),
                (true, true) => address.split('[').next().unwrap_or_default().to_owned(),
                _ => address.clone(),
            };
            list.push(format!("{option}={address}"));
        }
        list
    }

    pub fn tamper(&mut self, state: &Value) -> Option<Tamper> {
        let managed = || elements(&state["resources"]).filter(|r| r["mode"] == "managed");
        let has_files = managed().any(|r| r["type"] == "local_file");
        let kind = match self.chance.below(if has_files { 9 } else { 3 }) {
            0 => TamperKind::Taint,
            1 => TamperKind::Forget,
            2 => TamperKind::Output,
            3..=5 => TamperKind::FileGone,
            _ => TamperKind::FileChanged,
        };
        let about_files = matches!(kind, TamperKind::FileGone | TamperKind::FileChanged);
        let managed = managed().filter(|r| !about_files || r["type"] == "local_file");
        let places: Vec<[String; 4]> =
            managed.flat_map(|r| elements(&r["instances"]).map(move |i| place(r, i))).collect();
        (!places.is_empty()).then(|| Tamper { kind, place: places[self.chance.below(places.len())].clone() })
    }
}

fn place(resource: &Value, instance: &Value) -> [String; 4] {
    let text = |name: &str| resource[name].as_str().unwrap_or_default().to_owned();
    [text("module"), text("type"), text("name"), instance["index_key"].to_string()]
}

/// Returns the module and the whole address of each managed instance in a state file.
fn instance_addresses(state: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for resource in elements(&state["resources"]).filter(|r| r["mode"] == "managed") {
        for instance in elements(&resource["instances"]) {
            let [module, kind, name, key] = place(resource, instance);
            let key = if key == "null" { String::new() } else { format!("[{key}]") };
            let prefix = if module.is_empty() { String::new() } else { format!("{module}.") };
            found.push((module, format!("{prefix}{kind}.{name}{key}")));
        }
    }
    found
}

impl Tamper {
    pub fn is_about_files(&self) -> bool {
        matches!(self.kind, TamperKind::FileGone | TamperKind::FileChanged)
    }

    /// Removes or changes the file of an instance.
    pub fn apply_to_files(&self, state: &Value, folder: &Path) {
        let instances = elements(&state["resources"]).flat_map(|r| elements(&r["instances"]).map(move |i| (r, i)));
        for (_, instance) in instances.filter(|(r, i)| place(r, i) == self.place) {
            let Some(file) = instance["attributes"]["filename"].as_str() else { continue };
            let file = folder.join(file);
            match self.kind {
                TamperKind::FileGone => drop(std::fs::remove_file(file)),
                TamperKind::FileChanged => drop(std::fs::write(file, "changed")),
                _ => {}
            }
        }
    }

    /// Changes a state file; does nothing where the instance is not there.
    pub fn apply(&self, state: &mut Value) {
        let Some(resources) = state["resources"].as_array_mut() else { return };
        for resource in resources {
            let before = resource.clone();
            let Some(instances) = resource["instances"].as_array_mut() else { continue };
            match self.kind {
                TamperKind::Forget => instances.retain(|i| place(&before, i) != self.place),
                TamperKind::Taint => {
                    for instance in instances.iter_mut().filter(|i| place(&before, i) == self.place) {
                        instance["status"] = "tainted".into();
                    }
                }
                TamperKind::Output | TamperKind::FileGone | TamperKind::FileChanged => {}
            }
        }
        if let Some(resources) = state["resources"].as_array_mut() {
            resources.retain(|r| elements(&r["instances"]).next().is_some());
        }
        let outputs = state["outputs"].as_object_mut().into_iter().flatten();
        if let (TamperKind::Output, Some((_, output))) = (self.kind, outputs.last()) {
            output["value"] = "tampered".into();
            output["type"] = "string".into();
        }
        let serial = state["serial"].as_u64().unwrap_or_default();
        state["serial"] = (serial + 1).into();
    }
}
