//! The log that `TF_LOG` asks for: what support needs to see of a run.

use crate::support::Project;

const CONFIGURATION: &str = r#"variable "v" {
  type = string
}

resource "terraform_data" "x" {
  input = var.v
}
"#;

/// What a log of each level must have, and what it must not.
const LEVELS: [(&str, &[&str], &[&str]); 3] = [
    (
        "info",
        &[
            "[INFO]  Terrane version: ",
            "[INFO]  CLI args: [\"terrane\", \"plan\", \"-out\", \"p\"]",
            "[INFO]  CLI command args: [\"plan\", \"-lock=true\", \"-out\", \"p\"]",
            "[INFO]  backend/local: starting Plan operation",
            "[INFO]  backend/local: plan operation completed",
            "[INFO]  backend/local: writing plan output to: p",
        ],
        &["[DEBUG]", "[TRACE]", "value of v"],
    ),
    (
        "debug",
        &[
            "[INFO]  CLI args",
            "[DEBUG] reading CLI configuration file ",
            "[DEBUG] configuration loaded: 1 modules, 1 files",
            "[DEBUG] state read: serial ",
            "[DEBUG] starting plugin: path=",
            "[DEBUG] starting graph walk: Validate",
            "[DEBUG] starting graph walk: Plan",
            "[DEBUG] refresh: terraform_data.x: started (id=",
            "[DEBUG] plugin process exited: pid=",
        ],
        &["[TRACE]", "value of v"],
    ),
    (
        "trace",
        &[
            "[TRACE] stdout is not a terminal",
            "[TRACE] backend/local: requesting state lock for workspace \"default\"",
            "[TRACE] vertex \"terraform_data.x\": waits for [",
            "[TRACE] vertex \"terraform_data.x\": starting visit",
            "[TRACE] vertex \"terraform_data.x\": visit ended: Done",
            "[TRACE] GRPCProvider: PlanResourceChange: terraform.io/builtin/terraform",
            "[TRACE] backend/local: releasing state lock",
        ],
        &[],
    ),
];

fn project() -> Project {
    let mut project = Project::new(CONFIGURATION);
    project.set("TF_VAR_v", "value of v");
    let settings = project.write("settings.tfrc", "");
    project.set("TF_CLI_CONFIG_FILE", settings);
    project.ok(&["apply", "-auto-approve"]);
    project
}

#[test]
fn each_log_level_has_its_content() {
    let mut project = project();
    project.set("TF_CLI_ARGS_plan", "-lock=true");
    for (level, needed, none) in LEVELS {
        let mut command = project.command(crate::support::program(), &["plan", "-out", "p"]);
        command.env("TF_LOG", level);
        let log = project.finish(command).err;
        for text in needed {
            assert!(log.contains(text), "{level}: no {text:?} in\n{log}");
        }
        for text in none {
            assert!(!log.contains(text), "{level}: {text:?} in\n{log}");
        }
    }
}

#[test]
fn json_log_is_lines_of_json_at_trace_level() {
    let mut project = project();
    project.set("TF_LOG", "json");
    let path = project.path("log.json");
    project.set("TF_LOG_PATH", &path);
    let outcome = project.ok(&["plan"]);
    assert!(!outcome.err.contains("@level"), "{}", outcome.err);
    let log = project.read("log.json");
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["@message"].is_string() && line["@timestamp"].is_string()));
    for level in ["info", "debug", "trace"] {
        assert!(lines.iter().any(|line| line["@level"] == level), "{level}");
    }
}

#[test]
fn core_and_providers_have_levels_of_their_own() {
    let mut project = project();
    project.set("TF_LOG", "trace");
    project.set("TF_LOG_CORE", "off");
    assert!(!project.ok(&["plan"]).err.contains("CLI args"));
    project.set("TF_LOG_CORE", "info");
    let log = project.ok(&["plan"]).err;
    assert!(log.contains("[INFO]  CLI args") && !log.contains("[DEBUG] starting graph walk"), "{log}");
}
