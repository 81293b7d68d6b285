//! Random texts for the whole language: lexer, parser, evaluation, messages.
//!
//! A short run by default; TERRANE_TEST_FUZZ_SECONDS makes it longer, with other texts each time. A text that breaks
//! something is in the panic's message, and in the temporary folder while it is being tried.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use super::chance::{Chance, expression, mutated, noise, soup};
use super::invariants::check;

/// Longer for texts of this size, on any machine, is a hang.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn no_text_breaks_the_language() {
    let seconds = std::env::var("TERRANE_TEST_FUZZ_SECONDS").ok().and_then(|s| s.parse::<u64>().ok());
    let (seed, time) = match seconds {
        None => (1, Duration::from_secs(3)),
        Some(seconds) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            (now.as_millis() as u64, Duration::from_secs(seconds))
        }
    };
    let trying = Arc::new(Mutex::new(String::new()));
    let tried = trying.clone();
    let keep = seconds.is_some();
    // The stack that threads have by default; unoptimised frames are large.
    let run = std::thread::Builder::new()
        .stack_size(if cfg!(debug_assertions) { 16 << 20 } else { 2 << 20 })
        .spawn(move || attempts(seed, time, keep, &tried))
        .unwrap();
    match run.join() {
        Ok(count) => {
            if seconds.is_some() {
                println!("{count} texts in {time:?} from seed {seed}");
            }
            assert!(count > 10);
        }
        Err(_) => {
            let text = trying.lock().unwrap_or_else(|e| e.into_inner());
            panic!("from seed {seed}: {text:?}");
        }
    }
}

fn attempts(seed: u64, time: Duration, keep: bool, trying: &Mutex<String>) -> usize {
    let seeds = seeds();
    let mut chance = Chance::new(seed);
    let begin = Instant::now();
    let mut count = 0;
    while begin.elapsed() < time {
        let text = match chance.below(10) {
            0 => noise(&mut chance),
            1 | 2 => soup(&mut chance),
            3..=5 => mutated(&mut chance, &seeds),
            _ => {
                let depth = 1 + chance.below(6);
                format!("a = {}\n", expression(&mut chance, depth))
            }
        };
        // An attribute's value alone is an expression, too.
        let text = text.strip_prefix("a = ").filter(|_| chance.below(2) == 0).unwrap_or(&text).to_owned();
        if keep {
            // Survives the process, should the stack overflow.
            let _ = std::fs::write(std::env::temp_dir().join("terrane-fuzz-trying.txt"), &text);
        }
        trying.lock().unwrap().clone_from(&text);
        let start = Instant::now();
        check(&text);
        assert!(start.elapsed() < PATIENCE, "{:?} for one text", start.elapsed());
        count += 1;
    }
    count
}

/// Configurations to begin with: those of the recorded errors, whole and broken.
fn seeds() -> Vec<String> {
    let lines =
        include_str!("broken.jsonl").lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let whole: Vec<String> = lines.filter_map(|l| Some(l["text"].as_str()?.to_owned())).collect();
    let parts = whole.iter().flat_map(|text| text.split("\n\n").map(str::to_owned)).collect::<Vec<_>>();
    let expressions =
        whole.iter().flat_map(|text| text.lines()).filter_map(|l| Some(l.split_once(" = ")?.1.to_owned()));
    let expressions: Vec<_> = expressions.collect();
    [whole.clone(), parts, expressions].concat()
}
