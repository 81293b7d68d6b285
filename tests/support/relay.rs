//! A relay on the loopback between a client and a server, which counts round trips, makes them longer, and breaks the
//! connection where a test wants.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// When the connection is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Before the server has the message.
    Before,
    /// After the server has it; the client has no answer.
    After,
}

pub struct Relay {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    target: u16,
    delay: Duration,
    /// What the client said after an answer, or first.
    turns: AtomicUsize,
    /// Turns that the server answered.
    round_trips: AtomicUsize,
    breaks: Mutex<Option<(usize, Break)>>,
}

impl Relay {
    /// `delay`: how long each turn takes longer than without the relay.
    pub fn start(target: u16, delay: Duration) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (turns, round_trips, breaks) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::default());
        let shared = Arc::new(Shared { target, delay, turns, round_trips, breaks });
        let serving = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = serving.clone();
                std::thread::spawn(move || shared.connect(&client));
            }
        });
        Relay { port, shared }
    }

    /// What the client said and the server answered, since the count began.
    pub fn round_trips(&self) -> usize {
        self.shared.round_trips.load(Ordering::SeqCst)
    }

    pub fn begin_count(&self) {
        self.shared.turns.store(0, Ordering::SeqCst);
        self.shared.round_trips.store(0, Ordering::SeqCst);
    }

    /// The connection is not broken any more.
    pub fn hold(&self) {
        *self.shared.breaks.lock().unwrap() = None;
    }

    /// Begins a count, and breaks the connection at the turn after so many others, once.
    pub fn break_at(&self, turn: usize, how: Break) {
        self.begin_count();
        *self.shared.breaks.lock().unwrap() = Some((turn, how));
    }

    /// True if the connection was broken as asked.
    pub fn has_broken(&self) -> bool {
        self.shared.breaks.lock().unwrap().is_none()
    }
}

impl Shared {
    fn connect(self: &Arc<Self>, client: &TcpStream) {
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.target)) else { return };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        // Whether the next thing the client says begins a turn.
        let answered = Arc::new(AtomicBool::new(true));
        let broken = Arc::new(AtomicBool::new(false));
        let (back_from, back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let (seen, cut, shared) = (answered.clone(), broken.clone(), self.clone());
        let back = std::thread::spawn(move || {
            copy(&back_from, &back_to, || {
                if !seen.swap(true, Ordering::SeqCst) {
                    shared.round_trips.fetch_add(1, Ordering::SeqCst);
                }
                !cut.load(Ordering::SeqCst)
            });
        });
        copy(client, &server, || {
            if !answered.swap(false, Ordering::SeqCst) {
                return !broken.load(Ordering::SeqCst);
            }
            std::thread::sleep(self.delay);
            let turn = self.turns.fetch_add(1, Ordering::SeqCst);
            let mut breaks = self.breaks.lock().unwrap();
            match *breaks {
                Some((at, how)) if at == turn => {
                    *breaks = None;
                    broken.store(true, Ordering::SeqCst);
                    how == Break::After
                }
                _ => true,
            }
        });
        if broken.load(Ordering::SeqCst) {
            // The server carries out what it got before it sees the end.
            std::thread::sleep(Duration::from_millis(100));
        }
        let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
        let _ = back.join();
    }
}

/// Copies until the end of either stream, or until a piece is not to be passed on.
fn copy(from: &TcpStream, to: &TcpStream, mut pass: impl FnMut() -> bool) {
    let mut buffer = vec![0; 256 * 1024];
    let (mut from, mut to) = (from, to);
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !pass() || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
