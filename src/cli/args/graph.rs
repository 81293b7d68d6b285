//! `graph`

use std::path::PathBuf;

use base::diag::{Diagnostic, Diagnostics};
use clap::Command;
use ops::inspect::graph::{Format, GraphRequest, GraphType};
use ops::inspect::graph_focus::Focus;
use ops::interface::options::VariableArgument;

use super::ArgsError;
use super::common::{progress_flag, variable_arguments, variable_flags, view_flags};
use super::flags::{self, Given, number, switch, text};

#[derive(Debug)]
pub struct Graph {
    pub request: GraphRequest,
    pub variables: Vec<VariableArgument>,
}

pub fn command() -> Command {
    flags::command("graph")
        .about("Generate a Graphviz graph of the steps in an operation")
        .long_about(
            "Writes a graph of the dependencies between resources: in the DOT language, as a Mermaid flowchart, or as an SVG picture, \
             which needs no other program. With -type, writes a graph of all steps of an operation instead.",
        )
        .args([
            text("plan", "path", "The steps of applying this saved plan."),
            text("format", "format", "The format of the graph: dot, mermaid or svg.").default_value("dot"),
            text(
                "focus",
                "address",
                "Show only this resource or module, what it needs, and what needs it. With -type, the name of any node.",
            ),
            number("depth", "-1", "With -focus: the most steps from the object. A negative number means any number of steps."),
            switch("verbose", false, "Accepted for compatibility; changes nothing.").hide(true),
            switch("draw-cycles", false, "With -type: show cycles in red instead of reporting an error."),
            text("type", "type", "The operation: plan, plan-refresh-only, plan-destroy or apply."),
            number("module-depth", "-1", "Accepted for compatibility; changes nothing.").hide(true),
            progress_flag(),
        ])
        .args(variable_flags())
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<Graph, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    if !given.positional().is_empty() {
        return Err(ArgsError::too_many());
    }
    let plan = given.text("plan").filter(|path| !path.is_empty()).map(PathBuf::from);
    let wanted = graph_type(&given.text("type").unwrap_or_default(), plan.is_some());
    let wanted = wanted.map_err(|d| ArgsError::Diagnostics { diagnostics: Diagnostics::from(d), hint: false })?;
    let format = match given.text("format").as_deref() {
        Some("mermaid") => Format::Mermaid,
        Some("svg") => Format::Svg,
        None | Some("dot") => Format::Dot,
        Some(other) => {
            return Err(ArgsError::Text { text: format!("Unsupported graph format: {other}"), usage: false });
        }
    };
    let draw_cycles = given.on("draw-cycles");
    let depth = usize::try_from(given.number("depth")).ok();
    let focus = given.text("focus").filter(|text| !text.is_empty()).map(|text| Focus { text, depth });
    if focus.is_none() && depth.is_some() {
        let detail =
            "The option -depth limits the part of the graph around an object: name the object with -focus=ADDRESS.";
        return Err(ArgsError::usage("Missing -focus option", detail));
    }
    let request = GraphRequest { wanted, format, plan, draw_cycles, focus };
    Ok(Graph { request, variables: variable_arguments(&given) })
}

fn graph_type(text: &str, has_plan: bool) -> Result<GraphType, Diagnostic> {
    match text {
        "" if has_plan => Ok(GraphType::Apply),
        "" => Ok(GraphType::Resources),
        "plan" => Ok(GraphType::Plan),
        "plan-refresh-only" => Ok(GraphType::PlanRefreshOnly),
        "plan-destroy" => Ok(GraphType::PlanDestroy),
        "apply" => Ok(GraphType::Apply),
        "eval" | "validate" => Err(Diagnostic::error(
            "Graph type no longer available",
            format!("The graph type {text:?} is no longer available. Use -type=plan instead to get a similar result."),
        )),
        _ => Err(Diagnostic::error(
            "Unsupported graph type",
            "The -type=... argument must be either \"plan\", \"plan-refresh-only\", \"plan-destroy\", or \"apply\".",
        )),
    }
}
