//! The door to state stores.
