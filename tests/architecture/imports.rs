//! What one source file names: its imports and inline paths, resolved to full paths.
//!
//! Owns reading Rust: grouped, nested, renamed and glob `use`, `self`, `super` and `crate`, names that an import made
//! short, paths inside macros, inline modules, test code. Never knows which of it is allowed.

use std::collections::BTreeMap;

use syn::buffer::{Cursor, TokenBuffer};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};

/// A path that the file names: with its area for our own crates (`crate`, `model`, `addr`), or an outside crate's (`std`, `fs`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub path: Vec<String>,
    pub kind: Kind,
    /// In code that only tests compile.
    pub test: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `use a::b;`
    Import,
    /// `use a::b::*;` with the path up to the star.
    Glob,
    /// `pub use a::b;`, `pub(crate) use a::b;`
    Reexport,
    /// `a::b(c)`, `a::B { .. }`, also inside a macro's arguments.
    Inline,
    /// `name!(..)`
    Macro,
    /// `async` or `.await`
    Async,
}

#[derive(Debug, Default)]
pub struct FileNames {
    pub names: Vec<Named>,
    /// Modules declared here whose file only tests compile.
    pub test_modules: Vec<String>,
}

/// Reads the text of the module with this path (`["model", "addr"]`; none for the crate's root).
pub fn read(text: &str, module: &[String]) -> syn::Result<FileNames> {
    let file = syn::parse_file(text)?;
    let mut reader = Reader { scope: module.to_vec(), ..Reader::default() };
    reader.visit_file(&file);
    Ok(reader.finish())
}

#[derive(Default)]
struct Reader {
    /// The module around the item being read.
    scope: Vec<String>,
    test: bool,
    found: Vec<Found>,
    /// Short name -> what it stands for, with the module where the import is.
    short: BTreeMap<String, Vec<(Vec<String>, Vec<String>)>>,
    test_modules: Vec<String>,
}

/// A path as written, with the module that it was written in.
struct Found {
    scope: Vec<String>,
    path: Vec<String>,
    kind: Kind,
    test: bool,
}

impl Reader {
    fn finish(mut self) -> FileNames {
        let found = std::mem::take(&mut self.found);
        let mut names = Vec::new();
        for Found { scope, path, kind, test } in found {
            let path = if matches!(kind, Kind::Macro | Kind::Async) { path } else { self.resolve(&scope, path, kind) };
            names.push(Named { path, kind, test });
        }
        FileNames { names, test_modules: self.test_modules }
    }

    fn add(&mut self, path: Vec<String>, kind: Kind) {
        self.found.push(Found { scope: self.scope.clone(), path, kind, test: self.test });
    }

    /// Resolves a path from a crate's root. A name without an import is another crate or a local item.
    fn resolve(&self, scope: &[String], mut path: Vec<String>, kind: Kind) -> Vec<String> {
        // An import may use a name that another import made short; more turns than this only a circle takes.
        for _ in 0..8 {
            let Some(first) = path.first().cloned() else { return path };
            let base = match first.as_str() {
                "crate" => {
                    return from_relative(
                        &scope[..scope.len().min(1)],
                        &[vec!["self".to_string()], path[1..].to_vec()].concat(),
                    );
                }
                "self" | "super" => return from_relative(scope, &path),
                _ => match self.stands_for(scope, &first) {
                    Some(full) if full.first() != Some(&first) => full.clone(),
                    Some(full) if full.len() == 1 && super::rules::area_of_crate(&first).is_some() => {
                        path.insert(0, "crate".to_string());
                        return path;
                    }
                    // `use log::log;`: what is called is the inner one.
                    Some(full) if kind == Kind::Inline => return [full, &path[1..]].concat(),
                    _ => match super::rules::area_of_crate(&first) {
                        Some(area) => {
                            path.splice(0..1, ["crate".to_string(), area.to_string()]);
                            return path;
                        }
                        None => return path,
                    },
                },
            };
            path.splice(0..1, base);
        }
        path
    }

    fn stands_for(&self, scope: &[String], name: &str) -> Option<&Vec<String>> {
        let candidates = self.short.get(name)?;
        candidates.iter().find(|(at, _)| at == scope).or_else(|| candidates.first()).map(|(_, full)| full)
    }

