//! Times as a page that needs no network: a chart of the steps, how many ran at the same time, and a table of all of them.

use std::fmt::Write;
use std::time::Duration;

use super::{Timing, one_line, rows, seconds};

/// Columns of the charts, in the units of their pictures.
const WIDTH: f64 = 1000.0;
/// The height of a row of the chart.
const ROW: f64 = 16.0;
/// The height of the chart of what runs at the same time.
const HEIGHT: f64 = 120.0;
/// So many of the longest steps are drawn.
const DRAWN: usize = 5000;

const STYLE: &str = "body{font:14px/1.4 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222;background:#fff}\
    svg{width:100%;height:auto;display:block;margin:.5em 0 1.5em;background:#f6f6f6}\
    rect{fill:#4878b0}rect.delete{fill:#b0504a}rect.refresh,rect.read{fill:#8a8a8a}rect.start{fill:#b08a3c}\
    rect.failed{stroke:#c00;stroke-width:2;stroke-dasharray:3 2}\
    text{font-size:10px;fill:#222}path{fill:#9bb8d8;stroke:#4878b0}\
    table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.2em .6em;border-bottom:1px solid #ddd}\
    td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}td{overflow-wrap:anywhere}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#1c1c1c}svg{background:#262626}text{fill:#eee}th,td{border-color:#444}}";

/// The page. `command`: the command and its name, for the heading.
pub fn page(command: &str, timings: &[Timing]) -> String {
    let end = timings.iter().map(Timing::end).max().unwrap_or_default();
    let scale = WIDTH / end.as_secs_f64().max(0.001);
    let mut out = String::new();
    let title = escaped(command);
    let summary = format!("{} steps in {}", timings.len(), seconds(end));
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>Timings: {title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n<p>{summary}</p>\n"
    );
    out.push_str("<h2>Steps</h2>\n");
    steps(&mut out, timings, scale);
    out.push_str("<h2>Steps at the same time</h2>\n");
    concurrency(&mut out, timings, scale);
    list(&mut out, timings);
    out.push_str("</html>\n");
    out
}

/// A bar for each step; the longest ones, if there are very many.
fn steps(out: &mut String, timings: &[Timing], scale: f64) {
    let rows = rows(timings);
    let mut drawn: Vec<(&Timing, usize)> = timings.iter().zip(rows.iter().copied()).collect();
    if drawn.len() > DRAWN {
        drawn.sort_by_key(|(timing, _)| std::cmp::Reverse(timing.elapsed));
        drawn.truncate(DRAWN);
        let _ = writeln!(out, "<p>The {DRAWN} longest ones are drawn.</p>");
    }
    let height = (rows.iter().max().map_or(0, |last| last + 1) as f64) * ROW;
    let label = "Each step as a bar from its start to its end; the table below has the same";
    let _ = writeln!(out, "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{label}\">");
    for (timing, row) in drawn {
        let (x, y) = (timing.start.as_secs_f64() * scale, row as f64 * ROW);
        let width = (timing.elapsed.as_secs_f64() * scale).max(0.5);
        let (name, operation) = (escaped(&one_line(&timing.name)), escaped(&timing.operation));
        let failed = if timing.failed { " failed" } else { "" };
        let (bar, time) = (ROW - 2.0, seconds(timing.elapsed));
        let _ = write!(
            out,
            "<rect class=\"{operation}{failed}\" x=\"{x:.2}\" y=\"{y:.0}\" width=\"{width:.2}\" height=\"{bar:.0}\"><title>{name}: \
             {operation}{failed}, {time}</title></rect>"
        );
        // As many letters as there is room for.
        let room = ((WIDTH - x) / 6.0) as usize;
        if width > 60.0 && room > 4 {
            let text: String = one_line(&timing.name).chars().take(((width / 6.0) as usize).min(room)).collect();
            let (x, y) = (x + 3.0, y + ROW - 5.0);
            let _ = write!(out, "<text x=\"{x:.2}\" y=\"{y:.0}\">{}</text>", escaped(&text));
        }
        out.push('\n');
    }
    out.push_str("</svg>\n");
}

