//! How text is shown: with colours or not, and how wide.

use super::wrap::wrap_paragraphs;
use std::fmt::Display;

/// Columns and colours of the place that text goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    pub colour: bool,
    pub width: usize,
}

/// One way of showing a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    Bold,
    Underline,
    Red,
    Green,
    Yellow,
    Cyan,
    DarkGray,
}

impl Tint {
    fn code(self) -> &'static str {
        match self {
            Tint::Bold => "1",
            Tint::Underline => "4",
            Tint::Red => "31",
            Tint::Green => "32",
            Tint::Yellow => "33",
            Tint::Cyan => "36",
            Tint::DarkGray => "90",
        }
    }
}

impl Style {
    /// Paragraphs broken into lines, which leave the last column free, as the reference's do.
    pub fn wrapped(&self, text: &str) -> String {
        wrap_paragraphs(text, self.width.saturating_sub(1))
    }

    /// Without colours, for a place of unknown width.
    pub fn plain() -> Style {
        Style { colour: false, width: 78 }
    }

    /// The text with all of the tints.
    pub fn paint(&self, tints: &[Tint], text: impl Display) -> String {
        if !self.colour || tints.is_empty() {
            return text.to_string();
        }
        let codes: Vec<&str> = tints.iter().map(|tint| tint.code()).collect();
        format!("\x1b[{}m{text}\x1b[0m", codes.join(";"))
    }

    pub fn bold(&self, text: impl Display) -> String {
        self.paint(&[Tint::Bold], text)
    }

    pub fn underline(&self, text: impl Display) -> String {
        self.paint(&[Tint::Underline], text)
    }

    pub fn red(&self, text: impl Display) -> String {
        self.paint(&[Tint::Red], text)
    }

    pub fn green(&self, text: impl Display) -> String {
        self.paint(&[Tint::Green], text)
    }

    pub fn yellow(&self, text: impl Display) -> String {
        self.paint(&[Tint::Yellow], text)
    }

    pub fn cyan(&self, text: impl Display) -> String {
        self.paint(&[Tint::Cyan], text)
    }

    pub fn dark_gray(&self, text: impl Display) -> String {
        self.paint(&[Tint::DarkGray], text)
    }

    /// Bold and green: the headlines of success.
    pub fn success(&self, text: impl Display) -> String {
        self.paint(&[Tint::Bold, Tint::Green], text)
    }
}
