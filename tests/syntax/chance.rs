//! Random texts: a small generator of numbers, and texts from mutated seeds or from tokens.

/// Numbers that only the seed decides.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub fn one_of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "${",
    "%{",
    "~}",
    "}",
    "$${",
    "%%{",
    "<<EOT\n",
    "<<-E\n",
    "EOT\n",
    "\nE\n",
    "*",
    "/",
    "+",
    "-",
    "%",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "!",
    ".",
    ",",
    "...",
    "=>",
    "?",
    ":",
    "::",
    "&",
    "|",
    "~",
    "^",
    "'",
    "`",
    ";",
    "@",
    "$",
    "\\",
    "\\n",
    "\\u00e9",
    "\\U0001F600",
    "#c\n",
    "//c\n",
    "/*c*/",
    "/*",
    "*/",
    "\n",
    "\r\n",
    " ",
    "\t",
    "0",
    "1",
    "1.5",
    "1e9",
    "-0",
    "1e400",
    "0.1",
    "007",
    "true",
    "false",
    "null",
    "for",
    "in",
    "if",
    "else",
    "endif",
    "endfor",
    "a",
    "b",
    "var",
    "var.s",
    "var.l",
    "var.o",
    "var.n",
    "var.u",
    "var.p",
    "upper",
    "x-y",
    "_",
    "\u{e9}",
    "e\u{301}",
    "\u{1F600}",
    "\u{201c}",
    "\u{feff}",
    "\u{0}",
    "resource",
    "dynamic",
    "[*]",
    ".*",
    "[0]",
    ".0",
    ".a",
    "[\"a\"]",
    "for x in var.l : x",
    "for k, v in var.o : k => v",
    "%{ if true }",
    "%{ for x in var.l }",
    "length(",
    "merge(",
    "format(\"%s\",",
    "jsonencode(",
    "try(",
    "can(",
    "concat(",
    "templatestring(",
    "tolist(",
    "toset(",
    "flatten(",
];

/// Tokens one after the other, without sense.
pub fn soup(chance: &mut Chance) -> String {
    let len = chance.below(60);
    (0..len).map(|_| format!("{}{}", chance.one_of(TOKENS), if chance.below(3) == 0 { " " } else { "" })).collect()
}

/// Bytes, as far as they are text.
pub fn noise(chance: &mut Chance) -> String {
    let len = chance.below(200);
    let bytes: Vec<u8> = (0..len).map(|_| chance.next() as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An expression that is mostly in order.
pub fn expression(chance: &mut Chance, depth: usize) -> String {
    let sub = |c: &mut Chance| expression(c, depth.saturating_sub(1));
    if depth == 0 {
        return chance.one_of(TOKENS).to_string();
    }
    match chance.below(22) {
        0 => format!("({})", sub(chance)),
        1 => format!("[{}, {}]", sub(chance), sub(chance)),
        2 => format!("{{ a = {}, {} = 1 }}", sub(chance), sub(chance)),
        3 => format!("{} ? {} : {}", sub(chance), sub(chance), sub(chance)),
        4 | 5 => {
            let op = chance.one_of(&["+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||"]);
            format!("{} {op} {}", sub(chance), sub(chance))
        }
        6 => format!("-{}", sub(chance)),
        7 => format!("!{}", sub(chance)),
        8 => format!("[for x in {} : {}]", sub(chance), sub(chance)),
        9 => format!("{{ for k, x in {} : {} => {} if {} }}", sub(chance), sub(chance), sub(chance), sub(chance)),
        10 => format!("\"a${{{}}}b\"", sub(chance)),
        11 => format!("\"%{{ if {} }}{}%{{ else }}x%{{ endif }}\"", sub(chance), chance.one_of(TOKENS)),
        12 => format!("\"%{{ for x in {} ~}} ${{{}}} %{{~ endfor }}\"", sub(chance), sub(chance)),
        13 => format!("<<-EOT\n  {}${{{}}}\n  EOT\n", chance.one_of(TOKENS), sub(chance)),
        14 => format!("{}[{}]", sub(chance), sub(chance)),
        15 => format!("{}[*]{}", sub(chance), chance.one_of(&["", ".a", "[0]", ".*.a"])),
        16 => format!("{}.*{}", sub(chance), chance.one_of(&["", ".a", ".0"])),
        17 => format!("{}.{}", sub(chance), chance.one_of(&["a", "b", "0", "1"])),
        18 => {
            let names = [
                "upper",
                "merge",
                "concat",
                "length",
                "format",
                "jsonencode",
                "lookup",
                "try",
                "can",
                "element",
                "nope",
            ];
            format!("{}({}, {})", names[chance.below(names.len())], sub(chance), sub(chance))
        }
        19 => format!("length({})", sub(chance)),
        _ => chance
            .one_of(&["var.s", "var.l", "var.o", "var.n", "var.u", "var.p", "var.d", "x", "1", "\"s\"", "true", "null"])
            .to_owned(),
    }
}

/// A seed with a few changes: pieces removed, doubled, swapped, replaced, inserted, or taken from another seed.
pub fn mutated(chance: &mut Chance, seeds: &[String]) -> String {
    let mut text = seeds[chance.below(seeds.len())].clone();
    for _ in 0..1 + chance.below(4) {
        let (from, to) = piece(chance, &text);
        match chance.below(7) {
            0 => text.replace_range(from..to, ""),
            1 => {
                let piece = text[from..to].to_owned();
                text.insert_str(to, &piece);
            }
            2 => text.replace_range(from..to, chance.one_of(TOKENS)),
            3 | 4 => text.insert_str(from, chance.one_of(TOKENS)),
            5 => {
                let other = &seeds[chance.below(seeds.len())];
                let (a, b) = piece(chance, other);
                text.insert_str(from, &other[a..b]);
            }
            _ => text.truncate(from),
        }
    }
    text
}

/// A short piece of a text, between characters.
fn piece(chance: &mut Chance, text: &str) -> (usize, usize) {
    let edge = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = edge(chance.below(text.len() + 1));
    let longest = if chance.below(4) == 0 { 200 } else { 8 };
    (from, edge(from + chance.below(longest)).max(from))
}
