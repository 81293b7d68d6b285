//! Providers that cannot be started, and providers that break in the middle.

use super::provider::{self, Fault};
use crate::support::{Project, Running, platform, processes, program, reference};

/// `first` and `after` always work; the provider breaks `broken`.
const CONFIGURATION: &str = r#"
terraform {
  required_providers {
    null = { source = "example.com/test/null" }
  }
}

resource "null_resource" "first" {
  triggers = { name = "first" }
}

resource "null_resource" "broken" {
  triggers = { broken = null_resource.first.id }
}

resource "terraform_data" "after" {
  depends_on = [null_resource.first]
}
"#;

const BEFORE: &str = "resource \"terraform_data\" \"before\" {}\n";

/// A project whose provider is what is put in `dev`, with something in its state.
fn project() -> Project {
    let mut project = Project::new(BEFORE);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/main.tf", &format!("{CONFIGURATION}\n{BEFORE}"));
    let folder = project.path("dev").display().to_string();
    let settings = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"example.com/test/null\" = {folder:?}\n  }}\n  direct {{}}\n}}\n"
    );
    let settings = project.write("settings.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);
    std::fs::create_dir(project.path("dev")).unwrap();
    project
}

const PROGRAM: &str = "dev/terraform-provider-null";

/// What the program is, and what is said of it by every command that needs it.
const UNSTARTABLE: &[(&str, &[&str])] = &[
    (
        "#!/bin/sh\necho 'cannot find my licence' >&2\nexit 3\n",
        &["Failed to read any lines from plugin's stdout", "cannot find my licence", "Additional notes about plugin:"],
    ),
    (
        "#!/bin/sh\necho 'Hello, is it me you are looking for?'\nexec sleep 600\n",
        &["Unrecognized remote plugin message: Hello, is it me", "This usually means"],
    ),
    (
        "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x\necho\nexec sleep 600\n",
        &["Unrecognized remote plugin message: xxx"],
    ),
    (
        "#!/bin/sh\necho '2|5|unix|/nowhere|grpc'\nexec sleep 600\n",
        &["Incompatible core API version with plugin. Plugin version: 2, Core version: 1"],
    ),
    (
        "#!/bin/sh\necho '1|4|unix|/nowhere|grpc'\nexec sleep 600\n",
        &["Incompatible API version with plugin. Plugin version: 4, Client versions: [5 6]"],
    ),
    ("#!/bin/sh\necho '1|5|carrier-pigeon|/nowhere|grpc'\nexec sleep 600\n", &["Unknown address type: carrier-pigeon"]),
    (
        "#!/bin/sh\necho '1|5|unix|/nowhere|netrpc'\nexec sleep 600\n",
        &["Unsupported plugin protocol \"netrpc\". Supported: [grpc]"],
    ),
    (
        "#!/bin/sh\necho '1|5|unix|/nowhere|grpc'\nexec sleep 600\n",
        &["cannot connect to the plugin: /nowhere: no such file or directory"],
    ),
    ("#!/bin/sh\nexec sleep 600\n", &["timeout while waiting for plugin to start"]),
    ("#!/no/such/interpreter\n", &["fork/exec", "terraform-provider-null: no such file or directory"]),
    ("\x7fELF is not all that a program has\n", &["fork/exec", "terraform-provider-null: exec format error"]),
];

#[test]
fn a_provider_that_does_not_start_has_a_separate_error() {
    let mut project = project();
    project.set("TERRANE_PLUGIN_START_TIMEOUT", "1");
    let state = project.read("work/terraform.tfstate");
    for (script, texts) in UNSTARTABLE {
        project.script(PROGRAM, script);
        for command in [&["validate"][..], &["plan"], &["apply", "-auto-approve"]] {
            let outcome = project.run(command);
            outcome.expect(1, &["Error: Failed to load plugin schemas", "provider example.com/test/null"]);
            outcome.expect(1, texts);
            assert_eq!(outcome.text().matches("Error: ").count(), 1, "{script}\n{}", outcome.err);
        }
        assert_eq!(project.read("work/terraform.tfstate"), state, "{script}");
        assert!(!project.exists("work/.terraform.tfstate.lock.info"), "{script}");
        processes::all_gone(project.mark());
    }
}

/// The fault, what is said, what the state lists then, and how many are added without the fault.
const BROKEN: &[(Fault, &[&str], &[&str], &str)] = &[
    (
        Fault::Plan,
        &[
            "Error: Provider produced invalid plan",
            "Provider \"example.com/test/null\" planned an invalid value for null_resource.broken.triggers",
            "This is a bug in the provider, which should be reported in the provider's own issue tracker.",
        ],
        &["null_resource.first", "terraform_data.after", "terraform_data.before"],
        "1 added, 0 changed, 0 destroyed",
    ),
    (
        Fault::Replan,
        &[
            "Error: Provider produced inconsistent final plan",
            "When expanding the plan for null_resource.broken",
            "provider \"example.com/test/null\" produced an invalid new value for .id: was cty.StringVal(\"early\"), but \
             now cty.StringVal(\"late\").",
        ],
        &["null_resource.first", "terraform_data.after", "terraform_data.before"],
        "1 added, 0 changed, 0 destroyed",
    ),
    (
        Fault::Apply,
        &[
            "Error: Provider produced inconsistent result after apply",
            "When applying changes to null_resource.broken, provider",
            ".triggers[\"broken\"]: was cty.StringVal(",
        ],
        &["null_resource.broken", "null_resource.first", "terraform_data.after", "terraform_data.before"],
        "1 added, 0 changed, 1 destroyed",
    ),
    (
        Fault::Unknown,
        &["Error: Provider returned invalid result object after apply", "null_resource.broken.id"],
        &["null_resource.broken", "null_resource.first", "terraform_data.after", "terraform_data.before"],
        "1 added, 0 changed, 1 destroyed",
    ),
    (
        Fault::Lose,
        &["Error: Provider produced inconsistent result after apply", "Root object was present, but now absent."],
        &["null_resource.first", "terraform_data.after", "terraform_data.before"],
        "1 added, 0 changed, 0 destroyed",
    ),
    (
        Fault::Panic,
        &[
            "Error: Plugin did not respond",
            "with null_resource.broken,",
            "on main.tf line 12, in resource \"null_resource\" \"broken\":",
            "The plugin is that of example.com/test/null",
            "panic: assignment to entry in nil map",
            "goroutine 41 [running]:",
            "plugin crashed!",
        ],
        &["null_resource.first", "terraform_data.after", "terraform_data.before"],
        "1 added, 0 changed, 0 destroyed",
    ),
];

