//! What is as in OpenTofu if the program is called `tofu`, other than names.

use crate::support::{Project, program};

fn tofu(config: &str) -> Project {
    let mut project = Project::new(config);
    project.set("TERRANE_NAME", "tofu");
    project
}

/// How often a text occurs.
fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

const DEPRECATED: &str = "variable \"old\" {\n  default    = \"\"\n  deprecated = \"Use new.\"\n}\n\
                          output \"gone\" {\n  value      = var.old\n  deprecated = \"Use kept.\"\n}\n";

#[test]
fn deprecated_outputs_are_reported_by_plan_once_for_each_cause() {
    let project = tofu(
        "module \"a\" {\n  source = \"./m\"\n  old    = \"x\"\n}\nmodule \"b\" {\n  source = \"./m\"\n  old    = \"y\"\n}\n\
         output \"one\" {\n  value = module.a.gone\n}\noutput \"two\" {\n  value = upper(module.a.gone)\n}\n\
         output \"all\" {\n  value = module.b\n}\n",
    );
    project.write("work/m/m.tf", DEPRECATED);
    project.ok(&["init"]);
    let validate = project.ok(&["validate", "-no-color"]).out;
    assert_eq!(count(&validate, "Variable marked as deprecated by the module author"), 1, "{validate}");
    assert!(validate.contains("with the following message:\nUse new.\nSuccess!"), "{validate}");
    assert!(!validate.contains("deprecated source"), "{validate}");

    let plan = project.ok(&["plan", "-no-color", "-consolidate-warnings=false"]).out;
    assert_eq!(count(&plan, "Variable marked as deprecated by the module author"), 1, "{plan}");
    assert_eq!(count(&plan, "Value derived from a deprecated source"), 2, "{plan}");
    assert_eq!(count(&plan, "This value is derived from module.a.gone"), 1, "{plan}");
    assert_eq!(count(&plan, "This value's attribute gone is derived from module.b.gone"), 1, "{plan}");

    let quiet = project.ok(&["validate", "-no-color", "-deprecation=module:none"]).out;
    assert!(
        quiet.starts_with("Success! The configuration is valid, but there were some validation warnings"),
        "{quiet}"
    );
}

#[test]
fn prevent_destroy_and_destroy_are_checked_by_plan() {
    let cases = [
        ("prevent_destroy = count.index == 0", "Error: Invalid reference in prevent_destroy"),
        ("prevent_destroy = self.id == \"\"", "Error: Invalid \"self\" reference"),
        ("prevent_destroy = var.none", "Error: Reference to undeclared input variable"),
        ("prevent_destroy = [var.on]", "has an invalid value for its prevent_destroy argument: bool required"),
        ("prevent_destroy = sensitive(var.on)", "has a sensitive value for its prevent_destroy argument"),
        ("destroy = null", "Error: Invalid lifecycle destroy expression"),
    ];
    for (argument, expected) in cases {
        let config = format!(
            "variable \"on\" {{\n  default = true\n}}\nresource \"terraform_data\" \"a\" {{\n  count = 1\n  lifecycle {{\n    {argument}\n  }}\n}}\n"
        );
        let project = tofu(&config);
        project.ok(&["validate"]);
        let plan = project.run(&["plan", "-no-color"]);
        assert_eq!(plan.code, Some(1), "{argument}");
        let err = plan.err.replace('\n', " ");
        assert!(err.contains(expected), "{argument}: {}", plan.err);
    }
}

#[test]
fn what_prevent_destroy_refers_to_outlives_the_object() {
    let project = tofu(
        "resource \"terraform_data\" \"flag\" {\n  input = true\n}\nresource \"terraform_data\" \"a\" {\n  lifecycle {\n    \
         prevent_destroy = terraform_data.flag.output\n  }\n}\n",
    );
    project.ok(&["apply", "-auto-approve"]);
    let destroy = project.run(&["destroy", "-auto-approve", "-no-color"]);
    destroy.expect(1, &["Error: Resource instance cannot be destroyed"]);
    assert!(destroy.out.contains("Plan: 0 to add, 0 to change, 1 to destroy."), "{}", destroy.out);
    assert!(!destroy.out.contains("terraform_data.flag will be destroyed"), "{}", destroy.out);
}

