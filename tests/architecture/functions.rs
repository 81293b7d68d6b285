//! Limits for the length and the parameters of functions, so that functions and calls can be read.

use syn::visit::{self, Visit};

/// Most parameters, `self` aside.
const MOST: usize = 6;
/// Limit for boolean parameters, which cannot be distinguished in a call.
const MOST_BOOLEANS: usize = 1;

#[derive(Default)]
struct Reader {
    complaints: Vec<String>,
}

impl Reader {
    fn check(&mut self, signature: &syn::Signature) {
        let typed = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.ty),
            syn::FnArg::Receiver(_) => None,
        });
        let (mut all, mut booleans) = (0, 0);
        for ty in typed {
            all += 1;
            booleans += usize::from(matches!(ty, syn::Type::Path(path) if path.path.is_ident("bool")));
        }
        if all > MOST || booleans > MOST_BOOLEANS {
            self.complaints.push(format!("{}: {all} parameters, {booleans} of them booleans", signature.ident));
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    /// Helpers of tests may be as they are.
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.check(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.check(&item.sig);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.check(&item.sig);
        visit::visit_trait_item_fn(self, item);
    }
}

/// Functions of a file that ask too much.
pub fn complaints(text: &str) -> Vec<String> {
    let mut reader = Reader::default();
    reader.visit_file(&syn::parse_file(text).unwrap());
    reader.complaints
}

/// The functions of a file with their lines, blank ones and comments aside. The source is laid out by rustfmt: a function ends at the
/// first brace that is indented as its beginning is.
pub fn lengths(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let counts = |line: &&&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        // What follows is for tests alone.
        if *line == "mod tests {" {
            break;
        }
        let Some(name) = name_of(line) else { continue };
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_last = |(n, line): (usize, &&str)| {
            *line == format!("{indent}}}")
                || (n == 0 || line.starts_with(&format!("{indent})"))) && line.ends_with([';', '}'])
        };
        let length = lines[at..].iter().enumerate().position(|(n, line)| is_last((n, line)));
        let Some(length) = length else { continue };
        found.push((name.to_owned(), lines[at..=at + length].iter().filter(counts).count()));
    }
    found
}

/// The name of the function whose definition begins in a line.
fn name_of(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_word =
        |word: &str| matches!(word, "const" | "async" | "unsafe" | "extern" | "\"C\"") || word.starts_with("pub");
    let in_path = |word: &str| word.starts_with("crate::") || word.ends_with(')');
    if !before.split_whitespace().all(|word| is_word(word) || in_path(word)) {
        return None;
    }
    after.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().filter(|name| !name.is_empty())
}
