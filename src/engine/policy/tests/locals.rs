//! Local values of policies and of their files.

use super::*;

#[test]
fn shared_local_values_are_evaluated_once() {
    let text = r#"
locals {
  found = core::getdatasource("ami", {})
  more  = local.found.id
  of    = attrs.type
}
"#;
    let (set, _) = PolicySet::parse([SourceFile::new("p.policy.hcl", text)], GivenInputs::new());
    let names = |wanted: &str| scope::SharedLocals::of(&set.files[0].file.locals).has(wanted);
    assert_eq!(["found", "more", "of"].map(names), [true, true, false]);
}

#[test]
fn a_failed_local_value_of_the_file_fails_each_policy() {
    let mut text = "locals {\n  bad = tonumber(\"x\")\n  up  = local.bad + 1\n}\n".to_owned();
    for name in ["a", "b"] {
        text +=
            &format!("resource_policy \"aws_x\" \"{name}\" {{\n  enforce {{\n    condition = local.up > 3\n  }}\n}}\n");
    }
    let report = report(&text, &[], &created("{}")).unwrap();
    let verdicts: Vec<PolicyVerdict> = report.outcomes.iter().map(|outcome| outcome.verdict).collect();
    assert_eq!(verdicts, [PolicyVerdict::Error, PolicyVerdict::Error]);
}

#[test]
fn long_chains_of_local_values_end_with_an_error() {
    for (last, expected) in [(99, "allow"), (100, "error: More than 100"), (20_000, "error: More than 100")] {
        let chain: String = (0..last).map(|at| format!("  a{at} = local.a{}\n", at + 1)).collect();
        let policy = "resource_policy \"aws_x\" \"n\" {\n  enforce {\n    condition = local.a0 != \"\"\n  }\n}";
        let found = report(&format!("locals {{\n{chain}  a{last} = attrs.type\n}}\n{policy}\n"), &[], &created(ATTRS));
        assert!(result(found.as_ref()).starts_with(expected), "{last}: {}", result(found.as_ref()));
    }
}

#[test]
fn local_values_hide_those_of_the_file() {
    let text = r#"
locals {
  sizes  = ["s", "m"]
  first  = local.sizes[0]
  type   = "file"
  own    = attrs.type
  here   = local.type
}
resource_policy "aws_x" "n" {
  locals {
    type    = "policy"
    all     = "${local.first}-${local.type}-${local.own}-${local.here}"
    loop_a  = local.loop_b
    loop_b  = local.loop_a
    wrong   = attrs.missing
  }
  enforce {
    condition     = CONDITION
    error_message = local.all
  }
}
"#;
    let cases = [
        ("local.all == \"s-policy-t3.micro-file\"", "allow"),
        ("false", "deny: s-policy-t3.micro-file"),
        ("local.loop_a == 1", "error: *"),
        ("local.wrong == 1", "error: This object does not have an attribute named \"missing\"."),
        ("local.wrong == 1 && local.wrong == 2", "error: This object does not have an attribute named \"missing\"."),
    ];
    for (condition, expected) in cases {
        let found = report(&text.replace("CONDITION", condition), &[], &created(ATTRS));
        let found = result(found.as_ref());
        assert!(found == expected || (expected == "error: *" && found.starts_with("error: ")), "{condition}: {found}");
    }
}
