//! Diagnostics: errors and warnings with their location, reason, and how to fix them.
//!
//! An error in user input is a [`Diagnostic`], collected in [`Diagnostics`] and returned beside the result, so
//! that one run reports them all. The summary is a fixed text per kind of error; the detail says what, why and how.

use super::source::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
}

/// What code may act on. The texts of a diagnostic are for people: nothing is decided by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nothing acts on it.
    #[default]
    Other,
    /// A required variable has no value.
    MissingValue,
    /// There is no backend of a name.
    UnknownBackend,
    /// No provisioner of a name is installed.
    MissingProvisioner,
    /// An import that names its own target.
    ImportOfItself,
    /// `count` or `each` in a block that does not repeat so.
    NoRepetition,
    /// Moves that other objects are in the way of.
    BlockedMoves,
    /// A module call without a source.
    MissingSource,
    /// The work was interrupted.
    Interrupted,
    /// Keys are missing or wrong, or something is not encrypted as it should be: says all there is to say, also of a state.
    Encryption,
    /// A warning about a variable or an output that the author of a module has deprecated.
    ModuleDeprecation,
    /// As before, of a module in a folder of the project.
    LocalModuleDeprecation,
    /// A warning of the linter.
    Lint,
    /// An assertion of a test is false.
    FailedAssertion,
    /// A failure that a test expects did not happen.
    MissingFailure,
    /// What a policy says of an object of a plan.
    Policy,
}

/// Which diagnostics with a place and the same summary are shown as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    pub warnings: bool,
    pub errors: bool,
}

impl Default for Grouping {
    fn default() -> Grouping {
        Grouping { warnings: true, errors: false }
    }
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub kind: Kind,
    /// A short fixed text, the same for every error of its kind.
    pub summary: String,
    /// Full sentences: what, why, how to fix it. Paragraphs are separated by a blank line; lines that begin with a
    /// space are shown as they are.
    pub detail: String,
    /// What the message speaks of: underlined in the snippet.
    pub subject: Option<Range>,
    /// The wider construct to show around the subject.
    pub context: Option<Range>,
    /// The object concerned ("aws_instance.a"), when the message is not about text.
    pub address: Option<String>,
    /// Values of the expressions involved, shown under the snippet.
    pub values: Vec<ExpressionValue>,
    /// The function whose call failed, if one did.
    pub function_call: Option<Box<FunctionCall>>,
    /// The operands of the comparison in a false assertion, since Terraform 1.12.
    pub test_assertion: Option<Box<TestAssertion>>,
    /// True if a check block found it: an apply finds it again, and consolidation of equal warnings leaves it alone.
    pub of_check: bool,
    /// The object whose rule did not hold, or the check block whose data could not be read: tests may expect it.
    pub checked: Option<Box<CheckedObject>>,
    /// True if the summary is a text of several sentences, which is not shown in bold.
    pub prose_summary: bool,
    /// The deprecated object that the value came from ("module.a.id"), shown under the snippet.
    pub deprecation_origin: Option<String>,
    /// Advice beyond what the reference says. Shown only where people read.
    pub tip: Option<Box<Tip>>,
    /// What the warning is about: of those with an equal cause, people see one. Only set for warnings of OpenTofu.
    pub cause: Option<Box<Cause>>,
}

/// What a rule of the configuration is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedObject {
    pub kind: CheckedKind,
    /// With its module and its instance key: `module.a.aws_x.y[0]`, `var.size`, `check.health`.
    pub address: String,
    /// Before it became a warning.
    pub was_error: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedKind {
    Variable,
    Resource,
    Output,
    /// An assertion of a check block.
    Check,
    /// The data source of a check block.
    CheckData,
}

/// Advice in one or two sentences.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tip {
    pub text: String,
    /// It says all that the detail does, which is not shown beside it.
    pub replaces_detail: bool,
}

/// A deprecated variable or output.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cause {
    /// Its name in the module that uses it. Warnings with the same summary and name are consolidated.
    pub name: String,
    /// What its author says.
    pub message: String,
}

/// `traversal` is as written (`var.x`), `statement` continues it ("is a string", "is 5").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionValue {
    pub traversal: String,
    pub statement: String,
}

/// The function called, its name as called and its signature for people: `upper(str)`; empty where it is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCall {
    pub name: String,
    pub signature: String,
    /// The signature for programs, of a function that cannot be looked up by its name.
    pub document: Option<Box<serde_json::Value>>,
}

