//! `action` blocks, and the `action_trigger` blocks of resources that call them.

use std::sync::LazyLock;

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use indexmap::IndexMap;
use lang::syntax::ast::{Attribute, Block, Expression};
use lang::syntax::body::{Body, BodySchema};

use super::action_event::{ActionEvent, OnActionFailure};
use super::override_rule::{MISSING_RESOURCE, OverrideRule, missing_base};
use super::repetition::Repetition;
use super::{labels, override_bodies, references};
use crate::addr::parse::parse_reference;
use crate::addr::provider::parse_part;
use crate::addr::{self, Subject};
use crate::config::providers::provider_ref::{self, ProviderRef};
use crate::config::providers::requirements::{RequiredProviders, imply, provider_for};
use crate::model_errors::{INVALID_ON_FAILURE, duplicate_count_and_for_each};
use crate::schema::decode::duplicate_block;

/// `action "type" "name" {}`.
#[derive(Clone, Debug)]
pub struct Action {
    pub addr: addr::Action,
    pub count: Option<Expression>,
    pub for_each: Option<Expression>,
    /// As written in the block; none: by the type's name.
    pub provider_ref: Option<ProviderRef>,
    /// The provider that serves it, from the module's requirements.
    pub provider: addr::Provider,
    /// The `config` block, for the schema of the action.
    pub config: Option<Body>,
    pub body: Body,
    /// The block's header.
    pub range: Range,
}

/// The actions of a module.
pub type Actions = IndexMap<addr::Action, Action>;

impl Action {
    pub fn repetition(&self) -> Repetition<'_> {
        Repetition { count: self.count.as_ref(), for_each: self.for_each.as_ref(), enabled: None }
    }

    /// The local provider configuration that it uses, as its module names it.
    pub fn local_provider_config(&self) -> addr::LocalProviderConfig {
        match &self.provider_ref {
            Some(reference) => reference.addr.clone(),
            None => addr::LocalProviderConfig { local_name: self.addr.implied_provider().into(), alias: None },
        }
    }

    /// The body for the schema: an empty one if there is no `config` block.
    pub fn config_body(&self) -> Body {
        self.config.clone().unwrap_or_else(|| Body::empty(&self.range.file))
    }

    /// The body that a message of the provider is about: that of the `config` block if the message names an attribute,
    /// otherwise that of the action.
    pub fn message_body(&self, names_attribute: bool) -> &Body {
        self.config.as_ref().filter(|_| names_attribute).unwrap_or(&self.body)
    }
}

/// `action_trigger {}` in the `lifecycle` block of a resource.
#[derive(Clone, Debug)]
pub struct ActionTrigger {
    pub events: Vec<ActionEvent>,
    pub condition: Option<Expression>,
    pub actions: Vec<ActionCall>,
    pub on_failure: OnActionFailure,
}

/// An element of `actions`.
#[derive(Clone, Debug)]
pub struct ActionCall {
    pub action: addr::Action,
    /// The reference, whose key may be `count.index` or `each.key`.
    pub expr: Expression,
}

static ACTION: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new().attribute("count").attribute("for_each").attribute("provider").block("config", &[])
});
static TRIGGER: LazyLock<BodySchema> = LazyLock::new(|| {
    BodySchema::new().required("events").attribute("condition").required("actions").attribute("on_failure")
});

/// None if the block has more than one configuration. The provider is filled in when the whole module is known.
pub fn decode(block: &Block, diags: &mut Diagnostics) -> Option<Action> {
    labels::check_label(block, 0, "Invalid action type name", diags);
    labels::check_label(block, 1, "Invalid action name", diags);
    let addr = addr::Action { kind: block.label(0).clone(), name: block.label(1).clone() };
    let content = diags.take(block.body.content(&ACTION));
    let expr = |name: &str| content.attribute(name).map(|attribute| attribute.expr.clone());
    if let (Some(_), Some(for_each)) = (content.attribute("count"), content.attribute("for_each")) {
        diags.push(duplicate_count_and_for_each("used.").at(for_each.name_range()));
    }
    let mut configs = content.blocks_of("config");
    let config = configs.next().map(|config| config.body.clone());
    if let Some(second) = configs.next() {
        let detail = "An action must contain only one nested \"config\" block.";
        diags.push(Diagnostic::error(duplicate_block("config"), detail).at(second.header_range()));
        return None;
    }
    Some(Action {
        provider: addr::Provider::default_for(addr.implied_provider()),
        addr,
        count: expr("count"),
        for_each: expr("for_each"),
        provider_ref: content.attribute("provider").and_then(|a| provider_ref::decode(&a.expr, "provider", diags)),
        config,
        body: block.body.clone(),
        range: block.header_range(),
    })
}

