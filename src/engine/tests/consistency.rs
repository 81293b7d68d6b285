//! Functions that read files: a plan is carried out with what they give in apply, as long as nothing that it shows changes.

use base::diag::Diagnostics;
use model::plan::{Mode, Plan};
use model::state::State;

use super::world::*;

/// Plans with `one` in the file `a`, and applies with `two` in it.
async fn changed(text: &str, mode: Mode, state: &State) -> (Plan, State, Diagnostics, Vec<String>) {
    let world = World::new();
    world.files.insert("a", "one");
    let config = config(&[("main.tf", text)]);
    let (plan, found) = plan(&world, &config, state, Options { mode, ..Options::default() }).await;
    assert!(!found.has_errors(), "{:?}", texts(&found));
    world.took();
    world.files.insert("a", "two");
    let plan = plan.unwrap();
    let (state, found) = apply_plan(&world, &config, plan.clone()).await;
    (plan, state, found, world.took())
}

/// The summaries of errors, and the details of warnings.
fn split(found: &Diagnostics) -> (Vec<String>, Vec<String>) {
    let errors = found.iter().filter(|d| d.is_error()).map(|d| d.summary.clone()).collect();
    (errors, found.iter().filter(|d| !d.is_error()).map(|d| d.detail.clone()).collect())
}

#[tokio::test]
async fn root_outputs_must_stay_as_they_were_planned() {
    let cases = [
        ("file(\"a\")", "file"),
        ("core::file(\"a\")", "file"),
        ("filebase64(sensitive(\"a\"))", "filebase64"),
        ("filemd5(\"a\")", "filemd5"),
        ("filesha1(\"a\")", "filesha1"),
        ("filesha256(\"a\")", "filesha256"),
        ("filesha512(\"a\")", "filesha512"),
        ("filebase64sha256(\"a\")", "filebase64sha256"),
        ("filebase64sha512(sensitive(\"a\"))", "filebase64sha512"),
        ("templatefile(\"a\", { x = 1 })", "templatefile"),
    ];
    for (call, name) in cases {
        let text = format!("output \"o\" {{\n value = nonsensitive(sensitive({call}))\n}}");
        let (plan, state, found, _) = changed(&text, Mode::Normal, &State::default()).await;
        assert_eq!(plan.function_results.len(), 1, "{call}");
        let shown = if call.contains("sensitive") { "(sensitive value)" } else { "\"a\"" };
        let (errors, warnings) = split(&found);
        assert_eq!(errors, ["Value differs from the plan"], "{call}");
        let warning = format!("The function {name:?} returned another result for {shown} than before");
        assert!(warnings.len() == 1 && warnings[0].starts_with(&warning), "{call}: {warnings:?}");
        let values = |state: &State| state.outputs.values().map(|output| output.value.clone()).collect::<Vec<_>>();
        assert_eq!(values(&state), values(&plan.prior_state), "{call}");
    }
}

#[tokio::test]
async fn what_was_not_known_may_become_what_a_file_has_now() {
    let text = "output \"o\" {\n value = \"${substr(timestamp(), 0, 0)}${file(\"a\")}\"\n}";
    let (_, state, found, _) = changed(text, Mode::Normal, &State::default()).await;
    assert!(!found.has_errors() && found.len() == 1, "{:?}", texts(&found));
    assert_eq!(state.outputs["o"].value.as_str(), Some("two"));
}

#[tokio::test]
async fn known_values_of_planned_changes_must_stay_whatever_they_pass_through() {
    let inconsistent = "Provider produced inconsistent final plan";
    let differs = "Value differs from the plan";
    let module = "module \"m\" {\n source = \"./m\"\n name = file(\"a\")\n}";
    let child = "variable \"name\" {}\nresource \"test_thing\" \"a\" {\n name = var.name\n}";
    let read = "resource \"test_thing\" \"b\" {\n name = \"b\"\n}\ndata \"test_thing\" \"a\" {\n depends_on = [test_thing.b]\n \
                name = file(\"a\")\n}";
    let cases: [(&[(&str, &str)], &[&str]); 5] = [
        (&[("main.tf", "resource \"test_thing\" \"a\" {\n name = file(\"a\")\n}")], &[inconsistent]),
        (
            &[("main.tf", "locals {\n n = file(\"a\")\n}\nresource \"test_thing\" \"a\" {\n name = local.n\n}")],
            &[inconsistent],
        ),
        (&[("main.tf", module), ("m/main.tf", child)], &[inconsistent]),
        (&[("main.tf", read)], &[differs]),
        // Not part of any change.
        (
            &[(
                "main.tf",
                "locals {\n n = file(\"a\")\n}\nresource \"test_thing\" \"a\" {\n name = length(local.n)\n}",
            )],
            &[],
        ),
    ];
    for (files, expected) in cases {
        let world = World::new();
        world.files.insert("a", "one");
        let config = config(files);
        let (plan, found) = plan(&world, &config, &State::default(), Options::default()).await;
        assert!(!found.has_errors(), "{:?}", texts(&found));
        world.files.insert("a", "two");
        let (_, found) = apply_plan(&world, &config, plan.unwrap()).await;
        let (errors, warnings) = split(&found);
        assert_eq!((errors, warnings.len()), (expected.iter().map(|e| e.to_string()).collect(), 1), "{files:?}");
    }
}

