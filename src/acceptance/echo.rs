//! The provider `echo`, which stores ephemeral values so that checks can see them.

use terrane_sdk::{Context, Creation, Error, Field, Model, Provider, Resource, Types, Values};
use terrane_value::Value;

/// A provider whose configuration takes any value in `data`, also an ephemeral one, and whose resource `echo` stores that value
/// in its attribute `data` when it is created. For tests only: it makes secrets visible.
///
/// ```
/// use terrane_sdk_acceptance::{Echo, Step, Test, expect, state};
/// # fn test() -> Test {
/// let config = r#"
///     ephemeral "todo_session" "run" {}
///
///     provider "echo" {
///       data = ephemeral.todo_session.run
///     }
///
///     resource "echo" "session" {}
/// "#;
/// Test::new()
///     .provider("echo", || Echo)
///     .step(Step::new(config).check(state::value("echo.session", "data.token", expect::not_null())))
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Echo;

/// Takes the value to store.
#[derive(Model)]
#[doc(hidden)]
pub struct EchoConfig {
    /// The value that objects created with this configuration store.
    #[attribute(optional)]
    data: Field<Value>,
}

/// Stores the value of the provider configuration.
#[derive(Model)]
struct Stored {
    /// The value of the provider configuration at the time of the creation.
    #[attribute(computed, keep)]
    data: Field<Value>,
}

struct EchoResource;

impl Provider for Echo {
    type Config = EchoConfig;
    type Data = Field<Value>;

    async fn configure(&self, _context: &mut Context<()>, config: Values<EchoConfig>) -> Result<Field<Value>, Error> {
        Ok(config.model()?.data)
    }

    fn types(&self, types: &mut Types<Field<Value>>) {
        types.resource("echo", EchoResource);
    }
}

impl Resource for EchoResource {
    type Data = Field<Value>;
    type Model = Stored;

    async fn create(
        &self,
        context: &mut Context<Field<Value>>,
        _creation: &mut Creation<Stored>,
    ) -> Result<Stored, Error> {
        Ok(Stored { data: context.data()?.clone() })
    }
}

#[cfg(test)]
mod tests {
    use terrane_sdk::{testing, validate_implementation};

    use super::super::{Action, Step, Test, expect, plan, state};
    use super::*;

    const ONE: &str = r#"
variable "data" {}

provider "echo" {
  data = var.data
}

resource "echo" "first" {}

output "data" {
  value = echo.first.data
}
"#;

    const SECOND: &str = r#"
provider "echo" {
  alias = "second"
  data  = "second"
}

resource "echo" "second" {
  provider = echo.second
}
"#;

    /// Runs if TF_ACC is set.
    #[test]
    fn values_of_all_types_are_stored() {
        for protocol in [5, 6] {
            let data = serde_json::json!({ "list": ["a", 1.5, null], "flag": true });
            let step = Step::new(ONE)
                .variable("data", data.clone())
                .check_plan(plan::output_unknown("data"))
                .check_plan(plan::output_action("data", Action::Create))
                .check(state::value("echo.first", "data", data))
                .check(state::output("data", expect::partial_object([("flag", true)])));
            Test::new().provider("echo", || Echo).protocol(protocol).step(step).step(Step::again()).run();
        }
    }

    #[test]
    fn configurations_of_a_provider_are_kept_apart() {
        let step = Step::new(format!("{ONE}{SECOND}"))
            .variable("data", "first")
            .check(state::value("echo.first", "data", "first"))
            .check(state::value("echo.second", "data", "second"))
            .check(state::different(("echo.first", "data"), ("echo.second", "data")));
        Test::new().provider("echo", || Echo).step(step).run();
    }

    #[tokio::test]
    async fn resource_stores_the_value_of_the_configuration() {
        validate_implementation(Echo).unwrap();
        for data in [Field::Known(Value::object([("token", Value::string("x"))])), Field::Null] {
            let stored = testing::configure(&Echo, EchoConfig { data: data.clone() }).await.unwrap();
            let mut context = testing::context(stored);
            let mut creation = testing::creation(&EchoResource, Stored { data: Field::Null });
            assert_eq!(EchoResource.create(&mut context, &mut creation).await.unwrap().data, data);
        }
    }
}
