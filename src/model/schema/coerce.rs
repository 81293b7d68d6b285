//! Fitting a value to a block's shape: missing attributes become null, types are converted.
