//! Override files: their blocks laid over the blocks of the same name in the other files, before anything is decoded.

use base::diag::{Diagnostic, Diagnostics};
use lang::syntax::ast::Block;
use lang::syntax::syntax_errors::missing_argument;

use super::decode;
use crate::config::blocks::kinds::{BLOCK_KINDS, InOverrideFile, OverriddenFiles};
use crate::config::blocks::override_bodies::argument;
use crate::config::blocks::override_rule::OverrideRule;
use crate::config::blocks::references;
use crate::config::blocks::terraform::TerraformBlock;
use crate::config::blocks::variable::Variable;

/// Lays the blocks of one override file over those of the primary files, whose variables are decoded already. Its `terraform` blocks
/// are for the whole module, and come back.
pub fn apply(
    primary: &mut [Vec<Block>],
    variables: &mut [Vec<Variable>],
    file: &[Block],
    diags: &mut Diagnostics,
) -> Vec<TerraformBlock> {
    let mut files = OverriddenFiles { blocks: primary, variables, terraform: Vec::new() };
    for kind in &BLOCK_KINDS {
        for over in file.iter().filter(|block| block.kind.as_str() == kind.name) {
            match &kind.in_override_file {
                InOverrideFile::Ignored => {}
                InOverrideFile::Checked => check_alone(over, None, diags),
                InOverrideFile::Refused { error: (summary, detail), checked } => {
                    diags.push(Diagnostic::error(*summary, *detail).at(over.header_range()));
                    if *checked {
                        check_alone(over, None, diags);
                    }
                }
                InOverrideFile::Added => {
                    if let Some(first) = files.blocks.first_mut() {
                        first.push(over.clone());
                    }
                }
                InOverrideFile::Merged(rule) => override_block(files.blocks, over, rule, diags),
                InOverrideFile::Own(rule) => rule(over, &mut files, diags),
            }
        }
    }
    files.terraform
}

fn override_block(files: &mut [Vec<Block>], over: &Block, rule: &OverrideRule, diags: &mut Diagnostics) {
    let over = &Block { body: (rule.allowed)(&over.body, diags), ..over.clone() };
    if !rule.allows_depends_on {
        refuse_depends_on(over, diags);
    }
    check_alone(over, rule.required, diags);
    let is_base = |base: &&mut Block| base.kind.name == over.kind.name && (rule.is_base)(base, over);
    match files.iter_mut().flatten().find(is_base) {
        Some(base) => {
            base.body = rule.merged(&base.body, &over.body);
            (rule.check_merged)(base, over, diags);
        }
        None => {
            if !(rule.without_base)(files, over) {
                diags.push((rule.missing_base)(over));
            }
        }
    }
}

/// Reports what is wrong with the block itself. `required`: an argument that it has to have, which may stand in the block that it
/// overrides.
fn check_alone(over: &Block, required: Option<&str>, diags: &mut Diagnostics) {
    let mut found = Diagnostics::new();
    decode::decode(std::slice::from_ref(over), &mut found);
    let missing = required.map(|name| missing_argument(name, over.body.missing_item_range()));
    diags.extend(found.into_iter().filter(|problem| missing.as_ref().is_none_or(|missing| !problem.repeats(missing))));
}

