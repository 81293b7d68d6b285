//! The bytes that a terminal gets where a status area is below the output: an area that comes and goes without traces in what is above it.
//!
//! The cursor stays at the start of the area while it is shown, so that taking it away needs neither its height nor its width: both
//! change when a window is resized. Lines that are typed move it; then it returns to a place that the terminal keeps. The area is
//! written in one piece with the output before it, and terminals that can show both at once receive a mark for that. Output that comes
//! faster than the area may be drawn waits for the next drawing. Owns no stream and no clock.

use std::time::{Duration, Instant};

use super::draw::Size;

/// Minimum time between two drawings.
pub const PERIOD: Duration = Duration::from_millis(100);

/// What begins and ends a piece that is to be shown at once.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";

/// From the cursor to the end of the screen.
const CLEAR: &str = "\r\x1b[J";

/// Lines that are too wide are cut, not broken: a broken one would take more rows than the area has.
const CUT: &str = "\x1b[?7l";
const BREAK: &str = "\x1b[?7h";

/// Keeps the place of the cursor, and takes the cursor back there: lines that are typed move it below the start of the area.
const MARK: &str = "\x1b7";
const RETURN: &str = "\x1b8";

/// What a terminal says right before something is written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalStatus {
    pub size: Option<Size>,
    /// Bytes of typed lines that no program has read yet.
    pub typed: usize,
}

/// A terminal with a status area.
#[derive(Debug, Default)]
pub struct Screen {
    /// The lines to be shown; none: there is no area.
    area: Vec<String>,
    /// The area is on the screen.
    is_shown: bool,
    /// What is on the screen is not what is to be shown.
    is_stale: bool,
    /// The terminal at the last look.
    status: TerminalStatus,
    /// The place that the terminal keeps is where the area starts; it is not after a change of the size.
    is_marked: bool,
    /// Lines were typed since the area was drawn.
    is_moved: bool,
    /// The output ends within a line: nothing may be drawn there.
    within_line: bool,
    /// How many questions and other programs use the terminal now: while there are any, nothing may be drawn.
    loans: usize,
    /// Output that is not written yet.
    waiting: Vec<u8>,
    drawn: Option<Instant>,
}

impl Screen {
    /// Takes output. Gives what is to be written now; nothing: all of it waits for [`Screen::pass`].
    pub fn print(&mut self, text: &[u8], now: Instant) -> Vec<u8> {
        self.waiting.extend_from_slice(text);
        if self.is_shown && !self.is_due(now) { Vec::new() } else { self.piece(now) }
    }

    /// Changes the area. Gives what is to be written now.
    pub fn set_area(&mut self, area: Vec<String>, now: Instant) -> Vec<u8> {
        self.is_stale |= area != self.area;
        self.area = area;
        self.pass(now)
    }

    /// Takes note of the terminal, right before something is written: the window may have become smaller since the area was laid out, and
    /// lines may have been typed, which the terminal has shown within the area.
    pub fn look(&mut self, status: TerminalStatus) {
        self.is_marked &= status.size == self.status.size;
        if self.is_shown && status.typed > self.status.typed {
            (self.is_moved, self.is_stale) = (true, true);
        }
        self.status = status;
    }

    /// Gives what is to be written when it is time for a drawing.
    pub fn pass(&mut self, now: Instant) -> Vec<u8> {
        let is_missing = !self.area.is_empty() && self.may_draw() && !self.is_shown;
        let is_wanted = self.is_stale || is_missing || !self.waiting.is_empty();
        if is_wanted && self.is_due(now) { self.piece(now) } else { Vec::new() }
    }

    /// Takes the area away until [`Screen::take_back`]. Gives what is to be written before.
    pub fn lend(&mut self, now: Instant) -> Vec<u8> {
        self.loans += 1;
        self.piece(now)
    }

    /// The area may be drawn again, at the next change or output.
    pub fn take_back(&mut self) {
        self.loans = self.loans.saturating_sub(1);
    }

    /// Takes the area away for output on the other stream of the terminal. Gives what is to be written before.
    pub fn step_aside(&mut self, text: &[u8], now: Instant) -> Vec<u8> {
        let area = std::mem::take(&mut self.area);
        let before = self.piece(now);
        self.area = area;
        self.note_end(text);
        before
    }

    /// Draws the area again, after [`Screen::step_aside`].
    pub fn step_back(&mut self, now: Instant) -> Vec<u8> {
        self.piece(now)
    }

