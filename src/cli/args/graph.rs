//! `graph`

use clap::Command;

use super::ArgsError;
use super::common::view_flags;
use super::flags::{self, Given, switch, text};

#[derive(Debug)]
pub struct Graph {
    /// None: the summary of resources.
    pub kind: Option<String>,
    pub plan: Option<String>,
    pub draw_cycles: bool,
}

pub fn command() -> Command {
    flags::command("graph")
        .about("Generate a Graphviz graph of the steps in an operation")
        .long_about(
            "Writes a graph of what depends on what, in the DOT language: of the resources of the configuration, or of all the steps \
             of an operation with -type.",
        )
        .args([
            text("plan", "path", "Draw the graph of this plan. Implies -type=apply."),
            switch("draw-cycles", false, "Colour the edges of cycles."),
            text("type", "type", "The operation: plan, plan-refresh-only, plan-destroy or apply."),
            text("module-depth", "n", "Accepted for the sake of old scripts.").hide(true),
            switch("verbose", false, "Accepted for the sake of old scripts.").hide(true),
        ])
        .args(view_flags())
}

pub fn parse(args: &[String]) -> Result<Graph, ArgsError> {
    let given = flags::parse(command(), args).map_err(ArgsError::flag_with_page)?;
    if !given.positional().is_empty() {
        return Err(ArgsError::too_many());
    }
    Ok(Graph {
        kind: given.text("type").filter(|kind| !kind.is_empty()),
        plan: given.text("plan").filter(|path| !path.is_empty()),
        draw_cycles: given.on("draw-cycles"),
    })
}