/// The operands of a false assertion that is a binary expression, as indented JSON. Sensitive, ephemeral and unknown values are
/// replaced by texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestAssertion {
    pub lhs: String,
    pub rhs: String,
    /// What may be wrong with the comparison; may be empty.
    pub warning: String,
    /// The user wants to see the operands and the values, not just how the operands differ.
    pub show_verbose: bool,
}

impl Diagnostic {
    fn new(severity: Severity, summary: impl Into<String>, detail: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            kind: Kind::Other,
            summary: summary.into(),
            detail: detail.into(),
            subject: None,
            context: None,
            address: None,
            values: Vec::new(),
            function_call: None,
            test_assertion: None,
            of_check: false,
            checked: None,
            prose_summary: false,
            deprecation_origin: None,
            tip: None,
            cause: None,
        }
    }

    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, summary, detail)
    }

    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, summary, detail)
    }

    /// With advice; none if the text is empty.
    pub fn with_tip(mut self, text: impl Into<String>) -> Diagnostic {
        let text = Some(text.into()).filter(|text| !text.is_empty());
        self.tip = text.map(|text| Box::new(Tip { text, replaces_detail: false }));
        self
    }

    /// With other words for those who read tips.
    pub fn reworded(mut self, text: impl Into<String>) -> Diagnostic {
        self.tip = Some(Box::new(Tip { text: text.into(), replaces_detail: true }));
        self
    }

    /// With the operands of the assertion that is false.
    pub fn with_test_assertion(mut self, assertion: TestAssertion) -> Diagnostic {
        self.test_assertion = Some(Box::new(assertion));
        self
    }

    pub fn of_kind(mut self, kind: Kind) -> Diagnostic {
        self.kind = kind;
        self
    }

    /// With the object whose rule it is about.
    pub fn about_rule_of(mut self, kind: CheckedKind, address: impl Into<String>) -> Diagnostic {
        let was_error = self.severity == Severity::Error;
        self.checked = Some(Box::new(CheckedObject { kind, address: address.into(), was_error }));
        self
    }

    /// With the deprecated object that the value came from.
    pub fn originating_from(mut self, address: impl Into<String>) -> Diagnostic {
        self.deprecation_origin = Some(address.into());
        self
    }

    /// With the deprecated variable or output that it is about.
    pub fn caused_by(mut self, name: impl Into<String>, message: impl Into<String>) -> Diagnostic {
        self.cause = Some(Box::new(Cause { name: name.into(), message: message.into() }));
        self
    }

    /// With its subject: what the snippet underlines.
    pub fn at(mut self, subject: Range) -> Diagnostic {
        self.subject = Some(subject);
        self
    }

    pub fn at_opt(mut self, subject: Option<Range>) -> Diagnostic {
        self.subject = subject;
        self
    }

    /// With the wider construct that the snippet shows.
    pub fn within(mut self, context: Range) -> Diagnostic {
        self.context = Some(context);
        self
    }

    pub fn about(mut self, address: impl Into<String>) -> Diagnostic {
        self.address = Some(address.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Whether another one reports the same kind of error at the same place, perhaps in other words.
    pub fn repeats(&self, other: &Diagnostic) -> bool {
        self.summary == other.summary && self.subject == other.subject
    }
}

/// Diagnostics in the order they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "diagnostics must reach the user"]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    pub fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::error(summary, detail));
    }

    pub fn warning(&mut self, summary: impl Into<String>, detail: impl Into<String>) {
        self.push(Diagnostic::warning(summary, detail));
    }

    pub fn extend(&mut self, other: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(other);
    }

    /// Adds those that are not there yet.
    pub fn extend_new(&mut self, other: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in other {
            if !self.0.contains(&diagnostic) {
                self.0.push(diagnostic);
            }
        }
    }

    /// Gives advice that is for all of them, behind the last, whose own advice it replaces. Nothing if the text is empty.
    pub fn advise_at_end(&mut self, advice: impl Into<String>) {
        let advice = advice.into();
        if let Some(last) = self.0.pop_if(|_| !advice.is_empty()) {
            self.0.push(last.with_tip(advice));
        }
    }

    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Diagnostic> {
        self.0.iter_mut()
    }

    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }

    /// Moves the diagnostics of a pair into this list and keeps the value.
    pub fn take<T>(&mut self, (value, diagnostics): (T, Diagnostics)) -> T {
        self.extend(diagnostics);
        value
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for Diagnostics {
    fn from(list: Vec<Diagnostic>) -> Diagnostics {
        Diagnostics(list)
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(iter: I) -> Diagnostics {
        Diagnostics(iter.into_iter().collect())
    }
}
