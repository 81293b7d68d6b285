//! Commands that change or list states, with `-json`: the messages of OpenTofu 1.12.6, in their order.

use serde_json::Value;

use crate::support::Project;

const CONFIGURATION: &str = "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" {}\n";

/// The exit code, and of each message its level, its type or the severity of its diagnostic, and its text. The first message, with
/// the versions, is left out.
fn stream(project: &Project, command: &[&str], rest: &[&str]) -> (Option<i32>, Vec<String>) {
    let outcome = project.run(&[command, &["-json"], rest].concat());
    assert_eq!(outcome.err, "", "{command:?}");
    let mut messages = outcome.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let first = messages.next().unwrap();
    assert_eq!((&first["type"], &first["ui"]), (&"version".into(), &"1.2".into()));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |message: Value| {
        let detail = text(&message["diagnostic"]["detail"]);
        [text(&message["@level"]), text(&message["type"]), text(&message["@message"]), detail].join("|")
    };
    (outcome.code, messages.map(one).collect())
}

fn check(project: &Project, line: &str, code: i32, expected: &[&str]) {
    let words: Vec<&str> = line.split(' ').collect();
    let (command, rest) = words.split_at(if matches!(words[0], "state" | "workspace") { 2 } else { 1 });
    let found = stream(project, command, rest);
    let expected: Vec<String> = expected.iter().map(|text| (*text).to_owned()).collect();
    assert_eq!(found, (Some(code), expected), "{line}");
}

fn project() -> Project {
    let project = Project::new(CONFIGURATION);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project
}

#[test]
fn state_commands_write_streams() {
    let project = project();
    let check = |line: &str, code: i32, expected: &[&str]| check(&project, line, code, expected);
    check("state list", 0, &["info|resource_address|terraform_data.a|", "info|resource_address|terraform_data.b|"]);
    check(
        "state mv -dry-run terraform_data.b terraform_data.c",
        0,
        &["info||Would move \"terraform_data.b\" to \"terraform_data.c\"|"],
    );
    check(
        "state mv terraform_data.b terraform_data.c",
        0,
        &["info||Move \"terraform_data.b\" to \"terraform_data.c\"|", "info||Successfully moved 1 object(s)|"],
    );
    check(
        "state mv terraform_data.n terraform_data.c",
        1,
        &[
            "error|diagnostic|Error: Invalid source address|Cannot move terraform_data.n: does not match anything in the current state.",
        ],
    );
    check(
        "state rm terraform_data.c",
        0,
        &["info||Removed terraform_data.c|", "info||Successfully removed 1 resource instance(s)|"],
    );
    check("state rm -dry-run terraform_data.n", 0, &["info||Would have removed nothing|"]);
    check("taint terraform_data.a", 0, &["info||Resource instance terraform_data.a has been marked as tainted.|"]);
    check(
        "taint data.a.b",
        1,
        &["error|diagnostic|Error: Invalid resource address|Resource instance data.a.b cannot be tainted"],
    );
    check(
        "taint -allow-missing terraform_data.n",
        0,
        &[
            "warn|diagnostic|Warning: No such resource instance|Resource instance terraform_data.n was not found, but this is not an error \
         because -allow-missing was set.",
        ],
    );
    check(
        "untaint terraform_data.a",
        0,
        &["info||Resource instance terraform_data.a has been successfully untainted.|"],
    );
    check(
        "state show bad(",
        1,
        &[
            "error|diagnostic|Error: Error parsing instance address \"bad(\"|This command requires that the address references one specific \
         instance. To view the available instances, use \"terrane state list\". Please modify the address to reference a specific \
         instance.",
        ],
    );
    check(
        "state push n.json",
        1,
        &["error|diagnostic|Error: Failed to open the given state file|open n.json: no such file or directory"],
    );
    project.write("work/bad.json", "{");
    let (code, found) = stream(&project, &["state", "push"], &["bad.json"]);
    let start = "error|diagnostic|Error: Failed to read source state \"bad.json\"|2 problems:\n\n- Unsupported state file format: ";
    assert!(code == Some(1) && found.len() == 1 && found[0].starts_with(start), "{found:?}");
    assert_eq!(found[0].lines().filter(|line| line.starts_with("- ")).count(), 2, "{found:?}");
}

#[test]
fn workspace_commands_write_streams() {
    let project = project();
    let check = |line: &str, code: i32, expected: &[&str]| check(&project, line, code, expected);
    check(
        "workspace new w",
        0,
        &[
            "info||Created and switched to workspace \"w\". You're now on a new, empty workspace. Workspaces isolate their state, so if you \
         run \"terrane plan\" Terrane will not see any existing state for this configuration|",
        ],
    );
    check("workspace new w", 1, &["error||Workspace \"w\" already exists|"]);
    check("workspace list", 0, &["info|workspace_list|list of workspaces|"]);
    check(
        "workspace delete w",
        1,
        &[
            "error||Workspace \"w\" is your active workspace. You cannot delete the currently active workspace. Please switch to another \
         workspace and try again|",
        ],
    );
    check(
        "workspace select n",
        1,
        &[
            "error||Workspace \"n\" doesn't exist. You can create this workspace with the \"new\" subcommand or include the \"-or-create\" \
         flag with the \"select\" subcommand|",
        ],
    );
    project.ok(&["apply", "-auto-approve"]);
    check("workspace select default", 0, &["info||Switched to workspace \"default\"|"]);
    check(
        "workspace delete -force w",
        0,
        &[
            "info||Deleted workspace \"w\"|",
            "warn||\"w\" was non-empty. The resources managed by the deleted workspace may still exist, but are no longer manageable by \
         Terrane since the state has been deleted|",
        ],
    );
}

/// Another program may have written the file; its text would become part of the path of a state.
#[test]
fn a_selected_workspace_with_an_invalid_name_is_not_used() {
    let project = project();
    project.write("work/.terraform/environment", "../x");
    for command in [&["plan"][..], &["workspace", "show"], &["state", "list"]] {
        project.run(command).expect(1, &["Invalid workspace name: The selected workspace described in"]);
    }
    project.ok(&["workspace", "select", "default"]);
    project.ok(&["plan"]);
}
