//! The labels of objects in reports.

use terrane_value::{Type, Value};

use crate::event::ObjectLabel;

/// The label of an object: its id, or its name if objects of its type have no id. None if that is null, unknown or secret.
pub fn shown_label(value: &Value) -> Option<ObjectLabel> {
    let key = ["id", "name"].into_iter().find(|key| has_text(value, key))?;
    Some(ObjectLabel { key: key.to_string(), value: text_of(value, key)? })
}

/// As [`shown_label`]. Without one, the name, or the tag that stands for one.
pub fn shown_label_or_tag(value: &Value) -> Option<ObjectLabel> {
    shown_label(value).or_else(|| {
        if has_text(value, "name") {
            return Some(ObjectLabel { key: "name".to_string(), value: text_of(value, "name")? });
        }
        let tags = value.get("tags").filter(|tags| *tags.ty() == Type::map(Type::String))?;
        if tags.is_sensitive() || !tags.is_wholly_known() {
            return None;
        }
        let key = ["name", "Name"].into_iter().find(|key| tags.get(key).is_some())?;
        Some(ObjectLabel { key: format!("tags.{key}"), value: text_of(tags, key)? })
    })
}

/// Whether the type of the object has an attribute of this name that is a string.
fn has_text(value: &Value, name: &str) -> bool {
    value.get(name).is_some_and(|part| *part.ty() == Type::String)
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    let part = value.get(name)?;
    if value.is_sensitive() || part.is_sensitive() {
        return None;
    }
    part.as_str().map(str::to_string)
}

#[cfg(test)]
mod tests {
    use terrane_value::Marks;

    use super::*;

    fn object(attributes: &[(&str, Value)]) -> Value {
        Value::object(attributes.iter().map(|(name, value)| (*name, value.clone())))
    }

    #[test]
    fn objects_are_shown_by_id_name_or_tag() {
        let text = Value::string;
        let no_text = || Value::null(Type::String);
        let unknown = || Value::unknown(Type::String);
        let tags = |key: &str| Value::map(Type::String, [(key, text("t"))]);
        #[rustfmt::skip]
        let cases = [
            (object(&[("id", text("i")), ("name", text("n"))]), "id=i", "id=i"),
            (object(&[("name", text("n"))]), "name=n", "name=n"),
            (object(&[("id", no_text()), ("name", text("n"))]), "", "name=n"),
            (object(&[("id", unknown()), ("name", text("n"))]), "", "name=n"),
            (object(&[("id", text("i").with_marks(Marks::SENSITIVE)), ("name", text("n"))]), "", "name=n"),
            (object(&[("id", text("")), ("name", text("n"))]), "id=", "id="),
            (object(&[("id", Value::int(1)), ("name", text("n"))]), "name=n", "name=n"),
            (object(&[("id", no_text()), ("name", no_text()), ("tags", tags("Name"))]), "", ""),
            (object(&[("id", no_text()), ("tags", tags("Name"))]), "", "tags.Name=t"),
            (object(&[("tags", tags("name"))]), "", "tags.name=t"),
            (object(&[("tags", tags("other"))]), "", ""),
            (object(&[("tags", tags("name").with_marks(Marks::SENSITIVE))]), "", ""),
            (object(&[("tags", object(&[("name", text("t"))]))]), "", ""),
            (object(&[]), "", ""),
            (Value::null(Type::object([("id", Type::String)])), "", ""),
        ];
        for (value, label, label_or_tag) in cases {
            let shown = |found: Option<ObjectLabel>| {
                found.map_or(String::new(), |label| format!("{}={}", label.key, label.value))
            };
            assert_eq!(shown(shown_label(&value)), label, "{value:?}");
            assert_eq!(shown(shown_label_or_tag(&value)), label_or_tag, "{value:?}");
        }
    }
}
