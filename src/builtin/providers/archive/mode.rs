//! File modes with the bits of Go's `fs.FileMode`, which `output_file_mode` and tar headers use.

use std::fs::Metadata;

const DIRECTORY: u32 = 1 << 31;
const SYMLINK: u32 = 1 << 27;
const DEVICE: u32 = 1 << 26;
const NAMED_PIPE: u32 = 1 << 25;
const SOCKET: u32 = 1 << 24;
const SETUID: u32 = 1 << 23;
const SETGID: u32 = 1 << 22;
const CHARACTER_DEVICE: u32 = 1 << 21;
const STICKY: u32 = 1 << 20;
const IRREGULAR: u32 = 1 << 19;
const TYPE: u32 = DIRECTORY | SYMLINK | DEVICE | NAMED_PIPE | SOCKET | CHARACTER_DEVICE | IRREGULAR;

/// Pairs of Go's and Unix's bits for setuid, setgid and sticky.
const SPECIAL: [(u32, u32); 3] = [(SETUID, 0o4000), (SETGID, 0o2000), (STICKY, 0o1000)];

/// Pairs of Go's and Unix's type bits. All other types are regular files.
const TYPES: [(u32, u32); 6] = [
    (DIRECTORY, 0o040_000),
    (SYMLINK, 0o120_000),
    (NAMED_PIPE, 0o010_000),
    (SOCKET, 0o140_000),
    (DEVICE, 0o060_000),
    (DEVICE | CHARACTER_DEVICE, 0o020_000),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMode(pub u32);

impl FileMode {
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> FileMode {
        FileMode::from_unix(std::os::unix::fs::MetadataExt::mode(metadata))
    }

    #[cfg(not(unix))]
    pub fn of(metadata: &Metadata) -> FileMode {
        let permissions = if metadata.permissions().readonly() { 0o444 } else { 0o666 };
        FileMode(if metadata.is_dir() { DIRECTORY | 0o777 } else { permissions })
    }

    #[cfg(any(unix, test))]
    fn from_unix(mode: u32) -> FileMode {
        let special = SPECIAL.iter().filter(|(_, unix)| mode & unix != 0).map(|(own, _)| own).sum::<u32>();
        let kind = TYPES.iter().find(|(_, unix)| mode & 0o170_000 == *unix).map_or(0, |(own, _)| *own);
        FileMode(mode & 0o777 | special | kind)
    }

    /// The Unix mode with the file type.
    pub fn to_unix(self) -> u32 {
        const REGULAR: u32 = 0o100_000;
        let special = SPECIAL.iter().filter(|(own, _)| self.0 & own != 0).map(|(_, unix)| unix).sum::<u32>();
        let kind = TYPES.iter().find(|(own, _)| self.0 & TYPE == *own).map_or(REGULAR, |(_, unix)| *unix);
        self.0 & 0o777 | special | kind
    }

    pub fn is_dir(self) -> bool {
        self.0 & DIRECTORY != 0
    }
}

/// An integer of `output_file_mode`: octal after `0` or `0o`, hexadecimal after `0x`, binary after `0b`, otherwise
/// decimal. Digits may have single underscores between them and after a prefix.
pub fn parse_integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    let misplaced = digits.ends_with('_') || digits.contains("__") || (radix == 10 && digits.starts_with('_'));
    // The number parser would accept a second sign.
    if misplaced || !digits.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
        return None;
    }
    let value = i64::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_convert_between_unix_and_go() {
        let cases = [
            (0o100_644, 0o644),
            (0o104_755, SETUID | 0o755),
            (0o102_755, SETGID | 0o755),
            (0o041_777, DIRECTORY | STICKY | 0o777),
            (0o010_600, NAMED_PIPE | 0o600),
            (0o020_600, DEVICE | CHARACTER_DEVICE | 0o600),
        ];
        for (unix, own) in cases {
            assert_eq!(FileMode::from_unix(unix), FileMode(own), "{unix:o}");
            assert_eq!(FileMode(own).to_unix(), unix, "{unix:o}");
        }
        assert_eq!(FileMode(0o4755).to_unix(), 0o100_755);
    }

    /// Recorded with `strconv.ParseInt(text, 0, 64)` of Go 1.26.
    #[test]
    fn integers_have_the_prefixes_of_go() {
        let cases = [
            ("0666", Some(0o666)),
            ("666", Some(666)),
            ("0o644", Some(0o644)),
            ("0O644", Some(0o644)),
            ("0x1B6", Some(0x1b6)),
            ("0b110", Some(6)),
            ("0", Some(0)),
            ("-1", Some(-1)),
            ("+7", Some(7)),
            ("0_6", Some(6)),
            ("0x_1f", Some(31)),
            ("1_000", Some(1000)),
            ("_1", None),
            ("0_", None),
            ("0__6", None),
            ("06_", None),
            ("0888", None),
            ("0x", None),
            ("", None),
            ("-", None),
            ("0+6", None),
            ("--6", None),
            ("rw", None),
            (" 6", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_integer(text), expected, "{text}");
        }
    }
}