    /// Takes the area away at once, until it is set again. Gives all that is to be written.
    pub fn clear(&mut self, now: Instant) -> Vec<u8> {
        self.area.clear();
        self.piece(now)
    }

    fn may_draw(&self) -> bool {
        self.loans == 0 && !self.within_line
    }

    fn is_due(&self, now: Instant) -> bool {
        self.drawn.is_none_or(|drawn| now.saturating_duration_since(drawn) >= PERIOD)
    }

    fn note_end(&mut self, text: &[u8]) {
        if let Some(last) = without_resets(text).last() {
            self.within_line = *last != b'\n';
        }
    }

    /// What of the area may be drawn: more than half of a window might scroll it, and what leaves a window cannot be taken away.
    fn fitting(&self) -> &[String] {
        let room = self.status.size.map_or(usize::MAX, |size| (size.rows / 2).max(1));
        &self.area[..self.area.len().min(room)]
    }

    /// All that waits, with the area after it if it may be drawn.
    fn piece(&mut self, now: Instant) -> Vec<u8> {
        let text = std::mem::take(&mut self.waiting);
        self.is_stale = false;
        self.note_end(&text);
        let draws = self.may_draw() && !self.area.is_empty();
        if !draws && !self.is_shown {
            return text;
        }
        let mut out = Vec::with_capacity(text.len() + 512);
        out.extend_from_slice(BEGIN.as_bytes());
        if self.is_shown {
            if self.is_moved && self.is_marked {
                out.extend_from_slice(RETURN.as_bytes());
            }
            out.extend_from_slice(CLEAR.as_bytes());
        }
        self.is_moved = false;
        out.extend_from_slice(&text);
        if draws {
            out.extend_from_slice(CUT.as_bytes());
            let area = self.fitting();
            out.extend_from_slice(area.join("\r\n").as_bytes());
            if area.len() > 1 {
                out.extend_from_slice(format!("\x1b[{}A", area.len() - 1).as_bytes());
            }
            out.extend_from_slice(format!("\r{BREAK}{MARK}").as_bytes());
            (self.drawn, self.is_marked) = (Some(now), true);
        }
        self.is_shown = draws;
        out.extend_from_slice(END.as_bytes());
        out
    }
}

/// The text without the ends of colours behind it: plans end in one after their last line.
fn without_resets(mut text: &[u8]) -> &[u8] {
    while let Some(before) = text.strip_suffix(b"\x1b[0m") {
        text = before;
    }
    text
}

