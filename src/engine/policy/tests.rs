//! Policies by tables: a policy, a target, and the result.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::diag::Severity;
use base::source::SourceFile;
use lang::eval::evaluate;
use lang::functions::FunctionError;
use lang::syntax::parse_expression;
use model::addr::parse::parse_abs_instance;
use model::addr::{AbsProviderConfig, Provider};
use model::config::NoNames;
use model::config::policy_file::{GivenInputs, PolicyKind, PolicyOperation, PolicySet, PolicyTestFile};
use model::plan::{PolicyReport, PolicyVerdict};
use terrane_value::{Marks, Type, Value};

use super::*;
use crate::tests::world::World;

mod locals;

/// Objects of the type `other`, and a data source that counts what it is asked.
struct Outside;

impl PolicyData for Outside {
    fn resources(&self, kind: &str) -> Option<Arc<ObjectList>> {
        let object = |name: &str, size: Value| {
            Value::object([
                ("name", Value::string(name)),
                ("size", size),
                ("tags", Value::map(Type::String, [("env", Value::string("prod"))])),
            ])
        };
        let objects = match kind {
            "other" => vec![object("a", Value::int(1)), object("b", Value::int(2))],
            "unsure" => vec![object("a", Value::unknown(Type::Number))],
            "deferred" => return None,
            _ => Vec::new(),
        };
        Some(Arc::new(ObjectList::new(objects)))
    }

    fn data_source(&self, kind: &str, config: &Value) -> Result<Value, FunctionError> {
        match kind {
            "ami" => Ok(Value::object([("id", Value::string("ami-1")), ("given", config.clone())])),
            _ => Err(FunctionError::new(format!("there is no {kind}"))),
        }
    }
}

/// A value as the language writes it; `?` is an unknown string.
fn value(text: &str) -> Value {
    let (expr, found) = parse_expression(SourceFile::new("v", text.replace('?', "\"UNKNOWN\"")));
    assert!(!found.has_errors(), "{found:?}");
    let (value, found) = evaluate(&expr, &NoNames);
    assert!(!found.has_errors(), "{found:?}");
    let unknown = |v: Value| if v.as_str() == Some("UNKNOWN") { Value::unknown(Type::String) } else { v };
    value.transform::<()>(&mut |_, v| Ok(unknown(v))).unwrap()
}

fn resource(operation: PolicyOperation, attrs: &str, prior: Option<&str>) -> PolicyTarget {
    let addr = parse_abs_instance("module.m[0].aws_x.a").unwrap();
    let provider = AbsProviderConfig::root(Provider::new("registry.terraform.io", "hashicorp", "aws"));
    PolicyTarget {
        address: addr.to_string(),
        kind: PolicyKind::Resource,
        name: "aws_x".into(),
        operation: Some(operation),
        attrs: value(attrs),
        prior_attrs: prior.map(value),
        meta: TargetMeta::of_resource(&addr, &provider, operation),
        place: None,
    }
}

fn created(attrs: &str) -> PolicyTarget {
    resource(PolicyOperation::Create, attrs, None)
}

fn report(text: &str, given: &[(&str, &str)], target: &PolicyTarget) -> Option<PolicyReport> {
    let given: GivenInputs = given.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
    let (set, found) = PolicySet::parse([SourceFile::new("p.policy.hcl", text)], given);
    assert!(!found.has_errors(), "{text}: {found:?}");
    let host = World::new().ports().host;
    Judge::new(&set, &Outside, &*host).report(target, |_, _| true)
}

/// The result in a line: `none`, `allow`, `unknown`, or `deny` and `error` with what is reported first.
fn result(report: Option<&PolicyReport>) -> String {
    let Some(report) = report else { return "none".to_owned() };
    let verdict = report.outcomes.iter().map(|outcome| outcome.verdict).max().unwrap();
    let first = report.outcomes.iter().flat_map(|outcome| &outcome.findings).next();
    let detail = first.map_or("", |finding| finding.diagnostic.detail.split("\n\n").next().unwrap_or_default());
    match verdict {
        PolicyVerdict::Allow => "allow".to_owned(),
        PolicyVerdict::Unknown => "unknown".to_owned(),
        PolicyVerdict::Deny => format!("deny: {detail}"),
        PolicyVerdict::Error => format!("error: {detail}"),
    }
}

