//! Base64 as Go's decoder reads it: line breaks are skipped, unused bits of the last digit do not matter, and what is
//! wrong has an offset.

/// The bytes, or the offset of the first error.
pub(super) fn decode(source: &str) -> Result<Vec<u8>, usize> {
    let bytes = source.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() / 4 * 3);
    // Without the line breaks, each with its place.
    let digits: Vec<(usize, u8)> =
        bytes.iter().copied().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')).collect();
    let mut at = 0;
    while at < digits.len() {
        let mut quantum = [0u8; 4];
        let mut count = 0;
        while count < 4 {
            let Some((place, b)) = digits.get(at + count).copied() else {
                // Cut short: the offset is where the group of four begins.
                let end = bytes.len();
                return Err(if count == 0 { end } else { end - count });
            };
            match value(b) {
                Some(v) => quantum[count] = v,
                None if b == b'=' && count >= 2 => break,
                None => return Err(place),
            }
            count += 1;
        }
        let word = quantum.iter().fold(0u32, |w, v| w << 6 | u32::from(*v));
        let [_, a, b, c] = word.to_be_bytes();
        out.extend(&[a, b, c][..count - 1]);
        at += count;
        if count < 4 {
            return padding(&digits, at, count, bytes.len()).map(|()| out);
        }
    }
    Ok(out)
}

/// What may follow the last digits: as many signs as are missing, and nothing else.
fn padding(digits: &[(usize, u8)], at: usize, count: usize, end: usize) -> Result<(), usize> {
    let missing = 4 - count;
    for i in 0..missing {
        match digits.get(at + i) {
            Some((_, b'=')) => {}
            Some((place, _)) => return Err(*place),
            None => return Err(end),
        }
    }
    digits.get(at + missing).map_or(Ok(()), |(place, _)| Err(*place))
}

fn value(b: u8) -> Option<u8> {
    Some(match b {
        b'A'..=b'Z' => b - b'A',
        b'a'..=b'z' => b - b'a' + 26,
        b'0'..=b'9' => b - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}
