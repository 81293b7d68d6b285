//! Terminals for programs that ask questions.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::{Outcome, PATIENCE};

/// The two ends of a new terminal: ours, and that of the program.
pub fn terminal() -> (OwnedFd, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    let none = std::ptr::null_mut();
    // SAFETY: the call writes the two descriptors, which have no other owner.
    unsafe {
        assert_eq!(libc::openpty(&mut ours, &mut theirs, none, none.cast(), none.cast()), 0);
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
    let mut keys = File::from(ours.try_clone().unwrap());
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
            None => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    reader.join().unwrap();
    let out = String::from_utf8_lossy(&screen.lock().unwrap()).replace("\r\n", "\n");
    Outcome { code: status.code(), out, err: String::new() }
}