/// A trigger, with what is sound of it.
pub fn decode_trigger(block: &Block, diags: &mut Diagnostics) -> ActionTrigger {
    let content = diags.take(block.body.content(&TRIGGER));
    let attribute = |name: &str| content.attribute(name);
    let trigger = ActionTrigger {
        condition: attribute("condition").map(|a| a.expr.clone()),
        events: attribute("events").map(|a| decode_events(a, diags)).unwrap_or_default(),
        actions: attribute("actions").map(|a| decode_calls(a, diags)).unwrap_or_default(),
        on_failure: attribute("on_failure").map(|a| decode_on_failure(a, diags)).unwrap_or_default(),
    };
    let is_empty = |name: &str| attribute(name).and_then(|a| a.expr.as_static_list()).is_none_or(|l| l.is_empty());
    if is_empty("actions") {
        diags.push(no_actions(block.header_range()));
    }
    if trigger.events.is_empty() {
        let detail = "At least one event must be specified for an action_trigger.";
        diags.push(Diagnostic::error("No events specified", detail).at(block.header_range()));
    }
    trigger
}

fn no_actions(range: Range) -> Diagnostic {
    Diagnostic::error("No actions specified", "At least one action must be specified for an action_trigger.").at(range)
}

fn decode_events(attribute: &Attribute, diags: &mut Diagnostics) -> Vec<ActionEvent> {
    let mut events = Vec::new();
    for item in references::static_list(&attribute.expr, diags) {
        let word = item.as_keyword().unwrap_or_default();
        let Some(event) = ActionEvent::of_keyword(word) else {
            let known: Vec<&str> = ActionEvent::ALL.iter().map(|event| event.keyword()).collect();
            let detail = format!("The \"event\" argument supports the following values: {}.", known.join(", "));
            diags.push(Diagnostic::error(format!("Invalid \"event\" value {word}"), detail).at(item.range()));
            continue;
        };
        if events.contains(&event) {
            let detail = "The event is already defined in this action_trigger block.";
            diags.push(Diagnostic::error(format!("Duplicate {word:?} event"), detail).at(item.range()));
            continue;
        }
        events.push(event);
    }
    events
}

fn decode_on_failure(attribute: &Attribute, diags: &mut Diagnostics) -> OnActionFailure {
    OnActionFailure::of_keyword(attribute.expr.as_keyword().unwrap_or_default()).unwrap_or_else(|| {
        let detail = "The \"on_failure\" argument requires one of the following keywords: halt, taint or continue.";
        diags.push(Diagnostic::error(INVALID_ON_FAILURE, detail).at(attribute.expr.range()));
        OnActionFailure::default()
    })
}

fn decode_calls(attribute: &Attribute, diags: &mut Diagnostics) -> Vec<ActionCall> {
    let mut calls = Vec::new();
    for item in references::static_list(&attribute.expr, diags) {
        let Some(expr) = references::native_expression(&item, diags) else { continue };
        match decode_call(&expr) {
            Ok(action) => calls.push(ActionCall { action, expr }),
            Err(problem) => diags.push(problem),
        }
    }
    calls
}

/// The one action that an expression refers to. Its key may be `count.index` or `each.key`.
fn decode_call(expr: &Expression) -> Result<addr::Action, Diagnostic> {
    let mut found = Vec::new();
    for traversal in expr.variables() {
        let reference = parse_reference(traversal, &expr.file).map_err(|problem| problem.at(expr.range()))?;
        match reference.subject {
            Subject::Action(instance) => found.push(instance.action),
            Subject::Count(_) | Subject::Each(_) => {}
            Subject::Module(_) | Subject::ModuleInstance(..) | Subject::ModuleOutput(..) => {
                let detail = "Actions can only be referenced in the module they are declared in.";
                return Err(
                    Diagnostic::error("Invalid reference to action outside this module", detail).at(expr.range())
                );
            }
            Subject::Variable(_)
            | Subject::Local(_)
            | Subject::Resource(_)
            | Subject::ResourceInstance(_)
            | Subject::Path(_)
            | Subject::Terraform(_)
            | Subject::SelfObject
            | Subject::Caller
            | Subject::Output(_)
            | Subject::Check(_)
            | Subject::Run(_) => {
                let detail = "action_triggers.actions must only refer to actions in the current module, count.index, or \
                              each.key.";
                let summary = "Invalid action argument inside action_triggers";
                return Err(Diagnostic::error(summary, detail).at(expr.range()));
            }
        }
    }
    match (found.pop(), found.is_empty()) {
        (Some(action), true) => Ok(action),
        (None, _) => Err(no_actions(expr.range())),
        (Some(_), false) => {
            let detail = "Multiple action references in actions expression.";
            Err(Diagnostic::error("Invalid action expression", detail).at(expr.range()))
        }
    }
}

