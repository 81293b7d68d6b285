//! The dispatcher's table: every command by name.

use clap::Command;

use super::{Invocation, args, command};

/// A command: its name (with a space for one of a group), what it does in a line, and what runs it.
pub struct Entry {
    pub name: &'static str,
    pub summary: &'static str,
    /// Listed first in the help.
    pub primary: bool,
    pub hidden: bool,
    pub run: Run,
}

pub enum Run {
    /// Gives the exit code.
    Command { arguments: fn() -> Command, run: fn(&Invocation, &[String]) -> u8 },
    /// Only a heading for the commands whose names continue this one.
    Group,
}

const fn entry(name: &'static str, summary: &'static str, run: Run) -> Entry {
    Entry { name, summary, primary: false, hidden: false, run }
}

const fn primary(name: &'static str, summary: &'static str, run: Run) -> Entry {
    Entry { name, summary, primary: true, hidden: false, run }
}

/// Another name of a command.
const fn other_name(name: &'static str, summary: &'static str, run: Run) -> Entry {
    Entry { name, summary, primary: false, hidden: true, run }
}

const fn old_name(name: &'static str, run: Run) -> Entry {
    other_name(name, "Workspace management", run)
}

const fn runs(arguments: fn() -> Command, run: fn(&Invocation, &[String]) -> u8) -> Run {
    Run::Command { arguments, run }
}

