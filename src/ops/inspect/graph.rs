//! `graph`: the dependency graph.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::diag::{Diagnostic, Diagnostics};
use base::files::ConfigFiles;
use engine::Facts;
use engine::outline::{self, Outline, OutlineInput, OutlineKind, Outlined};
use model::addr::ConfigResource;
use model::deps::Requirements;
use model::state::State;
use render::{dot, mermaid, svg};

use super::graph_focus::{self, Focus};
use crate::backends::read_state;
use crate::configuration::load::{self, LoadedConfig};
use crate::interface::options::StateOptions;
use crate::plugins::factories::Factories;
use crate::plugins::{outdated_schemas, packages};
use crate::run::plan_file;
use crate::run::session::{CANCELED, quiet_ports};
use crate::setup::Setup;

/// Which graph is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphType {
    /// The resources of the configuration.
    Resources,
    Plan,
    PlanRefreshOnly,
    PlanDestroy,
    Apply,
}

/// The language that a graph is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Dot,
    Mermaid,
    Svg,
}

#[derive(Clone, Debug)]
pub struct GraphRequest {
    pub wanted: GraphType,
    pub format: Format,
    /// A saved plan.
    pub plan: Option<PathBuf>,
    /// Cycles are drawn, where they would be errors.
    pub draw_cycles: bool,
    /// Only the part around this object.
    pub focus: Option<Focus>,
}

/// The graph in the language asked for.
pub async fn run(setup: &Setup, request: &GraphRequest) -> Result<(String, Diagnostics), Diagnostics> {
    setup.restart.repeated(|| attempt(setup, request)).await
}

/// The configuration. Where nothing is wrong with the text of its root module and with its backend, errors name files by
/// their whole paths, as the reference does.
fn configuration(setup: &Setup) -> (Option<LoadedConfig>, Diagnostics) {
    let loaded = load::any_config(Path::new("."), setup, &setup.root);
    let root_is_sound = || {
        !load::module_alone(setup.dialect(), Path::new(".")).1.has_errors()
            && !load::backend_module(setup).1.has_errors()
    };
    if !loaded.1.has_errors() || !root_is_sound() {
        return loaded;
    }
    load::any_config(&setup.root.dir(), setup, &setup.root)
}

async fn attempt(setup: &Setup, request: &GraphRequest) -> Result<(String, Diagnostics), Diagnostics> {
    let GraphRequest { wanted, format, draw_cycles, .. } = *request;
    let mut saved = match &request.plan {
        Some(path) => Some(plan_file::read(setup, path).await?),
        None => None,
    };
    let files: Arc<dyn ConfigFiles> = match &saved {
        Some(saved) => plan_file::files(setup, saved),
        None => Arc::new(setup.root.clone()),
    };
    let (loaded, mut diagnostics) = match &saved {
        Some(saved) => load::planned_config(setup, &*files, &saved.plan.variables),
        None => configuration(setup),
    };
    let Some(config) = loaded.filter(|_| !diagnostics.has_errors()).map(|l| l.config) else { return Err(diagnostics) };
    let state = match &saved {
        Some(saved) => saved.plan.prior_state.clone(),
        None => stored(setup).await?,
    };
    let requirements = diagnostics.take(Requirements::of_config(&config)).merge(Requirements::of_state(&state));
    let found = packages::resolve(setup, &requirements).await?;
    diagnostics.extend(found.warnings);
    let factories = Factories::new(setup, found.origins, found.provisioner_programs);
    factories.start_early(requirements.0.keys().cloned());
    if let Some(saved) = &mut saved
        && let Err(problems) = plan_file::decode_with(saved, &factories).await
    {
        factories.shutdown().await;
        return Err(problems);
    }
    let ports = quiet_ports(setup, &factories);
    let operation = match (saved, wanted) {
        (Some(saved), GraphType::Apply) => Outlined::Apply(Arc::new(saved.plan)),
        (_, GraphType::PlanDestroy) => Outlined::PlanDestroy,
        (_, GraphType::PlanRefreshOnly) => Outlined::PlanRefreshOnly,
        _ => Outlined::Plan,
    };
    let facts = Facts::of(config);
    let drawn = tokio::select! {
        drawn = outline::outline(OutlineInput { facts, state, operation, draw_cycles }, &ports) => drawn,
        () = setup.stop.killed() => Err(Diagnostic::error(CANCELED, "").into()),
    };
    outdated_schemas::check(setup, &factories, drawn.is_err()).await;
    factories.shutdown().await;
    let text = match wanted {
        GraphType::Resources => resources(&drawn?, format, request.focus.as_ref())?,
        GraphType::Plan | GraphType::PlanRefreshOnly | GraphType::PlanDestroy | GraphType::Apply => {
            everything(drawn?, format, request.focus.as_ref())?
        }
    };
    Ok((text, diagnostics))
}

async fn stored(setup: &Setup) -> Result<State, Diagnostics> {
    let (_, loaded) = read_state::current(setup, &StateOptions::default()).await?;
    Ok(loaded.file.map(|file| file.state).unwrap_or_default())
}

fn resources(outline: &Outline, format: Format, focus: Option<&Focus>) -> Result<String, Diagnostics> {
    let (found, edges) = outline.resources();
    let target = focus.and_then(|focus| graph_focus::target(&focus.text));
    let is_meant = |addr: &ConfigResource| target.as_ref().is_some_and(|target| target.touches(addr));
    let kept = graph_focus::focused(found, &edges, focus, is_meant, ConfigResource::to_string)?;
    let shown: Vec<_> = kept
        .nodes
        .iter()
        .map(|addr| dot::Resource { module: addr.module.to_string(), name: addr.resource.to_string() })
        .collect();
    Ok(match format {
        Format::Dot => dot::resources(&shown, &kept.edges),
        Format::Mermaid => mermaid::resources(&shown, &kept.edges),
        Format::Svg => svg::resources(&shown, &kept.edges, &kept.focus),
    })
}

fn everything(outline: Outline, format: Format, focus: Option<&Focus>) -> Result<String, Diagnostics> {
    let (outline, focus) = graph_focus::focused_outline(outline, focus)?;
    let shown: Vec<_> = outline
        .nodes
        .into_iter()
        .map(|node| {
            let own_line = match node.kind {
                OutlineKind::Resource(addr) => Some((addr.to_string(), "box")),
                OutlineKind::Provider(label) => Some((label, "diamond")),
                OutlineKind::RootValue(label) => Some((label, "note")),
                OutlineKind::Other => None,
            };
            dot::Step { name: node.name, own_line }
        })
        .collect();
    Ok(match format {
        Format::Dot => dot::operation(&shown, &outline.edges, &outline.cycles),
        Format::Mermaid => mermaid::operation(&shown, &outline.edges),
        Format::Svg => svg::operation(&shown, &outline.edges, &outline.cycles, &focus),
    })
}