#[test]
fn imports_with_unknown_keys_are_errors() {
    let project = tofu(
        "resource \"terraform_data\" \"k\" {}\nresource \"terraform_data\" \"i\" {\n  for_each = toset([\"x\"])\n}\n\
         import {\n  to = terraform_data.i[terraform_data.k.id]\n  id = \"x\"\n}\n",
    );
    let plan = project.run(&["plan", "-no-color"]);
    plan.expect(1, &["Error: Import block 'to' address contains an invalid key"]);
}

#[test]
fn imports_are_resolved_by_plan() {
    let project = tofu(
        "import {\n  for_each = toset([\"x\", \"q\"])\n  to       = terraform_data.i[each.key]\n  id       = each.value\n}\n\
         resource \"terraform_data\" \"i\" {\n  for_each = toset([\"x\"])\n}\n",
    );
    let plan = project.run(&["plan", "-no-color"]);
    plan.expect(1, &["Error: Configuration for import target does not exist"]);
    assert!(plan.out.contains("terraform_data.i[\"x\"]: Preparing import..."), "{}", plan.out);
    assert!(!plan.out.contains("Planning failed"), "{}", plan.out);

    project.write("work/main.tf", "import {\n  to = terraform_data.i[each.key]\n  id = \"1\"\n}\nresource \"terraform_data\" \"i\" {\n  for_each = toset([\"x\"])\n}\n");
    project.ok(&["validate"]);
    project.run(&["plan", "-no-color"]).expect(1, &["Error: Reference to \"each\" in context without for_each"]);
}

#[test]
fn warnings_of_the_root_module_come_before_the_plan_too() {
    let project = tofu(
        "language {\n  compatible_with {\n    opentofu = \">= 1.6\"\n  }\n}\nvariable \"v\" {\n  type    = object({ a = string })\n  \
         default = { a = \"x\", b = 1 }\n}\nmodule \"m\" {\n  source = \"./m\"\n  v      = { a = \"y\", c = 2 }\n}\n",
    );
    project.write("work/m/m.tf", "variable \"v\" {\n  type = object({ a = string })\n}\n");
    let init = project.ok(&["init", "-no-color"]).out;
    assert_eq!(count(&init, "(and 2 more similar warnings elsewhere)"), 2, "{init}");
    let plan = project.ok(&["plan", "-no-color"]).out;
    let (before, after) = plan.split_once("No changes.").unwrap();
    let lines = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after) = (lines(before), lines(after));
    for (text, early, late) in [
        ("Warning: Ineffective version constraint", 1, 1),
        ("The object type for this variable does not include an attribute named \"b\"", 1, 1),
        ("(and one more similar warning elsewhere)", 0, 1),
    ] {
        assert_eq!((count(&before, text), count(&after, text)), (early, late), "{text}: {plan}");
    }
}

#[test]
fn local_modules_are_installed_by_init() {
    let project =
        tofu("variable \"which\" {\n  default = \"a\"\n}\nmodule \"m\" {\n  source = \"./${var.which}\"\n}\n");
    project.write("work/a/m.tf", "");
    project.write("work/b/m.tf", "");
    project.run(&["validate", "-no-color"]).expect(1, &["Error: Module not installed"]);
    project.ok(&["init"]);
    project.ok(&["validate"]);
    let changed = project.run(&["validate", "-no-color", "-var", "which=b"]);
    changed.expect(1, &["Error: Module source has changed", "changed from \"./a\" to \"./b\" since"]);

    project.write("work/main.tf", "module \"z\" {\n  source = \"./none\"\n}\n");
    let init = project.run(&["init", "-no-color"]);
    init.expect(1, &["Error: Unreadable module directory"]);
    assert!(init.out.contains("\n- z in \n"), "{}", init.out);
}

