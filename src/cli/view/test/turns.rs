//! Whose turn it is where files run side by side: the first one that is not over, by name, is shown as it goes on, others when their turn
//! comes.

use std::collections::HashMap;

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Out(String),
    Err(String),
}

#[derive(Debug, Default)]
pub struct Turns {
    files: Vec<Waiting>,
    places: HashMap<String, usize>,
    current: usize,
    /// A file is shown when it is over.
    is_whole: bool,
}

/// Output of a file that has not been shown.
#[derive(Debug, Default)]
struct Waiting {
    pieces: Vec<Piece>,
    is_over: bool,
}

impl Turns {
    /// Takes the names of the files, in their order. `is_whole`: each is shown when it is over, not as it goes on.
    pub fn of(names: impl IntoIterator<Item = String>, is_whole: bool) -> Turns {
        let places: HashMap<String, usize> = names.into_iter().enumerate().map(|(at, name)| (name, at)).collect();
        let files = (0..places.len()).map(|_| Waiting::default()).collect();
        Turns { files, places, current: 0, is_whole }
    }

    /// Takes the output of a file. Returns what is to be shown now.
    pub fn add(&mut self, file: &str, pieces: Vec<Piece>) -> Vec<Piece> {
        match self.waiting(file) {
            Some(waiting) => {
                waiting.pieces.extend(pieces);
                self.released()
            }
            None => pieces,
        }
    }

    /// As [`Self::add`], in front of the output of the file that has not been shown.
    pub fn add_first(&mut self, file: &str, pieces: Vec<Piece>) -> Vec<Piece> {
        match self.waiting(file) {
            Some(waiting) => {
                waiting.pieces.splice(0..0, pieces);
                self.released()
            }
            None => pieces,
        }
    }

    /// The file is over. Returns what is to be shown now.
    pub fn end(&mut self, file: &str) -> Vec<Piece> {
        if let Some(waiting) = self.waiting(file) {
            waiting.is_over = true;
        }
        self.released()
    }

    /// All that has not been shown.
    pub fn rest(&mut self) -> Vec<Piece> {
        self.current = self.files.len();
        self.files.iter_mut().flat_map(|waiting| std::mem::take(&mut waiting.pieces)).collect()
    }

    /// None if the turn of the file is over.
    fn waiting(&mut self, file: &str) -> Option<&mut Waiting> {
        let place = *self.places.get(file)?;
        if place < self.current { None } else { self.files.get_mut(place) }
    }

    fn released(&mut self) -> Vec<Piece> {
        let mut shown = Vec::new();
        while let Some(waiting) = self.files.get_mut(self.current) {
            if waiting.is_over || !self.is_whole {
                shown.append(&mut waiting.pieces);
            }
            if !waiting.is_over {
                break;
            }
            self.current += 1;
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(text: &str) -> Vec<Piece> {
        vec![Piece::Out(text.to_owned())]
    }

    fn shown(pieces: Vec<Piece>) -> String {
        let text = |piece| match piece {
            Piece::Out(text) | Piece::Err(text) => text,
        };
        pieces.into_iter().map(text).collect()
    }

    fn turns(is_whole: bool) -> Turns {
        Turns::of(["a", "b", "c"].map(str::to_owned), is_whole)
    }

    #[test]
    fn later_files_wait_for_their_turn() {
        let mut turns = turns(false);
        assert_eq!(shown(turns.add("b", out("b1 "))), "");
        assert_eq!(shown(turns.add("a", out("a1 "))), "a1 ");
        assert_eq!(shown(turns.add("c", out("c1 "))), "");
        assert_eq!(shown(turns.end("c")), "");
        assert_eq!(shown(turns.add("a", out("a2 "))), "a2 ");
        assert_eq!(shown(turns.end("a")), "b1 ");
        assert_eq!(shown(turns.add("b", out("b2 "))), "b2 ");
        assert_eq!(shown(turns.end("b")), "c1 ");
        assert_eq!(shown(turns.add("a", out("late"))), "late");
        assert_eq!(shown(turns.add("d", out("unknown"))), "unknown");
        assert_eq!(shown(turns.rest()), "");
    }

    #[test]
    fn whole_files_are_shown_when_they_are_over() {
        let mut turns = turns(true);
        assert_eq!(shown(turns.add("a", out("a2 "))), "");
        assert_eq!(shown(turns.add_first("a", out("a1 "))), "");
        assert_eq!(shown(turns.add("b", out("b1 "))), "");
        assert_eq!(shown(turns.end("a")), "a1 a2 ");
        assert_eq!(shown(turns.rest()), "b1 ");
    }
}