/// A policy for `aws_x` with a condition.
fn condition(text: &str) -> String {
    format!(
        "resource_policy \"aws_x\" \"n\" {{\n  enforce {{\n    condition     = {text}\n    error_message = \"no\"\n  }}\n}}\n"
    )
}

#[track_caller]
fn check_conditions(attrs: &str, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let found = report(&condition(text), &[], &created(attrs));
        let found = result(found.as_ref());
        assert!(
            found == *expected || (expected.ends_with('*') && found.starts_with(expected.trim_end_matches('*'))),
            "{text}: {found}"
        );
    }
}

const ATTRS: &str = r#"{
  type = "t3.micro", size = 10, on = true, off = false, none = null, later = ?,
  tags = { env = "prod" }, list = ["a", "b"], blocks = [{ port = 22 }, { port = 443 }], arn = "arn:x:y"
}"#;

#[test]
fn conditions_are_expressions_about_attributes() {
    check_conditions(
        ATTRS,
        &[
            ("attrs.on", "allow"),
            ("attrs.off", "deny: no"),
            ("!attrs.off", "allow"),
            ("\"true\"", "allow"),
            ("attrs.type == \"t3.micro\"", "allow"),
            ("attrs.type != \"t3.micro\"", "deny: no"),
            ("attrs.size <= 10 && attrs.size > 1", "allow"),
            ("attrs.size % 3 == 0 || attrs.on", "allow"),
            ("attrs.tags.env == \"prod\"", "allow"),
            ("attrs.tags[\"env\"] == \"dev\"", "deny: no"),
            ("attrs.none == null", "allow"),
            ("attrs.none.x", "error: This value is null, so it does not have any attributes."),
            ("attrs.later == \"x\"", "unknown"),
            ("attrs.later == \"x\" && attrs.off", "deny: no"),
            ("attrs.later == \"x\" || attrs.on", "allow"),
            ("attrs.missing", "error: This object does not have an attribute named \"missing\"."),
            ("attrs.none", "error: The condition must be true or false: it is null."),
            ("attrs.list", "error: The condition must be true or false: *"),
            ("attrs.blocks[0].port == 22", "allow"),
            ("attrs.blocks[*].port == [22, 443]", "allow"),
            ("core::alltrue([for b in attrs.blocks : b.port < 1000])", "allow"),
            ("core::anytrue([for b in attrs.blocks : b.port == 1])", "deny: no"),
            ("attrs.on ? attrs.off : true", "deny: no"),
            ("\"${attrs.type}-${attrs.size}\" == \"t3.micro-10\"", "allow"),
        ],
    );
}

