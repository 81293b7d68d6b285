//! Override files: their blocks laid over the blocks of the same name in the other files, before anything is decoded.

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use lang::syntax::ast::Block;
use lang::syntax::body::{Body, BodySchema};
use lang::syntax::syntax_errors::missing_argument;

use super::module_file;
use crate::config::blocks::block::Variable;
use crate::config::blocks::override_bodies::{self, argument, items, with_blocks};
use crate::config::blocks::terraform::{self, TerraformBlock};
use crate::config::blocks::{references, variable, variable_override};
use crate::config::module_source::{self, ModuleSource};
use crate::model_errors::{DUPLICATE_BACKEND, INVALID_VERSION_CONSTRAINT};

/// The order in which kinds of blocks are looked at.
const ORDER: [&str; 13] = [
    "provider",
    "variable",
    "locals",
    "output",
    "module",
    "resource",
    "data",
    "ephemeral",
    "action",
    "check",
    "moved",
    "removed",
    "import",
];

/// Lays the blocks of one override file over those of the primary files, whose variables are decoded already. Its `terraform` blocks
/// are for the whole module, and come back.
pub fn apply(
    primary: &mut [Vec<Block>],
    variables: &mut [Vec<Variable>],
    file: &[Block],
    diags: &mut Diagnostics,
) -> Vec<TerraformBlock> {
    let terraform = file.iter().filter(|b| b.kind.as_str() == "terraform");
    let terraform = terraform.map(|block| terraform::decode(block, diags)).collect();
    // These add to what the other files say.
    let languages = file.iter().filter(|b| b.kind.as_str() == "language").cloned();
    if let Some(first) = primary.first_mut() {
        first.extend(languages);
    }
    for kind in ORDER {
        for over in file.iter().filter(|b| b.kind.as_str() == kind) {
            match kind {
                "locals" => override_locals(primary, over, diags),
                "variable" => override_variable(variables, over, diags),
                "check" => diags.push(not_overridable(over)),
                "moved" | "import" => {
                    diags.push(not_overridable(over));
                    check_alone(over, diags);
                }
                // They are read and have no effect.
                "ephemeral" | "removed" => check_alone(over, diags),
                _ => override_block(primary, over, diags),
            }
        }
    }
    terraform
}

fn override_block(primary: &mut [Vec<Block>], over: &Block, diags: &mut Diagnostics) {
    let over = &without_conditions(over, diags);
    refuse_depends_on(over, diags);
    check_alone(over, diags);
    let kind = over.kind.as_str();
    match primary.iter_mut().flatten().find(|base| is_base_of(base, over)) {
        Some(base) => {
            base.body = override_bodies::merged(kind, &base.body, &over.body);
            if kind == "module" {
                check_version(base, over, diags);
            }
        }
        // A provider without a block has an empty configuration, which may be overridden.
        None if kind == "provider" && alias(over).is_none() => {
            if let Some(first) = primary.first_mut() {
                first.push(over.clone());
            }
        }
        None => {
            if kind != "data" || !override_in_check(primary, over) {
                diags.push(missing_base(over));
            }
        }
    }
}

/// Overrides a data source that a `check` block has for itself. False if there is none.
fn override_in_check(primary: &mut [Vec<Block>], over: &Block) -> bool {
    for check in primary.iter_mut().flatten().filter(|block| block.kind.as_str() == "check") {
        if let Some(body) = override_bodies::merged_in_check(check, over) {
            check.body = body;
            return true;
        }
    }
    false
}

fn override_variable(variables: &mut [Vec<Variable>], over: &Block, diags: &mut Diagnostics) {
    let over = &without_conditions(over, diags);
    let decoded = variable::decode(over, diags);
    match variables.iter_mut().flatten().find(|variable| variable.name == decoded.name) {
        Some(variable) => variable_override::apply(variable, decoded, over, diags),
        None => diags.push(missing_base(over)),
    }
}

fn is_base_of(base: &Block, over: &Block) -> bool {
    base.kind.name == over.kind.name
        && override_bodies::have_same_labels(base, over)
        && (base.kind.as_str() != "provider" || alias(base) == alias(over))
}

fn alias(block: &Block) -> Option<std::sync::Arc<str>> {
    argument(&block.body, "alias")?.expr.as_literal_string()
}

fn override_locals(primary: &mut [Vec<Block>], over: &Block, diags: &mut Diagnostics) {
    for attribute in diags.take(over.body.just_attributes()).into_values() {
        let name = attribute.name.as_str();
        let holds = |b: &&mut Block| b.kind.as_str() == "locals" && argument(&b.body, name).is_some();
        match primary.iter_mut().flatten().find(holds) {
            Some(base) => {
                let body = items(over, vec![attribute], Vec::new());
                base.body = Body::merged(base.body.clone(), body);
            }
            None => {
                let detail = format!(
                    "There is no local value named {name:?}. An override file can only override a local value that was \
                     already defined in a primary configuration file."
                );
                let error = Diagnostic::error("Missing base local value definition to override", detail);
                diags.push(error.at(attribute.range()));
            }
        }
    }
}

/// Reports what is wrong with the block itself. Arguments that it has to have may stand in the block that it overrides.
fn check_alone(over: &Block, diags: &mut Diagnostics) {
    let mut found = Diagnostics::new();
    module_file::decode(std::slice::from_ref(over), &mut found);
    let elsewhere = match over.kind.as_str() {
        "output" => Some("value"),
        "module" => Some("source"),
        _ => None,
    };
    let elsewhere = elsewhere.map(|name| missing_argument(name, over.body.missing_item_range()));
    diags
        .extend(found.into_iter().filter(|problem| elsewhere.as_ref().is_none_or(|missing| !problem.repeats(missing))));
}