fn refuse_depends_on(over: &Block, diags: &mut Diagnostics) {
    let Some(attribute) = argument(&over.body, "depends_on") else { return };
    let first = attribute.expr.as_static_list().and_then(|items| items.first().cloned());
    let range = match first.as_ref().and_then(|e| e.as_traversal().map(|t| (t, &e.file))) {
        Some((traversal, file)) => references::traversal_range(traversal, file),
        None => attribute.expr.range(),
    };
    diags.push(Diagnostic::error("Unsupported override", "The depends_on argument may not be overridden.").at(range));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::files::Memory;

    use crate::addr;
    use crate::config::load_module;

    fn load(over: &str) -> Result<crate::config::Module, Vec<String>> {
        const BASE: &str = "variable \"a\" {\n  default = 1\n}\nlocals {\n  x = 1\n}\n\
             resource \"r\" \"n\" {\n  v = 1\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n";
        let files = Memory::of([("main.tf", BASE), ("x_override.tf", over)]);
        let (module, diags) = load_module(Path::new("."), addr::Module::root(), &files);
        match diags.has_errors() {
            true => Err(diags.iter().map(|d| d.summary.clone()).collect()),
            false => Ok(module.unwrap()),
        }
    }

    #[test]
    fn later_arguments_win() {
        let module = load("variable \"a\" {\n  default = 2\n}\nlocals {\n  x = null\n}").unwrap();
        assert_eq!(module.variables["a"].default.as_ref().unwrap().as_i64(), Some(2));
        assert_eq!(module.locals["x"].expr.range().filename(), "x_override.tf");
    }

    #[test]
    fn lifecycle_is_merged() {
        let module = load("resource \"r\" \"n\" {\n  lifecycle {\n    create_before_destroy = true\n  }\n}").unwrap();
        let lifecycle = &module.resources[0].lifecycle;
        assert!(matches!(lifecycle.prevent_destroy, crate::config::PreventDestroy::Yes));
        assert_eq!(lifecycle.create_before_destroy, Some(true));
    }

    #[test]
    fn count_counts_where_for_each_stands_in_another_block() {
        let repetition = |files: &[(&str, &str)]| {
            let memory = Memory::of(files.iter().copied());
            let (module, diags) = load_module(Path::new("."), addr::Module::root(), &memory);
            assert!(!diags.has_errors(), "{diags:?}");
            let resource = &module.unwrap().resources[0];
            (resource.count.is_some(), resource.for_each.is_some())
        };
        let (by_count, by_each) =
            ("resource \"r\" \"n\" {\n  count = 3\n}\n", "resource \"r\" \"n\" {\n  for_each = {}\n}\n");
        assert_eq!(repetition(&[("main.tf", by_each), ("x_override.tf", by_count)]), (true, false));
        assert_eq!(repetition(&[("main.tf", by_count), ("x_override.tf", by_each)]), (true, false));
        assert_eq!(repetition(&[("main.tf", by_each), ("x_override.tf", by_each)]), (false, true));
        let json = "{\"resource\":{\"r\":{\"n\":{\"for_each\":[\"x\"]}}}}";
        assert_eq!(repetition(&[("main.tf.json", json), ("x_override.tf", by_count)]), (true, false));
    }

    #[test]
    fn data_sources_of_checks_are_overridden() {
        let assert = "assert {\n condition = data.r.d.a == 1\n error_message = \"No.\"\n }";
        let main = format!("check \"c\" {{\n data \"r\" \"d\" {{\n a = 1\n b = 1\n }}\n {assert}\n}}\n");
        let files = Memory::of([("main.tf", &*main), ("x_override.tf", "data \"r\" \"d\" {\n b = 2\n}\n")]);
        let (module, diags) = load_module(Path::new("."), addr::Module::root(), &files);
        assert!(!diags.has_errors(), "{diags:?}");
        let module = module.unwrap();
        let file = |name: &str| {
            let argument = crate::config::blocks::override_bodies::argument(&module.resources[0].body, name).unwrap();
            argument.expr.range().filename().to_owned()
        };
        assert_eq!(["a", "b"].map(file), ["main.tf", "x_override.tf"]);
        assert_eq!(module.checks["c"].asserts.len(), 1);
    }

    #[test]
    fn variables_are_checked_after_each_override() {
        let check = |files: &[&str], expected: &str| {
            let names = ["main.tf", "a_override.tf", "b_override.tf"];
            let text = |body: &&str| format!("variable \"v\" {{\n{body}\n}}\n");
            let texts: Vec<String> = files.iter().map(text).collect();
            let memory = Memory::of(names.into_iter().zip(texts.iter().map(String::as_str)));
            let (module, diags) = load_module(Path::new("."), addr::Module::root(), &memory);
            let found = match diags.iter().find(|d| d.is_error()) {
                Some(error) => format!("{}: {}", error.subject.as_ref().unwrap().filename(), error.detail),
                None => format!("{:?}", module.unwrap().variables["v"].default.as_ref().unwrap()),
            };
            assert!(found.contains(expected), "{files:?}: {found}");
        };
        check(&["type = number\n default = 1", "type = string", "default = \"x\""], "\"x\"");
        check(
            &["type = number\n default = 1", "type = list(string)", "default = [\"x\"]"],
            "a_override.tf: Overriding this variable's type constraint has made its default value invalid: ",
        );
        check(&["type = bool", "default = [1]"], "a_override.tf: The overridden default value for this variable");
        check(&["type = bool", "default = [1]", "sensitive = true"], "a_override.tf: The overridden default value");
        check(&["type = string\n default = 1", "type = bool"], "true");
        check(&["default = null", "nullable = false"], "a_override.tf: A null default value is not valid");
        check(
            &["nullable = false\n default = 1", "default = null"],
            "a_override.tf: A null default value is not valid",
        );
        check(
            &["default = 1", "validation {\n condition = var.v > 0\n error_message = \"Too small.\"\n}"],
            "a_override.tf: Override files cannot override \"validation\" blocks.",
        );
    }

    #[test]
    fn overriding_blocks_are_checked_by_themselves() {
        let check = |over: &str, summaries: &[&str]| assert_eq!(load(over).unwrap_err(), summaries, "{over}");
        let conditions = "precondition {\n condition = true\n error_message = \"No.\"\n}";
        check(
            &format!("resource \"r\" \"n\" {{\n lifecycle {{\n {conditions}\n }}\n}}"),
            &["Can't override precondition blocks"],
        );
        check("resource \"r\" \"n\" {\n lifecycle {}\n lifecycle {}\n}", &["Duplicate lifecycle block"]);
        check("moved {\n from = r.a\n}", &["Cannot override 'moved' blocks", "Missing required argument"]);
        check("removed {}", &["Missing required argument"]);
        check(
            "ephemeral \"r\" \"e\" {\n count = 1\n for_each = {}\n}",
            &["Invalid combination of \"count\" and \"for_each\""],
        );
    }

    #[test]
    fn all_changes_stay_ignored_and_triggers_stay() {
        let main =
            "resource \"r\" \"n\" {\n lifecycle {\n ignore_changes = all\n replace_triggered_by = [r.m]\n }\n}\n";
        let over = "resource \"r\" \"n\" {\n lifecycle {\n ignore_changes = [a]\n replace_triggered_by = []\n }\n}\n";
        let files = Memory::of([("main.tf", main), ("x_override.tf", over)]);
        let module = load_module(Path::new("."), addr::Module::root(), &files).0.unwrap();
        let lifecycle = &module.resources[0].lifecycle;
        assert!(matches!(lifecycle.ignore_changes, crate::config::IgnoreChanges::All));
        assert_eq!(lifecycle.replace_triggered_by.len(), 1);
    }

    #[test]
    fn calls_keep_their_source_their_providers_and_their_version() {
        let load = |over: &str| {
            let main = "module \"m\" {\n  source = \"a/b/c\"\n  version = \"1.0\"\n  providers = { r = r.west }\n}\n";
            let files = Memory::of([("main.tf", main), ("x_override.tf", over)]);
            let (module, diags) = load_module(Path::new("."), addr::Module::root(), &files);
            let errors: Vec<_> = diags.iter().map(|d| d.detail.clone()).collect();
            (module.unwrap().calls.get("m").map(|call| call.providers.len()), errors)
        };
        assert_eq!(load("module \"m\" {\n providers = {}\n version = \"2.0\"\n}"), (Some(1), Vec::new()));
        let (_, errors) = load("module \"m\" {\n source = \"./m\"\n}");
        let expected =
            "Cannot apply a version constraint to module \"m\" (at main.tf:1) because it has a relative local path.";
        assert_eq!(errors, [expected]);
    }

    #[test]
    fn places_for_states_replace_each_other() {
        let kind = |main: &str, over: &str| {
            let block = |body: &str| format!("terraform {{\n{body}\n}}\n");
            let (main, over) = (block(main), block(over));
            let files = Memory::of([("main.tf", main.as_str()), ("x_override.tf", over.as_str())]);
            let (module, diags) = load_module(Path::new("."), addr::Module::root(), &files);
            match diags.has_errors() {
                true => diags.iter().map(|d| d.summary.clone()).collect::<Vec<_>>().join(", "),
                false => module.unwrap().backend.map_or_else(|| "none".to_string(), |b| b.kind.to_string()),
            }
        };
        let (cloud, local, http) = ("cloud {}", "backend \"local\" {}", "backend \"http\" {}");
        assert_eq!(kind(cloud, local), "local");
        assert_eq!(kind(local, cloud), "cloud");
        assert_eq!(kind("", &format!("{local}\n{cloud}")), "cloud");
        assert_eq!(kind(local, http), "http");
        assert_eq!(kind("", &format!("{local}\n{http}\n{local}")), "Duplicate backend configuration");
    }

    #[test]
    fn there_must_be_something_to_override() {
        let check = |over: &str, summary: &str| assert_eq!(load(over).unwrap_err(), [summary], "{over}");
        check("variable \"b\" {}", "Missing base variable declaration to override");
        check("locals {\n  y = 1\n}", "Missing base local value definition to override");
        check("resource \"r\" \"m\" {}", "Missing resource to override");
        check("resource \"r\" \"n\" {\n  depends_on = [r.m]\n}", "Unsupported override");
        check("variable \"a\" {\n  bogus = 1\n}", "Unsupported argument");
    }
}
