//! A case: a root module, two modules beside it and a test file, with their texts.
//!
//! All values are words of short lists. A few words make something fail: see [`INVALID`] and those after it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A value of a variable, of an attribute or of an output.
pub type Word = &'static str;

/// Refused by validations of variables.
pub const INVALID: Word = "invalid";
/// Refused by preconditions of resources.
pub const NO_PRECONDITION: Word = "pre";
/// Refused by postconditions of resources.
pub const NO_POSTCONDITION: Word = "post";
/// Refused by preconditions of outputs.
pub const NO_OUTPUT: Word = "out";
/// Refused by assertions of checks.
pub const NO_CHECK: Word = "check";
/// As the input of a resource: its `create` provisioner fails.
pub const NO_CREATE: Word = "create";
/// As the input of a resource: its `destroy` provisioner fails.
pub const NO_DESTROY: Word = "destroy";
/// What the mocks and overrides of the file make.
pub const MOCKED: Word = "mocked";
/// What the override of a run makes.
pub const OVERRIDDEN: Word = "overridden";

/// The resource of the root module before which the child module is called.
pub const CALL_AFTER: usize = 1;
pub const TEST_FILE: &str = "main.tftest.hcl";
/// To which provisioners append a line per object that they see created or destroyed.
pub const LOG: &str = "order.log";

/// An expression of a module or of an assertion. Indices count in the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expr {
    Text(Word),
    /// `var.tag`: the state that a run uses.
    Tag,
    Variable(usize),
    /// `input.value` of a resource.
    Input(usize),
    /// `output.value` of a resource: unknown in a plan that creates it or changes its input.
    Output(usize),
    /// An output of the called module.
    Child(usize),
    /// An output of the module itself; in assertions only.
    Own(usize),
    /// An output of an earlier run; in assertions only.
    Run(usize, usize),
}

impl Expr {
    fn text(self, letter: char) -> String {
        match self {
            Expr::Text(word) => format!("{word:?}"),
            Expr::Tag => "var.tag".to_owned(),
            Expr::Variable(n) => format!("var.v{n}"),
            Expr::Input(n) => format!("terraform_data.{letter}{n}.input.value"),
            Expr::Output(n) => format!("terraform_data.{letter}{n}.output.value"),
            Expr::Child(n) => format!("module.child.o{n}"),
            Expr::Own(n) => format!("output.o{n}"),
            Expr::Run(run, n) => format!("run.r{run}.o{n}"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub default: Option<Word>,
    pub is_checked: bool,
}

/// The attribute that a postcondition judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    Input,
    Output,
}

#[derive(Clone, Debug)]
pub struct Resource {
    pub input: Expr,
    pub trigger: Option<Expr>,
    /// An earlier resource in `depends_on`.
    pub after: Option<usize>,
    pub precondition: Option<Expr>,
    pub postcondition: Option<Attribute>,
}

impl Resource {
    /// All that refers to something, except for `depends_on`.
    pub fn expressions(&self) -> impl Iterator<Item = Expr> + use<> {
        [Some(self.input), self.trigger, self.precondition].into_iter().flatten()
    }
}

#[derive(Clone, Debug)]
pub struct Output {
    pub value: Expr,
    pub is_checked: bool,
}

#[derive(Clone, Debug)]
pub struct Module {
    /// The first letter of the names of its resources.
    pub letter: char,
    pub variables: Vec<Variable>,
    pub resources: Vec<Resource>,
    pub outputs: Vec<Output>,
    pub checks: Vec<Expr>,
    /// The first variable of the child module, if that is called.
    pub call: Option<Expr>,
}

/// Which module a run tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    Root,
    Child,
    Setup,
}

impl Folder {
    /// The source in `module`; empty for the root module.
    pub fn source(self) -> Word {
        match self {
            Folder::Root => "",
            Folder::Child => "./child",
            Folder::Setup => "./setup",
        }
    }

    fn tag(self) -> Word {
        match self {
            Folder::Root => "main",
            Folder::Child => "child",
            Folder::Setup => "setup",
        }
    }
}

/// A variable of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    Text(Word),
    /// A variable of the file.
    File(Word),
    Run(usize, usize),
}

/// A variable of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileValue {
    Text(Word),
    /// An output of a run; 1.13 and newer.
    Run(usize, usize),
}

/// How an assertion uses its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Equals(Word),
    /// The text itself, which is not a bool.
    Text,
    /// A number is made of it, which fails.
    Number,
    /// Null for all words but "other".
    Null,
}

#[derive(Clone, Copy, Debug)]
pub struct Assertion {
    pub expr: Expr,
    pub condition: Condition,
}

