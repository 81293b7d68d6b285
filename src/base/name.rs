//! The name that the program goes by in texts: Terrane, or that of the program in whose place it runs.
//!
//! Texts name the program by [`PROGRAM`] and its command by [`COMMAND`]: `format!("Run \"{COMMAND} init\" ...")`. Nothing else follows
//! the name: what a program does is decided by its [`Dialect`], which callers pass on.

use std::fmt;

use super::dialect::Dialect;

/// Displays as the program's name, such as `Terrane`.
#[derive(Clone, Copy, Debug)]
pub struct Program;

/// Displays as the word that starts the program in a shell, such as `terrane`.
#[derive(Clone, Copy, Debug)]
pub struct Command;

/// The program's own name, for texts that must not follow the name it was started by.
pub const TERRANE: &str = Dialect::Terrane.program();

/// The program's own command, for texts that must not follow the name it was started by.
pub const TERRANE_COMMAND: &str = Dialect::Terrane.command();

pub const PROGRAM: Program = Program;
pub const COMMAND: Command = Command;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Dialect::of_process().program())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Dialect::of_process().command())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_terrane_by_default() {
        assert_eq!(format!("{PROGRAM}, {COMMAND}"), "Terrane, terrane");
    }
}