#[test]
fn functions_are_those_of_the_language_and_of_policies() {
    check_conditions(
        ATTRS,
        &[
            ("core::contains([\"t3.micro\"], attrs.type)", "allow"),
            ("contains([\"t3.micro\"], attrs.type)", "allow"),
            ("core::try(attrs.missing, true)", "allow"),
            ("core::try(attrs.missing, attrs.off)", "deny: no"),
            ("core::can(attrs.missing)", "deny: no"),
            ("core::length(attrs.list) == 2 && core::length(core::keys(attrs.tags)) == 1", "allow"),
            ("core::startswith(attrs.arn, \"arn:\")", "allow"),
            ("core::jsondecode(\"{\\\"a\\\":1}\").a == 1", "allow"),
            ("core::length(core::timestamp()) > 0", "allow"),
            ("core::contains_substring(attrs.arn, \"x\")", "allow"),
            ("core::contains_substring(attrs.arn, \"z\")", "deny: no"),
            ("core::regex_match(attrs.type, \"^t3\\\\.\")", "allow"),
            ("core::regex_match(attrs.type, \"^m\")", "deny: no"),
            ("core::regex_match(attrs.type, \"[\")", "error: Invalid value for \"pattern\" parameter*"),
            ("core::semverconstraint(\"5.1.0\", \">= 5.0.0, < 6.0.0\")", "allow"),
            ("core::semverconstraint(\"4.1.0\", \"~> 5.0\")", "deny: no"),
            ("core::semverconstraint(\"x\", \"~> 5.0\")", "error: Invalid value for \"version\" parameter*"),
            ("core::try(core::semverconstraint(\"x\", \"~> 5.0\"), true)", "allow"),
            ("core::semvercmp(\"1.10.0\", \"1.9.0\") == 1 && core::semvercmp(\"1.0.0\", \"1.0\") == 0", "allow"),
            ("core::semvercmp(\"1.0.0-beta\", \"1.0.0\") < 0", "allow"),
            ("core::valuetostring(attrs.size) == \"10\" && core::valuetostring(attrs.none) == \"(null)\"", "allow"),
            ("core::valuetostring(attrs.later) == \"(unknown)\"", "allow"),
            ("core::type(attrs.size) == \"number\" && core::type(attrs.off) == \"bool\"", "allow"),
            ("core::contains_substring(core::valuetostring(attrs.tags), \"\\\"env\\\": \\\"prod\\\"\")", "allow"),
            (
                "core::gethttprequest(\"https://x\", {}).statusCode == 200",
                "error: Call to function \"core::gethttprequest\" failed*",
            ),
            ("plugin::x::f(1)", "error: Terrane does not run policy plugins*"),
            ("core::lenght([])", "error: There is no function named \"core::lenght\". Did you mean \"core::length\"?"),
        ],
    );
}

#[test]
fn other_objects_and_data_sources_can_be_looked_up() {
    check_conditions(
        ATTRS,
        &[
            ("core::length(core::getresources(\"other\", {})) == 2", "allow"),
            ("core::length(core::getresources(\"other\")) == 2", "allow"),
            ("core::length(core::getresources(\"other\", null)) == 2", "allow"),
            ("core::length(core::getresources(\"none\", {})) == 0", "allow"),
            ("core::getresources(\"other\", { name = \"b\" })[0].size == 2", "allow"),
            ("core::getresources(\"other\", { name = \"b\", size = 1 }) == []", "allow"),
            ("core::length(core::getresources(\"other\", { tags = { env = \"prod\" } })) == 2", "allow"),
            ("core::length(core::getresources(\"other\", { tags = { env = \"dev\" } })) == 0", "allow"),
            ("core::length(core::getresources(\"other\", { nothing = 1 })) == 0", "allow"),
            ("core::length(core::getresources(\"other\", { name = attrs.later })) == 0", "unknown"),
            ("core::length(core::getresources(\"unsure\", { size = 1 })) == 1", "unknown"),
            ("core::length(core::getresources(\"unsure\", { size = 1, name = \"z\" })) == 0", "allow"),
            ("core::length(core::getresources(\"deferred\", {})) == 0", "unknown"),
            ("core::getresources(\"other\", \"b\") == []", "error: Invalid value for \"filter\" parameter*"),
            ("core::getdatasource(\"ami\", { owner = \"me\" }).id == \"ami-1\"", "allow"),
            ("core::getdatasource(\"ami\", { owner = attrs.later }).id == \"ami-1\"", "unknown"),
            (
                "core::getdatasource(\"x\", {}).id == \"\"",
                "error: Call to function \"core::getdatasource\" failed: there is no x.",
            ),
            ("core::try(core::getdatasource(\"x\", {}), null) == null", "allow"),
        ],
    );
}

#[test]
fn meta_describes_the_target() {
    check_conditions(
        ATTRS,
        &[
            ("meta.type == \"aws_x\" && meta.provider_type == \"aws\" && meta.operation == \"create\"", "allow"),
            ("meta.module_path == \"module.m[0]\" && meta.address == \"module.m[0].aws_x.a\"", "allow"),
            ("meta.tfe_stack.stack_name == \"\" && core::length(meta.tfe_workspace.tags) == 0", "allow"),
            ("meta.nothing == 1", "error: This object does not have an attribute named \"nothing\"."),
            ("unknown_name == 1", "error: There is no variable named \"unknown_name\"*"),
            ("local", "error: The name \"local\" must be followed*"),
            ("local.nothing", "error: A local value with the name \"nothing\" has not been declared*"),
            ("input.nothing", "error: The file declares no input \"nothing\"*"),
        ],
    );
}