impl Assertion {
    fn text(self, letter: char) -> String {
        let expr = self.expr.text(letter);
        match self.condition {
            Condition::Equals(word) => format!("{expr} == {word:?}"),
            Condition::Text => expr,
            Condition::Number => format!("tonumber({expr}) > 0"),
            Condition::Null => format!("{expr} == \"other\" ? true : null"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Run {
    pub folder: Folder,
    pub is_plan: bool,
    pub state_key: Option<Word>,
    /// 1.12 and newer.
    pub is_parallel: Option<bool>,
    /// Newer.
    pub skip_cleanup: Option<bool>,
    pub variables: BTreeMap<usize, Argument>,
    pub expects: BTreeSet<String>,
    pub assertions: Vec<Assertion>,
    /// A resource of the module that is replaced in any case.
    pub replace: Option<usize>,
    /// A resource of the module with an override in the run.
    pub overridden: Option<usize>,
}

impl Run {
    pub fn key(&self) -> Word {
        self.state_key.unwrap_or(self.folder.source())
    }

    pub fn tag(&self) -> Word {
        self.state_key.unwrap_or(self.folder.tag())
    }
}

/// What stands in for real objects in all runs of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubles {
    None,
    Provider,
    /// One resource of the root module.
    Resource(usize),
    ChildModule,
}

#[derive(Clone, Debug)]
pub struct Case {
    /// The file has words that 1.11 does not know, and is judged by the newest rules.
    pub is_newer: bool,
    pub root: Module,
    pub child: Module,
    pub setup: Module,
    pub file_variables: BTreeMap<Word, FileValue>,
    pub doubles: Doubles,
    /// Doubles also answer plans.
    pub is_during_plan: bool,
    /// `parallel` of the block `test`.
    pub is_parallel: bool,
    pub runs: Vec<Run>,
}

impl Case {
    pub fn module(&self, folder: Folder) -> &Module {
        match folder {
            Folder::Root => &self.root,
            Folder::Child => &self.child,
            Folder::Setup => &self.setup,
        }
    }

    /// Paths below the folder of the root module, with texts.
    pub fn files(&self) -> [(&'static str, String); 4] {
        [
            ("main.tf", self.root.text()),
            ("child/main.tf", self.child.text()),
            ("setup/main.tf", self.setup.text()),
            (TEST_FILE, self.test_file()),
        ]
    }

    /// The whole case for people.
    pub fn display(&self) -> String {
        self.files().iter().map(|(path, text)| format!("--- {path}\n{text}\n")).collect()
    }

    fn test_file(&self) -> String {
        let mut text = String::new();
        if self.is_parallel {
            text += "test {\n  parallel = true\n}\n";
        }
        if !self.file_variables.is_empty() {
            text += "variables {\n";
            for (name, value) in &self.file_variables {
                let value = match value {
                    FileValue::Text(word) => Expr::Text(word),
                    FileValue::Run(run, output) => Expr::Run(*run, *output),
                };
                let _ = writeln!(text, "  {name} = {}", value.text(' '));
            }
            text += "}\n";
        }
        text += &self.doubles_text();
        for (number, run) in self.runs.iter().enumerate() {
            text += &self.run_text(number, run);
        }
        text
    }

    fn doubles_text(&self) -> String {
        let during = if self.is_during_plan { "  override_during = plan\n" } else { "" };
        let made = made(MOCKED);
        match self.doubles {
            Doubles::None => String::new(),
            Doubles::Provider => format!(
                "mock_provider \"terraform\" {{\n{during}  mock_resource \"terraform_data\" {{\n    defaults = {made}\n  }}\n}}\n"
            ),
            Doubles::Resource(n) => {
                format!("override_resource {{\n  target = terraform_data.a{n}\n{during}  values = {made}\n}}\n")
            }
            Doubles::ChildModule => {
                let outputs = 0..self.child.outputs.len();
                let outputs: String = outputs.map(|n| format!("    o{n} = \"{MOCKED}\"\n")).collect();
                format!("override_module {{\n  target = module.child\n  outputs = {{\n{outputs}  }}\n}}\n")
            }
        }
    }

    fn run_text(&self, number: usize, run: &Run) -> String {
        let letter = self.module(run.folder).letter;
        let mut text = format!("run \"r{number}\" {{\n");
        if run.is_plan {
            text += "  command = plan\n";
        }
        if let Some(key) = run.state_key {
            let _ = writeln!(text, "  state_key = {key:?}");
        }
        if let Some(is_parallel) = run.is_parallel {
            let _ = writeln!(text, "  parallel = {is_parallel}");
        }
        if let Some(skip) = run.skip_cleanup {
            let _ = writeln!(text, "  skip_cleanup = {skip}");
        }
        if run.folder != Folder::Root {
            let _ = writeln!(text, "  module {{\n    source = {:?}\n  }}", run.folder.source());
        }
        if let Some(n) = run.replace {
            let _ = writeln!(text, "  plan_options {{\n    replace = [terraform_data.{letter}{n}]\n  }}");
        }
        let _ = writeln!(text, "  variables {{\n    tag = {:?}", run.tag());
        for (n, argument) in &run.variables {
            let value = match argument {
                Argument::Text(word) => format!("{word:?}"),
                Argument::File(name) => format!("var.{name}"),
                Argument::Run(run, output) => Expr::Run(*run, *output).text(letter),
            };
            let _ = writeln!(text, "    v{n} = {value}");
        }
        text += "  }\n";
        if let Some(n) = run.overridden {
            let (target, made) = (format!("terraform_data.{letter}{n}"), made(OVERRIDDEN));
            let _ = writeln!(text, "  override_resource {{\n    target = {target}\n    values = {made}\n  }}");
        }
        if !run.expects.is_empty() {
            let list: Vec<&str> = run.expects.iter().map(String::as_str).collect();
            let _ = writeln!(text, "  expect_failures = [{}]", list.join(", "));
        }
        for assertion in &run.assertions {
            text += &rule("  ", "assert", &assertion.text(letter));
        }
        text + "}\n"
    }
}

/// The computed attributes of an object that is not real. The identifier is given because 1.11 makes another one in
/// apply than in the plan if overrides act during plans.
fn made(word: Word) -> String {
    format!("{{ id = \"{word}\", output = {{ tag = \"none\", value = \"{word}\" }} }}")
}

/// A block with a condition.
fn rule(indent: &str, kind: &str, condition: &str) -> String {
    format!(
        "{indent}{kind} {{\n{indent}  condition = {condition}\n{indent}  error_message = \"It failed.\"\n{indent}}}\n"
    )
}

impl Module {
    fn text(&self) -> String {
        let mut text = "variable \"tag\" {\n  type = string\n}\n".to_owned();
        for (n, variable) in self.variables.iter().enumerate() {
            let _ = writeln!(text, "variable \"v{n}\" {{\n  type = string");
            if let Some(default) = variable.default {
                let _ = writeln!(text, "  default = {default:?}");
            }
            if variable.is_checked {
                text += &rule("  ", "validation", &format!("var.v{n} != {INVALID:?}"));
            }
            text += "}\n";
        }
        for (n, resource) in self.resources.iter().enumerate() {
            text += &self.resource_text(n, resource);
        }
        if let Some(call) = self.call {
            let value = call.text(self.letter);
            let _ = writeln!(text, "module \"child\" {{\n  source = \"./child\"\n  tag = var.tag\n  v0 = {value}\n}}");
        }
        for (n, output) in self.outputs.iter().enumerate() {
            let value = output.value.text(self.letter);
            let _ = writeln!(text, "output \"o{n}\" {{\n  value = {value}");
            if output.is_checked {
                text += &rule("  ", "precondition", &format!("{value} != {NO_OUTPUT:?}"));
            }
            text += "}\n";
        }
        for (n, check) in self.checks.iter().enumerate() {
            let condition = format!("{} != {NO_CHECK:?}", check.text(self.letter));
            let _ = writeln!(text, "check \"c{n}\" {{\n{}}}", rule("  ", "assert", &condition));
        }
        text
    }

    fn resource_text(&self, n: usize, resource: &Resource) -> String {
        let letter = self.letter;
        let input = resource.input.text(letter);
        let mut text =
            format!("resource \"terraform_data\" \"{letter}{n}\" {{\n  input = {{ tag = var.tag, value = {input} }}\n");
        if let Some(trigger) = resource.trigger {
            let _ = writeln!(text, "  triggers_replace = {}", trigger.text(letter));
        }
        if let Some(after) = resource.after {
            let _ = writeln!(text, "  depends_on = [terraform_data.{letter}{after}]");
        }
        for (when, refused) in [("create", NO_CREATE), ("destroy", NO_DESTROY)] {
            let line = format!("{when} {letter}{n} ${{self.input.tag}} ${{self.input.value}}");
            let command = format!("echo {line} >> {LOG}; test '${{self.input.value}}' != {refused}");
            let at = if when == "destroy" { "    when = destroy\n" } else { "" };
            let _ = writeln!(text, "  provisioner \"local-exec\" {{\n{at}    command = \"{command}\"\n  }}");
        }
        if resource.precondition.is_some() || resource.postcondition.is_some() {
            text += "  lifecycle {\n";
            if let Some(expr) = resource.precondition {
                text += &rule("    ", "precondition", &format!("{} != {NO_PRECONDITION:?}", expr.text(letter)));
            }
            if let Some(attribute) = resource.postcondition {
                let attribute = if attribute == Attribute::Input { "input" } else { "output" };
                let condition = format!("self.{attribute}.value != {NO_POSTCONDITION:?}");
                text += &rule("    ", "postcondition", &condition);
            }
            text += "  }\n";
        }
        text + "}\n"
    }
}