/// In the order of the help page.
pub const COMMANDS: &[Entry] = &[
    primary("init", "Prepare your working directory for other commands", runs(args::init::command, command::init::run)),
    primary(
        "validate",
        "Check whether the configuration is valid",
        runs(args::validate::command, command::validate::run),
    ),
    primary(
        "plan",
        "Show changes required by the current configuration",
        runs(args::plan::command, command::plan::run),
    ),
    primary("apply", "Create or update infrastructure", runs(args::apply::command, command::apply::run)),
    primary(
        "destroy",
        "Destroy previously-created infrastructure",
        runs(args::apply::destroy_command, command::apply::run_destroy),
    ),
    entry(
        "completion",
        "Print a script that completes command lines in a shell",
        runs(args::completion::command, command::completion::run),
    ),
    entry(
        "console",
        "Try expressions at an interactive command prompt",
        runs(args::console::command, command::console::run),
    ),
    entry(
        "explain",
        "Show why a plan changes a resource instance",
        runs(args::explain::command, command::explain::run),
    ),
    entry("fmt", "Reformat your configuration in the standard style", runs(args::fmt::command, command::fmt::run)),
    entry(
        "force-unlock",
        "Release a stuck lock on the current workspace",
        runs(args::force_unlock::command, command::force_unlock::run),
    ),
    entry("get", "Install or upgrade remote modules", runs(args::get::command, command::get::run)),
    entry(
        "graph",
        "Generate a Graphviz graph of the steps in an operation",
        runs(args::graph::command, command::graph::run),
    ),
    entry(
        "import",
        "Associate existing infrastructure with a resource",
        runs(args::import::command, command::import::run),
    ),
    entry(
        "link",
        "Create a link to this program named terraform or tofu",
        runs(args::link::command, command::link::run),
    ),
    entry("login", "Obtain and save credentials for a remote host", runs(args::login::command, command::login::run)),
    entry(
        "logout",
        "Remove locally-stored credentials for a remote host",
        runs(args::login::logout_command, command::login::run_logout),
    ),
    entry("metadata", "Metadata related commands", Run::Group),
    entry(
        "metadata functions",
        "Show signatures of the available functions",
        runs(args::metadata::functions_command, command::metadata::run_functions),
    ),
    entry(
        "modules",
        "Show all declared modules in a working directory",
        runs(args::modules::command, command::modules::run),
    ),
    entry("output", "Show output values from your root module", runs(args::output::command, command::output::run)),
    entry("policy", "Check and test policies", Run::Group),
    entry("policy test", "Run the tests of policies", runs(args::policy::test_command, command::policy::run_test)),
    entry(
        "policy validate",
        "Check whether policies are valid",
        runs(args::policy::validate_command, command::policy::run_validate),
    ),
    entry("provider", "Develop providers", Run::Group),
    entry(
        "provider docs",
        "Generate the documentation of a provider for registries",
        runs(args::provider::docs_command, command::provider::run_docs),
    ),
    entry(
        "provider new",
        "Create a project for a provider in Rust",
        runs(args::provider::new_command, command::provider::run_new),
    ),
    entry(
        "provider package",
        "Package a release of a provider for registries",
        runs(args::provider::package_command, command::provider::run_package),
    ),
    entry(
        "providers",
        "Show the providers required for this configuration",
        runs(args::providers::command, command::providers::run),
    ),
    entry(
        "providers lock",
        "Write out dependency locks for the configured providers",
        runs(args::providers_lock::lock_command, command::providers_lock::run_lock),
    ),
    entry(
        "providers mirror",
        "Save local copies of all required provider plugins",
        runs(args::providers_lock::mirror_command, command::providers_lock::run_mirror),
    ),
    entry(
        "providers schema",
        "Show schemas for the providers used in the configuration",
        runs(args::providers::schema_command, command::providers::run_schema),
    ),
    entry("query", "Search and list remote infrastructure", runs(args::query::command, command::query::run)),
    entry("refresh", "Update the state to match remote systems", runs(args::refresh::command, command::refresh::run)),
    entry("show", "Show the current state or a saved plan", runs(args::show::command, command::show::run)),
    entry("state", "Advanced state management", Run::Group),
    entry(
        "state history",
        "List earlier snapshots of the state",
        runs(args::state_history::history_command, command::state_history::run_history),
    ),
    entry(
        "state identities",
        "List the identities of resources in the state",
        runs(args::state::identities_command, command::state::run_identities),
    ),
    entry("state list", "List resources in the state", runs(args::state::list_command, command::state::run_list)),
    entry(
        "state migrate",
        "Copy states from another backend",
        runs(args::state_migrate::command, command::state_migrate::run),
    ),
    entry("state mv", "Move an item in the state", runs(args::state_edits::mv_command, command::state_edits::run_mv)),
    entry(
        "state pull",
        "Pull current state and output to stdout",
        runs(args::state::pull_command, command::state::run_pull),
    ),
    entry(
        "state push",
        "Update remote state from a local state file",
        runs(args::state_edits::push_command, command::state_edits::run_push),
    ),
    entry(
        "state replace-provider",
        "Replace provider in the state",
        runs(args::state_edits::replace_provider_command, command::state_edits::run_replace_provider),
    ),
    entry(
        "state restore",
        "Replace the state by an earlier snapshot",
        runs(args::state_history::restore_command, command::state_history::run_restore),
    ),
    entry(
        "state rm",
        "Remove instances from the state",
        runs(args::state_edits::rm_command, command::state_edits::run_rm),
    ),
    entry("state show", "Show a resource in the state", runs(args::state::show_command, command::state::run_show)),
    entry(
        "taint",
        "Mark a resource instance as not fully functional",
        runs(args::taint::taint_command, command::taint::run_taint),
    ),
    entry("test", "Execute integration tests for modules", runs(args::test::command, command::test::run)),
    entry(
        "test cleanup",
        "Clean up resources left over by tests",
        runs(args::test::cleanup_command, command::test::run_cleanup),
    ),
    entry(
        "untaint",
        "Remove the 'tainted' state from a resource instance",
        runs(args::taint::untaint_command, command::taint::run_untaint),
    ),
    entry("version", "Show the current version", runs(args::version::command, command::version::run)),
    entry("workspace", "Workspace management", Run::Group),
    entry(
        "workspace delete",
        "Delete a workspace",
        runs(args::workspace::delete_command, command::workspace::run_delete),
    ),
    entry("workspace list", "List Workspaces", runs(args::workspace::list_command, command::workspace::run_list)),
    entry("workspace new", "Create a new workspace", runs(args::workspace::new_command, command::workspace::run_new)),
    entry(
        "workspace select",
        "Select a workspace",
        runs(args::workspace::select_command, command::workspace::run_select),
    ),
    entry(
        "workspace show",
        "Show the name of the current workspace",
        runs(args::workspace::show_command, command::workspace::run_show),
    ),
    // As OpenTofu has them.
    other_name("state ls", "List resources in the state", runs(args::state::list_command, command::state::run_list)),
    other_name(
        "state move",
        "Move an item in the state",
        runs(args::state_edits::mv_command, command::state_edits::run_mv),
    ),
    other_name(
        "state remove",
        "Remove instances from the state",
        runs(args::state_edits::rm_command, command::state_edits::run_rm),
    ),
    // What workspaces were called before.
    old_name("env", Run::Group),
    old_name("env delete", runs(args::workspace::delete_command, command::workspace::run_delete)),
    old_name("env list", runs(args::workspace::list_command, command::workspace::run_list)),
    old_name("env new", runs(args::workspace::new_command, command::workspace::run_new)),
    old_name("env select", runs(args::workspace::select_command, command::workspace::run_select)),
];

/// The command that the words name, and how many of them its name takes; a longer name wins.
pub fn find(words: &[String]) -> Option<(&'static Entry, usize)> {
    let named = |n: usize| {
        let name = words.get(..n)?.join(" ");
        Some((COMMANDS.iter().find(|entry| entry.name == name)?, n))
    };
    named(2).or_else(|| named(1))
}
