//! The platform that a program was built for, by the first bytes of its file.

use std::fmt;

use super::Platform;

/// How much of a file is needed.
pub const HEAD: usize = 4096;

/// Why a program cannot be for a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongProgram {
    /// It has the format of no system.
    Format,
    /// It is for other systems.
    System(&'static str),
    Architecture(&'static str),
}

impl fmt::Display for WrongProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongProgram::Format => {
                f.write_str("it is not a program that was built: it has the format of none of Linux, macOS and Windows")
            }
            WrongProgram::System(systems) => write!(f, "it is a program for {systems}"),
            WrongProgram::Architecture(arch) => write!(f, "it is a program for the architecture {arch}"),
        }
    }
}

impl std::error::Error for WrongProgram {}

/// Fails if a program cannot be for a platform, by the begin of its file. Formats and
/// architectures that are not known here fit every platform.
pub fn check(head: &[u8], platform: &Platform) -> Result<(), WrongProgram> {
    let Some((format, arch)) = format(head) else {
        return Err(WrongProgram::Format);
    };
    let expected = match platform.os.as_str() {
        "darwin" => Format::MachO,
        "windows" => Format::Pe,
        _ => Format::Elf,
    };
    if format != expected {
        return Err(WrongProgram::System(format.systems()));
    }
    match arch {
        Some(arch) if arch != platform.arch => Err(WrongProgram::Architecture(arch)),
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Elf,
    MachO,
    Pe,
}

impl Format {
    fn systems(self) -> &'static str {
        match self {
            Format::Elf => "Linux or a BSD",
            Format::MachO => "macOS",
            Format::Pe => "Windows",
        }
    }
}

/// The format and, if it is known, the architecture as packages name it.
fn format(head: &[u8]) -> Option<(Format, Option<&'static str>)> {
    let u16_at = |at: usize| Some(u16::from_le_bytes(head.get(at..at + 2)?.try_into().ok()?));
    let u32_at = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
    match head {
        [0x7f, b'E', b'L', b'F', _, little, ..] => {
            let arch = match u16_at(18)? {
                3 => Some("386"),
                40 => Some("arm"),
                62 => Some("amd64"),
                183 => Some("arm64"),
                243 => Some("riscv64"),
                _ => None,
            };
            Some((Format::Elf, arch.filter(|_| *little == 1)))
        }
        [0xcf, 0xfa, 0xed, 0xfe, ..] => {
            let arch = match u32_at(4)? {
                0x0100_0007 => Some("amd64"),
                0x0100_000c => Some("arm64"),
                _ => None,
            };
            Some((Format::MachO, arch))
        }
        // A program for several architectures.
        [0xca, 0xfe, 0xba, 0xbe, ..] => Some((Format::MachO, None)),
        [b'M', b'Z', ..] => {
            let header = usize::try_from(u32_at(0x3c)?).ok()?;
            let arch = match u16_at(header.checked_add(4)?) {
                Some(0x014c) => Some("386"),
                Some(0x8664) => Some("amd64"),
                Some(0xaa64) => Some("arm64"),
                _ => None,
            };
            Some((Format::Pe, arch))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_compared_with_their_platform() {
        let mut elf = vec![0; 64];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[18] = 62;
        let mut pe = vec![0; 256];
        (pe[0], pe[1], pe[0x3c], pe[0x84], pe[0x85]) = (b'M', b'Z', 0x80, 0x64, 0xaa);
        let mac = [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1, 0, 0];
        let cases: [(&[u8], &str, bool); 9] = [
            (&elf, "linux_amd64", true),
            (&elf, "freebsd_amd64", true),
            (&elf, "linux_arm64", false),
            (&elf, "darwin_amd64", false),
            (&pe, "windows_arm64", true),
            (&pe, "windows_amd64", false),
            (&mac, "darwin_arm64", true),
            (&mac, "darwin_amd64", false),
            (b"#!/bin/sh\n", "linux_amd64", false),
        ];
        for (head, platform, fits) in cases {
            assert_eq!(check(head, &Platform::parse(platform).unwrap()).is_ok(), fits, "{platform}");
        }
        for length in 0..pe.len() {
            let _ = (format(&pe[..length]), format(&elf[..length.min(64)]), format(&mac[..length.min(10)]));
        }
        pe[0x3c..0x40].copy_from_slice(&[0xff; 4]);
        assert_eq!(format(&pe), Some((Format::Pe, None)));
    }
}
