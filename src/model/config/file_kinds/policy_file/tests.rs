//! What files of policies and of their tests may say.

use super::*;
use base::diag::{Diagnostics, Severity};
use base::source::SourceFile;
use terrane_value::Value;

fn parse(text: &str) -> (PolicyFile, Diagnostics) {
    PolicyFile::parse(SourceFile::new("p.policy.hcl", text))
}

/// The details of what is reported, warnings marked.
fn problems(found: &Diagnostics) -> Vec<String> {
    let text = |d: &base::diag::Diagnostic| match d.severity {
        Severity::Error => d.detail.clone(),
        Severity::Warning => format!("warning: {}", d.detail),
    };
    found.iter().map(text).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found = problems(&parse(text).1);
    assert_eq!(found.len(), expected.len(), "{text}: {found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{text}: {found}");
    }
}

/// A resource policy with these lines.
fn policy(lines: &str) -> String {
    format!("resource_policy \"a_b\" \"n\" {{\n{lines}\n  enforce {{\n    condition = true\n  }}\n}}\n")
}

#[test]
fn files_have_policies_inputs_and_settings() {
    let (file, found) = parse(
        r#"
policy {
  enforcement_level = "advisory"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 6.0.0, < 7.0.0"
    }
  }
  terraform_config {
    required_version = ">= 1.16.0"
  }
}

input "sizes" {
  type    = list(string)
  default = ["s"]
}

locals {
  a = 1
}

locals {
  b = 2
}

resource_policy "aws_*" "tags" {
  operations        = ["update", "delete"]
  enforcement_level = input.level
  filter            = prior_attrs.x
  locals {
    c = 3
  }
  enforce {
    condition     = attrs.tags != null
    error_message = "none"
    info_message  = "some"
  }
  enforce {
    condition = true
  }
  locals {
    d = local.c
  }
}

provider_policy "*" "source" {
  enforce {
    condition = true
  }
}

module_policy "./m" "version" {
  enforce {
    condition = true
  }
}
"#,
    );
    assert_eq!(problems(&found), [""; 0]);
    let addresses: Vec<String> = file.policies.iter().map(Policy::address).collect();
    assert_eq!(addresses, ["resource_policy.aws_*.tags", "provider_policy.*.source", "module_policy../m.version"]);
    let first = &file.policies[0];
    assert_eq!(first.operations, [PolicyOperation::Update, PolicyOperation::Delete]);
    assert_eq!((first.enforces.len(), first.locals.len(), file.locals.len(), file.inputs.len()), (2, 2, 2, 1));
    assert!(file.required_version.is_some() && file.level.is_some());
    assert_eq!(&*file.required_providers["aws"].source.kind, "aws");
    let matched = ["aws_instance", "aws_", "google_x", "aws"].map(|kind| first.matches(kind));
    assert_eq!(matched, [true, true, false, false]);
}

#[test]
fn operations_have_defaults_and_constraints() {
    use PolicyOperation::{Create, Delete, NoOp, Update};
    let operations = |line: &str| parse(&policy(line)).0.policies.remove(0).operations;
    assert_eq!(operations(""), [Create, Update, NoOp]);
    assert_eq!(operations("operations = []"), [Create, Update, Delete, NoOp]);
    assert_eq!(operations("operations = [\"delete\"]"), [Delete]);
    let cases: &[(&str, &[&str])] = &[
        ("operations = [\"create\", \"update\"]", &[]),
        ("operations = [\"update\"]\nfilter = prior_attrs.a", &[]),
        ("filter = prior_attrs.a", &["A policy that refers to \"prior_attrs\" must set \"operations\""]),
        ("operations = []\nfilter = prior_attrs.a", &["A policy that refers to \"prior_attrs\" must set"]),
        ("operations = [\"no-op\"]\nfilter = prior_attrs.a", &["A policy that refers to \"prior_attrs\" cannot"]),
        ("operations = [\"delete\", \"no-op\"]", &["An object is either deleted or unchanged"]),
        ("operations = [\"delete\", \"create\"]", &["A replacement is a deletion and a creation"]),
        ("operations = [\"destroy\"]", &["\"destroy\" is not an operation."]),
        ("operations = \"create\"", &["The operations of a policy are a list"]),
        ("operations = [create]", &["Variables may not be used here.", "Unsuitable value: value must be known"]),
        (
            "operations = [\"create\"]\nfilter = core::getresources(\"x\", {}) == []",
            &["warning: The policy resource_policy.a_b.n calls core::getresources"],
        ),
        ("operations = [\"no-op\"]\nfilter = core::getresources(\"x\", {}) == []", &[]),
        ("operations = [\"delete\"]\nfilter = core::getresources(\"x\", {}) == []", &[]),
        ("filter = core::getresources(\"x\", {}) == []", &[]),
    ];
    for (lines, expected) in cases {
        check(&policy(lines), expected);
    }
    let shared = "locals {\n  all = core::getresources(\"x\", {})\n}\n";
    let lines = "operations = [\"update\"]\nfilter = local.all != []";
    check(&format!("{shared}{}", policy(lines)), &["warning: The policy resource_policy.a_b.n calls"]);
}

