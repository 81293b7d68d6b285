//! `init`

use crate::cli::Invocation;

pub fn run(invocation: &Invocation, _args: &[String]) -> u8 {
    let _ = invocation;
    1
}
