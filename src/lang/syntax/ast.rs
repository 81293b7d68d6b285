//! The tree of the configuration language: expressions, traversals, attributes and blocks, each with its span.
//!
//! Nodes are immutable and shared, so that a part of a tree can be handed on without a copy. A span belongs to the file
//! of the [`Expression`], [`Attribute`] or [`Block`] that holds the node. Knows no values: numbers and names are text.

use std::fmt;
use std::sync::{Arc, LazyLock};

use base::source::{Range, SourceFile, Span};

pub use super::body::Body;
use super::json::JsonString;

/// A name as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    pub name: Arc<str>,
    pub span: Span,
}

impl Ident {
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// An expression with the file that its spans point into; cheap to clone.
#[derive(Clone)]
pub struct Expression {
    pub file: Arc<SourceFile>,
    pub node: Arc<Expr>,
}

impl Expression {
    pub fn range(&self) -> Range {
        self.node.span.in_file(&self.file)
    }

    pub fn kind(&self) -> &ExprKind {
        &self.node.kind
    }

    /// True for what is written in JSON syntax, parts in native syntax inside strings included.
    pub fn is_json(&self) -> bool {
        self.file.name().ends_with(".json")
    }

    /// Another node of the same file.
    pub fn part(&self, node: &Arc<Expr>) -> Expression {
        Expression { file: self.file.clone(), node: node.clone() }
    }

    pub fn range_of(&self, span: Span) -> Range {
        span.in_file(&self.file)
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression({:?} {:?})", self.range(), self.node.kind)
    }
}

/// Equal if the same text of the same file: what override files and caches compare.
impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        Arc::ptr_eq(&self.node, &other.node) || self.range() == other.range()
    }
}

/// A node of an expression tree; `height` bounds the recursion that a walk over it needs.
///
/// A chain of operators counts as one level, however long it is: walks go along it in a loop.
#[derive(Debug)]
pub struct Expr {
    pub span: Span,
    pub kind: ExprKind,
    height: u16,
}

impl Expr {
    pub fn new(span: Span, kind: ExprKind) -> Expr {
        let height = height_over(&kind);
        Expr { span, kind, height }
    }

    /// The first token or so: what messages about an argument point to.
    pub fn start_span(&self) -> Span {
        let mut first = self;
        while let ExprKind::Binary { left, .. } = &first.kind {
            first = left;
        }
        match &first.kind {
            ExprKind::Template(template) if template.as_wrapped().is_none() => match template.parts.first() {
                Some(TemplatePart::Literal { span, .. }) => *span,
                Some(TemplatePart::Interpolation(e) | TemplatePart::Directive(e)) => e.start_span(),
                None => first.span,
            },
            ExprKind::Index { brackets, .. } => Span { start: brackets.start, end: brackets.start + 1 },
            ExprKind::Splat { marker, .. } => *marker,
            ExprKind::Call(call) => call.name_span.to(call.open),
            ExprKind::Conditional { condition, .. } => condition.start_span(),
            ExprKind::Unary { op_span, .. } => *op_span,
            ExprKind::Tuple { open, .. } | ExprKind::Object { open, .. } | ExprKind::JsonObject { open, .. } => *open,
            ExprKind::For(f) => f.open,
            ExprKind::TemplateJoin(inner) | ExprKind::Parens(inner) => inner.start_span(),
            _ => first.span,
        }
    }

    /// Levels of nodes, this one included.
    pub fn height(&self) -> usize {
        self.height.into()
    }

    /// The operators of a chain `a + b - c`, last first, and the operand that it begins with. For anything else, nothing
    /// and the node itself.
    pub fn chain(&self) -> (Vec<&Expr>, &Expr) {
        let (mut operators, mut first) = (Vec::new(), self);
        while let ExprKind::Binary { left, .. } = &first.kind {
            operators.push(first);
            first = left;
        }
        (operators, first)
    }
}

fn height_over(kind: &ExprKind) -> u16 {
    let mut below = 0;
    match kind {
        ExprKind::Binary { left, right, .. } => {
            let along = if matches!(left.kind, ExprKind::Binary { .. }) { left.height - 1 } else { left.height };
            below = along.max(right.height);
        }
        kind => super::visit::each_child(kind, &mut |child| below = below.max(child.height)),
    }
    below.saturating_add(1)
}

