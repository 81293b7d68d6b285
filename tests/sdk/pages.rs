//! The Rust code of the pages about the library is code of the example provider.

use super::{EXAMPLE, here};

/// A fenced block of Rust: its page and line, and its lines.
struct Block {
    place: String,
    lines: Vec<String>,
}

/// The blocks of all pages below `docs/sdk`.
fn rust_blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    for entry in std::fs::read_dir(here("docs/sdk")).unwrap().flatten() {
        if entry.path().extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let mut lines = text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            if line != "```rust" {
                continue;
            }
            let lines = lines.by_ref().map(|(_, line)| line.to_owned()).take_while(|line| line != "```").collect();
            blocks.push(Block { place: format!("{}:{}", entry.path().display(), number + 1), lines });
        }
    }
    blocks
}

/// Why a block is not code of the example. Its first line is a comment with the path of a file of the example; each part
/// between lines `// ...` is a run of whole lines of that file, indented as there or less.
fn complaint(lines: &[String], read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let Some(name) = lines.first().and_then(|line| line.strip_prefix("// ")) else {
        return Some("the first line names no file".to_owned());
    };
    let Some(file) = read(name) else { return Some(format!("there is no file {name}")) };
    let file: Vec<&str> = file.lines().collect();
    for part in lines[1..].split(|line| line.trim() == "// ...").filter(|part| !part.is_empty()) {
        let is_at = |start: usize| {
            let indent = file[start].len().saturating_sub(part[0].len());
            let indent = " ".repeat(if part[0].is_empty() { 0 } else { indent });
            let matches = |(line, of_file): (&String, &&str)| match line.is_empty() {
                true => of_file.is_empty(),
                false => **of_file == format!("{indent}{line}"),
            };
            file.len() - start >= part.len() && part.iter().zip(&file[start..]).all(matches)
        };
        if !(0..file.len()).any(is_at) {
            return Some(format!("{name} does not contain\n{}", part.join("\n")));
        }
    }
    None
}

#[test]
fn code_of_the_pages_is_code_of_the_example() {
    let blocks = rust_blocks();
    let read = |name: &str| std::fs::read_to_string(here(EXAMPLE).join(name)).ok();
    let wrong: Vec<String> = blocks
        .iter()
        .filter_map(|block| Some(format!("{}: {}", block.place, complaint(&block.lines, read)?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(blocks.len() >= 15, "only {} blocks", blocks.len());
}

#[test]
fn other_code_is_found() {
    let read =
        |name: &str| (name == "a.rs").then(|| "mod a {\n    fn b() {\n        1\n    }\n\n    x\n}\n".to_owned());
    let complaint = |text: &str| complaint(&text.lines().map(str::to_owned).collect::<Vec<_>>(), read);
    for good in ["// a.rs\nfn b() {\n    1\n}", "// a.rs\nmod a {\n// ...\n    x\n}", "// a.rs\n}\n\nx"] {
        assert_eq!(complaint(good), None, "{good}");
    }
    for bad in
        ["", "fn b() {", "// b.rs\nmod a {", "// a.rs\nfn b() {\n1", "// a.rs\nfn b() {\n    2", "// a.rs\nx\n}\nx"]
    {
        assert!(complaint(bad).is_some(), "{bad}");
    }
}
