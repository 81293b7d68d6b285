//! One life: random steps until nothing is left, run by one or two programs and compared after each command.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::generate::Generator;
use super::provider::LOG;
use super::recording::Recording;
use super::world::{Node, What, World};
use super::{compare, excuses, order};
use crate::model::newer::Newer;
use crate::model::program::{Answer, Template, Workspace};
use crate::model::session::{ACCEPTED, Finding, both, shown};
use crate::model::step::Step;
use crate::model::tree::Configuration;
use crate::syntax::chance::Chance;

/// Options of a step that are none of the program.
const BY_FILE: &str = "@file";
const PLAN_ONLY: &str = "@plan";

/// What lives run with.
pub struct Lab {
    pub ours: PathBuf,
    pub reference: Option<PathBuf>,
    /// Settings that name the judge's providers.
    pub template: Template,
    pub folder: PathBuf,
    /// Where the answers of the reference to random lives are kept.
    pub recordings: Option<PathBuf>,
}

/// What is run in a step; which of them follows from its options.
pub const COMMANDS: [&str; 3] = [PLAN, APPLY, APPLY_FILE];

const PLAN: &str = "plan";
const APPLY: &str = "apply";
const APPLY_FILE: &str = "apply of the file";

/// A command that has ended, and what the providers were asked.
pub struct Ran {
    pub command: &'static str,
    pub answer: Answer,
    pub requests: Vec<Value>,
}

/// What one program did in one step.
pub struct Outcome {
    pub before: Value,
    pub commands: Vec<Ran>,
    pub shown: Value,
    pub after: Value,
}

impl Outcome {
    pub fn is_good(&self) -> bool {
        self.commands.iter().all(|ran| ran.answer.code == Some(0))
    }

    fn has_applied(&self) -> bool {
        self.commands.iter().any(|ran| ran.command != PLAN)
    }
}

/// A life under way.
pub struct Session {
    ours: Workspace,
    theirs: Option<Workspace>,
    recording: Option<Recording>,
    /// The last step applied its whole configuration: the state names just what the objects depend on now.
    is_settled: bool,
}

impl Lab {
    pub fn session(&self, name: &str) -> Session {
        let folder = self.folder.join(name);
        let make = |program: &PathBuf, place: &str| {
            Workspace::new(program, Newer::Nothing, folder.join(place), Some(&self.template)).unwrap()
        };
        Session {
            is_settled: false,
            ours: make(&self.ours, "ours"),
            theirs: self.reference.as_ref().map(|program| make(program, "reference")),
            recording: None,
        }
    }

    /// Lives a random life; returns its steps and what was found at the last of them.
    pub fn random(&self, seed: u64, steps: usize, name: &str) -> (Vec<Step>, Option<Finding>) {
        let mut generator = Generator { chance: Chance::new(seed) };
        let mut world = generator.world();
        let mut session = self.session(name);
        session.recording = self.recordings.as_ref().map(|folder| Recording::of(folder, seed));
        let mut history = Vec::new();
        let (mut good, mut note) = (world.clone(), "start".to_owned());
        let mut endings = ending(&mut generator);
        loop {
            let ends = history.len() >= steps;
            let options = match (ends, endings.is_empty()) {
                (true, true) => vec!["-destroy".to_owned()],
                (true, false) => generator.calm_options(),
                _ => generator.options(&world),
            };
            let step = Step { configuration: world.render(), options, tamper: None, note: note.clone() };
            history.push(step.clone());
            let (outcome, finding) = session.step(&step);
            if finding.is_some() || ends && endings.is_empty() {
                return (history, finding);
            }
            if outcome.is_good() {
                good = world.clone();
            } else {
                world = good.clone();
            }
            note = if history.len() < steps {
                generator.edit(&mut world)
            } else {
                let edit = endings.pop();
                edit.and_then(|edit| edit(&mut generator, &mut world)).unwrap_or_default()
            };
        }
    }

    /// Runs given steps.
    pub fn replay(&self, history: &[Step], name: &str) -> Option<Finding> {
        let mut session = self.session(name);
        history.iter().find_map(|step| session.step(step).1)
    }
}

type Edit = fn(&mut Generator, &mut World) -> Option<String>;

/// How the life ends before all that is left is destroyed, the last edit first.
fn ending(generator: &mut Generator) -> Vec<Edit> {
    let mut list: Vec<Edit> = Vec::new();
    if !generator.one_in(3) {
        list.push(|_, _| None);
    }
    if !generator.one_in(3) {
        list.push(|generator, world| Some(generator.remove_everything(world)));
    }
    let (module, kind): (Edit, Edit) = (Generator::remove_folder, Generator::remove_kind);
    list.extend(if generator.one_in(2) { [module, kind] } else { [kind, module] });
    list
}

