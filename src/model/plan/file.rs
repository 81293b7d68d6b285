//! Saved plan files: a format of our own, versioned.