#[tokio::test]
async fn provider_configurations_may_change() {
    let text = "provider \"test\" {\n region = file(\"a\")\n}\nresource \"test_thing\" \"a\" {\n name = \"n\"\n}";
    let (plan, state, found, log) = changed(text, Mode::Normal, &State::default()).await;
    assert!(!found.has_errors() && plan.function_results.is_empty(), "{:?}", texts(&found));
    assert_eq!(log, ["configure two", "create n"]);
    assert_eq!(addresses(&state), ["test_thing.a"]);
}

#[tokio::test]
async fn what_a_try_made_of_a_missing_file_must_stay() {
    let world = World::new();
    let text = "output \"o\" {\n value = try(file(\"b\"), \"none\")\n}";
    let config = config(&[("main.tf", text)]);
    let (plan, _) = plan(&world, &config, &State::default(), Options::default()).await;
    world.files.insert("b", "here");
    let (_, found) = apply_plan(&world, &config, plan.unwrap()).await;
    let (errors, warnings) = split(&found);
    assert_eq!((errors, warnings.len()), (vec!["Value differs from the plan".to_string()], 1));
}

/// As in modules that upload what an earlier resource packages.
#[tokio::test]
async fn files_that_appear_may_give_arguments_without_a_planned_value() {
    let hash = "fileexists(\"b\") ? filemd5(\"b\") : null";
    let cases = [
        (format!("resource \"test_thing\" \"a\" {{\n name = \"n\"\n input = {hash}\n}}"), None),
        (format!("output \"o\" {{\n value = {hash}\n}}"), Some("Value differs from the plan")),
    ];
    for (text, expected) in cases {
        let world = World::new();
        let config = config(&[("main.tf", &text)]);
        let (plan, _) = plan(&world, &config, &State::default(), Options::default()).await;
        world.files.insert("b", "here");
        let (_, found) = apply_plan(&world, &config, plan.unwrap()).await;
        let (errors, warnings) = split(&found);
        assert_eq!((errors, warnings.len()), (Vec::from_iter(expected.map(str::to_string)), 2), "{text}");
    }
}

#[tokio::test]
async fn a_destroy_keeps_what_its_refresh_read() {
    let text = "locals {\n text = file(\"a\")\n}\nresource \"test_thing\" \"a\" {\n name = local.text\n}";
    let world = World::new();
    world.files.insert("a", "zero");
    let (state, _) = apply(&world, text, &State::default()).await;
    let (plan, ..) = changed(text, Mode::Destroy, &state).await;
    assert_eq!(plan.function_results.len(), 1);
}

/// Observed on the reference: the instances of the plan are made, as they were planned.
#[tokio::test]
async fn planned_instances_are_made_although_a_file_leaves_them_out() {
    let cases = [
        ("count = fileexists(\"b\") ? 0 : 1\n name = \"n${count.index}\"", None),
        ("for_each = fileexists(\"b\") ? toset([]) : toset([\"n0\"])\n name = each.key", None),
        (
            "for_each = fileexists(\"b\") ? {} : { n0 = \"n0\" }\n name = each.value",
            Some("each.value cannot be used in this context"),
        ),
    ];
    for (arguments, expected) in cases {
        let world = World::new();
        let config = config(&[("main.tf", &format!("resource \"test_thing\" \"a\" {{\n {arguments}\n}}"))]);
        let (plan, found) = plan(&world, &config, &State::default(), Options::default()).await;
        assert!(!found.has_errors(), "{:?}", texts(&found));
        world.took();
        world.files.insert("b", "here");
        let (state, found) = apply_plan(&world, &config, plan.unwrap()).await;
        let (errors, warnings) = split(&found);
        assert_eq!((errors, warnings.len()), (Vec::from_iter(expected.map(str::to_string)), 1), "{arguments}");
        assert_eq!(addresses(&state).len(), usize::from(expected.is_none()), "{arguments}");
        assert_eq!(world.took().contains(&"create n0".to_string()), expected.is_none(), "{arguments}");
    }
}
