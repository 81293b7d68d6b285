//! The workflow, the pipeline and the hooks of `docs/guides` do their work: every step is run by the shell that the service uses, each job in
//! a copy of the repository, with a server that keeps the state as GitLab does. Conditions of jobs and steps are not evaluated: the tests say
//! which of them run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::Value as Json;

use crate::architecture::pages::{blocks, read};
use crate::architecture::workflows::decoded;
use crate::support::clouds::Server;
use crate::support::stub::{Answer, Call, Stub};
use crate::support::{Outcome, Project, Running, program};

/// The backend of a project that is not the one of a guide.
const BACKEND: &str = "terraform {
  backend \"http\" {
    address        = \"SERVER/state\"
    lock_address   = \"SERVER/lock\"
    lock_method    = \"POST\"
    unlock_address = \"SERVER/lock\"
    unlock_method  = \"DELETE\"
  }
}
";

/// The block of a page that is the content of a file.
fn block(page: &str, file: &str) -> String {
    let blocks = blocks(&read(Path::new(page)));
    let block = blocks.iter().find(|block| block.file() == Some(file));
    block.unwrap_or_else(|| panic!("{page} has no {file}")).lines.join("\n") + "\n"
}

/// A server for one state and its lock: POST locks, DELETE unlocks.
fn server() -> Stub {
    let kept: Mutex<(Option<Vec<u8>>, bool)> = Mutex::default();
    Stub::start(move |call: &Call| {
        let mut kept = kept.lock().unwrap();
        let is_lock = call.path.ends_with("/lock");
        match (&*call.method, is_lock) {
            ("POST", true) if kept.1 => Answer::new(423, "{}"),
            ("POST" | "DELETE", true) => {
                kept.1 = call.method == "POST";
                Answer::new(200, "")
            }
            ("POST", false) => {
                kept.0 = Some(call.body.clone());
                Answer::new(200, "")
            }
            ("GET", false) => kept.0.clone().map_or(Answer::new(404, ""), |state| Answer::new(200, state)),
            _ => Answer::new(405, ""),
        }
    })
}

/// A repository, a server for its state, and what jobs hand on.
struct Service {
    place: Project,
    server: Stub,
    /// Files of artifacts, by their path.
    artifacts: BTreeMap<String, Vec<u8>>,
    /// The file with the key for saved plans, made as the guide says.
    key: PathBuf,
}

impl Service {
    fn new(backend: &str) -> Service {
        let server = server();
        let backend = backend.replace("SERVER", &server.url());
        let mut place =
            Project::new(&format!("{backend}resource \"terraform_data\" \"release\" {{\n  input = \"v1\"\n}}\n"));
        place.any_release();
        std::fs::create_dir_all(place.path("bin")).unwrap();
        std::os::unix::fs::symlink(program(), place.path("bin/terrane")).unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([place.path("bin")].into_iter().chain(std::env::split_paths(&path))).unwrap();
        place.set("PATH", PathBuf::from(path));
        let blocks = blocks(&read(Path::new("docs/guides/github-actions.md")));
        let made = |line: &&String| line.starts_with("cat > plan-encryption.hcl");
        let lines = blocks.iter().find_map(|block| block.lines.first().filter(made).map(|_| &block.lines)).unwrap();
        let end = lines.iter().position(|line| line == "END").unwrap();
        let mut command = place.command(Path::new("sh"), &["-ec", &lines[..=end].join("\n")]);
        command.current_dir(place.path("home"));
        assert_eq!(place.finish(command).code, Some(0));
        let key = place.path("home/plan-encryption.hcl");
        Service { place, server, artifacts: BTreeMap::new(), key }
    }

