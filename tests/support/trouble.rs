//! What may be wrong with a host: wrong answers, broken ones, and gates at which it waits until the test lets it go on.

use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex};

use super::PATIENCE;
use super::server::{Asked, Reply, Stream};

/// What happens to a request.
#[derive(Clone)]
pub enum Trouble {
    /// An answer of another kind.
    Instead(Reply),
    /// It points to itself.
    Loop,
    /// The connection is closed without a word.
    Leave,
    /// It is held open without a word.
    Hang,
    /// The connection breaks after so many bytes of the body.
    Cut(usize),
    /// The connection waits after so many bytes of the body.
    Stall(usize),
    /// The announced number of bytes, which may differ from the content.
    Length(usize),
    /// Byte by byte.
    Drip,
    /// The answer waits at a gate.
    Wait(Gate),
    /// The body's first bytes are sent; the rest waits at a gate.
    WaitWithin(usize, Gate),
    /// Only so many requests have it.
    Times(usize, Box<Trouble>),
}

impl Trouble {
    pub fn status(status: &str) -> Trouble {
        Trouble::Instead(Reply::status(status))
    }

    pub fn first(self) -> Trouble {
        Trouble::Times(1, Box::new(self))
    }

    /// The length that the head of a reply says.
    pub fn claimed_length(&self, reply: &Reply) -> usize {
        match self {
            Trouble::Length(length) => *length,
            _ => reply.body.len(),
        }
    }

    /// Sends a body in its way. False: the connection ends without a farewell.
    pub fn send(&self, body: &[u8], stream: &mut Stream) -> bool {
        match self {
            Trouble::Cut(after) => {
                let _ = stream.write_all(&body[..(*after).min(body.len())]).and_then(|()| stream.flush());
                false
            }
            Trouble::Stall(after) => {
                let _ = stream.write_all(&body[..(*after).min(body.len())]).and_then(|()| stream.flush());
                let _ = stream.read(&mut [0]);
                false
            }
            Trouble::Drip => body.iter().all(|byte| stream.write_all(&[*byte]).and_then(|()| stream.flush()).is_ok()),
            Trouble::WaitWithin(after, gate) => {
                let (first, rest) = body.split_at((*after).min(body.len()));
                let _ = stream.write_all(first).and_then(|()| stream.flush());
                gate.pass();
                stream.write_all(rest).is_ok()
            }
            _ => stream.write_all(body).is_ok(),
        }
    }
}

/// What the host is to do with a request.
pub enum Deed {
    Answer(Reply),
    Break(Reply, Trouble),
    Hang,
    Leave,
}

/// Troubles by parts of paths.
#[derive(Default)]
pub struct Troubles(Mutex<Vec<(String, Trouble)>>);

impl Troubles {
    pub fn add(&self, part: &str, trouble: Trouble) {
        self.0.lock().unwrap().push((part.to_owned(), trouble));
    }

    pub fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    fn next(&self, path: &str) -> Option<Trouble> {
        let mut all = self.0.lock().unwrap();
        for (_, trouble) in all.iter_mut().filter(|(part, _)| path.contains(part.as_str())) {
            match trouble {
                Trouble::Times(0, _) => {}
                Trouble::Times(left, inner) => {
                    *left -= 1;
                    return Some(Trouble::clone(inner));
                }
                other => return Some(other.clone()),
            }
        }
        None
    }

    pub fn of(&self, asked: &Asked, answer: impl Fn() -> Option<Reply>) -> Deed {
        let reply = |trouble| answer().map_or(Deed::Hang, |reply| Deed::Break(reply, trouble));
        match self.next(&asked.path) {
            None => answer().map_or(Deed::Hang, Deed::Answer),
            Some(Trouble::Instead(reply)) => Deed::Answer(reply),
            Some(Trouble::Loop) => Deed::Answer(Reply::status("302 Found").with("Location", asked.path.as_str())),
            Some(Trouble::Leave) => Deed::Leave,
            Some(Trouble::Hang) => Deed::Hang,
            Some(Trouble::Wait(gate)) => {
                gate.pass();
                answer().map_or(Deed::Hang, Deed::Answer)
            }
            Some(trouble) => reply(trouble),
        }
    }
}

/// Where others wait until the test opens it.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<(usize, bool)>, Condvar)>);

impl Gate {
    /// Waits until it is open.
    pub fn pass(&self) {
        let mut state = self.0.0.lock().unwrap();
        state.0 += 1;
        self.0.1.notify_all();
        drop(self.0.1.wait_timeout_while(state, PATIENCE, |(_, open)| !*open).unwrap());
    }

    /// Waits until so many wait or have waited.
    pub fn reached(&self, many: usize) {
        let state = self.0.0.lock().unwrap();
        let (_guard, waited) = self.0.1.wait_timeout_while(state, PATIENCE, |(seen, _)| *seen < many).unwrap();
        assert!(!waited.timed_out(), "no request came to the gate");
    }

    pub fn open(&self) {
        self.0.0.lock().unwrap().1 = true;
        self.0.1.notify_all();
    }
}