    fn add_use(&mut self, prefix: &[String], tree: &syn::UseTree, public: bool) {
        let kind = |plain| if public { Kind::Reexport } else { plain };
        let joined = |name: &syn::Ident| {
            let mut path = prefix.to_vec();
            let name = name.unraw().to_string();
            // `use a::b::{self}` names `a::b`.
            if name != "self" || path.is_empty() {
                path.push(name);
            }
            path
        };
        match tree {
            syn::UseTree::Path(path) => self.add_use(&joined(&path.ident), &path.tree, public),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.add_use(prefix, item, public)),
            syn::UseTree::Glob(_) => self.add(prefix.to_vec(), kind(Kind::Glob)),
            syn::UseTree::Name(name) => self.add_leaf(joined(&name.ident), None, kind(Kind::Import)),
            syn::UseTree::Rename(to) => {
                self.add_leaf(joined(&to.ident), Some(to.rename.unraw().to_string()), kind(Kind::Import));
            }
        }
    }

    fn add_leaf(&mut self, path: Vec<String>, rename: Option<String>, kind: Kind) {
        if let Some(short) = rename.or_else(|| path.last().cloned()) {
            self.short.entry(short).or_default().push((self.scope.clone(), path.clone()));
        }
        self.add(path, kind);
    }

    /// Paths in what a macro is given: `name :: name :: ...`.
    fn add_tokens(&mut self, mut cursor: Cursor) {
        while !cursor.eof() {
            if let Some((inside, _, _, next)) = cursor.any_group() {
                self.add_tokens(inside);
                cursor = next;
            } else if let Some((ident, next)) = cursor.ident() {
                let mut path = vec![ident.unraw().to_string()];
                cursor = next;
                while let Some((name, next)) = after_colons(cursor) {
                    path.push(name);
                    cursor = next;
                }
                match path.last().map(String::as_str) {
                    Some(name) if cursor.punct().is_some_and(|(p, _)| p.as_char() == '!') => {
                        self.add(vec![name.to_string()], Kind::Macro);
                    }
                    Some("async" | "await") if path.len() == 1 => self.add(path, Kind::Async),
                    _ if path.len() > 1 => self.add(path, Kind::Inline),
                    _ => {}
                }
            } else {
                match cursor.token_tree() {
                    Some((_, next)) => cursor = next,
                    None => return,
                }
            }
        }
    }

    fn in_test(&mut self, attributes: &[syn::Attribute], inside: impl FnOnce(&mut Self)) {
        let before = self.test;
        self.test |= are_for_tests(attributes);
        inside(self);
        self.test = before;
    }
}

/// `super::x` in `crate::a::b` is `crate::a::x`.
fn from_relative(scope: &[String], path: &[String]) -> Vec<String> {
    let steps = path.iter().take_while(|p| *p == "super" || *p == "self").count();
    let up = path[..steps].iter().filter(|p| *p == "super").count();
    let around = &scope[..scope.len().saturating_sub(up)];
    ["crate".to_string()].iter().chain(around).chain(&path[steps..]).cloned().collect()
}

fn after_colons(cursor: Cursor) -> Option<(String, Cursor)> {
    let (first, next) = cursor.punct()?;
    let (second, next) = next.punct()?;
    let (name, next) = next.ident()?;
    (first.as_char() == ':' && second.as_char() == ':').then(|| (name.unraw().to_string(), next))
}

/// Whether an item with these attributes is compiled for tests alone.
pub fn are_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(is_for_tests)
}

