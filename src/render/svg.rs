//! Graphs as SVG pictures that need no other program.
//!
//! Owns the looks of the pictures: colours for light and dark screens, and words for readers of screens. Places come from [`layout`].
//! Never knows what a step does.

use super::dot::{Resource, Step};
use super::layout::{self, Graph, Layout, Node, Rect};

/// The width of a character of the label of a node.
const CHAR_WIDTH: f64 = 7.3;

/// The height of a node: one line of text.
const NODE_HEIGHT: f64 = 28.0;

/// Between the text of a node and its border.
const NODE_PADDING: f64 = 10.0;

/// No colour is the only sign of something: lines of a cycle are broken too, and the focus has a thicker border.
const STYLE: &str = "\
svg{background:#fff;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;font-size:12px}
.node rect,.node ellipse,.node polygon{fill:#fff;stroke:#4b5563}
.node text{fill:#111827;text-anchor:middle;dominant-baseline:central}
.focus rect,.focus ellipse,.focus polygon{stroke:#1d4ed8;stroke-width:3}
.group rect{fill:#f3f4f6;fill-opacity:.6;stroke:#9ca3af}
.group text{fill:#374151;font-weight:600}
.edge{fill:none;stroke:#6b7280;marker-end:url(#arrow)}
.cycle{stroke:#b91c1c;stroke-width:2;stroke-dasharray:6 3;marker-end:url(#arrow-of-cycle)}
#arrow path{fill:#6b7280}
#arrow-of-cycle path{fill:#b91c1c}
@media (prefers-color-scheme:dark){
svg{background:#111827}
.node rect,.node ellipse,.node polygon{fill:#1f2937;stroke:#9ca3af}
.node text{fill:#f3f4f6}
.focus rect,.focus ellipse,.focus polygon{stroke:#93c5fd}
.group rect{fill:#374151;stroke:#6b7280}
.group text{fill:#d1d5db}
.edge{stroke:#9ca3af}
#arrow path{fill:#9ca3af}
.cycle{stroke:#fca5a5}
#arrow-of-cycle path{fill:#fca5a5}
}
";

/// The outline of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outline {
    Box,
    Diamond,
    Round,
}

struct Drawn {
    title: String,
    label: String,
    outline: Outline,
    is_focus: bool,
}

/// Resources alone, framed by module. `focus`: the positions of those that the reader asked for.
pub fn resources(resources: &[Resource], edges: &[(u32, u32)], focus: &[u32]) -> String {
    let drawn: Vec<Drawn> = (0..)
        .zip(resources)
        .map(|(position, resource)| Drawn {
            title: resource.whole(),
            label: resource.name.clone(),
            outline: Outline::Box,
            is_focus: focus.contains(&position),
        })
        .collect();
    let groups = resources.iter().map(|resource| Some(&*resource.module).filter(|module| !module.is_empty()));
    picture(&drawn, groups, edges, &[])
}

/// All that an operation does. Edges within a cycle are red and broken.
pub fn operation(steps: &[Step], edges: &[(u32, u32)], cycles: &[Vec<u32>], focus: &[u32]) -> String {
    let drawn: Vec<Drawn> = (0..)
        .zip(steps)
        .map(|(position, step)| Drawn {
            title: step.name.clone(),
            label: step.name.clone(),
            outline: match step.own_line.as_ref().map(|(_, shape)| *shape) {
                Some("diamond") => Outline::Diamond,
                Some("box") => Outline::Box,
                Some(_) | None => Outline::Round,
            },
            is_focus: focus.contains(&position),
        })
        .collect();
    picture(&drawn, steps.iter().map(|_| None), edges, cycles)
}

fn picture<'g>(
    drawn: &[Drawn],
    groups: impl Iterator<Item = Option<&'g str>>,
    edges: &[(u32, u32)],
    cycles: &[Vec<u32>],
) -> String {
    let node = |(one, group): (&Drawn, Option<&str>)| {
        // The text of a diamond has less room.
        let room = if one.outline == Outline::Diamond { 3.0 } else { 1.0 };
        Node {
            id: one.title.clone(),
            width: one.label.chars().count() as f64 * CHAR_WIDTH + 2.0 * NODE_PADDING * room,
            height: NODE_HEIGHT,
            group: group.map(str::to_string),
        }
    };
    let graph = Graph {
        nodes: drawn.iter().zip(groups).map(node).collect(),
        edges: edges.iter().map(|(from, to)| (*from as usize, *to as usize)).collect(),
    };
    let layout = layout::lay_out(&graph);
    let mut out = head(&layout, drawn.len());
    for (name, rect) in &layout.groups {
        out += &group_box(name, *rect);
    }
    for ((from, to), line) in edges.iter().zip(&layout.edges) {
        let title = format!("{} needs {}", drawn[*from as usize].title, drawn[*to as usize].title);
        let is_circular = cycles.iter().any(|cycle| cycle.contains(from) && cycle.contains(to));
        let class = if is_circular { "edge cycle" } else { "edge" };
        out += &format!("<path class=\"{class}\" d=\"{}\"><title>{}</title></path>\n", path(line), escaped(&title));
    }
    for ((one, at), node) in drawn.iter().zip(&layout.nodes).zip(&graph.nodes) {
        out += &node_shape(one, Rect { x: at.x, y: at.y, width: node.width, height: node.height });
    }
    out + "</svg>\n"
}

fn head(layout: &Layout, nodes: usize) -> String {
    let (width, height) = (number(layout.width), number(layout.height));
    let description = match nodes {
        0 => "The configuration has nothing to draw.".to_string(),
        1 => "1 object. Arrows point to what an object needs.".to_string(),
        count => format!("{count} objects. Arrows point to what an object needs."),
    };
    let arrow = |id: &str| {
        format!(
            "<marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker>"
        )
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"title description\">\n\
         <title id=\"title\">Dependency graph</title>\n<desc id=\"description\">{description}</desc>\n\
         <style>\n{STYLE}</style>\n<defs>{}{}</defs>\n",
        arrow("arrow"),
        arrow("arrow-of-cycle")
    )
}

fn group_box(name: &str, rect: Rect) -> String {
    let (x, y) = (number(rect.x + 10.0), number(rect.y + layout::TITLE_HEIGHT - 9.0));
    format!(
        "<g class=\"group\"><rect {} rx=\"6\"/><text x=\"{x}\" y=\"{y}\">{}</text></g>\n",
        place(rect),
        escaped(name)
    )
}

fn node_shape(one: &Drawn, rect: Rect) -> String {
    let (middle, centre) = (number(rect.x + rect.width / 2.0), number(rect.y + rect.height / 2.0));
    let shape = match one.outline {
        Outline::Box => format!("<rect {} rx=\"3\"/>", place(rect)),
        Outline::Round => format!("<rect {} rx=\"{}\"/>", place(rect), number(rect.height / 2.0)),
        Outline::Diamond => {
            let (left, right) = (number(rect.x), number(rect.x + rect.width));
            let (top, bottom) = (number(rect.y), number(rect.y + rect.height));
            format!("<polygon points=\"{left},{centre} {middle},{top} {right},{centre} {middle},{bottom}\"/>")
        }
    };
    let class = if one.is_focus { "node focus" } else { "node" };
    format!(
        "<g class=\"{class}\"><title>{}</title>{shape}<text x=\"{middle}\" y=\"{centre}\">{}</text></g>\n",
        escaped(&one.title),
        escaped(&one.label)
    )
}

fn place(rect: Rect) -> String {
    let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(number);
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

/// A line along the points: level parts are straight, all others are curves that begin and end level.
pub fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let mut last: Option<(f64, f64)> = None;
    for (x, y) in points.iter().copied() {
        match last {
            None => path += &format!("M{} {}", number(x), number(y)),
            Some((before, height)) if height == y || before == x => path += &format!(" L{} {}", number(x), number(y)),
            Some((before, height)) => {
                let middle = number((before + x) / 2.0);
                path += &format!(" C{middle} {} {middle} {} {} {}", number(height), number(y), number(x), number(y));
            }
        }
        last = Some((x, y));
    }
    path
}

/// A length with one digit behind the point, if that is not a zero.
fn number(length: f64) -> String {
    let text = format!("{length:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    if short == "-0" { "0".to_string() } else { short.to_string() }
}

/// A text as content of an element or of an attribute in double quotes. Characters that XML forbids are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_bend_where_their_height_changes() {
        let cases: [(&[(f64, f64)], &str); 4] = [
            (&[], ""),
            (&[(1.0, 2.0), (0.04, 2.0)], "M1 2 L0 2"),
            (&[(20.0, 0.0), (10.0, 5.5), (0.0, 5.5)], "M20 0 C15 0 15 5.5 10 5.5 L0 5.5"),
            (&[(1.0, 0.0), (1.0, 9.0)], "M1 0 L1 9"),
        ];
        for (points, expected) in cases {
            assert_eq!(path(points), expected, "{points:?}");
        }
    }

    #[test]
    fn names_cannot_end_their_element() {
        let cases = [
            ("a.b[\"x\"]", "a.b[&quot;x&quot;]"),
            ("</title><script>&", "&lt;/title&gt;&lt;script&gt;&amp;"),
            ("a\nb\u{1b}[0m\u{ffff}", "a b\u{fffd}[0m\u{fffd}"),
        ];
        for (text, expected) in cases {
            assert_eq!(escaped(text), expected);
        }
        let hostile = Resource { module: "module.<m>".into(), name: "a.\"<b>".into() };
        let picture = resources(&[hostile], &[], &[]);
        assert!(!picture.contains("<b>") && !picture.contains("<m>"), "{picture}");
    }

    #[test]
    fn resources_are_in_the_boxes_of_their_modules() {
        let one = |module: &str, name: &str| Resource { module: module.into(), name: name.into() };
        let all = [one("", "a.b"), one("module.m", "c.d")];
        let picture = resources(&all, &[(0, 1)], &[1]);
        for part in [
            "<g class=\"group\"><rect ",
            ">module.m</text></g>",
            "<title>a.b needs module.m.c.d</title>",
            "<g class=\"node\"><title>a.b</title>",
            "<g class=\"node focus\"><title>module.m.c.d</title>",
            ">c.d</text>",
            "2 objects.",
        ] {
            assert!(picture.contains(part), "{part}: {picture}");
        }
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    }

    #[test]
    fn lines_of_a_cycle_are_marked() {
        let step = |name: &str| Step { name: name.into(), own_line: None };
        let all = [step("a"), step("b"), step("c")];
        let picture = operation(&all, &[(0, 1), (1, 0), (0, 2)], &[vec![0, 1]], &[]);
        assert_eq!(picture.matches("class=\"edge cycle\"").count(), 2, "{picture}");
        assert_eq!(picture.matches("class=\"edge\"").count(), 1, "{picture}");
    }
}
