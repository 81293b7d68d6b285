//! Plans that rules of `-deny` or policies do not allow.
//!
//! Owns what is reported, and that such a plan is an errored one. Never decides what a rule means: `model::plan` does.

use base::diag::{Diagnostic, Diagnostics};
use base::source::Range;
use model::config::Config;
use model::plan::{DeniedChange, DenyRule, Plan};

/// The summary of both: of the plan when it is made, and of its file when it is to be applied.
const PLAN_DENIED: &str = "Plan is denied";

/// Reports the changes that the rules do not allow: an error for each rule. A plan with such a change is errored.
pub fn check(plan: &mut Plan, config: &Config, rules: &[DenyRule]) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut denied_by = Vec::new();
    for rule in rules {
        let denied = rule.denied(plan);
        if !denied.is_empty() {
            diagnostics.push(violation(rule, &denied, config));
            denied_by.push(format!("-deny={rule}"));
        }
    }
    if !denied_by.is_empty() {
        plan.denied_by.extend(denied_by);
        (plan.errored, plan.applyable, plan.complete) = (true, false, false);
    }
    diagnostics
}

/// Why a saved plan is not applied. `denied_by`: the rules and policies, of which there is at least one.
pub fn refused(denied_by: &[String]) -> Diagnostic {
    let list: String = denied_by.iter().map(|name| format!("\n  - {name}")).collect();
    let detail = format!(
        "When this plan was made, it was denied by:{list}\n\nNo option applies a denied plan. Change the configuration or the rules, and \
         make a new plan."
    );
    Diagnostic::error(PLAN_DENIED, detail)
}

fn violation(rule: &DenyRule, denied: &[DeniedChange<'_>], config: &Config) -> Diagnostic {
    let line = |change: &DeniedChange<'_>| match place(change, config) {
        Some(range) => format!("\n  - {change}, {} line {}", range.filename(), range.start().line),
        None => format!("\n  - {change}"),
    };
    let list: String = denied.iter().map(line).collect();
    let detail = format!(
        "The rule {rule:?} of -deny or TERRANE_DENY does not allow these changes:{list}\n\nThe plan cannot be applied. Change the \
         configuration so that it does not need them, or plan without the rule.",
        rule = rule.to_string()
    );
    Diagnostic::error(PLAN_DENIED, detail)
}

/// The block that the change is of, if it is still there.
fn place<'c>(change: &DeniedChange<'_>, config: &'c Config) -> Option<&'c Range> {
    match change {
        DeniedChange::Object { addr, .. } => {
            let module = config.module(&addr.module.module())?;
            module.resources.get(&addr.resource.resource).map(|resource| &resource.range)
        }
        DeniedChange::Invocation(addr) => {
            let module = config.module(&addr.module.module())?;
            module.actions.get(&addr.action.action).map(|action| &action.range)
        }
    }
}