#[test]
fn show_writes_states_plans_configurations_and_modules() {
    let project = tofu(
        "variable \"v\" {\n  type = number\n}\nmodule \"m\" {\n  source = \"./m\"\n}\noutput \"o\" {\n  value = var.v\n}\n",
    );
    project.write("work/m/m.tf", "variable \"inner\" {\n  default = 1\n}\n");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve", "-var", "v=1"]);
    project.ok(&["plan", "-var", "v=2", "-out", "p"]);
    assert!(project.ok(&["show", "-no-color", "-state"]).out.contains("o = 1"));
    assert!(project.ok(&["show", "-no-color", "-plan=p"]).out.contains("o = 1 -> 2"));
    let configuration = project.ok(&["show", "-json", "-config"]).out;
    assert!(configuration.contains("\"v\":{\"type\":\"number\",\"required\":true}"), "{configuration}");
    assert!(configuration.contains("\"module_calls\":{\"m\":{"), "{configuration}");
    let module = project.ok(&["show", "-json", "-module=m"]).out;
    assert!(module.contains("\"inner\":{\"default\":1"), "{module}");
    project.run(&["show", "-no-color", "-config"]).expect(1, &["JSON output required for configuration"]);
}

#[test]
fn import_writes_a_stream() {
    let project = tofu("resource \"terraform_data\" \"a\" {}\n");
    let stream = project.ok(&["import", "-json", "terraform_data.a", "x"]).out;
    assert!(stream.starts_with("{\"@level\":\"info\",\"@message\":\"OpenTofu 1.12.6\""), "{stream}");
    assert!(stream.lines().all(|line| line.starts_with('{')), "{stream}");
    assert!(project.ok(&["state", "list"]).out.contains("terraform_data.a"));
}

#[test]
fn changes_of_a_destroy_are_reported_from_dependents() {
    let project = tofu(
        "resource \"terraform_data\" \"a\" {\n  input = 1\n}\nresource \"terraform_data\" \"b\" {\n  input = terraform_data.a.output\n}\n",
    );
    project.ok(&["apply", "-auto-approve"]);
    let stream = project.ok(&["destroy", "-auto-approve", "-json"]).out;
    let at = |text: &str| stream.find(text).unwrap_or_else(|| panic!("{text}: {stream}"));
    assert!(at("terraform_data.b: Plan to delete") < at("terraform_data.a: Plan to delete"), "{stream}");
}

#[test]
fn json_into_has_errors_of_the_arguments() {
    let project = tofu("");
    for command in ["plan", "init", "validate"] {
        project
            .run(&[command, "-json-into=errors.json", "-bogus"])
            .expect(1, &["flag provided but not defined: -bogus"]);
        let stream = project.read("work/errors.json");
        assert!(stream.starts_with("{\"@level\":\"info\",\"@message\":\"OpenTofu 1.12.6\""), "{command}: {stream}");
        assert!(stream.contains("\"detail\":\"flag provided but not defined: -bogus\""), "{command}: {stream}");
    }
    project.run(&["output", "-json-into=errors.json", "none"]).expect(0, &[]);
    assert_eq!(project.read("work/errors.json"), "");
}

#[test]
fn json_into_has_the_streams_of_state_commands() {
    let project = tofu("resource \"terraform_data\" \"a\" {}\n");
    let cases: &[(&[&str], &str, &str)] = &[
        (&["import", "terraform_data.a", "x"], "Import successful!", "\"@message\":\"Import successful!"),
        (&["state", "list"], "terraform_data.a", "\"type\":\"resource_address\""),
        (&["state", "show", "terraform_data.a"], "# terraform_data.a:", "\"values\":{\"root_module\""),
        (&["taint", "terraform_data.a"], "has been marked as tainted", "has been marked as tainted"),
        (&["untaint", "terraform_data.a"], "successfully untainted", "successfully untainted"),
        (
            &["state", "mv", "terraform_data.a", "terraform_data.b"],
            "Successfully moved 1 object(s).",
            "Successfully moved 1 object(s)\"",
        ),
        (&["state", "rm", "terraform_data.b"], "Successfully removed 1", "Successfully removed 1"),
        (&["workspace", "new", "w"], "Created and switched", "Created and switched to workspace"),
        (&["workspace", "list"], "* w", "\"type\":\"workspace_list\""),
        (&["workspace", "select", "default"], "Switched to workspace", "Switched to workspace"),
        (&["workspace", "delete", "w"], "Deleted workspace", "Deleted workspace"),
    ];
    for (words, screen, stream) in cases {
        let outcome = project.ok(&[*words, &["-no-color", "-json-into=stream.json"][..]].concat());
        assert!(outcome.out.contains(screen) && !outcome.out.contains("\"@message\""), "{words:?}: {}", outcome.out);
        let file = project.read("work/stream.json");
        assert!(file.starts_with("{\"@level\":\"info\",\"@message\":\"OpenTofu 1.12.6\""), "{words:?}: {file}");
        assert!(file.contains(stream), "{words:?}: {file}");
    }
    project.run(&["state", "show", "-json-into=stream.json", "terraform_data.none"]).expect(1, &["No instance found"]);
    assert!(project.read("work/stream.json").contains("\"@level\":\"error\""));
}

