//! How a body is laid out: the lines of its arguments, and its nested blocks.

/// A part of a body: lines of an argument, or a nested block.
pub enum BodyItem {
    Argument { name: String, lines: Vec<String>, comment: Option<&'static str> },
    Block { header: String, items: Vec<BodyItem>, comment: Option<&'static str> },
}

impl BodyItem {
    /// An argument with the text of its value.
    pub fn line(name: &str, text: &str, comment: Option<&'static str>) -> BodyItem {
        BodyItem::Argument { name: name.to_string(), lines: text.split('\n').map(str::to_string).collect(), comment }
    }
}

/// Writes a body; the equals signs of neighbours that take one line each stand in a column.
pub fn write(items: &[BodyItem], depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth);
    let single = |item: &BodyItem| matches!(item, BodyItem::Argument { lines, .. } if lines.len() == 1);
    let mut index = 0;
    while let Some(item) = items.get(index) {
        let run = items[index..].iter().take_while(|item| single(item)).count();
        if run > 0 {
            write_column(&items[index..index + run], &pad, out);
            index += run;
            continue;
        }
        index += 1;
        match item {
            BodyItem::Argument { name, lines, .. } => {
                let rest = lines[1..].iter().map(|line| format!("\n{pad}{line}"));
                let text: String = std::iter::once(lines[0].clone()).chain(rest).collect();
                out.push_str(&format!("{pad}{name} = {text}\n"));
            }
            BodyItem::Block { header, items, comment } if items.is_empty() => {
                let comment = comment.map_or_else(String::new, |text| format!(" # {text}"));
                out.push_str(&format!(
                    "{pad}{header} {{{}}}{comment}\n",
                    if comment.is_empty() { format!("\n{pad}") } else { String::new() }
                ));
            }
            BodyItem::Block { header, items, .. } => {
                out.push_str(&format!("{pad}{header} {{\n"));
                write(items, depth + 1, out);
                out.push_str(&format!("{pad}}}\n"));
            }
        }
    }
}

fn write_column(items: &[BodyItem], pad: &str, out: &mut String) {
    let arguments = || {
        items.iter().filter_map(|item| match item {
            BodyItem::Argument { name, lines, comment } => Some((name, &lines[0], *comment)),
            BodyItem::Block { .. } => None,
        })
    };
    let width = arguments().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    for (name, text, comment) in arguments() {
        let comment = comment.map_or_else(String::new, |text| format!(" # {text}"));
        let space = " ".repeat(width - name.chars().count());
        out.push_str(&format!("{pad}{name}{space} = {text}{comment}\n"));
    }
}
