//! What a test file says, for the runs that it describes: the values of its expressions, of its mocks and of its overrides.
//!
//! | File | Owns |
//! |---|---|
//! | `scope.rs` | the scope of expressions outside of assertions |
//! | `declared.rs` | the values that mocks and overrides declare |
//! | `outside.rs` | the random bytes and the provider behind a mock, from the ports |
//!
//! Never knows which runs there are, their order or their states.

mod declared;
mod outside;
mod scope;

pub use declared::DeclaredDoubles;
pub use outside::{Unconfigured, random_of};
pub use scope::{TestPlace, TestScope};
