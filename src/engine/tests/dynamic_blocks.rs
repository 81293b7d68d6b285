//! References in `dynamic` blocks: those in the content are checked for each block that is generated.

use model::state::State;

use super::world::*;

const AROUND: &str = r#"
    variable "none" { default = [] }
    variable "one" { default = [1] }
    resource "test_thing" "single" { input = test_thing.many[0].id }
    resource "test_thing" "many" { count = 1 }
"#;

/// The summaries of validate, or, if there are none, those of plan.
async fn errors(for_each: &str, content: &str) -> (Vec<String>, Vec<String>) {
    let text = format!(
        "{AROUND}\nresource \"test_thing\" \"a\" {{\n dynamic \"part\" {{\n for_each = {for_each}\n content {{\n \
         {content}\n }}\n }}\n}}"
    );
    let config = config(&[("main.tf", &text)]);
    let summaries = |found: base::diag::Diagnostics| found.iter().map(|d| d.summary.clone()).collect::<Vec<_>>();
    let world = World::new();
    let validated = summaries(validate(&world, &config).await);
    let (_, planned) = plan(&world, &config, &State::default(), Options::default()).await;
    (validated, summaries(planned))
}

#[tokio::test]
async fn content_without_elements_is_not_checked() {
    let mistakes = [
        ("v = nosuch.a.b", "Reference to undeclared resource"),
        ("v = var.nosuch", "Reference to undeclared input variable"),
        ("v = local.nosuch", "Reference to undeclared local value"),
        ("v = module.nosuch.b", "Reference to undeclared module"),
        ("v = test_thing.single.nosuch", "Unsupported attribute"),
        ("v = test_thing.many.id", "Missing resource instance key"),
        ("v = test_thing.single[0].id", "Unexpected resource instance key"),
        ("v = nosuch", "Invalid reference"),
        ("v = self.id", "Invalid \"self\" reference"),
        ("v = path.nosuch", "Invalid \"path\" attribute"),
        ("v = each.key", "Reference to \"each\" in context without for_each"),
        ("v = nosuch()", "Call to unknown function"),
    ];
    let none: Vec<String> = Vec::new();
    for (content, summary) in mistakes {
        let error = vec![summary.to_string()];
        for unused in ["[]", "var.none"] {
            assert_eq!(errors(unused, content).await, (none.clone(), none.clone()), "{unused}: {content}");
        }
        // The elements are not known until there is a plan.
        assert_eq!(errors("var.one", content).await, (none.clone(), error.clone()), "{content}");
        assert_eq!(errors("[1]", content).await, (error.clone(), error.clone()), "{content}");
    }
    assert_eq!(errors("[1, 2]", "v = nosuch.a.b").await.0.len(), 1);
}

#[tokio::test]
async fn what_generates_blocks_is_always_checked() {
    let mistakes = [
        ("nosuch.a.b", "Reference to undeclared resource"),
        ("var.nosuch", "Reference to undeclared input variable"),
        ("test_thing.single.nosuch", "Unsupported attribute"),
        ("test_thing.many.id", "Missing resource instance key"),
    ];
    for (for_each, summary) in mistakes {
        let (validated, planned) = errors(for_each, "v = part.value").await;
        assert_eq!((validated, planned), (vec![summary.to_string()], vec![summary.to_string()]), "{for_each}");
    }
}

#[tokio::test]
async fn blocks_may_not_refer_to_themselves_in_content_without_elements() {
    let (validated, planned) = errors("[]", "v = test_thing.a.id").await;
    assert_eq!((validated, planned), (vec![], vec!["Self-referential block".to_string()]));
}

#[tokio::test]
async fn errors_of_one_dynamic_block_do_not_hide_those_of_others() {
    let text = r#"
        resource "test_thing" "a" {
          dynamic "port" {
            for_each = []
            content {}
          }
          dynamic "part" {
            for_each = 5
            content {}
          }
          dynamic "part" {
            for_each = each.value
            content {}
          }
        }"#;
    let found = validate(&World::new(), &config(&[("main.tf", text)])).await;
    let mut summaries: Vec<&str> = found.iter().map(|d| &*d.summary).collect();
    summaries.sort_unstable();
    let expected =
        ["Invalid dynamic for_each value", "Unsupported block type", "each.value cannot be used in this context"];
    assert_eq!(summaries, expected);
}
