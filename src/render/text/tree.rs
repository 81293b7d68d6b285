//! Trees drawn with lines, the way `modules` and `providers` show them. The blanks behind a line are hard, as in the reference.

use std::fmt::Write;

pub struct Branch {
    pub label: String,
    pub branches: Vec<Branch>,
}

/// The branches below each other, each with those that grow from it.
pub fn draw(branches: &[Branch]) -> String {
    let mut out = String::new();
    grow(&mut out, branches, "");
    out
}

fn grow(out: &mut String, branches: &[Branch], lead: &str) {
    for (i, branch) in branches.iter().enumerate() {
        let (knot, rest) =
            if i + 1 == branches.len() { ("└── ", "    ") } else { ("├── ", "│\u{a0}\u{a0} ") };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{lead}{knot}{}", branch.label);
        grow(out, &branch.branches, &format!("{lead}{rest}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_branch_ends_its_line() {
        let leaf = |label: &str| Branch { label: label.to_string(), branches: Vec::new() };
        let a = Branch { label: "a".to_string(), branches: vec![leaf("b"), leaf("c")] };
        let d = Branch { label: "d".to_string(), branches: vec![leaf("e")] };
        assert_eq!(draw(&[a, d]), "├── a\n│\u{a0}\u{a0} ├── b\n│\u{a0}\u{a0} └── c\n└── d\n    └── e\n");
    }
}
