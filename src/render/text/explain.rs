//! The causes of changes for people: a list with the causes of each cause below it.
//!
//! Owns the layout. Never knows how causes are found.

use base::source::Range;
use model::causes::{Cause, Dependent, Explanation, Wait};
use model::plan::Action;

use super::style::Style;
use super::visible::visible;
use crate::cause_words::{sentence, summary};

/// One paragraph for each question. `dependents`: what a change of the object would reach, if that is asked for.
pub fn explain_text(explanations: &[Explanation], dependents: Option<&[Dependent]>, style: &Style) -> String {
    let mut paragraphs: Vec<String> = Vec::new();
    for explanation in explanations {
        paragraphs.push(heading(explanation, style));
        let mut causes = String::new();
        write_causes(&mut causes, &explanation.causes, 1, style);
        let is_unchanged = explanation.change.action == Action::NoOp && explanation.change.deferred.is_none();
        paragraphs.push(match (causes.is_empty(), is_unchanged) {
            (true, true) => "The plan does nothing to it.\n".to_string(),
            (true, false) => "The plan and the configuration do not say why.\n".to_string(),
            (false, _) => format!("Because:\n{causes}"),
        });
        if !is_unchanged {
            paragraphs.push(waits(explanation, style));
        }
    }
    paragraphs.extend(dependents.map(|dependents| reached(dependents, style)));
    paragraphs.join("\n")
}

fn heading(explanation: &Explanation, style: &Style) -> String {
    let deposed = explanation.deposed.as_ref().map_or(String::new(), |key| format!(" (deposed object {key})"));
    let address = style.bold(visible(&format!("{}{deposed}", explanation.addr)));
    format!("{address} {}{}\n", summary(&explanation.change), place(explanation.place.as_ref(), style))
}

fn write_causes(out: &mut String, causes: &[Cause], depth: usize, style: &Style) {
    for cause in causes {
        let text = sentence(&cause.fact);
        *out += &format!("{}- {}{}\n", "  ".repeat(depth), visible(&text), place(cause.place.as_ref(), style));
        write_causes(out, &cause.because, depth + 1, style);
    }
}

fn waits(explanation: &Explanation, style: &Style) -> String {
    if explanation.waits.is_empty() {
        return "It waits for no other object of this plan.\n".to_string();
    }
    let line = |wait: &Wait| {
        let text = match wait.is_destruction {
            true => format!("the destruction of {}", wait.addr),
            false => format!("{}, which {}", wait.addr, summary(&wait.change)),
        };
        format!("  - {}{}\n", visible(&text), place(wait.place.as_ref(), style))
    };
    format!("It waits for:\n{}", explanation.waits.iter().map(line).collect::<String>())
}

fn reached(dependents: &[Dependent], style: &Style) -> String {
    if dependents.is_empty() {
        return "Nothing in this plan depends on it.\n".to_string();
    }
    let line = |dependent: &Dependent| {
        let planned = dependent.change.map_or(String::new(), |change| format!(", which {}", summary(&change)));
        // Nearest first: each is indented by how many others are in between.
        let indent = "  ".repeat(dependent.distance);
        let through = if dependent.distance > 1 { format!(", through {}", dependent.through) } else { String::new() };
        let text = format!("{}{planned}{through}", dependent.name);
        format!("{indent}- {}{}\n", visible(&text), place(dependent.place.as_ref(), style))
    };
    format!("A change of it reaches:\n{}", dependents.iter().map(line).collect::<String>())
}

/// ` (main.tf:3)`
fn place(range: Option<&Range>, style: &Style) -> String {
    let shown = |range: &Range| {
        let place = format!("{}:{}", range.filename(), range.start().line);
        format!(" {}", style.dark_gray(format!("({})", visible(&place))))
    };
    range.map_or_else(String::new, shown)
}

#[cfg(test)]
mod tests {
    use base::source::{SourceFile, Span};
    use model::addr::parse::parse_abs_instance;
    use model::causes::{ChangeSummary, Fact};
    use model::plan::ActionReason;

    use super::*;

    fn cause(fact: Fact, place: Option<Range>, because: Vec<Cause>) -> Cause {
        Cause { fact, place, because }
    }

    #[test]
    fn causes_are_below_what_they_cause() {
        let range = |line: usize| {
            let file = SourceFile::new("main\u{1b}.tf", "a\nb\nc\n");
            Some(Span::new(2 * line - 2, 2 * line - 1).in_file(&file))
        };
        let addr = |text: &str| parse_abs_instance(text).unwrap();
        let change = ChangeSummary { action: Action::Update, reason: ActionReason::None, deferred: None };
        let attribute = Fact::Attribute { name: "x".into(), forces: false, is_known: true };
        let inner = cause(Fact::Differs, None, Vec::new());
        let explanation = Explanation {
            addr: addr("a.b"),
            deposed: None,
            change,
            place: range(1),
            causes: vec![cause(attribute, range(2), vec![inner])],
            waits: vec![Wait { addr: addr("a.c"), change, is_destruction: false, place: range(3) }],
        };
        let dependents = [
            Dependent { name: "a.d".into(), change: Some(change), through: addr("a.b"), place: range(3), distance: 1 },
            Dependent { name: "output.o".into(), change: None, through: addr("a.d"), place: None, distance: 2 },
        ];
        let expected = "a.b will be updated in-place (main\\x1b.tf:1)\n\n\
                        Because:\n  - x changes (main\\x1b.tf:2)\n    - The configuration sets another value than the object has\n\n\
                        It waits for:\n  - a.c, which will be updated in-place (main\\x1b.tf:3)\n\n\
                        A change of it reaches:\n  - a.d, which will be updated in-place (main\\x1b.tf:3)\n    - output.o, through a.d\n";
        assert_eq!(explain_text(std::slice::from_ref(&explanation), Some(&dependents), &Style::plain()), expected);
        let unchanged = ChangeSummary { action: Action::NoOp, ..change };
        let nothing = Explanation { change: unchanged, causes: Vec::new(), place: None, ..explanation };
        let expected = "a.b does not change\n\nThe plan does nothing to it.\n\nNothing in this plan depends on it.\n";
        assert_eq!(explain_text(&[nothing], Some(&[]), &Style::plain()), expected);
    }
}
