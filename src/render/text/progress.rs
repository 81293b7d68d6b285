//! A line for each event of a walk.

use std::sync::Arc;
use std::time::Duration;

use engine::event::{Event, ObjectLabel};
use model::addr::AbsResourceInstance;
use model::plan::{Action, ActionInvocation};
use model::state::DeposedKey;
use model::version::at_least;

use super::style::Style;
use super::visible::visible;
use super::{listing, policies, query_policies};
use crate::opentofu;
use crate::words::{Operation, awaited, duration, ephemeral, words};

/// Longest part of an object's id that is shown.
const ID_WIDTH: usize = 80;

/// The line of an event with its line ending; none for events that are not shown.
pub fn line(event: &Event, style: &Style) -> Option<String> {
    let text = match event {
        Event::RefreshStarted { addr, deposed, label } => {
            format!("{}: Refreshing state...{}", object(addr, deposed.as_ref()), bracketed(label))
        }
        Event::ReadStarted { addr } => format!("{addr}: Reading..."),
        Event::ReadFinished { failed: true, .. } | Event::ApplyFinished { failed: true, .. } => return None,
        Event::ReadFinished { addr, label, elapsed, .. } => {
            format!("{addr}: Read complete after {}{}", duration(*elapsed), bracketed(label))
        }
        Event::ApplyStarted { addr, deposed, action, label } => {
            format!("{}: {}...{}", object(addr, deposed.as_ref()), words(*action)?.doing, bracketed(label))
        }
        Event::ApplyFinished { addr, action, label, elapsed, .. } => {
            let label = if *action == Action::Delete { &None } else { label };
            let done = words(*action)?.done;
            // The reference does not say here which of the instance's objects it was.
            format!("{addr}: {done} complete after {}{}", duration(*elapsed), bracketed(label))
        }
        Event::ProvisionStarted { addr, kind } => format!("{addr}: Provisioning with '{kind}'..."),
        Event::ProvisionOutput { addr, kind, text, sensitive } => {
            let text = sensitive.as_ref().filter(|_| style.reveal).unwrap_or(text);
            return Some(output(addr, kind, text, style));
        }
        Event::EphemeralStarted { addr, verb } => format!("{addr}: {}...", ephemeral(*verb, style.dialect).doing),
        Event::EphemeralFinished { addr, verb, elapsed, failed: false } => {
            format!("{addr}: {} complete after {}", ephemeral(*verb, style.dialect).done, duration(*elapsed))
        }
        Event::EphemeralDeferred { addr } => {
            format!("{addr}: {}", opentofu::ephemeral_deferred(style.dialect))
        }
        Event::ImportRequested { addr, id } => format!("{addr}: Importing from ID {id:?}..."),
        Event::ImportPrepared { addr, kinds } => return Some(prepared(addr, kinds, style)),
        Event::ImportPlanned { addr, by } => format!("{addr}: Preparing import... [{}]", visible(by)),
        Event::ImportStarted { addr, by } => format!("{addr}: Importing... [{}]", visible(by)),
        Event::ImportFinished { addr, by } => format!("{addr}: Import complete [{}]", visible(by)),
        Event::RequestPending { subject, stopping, elapsed, .. } => {
            let hint = if *stopping { "Ctrl-C again to stop without it" } else { "Ctrl-C to stop" };
            format!("{subject}: {}... [{} elapsed, {hint}]", awaited(event)?, duration(*elapsed))
        }
        Event::ActionStarted(_) | Event::ActionProgress { .. } | Event::ActionFinished { .. } => {
            return action(event, style);
        }
        Event::ListFinished(results) => return listing::table(results),
        Event::PolicyResult(report) => return policies::infos(report, style),
        Event::QueryPolicies(lists) => return Some(query_policies::text(lists, style)),
        Event::Phase(_)
        | Event::RefreshFinished { .. }
        | Event::RefreshFailed { .. }
        | Event::ListStarted { .. }
        | Event::Unchanged { .. }
        | Event::ProvisionFinished { .. }
        | Event::EphemeralFinished { .. }
        | Event::Diagnostics(_) => return None,
    };
    Some(format!("{}\n", style.fill(template(event), &[&text])))
}

