//! The table of backends: names, schemas, and how to open one.
//!
//! Owns which backends there are. The caller evaluates a backend's block by its schema and passes the value.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::diag::{Diagnostic, Diagnostics};
use crate::lang::value::{Type, Value};
use crate::model::schema::{Attribute, Block};

use super::local::LocalBackend;
use super::memory::MemoryBackend;
use super::store::Backend;

/// A backend that configurations may name.
pub struct Kind {
    pub name: &'static str,
    /// The settings that its block has.
    pub schema: fn() -> Block,
    /// Opens it with settings of the schema's type, known and without marks.
    pub open: Open,
}

type Open = fn(&Value, &StateFiles) -> Result<Arc<dyn Backend>, Diagnostics>;

/// `-state`, `-state-out` and `-backup`: they matter to the local backend only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateFiles {
    pub state: Option<PathBuf>,
    pub state_out: Option<PathBuf>,
    pub backup: Option<String>,
}

/// All of them, sorted by name.
pub const KINDS: &[Kind] = &[
    Kind { name: "inmem", schema: in_memory_schema, open: open_in_memory },
    Kind { name: "local", schema: local_schema, open: open_local },
];

const REMOVED: &[&str] = &["artifactory", "etcd", "etcdv3", "manta", "swift"];

/// The backend of a name, or why there is none (for the caller to attach the place).
pub fn find(name: &str) -> Result<&'static Kind, Diagnostic> {
    if let Some(kind) = KINDS.iter().find(|kind| kind.name == name) {
        return Ok(kind);
    }
    let detail = match name {
        "azure" => "The \"azure\" backend name has been removed, please use \"azurerm\".".to_string(),
        name if REMOVED.contains(&name) => {
            format!("The {name:?} backend is not supported in Terraform v1.3 or later.")
        }
        name => format!("There is no backend type named {name:?}."),
    };
    Err(Diagnostic::error("Unsupported backend type", detail))
}

fn optional(ty: Type, description: &str) -> Attribute {
    Attribute { optional: true, description: description.into(), ..Attribute::new(ty) }
}

fn block(attributes: &[(&str, Attribute)]) -> Block {
    Block { attributes: attributes.iter().map(|(n, a)| ((*n).into(), a.clone())).collect(), ..Block::default() }
}

fn local_schema() -> Block {
    block(&[
        ("path", optional(Type::String, "The state file of the default workspace.")),
        ("workspace_dir", optional(Type::String, "The folder with the states of other workspaces.")),
    ])
}

fn open_local(config: &Value, files: &StateFiles) -> Result<Arc<dyn Backend>, Diagnostics> {
    let setting = |name: &str| config.get(name).and_then(Value::as_str);
    let mut diagnostics = Diagnostics::new();
    for (name, summary) in
        [("path", "Invalid local state file path"), ("workspace_dir", "Invalid local workspace directory path")]
    {
        if setting(name) == Some("") {
            diagnostics.error(summary, format!("The {name:?} attribute value must not be empty."));
        }
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    Ok(Arc::new(LocalBackend {
        path: setting("path").map(PathBuf::from),
        workspace_dir: setting("workspace_dir").map(PathBuf::from),
        state_override: files.state.clone(),
        state_out_override: files.state_out.clone(),
        backup_override: files.backup.clone(),
    }))
}

fn in_memory_schema() -> Block {
    block(&[("lock_id", optional(Type::String, "initializes the state in a locked configuration"))])
}

fn open_in_memory(config: &Value, _: &StateFiles) -> Result<Arc<dyn Backend>, Diagnostics> {
    let lock_id = config.get("lock_id").and_then(Value::as_str);
    Ok(Arc::new(lock_id.map_or_else(MemoryBackend::default, MemoryBackend::locked)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_backends_are_explained() {
        let cases = [
            ("x", "There is no backend type named \"x\"."),
            ("etcd", "The \"etcd\" backend is not supported in Terraform v1.3 or later."),
            ("azure", "The \"azure\" backend name has been removed, please use \"azurerm\"."),
        ];
        for (name, detail) in cases {
            assert_eq!(find(name).map(|_| ()).unwrap_err().detail, detail);
        }
        assert!(KINDS.is_sorted_by_key(|kind| kind.name));
    }

    #[test]
    fn local_settings_must_not_be_empty() {
        let kind = find("local").unwrap();
        let open = |path: Value| {
            let config = Value::object([("path", path), ("workspace_dir", Value::null(Type::String))]);
            (kind.open)(&config, &StateFiles::default()).map(|_| ())
        };
        assert!(open(Value::null(Type::String)).is_ok());
        let problems = open(Value::string("")).unwrap_err().into_vec();
        assert_eq!(problems[0].summary, "Invalid local state file path");
    }
}
