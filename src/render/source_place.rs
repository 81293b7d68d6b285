//! Where in the configuration a change comes from.
//!
//! Owns the way from an address or an attribute to a file and a line. Never reads files: the configuration has the places.

use std::fmt;

use base::source::Range;
use lang::syntax::ast::Block;
use lang::syntax::body::BodySchema;
use model::addr::AbsResourceInstance;
use model::config::{Config, Removed, Resource};
use model::plan::{Action, ActionReason, ResourceChange};
use terrane_value::{Path, PathStep};

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// Relative to the working directory.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
}

impl SourcePlace {
    /// None: the range is in no file.
    pub fn of(range: &Range) -> Option<SourcePlace> {
        let place = || SourcePlace { file: range.filename().to_owned(), line: range.start().line };
        (!range.is_nowhere()).then(place)
    }
}

/// `main.tf:12`
impl fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The block of an object, if the configuration has it.
pub fn block<'c>(config: &'c Config, addr: &AbsResourceInstance) -> Option<&'c Resource> {
    config.module(&addr.module.module())?.resources.get(&addr.resource.resource)
}

/// Where the block of a changed object begins; that of its `removed` block if its own is gone.
pub fn of_change(config: &Config, change: &ResourceChange) -> Option<SourcePlace> {
    match block(config, &change.addr) {
        Some(resource) => SourcePlace::of(&resource.range),
        None => SourcePlace::of(&removed_block(config, change)?.range),
    }
}

/// The `removed` block that names the object, its resource or a module that it is in.
fn removed_block<'c>(config: &'c Config, change: &ResourceChange) -> Option<&'c Removed> {
    if !matches!(change.action, Action::Delete | Action::Forget) {
        return None;
    }
    let addr = &change.addr;
    let path = addr.module.module();
    for module in config.modules() {
        let Some(rest) = path.0.strip_prefix(&*module.path.0) else { continue };
        let names = |removed: &&Removed| match &removed.resource {
            Some(resource) => *resource == addr.resource.resource && *rest == *removed.module.0,
            None => !removed.module.is_root() && rest.starts_with(&removed.module.0),
        };
        if let Some(found) = module.removed.iter().find(names) {
            return Some(found);
        }
    }
    None
}

/// Where the argument stands that decides that an instance is destroyed or replaced; none for other reasons.
pub fn of_reason(resource: &Resource, reason: ActionReason) -> Option<SourcePlace> {
    let range = match reason {
        ActionReason::DeleteBecauseCountIndex => resource.count.as_ref()?.range(),
        ActionReason::DeleteBecauseEachKey => resource.for_each.as_ref()?.range(),
        ActionReason::DeleteBecauseNotEnabled => resource.lifecycle.enabled.as_ref()?.range(),
        ActionReason::ReplaceByTriggers => resource.lifecycle.replace_triggered_by.first()?.range(),
        _ => return None,
    };
    SourcePlace::of(&range)
}

/// Where the argument or the block stands that a path begins with; none if the block does not have it.
pub fn of_attribute(resource: &Resource, path: &Path) -> Option<SourcePlace> {
    let Some(PathStep::Attr(name)) = path.steps().first() else { return None };
    let schema = BodySchema::new().attribute(name);
    if let Some(attribute) = resource.body.partial_content(&schema).0.attribute(name) {
        return SourcePlace::of(&attribute.range());
    }
    let schema = BodySchema::new().block(name, &[]).block("dynamic", &["name"]);
    let content = resource.body.partial_content(&schema).0;
    let is_wanted = |block: &&Block| {
        let kind = &block.kind.name;
        kind == name || (&**kind == "dynamic" && block.label(0) == name)
    };
    let found = content.blocks.iter().find(is_wanted)?;
    SourcePlace::of(&found.header_range())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path as FilePath;
    use std::sync::Arc;

    use base::files::Memory;
    use model::config::{ModuleRequest, NoInputs, load};

    use super::*;
    use crate::plan_filter::tests::change;

    /// The configuration of one file without modules, also for other tests.
    pub(crate) fn config(text: &str) -> Config {
        let files = Memory::of([("main.tf", text)]);
        let no_modules = |request: &ModuleRequest<'_>| panic!("{} is called", request.call.source);
        load(FilePath::new(""), &files, &no_modules, Arc::new(NoInputs)).0.unwrap()
    }

    const TEXT: &str = r#"
resource "t" "a" {
  count = 2
  ami   = "x"
  disk {
    size = 1
  }
  dynamic "port" {
    for_each = [1]
    content {}
  }
  lifecycle {
    replace_triggered_by = [t.b]
  }
}

resource "t" "b" {}

removed {
  from = t.gone
  lifecycle {
    destroy = false
  }
}
"#;

    #[test]
    fn attributes_and_blocks_have_lines() {
        let config = config(TEXT);
        let resource = block(&config, &change("t.a[0]", Action::Update).addr).unwrap();
        let cases = [("ami", Some(4)), ("disk", Some(5)), ("port", Some(8)), ("id", None)];
        for (name, line) in cases {
            let found = of_attribute(resource, &Path::new().attr(name).index_int(0));
            assert_eq!(found.as_ref().map(|place| place.line), line, "{name}");
            assert!(found.is_none_or(|place| place.to_string().starts_with("main.tf:")));
        }
        assert_eq!(of_attribute(resource, &Path::new()), None);
    }

    #[test]
    fn reasons_have_lines() {
        let config = config(TEXT);
        let resource = block(&config, &change("t.a[2]", Action::Delete).addr).unwrap();
        let line = |reason| of_reason(resource, reason).map(|place| place.line);
        assert_eq!(line(ActionReason::DeleteBecauseCountIndex), Some(3));
        assert_eq!(line(ActionReason::ReplaceByTriggers), Some(13));
        assert_eq!(line(ActionReason::DeleteBecauseEachKey), None);
    }

    #[test]
    fn changes_have_the_line_of_their_block() {
        let config = config(TEXT);
        let line = |addr, action| of_change(&config, &change(addr, action)).map(|place| place.line);
        assert_eq!(line("t.b", Action::Create), Some(17));
        assert_eq!(line("t.gone[1]", Action::Forget), Some(19));
        assert_eq!(line("t.gone", Action::Create), None);
        assert_eq!(line("module.m.t.b", Action::Delete), None);
    }
}
