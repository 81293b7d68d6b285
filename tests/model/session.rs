//! Runs histories: the same steps in one or two programs, compared after each command.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::generate::Generator;
use super::newer::Newer;
use super::normal::{Difference, details, difference};
use super::program::{Answer, Diagnostic, Template, Workspace};
use super::step::Step;
use super::{excuses, invariants, shrink};
use crate::syntax::chance::Chance;

/// What a history runs with.
pub struct Lab {
    pub ours: PathBuf,
    pub reference: Option<PathBuf>,
    /// For histories that use a provider outside the binary: one for us, one for the reference.
    pub templates: Option<Vec<Template>>,
    /// Working directories are made below it.
    pub folder: PathBuf,
    pub newer: Newer,
}

/// A broken invariant or a difference from the reference.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The same for the same fault, roughly.
    pub class: String,
    pub report: String,
}

/// The class of differences that are meant.
pub const ACCEPTED: &str = "accepted";

/// What one program did in one step.
pub struct Outcome {
    pub plan: Answer,
    pub shown: Value,
    pub apply: Option<Answer>,
    pub state: Value,
    /// A second plan, right after.
    pub again: Option<Answer>,
    pub shown_again: Value,
}

/// One history under way.
pub struct Session {
    pub ours: Workspace,
    theirs: Option<Workspace>,
    /// A third folder, in which the reference reads our state.
    crossing: Option<Workspace>,
    number: usize,
    newer: Newer,
}

impl Finding {
    /// Ends a history whose programs went different ways on purpose.
    fn accepted(what: &str) -> Finding {
        Finding::new(ACCEPTED, what)
    }

    pub fn new(class: impl Into<String>, report: impl Into<String>) -> Finding {
        Finding { class: class.into(), report: report.into() }
    }
}

impl Lab {
    pub fn session(&self, name: &str, uses_providers: bool) -> Session {
        let folder = self.folder.join(name);
        let template = |i: usize| self.templates.as_ref().filter(|_| uses_providers).map(|t| &t[i]);
        let make = |program: &PathBuf, place: &str, i: usize| {
            Workspace::new(program, self.newer, folder.join(place), template(i))
                .unwrap_or_else(|e| panic!("{place}: {e}"))
        };
        Session {
            ours: make(&self.ours, "ours", 0),
            theirs: self.reference.as_ref().map(|program| make(program, "reference", 1)),
            crossing: self.reference.as_ref().map(|program| make(program, "crossing", 1)),
            number: 0,
            newer: self.newer,
        }
    }

    /// Runs a random history; returns its steps and what was found at the last of them.
    pub fn random(&self, seed: u64, steps: usize, name: &str) -> (Vec<Step>, Option<Finding>) {
        let mut generator = Generator { chance: Chance::new(seed) };
        let beyond = self.newer != Newer::Nothing;
        let uses_providers = self.templates.is_some() && (generator.one_in(2) || beyond && generator.one_in(2));
        let choices: [&[&str]; 4] =
            [&["null"], &["null", "random"], &["random", "local"], &["null", "random", "local"]];
        let mut providers = if uses_providers { choices[generator.chance.below(4)].to_vec() } else { Vec::new() };
        if uses_providers && beyond {
            // Without a second program, only a provider whose objects never share a file and have nothing random but IDs.
            if self.newer == Newer::Everything || generator.one_in(2) {
                providers.clear();
            }
            providers.push("depot");
        }
        let mut world = generator.world(providers, self.newer);
        let mut session = self.session(name, uses_providers);
        let mut history = Vec::new();
        let mut good = world.clone();
        let mut note = "start".to_owned();
        for number in 0..=steps {
            let last = number == steps;
            let state = session.ours.state();
            let mut step = Step {
                configuration: world.render(),
                options: generator.options(&state, self.newer),
                tamper: if generator.one_in(12) { generator.tamper(&state) } else { None },
                note: note.clone(),
            };
            generator.newer_options(&world, &mut step.options);
            if last {
                let nodes = world.modules.values_mut().flat_map(|module| &mut module.nodes);
                nodes.for_each(|node| node.lifecycle.prevent_destroy = false);
                step.configuration = world.render();
                step.options = vec!["-destroy".to_owned()];
                step.tamper = None;
            }
            history.push(step.clone());
            let (outcome, finding) = session.step(&step);
            if finding.is_some() {
                return (history, finding);
            }
            let applied = outcome.apply.is_none_or(|apply| apply.code == Some(0));
            if outcome.plan.code == Some(0) && applied || generator.one_in(8) {
                good = world.clone();
            } else {
                world = good.clone();
            }
            let edits = 1 + generator.chance.below(3);
            note = (0..edits).map(|_| generator.edit(&mut world)).collect::<Vec<_>>().join(", ");
        }
        (history, None)
    }

