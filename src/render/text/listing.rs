//! What a query finds, as a table.

use std::fmt::Write;
use std::sync::Arc;

use model::plan::ListResults;
use terrane_protocol::provider::identity_text;

use super::style::Style;
use super::visible::visible;

/// A line for each object: the address of the list, the identity, and the name for people. Ends with an empty line; none if
/// there are no objects.
pub fn table(results: &ListResults) -> Option<String> {
    let objects = &results.objects;
    let identities: Vec<String> =
        objects.iter().map(|object| visible(&identity_text(&object.identity)).into_owned()).collect();
    let width = identities.iter().map(String::len).max()?;
    let mut table = String::new();
    for (object, identity) in objects.iter().zip(identities) {
        let (addr, name) = (&results.addr, visible(&object.display_name));
        let _ = writeln!(table, "{addr}   {identity:<width$}   {name}");
    }
    table.push('\n');
    Some(table)
}

/// The warning about lists without results; none if all have some.
pub fn without_results(lists: &[Arc<ListResults>], style: &Style) -> Option<String> {
    let empty = lists.iter().filter(|results| results.objects.is_empty());
    let addrs: Vec<String> = empty.map(|results| results.addr.to_string()).collect();
    if addrs.is_empty() {
        return None;
    }
    let template = "[bold][yellow]Warning:[reset][bold] list block(s) {} returned 0 results.\n";
    let text = style.fill(template, &[&format!("[{}]", addrs.join(", "))]);
    Some(format!("{}\n", style.wrapped(&text)))
}

#[cfg(test)]
mod tests {
    use model::addr::{InstanceKey, ModuleInstance, Resource};
    use model::plan::ListedObject;
    use terrane_protocol::schema::ResourceMode;
    use terrane_value::{Type, Value};

    use super::*;

    #[test]
    fn columns_have_a_width() {
        let object = |name: &str, identity| ListedObject {
            display_name: name.to_string(),
            identity,
            state: None,
            generated: None,
        };
        let list = Resource { mode: ResourceMode::List, kind: "a_b".into(), name: "c".into() };
        let addr = list.absolute(ModuleInstance::root()).instance(InstanceKey::Int(1));
        let zones = Value::list(Type::String, vec![Value::string("x"), Value::string("y")]);
        let long = [("n", Value::int(7)), ("t", Value::bool(true)), ("z", zones)];
        let objects = vec![
            object("first", Value::object(long)),
            object("second", Value::object([("n", Value::null(Type::Number)), ("z", Value::string("\u{1b}"))])),
        ];
        let results = ListResults { addr, identity_version: 0, objects };
        let expected = "list.a_b.c[1]   n=7,t=true,z=[x,y]   first\nlist.a_b.c[1]   n=<null>,z=\\x1b      second\n\n";
        assert_eq!(table(&results).expect("has objects"), expected);
        assert_eq!(table(&ListResults { objects: Vec::new(), ..results }), None);
    }
}
