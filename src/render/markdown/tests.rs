//! Comments of made-up plans.

use base::dialect::Dialect;
use model::plan::Plan;
use model::state::{CheckResult, CheckStatus};
use terrane_value::Value;

use super::*;
use crate::review::tests::{SECRET, change, plan, schema, schemas, value};

fn comment(plan: &Plan, limit: CommentLimit) -> String {
    let schemas = schemas();
    markdown(&Review::of_plan(plan, None, &schemas, Dialect::default()), limit)
}

#[test]
fn secrets_and_their_lengths_are_not_in_the_comment() {
    let text = comment(&plan(SECRET), CommentLimit::default());
    assert!(!text.contains("hunter2") && text.contains("(sensitive value)"), "{text}");
    assert_eq!(text, comment(&plan("x"), CommentLimit::default()));
}

#[test]
fn changes_are_collapsible_and_hostile_names_are_code() {
    let text = comment(&plan(SECRET), CommentLimit::default());
    let expected = [
        "| `-` | destroy | 1 |\n",
        "| `+` | create | 1 |\n| | changes of outputs | 3 |\n",
        "<details><summary><code>-</code> <b>destroy</b> <code>t.gone</code></summary>\n\n```diff\n",
        "<code>module.m[&quot;a|b&quot;].t.replaced</code> because name changes</summary>",
        "- name = \"a\" # forces replacement\n+ name = \"b\" # forces replacement\n",
        "<code>t.created[&quot;@team #12 `&lt;b&gt;`&quot;]</code></summary>\n\n````diff\n",
        "+   ```\n",
    ];
    for part in expected {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("<details>").count(), text.matches("\n</details>\n").count());
    let bitbucket = comment(&plan(SECRET), CommentLimit::parse("bitbucket").unwrap());
    assert!(bitbucket.contains("`+` **create** ``t.created[\"@team #12 `<b>`\"]``\n\n````diff\n"), "{bitbucket}");
    assert!(!bitbucket.contains("<details>"));
}

/// A plan of many changes, the last of which are creations.
fn large() -> Plan {
    let text = (0..100).map(|i| format!("line {i}")).collect::<Vec<_>>().join("\n");
    let null = || Value::null(schema().implied_type().clone());
    let one = |i: usize| match i {
        0..10 => change(&format!("t.gone[{i}]"), Action::Delete, value("n", &text, "s"), null()),
        _ => change(&format!("t.new[{i}]"), Action::Create, null(), value("n", &text, "s")),
    };
    Plan { changes: (0..2000).map(one).collect(), ..Plan::default() }
}

#[test]
fn limits_cut_the_middle_and_keep_the_most_dangerous() {
    let large = large();
    for name in ["github", "gitlab", "azure", "bitbucket", "2000", "3000", "10000"] {
        let limit = CommentLimit::parse(name).unwrap();
        let text = comment(&large, limit);
        let bytes = limit.bytes.unwrap();
        assert!(text.len() <= bytes && text.len() > bytes / 2, "{name}: {}", text.len());
        assert!(text.contains("t.gone[0]") && text.contains("t.new[1999]"), "{name}");
        assert!(text.ends_with("**Plan: 1990 to add, 0 to change, 10 to destroy.**\n"), "{name}");
        let fences = text.lines().filter(|line| line.starts_with("```")).count();
        assert_eq!(fences % 2, 0, "{name}");
        assert_eq!(text.matches("<details>").count(), text.matches("\n</details>\n").count(), "{name}");
    }
    assert!(comment(&large, CommentLimit::default()).contains("line 99"));
}

#[test]
fn limits_are_hosts_or_numbers() {
    let cases = [("github", Some(65_536)), ("bitbucket", Some(32_768)), ("5000", Some(5_000))];
    for (text, bytes) in cases {
        assert_eq!(CommentLimit::parse(text).and_then(|limit| limit.bytes), bytes, "{text}");
    }
    for text in ["", "1999", "-1", "GitHub", "1e9", "99999999999999999999999"] {
        assert_eq!(CommentLimit::parse(text), None, "{text}");
    }
}

#[test]
fn long_details_lose_their_middle() {
    let lines: Vec<String> = (0..100).map(|i| format!("+ {i:03}")).collect();
    let text = fenced_within("diff", lines.clone(), 200).unwrap();
    assert!(text.len() <= 200 && text.starts_with("```diff\n+ 000\n") && text.ends_with("+ 099\n```\n"), "{text}");
    assert!(text.contains("lines left out here"), "{text}");
    assert_eq!(fenced_within("diff", lines, 70), None);
}

/// A plan with so many checks that failed with this message.
fn failing(count: usize, message: &str) -> Plan {
    let check = |at: usize| {
        let address = format!("check.c{at}");
        let objects = vec![(address.clone(), CheckStatus::Fail, vec![message.to_owned()])];
        CheckResult { kind: "check".into(), config_addr: address, status: CheckStatus::Fail, objects }
    };
    Plan { checks: (0..count).map(check).collect(), ..large() }
}

#[test]
fn messages_of_checks_mean_nothing_to_hosts() {
    let text = comment(&failing(2, "@team see #1\n</details><img src=x>"), CommentLimit::default());
    assert!(text.contains("> A condition of check.c1 failed. `@team see #1\\n</details><img src=x>`\n\n"), "{text}");
    assert!(comment(&failing(1, "Too old"), CommentLimit::default()).contains("failed. Too old\n\n"));
}

#[test]
fn messages_of_checks_keep_within_limits() {
    for (count, length) in [(30, 3_000), (1, 100_000), (5_000, 10)] {
        let plan = failing(count, &"@".repeat(length));
        for name in ["github", "bitbucket", "2000", "3000"] {
            let limit = CommentLimit::parse(name).unwrap();
            let text = comment(&plan, limit);
            assert!(text.len() <= limit.bytes.unwrap(), "{name}: {}", text.len());
            assert!(text.contains("t.gone[0]") && text.contains("failed."), "{name}\n{text}");
        }
    }
    let text = comment(&failing(30, "Too old"), CommentLimit::default());
    assert!(text.contains("check.c19 ") && !text.contains("check.c20 "), "{text}");
    assert!(text.contains("> 10 more conditions failed.\n"), "{text}");
}