    /// Makes a history small that has a finding.
    pub fn shrunk(&self, history: Vec<Step>, finding: Finding, budget: Duration) -> (Vec<Step>, Finding) {
        let name = format!("shrink-{}", std::process::id());
        shrink::shrink(&|steps| self.replay(steps, &name), history, finding, budget)
    }

    /// Runs given steps.
    pub fn replay(&self, history: &[Step], name: &str) -> Option<Finding> {
        let uses_providers = history.iter().any(|step| step.configuration.display().contains("hashicorp/"));
        let mut session = self.session(name, uses_providers);
        history.iter().find_map(|step| session.step(step).1)
    }

    /// True if both programs give the same answers in the whole history.
    pub fn agrees(&self, history: &[Step]) -> bool {
        self.replay(history, &format!("judge-{}", std::process::id())).is_none()
    }
}

impl Session {
    /// Runs one step in every program and compares.
    pub fn step(&mut self, step: &Step) -> (Outcome, Option<Finding>) {
        self.number += 1;
        let before = self.ours.state();
        let alone = self.theirs.is_none();
        let again = alone || self.number.is_multiple_of(2);
        let number = self.number;
        let (ours, theirs) = both(
            || Outcome::planned(&self.ours, step),
            self.theirs.as_ref().map(|workspace| || Outcome::planned(workspace, step)),
        );
        // What has no changes is not worth a command each time.
        let is_wanted = |outcome: &Outcome| outcome.shown["applyable"] == true || number.is_multiple_of(3);
        let apply = is_wanted(&ours) || theirs.as_ref().is_some_and(is_wanted);
        let (ours, theirs) = both(
            || ours.carried_out(&mut self.ours, number, apply, again),
            theirs
                .zip(self.theirs.as_mut())
                .map(|(theirs, other)| move || theirs.carried_out(other, number, apply, again)),
        );
        let mut finding = invariants::check(&before, step, &ours, &self.ours, alone);
        if let (Some(theirs), Some(workspace)) = (&theirs, &self.theirs) {
            if let Some(what) = excuses::of_answers(self.newer, step, &ours, theirs) {
                return (ours, Some(Finding::accepted(what)));
            }
            finding = finding.or_else(|| compare(step, &ours, theirs, &self.ours, workspace));
            let shown = |f: &Finding| match f.class.starts_with("second plan") {
                true => self.ours.ids.plan(&ours.shown_again),
                false => self.ours.ids.plan(&ours.shown),
            };
            if let Some(what) = finding.as_ref().and_then(|f| excuses::of_documents(self.newer, step, f, &shown(f))) {
                return (ours, Some(Finding::accepted(what)));
            }
        }
        finding = finding.or_else(|| self.cross(step, &ours));
        let about = format!("step {number} ({}) {:?} {:?}\n", step.note, step.options, step.tamper);
        let finding = finding.map(|f| Finding { report: format!("{about}{}", f.report), ..f });
        (ours, finding)
    }

