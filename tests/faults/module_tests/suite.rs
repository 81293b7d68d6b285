//! Random suites of tests: runs of the root module and of others, with references, states that several runs share, and replacements.
//!
//! The name of an object says where it belongs: its file, its state and its address. So each mention in a report is one of an object.

use std::fmt::Write;

use super::provider::KIND;
use crate::support::Project;
use crate::syntax::chance::Chance;

/// The tests of a project.
pub struct Suite {
    /// Paths below the working directory, with texts.
    files: Vec<(String, String)>,
    runs: Vec<RunFacts>,
}

struct RunFacts {
    file: String,
    name: String,
    key: String,
    /// Others may refer to its output.
    is_apply: bool,
}

/// The name of an object.
pub fn name_of(file: &str, key: &str, address: &str) -> String {
    format!("{}|{address}", place_of(file, key))
}

/// The address in a name.
pub fn address_in(name: &str) -> &str {
    name.rsplit('|').next().unwrap_or_default()
}

fn place_of(file: &str, key: &str) -> String {
    let key = if key.is_empty() { "root" } else { key.trim_start_matches("./") };
    format!("{}|{key}", file.replace('/', "~"))
}

impl Suite {
    /// `padding`: so many bytes in each object, for disks that are to be full.
    pub fn random(chance: &mut Chance, is_newer: bool, padding: usize) -> Suite {
        let mut suite = Suite { files: Vec::new(), runs: Vec::new() };
        let child = "module \"child\" {\n  source = \"./child\"\n  place  = var.place\n  round  = var.round\n  value  = ledger_object.a.id\n}\n";
        let call = if chance.below(2) == 0 { child } else { "" };
        suite.add("main.tf", module(chance, "", padding) + call);
        suite.add("child/main.tf", module(chance, "module.child.", padding));
        suite.add("setup/main.tf", module(chance, "", padding));
        suite.add("extra/main.tf", module(chance, "", padding));
        suite.add_tests(chance, "a.tftest.hcl", is_newer);
        if chance.below(3) == 0 {
            suite.add_tests(chance, "tests/b.tftest.hcl", is_newer);
        }
        suite
    }

    fn add(&mut self, path: &str, text: String) {
        self.files.push((path.to_owned(), text));
    }

    fn add_tests(&mut self, chance: &mut Chance, file: &str, is_newer: bool) {
        let mut text = String::new();
        if is_newer && chance.below(3) == 0 {
            text += "test {\n  parallel = true\n}\n\n";
        }
        for number in 1..=2 + chance.below(3) {
            text += &self.run(chance, file, &format!("r{number}"), is_newer);
        }
        self.add(file, text);
    }

    fn run(&mut self, chance: &mut Chance, file: &str, name: &str, is_newer: bool) -> String {
        let module = chance.one_of(&["", "", "", "./setup", "./extra"]);
        let has_own_key = is_newer && !module.is_empty() && chance.below(3) == 0;
        let key = if has_own_key { "other" } else { module };
        let is_apply = name == "r1" || chance.below(6) > 0;
        let mut text = format!("run \"{name}\" {{\n");
        if !is_apply {
            text += "  command = plan\n";
        }
        if has_own_key {
            text += "  state_key = \"other\"\n";
        }
        if is_newer && is_apply && chance.below(10) == 0 {
            text += "  skip_cleanup = true\n";
        }
        if !module.is_empty() {
            let _ = writeln!(text, "\n  module {{\n    source = \"{module}\"\n  }}");
        }
        let able: Vec<&str> =
            self.runs.iter().filter(|run| run.file == file && run.is_apply).map(|run| &*run.name).collect();
        let value = match able.is_empty() || chance.below(2) == 0 {
            true => format!("\"v{}\"", chance.below(3)),
            false => format!("run.{}.id", chance.one_of(&able)),
        };
        let (place, round) = (place_of(file, key), 1 + chance.below(2));
        let _ = writeln!(
            text,
            "\n  variables {{\n    place = \"{place}\"\n    round = \"{round}\"\n    value = {value}\n  }}"
        );
        if is_apply && chance.below(6) == 0 {
            text += "\n  assert {\n    condition     = output.id == \"\"\n    error_message = \"As asked.\"\n  }\n";
        }
        self.runs.push(RunFacts { file: file.to_owned(), name: name.to_owned(), key: key.to_owned(), is_apply });
        text + "}\n\n"
    }

    /// Writes it into a project.
    pub fn write(&self, project: &Project) {
        for (path, text) in &self.files {
            project.write(&format!("work/{path}"), text);
        }
    }

    /// The state key of a run.
    pub fn key_of(&self, file: &str, run: &str) -> Option<&str> {
        self.runs.iter().find(|facts| facts.file == file && facts.name == run).map(|facts| &*facts.key)
    }

    /// All of it, for the report of a failure.
    pub fn text(&self) -> String {
        self.files.iter().map(|(path, text)| format!("# {path}\n{text}\n")).collect()
    }
}

/// A module with up to four resources. The first one is always there.
fn module(chance: &mut Chance, prefix: &str, padding: usize) -> String {
    let mut text =
        "terraform {\n  required_providers {\n    ledger = { source = \"example.com/test/ledger\" }\n  }\n}\n\n\
                    variable \"place\" {\n  type = string\n}\n\nvariable \"round\" {\n  type = string\n}\n\n\
                    variable \"value\" {\n  type = string\n}\n\n"
            .to_owned();
    for name in ["a", "b", "c", "d"].into_iter().take(1 + chance.below(4)) {
        let is_first = name == "a";
        let is_repeated = !is_first && chance.below(3) == 0;
        let index = if is_repeated { "[${count.index}]" } else { "" };
        let _ = writeln!(text, "resource \"{KIND}\" \"{name}\" {{");
        if is_repeated {
            text += "  count = 2\n";
        }
        let _ = writeln!(text, "  name  = \"${{var.place}}|{prefix}{KIND}.{name}{index}\"");
        let _ = writeln!(text, "  value = \"${{var.value}}{}\"", "x".repeat(padding));
        if chance.below(2) == 0 {
            text += "  round = var.round\n";
        }
        if !is_first && chance.below(2) == 0 {
            let _ = writeln!(text, "  uses  = {KIND}.a.id");
        }
        if chance.below(3) == 0 {
            text += "\n  lifecycle {\n    create_before_destroy = true\n  }\n";
        }
        text += "}\n\n";
    }
    let _ = writeln!(text, "output \"id\" {{\n  value = {KIND}.a.id\n}}\n");
    text
}
