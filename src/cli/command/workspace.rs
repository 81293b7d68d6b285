//! `workspace list`, `show`, `new`, `select` and `delete`, also by their old name `env`

use base::diag::{Diagnostic, Diagnostics};
use base::dialect::Dialect;
use base::name::{COMMAND, PROGRAM};
use model::version::at_least;
use ops::setup::workdir::WorkDir;
use ops::state::workspaces::{self, Selected, WorkspaceRefusal};
use render::json::events;

use crate::Invocation;
use crate::args::workspace as args;
use crate::console::Console;
use crate::opentofu;
use crate::view::documents;
use crate::view::lines::{LineOutput, Lines};

pub fn run_list(invocation: &Invocation, args: &[String]) -> u8 {
    warn_of_old_name(invocation);
    let (json, setup) = match super::parsed_and_setup(
        invocation,
        args::parse_list(args, invocation.environment.dialect()),
        |_| false,
    ) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let (console, is_document) =
        (&invocation.console, json && opentofu::writes_documents(invocation.environment.dialect()));
    let out = if is_document { Lines::aside_only(console) } else { Lines::new(console, json) };
    let checked = if at_least(16) { setup.workdir.check_workspace() } else { Ok(()) };
    let found = match checked {
        Ok(()) => super::run_with(invocation, &setup, workspaces::list(&setup)),
        Err(problems) => Ok(Err(problems.into())),
    };
    let found = match found {
        Ok(found) => found,
        Err(code) => return code,
    };
    if is_document {
        write_document(console, &setup.workdir, &found);
    }
    match found {
        Ok(names) => {
            out.each(|output| list(output, &setup.workdir, &names));
            0
        }
        Err(refusal) => {
            refused(console.dialect(), &out, refusal);
            1
        }
    }
}

fn write_document(console: &Console, workdir: &WorkDir, found: &Result<Vec<String>, WorkspaceRefusal>) {
    let (names, diagnostics) = match found {
        Ok(names) => {
            let overridden = workdir.workspace_overridden.then(|| Diagnostic::warning(OVERRIDDEN, ""));
            (names.as_slice(), overridden.into_iter().collect())
        }
        Err(WorkspaceRefusal::Diagnostics(problems)) => (&[][..], problems.clone()),
        Err(WorkspaceRefusal::Failed(why)) => (&[][..], Diagnostic::error(why, "").into()),
        // The others are about one workspace.
        Err(_) => (&[][..], Diagnostics::new()),
    };
    documents::workspaces(console, &workdir.workspace, names, diagnostics);
}

fn list(output: &LineOutput, workdir: &WorkDir, names: &[String]) {
    let (console, current) = (&output.console, &workdir.workspace);
    if output.is_stream() {
        output.message(&events::workspaces(current, names));
        if workdir.workspace_overridden {
            output.say("The active workspace is being overridden using the TF_WORKSPACE environment variable");
        }
        return;
    }
    if names.is_empty() {
        return console.diagnostics(no_workspaces(current).into());
    }
    let mark = |name: &String| if name == current { "*" } else { " " };
    let lines: String = names.iter().map(|name| format!("{} {name}\n", mark(name))).collect();
    console.line(&lines);
    if workdir.workspace_overridden {
        console.line(OVERRIDDEN);
    }
}

/// The warning for a state store without states.
fn no_workspaces(current: &str) -> Diagnostic {
    let how = match current {
        "default" => format!(
            "by running \"{COMMAND} init\", by using the \"{COMMAND} workspace new\" subcommand or by including the \"-or-create\" flag with"
        ),
        _ => format!("by using the \"{COMMAND} workspace new\" subcommand or including the \"-or-create\" flag with"),
    };
    let detail = format!(
        "The {current:?} workspace is selected in your working directory. You can create this workspace {how} the \"{COMMAND} workspace \
         select\" subcommand."
    );
    Diagnostic::warning(format!("{PROGRAM} cannot find any existing workspaces."), detail)
}

