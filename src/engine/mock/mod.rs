//! What tests put in the place of real objects: values that mocks make up, mocked providers, overrides.
//!
//! | File | Owns |
//! |---|---|
//! | `generate.rs` | made-up values by attribute and type |
//! | `fill.rs` | given values, converted and completed |
//! | `computed.rs` | the computed attributes of a mocked object, in plan, apply and read |
//! | `provider.rs` | a provider that makes up its objects |
//! | `overridden.rs` | a provider as an overridden instance sees it |
//! | `overrides.rs` | which override stands for an instance |
//! | `seed.rs` | the same made-up values in a plan and in its apply |
//! | `derived.rs` | which attributes made-up values are derived from |
//! | `names.rs` | names of test files, as values |
//!
//! Pure but for the random bytes that it is given. Never reads test files and never knows the ports: mocks and overrides come evaluated,
//! by `engine::testing`. Observed on Terraform 1.11.4; what later releases do in another way follows `model::version`.

mod computed;
mod derived;
mod fill;
mod generate;
mod names;
mod overridden;
mod overrides;
mod provider;
#[cfg(test)]
mod recorded_tests;
mod seed;

pub use computed::ObjectValues;
pub use derived::DerivedFrom;
pub use generate::Random;
pub use names::TestNames;
pub use overridden::OverriddenResource;
pub use overrides::{OverrideLayer, Overrides, ResolvedOverride, RootProvider};
pub use provider::{MockedProvider, MockedType, MockedTypes, RealProvider};

/// What tests put in the place of what is outside. The default replaces nothing.
#[derive(Clone, Debug, Default)]
pub struct TestDoubles {
    pub overrides: Overrides,
    /// For `provider` blocks of the test file.
    pub names: TestNames,
    /// What of the objects the values of mocks and overrides use.
    pub derived: DerivedFrom,
    /// Whether outputs of the root module may be ephemeral: in tests, since Terraform 1.14.
    pub allows_ephemeral_outputs: bool,
    /// Whether objects are destroyed that `prevent_destroy` protects: at the end of a test, from Terraform 1.14 on.
    pub overrides_prevention: bool,
}
