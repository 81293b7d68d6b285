//! Random expressions of a wanted kind, made from the references that a scope offers.

use std::ops::BitOr;

use crate::syntax::chance::Chance;

/// The kind of value an expression gives. Lists and maps have elements of type string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Text,
    Number,
    Flag,
    List,
    Map,
    /// `{ name = string, items = list(string), flag = bool }`.
    Object,
    Any,
}

pub const KINDS: &[Kind] =
    &[Kind::Text, Kind::Text, Kind::Text, Kind::Number, Kind::Flag, Kind::List, Kind::Map, Kind::Object, Kind::Any];

/// What the value of an expression may be while planning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    pub unknown: bool,
    pub sensitive: bool,
    pub ephemeral: bool,
}

impl Facts {
    pub const UNKNOWN: Facts = Facts { unknown: true, sensitive: false, ephemeral: false };

    /// True where a value with these facts may stand in a place that permits `limit`.
    fn within(self, limit: Facts) -> bool {
        (!self.unknown || limit.unknown) && (!self.sensitive || limit.sensitive) && (!self.ephemeral || limit.ephemeral)
    }
}

impl BitOr for Facts {
    type Output = Facts;

    fn bitor(self, other: Facts) -> Facts {
        Facts {
            unknown: self.unknown || other.unknown,
            sensitive: self.sensitive || other.sensitive,
            ephemeral: self.ephemeral || other.ephemeral,
        }
    }
}

/// The text of an expression and what is known of it without evaluation.
#[derive(Clone, Debug)]
pub struct Expr {
    pub text: String,
    pub kind: Kind,
    pub facts: Facts,
}

impl Expr {
    pub fn new(text: impl Into<String>, kind: Kind, facts: Facts) -> Expr {
        Expr { text: text.into(), kind, facts }
    }
}

impl Kind {
    /// Returns the type constraint that variables of this kind declare.
    pub fn constraint(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::Number => "number",
            Kind::Flag => "bool",
            Kind::List => "list(string)",
            Kind::Map => "map(string)",
            Kind::Object => "object({ name = string, items = list(string), flag = optional(bool, true) })",
            Kind::Any => "any",
        }
    }
}

/// Makes expressions for one place: the references in scope and what the place permits.
pub struct Maker<'a> {
    pub chance: &'a mut Chance,
    pub scope: &'a [Expr],
    pub limit: Facts,
}

/// An expression under construction: pieces of text, facts joined.
struct Pieces {
    facts: Facts,
}

impl Pieces {
    fn add(&mut self, expr: Expr) -> String {
        self.facts = self.facts | expr.facts;
        expr.text
    }
}

