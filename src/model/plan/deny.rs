//! Rules of `-deny=ACTION:ADDRESS`: changes that a plan must not have.
//!
//! Owns the text of a rule and the changes that it is about. Never knows what happens to a plan that has one of them.

use std::fmt;
use std::sync::Arc;

use base::diag::Diagnostics;
use terrane_protocol::schema::ResourceMode;

use super::{Action, ActionInvocation, Plan, ResourceChange};
use crate::addr::{AbsActionInstance, AbsResourceInstance, Resource, Target, command_line};
use crate::state::DeposedKey;

/// What a rule does not allow, and for which addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct DenyRule {
    text: Arc<str>,
    action: DeniedAction,
    target: Target,
}

/// Why a text is no rule: sentences that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidDenyRule(String);

impl fmt::Display for InvalidDenyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeniedAction {
    Create,
    Update,
    /// Replacements and deposed objects too.
    Delete,
    Replace,
    Forget,
    Read,
    Invoke,
}

/// The words of rules.
static ACTIONS: [(&str, DeniedAction); 7] = [
    ("create", DeniedAction::Create),
    ("update", DeniedAction::Update),
    ("delete", DeniedAction::Delete),
    ("replace", DeniedAction::Replace),
    ("forget", DeniedAction::Forget),
    ("read", DeniedAction::Read),
    ("invoke", DeniedAction::Invoke),
];

impl DeniedAction {
    fn covers(self, action: Action) -> bool {
        match self {
            DeniedAction::Create => action == Action::Create,
            DeniedAction::Update => action == Action::Update,
            DeniedAction::Delete => action.destroys(),
            DeniedAction::Replace => action.is_replace(),
            DeniedAction::Forget => action.forgets(),
            DeniedAction::Read => action == Action::Read,
            DeniedAction::Invoke => false,
        }
    }
}

/// Something of a plan that a rule does not allow.
#[derive(Clone, Debug, PartialEq)]
pub enum DeniedChange<'p> {
    Object { addr: &'p AbsResourceInstance, deposed: Option<&'p DeposedKey>, action: Action },
    Invocation(&'p AbsActionInstance),
}

impl DenyRule {
    /// Reads `ACTION:ADDRESS`.
    pub fn parse(text: &str) -> Result<DenyRule, InvalidDenyRule> {
        let words = || ACTIONS.map(|(word, _)| word).join(", ");
        let Some((word, address)) = text.split_once(':') else {
            return Err(InvalidDenyRule(format!(
                "{text:?} has no colon. A rule is an action and an address, such as \"delete:aws_db_instance.*\"; the actions are {}.",
                words()
            )));
        };
        let Some((_, action)) = ACTIONS.iter().find(|(name, _)| *name == word) else {
            return Err(InvalidDenyRule(format!(
                "{word:?} in {text:?} is not an action. The actions are {}.",
                words()
            )));
        };
        let address = if *action == DeniedAction::Invoke { without_action(address) } else { address.to_owned() };
        let invalid = |found| InvalidDenyRule(format!("{text:?}: {}", first_detail(found)));
        let target = command_line::target(&address).map_err(invalid)?;
        Ok(DenyRule { text: text.into(), action: *action, target })
    }

    /// Reads rules with blanks or line breaks between them, as TERRANE_DENY has them. Blanks in quotes belong to a rule.
    pub fn parse_all(text: &str) -> Result<Vec<DenyRule>, InvalidDenyRule> {
        let (mut is_quoted, mut is_escaped) = (false, false);
        let words = text.split(|c: char| {
            is_quoted ^= c == '"' && !is_escaped;
            is_escaped = is_quoted && c == '\\' && !is_escaped;
            c.is_whitespace() && !is_quoted
        });
        words.filter(|word| !word.is_empty()).map(DenyRule::parse).collect()
    }

