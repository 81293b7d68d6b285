//! `state history` and `state restore`

use model::addr::AbsResourceInstance;
use ops::state::edits::Edited;
use ops::state::restore::{self, Difference, Restored};
use ops::state::snapshots::{self, Listing, Snapshot};
use render::json::diagnostic::diagnostic_json;
use render::json::go;
use serde_json::{Value as Json, json};

use super::state_edits::{refused, unsaved};
use crate::Invocation;
use crate::args::state_history::{parse_history, parse_restore};
use crate::console::Console;
use crate::view::history::{operation_name, written};
use crate::view::lines::Lines;
use crate::view::operation::OperationHuman;

pub fn run_history(invocation: &Invocation, args: &[String]) -> u8 {
    let (json, setup) = match super::parsed_and_setup(invocation, parse_history(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    match super::run_with(invocation, &setup, snapshots::list(&setup)) {
        Ok(Ok(listing)) if json => {
            console.line(&go::compact(&document(&listing)));
            0
        }
        Ok(Ok(listing)) => {
            console.print(&table(&listing));
            super::finish(console, listing.warnings)
        }
        Ok(Err(diagnostics)) => super::finish(console, diagnostics),
        Err(code) => code,
    }
}

fn document(listing: &Listing) -> Json {
    let snapshot = |one: &Snapshot| {
        json!({
            "serial": one.serial,
            "lineage": one.lineage,
            "written": one.written,
            "operation": operation_name(one),
            "size": one.size,
            "encrypted": one.is_encrypted,
            "current": one.is_current,
            "version": one.version,
        })
    };
    let current = listing.current.as_ref().map(|meta| json!({ "serial": meta.serial, "lineage": meta.lineage }));
    json!({
        "format_version": "1.0",
        "workspace": listing.workspace,
        "current": current,
        "snapshots": listing.snapshots.iter().map(snapshot).collect::<Vec<_>>(),
        "diagnostics": listing.warnings.iter().map(diagnostic_json).collect::<Vec<_>>(),
    })
}

/// A line per snapshot, in columns.
fn table(listing: &Listing) -> String {
    if listing.snapshots.is_empty() {
        return format!("No snapshots of the workspace {:?} are kept on this machine.\n", listing.workspace);
    }
    let row = |(at, one): (usize, &Snapshot)| {
        let mark = if one.is_current { "*" } else { " " };
        [format!("{mark} {}", one.serial), written(one), one.size.to_string(), operation_name(one) + note(listing, at)]
    };
    let head = ["  SERIAL", "WRITTEN (UTC)", "BYTES", "OPERATION"].map(str::to_owned);
    let rows: Vec<[String; 4]> = [head].into_iter().chain(listing.snapshots.iter().enumerate().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let (serial, time, size) = (width(0), width(1), width(2));
    let line = |[a, b, c, d]: &[String; 4]| format!("{a:serial$}  {b:time$}  {c:>size$}  {d}");
    rows.iter().map(|row| line(row).trim_end().to_owned() + "\n").collect()
}

/// Why `state restore` does not take a snapshot by its serial alone.
fn note(listing: &Listing, at: usize) -> &'static str {
    let one = &listing.snapshots[at];
    let is_same = |other: &Snapshot| other.serial == one.serial && other.lineage == one.lineage;
    if listing.current.as_ref().is_some_and(|meta| meta.lineage != one.lineage) {
        " (another lineage)"
    } else if listing.snapshots[..at].iter().any(is_same) {
        " (there is a newer one with this serial)"
    } else {
        ""
    }
}

pub fn run_restore(invocation: &Invocation, args: &[String]) -> u8 {
    let parsed = parse_restore(args);
    let (args, setup) = match super::parsed_and_setup(invocation, parsed, |args| !args.auto_approve && !args.dry_run) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let listener = OperationHuman::new(console.clone(), false);
    let planned = |difference: &Difference| show(console, args.serial, difference);
    match super::run_with(invocation, &setup, restore::restore(&setup, &args, &listener, planned)) {
        Ok(Ok(Edited { outcome, warnings })) => {
            super::finish_spaced(console, warnings);
            match outcome {
                Restored::Done(serial) => {
                    console.line(&format!("\nRestored serial {} as serial {serial}.", args.serial));
                }
                Restored::WouldDo => {}
                Restored::Same => {
                    console.line(&format!("The state is the same as serial {}. Nothing was changed.", args.serial));
                }
                Restored::Refused => {
                    console.line("Restore cancelled.");
                    return 1;
                }
            }
            0
        }
        Ok(Err(refusal)) => refused(&Lines::new(console, false), refusal, "state", unsaved),
        Err(code) => code,
    }
}

fn show(console: &Console, serial: u64, difference: &Difference) {
    console.line(&format!("Changes of the state by the snapshot with serial {serial}:\n"));
    let list = |sign: &str, addresses: &[AbsResourceInstance]| {
        addresses.iter().for_each(|addr| console.line(&console.style.fill(sign, &[addr])));
    };
    list("  [green]+[reset] {}", &difference.added);
    list("  [yellow]~[reset] {}", &difference.changed);
    list("  [red]-[reset] {}", &difference.removed);
    if difference.outputs_differ {
        console.line(&console.style.fill("  [yellow]~[reset] outputs", &[]));
    }
    let Difference { added, changed, removed, .. } = difference;
    console.line(&format!("\n{} to add, {} to change, {} to forget.", added.len(), changed.len(), removed.len()));
}

#[cfg(test)]
mod tests {
    use base::diag::Diagnostics;
    use model::state::StateMeta;

    use super::*;

    fn snapshot(serial: u64, lineage: &str) -> Snapshot {
        Snapshot {
            serial,
            lineage: lineage.into(),
            written: "2026-01-02T03:04:05.6Z".into(),
            operation: "OperationTypeApply".into(),
            size: 10,
            is_encrypted: false,
            is_current: false,
            version: None,
        }
    }

    #[test]
    fn the_list_says_which_snapshots_a_serial_does_not_mean() {
        let current = StateMeta { terraform_version: "1.11.4".into(), serial: 2, lineage: "a".into() };
        let snapshots = vec![snapshot(2, "a"), snapshot(1, "a"), snapshot(1, "b"), snapshot(1, "a")];
        let mut listing =
            Listing { workspace: "default".into(), current: Some(current), snapshots, warnings: Diagnostics::new() };
        let notes = |listing: &Listing| -> Vec<&str> { (0..4).map(|at| note(listing, at)).collect() };
        let older = " (there is a newer one with this serial)";
        assert_eq!(notes(&listing), ["", "", " (another lineage)", older]);
        listing.current = None;
        assert_eq!(notes(&listing), ["", "", "", older]);
        assert!(
            table(&listing)
                .ends_with("  1       2026-01-02 03:04:05     10  apply (there is a newer one with this serial)\n")
        );
    }
}