/// The lines of a policy beside its condition, which is true.
fn with_lines(lines: &str) -> String {
    format!("resource_policy \"aws_x\" \"n\" {{\n{lines}\n  enforce {{\n    condition = true\n  }}\n}}\n")
}

#[test]
fn filters_choose_the_objects() {
    let cases = [
        ("filter = attrs.on", "allow"),
        ("filter = attrs.off", "none"),
        ("filter = attrs.later == \"x\"", "unknown"),
        ("filter = attrs.none", "error: The filter must be true or false: it is null."),
        ("filter = attrs.missing", "error: This object does not have an attribute named \"missing\"."),
    ];
    for (lines, expected) in cases {
        assert_eq!(result(report(&with_lines(lines), &[], &created(ATTRS)).as_ref()), expected, "{lines}");
    }
}

#[test]
fn targets_are_matched_by_type_and_operation() {
    use PolicyOperation::{Create, Delete, NoOp, Update};
    let found = |lines: &str, operation| {
        let target = resource(operation, "{ a = null }", Some("{ a = 1 }"));
        result(report(&with_lines(lines), &[], &target).as_ref())
    };
    let all = |lines: &str| [Create, Update, Delete, NoOp].map(|operation| found(lines, operation) == "allow");
    assert_eq!(all(""), [true, true, false, true]);
    assert_eq!(all("operations = [\"create\", \"update\"]"), [true, true, false, false]);
    assert_eq!(all("operations = [\"delete\"]"), [false, false, true, false]);
    assert_eq!(all("operations = []"), [true, true, true, true]);
    for (pattern, expected) in [("aws_x", true), ("aws_*", true), ("*", true), ("aws", false), ("*_y", false)] {
        let text = condition("true").replace("\"aws_x\"", &format!("{pattern:?}"));
        assert_eq!(report(&text, &[], &created("{}")).is_some(), expected, "{pattern}");
    }
    let provider = "provider_policy \"aws_x\" \"n\" {\n  enforce {\n    condition = false\n  }\n}\n";
    assert!(report(provider, &[], &created("{}")).is_none());
}

#[test]
fn earlier_objects_are_prior_attrs() {
    let text = |operation: &str, condition: &str| {
        let lines = format!("operations = [{operation:?}]\nenforce {{\n  condition = {condition}\n}}");
        format!("resource_policy \"aws_x\" \"n\" {{\n{lines}\n}}\n")
    };
    let update = resource(PolicyOperation::Update, "{ size = 2 }", Some("{ size = 1 }"));
    let found = report(&text("update", "attrs.size >= prior_attrs.size"), &[], &update);
    assert_eq!(result(found.as_ref()), "allow");
    let before = value("{ protected = true }");
    let mut delete = resource(PolicyOperation::Delete, "{}", Some("{ protected = true }"));
    delete.attrs = null_object(&before);
    let found = report(&text("delete", "!prior_attrs.protected || attrs.protected != null"), &[], &delete);
    assert_eq!(
        result(found.as_ref()),
        "deny: The mandatory policy resource_policy.aws_x.n denies module.m[0].aws_x.a."
    );
}