/// How many steps run at each time.
fn concurrency(out: &mut String, timings: &[Timing], scale: f64) {
    let mut changes: Vec<(Duration, i64)> = Vec::with_capacity(timings.len() * 2);
    for timing in timings {
        changes.push((timing.start, 1));
        changes.push((timing.end(), -1));
    }
    // At the same moment, what ends is gone before what starts.
    changes.sort();
    let mut running = 0;
    let mut points = Vec::with_capacity(changes.len());
    for (at, change) in changes {
        running += change;
        points.push((at.as_secs_f64() * scale, running));
    }
    let most = points.iter().map(|(_, running)| *running).max().unwrap_or(0).max(1);
    let y = |running: i64| HEIGHT - (running as f64 / most as f64) * (HEIGHT - 12.0);
    let mut path = format!("M0 {HEIGHT:.0}");
    let mut before = 0;
    for (x, running) in points {
        let _ = write!(path, "L{x:.2} {:.1}L{x:.2} {:.1}", y(before), y(running));
        before = running;
    }
    let _ = writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"At most {most} steps ran at the same time\">\
         <path d=\"{path}L{WIDTH} {HEIGHT:.0}Z\"/><text x=\"3\" y=\"10\">at most {most}</text></svg>"
    );
}

fn list(out: &mut String, timings: &[Timing]) {
    out.push_str(
        "<h2>All steps, the slowest first</h2>\n<table>\n<tr><th>Step<th>Operation<th class=\"n\">Start<th class=\"n\">Time</tr>\n",
    );
    let mut all: Vec<&Timing> = timings.iter().collect();
    all.sort_by(|a, b| b.elapsed.cmp(&a.elapsed).then_with(|| a.name.cmp(&b.name)));
    for timing in all {
        let (name, operation) = (escaped(&one_line(&timing.name)), escaped(&timing.operation));
        let failed = if timing.failed { " (failed)" } else { "" };
        let (start, time) = (seconds(timing.start), seconds(timing.elapsed));
        let _ =
            writeln!(out, "<tr><td>{name}<td>{operation}{failed}<td class=\"n\">{start}<td class=\"n\">{time}</tr>");
    }
    out.push_str("</table>\n");
}

/// Text for elements and for attributes in quotes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(name: &str, start: u64, elapsed: u64) -> Timing {
        let (start, elapsed) = (Duration::from_millis(start), Duration::from_millis(elapsed));
        Timing { name: name.to_owned(), operation: "create".to_owned(), start, elapsed, failed: false }
    }

    #[test]
    fn hostile_names_are_text() {
        let text = page("terrane apply", &[timing("a[\"</title><script>\u{1b}'&\"]", 0, 10)]);
        assert!(!text.contains("<script") && !text.contains('\u{1b}'), "{text}");
        assert!(text.contains("a[&quot;&lt;/title&gt;&lt;script&gt;\\x1b&#39;&amp;&quot;]"), "{text}");
        assert!(!text.contains("http"), "{text}");
    }

    #[test]
    fn the_chart_has_a_bar_for_each_step_and_the_most_at_the_same_time() {
        let text = page("x", &[timing("a", 0, 10), timing("b", 5, 10), timing("c", 10, 10)]);
        assert_eq!(text.matches("<rect ").count(), 3);
        assert!(text.contains("at most 2<"), "{text}");
        assert!(text.contains("<p>3 steps in 0.0s</p>"), "{text}");
    }

    #[test]
    fn many_steps_are_drawn_in_part_and_listed_in_whole() {
        let timings: Vec<Timing> = (0..6_000).map(|number| timing("a", number, number)).collect();
        let text = page("x", &timings);
        assert_eq!((text.matches("<rect ").count(), text.matches("<tr><td>").count()), (DRAWN, 6_000));
    }

    #[test]
    fn no_steps_are_a_page_too() {
        assert!(page("x", &[]).contains("<p>0 steps in 0.0s</p>"));
    }
}