    /// Lets the reference plan with our state.
    fn cross(&mut self, step: &Step, ours: &Outcome) -> Option<Finding> {
        let again = ours.again.as_ref()?;
        let crossing = self.crossing.as_ref().filter(|_| self.number.is_multiple_of(4))?;
        step.configuration.write(&crossing.folder).unwrap();
        let _ = std::fs::copy(self.ours.state_path(), crossing.state_path());
        copy_files(&self.ours.folder, &crossing.folder);
        let mut answer = crossing.run(&["plan", "-json", "-detailed-exitcode"]);
        let mut changes = answer.out.lines().filter(|line| line.contains("\"type\":\"planned_change\""));
        let is_of_data = changes.all(|line| line.contains("\"resource_type\":\"terraform_data\""));
        if answer.code == Some(2) && is_of_data && self.newer == Newer::Terraform {
            // There, the objects of `terraform_data` have one more attribute.
            answer.code = Some(0);
        }
        let report = || format!("ours:\n{}the reference with our state:\n{}", again.display(), answer.display());
        (answer.code != again.code).then(|| Finding::new("crossing: exit code", report()))
    }
}

/// Copies what resources of `local` wrote.
fn copy_files(from: &Path, to: &Path) {
    for folder in ["files", "service/things"] {
        let (from, to) = (from.join(folder), to.join(folder));
        let _ = std::fs::remove_dir_all(&to);
        for entry in std::fs::read_dir(from).into_iter().flatten().flatten() {
            let _ = std::fs::create_dir_all(&to);
            let _ = std::fs::copy(entry.path(), to.join(entry.file_name()));
        }
    }
}

/// Does both at the same time.
pub fn both<T: Send>(ours: impl FnOnce() -> T, theirs: Option<impl FnOnce() -> T + Send>) -> (T, Option<T>) {
    std::thread::scope(|scope| {
        let theirs = theirs.map(|theirs| scope.spawn(theirs));
        let ours = ours();
        (ours, theirs.map(|thread| thread.join().unwrap_or_else(|_| panic!("the reference could not be run"))))
    })
}

impl Outcome {
    /// Prepares the working directory and plans.
    fn planned(workspace: &Workspace, step: &Step) -> Outcome {
        if let Some(tamper) = &step.tamper {
            let mut state = workspace.state();
            tamper.apply_to_files(&state, &workspace.folder);
            if state.is_object() && !tamper.is_about_files() {
                tamper.apply(&mut state);
                std::fs::write(workspace.state_path(), serde_json::to_vec_pretty(&state).unwrap()).unwrap();
            }
        }
        step.configuration.write(&workspace.folder).unwrap();
        let _ = std::fs::remove_file(workspace.folder.join("p"));
        let mut args = vec!["plan", "-json", "-out=p"];
        args.extend(step.options.iter().map(String::as_str));
        let plan = workspace.run(&args);
        let shown = shown(workspace, "p");
        Outcome { plan, shown, apply: None, state: Value::Null, again: None, shown_again: Value::Null }
    }

    /// Applies the plan if that is wanted and possible, and plans again.
    fn carried_out(mut self, workspace: &mut Workspace, number: usize, apply: bool, again: bool) -> Outcome {
        let wanted = self.plan.code == Some(0) && apply;
        self.apply = wanted.then(|| workspace.run(&["apply", "-json", "p"]));
        self.state = workspace.state();
        workspace.ids.learn(&self.state, number);
        self.again = (again && self.apply.is_some()).then(|| {
            let _ = std::fs::remove_file(workspace.folder.join("p2"));
            workspace.run(&["plan", "-json", "-detailed-exitcode", "-out=p2"])
        });
        if self.again.as_ref().is_some_and(|answer| answer.code != Some(0)) {
            self.shown_again = shown(workspace, "p2");
        }
        self
    }
}

/// A plan as JSON; null if the plan failed before there was one.
pub fn shown(workspace: &Workspace, file: &str) -> Value {
    if workspace.folder.join(file).exists() { workspace.document(&["show", "-json", file]) } else { Value::Null }
}

