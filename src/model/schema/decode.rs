//! A body of the configuration and a schema to a value.
