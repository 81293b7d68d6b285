//! Other processes: running one with its output streamed, killing a group, knowing whether one still lives.
//!
//! Owns what is the same for all callers. Never knows what the processes do.

use std::io::{self, Read};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::stop::Stop;

#[cfg(unix)]
#[path = "unix.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

/// How long an interrupted process group may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// How long the end of a killed process is waited for.
const KILL_PATIENCE: Duration = Duration::from_secs(1);

/// What became of a process that was run to its end.
#[derive(Debug)]
pub enum Outcome {
    Exited(ExitStatus),
    /// It was not started, or killed, because the work was asked to stop.
    Stopped(Signal),
}

/// Runs a command in a new process group, without input. `output` gets both outputs as one stream,
/// in pieces. Once `stop` is stopping, the group is interrupted, and killed when its leader has exited or after five
/// seconds. Ends when the process has exited and no process holds its output any more.
pub async fn run(
    mut command: tokio::process::Command,
    stop: &Stop,
    mut output: impl FnMut(&[u8]),
) -> io::Result<Outcome> {
    if stop.is_stopping() {
        return Ok(Outcome::Stopped(Signal::Interrupt));
    }
    let (reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).kill_on_drop(true);
    in_new_group(&mut command);
    let mut child = command.spawn()?;
    // The command owns our copies of the writing end; the reader sees the end only once they are gone.
    drop(command);
    // Also when this future is dropped, for the plugin ends or the call is abandoned.
    let group = KilledGroup::of(&child);
    let mut pieces = read_in_background(reader);

    let mut status = None;
    let mut open = true;
    let mut deadline: Option<Instant> = None;
    while open || status.is_none() {
        tokio::select! {
            piece = pieces.recv(), if open => match piece {
                Some(piece) => output(&piece),
                None => open = false,
            },
            exit = child.wait(), if status.is_none() => {
                status = Some(exit?);
                if deadline.is_some() {
                    // What it started and left behind ends with it.
                    group.signal(Signal::Kill);
                }
            }
            () = stop.stopping(), if deadline.is_none() => {
                deadline = Some(Instant::now() + GRACE);
                group.signal(if status.is_none() { Signal::Interrupt } else { Signal::Kill });
            }
            () = stop_waiting(stop, deadline) => {
                group.signal(Signal::Kill);
                let _ = child.start_kill();
                let _ = child.wait().await;
                return Ok(Outcome::Stopped(Signal::Kill));
            }
        }
    }
    group.spare();
    Ok(status.map_or(Outcome::Stopped(Signal::Interrupt), Outcome::Exited))
}

/// Ends when there is no time left: at the deadline, or once the work is to be abandoned.
async fn stop_waiting(stop: &Stop, deadline: Option<Instant>) {
    let late = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = stop.killed() => {}
        () = late => {}
    }
}

fn read_in_background(mut reader: io::PipeReader) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel(16);
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count) = reader.read(&mut buffer) {
            if count == 0 || send.blocking_send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receive
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Interrupt,
    Terminate,
    Kill,
}

/// Makes the process the leader of a new group, which the terminal does not interrupt.
pub fn in_new_group(command: &mut tokio::process::Command) {
    system::in_new_group(command);
}

/// A child process that [`in_new_group`] was applied to, and what it starts: its process group; on Windows a job of the system.
pub struct Group(system::OwnedProcesses);

impl Group {
    /// To be called right after the start: on Windows, what the child has started before is not in it.
    pub fn of(child: &tokio::process::Child) -> Group {
        Group(system::OwnedProcesses::of(child))
    }

    /// Sends a signal to every process. Errors mean that there is none left.
    pub fn signal(&self, signal: Signal) {
        self.0.signal(signal);
    }
}

/// Dropping this kills the group and waits until its leader has ended.
pub struct KilledGroup(Option<Group>);

impl KilledGroup {
    /// As [`Group::of`].
    pub fn of(child: &tokio::process::Child) -> KilledGroup {
        KilledGroup(Some(Group::of(child)))
    }

    fn signal(&self, signal: Signal) {
        self.0.iter().for_each(|group| group.signal(signal));
    }

    /// Lets what still runs of the group live on.
    fn spare(mut self) {
        self.0 = None;
    }
}

impl Drop for KilledGroup {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
        let end = Instant::now() + KILL_PATIENCE;
        while self.0.as_ref().is_some_and(|group| group.0.leads_running_child()) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A process as it can be recognised later, when its number may belong to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessId {
    pub number: u32,
    /// When it was started, in a unit of the system: on Linux ticks since it booted. 0 where the system does not say.
    pub started: u64,
}

impl ProcessId {
    pub fn current() -> ProcessId {
        ProcessId::of(std::process::id())
    }

    pub fn of(number: u32) -> ProcessId {
        ProcessId { number, started: system::start_time(number).unwrap_or(0) }
    }