/// Compares what two programs did in one step.
fn compare(step: &Step, ours: &Outcome, theirs: &Outcome, our: &Workspace, their: &Workspace) -> Option<Finding> {
    let mut their_plan = their.ids.plan(&theirs.shown);
    if step.has("-refresh-only") && ours.shown["applyable"] == false && their_plan["applyable"] == true {
        // The reference compares how numbers and lists of dependencies are held in memory.
        their_plan["applyable"] = false.into();
    }
    compare_answers("plan", &ours.plan, &theirs.plan, our, their)
        .or_else(|| documents("plan", our.ids.plan(&ours.shown), their_plan))
        .or_else(|| match (&ours.apply, &theirs.apply) {
            (Some(ours), Some(theirs)) => compare_answers("apply", ours, theirs, our, their),
            _ => None,
        })
        .or_else(|| documents("state", our.ids.state(&ours.state), their.ids.state(&theirs.state)))
        .or_else(|| documents("notes", notes(our), notes(their)))
        .or_else(|| match (&ours.again, &theirs.again) {
            (Some(ours), Some(theirs)) => compare_answers("second plan", ours, theirs, our, their),
            _ => None,
        })
        .or_else(|| documents("second plan", our.ids.plan(&ours.shown_again), their.ids.plan(&theirs.shown_again)))
}

fn compare_answers(what: &str, ours: &Answer, theirs: &Answer, our: &Workspace, their: &Workspace) -> Option<Finding> {
    let report = |ids: &Workspace, answer: &Answer| ids.ids.text(&answer.display());
    let report = || format!("ours: {}\nreference: {}", report(our, ours), report(their, theirs));
    if ours.code != theirs.code {
        let first = ours.errors().chain(theirs.errors()).next().map(|d| d.summary.clone()).unwrap_or_default();
        return Some(Finding::new(format!("{what}: exit code: {first}"), report()));
    }
    let brief = |answer: &Answer| -> Vec<(String, String)> {
        // The order of members of a cycle is random, and so is the missing provider that is named.
        let summary = |d: &Diagnostic| {
            let start = ["Cycle:", "missing provider "].into_iter().find(|start| d.summary.starts_with(start));
            match start {
                Some(start) => start.to_owned(),
                // OpenTofu has other texts.
                None if d.summary.ends_with(" does not allow ephemeral value") => {
                    "Ephemeral value not allowed".to_owned()
                }
                None => d.summary.clone(),
            }
        };
        // Newer programs also warn where a whole object with a deprecated attribute is used.
        let deprecations = ["Deprecated value used", "Value derived from a deprecated source"];
        let counted = answer.diagnostics.iter().filter(|d| !deprecations.contains(&&*d.summary));
        let mut list: Vec<_> = counted.map(|d| (d.severity.clone(), summary(d))).collect();
        list.sort();
        // The reference evaluates some expressions more than once and repeats their errors.
        list.dedup();
        list
    };
    let (a, b) = (brief(ours), brief(theirs));
    if a != b {
        let odd = a.iter().find(|d| !b.contains(d)).or_else(|| b.iter().find(|d| !a.contains(d)));
        return Some(Finding::new(format!("{what}: diagnostics: {:?}", odd.map(|d| &d.1)), report()));
    }
    let full = |ids: &Workspace, answer: &Answer| -> Vec<String> {
        let mut list: Vec<_> = answer.diagnostics.iter().map(|d| ids.ids.text(&format!("{d:?}"))).collect();
        list.sort();
        list
    };
    if details() && full(our, ours) != full(their, theirs) {
        let first = ours.diagnostics.first().map(|d| d.summary.clone()).unwrap_or_default();
        return Some(Finding::new(format!("{what}: details: {first}"), report()));
    }
    None
}

/// What the actions did.
fn notes(workspace: &Workspace) -> Value {
    let lines = workspace.log().into_iter().filter(|line| line.starts_with("note "));
    let mut notes: Vec<String> = lines.map(|line| workspace.ids.text(&line)).collect();
    notes.sort();
    notes.into()
}

fn documents(what: &str, ours: Value, theirs: Value) -> Option<Finding> {
    // OpenTofu cannot show plans with ephemeral resources of some providers.
    if theirs.as_str().is_some_and(|text| text.contains("no schema found for ephemeral")) {
        return None;
    }
    let found: Difference = difference(&ours, &theirs)?;
    let report = format!("{what}: {}\nours: {}\nreference: {}\n", found.path, found.ours, found.theirs);
    Some(Finding::new(format!("{what}: {}", found.class()), report))
}