#[test]
fn levels_decide_what_follows() {
    let text = |file: &str, policy: &str| {
        let settings =
            format!("policy {{\n{file}\n}}\ninput \"level\" {{\n  type    = string\n  default = \"advisory\"\n}}\n");
        let lines = format!("{policy}\n  enforce {{\n    condition = false\n  }}");
        format!("{settings}resource_policy \"aws_x\" \"n\" {{\n{lines}\n}}\n")
    };
    let of = |file: &str, policy: &str, given: &[(&str, &str)]| {
        let report = report(&text(file, policy), given, &created(ATTRS)).unwrap();
        let outcome = &report.outcomes[0];
        let severities: Vec<Severity> = outcome.findings.iter().map(|finding| finding.diagnostic.severity).collect();
        (outcome.level.name(), severities, denied(&report))
    };
    let error = || vec![Severity::Error];
    assert_eq!(of("", "", &[]), ("mandatory", error(), true));
    let advisory = ("advisory", vec![Severity::Warning], false);
    assert_eq!(of("", "enforcement_level = \"advisory\"", &[]), advisory);
    assert_eq!(of("enforcement_level = \"advisory\"", "", &[]), advisory);
    assert_eq!(of("", "enforcement_level = input.level", &[]), advisory);
    assert_eq!(of("", "enforcement_level = input.level", &[("level", "mandatory")]), ("mandatory", error(), true));
    let overridable = "enforcement_level = \"mandatory_overridable\"";
    assert_eq!(of("enforcement_level = \"advisory\"", overridable, &[]), ("mandatory_overridable", error(), true));
    let unknown = of("", "enforcement_level = input.level", &[("level", "soft")]);
    assert_eq!((unknown.0, unknown.2), ("mandatory", true));
}

#[test]
fn errors_of_advisory_policies_are_warnings() {
    let text = with_lines("enforcement_level = \"advisory\"\nfilter = attrs.missing");
    let report = report(&text, &[], &created(ATTRS)).unwrap();
    assert_eq!(report.outcomes[0].verdict, PolicyVerdict::Error);
    assert!(!denied(&report) && report.outcomes[0].findings.len() == 1);
}

#[test]
fn all_conditions_are_evaluated() {
    let text = r#"
resource_policy "aws_x" "n" {
  enforce {
    condition     = attrs.off
    error_message = "first"
    info_message  = "size ${attrs.size}"
  }
  enforce {
    condition = attrs.later == ""
  }
  enforce {
    condition     = attrs.off
    error_message = "third ${attrs.later}"
    info_message  = ""
  }
}
"#;
    let report = report(text, &[], &created(ATTRS)).unwrap();
    let outcome = &report.outcomes[0];
    assert_eq!(outcome.verdict, PolicyVerdict::Deny);
    let places: Vec<Option<usize>> = outcome.findings.iter().map(|finding| finding.enforce).collect();
    assert_eq!(places, [Some(0), Some(2)]);
    assert!(outcome.findings[1].diagnostic.detail.starts_with("(the message has values that are known after apply)"));
    let infos: Vec<(&str, PolicyVerdict)> = outcome.infos.iter().map(|info| (&*info.message, info.verdict)).collect();
    assert_eq!(infos, [("size 10", PolicyVerdict::Deny)]);
}

#[test]
fn sensitive_values_are_not_in_messages() {
    let text = r#"
input "secret" {
  type      = string
  sensitive = true
}
resource_policy "aws_x" "n" {
  enforce {
    condition     = attrs.password == input.secret
    error_message = "it is ${attrs.password}"
    info_message  = "not ${core::valuetostring(input.secret)}"
  }
}
"#;
    let mut target = created("{}");
    target.attrs = Value::object([("password", Value::string("hunter2").mark(Marks::SENSITIVE))]);
    let report = report(text, &[("secret", "abc123")], &target).unwrap();
    let shown = format!("{report:?}");
    assert!(!shown.contains("hunter2") && !shown.contains("abc123"), "{shown}");
    assert!(result(Some(&report)).starts_with("deny: (the message has sensitive values)"));
}

