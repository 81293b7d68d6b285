//! Types of one crate with the same name.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

/// Names that a crate has several times, by its folder. The list only gets shorter.
#[rustfmt::skip]
pub const KNOWN: &[(&str, &[&str])] = &[
    ("base", &["Hidden", "Mode", "Signals"]),
    ("model", &[
        "Action", "Check", "File", "Module", "ModuleEntry", "Output", "Resource", "ResourceEntry", "Writer",
    ]),
    ("backend", &[
        "Access", "Api", "Encryption", "ErrorBody", "Failure", "Headers", "Keys", "Listed", "ListedVersion", "Listing",
        "Object", "Objects", "Place", "Profile", "Reader", "Refusal", "Role", "Session", "Table", "VersionListing",
    ]),
];

/// Names that may stand several times in a crate, and why.
pub const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("base", "OwnedProcesses", "one in each of the two files for the kinds of systems")];

pub fn is_excepted(area: &str, name: &str) -> bool {
    EXCEPTIONS.iter().any(|(of, excepted, _)| *of == area && *excepted == name)
}

/// The names that several types in these files have; `files` are (path, text) of one crate, tests left out.
pub fn homonyms<'a>(files: impl Iterator<Item = &'a (String, String)>) -> Vec<String> {
    let mut reader = Reader::default();
    files.for_each(|(_, text)| reader.visit_file(&syn::parse_file(text).unwrap()));
    reader.counts.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
}

#[derive(Default)]
struct Reader {
    counts: BTreeMap<String, usize>,
}

impl Reader {
    fn count(&mut self, name: &syn::Ident) {
        *self.counts.entry(name.to_string()).or_default() += 1;
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !super::imports::are_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.count(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.count(&item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.count(&item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.count(&item.ident);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.count(&item.ident);
    }

    // A type within a function is seen by nothing else.
    fn visit_block(&mut self, _: &'ast syn::Block) {}
}