#[test]
fn invalid_files_say_what_is_wrong() {
    let cases: &[(&str, &[&str])] = &[
        ("resource_policy \"a\" {\n}\n", &["All resource_policy blocks must have 2 labels (type, name)."]),
        ("resource_policy \"a\" \"b c\" {\n}\n", &["A name must start with a letter"]),
        ("variable \"a\" {\n}\n", &["Blocks of type \"variable\" are not expected here."]),
        ("policy {\n}\npolicy {\n}\n", &["Only one \"policy\" block is allowed here."]),
        (
            "policy {\n  plugins {\n    x = { source = \"y\" }\n  }\n}\n",
            &["Terrane evaluates policies itself and does not run"],
        ),
        ("policy {\n  entitlement {\n  }\n}\n", &["Terrane evaluates policies without an entitlement"]),
        ("policy {\n  entitlement = \"x\"\n}\n", &["Terrane evaluates policies without an entitlement"]),
        (
            "policy {\n  enforcement_level = \"soft\"\n}\n",
            &["\"soft\" is not an enforcement level. The levels are \"advisory\","],
        ),
        (
            "policy {\n  terraform_config {\n    required_version = \"x\"\n  }\n}\n",
            &["This string does not use correct"],
        ),
        (
            "policy {\n  required_providers {\n    aws = \"x\"\n  }\n}\n",
            &["A provider requirement is an object with \"source\""],
        ),
        (
            "policy {\n  required_providers {\n    aws = { version = \"1.0.0\" }\n  }\n}\n",
            &["A provider requirement needs"],
        ),
        (
            "policy {\n  required_providers {\n    aws = { source = \"hashicorp/aws\", version = \"*\" }\n  }\n}\n",
            &["\"*\" is not a version constraint."],
        ),
        ("input \"a\" {\n}\n", &["The argument \"type\" is required"]),
        ("input \"a\" {\n  type = strin\n}\n", &["The keyword \"strin\" is not a valid type specification."]),
        (
            "input \"a\" {\n  type    = number\n  default = \"x\"\n}\n",
            &["The default value of the input \"a\" is not valid: a number"],
        ),
        (
            "input \"a\" {\n  type    = string\n  default = null\n}\n",
            &["The default value of the input \"a\" is not valid: it must"],
        ),
        (
            "input \"a\" {\n  type = string\n}\ninput \"a\" {\n  type = string\n}\n",
            &["The input \"a\" is already declared at p.policy.hcl:1,1-10."],
        ),
        ("locals {\n  a = 1\n}\nlocals {\n  a = 2\n}\n", &["The local value \"a\" is already defined"]),
        (&policy("locals {\n  a = 1\n}\nlocals {\n  a = 2\n}"), &["The local value \"a\" is already defined"]),
        (&policy("enforcement_level = \"hard\""), &["\"hard\" is not an enforcement level."]),
        (&policy("connected \"x\" {\n}"), &["Terrane does not evaluate \"connected\" blocks."]),
        ("module_policy \"a\" \"b\" {\n}\n", &["A policy must have at least one \"enforce\" block"]),
        ("resource_policy \"a\" \"b\" {\n  enforce {\n  }\n}\n", &["The argument \"condition\" is required"]),
        (
            "provider_policy \"a\" \"b\" {\n  operations = []\n}\n",
            &["An argument named \"operations\" is not expected here."],
        ),
        (&format!("{0}{0}", policy("")), &["The file already has a policy resource_policy.a_b.n, at p.policy.hcl:1,1"]),
        ("resource_policy \"a\" \"b\" {", &["There is no closing brace"]),
    ];
    for (text, expected) in cases {
        let (_, found) = parse(text);
        let found = problems(&found);
        assert!(!found.is_empty(), "{text}");
        for expected in expected.iter().filter(|expected| !expected.starts_with("There is no closing")) {
            assert!(found.iter().any(|found| found.starts_with(expected)), "{text}: {found:#?}");
        }
    }
}

#[test]
fn two_objects_of_a_test_may_have_one_name() {
    let text = "module \"a\" \"b\" {\n}\nmodule \"a\" \"b\" {\n}\n";
    let (file, found) = PolicyTestFile::parse(SourceFile::new("p", text));
    let details: Vec<&str> = found.iter().map(|found| &*found.detail).collect();
    assert_eq!((found.has_errors(), file.mocks.len(), details.len()), (false, 2, 1));
    assert!(details[0].starts_with("The file already has module.a.b, at p:1,1-15."), "{details:?}");
}