/// `#[cfg(test)]`, `#[cfg(all(test, unix))]`, `#[test]`, `#[tokio::test]`.
fn is_for_tests(attribute: &syn::Attribute) -> bool {
    if attribute.path().segments.last().is_some_and(|last| last.ident == "test") {
        return true;
    }
    let condition = attribute.meta.require_list().map(|list| list.tokens.to_string()).unwrap_or_default();
    let words = condition.split(|c: char| !c.is_alphanumeric() && c != '_').collect::<Vec<_>>();
    attribute.path().is_ident("cfg") && words.contains(&"test") && !words.contains(&"not") && !words.contains(&"any")
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = attributes_of(item).to_vec();
        self.in_test(&attributes, |this| visit::visit_item(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.in_test(&item.attrs, |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let name = module.ident.unraw().to_string();
        if module.content.is_none() && self.test {
            self.test_modules.push(name.clone());
        }
        self.short.entry(name.clone()).or_default().push((self.scope.clone(), vec!["self".to_string(), name.clone()]));
        self.scope.push(name);
        visit::visit_item_mod(self, module);
        self.scope.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let public = !matches!(item.vis, syn::Visibility::Inherited);
        self.add_use(&[], &item.tree, public);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        let short = item.rename.as_ref().map(|(_, name)| name.unraw().to_string());
        self.add_leaf(vec![item.ident.unraw().to_string()], short, Kind::Import);
    }

    // `pub(in crate::model)` names no item.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.add(path.segments.iter().map(|s| s.ident.unraw().to_string()).collect(), Kind::Inline);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if let Some(last) = call.path.segments.last() {
            self.add(vec![last.ident.unraw().to_string()], Kind::Macro);
        }
        let buffer = TokenBuffer::new2(call.tokens.clone());
        self.add_tokens(buffer.begin());
        visit::visit_macro(self, call);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if signature.asyncness.is_some() {
            self.add(vec!["async".to_string()], Kind::Async);
        }
        visit::visit_signature(self, signature);
    }

    fn visit_expr_async(&mut self, expr: &'ast syn::ExprAsync) {
        self.add(vec!["async".to_string()], Kind::Async);
        visit::visit_expr_async(self, expr);
    }

    fn visit_expr_await(&mut self, expr: &'ast syn::ExprAwait) {
        self.add(vec!["await".to_string()], Kind::Async);
        visit::visit_expr_await(self, expr);
    }
}

fn attributes_of(item: &syn::Item) -> &[syn::Attribute] {
    use syn::Item;
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::ExternCrate(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file of the module `lang::eval` names, as `kind path`.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let names = read(text, &["lang".into(), "eval".into()]).unwrap().names;
        let shown: Vec<_> = names.iter().map(|n| format!("{:?} {}", n.kind, n.path.join("::"))).collect();
        assert_eq!(shown, expected, "in {text}");
    }

    #[test]
    fn every_way_to_name_something_is_resolved() {
        check(
            "use base::{diag, source::{self, Span as S}};",
            &["Import crate::base::diag", "Import crate::base::source", "Import crate::base::source::Span"],
        );
        check("use model::*;", &["Glob crate::model"]);
        check("use self::scope::Scope;", &["Import crate::lang::eval::scope::Scope"]);
        check("use crate::syntax::ast;", &["Import crate::lang::syntax::ast"]);
        check("use terrane_value::Value;", &["Import crate::value::Value"]);
        check("mod render; fn f() { render::g() }", &["Inline crate::lang::eval::render::g"]);
        check("pub(crate) use std::fs;", &["Reexport std::fs"]);
        check("use std as s; fn f() { s::fs::read(a); }", &["Import std", "Inline std::fs::read"]);
        check("use model as m; type T = Vec<m::addr::A>;", &["Import crate::model", "Inline crate::model::addr::A"]);
        check("mod inner { use super::super::value::X; }", &["Import crate::lang::value::X"]);
        check("pub(in crate::lang) fn f() {}", &[]);
        check("fn f() { vec![g(ops::X)] }", &["Macro vec", "Inline crate::ops::X"]);
        check("fn f() { format!(\"{}\", { println!() }) }", &["Macro format", "Macro println"]);
        check("fn f() { <T as super::scope::Scope>::go() }", &["Inline crate::lang::scope::Scope::go"]);
        check("use cli; fn f() { cli::run() }", &["Import crate::cli", "Inline crate::cli::run"]);
        check("async fn f() { g().await }", &["Async async", "Async await"]);
    }

    #[test]
    fn test_code_is_distinguished() {
        let text = "#[cfg(test)] mod tests; #[cfg(test)] mod inline { use std::fs; } #[cfg(not(test))] mod real {}
                    use std::env; #[test] fn f() { a::b() }";
        let names = read(text, &[]).unwrap();
        let tests: Vec<_> = names.names.iter().map(|n| (n.path.join("::"), n.test)).collect();
        assert_eq!(names.test_modules, ["tests"]);
        let expected = [("std::fs", true), ("std::env", false), ("a::b", true)];
        assert!(expected.iter().all(|(path, test)| tests.contains(&(path.to_string(), *test))), "{tests:?}");
    }
}
