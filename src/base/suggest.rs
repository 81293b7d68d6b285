//! "Did you mean": the name that a mistyped one is close to.

/// The first candidate that is fewer than three edits away from `given`.
pub fn name<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates.into_iter().find(|candidate| distance(given, candidate) < 3)
}

/// Insertions, deletions and substitutions of characters that lead from one text to the other.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) >= 3 {
        return 3;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn close_names_are_found() {
        assert_eq!(name("tags_al", ["tags", "tags_all"]), Some("tags_all"));
        assert_eq!(name("instanse_type", ["ami", "instance_type"]), Some("instance_type"));
        assert_eq!(name("kitten", ["sitting"]), None);
    }
}