#[test]
fn replacements_of_providers_and_locks_have_streams() {
    let state = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "outputs": {}, "resources": [
        {"mode": "managed", "type": "null_resource", "name": "a", "provider": "provider[\"example.com/a/null\"]",
         "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]}]}"#;
    let project = Project::new("");
    project.write("work/terraform.tfstate", state);
    let all_lines_are_json = |text: &str| assert!(text.lines().all(|line| line.starts_with('{')), "{text}");
    let replace = |flags: &[&str], from: &str, to: &str| {
        let names = [format!("example.com/{from}/null"), format!("example.com/{to}/null")];
        let words = ["state", "replace-provider"];
        project.run(&[&words[..], flags, &[names[0].as_str(), names[1].as_str()][..]].concat())
    };
    let refused = replace(&["-json"], "a", "b");
    assert_eq!(refused.code, Some(1));
    assert!(refused.out.contains("\"summary\":\"Auto-approve required\""), "{}", refused.out);
    let stream = replace(&["-json", "-auto-approve"], "a", "b").out;
    all_lines_are_json(&stream);
    for text in [
        "\"type\":\"replace_provider\"",
        "\"resources\":[\"null_resource.a\"]",
        "Successfully replaced provider for 1 resources\"",
    ] {
        assert!(stream.contains(text), "no {text} in:\n{stream}");
    }
    let screen = replace(&["-json-into=stream.json", "-auto-approve"], "b", "a").out;
    assert!(screen.contains("will perform the following actions:"), "{screen}");
    assert!(project.read("work/stream.json").contains("\"type\":\"replace_provider\""));
    let none = replace(&["-json", "-auto-approve"], "x", "y").out;
    assert!(none.contains("\"@message\":\"No matching resources found\""), "{none}");

    let unlock = project.run(&["force-unlock", "-json", "id"]);
    assert_eq!(unlock.code, Some(1));
    all_lines_are_json(&unlock.out);
    assert!(unlock.out.contains("Local state cannot be unlocked by another process"), "{}", unlock.out);
}

/// The functions of a provider do not depend on its configurations.
#[test]
fn provider_functions_may_be_called_by_an_alias() {
    let project = tofu(
        "terraform {\n  required_providers {\n    terraform = {\n      source = \"terraform.io/builtin/terraform\"\n    }\n  }\n}\n\
         output \"o\" {\n  value = provider::terraform::other::encode_expr([1])\n}\n",
    );
    project.ok(&["init"]);
    let plan = project.ok(&["plan", "-no-color"]).out;
    assert!(plan.contains("o = jsonencode("), "{plan}");
}

#[test]
fn functions_in_addresses_of_imports_are_evaluated() {
    let project = tofu(
        "resource \"terraform_data\" \"a\" {\n  for_each = toset([\"A\"])\n}\nimport {\n  to = terraform_data.a[upper(\"a\")]\n  \
         id = \"x\"\n}\n",
    );
    let plan = project.ok(&["plan"]).out;
    assert!(plan.contains("Plan: 1 to import, 0 to add, 0 to change, 0 to destroy."), "{plan}");
}

#[test]
fn yamldecode_merges_mappings_of_a_sequence() {
    let cases = [
        (r#"<<: [{a: 1}, {b: 2}]\nc: 3"#, r#"{"a":1,"b":2,"c":3}"#),
        (r#"x: &x {k: 1, z: 0}\nb:\n  <<: [*x, {k: 2}]\n  j: 3"#, r#"{"b":{"j":3,"k":2,"z":0},"x":{"k":1,"z":0}}"#),
        (r#"b:\n  <<: []"#, r#"{"b":{}}"#),
    ];
    for (text, expected) in cases {
        let project = tofu(&format!("output \"o\" {{\n  value = jsonencode(yamldecode(\"{text}\"))\n}}\n"));
        project.ok(&["apply", "-auto-approve"]);
        assert_eq!(project.ok(&["output", "-raw", "o"]).out, expected, "{text}");
    }
    let project = tofu("output \"o\" {\n  value = yamldecode(\"b:\\n  <<: [1]\")\n}\n");
    let failed = project.run(&["plan"]).err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(failed.contains("on line 1, column 3: cannot merge number (from sequence) into mapping."), "{failed}");
}

#[test]
fn commands_have_the_other_names_and_options_of_opentofu() {
    let project = tofu("resource \"terraform_data\" \"a\" {}\n");
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["console", "-lock=false"]);
    project.ok(&["console", "-lock-timeout=1s"]);
    project.ok(&["state", "move", "terraform_data.a", "terraform_data.b"]);
    assert_eq!(project.ok(&["state", "ls"]).out, "terraform_data.b\n");
    project.ok(&["state", "remove", "terraform_data.b"]);
    assert_eq!(project.ok(&["state", "ls"]).out, "");
}

#[test]
fn json_into_has_what_the_console_shows() {
    let project = tofu("locals {\n  a = [1, 2]\n}\n");
    let console = |input: &str| {
        let mut command = project.command(program(), &["console", "-no-color", "-json-into=stream.json"]);
        command.stdin(std::fs::File::open(project.write("input", input)).unwrap());
        project.finish(command)
    };
    assert_eq!(console("local.a\n").out, "[\n  1,\n  2,\n]\n");
    let stream = project.read("work/stream.json");
    assert!(stream.starts_with("{\"@level\":\"info\",\"@message\":\"OpenTofu 1.12.6\""), "{stream}");
    assert!(stream.contains("\"@message\":\"[\\n  1,\\n  2,\\n]\""), "{stream}");
    assert_eq!(console("local.b\n").code, Some(1));
    assert!(project.read("work/stream.json").contains("\"@level\":\"error\""));
}

/// OpenTofu keeps them in the state; Terraform knows nothing of them.
#[test]
fn messages_of_deprecated_outputs_are_in_the_state() {
    let output = |message: &str| format!("output \"a\" {{\n  value = 1\n{message}}}\n");
    let project = tofu(&output(""));
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &output("  deprecated = \"Use b.\"\n"));
    let events = project.ok(&["apply", "-auto-approve", "-json"]).out;
    let shown = r#"{"sensitive":false,"deprecated":"Use b.","type":"number","value":1}"#;
    assert!(events.contains(&format!("\"outputs\":{{\"a\":{shown}}}")), "{events}");
    let compact = |text: String| text.replace(['\n', ' '], "");
    let shown = shown.replace(' ', "");
    assert_eq!(compact(project.ok(&["output", "-json"]).out), format!("{{\"a\":{shown}}}"));
    assert!(project.ok(&["show", "-json"]).out.contains("\"deprecated\":\"Use b.\""));
    assert!(project.read("work/terraform.tfstate").contains("\"deprecated\": \"Use b.\""));
    project.ok(&["plan", "-detailed-exitcode"]);
    project.write("work/main.tf", &output(""));
    project.run(&["plan", "-detailed-exitcode"]).expect(2, &[]);
    // Another program may have written anything.
    let text = project.read("work/terraform.tfstate").replace("\"Use b.\"", "true");
    project.write("work/terraform.tfstate", &text);
    project.ok(&["apply", "-auto-approve"]);
    assert!(!project.read("work/terraform.tfstate").contains("deprecated"));
}