    /// A fresh copy of the repository for a job.
    fn check_out(&self, job: &str) -> PathBuf {
        let folder = self.place.path(job);
        drop(std::fs::remove_dir_all(&folder));
        std::fs::create_dir_all(&folder).unwrap();
        for entry in std::fs::read_dir(self.place.work()).unwrap().flatten() {
            std::fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
        folder
    }

    fn run(&self, script: &str, folder: &Path, variables: &BTreeMap<String, String>) -> Outcome {
        let script = self.place.write("script", script);
        let mut command = self.place.command(Path::new("bash"), &["-e", script.to_str().unwrap()]);
        command.current_dir(folder).envs(variables);
        self.place.finish(command)
    }

    fn upload(&mut self, folder: &Path, path: &str) {
        self.artifacts.insert(path.to_owned(), std::fs::read(folder.join(path)).unwrap());
    }

    fn download(&self, folder: &Path) {
        self.artifacts.iter().for_each(|(path, content)| std::fs::write(folder.join(path), content).unwrap());
    }
}

/// The `env` of a workflow or job, with its secret.
fn variables(env: &Json, secret: &str) -> BTreeMap<String, String> {
    let text = |value: &Json| value.as_str().unwrap().replace("${{ secrets.PLAN_ENCRYPTION }}", secret);
    env.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), text(value))).collect()
}

impl Service {
    /// Runs a job of GitHub; its outcome is that of its last step that ran, and its output `exitcode`.
    fn github(&mut self, workflow: &Json, name: &str, secret: &str) -> (Outcome, String) {
        let job = &workflow["jobs"][name];
        let folder = self.check_out(name);
        let mut all = variables(&workflow["env"], secret);
        all.extend(variables(&job["env"], secret));
        for file in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
            all.insert(file.into(), self.place.write(file, "").display().to_string());
        }
        let exitcode = |place: &Project| place.read("GITHUB_OUTPUT").replace("exitcode=", "").trim().to_owned();
        let mut last = None;
        for step in job["steps"].as_array().unwrap() {
            match step["uses"].as_str().map(|uses| uses.split('@').next().unwrap()) {
                Some("actions/checkout" | "./.github/actions/terrane") => {}
                Some("actions/upload-artifact") if exitcode(&self.place) != "2" => {}
                Some("actions/upload-artifact") => self.upload(&folder, step["with"]["path"].as_str().unwrap()),
                Some("actions/download-artifact") => self.download(&folder),
                Some(other) => panic!("{other}"),
                None => {
                    let outcome = self.run(step["run"].as_str().unwrap(), &folder, &all);
                    let failed = outcome.code != Some(0);
                    last = Some(outcome);
                    if failed {
                        break;
                    }
                }
            }
        }
        (last.unwrap(), exitcode(&self.place))
    }
}

#[test]
fn workflow_of_the_guide_for_github_plans_and_applies() {
    let mut service = Service::new(BACKEND);
    let workflow = decoded(&block("docs/guides/github-actions.md", ".github/workflows/terrane.yml")).unwrap();
    let secret = std::fs::read_to_string(&service.key).unwrap();
    let job = |service: &mut Service, name: &str, code: &str| {
        let (outcome, found) = service.github(&workflow, name, &secret);
        assert_eq!((outcome.code, &*found), (Some(0), code), "{name}: {}{}", outcome.out, outcome.err);
        outcome
    };
    job(&mut service, "check", "");
    job(&mut service, "plan", "2");
    assert!(service.place.read("GITHUB_STEP_SUMMARY").contains("Plan: 1 to add, 0 to change, 0 to destroy."));
    let plan = service.artifacts["plan.tfplan"].clone();
    assert!(String::from_utf8_lossy(&plan).contains("encrypted_data"), "the saved plan is encrypted");
    let locks = |service: &Service| service.server.lines().iter().filter(|line| line.ends_with("/lock")).count();
    assert_eq!(locks(&service), 0, "a plan takes no lock");
    let applied = job(&mut service, "apply", "");
    assert!(applied.out.contains("Apply complete! Resources: 1 added"), "{}", applied.out);
    assert_eq!(locks(&service), 2);

    // A push without changes has nothing to apply; and the plan of before is stale.
    job(&mut service, "plan", "0");
    let (stale, _) = service.github(&workflow, "apply", &secret);
    assert!(stale.code == Some(1) && stale.err.contains("Saved plan is stale"), "{}", stale.err);
    // Without the secret there is no plan, and so nothing in clear.
    let (outcome, code) = service.github(&workflow, "plan", "");
    assert_eq!((outcome.code, &*code), (Some(1), ""), "{}{}", outcome.out, outcome.err);
    // A file that `fmt` would change.
    service.place.write("work/more.tf", "locals {\na = 1\n}\n");
    assert_eq!(service.github(&workflow, "check", &secret).0.code, Some(3));
}

