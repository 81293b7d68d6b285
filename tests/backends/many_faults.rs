//! Many faults, one after the other, on the way to each kind of server: what was made is never lost, and the next run goes on.
//!
//! Run by hand. `TERRANE_TEST_FAULTS` is the number of faults per server, `TERRANE_TEST_FAULT_SEED` where the chance begins.

use std::collections::BTreeMap;
use std::time::Duration;

use super::clouds::life::lock_id;
use super::counted::{Counted, other_directory};
use super::places::{self, Place};
use crate::support::faulty::{Fault, Way};
use crate::support::relay::{Break, Relay};
use crate::support::{Outcome, Project, Running, processes, program};

/// What is done to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    LostRequest,
    LostAnswer,
    Status429,
    Status500,
    Status503,
    Slow,
    /// The server is gone from a request on.
    Gone,
    /// Killed while a request is on its way.
    KilledInRequest,
    /// Killed at any time.
    Killed,
    /// Another process takes the lock away while a request is on its way.
    LockTaken,
    /// No file may grow beyond some blocks.
    FullDisk,
}

const OVER_HTTP: &[Deed] = &[
    Deed::LostRequest,
    Deed::LostAnswer,
    Deed::Status429,
    Deed::Status500,
    Deed::Status503,
    Deed::Slow,
    Deed::Gone,
    Deed::KilledInRequest,
    Deed::Killed,
    Deed::LockTaken,
    Deed::FullDisk,
];
const OTHERS: &[Deed] = &[Deed::LostRequest, Deed::LostAnswer, Deed::Killed, Deed::LockTaken, Deed::FullDisk];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Random numbers, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

struct Trial<'a> {
    place: &'a Place,
    project: &'a Project,
    chance: Chance,
    /// How many requests a run without faults makes, and how long it takes.
    requests: u64,
    length: Duration,
}

const APPLY: [&str; 2] = ["apply", "-auto-approve"];

impl Trial<'_> {
    fn way(&self) -> &Way {
        self.place.way.as_ref().unwrap()
    }

    fn start(&self) -> Running {
        Running::start(self.project.command(program(), &APPLY))
    }

    /// An apply with something done to it.
    fn run(&mut self, deed: Deed) -> Outcome {
        let at = self.chance.below(self.requests) as usize + 1;
        if let (Some(relay), Deed::LostRequest | Deed::LostAnswer) = (&self.place.relay, deed) {
            relay.break_at(at - 1, if deed == Deed::LostRequest { Break::Before } else { Break::After });
            return self.project.run(&APPLY);
        }
        let fault = match deed {
            Deed::LostRequest => Fault::Before,
            Deed::LostAnswer => Fault::After,
            Deed::Status429 => Fault::Status(429),
            Deed::Status500 => Fault::Status(500),
            Deed::Status503 => Fault::Status(503),
            Deed::Slow => Fault::Slow(400),
            Deed::Gone => Fault::Gone,
            Deed::KilledInRequest => return self.held(at, |run| processes::kill(run.child.id() as i32)),
            Deed::LockTaken if self.place.way.is_some() => return self.held(at, |_| self.take_lock()),
            Deed::LockTaken => {
                let run = self.start();
                self.pause();
                self.take_lock();
                return run.finish();
            }
            Deed::Killed => {
                let run = self.start();
                self.pause();
                let _ = std::process::Command::new("kill").args(["-9", &run.child.id().to_string()]).status();
                return run.finish();
            }
            Deed::FullDisk => {
                let script =
                    format!("ulimit -f {}; exec {:?} {}", at % 6, program().display().to_string(), APPLY.join(" "));
                return self.project.finish(self.project.command(std::path::Path::new("sh"), &["-c", &script]));
            }
        };
        self.way().plan(Some((at, fault)));
        self.project.run(&APPLY)
    }

    /// A run that something is done to while its request of a number is on its way, if it comes to that.
    fn held(&self, at: usize, act: impl Fn(&Running)) -> Outcome {
        self.way().plan(Some((at, Fault::Held)));
        let mut run = self.start();
        let reached = loop {
            if self.way().reached(Duration::from_millis(50)) {
                break true;
            }
            if run.child.try_wait().unwrap().is_some() {
                break false;
            }
        };
        if reached {
            act(&run);
        }
        self.way().release();
        run.finish()
    }

    fn pause(&mut self) -> u64 {
        let pause = self.chance.below(self.length.as_millis() as u64 + 1);
        std::thread::sleep(Duration::from_millis(pause));
        pause
    }

    /// Another process takes the lock away, if there is one.
    fn take_lock(&self) {
        // Not the whole directory: the run may be replacing files of it.
        let other = other_directory(self.project, &["main.tf", ".terraform/terraform.tfstate"]);
        let mut plan = self.project.command(program(), &["plan"]);
        plan.current_dir(other.work());
        if let Some(id) = lock_id(&self.project.finish(plan)) {
            let mut force = self.project.command(program(), &["force-unlock", "-force", &id]);
            force.current_dir(other.work());
            self.project.finish(force);
        }
    }
}

