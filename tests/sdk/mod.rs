//! The library for providers as its users see it: the example provider with real hosts, and the pages about it.

mod authors;
#[path = "../../docs/sdk/todo/src/fake.rs"]
mod fake;
mod numbers;
mod pages;
mod todo;

use std::path::{Path, PathBuf};

/// The folder of the example provider.
const EXAMPLE: &str = "docs/sdk/todo";

fn here(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}