/// GitHub interrupts the first process of a step only.
#[test]
fn interrupt_reaches_the_apply_of_the_guide_for_github() {
    let mut service = Service::new(BACKEND);
    service.place.write(
        "work/slow.tf",
        "resource \"terraform_data\" \"slow\" {\n  provisioner \"local-exec\" {\n    command = \"sleep 2\"\n  }\n}\n\n\
         resource \"terraform_data\" \"next\" {\n  input = terraform_data.slow.id\n}\n",
    );
    let workflow = decoded(&block("docs/guides/github-actions.md", ".github/workflows/terrane.yml")).unwrap();
    let secret = std::fs::read_to_string(&service.key).unwrap();
    let (planned, code) = service.github(&workflow, "plan", &secret);
    assert_eq!(code, "2", "{}{}", planned.out, planned.err);
    let (folder, all) = (service.check_out("apply"), variables(&workflow["jobs"]["apply"]["env"], &secret));
    assert_eq!(service.run("terrane init", &folder, &all).code, Some(0));
    service.download(&folder);
    let steps = workflow["jobs"]["apply"]["steps"].as_array().unwrap();
    let script = service.place.write("script", steps.last().unwrap()["run"].as_str().unwrap());
    let mut command = service.place.command(Path::new("bash"), &["-e", script.to_str().unwrap()]);
    command.current_dir(folder).envs(&all);
    let mut running = Running::start(command);
    running.until(|out| out.contains("terraform_data.slow: Provisioning"));
    let pid = i32::try_from(running.child.id()).unwrap();
    // SAFETY: the call touches no memory.
    unsafe { libc::kill(pid, libc::SIGINT) };
    let outcome = running.finish();
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.out, outcome.err);
    let listed = service.run("terrane init > init.log\nterrane state list", &service.check_out("list"), &all);
    assert_eq!(listed.out, "terraform_data.release\nterraform_data.slow\n", "{}{}", outcome.out, listed.err);
}