/// A call whose source comes from one block and whose version from another.
fn check_version(base: &Block, over: &Block, diags: &mut Diagnostics) {
    let has = |name: &str| argument(&over.body, name).is_some();
    let version = argument(&base.body, "version").filter(|version| !override_bodies::is_null(version));
    let source = argument(&base.body, "source").and_then(|source| source.expr.as_literal_string());
    let (Some(_), Some(source), true) = (version, source, has("source") || has("version")) else { return };
    let why = match module_source::parse(&source) {
        Ok(ModuleSource::Registry(_)) | Err(_) => return,
        Ok(ModuleSource::Local(_)) => "it has a relative local path",
        Ok(ModuleSource::Remote(_)) => "it doesn't come from a module registry",
    };
    let range = base.header_range();
    let detail = format!(
        "Cannot apply a version constraint to module {:?} (at {}:{}) because {why}.",
        base.label(0),
        range.filename(),
        range.start().line
    );
    let error = Diagnostic::error(INVALID_VERSION_CONSTRAINT, detail).at(range);
    if !diags.iter().any(|known| known.repeats(&error)) {
        diags.push(error);
    }
}

/// The block without the conditions in it, which are refused.
fn without_conditions(over: &Block, diags: &mut Diagnostics) -> Block {
    let body = match over.kind.as_str() {
        "variable" => refuse(&over.body, &["validation"], diags),
        "output" => refuse(&over.body, &["precondition", "postcondition"], diags),
        "resource" | "data" => {
            let found = std::cell::RefCell::new(Diagnostics::new());
            let body = with_blocks(&over.body, "lifecycle", |lifecycle| {
                refuse(&lifecycle.body, &["precondition", "postcondition"], &mut found.borrow_mut())
            });
            diags.extend(found.into_inner());
            body
        }
        _ => return over.clone(),
    };
    Block { body, ..over.clone() }
}

fn refuse(body: &Body, kinds: &[&str], diags: &mut Diagnostics) -> Body {
    let schema = kinds.iter().fold(BodySchema::new(), |schema, kind| schema.block(kind, &[]));
    let (content, rest, _) = body.partial_content(&schema);
    for block in &content.blocks {
        let kind = block.kind.as_str();
        let detail = format!("Override files cannot override {kind:?} blocks.");
        diags.push(Diagnostic::error(format!("Can't override {kind} blocks"), detail).at(block.header_range()));
    }
    if content.blocks.is_empty() { body.clone() } else { rest }
}

fn refuse_depends_on(over: &Block, diags: &mut Diagnostics) {
    if !matches!(over.kind.as_str(), "resource" | "data" | "module" | "output") {
        return;
    }
    let Some(attribute) = argument(&over.body, "depends_on") else { return };
    let first = attribute.expr.as_static_list().and_then(|items| items.first().cloned());
    let range = match first.as_ref().and_then(|e| e.as_traversal().map(|t| (t, &e.file))) {
        Some((traversal, file)) => references::traversal_range(traversal, file),
        None => attribute.expr.range(),
    };
    diags.push(Diagnostic::error("Unsupported override", "The depends_on argument may not be overridden.").at(range));
}

const MISSING_RESOURCE: &str = "Missing resource to override";

fn missing_base(over: &Block) -> Diagnostic {
    let (first, second) = (&**over.label(0), &**over.label(1));
    const ONLY: &str = "An override file can only override";
    let (summary, detail) = match over.kind.as_str() {
        "provider" => (
            "Missing base provider configuration for override",
            format!(
                "There is no {first} provider configuration with the alias {:?}. {ONLY} an aliased provider configuration \
                 that was already defined in a primary configuration file.",
                alias(over).as_deref().unwrap_or_default()
            ),
        ),
        "variable" => (
            "Missing base variable declaration to override",
            format!(
                "There is no variable named {first:?}. {ONLY} a variable that was already declared in a primary \
                 configuration file."
            ),
        ),
        "output" => (
            "Missing base output definition to override",
            format!(
                "There is no output named {first:?}. {ONLY} an output that was already defined in a primary configuration \
                 file."
            ),
        ),
        "module" => (
            "Missing module call to override",
            format!(
                "There is no module call named {first:?}. {ONLY} a module call that was defined in a primary configuration \
                 file."
            ),
        ),
        "data" => (
            "Missing data resource to override",
            format!(
                "There is no {first} data resource named {second:?}. {ONLY} a data block defined in a primary \
                 configuration file."
            ),
        ),
        "action" => (
            MISSING_RESOURCE,
            format!(
                "There is no action named {second:?}. {ONLY} a resource block defined in a primary configuration file."
            ),
        ),
        _ => (
            MISSING_RESOURCE,
            format!(
                "There is no {first} resource named {second:?}. {ONLY} a resource block defined in a primary configuration \
                 file."
            ),
        ),
    };
    Diagnostic::error(summary, detail).at(over.header_range())
}

fn not_overridable(over: &Block) -> Diagnostic {
    let (summary, detail) = match over.kind.as_str() {
        "check" => ("Can't override check blocks", "Override files cannot override check blocks."),
        "moved" => (
            "Cannot override 'moved' blocks",
            "Records of moved objects can appear only in normal files, not in override files.",
        ),
        _ => {
            ("Cannot override 'import' blocks", "Import blocks can appear only in normal files, not in override files.")
        }
    };
    Diagnostic::error(summary, detail).at(over.header_range())
}

/// A backend given twice by one override file.
pub fn duplicate_backend(previous: &Range, second: &Range) -> Diagnostic {
    let detail = format!(
        "Each override file may have only one backend configuration. A backend was previously configured at {previous}."
    );
    Diagnostic::error(DUPLICATE_BACKEND, detail).at(second.clone())
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
            let argument = super::argument(&module.resources[0].body, name).unwrap();
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