    /// Whether this very process still runs; a zombie does not.
    pub fn is_alive(self) -> bool {
        is_alive(self.number)
            && (self.started == 0 || system::start_time(self.number).is_none_or(|now| now == self.started))
    }
}

/// Whether a process with this number runs.
pub fn is_alive(number: u32) -> bool {
    system::is_alive(number)
}

/// Ends this process as a write to a closed pipe ends programs that do not look at its result.
pub fn end_by_broken_pipe() {
    system::end_by_broken_pipe();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> tokio::process::Command {
        let mut command = tokio::process::Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[tokio::test]
    async fn streams_both_outputs_in_order() {
        let (mut seen, stop) = (Vec::new(), Stop::new());
        let script = shell("echo a; echo b >&2; echo c; exit 3");
        let outcome = run(script, &stop, |p| seen.extend_from_slice(p)).await.unwrap();
        assert!(matches!(outcome, Outcome::Exited(s) if s.code() == Some(3)), "{outcome:?}");
        assert_eq!(seen, b"a\nb\nc\n");
    }

    #[tokio::test]
    async fn stopping_interrupts_and_killing_kills() {
        // Where a shell started the tests in the background, they ignore interrupts, and so would children. The program handles them.
        // SAFETY: the call touches no memory.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        let stop = Stop::new();
        let stopper = stop.clone();
        let outcome = run(shell("echo up; exec sleep 30"), &stop, move |_| stopper.stop()).await.unwrap();
        let by_interrupt = |s: ExitStatus| std::os::unix::process::ExitStatusExt::signal(&s) == Some(libc::SIGINT);
        assert!(matches!(outcome, Outcome::Exited(s) if by_interrupt(s)), "{outcome:?}");
        let outcome = run(shell("echo started"), &stop, |_| panic!("it runs")).await.unwrap();
        assert!(matches!(outcome, Outcome::Stopped(Signal::Interrupt)), "{outcome:?}");
        // A command that ends by itself after an interrupt has its own status.
        for (last, code) in [("true", 0), ("exit 3", 3)] {
            let stop = Stop::new();
            let stopper = stop.clone();
            let script = format!("trap 'ended=1' INT; echo up; while [ -z \"$ended\" ]; do sleep 0.01; done; {last}");
            let outcome = run(shell(&script), &stop, move |_| stopper.stop()).await.unwrap();
            assert!(matches!(outcome, Outcome::Exited(s) if s.code() == Some(code)), "{outcome:?}");
        }
        let stop = Stop::new();
        let killer = stop.clone();
        let started = std::time::Instant::now();
        let outcome = run(shell("trap '' INT; echo up; sleep 30"), &stop, move |_| killer.kill()).await.unwrap();
        assert!(matches!(outcome, Outcome::Stopped(Signal::Kill)) && started.elapsed().as_secs() < 20);
    }

    /// Processes of a script that ignore the interrupt, as those in the background do.
    #[tokio::test]
    async fn children_of_stopped_scripts_are_killed() {
        for script in ["sleep 30 >/dev/null 2>&1 & echo $!; wait", "sleep 30 & echo $!; wait"] {
            let (stop, mut seen) = (Stop::new(), String::new());
            let stopper = stop.clone();
            let outcome = run(shell(script), &stop, |piece| {
                seen.push_str(&String::from_utf8_lossy(piece));
                stopper.stop();
            });
            // A shell that ignores interrupts is killed.
            assert!(!matches!(outcome.await.unwrap(), Outcome::Exited(status) if status.success()));
            let left: u32 = seen.trim().parse().unwrap();
            while is_alive(left) {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn an_abandoned_command_ends_with_all_that_it_started() {
        let (number, mut seen) = tokio::sync::oneshot::channel();
        let task = tokio::spawn(async move {
            let (mut number, stop) = (Some(number), Stop::new());
            let script = shell("sleep 30 & echo $!; wait");
            let tell = |piece: &[u8]| {
                let sent = number.take().map(|number| number.send(String::from_utf8_lossy(piece).into_owned()));
                assert!(matches!(sent, Some(Ok(()))));
            };
            run(script, &stop, tell).await
        });
        let left: u32 = (&mut seen).await.unwrap().trim().parse().unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        while is_alive(left) {
            tokio::task::yield_now().await;
        }
    }

    /// A server in the background that holds no output of the script.
    #[tokio::test]
    async fn children_of_finished_scripts_live_on() {
        let mut seen = Vec::new();
        let script = shell("sleep 30 >/dev/null 2>&1 & echo $!");
        let outcome = run(script, &Stop::new(), |piece| seen.extend_from_slice(piece)).await.unwrap();
        assert!(matches!(outcome, Outcome::Exited(status) if status.success()));
        let left: u32 = String::from_utf8(seen).unwrap().trim().parse().unwrap();
        assert!(is_alive(left));
        let sleeper = i32::try_from(left).unwrap();
        // SAFETY: ends the process that this test has started.
        unsafe { libc::kill(sleeper, libc::SIGKILL) };
    }

    #[test]
    fn running_processes_are_detected() {
        assert!(ProcessId::current().is_alive());
        assert!(!ProcessId { started: 1, ..ProcessId::current() }.is_alive() || !cfg!(target_os = "linux"));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let id = child.id();
        child.wait().unwrap();
        assert!(!is_alive(id));
    }
}