impl Generator {
    fn options(&mut self, world: &World) -> Vec<String> {
        let mut options: Vec<String> = match self.chance.below(16) {
            0 => vec!["-refresh-only".to_owned()],
            1 => vec!["-refresh=false".to_owned()],
            2..=4 => self.addresses(world, "-target"),
            5..=6 => self.addresses(world, "-replace"),
            7 => {
                let mut options = self.addresses(world, "-target");
                options.push("-destroy".to_owned());
                options
            }
            _ => Vec::new(),
        };
        match self.chance.below(6) {
            0 | 1 => options.push(BY_FILE.to_owned()),
            2 => options.push(PLAN_ONLY.to_owned()),
            _ => {}
        }
        if self.one_in(5) {
            options.push("-parallelism=1".to_owned());
        }
        options
    }

    /// Options of the steps at the end.
    fn calm_options(&mut self) -> Vec<String> {
        if self.one_in(3) { vec![BY_FILE.to_owned()] } else { Vec::new() }
    }

    fn addresses(&mut self, world: &World, option: &str) -> Vec<String> {
        let mut able = Vec::new();
        for (folder, module) in &world.modules {
            let is_wanted =
                |node: &&Node| node.is_object() || option == "-target" && matches!(node.what, What::Look | What::Call);
            for node in module.nodes.iter().filter(is_wanted) {
                for call in world.calls_of(folder) {
                    able.extend(node.instances().iter().map(|at| format!("{option}={call}{at}")));
                    if option == "-target" {
                        able.push(format!("{option}={call}{}", node.address()));
                    }
                }
            }
        }
        let count = 1 + self.chance.below(2);
        (0..count).filter_map(|_| self.pick(&able).cloned()).collect()
    }
}

impl Session {
    /// Runs one step in every program and compares.
    pub fn step(&mut self, step: &Step) -> (Outcome, Option<Finding>) {
        let recording = &mut self.recording;
        let theirs = self.theirs.as_ref().map(|workspace| {
            move || match recording {
                Some(recording) => recording.outcome(step, |step| run(workspace, step)),
                None => run(workspace, step),
            }
        });
        let (ours, theirs) = both(|| run(&self.ours, step), theirs);
        let meant = theirs.as_ref().and_then(|theirs| excuses::of(step, &ours, theirs));
        if let Some(what) = meant {
            return (ours, Some(Finding::new(ACCEPTED, what)));
        }
        let finding = match &theirs {
            Some(theirs) => compare::outcomes(&ours, theirs, &self.ours),
            None => compare::alone(&ours),
        };
        let finding = finding.or_else(|| order::check(&ours, step, self.is_settled));
        self.is_settled = ours.is_good() && ours.has_applied() && step.is_whole();
        let about = format!("{} {:?}\n", step.note, step.options);
        (ours, finding.map(|f| Finding { report: format!("{about}{}", f.report), ..f }))
    }
}

fn run(workspace: &Workspace, step: &Step) -> Outcome {
    write(&step.configuration, &workspace.folder);
    let before = workspace.state();
    let own: Vec<&str> = step.options.iter().map(String::as_str).filter(|option| !option.starts_with('@')).collect();
    let mut commands = Vec::new();
    let mut document = Value::Null;
    if step.has(BY_FILE) || step.has(PLAN_ONLY) {
        let _ = std::fs::remove_file(workspace.folder.join("p"));
        commands.push(ran(workspace, PLAN, &["plan", "-json", "-out=p"], &own));
        document = shown(workspace, "p");
        let is_good = commands[0].answer.code == Some(0);
        if is_good && step.has(BY_FILE) && document["applyable"] == true {
            commands.push(ran(workspace, APPLY_FILE, &["apply", "-json", "p"], &[]));
        }
    } else {
        commands.push(ran(workspace, APPLY, &["apply", "-json", "-auto-approve"], &own));
    }
    Outcome { before, commands, shown: document, after: workspace.state() }
}

fn ran(workspace: &Workspace, command: &'static str, first: &[&str], options: &[&str]) -> Ran {
    let log = workspace.folder.join(LOG);
    let _ = std::fs::remove_file(&log);
    let args: Vec<&str> = first.iter().chain(options).copied().collect();
    let answer = workspace.run(&args);
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let requests = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Ran { command, answer, requests }
}

/// Writes a configuration in place of what was there.
fn write(configuration: &Configuration, folder: &Path) {
    for place in [folder.to_owned(), folder.join("m1"), folder.join("m2")] {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|end| end == "tf") {
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
    }
    configuration.write(folder).unwrap();
}
