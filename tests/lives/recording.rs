//! What the reference did in the lives of a seed, kept in a file: the next run of the same lives does not ask it again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::life::{COMMANDS, Outcome, Ran};
use crate::model::program::Answer;
use crate::model::step::Step;

/// The steps of one life with what came of them.
pub struct Recording {
    file: PathBuf,
    kept: Vec<Value>,
    /// What was asked for, and whether all of it was kept.
    steps: Vec<Step>,
    is_complete: bool,
}

impl Recording {
    /// Reads what is kept of a seed. To be deleted after changes of the judge's provider.
    pub fn of(folder: &Path, seed: u64) -> Recording {
        let file = folder.join(format!("{seed}.json"));
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let kept = serde_json::from_str(&text).unwrap_or_default();
        Recording { file, kept, steps: Vec::new(), is_complete: true }
    }

    /// Returns the outcome of a step; runs it, and all before it that were not run, unless it is kept.
    pub fn outcome(&mut self, step: &Step, run: impl Fn(&Step) -> Outcome) -> Outcome {
        self.steps.push(step.clone());
        let position = self.steps.len() - 1;
        let found = self.kept.get(position).filter(|kept| self.is_complete && kept["step"] == key(step));
        if let Some(outcome) = found.and_then(read) {
            return outcome;
        }
        if std::mem::take(&mut self.is_complete) {
            self.kept.truncate(position);
            self.steps[..position].iter().for_each(|step| drop(run(step)));
        }
        let outcome = run(step);
        self.kept.push(write(step, &outcome));
        std::fs::write(&self.file, Value::from(self.kept.clone()).to_string()).unwrap();
        outcome
    }
}

/// What a step asks for.
fn key(step: &Step) -> String {
    let mut hasher = DefaultHasher::new();
    format!("{:?} {:?}", step.configuration, step.options).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn write(step: &Step, outcome: &Outcome) -> Value {
    let ran = |ran: &Ran| {
        let answer = &ran.answer;
        json!({
            "command": ran.command, "code": answer.code, "out": answer.out, "err": answer.err, "requests": ran.requests,
        })
    };
    let commands: Vec<Value> = outcome.commands.iter().map(ran).collect();
    json!({
        "step": key(step), "before": outcome.before, "commands": commands, "shown": outcome.shown, "after": outcome.after,
    })
}

fn read(kept: &Value) -> Option<Outcome> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let ran = |kept: &Value| {
        let code = kept["code"].as_i64().map(|code| code as i32);
        Some(Ran {
            command: COMMANDS.iter().find(|name| kept["command"] == **name)?,
            answer: Answer::read(code, text(&kept["out"])?, text(&kept["err"])?),
            requests: kept["requests"].as_array()?.clone(),
        })
    };
    Some(Outcome {
        before: kept["before"].clone(),
        commands: kept["commands"].as_array()?.iter().map(ran).collect::<Option<_>>()?,
        shown: kept["shown"].clone(),
        after: kept["after"].clone(),
    })
}