#[test]
fn a_failing_provider_is_named_and_finished_changes_are_saved() {
    for (fault, texts, state, rest) in BROKEN {
        let project = project();
        provider::script(&project, PROGRAM, *fault);
        let mut outcome = project.run(&["apply", "-auto-approve"]);
        if *fault == Fault::Plan {
            // Nothing is begun with a plan like that; the rest is there for the asking.
            outcome.expect(1, texts);
            assert_eq!(project.ok(&["state", "list"]).out, "terraform_data.before\n");
            let targets = ["apply", "-auto-approve", "-target=null_resource.first", "-target=terraform_data.after"];
            project.ok(&targets);
            outcome = project.run(&["apply", "-auto-approve"]);
        }
        outcome.expect(1, texts);
        processes::all_gone(project.mark());
        let listed = project.ok(&["state", "list"]).out;
        assert_eq!(listed.lines().collect::<Vec<_>>(), *state, "{fault:?}");

        sound(&project);
        project.ok(&["apply", "-auto-approve"]).expect(0, &[rest]);
        assert_eq!(project.run(&["plan", "-detailed-exitcode"]).code, Some(0), "{fault:?}");
    }
}

/// The texts above are the reference's; for a crash it has the same, in more places.
#[test]
fn the_reference_has_the_same_errors_for_failing_providers() {
    let Some(terraform) = reference() else { return };
    for (fault, texts, ..) in BROKEN.iter().filter(|(fault, ..)| *fault != Fault::Panic) {
        let project = project();
        provider::script(&project, PROGRAM, *fault);
        let apply = || project.finish(project.command(&terraform, &["apply", "-auto-approve", "-no-color"]));
        if *fault == Fault::Plan {
            project.ok(&["apply", "-auto-approve", "-target=null_resource.first"]);
        }
        apply().expect(1, texts);
        processes::all_gone(project.mark());
    }
}

/// Puts a provider without faults in place.
fn sound(project: &Project) {
    let text = format!("#!/bin/sh\nexec {:?} internal-plugin provider null\n", program().display().to_string());
    project.script(PROGRAM, &text);
}

/// The provider dies in the middle of a call.
#[test]
fn a_provider_killed_in_a_call_is_named_and_the_next_apply_finishes() {
    let project = project();
    provider::script(&project, PROGRAM, Fault::Hang);
    let mut apply = Running::start(project.command(program(), &["apply", "-auto-approve", "-no-color"]));
    apply.until(|screen| {
        screen.contains("null_resource.broken: Creating...")
            && screen.contains("terraform_data.after: Creation complete")
    });
    let seen = processes::of(project.mark());
    let serving: Vec<_> = seen.iter().filter(|seen| seen.command.contains("faults::provider::serves")).collect();
    assert!(!serving.is_empty(), "{seen:?}");
    serving.iter().for_each(|seen| processes::kill(seen.pid));
    apply.finish().expect(
        1,
        &["Error: Plugin did not respond", "with null_resource.broken,", "on main.tf line 12", "signal: killed"],
    );
    processes::all_gone(project.mark());
    sound(&project);
    project.ok(&["apply", "-auto-approve"]).expect(0, &["1 added, 0 changed, 0 destroyed"]);
}

/// The same from a mirror, with the lock file in between: errors distinguish packages that do not start from changed ones.
#[test]
fn a_package_of_a_mirror_is_checked_before_it_runs() {
    let mut project = Project::new(CONFIGURATION);
    let below = format!("mirror/example.com/test/null/1.0.0/{}/terraform-provider-null_v1.0.0", platform());
    project.script(&below, "#!/bin/sh\necho 'no plugin at all'\ntouch ran\nexec sleep 600\n");
    let mirror = project.path("mirror").display().to_string();
    let settings = format!("provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n");
    let settings = project.write("settings.tfrc", &settings);
    project.set("TF_CLI_CONFIG_FILE", settings);
    let missing = project.run(&["plan"]);
    missing.expect(1, &["provider example.com/test/null", "terrane init"]);
    assert!(!project.exists("work/ran"));

    project.ok(&["init"]);
    project.run(&["plan"]).expect(1, &["Unrecognized remote plugin message: no plugin at all"]);
    assert!(project.exists("work/ran"));
    std::fs::remove_file(project.path("work/ran")).unwrap();

    project.script(&below, "#!/bin/sh\ntouch ran\n");
    for command in [&["plan"][..], &["apply", "-auto-approve"]] {
        let changed = project.run(command);
        changed.expect(
            1,
            &["example.com/test/null", "does not match any of the checksums recorded in the dependency lock file"],
        );
        assert!(!project.exists("work/ran"), "an unverified program has run");
    }
    processes::all_gone(project.mark());
}