/// Runs with faults until there were enough.
fn shower(name: &str, place: Option<Place>, deeds: &[Deed]) {
    let Some(place) = place else { return };
    let (faults, seed) = (setting("TERRANE_TEST_FAULTS", 200), setting("TERRANE_TEST_FAULT_SEED", 1));
    let counted = Counted::new(3);
    let body = counted.body("true").replace("count = var.many", "count = var.many\n  triggers_replace = var.round");
    let mut project = place.project("faults", &format!("variable \"round\" {{}}\n{body}"));
    project.set("TF_VAR_round", "0");
    project.ok(&["init"]);
    project.ok(&APPLY);
    project.set("TF_VAR_round", "start");
    if let Some(way) = &place.way {
        way.plan(None);
    }
    if let Some(relay) = &place.relay {
        relay.begin_count();
    }
    let start = std::time::Instant::now();
    project.ok(&APPLY);
    let length = start.elapsed();
    let turns = place.relay.as_ref().map_or(1, Relay::round_trips);
    let requests = place.way.as_ref().map_or(turns, |way| way.seen().len()) as u64;
    let (mut tally, mut uncertain, mut failed, mut killed) = (BTreeMap::<Deed, u64>::new(), 0, 0, 0);
    for round in 0..faults {
        let deed = deeds[round as usize % deeds.len()];
        project.set("TF_VAR_round", round.to_string());
        let _ = std::fs::remove_file(project.path("created"));
        let chance = Chance(seed.wrapping_mul(1_000_003).wrapping_add(round));
        let outcome = Trial { place: &place, project: &project, chance, requests, length }.run(deed);
        processes::all_gone(project.mark());
        if let Some(way) = &place.way {
            way.plan(None);
        }
        if let Some(relay) = &place.relay {
            relay.hold();
        }
        (place.pass_time)();
        if outcome.code != Some(0) {
            failed += 1;
            killed += usize::from(outcome.is_killed());
            super::clouds::life::clear(&project);
        }
        println!("{name} {round} {deed:?}: {:?}", outcome.code);
        let open = counted.nothing_is_lost(&project);
        let may_be_open = matches!(deed, Deed::Killed | Deed::KilledInRequest | Deed::FullDisk);
        assert!(may_be_open || open == 0, "{name} {round} {deed:?}\n{}{}", outcome.out, outcome.err);
        uncertain += open;
        let _ = std::fs::remove_file(project.path("work/errored.tfstate"));
        *tally.entry(deed).or_default() += 1;
    }
    assert!(faults < 50 || killed > 0, "{name}: no kill came before the end of its run");
    println!(
        "{name}: {faults} faults, {failed} runs failed, {killed} of them killed, {uncertain} changes named as uncertain, 0 lost: {tally:?}"
    );
}

#[test]
#[ignore = "takes minutes"]
fn s3() {
    shower("s3", places::s3(), OVER_HTTP);
}

#[test]
#[ignore = "takes minutes"]
fn s3_with_a_table() {
    shower("s3 with DynamoDB", places::s3_with_a_table(), OVER_HTTP);
}

#[test]
#[ignore = "takes minutes"]
fn gcs() {
    shower("gcs", places::gcs(), OVER_HTTP);
}

#[test]
#[ignore = "takes minutes"]
fn azurerm() {
    shower("azurerm", places::azurerm(), OVER_HTTP);
}

#[test]
#[ignore = "takes minutes"]
fn oci() {
    shower("oci", Some(places::oci()), OVER_HTTP);
}

#[test]
#[ignore = "takes minutes"]
fn oss() {
    shower("oss", Some(places::oss()), OVER_HTTP);
}

#[test]
#[ignore = "takes minutes"]
fn cos() {
    shower("cos", Some(places::cos()), OVER_HTTP);
}

#[test]
#[ignore = "takes minutes"]
fn pg() {
    shower("pg", places::pg(), OTHERS);
}

#[test]
#[ignore = "takes minutes"]
fn http() {
    shower("http", Some(places::http()), OVER_HTTP);
}

#[test]
#[ignore = "takes minutes"]
fn consul() {
    shower("consul", Some(places::consul()), OVER_HTTP);
}

#[test]
#[ignore = "takes minutes"]
fn kubernetes() {
    shower("kubernetes", Some(places::kubernetes()), OVER_HTTP);
}