    /// What of a plan the rule does not allow, in the order of the plan.
    pub fn denied<'p>(&self, plan: &'p Plan) -> Vec<DeniedChange<'p>> {
        let objects = plan.changes.iter().filter(|change| self.denies(change)).map(|change| DeniedChange::Object {
            addr: &change.addr,
            deposed: change.deposed.as_ref(),
            action: change.action,
        });
        let invocations = plan.invocations.iter().filter(|invocation| self.denies_invocation(invocation));
        objects.chain(invocations.map(|invocation| DeniedChange::Invocation(&invocation.addr))).collect()
    }

    fn denies(&self, change: &ResourceChange) -> bool {
        // A data source that leaves the state is not destroyed.
        let is_object = change.addr.mode() == ResourceMode::Managed || change.action == Action::Read;
        is_object && self.action.covers(change.action) && self.target.contains(&change.addr)
    }

    fn denies_invocation(&self, invocation: &ActionInvocation) -> bool {
        let addr = &invocation.addr;
        let action = &addr.action.action;
        let as_resource = Resource::managed(&action.kind, &action.name);
        let instance = as_resource.absolute(addr.module.clone()).instance(addr.action.key.clone());
        self.action == DeniedAction::Invoke && self.target.contains(&instance)
    }
}

impl fmt::Display for DenyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// As people read it: `a.b (delete)`.
impl fmt::Display for DeniedChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeniedChange::Invocation(addr) => write!(f, "{addr} (invoke)"),
            DeniedChange::Object { addr, deposed: Some(key), .. } => {
                write!(f, "{addr} (delete deposed object {})", key.0)
            }
            DeniedChange::Object { addr, action, .. } => write!(f, "{addr} ({})", word_of(*action)),
        }
    }
}

fn word_of(action: Action) -> &'static str {
    match action {
        Action::NoOp => "no change",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::Delete => "delete",
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::CreateThenForget => "replace",
        Action::Forget => "forget",
    }
}

fn first_detail(found: Diagnostics) -> String {
    found.into_iter().next().map_or_else(String::new, |problem| problem.detail)
}

