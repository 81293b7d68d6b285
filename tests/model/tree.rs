//! Configurations as trees of blocks: what is written to disk, and what the shrinker takes apart.
//!
//! Knows nothing of what the blocks mean, so new features of the generator need no change here.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// A block: its type and labels, then attributes and nested blocks in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub header: Vec<String>,
    pub items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A name and the text of an expression.
    Attr(String, String),
    Block(Block),
}

/// The blocks of each module, by the module's folder; the root module's folder is the empty string. A key that ends in
/// `.tf` is one more file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    pub modules: BTreeMap<String, Vec<Block>>,
}

impl Block {
    pub fn new(header: &[&str]) -> Block {
        Block { header: header.iter().map(|part| (*part).to_owned()).collect(), items: Vec::new() }
    }

    pub fn attr(mut self, name: &str, text: impl Into<String>) -> Block {
        self.items.push(Item::Attr(name.to_owned(), text.into()));
        self
    }

    pub fn block(mut self, block: Block) -> Block {
        self.items.push(Item::Block(block));
        self
    }

    /// Returns the text of an attribute.
    pub fn get(&self, wanted: &str) -> Option<&str> {
        self.items.iter().find_map(|item| match item {
            Item::Attr(name, text) if name == wanted => Some(text.as_str()),
            _ => None,
        })
    }

    pub fn write(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        out.push_str(&indent);
        out.push_str(&self.header[0]);
        for label in &self.header[1..] {
            let _ = write!(out, " \"{label}\"");
        }
        out.push_str(" {\n");
        for item in &self.items {
            match item {
                Item::Attr(name, text) => {
                    let _ = writeln!(out, "{indent}  {name} = {text}");
                }
                Item::Block(block) => block.write(out, depth + 1),
            }
        }
        let _ = writeln!(out, "{indent}}}");
    }
}

impl Configuration {
    /// Returns the text of one module.
    pub fn text(&self, folder: &str) -> String {
        let mut out = String::new();
        for block in self.modules.get(folder).into_iter().flatten() {
            block.write(&mut out, 0);
        }
        out
    }

    /// Returns the text of all modules, each under a comment with its path.
    pub fn display(&self) -> String {
        let part = |folder: &String| format!("# {}\n{}", file_name(folder), self.text(folder));
        self.modules.keys().map(part).collect()
    }

    /// Writes all modules below a folder, and the manifest that `init` would write for local modules.
    pub fn write(&self, root: &Path) -> std::io::Result<()> {
        for folder in self.modules.keys() {
            let path = root.join(file_name(folder));
            std::fs::create_dir_all(path.parent().unwrap_or(root))?;
            std::fs::write(path, self.text(folder))?;
        }
        let mut calls = vec![serde_json::json!({"Key": "", "Source": "", "Dir": "."})];
        self.manifest("", "", &mut calls);
        let manifest = serde_json::json!({"Modules": calls});
        std::fs::create_dir_all(root.join(".terraform/modules"))?;
        std::fs::write(root.join(".terraform/modules/modules.json"), manifest.to_string())
    }

    /// Lists the calls below a module; `key` is the dotted path of the module.
    fn manifest(&self, folder: &str, key: &str, out: &mut Vec<serde_json::Value>) {
        let calls = self.modules.get(folder).into_iter().flatten().filter(|block| block.header[0] == "module");
        for call in calls {
            let Some(source) = call.get("source").map(|text| text.trim_matches('"')) else { continue };
            let dir = source.rsplit('/').next().unwrap_or_default();
            let key = if key.is_empty() { call.header[1].clone() } else { format!("{key}.{}", call.header[1]) };
            out.push(serde_json::json!({"Key": key, "Source": source, "Dir": dir}));
            self.manifest(dir, &key, out);
        }
    }
}

fn file_name(folder: &str) -> String {
    match folder {
        "" => "main.tf".to_owned(),
        file if file.ends_with(".tf") => file.to_owned(),
        folder => format!("{folder}/main.tf"),
    }
}
