//! The documentation's commands run and print what the pages show, and its links resolve.
//!
//! A block marked `sh` is run; one marked `sh fails` may end with an error. A `text` block that is the next one behind it is
//! its output: `...` stands for any number of lines, and the words of a `<!-- varies: ... -->` comment for any word. A block
//! marked with a language and a file name (`hcl main.tf`) is written to that file. All blocks of a page share one shell
//! in a new folder. Other blocks (`console`) are not run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use base::source::SourceFile;
use lang::syntax::fmt::format;

use super::here;
use crate::support::{self, Project};

/// A fenced block of a page.
pub struct Block {
    /// The words behind the opening fence.
    pub info: Vec<String>,
    /// Number of the line of the opening fence.
    pub line: usize,
    pub lines: Vec<String>,
}

impl Block {
    pub fn is(&self, kind: &str) -> bool {
        self.info.first().is_some_and(|word| word == kind)
    }

    /// The file that the block is the content of.
    pub fn file(&self) -> Option<&str> {
        if self.is("sh") { None } else { self.info.get(1).map(String::as_str) }
    }
}

/// The fenced blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let info = info.split_whitespace().map(str::to_string).collect();
                open = Some(Block { info, line: number + 1, lines: Vec::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.lines.push(line.to_string()),
            (None, None) => {}
        }
    }
    blocks
}

/// The script of all blocks; a line `@@@ NUMBER` follows the output of each `sh` block.
fn script(blocks: &[Block]) -> String {
    let mut script = "exec 2>&1\n".to_string();
    for (number, block) in blocks.iter().enumerate() {
        let text = block.lines.join("\n");
        let _ = match block.file() {
            Some(file) => {
                writeln!(script, "mkdir -p \"$(dirname {file})\"; cat > {file} <<'END_OF_FILE'\n{text}\nEND_OF_FILE")
            }
            None if !block.is("sh") => Ok(()),
            None if block.info.len() > 1 => {
                writeln!(script, "if {text}\nthen echo 'this was expected to fail'; exit 1; fi; echo \"@@@ {number}\"")
            }
            None => writeln!(script, "set -e\n{text}\nset +e\necho \"@@@ {number}\""),
        };
    }
    script
}

/// What the pages' commands need: the program on the `PATH`, and where a build puts it. `cargo` does nothing.
fn workplace() -> Project {
    let mut place = Project::new("");
    place.any_release();
    std::fs::remove_file(place.path("work/main.tf")).unwrap();
    for link in ["bin/terrane", "work/target/release/terrane"] {
        std::fs::create_dir_all(place.path(link).parent().unwrap()).unwrap();
        symlink(support::program(), place.path(link)).unwrap();
    }
    place.script("bin/cargo", "#!/bin/sh\n");
    place.write("home/.bashrc", "");
    let example = "docs/examples/quickstart/main.tf";
    place.write(&format!("work/{example}"), &std::fs::read_to_string(here(example)).unwrap());
    // Every question is answered.
    place.write("answers", &"yes\n".repeat(5000));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([place.path("bin")].into_iter().chain(std::env::split_paths(&path))).unwrap();
    place.set("PATH", PathBuf::from(path));
    place
}

/// Runs the blocks; the output of each `sh` block, by its number.
fn run(page: &str, blocks: &[Block]) -> Vec<(usize, String)> {
    let place = workplace();
    let script = place.write("script", &script(blocks));
    let mut command = place.command(Path::new("sh"), &[script.to_str().unwrap()]);
    command.stdin(File::open(place.path("answers")).unwrap());
    let outcome = place.finish(command);
    assert!(outcome.code == Some(0), "{page}: a command failed:\n{}{}", outcome.out, outcome.err);
    let text = outcome.out;
    let mut parts = Vec::new();
    let mut part = String::new();
    for line in text.lines() {
        match line.strip_prefix("@@@ ").and_then(|number| number.parse().ok()) {
            Some(number) => parts.push((number, std::mem::take(&mut part))),
            None => part += &format!("{line}\n"),
        }
    }
    parts
}