/// Once more than it has to, the reference resets after the first line of a change, a read or a provisioner.
fn template(event: &Event) -> &'static str {
    match event {
        Event::ReadStarted { .. } | Event::ApplyStarted { .. } | Event::ProvisionStarted { .. } => {
            "[reset][bold]{}[reset]"
        }
        _ => "[reset][bold]{}",
    }
}

/// The line that says that a change is still going on. As in the reference, it does not tell deposed objects apart.
pub fn still(
    addr: &AbsResourceInstance,
    operation: Operation,
    label: &Option<ObjectLabel>,
    elapsed: Duration,
    style: &Style,
) -> Option<String> {
    let doing = operation.words(style.dialect)?.doing.to_lowercase();
    let label = label.as_ref().filter(|label| !label.value.is_empty());
    let label = label.map_or(String::new(), |label| format!("{}={}, ", label.key, shortened(&label.value)));
    let passed = match elapsed.as_secs() {
        seconds if at_least(12) => format!("{:02}m{:02}s", seconds / 60, seconds % 60),
        _ => duration(elapsed),
    };
    let text = format!("{addr}: Still {doing}... [{label}{passed} elapsed]");
    Some(format!("{}\n", style.fill("[reset][bold]{}[reset]", &[&text])))
}

fn object(addr: &AbsResourceInstance, deposed: Option<&DeposedKey>) -> String {
    deposed.map_or_else(|| addr.to_string(), |key| format!("{addr} (deposed object {key})"))
}

fn bracketed(label: &Option<ObjectLabel>) -> String {
    match label {
        Some(label) if !label.value.is_empty() => format!(" [{}={}]", label.key, visible(&label.value)),
        _ => String::new(),
    }
}

/// The id with its middle left out if it is very long, for the lines that say that something still goes on.
fn shortened(id: &str) -> String {
    let id = &*visible(id);
    let chars: Vec<char> = id.chars().collect();
    if chars.len() <= ID_WIDTH {
        return id.to_string();
    }
    let dots = "...";
    let front = (ID_WIDTH - dots.len()).div_ceil(2);
    let back = ID_WIDTH - dots.len() - front;
    let head: String = chars[..front].iter().collect();
    let tail: String = chars[chars.len() - back..].iter().collect();
    format!("{head}{dots}{tail}")
}

/// What the provider is ready to import, a line for each object.
fn prepared(addr: &AbsResourceInstance, kinds: &[Arc<str>], style: &Style) -> String {
    let heading = format!("{addr}: Import prepared!");
    let first = style.fill("[reset][bold][green]{}", &[&heading]);
    let rest = kinds.iter().map(|kind| style.fill("[reset][green]  Prepared {} for import", &[kind]));
    [first].into_iter().chain(rest).map(|line| format!("{line}\n")).collect()
}

/// The line of an event of an action; none for other events.
fn action(event: &Event, style: &Style) -> Option<String> {
    let name = |of: &ActionInvocation| format!("{} (triggered by {})", of.addr, of.trigger);
    let line = match event {
        Event::ActionStarted(of) => style.fill("[reset][bold]Action started: {}[reset]", &[&name(of)]),
        Event::ActionProgress { invocation, message } => {
            style.fill("[reset][bold]Action {}:[reset] {}[reset]", &[&name(invocation), &visible(message)])
        }
        Event::ActionFinished { invocation, error: None } => {
            style.fill("[reset][bold][green]Action complete: {}[reset]", &[&name(invocation)])
        }
        Event::ActionFinished { invocation, error: Some(error) } => {
            style.fill("[reset][bold][red]Action failed: {} - {}[reset]", &[&name(invocation), &visible(error)])
        }
        _ => return None,
    };
    Some(format!("{line}\n"))
}