/// Takes long chains of operators apart in a loop: without it, their drop would recurse once per operator.
impl Drop for Expr {
    fn drop(&mut self) {
        static GONE: LazyLock<Arc<Expr>> = LazyLock::new(|| Arc::new(Expr::new(Span::default(), ExprKind::Error)));
        let ExprKind::Binary { left, .. } = &mut self.kind else { return };
        if !matches!(left.kind, ExprKind::Binary { .. }) {
            return;
        }
        let mut next = std::mem::replace(left, GONE.clone());
        while let Some(mut expr) = Arc::into_inner(next) {
            let ExprKind::Binary { left, .. } = &mut expr.kind else { return };
            next = std::mem::replace(left, GONE.clone());
        }
    }
}

#[derive(Debug)]
pub enum ExprKind {
    /// The text of a number literal, `1e3` or `0.5`.
    Number(Arc<str>),
    Bool(bool),
    Null,
    /// A quoted string, a heredoc or a bare template.
    Template(Template),
    /// The joined results of a `%{ for }` directive; its child is a [`ExprKind::For`].
    TemplateJoin(Arc<Expr>),
    /// A name with the attribute and literal index steps behind it: `var.x[0].y`.
    Variable(Traversal),
    /// Steps behind anything else: `f(x).y[0]`.
    RelativeTraversal {
        source: Arc<Expr>,
        steps: Vec<TraversalStep>,
    },
    /// An index that is not a literal; `brackets` spans `[` to `]`.
    Index {
        collection: Arc<Expr>,
        key: Arc<Expr>,
        brackets: Span,
    },
    /// `source.*` or `source[*]`; `each` is evaluated per element, which [`ExprKind::SplatItem`] stands for in it.
    Splat {
        source: Arc<Expr>,
        each: Arc<Expr>,
        full: bool,
        marker: Span,
    },
    SplatItem,
    Call(Box<Call>),
    Conditional {
        condition: Arc<Expr>,
        then: Arc<Expr>,
        otherwise: Arc<Expr>,
    },
    Binary {
        op: BinaryOp,
        op_span: Span,
        left: Arc<Expr>,
        right: Arc<Expr>,
    },
    Unary {
        op: UnaryOp,
        op_span: Span,
        operand: Arc<Expr>,
    },
    Tuple {
        elements: Vec<Arc<Expr>>,
        open: Span,
    },
    Object {
        items: Vec<ObjectItem>,
        open: Span,
    },
    For(Box<ForExpr>),
    /// A string of JSON syntax.
    JsonString(Box<JsonString>),
    /// An object of JSON syntax: keys are strings, which are templates too.
    JsonObject {
        items: Vec<ObjectItem>,
        open: Span,
    },
    Parens(Arc<Expr>),
    /// What could not be parsed; the parser reported it. Evaluates to an unknown value.
    Error,
}

/// `"a ${b}"`: the parts in order. One lone interpolation passes its value through unchanged.
#[derive(Debug)]
pub struct Template {
    pub parts: Vec<TemplatePart>,
    pub form: TemplateForm,
}

impl Template {
    /// The expression of a template that is nothing but one `${ }`.
    pub fn as_wrapped(&self) -> Option<&Arc<Expr>> {
        match self.parts.as_slice() {
            [TemplatePart::Interpolation(e)] if self.form != TemplateForm::Branch => Some(e),
            _ => None,
        }
    }

    /// The text of a template without interpolations and directives.
    pub fn as_literal(&self) -> Option<Arc<str>> {
        match self.parts.as_slice() {
            [] => Some(Arc::from("")),
            [TemplatePart::Literal { text, .. }] => Some(text.clone()),
            parts => {
                let mut all = String::new();
                for part in parts {
                    let TemplatePart::Literal { text, .. } = part else { return None };
                    all.push_str(text);
                }
                Some(all.into())
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateForm {
    Quoted,
    Heredoc,
    Bare,
    /// What a directive encloses: always a string.
    Branch,
}

#[derive(Debug)]
pub enum TemplatePart {
    Literal {
        text: Arc<str>,
        span: Span,
    },
    /// `${ }`.
    Interpolation(Arc<Expr>),
    /// `%{ if }` as a [`ExprKind::Conditional`] of templates, `%{ for }` as a [`ExprKind::TemplateJoin`].
    Directive(Arc<Expr>),
}

/// A root name and the steps behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Traversal {
    pub root: Ident,
    pub steps: Vec<TraversalStep>,
    pub span: Span,
}

impl Traversal {
    pub fn root_name(&self) -> &str {
        &self.root.name
    }

    /// The name of step `i` if it is an attribute step.
    pub fn attr(&self, i: usize) -> Option<&str> {
        match self.steps.get(i) {
            Some(TraversalStep::Attr { name, .. }) => Some(&name.name),
            _ => None,
        }
    }
}

/// As people write it, with indices in brackets.
impl fmt::Display for Traversal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root.name)?;
        self.steps.iter().try_for_each(|step| write!(f, "{step}"))
    }
}