/// Without what differs between runs and between a terminal and a file: times, the platform, spaces at the ends.
fn normalised(text: &str) -> Vec<String> {
    let text =
        text.replace("Enter a value: yes\n\n", "Enter a value: yes\n").replace("linux_amd64", &support::platform());
    let text = text.replace("Enter a value: yes", "Enter a value:");
    let line =
        |line: &str| (1..10).fold(line.trim_end().to_string(), |l, n| l.replace(&format!("after {n}s"), "after 0s"));
    text.trim_matches('\n').lines().map(line).collect()
}

/// Whether a line is the one of the page, where each of the words that vary may be any other word.
fn same_line(page: &str, found: &str, varies: &[String]) -> bool {
    let first = varies.iter().filter_map(|word| Some((page.find(word.as_str())?, word))).min();
    let Some((at, word)) = first else { return page == found };
    let Some(rest) = found.strip_prefix(&page[..at]) else { return false };
    let other = rest.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(rest.len());
    other > 0 && same_line(&page[at + word.len()..], &rest[other..], varies)
}

/// Whether the output is the one of the page, where `...` stands for any number of lines.
fn same_output(page: &[String], found: &[String], varies: &[String]) -> bool {
    match page.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=found.len()).any(|skipped| same_output(rest, &found[skipped..], varies))
        }
        Some((first, rest)) => {
            found.first().is_some_and(|line| same_line(first, line, varies)) && same_output(rest, &found[1..], varies)
        }
    }
}

/// The words of the page's `<!-- varies: ... -->` comments.
fn varying(page: &str) -> Vec<String> {
    let comments = page.lines().filter_map(|line| line.strip_prefix("<!-- varies: ")?.strip_suffix(" -->"));
    comments.flat_map(str::split_whitespace).map(str::to_string).collect()
}

/// Runs a page's commands and compares their output with what the page shows.
fn check(name: &str) {
    let page = std::fs::read_to_string(here(name)).unwrap();
    let (blocks, varies) = (blocks(&page), varying(&page));
    let parts = run(name, &blocks);
    assert_eq!(parts.len(), blocks.iter().filter(|block| block.is("sh")).count(), "{name}: not all blocks were run");
    for (number, found) in parts {
        let Some(shown) = blocks.get(number + 1).filter(|block| block.is("text")) else { continue };
        let same = same_output(&normalised(&shown.lines.join("\n")), &normalised(&found), &varies);
        assert!(same, "{name}:{}: the output is now\n{found}", shown.line);
    }
}

