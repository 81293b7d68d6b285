//! Tree and scope to value and diagnostics; pure.