/// A provisioner's output, every line led by whose it is.
fn output(addr: &AbsResourceInstance, kind: &str, text: &str, style: &Style) -> String {
    let lead = style.fill("[reset][bold]{} ({}):[reset] ", &[&addr, &kind]);
    let lines = text.split(['\n', '\r']).map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| format!("{lead}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use engine::event::EphemeralVerb;
    use model::addr::{InstanceKey, ModuleInstance, Provider, Resource};

    use super::*;

    fn addr() -> AbsResourceInstance {
        Resource::managed("terraform_data", "a").absolute(ModuleInstance::root()).instance(InstanceKey::Int(1))
    }

    /// As in the reference, 1.11.4.
    #[test]
    fn long_ids_are_whole_but_for_what_goes_on() {
        let label = Some(ObjectLabel { key: "id".to_string(), value: "abc-".repeat(30) });
        let whole = format!("[id={}]\n", "abc-".repeat(30));
        let read = line(&Event::RefreshStarted { addr: addr(), deposed: None, label: label.clone() }, &Style::plain());
        assert!(read.is_some_and(|text| text.ends_with(&whole)));
        let still = still(&addr(), Operation::Change(Action::Create), &label, Duration::from_secs(10), &Style::plain());
        assert!(still.is_some_and(|text| text.contains("abc...c-abc-") && !text.contains(&whole)));
    }

    #[test]
    fn an_empty_id_is_not_shown() {
        let label = Some(ObjectLabel { key: "id".to_string(), value: String::new() });
        let read = line(&Event::RefreshStarted { addr: addr(), deposed: None, label: label.clone() }, &Style::plain());
        assert_eq!(read.unwrap(), "terraform_data.a[1]: Refreshing state...\n");
        let still = still(&addr(), Operation::Change(Action::Create), &label, Duration::from_secs(10), &Style::plain());
        assert_eq!(still.unwrap(), "terraform_data.a[1]: Still creating... [00m10s elapsed]\n");
    }

    /// As the reference words them.
    #[test]
    fn lines() {
        let label = Some(ObjectLabel { key: "id".to_string(), value: "x".to_string() });
        let elapsed = Duration::from_millis(61_600);
        let apply = |action, failed| Event::ApplyFinished {
            addr: addr(),
            deposed: None,
            action,
            label: label.clone(),
            elapsed,
            failed,
        };
        let cases = [
            (
                Event::RefreshStarted { addr: addr(), deposed: None, label: label.clone() },
                "terraform_data.a[1]: Refreshing state... [id=x]\n",
            ),
            (
                Event::ApplyStarted {
                    addr: addr(),
                    deposed: Some(DeposedKey("0a1b2c3d".into())),
                    action: Action::Delete,
                    label: label.clone(),
                },
                "terraform_data.a[1] (deposed object 0a1b2c3d): Destroying... [id=x]\n",
            ),
            (apply(Action::Create, false), "terraform_data.a[1]: Creation complete after 1m2s [id=x]\n"),
            (apply(Action::Delete, false), "terraform_data.a[1]: Destruction complete after 1m2s\n"),
            (apply(Action::Update, true), ""),
            (
                Event::ProvisionOutput {
                    addr: addr(),
                    kind: "local-exec".into(),
                    text: "a\n\nb\r\n".into(),
                    sensitive: None,
                },
                "terraform_data.a[1] (local-exec): a\nterraform_data.a[1] (local-exec): b\n",
            ),
        ];
        let verb = EphemeralVerb::Renew;
        let pending = |stopping| Event::RequestPending {
            subject: addr().to_string(),
            provider: Provider::default_for("test"),
            request: "ReadResource",
            elapsed,
            stopping,
        };
        let of_our_own = [
            (
                Event::EphemeralFinished { addr: addr(), verb, elapsed, failed: false },
                "terraform_data.a[1]: Renewal complete after 1m2s\n",
            ),
            (
                pending(false),
                "terraform_data.a[1]: Still waiting for hashicorp/test to answer ReadResource... [1m2s elapsed, Ctrl-C to stop]\n",
            ),
            (
                pending(true),
                "terraform_data.a[1]: Still waiting for hashicorp/test to answer ReadResource... [1m2s elapsed, Ctrl-C again to \
                 stop without it]\n",
            ),
        ];
        for (event, expected) in cases.into_iter().chain(of_our_own) {
            assert_eq!(line(&event, &Style::plain()).unwrap_or_default(), expected);
        }
        let text = still(&addr(), Operation::Change(Action::Delete), &label, Duration::from_secs(10), &Style::plain());
        assert_eq!(text.unwrap(), "terraform_data.a[1]: Still destroying... [id=x, 00m10s elapsed]\n");
    }
}