macro_rules! pages {
    ($($test:ident: $path:literal),* $(,)?) => {
        const RUN: &[&str] = &[$($path),*];
        $(#[test] fn $test() { check($path); })*
    };
}

pages! {
    commands_of_the_readme_run: "README.md",
    commands_of_the_backends_page_run: "docs/backends/README.md",
    commands_of_the_page_about_oci_run: "docs/backends/oci.md",
    commands_of_the_completion_page_run: "docs/completion.md",
    commands_of_the_encryption_page_run: "docs/encryption.md",
    commands_of_the_guide_for_github_run: "docs/guides/github-actions.md",
    commands_of_the_guide_for_hooks_run: "docs/guides/pre-commit.md",
    commands_of_the_guide_for_secrets_run: "docs/guides/secrets.md",
    commands_of_the_installing_page_run: "docs/installing.md",
    commands_of_the_language_page_run: "docs/language/README.md",
    commands_of_the_page_about_actions_run: "docs/language/action.md",
    commands_of_the_page_about_checks_run: "docs/language/check.md",
    commands_of_the_page_about_data_sources_run: "docs/language/data.md",
    commands_of_the_page_about_deferral_run: "docs/language/deferral.md",
    commands_of_the_page_about_files_run: "docs/language/files.md",
    commands_of_the_page_about_imports_run: "docs/language/import.md",
    commands_of_the_page_about_modules_run: "docs/language/module.md",
    commands_of_the_page_about_moves_run: "docs/language/moved.md",
    commands_of_the_page_about_provisioners_run: "docs/language/provisioner.md",
    commands_of_the_page_about_resources_run: "docs/language/resource.md",
    commands_of_the_page_about_style_run: "docs/language/style.md",
    commands_of_the_page_about_policies_run: "docs/policies.md",
    commands_of_the_state_page_run: "docs/state.md",
    commands_of_the_page_about_tests_run: "docs/testing.md",
    commands_of_the_tutorial_run: "docs/tutorial.md",
}

/// README.md and every page below docs/, as paths from the root.
pub fn all_pages() -> Vec<PathBuf> {
    let mut pages = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(here(folder.to_str().unwrap())).unwrap().flatten() {
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

pub fn read(page: &Path) -> String {
    std::fs::read_to_string(here(page.to_str().unwrap())).unwrap()
}

#[test]
fn every_page_with_commands_is_run() {
    let with_commands = all_pages().into_iter().filter(|page| blocks(&read(page)).iter().any(|block| block.is("sh")));
    let with_commands: Vec<String> = with_commands.map(|page| page.to_str().unwrap().to_string()).collect();
    assert_eq!(with_commands, RUN, "pages with `sh` blocks, and pages that a test runs");
}

/// The examples of the language, in the style of `fmt`. The CLI configuration has another syntax, and a test with its settings.
#[test]
fn examples_parse_and_have_the_standard_style() {
    let mut wrong = Vec::new();
    for page in all_pages().into_iter().filter(|page| !page.ends_with("cli-configuration.md")) {
        let of_language = |block: &Block| block.is("hcl") || block.is("terraform");
        for block in blocks(&read(&page)).into_iter().filter(of_language) {
            let file = SourceFile::new("example.tf", block.lines.join("\n") + "\n");
            match format(&file) {
                Ok(None) => {}
                Ok(Some(text)) => wrong.push(format!("{}:{}: fmt makes it\n{text}", page.display(), block.line)),
                Err(problems) => wrong.push(format!("{}:{}: {problems:?}", page.display(), block.line)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines outside of fenced blocks.
pub fn prose(page: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        if !fenced && !fence {
            lines.push(line);
        }
    }
    lines
}

/// The command lines in a page: in code spans, and in blocks with or without a prompt.
fn command_lines(page: &str) -> Vec<String> {
    let spans = prose(page).into_iter().flat_map(|line| line.split('`').skip(1).step_by(2));
    let blocks = blocks(page);
    let shell = blocks.iter().filter(|block| ["sh", "console", "text"].iter().any(|kind| block.is(kind)));
    let lines = shell.flat_map(|block| &block.lines).map(|line| line.trim().trim_start_matches("$ "));
    spans.chain(lines).filter(|line| line.starts_with("terrane ")).map(str::to_string).collect()
}

/// The part of a command line that the reference of commands, by heading, does not have.
fn unknown_part(line: &str, sections: &BTreeMap<&str, &str>) -> Option<String> {
    let ends = |word: &&str| !matches!(*word, ">" | "2>" | "|" | "\\|" | "||" | "&&" | "&" | ";");
    let words: Vec<&str> = line.split_whitespace().skip(1).take_while(ends).collect();
    let (flags, names): (Vec<&str>, Vec<&str>) = words.into_iter().partition(|word| word.starts_with('-'));
    if matches!(names.first(), Some(&("COMMAND" | "internal-plugin"))) {
        return None;
    }
    let command =
        (1..=names.len().min(2)).rev().map(|n| names[..n].join(" ")).find(|name| sections.contains_key(&**name));
    let section = match &command {
        Some(command) => sections[&**command],
        None if names.is_empty() => "",
        None => return Some(names.join(" ")),
    };
    let known = |flag: &&str| {
        let name = flag.split('=').next().unwrap_or_default();
        [section, sections["Before the command"], sections["In every command"]]
            .iter()
            .any(|text| text.contains(&format!("`{name}`")) || text.contains(&format!("`{name}=")))
    };
    flags.into_iter().find(|flag| !known(flag)).map(str::to_string)
}

/// Command lines with a command or flag that the program does not have, with this part.
pub fn unknown_parts(lines: &[impl AsRef<str>]) -> Vec<String> {
    let reference = read(Path::new("docs/commands.md"));
    let sections = reference.split("\n## ").skip(1).filter_map(|section| section.split_once('\n')).collect();
    let of = |line: &str| unknown_part(line, &sections).map(|part| format!("{part}: {line}"));
    lines.iter().filter_map(|line| of(line.as_ref())).collect()
}

/// Also those that are not run.
#[test]
fn commands_and_flags_in_pages_exist() {
    let mut unknown = Vec::new();
    for page in all_pages().into_iter().filter(|page| !page.ends_with("commands.md")) {
        let found = unknown_parts(&command_lines(&read(&page)));
        unknown.extend(found.into_iter().map(|line| format!("{}: {line}", page.display())));
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
    let lines = [
        "terrane -chdir=x state list -id=1 x | cat -n",
        "terrane state lists",
        "terrane plan -no-color",
        "terrane plans -x",
        "terrane plan -detailed",
    ];
    // `state` is a command.
    assert_eq!(unknown_parts(&lines), ["plans: terrane plans -x", "-detailed: terrane plan -detailed"]);
}

/// The name by which a link reaches a heading: lower case, `-` for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn has_heading(page: &Path, name: &str) -> bool {
    let text = read(page);
    let headings = prose(&text).into_iter().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).any(|anchor| anchor == name)
}

#[test]
fn relative_links_resolve() {
    let mut broken = Vec::new();
    for page in all_pages() {
        let text = read(&page);
        for target in prose(&text).iter().flat_map(|line| line.split("](").skip(1)).filter_map(|l| l.split(')').next())
        {
            if target.contains(':') {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let to = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let found = here(to.to_str().unwrap()).exists();
            if !found || (!heading.is_empty() && !has_heading(&to, heading)) {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// The source, with its texts as users see them.
fn texts_of_the_program() -> String {
    let texts: String = super::source_files(&here("src")).into_iter().map(|(_, text)| text).collect();
    texts.replace("{PROGRAM}", "Terrane").replace("{COMMAND}", "terrane").replace("\\\"", "\"")
}

/// The errors in the tables of the guides are those of the program, up to what varies: names in quotes, and `...`.
#[test]
fn guides_have_texts_of_the_program() {
    let texts = texts_of_the_program();
    let (mut unknown, mut seen) = (Vec::new(), 0);
    for page in all_pages().into_iter().filter(|page| page.starts_with("docs/guides")) {
        let text = read(&page);
        let rows = text.lines().filter_map(|line| line.strip_prefix("| Error: ")?.split(" | ").next());
        for row in rows {
            seen += 1;
            let row = row.split(", with ").next().unwrap();
            let fixed = row.split("; as `tofu`: ").flat_map(|text| text.split('"').step_by(2));
            let fixed = fixed.flat_map(|part| part.split("...")).map(str::trim);
            let missing = fixed.filter(|part| !texts.contains(part)).map(|part| format!("{}: {part}", page.display()));
            unknown.extend(missing);
        }
    }
    assert!(unknown.is_empty(), "the program does not say this: {unknown:?}");
    assert!(seen >= 15, "only {seen} errors");
}

/// The first lines that the page explains are those of the program.
#[test]
fn troubleshooting_page_has_texts_of_the_program() {
    let texts = texts_of_the_program();
    let page = read(Path::new("docs/troubleshooting.md"));
    let explained = page.lines().filter_map(|line| line.strip_prefix("### ")).collect::<Vec<_>>();
    // Up to the part that depends on the case.
    let fixed = |line: &str| {
        let prefixes = ["Error: ", "Warning: ", "Failed to write state: "];
        let text = prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)).unwrap_or(line);
        let varies =
            [" the CLI configuration", ", please", " \"FILE\"", " \"TYPE\"", " ...", ": EOF", " 1 over", "local-exec"];
        let end = varies.iter().filter_map(|part| text.find(part)).min().unwrap_or(text.len());
        if end == 0 { text["local-exec".len()..].to_string() } else { text[..end].to_string() }
    };
    let unknown: Vec<_> = explained.iter().filter(|line| !texts.contains(&fixed(line))).collect();
    assert!(unknown.is_empty(), "docs/troubleshooting.md explains what the program does not say: {unknown:?}");
    assert!(explained.len() >= 25);
}

#[test]
fn output_is_compared_line_by_line() {
    let lines = |text: &str| text.lines().map(str::to_string).collect::<Vec<_>>();
    let varies = ["one-two".to_string()];
    let same = |page: &str, found: &str| same_output(&lines(page), &lines(found), &varies);
    assert!(same("a\n...\nc [id=one-two]", "a\nb\nb\nc [id=x-y-z]"));
    assert!(same("...", "") && same("a", "a"));
    assert!(!same("a", "b") && !same("a", "a\nb") && !same("a\nb", "a") && !same("id=one-two]", "id=]"));
}
