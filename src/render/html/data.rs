//! The data of a page: compact JSON that its script draws when it is needed.
//!
//! Texts stand once in a table, everything else is numbers. The details of an object are left out if the page would get too large;
//! those of the most dangerous changes come first. Owns the form of the data, which `page.js` reads.

use std::fmt::Write;

use model::plan::Action;
use rustc_hash::FxHashMap;
use terrane_value::json::write_string;

use super::graph::GraphView;
use crate::review::effect::Effect;
use crate::review::plain::one_line;
use crate::review::{Review, ReviewEntry};
use crate::text::diff::rows::{DiffRow, RowShape};

/// Bytes of the page that texts and rows may take.
pub const MOST_BYTES: usize = 9_500_000;
/// About what one number takes with its comma.
const NUMBER: usize = 6;

/// The texts of a page, each once.
#[derive(Default)]
pub struct TextTable {
    places: FxHashMap<String, usize>,
    texts: Vec<String>,
    bytes: usize,
}

impl TextTable {
    pub fn place(&mut self, text: &str) -> usize {
        let text = one_line(text);
        if let Some(place) = self.places.get(&*text) {
            return *place;
        }
        let place = self.texts.len();
        self.bytes += cost(&text);
        self.places.insert(text.clone().into_owned(), place);
        self.texts.push(text.into_owned());
        place
    }

    /// The place, or -1 for no text.
    fn optional(&mut self, text: Option<&str>) -> i64 {
        text.map_or(-1, |text| self.place(text) as i64)
    }

    /// What texts that are not there yet would take.
    fn cost_of(&self, rows: &[DiffRow]) -> usize {
        let texts = rows.iter().flat_map(|row| [Some(&row.name), row.before.as_ref(), row.after.as_ref()]);
        let new = texts.flatten().filter(|text| !self.places.contains_key(text.as_str()));
        new.map(|text| cost(text)).sum::<usize>() + rows.len() * 5 * NUMBER
    }

    fn json(&self) -> String {
        let mut out = String::with_capacity(self.bytes);
        list(&mut out, &self.texts, |out, text| write_string(text, out));
        out
    }
}

/// The bytes of a text in JSON that may stand in HTML.
fn cost(text: &str) -> usize {
    let of_byte = |byte: u8| if byte < b' ' || matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\\') { 6 } else { 1 };
    text.bytes().map(of_byte).sum::<usize>() + 3
}

/// Writes `[one,two]`.
fn list<T>(out: &mut String, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('[');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

fn numbers(out: &mut String, numbers: impl IntoIterator<Item = i64>) {
    list(out, numbers, |out, number| _ = write!(out, "{number}"));
}

/// The JSON document, whose texts have nothing that means something in HTML, and how many entries are without their rows.
pub fn document(review: &Review<'_>, views: &[GraphView]) -> (String, usize) {
    let mut texts = TextTable::default();
    let mut entries = String::new();
    let mut left_out = 0;
    let mut used = 0;
    list(&mut entries, &review.entries, |out, entry| {
        let rows = review.rows(entry);
        let cost = texts.cost_of(&rows);
        let fits = used + cost <= MOST_BYTES;
        used += if fits { cost } else { 0 };
        left_out += usize::from(!fits);
        write_entry(out, entry, fits.then_some(&*rows), &mut texts);
    });
    let mut graph = String::new();
    list(&mut graph, views, |out, view| view.write(out, &mut texts));
    let mut blocks = String::new();
    list(&mut blocks, &review.graph.blocks, |out, block| _ = write!(out, "{}", texts.place(&block.to_string())));
    let mut edges = String::new();
    numbers(&mut edges, review.graph.edges.iter().flat_map(|(from, to)| [*from as i64, *to as i64]));
    let mut effects = String::new();
    list(&mut effects, Effect::ALL, |out, effect| {
        list(out, [effect.word(), effect.sign(), effect.class()], |out, text| write_string(text, out));
    });
    let json = format!(
        "{{\"plan\":{},\"effects\":{effects},\"texts\":{},\"entries\":{entries},\"blocks\":{blocks},\"edges\":{edges},\
         \"views\":{graph}}}",
        review.is_plan,
        texts.json()
    );
    (json, left_out)
}

/// Address, module, type, effect, place, block, reasons with places, remarks, rows.
fn write_entry(out: &mut String, entry: &ReviewEntry<'_>, rows: Option<&[DiffRow]>, texts: &mut TextTable) {
    let place = entry.place.as_ref().map(ToString::to_string);
    let effect = Effect::ALL.iter().position(|effect| *effect == entry.effect).unwrap_or_default();
    let block = entry.block.map_or(-1, |block| block as i64);
    let _ = write!(
        out,
        "[{},{},{},{effect},{},{block},",
        texts.place(&entry.address),
        texts.place(&entry.module),
        texts.place(&entry.kind),
        texts.optional(place.as_deref())
    );
    let reasons = entry.reasons.iter().flat_map(|reason| {
        let place = reason.place.as_ref().map(ToString::to_string);
        [texts.place(&reason.text) as i64, texts.optional(place.as_deref())]
    });
    numbers(out, reasons.collect::<Vec<i64>>());
    out.push(',');
    numbers(out, entry.remarks.iter().map(|remark| texts.place(remark) as i64).collect::<Vec<i64>>());
    out.push(',');
    match rows {
        None => out.push('0'),
        Some(rows) => numbers(out, rows.iter().flat_map(|row| row_numbers(row, texts)).collect::<Vec<i64>>()),
    }
    out.push(']');
}

/// Depth, kind of row, name, before, after.
fn row_numbers(row: &DiffRow, texts: &mut TextTable) -> [i64; 5] {
    let action = match row.action {
        Action::Create => 1,
        Action::Delete => 2,
        Action::Update => 3,
        _ => 0,
    };
    let shape = match row.shape {
        RowShape::Value => 0,
        RowShape::Group => 4,
        RowShape::Line => 8,
        RowShape::Note => 12,
    };
    let kind = action + shape + if row.forces_replacement { 16 } else { 0 };
    let name = texts.place(&row.name) as i64;
    [row.depth as i64, kind, name, texts.optional(row.before.as_deref()), texts.optional(row.after.as_deref())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_once() {
        let mut texts = TextTable::default();
        let places = ["a", "b\n", "a", "b\\n"].map(|text| texts.place(text));
        assert_eq!(places, [0, 1, 0, 1]);
        assert_eq!(texts.json(), r#"["a","b\\n"]"#);
        assert_eq!((texts.optional(None), texts.optional(Some("c"))), (-1, 2));
    }

    #[test]
    fn costs_are_those_of_the_longest_form() {
        for text in ["plain", "<script>&\"\\", "é漢"] {
            let mut json = String::new();
            write_string(text, &mut json);
            assert!(json.len() < cost(text), "{text}");
        }
    }
}
