//! The output of operations that run on a service.

use std::borrow::Cow;
use std::fmt::Display;

use model::plan::document::DescribedPlan;
use ops::interface::listen::RemoteLine;
use render::json::diagnostic;
use render::text::diagnostic::{render_framed, render_one};
use render::text::diff::{self, Drawing};
use render::text::style::Style;
use serde_json::Value as Json;
use terrane_value::{Type, Value, json};

use super::shown;
use crate::args::plan_view::{PlanView, SummaryForm};
use crate::console::Console;

/// Diagnostics of a run are laid out for so many columns.
const WIDTH: usize = 78;

/// A template with its arguments.
pub fn filled(style: &Style, template: &str, arguments: &[&str]) -> String {
    let arguments: Vec<&dyn Display> = arguments.iter().map(|argument| argument as &dyn Display).collect();
    style.fill(template, &arguments)
}

/// Shows a line to people.
pub fn show(console: &Console, line: RemoteLine<'_>, in_automation: bool, view: &PlanView) {
    match line {
        RemoteLine::Own { template, arguments } => console.line(&filled(&console.style, template, arguments)),
        RemoteLine::Text(text) if console.style.colour => console.line(text),
        RemoteLine::Text(text) => console.line(&without_colours(text)),
        RemoteLine::Message { is_repeated: true, .. } => {}
        RemoteLine::Message { message, .. } => console.print(&message_text(message, &console.style)),
        RemoteLine::Plan(plan) => console.print(&described_plan(plan, &console.style, in_automation, view)),
    }
}

/// A text without the codes that set colours.
pub fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains("\x1b[") {
        return Cow::Borrowed(text);
    }
    let mut pieces = text.split("\x1b[");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        out.push_str(rest.strip_prefix('m').unwrap_or(rest));
    }
    Cow::Owned(out)
}

/// The text of a plan that the service describes.
pub fn described_plan(described: &DescribedPlan, style: &Style, in_automation: bool, view: &PlanView) -> String {
    let mut out = String::new();
    if described.is_newer && view.summary_form != Some(SummaryForm::Json) {
        let warning = "[bold][red]Warning:[reset][bold] This plan was generated using a different version of Terraform, the diff \
                       presented here may be missing representations of recent features.";
        out.push_str(&format!("\n{}\n", style.wrapped(&style.fill(warning, &[]))));
    }
    out + &shown::described_plan(described, style, in_automation, view)
}

/// A message of a log as people see it; empty for those that they do not see.
fn message_text(message: &Json, style: &Style) -> String {
    let text = message["@message"].as_str().unwrap_or_default();
    match message["type"].as_str().unwrap_or_default() {
        "refresh_complete"
        | "version"
        | "planned_change"
        | "provision_complete"
        | "provision_errored"
        | "apply_errored"
        | "ephemeral_op_errored" => String::new(),
        "apply_start"
        | "apply_complete"
        | "refresh_start"
        | "provision_start"
        | "resource_drift"
        | "ephemeral_op_start"
        | "ephemeral_op_complete" => format!("{}\n", style.bold(text)),
        "diagnostic" => {
            let found = diagnostic::from_json(&message["diagnostic"]);
            match style.colour {
                true => render_one(&found, &Style { width: WIDTH, ..*style }),
                false => render_framed(found.into()).concat(),
            }
        }
        "outputs" => outputs_text(&message["outputs"], style),
        "provision_progress" => {
            let hook = &message["hook"];
            let part = |value: &Json| value.as_str().unwrap_or_default().to_owned();
            let (address, kind) = (part(&hook["resource"]["addr"]), part(&hook["provisioner"]));
            style.fill("[bold]{}: ({}):[reset] ", &[&address, &kind]) + &part(&hook["output"]) + "\n"
        }
        "change_summary" => format!("\n{}\n\n", style.fill("[bold][green]{}[reset]", &[&text])),
        _ => format!("{text}\n"),
    }
}

fn outputs_text(outputs: &Json, style: &Style) -> String {
    let Some(outputs) = outputs.as_object().filter(|outputs| !outputs.is_empty()) else { return String::new() };
    let mut out = style.fill("[bold][green]Outputs:[reset]", &[]) + "\n";
    for (name, output) in outputs {
        let shown = match output["sensitive"] == true {
            true => "(sensitive value)".to_owned(),
            false => {
                let value = output_value(output);
                let drawing = Drawing { show_unchanged: true, ..Drawing::new(style) };
                let mut text = String::new();
                let diff = diff::typed_diff(value.ty(), &value, &value, style.dialect);
                diff::write_with(&mut text, &diff, 0, &drawing);
                text
            }
        };
        out.push_str(&format!("{name} = {shown}\n"));
    }
    out
}

/// The value of an output, as its type says, or as it is written.
fn output_value(output: &Json) -> Value {
    let ty = Type::from_json(&output["type"]).unwrap_or(Type::Dynamic);
    match ty {
        Type::Dynamic => json::untyped(&output["value"]),
        ty => json::from_json_value(&output["value"], &ty).unwrap_or_else(|_| json::untyped(&output["value"])),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn colours_are_removed() {
        let cases = [("plain", "plain"), ("\x1b[0m\x1b[1;31ma\x1b[0mb", "ab"), ("a\x1b[", "a"), ("\x1b[5x", "x")];
        for (text, expected) in cases {
            assert_eq!(without_colours(text), expected, "{text:?}");
        }
    }

    #[test]
    fn messages_are_shown_as_the_reference_shows_them() {
        let diagnostic = json!({"severity": "warning", "summary": "S", "detail": "D."});
        let hook = json!({"resource": {"addr": "a.b"}, "provisioner": "local-exec", "output": "hello"});
        let outputs = json!({
            "l": {"type": ["list", "string"], "value": ["a"], "sensitive": false},
            "s": {"type": "string", "sensitive": true},
            "t": {"type": "string", "value": "x", "sensitive": false},
        });
        let cases = [
            (json!({"type": "version", "@message": "Terraform 1.11.4"}), ""),
            (json!({"type": "apply_start", "@message": "a.b: Creating..."}), "a.b: Creating...\n"),
            (json!({"type": "diagnostic", "@message": "x", "diagnostic": diagnostic}), "╷\n│ Warning: S\n│\n│ D.\n╵\n"),
            (json!({"type": "provision_progress", "@message": "x", "hook": hook}), "a.b: (local-exec): hello\n"),
            (json!({"type": "change_summary", "@message": "Apply complete!"}), "\nApply complete!\n\n"),
            (json!({"type": "log", "@message": "anything"}), "anything\n"),
            (json!({"type": "outputs", "outputs": {}}), ""),
            (
                json!({"type": "outputs", "outputs": outputs}),
                "Outputs:\nl = [\n        \"a\",\n    ]\ns = (sensitive value)\nt = \"x\"\n",
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(message_text(&message, &Style::plain()), expected, "{message}");
        }
    }
}
