//! `metadata functions`

use base::name::COMMAND;
use render::json::functions::signatures;

use crate::Invocation;
use crate::args::ArgsError;
use crate::args::metadata::parse_functions;

pub fn run_functions(invocation: &Invocation, args: &[String]) -> u8 {
    match parse_functions(args) {
        Ok(true) => {
            invocation.console.line(&signatures(invocation.environment.dialect()));
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