/// The span of a step includes its dot or brackets.
#[derive(Clone, Debug, PartialEq)]
pub enum TraversalStep {
    Attr { name: Ident, span: Span },
    Index { key: IndexKey, span: Span },
    Splat { span: Span },
}

impl TraversalStep {
    pub fn span(&self) -> Span {
        match self {
            TraversalStep::Attr { span, .. } | TraversalStep::Index { span, .. } | TraversalStep::Splat { span } => {
                *span
            }
        }
    }
}

impl fmt::Display for TraversalStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraversalStep::Attr { name, .. } => write!(f, ".{}", name.name),
            TraversalStep::Index { key: IndexKey::Number(n), .. } => write!(f, "[{n}]"),
            TraversalStep::Index { key: IndexKey::String(s), .. } => write!(f, "[{s:?}]"),
            TraversalStep::Splat { .. } => f.write_str("[*]"),
        }
    }
}

/// A literal index key: the text of a number or the content of a string.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IndexKey {
    Number(Arc<str>),
    String(Arc<str>),
}

/// `ns::name(args...)`.
#[derive(Debug)]
pub struct Call {
    pub name: Arc<str>,
    pub name_span: Span,
    pub args: Vec<Arc<Expr>>,
    /// True for `f(xs...)`: the last argument supplies the remaining ones.
    pub expand_final: bool,
    pub open: Span,
    pub close: Span,
}

/// `key` is a literal name if it is a [`ExprKind::Variable`] without steps.
#[derive(Debug)]
pub struct ObjectItem {
    pub key: Arc<Expr>,
    pub value: Arc<Expr>,
}

/// `[for k, v in xs : value if condition]` or `{for k, v in xs : key => value... if condition}`.
#[derive(Debug)]
pub struct ForExpr {
    pub key_var: Option<Ident>,
    pub value_var: Ident,
    pub collection: Arc<Expr>,
    /// Present for the object form.
    pub key: Option<Arc<Expr>>,
    pub value: Arc<Expr>,
    pub condition: Option<Arc<Expr>>,
    /// True for `...` behind the value: values of equal keys are collected in tuples.
    pub grouping: bool,
    pub open: Span,
    pub close: Span,
}

impl ForExpr {
    /// The `if` clause, from its condition to the closing bracket: no expression has this span, not even a conditional that is the
    /// whole condition.
    pub fn clause_span(&self) -> Option<Span> {
        self.condition.as_ref().map(|condition| condition.span.to(self.close))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Or,
    And,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Negate,
    Not,
}

/// `name = expr`.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: Ident,
    pub expr: Expression,
    pub equals: Span,
    pub span: Span,
}

impl Attribute {
    pub fn range(&self) -> Range {
        self.span.in_file(&self.expr.file)
    }

    pub fn name_range(&self) -> Range {
        self.name.span.in_file(&self.expr.file)
    }
}

/// A block label, without its quotes; the span includes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub text: Arc<str>,
    pub span: Span,
}

/// `kind "label" { body }`.
#[derive(Clone, Debug)]
pub struct Block {
    pub kind: Ident,
    pub labels: Vec<Label>,
    pub body: Body,
    pub open: Span,
    pub close: Span,
}

impl Block {
    pub fn file(&self) -> &Arc<SourceFile> {
        self.body.file()
    }

    /// The kind and the labels: what "declared at" points to. In JSON: the bracket that opens the block.
    pub fn header_range(&self) -> Range {
        if self.body.is_json() {
            return self.open.in_file(self.file());
        }
        let last = self.labels.last().map_or(self.kind.span, |l| l.span);
        self.kind.span.to(last).in_file(self.file())
    }

    pub fn range(&self) -> Range {
        self.kind.span.to(self.close).in_file(self.file())
    }

    pub fn kind_range(&self) -> Range {
        self.kind.span.in_file(self.file())
    }

    pub fn label_range(&self, i: usize) -> Range {
        self.labels.get(i).map_or(self.kind.span, |l| l.span).in_file(self.file())
    }

    /// The text of label `i`; empty if the block has fewer.
    pub fn label(&self, i: usize) -> &Arc<str> {
        static EMPTY: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(""));
        self.labels.get(i).map_or(&EMPTY, |l| &l.text)
    }
}
