//! File name patterns: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of directories.
//!
//! Owns the braces and the walk, which visits only what can match. Never knows values.

use std::collections::BTreeSet;
use std::path::Path;

use base::files::{Files, normal};
use gotext::glob::{BadPattern, Pattern, Syntax};

const MOST_DIRECTORIES: usize = 256;

/// The files below a directory that match, by their path relative to it, with slashes.
pub fn find(files: &dyn Files, root: &Path, pattern: &str) -> Result<BTreeSet<String>, BadPattern> {
    let mut found = BTreeSet::new();
    // Braces hold within a name, not across slashes.
    for part in pattern.split('/') {
        expand_braces(part, &mut 0)?;
    }
    for alternative in expand_braces(pattern, &mut 0)? {
        Pattern::parse(&alternative, Syntax::Doublestar1)?;
        let mut parts: Vec<&str> = alternative.split('/').filter(|p| !p.is_empty() && *p != ".").collect();
        parts.dedup_by(|a, b| a == b && *a == "**");
        // No system has paths that deep, and the walk goes as deep as the pattern.
        if parts.len() > MOST_DIRECTORIES {
            continue;
        }
        let parts: Vec<Part> = parts.into_iter().map(Part::parse).collect();
        walk(files, root, "", &parts, &mut found);
    }
    Ok(found)
}

/// What a pattern says about one name of a path.
enum Part<'a> {
    /// `**`: any number of folders.
    Folders,
    /// This very name.
    Name(&'a str),
    Pattern(Pattern),
    /// No name: a class across a slash is no class.
    Nothing,
}

impl Part<'_> {
    fn parse(text: &str) -> Part<'_> {
        match text {
            "**" => Part::Folders,
            _ if !text.contains(['*', '?', '[', '\\']) => Part::Name(text),
            _ => Pattern::parse(text, Syntax::Doublestar1).map_or(Part::Nothing, Part::Pattern),
        }
    }
}

fn walk(files: &dyn Files, directory: &Path, prefix: &str, parts: &[Part], found: &mut BTreeSet<String>) {
    let Some((first, rest)) = parts.split_first() else { return };
    let join = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
    let mut enter = |name: &str, path: &Path| {
        if !rest.is_empty() {
            walk(files, path, &join(name), rest, found);
        } else if files.is_file(path) {
            found.insert(join(name));
        }
    };
    match first {
        Part::Nothing => {}
        Part::Name(name) => enter(name, &normal(&directory.join(name))),
        Part::Pattern(pattern) => {
            let entries = files.list(directory).unwrap_or_default();
            for entry in entries.iter().filter(|entry| pattern.matches(&entry.name)) {
                // A folder is searched, and no result itself.
                if entry.is_dir != rest.is_empty() {
                    enter(&entry.name, &directory.join(&entry.name));
                }
            }
        }
        Part::Folders => {
            if !rest.is_empty() {
                walk(files, directory, prefix, rest, found);
            }
            for entry in files.list(directory).unwrap_or_default() {
                let path = directory.join(&entry.name);
                if entry.is_dir {
                    walk(files, &path, &join(&entry.name), parts, found);
                } else if rest.is_empty() && files.is_file(&path) {
                    found.insert(join(&entry.name));
                }
            }
        }
    }
}

/// All patterns that the braces of one stand for.
fn expand_braces(pattern: &str, count: &mut usize) -> Result<Vec<String>, BadPattern> {
    const MOST: usize = 10_000;
    *count += 1;
    if *count > MOST {
        return Err(BadPattern);
    }
    let mut depth = 0;
    let (mut open, mut commas) = (None, Vec::new());
    let mut escaped = false;
    for (i, c) in pattern.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match c {
            '\\' => escaped = true,
            '{' => {
                depth += 1;
                if depth == 1 {
                    open = Some(i);
                }
            }
            ',' if depth == 1 => commas.push(i),
            '}' if depth == 1 => {
                let start = open.unwrap_or(0);
                let mut results = Vec::new();
                let mut from = start + 1;
                for to in commas.iter().copied().chain([i]) {
                    let inner = format!("{}{}{}", &pattern[..start], &pattern[from..to], &pattern[i + 1..]);
                    results.extend(expand_braces(&inner, count)?);
                    from = to + 1;
                }
                return Ok(results);
            }
            '}' if depth > 1 => depth -= 1,
            _ => {}
        }
    }
    if depth > 0 { Err(BadPattern) } else { Ok(vec![pattern.to_owned()]) }
}

#[cfg(test)]
mod tests {
    use base::files::Memory;

    use super::*;

    #[test]
    fn finds() {
        let files = Memory::of([("a.txt", ""), ("b.tf", ""), ("d/x.txt", ""), ("d/.hid", ""), ("d/sub/y.txt", "")]);
        let root = Path::new("");
        let cases = [
            ("*.txt", vec!["a.txt"]),
            ("**/*.txt", vec!["a.txt", "d/sub/y.txt", "d/x.txt"]),
            ("d/**", vec!["d/.hid", "d/sub/y.txt", "d/x.txt"]),
            ("{a,b}.t[a-f]*", vec!["b.tf"]),
            ("d/*", vec!["d/.hid", "d/x.txt"]),
            ("nope/*", vec![]),
            ("?.[^t]*", vec![]),
        ];
        for (pattern, expected) in cases {
            let found: Vec<String> = find(&files, root, pattern).unwrap().into_iter().collect();
            assert_eq!(found, expected, "{pattern}");
        }
        assert_eq!(find(&files, root, "["), Err(BadPattern));
        assert_eq!(find(&files, root, "{a"), Err(BadPattern));
    }
}
