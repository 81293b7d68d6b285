//! What can be said of a program that turned out not to be a plugin: its owner, its permissions, its architecture.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// Facts about the program, as lines that begin with a heading; empty if there is no such file.
pub fn additional_notes(path: &Path) -> String {
    let Ok(metadata) = std::fs::metadata(path) else { return String::new() };
    let mut notes = format!("\nAdditional notes about plugin:\n  Path: {}\n", path.display());
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        // SAFETY: the calls have no preconditions and cannot fail.
        let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
        let name = |file: &str, id: u32| account_name(file, id).unwrap_or_else(|| "?".to_owned());
        let _ = writeln!(notes, "  Mode: {}", mode_text(metadata.permissions().mode()));
        for (title, file, owner, current) in
            [("Owner", "/etc/passwd", metadata.uid(), user), ("Group", "/etc/group", metadata.gid(), group)]
        {
            let (owner_name, current_name) = (name(file, owner), name(file, current));
            let _ = writeln!(notes, "  {title}: {owner} [{owner_name}] (current: {current} [{current_name}])");
        }
    }
    #[cfg(not(unix))]
    let _ = metadata;
    if let Some(machine) = elf_machine(path) {
        let _ = writeln!(notes, "  ELF architecture: {machine} (current architecture: {})", current_architecture());
    }
    notes
}

/// "-rwxr-xr-x"
#[cfg(unix)]
fn mode_text(mode: u32) -> String {
    let letters = "rwxrwxrwx".chars().enumerate();
    let bits = letters.map(|(i, letter)| if mode & (1 << (8 - i)) != 0 { letter } else { '-' });
    std::iter::once('-').chain(bits).collect()
}

/// The name of a user or group by its number.
#[cfg(unix)]
fn account_name(file: &str, id: u32) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    })
}

fn elf_machine(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut header = [0u8; 20];
    std::fs::File::open(path).ok()?.read_exact(&mut header).ok()?;
    if !header.starts_with(b"\x7fELF") {
        return None;
    }
    let number = [header[18], header[19]];
    let machine = if header[5] == 2 { u16::from_be_bytes(number) } else { u16::from_le_bytes(number) };
    Some(match machine {
        3 => "EM_386".to_owned(),
        8 => "EM_MIPS".to_owned(),
        20 => "EM_PPC".to_owned(),
        21 => "EM_PPC64".to_owned(),
        22 => "EM_S390".to_owned(),
        40 => "EM_ARM".to_owned(),
        62 => "EM_X86_64".to_owned(),
        183 => "EM_AARCH64".to_owned(),
        243 => "EM_RISCV".to_owned(),
        other => format!("Machine({other})"),
    })
}

/// This machine's architecture under the name that packages use.
fn current_architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}

/// The system's text for an error as the field knows it: lower case, without the number.
pub fn os_error_text(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

// Modes, owners and texts of Unix.
#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn notes_as_the_reference_has_them() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o754)).unwrap();
        let notes = additional_notes(file.path());
        assert!(notes.starts_with("\nAdditional notes about plugin:\n  Path: /"), "{notes}");
        assert!(notes.contains("\n  Mode: -rwxr-xr--\n  Owner: "), "{notes}");
        assert!(!notes.contains("ELF"));
        assert!(additional_notes(&std::env::current_exe().unwrap()).contains("current architecture: "));
        assert_eq!(additional_notes(Path::new("/nonexistent/terrane")), "");
    }

    #[test]
    fn errors_of_the_system() {
        assert_eq!(os_error_text(&io::Error::from_raw_os_error(2)), "no such file or directory");
    }
}
