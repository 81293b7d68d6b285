//! A plan or a state as one page that needs no other file and no network.
//!
//! The summary is in the page as HTML; everything else is compact JSON that `page.js` draws when its reader opens it, so that plans of
//! thousands of changes open at once. Owns the form of the page; what is shown of a plan is decided in [`crate::review`].

mod data;
pub mod escape;
mod graph;

use std::collections::BTreeMap;
use std::fmt::Write;

use base::name::PROGRAM;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use escape::escaped;
use sha2::{Digest, Sha256};

use crate::review::effect::Effect;
use crate::review::{MOST_CHECKS, Review, counted, more_conditions};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// What does not depend on a plan, with `{{NAME}}` where parts are put in.
const TEMPLATE: &str = include_str!("page.html");
/// Rows of the summary.
const MOST_ROWS: usize = 1000;

/// The whole page.
pub fn page(review: &Review<'_>) -> String {
    let views = graph::views(review);
    let (data, left_out) = data::document(review, &views);
    let mut notes = review.notes.clone();
    notes.extend(review.failed_checks.iter().take(MOST_CHECKS).map(|check| check.text(str::to_owned)));
    if let Some(more) = review.failed_checks.len().checked_sub(MOST_CHECKS).filter(|more| *more > 0) {
        notes.push(more_conditions(more));
    }
    if left_out > 0 {
        notes.push(format!(
            "The details of {} are left out, because the page would get too large.",
            counted(left_out, "object")
        ));
    }
    if review.graph.is_cut {
        notes.push("There are too many dependencies for one page: some are left out.".to_owned());
    }
    let notes: String = notes.iter().map(|note| format!("<li>{}</li>", escaped(note))).collect();
    let (list, noun) = if review.is_plan { ("Changes", "changes") } else { ("Objects", "objects") };
    let parts = [
        ("TITLE", escaped(&format!("{}: {}", review.title, review.headline))),
        ("HASH", STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()))),
        ("STYLE", STYLE.to_owned()),
        ("HEADING", escaped(&review.title)),
        ("HEADLINE", escaped(&review.headline)),
        ("NOTES", if notes.is_empty() { notes } else { format!("<ul class=\"notes\">{notes}</ul>") }),
        ("SUMMARY", summary(review)),
        ("LIST", list.to_owned()),
        ("NOUN", noun.to_owned()),
        ("PROGRAM", escaped(&PROGRAM.to_string())),
        ("DATA", data),
        ("SCRIPT", SCRIPT.to_owned()),
    ];
    filled(TEMPLATE, &parts)
}

/// The template with its parts. Nothing is replaced in the parts.
fn filled(template: &str, parts: &[(&str, String)]) -> String {
    let size: usize = parts.iter().map(|(_, text)| text.len()).sum();
    let mut out = String::with_capacity(template.len() + size);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, after)) = after.split_once("}}") else { break };
        let part = parts.iter().find(|(known, _)| *known == name);
        out.push_str(part.map_or("", |(_, text)| text.as_str()));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// How many objects of which type have which effect, by module.
fn summary(review: &Review<'_>) -> String {
    let mut groups: BTreeMap<(&str, &str), BTreeMap<Effect, usize>> = BTreeMap::new();
    for entry in &review.entries {
        *groups.entry((entry.module.as_str(), entry.kind.as_str())).or_default().entry(entry.effect).or_default() += 1;
    }
    let columns: Vec<Effect> =
        Effect::ALL.into_iter().filter(|effect| groups.values().any(|counts| counts.contains_key(effect))).collect();
    if columns.is_empty() {
        return "<p>Nothing changes.</p>".to_owned();
    }
    let mut rows: Vec<(&(&str, &str), &BTreeMap<Effect, usize>)> = groups.iter().collect();
    rows.sort_by_key(|(names, counts)| (counts.keys().next().copied(), **names));
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"h-summary\">\
         <table class=\"summary\"><thead><tr><th scope=\"col\">Module</th><th scope=\"col\">Type</th>",
    );
    let heading = |effect: Effect| if review.is_plan { (effect.word(), effect.sign()) } else { ("objects", "") };
    for effect in &columns {
        let (word, sign) = heading(*effect);
        let _ = write!(out, "<th scope=\"col\" class=\"n {}\"><b>{}</b> {word}</th>", effect.class(), escaped(sign));
    }
    out.push_str("</tr></thead><tbody>");
    for ((module, kind), counts) in rows.iter().take(MOST_ROWS) {
        let module = if module.is_empty() { "(root)" } else { *module };
        let _ = write!(
            out,
            "<tr><td><code>{}</code></td><th scope=\"row\"><code>{}</code></th>",
            escaped(module),
            escaped(kind)
        );
        for effect in &columns {
            match counts.get(effect) {
                Some(count) => {
                    let (word, sign) = heading(*effect);
                    let _ = write!(
                        out,
                        "<td class=\"n {}\" data-word=\"{} {word}\">{count}</td>",
                        effect.class(),
                        escaped(sign)
                    );
                }
                None => out.push_str("<td class=\"n\"></td>"),
            }
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    if rows.len() > MOST_ROWS {
        let _ = write!(out, "<p>{} more rows are not shown.</p>", rows.len() - MOST_ROWS);
    }
    out
}

#[cfg(test)]
mod tests;
