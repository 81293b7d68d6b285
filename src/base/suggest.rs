//! "Did you mean": the name that a mistyped one is close to.

/// The first candidate that is fewer than three edits away from `given`.
pub fn name<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates.into_iter().find(|candidate| distance(given, candidate) < 3)
}

/// `Did you mean "x"?`, or nothing if no candidate is close.
pub fn question<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    closest(given, candidates).map_or(String::new(), |close| format!("Did you mean {close:?}?"))
}

/// The candidate that was probably meant, for short names, of which nearly all are fewer than three edits apart: the closest of those that
/// differ from `given` in at most two edits and a third of its characters; else the only one that `given` is the beginning of.
pub fn closest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = given.chars().count();
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let edits = candidates.iter().map(|candidate| (distance_with_swaps(given, candidate), *candidate));
    let close = edits.filter(|(edits, _)| *edits < 3 && edits * 3 <= length).min_by_key(|(edits, _)| *edits);
    if let Some((_, found)) = close {
        return Some(found);
    }
    only_longer(given, &candidates)
}

/// The only candidate that a text of at least three characters is the beginning of.
fn only_longer<'a>(given: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let mut longer = candidates.iter().filter(|candidate| given.chars().count() >= 3 && candidate.starts_with(given));
    let found = longer.next()?;
    longer.next().is_none().then_some(*found)
}

/// As [`question`], for addresses: each part must be the one in the same place, or close to it; or only one address is longer.
pub fn address_question<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    closest_address(given, candidates).map_or(String::new(), |close| format!("Did you mean {close:?}?"))
}

fn closest_address<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = parts_of(given);
    let edits = |candidate: &str| {
        let parts = parts_of(candidate);
        if parts.len() != wanted.len() {
            return None;
        }
        let of_part = |(wanted, part): (&&str, &str)| {
            let edits = distance_with_swaps(wanted, part);
            (edits < 3 && edits * 3 <= wanted.chars().count()).then_some(edits)
        };
        wanted.iter().zip(parts).map(of_part).sum::<Option<usize>>()
    };
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let close = candidates.iter().filter_map(|candidate| Some((edits(candidate)?, *candidate)));
    close.min_by_key(|(edits, _)| *edits).map(|(_, found)| found).or_else(|| only_longer(given, &candidates))
}

/// The parts between the dots of an address; keys in brackets belong to the name before them.
fn parts_of(address: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0_usize, false);
    for (at, character) in address.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            '.' if depth == 0 => {
                parts.push(&address[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&address[start..]);
    parts
}

/// As [`distance`], with two neighbours in the wrong order as one edit.
fn distance_with_swaps(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) >= 3 {
        return 3;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut edits = (rows[i][j] + usize::from(x != y)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                edits = edits.min(rows[i - 1][j - 1] + 1);
            }
            row.push(edits);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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
    use super::{address_question, closest, name};

    #[test]
    fn short_names_must_be_closer() {
        assert_eq!(closest("autoaprove", ["backup", "auto-approve"]), Some("auto-approve"));
        assert_eq!(closest("lst", ["rm", "list"]), Some("list"));
        assert_eq!(closest("bad", ["var", "id"]), None);
        assert_eq!(closest("vars", ["out", "var", "var-file"]), Some("var"));
        assert_eq!(closest("vra", ["out", "var", "var-file"]), Some("var"));
        assert_eq!(closest("detailed-exit", ["destroy", "detailed-exitcode"]), Some("detailed-exitcode"));
        assert_eq!(closest("var-", ["var-file", "var-files"]), None);
    }

    #[test]
    fn each_part_of_an_address_is_close() {
        let known = ["shop_item.a", "shop_itm.b", "module.m[\"a.b\"].shop_item.c", "data.shop_item.price"];
        let cases = [
            ("shop_item.b", "Did you mean \"shop_itm.b\"?"),
            ("shop_item.x", ""),
            ("module.m[\"a.c\"].shop_item.c", "Did you mean \"module.m[\\\"a.b\\\"].shop_item.c\"?"),
            ("data.shop_item.prize", "Did you mean \"data.shop_item.price\"?"),
            ("shop_item.price", ""),
            ("shop_item", "Did you mean \"shop_item.a\"?"),
            ("shop_it", ""),
            ("data.shop_item.pri", "Did you mean \"data.shop_item.price\"?"),
            ("", ""),
        ];
        for (given, expected) in cases {
            assert_eq!(address_question(given, known), expected, "{given}");
        }
    }

    #[test]
    fn close_names_are_found() {
        assert_eq!(name("tags_al", ["tags", "tags_all"]), Some("tags_all"));
        assert_eq!(name("instanse_type", ["ami", "instance_type"]), Some("instance_type"));
        assert_eq!(name("kitten", ["sitting"]), None);
    }
}