impl Maker<'_> {
    /// Returns an expression of a kind; `depth` limits how deep operations nest.
    pub fn make(&mut self, kind: Kind, depth: usize) -> Expr {
        if self.chance.below(5) < 2
            && let Some(found) = self.reference(kind)
        {
            return found;
        }
        if depth == 0 || self.chance.below(4) == 0 {
            return self.literal(kind);
        }
        let mut p = Pieces { facts: Facts::default() };
        let text = match kind {
            Kind::Text => self.text(&mut p, depth - 1),
            Kind::Number => self.number(&mut p, depth - 1),
            Kind::Flag => self.flag(&mut p, depth - 1),
            Kind::List => self.list(&mut p, depth - 1),
            Kind::Map => self.map(&mut p, depth - 1),
            Kind::Object => self.object(&mut p, depth - 1),
            Kind::Any => self.any(&mut p, depth - 1),
        };
        Expr::new(text, kind, p.facts)
    }

    fn sub(&mut self, p: &mut Pieces, kind: Kind, depth: usize) -> String {
        let expr = self.make(kind, depth);
        p.add(expr)
    }

    /// Returns a reference in scope of this kind that the place permits.
    fn reference(&mut self, kind: Kind) -> Option<Expr> {
        let fits = |e: &&Expr| e.kind == kind && e.facts.within(self.limit);
        let found: Vec<&Expr> = self.scope.iter().filter(fits).collect();
        // What is declared last is used most, so that chains grow long.
        let count = found.len();
        let index = self.chance.below(count).max(self.chance.below(count));
        found.get(index).map(|e| (*e).clone())
    }

    /// Returns a value that names nothing.
    pub fn literal(&mut self, kind: Kind) -> Expr {
        let text = match kind {
            Kind::Text => self.text_literal(),
            Kind::Number => self.chance.one_of(&["0", "1", "2", "3", "10", "1.5", "-4"]).to_owned(),
            Kind::Flag => self.chance.one_of(&["true", "false"]).to_owned(),
            Kind::List => {
                let list: Vec<String> = (0..self.chance.below(4)).map(|_| self.text_literal()).collect();
                format!("[{}]", list.join(", "))
            }
            Kind::Map => self.map_literal(),
            Kind::Object => format!("{{ name = {}, items = [\"i\"], flag = true }}", self.text_literal()),
            Kind::Any => match self.chance.below(4) {
                0 => "{ x = [1, { y = null }], z = true }".to_owned(),
                1 => "null".to_owned(),
                _ => self.text_literal(),
            },
        };
        Expr::new(text, kind, Facts::default())
    }

    fn text_literal(&mut self) -> String {
        match self.chance.below(20) {
            0 => "\"\"".to_owned(),
            1 => "\"\u{e9}\\n\\\"q\\\" $${x}\"".to_owned(),
            2 => "\"<&>\"".to_owned(),
            _ => format!("\"x{}\"", self.chance.below(6)),
        }
    }

    fn map_literal(&mut self) -> String {
        let keys = ["a", "b", "c", "d"].into_iter().filter(|_| self.chance.below(2) == 0).collect::<Vec<_>>();
        let pairs: Vec<String> = keys.iter().map(|key| format!("{key} = {}", self.text_literal())).collect();
        format!("{{ {} }}", pairs.join(", "))
    }

    fn text(&mut self, p: &mut Pieces, d: usize) -> String {
        match self.chance.below(16) {
            0 | 1 => format!("\"${{{}}}-${{{}}}\"", self.sub(p, Kind::Text, d), self.sub(p, Kind::Number, d)),
            2 => format!("\"p-${{{}}}\"", self.sub(p, Kind::Text, d)),
            3 => format!("upper({})", self.literal_or_known(p, d)),
            4 => format!("join(\"-\", {})", self.sub(p, Kind::List, d)),
            5 => format!("lookup({}, \"a\", \"none\")", self.sub(p, Kind::Map, d)),
            6 => self.conditional(p, Kind::Text, d),
            7 => format!("try({}.name, \"t\")", self.sub(p, Kind::Object, d)),
            8 => format!("tostring({})", self.sub(p, Kind::Number, d)),
            9 => format!("format(\"%s/%v\", {}, {})", self.sub(p, Kind::Text, d), self.sub(p, Kind::Flag, d)),
            10 => format!("coalesce({}, \"z\")", self.sub(p, Kind::Text, d)),
            11 => format!("jsonencode({})", self.sub(p, Kind::Any, d)),
            12 => format!("try(element({}, 0), \"none\")", self.sub(p, Kind::List, d)),
            13 => {
                let (flag, text) = (self.sub(p, Kind::Flag, d), self.sub(p, Kind::Text, d));
                format!("\"%{{ if {flag} }}y%{{ else }}${{{text}}}%{{ endif }}\"")
            }
            14 => self.marked(p, Kind::Text, d),
            _ => format!("trimprefix({}, \"x\")", self.sub(p, Kind::Text, d)),
        }
    }

    /// Identifiers are compared after normalisation, which `upper` would hide them from, and `length` too: some are longer
    /// than others.
    fn literal_or_known(&mut self, p: &mut Pieces, depth: usize) -> String {
        let limit = self.limit;
        self.limit.unknown = false;
        let text = self.sub(p, Kind::Text, depth);
        self.limit = limit;
        text
    }

    fn conditional(&mut self, p: &mut Pieces, kind: Kind, d: usize) -> String {
        let flag = self.sub(p, Kind::Flag, d);
        let (yes, no) = (self.sub(p, kind, d), self.sub(p, kind, d));
        format!("({flag} ? {yes} : {no})")
    }

    fn marked(&mut self, p: &mut Pieces, kind: Kind, d: usize) -> String {
        let inner = self.sub(p, kind, d);
        if self.limit.sensitive && self.chance.below(2) == 0 {
            p.facts.sensitive = true;
            return format!("sensitive({inner})");
        }
        if self.chance.below(2) == 0 {
            p.facts.sensitive = false;
            return format!("nonsensitive({inner})");
        }
        p.facts.ephemeral = false;
        format!("ephemeralasnull({inner})")
    }

    fn number(&mut self, p: &mut Pieces, d: usize) -> String {
        match self.chance.below(7) {
            0 | 1 => format!("length({})", self.sub(p, Kind::List, d)),
            2 => format!("length({})", self.sub(p, Kind::Map, d)),
            3 => format!("({} + 1)", self.sub(p, Kind::Number, d)),
            4 => format!("max({}, {})", self.sub(p, Kind::Number, d), self.sub(p, Kind::Number, d)),
            5 => format!("length({})", self.literal_or_known(p, d)),
            _ => self.conditional(p, Kind::Number, d),
        }
    }

    fn flag(&mut self, p: &mut Pieces, d: usize) -> String {
        match self.chance.below(10) {
            0 | 1 => format!("({} == {})", self.sub(p, Kind::Text, d), self.sub(p, Kind::Text, d)),
            2 => format!("(length({}) > 1)", self.sub(p, Kind::List, d)),
            3 => format!("contains({}, {})", self.sub(p, Kind::List, d), self.sub(p, Kind::Text, d)),
            4 => format!("!{}", self.sub(p, Kind::Flag, d)),
            5 => format!("({} != null)", self.sub(p, Kind::Text, d)),
            6 => format!("({} > 1)", self.sub(p, Kind::Number, d)),
            7 => format!("can({}.name)", self.sub(p, Kind::Any, d)),
            8 => format!("({} && {})", self.sub(p, Kind::Flag, d), self.sub(p, Kind::Flag, d)),
            _ => format!("({} || {})", self.sub(p, Kind::Flag, d), self.sub(p, Kind::Flag, d)),
        }
    }

    fn list(&mut self, p: &mut Pieces, d: usize) -> String {
        match self.chance.below(11) {
            0 | 1 => format!("[{}, {}]", self.sub(p, Kind::Text, d), self.sub(p, Kind::Text, d)),
            2 => format!("[for s in {} : \"f-${{s}}\"]", self.sub(p, Kind::List, d)),
            3 => format!("[for s in {} : s if s != \"x1\"]", self.sub(p, Kind::List, d)),
            4 => format!("concat({}, {})", self.sub(p, Kind::List, d), self.sub(p, Kind::List, d)),
            5 => format!("keys({})", self.sub(p, Kind::Map, d)),
            6 => format!("values({})", self.sub(p, Kind::Map, d)),
            7 => format!("tolist({})", self.sub(p, Kind::List, d)),
            8 => format!("split(\"/\", {})", self.sub(p, Kind::Text, d)),
            9 => format!("distinct({})", self.sub(p, Kind::List, d)),
            _ => format!("compact({})", self.sub(p, Kind::List, d)),
        }
    }

    fn map(&mut self, p: &mut Pieces, d: usize) -> String {
        match self.chance.below(7) {
            0 | 1 => format!("{{ a = {}, b = {} }}", self.sub(p, Kind::Text, d), self.sub(p, Kind::Text, d)),
            2 => format!("{{ for k, v in {} : k => \"m-${{v}}\" }}", self.sub(p, Kind::Map, d)),
            3 => format!("{{ for i, s in {} : \"k${{i}}\" => s }}", self.sub(p, Kind::List, d)),
            4 => format!("merge({}, {})", self.sub(p, Kind::Map, d), self.sub(p, Kind::Map, d)),
            5 => format!("tomap({})", self.sub(p, Kind::Map, d)),
            _ => format!("zipmap([\"a\", \"b\"], [{}, \"z\"])", self.sub(p, Kind::Text, d)),
        }
    }

    fn object(&mut self, p: &mut Pieces, d: usize) -> String {
        let (name, items) = (self.sub(p, Kind::Text, d), self.sub(p, Kind::List, d));
        let flag = self.sub(p, Kind::Flag, d);
        match self.chance.below(4) {
            0 => format!("merge({{ name = {name}, items = {items} }}, {{ flag = {flag} }})"),
            _ => format!("{{ name = {name}, items = {items}, flag = {flag} }}"),
        }
    }

    fn any(&mut self, p: &mut Pieces, d: usize) -> String {
        match self.chance.below(8) {
            0 => format!("[{}, {{ x = {} }}]", self.sub(p, Kind::Any, d), self.sub(p, Kind::Text, d)),
            1 => format!("{{ l = {}, m = {} }}", self.sub(p, Kind::List, d), self.sub(p, Kind::Map, d)),
            2 => format!("try({}, null)", self.sub(p, Kind::Any, d)),
            3 => self.marked(p, Kind::Any, d),
            4 => self.sub(p, Kind::Object, d),
            5 => self.sub(p, Kind::List, d),
            6 => self.sub(p, Kind::Number, d),
            _ => self.sub(p, Kind::Text, d),
        }
    }
}