pub fn run_show(invocation: &Invocation, args: &[String]) -> u8 {
    warn_of_old_name(invocation);
    match super::parsed_and_setup(invocation, args::parse_show(args), |()| false) {
        Ok(((), setup)) => {
            if let Err(problems) = setup.workdir.check_workspace() {
                let why: String = problems.iter().map(|problem| problem.summary.as_str()).collect();
                invocation.console.red_error_line(&format!("Error selecting workspace: {why}"));
                return 1;
            }
            invocation.console.line(&setup.workdir.workspace);
            0
        }
        Err(code) => code,
    }
}

pub fn run_new(invocation: &Invocation, args: &[String]) -> u8 {
    warn_of_old_name(invocation);
    let (args, setup) = match super::parsed_and_setup(invocation, args::parse_new(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let lines = Lines::new(console, args.json);
    let created = || say_created(console, &lines, &args.name);
    let work = workspaces::create(&setup, &args.name, args.state.as_deref(), &args.options, &lines, created);
    match super::run_with(invocation, &setup, work) {
        Ok(Ok(())) => 0,
        Ok(Err(WorkspaceRefusal::Overridden)) => {
            lines.refuse_plainly(OVERRIDDEN_NEW);
            1
        }
        Ok(Err(refusal)) => refused(console.dialect(), &lines, refusal),
        Err(code) => code,
    }
}

pub fn run_select(invocation: &Invocation, args: &[String]) -> u8 {
    warn_of_old_name(invocation);
    let (args, setup) = match super::parsed_and_setup(invocation, args::parse_select(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let lines = Lines::new(console, args.json);
    match super::run_with(invocation, &setup, workspaces::select(&setup, &args.name, args.or_create)) {
        Ok(Ok(Selected::Already)) => 0,
        Ok(Ok(Selected::Created)) => {
            say_created(console, &lines, &args.name);
            0
        }
        Ok(Ok(Selected::Switched)) => {
            let name = format!("{:?}", args.name);
            let text = console.style.fill("[reset][green]Switched to workspace {}.", &[&name]);
            lines.coloured(&text, &format!("Switched to workspace {name}"));
            0
        }
        Ok(Err(refusal)) => refused(console.dialect(), &lines, refusal),
        Err(code) => code,
    }
}

pub fn run_delete(invocation: &Invocation, args: &[String]) -> u8 {
    warn_of_old_name(invocation);
    let (args, setup) = match super::parsed_and_setup(invocation, args::parse_delete(args), |_| false) {
        Ok(begun) => begun,
        Err(code) => return code,
    };
    let console = &invocation.console;
    let lines = Lines::new(console, args.json);
    let work = workspaces::delete(&setup, &args.name, args.force, &args.options, &lines);
    match super::run_with(invocation, &setup, work) {
        Ok(Ok(forgotten)) => {
            let name = format!("{:?}", args.name);
            let text = console.style.fill("[reset][green]Deleted workspace {}!", &[&name]);
            lines.coloured(&text, &format!("Deleted workspace {name}"));
            if forgotten {
                let text = "[reset][yellow]WARNING: {} was non-empty.\nThe resources managed by the deleted workspace \
                            may still exist,\nbut are no longer manageable by {} since the state has\nbeen deleted.\n";
                let plain = format!(
                    "{name} was non-empty. The resources managed by the deleted workspace may still exist, but are no longer \
                     manageable by {PROGRAM} since the state has been deleted"
                );
                lines.warn(&console.style.fill(text, &[&name, &PROGRAM]), &plain);
            }
            0
        }
        Ok(Err(WorkspaceRefusal::Missing(name, question))) => {
            lines.refuse_with_tip(missing(&name).trim(), &question);
            1
        }
        Ok(Err(refusal)) => refused(console.dialect(), &lines, refusal),
        Err(code) => code,
    }
}

fn say_created(console: &Console, lines: &Lines, name: &str) {
    let text = "[reset][green][bold]Created and switched to workspace {}![reset][green]\n\nYou're now on a new, empty \
                workspace. Workspaces isolate their state,\nso if you run \"{} plan\" {} will not see any existing state\nfor \
                this configuration.";
    let shown = console.style.fill(text, &[&format!("{name:?}"), &COMMAND, &PROGRAM]);
    let plain = format!(
        "Created and switched to workspace {name:?}. You're now on a new, empty workspace. Workspaces isolate their state, so if you \
         run \"{COMMAND} plan\" {PROGRAM} will not see any existing state for this configuration"
    );
    lines.coloured(&shown, &plain);
}

fn refused(dialect: Dialect, lines: &Lines, refusal: WorkspaceRefusal) -> u8 {
    let text = match refusal {
        WorkspaceRefusal::Diagnostics(diagnostics) => return lines.finish(diagnostics),
        WorkspaceRefusal::Failed(reason) => {
            lines.refuse(&reason);
            return 1;
        }
        WorkspaceRefusal::Exists(name) if opentofu::suggests_workspace_select(dialect) => return exists(lines, &name),
        WorkspaceRefusal::Exists(name) => format!("Workspace {name:?} already exists"),
        WorkspaceRefusal::Missing(name, question) => {
            lines.refuse_with_tip(&missing(&name), &question);
            return 1;
        }
        WorkspaceRefusal::Active(name) => format!(
            "Workspace {name:?} is your active workspace.\n\nYou cannot delete the currently active workspace. Please switch\nto \
             another workspace and try again."
        ),
        WorkspaceRefusal::Overridden => OVERRIDDEN_SELECT.into(),
        WorkspaceRefusal::Invalid(name) if at_least(13) => format!(
            "\nThe workspace name {name:?} is not allowed. The name must contain only URL safe\ncharacters, contain no path \
             separators, and not be an empty string.\n"
        ),
        WorkspaceRefusal::Invalid(name) => format!(
            "\nThe workspace name {name:?} is not allowed. The name must contain only URL safe\ncharacters, and no path \
             separators.\n"
        ),
    };
    lines.refuse_plainly(&text);
    1
}

/// The error about a workspace that `workspace new` should create, with how to switch to it.
fn exists(lines: &Lines, name: &str) -> u8 {
    let summary = format!("Workspace {name:?} already exists");
    let detail = format!(
        "A workspace having the given name already exists.\n\nUse \"{COMMAND} workspace select {name}\" to switch to it."
    );
    lines.finish(Diagnostic::error(summary, detail).into())
}

fn missing(name: &str) -> String {
    format!(
        "\nWorkspace {name:?} doesn't exist.\n\nYou can create this workspace with the \"new\" subcommand \nor include the \
         \"-or-create\" flag with the \"select\" subcommand."
    )
}

const OVERRIDDEN: &str = "\n\nThe active workspace is being overridden using the TF_WORKSPACE environment\nvariable.\n";

const OVERRIDDEN_SELECT: &str = "
The selected workspace is currently overridden using the TF_WORKSPACE
environment variable.

To select a new workspace, either update this environment variable or unset
it and then run this command again.
";

const OVERRIDDEN_NEW: &str = "
The workspace is currently overridden using the TF_WORKSPACE environment
variable. You cannot create a new workspace when using this setting.

To create a new workspace, either unset this environment variable or update it
to match the workspace name you are trying to create, and then run this command
again.
";

fn warn_of_old_name(invocation: &Invocation) {
    if !invocation.command.starts_with("env ") {
        return;
    }
    let text = format!(
        "Warning: the \"{COMMAND} env\" family of commands is deprecated.\n\n\"Workspace\" is now the preferred term for what \
         earlier {PROGRAM} versions\ncalled \"environment\", to reduce ambiguity caused by the latter term colliding\nwith other \
         concepts.\n\nThe \"{COMMAND} workspace\" commands should be used instead. \"{COMMAND} env\"\nwill be removed in a future \
         {PROGRAM} version.\n"
    );
    let console = &invocation.console;
    console.line(&console.style.fill("[yellow]{}[reset]", &[&text]));
}