/// The effect of a block in an override file.
pub const OVERRIDE: OverrideRule = OverrideRule { merge_bodies, allows_depends_on: true, ..OverrideRule::new(missing) };

fn missing(over: &Block) -> Diagnostic {
    let subject = format!("action named {:?}", &**over.label(1));
    missing_base(over, MISSING_RESOURCE, &subject, "a resource block defined")
}

fn merge_bodies(base: Body, over: Body) -> Body {
    let (base, over) = override_bodies::one_repetition(base, over);
    let both = |base: &Body, over: &Body| Body::merged(base.clone(), over.clone());
    override_bodies::merged_block("config", &base, &over, both, Body::clone)
}

/// Adds an action to those of its module, with the provider that serves it.
pub fn add(mut action: Action, actions: &mut Actions, requirements: &mut RequiredProviders, diags: &mut Diagnostics) {
    if let Some(existing) = actions.get(&action.addr) {
        let detail = format!(
            "An action named {:?} was already declared at {}. Resource names must be unique per type in each module.",
            &*action.addr.name, existing.range
        );
        let summary = format!("Duplicate action {:?} configuration", &*action.addr.kind);
        diags.push(Diagnostic::error(summary, detail).at(action.range.clone()));
        return;
    }
    let local_name = action.local_provider_config().local_name;
    if parse_part(&local_name).is_ok() {
        action.provider = provider_for(requirements, &local_name);
        imply(requirements, &local_name, &action.range);
    }
    actions.insert(action.addr.clone(), action);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use base::files::Memory;

    use crate::addr;
    use crate::config::{ActionEvent, Module, OnActionFailure, load_module};

    fn load(text: &str) -> Result<Module, Vec<String>> {
        let files = Memory::of([("main.tf", text)]);
        let (module, diags) = load_module(Path::new("."), addr::Module::root(), &files);
        match diags.has_errors() {
            true => Err(diags.iter().map(|d| d.summary.clone()).collect()),
            false => Ok(module.expect("a module")),
        }
    }

    #[test]
    fn triggers_name_events_and_actions() {
        let module = load(
            "action \"p_act\" \"a\" {\n  count = 2\n  config {\n    x = 1\n  }\n}\nresource \"p_r\" \"r\" {\n  count = 2\n  \
             lifecycle {\n    action_trigger {\n      events = [before_create, after_destroy]\n      \
             actions = [action.p_act.a[count.index]]\n      on_failure = taint\n    }\n  }\n}\n",
        )
        .expect("a sound configuration");
        let trigger = &module.resources[0].lifecycle.action_triggers[0];
        assert_eq!(trigger.events, [ActionEvent::BeforeCreate, ActionEvent::AfterDestroy]);
        assert_eq!(trigger.actions[0].action.to_string(), "action.p_act.a");
        assert_eq!(trigger.on_failure, OnActionFailure::Taint);
        let action = &module.actions[&trigger.actions[0].action];
        assert!(action.config.is_some() && action.count.is_some());
        assert!(module.requirements.contains_key("p"));
    }

    #[test]
    fn faults_of_blocks_are_reported() {
        let trigger = |body: &str| format!("resource \"r\" \"n\" {{\n  lifecycle {{\n    {body}\n  }}\n}}\n");
        let check =
            |text: &str, summaries: &[&str]| assert_eq!(load(text).err().unwrap_or_default(), summaries, "{text}");
        check("action \"a\" \"b\" {\n  lifecycle {}\n}", &["Unsupported block type"]);
        check("action \"a\" \"b\" {\n  config {}\n  config {}\n}", &["Duplicate config block"]);
        check("action \"a b\" \"c\" {}", &["Invalid action type name"]);
        check("action \"a\" \"b\" {}\naction \"a\" \"b\" {}", &["Duplicate action \"a\" configuration"]);
        check(
            "action \"a\" \"b\" {\n  count = 1\n  for_each = {}\n}",
            &["Invalid combination of \"count\" and \"for_each\""],
        );
        check(
            &trigger(
                "action_trigger {\n events = [after_create]\n actions = [action.a.b, action.a.c]\n on_failure = x\n }",
            ),
            &["Invalid \"on_failure\" keyword"],
        );
        check(
            &trigger("action_trigger {\n events = [after_create]\n actions = [r.x]\n }"),
            &["Invalid action argument inside action_triggers"],
        );
        check(&trigger("action_trigger {\n events = [after_create]\n actions = [1]\n }"), &["No actions specified"]);
        check(
            "data \"d\" \"n\" {\n  lifecycle {\n    action_trigger {}\n  }\n}",
            &["Invalid data resource lifecycle nested block"],
        );
        check("resource \"r\" \"n\" {\n  depends_on = [action.a.b]\n}", &["Invalid depends_on Action Reference"]);
    }
}
