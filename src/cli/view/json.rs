//! Writing streams of JSON lines.

use base::diag::Diagnostics;
use model::version::at_least;
use render::json::events;
use render::json::message::Message;

use crate::console::Console;

/// One line of the stream.
pub fn write(console: &Console, message: &Message) {
    let timestamp = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
    console.print(&message.line(console.dialect(), &timestamp));
}

/// One line of the stream, in the way of `init`: its messages have no fractions of seconds before Terraform 1.15.
pub fn write_to_the_second(console: &Console, message: &Message) {
    if at_least(15) {
        return write(console, message);
    }
    let timestamp = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    console.print(&message.line(console.dialect(), &timestamp));
}

/// A stream of nothing but what kept the command from beginning.
pub fn errors(console: &Console, diagnostics: Diagnostics) {
    write(console, &events::version(false, console.dialect()));
    write_diagnostics(console, diagnostics);
}

/// A line for each diagnostic that the user wants to see.
pub fn write_diagnostics(console: &Console, diagnostics: Diagnostics) {
    let wanted = console.view.wanted(diagnostics);
    wanted.iter().for_each(|diagnostic| write(console, &events::diagnostic(diagnostic)));
}
