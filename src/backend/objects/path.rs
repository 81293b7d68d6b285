//! Names of objects that are made of a folder, a workspace and a name.

/// Joins parts with slashes as Go's `path.Join` does: empty ones are left out, `.`, `..` and doubled slashes are resolved.
pub fn joined(parts: &[&str]) -> String {
    let whole = parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    let is_rooted = whole.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            ".." if is_rooted => {}
            part => kept.push(part),
        }
    }
    match (is_rooted, kept.join("/")) {
        (true, rest) => format!("/{rest}"),
        (false, rest) if rest.is_empty() && !whole.is_empty() => ".".to_owned(),
        (false, rest) => rest,
    }
}

/// What the names of all objects of a folder begin with. Empty: of every object.
pub fn folder(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{name}/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_and_cleaned() {
        let cases: [(&[&str], &str); 9] = [
            (&["env:", "w", "a/b"], "env:/w/a/b"),
            (&["", "k"], "k"),
            (&["a//b/", "./c"], "a/b/c"),
            (&["a", "..", "b"], "b"),
            (&["..", "..", "b"], "../../b"),
            (&["/a", "..", "..", "b"], "/b"),
            (&["a", ".."], "."),
            (&["", ""], ""),
            (&["/"], "/"),
        ];
        for (parts, expected) in cases {
            assert_eq!(joined(parts), expected, "{parts:?}");
        }
    }
}