#[test]
fn ephemeral_values_and_arguments_that_functions_refuse_are_not_shown() {
    let mut target = created("{}");
    let marked = |marks: Marks| Value::string("hunter2").mark(marks);
    target.attrs = Value::object([("token", marked(Marks::EPHEMERAL)), ("secret", marked(Marks::SENSITIVE))]);
    let text = r#"
resource_policy "aws_x" "n" {
  enforce {
    condition     = attrs.token == "x"
    error_message = "it is ${attrs.token}"
    info_message  = "still ${core::valuetostring(attrs.token)}"
  }
  enforce {
    condition = core::semvercmp(attrs.secret, "1.0.0") == 0
  }
  enforce {
    condition = core::semverconstraint("1.0.0", attrs.token)
  }
  enforce {
    condition = core::regex_match("a", "[${attrs.secret}")
  }
  enforce {
    condition = core::getdatasource(attrs.secret, {}).id == ""
  }
}
"#;
    let report = report(text, &[], &target).unwrap();
    let shown = format!("{report:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("(the message has ephemeral values)"), "{shown}");
}

#[test]
fn violations_name_their_places() {
    let mut target = created(ATTRS);
    target.place = Some(SourceFile::new("main.tf", "\n\nresource \"aws_x\" \"a\" {}"))
        .map(|file| base::source::Span::new(2, 22).in_file(&file));
    let report = report(&condition("attrs.off"), &[], &target).unwrap();
    let diagnostic = &report.outcomes[0].findings[0].diagnostic;
    assert_eq!(
        diagnostic.detail,
        "no\n\nThe mandatory policy resource_policy.aws_x.n denies module.m[0].aws_x.a (main.tf line 3)."
    );
    assert_eq!(diagnostic.subject.as_ref().map(|range| range.start().line), Some(3));
    assert_eq!(diagnostic.address.as_deref(), Some("module.m[0].aws_x.a"));
    let values: Vec<String> = diagnostic.values.iter().map(|v| format!("{} {}", v.traversal, v.statement)).collect();
    assert_eq!(values, ["attrs.off is false"]);
}

#[test]
fn providers_and_modules_have_policies() {
    let provider = AbsProviderConfig::new(
        model::addr::Module::root(),
        Provider::new("registry.terraform.io", "hashicorp", "aws"),
        Some("west".into()),
    );
    let target = PolicyTarget {
        address: provider.to_string(),
        kind: PolicyKind::Provider,
        name: "aws".into(),
        operation: None,
        attrs: value("{ region = \"us-west-2\" }"),
        prior_attrs: None,
        meta: TargetMeta::of_provider(&provider, "aws", Some("5.1.0")),
        place: None,
    };
    let cases = [
        ("attrs.region == \"us-west-2\" && meta.alias == \"west\"", "allow"),
        ("meta.source == \"registry.terraform.io/hashicorp/aws\" && meta.namespace == \"hashicorp\"", "allow"),
        ("core::semverconstraint(meta.version, \">= 6.0.0\")", "deny: no"),
        ("meta.name == \"aws\" && meta.type == \"aws\"", "allow"),
    ];
    for (text, expected) in cases {
        let text = condition(text).replace("resource_policy \"aws_x\"", "provider_policy \"aws\"");
        assert_eq!(result(report(&text, &[], &target).as_ref()), expected, "{text}");
    }
    let target = PolicyTarget {
        kind: PolicyKind::Module,
        name: "./modules/net".into(),
        attrs: value("{ cidr = \"10.0.0.0/16\" }"),
        meta: TargetMeta::of_module("module.net", "./modules/net", None),
        ..target
    };
    let cases = [
        ("\"*\"", "meta.version == null && meta.address == \"module.net\"", "allow"),
        ("\"./modules/net\"", "attrs.cidr == \"10.0.0.0/8\"", "deny: no"),
        ("\"./modules/*\"", "core::contains([\"./modules/net\"], meta.source)", "allow"),
        ("\"net\"", "false", "none"),
    ];
    for (pattern, text, expected) in cases {
        let text = condition(text).replace("resource_policy \"aws_x\"", &format!("module_policy {pattern}"));
        assert_eq!(result(report(&text, &[], &target).as_ref()), expected, "{text}");
    }
}

#[test]
fn mocks_refer_to_each_other() {
    let text = r#"
locals {
  cidr  = "10.0.0.0/16"
  block = aws_vpc.main.cidr
}
data "aws_ami" "a" {
  attrs = { id = "ami-1", name = input.name }
}
resource "aws_vpc" "main" {
  skip  = true
  attrs = { cidr = local.cidr, list = jsonencode([1]) }
}
resource "aws_subnet" "a" {
  meta        = { operation = "update" }
  prior_attrs = { a = 1 }
  attrs = {
    vpc   = aws_vpc.main.cidr
    same  = aws_vpc.main.attrs.cidr
    ami   = data.aws_ami.a.id
    block = local.block
  }
  inputs {
    size = 2
  }
}
resource "aws_subnet" "wrong" {
  attrs = { a = aws_vpc.other.id }
}
"#;
    let (file, found) = PolicyTestFile::parse(SourceFile::new("p.policytest.hcl", text));
    assert!(!found.has_errors(), "{found:?}");
    let inputs: BTreeMap<Arc<str>, Value> = [("name".into(), Value::string("x"))].into();
    let host = World::new().ports().host;
    let objects = evaluate_mocks(&file, &inputs, &*host);
    let attrs = |index: usize| objects[index].attrs.clone().unwrap();
    let cidr = Value::string("10.0.0.0/16");
    for name in ["vpc", "same", "block"] {
        assert_eq!(attrs(2).get(name), Some(&cidr), "{name}");
    }
    assert_eq!(attrs(2).get("ami"), Some(&Value::string("ami-1")));
    assert_eq!(attrs(1).get("list"), Some(&Value::string("[1]")));
    assert_eq!(objects[2].inputs["size"].as_i64(), Some(2));
    assert!(objects[3].attrs.is_none() && objects[3].diagnostics.has_errors());
    let data = MockedObjects(&objects);
    assert_eq!(data.resources("aws_vpc").map(|all| all.find(&Value::empty_object()).len()), Some(1));
    assert!(data.data_source("aws_ami", &value("{ name = \"x\" }")).is_ok());
    assert!(data.data_source("aws_ami", &value("{ name = \"y\" }")).is_err());
}

#[test]
fn mocks_become_targets_by_what_they_have() {
    let cases = [
        ("attrs = { a = 1 }", Some("create {a=1} null")),
        ("attrs = { a = 1 }\n prior_attrs = { a = 0 }", Some("update {a=1} {a=0}")),
        ("prior_attrs = { a = 0 }", Some("delete {a=null} {a=0}")),
        ("attrs = { a = 1 }\n meta = { operation = \"no-op\", module_path = \"module.m\" }", Some("no-op {a=1} null")),
        ("attrs = {}", None),
        ("expect_failure = true", None),
    ];
    let host = World::new().ports().host;
    let shown = |value: &Value| match value.is_null() {
        true => "null".to_owned(),
        false => format!("{{a={}}}", value.get("a").unwrap().as_i64().map_or("null".to_owned(), |a| a.to_string())),
    };
    for (body, expected) in cases {
        let text = format!("resource \"aws_vpc\" \"v\" {{\n {body}\n}}\n");
        let (file, found) = PolicyTestFile::parse(SourceFile::new("p.policytest.hcl", text));
        assert!(!found.has_errors(), "{body}: {found:?}");
        let target = evaluate_mocks(&file, &BTreeMap::new(), &*host)[0].target();
        let found = target.as_ref().map(|target| {
            let prior = target.prior_attrs.as_ref().map_or("null".to_owned(), shown);
            format!("{} {} {prior}", target.operation.unwrap().name(), shown(&target.attrs))
        });
        assert_eq!(found.as_deref(), expected, "{body}");
        let Some(target) = target else { continue };
        let path = if body.contains("module_path") { "module.m" } else { "." };
        assert_eq!(target.meta.get("module_path"), Some(&Value::string(path)), "{body}");
        assert_eq!(target.meta.get("provider_type"), Some(&Value::string("aws")));
    }
    let text = "provider \"aws\" \"p\" {\n  attrs = { region = \"x\" }\n}\nmodule \"./m\" \"c\" {\n  meta = { version = \"1.0.0\" }\n}\n";
    let (file, _) = PolicyTestFile::parse(SourceFile::new("p.policytest.hcl", text));
    let targets: Vec<_> = evaluate_mocks(&file, &BTreeMap::new(), &*host).iter().map(|o| o.target().unwrap()).collect();
    let found: Vec<_> = targets.iter().map(|it| (it.kind, &*it.name, it.operation)).collect();
    assert_eq!(found, [(PolicyKind::Provider, "aws", None), (PolicyKind::Module, "./m", None)]);
    assert_eq!(targets[0].meta.get("alias").map(Value::is_null), Some(true));
    assert_eq!(targets[1].meta.get("version"), Some(&Value::string("1.0.0")));
}
