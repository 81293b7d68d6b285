//! Errors of keys: one for each cause, in every command and under every name. `TERRANE_TEST_RECORD=1` records them.

use std::fmt::Write;
use std::path::Path;

use crate::support::terminal::type_at;
use crate::support::{Project, program};

const PASSPHRASE: &str = "correct horse battery staple";

const BLOCK: &str = r#"terraform {
  encryption {
    key_provider "pbkdf2" "main" {
      passphrase    = local.passphrase
      iterations    = 200000
      hash_function = "sha256"
    }
    method "aes_gcm" "main" {
      keys = key_provider.pbkdf2.main
    }
    state {
      method = method.aes_gcm.main
    }
    plan {
      method = method.aes_gcm.main
    }
  }
}
"#;

const REST: &str = r#"variable "passphrase" {
  type      = string
  sensitive = true
}

locals {
  passphrase = var.passphrase
}

resource "terraform_data" "server" {
  input = "x"
}

output "o" {
  value = "public"
}
"#;

/// Each works if the key is right; those that change something stand last.
const COMMANDS: [&[&str]; 17] = [
    &["init", "-input=false"],
    &["plan", "-input=false"],
    &["plan", "-input=false", "-lock=false"],
    &["apply", "-input=false", "-auto-approve"],
    &["apply", "-input=false", "saved"],
    &["show"],
    &["show", "saved"],
    &["show", "terraform.tfstate"],
    &["output"],
    &["console"],
    &["state", "list"],
    &["state", "pull"],
    &["state", "rm", "terraform_data.server"],
    &["state", "mv", "terraform_data.server", "terraform_data.other"],
    &["state", "replace-provider", "-auto-approve", "terraform.io/builtin/terraform", "example.com/a/b"],
    &["taint", "terraform_data.server"],
    &["workspace", "list"],
];

/// A project with a state and the plan `saved`, encrypted if the configuration has an `encryption` block.
fn project(name: &str, configuration: &str) -> Project {
    let mut project = Project::new(configuration);
    project.set("TERRANE_NAME", name);
    project.set("TF_VAR_passphrase", PASSPHRASE);
    project.ok(&["init"]);
    project.ok(&["apply", "-auto-approve"]);
    project.ok(&["plan", "-out=saved"]);
    project
}

/// All commands, with their answers.
fn play(project: &Project, title: &str, played: &mut String) {
    writeln!(played, "##### {title}\n").unwrap();
    let before = project.read("work/terraform.tfstate");
    for args in COMMANDS {
        let ended = project.run(args);
        let (code, err) = (ended.code.unwrap_or(-1), ended.err);
        // Only a busy machine takes long enough for this.
        let out = ended.out.replace("Acquiring state lock. This may take a few moments...\n", "");
        let screen = format!("{out}{err}").replace(&project.path("").display().to_string(), "DIR/");
        writeln!(played, "$ {}\n{screen}[exit {code}]\n", args.join(" ")).unwrap();
        assert!(!screen.contains("-lock=false"), "{args:?}: {screen}");
        // OpenTofu's detail about a plan file begins with the word.
        let errors = screen.replace("as a plan file\n\nError: ", "").matches("Error: ").count();
        assert!(errors <= 1, "{args:?}: {screen}");
    }
    assert_eq!(project.read("work/terraform.tfstate"), before, "{title}: nothing is changed");
}

fn check(name: &str) {
    let mut played = String::new();
    let block_and_rest = format!("{BLOCK}{REST}");
    let mut encrypted = project(name, &block_and_rest);
    encrypted.set("TF_VAR_passphrase", "something else entirely");
    play(&encrypted, "another passphrase", &mut played);
    encrypted.write("work/main.tf", REST);
    play(&encrypted, "no encryption block", &mut played);

    let mut encrypted = project(name, &block_and_rest);
    encrypted.forget("TF_VAR_passphrase");
    play(&encrypted, "no passphrase", &mut played);

    let plain = project(name, REST);
    plain.write("work/main.tf", &block_and_rest);
    play(&plain, "a state and a plan that are not encrypted", &mut played);

    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/encryption/errors/{name}.txt"));
    if std::env::var_os("TERRANE_TEST_RECORD").is_some() {
        std::fs::create_dir_all(expected.parent().unwrap()).unwrap();
        std::fs::write(&expected, played).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&expected).unwrap_or_default();
    let first = recorded.lines().zip(played.lines()).position(|(a, b)| a != b);
    let differs = first.map(|at| format!("line {}: {:?}", at + 1, played.lines().nth(at)));
    assert!(recorded == played, "{name}, {differs:?}:\n{played}");
}

#[test]
fn as_terrane_each_cause_is_one_error() {
    check("terrane");
}

#[test]
fn as_terraform_each_cause_is_one_error() {
    check("terraform");
}

#[test]
fn as_tofu_each_cause_is_one_error() {
    check("tofu");
}

/// A passphrase is asked for once, not shown, and used for the key and for the plan.
#[test]
fn a_passphrase_is_asked_for_at_a_terminal() {
    for name in ["terrane", "terraform", "tofu"] {
        let mut project = project(name, &format!("{BLOCK}{REST}"));
        project.forget("TF_VAR_passphrase");
        let commands: [&[&str]; 9] = [
            &["init"],
            &["plan"],
            &["refresh"],
            &["apply", "saved"],
            &["output"],
            &["show"],
            &["state", "list"],
            &["state", "pull"],
            &["state", "rm", "terraform_data.server"],
        ];
        for args in commands {
            let ended = type_at(project.command(program(), args), "Enter a value:", PASSPHRASE);
            assert_eq!(ended.code, Some(0), "{name} {args:?}: {}", ended.out);
            assert_eq!(ended.out.matches("Enter a value:").count(), 1, "{name} {args:?}: {}", ended.out);
            assert!(ended.out.starts_with("var.passphrase\n") && !ended.out.contains(PASSPHRASE), "{}", ended.out);
        }
        let ended = type_at(project.command(program(), &["plan", "-input=false"]), "Enter a value:", PASSPHRASE);
        assert_eq!((ended.code, ended.out.contains("Enter a value:")), (Some(1), false), "{}", ended.out);
    }
}

/// Where the reference asks in a pipe, one prompt is enough; output that others read has none.
#[test]
fn a_pipe_answers_one_prompt() {
    let mut project = project("tofu", &format!("{BLOCK}{REST}"));
    project.forget("TF_VAR_passphrase");
    let input = project.write("typed", &format!("{PASSPHRASE}\n"));
    let piped = |args: &[&str]| {
        let mut command = project.command(program(), args);
        command.stdin(std::fs::File::open(&input).unwrap());
        project.finish(command)
    };
    let plan = piped(&["plan"]);
    assert_eq!((plan.code, plan.out.matches("Enter a value:").count()), (Some(0), 1), "{}{}", plan.out, plan.err);
    let output = piped(&["output"]);
    assert_eq!((output.code, output.out.as_str()), (Some(1), ""), "{}", output.err);
}
