//! Override files: their blocks laid over the blocks of the same name in the other files, before anything is decoded.

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::base::source::Range;
use crate::lang::syntax::ast::{Attribute, Block};
use crate::lang::syntax::body::{Body, BodySchema, NativeBody};
use crate::model::model_errors::DUPLICATE_BACKEND;

use super::terraform_block::{self, TerraformBlock};
use super::{names, output, variable};

/// The order in which kinds of blocks are looked at.
const ORDER: [&str; 11] =
    ["provider", "variable", "locals", "output", "module", "resource", "data", "action", "check", "moved", "import"];

/// Lays the blocks of one override file over those of the primary files. Its `terraform` blocks are for the whole
/// module, and come back.
pub fn apply(primary: &mut [Vec<Block>], file: &[Block], diags: &mut Diagnostics) -> Vec<TerraformBlock> {
    let terraform = file.iter().filter(|b| b.kind.as_str() == "terraform");
    let terraform = terraform.map(|block| terraform_block::decode(block, diags)).collect();
    // These add to what the other files say.
    let languages = file.iter().filter(|b| b.kind.as_str() == "language").cloned();
    if let Some(first) = primary.first_mut() {
        first.extend(languages);
    }
    for kind in ORDER {
        for over in file.iter().filter(|b| b.kind.as_str() == kind) {
            match kind {
                "locals" => override_locals(primary, over, diags),
                "check" | "moved" | "import" => diags.push(not_overridable(over)),
                _ => override_block(primary, over, diags),
            }
        }
    }
    terraform
}

fn override_block(primary: &mut [Vec<Block>], over: &Block, diags: &mut Diagnostics) {
    refuse_depends_on(over, diags);
    let base = primary.iter_mut().enumerate().flat_map(|(i, file)| file.iter_mut().map(move |b| (i, b)));
    let found = base.map(|(_, block)| block).find(|base| is_base_of(base, over));
    match found {
        Some(base) => {
            check_own_arguments(base, over, diags);
            let body = merged(&base.body, over, diags);
            match overridden_default(&base.body, &body, over) {
                // The variable stays as it was.
                Some(conflict) => diags.push(conflict),
                None => base.body = body,
            }
        }
        // A provider without a block has an empty configuration, which may be overridden.
        None if over.kind.as_str() == "provider" && alias(over).is_none() => {
            if let Some(first) = primary.first_mut() {
                first.push(over.clone());
            }
        }
        None => diags.push(missing_base(over)),
    }
}

fn is_base_of(base: &Block, over: &Block) -> bool {
    let same_labels = || base.labels.iter().map(|l| &l.text).eq(over.labels.iter().map(|l| &l.text));
    base.kind.name == over.kind.name
        && same_labels()
        && (base.kind.as_str() != "provider" || alias(base) == alias(over))
}

fn alias(block: &Block) -> Option<std::sync::Arc<str>> {
    argument(&block.body, "alias")?.expr.as_literal_string()
}

/// One argument of a body, looked at before the body is read.
fn argument(body: &Body, name: &str) -> Option<Attribute> {
    body.partial_content(&BodySchema::new().attribute(name)).0.attributes.swap_remove(name)
}

/// The body with an override on top. `lifecycle` blocks, and `config` blocks of actions, are merged argument by argument; other
/// nested blocks replace all of their kind.
fn merged(base: &Body, over: &Block, diags: &mut Diagnostics) -> Body {
    let nested = match over.kind.as_str() {
        "resource" | "data" => "lifecycle",
        "action" => "config",
        _ => return Body::merged(base.clone(), over.body.clone()),
    };
    let schema = BodySchema::new().block(nested, &[]);
    let (mine, rest, _) = over.body.partial_content(&schema);
    let mut body = base.clone();
    for lifecycle in &mine.blocks {
        if nested == "lifecycle" {
            refuse_conditions(&lifecycle.body, diags);
        }
        let (theirs, _, _) = base.partial_content(&schema);
        let block = match theirs.blocks.first() {
            Some(first) => Block { body: Body::merged(first.body.clone(), lifecycle.body.clone()), ..first.clone() },
            None => lifecycle.clone(),
        };
        body = Body::merged(body, items(lifecycle, Vec::new(), vec![block]));
    }
    Body::merged(body, rest)
}