/// The address of an action without the step `action`: patterns name types and names, as of resources.
fn without_action(text: &str) -> String {
    const STEP: &str = "action.";
    for (at, _) in text.match_indices(STEP) {
        let before = &text[..at];
        let is_step = before.is_empty() || before.ends_with('.') && !before.ends_with("module.");
        let is_quoted = before.matches('"').count() % 2 == 1;
        if is_step && !is_quoted {
            return format!("{before}{}", &text[at + STEP.len()..]);
        }
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use terrane_value::{Type, Value};

    use super::*;
    use crate::addr::parse::parse_abs_instance;
    use crate::addr::{AbsProviderConfig, Provider};
    use crate::plan::{ActionReason, Change, IdentityChange, InvocationTrigger};

    fn change(addr: &str, action: Action, deposed: Option<&str>) -> ResourceChange {
        let addr = parse_abs_instance(addr).unwrap();
        ResourceChange {
            previous_addr: addr.clone(),
            addr,
            deposed: deposed.map(|key| DeposedKey(key.into())),
            provider: AbsProviderConfig::root(Provider::builtin("terraform")),
            action,
            reason: ActionReason::None,
            change: Change { before: Value::null(Type::Dynamic), after: Value::null(Type::Dynamic) },
            required_replace: Vec::new(),
            private: Arc::from([]),
            importing: None,
            identity: IdentityChange::default(),
            generated_config: None,
        }
    }

    fn plan() -> Plan {
        let invocation = |text: &str| {
            Arc::new(ActionInvocation {
                addr: command_line::action(text).unwrap(),
                provider: AbsProviderConfig::root(Provider::builtin("terraform")),
                trigger: InvocationTrigger::Request { caller: None },
                config: Value::null(Type::Dynamic),
            })
        };
        Plan {
            changes: vec![
                change("db.created", Action::Create, None),
                change("db.updated[0]", Action::Update, None),
                change("db.deleted", Action::Delete, None),
                change("db.old", Action::Delete, Some("0a1b2c3d")),
                change("db.first", Action::DeleteThenCreate, None),
                change("db.later", Action::CreateThenDelete, None),
                change("db.left", Action::CreateThenForget, None),
                change("db.forgotten", Action::Forget, None),
                change("db.same", Action::NoOp, None),
                change("data.db.dropped", Action::Delete, None),
                change("data.db.read", Action::Read, None),
                change("module.m[\"a b\"].db.deleted", Action::Delete, None),
            ],
            invocations: vec![invocation("action.notify.a"), invocation("module.m.action.notify.b[0]")],
            ..Plan::default()
        }
    }

    fn denied(rule: &str) -> Vec<String> {
        DenyRule::parse(rule).unwrap().denied(&plan()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rules_cover_the_changes_of_their_action() {
        let cases: &[(&str, &[&str])] = &[
            ("create:**", &["db.created (create)"]),
            ("update:db.updated", &["db.updated[0] (update)"]),
            ("update:db.updated[1]", &[]),
            (
                "delete:db.*",
                &[
                    "db.deleted (delete)",
                    "db.old (delete deposed object 0a1b2c3d)",
                    "db.first (replace)",
                    "db.later (replace)",
                ],
            ),
            ("delete:module.m", &["module.m[\"a b\"].db.deleted (delete)"]),
            ("delete:module.m[0]", &[]),
            ("delete:module.m[\"a b\"]", &["module.m[\"a b\"].db.deleted (delete)"]),
            ("delete:module.*.db.*", &["module.m[\"a b\"].db.deleted (delete)"]),
            ("replace:*", &["db.first (replace)", "db.later (replace)", "db.left (replace)"]),
            ("forget:**", &["db.left (replace)", "db.forgotten (forget)"]),
            ("read:data.db.*", &["data.db.read (read)"]),
            ("delete:data.db.*", &[]),
            ("delete:nothing.*", &[]),
            ("invoke:action.notify.a", &["action.notify.a (invoke)"]),
            ("invoke:action.*.*", &["action.notify.a (invoke)"]),
            ("invoke:**", &["action.notify.a (invoke)", "module.m.action.notify.b[0] (invoke)"]),
            ("invoke:module.m.action.notify.b", &["module.m.action.notify.b[0] (invoke)"]),
            ("invoke:module.m", &["module.m.action.notify.b[0] (invoke)"]),
        ];
        for (rule, expected) in cases {
            assert_eq!(denied(rule), *expected, "{rule}");
        }
    }

    #[test]
    fn invalid_rules_say_what_is_wrong() {
        let cases = [
            ("delete", "\"delete\" has no colon."),
            ("destroy:a.b", "\"destroy\" in \"destroy:a.b\" is not an action. The actions are create, update,"),
            ("delete:a", "\"delete:a\": Resource specification must include a resource type and name."),
            ("delete:a*", "\"delete:a*\": a*: modules must be followed by"),
        ];
        for (rule, expected) in cases {
            let found = DenyRule::parse(rule).unwrap_err().to_string();
            assert!(found.starts_with(expected), "{rule}: {found}");
        }
    }

    #[test]
    fn variables_hold_several_rules() {
        let rules = DenyRule::parse_all(" delete:db.*\n\tforget:**  update:db.x[\"a b\"] ").unwrap();
        let texts: Vec<String> = rules.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["delete:db.*", "forget:**", "update:db.x[\"a b\"]"]);
        let escaped = DenyRule::parse_all(r#"delete:db.x["a\" b\\"] forget:**"#).unwrap();
        let texts: Vec<String> = escaped.iter().map(ToString::to_string).collect();
        assert_eq!(texts, [r#"delete:db.x["a\" b\\"]"#, "forget:**"]);
        assert_eq!(DenyRule::parse_all(" \n"), Ok(Vec::new()));
    }

    #[test]
    fn actions_are_matched_without_their_keyword() {
        let cases = [
            ("action.a.b", "a.b"),
            ("module.action.action.a.b", "module.action.a.b"),
            ("module.m[\"x.action.y\"].action.a.b", "module.m[\"x.action.y\"].a.b"),
            ("**", "**"),
            ("a.b", "a.b"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_action(text), expected);
        }
    }
}