#[test]
fn inputs_take_given_values() {
    let text = r#"
input "size" {
  type = number
}
input "names" {
  type    = list(string)
  default = []
}
input "secret" {
  type      = string
  sensitive = true
  nullable  = true
}
"#;
    let values = |given: &[(&str, &str)]| {
        let given = given.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
        let (set, found) = PolicySet::parse([SourceFile::new("p.policy.hcl", text)], given);
        (set.files[0].inputs.clone(), problems(&found))
    };
    let (inputs, found) = values(&[("size", "5"), ("names", "[\"a\"]"), ("other", "x"), ("secret", "a b")]);
    assert_eq!(found, [""; 0]);
    assert_eq!(inputs["size"], Value::int(5));
    assert_eq!(inputs["names"].elements(), [Value::string("a")]);
    assert!(inputs["secret"].is_sensitive() && inputs["secret"].unmark().0.as_str() == Some("a b"));
    let (inputs, found) = values(&[]);
    assert!(found.len() == 1 && found[0].starts_with("The input \"size\" has no default"), "{found:?}");
    assert!(inputs["secret"].is_null() && inputs["names"].is_empty());
    for (given, expected) in
        [("x y", "it is not a value"), ("\"a\"", "a number is required"), ("var.x", "it is not a value")]
    {
        let (_, found) = values(&[("size", given)]);
        assert!(found[0].contains(expected), "{given}: {found:?}");
    }
}

#[test]
fn versions_are_those_of_terraform() {
    let found = |constraint: &str| {
        let text = format!("policy {{\n  terraform_config {{\n    required_version = {constraint:?}\n  }}\n}}\n");
        problems(&PolicySet::parse([SourceFile::new("p.policy.hcl", text)], GivenInputs::new()).1)
    };
    assert_eq!(found(">= 1.16.0"), [""; 0]);
    assert!(found("~> 1.15.0")[0].starts_with("The policies of this file are for other releases"));
}

#[test]
fn late_files_are_those_that_a_plan_does_not_have() {
    let set = |texts: &[&str]| {
        let sources: Vec<_> = texts.iter().map(|text| SourceFile::new("p.policy.hcl", policy(text))).collect();
        PolicySet::parse(sources, GivenInputs::new()).0
    };
    let mut planned = set(&["", "filter = true"]);
    planned.add_late(set(&["filter = true", "filter = false"]));
    assert_eq!(planned.files.iter().map(|file| file.is_late).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn test_files_have_mocks() {
    let (file, found) = PolicyTestFile::parse(SourceFile::new(
        "p.policytest.hcl",
        r#"
policytest {
  targets = ["a.policy.hcl", "more/"]
}
inputs {
  size = 1
}
locals {
  a = 1
}
resource "aws_x" "a" {
  expect_failure = true
  skip           = false
  meta           = { operation = "update" }
  prior_attrs    = { a = 1 }
  attrs          = { a = 2 }
  inputs {
    size = 2
  }
}
data "aws_y" "b" {
  attrs = {}
}
provider "aws" "c" {
  meta = { version = "1.0.0" }
}
module "./m" "d" {
  meta = { source = "./m" }
}
"#,
    ));
    assert_eq!(problems(&found), [""; 0]);
    let addresses: Vec<String> = file.mocks.iter().map(PolicyMock::address).collect();
    assert_eq!(addresses, ["resource.aws_x.a", "data.aws_y.b", "provider.aws.c", "module../m.d"]);
    let first = &file.mocks[0];
    assert!(first.expects_failure && !first.is_skipped && first.inputs.len() == 1 && first.prior_attrs.is_some());
    assert_eq!(file.targets.map(|targets| targets.len()), Some(2));
}

#[test]
fn invalid_test_files_say_what_is_wrong() {
    let cases = [
        (
            "data \"a\" \"b\" {\n  expect_failure = true\n}\n",
            "An argument named \"expect_failure\" is not expected here.",
        ),
        ("resource \"a\" \"b\" {\n  attrs {\n  }\n}\n", "Blocks of type \"attrs\" are not expected here."),
        ("input {\n}\n", "Blocks of type \"input\" are not expected here."),
        ("policytest {\n  targets = \"a\"\n}\n", "The targets of a test are a list of paths."),
        ("policytest {\n  plugins {\n  }\n}\n", "Terrane evaluates policies itself"),
        ("inputs {\n}\ninputs {\n}\n", "Only one \"inputs\" block is allowed here."),
        ("provider \"a\" \"b\" {\n  skip = true\n}\n", "An argument named \"skip\" is not expected here."),
    ];
    for (text, expected) in cases {
        let found = problems(&PolicyTestFile::parse(SourceFile::new("p", text)).1);
        assert!(found.iter().any(|found| found.starts_with(expected)), "{text}: {found:#?}");
    }
}