fn items(like: &Block, attributes: Vec<Attribute>, blocks: Vec<Block>) -> Body {
    let file = like.file().clone();
    Body::native(NativeBody { file, attributes, blocks, span: like.open.to(like.close), end: like.close })
}

fn override_locals(primary: &mut [Vec<Block>], over: &Block, diags: &mut Diagnostics) {
    for attribute in diags.take(over.body.just_attributes()).into_values() {
        let name = attribute.name.as_str();
        let holds = |b: &&mut Block| b.kind.as_str() == "locals" && argument(&b.body, name).is_some();
        match primary.iter_mut().flatten().find(holds) {
            Some(base) => base.body = Body::merged(base.body.clone(), items(over, vec![attribute], Vec::new())),
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

/// Blocks without a provider's schema: an unknown argument is an error on either side.
fn check_own_arguments(base: &Block, over: &Block, diags: &mut Diagnostics) {
    let schema = match over.kind.as_str() {
        "variable" => variable::schema(),
        "output" => {
            refuse_conditions(&over.body, diags);
            output::schema()
        }
        _ => return,
    };
    diags.extend(base.body.content(schema).1);
    let mut optional = schema.clone();
    optional.attributes.iter_mut().for_each(|a| a.required = false);
    diags.extend(over.body.content(&optional).1);
}

/// A variable whose type comes from one file and whose default, which does not fit it, from the other.
fn overridden_default(base: &Body, merged: &Body, over: &Block) -> Option<Diagnostic> {
    if over.kind.as_str() != "variable" {
        return None;
    }
    let both_ours = [base, &over.body].into_iter().any(|body| variable::default_conflict(body).is_some());
    let why = variable::default_conflict(merged).filter(|_| !both_ours)?;
    let detail = match (argument(&over.body, "type"), argument(&over.body, "default")) {
        (Some(_), None) => {
            format!("Overriding this variable's type constraint has made its default value invalid: {why}.")
        }
        (None, Some(_)) => {
            format!(
                "The overridden default value for this variable is not compatible with the variable's type constraint: {why}."
            )
        }
        _ => return None,
    };
    Some(Diagnostic::error(variable::INVALID_DEFAULT, detail).at(over.header_range()))
}

fn refuse_conditions(body: &Body, diags: &mut Diagnostics) {
    let schema = BodySchema::new().block("precondition", &[]).block("postcondition", &[]);
    for block in &body.partial_content(&schema).0.blocks {
        let kind = block.kind.as_str();
        let detail = format!("Override files cannot override {kind:?} blocks.");
        diags.push(Diagnostic::error(format!("Can't override {kind} blocks"), detail).at(block.header_range()));
    }
}

fn refuse_depends_on(over: &Block, diags: &mut Diagnostics) {
    if !matches!(over.kind.as_str(), "resource" | "data" | "module" | "output") {
        return;
    }
    let Some(attribute) = argument(&over.body, "depends_on") else { return };
    let first = attribute.expr.as_static_list().and_then(|items| items.first().cloned());
    let range = match first.as_ref().and_then(|e| e.as_traversal().map(|t| (t, &e.file))) {
        Some((traversal, file)) => names::traversal_range(traversal, file),
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

    use crate::base::files::Memory;
    use crate::model::addr;
    use crate::model::config::load_module;

    fn load(over: &str) -> Result<crate::model::config::Module, Vec<String>> {
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
        assert!(matches!(lifecycle.prevent_destroy, crate::model::config::PreventDestroy::Yes));
        assert_eq!(lifecycle.create_before_destroy, Some(true));
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