impl Service {
    /// Runs a job of GitLab.
    fn gitlab(&mut self, pipeline: &Json, name: &str, key: &Path) -> (Outcome, PathBuf) {
        let folder = self.check_out(name);
        self.download(&folder);
        let mut all: BTreeMap<String, String> = [
            ("CI_API_V4_URL", format!("{}/api/v4", self.server.url())),
            ("CI_PROJECT_ID", "9".into()),
            ("CI_JOB_TOKEN", format!("token-of-{name}")),
            ("PLAN_ENCRYPTION", key.display().to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let mut more = variables(&pipeline["variables"], "");
        for value in more.values_mut() {
            all.iter().for_each(|(name, known)| *value = value.replace(&format!("${name}"), known));
        }
        all.extend(more);
        let script = pipeline[name]["script"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        let script = format!("set -o pipefail\n{}\n", script.collect::<Vec<_>>().join("\n"));
        let outcome = self.run(&script, &folder, &all);
        for path in pipeline[name]["artifacts"]["paths"].as_array().into_iter().flatten() {
            if outcome.code == Some(0) {
                self.upload(&folder, path.as_str().unwrap());
            }
        }
        (outcome, folder)
    }
}

#[test]
fn pipeline_of_the_guide_for_gitlab_plans_and_applies() {
    const PAGE: &str = "docs/guides/gitlab.md";
    let mut service = Service::new(&block(PAGE, "backend.tf"));
    if std::process::Command::new("jq").arg("--version").output().is_err() {
        service
            .place
            .script("bin/jq", "#!/bin/sh\ncat > /dev/null\necho '{\"create\": 1, \"update\": 0, \"delete\": 0}'\n");
    }
    let pipeline = decoded(&block(PAGE, ".gitlab-ci.yml")).unwrap();
    let key = service.key.clone();
    let job = |service: &mut Service, name: &str| {
        let (outcome, folder) = service.gitlab(&pipeline, name, &key);
        assert_eq!(outcome.code, Some(0), "{name}: {}{}", outcome.out, outcome.err);
        (outcome, folder)
    };
    job(&mut service, "check");
    let (_, folder) = job(&mut service, "review");
    let report: Json = serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap();
    assert_eq!(report, serde_json::json!({ "create": 1, "update": 0, "delete": 0 }));
    job(&mut service, "plan");
    let (applied, _) = job(&mut service, "apply");
    assert!(applied.out.contains("Apply complete! Resources: 1 added"), "{}", applied.out);
    let state = "/api/v4/projects/9/terraform/state/production";
    let lines = service.server.lines();
    for line in [format!("POST {state}/lock"), format!("POST {state}"), format!("DELETE {state}/lock")] {
        assert_eq!(lines.iter().filter(|found| **found == line).count(), 1, "{line}: {lines:?}");
    }
    // Without the file with the key there is no plan.
    assert_eq!(service.gitlab(&pipeline, "plan", Path::new("/missing")).0.code, Some(1));
}

#[test]
fn hooks_of_the_guide_for_pre_commit_run() {
    let service = Service::new("");
    let hooks = decoded(&block("docs/guides/pre-commit.md", ".pre-commit-config.yaml")).unwrap();
    let hooks = hooks["repos"][0]["hooks"].as_array().unwrap();
    for hook in hooks {
        let file = if hook["pass_filenames"] == false { "" } else { " main.tf" };
        let command = format!("{}{file}", hook["entry"].as_str().unwrap());
        let outcome = service.run(&command, &service.place.work(), &BTreeMap::new());
        assert_eq!(outcome.code, Some(0), "{command}: {}{}", outcome.out, outcome.err);
    }
    assert_eq!(hooks.len(), 2);
}

/// With the settings of the README, a configuration that names a provider of the registry needs no network and no change.
#[test]
fn settings_of_the_readme_make_a_configuration_run_offline() {
    let blocks = blocks(&read(Path::new("README.md")));
    let settings = blocks.iter().filter(|block| block.is("hcl")).map(|block| block.lines.join("\n") + "\n");
    let settings: Vec<String> = settings.filter(|text| text.contains("provider_installation")).collect();
    let project = Project::new(
        "terraform {\n  required_providers {\n    random = {\n      source  = \"hashicorp/random\"\n      version = \"~> 3.5\"\n    }\n  \
         }\n}\n\nresource \"random_pet\" \"name\" {}\n",
    );
    project.write("home/.terraformrc", &settings[0]);
    project.ok(&["init"]);
    assert!(!project.exists("work/.terraform/providers"), "nothing is installed");
    project.ok(&["apply", "-auto-approve"]);
    assert!(project.read("work/terraform.tfstate").contains("registry.terraform.io/hashicorp/random"));
}

/// The step "A bucket for states" with moto, as the guide describes it; the provider is not here.
#[test]
fn state_moves_into_the_bucket_of_the_guide_for_aws() {
    const PAGE: &str = "docs/guides/aws.md";
    let Some(server) = Server::moto() else { return };
    server.make_bucket("acme-states");
    let mut project = Project::new("resource \"terraform_data\" \"states\" {}\n");
    let blocks = blocks(&read(Path::new(PAGE)));
    let lines = blocks.iter().flat_map(|block| &block.lines).filter_map(|line| line.strip_prefix("$ export AWS_"));
    let mut seen = 0;
    for (name, value) in lines.flat_map(|line| line.split(" AWS_")).filter_map(|setting| setting.split_once('=')) {
        let value = value.replace("http://127.0.0.1:5000", &server.url());
        if name != "PROFILE" {
            project.set(&format!("AWS_{name}"), value);
            seen += 1;
        }
    }
    assert_eq!(seen, 5, "variables for moto");
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.write("work/backend.tf", &block(PAGE, "backend.tf"));
    let refused = project.run(&["init", "-input=false"]);
    let error = "Can't ask approval for state migration when interactive input is disabled.";
    assert!(refused.code == Some(1) && refused.err.contains(error), "{}", refused.err);
    project.ok(&["init", "-force-copy"]);
    project.ok(&["plan", "-detailed-exitcode"]);
    let (status, state) = server.amazon("s3", "GET", "/acme-states/states/terraform.tfstate", "", "");
    assert!(status == 200 && state.contains("terraform_data"), "{status}: {state}");
}
