//! Pages of made-up plans.

use base::dialect::Dialect;
use model::plan::{Action, Plan};
use serde_json::Value as Json;
use terrane_value::Value;

use super::*;
use crate::review::tests::{SECRET, change, plan, schema, schemas, value};

fn page_of(plan: &Plan) -> String {
    let schemas = schemas();
    page(&Review::of_plan(plan, None, &schemas, Dialect::default()))
}

/// The data of a page.
fn data(page: &str) -> Json {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    assert!(!data.contains(['<', '>', '&']));
    serde_json::from_str(data).unwrap()
}

#[test]
fn secrets_and_their_lengths_are_not_in_the_page() {
    let text = page_of(&plan(SECRET));
    assert!(!text.contains("hunter2") && text.contains("(sensitive value)"));
    assert!(text == page_of(&plan("x")));
}

#[test]
fn pages_load_nothing_and_run_only_their_script() {
    let text = page_of(&plan(SECRET));
    for word in [" src=", "<link", "@import", "fetch(", "XMLHttpRequest", "import(", "innerHTML", "eval("] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(text.replace("url(#tip)", "").matches("url(").next().is_none());
    assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
    let hash = STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    assert!(text.contains("default-src 'none'") && text.contains(&format!("script-src 'sha256-{hash}'")));
    assert_eq!((text.matches("<script").count(), text.matches("{{").count()), (2, 0));
}

#[test]
fn data_has_every_entry_with_its_reasons_and_rows() {
    let data = data(&page_of(&plan(SECRET)));
    let texts = data["texts"].as_array().unwrap();
    let text = |place: &Json| texts[place.as_u64().unwrap() as usize].as_str().unwrap();
    let entries = data["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 8);
    let replaced = &entries[1];
    assert_eq!(
        (text(&replaced[0]), text(&replaced[1]), text(&replaced[2])),
        ("module.m[\"a|b\"].t.replaced", "module.m[\"a|b\"]", "t")
    );
    assert_eq!(data["effects"][replaced[3].as_u64().unwrap() as usize][1], "-/+");
    assert_eq!(text(&replaced[6][0]), "name changes");
    let rows: Vec<i64> = replaced[8].as_array().unwrap().iter().map(|number| number.as_i64().unwrap()).collect();
    let name = rows.chunks(5).find(|row| texts[row[2] as usize] == "name").unwrap();
    // Changed, and forces the replacement.
    assert_eq!(
        (name[1], &texts[name[3] as usize], &texts[name[4] as usize]),
        (19, &Json::from("\"a\""), &Json::from("\"b\""))
    );
}

#[test]
fn pages_stay_small_and_keep_the_details_of_the_most_dangerous() {
    let null = || Value::null(schema().implied_type().clone());
    let long = |i: usize| format!("{i}{}", "<".repeat(2_000));
    let one = |i: usize| match i {
        0..10 => change(&format!("t.new[{i}]"), Action::Create, null(), value("n", &long(i), "s")),
        _ => change(&format!("t.gone[{i}]"), Action::Delete, value("n", &long(i), "s"), null()),
    };
    let text = page_of(&Plan { changes: (0..1_500).map(one).collect(), ..Plan::default() });
    assert!(text.len() < 15_000_000, "{}", text.len());
    assert!(text.contains("left out, because the page would get too large"));
    let data = data(&text);
    let entries = data["entries"].as_array().unwrap();
    assert!(entries[0][8].is_array() && entries[1_499][8].is_number());
}

#[test]
fn parts_of_a_template_are_not_searched_for_names() {
    let parts = [("A", "{{B}}".to_owned()), ("B", "b".to_owned())];
    assert_eq!(filled("x{{A}}y{{B}}{{C}}z", &parts), "x{{B}}ybz");
}
