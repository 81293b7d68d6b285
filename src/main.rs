//! The `terrane` binary.

fn main() {}
