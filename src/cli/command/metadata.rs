//! `metadata functions`

use crate::cli::Invocation;
use crate::cli::args::ArgsError;
use crate::cli::args::metadata::parse_functions;
use crate::render::json::functions::signatures;

pub fn run_functions(invocation: &Invocation, args: &[String]) -> u8 {
    match parse_functions(args) {
        Ok(true) => {
            invocation.console.line(&signatures());
            0
        }
        Ok(false) => {
            let text = "The `terrane metadata functions` command requires the `-json` flag.\n".to_owned();
            invocation.usage_error(ArgsError::Text { text, usage: true })
        }
        Err(error) => invocation.usage_error(error),
    }
}
