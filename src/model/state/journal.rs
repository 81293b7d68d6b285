//! The journal: what changed since the last full snapshot, one checked record after the other.
