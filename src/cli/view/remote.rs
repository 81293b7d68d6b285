//! Lines of operations that run elsewhere.

use std::fmt::Display;

use serde_json::Value as Json;

use crate::base::diag::Diagnostic;
use crate::cli::console::Console;
use crate::ops::interface::listen::RemoteLine;
use crate::render::text::style::Style;

/// A template with its arguments.
pub fn filled(style: &Style, template: &str, arguments: &[&str]) -> String {
    let arguments: Vec<&dyn Display> = arguments.iter().map(|argument| argument as &dyn Display).collect();
    style.fill(template, &arguments)
}

/// Shows a line to people.
pub fn show(console: &Console, line: RemoteLine<'_>) {
    match line {
        RemoteLine::Own { template, arguments } => console.line(&filled(&console.style, template, arguments)),
        RemoteLine::Log { text, of_plan } => match message(text) {
            None => console.line(text),
            Some(message) => structured(console, &message, of_plan),
        },
    }
}

/// A line that is a message for programs.
pub fn is_message(text: &str) -> bool {
    message(text).is_some()
}

fn message(text: &str) -> Option<Json> {
    let read: Json = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    read["@message"].is_string().then_some(read)
}

fn structured(console: &Console, message: &Json, of_plan: bool) {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    match message["type"].as_str().unwrap_or_default() {
        "version" => {}
        "outputs" if of_plan => {}
        "diagnostic" => {
            let found = &message["diagnostic"];
            let (summary, detail) = (text(&found["summary"]), text(&found["detail"]));
            let diagnostic = match found["severity"].as_str() {
                Some("warning") => Diagnostic::warning(summary, detail),
                _ => Diagnostic::error(summary, detail),
            };
            console.diagnostics(diagnostic.into());
        }
        "provision_progress" => console.line(&text(&message["@message"])),
        _ => console.line(&console.style.fill("[bold]{}[reset]", &[&text(&message["@message"])])),
    }
}
