//! A program at a terminal: its standard input, output and error are one.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use super::{PATIENCE, wait};

/// A terminal of 100 columns, with what was shown on it.
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
        let (ours, theirs) = open();
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap()).stderr(theirs);
        let child = command.spawn().unwrap_or_else(|e| panic!("{:?}: {e}", command.get_program()));
        // It holds the ends that are the program's; the reader sees the end of the text once all are closed.
        drop(command);
        let shown = Arc::new((Mutex::<Shown>::default(), Condvar::new()));
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

/// The two ends of a new terminal: ours, and that of the program.
fn open() -> (File, OwnedFd) {
    let (mut ours, mut theirs) = (0, 0);
    let size = libc::winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the call reads the size and writes the two descriptors, which have no other owner.
    unsafe {
        let none = std::ptr::null_mut();
        assert_eq!(libc::openpty(&mut ours, &mut theirs, none, none.cast(), &raw const size as *mut _), 0);
        // What this process starts at the same time must not hold the terminal open.
        for end in [ours, theirs] {
            libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        (File::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs))
    }
}
