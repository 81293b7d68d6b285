//! Times as a trace in the format of Chrome, which Perfetto opens too.

use serde_json::{Value as Json, json};

use super::{Timing, rows};

/// The trace: an event for each step, in rows that do not overlap. Times are in microseconds. `command`: the name of the process.
pub fn trace(command: &str, timings: &[Timing]) -> String {
    let name = json!({ "name": "process_name", "ph": "M", "pid": 1, "tid": 0, "args": { "name": command } });
    let event = |(timing, row): (&Timing, usize)| {
        json!({
            "name": timing.name,
            "cat": timing.operation,
            "ph": "X",
            "ts": micros(timing.start.as_micros()),
            "dur": micros(timing.elapsed.as_micros()),
            "pid": 1,
            "tid": row,
            "args": { "operation": timing.operation, "failed": timing.failed },
        })
    };
    let events: Vec<Json> = std::iter::once(name).chain(timings.iter().zip(rows(timings)).map(event)).collect();
    format!("{}\n", json!({ "displayTimeUnit": "ms", "traceEvents": events }))
}

fn micros(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_trace_has_an_event_for_each_step() {
        let timing = Timing {
            name: "a.b[\"\n\"]".to_owned(),
            operation: "create".to_owned(),
            start: Duration::from_millis(2),
            elapsed: Duration::from_micros(1_500),
            failed: true,
        };
        let trace: Json = serde_json::from_str(&trace("terrane apply", &[timing])).unwrap();
        assert_eq!(trace["traceEvents"][0]["args"]["name"], "terrane apply");
        let event = &trace["traceEvents"][1];
        assert_eq!((&event["name"], &event["ph"]), (&json!("a.b[\"\n\"]"), &json!("X")));
        assert_eq!((event["ts"].as_u64(), event["dur"].as_u64()), (Some(2_000), Some(1_500)));
        assert_eq!((event["tid"].as_u64(), event["args"]["failed"].as_bool()), (Some(0), Some(true)));
    }
}
