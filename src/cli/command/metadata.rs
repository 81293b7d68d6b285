//! `metadata functions`

use crate::base::name::COMMAND;
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
            invocation
                .console
                .red_error_line(&format!("The `{COMMAND} metadata functions` command requires the `-json` flag.\n"));
            invocation.usage_error(ArgsError::Text { text: String::new(), usage: true })
        }
        Err(error) => invocation.usage_error(error),
    }
}
