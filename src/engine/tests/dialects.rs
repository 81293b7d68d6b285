//! One input in every dialect: what is planned, and the first thing that is said.

use base::dialect::Dialect;
use model::plan::Mode;
use model::state::State;

use super::world::*;

/// What the module has that is called.
const MODULE: &str = "resource \"test_thing\" \"r\" {\n  name = \"r\"\n}\n";

/// The actions of a plan, one a line, and the first summary of its diagnostics, or else of those of `validate`.
async fn answer(dialect: Dialect, before: &str, after: &str) -> String {
    let files = |main| [("main.tf", main), ("m/main.tf", MODULE)];
    let world = World::new();
    let (state, found) = apply_as(&world, &config_in(dialect, &files(before)), &State::default(), Mode::Normal).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    let config = config_in(dialect, &files(after));
    let (planned, mut found) = plan(&world, &config, &state, Options::default()).await;
    found.extend(validate(&world, &config).await);
    let mut lines = planned.map(|plan| actions(&plan)).unwrap_or_default();
    lines.sort();
    lines.extend(found.iter().next().map(|problem| problem.summary.clone()));
    lines.join("\n")
}

#[tokio::test]
async fn each_dialect_has_its_answer() {
    let thing = "resource \"test_thing\" \"a\" {\n  name = \"a\"\n}\n";
    let kept = "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  lifecycle {\n    destroy = false\n  }\n}\n";
    let removed = "removed {\n  from = test_thing.a\n}\n";
    let call = "module \"m\" {\n  source = \"./m\"\n}\n";
    let counted = "module \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n";
    let deprecated = "output \"o\" {\n  value      = 1\n  deprecated = \"Use p.\"\n}\n";
    let (terrane, terraform, opentofu) = (
        "Forget test_thing.a\nSome objects will no longer be managed by Terrane",
        "Delete test_thing.a",
        "Forget test_thing.a\nResource will be removed from the state",
    );
    let replaced = "Create module.m[0].test_thing.r\nDelete module.m.test_thing.r";
    let invalid = "Root module output deprecated";
    let cases = [
        // Without `lifecycle`, and with a block that is gone.
        (thing, removed, [terrane, terraform, opentofu]),
        (kept, "", [terrane, terraform, opentofu]),
        (call, counted, ["", replaced, ""]),
        ("", deprecated, [invalid, invalid, ""]),
    ];
    for (before, after, expected) in cases {
        for (dialect, expected) in [Dialect::Terrane, Dialect::Terraform, Dialect::OpenTofu].into_iter().zip(expected) {
            assert_eq!(answer(dialect, before, after).await, expected, "{dialect:?}: {before}{after}");
        }
    }
}
