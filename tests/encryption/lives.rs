//! Random lives of encrypted states: applies, changes of keys and of backends, kills, and restored snapshots in random order. After
//! each step nothing is lost, no command is stuck, and what is on disk is encrypted.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{PASSPHRASE, block, files};
use crate::backends::places::{self, Place};
use crate::support::{Outcome, Project, Running, processes, program};

/// A secret that is in every state.
const SECRET: &str = "Yx3secretOfALife";
const MOST: u64 = 6;

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len() as u64) as usize]
    }
}

/// Ids of the objects by their index.
type Ids = BTreeMap<u64, String>;

struct Life {
    dice: Dice,
    project: Project,
    place: Place,
    /// The methods of the state; the first one writes.
    chain: Vec<&'static str>,
    count: u64,
    backend: &'static str,
    /// The blocks of the places on the server so far.
    blocks: Vec<String>,
    /// The steps so far, for failure reports.
    story: Vec<String>,
}

impl Life {
    fn new(seed: u64) -> Life {
        let mut project = Project::new("");
        project.set("TF_VAR_passphrase", PASSPHRASE);
        let (dice, place) = (Dice(seed), places::http());
        let mut life = Life {
            dice,
            project,
            place,
            chain: vec!["new"],
            count: 2,
            backend: "none",
            blocks: Vec::new(),
            story: vec![format!("seed {seed}")],
        };
        life.configure();
        life.ok(&["init"]);
        life.apply();
        life
    }

    fn configure(&self) {
        self.project.write(
            "work/main.tf",
            &format!(
                "terraform {{\n encryption {{\n{}}}\n}}\nvariable \"passphrase\" {{\n sensitive = true\n}}\nvariable \"step\" {{\n \
                 default = 0\n}}\nresource \"terraform_data\" \"a\" {{\n count = {}\n input = [\"{SECRET}\", var.step]\n}}\noutput \
                 \"o\" {{\n value = terraform_data.a[*].id\n}}\n",
                block(&self.chain),
                self.count
            ),
        );
    }

    /// Runs a command; a lock that a killed run left is released first.
    fn run(&mut self, args: &[&str]) -> Outcome {
        self.story.push(args.join(" "));
        let outcome = self.project.run(args);
        let text = outcome.text();
        let Some((_, after)) = text.split_once("Lock Info: ID: ") else { return outcome };
        self.unlock(after.split(' ').next().unwrap());
        self.project.run(args)
    }

    /// Releases a lock. Between two backends `force-unlock` asks for `init`, which waits for the lock of one of them: that is
    /// released from another directory, as the reference needs it, too.
    fn unlock(&self, id: &str) {
        let args = ["force-unlock", "-force", id];
        let refused = self.project.run(&args);
        if refused.code == Some(0) {
            return;
        }
        assert!(refused.text().contains("Backend initialization required"), "{:#?}\n{}", self.story, refused.err);
        self.project.write("unlock/main.tf", &self.project.read("work/main.tf"));
        let elsewhere = |args: &[&str]| {
            let mut command = self.project.command(program(), args);
            command.current_dir(self.project.path("unlock"));
            self.project.finish(command)
        };
        let is_released = self.blocks.iter().rev().take(2).any(|block| {
            self.project.write("unlock/backend.tf", block);
            elsewhere(&["init", "-reconfigure"]);
            elsewhere(&args).code == Some(0)
        });
        assert!(is_released, "{id} is of no place: {:#?}", self.story);
    }

    fn ok(&mut self, args: &[&str]) -> Outcome {
        let outcome = self.run(args);
        assert_eq!(outcome.code, Some(0), "{:#?}\n{}{}", self.story, outcome.out, outcome.err);
        outcome
    }

    fn ids(&mut self) -> Ids {
        let pulled = self.ok(&["state", "pull"]).out;
        if pulled.trim().is_empty() {
            return Ids::new();
        }
        let state: serde_json::Value = serde_json::from_str(&pulled).unwrap();
        let resources = state["resources"].as_array().into_iter().flatten();
        let instances = resources.flat_map(|resource| resource["instances"].as_array().into_iter().flatten());
        let id = |instance: &serde_json::Value| {
            Some((instance["index_key"].as_u64()?, instance["attributes"]["id"].as_str()?.to_owned()))
        };
        instances.filter_map(id).collect()
    }

    /// All that was there and is still wanted is there.
    fn keeps(&mut self, before: &Ids) {
        let now = self.ids();
        for (index, id) in before.iter().filter(|(index, _)| **index < self.count) {
            assert_eq!(now.get(index), Some(id), "{index} is lost: {:#?}", self.story);
        }
    }

    fn apply(&mut self) {
        let step = format!("-var=step={}", self.dice.below(1000));
        self.ok(&["apply", "-auto-approve", &step]);
        let now = self.ids();
        assert_eq!(now.len() as u64, self.count, "{:#?}", self.story);
    }

    fn change_size(&mut self) {
        let before = self.ids();
        self.count = 1 + self.dice.below(MOST);
        self.configure();
        self.apply();
        self.keeps(&before);
    }

