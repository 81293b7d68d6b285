//! "Did you mean": the name that a mistyped one is close to.

/// The first candidate that is fewer than three edits away from `given`.
pub fn name<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates.into_iter().find(|candidate| distance(given, candidate) < 3)
}

/// The closest candidate of those that differ from `given` in at most two edits and a third of its characters: for short
/// names, of which nearly all are fewer than three edits apart.
pub fn closest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = given.chars().count();
    let edits = candidates.into_iter().map(|candidate| (distance(given, candidate), candidate));
    let (_, found) = edits.filter(|(edits, _)| *edits < 3 && edits * 3 <= length).min_by_key(|(edits, _)| *edits)?;
    Some(found)
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
    use super::{closest, name};

    #[test]
    fn short_names_must_be_closer() {
        assert_eq!(closest("autoaprove", ["backup", "auto-approve"]), Some("auto-approve"));
        assert_eq!(closest("lst", ["rm", "list"]), Some("list"));
        assert_eq!(closest("bad", ["var", "id"]), None);
        assert_eq!(closest("vars", ["out", "var", "var-file"]), Some("var"));
    }

    #[test]
    fn close_names_are_found() {
        assert_eq!(name("tags_al", ["tags", "tags_all"]), Some("tags_all"));
        assert_eq!(name("instanse_type", ["ami", "instance_type"]), Some("instance_type"));
        assert_eq!(name("kitten", ["sitting"]), None);
    }
}
