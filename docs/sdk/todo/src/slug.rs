//! The function `slug`: a title as a part of an address.

use terrane_sdk::{Function, FunctionError, Signature, Type, Value, argument, parameter, signature};

pub struct Slug;

impl Function for Slug {
    fn signature(&self) -> Signature {
        let title = parameter::<String>("title", "The title of a note.");
        signature("Turns a title into a part of a URL", vec![title], Type::String)
    }

    async fn call(&self, arguments: Vec<Value>) -> Result<Value, FunctionError> {
        let title: String = argument(&arguments, 0)?;
        let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let slug = words.collect::<Vec<_>>().join("-").to_lowercase();
        if slug.is_empty() {
            return Err(FunctionError::argument(0, "the title has no letters and no digits"));
        }
        Ok(Value::string(slug))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn titles_become_slugs() {
        for (title, slug) in [("Buy milk", "buy-milk"), ("  A -- B! ", "a-b"), ("Äpfel 2", "äpfel-2")] {
            assert_eq!(Slug.call(vec![Value::string(title)]).await, Ok(Value::string(slug)), "{title:?}");
        }
        let error = Slug.call(vec![Value::string("?!")]).await.unwrap_err();
        assert_eq!(error, FunctionError::argument(0, "the title has no letters and no digits"));
    }
}
