//! The short form of a state for people: a table by module and type, below what the next apply replaces or destroys.
//!
//! Owns the layout. Contains addresses and names, but no values.

use std::fmt::Write;

use super::diff::padded;
use super::style::Style;
use super::visible::visible;
use super::wrap::wrap;
use crate::state_summary::StateSummary;

/// The whole text, from the blank line before the first heading.
pub fn state_summary_text(summary: &StateSummary, style: &Style) -> String {
    let mut out = String::new();
    for (title, addresses) in [("Tainted objects:", &summary.tainted), ("Deposed objects:", &summary.deposed)] {
        if !addresses.is_empty() {
            out.push_str(&style.fill("\n[bold]{}[reset]\n\n", &[&title]));
            addresses.iter().for_each(|address| _ = writeln!(out, "  {}", visible(address)));
        }
    }
    if !summary.groups.is_empty() {
        write_groups(&mut out, summary, style);
    }
    let plural = |count: usize, word: &str| if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") };
    let objects = plural(summary.objects, "object");
    let outputs = plural(summary.outputs.len(), "output");
    out.push_str(&style.fill("\n[bold]State:[reset] {}, {}.\n", &[&objects, &outputs]));
    if !summary.outputs.is_empty() {
        let names = format!("Outputs: {}", summary.outputs.join(", "));
        let _ = writeln!(out, "{}", visible(&wrap(&names, style.width.saturating_sub(1))));
    }
    match summary.hidden {
        0 => {}
        1 => out.push_str("\n1 object is hidden by the filters.\n"),
        hidden => _ = writeln!(out, "\n{hidden} objects are hidden by the filters."),
    }
    out
}

fn write_groups(out: &mut String, summary: &StateSummary, style: &Style) {
    let module = |name: &str| if name.is_empty() { "(root)".to_owned() } else { name.to_owned() };
    let widths = summary.groups.iter().map(|group| module(&group.module).chars().count());
    let width = widths.max().unwrap_or(0).max("MODULE".len());
    let counts = summary.groups.iter().map(|group| group.addresses.len().to_string().len());
    let digits = counts.max().unwrap_or(0).max("COUNT".len());
    let head = format!("\n  {:>digits$}  {}  TYPE", "COUNT", padded("MODULE".to_owned(), width));
    let _ = writeln!(out, "{}", style.dark_gray(head));
    for group in &summary.groups {
        let cells = format!("{}  {}", padded(module(&group.module), width), group.kind);
        let _ = writeln!(out, "  {:>digits$}  {}", group.addresses.len(), visible(&cells));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_summary::tests::state;

    #[test]
    fn tainted_and_deposed_objects_come_first() {
        let expected = "
Tainted objects:

  t.a

Deposed objects:

  t.a (deposed object 00000001)

  COUNT  MODULE    TYPE
      3  (root)    t
      1  module.m  data.t

State: 4 objects, 0 outputs.
";
        let found = state_summary_text(&StateSummary::of_state(&state(), &[]), &Style::plain());
        assert_eq!(found, expected);
        assert!(!found.contains("secret-value"));
    }
}
