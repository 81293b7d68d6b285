//! Pages and comments of plans with hostile names and values: what a browser or a code host understands is only what we wrote.

use base::dialect::Dialect;
use model::addr::Provider;
use model::plan::document;
use render::html;
use render::markdown::{CommentLimit, markdown};
use render::review::Review;
use terrane_protocol::schema::ResourceMode;

use super::harness::survives;

const MARKUP: &[&[u8]] = &[
    b"</script><script>alert(1)</script>",
    b"<!--",
    b"<img src=x onerror=alert(1)>",
    b"</details></summary>",
    b"]]>",
    b"&lt;",
    b"'\\\"",
    b"`",
    b"```",
    b"`````\\n",
    b"\\n```\\n@team\\n",
    b"|",
    b"@name",
    b"#123",
    b"!456",
    b"GH-7",
    b"www.example.com",
    b"https://example.com/",
    b"[x](javascript:alert(1))",
    b"{{DATA}}",
    b"\\u202e",
    b"\\u2028",
    b"\\u0000",
    b"\xe2\x80\x8b",
    b"\\n/close\\n",
];

#[test]
fn pages_and_comments() {
    let seed = include_bytes!("../backends/runs/plan.json").to_vec();
    survives("pages_and_comments", 400, &[seed], MARKUP, |input| {
        let Ok(described) = document::read(input) else { return };
        let schemas = |provider: &Provider, mode: ResourceMode, kind: &str| {
            let schemas = described.schemas.get(provider)?;
            if mode == ResourceMode::Managed { schemas.managed(kind) } else { schemas.data(kind) }.ok().flatten()
        };
        let review = Review::of_plan(&described.plan, None, &schemas, Dialect::default());
        check_page(&html::page(&review));
        for host in ["2000", "bitbucket", "github"] {
            let limit = CommentLimit::parse(host).unwrap();
            let comment = markdown(&review, limit);
            assert!(Some(comment.len()) <= limit.bytes, "{} bytes for {host}", comment.len());
            check_comment(&comment);
        }
        check_comment(&markdown(&review, CommentLimit::default()));
    });
}

/// The tags of the template and of the summary; there are no others.
const TAGS: &[&str] = &[
    "!doctype", "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "p", "ul", "li", "main",
    "section", "details", "summary", "div", "table", "thead", "tbody", "tr", "th", "td", "b", "code", "noscript",
    "nav", "label", "select", "span", "button", "form", "input", "option", "fieldset", "legend", "ol", "footer",
    "script",
];

fn check_page(page: &str) {
    let (before, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, rest) = rest.split_once("</script>").unwrap();
    assert!(!data.contains(['<', '>', '&']) && !data.contains(|c: char| c.is_control() || c == '\u{202e}'), "{data}");
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert!(data["entries"].is_array());
    assert_eq!(rest.matches("</script>").count(), 1);
    let (head, body) = before.split_once("<style>").unwrap();
    let (_, body) = body.split_once("</style>").unwrap();
    for text in [head, body] {
        for tag in text.split('<').skip(1) {
            let name =
                tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric() && c != '!').next().unwrap();
            assert!(TAGS.contains(&name), "<{tag}");
        }
    }
}

/// Outside of code there are only our own words and tags.
fn check_comment(comment: &str) {
    let mut fence: Option<String> = None;
    let mut open = 0_i64;
    for line in comment.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        if let Some(begun) = &fence {
            if ticks.len() >= begun.len() && line == ticks {
                fence = None;
            }
            continue;
        }
        if ticks.len() >= 3 && !line[ticks.len()..].contains('`') {
            fence = Some(ticks);
            continue;
        }
        open += line.matches("<details>").count() as i64 - line.matches("</details>").count() as i64;
        let outside = without_code(line);
        let bare = ["<details>", "</details>", "<summary>", "</summary>", "<b>", "</b>"]
            .iter()
            .fold(outside, |text, tag| text.replace(tag, ""));
        // Notes are quotations, which begin with the sign.
        let bare = bare.strip_prefix('>').unwrap_or(&bare);
        let bare = bare.strip_prefix("## ").unwrap_or(bare);
        assert!(!bare.contains(['@', '#', '<', '>', '`', '[', '!']), "{line}");
        assert!(!bare.contains("://") && !bare.contains("www.") && !bare.starts_with('/'), "{line}");
    }
    assert!(fence.is_none() && open == 0, "{comment}");
}

/// A line without its code spans and code elements.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '<']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(code) = rest.strip_prefix("<code>") {
            rest = code.split_once("</code>").expect("an open code element").1;
            continue;
        }
        if rest.starts_with('<') {
            out.push('<');
            rest = &rest[1..];
            continue;
        }
        let ticks = rest.chars().take_while(|c| *c == '`').count();
        rest = after_run(&rest[ticks..], ticks).expect("an open code span");
    }
    out + rest
}

/// What follows the next run of exactly so many backticks.
fn after_run(text: &str, ticks: usize) -> Option<&str> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let run = text[start..].chars().take_while(|c| *c == '`').count();
        if run == ticks {
            return Some(&text[start + run..]);
        }
        at = start + run;
    }
    None
}
