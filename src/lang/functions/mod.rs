//! The function table: an entry is a name, a signature and a body.
