//! `completion`

use base::diag::Diagnostic;

use crate::Invocation;
use crate::args::completion::parse;
use crate::shell_script::script;

pub fn run(invocation: &Invocation, args: &[String]) -> u8 {
    let shell = match parse(args) {
        Ok(shell) => shell,
        Err(error) => return invocation.usage_error(error),
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(why) => {
            let detail = format!("The path of this program is not known: {why}.");
            return super::finish(&invocation.console, Diagnostic::error("Failed to write the script", detail).into());
        }
    };
    invocation.console.print(&script(
        shell,
        invocation.environment.dialect().command(),
        &program.display().to_string(),
    ));
    0
}
