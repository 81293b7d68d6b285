//! Terminals for programs that ask questions.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::{Outcome, PATIENCE, wait};

/// The two ends of a new terminal: ours, and that of the program.
pub fn terminal() -> (OwnedFd, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    let none = std::ptr::null_mut();
    // SAFETY: the call writes the two descriptors, which have no other owner.
    unsafe {
        assert_eq!(libc::openpty(&mut ours, &mut theirs, none, none.cast(), none.cast()), 0);
        // What this process starts at the same time must not hold the terminal open.
        for end in [ours, theirs] {
            libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}

/// Whether the terminal itself edits and echoes lines, as it does unless a program reads keys.
pub fn is_cooked(terminal: &OwnedFd) -> bool {
    // SAFETY: the call fills the structure.
    unsafe {
        let mut mode: libc::termios = std::mem::zeroed();
        assert_eq!(libc::tcgetattr(terminal.as_raw_fd(), &mut mode), 0);
        mode.c_lflag & (libc::ECHO | libc::ICANON) == libc::ECHO | libc::ICANON
    }
}

/// Runs a command with input and output at one terminal, and types `line` at each `prompt`. The screen is in
/// `out`, with the line endings of files.
pub fn type_at(mut command: Command, prompt: &str, line: &str) -> Outcome {
    let (ours, theirs) = terminal();
    command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    // Only the child may have the other end: reading ends with it.
    drop(command);
    let (mode, mut keys) = (ours.try_clone().unwrap(), File::from(ours.try_clone().unwrap()));
    let screen = Arc::new(Mutex::new(Vec::new()));
    let (seen, wanted, line) = (screen.clone(), prompt.to_owned(), format!("{line}\n"));
    let reader = std::thread::spawn(move || {
        let (mut ours, mut piece, mut answered) = (File::from(ours), [0; 4096], 0);
        while let Ok(count @ 1..) = ours.read(&mut piece) {
            let mut seen = seen.lock().unwrap();
            seen.extend_from_slice(&piece[..count]);
            let text = String::from_utf8_lossy(&seen);
            // What follows an answer may be nothing but line breaks.
            if text.trim_end().ends_with(&wanted) && text.matches(&wanted).count() > answered {
                answered += 1;
                // Where the answer is a secret, the terminal forgets what was typed before it hides the line.
                let hidden_by = Instant::now() + Duration::from_secs(2);
                while is_cooked(&mode) && Instant::now() < hidden_by {
                    std::thread::sleep(Duration::from_millis(5));
                }
                keys.write_all(line.as_bytes()).unwrap();
            }
        }
    });
    let end = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > end => {
                child.kill().unwrap();
                break child.wait().unwrap();
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    reader.join().unwrap();
    let out = String::from_utf8_lossy(&screen.lock().unwrap()).replace("\r\n", "\n");
    Outcome { code: status.code(), out, err: String::new() }
}

/// A program at a terminal, which is its standard input, output and error, with what was shown there.
pub struct Screen {
    pub child: Child,
    ours: File,
    shown: Arc<(Mutex<Shown>, Condvar)>,
}

#[derive(Default)]
struct Shown {
    text: String,
    ended: bool,
}

impl Screen {
    pub fn start(mut command: Command) -> Screen {
        let (ours, theirs) = terminal();
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let child = command.spawn().unwrap_or_else(|e| panic!("{:?}: {e}", command.get_program()));
        // It holds the ends that are the program's; the reader sees the end of the text once all are closed.
        drop(command);
        let shown = Arc::new((Mutex::<Shown>::default(), Condvar::new()));
        let ours = File::from(ours);
        let (mut reader, writer) = (ours.try_clone().unwrap(), shown.clone());
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let count = reader.read(&mut buffer).unwrap_or(0);
                let mut shown = writer.0.lock().unwrap();
                shown.text += &String::from_utf8_lossy(&buffer[..count]).replace("\r\n", "\n");
                shown.ended = count == 0;
                writer.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        Screen { child, ours, shown }
    }

    /// Waits until the screen has the text; panics if it ends or time is up without.
    pub fn until(&self, text: &str) {
        let end = Instant::now() + PATIENCE;
        let mut shown = self.shown.0.lock().unwrap();
        while !shown.text.contains(text) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!shown.ended && !left.is_zero(), "never seen: {text}\n{}", shown.text);
            shown = self.shown.1.wait_timeout(shown, left).unwrap().0;
        }
    }

    pub fn send(&mut self, text: &str) {
        self.ours.write_all(text.as_bytes()).unwrap();
    }

    pub fn signal(&self, number: i32) {
        // SAFETY: the call touches no memory.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, number) }, 0);
    }

    /// The exit code, and all that was shown.
    pub fn finish(mut self) -> (Option<i32>, String) {
        let status = wait(&mut self.child);
        let end = Instant::now() + PATIENCE;
        let mut shown = self.shown.0.lock().unwrap();
        while !shown.ended {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the terminal is still open\n{}", shown.text);
            shown = self.shown.1.wait_timeout(shown, left).unwrap().0;
        }
        let status = status.unwrap_or_else(|| panic!("it did not end\n{}", shown.text));
        (status.code(), shown.text.clone())
    }
}