/// What tells a terminal how far a command is; none: not at all any more.
pub fn task_bar(progress: Option<TaskBar>) -> String {
    let (state, percent) = match progress {
        None => (0, 0),
        Some(TaskBar::Percent(percent)) => (1, percent.min(100)),
        Some(TaskBar::Failed(percent)) => (2, percent.min(100)),
        Some(TaskBar::Unknown) => (3, 0),
    };
    format!("\x1b]9;4;{state};{percent}\x1b\\")
}

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskBar {
    Percent(usize),
    /// The same, after an error.
    Failed(usize),
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal of so few columns and rows, without colours: what is in its rows, above which others are gone.
    struct Model {
        rows: Vec<String>,
        row: usize,
        column: usize,
        columns: usize,
        breaks: bool,
        mark: (usize, usize),
    }

    impl Model {
        fn new(columns: usize) -> Model {
            Model { rows: vec![String::new()], row: 0, column: 0, columns, breaks: true, mark: (0, 0) }
        }

        fn feed(&mut self, bytes: &[u8]) {
            let text = std::str::from_utf8(bytes).unwrap();
            let mut rest = text;
            while let Some(c) = rest.chars().next() {
                if let Some(after) = rest.strip_prefix("\x1b[") {
                    let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                    self.control(&after[..end], &after[end..=end]);
                    rest = &after[end + 1..];
                    continue;
                }
                if let Some(after) = rest.strip_prefix(MARK) {
                    self.mark = (self.row, self.column);
                    rest = after;
                    continue;
                }
                if let Some(after) = rest.strip_prefix(RETURN) {
                    (self.row, self.column) = self.mark;
                    rest = after;
                    continue;
                }
                match c {
                    '\r' => self.column = 0,
                    // As a terminal in its usual mode, which returns too.
                    '\n' => self.down(),
                    c => self.put(c),
                }
                rest = &rest[c.len_utf8()..];
            }
        }

        fn control(&mut self, number: &str, kind: &str) {
            match (number, kind) {
                ("", "J") => {
                    self.rows.truncate(self.row + 1);
                    self.rows[self.row].truncate(self.column);
                }
                ("?7", kind) => self.breaks = kind == "h",
                ("?2026", _) | (_, "m") => {}
                (number, "A") => self.row -= number.parse::<usize>().unwrap(),
                other => panic!("{other:?}"),
            }
        }

        fn down(&mut self) {
            (self.row, self.column) = (self.row + 1, 0);
            if self.row == self.rows.len() {
                self.rows.push(String::new());
            }
        }

        fn put(&mut self, c: char) {
            if self.column == self.columns {
                if !self.breaks {
                    return;
                }
                self.down();
            }
            let row = &mut self.rows[self.row];
            row.truncate(self.column);
            row.push(c);
            self.column += 1;
        }

        fn shown(&self) -> String {
            self.rows.join("|")
        }
    }

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| line.to_string()).collect()
    }

    #[test]
    fn output_goes_above_the_area_and_the_area_leaves_nothing() {
        let start = Instant::now();
        let at = |periods: u32| start + PERIOD * periods;
        let (mut screen, mut model) = (Screen::default(), Model::new(20));
        model.feed(&screen.print(b"first\n", at(0)));
        assert_eq!(model.shown(), "first|");
        model.feed(&screen.set_area(lines(&["one", "two"]), at(1)));
        assert_eq!((model.shown().as_str(), model.row, model.column), ("first|one|two", 1, 0));
        model.feed(&screen.print(b"second\n", at(2)));
        assert_eq!(model.shown(), "first|second|one|two");
        model.feed(&screen.set_area(lines(&["three"]), at(3)));
        assert_eq!(model.shown(), "first|second|three");
        model.feed(&screen.step_aside(b"error\n", at(4)));
        model.feed(b"error\n");
        assert_eq!(model.shown(), "first|second|error|");
        model.feed(&screen.step_back(at(4)));
        assert_eq!(model.shown(), "first|second|error|three");
        model.feed(&screen.clear(at(5)));
        assert_eq!(model.shown(), "first|second|error|");
        assert_eq!(screen.print(b"last\n", at(5)), b"last\n");
    }

    #[test]
    fn nothing_is_drawn_more_often_than_ten_times_a_second_but_output_is_kept() {
        let start = Instant::now();
        let (mut screen, mut model) = (Screen::default(), Model::new(20));
        model.feed(&screen.set_area(lines(&["area"]), start));
        let mut drawings = 0;
        for number in 0..1_000_u32 {
            let now = start + Duration::from_millis(u64::from(number));
            let piece = screen.print(format!("{number}\n").as_bytes(), now);
            drawings += usize::from(!piece.is_empty());
            model.feed(&piece);
        }
        assert_eq!(drawings, 9);
        model.feed(&screen.clear(start));
        let all: String = (0..1_000).map(|number| format!("{number}|")).collect();
        assert_eq!(model.shown(), all);
    }

    #[test]
    fn the_area_waits_for_the_end_of_a_line() {
        let start = Instant::now();
        let at = |periods: u32| start + PERIOD * periods;
        let (mut screen, mut model) = (Screen::default(), Model::new(20));
        model.feed(&screen.set_area(lines(&["area"]), at(0)));
        model.feed(&screen.print(b"half", at(1)));
        assert_eq!(model.shown(), "half");
        model.feed(&screen.set_area(lines(&["changed"]), at(2)));
        assert_eq!(model.shown(), "half");
        model.feed(&screen.print(b" line\n", at(3)));
        assert_eq!(model.shown(), "half line|changed");
        model.feed(&screen.print(b"whole\n\x1b[0m\x1b[0m", at(4)));
        assert_eq!(model.shown(), "half line|whole|changed");
        model.feed(&screen.print(b"\x1b[0m", at(5)));
        model.feed(&screen.print(b"half\x1b[0m", at(6)));
        assert_eq!(model.shown(), "half line|whole|half");
    }

    #[test]
    fn an_area_that_ends_too_early_to_be_taken_away_is_taken_away_later() {
        let start = Instant::now();
        let (mut screen, mut model) = (Screen::default(), Model::new(20));
        model.feed(&screen.set_area(lines(&["area"]), start));
        model.feed(&screen.set_area(Vec::new(), start + PERIOD / 2));
        assert_eq!(model.shown(), "area");
        model.feed(&screen.pass(start + PERIOD));
        assert_eq!(model.shown(), "");
        assert_eq!(screen.pass(start + PERIOD * 9), b"");
    }

    #[test]
    fn a_lent_terminal_has_no_area() {
        let start = Instant::now();
        let at = |periods: u32| start + PERIOD * periods;
        let (mut screen, mut model) = (Screen::default(), Model::new(40));
        model.feed(&screen.set_area(lines(&["area"]), at(0)));
        model.feed(&screen.lend(at(0)));
        assert_eq!(model.shown(), "");
        model.feed(&screen.print(b"Enter a value: ", at(1)));
        model.feed(&screen.set_area(lines(&["other"]), at(2)));
        assert_eq!(model.shown(), "Enter a value: ");
        // What is typed is not seen here; the line break after it is.
        screen.take_back();
        model.feed(&screen.pass(at(3)));
        assert_eq!(model.shown(), "Enter a value: ");
        model.feed(&screen.print(b"\n", at(4)));
        assert_eq!(model.shown(), "Enter a value: |other");
    }

    fn status(rows: Option<usize>, typed: usize) -> TerminalStatus {
        TerminalStatus { size: rows.map(|rows| Size { columns: 20, rows }), typed }
    }

    #[test]
    fn typed_lines_leave_nothing_of_the_area() {
        let start = Instant::now();
        let at = |periods: u32| start + PERIOD * periods;
        let (mut screen, mut model) = (Screen::default(), Model::new(20));
        let area = || lines(&["one", "two", "three"]);
        screen.look(status(Some(24), 2));
        model.feed(&screen.print(b"output\n", at(0)));
        model.feed(&screen.set_area(area(), at(1)));
        // The terminal shows what is typed where the cursor is.
        model.feed(b"x\n\n");
        screen.look(status(Some(24), 5));
        model.feed(&screen.set_area(area(), at(2)));
        assert_eq!((model.shown().as_str(), model.row), ("output|one|two|three", 1));
        // Nothing new was typed, and then some program has read all of it.
        for typed in [5, 0] {
            screen.look(status(Some(24), typed));
            assert_eq!(screen.set_area(area(), at(3)), b"");
        }
        // In a window of another size, the place is not where the area starts.
        model.feed(b"\n");
        screen.look(status(Some(20), 1));
        let piece = screen.set_area(area(), at(4));
        assert!(!piece.is_empty() && !String::from_utf8(piece).unwrap().contains(RETURN));
    }

    #[test]
    fn an_area_takes_half_of_the_window_that_there_is_now() {
        let start = Instant::now();
        let (mut screen, mut model) = (Screen::default(), Model::new(20));
        let area = || lines(&["one", "two", "three", "four"]);
        let cases = [
            (None, "one|two|three|four"),
            (Some(24), "one|two|three|four"),
            (Some(7), "one|two|three"),
            (Some(2), "one"),
            (Some(1), "one"),
        ];
        for (rows, expected) in cases {
            screen.look(status(rows, 0));
            model.feed(&screen.set_area(area(), start));
            assert_eq!((model.shown().as_str(), model.row), (expected, 0), "{rows:?}");
            model.feed(&screen.clear(start));
            screen.drawn = None;
        }
    }

    #[test]
    fn lines_that_are_too_wide_are_cut() {
        let start = Instant::now();
        let (mut screen, mut model) = (Screen::default(), Model::new(5));
        model.feed(&screen.set_area(lines(&["12345678", "abc"]), start));
        assert_eq!(model.shown(), "12345|abc");
        model.columns = 10;
        model.feed(&screen.clear(start));
        assert_eq!(model.shown(), "");
        model.feed(&screen.set_area(lines(&["12345678", "abc"]), start + PERIOD));
        assert_eq!(model.shown(), "12345678|abc");
    }

    #[test]
    fn task_bars_get_a_state_and_a_percentage() {
        let cases = [
            (None, "0;0"),
            (Some(TaskBar::Percent(101)), "1;100"),
            (Some(TaskBar::Failed(20)), "2;20"),
            (Some(TaskBar::Unknown), "3;0"),
        ];
        for (given, expected) in cases {
            assert_eq!(task_bar(given), format!("\x1b]9;4;{expected}\x1b\\"));
        }
    }
}
