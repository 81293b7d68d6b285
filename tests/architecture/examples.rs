//! Public items of the library for providers without an example. Examples run as documentation tests.
//!
//! Starts at the library's `lib.rs` and follows `pub mod` and `pub use`. Never knows what an example shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Items without an example, and why.
pub const EXCEPTIONS: &[(&str, &str)] = &[];

/// Public items without an example below the module in `folder`, as `function` and `Type::method`, sorted.
pub fn items_without_example(folder: &Path) -> Vec<String> {
    let mut reader = Reader::default();
    reader.read_module(&folder.join("lib.rs"), folder, &Exports::All { prefix: String::new() });
    for items in std::mem::take(&mut reader.modules) {
        reader.read_methods(&items);
    }
    reader.missing.into_iter().collect()
}

/// What the rest of the program sees of a module.
enum Exports {
    /// A public module: its public items, with a prefix such as `testing::`.
    All { prefix: String },
    /// A private one: what the module above exports of it.
    Names(BTreeSet<String>),
}

impl Exports {
    /// The full name of an item if it is exported.
    fn name(&self, item: &str) -> Option<String> {
        match self {
            Exports::All { prefix } => Some(format!("{prefix}{item}")),
            Exports::Names(names) => names.contains(item).then(|| item.to_owned()),
        }
    }
}

#[derive(Default)]
struct Reader {
    /// The items of each module.
    modules: Vec<Vec<syn::Item>>,
    types: BTreeSet<String>,
    missing: BTreeSet<String>,
}

impl Reader {
    /// Reads a module whose parts are files in `folder`.
    fn read_module(&mut self, file: &Path, folder: &Path, exports: &Exports) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let items = syn::parse_file(&text).unwrap().items;
        let mut modules = file_modules(&items);
        for item in &items {
            match item {
                syn::Item::Use(item) if is_public(&item.vis) => {
                    for (first, name) in imported_names(&item.tree) {
                        match (modules.get_mut(&first), exports.name(&name)) {
                            (Some(Exports::Names(names)), Some(_)) => {
                                names.insert(name);
                            }
                            (None, Some(name)) => self.check(&name, &item.attrs),
                            (Some(Exports::All { .. }), _) | (_, None) => {}
                        }
                    }
                }
                item => self.read_item(item, exports),
            }
        }
        self.modules.push(items);
        for (name, exports) in modules {
            let below = folder.join(&name);
            let file = Some(below.join("mod.rs")).filter(|file| file.exists());
            let file = file.unwrap_or_else(|| folder.join(format!("{name}.rs")));
            self.read_module(&file, &below, &exports);
        }
    }

    fn read_item(&mut self, item: &syn::Item, exports: &Exports) {
        let (vis, name, attributes) = match item {
            syn::Item::Const(item) => (&item.vis, &item.ident, &item.attrs),
            syn::Item::Enum(item) => (&item.vis, &item.ident, &item.attrs),
            syn::Item::Fn(item) => (&item.vis, &item.sig.ident, &item.attrs),
            syn::Item::Struct(item) => (&item.vis, &item.ident, &item.attrs),
            syn::Item::Trait(item) => (&item.vis, &item.ident, &item.attrs),
            syn::Item::Type(item) => (&item.vis, &item.ident, &item.attrs),
            _ => return,
        };
        let full = exports.name(&name.to_string()).filter(|_| is_public(vis) && !is_hidden(attributes));
        let Some(full) = full else { return };
        self.check(&full, attributes);
        self.types.insert(name.to_string());
        let syn::Item::Trait(item) = item else { return };
        for part in &item.items {
            if let syn::TraitItem::Fn(method) = part {
                self.check(&format!("{full}::{}", method.sig.ident), &method.attrs);
            }
        }
    }

    /// Reads the methods of exported types, which may be in other modules than these.
    fn read_methods(&mut self, items: &[syn::Item]) {
        for item in items {
            let syn::Item::Impl(syn::ItemImpl { trait_: None, self_ty, items, .. }) = item else { continue };
            let syn::Type::Path(path) = &**self_ty else { continue };
            let name = path.path.segments.last().unwrap().ident.to_string();
            let methods = items.iter().filter_map(|part| match part {
                syn::ImplItem::Fn(method) if is_public(&method.vis) => Some(method),
                _ => None,
            });
            for method in methods.filter(|_| self.types.contains(&name)).collect::<Vec<_>>() {
                self.check(&format!("{name}::{}", method.sig.ident), &method.attrs);
            }
        }
    }

    fn check(&mut self, name: &str, attributes: &[syn::Attribute]) {
        if !is_hidden(attributes) && !has_example(attributes) {
            self.missing.insert(name.to_owned());
        }
    }
}

/// The modules that are files of their own. Private ones export nothing until a `pub use` is read.
fn file_modules(items: &[syn::Item]) -> BTreeMap<String, Exports> {
    let mut modules = BTreeMap::new();
    for item in items {
        let syn::Item::Mod(syn::ItemMod { attrs, vis, ident, content: None, .. }) = item else { continue };
        if !is_hidden(attrs) {
            let exports = match vis {
                syn::Visibility::Public(_) => Exports::All { prefix: format!("{ident}::") },
                _ => Exports::Names(BTreeSet::new()),
            };
            modules.insert(ident.to_string(), exports);
        }
    }
    modules
}

fn is_public(vis: &syn::Visibility) -> bool {
    matches!(vis, syn::Visibility::Public(_))
}

/// True for `#[doc(hidden)]` and `#[cfg(test)]`.
fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => matches!(&*list.tokens.to_string(), "hidden" | "test"),
        _ => false,
    })
}

/// True if a block of the documentation is Rust code that is compiled.
fn has_example(attributes: &[syn::Attribute]) -> bool {
    let doc = attributes.iter().filter_map(doc_text).collect::<Vec<_>>().join("\n");
    let mut fences = doc.lines().map(str::trim).filter(|line| line.starts_with("```")).step_by(2);
    fences.any(|fence| matches!(fence, "```" | "```no_run" | "```should_panic"))
}

fn doc_text(attribute: &syn::Attribute) -> Option<String> {
    match &attribute.meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            path,
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
            ..
        }) if path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

/// The names that a `use` makes, each with the first segment of its path.
fn imported_names(tree: &syn::UseTree) -> Vec<(String, String)> {
    match tree {
        syn::UseTree::Path(path) => {
            let first = path.ident.to_string();
            imported_names(&path.tree).into_iter().map(|(_, name)| (first.clone(), name)).collect()
        }
        syn::UseTree::Name(name) => vec![(name.ident.to_string(), name.ident.to_string())],
        syn::UseTree::Rename(rename) => vec![(rename.ident.to_string(), rename.rename.to_string())],
        syn::UseTree::Group(group) => group.items.iter().flat_map(imported_names).collect(),
        syn::UseTree::Glob(_) => Vec::new(),
    }
}
