//! The plugins that live in this binary; not told that they run in a process of their own.
