//! Whole files: what each word means, and the errors about it.

use std::path::Path;

use base::dialect::Dialect;
use base::files::{Memory, WrittenIn};
use base::source::SourceFile;
use lang::syntax::parse_file;

use super::load::read_each;
use super::*;
use crate::addr::Target;
use crate::config::{NoInputs, load as load_config, manifest_resolver};
use crate::deps::module_manifest::ModuleManifest;

const EXTENDED: &str = "test {\n  extensions = [\"terrane\"]\n}\n";

fn read_in(dialect: Dialect, name: &str, text: &str) -> (TestFile, Diagnostics) {
    let files = WrittenIn(dialect, Memory::of([(name, text)]));
    let (mut each, diags) = read_each(Path::new("."), DEFAULT_DIR, &files);
    assert!(diags.is_empty(), "{diags:?}");
    each.pop().unwrap()
}

fn read(text: &str) -> TestFile {
    let (file, diags) = read_in(Dialect::Terrane, "a.tftest.hcl", text);
    assert!(diags.is_empty(), "{text}: {diags:?}");
    file
}

fn summaries(diags: &Diagnostics) -> Vec<&str> {
    diags.iter().map(|problem| problem.summary.as_str()).collect()
}

#[test]
fn words_of_a_file_and_its_runs() {
    let file = read(
        r#"
        test {
          parallel       = true
          skip_cleanup   = true
          parallel_files = true
          extensions     = ["terrane"]
        }
        locals {
          a = run.one.x
        }
        locals {
          b = local.a
        }
        variable "v" {}
        run "one" {
          backend "local" {
            path = "x"
          }
        }
        run "two" {
          state_key         = "k"
          parallel          = false
          skip_cleanup      = false
          for_each          = toset(["a"])
          assert_no_changes = true
          expect_error {
            summary = "^In"
            message = "x$"
          }
          expect_error {}
          snapshot "s" {
            value = output.o
          }
        }
        run "three" {
          isolated = true
          module {
            source = "./m/"
          }
        }
        run "four" {
          command = plan
          module {
            source = "./m/"
          }
        }
        "#,
    );
    assert!(file.parallel && file.parallel_files && file.extensions);
    assert_eq!(file.skip_cleanup, Some(true));
    assert_eq!(file.locals.keys().map(|name| &**name).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(file.mock_language(), MockLanguage::Objects);
    let of_runs: Vec<_> =
        file.runs.iter().map(|run| (run.state_key(), file.is_parallel(run), file.skips_cleanup(run))).collect();
    let expected = [("", true, true), ("k", false, false), ("run.three", true, false), ("./m", true, true)];
    assert_eq!(of_runs, expected.map(|(key, parallel, skips)| (key.to_owned(), parallel, skips)));
    assert_eq!(file.runs[0].backend.as_ref().map(|backend| &*backend.kind), Some("local"));
    let two = &file.runs[1];
    assert!(two.for_each.is_some() && two.assert_no_changes && !two.isolated && file.runs[2].isolated);
    let has = |error: &ExpectError| [&error.summary, &error.message, &error.address].map(Option::is_some);
    assert_eq!(two.expect_error.iter().map(has).collect::<Vec<_>>(), [[true, true, false], [false; 3]]);
    assert_eq!(two.snapshots.iter().map(|snapshot| &*snapshot.name).collect::<Vec<_>>(), ["s"]);
}

/// Without the setting, the words of Terrane are unknown, under each name and in both syntaxes.
#[test]
fn words_of_terrane_must_be_asked_for() {
    let cases = [
        ("locals {}", r#"{"locals": {}}"#),
        ("test {\n parallel_files = true\n}", r#"{"test": {"parallel_files": true}}"#),
        ("run \"a\" {\n for_each = {}\n}", r#"{"run": {"a": {"for_each": {}}}}"#),
        ("run \"a\" {\n isolated = true\n}", r#"{"run": {"a": {"isolated": true}}}"#),
        ("run \"a\" {\n assert_no_changes = true\n}", r#"{"run": {"a": {"assert_no_changes": true}}}"#),
        ("run \"a\" {\n expect_error {}\n}", r#"{"run": {"a": {"expect_error": {}}}}"#),
        ("run \"a\" {\n snapshot \"s\" {\n value = 1\n }\n}", r#"{"run": {"a": {"snapshot": {"s": {"value": 1}}}}}"#),
    ];
    for (native, json) in cases {
        for dialect in [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu] {
            for (name, text) in [("a.tftest.hcl", native), ("a.tftest.json", json)] {
                let (_, diags) = read_in(dialect, name, text);
                let tips: Vec<bool> = diags.iter().map(|problem| problem.tip.is_some()).collect();
                assert_eq!(tips, [true], "{text}: {diags:?}");
                let kinds = ["Unsupported argument", "Unsupported block type", "Extraneous JSON object property"];
                assert!(kinds.contains(&summaries(&diags)[0]), "{text}");
            }
        }
    }
    let (_, diags) = read_in(Dialect::Terrane, "a.tftest.hcl", "run \"a\" {\n colour = 1\n}");
    assert!(diags.iter().all(|problem| problem.tip.is_none()) && diags.len() == 1);
}

#[test]
fn errors_of_files() {
    let extended = |text: &str| format!("{EXTENDED}{text}");
    let run = |text: &str| format!("run \"a\" {{\n  {text}\n}}\n");
    let duplicate = "Duplicate \"variable\" block names";
    let cases = [
        ("test {}\ntest {}\n".to_owned(), vec!["Multiple \"test\" blocks"]),
        ("test {\n colour = 1\n}\nrun \"1\" {}\n".to_owned(), vec!["Unsupported argument"]),
        ("test {\n parallel = \"maybe\"\n}\n".to_owned(), vec!["Unsuitable value type"]),
        ("test {\n extensions = [\"terrane\", \"other\"]\n}\n".to_owned(), vec!["Unknown test extension"]),
        ("test {\n extensions = \"terrane\"\n}\n".to_owned(), vec!["Invalid expression"]),
        ("variable \"a\" {}\nvariable \"a\" {}\n".to_owned(), vec![duplicate]),
        ("variable \"a\" {}\nvariables {\n a = 1\n}\n".to_owned(), vec![duplicate]),
        ("variables {\n a = 1\n}\nvariable \"a\" {}\n".to_owned(), vec![duplicate]),
        (run("").repeat(2), vec!["Duplicate \"run\" block names"]),
        (extended("locals {\n a = 1\n}\nlocals {\n a = 2\n}\n"), vec!["Duplicate local value definition"]),
        (
            extended(&run("snapshot \"s\" {\n value = 1\n}\nsnapshot \"s\" {\n value = 2\n}")),
            vec!["Duplicate \"snapshot\" block names"],
        ),
        (extended(&run("snapshot \"1\" {\n value = 1\n}")), vec!["Invalid snapshot block name"]),
        (extended(&run("snapshot \"s\" {}")), vec!["Missing required argument"]),
        (extended(&run("expect_error {\n text = \"\"\n}")), vec!["Unsupported argument"]),
        (extended(&run("isolated = true\nstate_key = \"k\"\nskip_cleanup = true")), vec!["Invalid isolated run"; 2]),
        (extended(&run("isolated = true\nskip_cleanup = false")), vec![]),
        (extended(&run("command = plan\nassert_no_changes = true")), vec!["Invalid assert_no_changes argument"]),
        ("mock_provider \"a\" {\n for_each = {}\n}\n".to_owned(), vec!["Alias required when using \"for_each\""]),
    ];
    for (text, expected) in cases {
        assert_eq!(summaries(&read_in(Dialect::Terrane, "a.tftest.hcl", &text).1), expected, "{text}");
    }
}

#[test]
fn one_backend_belongs_to_the_first_run_that_writes_a_state() {
    let run = |name: &str, text: &str| format!("run {name:?} {{\n  {text}\n}}\n");
    let local = "backend \"local\" {}";
    let cases = [
        (run("a", local) + &run("b", "state_key = \"k\"\nbackend \"local\" {}"), vec![]),
        (run("a", "command = plan") + &run("b", local), vec![]),
        (run("a", "backend \"remote\" {}"), vec!["Invalid backend block"]),
        (run("a", &format!("{local}\n{local}")), vec!["Duplicate backend blocks"]),
        (run("a", &format!("command = plan\n{local}")), vec!["Invalid backend block"]),
        (run("a", "") + &run("b", local), vec!["Invalid backend block"]),
        (run("a", local) + &run("b", local), vec!["Duplicate backend blocks"]),
        (run("a", "backend \"local\" {\n path = var.x\n}"), vec!["Variables not allowed"]),
        (
            run("a", &format!("skip_cleanup = false\n{local}")),
            vec!["Cannot use `skip_cleanup=false` in a run block that contains a backend block"],
        ),
        (run("a", &format!("skip_cleanup = true\n{local}")), vec![]),
        (
            run("a", "skip_cleanup = true") + &run("b", "skip_cleanup = true") + &run("c", "skip_cleanup = false"),
            vec!["Duplicate \"skip_cleanup\" block"],
        ),
        (run("a", local) + &run("b", "skip_cleanup = true"), vec!["Duplicate \"skip_cleanup\" block"]),
    ];
    for (text, expected) in cases {
        let (_, diags) = read_in(Dialect::Terrane, "a.tftest.hcl", &text);
        assert_eq!(summaries(&diags), expected, "{text}");
        let is_warning = expected.iter().all(|summary| summary.contains("\"skip_cleanup\""));
        assert_eq!(diags.has_errors(), !is_warning, "{text}");
    }
}

/// Observed in Terraform 1.11.4: what is not written as an object is none, also if it has no value.
#[test]
fn constant_values_of_overrides_are_checked() {
    let cases = [
        ("null", vec!["Invalid values attribute"]),
        ("var.x", vec!["Invalid values attribute", "Variables not allowed"]),
        ("upper(\"x\")", vec!["Invalid values attribute", "Function calls not allowed"]),
        ("{ a = upper(\"x\") }", vec!["Function calls not allowed"]),
        ("[for x in var.y : x]", vec!["Invalid values attribute", "Variables not allowed"]),
        ("true ? {} : var.x", vec![]),
        ("-\"a\"", vec!["Invalid values attribute", "Invalid operand"]),
    ];
    for (values, expected) in cases {
        let text = format!("override_resource {{\n  target = test_a.b\n  values = {values}\n}}\n");
        let (body, _) = parse_file(SourceFile::new("a.tftest.hcl", text));
        let (mut overrides, mut diags) = (Overrides::new(), Diagnostics::new());
        overriding::add(body.blocks()[0], MockLanguage::Constants, &mut overrides, &mut diags);
        assert_eq!(summaries(&diags), expected, "{values}");
    }
}

#[test]
fn values_of_overrides_are_objects_when_they_are_needed() {
    let cases = [
        ("{ a = upper(\"x\") }", vec![]),
        ("1", vec!["Invalid outputs attribute"]),
        ("{ a = var.x }", vec!["Unsupported attribute"]),
        ("var.x", vec!["Invalid outputs attribute", "Unsupported attribute"]),
    ];
    for (values, expected) in cases {
        let file = read(&format!("override_resource {{\n  target = test_a.b\n  values = {values}\n}}\n"));
        let (_, diags) = file.overrides["test_a.b"].evaluate(&ObjectNames::default(), None);
        assert_eq!(summaries(&diags), expected, "{values}");
    }
    let file = read("mock_provider \"a\" {\n  mock_resource \"a_b\" {\n    defaults = { a = upper(\"x\") }\n  }\n}\n");
    let TestProvider::Mock(mock) = &file.providers["a"] else { panic!("a mock is expected") };
    let (value, diags) = mock.data.resources["a_b"].evaluate(&ObjectNames::default(), None).unwrap();
    assert!(diags.is_empty(), "{diags:?}");
    assert_eq!(value.get("a").and_then(|a| a.as_str()), Some("X"));
}

#[test]
fn overrides_of_every_instance_are_written_in_both_syntaxes() {
    let targets = |name: &str, text: &str| -> Vec<String> {
        let (file, diags) = read_in(Dialect::Terrane, name, text);
        assert!(diags.is_empty(), "{text}: {diags:?}");
        let shown = |one: &Override| format!("{} {}", one.target, matches!(one.target, Target::Pattern(_)));
        file.overrides.values().map(shown).collect()
    };
    let native = "override_resource {\n  target = module.m[*].test_a.b[\"k\"]\n}\n";
    let json = r#"{"override_resource": [{"target": "module.m[*].test_a.b[\"k\"]"}, {"target": "test_a.b[\"*\"]"}]}"#;
    assert_eq!(targets("a.tftest.hcl", native), ["module.m[*].test_a.b[\"k\"] true"]);
    assert_eq!(targets("a.tftest.json", json), ["module.m[*].test_a.b[\"k\"] true", "test_a.b[\"*\"] false"]);
    let (_, diags) = read_in(Dialect::Terrane, "a.tftest.json", r#"{"override_resource": {"target": "test_a.*"}}"#);
    assert_eq!(summaries(&diags), ["Invalid expression"]);
}

#[test]
fn what_other_programs_refuse_is_said_under_their_names() {
    let experiment = "Experimental test feature";
    let text = "test {\n skip_cleanup = true\n}\nrun \"a\" {\n skip_cleanup = true\n backend \"local\" {}\n}\n";
    let cases = [
        (text, [vec![], vec![experiment; 3], vec![]]),
        (EXTENDED, [vec![], vec!["Extensions in a test file"], vec!["Extensions in a test file"]]),
        ("run \"a\" {\n parallel = true\n}\n", [vec![], vec![], vec![]]),
    ];
    for (text, expected) in cases {
        for (dialect, expected) in [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu].into_iter().zip(expected) {
            let (file, _) = read_in(dialect, "a.tftest.hcl", text);
            let diags = file.check_portability();
            assert_eq!(summaries(&diags), expected, "{text} {dialect:?}");
            assert!(!diags.has_errors());
        }
    }
}

/// The configuration that the files below test, with their modules.
fn linked(text: &str) -> (TestFile, crate::config::Config, Diagnostics) {
    let files = Memory::of([
        ("main.tf", "variable \"keys\" {\n default = []\n}\nmodule \"child\" {\n source = \"./m\"\n}\n"),
        ("m/main.tf", "resource \"terraform_data\" \"inner\" {}\nvariable \"x\" {\n default = 1\n}\n"),
        ("tests/n/main.tf", "resource \"terraform_data\" \"other\" {}\n"),
        ("a.tftest.hcl", text),
    ]);
    let manifest = ModuleManifest::default();
    let resolver = manifest_resolver(&manifest);
    let load = |dir: &Path, resolver: &crate::config::Resolver<'_>| {
        load_config(dir, &files, resolver, std::sync::Arc::new(NoInputs))
    };
    let (config, problems) = load(Path::new("."), &resolver);
    assert!(problems.is_empty(), "{problems:?}");
    let config = config.unwrap();
    let (mut file, problems) = read_each(Path::new("."), DEFAULT_DIR, &files).0.pop().unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    let diags = load::link_file(&mut file, &config, &files, &resolver, &load);
    (file, config, diags)
}

#[test]
fn names_in_a_file_are_compared_with_what_it_tests() {
    let text = format!(
        "{EXTENDED}\
         override_resource {{\n target = terraform_data.other\n}}\n\
         override_resource {{\n target = terraform_data.gone\n}}\n\
         run \"a\" {{\n module {{\n source = \"./tests/n\"\n }}\n}}\n\
         run \"b\" {{\n providers = {{ x = x.gone }}\n expect_failures = [module.child.var.x, module.gone.var.x, module.child.x]\n}}\n"
    );
    let (file, config, diags) = linked(&text);
    assert!(diags.is_empty(), "{diags:?}");
    // Observed in Terraform 1.11.4: a module that any run tests counts.
    let diags = file.check(&config);
    assert_eq!(summaries(&diags), ["Invalid override target"]);
    assert!(diags.iter().all(|problem| problem.detail.contains("terraform_data.gone")), "{diags:?}");
    let diags = file.runs[1].check(&config);
    assert_eq!(summaries(&diags), ["Invalid `expect_failures` reference"; 2]);
    assert_eq!(summaries(&file.missing_providers(&file.runs[1])), ["Missing provider definition for x.gone"]);
    assert!(file.missing_providers(&file.runs[0]).is_empty());
}

#[test]
fn providers_are_repeated_by_variables_of_the_file() {
    let of = |for_each: &str| {
        let text = format!(
            "variables {{\n keys = [\"b\", \"a\"]\n late = run.r.x\n}}\n\
             mock_provider \"terraform\" {{\n alias = \"by\"\n for_each = {for_each}\n}}\nrun \"r\" {{}}\n"
        );
        let (file, _, diags) = linked(&text);
        let TestProvider::Mock(mock) = &file.providers["terraform.by"] else { panic!("a mock is expected") };
        let instances = mock.instances.as_deref().unwrap_or_default();
        let keys: Vec<&str> = instances.iter().map(|(key, _)| &**key).collect();
        (keys.join(" "), summaries(&diags).join(" "))
    };
    let cases = [
        ("toset(var.keys)", "a b", ""),
        ("{ x = 1 }", "x", ""),
        ("[]", "", "Invalid provider for_each argument"),
        ("run.r.x", "", "Dynamic value in static context"),
    ];
    for (for_each, keys, problems) in cases {
        assert_eq!(of(for_each), (keys.to_owned(), problems.to_owned()), "{for_each}");
    }
}