    fn change_key(&mut self) {
        let before = self.ids();
        let now = self.chain[0];
        let others: Vec<&str> = ["new", "old", "plain"].into_iter().filter(|name| *name != now).collect();
        let next = *self.dice.pick(&others);
        self.chain = vec![next, now];
        self.configure();
        if self.dice.below(3) == 0 {
            self.kill(&["apply", "-auto-approve", "-var=step=1"]);
        }
        if self.dice.below(3) == 0 {
            self.change_backend();
        }
        self.apply();
        self.chain = vec![next];
        self.configure();
        self.keeps(&before);
        self.is_as_secret_as_it_should();
    }

    fn change_backend(&mut self) {
        let before = self.ids();
        let others: Vec<&str> =
            ["none", "file", "same file", "http"].into_iter().filter(|name| *name != self.backend).collect();
        self.backend = *self.dice.pick(&others);
        let local = |path: &str| format!("terraform {{\n backend \"local\" {{\n path = {path:?}\n }}\n}}\n");
        match self.backend {
            "none" => std::fs::remove_file(self.project.path("work/backend.tf")).unwrap(),
            "file" => _ = self.project.write("work/backend.tf", &local("other/s.tfstate")),
            "same file" => _ = self.project.write("work/backend.tf", &local("./terraform.tfstate")),
            // A new place each time: a copy from before may be of a key that is gone.
            _ => {
                self.place.configure(&mut self.project, &format!("life{}", self.story.len()));
                self.blocks.push(self.project.read("work/backend.tf"));
            }
        }
        self.story.push(format!("backend {}", self.backend));
        let init = ["init", "-migrate-state", "-force-copy"];
        if self.dice.below(3) == 0 {
            self.kill(&init);
        }
        self.ok(&init);
        self.keeps(&before);
        self.remove_stale_copies();
    }

    /// A migration between two configured backends leaves the old state. Once its key is gone, `init` refuses to write over it.
    fn remove_stale_copies(&self) {
        for (path, users) in
            [("work/terraform.tfstate", &["none", "same file"][..]), ("work/other/s.tfstate", &["file"][..])]
        {
            if !users.contains(&self.backend) {
                let _ = std::fs::remove_file(self.project.path(path));
            }
        }
    }

    /// Kills a command after a random time.
    fn kill(&mut self, args: &[&str]) {
        self.story.push(format!("killed: {}", args.join(" ")));
        let mut running = Running::start(self.project.command(program(), args));
        std::thread::sleep(Duration::from_millis(self.dice.below(400)));
        if running.child.try_wait().unwrap().is_none() {
            let _ = running.child.kill();
        }
        running.finish();
        processes::all_gone(self.project.mark());
    }

    fn apply_killed(&mut self) {
        let before = self.ids();
        self.count = (self.count + self.dice.below(3)).min(MOST);
        self.configure();
        let step = format!("-var=step={}", self.dice.below(1000));
        self.kill(&["apply", "-auto-approve", &step]);
        self.keeps(&before);
        self.apply();
        self.keeps(&before);
    }

    fn restore(&mut self) {
        let listed = self.ok(&["state", "history", "-json"]).out;
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let serials: Vec<String> =
            listed["snapshots"].as_array().unwrap().iter().map(|entry| entry["serial"].to_string()).collect();
        if serials.is_empty() {
            return;
        }
        let before = self.ids();
        let serial = self.dice.pick(&serials).clone();
        // A snapshot of a key that is gone cannot be read: then nothing changes.
        if self.run(&["state", "restore", "-auto-approve", &serial]).code != Some(0) {
            assert_eq!(self.ids(), before, "{:#?}", self.story);
        }
        let restored = self.ids();
        self.apply();
        self.keeps(&restored);
    }

    fn is_as_secret_as_it_should(&self) {
        if self.chain.contains(&"plain") {
            return;
        }
        let state = self.project.path(match self.backend {
            "http" => return,
            "file" => "work/other/s.tfstate",
            _ => "work/terraform.tfstate",
        });
        let mut found = Vec::new();
        files(&self.project.work(), &mut found);
        assert!(found.contains(&state), "{state:?} is not there: {:#?}", self.story);
        let content = std::fs::read(&state).unwrap();
        let is_plain = content.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!is_plain, "{state:?} is not encrypted: {:#?}", self.story);
    }

    fn live(mut self, steps: usize) {
        for _ in 0..steps {
            match self.dice.below(8) {
                0 => self.change_size(),
                1 | 2 => self.change_key(),
                3 | 4 => self.change_backend(),
                5 | 6 => self.apply_killed(),
                _ => self.restore(),
            }
        }
        let ids = self.ids();
        self.apply();
        self.keeps(&ids);
        self.is_as_secret_as_it_should();
    }
}

#[test]
fn random_lives_lose_nothing() {
    for seed in 1..=3 {
        Life::new(seed).live(6);
    }
}

/// `TERRANE_TEST_LIVES`: how many, or `FIRST-LAST` seeds.
#[test]
#[ignore = "long; TERRANE_TEST_LIVES says how many"]
fn many_random_lives_lose_nothing() {
    let wanted = std::env::var("TERRANE_TEST_LIVES").unwrap_or_else(|_| "20".into());
    let (first, last) = wanted.split_once('-').unwrap_or(("1", &wanted));
    for seed in first.parse::<u64>().unwrap()..=last.parse().unwrap() {
        println!("seed {seed}");
        Life::new(seed).live(8);
    }
}
