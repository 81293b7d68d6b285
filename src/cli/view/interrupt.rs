//! What an interrupt shows.

use base::name::PROGRAM;
use base::stop::Stage;

use crate::console::Console;

/// Reports an interrupt of a command without its own view. Nothing runs while a question waits for its answer, so at a terminal
/// there is nothing to wait for.
pub fn announce_interrupt(console: &Console, stage: Stage) {
    match stage {
        Stage::Running => {}
        Stage::Stopping if console.is_asking() && console.advises() => console.print("\n\nInterrupt received.\n"),
        Stage::Stopping => {
            // Away from the question.
            let apart = if console.is_asking() { "\n" } else { "" };
            console.print(
                &format!("{apart}\nInterrupt received.\nPlease wait for {PROGRAM} to exit or data loss may occur.\nGracefully shutting down...\n\n"),
            );
        }
        Stage::Killed => {
            let note = match console.advises() {
                true => "Two interrupts received: what still runs is abandoned, and what is known of it is saved.",
                false => "Two interrupts received. Exiting immediately. Note that data loss may have occurred.",
            };
            console.print_error(&format!("\n{}\n\n", console.style.wrapped(note)));
        }
    }
}
